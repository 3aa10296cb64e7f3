"""The file vault: its contract, and what only files can do wrong."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.contracts.vault import LOG, NOTE, Plant, VaultContract, found, write

from memstrata import failpoints
from memstrata.adapters import vault_fs
from memstrata.adapters.vault_fs import FileVault
from memstrata.domain.layout import HOME, Place
from memstrata.errors import Invalid, MemstrataError, NotFound, OutcomeUnknown, Unavailable

REMOVING = ("vault.remove.before", "vault.remove.after")
OURS = [n for n in failpoints.NAMES if n.startswith("vault.") and n not in REMOVING]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(home: Path) -> FileVault:
    return FileVault(home)


@pytest.fixture
def plant(home: Path) -> Plant:
    def planted(place: Place, data: bytes) -> None:
        file = home / place.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    return planted


class TestFileVault(VaultContract):
    """The contract, kept in the file system."""


def files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`, temporary ones too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*.*")
        if path.is_file()
    }


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*~")]


# -- modes ----------------------------------------------------------------------------------------


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    return {path.name: f"{path.stat().st_mode & 0o7777:o}" for path in (folder, *folder.rglob("*"))}


@pytest.mark.promise("disk.layout")
@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_the_home_is_the_owners_alone(vault: FileVault, home: Path, mask: int) -> None:
    with umask(mask):
        write(vault, NOTE, b"old")
        write(vault, NOTE, b"new")
        vault.append(LOG, b"one\n")
        with vault.exclusive():
            pass
    assert modes(home) == {
        **dict.fromkeys(("home", "memory", "user", "records", "run"), "700"),
        **dict.fromkeys((NOTE.name, LOG.name, "write.lock"), "600"),
    }


@pytest.mark.parametrize("mask, folder, file", [(0o022, "755", "644"), (0o007, "770", "660")])
def test_a_workspace_follows_the_umask(
    vault: FileVault, tmp_path: Path, mask: int, folder: str, file: str
) -> None:
    place = Place(str(tmp_path), ".memstrata/memory/note.md")
    with umask(mask):
        write(vault, place, b"new")
    found_modes = modes(tmp_path / ".memstrata")
    assert found_modes == {".memstrata": folder, "memory": folder, "note.md": file}


# -- replaced in one step -------------------------------------------------------------------------


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads take turns often: a test of races sees more of them, and a busy one holds none up."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.promise("disk.atomic")
@pytest.mark.usefixtures("quick_switches")
def test_readers_never_miss_a_file_nor_see_half_of_one(vault: FileVault) -> None:
    sizes = (10, 20_000)
    write(vault, NOTE, b"0" * sizes[0])
    done = threading.Event()
    seen: set[bytes] = set()
    wrong: list[object] = []

    def read() -> None:
        while not done.is_set():
            try:
                data, stat = vault.read(NOTE)
            except MemstrataError as error:
                wrong.append(error)
                return
            if data.strip(data[:1]) or len(data) not in sizes or stat.size != len(data):
                wrong.append(data)
            seen.add(data[:1])

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(2000):
        staged = vault.stage(NOTE, b"%d" % (number % 10) * sizes[number % 2])
        staged.publish()
        if number % 5:
            staged.settle()
        else:
            staged.undo()
    done.set()
    reader.join()
    assert wrong == []
    assert len(seen) > 1
    assert not leftovers(vault.home)


def test_a_file_that_was_undone_looks_untouched(vault: FileVault) -> None:
    before = write(vault, NOTE, b"old").stat
    staged = vault.stage(NOTE, b"new")
    staged.publish()
    staged.undo()
    assert vault.stat(NOTE) == before


def test_without_hard_links_the_old_bytes_are_copied(
    vault: FileVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object, **options: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links here")

    write(vault, NOTE, b"old")
    monkeypatch.setattr(os, "link", refused)
    staged = vault.stage(NOTE, b"new")
    staged.publish()
    assert len(leftovers(vault.home)) == 1
    staged.undo()
    assert found(vault, NOTE) == b"old"
    fresh = vault.stage(Place(HOME, "memory/user/fresh.md"), b"new")
    fresh.publish()
    fresh.undo()
    assert files(vault.home) == {NOTE.path: b"old"}


def test_a_temporary_name_that_is_taken_is_left_alone(vault: FileVault, home: Path) -> None:
    folder = home / NOTE.folder.path
    write(vault, NOTE, b"old")
    last = vault.stage(NOTE, b"x")
    number = int(leftovers(home)[0].split("-")[1].split(".")[0])
    last.discard()
    left = [
        folder / f".{NOTE.name}.{os.getpid()}-{number + ahead}{kind}.tmp~"
        for ahead in (1, 2, 3)
        for kind in ("", ".old")
    ]
    for path in left:
        path.write_bytes(b"left")
    staged = vault.stage(NOTE, b"new")
    staged.publish()
    staged.undo()
    assert found(vault, NOTE) == b"old"
    assert {path.read_bytes() for path in left} == {b"left"}
    assert vault.sweep(NOTE.folder) == len(left)


@pytest.mark.promise("disk.swept")
def test_what_a_killed_process_left_is_swept_what_a_live_one_needs_is_not(
    vault: FileVault, plant: Plant
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    folder = NOTE.folder
    swept = (f".a.md.{dead.pid}-1.tmp~", f".a.md.{dead.pid}-2.old.tmp~", ".a.md.0-1.tmp~")
    for name in (*swept, f".a.md.{os.getppid()}-1.tmp~", "b.md.tmp~", ".b.md.swp"):
        plant(folder.within(name), b"left")
    (vault.home / folder.path / ".folder.tmp~").mkdir()
    assert vault.sweep(folder) == len(swept)
    assert listing(vault.home / folder.path) == sorted(
        [f".a.md.{os.getppid()}-1.tmp~", "b.md.tmp~", ".b.md.swp", ".folder.tmp~"]
    )


def test_an_undo_that_fails_says_so(vault: FileVault, home: Path) -> None:
    write(vault, NOTE, b"old")
    staged = vault.stage(NOTE, b"new")
    staged.publish()
    (home / "memory").rename(home / "moved")
    with pytest.raises(OSError, match="No such file"):
        staged.undo()


# -- faults ---------------------------------------------------------------------------------------

OLD = {"memory/user/a.md": b"old a", "memory/user/b.md": b"old b", "records/log.jsonl": b"0\n"}
NEW = {
    "memory/user/a.md": b"new a",
    "memory/user/b.md": b"new b",
    "memory/user/c.md": b"new c",
    "records/log.jsonl": b"0\n1\n2\n",
}
FILES = [Place(HOME, path) for path in NEW if path.endswith(".md")]
SHARD = Place(HOME, "records/log.jsonl")


def begin(vault: FileVault) -> None:
    for path, data in OLD.items():
        write(vault, Place(HOME, path), data)


def change(vault: FileVault) -> None:
    """From `OLD` to `NEW` together or not at all, the way a transaction does it."""
    with vault.exclusive(), ExitStack() as cleanup, ExitStack() as undo:
        batch = []
        for place in FILES:
            batch.append(vault.stage(place, NEW[place.path]))
            cleanup.callback(batch[-1].discard)
        for line in (b"1\n", b"2\n"):
            undo.callback(vault.append(SHARD, line).undo)
        for staged in batch:
            undo.callback(staged.undo)
            staged.publish()
        vault.sync([place.folder for place in FILES])
        undo.pop_all()
        for staged in batch:
            staged.settle()


def state(home: Path) -> dict[str, bytes]:
    return {path: data for path, data in files(home).items() if path != vault_fs.LOCK.path}


@pytest.mark.promise("disk.atomic")
@pytest.mark.parametrize("action", ["enospc", "eio"])
@pytest.mark.parametrize("name", OURS)
def test_whichever_operation_fails_all_is_old_or_all_is_new(
    tmp_path: Path, name: str, action: str
) -> None:
    nth, failed = 1, True
    while failed:
        vault = FileVault(tmp_path / str(nth))
        begin(vault)
        refusal: Unavailable | None = None
        with failpoints.armed({name: f"{action}:{nth}"}) as fired:
            try:
                change(vault)
            except Unavailable as error:
                refusal = error
        # A failure to drop old bytes harms nothing, so it is not told.
        assert (refusal is not None) == (fired != [] and name != "vault.settle")
        if refusal:
            assert ("disk is full" in refusal.message) == (action == "enospc")
        if name == "vault.settle":
            vault.sweep(FILES[0].folder)
        assert state(vault.home) == (OLD if refusal else NEW)
        failed, nth = fired == [name], nth + 1
    assert nth > 2, f"{name} is never passed"


def test_old_bytes_that_could_not_be_dropped_are_swept(vault: FileVault) -> None:
    begin(vault)
    with failpoints.armed({"vault.settle": "eio"}):
        change(vault)
    assert len(leftovers(vault.home)) == 1
    assert vault.sweep(FILES[0].folder) == 1
    assert state(vault.home) == NEW


def test_an_append_that_cannot_be_cut_is_of_unknown_outcome(
    vault: FileVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(file: int, size: int) -> None:
        raise OSError(errno.EIO, "no")

    vault.append(LOG, b"one\n")
    monkeypatch.setattr(os, "ftruncate", refused)
    with failpoints.armed({"vault.append.after": "enospc"}), pytest.raises(OutcomeUnknown):
        vault.append(LOG, b"two\n")


@pytest.mark.parametrize("name, stays", [(REMOVING[0], b"old"), (REMOVING[1], None)])
@pytest.mark.parametrize("action", ["enospc", "eio"])
def test_a_removal_that_fails_is_told(
    vault: FileVault, name: str, stays: bytes | None, action: str
) -> None:
    write(vault, NOTE, b"old")
    with failpoints.armed({name: action}), pytest.raises(Unavailable, match=r"note\.md"):
        vault.remove(NOTE)
    assert found(vault, NOTE) == stays


def test_a_link_is_not_removed(vault: FileVault) -> None:
    write(vault, NOTE, b"old")
    link = vault.home / NOTE.folder.path / "link.md"
    link.symlink_to(vault.home / NOTE.path)
    with pytest.raises(Invalid, match="is a link"):
        vault.remove(NOTE.folder.within("link.md"))
    assert link.is_symlink()
    assert found(vault, NOTE) == b"old"


def test_short_writes_are_carried_on(vault: FileVault, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.write

    def short(file: int, data: memoryview) -> int:
        return whole(file, data[:7])

    monkeypatch.setattr(os, "write", short)
    write(vault, NOTE, b"0123456789" * 5)
    vault.append(LOG, b"0123456789\n" * 5)
    assert found(vault, NOTE) == b"0123456789" * 5
    assert len(list(vault.lines(LOG))) == 5


@pytest.mark.parametrize(
    "number, kind, says",
    [
        (errno.ENOSPC, Unavailable, "disk is full"),
        (errno.EDQUOT, Unavailable, "disk is full"),
        (errno.EACCES, Unavailable, "permission denied"),
        (errno.EROFS, Unavailable, "read-only file system"),
        (errno.ENOLCK, Unavailable, "no locks available"),
        (errno.ENAMETOOLONG, Invalid, "too long"),
    ],
)
def test_the_disks_no_is_told_with_the_path(
    vault: FileVault,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    kind: type[MemstrataError],
    says: str,
) -> None:
    def refuse(name: str) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(failpoints, "hit", refuse)
    for use in (lambda: vault.stage(NOTE, b"new"), lambda: vault.append(LOG, b"one\n")):
        with pytest.raises(kind, match=says) as caught:
            use()
        assert "memory/user/note.md" in caught.value.message or LOG.path in caught.value.message
    assert files(vault.home) == {LOG.path: b""}


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MemstrataError):
        FileVault(tmp_path / "file").stage(NOTE, b"new")
    with pytest.raises(MemstrataError):
        FileVault(tmp_path / "file/home").stage(NOTE, b"new")


# -- killed ---------------------------------------------------------------------------------------


def child(code: str, *arguments: str | Path, rules: str = "") -> subprocess.Popen[bytes]:
    """A Python process of its own that runs `code` with what this one can import."""
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, failpoints.VARIABLE: rules}
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], env=environment)


CHANGE = """
import json, sys
from pathlib import Path
from memstrata.adapters.vault_fs import FileVault
from memstrata.domain.layout import Place
vault = FileVault(Path(sys.argv[1]))
with vault.exclusive():
    new = {Place("", path): data.encode() for path, data in json.loads(sys.argv[2]).items()}
    batch = [vault.stage(place, data) for place, data in new.items()]
    for line in (b"1\\n", b"2\\n"):
        vault.append(Place("", "records/log.jsonl"), line)
    for staged in batch:
        staged.publish()
    vault.sync([staged.place.folder for staged in batch])
    for staged in batch:
        staged.settle()
