"""The files: replaced in one step with the old bytes kept aside; logs that grow by whole lines.

Every folder on the way is opened relative to the one before it and never through a link, so that a
link put there meanwhile leads nowhere. A temporary file is `.<name>.<pid>-<number>.tmp~`, the old
bytes `.<name>.<pid>-<number>.old.tmp~`; the pid tells `sweep` whose it is.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final, Literal, TypeVar

from memstrata import failpoints
from memstrata.adapters import workspace_root
from memstrata.domain import checks
from memstrata.domain.layout import HOME, IN_WORKSPACE, Place
from memstrata.errors import Internal, Invalid, NotFound, OutcomeUnknown, Unavailable
from memstrata.ports import FileStat

_T = TypeVar("_T")

LOCK: Final = Place(HOME, "run/write.lock")
"""Held by whoever changes files or rows."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a named pipe in a file's place would hold the reader up for ever.
_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_TEMPORARY: Final = re.compile(r"\..*\.tmp~", re.DOTALL)
_OWNER: Final = re.compile(r"\.([0-9]{1,9})-[0-9]+(?:\.old)?\.tmp~\Z")
_LONGEST_STEM: Final = 200
"""Bytes of a file's name that its temporary name repeats: the whole must stay below 256."""
_READS: Final = 20
"""How often a file that changes under the reader is read anew."""
_BLOCK: Final = 4096
_SLICE: Final = 4 * 2**20
"""Bytes of a file that are looked through at a time."""

_MISPLACED: Final = {
    errno.ELOOP: "is a link",
    errno.ENOTDIR: "leads through a link or a file",
    errno.EISDIR: "is not a regular file",
    errno.ENXIO: "is not a regular file",
    errno.ENAMETOOLONG: "has a part that is too long for a file name",
}
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_NO_HARD_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

_numbers = count(1)
_live: set[str] = set()
"""Names of the temporary files this process still needs."""
_locked: Final = threading.local()
"""`homes`: those whose write lock this thread holds."""


