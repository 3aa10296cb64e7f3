"""What ranking needs to know of every message that is searched, kept in memory: who spoke, where, at what length.

Messages are only ever added, so that what came since is all there is to read; where some are gone, all
is read anew. 100,000 messages take about 20 MB and half a second once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from memstrata.adapters.sqlite.connection import Connection
from memstrata.adapters.sqlite.rows import listed
from memstrata.domain.ranking import Group, Scope, Turn
from memstrata.domain.terms import Term
from memstrata.ports import Talk

CACHE: Final = 200_000
"""Messages to keep the outline of; that of the shelf searched last stays even if it has more."""
EXACT: Final = 20_000
"""Up to so many messages every term of a query counts; above, not those in more than `COMMON` of them."""
COMMON: Final = 0.1
_ROW: Final = 32


@dataclass(slots=True)
class _Outline:
    """The messages of one key by their rows."""

    last: int = 0
    group: dict[int, int] = field(default_factory=dict)
    """Row → number of its session and day."""
    previous: dict[int, int] = field(default_factory=dict)
    following: dict[int, int] = field(default_factory=dict)
    length: dict[int, int] = field(default_factory=dict)
    speaker: dict[int, str] = field(default_factory=dict)
    asks: set[int] = field(default_factory=set)
    lengths: list[int] = field(default_factory=list)
    speakers: list[set[str]] = field(default_factory=list)
    terms: int = 0
    _groups: dict[tuple[str, str], int] = field(default_factory=dict)
    _ends: dict[str, int] = field(default_factory=dict)
    """Session → its last row so far."""

    def add(
        self, row: int, session: str, day: str, role: str, name: str, asks: bool, length: int
    ) -> None:
        number = self._groups.setdefault((session, day), len(self._groups))
        if number == len(self.lengths):
            self.lengths.append(0)
            self.speakers.append(set())
        self.group[row] = number
        self.lengths[number] += length
        self.speakers[number].add(f"{role}\n{name}")
        self.length[row] = length
        self.terms += length
        if name:
            self.speaker[row] = name
        if asks:
            self.asks.add(row)
        before = self._ends.get(session)
        if before is not None:
            self.previous[row], self.following[before] = before, row
        self._ends[session] = row
        self.last = row

    def around(self, row: int, reach: int) -> Iterable[int]:
        """The rows up to `reach` before and behind one in its session."""
        for step in (self.previous, self.following):
            at: int | None = row
            for _ in range(reach):
                at = step.get(at) if at is not None else None
                if at is not None:
                    yield at


class Outlines:
    """The outlines of the keys that were searched lately. Safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: OrderedDict[int, _Outline] = OrderedDict()

    def talk(
        self,
        db: Connection,
        numbers: Sequence[int],
        terms: Sequence[Term],
        chosen: Iterable[int],
        beside: Iterable[int],
        reach: int,
    ) -> Talk:
        """See `ports.Store.talk`; `numbers` are the keys' own, `chosen` and `beside` rows."""
        outlines = {number: self._outline(db, number) for number in numbers}
        pool = {row for row in chosen if row in outlines[row >> _ROW].group}
        near = {
            other
            for row in beside
            if row in outlines[row >> _ROW].group
            for other in outlines[row >> _ROW].around(row, reach)
        }
        needed = set(pool | near)
        for row in pool | near:
            needed.update(outlines[row >> _ROW].around(row, reach))
        return _told(db, outlines, terms, frozenset(pool), frozenset(near - pool), needed)

    def _outline(self, db: Connection, number: int) -> _Outline:
        """The outline of a key as it is in this transaction."""
        ((count,),) = db.all("text_rows", {"numbers": listed([number])})
        with self._lock:
            found = self._held.pop(number, None) or _Outline()
            for fresh in (found, _Outline()):
                found = fresh
                values = {"number": number, "after": found.last}
                for row, session, day, role, name, asks, size in db.all("outline", values):
                    found.add(row, session, day, role, name, asks, _length(size))
                if len(found.group) == count:
                    break
            self._held[number] = found
            while (
                len(self._held) > 1 and sum(len(one.group) for one in self._held.values()) > CACHE
            ):
                self._held.popitem(last=False)
        return found


def _length(size: bytes) -> int:
    """The number of terms in a row of `message_text_docsize`: one column, a SQLite varint."""
    value = 0
    for byte in size:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value


def _told(
    db: Connection,
    outlines: Mapping[int, _Outline],
    terms: Sequence[Term],
    pool: frozenset[int],
    near: frozenset[int],
    needed: set[int],
) -> Talk:
    size = sum(len(one.group) for one in outlines.values())
    counts: dict[int, dict[int, int]] = {row: {} for row in needed}
    wanted = {(row >> _ROW, outlines[row >> _ROW].group[row]) for row in needed}
    of_groups: dict[tuple[int, int], dict[int, int]] = {group: {} for group in wanted}
    turns_having, groups_having = [0] * len(terms), [0] * len(terms)
    for place, term in enumerate(terms):
        for number, outline in outlines.items():
            spots = _spots(db, number, term)
            known = {row: count for row, count in spots.items() if row in outline.group}
            turns_having[place] += len(known)
            if size > EXACT and len(known) > COMMON * size:
                continue
            groups_having[place] += len({outline.group[row] for row in known})
            for row, count in known.items():
                group = of_groups.get((number, outline.group[row]))
                if group is not None:
                    group[place] = group.get(place, 0) + count
                if row in counts:
                    counts[row][place] = count
    turns = tuple(_turn(outlines[row >> _ROW], row, counts[row]) for row in sorted(needed))
    groups = {
        _name(number, at): Group(
            outlines[number].lengths[at], of_groups[number, at], len(outlines[number].speakers[at])
        )
        for number, at in wanted
    }
    scope = Scope(
        turns=size,
        groups=sum(len(one.lengths) for one in outlines.values()),
        length=sum(one.terms for one in outlines.values()),
        turns_having=turns_having,
        groups_having=groups_having,
    )
    return Talk(scope, turns, groups, pool, near)


def _spots(db: Connection, number: int, term: Term) -> dict[int, int]:
    """By row: how often a term of the key stands in it."""
    salted = f"{number}x{term.text}"
    values = {"term": salted, "until": f"{salted}\U0010ffff" if term.prefix else salted}
    found: dict[int, int] = {}
    for (row,) in db.all("message_spots", values):
        found[row] = found.get(row, 0) + 1
    return found


def _turn(outline: _Outline, row: int, counts: Mapping[int, int]) -> Turn:
    return Turn(
        position=row,
        previous=outline.previous.get(row),
        group=_name(row >> _ROW, outline.group[row]),
        speaker=outline.speaker.get(row, ""),
        length=outline.length[row],
        counts=counts,
        asks=row in outline.asks,
    )


def _name(number: int, group: int) -> str:
    return f"{number}.{group}"