"""


# The new files are in one folder, so there is one fsync.
KILLS = [(name, nth) for name in OURS for nth in (1, 2) if (name, nth) != ("vault.sync", 2)]


@pytest.mark.promise("disk.atomic")
@pytest.mark.parametrize("name, nth", KILLS)
def test_killed_anywhere_each_file_is_old_or_new(vault: FileVault, name: str, nth: int) -> None:
    begin(vault)
    new = json.dumps({place.path: NEW[place.path].decode() for place in FILES})
    process = child(CHANGE, vault.home, new, rules=f"{name}=kill:{nth}")
    assert process.wait() == -signal.SIGKILL
    assert leftovers(vault.home)
    vault.sweep(FILES[0].folder)
    held = state(vault.home)
    log = held.pop(SHARD.path)
    assert NEW[SHARD.path].startswith(log)
    assert log.endswith(b"\n")
    assert held.keys() | {"memory/user/c.md"} == {place.path for place in FILES}
    assert all(data in (OLD.get(path), NEW[path]) for path, data in held.items())
    with vault.exclusive():
        assert vault.append(SHARD, b"3\n").start == len(log)


APPEND = """
import sys
from pathlib import Path
from memstrata.adapters.vault_fs import FileVault
from memstrata.domain.layout import Place
vault = FileVault(Path(sys.argv[1]))
for number in range(300):
    with vault.exclusive():
        lines = b"%s %d\\n" % (sys.argv[2].encode(), number) * 3
        appended = vault.append(Place("", "records/log.jsonl"), lines)
        if number % 3 == 0:
            appended.undo()
