"""Messages by relevance: what a message says, what is said around it, how near its meaning is.

A sum of eight features with fixed weights, the words' by how much of the query they hold. Full text is
BM25 (Robertson and Zaragoza 2009) of three texts: the message; its window, that is the two messages
before and behind it at less weight; and its group, what was said in one session on one day. The answer
to a question rarely repeats its words, so a message behind a question that matches is raised too. Where
most candidates stand alone (notes, single facts), what is around them is another subject: the more do,
the less context counts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from memstrata.domain.terms import Term, index_terms

_Key = TypeVar("_Key")

K1: Final = 1.2
B: Final = 0.3
"""Messages are short: more length normalisation prefers the shortest. Groups are long, as in text
collections, and keep the usual 0.75."""
GROUP_B: Final = 0.75
NEIGHBOUR: Final = 0.6
"""What a term next door counts in the window, against 1 in the message itself."""
SECOND_NEIGHBOUR: Final = 0.3

LEXICAL: Final = 0.6
WINDOW: Final = 4.0
GROUP: Final = 3.2
ANSWER: Final = 2.0
NAMED: Final = 0.3
ASKS: Final = -1.1
OPENS: Final = 1.4
NEAR: Final = 4.8
"""The weights of `score`: maximum likelihood of the evidence among a question's candidates (softmax,
L2 of 1, all but ASKS kept at 0 or above), learned from 1,898 questions in English and Chinese about
dialogues and single facts; rounded. Left-out conversations and whole left-out sets are ranked as well."""

SPREAD: Final = 0.2
"""Taken off for each better hit of the same group, so that one dialogue does not fill the page."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as the index knows it.

    `counts` says how often the query's terms, by their place in the query, stand in it; `length` is
    its number of terms, `previous` the position of the message before it in its session, `group`
    its session and day, `asks` whether it holds a question mark.
    """

    position: int
    previous: int | None
    group: str
    speaker: str
    length: int
    counts: Mapping[int, int]
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """What one session said on one day: its length in terms, the query's terms in it, who spoke."""

    length: int
    counts: Mapping[int, int]
    speakers: int

    @property
    def dialogue(self) -> bool:
        """Whether messages next to each other answer each other."""
        return self.speakers > 1


@dataclass(frozen=True, slots=True)
class Scope:
    """Counts over all that is searched: of each query term, how many turns and groups have it."""

    turns: int
    groups: int
    length: int
    turns_having: Sequence[int]
    groups_having: Sequence[int]


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for one candidate: 0 to 1 each; `named` is -1 where another speaker was named."""

    lexical: float = 0.0
    window: float = 0.0
    group: float = 0.0
    answer: float = 0.0
    named: float = 0.0
    asks: float = 0.0
    opens: float = 0.0
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate's position and score; greater is better."""

    position: int
    score: float


def rank(
    query: Sequence[Term],
    scope: Scope,
    turns: Iterable[Turn],
    groups: Mapping[str, Group],
    chosen: Collection[int],
    near: Mapping[int, float],
) -> list[Ranked]:
    """The chosen turns, best first, of equal ones the earlier first.

    `turns` holds the chosen ones and, of each, the two before and behind it in its session; a turn
    that is missing counts for nothing. `groups` has the group of every turn; `near` the cosine of
    each turn that has a vector, and is empty when there are no vectors.
    """
    view = _View(scope, {one.position: one for one in turns}, groups)
    pool = sorted(set(chosen).intersection(view.turns))
    context = view.context(pool)
    features = _features(query, view, pool, near)
    found = [Ranked(at, score(features[at], context)) for at in pool]
    return _spread(sorted(found, key=_order), view)


def _order(one: Ranked) -> tuple[float, int]:
    return -one.score, one.position


def _spread(ranked: Sequence[Ranked], view: _View) -> list[Ranked]:
    """The same with `SPREAD` taken off; the first hits of the dialogues keep their order."""
    better: dict[str, int] = {}
    found: list[Ranked] = []
    for one in ranked:
        name = view.turns[one.position].group
        before = better.get(name, 0)
        if view.groups[name].dialogue:
            better[name] = before + 1
        found.append(Ranked(one.position, one.score - SPREAD * before))
    return sorted(found, key=_order)


def score(features: Features, context: float = 1.0) -> float:
    """The weighted sum; `context`, 0 to 1, is how much of what is said around a turn counts."""
    around = (
        WINDOW * features.window
        + GROUP * features.group
        + ANSWER * features.answer
        + ASKS * features.asks
        + OPENS * features.opens
    )
    alone = LEXICAL * features.lexical + NAMED * features.named + NEAR * features.near
    return alone + context * around


