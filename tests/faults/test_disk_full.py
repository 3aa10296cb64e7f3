"""A full or failing disk: the caller is told so, nothing is half written, and it goes on once there is room."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from tests.faults.child import counted
from tests.faults.disks import failing
from tests.faults.oracle import faults, sound
from tests.faults.works import SIGNS, WORKS, State, missing, opened, portrait, prepare, state

from memstrata import Memory, failpoints
from memstrata.adapters.vault_fs import StagedFile
from memstrata.errors import MemstrataError, OutcomeUnknown, Unavailable

IO = ("vault.", "apply.", "swap.")
"""How the names of the places begin that stand for writing to the disk."""

Where = tuple[str, int]


@contextmanager
def named(*what: object) -> Iterator[None]:
    """Say which case failed."""
    try:
        yield
    except (AssertionError, MemstrataError, OSError) as error:
        error.add_note(f"failed at {what}")
        raise


def copied(home: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(home, folder)
    return folder


def works_through(work: str, home: Path, said: list[str]) -> Unavailable | None:
    """Do `work`; the error it ended with, which may only be `Unavailable`."""
    try:
        WORKS[work](home, said.append)
    except Unavailable as error:
        return error
    return None


def told(home: Path) -> dict[str, set[str]]:
    """What scenes and persona say; which run said it first, and how often they were told, may differ."""
    texts = portrait(home).items()
    return {name: {one for one in text.splitlines() if "<!--" in one} for name, text in texts}


def judge(work: str, home: Path, said: list[str]) -> tuple[State, dict[str, set[str]]]:
    """With room again: acknowledged is there, all is sound, and the work can be done."""
    with opened(home) as memory:
        assert missing(memory, said) == []
        assert faults(memory) == []
    WORKS[work](home, lambda _: None)
    with opened(home) as memory:
        memory.drain()
        assert faults(memory) == []
        return state(memory), told(home)


@pytest.mark.promise("write.atomic")
@pytest.mark.promise("write.unavailable")
@pytest.mark.promise("scene.atomic")
@pytest.mark.parametrize("work", ["commit", "add", "first", "correct", "layers"])
def test_each_write_of_files_fails_once(tmp_path: Path, work: str) -> None:
    before = tmp_path / "before"
    prepare(before, work)
    with counted() as counts:
        end = judge(work, copied(before, tmp_path / "tried"), [])
    loud, deep = 0, 1 if work == "layers" else 3
    places = [(n, at) for n, most in counts.items() for at in range(1, min(most, deep) + 1)]
    for name, at in [place for place in places if place[0].startswith(IO)]:
        home = copied(before, tmp_path / "tried")
        said: list[str] = []
        with named(name, at), failpoints.armed({name: f"enospc:{at}"}):
            loud += works_through(work, home, said) is not None
        with named(name, at):
            assert judge(work, home, said) == end
    assert loud > 10


@pytest.mark.promise("write.atomic")
@pytest.mark.parametrize("error, stays", [(apsw.FullError, True), (apsw.IOError, False)])
@pytest.mark.parametrize("work", ["commit", "add", "first", "correct"])
def test_each_write_of_the_database_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    work: str,
    error: type[apsw.Error],
    stays: bool,
) -> None:
    _each_database_write(tmp_path, monkeypatch, work, error, stays, every=7)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("error, stays", [(apsw.FullError, True), (apsw.IOError, False)])
@pytest.mark.parametrize("work", ["commit", "add", "first", "everything", "correct"])
def test_each_single_write_of_the_database_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    work: str,
    error: type[apsw.Error],
    stays: bool,
) -> None:
    _each_database_write(tmp_path, monkeypatch, work, error, stays, every=1)


def _each_database_write(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    work: str,
    error: type[apsw.Error],
    stays: bool,
    every: int,
) -> None:
    before = folder / "before"
    prepare(before, work)
    with failing(monkeypatch) as disk:
        end = judge(work, copied(before, folder / "tried"), [])
        disk.fail(0, stays=False)
        assert works_through(work, copied(before, folder / "tried"), []) is None
        loud = 0
        for at in range(1, disk.calls + 1, every):
            home, said = copied(before, folder / "tried"), list[str]()
            disk.fail(at, error, stays=stays)
            with named(work, at):
                loud += works_through(work, home, said) is not None
                killed = _as_a_kill_leaves_it(home, folder / "killed")
            disk.heal()
            with named(work, at):
                assert judge(work, killed, said) == end
                assert judge(work, home, said) == end
    assert loud


def _as_a_kill_leaves_it(home: Path, folder: Path) -> Path:
    """The files without SQLite's shared memory, which a process that dies takes along."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(home, folder, ignore=shutil.ignore_patterns("*-shm"))
    return folder


