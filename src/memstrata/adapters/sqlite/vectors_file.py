"""The file of derived data: replaced, not repaired.

What can be made again is not worth a rescue, and what lies in a damaged file may be what somebody
asked to forget: so a file that cannot be read, or is not ours, is deleted and begun anew.

Other processes may have it open then. SQLite keeps its locks by file, so theirs say nothing about
the new one; each process therefore looks before and after its work whether the path still names the
file it has open. The folder's lock (`flock`) keeps opening and closing apart from replacing: a log
left beside a new file would be replayed into it.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Final
from uuid import uuid4

import apsw

from memstrata.adapters.sqlite.connection import Connection, Row, Values, translated
from memstrata.adapters.sqlite.pool import Pool
from memstrata.adapters.sqlite.statements import parse
from memstrata.errors import Corrupt, Internal, MemstrataError, Unavailable

APPLICATION_ID: Final = 0x6D73_7476
"""Marks the file as ours."""
VERSION: Final = 1
"""Of the tables; a file of another version is begun anew."""
PAGE: Final = 16_384
"""Bytes a page: nine vectors of 896 numbers. Pages of 4,096 would hold two and waste a tenth."""
SQL: Final[Mapping[str, str]] = parse(
    files("memstrata.adapters.sqlite").joinpath("vectors.sql").read_text(encoding="utf-8")
)

_PAUSE: Final = 0.01
_BESIDE: Final = ("", "-wal", "-shm", "-journal")
_Identity = tuple[int, int] | None


class BegunAnew(Unavailable):
    """The file was damaged and is a new one now: what was asked may be asked again."""


class Mutex:
    """A lock that is free in a forked child, whose parent's threads are not there to release it."""

    def __init__(self) -> None:
        self.renew()
        _mutexes.add(self)

    def renew(self) -> None:
        """A lock that nobody holds."""
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()


_mutexes: Final[weakref.WeakSet[Mutex]] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for mutex in list(_mutexes):
        mutex.renew()


os.register_at_fork(after_in_child=_after_fork_in_child)


class _Door:
    """The folder's lock: whoever opens or closes passes, whoever replaces shuts it."""

    def __init__(self, folder: Path, patience: float) -> None:
        self._folder = folder
        self._patience = patience

    @contextmanager
    def held(self, how: int) -> Iterator[None]:
        """Hold it (`fcntl.LOCK_SH` to pass, `LOCK_EX` to shut).

        Raises:
            Unavailable: the folder is not there, or another process does not let go.
        """
        try:
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise Unavailable(f"{self._folder} cannot be opened: {error.strerror}") from error
        try:
            self._lock(folder, how)
            yield
        finally:
            # Closing alone would leave it held by a child forked meanwhile.
            fcntl.flock(folder, fcntl.LOCK_UN)
            os.close(folder)

    def _lock(self, folder: int, how: int) -> None:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return fcntl.flock(folder, how | fcntl.LOCK_NB)
            except OSError as error:
                if not isinstance(error, BlockingIOError) or time.monotonic() >= deadline:
                    raise Unavailable(
                        f"{self._folder} cannot be locked: {error.strerror}"
                    ) from error
            time.sleep(_PAUSE)


class _Connection(Connection):
    """A connection whose statements are those of `vectors.sql`."""

    __slots__ = ("_door",)

    def __init__(
        self, path: Path, vfs: str | None, patience: float, *, writes: bool, door: _Door | None
    ) -> None:
        self._door = door
        super().__init__(path, vfs, patience, writes=writes)

    def _configure(self, writes: bool) -> None:
        self._db.pragma("page_size", PAGE)
        super()._configure(writes)
        # A power cut may take the last writes, which are made again, but damages nothing.
        self._db.execute("PRAGMA synchronous = NORMAL")

    def all(self, name: str, values: Values | None = None) -> list[Row]:
        """Every row of a statement."""
        self._check()
        try:
            return self._db.execute(SQL[name], values).fetchall()
        except (apsw.Error, UnicodeDecodeError) as error:
            raise _translated(error, self.path) from error

    def many(self, name: str, values: Iterable[Values]) -> None:
        """Run a statement once for each of `values`."""
        self._check()
        try:
            self._db.executemany(SQL[name], values)
        except apsw.Error as error:
            raise _translated(error, self.path) from error

    def close(self) -> None:
        """Close it; the last one of a file that is still in place removes the log by its name."""
        with ExitStack() as passing:
            if self._door is not None:
                with suppress(Unavailable):
                    passing.enter_context(self._door.held(fcntl.LOCK_SH))
            super().close()


