"""The embedded store: one SQLite file, any number of threads and processes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from random import randrange
from typing import Final

from memstrata.adapters.sqlite.connection import Connection, empty
from memstrata.adapters.sqlite.migrations import migrate, steps
from memstrata.adapters.sqlite.outline import Outlines
from memstrata.adapters.sqlite.pool import Pool
from memstrata.adapters.sqlite.reads import Reads, message_numbers
from memstrata.adapters.sqlite.soundness import faults
from memstrata.adapters.sqlite.writes import Writes
from memstrata.domain.scope import Realm
from memstrata.domain.terms import Term
from memstrata.errors import Unavailable
from memstrata.ports import Damaged, Talk

_COUNTED: Final = ("keys", "messages", "jobs", "verdicts", "records", "offload_sessions")
PATIENCE: Final = 30.0
"""Seconds to wait for another process or thread before `Unavailable`."""


class SqliteStore(Reads):
    """`Store` in the file `path`, which is made if it is not there and migrated if it is old.

    Args:
        path: the database; its folder must be on a local disk.
        backups: the folder for the copy that is made before a migration.
        vfs: the name of a registered SQLite VFS, None for the system's.
        readers: how many threads may read at the same time.
        patience: seconds to wait for another process or thread.

    A damaged one opens all the same, so that `check` can say so and `renew` make it anew.

    Raises:
        Unavailable: it cannot be opened, or a newer release wrote it.
        Corrupt: it is another program's.
    """

    __slots__ = ("_backups", "_is_ready", "_outlines", "_patience", "_pool", "_vfs", "path")

    def __init__(
        self,
        path: Path,
        *,
        backups: Path,
        vfs: str | None = None,
        readers: int = 4,
        patience: float = PATIENCE,
    ) -> None:
        self.path = path
        self._backups = backups
        self._vfs = vfs
        self._patience = patience
        self._is_ready = False
        self._outlines = Outlines()
        _make_private(path)
        self._pool = Pool(path, vfs, version=len(steps()), readers=readers, patience=patience)
        with suppress(Damaged):
            self._get_ready()

    def _get_ready(self) -> None:
        """Migrate, unless that was done; where it could not be read, another process may have renewed it."""
        if self._is_ready:
            return
        with (
            self._pool.alone(),
            closing(self._pool.open(writes=True)) as writer,
            closing(self._pool.open(writes=False)) as reader,
        ):
            migrate(writer, reader, steps(), self._backups)
        self._is_ready = True

    def _reading(self) -> AbstractContextManager[Connection]:
        self._get_ready()
        return self._pool.reading()

    def talk(
        self,
        realm: Realm,
        workspaces: Sequence[str],
        terms: Sequence[Term],
        chosen: Sequence[int],
        beside: Sequence[int],
        reach: int = 2,
    ) -> Talk:
        with self._reading() as db:
            numbers = message_numbers(db, realm, workspaces)
            return self._outlines.talk(db, numbers, terms, chosen, beside, reach)

    @contextmanager
    def transaction(self) -> Iterator[Writes]:
        self._get_ready()
        with self._pool.writing() as db:
            writes = Writes(db)
            try:
                yield writes
            finally:
                writes.end()

    def check(self) -> list[str]:
        try:
            self._get_ready()
        except Damaged as error:
            return [error.message]
        return faults(self._pool)

    def renew(self) -> None:
        if not self._pool.park():
            raise Unavailable(f"{self.path} is still in use by another thread")
        try:
            empty(self.path, self._vfs, self._patience)
        finally:
            self._pool.unpark()
        self._is_ready = False
        self._get_ready()
        self._skip_numbers()

    def _skip_numbers(self) -> None:
        """Count on far from where the old tables may have been: no number means two things to who remembers it."""
        number = randrange(10**6, 10**8)
        with self._pool.writing() as db:
            db.all("forget_numbers")
            db.many("skip_numbers", ({"table": one, "number": number} for one in _COUNTED))

    def optimise(self) -> None:
        self.scrub()

    def scrub(self) -> bool:
        self._get_ready()
        for text in ("memory", "message"):
            name = f"start_{text}_merge"
            while self._merged(name):
                name = f"go_on_{text}_merge"
        with self._pool.alone(), closing(self._pool.open(writes=True)) as db:
            return not db.script("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]

    def _merged(self, name: str) -> bool:
        """One slice of a merge, a transaction of its own so that others write. False at the end."""
        with self._pool.writing() as db:
            before = db.changes
            db.all(name)
            # Each call changes one row by itself (FTS5, "The 'merge' command").
            return db.changes - before >= 2

    def close(self) -> None:
        self._pool.close()


def _make_private(path: Path) -> None:
    """The file, readable by its owner alone; the WAL takes the same mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unavailable(f"the database {path} cannot be opened: {error}") from error