def test_the_same_process_goes_on_after(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with opened(home) as memory:
        chat = memory.session("s")
        for number, name in enumerate(("vault.append.after", "apply.rows", "apply.logged")):
            turn = [{"role": "user", "content": f"The mill has {number} doors."}]
            with failpoints.armed({name: "enospc"}), pytest.raises(Unavailable):
                chat.commit(turn)
            assert memory.search("mill").__len__() == number
            assert faults(memory) == []
            assert len(chat.commit(turn).stored) == 1
        for name in ("vault.stage.fsync", "apply.logged", "vault.publish.after"):
            with (
                failpoints.armed({name: "enospc"}),
                pytest.raises(Unavailable, match=r"full|said no"),
            ):
                memory.add(name=name, description="The ferry leaves at nine")
            assert memory.list(text=name).items == ()
            assert faults(memory) == []
            memory.add(name=name, description="The ferry leaves at nine")
        assert faults(memory) == []
    assert sound(home) == []


@pytest.mark.promise("write.outcome")
@pytest.mark.parametrize("name", ["vault.sync", "apply.committed", "apply.done"])
def test_what_stands_but_was_not_flushed_is_not_called_unsaved(tmp_path: Path, name: str) -> None:
    with opened(tmp_path / "home") as memory:
        with failpoints.armed({name: "eio"}), pytest.raises(OutcomeUnknown, match="was written"):
            memory.add(name="ferry", description="leaves at nine")
        assert [one.name for one in memory.list().items] == ["ferry"]
        assert faults(memory) == []
    assert sound(tmp_path / "home") == []


@pytest.mark.promise("write.outcome")
def test_what_cannot_be_taken_back_is_carried_out(tmp_path: Path) -> None:
    """A rename that cannot be undone: its log lines stay with it, and reconcile decides by the file."""
    with opened(tmp_path / "home") as memory:
        with (
            failpoints.armed({"apply.published": "eio"}),
            _no_undo(),
            pytest.raises(OutcomeUnknown, match="could not be taken back"),
        ):
            memory.add(name="ferry", description="leaves at nine")
        assert memory.list().items == ()
        added = memory.add(name="mill", description="stands by the river")
        assert [one.name for one in memory.list().items] == ["ferry", "mill"]
        assert memory.get(added.id).origin == memory.list().items[0].origin == "manual"
        assert faults(memory) == []
    assert sound(tmp_path / "home") == []


@contextmanager
def _no_undo() -> Iterator[None]:
    def refuse(self: StagedFile) -> None:
        raise OSError(5, "no undo")

    undo = StagedFile.undo
    StagedFile.undo = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        StagedFile.undo = undo  # type: ignore[method-assign]


# -- a disk that is really full -------------------------------------------------------------------

_LIBC = ctypes.CDLL(None, use_errno=True)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    at = tmp_path / "small"
    at.mkdir()
    if _LIBC.mount(b"none", os.fsencode(at), b"tmpfs", 0, b"size=3m"):
        pytest.skip(f"a tmpfs cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    yield at
    _LIBC.umount2(os.fsencode(at), 2)


@pytest.mark.promise("write.unavailable")
def test_a_disk_that_is_really_full(small: Path) -> None:
    home = small / "home"
    said: list[str] = []
    with opened(home) as memory:
        error = _until_full(memory, small, said)
        assert "full" in str(error)
        assert memory.search("mill")
        with pytest.raises(Unavailable):
            memory.add(name=SIGNS[0][0], description="blue", body="b" * 90_000)
        (small / "ballast").unlink()
        assert faults(memory) == []
        memory.add(name=SIGNS[0][0], description="blue")
        memory.drain()
    with opened(home) as memory:
        assert missing(memory, said) == []
        assert len(said) == memory._world.store.totals("local")["messages"] > 3
        assert faults(memory) == []


def _until_full(memory: Memory, disk: Path, said: list[str]) -> Unavailable:
    """Commit until the disk is full; some room is held back in `ballast`."""
    (disk / "ballast").write_bytes(b"x" * 2**20)
    for number in range(10_000):
        try:
            turn = [{"role": "user", "content": f"The mill, {number}. " * 400, "id": f"m{number}"}]
            memory.session("s").commit(turn)
        except Unavailable as error:
            return error
        said.append(f"message m{number}")
    raise AssertionError("the disk never filled up")