"""


def test_two_processes_append_under_the_lock(vault: FileVault) -> None:
    pair = [child(APPEND, vault.home, who) for who in ("left", "right")]
    assert [process.wait() for process in pair] == [0, 0]
    lines = [line for _, line in vault.lines(SHARD)]
    kept = [number for number in range(300) if number % 3]
    for who in (b"left", b"right"):
        mine = [line for line in lines if line.startswith(who)]
        assert mine == [b"%s %d" % (who, number) for number in kept for _ in range(3)]
    assert len(lines) == 2 * 3 * len(kept)


# -- links ----------------------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that no link in a root may lead to."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_bytes(b"secret\n")
    return folder


def link_file(inside: Path, outside: Path) -> None:
    (inside / "secret.md").symlink_to(outside / "secret.md")


def link_broken_file(inside: Path, outside: Path) -> None:
    (inside / "secret.md").symlink_to(outside / "new.md")


def link_file_to_itself(inside: Path, outside: Path) -> None:
    (inside / "secret.md").symlink_to("secret.md")


def link_file_within(inside: Path, outside: Path) -> None:
    (inside / "real.md").write_bytes(b"real")
    (inside / "secret.md").symlink_to("real.md")


def link_folder(inside: Path, outside: Path) -> None:
    inside.rmdir()
    inside.symlink_to(outside)


def link_broken_folder(inside: Path, outside: Path) -> None:
    inside.rmdir()
    inside.symlink_to(outside / "new")


def link_folder_to_itself(inside: Path, outside: Path) -> None:
    inside.rmdir()
    inside.symlink_to(inside.name)


def link_folder_above(inside: Path, outside: Path) -> None:
    shutil.rmtree(inside.parent)
    (outside / inside.name).mkdir()
    inside.parent.symlink_to(outside)


def pipe(inside: Path, outside: Path) -> None:
    os.mkfifo(inside / "secret.md")


def folder_for_file(inside: Path, outside: Path) -> None:
    (inside / "secret.md").mkdir()


def file_for_folder(inside: Path, outside: Path) -> None:
    inside.rmdir()
    inside.write_bytes(b"file")


ATTACKS: tuple[Callable[[Path, Path], None], ...] = (
    *(link_file, link_broken_file, link_file_to_itself, link_file_within),
    *(link_folder, link_broken_folder, link_folder_to_itself, link_folder_above),
    *(pipe, folder_for_file, file_for_folder),
)


@pytest.mark.promise("disk.paths")
@pytest.mark.parametrize("in_home", [True, False])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_leads_out(
    vault: FileVault,
    tmp_path: Path,
    outside: Path,
    attack: Callable[[Path, Path], None],
    in_home: bool,
) -> None:
    root = vault.home if in_home else tmp_path / "work"
    inside = root / ".memstrata/memory"
    inside.mkdir(parents=True)
    attack(inside, outside)
    before = sorted(map(str, outside.rglob("*")))
    place = Place(HOME if in_home else str(root), ".memstrata/memory/secret.md")
    for use in (
        lambda: vault.read(place),
        lambda: vault.stat(place),
        lambda: list(vault.lines(place)),
        lambda: vault.stage(place, b"new"),
        lambda: vault.append(place, b"new\n"),
    ):
        with pytest.raises(Invalid):
            use()
    with suppress(Invalid):
        assert "secret.md" not in (vault.scan(place.folder) or {})
    with suppress(Invalid):
        assert "memory" not in vault.folders(place.folder.folder) or not inside.is_symlink()
    assert sorted(map(str, outside.rglob("*"))) == before
    assert (outside / "secret.md").read_bytes() == b"secret\n"


def test_a_link_put_there_after_staging_leads_nowhere(
    vault: FileVault, home: Path, outside: Path
) -> None:
    staged, other = vault.stage(NOTE, b"new"), vault.stage(Place(HOME, "b/secret.md"), b"new")
    (home / NOTE.path).symlink_to(outside / "secret.md")
    staged.publish()
    assert found(vault, NOTE) == b"new"
    staged.undo()
    assert (home / NOTE.path).readlink() == outside / "secret.md"
    (home / "b").rename(home / "c")
    (home / "b").symlink_to(outside)
    with pytest.raises(Invalid):
        other.publish()
    with pytest.raises(OSError, match="Not a directory"):
        other.undo()
    assert files(outside) == {"secret.md": b"secret\n"}


def test_a_root_may_be_a_link_itself(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    vault = FileVault(tmp_path / "link")
    write(vault, NOTE, b"home")
    place = Place(str(tmp_path / "link"), "work.md")
    write(vault, place, b"work")
    assert files(tmp_path / "real") == {NOTE.path: b"home", "work.md": b"work"}
    assert found(vault, place) == b"work"


def test_names_that_are_no_text_are_left_out(vault: FileVault, home: Path) -> None:
    write(vault, NOTE, b"new")
    raw = os.fsencode(home / NOTE.folder.path)
    Path(os.fsdecode(raw + b"/caf\xe9.md")).touch()
    Path(os.fsdecode(raw + b"/caf\xe9")).mkdir()
    assert list(vault.scan(NOTE.folder) or {}) == [NOTE.name]
    assert vault.folders(NOTE.folder) == ()


PARTS = st.sampled_from(
    ["..", ".", "", "/", "a", "link", "loop", "secret.md", "\0", "…", "~", "\\"]
)
PATHS = st.one_of(st.text(), st.lists(PARTS, max_size=5).map("/".join))


@pytest.mark.promise("disk.paths")
@settings(deadline=None)  # the disk is not ours to time
@given(path=PATHS, in_home=st.booleans())
@example(path="link/secret.md", in_home=True)
@example(path="a/../../outside/secret.md", in_home=False)
def test_any_string_is_refused_or_stays_inside(path: str, in_home: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for name in ("home", "work", "outside"):
            (top / name).mkdir()
        (top / "outside/secret.md").write_bytes(b"secret\n")
        for root in (top / "home", top / "work"):
            (root / "link").symlink_to(top / "outside")
            (root / "loop").symlink_to("loop")
        vault = FileVault(top / "home")
        place = Place(HOME if in_home else str(top / "work"), path)
        with suppress(Invalid):
            write(vault, place, b"new\n")
            vault.append(place, b"newer\n")
            assert vault.read(place)[0] == b"new\nnewer\n"
            changed = [file for file in top.rglob("*") if file.is_file() and not file.is_symlink()]
            assert len(changed) == 2
        assert listing(top) == ["home", "outside", "work"]
        assert files(top / "outside") == {"secret.md": b"secret\n"}
        assert listing(top / ("work" if in_home else "home")) == ["link", "loop"]


# -- reading what moves ---------------------------------------------------------------------------


def test_a_file_that_changes_under_the_reader_is_read_anew(
    vault: FileVault, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, NOTE, b"old")
    whole = vault_fs._read
    times = []

    def disturbed(file: int) -> bytes:
        data = whole(file)
        times.append(data)
        if len(times) < 4:
            with (home / NOTE.path).open("ab") as editor:
                editor.write(b"+")
        return data

    monkeypatch.setattr(vault_fs, "_read", disturbed)
    assert vault.read(NOTE)[0] == b"old+++"
    assert times == [b"old", b"old+", b"old++", b"old+++"]


def test_a_file_that_never_rests_is_not_read(
    vault: FileVault, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, NOTE, b"old")
    whole = vault_fs._read

    def disturbed(file: int) -> bytes:
        with (home / NOTE.path).open("ab") as editor:
            editor.write(b"+")
        return whole(file)

    monkeypatch.setattr(vault_fs, "_read", disturbed)
    with pytest.raises(Unavailable, match="changes while"):
        vault.read(NOTE)


DESCRIPTORS = Path("/proc/self/fd")


@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="no /proc to count in")
def test_no_descriptor_stays_open(vault: FileVault) -> None:
    before = len(listing(DESCRIPTORS))
    begin(vault)
    change(vault)
    lines = vault.lines(SHARD)
    assert next(lines) == (2, b"0")
    del lines
    for path in ("memory/gone.md", "memory/../x", "memory/user", "memory/user/a.md/x"):
        with pytest.raises((Invalid, NotFound)):
            vault.read(Place(HOME, path))
    assert len(listing(DESCRIPTORS)) == before


# -- workspaces -----------------------------------------------------------------------------------


def repository(folder: Path) -> Path:
    """The least that makes a repository, with a tree below."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / "src/deep").mkdir(parents=True)
    return folder


