"""`memstrata forget`."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest
from tests.faults.works import traces
from tests.interfaces.command import PROGRAM, Run, environment, here

from memstrata import Memory, Unavailable
from memstrata.adapters.vault_fs import FileVault
from memstrata.pipelines.read import Record


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


@pytest.fixture
def one(home: Path) -> Record:
    """A memory with its source, and another."""
    with Memory.open(home, background=False, settings={"timezone": "UTC"}) as memory:
        said = {"role": "user", "content": "I live in Quillhaven.", "said_at": "2025-01-10"}
        memory.session("chat-1").commit([{**said, "id": "u1"}])
        memory.add(name="lamp", description="The lamp is green")
        memory.drain()
        return next(one for one in memory.list().items if one.name == "home")


@pytest.mark.promise("forget.cli")
def test_a_dry_run_and_the_thing_itself(cli: Run, home: Path, one: Record) -> None:
    planned = cli("forget", "--session", "chat-1", "--dry-run")
    assert planned.code == 0
    assert planned.out.startswith("this would be forgotten; nothing was changed\nmessages")
    assert traces(home, "quillhaven")
    ran = cli("forget", "--session", "chat-1", "--yes", "--verify")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "forgotten",
        *planned.out.splitlines()[1:],
        (
            "verified: no file holds any of the 3 texts looked for; "
            "1 texts are too short or too many to look for"
        ),
    ]
    assert "quill" not in ran.out.casefold()
    assert traces(home, "quillhaven") == []
    again = cli("forget", "--session", "chat-1", "--yes")
    assert (again.code, again.out) == (4, "")


@pytest.mark.promise("forget.cli")
@pytest.mark.promise("forget.asked")
@pytest.mark.parametrize(
    "arguments", [(), ("--session", ""), ("--entity", ""), ("",), ("--since", "")]
)
def test_nothing_is_never_everything(
    cli: Run, home: Path, one: Record, arguments: list[str]
) -> None:
    for more in (("--yes",), ("--dry-run",), ("--yes", "--json")):
        ran = cli("forget", *arguments, *more)
        assert (ran.code, ran.out) == (2, "")
    with Memory.open(home, background=False) as memory:
        assert len(memory.list().items) == 2


@pytest.mark.promise("forget.cli")
def test_without_a_terminal_it_wants_yes(cli: Run, one: Record) -> None:
    ran = cli("forget", one.id)
    assert (ran.code, ran.out) == (2, "")
    assert "--yes" in ran.err
    ran = cli("forget", one.id, "--yes", "--json")
    assert ran.json["erased"] == [one.id]
    assert ran.json["counts"]["messages"] == 1
    assert ran.json["not_reached"] == [{"why": "copies", "what": ""}]


@pytest.mark.promise("forget.cli")
@pytest.mark.parametrize("answer, left", [(b"n\n", 2), (b"y\n", 1)])
def test_at_a_terminal_it_asks(home: Path, one: Record, answer: bytes, left: int) -> None:
    master, slave = pty.openpty()
    os.write(master, answer)
    ran = subprocess.run(
        [*PROGRAM, "forget", "--entity", "Quillhaven"],
        env=environment(home),
        stdin=slave,
        capture_output=True,
        timeout=60,
        check=False,
    )
    os.close(master)
    os.close(slave)
    assert ran.returncode == 0, ran.stderr
    assert b"forget 1 messages and 1 memories for good? [y/N]" in ran.stderr
    with Memory.open(home, background=False) as memory:
        assert len(memory.list().items) == left


@pytest.mark.promise("forget.blocked")
def test_a_file_that_stays_is_a_note(
    cli: Run, one: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: FileVault, place: object) -> bool:
        raise Unavailable("read-only")

    with monkeypatch.context() as patched:
        patched.setattr(FileVault, "remove", refuse)
        ran = cli("forget", one.id, "--yes")
    assert ran.code == 0
    assert f"its file could not be removed and is tried again: {one.path} (read-only)" in ran.err


@pytest.mark.promise("cli.languages")
def test_in_chinese(cli: Run, one: Record) -> None:
    ran = cli("--lang", "zh", "forget", one.id, "--yes", "--verify")
    assert ran.out.splitlines()[0] == "已抹除"
    assert "已核实" in ran.out
