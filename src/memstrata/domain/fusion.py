"""From ranked lanes to one order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, TypeVar

RRF_K: Final = 60
LANE_DEPTH: Final = 20
"""How many hits of each lane profile `classic` fuses."""


_Id = TypeVar("_Id", str, int)


def rrf(lanes: Mapping[str, Sequence[_Id]], k: int = RRF_K) -> dict[_Id, float]:
    """Reciprocal rank fusion: Σ 1 / (k + rank), ranks from 1 (Cormack, Clarke, Büttcher, SIGIR 2009)."""
    scores: dict[_Id, float] = {}
    for ids in lanes.values():
        for rank, id in enumerate(ids, start=1):
            scores[id] = scores.get(id, 0.0) + 1.0 / (k + rank)
    return scores


WORDS: Final = 0.28
"""What words count against meaning where both speak: the weights of `ranking` for a text that stands alone."""


def blended(words: Mapping[str, float], near: Mapping[str, float]) -> dict[str, float]:
    """Scores from 0 to 1 of whatever either lane found: bm25 as a share of the best one, the cosine
    between the farthest and the nearest of them; what has no vector counts as the farthest.

    With no vectors at all the words count alone.
    """
    most = max(words.values(), default=0.0)
    least, nearest = min(near.values(), default=0.0), max(near.values(), default=0.0)
    span = nearest - least

    def part(id: str) -> float:
        said = words.get(id, 0.0) / most if most > 0 else 0.0
        if not near:
            return said
        meant = (near.get(id, least) - least) / span if span > 0 else 0.0
        return WORDS * said + (1 - WORDS) * meant

    return {id: part(id) for id in {**words, **near}}


def decay(updated: date, today: date, rate: float) -> float:
    """exp(−rate × age in calendar days), at most 1.

    Every age grows at the same midnight, so the order of two memories never changes by itself and a
    prompt stays byte-identical.
    """
    return math.exp(-rate * max(0, (today - updated).days))


def classic(fused: float, updated: date, confidence: float, today: date, rate: float) -> float:
    """Profile `classic`: rrf × exp(−λ × age in days) × confidence."""
    return fused * decay(updated, today, rate) * confidence
