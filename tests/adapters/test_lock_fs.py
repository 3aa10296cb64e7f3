"""The worker's lock: one holder, named; freed by death; nothing to a forked child; never on a network disk."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from tests.waiting import forked, parent_of_a_child

from memstrata import Invalid, Memory, Unavailable
from memstrata.adapters import lock_fs
from memstrata.adapters.lock_fs import NETWORK, FileLock, HeldFile, file_system
from memstrata.ports import Holding

SINCE = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
HOLDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memstrata.adapters.lock_fs import FileLock
assert FileLock(Path(sys.argv[1])).take("worker", datetime(2026, 3, 14, 9, 30, tzinfo=UTC))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worker.lock"


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as found:
        assert found.stdout is not None
        assert found.stdout.readline() == "held\n"
        yield found
        found.kill()


def take(path: Path) -> HeldFile | None:
    return FileLock(path).take("library", SINCE)


def test_one_has_it_and_is_named(path: Path) -> None:
    lock = FileLock(path)
    assert lock.holder() is None
    held = lock.take("library", SINCE)
    assert held is not None
    stood = held.stands
    assert stood
    assert lock.take("library", SINCE) is take(path) is None
    named = Holding(os.getpid(), os.uname().nodename, "library", SINCE)
    assert lock.holder() == FileLock(path).holder() == named
    assert path.stat().st_mode & 0o777 == 0o600
    held.release()
    held.release()
    assert not held.stands
    assert lock.holder() is None
    again = lock.take("worker", SINCE + timedelta(days=1))
    assert again is not None
    found = lock.holder()
    assert found is not None
    assert (found.role, found.since) == ("worker", SINCE + timedelta(days=1))
    again.release()


def test_another_process_has_it_until_it_is_killed(
    path: Path, holder: subprocess.Popen[str]
) -> None:
    assert take(path) is None
    assert FileLock(path).holder() == Holding(holder.pid, os.uname().nodename, "worker", SINCE)
    holder.kill()
    holder.wait()
    assert path.read_text(), "it could not sign off"
    assert FileLock(path).holder() is None
    held = take(path)
    assert held is not None
    held.release()


def test_a_forked_child_holds_nothing_and_takes_nothing_away(path: Path) -> None:
    held = take(path)
    assert held is not None

    def child() -> None:
        assert not held.stands
        held.release()
        assert take(path) is None

    assert forked(child) == 0
    assert held.stands
    assert take(path) is None
    held.release()


def test_a_forked_child_does_not_keep_it_beyond_its_parents_death(path: Path) -> None:
    def work() -> HeldFile:
        held = take(path)
        assert held is not None
        return held

    with parent_of_a_child(work) as parent:
        assert take(path) is None
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
        held = take(path)
        assert held is not None
        held.release()


def test_a_lock_whose_file_was_taken_away_does_not_stand(path: Path) -> None:
    with ExitStack() as stack:
        held = take(path)
        assert held is not None
        stack.callback(held.release)
        path.unlink()
        assert not held.stands
        other = take(path)
        assert other is not None
        stack.callback(other.release)
        assert other.stands
        held.release()
        assert other.stands
        assert take(path) is None


@pytest.mark.parametrize("text", [b"{", b"[]\n", b'{"pid": "x"}\n', b"\xff\n", b"[" * 4000])
def test_what_it_says_may_be_anything(path: Path, text: bytes) -> None:
    held = take(path)
    assert held is not None
    path.write_bytes(text)
    found = FileLock(path).holder()
    assert found is not None
    assert (found.pid, found.role) == (0, "unknown")
    held.release()


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    path.symlink_to(tmp_path / "precious")
    with pytest.raises(Unavailable, match="cannot be locked"):
        take(path)
    assert FileLock(path).holder() is None
    assert (tmp_path / "precious").read_text() == "text"


def test_a_system_without_locks_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, "No locks available")

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", refuse)
        with pytest.raises(Unavailable, match="No locks available"):
            take(path)
    held = take(path)
    assert held is not None
    held.release()


MOUNTS = rb"""21 1 8:1 / / rw - ext4 /dev/sda rw
22 21 0:20 / /mnt rw - nfs4 server:/export rw
23 22 8:2 / /mnt/local\040disk rw shared:1 - xfs /dev/sdb rw
24 21 0:21 / /over rw - ext4 /dev/sdc rw
25 21 0:22 / /over rw master:2 - fuse.sshfs a@b: rw
26 21 broken
"""


@pytest.mark.parametrize(
    "path, kind",
    [
        (b"/home/ana/.memstrata", "ext4"),
        (b"/mnt", "nfs4"),
        (b"/mnt/home", "nfs4"),
        (b"/mntx/home", "ext4"),
        (b"/mnt/local disk/home", "xfs"),
        (b"/over/home", "fuse.sshfs"),
    ],
)
def test_the_file_system_of_a_path(path: bytes, kind: str) -> None:
    assert file_system(path, MOUNTS) == kind


def test_no_mounts_are_no_network() -> None:
    assert file_system(b"/home", b"") == ""
    assert {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"} <= NETWORK
    assert "ext4" not in NETWORK


def test_a_home_on_a_network_disk_is_refused_unless_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"21 1 0:20 / {tmp_path} rw - nfs4 server:/export rw\n")
    monkeypatch.setattr(lock_fs, "_MOUNTS", mounts)
    home = tmp_path / "home"
    with pytest.raises(Invalid, match=r"nfs4.*worker.allow_network_home"):
        Memory.open(home, background=False)
    assert not home.exists()
    allowed = {"worker.allow_network_home": True}
    Memory.open(home, settings=allowed, background=False).close()
    monkeypatch.setattr(lock_fs, "_MOUNTS", tmp_path / "none")
    Memory.open(home, background=False).close()