class FileVault:
    """`Vault` over a home folder and the workspaces' folders.

    `home` is made at the first write. In it folders are 0700 and files 0600; a workspace's follow
    the umask.
    """

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the home's write lock; waits for other processes, threads and vaults of this home.

        Raises:
            Unavailable: the lock cannot be taken.
            Internal: this thread holds it already, and would wait for itself.
        """
        homes: set[Path] = _locked.__dict__.setdefault("homes", set())
        if self.home in homes:
            raise Internal("the write lock is not reentrant")
        with ExitStack() as held:
            with _reported(LOCK):
                folder = held.enter_context(self.beside(LOCK, make=True))
                flags = os.O_RDWR | os.O_CREAT
                file = held.enter_context(_file(folder, LOCK.name, flags, 0o600))
                fcntl.flock(file, fcntl.LOCK_EX)
            # Closing alone would leave it held by a child forked meanwhile.
            held.callback(fcntl.flock, file, fcntl.LOCK_UN)
            homes.add(self.home)
            held.callback(homes.discard, self.home)
            yield

    def stage(self, place: Place, data: bytes) -> StagedFile:
        """Write `data` to a temporary file beside `place`, flushed to disk. Folders are made.

        Raises:
            Invalid: the place leads out of its root or through a link, or is a temporary name.
            Unavailable: the disk said no; no file is left behind.
        """
        if _TEMPORARY.fullmatch(place.name):
            raise Invalid("path", f"{_shown(place)} is the name of a temporary file")
        with _reported(place), self.beside(place, make=True) as folder:
            with suppress(FileNotFoundError):
                _regular(folder, place.name)
            write = partial(_write_new, folder, data=data, mode=_file_mode(place))
            temp, found = _fresh(place.name, "", write)
        return StagedFile(self, place, temp, found)

    def append(self, place: Place, lines: bytes, *, flush: bool = False) -> AppendedLines:
        """Append whole lines to a log; the result takes them back.

        The caller holds `exclusive`. A torn tail is moved to `<name>.torn` first. On disk only with `flush`.

        Raises:
            Invalid: the place leads out of its root or through a link.
            Unavailable: the disk said no; nothing of the lines is left.
            OutcomeUnknown: it said no and would not let go of what it took either.
        """
        if lines and not lines.endswith(b"\n"):
            raise Internal("a log takes whole lines")
        mode = _file_mode(place)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        with (
            _reported(place),
            self.beside(place, make=True) as folder,
            _file(folder, place.name, flags, mode) as file,
        ):
            failpoints.hit("vault.append.before")
            start = _cut_torn_tail(folder, place.name, file, mode)
            with ExitStack() as undo:
                undo.callback(_take_back, file, start, place)
                _write(file, lines)
                failpoints.hit("vault.append.after")
                if flush:
                    os.fsync(file)
                undo.pop_all()
        return AppendedLines(start, start + len(lines), place, self)

    def remove(self, place: Place) -> bool:
        """Remove a regular file; whether it was there.

        Raises:
            Invalid: it leads out of its root or through a link, or is no regular file.
            Unavailable: the disk said no.
        """
        with _reported(place), suppress(FileNotFoundError), self.beside(place) as folder:
            _regular(folder, place.name)
            failpoints.hit("vault.remove.before")
            os.unlink(place.name, dir_fd=folder)
            failpoints.hit("vault.remove.after")
            return True
        return False

    def remove_folder(self, place: Place) -> bool:
        """Remove a folder in which nothing is; whether it went.

        Raises:
            Invalid: it leads out of its root or through a link.
            Unavailable: the disk said no.
        """
        with _reported(place), suppress(FileNotFoundError), self.beside(place) as folder:
            try:
                os.rmdir(place.name, dir_fd=folder)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    return False
                raise
            return True
        return False

    def secret(self, place: Place) -> bytes:
        """The random bytes that are kept in a file for its owner alone, made the first time they are asked for.

        The caller holds `exclusive`.

        Raises:
            Unavailable: they can be neither read nor made.
        """
        if self.stat(place) is None:
            staged = self.stage(place, os.urandom(32))
            try:
                staged.publish()
            finally:
                staged.discard()
            self.sync([place.folder])
        return self.read(place)[0]

    def holding(
        self, folder: Place, texts: Sequence[bytes], without: Sequence[Place] = ()
    ) -> dict[str, set[int]]:
        """By path: which of `texts` (their places in the list) stand in a file below `folder`.

        Every regular file is looked through, temporary ones too; not the files and folders `without`.

        Raises:
            Unavailable: one cannot be read.
        """
        found: dict[str, set[int]] = {}
        skipped = {str(place) for place in without}
        folders = [folder]
        while folders:
            here = folders.pop()
            folders += [
                one for one in map(here.within, self.folders(here)) if str(one) not in skipped
            ]
            with _reported(here), suppress(FileNotFoundError), self.opened(here) as opened:
                for name in _every_file(opened):
                    path = str(here.within(name))
                    held = _held_in(opened, name, texts) if path not in skipped else None
                    if held:
                        found[path] = held
        return found

    def sync(self, places: Sequence[Place]) -> None:
        """Make the renames in these folders durable, one fsync a folder; gone ones are passed over.

        Raises:
            Invalid: one leads out of its root, through a link, or is a file.
            Unavailable: the disk said no.
        """
        for place in dict.fromkeys(places):
            with _reported(place), suppress(FileNotFoundError), self.opened(place) as folder:
                failpoints.hit("vault.sync")
                os.fsync(folder)

    def read(self, place: Place) -> tuple[bytes, FileStat]:
        """Bytes and stat of a file, of one and the same state of it.

        Raises:
            NotFound: no such file.
            Invalid: it leads out of its root or through a link, or is no regular file.
            Unavailable: it cannot be read, or changed each time it was.
        """
        for _ in range(_READS):
            with _reported(place, sought=True), self.reading(place) as file:
                before = os.fstat(file)
                data = _read(file)
                after = os.fstat(file)
            if _stat(before) == _stat(after) and len(data) == after.st_size:
                return data, _stat(after)
        raise Unavailable(f"{_shown(place)} changes while it is read")

    def stat(self, place: Place) -> FileStat | None:
        """The stat of a regular file, None when there is none.

        Raises:
            Invalid: it leads out of its root or through a link, or is no regular file.
            Unavailable: it cannot be looked at.
        """
        with _reported(place), suppress(FileNotFoundError), self.beside(place) as folder:
            return _stat(_regular(folder, place.name))
        return None

    def scan(self, folder: Place) -> dict[str, FileStat] | None:
        """The regular files of a folder by name, sorted; None when the folder is not there.

        Temporary files, links, and names that are not UTF-8 are left out.
        """
        with _reported(folder):
            try:
                with self.opened(folder) as opened:
                    return dict(sorted(_regular_files(opened)))
            except FileNotFoundError:
                return None

    def folders(self, folder: Place) -> tuple[str, ...]:
        """The names of the folders in it, sorted, links left out; empty when it is not there."""
        with _reported(folder), suppress(FileNotFoundError), self.opened(folder) as opened:
            with os.scandir(opened) as entries:
                found = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            return tuple(sorted(filter(_is_text, found)))
        return ()

    def lines(self, place: Place, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """The whole lines of a log from byte `start` on: (offset behind the line, the line bare).

        Raises (at the first line):
            NotFound: no such file.
            Invalid: it leads out of its root or through a link, or is no regular file.
            Unavailable: it cannot be read.
        """
        with (
            _reported(place, sought=True),
            self.reading(place) as opened,
            open(opened, "rb", closefd=False) as file,
        ):
            file.seek(start)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                start += len(line)
                yield start, line[:-1]

    def sweep(self, folder: Place) -> int:
        """Remove temporary files left by a killed process; how many.

        Those of a process that runs are left, our own too unless this process has forgotten them.
        """
        with _reported(folder), suppress(FileNotFoundError), self.opened(folder) as opened:
            with os.scandir(opened) as entries:
                stale = [entry.name for entry in entries if _is_stale(entry)]
            return sum(_drop(opened, name) for name in stale)
        return 0

    def root_of(self, path: str) -> str:
        """The root of the workspace that `path` lies in, links resolved.

        In a git repository it is the folder of the common git directory, so that worktrees share it
        (submodules are their own); without one, the folder itself.

        Raises:
            Invalid: no such folder, or `.memstrata` in the root is the home.
        """
        root = workspace_root.of(path)
        if (root / IN_WORKSPACE).resolve() == self.home:
            raise Invalid("workspace", f"{root} can be none: memstrata's home lies in it")
        return str(root)

    @contextmanager
    def opened(self, folder: Place) -> Iterator[int]:
        """A descriptor of `folder`.

        Raises:
            Invalid: the path is not plain (`..`, absolute, NUL, …).
            OSError: it is not there, is a link or lies behind one.
        """
        with self._descended(folder.root, _parts(folder), make=False) as descriptor:
            yield descriptor

    @contextmanager
    def beside(self, place: Place, *, make: bool = False) -> Iterator[int]:
        """A descriptor of the folder that the file `place` lies in; `make`: missing ones are made.

        Raises:
            Invalid: the path is not plain, or is none.
            OSError: the folder is not there, is a link or lies behind one.
        """
        parts = _parts(place)
        if not parts:
            raise Invalid("path", f"{_shown(place)} is no file")
        with self._descended(place.root, parts[:-1], make=make) as descriptor:
            yield descriptor

    @contextmanager
    def _descended(self, root: str, parts: Sequence[str], *, make: bool) -> Iterator[int]:
        descriptor = self._root(root, make)
        mode = 0o700 if root == HOME else 0o777
        try:
            for part in parts:
                below = _enter(descriptor, part, mode if make else None)
                os.close(descriptor)
                descriptor = below
            yield descriptor
        finally:
            os.close(descriptor)

    def _root(self, root: str, make: bool) -> int:
        """A root is a person's choice, so it may be a link or lie behind one."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        if root != HOME:
            if not root.startswith("/") or "\0" in root:
                raise Invalid("root", f"{checks.shown(root)} is not an absolute path")
            return os.open(checks.string("root", root), flags)
        try:
            return os.open(self.home, flags)
        except FileNotFoundError:
            if not make:
                raise
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self.home, flags)

    @contextmanager
    def reading(self, place: Place, flags: int = os.O_RDONLY) -> Iterator[int]:
        """A descriptor of the regular file `place`; OSError when it is not there, like `beside`."""
        with self.beside(place) as folder, _file(folder, place.name, flags) as file:
            yield file


