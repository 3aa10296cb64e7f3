"""When a session is due, and how long a failed batch waits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain.cadence import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    Backlog,
    Rhythm,
    back_off,
    counted,
    due,
    threshold,
)

LAST = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
IDLE = timedelta(seconds=600)


def batches(every: int, turns: int) -> list[int]:
    """The sizes of the batches when `turns` turns are said one by one."""
    found: list[int] = []
    done = 0
    for said in range(1, turns + 1):
        if said - done >= threshold(done, every):
            found.append(said - done)
            done = said
    return found


@pytest.mark.parametrize(
    "every, sizes",
    [
        (1, [1, 1, 1, 1, 1, 1]),
        (2, [1, 2, 2, 2]),
        (5, [1, 2, 4, 5, 5]),
        (8, [1, 2, 4, 8, 8]),
        (10, [1, 2, 4, 8, 10, 10]),
    ],
)
def test_it_warms_up(every: int, sizes: list[int]) -> None:
    assert batches(every, sum(sizes)) == sizes


@given(st.integers(0, 10_000), st.integers(1, 1_000))
def test_a_batch_is_never_larger_than_set_nor_empty(done: int, every: int) -> None:
    assert 1 <= threshold(done, every) <= every
    assert threshold(done, every) <= threshold(done + 1, every)
    assert threshold(done, every) <= done + 1


@given(st.integers(1, 1_000))
def test_it_is_warm_at_last(every: int) -> None:
    assert threshold(counted(every), every) == every


def test_enough_turns_are_due_at_once_and_others_when_it_is_quiet() -> None:
    assert due(Backlog(0, 1, LAST), Rhythm(1, IDLE)) == LAST
    assert due(Backlog(0, 0, LAST), Rhythm(1, IDLE)) == LAST + IDLE, "no turn has ended"
    assert due(Backlog(7, 3, LAST), Rhythm(4, IDLE)) == LAST + IDLE
    assert due(Backlog(7, 4, LAST), Rhythm(4, IDLE)) == LAST
    assert due(Backlog(1, 2, LAST), Rhythm(4, IDLE)) == LAST
    assert due(Backlog(9, 0, None), Rhythm(4, IDLE)) is None


def test_pauses_grow_up_to_a_limit() -> None:
    middles = [back_off(failures, 0.5) for failures in range(1, 8)]
    assert middles[:4] == [FIRST_PAUSE * factor for factor in (1, 4, 16, 64)]
    assert middles[4:] == [LONGEST_PAUSE] * 3
    assert back_off(10**6, 0.5) == LONGEST_PAUSE


@given(st.integers(1, 50), st.floats(0, 1, exclude_max=True), st.integers(0, 7200))
def test_chance_spreads_them_and_the_provider_is_heard(
    failures: int, chance: float, asked: int
) -> None:
    middle = back_off(failures, 0.5)
    found = back_off(failures, chance)
    assert middle * 0.5 <= found <= middle * 1.5
    wish = timedelta(seconds=asked)
    assert back_off(failures, chance, wish) == max(found, wish)
