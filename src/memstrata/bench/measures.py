"""What is measured of a ranking, and how sure a mean is."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memstrata.bench.corpus import Corpus, Question

RESAMPLES: Final = 1_000
_SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Measure:
    """How a ranking of ids scores against the evidence, 0 to 1; `definition` says it in words."""

    definition: str
    of: Callable[[Sequence[str], frozenset[str]], float]


def _recall(k: int) -> Measure:
    return Measure(
        f"the share of a question's evidence messages among the first {k}",
        lambda ranking, evidence: len(evidence.intersection(ranking[:k])) / len(evidence),
    )


def _any(k: int, what: str) -> Measure:
    return Measure(
        f"1 if any evidence {what} is among the first {k}, else 0",
        lambda ranking, evidence: float(not evidence.isdisjoint(ranking[:k])),
    )


def _all(k: int, what: str) -> Measure:
    return Measure(
        f"1 if every evidence {what} is among the first {k}, else 0",
        lambda ranking, evidence: float(evidence.issubset(ranking[:k])),
    )


def _reciprocal(ranking: Sequence[str], evidence: frozenset[str]) -> float:
    places = (place for place, id in enumerate(ranking[:10], start=1) if id in evidence)
    return 1 / next(places, float("inf"))


TURN: Final[Mapping[str, Measure]] = {
    "recall@5": _recall(5),
    "recall@10": _recall(10),
    "recall@20": _recall(20),
    "hit@5": _any(5, "message"),
    "hit@10": _any(10, "message"),
    "MRR": Measure("1/rank of the first evidence message, 0 beyond rank 10", _reciprocal),
}
"""Of messages."""
SESSION: Final[Mapping[str, Measure]] = {
    "any@5": _any(5, "session"),
    "any@10": _any(10, "session"),
    "all@10": _all(10, "session"),
}
"""Of sessions, each ranked by its best message."""
HEADLINE: Final = {"turn": "recall@10", "session": "any@10"}
"""What conversations and categories are compared by."""

Score = Mapping[str, float]
"""One question's figures by measure."""


def score(corpus: Corpus, question: Question, ranking: Sequence[str]) -> Score:
    """The figures of a ranking of message ids: of turns, of sessions, or of both, as the corpus has them."""
    found: dict[str, float] = {}
    if corpus.level == "turn":
        found |= {name: one.of(ranking, question.evidence) for name, one in TURN.items()}
    if not corpus.atomic:
        sessions, wanted = corpus.in_sessions(ranking), corpus.wanted_sessions(question)
        found |= {name: one.of(sessions, wanted) for name, one in SESSION.items()}
    return found


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def figure(values: Sequence[float]) -> Figure:
    """The mean with its percentile bootstrap interval (Efron, 1979), 1,000 resamples, seeded."""
    if not values:
        return Figure(0.0, 0.0, 0.0)
    dice, size = random.Random(_SEED), len(values)
    means = sorted(mean(dice.choices(values, k=size)) for _ in range(RESAMPLES))
    low, high = means[round(RESAMPLES * 0.025)], means[round(RESAMPLES * 0.975) - 1]
    return Figure(mean(values), low, high)