def worktree(common: Path, tree: Path, *, relative: bool = False) -> Path:
    """A worktree at `tree` of the repository whose git directory is `common`."""
    private = common / "worktrees" / tree.name
    private.mkdir(parents=True)
    (tree / "src").mkdir(parents=True)
    there, back = (
        (os.path.relpath(private, tree), os.path.relpath(tree / ".git", private))
        if relative
        else (str(private), str(tree / ".git"))
    )
    (tree / ".git").write_text(f"gitdir: {there}\n")
    (private / "gitdir").write_text(f"{back}\n")
    (private / "commondir").write_text("../..\n")
    return tree


@pytest.mark.promise("workspace.one-root")
def test_a_repository_is_one_workspace(vault: FileVault, tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    assert vault.root_of(str(main)) == str(main)
    assert vault.root_of(str(main / "src/deep")) == str(main)
    assert vault.root_of(str(main / ".git")) == str(main)


@pytest.mark.promise("workspace.one-root")
@pytest.mark.parametrize("relative", [True, False])
def test_worktrees_share_the_main_root(vault: FileVault, tmp_path: Path, relative: bool) -> None:
    main = repository(tmp_path / "main")
    tree = worktree(main / ".git", tmp_path / "elsewhere/tree", relative=relative)
    (tmp_path / "link").symlink_to(tree / "src")
    for path in (tree, tree / "src", tmp_path / "link"):
        assert vault.root_of(str(path)) == str(main)


def test_a_submodule_is_its_own_root(vault: FileVault, tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    module = main / ".git/modules/sub"
    module.mkdir(parents=True)
    (module / "config").write_text("[core]\n\tbare = false\n\tworktree = ../../../sub\n")
    (main / "sub").mkdir()
    (main / "sub/.git").write_text("gitdir: ../.git/modules/sub\n")
    assert vault.root_of(str(main / "sub")) == str(main / "sub")
    tree = worktree(module, tmp_path / "tree")
    assert vault.root_of(str(tree)) == str(main / "sub")


def test_worktrees_of_a_bare_repository_share_a_root(vault: FileVault, tmp_path: Path) -> None:
    bare = tmp_path / "store/repo.git"
    trees = [worktree(bare, tmp_path / name) for name in ("a", "b")]
    assert [vault.root_of(str(tree)) for tree in trees] == [str(bare)] * 2
    hidden = tmp_path / "project/.bare"
    tree = worktree(hidden, tmp_path / "project/topic")
    (tmp_path / "project/.git").write_text("gitdir: ./.bare\n")
    assert vault.root_of(str(tree)) == str(tmp_path / "project")
    assert vault.root_of(str(tmp_path / "project")) == str(tmp_path / "project")


def test_a_tree_cannot_claim_a_repository_that_does_not_know_it(
    vault: FileVault, tmp_path: Path
) -> None:
    victim = repository(tmp_path / "victim")
    worktree(victim / ".git", tmp_path / "known")
    claim = tmp_path / "claim"
    (claim / "private").mkdir(parents=True)
    git = claim / ".git"
    git.write_text(f"gitdir: {victim}/.git/worktrees/known\n")
    assert vault.root_of(str(claim)) == str(claim)
    git.write_text("gitdir: private\n")
    (claim / "private/commondir").write_text(f"{victim}/.git\n")
    (claim / "private/gitdir").write_text(f"{git}\n")
    assert vault.root_of(str(claim)) == str(claim)


def test_a_repository_cannot_name_a_tree_that_is_not_its_own(
    vault: FileVault, tmp_path: Path
) -> None:
    victim = repository(tmp_path / "victim")
    bare = tmp_path / "claim/bare"
    tree = worktree(bare, tmp_path / "claim/tree")
    (bare / "config").write_text(f"[core]\n\tworktree = {victim}\n")
    assert vault.root_of(str(tree)) == str(bare)


@pytest.mark.parametrize(
    "text", [b"", b"gitdir:", b"gitdir: gone", b"\xff\xfe", b"x" * 99, b"gitdir: \0"]
)
def test_a_git_file_that_makes_no_sense_is_passed_over(
    vault: FileVault, tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "tree/src").mkdir(parents=True)
    (tmp_path / "tree/.git").write_bytes(text)
    assert vault.root_of(str(tmp_path / "tree/src")) == str(tmp_path / "tree")


def test_the_homes_own_parent_is_no_workspace(tmp_path: Path) -> None:
    vault = FileVault(tmp_path / "person/.memstrata")
    work = tmp_path / "person/work"
    work.mkdir(parents=True)
    assert vault.root_of(str(work)) == str(work)
    with pytest.raises(Invalid, match="home lies in it"):
        vault.root_of(str(tmp_path / "person"))
    write(vault, NOTE, b"new")
    (tmp_path / "person/.git").mkdir()
    with pytest.raises(Invalid, match="home lies in it"):
        vault.root_of(str(work))


@pytest.mark.promise("workspace.one-root")
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH")
def test_real_git_agrees(vault: FileVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    main, tree = tmp_path / "main", tmp_path / "elsewhere/tree"

    def git(*arguments: str | Path, at: Path = main) -> None:
        identity = ("-c", "user.name=Ada Example", "-c", "user.email=ada@example.org")
        local = ("-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false")
        command = ["git", *identity, *local, *map(str, arguments)]
        subprocess.run(command, cwd=at, check=True, capture_output=True)

    for folder in (main, tmp_path / "part"):
        git("init", "--quiet", folder, at=tmp_path)
        git("commit", "--quiet", "--allow-empty", "--message", "first", at=folder)
    git("worktree", "add", "--quiet", tree)
    git("submodule", "--quiet", "add", tmp_path / "part", "sub")
    git("worktree", "add", "--quiet", tmp_path / "subtree", at=main / "sub")
    git("clone", "--quiet", "--bare", main, tmp_path / "bare.git", at=tmp_path)
    git("worktree", "add", "--quiet", "-b", "one", tmp_path / "one", at=tmp_path / "bare.git")
    roots = {
        main: main,
        tree: main,
        main / "sub": main / "sub",
        tmp_path / "subtree": main / "sub",
        tmp_path / "one": tmp_path / "bare.git",
    }
    assert {path: vault.root_of(str(path)) for path in roots} == {
        path: str(root) for path, root in roots.items()
    }
