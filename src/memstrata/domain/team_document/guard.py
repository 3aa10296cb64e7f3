"""How much of a document one update may take away without being told to, and what a rewriting must keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from memstrata.domain import terms
from memstrata.domain.team_document.units import Unit, folded, words

COVERED: Final = 0.5
"""The share of a line's words that must stand in one line of the rewritten document."""
_ALL: Final = 100_000


def allowed(held: int) -> int:
    """How many of `held` lines may go: ⌊max(20 %, min(3, n/2))⌋."""
    return max(held // 5, min(3, held // 2))


def weigh(units: Iterable[Unit]) -> int:
    """Entries plus raw rows, as the guard counts them."""
    return sum(unit.weight for unit in units)


def uncovered(before: Sequence[Unit], after: Iterable[Unit]) -> tuple[Unit, ...]:
    """The units of `before` that no unit of `after` keeps or has taken in.

    One is kept when its text is there, taken in when one unit has at least `COVERED` of its words, and
    as much of those that nothing else in `before` has: "service 7" is not taken in by "the services".
    Stop words do not count, and signs alone (a rule, a fence) need not be kept.
    """
    found = tuple(after)
    texts = {folded(unit.line) for unit in found}
    said = [_content(unit) for unit in found]
    contents = [_content(unit) for unit in before]
    counts = Counter(chain.from_iterable(contents))

    def is_covered(mine: frozenset[str]) -> bool:
        own = frozenset(term for term in mine if counts[term] == 1)
        return not mine or any(_has(other, mine) and _has(other, own) for other in said)

    return tuple(
        unit
        for unit, mine in zip(before, contents, strict=True)
        if unit.key.text not in texts and not is_covered(mine)
    )


def _has(words: frozenset[str], wanted: frozenset[str]) -> bool:
    return len(words & wanted) >= COVERED * len(wanted)


def _content(unit: Unit) -> frozenset[str]:
    return frozenset(term.text for term in terms.query_terms(words(unit.line), most=_ALL))
