"""Waiting for what another thread or process does, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
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
