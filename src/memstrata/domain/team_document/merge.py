"""Three-way merge of team documents, line by line: two who write at once both keep what they wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from memstrata.domain.team_document import guard
from memstrata.domain.team_document.arrange import arrange
from memstrata.domain.team_document.edits import Edits, edits
from memstrata.domain.team_document.grammar import Document, Line
from memstrata.domain.team_document.incoming import Update
from memstrata.domain.team_document.injection import neutral
from memstrata.domain.team_document.units import Key, Part, Unit, Units, keyed, parts


@dataclass(frozen=True, slots=True)
class Clash:
    """A line that two writers changed at once; both versions stand in the document. Lines as written."""

    heading: str
    base: str
    theirs: str
    yours: str


@dataclass(frozen=True, slots=True)
class Merged:
    """What comes of an update. `retained` are the lines that it left out and that stay all the same."""

    document: Document
    retained: tuple[str, ...]
    conflicts: tuple[Clash, ...]


def merge(
    base: Document | None, current: Document, update: Update, *, allow_deletions: bool = False
) -> Merged:
    """`update`, which was made from `base`, put on top of `current`.

    Without a base (None) nothing is deleted: what the update lacks stays, unless a line of it says the
    same or more. `allow_deletions` sets the deletion guard (`guard.allowed`) aside.
    """
    now, new = parts(current), parts(update.document)
    old = now if base is None else parts(base)
    sides = _Sides(keyed(old), keyed(now), keyed(new))

    def careful(unit: Unit) -> bool:
        return base is None or update.keeps(unit.key.heading)

    mine = edits(*sides.changes(sides.new), careful)
    theirs = edits(*sides.changes(sides.now), lambda unit: False)
    ruling = _rule(sides, mine, careful, guarded=not allow_deletions)
    known = {part.name for part in old}
    document = arrange(
        _shown(sides, new, known - {part.name for part in now}),
        now,
        kept=sides.now.keys() - sides.new.keys() - ruling.gone,
        stand_ins=mine.pairs,
        keep_empty=lambda name: base is None or update.rest or name not in known,
    )
    retained = sides.left_out(mine) if base is None else ruling.stopped
    return Merged(
        document, tuple(str(unit.line) for unit in retained), _clashes(sides, mine, theirs, new)
    )


@dataclass(frozen=True, slots=True)
class _Sides:
    """The units of the base, of the current document and of the update."""

    old: Units
    now: Units
    new: Units

    def changes(self, side: Units) -> tuple[list[Unit], list[Unit]]:
        """What `side` removed from the base, and what it added."""
        removed = [unit for key, unit in self.old.items() if key not in side]
        return removed, [unit for key, unit in side.items() if key not in self.old]

    def left_out(self, mine: Edits) -> list[Unit]:
        """What base and current document have and the update neither has nor changed."""
        return [
            unit
            for key, unit in self.now.items()
            if key in self.old and key not in self.new and key not in mine.pairs
        ]

    def is_stale(self, key: Key) -> bool:
        """Whether the update only repeats what others have removed or changed meanwhile."""
        return key in self.old and key not in self.now

    def spelled(self, unit: Unit) -> Line:
        """A unit of the update as it is spelled; one that it only repeats as it is spelled now."""
        now = self.now.get(unit.key)
        if now is None:
            return unit.line
        seen = [str(one.line) for one in (now, self.old.get(unit.key)) if one is not None]
        same = str(unit.line) in (*seen[1:], *map(neutral, seen))
        return now.line if same else unit.line


@dataclass(frozen=True, slots=True)
class _Ruling:
    """The units of the current document that go, and those that the guard does not let go."""

    gone: frozenset[Key]
    stopped: tuple[Unit, ...] = ()


def _rule(sides: _Sides, mine: Edits, careful: Callable[[Unit], bool], *, guarded: bool) -> _Ruling:
    """What goes. When it is too much, also what was "changed" into something of the same day stays."""
    going = frozenset(unit.key for unit in sides.left_out(mine) if not careful(unit))
    changed = frozenset(mine.pairs.keys() & sides.now.keys())
    if not guarded or not _is_too_much(sides, going, changed):
        return _Ruling(going | changed)
    stopped = going | (mine.weak & changed)
    return _Ruling(
        changed - mine.weak, tuple(unit for key, unit in sides.now.items() if key in stopped)
    )


def _is_too_much(sides: _Sides, going: frozenset[Key], changed: frozenset[Key]) -> bool:
    """Whether the guard stops it: more than it allows, or, with what others removed, everything."""
    if guard.weigh(sides.now[key] for key in going) > guard.allowed(
        guard.weigh(sides.old.values())
    ):
        return True
    left = sides.now.keys() - going - changed or {
        key for key in sides.new if not sides.is_stale(key)
    }
    return bool(going) and not left


def _shown(sides: _Sides, new: Sequence[Part], removed: Set[str]) -> list[Part]:
    """The update's parts without what is stale in them; a section that others `removed` needs a unit."""
    parts = []
    for part in new:
        items = tuple(
            unit and replace(unit, line=sides.spelled(unit))
            for unit in part.items
            if unit is None or not sides.is_stale(unit.key)
        )
        if part.name not in removed or any(items):
            parts.append(replace(part, items=items))
    return parts


def _clashes(sides: _Sides, mine: Edits, theirs: Edits, new: Sequence[Part]) -> tuple[Clash, ...]:
    headings = {unit.key: part.heading for part in new for unit in part.units}
    found = []
    for old, yours in mine.pairs.items():
        other = theirs.pairs.get(old)
        if other is not None and other not in sides.new and yours not in sides.now:
            lines = sides.old[old].line, sides.now[other].line, sides.new[yours].line
            found.append(Clash(headings[yours].strip(), *map(str, lines)))
    return tuple(found)