class StagedFile:
    """`Staged` in the file system; each step opens the folder anew, a batch would hold too many."""

    def __init__(self, vault: FileVault, place: Place, temp: str, found: FileStat) -> None:
        self.place = place
        self.stat = found
        self._vault = vault
        self._temp = temp
        self._old = ""
        self._state: Literal["staged", "published", "done"] = "staged"

    def publish(self) -> None:
        """Rename over the file; the old bytes are kept aside until `settle`.

        Raises:
            Unavailable: the disk said no; `undo` is still due.
        """
        if self._state != "staged":
            raise Internal(f"{self.place} is {self._state} already")
        with _reported(self.place), self._vault.beside(self.place) as folder:
            failpoints.hit("vault.publish.before")
            self._old = _set_aside(folder, self.place.name, _file_mode(self.place))
            os.rename(self._temp, self.place.name, src_dir_fd=folder, dst_dir_fd=folder)
            self._state = "published"
            failpoints.hit("vault.publish.after")

    def undo(self) -> None:
        """Before `publish`: drop the temporary file. After it: the old bytes (or absence) are back.

        After `settle` or `discard` there is nothing to undo, and nothing happens.

        Raises:
            OSError: that failed, and what stands is unknown.
        """
        if self._state == "published":
            with self._vault.beside(self.place) as folder:
                if self._old:
                    os.rename(self._old, self.place.name, src_dir_fd=folder, dst_dir_fd=folder)
                else:
                    _drop(folder, self.place.name)
                self._state = "staged"
        self.discard()

    def settle(self) -> None:
        """Drop the old bytes. Never fails: the change stands, and what is left is swept later."""
        if self._state == "staged":
            raise Internal(f"{self.place} is not published")
        with suppress(OSError):
            failpoints.hit("vault.settle")
            self.discard()
        self._end()

    def discard(self) -> None:
        """Drop the temporary files of this one, whatever happened to it; never the file itself.

        Raises:
            OSError: one stays, until it is swept.
        """
        if self._state == "done":
            return
        try:
            with self._vault.beside(self.place) as folder:
                _drop(folder, self._temp)
                _drop(folder, self._old)
        finally:
            self._end()

    def _end(self) -> None:
        self._state = "done"
        _live.difference_update((self._temp, self._old))


