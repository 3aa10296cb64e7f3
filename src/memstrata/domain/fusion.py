"""From ranked lanes to one order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

RRF_K: Final = 60
LANE_DEPTH: Final = 20
"""How many hits of each lane profile `classic` fuses."""


def rrf(lanes: Mapping[str, Sequence[str]], k: int = RRF_K) -> dict[str, float]:
    """Reciprocal rank fusion: Σ 1 / (k + rank), ranks from 1 (Cormack, Clarke, Büttcher, SIGIR 2009)."""
    scores: dict[str, float] = {}
    for ids in lanes.values():
        for rank, id in enumerate(ids, start=1):
            scores[id] = scores.get(id, 0.0) + 1.0 / (k + rank)
    return scores


def decay(updated: date, today: date, rate: float) -> float:
    """exp(−rate × age in calendar days), at most 1.

    Every age grows at the same midnight, so the order of two memories never changes by itself and a
    prompt stays byte-identical.
    """
    return math.exp(-rate * max(0, (today - updated).days))


def classic(fused: float, updated: date, confidence: float, today: date, rate: float) -> float:
    """Profile `classic`: rrf × exp(−λ × age in days) × confidence."""
    return fused * decay(updated, today, rate) * confidence