def _translated(error: apsw.Error | UnicodeDecodeError, path: Path) -> MemstrataError:
    """As `translated`; what our statements never cause on our tables is damage, too."""
    match error:
        case UnicodeDecodeError() | apsw.SQLError() | apsw.MismatchError():
            return Corrupt(str(path), f"is damaged ({error})")
        case apsw.ConstraintError() | apsw.TooBigError():
            return Corrupt(str(path), f"is damaged ({error})")
        case _:
            return translated(error, path)


class _Pool(Pool):
    """Opens no connection while the file is being replaced."""

    def __init__(
        self, path: Path, vfs: str | None, *, readers: int, patience: float, door: _Door
    ) -> None:
        self._door = door
        super().__init__(path, vfs, version=VERSION, readers=readers, patience=patience)

    def open(self, *, writes: bool) -> Connection:
        with self._door.held(fcntl.LOCK_SH):
            return _Connection(self.path, self._vfs, self._patience, writes=writes, door=self._door)


class VectorsFile:
    """Transactions on a file that is made when it is first needed, and anew when it is damaged.

    `embedding` is whose vectors a new one will hold; `lost` why the last one had to go.
    """

    def __init__(self, path: Path, vfs: str | None, *, readers: int, patience: float) -> None:
        self.path = path
        self.embedding = ""
        self.lost = ""
        self._vfs = vfs
        self._patience = patience
        self._door = _Door(path.parent, patience)
        self._pool = _Pool(path, vfs, readers=readers, patience=patience, door=self._door)
        self._known: _Identity = None
        self._mutex = Mutex()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection in a transaction that reads one state.

        Raises:
            Unavailable: the file is away.
            BegunAnew: it was damaged.
        """
        known = self._look()
        with self._healing(known), self._pool.reading() as db:
            yield db

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The connection that writes, in a transaction that commits at the end.

        Raises:
            Unavailable: it cannot be written; nothing was saved.
            BegunAnew: it was damaged; nothing was saved.
        """
        known = self._look()
        with self._healing(known), self._pool.writing() as db:
            yield db
        if self._identity() != known:
            raise Unavailable(f"{self.path} was begun anew by another process; try again")

    def scrub(self) -> None:
        """Take what was removed out of the log, too.

        Raises:
            Unavailable: another process does not stop reading; it stays in the log until a later one.
        """
        known = self._look()
        if not _size(self._beside("-wal")):
            return
        with (
            self._healing(known),
            self._pool.alone(),
            closing(self._pool.open(writes=True)) as db,
        ):
            busy = db.script("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        if busy:
            raise Unavailable(
                f"{self.path} is being read by another process; what was removed is still in its log"
            )

    def anew(self, embedding: str, *, unless: bool = False) -> None:
        """Delete everything, and hold vectors of that embedder from here on.

        Args:
            embedding: the embedder's key.
            unless: not where the file holds vectors of that embedder by now.
        """
        with self._alone():
            self.embedding = embedding
            if not (unless and self._holds(embedding)):
                self._make()
            self._known = self._identity()

    def close(self) -> None:
        """Close every connection.

        Raises:
            Unavailable: some are still in use; they were left open.
        """
        self._pool.close()
        self._closed = True

    # -- which file it is ----------------------------------------------------------------------

    def _look(self) -> _Identity:
        """Make sure that the path names the file that is open here; gives which one."""
        if self._closed:
            raise Internal(f"the vectors {self.path} were closed")
        known = self._known
        if known is None or self._identity() != known:
            with self._alone():
                if self._known is None or self._identity() != self._known:
                    self._open()
                known = self._known
        return known

    def _identity(self) -> _Identity:
        try:
            found = self.path.lstat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No connection of ours is open, and no other process opens or closes one."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be opened: {error.strerror}") from error
        with self._mutex:
            if not self._pool.park():
                raise Unavailable(f"{self.path} is in use by another thread; try again")
            try:
                with self._door.held(fcntl.LOCK_EX):
                    yield
            finally:
                self._pool.unpark()

    @contextmanager
    def _healing(self, known: _Identity) -> Iterator[None]:
        try:
            yield
        except Corrupt as error:
            reason = _reason(error)
            with self._alone():
                if self._identity() == known:
                    self.lost = self.lost or reason
                    self._make()
                    self._known = self._identity()
            raise BegunAnew(f"{reason}; it was begun anew") from error

    def _open(self) -> None:
        """Take the file as it is, or make one in its place."""
        replaced = self._known is not None
        problem = self._problem()
        if problem is None and replaced:
            self.lost = self.lost or f"{self.path} was begun anew by another process"
        elif problem is not None:
            # Where making one failed before, the reason is not that there is none.
            self.lost = self.lost or problem
            self._make()
        self._known = self._identity()

    def _problem(self) -> str | None:
        """Why the file cannot be taken as it is, `""` if there is none; None when it can."""
        try:
            found = self.path.lstat()
        except FileNotFoundError:
            return "" if self._known is None else f"{self.path} was removed"
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be opened: {error.strerror}") from error
        if not stat.S_ISREG(found.st_mode):
            raise Unavailable(f"{self.path} cannot be opened: it is no file")
        if not found.st_size:
            return f"{self.path} was empty"
        problem = self._foreign()
        # What was in the log is in the file now, unless another process has it open.
        if problem is None and _size(self.path) % PAGE and not _size(self._beside("-wal")):
            return f"{self.path} was cut off"
        return problem

    def _foreign(self) -> str | None:
        """Whether what is in the file was made by this release, as far as its head says."""
        try:
            with closing(self._raw(self.path)) as db:
                version = db.begin("DEFERRED")
                application = db.script("PRAGMA application_id")[0][0]
                db.roll_back()
        except Corrupt as error:
            return _reason(error)
        if application != APPLICATION_ID:
            return f"{self.path} was another program's database"
        if version == VERSION:
            return None
        if self._known is not None:
            # It may be in use; two releases that both run would take it from each other for ever.
            raise Unavailable(f"another release took over {self.path}; start again")
        return f"{self.path} had the tables of another release ({version}, not {VERSION})"

    def _holds(self, embedding: str) -> bool:
        if self._identity() is None or self._problem() is not None:
            return False
        with closing(self._raw(self.path)) as db:
            db.begin("DEFERRED")
            found = db.one("meta")
            db.roll_back()
        return found is not None and found[1] == embedding

    def _raw(self, path: Path) -> Connection:
        """A connection for whoever has shut the door."""
        return _Connection(path, self._vfs, self._patience, writes=True, door=None)

    # -- making one ----------------------------------------------------------------------------

    def _make(self) -> None:
        """An empty file in place of whatever is there; it has its name only once it is whole."""
        new = self.path.with_name(f".{self.path.name}.tmp~")
        try:
            for path in (self.path, new):
                _remove(path)
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with closing(self._raw(new)) as db:
                self._fill(db)
            new.rename(self.path)
            _remove(new)
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be made: {error.strerror}") from error

    def _fill(self, db: Connection) -> None:
        db.begin("IMMEDIATE")
        for name in SQL:
            if name.startswith("create_"):
                db.all(name)
        db.script(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}")
        db.all("mark", {"file": uuid4().hex, "embedding": self.embedding})
        db.commit()
        # Closing would do it, but not say when it fails.
        db.script("PRAGMA wal_checkpoint(TRUNCATE)")

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(self.path.name + ending)


def _reason(error: Corrupt) -> str:
    return f"{error.path} was damaged or no database ({error.__cause__ or error.problem})"


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _remove(path: Path) -> None:
    """The file and what SQLite keeps beside it; the log first, which is replayed into what it lies beside."""
    for ending in reversed(_BESIDE):
        path.with_name(path.name + ending).unlink(missing_ok=True)
