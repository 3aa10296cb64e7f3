"""Doubles that more than one test file needs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from memstrata.adapters.clock import ulid

START: Final = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)


class FakeClock:
    """`Clock` whose time stands until it is set or advanced; ids count up from 1 (`mem_00…01`)."""

    def __init__(self, now: datetime = START) -> None:
        self._ids = count(1)
        self.set(now)

    def now(self) -> datetime:
        """The time last set, aware, UTC."""
        return self._now

    def new_id(self, prefix: str) -> str:
        """`prefix` and the next number as a ULID."""
        return prefix + ulid(next(self._ids))

    def set(self, now: datetime) -> None:
        """Let it be `now`, which must be aware; it may lie before the time that was."""
        if now.tzinfo is None:
            raise ValueError("a clock needs an aware time")
        self._now = now.astimezone(UTC)

    def advance(self, by: timedelta | None = None, **units: float) -> datetime:
        """Move on by `by` or by the units of a timedelta (`days=2`); returns the new time."""
        self._now += by or timedelta(**units)
        return self._now
