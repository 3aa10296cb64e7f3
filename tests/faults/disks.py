"""Disks that fail: SQLite's n-th write, and a home whose store lies on such a disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count

import apsw
import pytest

from memstrata import bootstrap
from memstrata.adapters.sqlite import SqliteStore

_numbers = count(1)


class Disk(apsw.VFS):
    """The system's disk until `fail`: then its n-th write, sync or truncation, and later ones too if it stays full."""

    def __init__(self) -> None:
        self.name = f"failing-{next(_numbers)}"
        self.calls = 0
        self._at = 0
        self._stays = False
        self._error: type[apsw.Error] = apsw.FullError
        super().__init__(self.name, "")

    def fail(self, at: int, error: type[apsw.Error] = apsw.FullError, *, stays: bool) -> None:
        """Fail call `at`, counted from here."""
        self.calls, self._at, self._error, self._stays = 0, at, error, stays

    def heal(self) -> None:
        """Fail no more."""
        self._at = 0

    def call(self) -> None:
        """Count a call and fail it if it is its turn."""
        self.calls += 1
        if self._at and (self.calls == self._at or (self._stays and self.calls > self._at)):
            raise self._error(f"call {self.calls} fails")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.call()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.call()
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        self._disk.call()
        super().xTruncate(newsize)


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """Every home opened inside keeps its database on this disk, and waits for nobody."""
    disk = Disk()
    with monkeypatch.context() as patched:
        store = partial(SqliteStore, vfs=disk.name, patience=0.05)
        patched.setattr(bootstrap, "SqliteStore", store)
        yield disk
    disk.unregister()
