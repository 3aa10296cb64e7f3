"""Clocks: the system's and the double that tests set."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doubles import START, FakeClock

from memstrata.adapters.clock import SystemClock, ulid
from memstrata.domain import checks
from memstrata.ports import Clock

ULID = re.compile(r"[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}")
NUMBERS = st.integers(0, 2**128 - 1)


CLOCKS: dict[str, Callable[[], Clock]] = {"system": SystemClock, "fake": FakeClock}


@pytest.fixture(params=CLOCKS)
def clock(request: pytest.FixtureRequest) -> Clock:
    return CLOCKS[request.param]()


def milliseconds(id: str) -> int:
    """The time that the first ten characters hold."""
    value = 0
    for character in id.removeprefix("mem_")[:10]:
        value = value * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(character)
    return value


def test_now_is_aware_and_utc(clock: Clock) -> None:
    assert clock.now().tzinfo is UTC


@pytest.mark.promise("id.sortable")
def test_ids_are_sortable_unique_and_safe_as_file_names(clock: Clock) -> None:
    ids = [clock.new_id("mem_") for _ in range(5000)]
    assert ids == sorted(set(ids))
    assert all(ULID.fullmatch(id.removeprefix("mem_")) for id in ids)
    assert checks.ref("id", ids[0]) == ids[0]
    assert clock.new_id("").isalnum()


@pytest.mark.promise("id.sortable")
def test_threads_never_share_an_id(clock: Clock) -> None:
    found: list[list[str]] = []
    ready = threading.Barrier(4)

    def make() -> None:
        ready.wait()
        found.append([clock.new_id("mem_") for _ in range(1000)])

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ids == sorted(ids) for ids in found)
    assert len({id for ids in found for id in ids}) == 4000


def test_the_system_clock_tells_the_time() -> None:
    before = datetime.fromtimestamp(time.time_ns() / 1e9, UTC)
    now = SystemClock().now()
    assert timedelta() <= now - before < timedelta(minutes=1)


def test_an_id_holds_the_time_it_was_made_at() -> None:
    before = time.time_ns() // 1_000_000
    made = milliseconds(SystemClock().new_id("mem_"))
    # Other tests may have drawn ids in the same millisecond, never from the future.
    assert before <= made <= time.time_ns() // 1_000_000


@pytest.mark.promise("id.sortable")
def test_ids_go_on_when_the_clock_steps_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, other = SystemClock(), SystemClock()
    first = clock.new_id("mem_")
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    assert first < clock.new_id("mem_") < other.new_id("mem_") < clock.new_id("mem_")


FORK = """
import os, time
from memstrata.adapters.clock import SystemClock
clock = SystemClock()
clock.new_id("mem_")
time.time_ns = lambda: 0
child = os.fork()
os.write(1, (clock.new_id("mem_") + " ").encode())  # one call, so that lines never mix
if child:
    os.waitpid(child, 0)
"""


def test_a_forked_process_draws_ids_of_its_own() -> None:
    # With the clock standing still, a child that counted on would draw what its parent draws.
    # In a process of its own, because this one may have threads, which a fork must not have.
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", FORK],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(set(done.stdout.split())) == 2


@given(NUMBERS, NUMBERS)
def test_ulids_sort_as_their_numbers(one: int, other: int) -> None:
    assert (ulid(one) < ulid(other)) == (one < other)
    assert ULID.fullmatch(ulid(one))


def test_a_ulid_is_crockfords_base_32() -> None:
    assert ulid(0) == "0" * 26
    assert ulid(31) == "0" * 25 + "z"
    assert ulid(2**128 - 1) == "7" + "z" * 25
    # The example of the ULID specification.
    assert ulid(0x01563E3AB5D3D6764C61EFB99302BD5B) == "01arz3ndektsv4rrffq69g5fav"


def test_the_fake_clock_moves_when_it_is_told() -> None:
    clock = FakeClock()
    assert clock.now() == clock.now() == START
    assert clock.advance(days=2, seconds=1) == clock.now() == START + timedelta(days=2, seconds=1)
    assert clock.advance(timedelta(hours=-1)) == START + timedelta(days=2, seconds=1, hours=-1)
    east = timezone(timedelta(hours=8))
    clock.set(datetime(2026, 1, 1, 8, tzinfo=east))
    assert clock.now() == datetime(2026, 1, 1, tzinfo=UTC)
    assert clock.now().tzinfo is UTC
    with pytest.raises(ValueError, match="aware"):
        clock.set(datetime(2026, 1, 1))  # noqa: DTZ001


def test_the_fake_clocks_ids_are_the_same_each_time() -> None:
    clock = FakeClock()
    assert [clock.new_id("mem_"), clock.new_id("tx_")] == [
        "mem_" + "0" * 25 + "1",
        "tx_" + "0" * 25 + "2",
    ]
    assert FakeClock().new_id("mem_") == "mem_" + "0" * 25 + "1"
