"""The system's clock, and ids that sort by when they were made."""

from __future__ import annotations

import os
import secrets
import threading
import time
from datetime import UTC, datetime
from typing import Final

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def ulid(value: int) -> str:
    """128 bits as 26 characters of Crockford's base 32, lower case; they sort as the numbers do."""
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


class _Source:
    """Milliseconds (48 bits) and chance (80); when the clock stands or steps back, one more."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Start anew: a forked child would count on like its parent, and the lock may be held."""
        self._lock = threading.Lock()
        self._last = 0

    def next(self, milliseconds: int) -> int:
        fresh = milliseconds << 80 | secrets.randbits(80)
        with self._lock:
            # Not plainly the greater: within a millisecond the next draw may be below the last.
            self._last = fresh if fresh >> 80 > self._last >> 80 else self._last + 1
            return self._last


_source: Final = _Source()
os.register_at_fork(after_in_child=_source.renew)


class SystemClock:
    """`Clock` of this machine. Ids are monotonic over all instances of a process."""

    def now(self) -> datetime:
        """The present, aware, UTC."""
        return datetime.now(UTC)

    def new_id(self, prefix: str) -> str:
        """`prefix` and a ULID in lower case: sortable, unique, monotonic within the process."""
        return prefix + ulid(_source.next(time.time_ns() // 1_000_000))
