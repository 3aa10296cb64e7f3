"""One connection: its statements by name, its errors in our own terms."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from memstrata.adapters.sqlite.statements import SQL
from memstrata.errors import Internal, MemstrataError, Unavailable
from memstrata.ports import Damaged

Row = tuple[Any, ...]
Values = Mapping[str, Any]
_T = TypeVar("_T")

_BUSY: Final = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
CURE: Final = "memstrata reindex makes it anew from the files"
_PAUSE: Final = 0.01
"""Seconds between two tries where SQLite does not wait by itself (recovery, a change to WAL)."""


def translated(error: apsw.Error, path: Path) -> MemstrataError:
    """`error` as one of ours, with what a person can do about it."""
    match error:
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return Unavailable(f"the database {path} is in use by another process; try again")
        case apsw.FullError():
            return Unavailable(f"the disk is full: {path} could not be written ({error})")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return Unavailable(f"the database {path} is read-only ({error})")
        case apsw.CantOpenError():
            return Unavailable(f"the database {path} cannot be opened ({error})")
        case apsw.IOError() | apsw.NoMemError() | apsw.NoLFSError():
            return Unavailable(f"the disk or memory failed under the database {path} ({error})")
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError():
            return damaged(path, error)
        case _:
            return Internal(f"{type(error).__name__} in the database {path}: {error}")


def damaged(path: Path, error: Exception) -> Damaged:
    """What cannot be read, and the cure."""
    return Damaged(
        str(path),
        f"is damaged or no database ({error}); {CURE}",
    )


def empty(path: Path, vfs: str | None, patience: float) -> None:
    """Make the database an empty one, whatever is wrong with it, for every process that has it open.

    Nothing of it is put aside: what it holds is derived from the files or a list of things to do, and
    a copy would be a place where what was forgotten lives on. It is emptied where it lies, in one
    transaction, because whoever has it open would go on with a file that was renamed or deleted.

    Raises:
        Unavailable: it is in use, or the disk said no.
    """
    try:
        db = apsw.Connection(str(path), vfs=vfs)
        try:
            db.set_busy_timeout(int(patience * 1000))
            with suppress(apsw.CorruptError, apsw.NotADBError):
                # The mode of the log is kept if the schema was read before (sqlite3_db_config).
                db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            db.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
            db.execute("VACUUM")
            db.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)
        finally:
            db.close(True)
    except apsw.Error as error:
        raise translated(error, path) from error


class Connection:
    """One connection; statements go by their names in `queries.sql` and run in a transaction."""

    __slots__ = ("_db", "_patience", "_pid", "path")

    def __init__(self, path: Path, vfs: str | None, patience: float, *, writes: bool) -> None:
        self.path = path
        self._patience = patience
        self._pid = os.getpid()
        try:
            self._db = apsw.Connection(str(path), vfs=vfs)
        except apsw.Error as error:
            raise translated(error, path) from error
        try:
            self._configure(writes)
        except apsw.Error as error:
            self.close()
            raise translated(error, path) from error

    def _configure(self, writes: bool) -> None:
        self._db.set_busy_timeout(int(self._patience * 1000))
        mode = self._persist(lambda: self._db.pragma("journal_mode", "WAL"))
        if mode != "wal":
            raise apsw.CantOpenError(f"its file system takes no write-ahead log, only {mode}")
        self._db.execute(
            "PRAGMA synchronous = FULL; PRAGMA secure_delete = TRUE;"
            "PRAGMA journal_size_limit = 67108864"
        )
        if not writes:
            self._db.execute("PRAGMA query_only = TRUE")

    def all(self, name: str, values: Values | None = None) -> list[Row]:
        """Every row of a statement."""
        self._check()
        try:
            return self._db.execute(SQL[name], values).fetchall()
        except apsw.Error as error:
            raise translated(error, self.path) from error
        except UnicodeDecodeError as error:  # all that we write is UTF-8
            raise damaged(self.path, error) from error

    def one(self, name: str, values: Values | None = None) -> Row | None:
        """The first row of a statement, None when it has none."""
        rows = self.all(name, values)
        return rows[0] if rows else None

    def many(self, name: str, values: Iterable[Values]) -> None:
        """Run a statement once for each of `values`."""
        self._check()
        try:
            self._db.executemany(SQL[name], values)
        except apsw.Error as error:
            raise translated(error, self.path) from error

    @property
    def is_own(self) -> bool:
        """False in a child that was forked while this was open: it may not even be closed there."""
        return self._pid == os.getpid()

    def _check(self) -> None:
        if not self.is_own:
            raise Internal(f"this process was forked inside a transaction on {self.path}")
        # A full disk makes SQLite roll back by itself; what came after would commit one by one.
        if not self._db.in_transaction:
            raise Unavailable(f"SQLite rolled back the transaction on {self.path}")

    def script(self, sql: str) -> list[Row]:
        """Run statements that have no name: transactions, pragmas, migrations."""
        try:
            return self._db.execute(sql).fetchall()
        except apsw.Error as error:
            raise translated(error, self.path) from error

    def begin(self, mode: str) -> int:
        """Begin a transaction that sees one state from here on; gives its schema version."""
        try:
            return self._persist(lambda: self._begun(mode))
        except apsw.Error as error:
            raise translated(error, self.path) from error

    def _begun(self, mode: str) -> int:
        self._db.execute(f"BEGIN {mode}")
        try:
            # The first read takes the snapshot, so no later one can find the database busy.
            return int(self._db.pragma("user_version"))
        except apsw.Error:
            self.roll_back()
            raise

    def _persist(self, attempt: Callable[[], _T]) -> _T:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return attempt()
            except _BUSY:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_PAUSE)

    def roll_back(self) -> bool:
        """Roll back what is open; False when that failed and the connection is of no more use."""
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except apsw.Error:
            return False
        return True

    def commit(self) -> None:
        """Commit the transaction; on an error nothing of it stays."""
        self._check()
        self.script("COMMIT")

    @property
    def changes(self) -> int:
        """Rows changed since it was opened."""
        return self._db.total_changes()

    def back_up(self, target: Path) -> None:
        """Copy the committed state to a new file."""
        try:
            copy = apsw.Connection(str(target))
            try:
                with copy.backup("main", self._db, "main") as backup:
                    backup.step()
            finally:
                copy.close()
        except apsw.Error as error:
            raise translated(error, target) from error

    def close(self) -> None:
        """Close it, whatever state it is in."""
        # A checkpoint that fails here fails nothing: the next connection reads the log.
        with suppress(apsw.Error):
            self._db.close(True)
