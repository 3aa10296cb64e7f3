"""Which removed line and which added one are the same line, changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain
from operator import itemgetter
from typing import Final

from memstrata.domain.team_document.units import Key, Unit

ALIKE: Final = 0.5
"""The share of their words that two versions of a line have in common."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Removed → added. `weak` are the removed ones that only share heading and day with theirs."""

    pairs: Mapping[Key, Key]
    weak: frozenset[Key]


def edits(removed: Sequence[Unit], added: Sequence[Unit], careful: Callable[[Unit], bool]) -> Edits:
    """The edits among `removed` and `added`, one to one, in this order of preference.

    The same text, under another heading or on another day; then under one heading at least `ALIKE` of
    the words; then under one heading the same day. A removed unit that one must be `careful` with is
    only replaced by one that says all it said.
    """
    pairing = _Pairing(added)
    pairing.by(removed, lambda unit: (unit.key.heading, unit.key.text))
    pairing.by(removed, lambda unit: unit.key.text)
    plain = [unit for unit in removed if not careful(unit)]
    pairing.by_words([unit for unit in removed if careful(unit)], whole=True)
    pairing.by_words(plain, least=ALIKE)
    strong = frozenset(pairing.pairs)
    pairing.by([unit for unit in plain if unit.key.day], lambda unit: unit.key[:2])
    return Edits(pairing.pairs, frozenset(pairing.pairs) - strong)


class _Pairing:
    """Removed and added units that have found each other, and the added ones that have not."""

    def __init__(self, added: Sequence[Unit]) -> None:
        self.pairs: dict[Key, Key] = {}
        self._free = {unit.key: unit for unit in added}
        self._at = {unit.key: at for at, unit in enumerate(added)}

    def by(self, removed: Iterable[Unit], what: Callable[[Unit], Hashable]) -> None:
        """Pair in order what has the same `what`."""
        free = _grouped(reversed(self._free.values()), what)
        for old in self._left(removed):
            if found := free.get(what(old)):
                self._pair(old, found.pop())

    def by_words(self, removed: Iterable[Unit], *, least: float = 0.0, whole: bool = False) -> None:
        """Pair what is `least` alike under one heading, the likest two of all first.

        `whole`: only with one that has all its words.
        """
        having = _having(self._free.values())
        left = self._left(removed)
        waiting = [
            (*best[:2], n) for n, old in enumerate(left) if (best := self._best(old, having, whole))
        ]
        heapify(waiting)
        while waiting and -waiting[0][0] >= least:
            *found, n = heappop(waiting)
            best = self._best(left[n], having, whole)
            if best and [*best[:2]] == found:
                self._pair(left[n], best[3])
            elif best:  # its likest has gone to another meanwhile
                heappush(waiting, (*best[:2], n))

    def _best(
        self, old: Unit, having: Mapping[tuple[str, str], Sequence[Key]], whole: bool
    ) -> tuple[float, bool, int, Unit] | None:
        """The likest of those that are free: minus its likeness, whether its day differs, its place, it.

        Likeness is Dice's coefficient of the words, 2·|A ∩ B| / (|A| + |B|) (Dice 1945).
        """
        counts = Counter(
            chain.from_iterable(having.get((old.key.heading, term), ()) for term in old.terms)
        )
        found = (
            (
                -2 * count / (len(old.terms) + len(new.terms)),
                key[1] != old.key.day,
                self._at[key],
                new,
            )
            for key, count in counts.items()
            if (new := self._free.get(key)) and (count == len(old.terms) or not whole)
        )
        # The place decides between equals: the order of a set's words is none.
        return min(found, key=itemgetter(0, 1, 2), default=None)

    def _left(self, removed: Iterable[Unit]) -> list[Unit]:
        return [unit for unit in removed if unit.key not in self.pairs]

    def _pair(self, old: Unit, new: Unit) -> None:
        self.pairs[old.key] = new.key
        del self._free[new.key]


def _having(units: Iterable[Unit]) -> dict[tuple[str, str], list[Key]]:
    """Heading and word → the units that have it: comparing each with each would take too long."""
    found: dict[tuple[str, str], list[Key]] = defaultdict(list)
    for unit in units:
        for term in unit.terms:
            found[unit.key.heading, term].append(unit.key)
    return found


def _grouped(units: Iterable[Unit], what: Callable[[Unit], Hashable]) -> dict[Hashable, list[Unit]]:
    found: dict[Hashable, list[Unit]] = defaultdict(list)
    for unit in units:
        found[what(unit)].append(unit)
    return found
