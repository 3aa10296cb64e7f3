"""Homes in memory where the system has room for them: kills and errors are what counts here, not fsync."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_MEMORY = Path("/dev/shm")
_ROOM = 32 * 2**20


def in_memory() -> Path | None:
    """A folder in memory, None where there is none with room."""
    if not (_MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)):
        return None
    room = os.statvfs(_MEMORY)
    return _MEMORY if room.f_bavail * room.f_frsize > _ROOM else None


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder that is gone after the test."""
    with TemporaryDirectory(prefix="memstrata-", dir=in_memory()) as found:
        yield Path(found).resolve()
