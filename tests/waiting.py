"""Waiting for what another thread or process does, with a deadline; processes that are forked for it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

T = TypeVar("T")

SOON: Final = 30.0
"""Seconds that nothing takes unless it is broken."""


def until(found: Callable[[], T | None], seconds: float = SOON) -> T:
    """What `found` gives as soon as that is true; fails when it does not become so."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s"
        time.sleep(0.01)
    return value


def forked(work: Callable[[], object]) -> int:
    """The exit code of a forked process that does `work()`: 0, or 1 when it raised."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(60)
    try:
        work()
    except BaseException:  # noqa: BLE001 -- a forked process must not go on as its parent
        os._exit(1)
    os._exit(0)


@contextmanager
def parent_of_a_child(work: Callable[[], object]) -> Iterator[int]:
    """The id of a forked process that did `work()` and then forked a child, which outlives it.

    Whoever has it kills the process; the child goes at the end.
    """
    ready, told = os.pipe()
    parent = os.fork()
    if not parent:
        signal.alarm(60)
        try:
            _kept = work()
            if not os.fork():
                signal.alarm(60)
                os.write(told, f"{os.getpid()}\n".encode())
            signal.pause()
        finally:
            os._exit(1)
    os.close(told)
    with os.fdopen(ready) as file:
        said = file.readline()
    assert said, "it failed before it had a child"
    try:
        yield parent
    finally:
        os.kill(int(said), signal.SIGKILL)
