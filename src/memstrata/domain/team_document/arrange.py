"""Lines of the current document put where they belong in a new one, whose order counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from memstrata.domain.team_document.grammar import BLANK, Document, Line, Raw, Section
from memstrata.domain.team_document.units import Key, Part, Unit

_Inserts: TypeAlias = dict[Key | None, list[Unit]]
"""Units by the one that they follow; None is the start of the section."""


@dataclass(slots=True)
class _Places:
    """What is put where: lines into sections of the new document, sections behind them, by their number."""

    lines: defaultdict[int, _Inserts] = field(default_factory=lambda: defaultdict(dict))
    sections: defaultdict[int, list[Part]] = field(default_factory=lambda: defaultdict(list))


def arrange(
    new: Sequence[Part],
    now: Sequence[Part],
    *,
    kept: Set[Key],
    stand_ins: Mapping[Key, Key],
    keep_empty: Callable[[str], bool],
) -> Document:
    """`new` with the units of `now` that are `kept`, each behind the one it follows in `now`.

    Where that one was changed, its stand-in counts. A section that `new` lacks comes back, at its old
    place, for the sake of a kept unit or when `keep_empty` says so of its heading (as compared).
    """
    places = _places(new, now, kept, stand_ins, keep_empty)
    preamble, *rest = (_filled(part, places.lines[n]) for n, part in enumerate(new))
    sections = [*map(_section, places.sections[0])]
    for n, (part, lines) in enumerate(zip(new[1:], rest, strict=True), start=1):
        sections.append(Section(part.heading, lines))
        sections += map(_section, places.sections[n])
    return Document(tuple(line for line in preamble if isinstance(line, Raw)), tuple(sections))


def _places(
    new: Sequence[Part],
    now: Sequence[Part],
    kept: Set[Key],
    stand_ins: Mapping[Key, Key],
    keep_empty: Callable[[str], bool],
) -> _Places:
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for n, part in enumerate(new):
        numbers[part.name].append(n)
    places = _Places()
    seen: defaultdict[str, int] = defaultdict(int)
    last = 0
    for part in now:
        same = numbers.get(part.name)
        if same:
            last = same[min(seen[part.name], len(same) - 1)]
            _place(part, new[last], places.lines[last], kept, stand_ins)
        elif any(unit.key in kept for unit in part.units) or keep_empty(part.name):
            places.sections[last].append(_only(part, kept))
        seen[part.name] += 1
    return places


def _place(
    part: Part, target: Part, inserts: _Inserts, kept: Set[Key], stand_ins: Mapping[Key, Key]
) -> None:
    """Note behind which unit of `target` each kept unit of `part` goes."""
    there = {unit.key for unit in target.units}
    last: Key | None = None
    for unit in part.units:
        stand_in = stand_ins.get(unit.key, unit.key)
        if unit.key in kept:
            inserts.setdefault(last, []).append(unit)
        elif stand_in in there:
            last = stand_in


def _filled(part: Part, inserts: _Inserts) -> tuple[Line, ...]:
    """The lines of `part` with what was put in; nested lines stay with the line they belong to."""
    lines: list[Line] = []
    waiting = list(inserts.get(None, ()))
    started = False
    for item in part.items:
        started = started or item is not None
        if started and not (item is not None and item.nested):
            lines += (unit.line for unit in waiting)
            waiting = []
        lines.append(BLANK if item is None else item.line)
        if item is not None:
            waiting += inserts.get(item.key, ())
    return (*lines, *(unit.line for unit in waiting))


def _only(part: Part, kept: Set[Key]) -> Part:
    items = tuple(item for item in part.items if item is None or item.key in kept)
    return Part(part.heading, part.name, items)


def _section(part: Part) -> Section:
    return Section(part.heading, tuple(_lines(part)))


def _lines(part: Part) -> Iterator[Line]:
    for item in part.items:
        yield BLANK if item is None else item.line
