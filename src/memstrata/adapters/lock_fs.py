"""The lock of a home's one worker: `flock` on a file that names who holds it.

The kernel frees it when the process dies, however it dies. A forked child shares the parent's open
file and would keep it locked beyond the parent's death, so it closes what it inherited, and never
believes that it holds anything.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import threading
import weakref
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from memstrata.domain import times
from memstrata.errors import Invalid, Unavailable
from memstrata.ports import Holding

NETWORK: Final = frozenset(
    "nfs nfs4 cifs smb3 smbfs 9p afs ceph lustre ncpfs "
    "fuse.sshfs fuse.glusterfs fuse.ceph-fuse fuse.rclone fuse.s3fs fuse.davfs2".split()
)
"""Types of file systems whose locks other machines may not see."""

_FLAGS: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST: Final = 4096


class FileLock:
    """`HomeLock` as a file; every `take` opens it anew, so that threads exclude each other, too."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def take(self, role: str, since: datetime) -> HeldFile | None:
        """Take it, without waiting; None when another has it.

        Raises:
            Unavailable: the system gives no lock.
        """
        try:
            with _forks:
                file = self._locked()
                held = None if file is None else HeldFile(self.path, file)
                if held is not None:
                    _held.add(held)
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be locked: {error.strerror}") from error
        if held is not None:
            held.sign(Holding(os.getpid(), os.uname().nodename, role, since))
        return held

    def _locked(self) -> int | None:
        while True:
            file = os.open(self.path, _FLAGS | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                return None
            except OSError:
                os.close(file)
                raise
            if _is(file, self.path):
                return file
            os.close(file)  # it was removed in between, and a lock on it says nothing

    def holder(self) -> Holding | None:
        """Who has it now, None for nobody."""
        try:
            file = os.open(self.path, _FLAGS)
        except OSError:
            return None
        try:
            text = os.pread(file, _LONGEST, 0)
            # Who left in good order signed off. The lock is only tried where somebody claims it:
            # whoever wants it at that very moment would be refused.
            return _holding(text, file) if text and not _is_free(file) else None
        finally:
            os.close(file)


class HeldFile:
    """`Held`: the open file."""

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self._file: int | None = file
        self._pid = os.getpid()

    @property
    def stands(self) -> bool:
        """False once it was released, in a forked child, and when the lock's file was taken away."""
        file = self._file
        return file is not None and self._pid == os.getpid() and _is(file, self._path)

    def sign(self, holding: Holding) -> None:
        """Say in the file who holds it; on a full disk it is held all the same."""
        about = {"pid": holding.pid, "host": holding.host, "role": holding.role}
        line = json.dumps({**about, "since": times.stamp(holding.since)}).encode() + b"\n"
        if self._file is not None:
            with suppress(OSError):
                os.pwrite(self._file, line, 0)
                os.ftruncate(self._file, len(line))

    def release(self) -> None:
        """Give it up; nothing happens when it does not stand."""
        with _forks:
            file, self._file = self._file, None
            _held.discard(self)
            if file is None:
                return
            if self._pid == os.getpid():
                with suppress(OSError):
                    os.ftruncate(file, 0)
                # Closing alone would leave it held by a child that is just being forked.
                fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)

    def forget(self) -> None:
        """Close it in a forked child, where unlocking would take it from the parent."""
        if self._file is not None and self._pid != os.getpid():
            os.close(self._file)
            self._file = None


def _is(file: int, path: Path) -> bool:
    """Whether the open file is the one that lies at `path`."""
    try:
        there, mine = path.lstat(), os.fstat(file)
    except OSError:  # it was taken away, or another thread gives the lock up right now
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _is_free(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    fcntl.flock(file, fcntl.LOCK_UN)
    return True


def _holding(text: bytes, file: int) -> Holding:
    """Who signed; what cannot be read is somebody all the same."""
    try:
        raw = json.loads(text.partition(b"\n")[0])
        since = times.instant("since", raw["since"])
        if since is not None:
            return Holding(int(raw["pid"]), str(raw["host"]), str(raw["role"]), since)
    except (ValueError, KeyError, TypeError, RecursionError, Invalid):
        pass
    return Holding(0, "", "unknown", datetime.fromtimestamp(os.fstat(file).st_mtime, UTC))


# -- forks -----------------------------------------------------------------------------------------

_held: Final[weakref.WeakSet[HeldFile]] = weakref.WeakSet()
_forks: Final = threading.Lock()
"""Held while a lock is taken or given up, so that no fork comes in between."""


def _after_fork_in_child() -> None:
    for held in list(_held):
        held.forget()
    _held.clear()
    _forks.release()


os.register_at_fork(
    before=_forks.acquire,
    after_in_parent=_forks.release,
    after_in_child=_after_fork_in_child,
)


# -- network file systems --------------------------------------------------------------------------

_MOUNTS: Final = Path("/proc/self/mountinfo")
_ESCAPED: Final = re.compile(rb"\\([0-7]{3})")


def network_file_system(path: Path) -> str:
    """The type of the network file system that `path` lies on; empty where it lies on none.

    Where the system does not tell (outside of Linux) it is taken for local.
    """
    try:
        mounts = _MOUNTS.read_bytes()
    except OSError:
        return ""
    kind = file_system(os.fsencode(path.resolve()), mounts)
    return kind if kind in NETWORK else ""


def file_system(path: bytes, mounts: bytes) -> str:
    """The type of the file system that holds an absolute path, by the text of `mountinfo`."""
    found, longest = "", -1
    for line in mounts.splitlines():
        before, dash, behind = line.partition(b" - ")
        fields = before.split(b" ")
        if not dash or len(fields) < 5:
            continue
        point = _ESCAPED.sub(lambda octal: bytes([int(octal[1], 8)]), fields[4])
        inside = path == point or path.startswith(point.rstrip(b"/") + b"/")
        # Of two mounts on one point the later one is seen.
        if inside and len(point) >= longest:
            found, longest = behind.split(b" ")[0].decode(errors="replace"), len(point)
    return found
