"""`memstrata edit`, `archive`, `restore`, `rm`, `history --diff`."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest
from tests.interfaces.command import PROGRAM, Run, environment, here

from memstrata import Memory, Unavailable
from memstrata.adapters.vault_fs import FileVault
from memstrata.domain.layout import Place
from memstrata.pipelines.read import Record


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


@pytest.fixture
def one(home: Path) -> Record:
    """A memory."""
    with Memory.open(home, background=False) as memory:
        return memory.add(name="lamp", description="The lamp is green", body="In the hall.")


def held(home: Path, one: Record) -> Record:
    with Memory.open(home, background=False) as memory:
        return memory.get(one.id)


@pytest.mark.promise("life.cli")
def test_each_field_is_edited(cli: Run, home: Path, one: Record) -> None:
    ran = cli("edit", one.id, "--description", "The lamp is blue", "--valid-until", "2030-01-31")
    assert (ran.code, ran.out, ran.err) == (
        0,
        f"{one.id}  lamp: The lamp is blue (active, version 2)\n",
        "",
    )
    given = ("--name", "light", "--type", "reference", "--priority", "5", "--confidence", "0.5")
    more = ("--entity", "Hall", "--entity", "Door", "--happened-from", "2020-01-01")
    ran = cli("edit", one.id, *given, *more, "--body", "-", stdin="Upstairs.\n", env={})
    assert ran.code == 0
    found = held(home, one)
    assert (found.name, found.type, found.priority) == ("light", "reference", 5)
    assert (found.confidence, found.entities, found.body) == (0.5, ("Hall", "Door"), "Upstairs.")
    ran = cli("edit", one.id, "--valid-until", "", "--entity", "", "--body", "", "--json")
    assert (ran.json["valid_until"], ran.json["entities"], ran.json["body"]) == (None, [], "")
    assert ran.json["version"] == 4
    assert cli("edit", one.id).code == 2


@pytest.mark.promise("life.cli")
@pytest.mark.promise("life.cas")
def test_a_stale_edit_tells_both_texts(cli: Run, one: Record) -> None:
    cli("edit", one.id, "--description", "blue")
    given = ("edit", one.id, "--expected-version", "1", "--description", "red")
    ran = cli(*given)
    assert (ran.code, ran.out) == (5, "")
    assert ran.err.count("\n") == 1
    assert "at version 2, the edit was made on 1; not saved" in ran.err
    error = cli(*given, "--json").error
    assert (error["reason"], error["base"], error["current"]) == ("VERSION_CONFLICT", 1, 2)
    assert "green" in error["base_text"]
    assert "blue" in error["current_text"]


@pytest.fixture
def editor(tmp_path: Path) -> dict[str, str]:
    """An editor that does what $DOES says to the file."""
    path = tmp_path / "editor"
    path.write_text('#!/bin/sh\neval "$DOES"\n')
    path.chmod(0o755)
    return {"EDITOR": str(path), "VISUAL": ""}


@pytest.mark.promise("life.cli")
def test_an_editor_changes_the_markdown(
    cli: Run, home: Path, one: Record, editor: dict[str, str]
) -> None:
    does = {"DOES": 'sed -i "s/green/blue/; s/In the hall/Upstairs/" "$1"'}
    ran = cli("edit", one.id, "--editor", env={**editor, **does})
    assert (ran.code, ran.err) == (0, "")
    found = held(home, one)
    assert (found.description, found.body, found.version) == ("The lamp is blue", "Upstairs.", 2)
    ran = cli("edit", one.id, "--editor", env={**editor, "DOES": "true"})
    assert (ran.code, ran.out) == (0, "nothing changed\n")
    assert held(home, one).version == 2


@pytest.mark.promise("life.cli")
@pytest.mark.parametrize(
    "does, code",
    [
        ('sed -i "s/^type: .*/type: mood/" "$1"', 2),
        ('echo "no fields" > "$1"', 2),
        ('echo "id: mem_2" | sed -i "1r /dev/stdin" "$1"', 2),
        ("exit 3", 2),
        ("sed -i s/green/AKIAIOSFODNN7EXAMPLQ/ $1", 6),
    ],
)
def test_what_the_editor_left_and_is_not_saved_is_kept(
    cli: Run, home: Path, one: Record, editor: dict[str, str], does: str, code: int
) -> None:
    ran = cli("edit", one.id, "--editor", env={**editor, "DOES": does})
    assert ran.code == code, ran.err
    (kept,) = [line for line in ran.err.splitlines() if "your text is kept in" in line]
    path = Path(kept.rpartition(" ")[2])
    assert path.is_file()
    path.unlink()
    assert held(home, one) == one


def test_an_editor_takes_no_fields_beside(cli: Run, one: Record) -> None:
    ran = cli("edit", one.id, "--editor", "--name", "x")
    assert ran.code == 2
    assert "--editor" in ran.err


@pytest.mark.promise("life.cli")
def test_aside_and_back(cli: Run, one: Record) -> None:
    assert (
        cli("archive", one.id).out == f"{one.id}  lamp: The lamp is green (archived, version 2)\n"
    )
    assert cli("search", "lamp", "--json").json["hits"] == []
    cli("restore", one.id)
    cli("edit", one.id, "--description", "The lamp is blue")
    ran = cli("restore", one.id, "--version", "1")
    assert ran.out == f"{one.id}  lamp: The lamp is green (active, version 5)\n"
    assert cli("restore", one.id, "--version", "9").code == 4
    ran = cli("archive", one.id, "--lang", "zh")
    assert "归档" in ran.out


@pytest.mark.promise("life.cli")
@pytest.mark.promise("life.history")
def test_two_versions_side_by_side(cli: Run, one: Record) -> None:
    cli("edit", one.id, "--description", "The lamp is blue")
    ran = cli("history", one.id, "--diff", "1", "2")
    assert "-description: The lamp is green\n+description: The lamp is blue\n" in ran.out
    assert cli("history", one.id, "--diff", "2", "1", "--json").json["diff"].startswith("--- ver")
    assert cli("history", one.id, "--diff", "1", "1").out == ""
    assert cli("history", one.id, "--diff", "1", "7").code == 4
    assert cli("history", one.id, "--diff", "1").code == 2
    cli("rm", one.id, "--yes")
    assert "deleted" in cli("history", one.id).out
    assert "删除" in cli("history", one.id, "--lang", "zh").out


@pytest.mark.promise("life.cli")
def test_nothing_is_deleted_without_a_yes(cli: Run, home: Path, one: Record) -> None:
    for arguments in (("rm", one.id), ("rm", one.id, "--json")):
        ran = cli(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert "--yes" in ran.err
    assert held(home, one) == one
    ran = cli("rm", one.id, "--yes")
    assert (ran.code, ran.out, ran.err) == (0, f"deleted: {one.id}  lamp: The lamp is green\n", "")
    assert cli("rm", one.id, "--yes").code == 4


@pytest.mark.promise("life.cli")
@pytest.mark.parametrize(
    "answer, gone", [("y\n", True), ("是\n", True), ("\n", False), ("no\n", False)]
)
def test_it_asks_in_a_terminal(home: Path, one: Record, answer: str, gone: bool) -> None:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, "rm", one.id],
        env=environment(home, TERM="dumb"),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as ran:
        os.close(slave)
        os.write(master, answer.encode())
        out, err = ran.communicate(timeout=60)
    os.close(master)
    assert b"[y/N]" in err
    assert ran.returncode == 0
    assert (b"nothing was deleted" in out) is not gone
    with Memory.open(home, background=False) as memory:
        assert bool(memory.list().items) is not gone


@pytest.mark.promise("life.blocked")
def test_a_file_that_stays_is_told(cli: Run, one: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(vault: FileVault, place: Place) -> bool:
        raise Unavailable(f"{place}: read-only file system")

    with monkeypatch.context() as patched:
        patched.setattr(FileVault, "remove", refuse)
        ran = cli("rm", one.id, "--yes")
        assert ran.code == 0
        assert "note: its file could not be removed and is tried again" in ran.err
        assert "read-only" in ran.err
        ran = cli("doctor")
        assert "FAULT" in ran.out
        assert f"{one.path}: blocked_locally: {one.id} was deleted" in ran.out
        assert cli("list", "--json").json["items"] == []
        assert cli("status", "--json").json["problems"]
    assert "FAULT" not in cli("doctor").out