@dataclass(slots=True)
class AppendedLines:
    """`Appended` in the file system."""

    start: int
    end: int
    place: Place
    vault: FileVault

    def undo(self) -> None:
        """Cut the log back to `start`; a log that is shorter already stays as it is.

        Raises:
            OSError: that failed.
        """
        with self.vault.reading(self.place, os.O_RDWR) as file:
            # Truncating a shorter file would fill it up with zeros.
            if os.fstat(file).st_size > self.start:
                os.ftruncate(file, self.start)


# -- places --------------------------------------------------------------------------------------


def _shown(place: Place) -> str:
    return repr(str(place))


def _file_mode(place: Place) -> int:
    return 0o600 if place.root == HOME else 0o666


def _parts(place: Place) -> list[str]:
    """The parts of a path that can only lead down; none for the root itself."""
    checks.string("path", place.path)
    parts = place.path.split("/") if place.path else []
    for part in parts:
        if part in ("", ".", "..") or "\0" in part:
            raise Invalid("path", f"{_shown(place)} is not a plain relative path ({part!r} in it)")
    return parts


def _is_text(name: str) -> bool:
    """False for bytes that are not UTF-8: no row or line of JSON could hold such a name."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


@contextmanager
def _reported(place: Place, *, sought: bool = False) -> Iterator[None]:
    """OSErrors as our own; `sought`: a missing file is NotFound, not the disk's refusal."""
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        if sought and number == errno.ENOENT:
            raise NotFound("file", str(place)) from error
        if number in _MISPLACED:
            raise Invalid("path", f"{_shown(place)} {_MISPLACED[number]}") from error
        if number in _FULL:
            raise Unavailable(f"the disk is full: {_shown(place)} was not written") from error
        raise Unavailable(f"{_shown(place)}: {os.strerror(number).lower()}") from error


# -- folders -------------------------------------------------------------------------------------


def _enter(folder: int, name: str, mode: int | None) -> int:
    """A descriptor of the folder `name` in `folder`; with a mode a missing one is made, durably."""
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if mode is None:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=folder)
        os.fsync(folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def _regular_files(folder: int) -> Iterator[tuple[str, FileStat]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) or not _is_text(entry.name):
                continue
            with suppress(FileNotFoundError):  # gone since it was listed
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(found.st_mode):
                    yield entry.name, _stat(found)


def _every_file(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))


def _held_in(folder: int, name: str, texts: Sequence[bytes]) -> set[int]:
    """Which texts stand in a file, read in slices that overlap by the longest of them."""
    overlap = max(map(len, texts), default=1) - 1
    found: set[int] = set()
    with suppress(FileNotFoundError), _file(folder, name, os.O_RDONLY) as file:
        at = 0
        while part := os.pread(file, _SLICE + overlap, at):
            found |= {n for n, text in enumerate(texts) if n not in found and text in part}
            at += _SLICE
    return found


