"""When a session is due for extraction, and when a batch that failed is tried again.

A session is due when enough turns of it have ended, when nothing was said in it for a while, or at
once: at its end, and before the process stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

FIRST_PAUSE: Final = timedelta(seconds=15)
LONGEST_PAUSE: Final = timedelta(hours=1)
_GROWTH: Final = 4.0


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often a session is extracted: after `every` ended turns, or `idle` after its last message."""

    every: int
    idle: timedelta


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is known of a session: turns extracted, turns that ended since, when it was last heard of.

    A turn ends with the words of the assistant. `done` need not be counted beyond `counted(every)`;
    `last` is None for a session that has nothing left to extract.
    """

    done: int
    turns: int
    last: datetime | None


def threshold(done: int, every: int) -> int:
    """How many turns make a batch once `done` are extracted: 1, 2, 4, … up to `every`."""
    step = 1
    while step < every and 2 * step - 1 <= done:
        step *= 2
    return min(step, every)


def counted(every: int) -> int:
    """Behind so many turns it is warm: `threshold` is `every`."""
    return 2 * every


def due(backlog: Backlog, rhythm: Rhythm) -> datetime | None:
    """From when on the session is to be extracted; None when nothing is left of it."""
    if backlog.last is None:
        return None
    if backlog.turns >= threshold(backlog.done, rhythm.every):
        return backlog.last
    return backlog.last + rhythm.idle


def back_off(failures: int, chance: float, at_least: timedelta = timedelta()) -> timedelta:
    """How long to wait after so many failures in a row (from 1): exponential, half of it chance.

    `chance` is in [0, 1) and spreads the pause over 0.5 to 1.5 times its middle, so that many homes
    do not come back to one provider at the same moment. `at_least` is what the provider asked for.
    """
    middle = min(FIRST_PAUSE * _GROWTH ** min(failures - 1, 10), LONGEST_PAUSE)
    return max(middle * (0.5 + chance), at_least)