def rarity(texts: int, having: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): the weight of a term that n of N texts have, above 0."""
    return math.log(1 + (max(0, texts - having) + 0.5) / (having + 0.5))


def bm25(
    counts: Mapping[int, float], weights: Sequence[float], length: float, mean: float, b: float
) -> float:
    """BM25 of one text: `counts` and `weights` by term, `mean` the mean length of such texts."""
    norm = K1 * (1 - b + b * length / mean) if mean > 0 else K1
    return sum(
        weights[term] * count * (K1 + 1) / (count + norm) for term, count in sorted(counts.items())
    )


# -- features -------------------------------------------------------------------------------------


class _View:
    """Turns with their neighbours, and the BM25 of the three texts."""

    def __init__(
        self, scope: Scope, turns: Mapping[int, Turn], groups: Mapping[str, Group]
    ) -> None:
        self.turns = turns
        self.groups = groups
        self._behind = {
            one.previous: at for at, one in turns.items() if self._linked(one.previous, at)
        }
        self._turn_weights = [rarity(scope.turns, having) for having in scope.turns_having]
        self._group_weights = [rarity(scope.groups, having) for having in scope.groups_having]
        self._mean = scope.length / max(1, scope.turns)
        self._group_mean = scope.length / max(1, scope.groups)

    def _linked(self, before: int | None, at: int) -> bool:
        """Whether two turns belong together: said in one dialogue on one day."""
        one, other = self.turns.get(-1 if before is None else before), self.turns[at]
        return one is not None and one.group == other.group and self.groups[one.group].dialogue

    def before(self, at: int | None) -> int | None:
        if at is None:
            return None
        previous = self.turns[at].previous
        return previous if self._linked(previous, at) else None

    def behind(self, at: int | None) -> int | None:
        return None if at is None else self._behind.get(at)

    def context(self, pool: Collection[int]) -> float:
        """The share of turns that have a neighbour."""
        having = sum(self.before(at) is not None or self.behind(at) is not None for at in pool)
        return having / len(pool) if pool else 0.0

    def trust(self, pool: Collection[int]) -> float:
        """How far the words are to be trusted beside the meaning: √ of the share of the query's weight
        that the turn with most of it has. The best of poor matches is a poor match all the same.
        """
        whole = sum(self._turn_weights)
        held = (sum(self._turn_weights[at] for at in self.turns[one].counts) for one in pool)
        return math.sqrt(max(held, default=0.0) / whole) if whole > 0 else 0.0

    def lexical(self, at: int) -> float:
        turn = self.turns[at]
        return bm25(turn.counts, self._turn_weights, turn.length, self._mean, B)

    def window(self, at: int) -> float:
        before, behind = self.before(at), self.behind(at)
        counts = dict[int, float](self.turns[at].counts)
        length = float(self.turns[at].length)
        for other, weight in (
            (before, NEIGHBOUR),
            (behind, NEIGHBOUR),
            (self.before(before), SECOND_NEIGHBOUR),
            (self.behind(behind), SECOND_NEIGHBOUR),
        ):
            if other is not None:
                length += weight * self.turns[other].length
                for term, count in self.turns[other].counts.items():
                    counts[term] = counts.get(term, 0.0) + weight * count
        mean = self._mean * (1 + 2 * NEIGHBOUR + 2 * SECOND_NEIGHBOUR)
        return bm25(counts, self._turn_weights, length, mean, B)

    def group(self, name: str) -> float:
        group = self.groups[name]
        return bm25(group.counts, self._group_weights, group.length, self._group_mean, GROUP_B)

    def question(self, at: int) -> int | None:
        """The turn before, if it asks."""
        before = self.before(at)
        return before if before is not None and self.turns[before].asks else None

    def opens(self, at: int) -> bool:
        """Whether a dialogue begins with the turn: people tell their news first."""
        return self.before(at) is None and self.groups[self.turns[at].group].dialogue


def _features(
    query: Sequence[Term], view: _View, pool: Sequence[int], near: Mapping[int, float]
) -> dict[int, Features]:
    questions = {at: view.question(at) for at in pool}
    asked = {at for at in questions.values() if at is not None}
    lexical = _shares({at: view.lexical(at) for at in asked.union(pool)})
    windows = _shares({at: view.window(at) for at in pool})
    names = {view.turns[at].group for at in pool}
    groups = _shares({name: view.group(name) for name in names})
    nearness = _between(near, pool)
    trust = view.trust(pool) if near else 1.0
    named = _named(query, (view.turns[at].speaker for at in pool))
    return {
        at: Features(
            lexical=trust * lexical[at],
            window=trust * windows[at],
            group=trust * groups[view.turns[at].group],
            answer=_best(questions[at], lexical, nearness),
            named=named[view.turns[at].speaker],
            asks=float(view.turns[at].asks),
            opens=float(view.opens(at)),
            near=nearness[at],
        )
        for at in pool
    }


def _best(at: int | None, *found: Mapping[int, float]) -> float:
    """How well a turn matches, by its words or by its meaning."""
    return 0.0 if at is None else max(values.get(at, 0.0) for values in found)


def _named(query: Sequence[Term], speakers: Iterable[str]) -> dict[str, float]:
    """1 for a speaker whom the query names, -1 for one beside whom another is named, else 0."""
    terms = {term.text for term in query}
    named = {name: not terms.isdisjoint(index_terms(name)) for name in set(speakers)}
    if not any(named.values()):
        return dict.fromkeys(named, 0.0)
    return {name: 1.0 if hit else -1.0 if name else 0.0 for name, hit in named.items()}


def _share(value: float, most: float) -> float:
    return value / most if most > 0 else 0.0


def _shares(values: Mapping[_Key, float]) -> dict[_Key, float]:
    most = max(values.values(), default=0.0)
    return {key: _share(value, most) for key, value in values.items()}


def _between(near: Mapping[int, float], pool: Sequence[int]) -> dict[int, float]:
    """Cosines from 0 (the farthest of the pool, and what has none) to 1 (the nearest)."""
    known = [near[at] for at in pool if at in near]
    least, most = min(known, default=0.0), max(known, default=0.0)
    found = dict.fromkeys(pool, 0.0)
    for at, cosine in near.items():
        found[at] = min(1.0, max(0.0, _share(cosine - least, most - least)))
    return found
