"""How often one caller is answered: a bucket of tokens that fills steadily."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

KNOWN: Final = 10_000
"""Callers remembered; one that was not heard of for longest begins anew."""


class Buckets:
    """One bucket a caller, `burst` deep, filled by `rate` a second (0: no limit). For one thread."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, now: float) -> float:
        """Take one at `now` (seconds that only grow); 0, or after how many seconds there is one."""
        if not self._rate:
            return 0.0
        left, at = self._held.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate
        self._held[caller] = (left if wait else left - 1, now)
        while len(self._held) > KNOWN:
            self._held.popitem(last=False)
        return wait
