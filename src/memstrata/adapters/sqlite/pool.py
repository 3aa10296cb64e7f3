"""The connections of one store: one that writes, behind a lock, and a few that read. Forks."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from memstrata.adapters.sqlite.connection import Connection
from memstrata.errors import Corrupt, Internal, Unavailable


class Pool:
    """Opens connections when they are needed; hands each to one thread at a time.

    Before a fork every connection is closed, and parent and child open their own again: SQLite
    keeps its locks by process, so a connection that crosses a fork can destroy the database.
    """

    def __init__(
        self, path: Path, vfs: str | None, *, version: int, readers: int, patience: float
    ) -> None:
        self.path = path
        self._vfs = vfs
        self._version = version
        self._readers = readers
        self._patience = patience
        self._closed = False
        self._parked = False
        self._writer: Connection | None = None
        self._idle: list[Connection] = []
        self._renew()
        _pools.add(self)

    def _renew(self) -> None:
        self._pid = os.getpid()
        self._holder: int | None = None
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(self._readers)

    def open(self, *, writes: bool) -> Connection:
        """A connection of the caller's own, who stays `alone` as long as it is open."""
        return Connection(self.path, self._vfs, self._patience, writes=writes)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection in a transaction that reads one state.

        Raises:
            Unavailable: the database is away, or no reader came free in time.
        """
        self._check()
        if not self._slots.acquire(timeout=self._patience):
            raise Unavailable(f"all {self._readers} readers of {self.path} are in use; try again")
        try:
            with self._held(self._reader(), "DEFERRED") as connection:
                yield connection
        finally:
            self._slots.release()

    def _reader(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self.open(writes=False)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The connection that writes, in a transaction that commits at the end.

        Raises:
            Unavailable: the database cannot be written; nothing was saved.
            Internal: this thread already writes.
        """
        with self.alone():
            writer = self._writer or self.open(writes=True)
            self._writer = None
            with self._held(writer, "IMMEDIATE") as connection:
                yield connection
                connection.commit()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No other thread of this process writes or forks meanwhile.

        Raises:
            Unavailable: another thread does not stop writing.
            Internal: this thread already writes.
        """
        self._check()
        if self._holder == threading.get_ident():
            raise Internal("a write transaction was begun inside another of the same thread")
        if not self._lock.acquire(timeout=self._patience):
            raise Unavailable(f"another thread keeps writing to {self.path}; try again")
        self._holder = threading.get_ident()
        try:
            yield
        finally:
            self._holder = None
            self._lock.release()

    @contextmanager
    def _held(self, connection: Connection, mode: str) -> Iterator[Connection]:
        """`connection` in a transaction of `mode`; then it is kept, or closed if it failed."""
        failed = False
        try:
            self._begin(connection, mode)
            yield connection
        except (Unavailable, Corrupt):
            failed = True
            raise
        finally:
            self._put_back(connection, mode, failed)

    def _begin(self, connection: Connection, mode: str) -> None:
        version = connection.begin(mode)
        if version != self._version:
            raise Unavailable(
                f"{self.path} has schema {version} now, this process knows {self._version}: "
                "another release changed it; start again"
            )

    def _put_back(self, connection: Connection, mode: str, failed: bool) -> None:
        if not connection.is_own:
            _inherited.append(connection)
        elif not connection.roll_back() or failed:
            connection.close()
        elif mode == "IMMEDIATE":
            self._writer = connection
        else:
            self._idle.append(connection)

    def _check(self) -> None:
        if self._closed:
            raise Internal(f"the store {self.path} was closed")
        if self._pid != os.getpid():
            raise Internal(
                f"this process was forked while {self.path} was in use; "
                "open the store after the fork"
            )

    def close(self) -> None:
        """Close every connection, once those in use are put back.

        Raises:
            Unavailable: some are still in use; they were left open.
        """
        if self._closed or self._pid != os.getpid():
            return
        if not self.park():
            raise Unavailable(f"{self.path} is still in use by another thread")
        self._closed = True
        self.unpark()

    def park(self) -> bool:
        """Take every connection out of use and close it; False when some do not come free."""
        if self._holder == threading.get_ident() or not self._lock.acquire(timeout=self._patience):
            return False
        for taken in range(self._readers):
            if not self._slots.acquire(timeout=self._patience):
                self._free(taken)
                return False
        for connection in (*self._idle, *([self._writer] if self._writer else ())):
            connection.close()
        self._idle.clear()
        self._writer = None
        self._parked = True
        return True

    def unpark(self) -> None:
        """Let connections be opened again, in this process."""
        if not self._parked:
            return
        self._parked = False
        if self._pid == os.getpid():
            self._free(self._readers)
        else:
            # Threads of the parent that waited here are not in the child.
            self._renew()

    def _free(self, slots: int) -> None:
        if slots:
            self._slots.release(slots)
        self._lock.release()


_pools: Final[weakref.WeakSet[Pool]] = weakref.WeakSet()
_inherited: Final[list[Connection]] = []
"""Connections that crossed a fork in use: never touched again, not even to close them."""
_forking: Final = threading.Lock()


def _before_fork() -> None:
    _forking.acquire()
    for pool in list(_pools):
        pool.park()


def _after_fork() -> None:
    for pool in list(_pools):
        pool.unpark()
    _forking.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