def _regular(folder: int, name: str) -> os.stat_result:
    """The stat of the regular file `name`; OSError for anything else."""
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        number = errno.ELOOP if stat.S_ISLNK(found.st_mode) else errno.EISDIR
        raise OSError(number, os.strerror(number), name)
    return found


def _drop(folder: int, name: str) -> bool:
    """Unlink `name` (`""`: nothing) if it is there; whether it was."""
    if not name:
        return False
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


# -- files ---------------------------------------------------------------------------------------


def _stat(found: os.stat_result) -> FileStat:
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino)


@contextmanager
def _file(folder: int, name: str, flags: int, mode: int = 0o600) -> Iterator[int]:
    """A descriptor of the regular file `name`; OSError for anything else."""
    descriptor = os.open(name, flags | _FILE, mode, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        yield descriptor
    finally:
        os.close(descriptor)


def _read(file: int) -> bytes:
    with open(file, "rb", closefd=False) as opened:
        return opened.read()


def _write(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _write_new(folder: int, name: str, *, data: bytes, mode: int) -> FileStat:
    """A new file of `data`, flushed to disk, or none."""
    file = os.open(name, _NEW, mode, dir_fd=folder)
    with ExitStack() as undo:
        undo.callback(_drop, folder, name)
        try:
            failpoints.hit("vault.stage.write")
            _write(file, data)
            failpoints.hit("vault.stage.fsync")
            os.fsync(file)
            found = _stat(os.fstat(file))
        finally:
            os.close(file)
        undo.pop_all()
    return found


# -- temporary files -----------------------------------------------------------------------------


def _fresh(name: str, kind: str, make: Callable[[str], _T]) -> tuple[str, _T]:
    """Let `make` make a temporary file for `name` under a free name; that name and its result.

    A process killed earlier may have had our pid, so a taken name means the next number.
    """
    stem = name.encode()[:_LONGEST_STEM].decode(errors="ignore")
    while True:
        temp = f".{stem}.{os.getpid()}-{next(_numbers)}{kind}.tmp~"
        _live.add(temp)
        try:
            return temp, make(temp)
        except OSError as error:
            _live.discard(temp)
            if error.errno != errno.EEXIST:
                raise


def _set_aside(folder: int, name: str, mode: int) -> str:
    """Give the file a second, temporary name (`""` when there is none); readers never miss it."""

    def link(temp: str) -> None:
        os.link(name, temp, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)

    def copy(temp: str) -> None:
        with _file(folder, name, os.O_RDONLY) as file:
            _write_new(folder, temp, data=_read(file), mode=mode)

    with suppress(FileNotFoundError):
        try:
            return _fresh(name, ".old", link)[0]
        except OSError as error:
            # FAT and some shares have no hard links, and Linux forbids those to others' files.
            if error.errno not in _NO_HARD_LINKS:
                raise
        return _fresh(name, ".old", copy)[0]
    return ""


def _is_stale(entry: os.DirEntry[str]) -> bool:
    if not _TEMPORARY.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
        return False
    owner = _OWNER.search(entry.name)
    if owner is None:
        return True
    pid = int(owner[1])
    return entry.name not in _live if pid == os.getpid() else not _runs(pid)


def _runs(pid: int) -> bool:
    if pid == 0:  # would ask about our own group
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


# -- logs ----------------------------------------------------------------------------------------


def _cut_torn_tail(folder: int, name: str, file: int, mode: int) -> int:
    """Move what stands behind the last newline to `<name>.torn`; the size that is left."""
    size = os.fstat(file).st_size
    whole = _end_of_lines(file, size)
    if whole < size:
        tail = os.pread(file, size - whole, whole)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with _file(folder, f"{name}.torn", flags, mode) as torn:
            _write(torn, tail + b"\n")
            os.fsync(torn)
        os.ftruncate(file, whole)
    return whole


def _end_of_lines(file: int, size: int) -> int:
    """The offset behind the last newline, 0 when there is none."""
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        at = os.pread(file, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _take_back(file: int, size: int, place: Place) -> None:
    try:
        os.ftruncate(file, size)
    except OSError as error:
        raise OutcomeUnknown(f"{_shown(place)}: what was appended could not be cut") from error
