"""The embedded store: one SQLite file, any number of threads and processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final

from memstrata.adapters.sqlite.connection import Connection
from memstrata.adapters.sqlite.migrations import migrate, steps
from memstrata.adapters.sqlite.pool import Pool
from memstrata.adapters.sqlite.reads import Reads
from memstrata.adapters.sqlite.writes import Writes
from memstrata.errors import Corrupt, Unavailable

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

    Raises:
        Unavailable: it cannot be opened, or a newer release wrote it.
        Corrupt: it is damaged, no database, or another program's.
    """

    __slots__ = ("_pool", "path")

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
        _make_private(path)
        known = steps()
        self._pool = Pool(path, vfs, version=len(known), readers=readers, patience=patience)
        with (
            self._pool.alone(),
            closing(self._pool.open(writes=True)) as writer,
            closing(self._pool.open(writes=False)) as reader,
        ):
            migrate(writer, reader, known, backups)

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._pool.reading()

    @contextmanager
    def transaction(self) -> Iterator[Writes]:
        with self._pool.writing() as db:
            writes = Writes(db)
            try:
                yield writes
            finally:
                writes.end()

    def check(self) -> list[str]:
        try:
            # A connection of its own: one that read the text index before another merged it would
            # check what it remembers, and find it gone (SQLite 3.54).
            with closing(self._pool.open(writes=False)) as db:
                found = [str(line) for (line,) in db.script("PRAGMA integrity_check")]
        except Corrupt as error:
            return [error.message]
        return [] if found == ["ok"] else found

    def optimise(self) -> None:
        for text in ("memory", "message"):
            name = f"start_{text}_merge"
            while self._merged(name):
                name = f"go_on_{text}_merge"
        with self._pool.alone(), closing(self._pool.open(writes=True)) as db:
            db.script("PRAGMA wal_checkpoint(TRUNCATE)")

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
