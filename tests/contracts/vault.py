"""What every vault keeps. A subclass is a vault's test; it brings the fixtures `vault` and `plant`.

`plant(place, data)` puts bytes where a person or a killed process would have left them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memstrata.domain.layout import HOME, Place
from memstrata.errors import Internal, Invalid, NotFound
from memstrata.ports import Staged, Vault

Plant = Callable[[Place, bytes], None]

NOTE = Place(HOME, "memory/user/note.md")
LOG = Place(HOME, "records/2026-03-14.jsonl")
BLOBS = {
    "empty": b"",
    "lf": b"# Tea\n\nOolong.\n",
    "crlf": b"# Tea\r\n\r\nOolong.\r\n",
    "nul": b"a\x00b\x00",
    "not UTF-8": b"\xff\xfe\x80caf\xe9",
    "no newline at the end": b"x",
    "large": bytes(range(256)) * 5000,
}
LEADING_OUT = (
    *("../x.md", "a/../../x.md", "a/..", "..", ".", "./x.md", "a/./x.md", "/etc/x.md", "/x.md"),
    *("", "/", "a/", "a//x.md", "nul\0.md", "a\0/x.md", "half\ud800.md", "n" * 256, "中" * 86),
)
UNICODE = (
    "偏好 – café.md",
    "cafe\u0301.md",
    "-rf",
    "~",
    "a\nb.md",
    "back\\slash",
    "e\u202emd",
    "n" * 255,
)


def write(vault: Vault, place: Place, data: bytes) -> Staged:
    """`data` published and settled."""
    staged = vault.stage(place, data)
    staged.publish()
    staged.settle()
    return staged


def found(vault: Vault, place: Place) -> bytes | None:
    """The bytes of a file, None without one."""
    try:
        return vault.read(place)[0]
    except NotFound:
        return None


def names(vault: Vault, folder: Place) -> list[str]:
    return list(vault.scan(folder) or {})


class VaultContract:
    """The contract of `memstrata.ports.Vault`."""

    # -- replacing a file ------------------------------------------------------------------------

    @pytest.mark.parametrize("data", BLOBS.values(), ids=BLOBS.keys())
    def test_bytes_come_back_as_they_went_in(self, vault: Vault, data: bytes) -> None:
        staged = write(vault, NOTE, data)
        assert vault.read(NOTE) == (data, staged.stat)
        assert vault.stat(NOTE) == staged.stat
        assert staged.stat.size == len(data)

    def test_a_workspace_holds_files_of_its_own(self, vault: Vault, tmp_path: Path) -> None:
        root = tmp_path / "work"
        root.mkdir()
        place = Place(str(root), ".memstrata/memory/note.md")
        write(vault, place, b"shared")
        write(vault, NOTE, b"own")
        assert (root / ".memstrata/memory/note.md").read_bytes() == b"shared"
        assert (found(vault, place), found(vault, NOTE)) == (b"shared", b"own")

    def test_a_staged_file_is_not_seen(self, vault: Vault) -> None:
        staged = vault.stage(NOTE, b"new")
        assert found(vault, NOTE) is None
        assert vault.stat(NOTE) is None
        assert vault.scan(NOTE.folder) == {}
        staged.publish()
        assert vault.scan(NOTE.folder) == {NOTE.name: staged.stat}
        staged.settle()
        assert names(vault, NOTE.folder) == [NOTE.name]

    def test_a_folder_goes_when_nothing_is_in_it(self, vault: Vault) -> None:
        assert not vault.remove_folder(NOTE.folder)
        write(vault, NOTE, b"one")
        assert not vault.remove_folder(NOTE.folder)
        assert not vault.remove_folder(NOTE)
        vault.remove(NOTE)
        assert vault.remove_folder(NOTE.folder)
        assert not vault.remove_folder(NOTE.folder)

    def test_a_file_is_removed_once(self, vault: Vault) -> None:
        assert not vault.remove(NOTE)
        write(vault, NOTE, b"old")
        write(vault, NOTE.folder.within("other.md"), b"stays")
        assert vault.remove(NOTE)
        assert (found(vault, NOTE), names(vault, NOTE.folder)) == (None, ["other.md"])
        assert not vault.remove(NOTE)
        with pytest.raises(Invalid):
            vault.remove(NOTE.folder)

    @pytest.mark.parametrize("path", LEADING_OUT, ids=ascii)
    def test_nothing_is_removed_outside(self, vault: Vault, path: str) -> None:
        write(vault, NOTE, b"stays")
        with pytest.raises(Invalid):
            vault.remove(Place(HOME, path))

    @pytest.mark.parametrize("old", [None, b"old"])
    @pytest.mark.parametrize("published", [False, True])
    def test_undo_brings_back_what_was(
        self, vault: Vault, old: bytes | None, published: bool
    ) -> None:
        if old is not None:
            write(vault, NOTE, old)
        staged = vault.stage(NOTE, b"new")
        if published:
            staged.publish()
            assert found(vault, NOTE) == b"new"
        staged.undo()
        assert found(vault, NOTE) == old
        staged.undo()
        staged.discard()
        assert found(vault, NOTE) == old

    def test_undo_in_reverse_brings_back_the_first(self, vault: Vault) -> None:
        write(vault, NOTE, b"0")
        first, second = vault.stage(NOTE, b"1"), vault.stage(NOTE, b"2")
        first.publish()
        second.publish()
        assert found(vault, NOTE) == b"2"
        second.undo()
        assert found(vault, NOTE) == b"1"
        first.undo()
        assert found(vault, NOTE) == b"0"

    def test_what_is_settled_stays(self, vault: Vault) -> None:
        write(vault, NOTE, b"old")
        staged = write(vault, NOTE, b"new")
        staged.settle()
        staged.undo()
        staged.discard()
        assert found(vault, NOTE) == b"new"

    def test_discard_never_touches_the_file(self, vault: Vault) -> None:
        write(vault, NOTE, b"old")
        vault.stage(NOTE, b"dropped").discard()
        assert found(vault, NOTE) == b"old"
        staged = vault.stage(NOTE, b"new")
        staged.publish()
        staged.discard()
        staged.undo()
        assert found(vault, NOTE) == b"new"
        assert names(vault, NOTE.folder) == [NOTE.name]

    def test_steps_out_of_order_are_bugs(self, vault: Vault) -> None:
        staged = vault.stage(NOTE, b"new")
        with pytest.raises(Internal, match="not published"):
            staged.settle()
        staged.publish()
        with pytest.raises(Internal, match="published already"):
            staged.publish()
        staged.undo()
        with pytest.raises(Internal, match="done already"):
            staged.publish()

    def test_syncing_takes_folders_and_passes_over_gone_ones(self, vault: Vault) -> None:
        write(vault, NOTE, b"new")
        vault.sync([NOTE.folder, NOTE.folder, Place(HOME, "memory/gone"), Place(HOME, "")])
        with pytest.raises(Invalid):
            vault.sync([NOTE])
        assert found(vault, NOTE) == b"new"

    # -- reading ---------------------------------------------------------------------------------

    def test_what_is_not_there(self, vault: Vault) -> None:
        with pytest.raises(NotFound) as caught:
            vault.read(NOTE)
        assert caught.value.detail() == {"kind": "file", "id": str(NOTE)}
        with pytest.raises(NotFound):
            next(vault.lines(LOG))
        assert vault.stat(NOTE) is None
        assert vault.scan(NOTE.folder) is None
        assert vault.folders(NOTE.folder) == ()
        assert vault.sweep(NOTE.folder) == 0

    def test_a_workspace_that_is_gone(self, vault: Vault, tmp_path: Path) -> None:
        place = Place(str(tmp_path / "gone"), ".memstrata/memory/note.md")
        assert vault.scan(place.folder) is None
        assert vault.stat(place) is None
        with pytest.raises(NotFound):
            vault.read(place)
        assert not (tmp_path / "gone").exists()

    def test_scanning_lists_files_and_folders_apart(self, vault: Vault) -> None:
        for name in ("b.md", "a.md", ".hidden", "d/c.md", "é/x.md", "a/b/c.md"):
            write(vault, Place(HOME, f"memory/{name}"), name.encode())
        folder = Place(HOME, "memory")
        assert names(vault, folder) == [".hidden", "a.md", "b.md"]
        assert vault.folders(folder) == ("a", "d", "é")
        assert vault.folders(Place(HOME, "")) == ("memory",)
        assert vault.scan(Place(HOME, "")) == {}
        for name, stat in (vault.scan(folder) or {}).items():
            assert vault.read(folder.within(name)) == (name.encode(), stat)

    # -- logs ------------------------------------------------------------------------------------

    def test_a_log_grows_by_whole_lines(self, vault: Vault) -> None:
        first = vault.append(LOG, b"one\ntwo\r\n")
        second = vault.append(LOG, b"\xff\x00\n\n")
        assert (first.start, first.end, second.start, second.end) == (0, 9, 9, 13)
        assert list(vault.lines(LOG)) == [(4, b"one"), (9, b"two\r"), (12, b"\xff\x00"), (13, b"")]
        assert list(vault.lines(LOG, 9)) == [(12, b"\xff\x00"), (13, b"")]
        assert list(vault.lines(LOG, 13)) == []
        assert list(vault.lines(LOG, 99)) == []

    def test_what_is_appended_can_be_taken_back(self, vault: Vault) -> None:
        first = vault.append(LOG, b"one\n")
        second = vault.append(LOG, b"two\n")
        second.undo()
        assert found(vault, LOG) == b"one\n"
        first.undo()
        assert found(vault, LOG) == b""
        second.undo()
        assert found(vault, LOG) == b""

    def test_nothing_appended_changes_nothing(self, vault: Vault) -> None:
        vault.append(LOG, b"one\n")
        nothing = vault.append(LOG, b"")
        assert (nothing.start, nothing.end) == (4, 4)
        assert found(vault, LOG) == b"one\n"

    def test_half_a_line_is_not_taken(self, vault: Vault) -> None:
        with pytest.raises(Internal, match="whole lines"):
            vault.append(LOG, b"one\ntw")
        assert found(vault, LOG) is None

    @pytest.mark.promise("l0.rebuild")
    @pytest.mark.parametrize("whole", [b"", b"one\n", b"x" * 9000 + b"\n", b"a\n" * 5000])
    @pytest.mark.parametrize("torn", [b"{", b"\x00" * 4096, b"y" * 10_000])
    def test_a_torn_tail_is_unseen_then_kept_aside(
        self, vault: Vault, plant: Plant, whole: bytes, torn: bytes
    ) -> None:
        plant(LOG, whole + torn)
        assert b"".join(line + b"\n" for _, line in vault.lines(LOG)) == whole
        appended = vault.append(LOG, b"next\n")
        assert (appended.start, appended.end) == (len(whole), len(whole) + 5)
        assert found(vault, LOG) == whole + b"next\n"
        aside = LOG.folder.within(f"{LOG.name}.torn")
        assert found(vault, aside) == torn + b"\n"
        appended.undo()
        assert found(vault, LOG) == whole

    def test_torn_tails_are_kept_one_behind_the_other(self, vault: Vault, plant: Plant) -> None:
        for torn in (b"first", b"second"):
            plant(LOG, b"one\n" + torn)
            vault.append(LOG, b"two\n")
        assert found(vault, LOG.folder.within(f"{LOG.name}.torn")) == b"first\nsecond\n"

    # -- places ----------------------------------------------------------------------------------

    @pytest.mark.promise("disk.paths")
    @pytest.mark.parametrize("path", LEADING_OUT, ids=ascii)
    @pytest.mark.parametrize("below", [True, False])
    def test_a_path_that_leads_out_is_refused(
        self, vault: Vault, tmp_path: Path, path: str, below: bool
    ) -> None:
        root = tmp_path / "work"
        root.mkdir()
        place = Place(str(root) if below else HOME, path)
        write(vault, Place(place.root, "a/inside.md"), b"inside")
        for use in (
            lambda: vault.stage(place, b"new"),
            lambda: vault.append(place, b"new\n"),
            lambda: vault.read(place),
            lambda: vault.stat(place),
            lambda: list(vault.lines(place)),
        ):
            with pytest.raises(Invalid):
                use()
        assert list(root.rglob("*")) == ([root / "a", root / "a/inside.md"] if below else [])

    @pytest.mark.promise("disk.paths")
    @pytest.mark.parametrize("path", [path for path in LEADING_OUT if path], ids=ascii)
    def test_a_folder_that_leads_out_is_refused(self, vault: Vault, path: str) -> None:
        write(vault, Place(HOME, "a/inside.md"), b"inside")
        place = Place(HOME, path)
        for use in (
            lambda: vault.scan(place),
            lambda: vault.folders(place),
            lambda: vault.sweep(place),
            lambda: vault.sync([place]),
        ):
            with pytest.raises(Invalid):
                use()

    @pytest.mark.parametrize("root", ["top", "./top", "/top\0", "/\ud800"], ids=ascii)
    def test_a_root_is_an_absolute_path(self, vault: Vault, root: str) -> None:
        with pytest.raises(Invalid):
            vault.scan(Place(root, "a"))

    @pytest.mark.parametrize("name", UNICODE, ids=ascii)
    def test_any_plain_name_is_a_name(self, vault: Vault, name: str) -> None:
        place = Place(HOME, f"memory/{name}")
        write(vault, place, b"old")
        staged = vault.stage(place, b"new")
        staged.publish()
        assert names(vault, place.folder) == [name]
        staged.undo()
        assert found(vault, place) == b"old"

    @pytest.mark.promise("disk.swept")
    def test_a_temporary_name_is_no_file_of_ours(self, vault: Vault, plant: Plant) -> None:
        place = Place(HOME, "memory/.note.md.tmp~")
        with pytest.raises(Invalid, match="temporary"):
            vault.stage(place, b"new")
        plant(place, b"left")
        assert vault.scan(place.folder) == {}
        assert vault.sweep(place.folder) == 1
        assert vault.sweep(place.folder) == 0
        assert found(vault, place) is None

    def test_sweeping_leaves_files_and_what_is_under_way(self, vault: Vault) -> None:
        write(vault, NOTE, b"old")
        staged, other = vault.stage(NOTE, b"new"), vault.stage(NOTE, b"dropped")
        assert vault.sweep(NOTE.folder) == 0
        staged.publish()
        assert vault.sweep(NOTE.folder) == 0
        staged.undo()
        other.undo()
        assert found(vault, NOTE) == b"old"

    # -- the lock --------------------------------------------------------------------------------

    def test_one_holds_the_write_lock(self, vault: Vault) -> None:
        order: list[str] = []

        def other() -> None:
            with vault.exclusive():
                order.append("other")

        thread = threading.Thread(target=other)
        with vault.exclusive():
            thread.start()
            thread.join(timeout=0.1)
            assert thread.is_alive()
            order.append("first")
        thread.join()
        assert order == ["first", "other"]

    def test_the_write_lock_is_not_reentrant_and_is_let_go(self, vault: Vault) -> None:
        with vault.exclusive(), pytest.raises(Internal, match="reentrant"), vault.exclusive():
            pass
        with pytest.raises(ZeroDivisionError), vault.exclusive():
            raise ZeroDivisionError
        with vault.exclusive():
            pass

    # -- workspaces ------------------------------------------------------------------------------

    def test_a_plain_folder_is_its_own_root(self, vault: Vault, tmp_path: Path) -> None:
        (tmp_path / "work/src").mkdir(parents=True)
        (tmp_path / "link").symlink_to("work/src")
        real = str((tmp_path / "work/src").resolve())
        assert vault.root_of(str(tmp_path / "work/src")) == real
        assert vault.root_of(str(tmp_path / "link")) == real
        assert vault.root_of(str(tmp_path / "work/../work/src/.")) == real

    @pytest.mark.parametrize("path", ["gone", "file", "loop", "file/x", "nul\0"], ids=ascii)
    def test_what_is_no_folder_has_no_root(self, vault: Vault, tmp_path: Path, path: str) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "loop").symlink_to("loop")
        with pytest.raises(Invalid):
            vault.root_of(f"{tmp_path}/{path}")
        with pytest.raises(Invalid):
            vault.root_of("")

    def test_a_secret_is_made_once_and_kept(self, vault: Vault) -> None:
        place = Place(HOME, "tombstones.key")
        with vault.exclusive():
            made = vault.secret(place)
            assert vault.secret(place) == made
        assert (len(made), found(vault, place)) == (32, made)

    def test_which_files_hold_a_text(self, vault: Vault, plant: Plant) -> None:
        plant(NOTE, b"tea and bread")
        plant(Place(HOME, "memory/.note.md.1-1.old.tmp~"), b"old tea")
        plant(Place(HOME, "owners/ann/note.md"), b"tea")
        plant(Place(HOME, "big.bin"), b"x" * (4 * 2**20 - 2) + b"bread and tea")
        texts = [b"tea", b"bread", b"honey"]
        assert vault.holding(Place(HOME, ""), texts, [Place(HOME, "owners")]) == {
            "memory/user/note.md": {0, 1},
            "memory/.note.md.1-1.old.tmp~": {0},
            "big.bin": {0, 1},
        }
        assert vault.holding(Place(HOME, "owners/ann"), texts) == {"owners/ann/note.md": {0}}
        assert vault.holding(Place(HOME, "nowhere"), texts) == {}
        assert vault.holding(Place(HOME, ""), texts, [NOTE, Place(HOME, "big.bin")]).keys() == {
            "memory/.note.md.1-1.old.tmp~",
            "owners/ann/note.md",
        }
