"""`--json`: one document on stdout and nothing else, from every command; progress goes to stderr."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from tests.bench.conftest import locomo, trajectory
from tests.interfaces.command import PROGRAM, Run, environment, here

from memstrata import Memory
from memstrata.interfaces.cli import app, reference


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    """A file of two messages, and a line that is none."""
    path = tmp_path / "talk.jsonl"
    path.write_text(
        '{"role": "user", "id": "m1", "content": "I live in Gdynia."}\n'
        "no json\n"
        '{"role": "user", "id": "m2", "content": "I think I prefer oat milk."}\n'
    )
    return path


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A conversation with questions and their evidence."""
    path = tmp_path / "asked.json"
    path.write_text(json.dumps(locomo()))
    return path


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """A private document."""
    path = tmp_path / "document.md"
    path.write_text("## Facts\n- 2026-02-03: Keeps bees\n")
    return path


def waiting(home: Path) -> list[tuple[str, str]]:
    """Two general rules that somebody wrote by hand and that wait: id and digest of each."""
    folder = home / "candidates" / "user"
    folder.mkdir(parents=True)
    for name in ("cand_one", "cand_two"):
        (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: Be brief\n---\n")
    with Memory.open(home, background=False) as memory:
        return [(one.id, one.digest) for one in memory.candidates()]


@pytest.fixture
def portrait(tmp_path: Path) -> Path:
    """A persona."""
    path = tmp_path / "portrait.md"
    path.write_text("## Base facts\n- Keeps bees\n")
    return path


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A recorded run of an agent."""
    path = tmp_path / "baker.traj.json"
    path.write_text(json.dumps(trajectory(6)))
    return path


def archived(home: Path) -> None:
    """An agent's session with a result."""
    with Memory.open(home, background=False) as memory:
        memory.offload("bake").record("call_1", "look", "{}", "the oven is warm")


def commands() -> set[str]:
    """The words of every command there is."""
    root = typer.main.get_command(app.build())
    return {path.removeprefix(f"{app.NAME} ") for path, _ in reference.leaves(root, app.NAME)}


@pytest.mark.usefixtures("_layers")
@pytest.mark.promise("cli.json")
def test_every_command_answers_with_one_document(
    cli: Run,
    home: Path,
    conversation: Path,
    asked: Path,
    document: Path,
    portrait: Path,
    runs: Path,
) -> None:
    added = cli("add", "--name", "n", "--description", "d", "--json")
    id = added.json["id"]
    (candidate, digest), (other, _) = waiting(home)
    broken = cli("add", "--name", "b", "--description", "b", "--json").json["id"]
    folder = document.parent / "project"
    folder.mkdir()
    archived(home)
    ran_by = {"add": added}
    given = {
        "demo": (),
        "import": (str(conversation),),
        "search": ("Gdynia",),
        "list": (),
        "show": (id,),
        "trace": (id,),
        "history": (id,),
        "why": (),
        "extract": (),
        "reindex": (),
        "vectors rebuild": (),
        "status": (),
        "doctor": (),
        "config show": (),
        "config set": ("recall.limit", "7"),
        "config unset": ("recall.limit",),
        "worker": ("--idle-exit", "0"),
        "team edit": ("--private", str(document)),
        "team show": ("--private",),
        "team reset": ("--private", "--yes"),
        "team undo": ("--private",),
        "team history": ("--private",),
        "team diff": ("--private", "0"),
        "scenes run": (),
        "scenes list": (),
        "scenes versions": (),
        "persona run": (),
        "persona show": (),
        "persona edit": (str(portrait),),
        "persona lock": ("1",),
        "persona unlock": ("1",),
        "persona versions": (),
        "persona restore": (),
        "config test": (),
        "bench retrieval": ("--data", str(asked)),
        "bench offload": ("--data", str(runs), "--window", "1000"),
        "tasks": (),
        "recall-result": ("call_1",),
        "edit": (id, "--description", "e"),
        "entities list": (),
        "entities alias": ("web", "--of", "front"),
        "entities unalias": ("web",),
        "workspace bind": (str(folder),),
        "workspace list": (),
        "trust": (str(folder),),
        "workspace unbind": (str(folder),),
        "archive": (id,),
        "restore": (id,),
        "rm": (id, "--yes"),
        "consolidate": ("--dry-run",),
        "candidates list": (),
        "candidates show": (candidate,),
        "candidates confirm": (candidate, "--digest", digest),
        "candidates reject": (other,),
        "forget": (id, "--yes", "--verify"),
        "resolve": (broken, "--ours"),
        "log": (),
        "token create": (),
        "token list": (),
    }
    codes = {"config test": 7}  # no model is set
    absent = {"scenes show": ("none",), "scenes restore": ("--version", "none")}
    assert {command: cli(*command.split(), *given).code for command, given in absent.items()} == {
        "scenes show": 4,
        "scenes restore": 4,
    }
    bundled = {"MEMSTRATA_EMBEDDING__MODEL": ""}
    conflict = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
    for command, arguments in given.items():
        if command == "resolve":
            (home / "memory/user" / f"{broken}.md").write_text(conflict)
        env = bundled if command == "vectors rebuild" else {}
        ran_by[command] = cli(*command.split(), *arguments, "--json", env=env)
    token = ran_by["token create"].json["token"]["id"]
    ran_by["token revoke"] = cli("token", "revoke", token, "--json")
    # A server answers when it has ended, and stdout of mcp is the protocol's: they have tests of their own.
    assert {*ran_by, *absent, "serve", "panel", "mcp"} == commands()
    for command, ran in ran_by.items():
        assert ran.code == codes.get(command, 0), (command, ran.err)
        assert isinstance(json.loads(ran.out), dict), command
        assert ran.out.endswith("}\n"), command
        warned = "file.unreadable" if command == "resolve" else ""
        assert warned in ran.err, command
        assert bool(ran.err) == bool(warned), command


@pytest.mark.promise("cli.json")
@pytest.mark.parametrize(
    "arguments, code", [(("show", "mem_none"), 4), (("list", "--limit", "0"), 2), (("lst",), 2)]
)
def test_an_error_is_one_document_on_stderr(
    cli: Run, arguments: tuple[str, ...], code: int
) -> None:
    ran = cli(*arguments, "--json")
    assert (ran.code, ran.out) == (code, "")
    assert set(json.loads(ran.err)) == {"error"}


def _read_all(terminal: int) -> bytes:
    """What is written to a terminal until the other side closes it."""
    found = b""
    with suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as file:
        while part := file.read(65_536):
            found += part
    return found


@pytest.mark.promise("cli.json")
def test_progress_goes_to_stderr(home: Path, conversation: Path) -> None:
    """Stderr is a terminal here, so there are bars; stdout is a pipe and stays clean."""
    master, slave = pty.openpty()
    ran = subprocess.Popen(
        [*PROGRAM, "import", str(conversation), "--json"],
        env=environment(home, TERM="xterm", COLUMNS="80"),
        stdout=subprocess.PIPE,
        stderr=slave,
    )
    os.close(slave)
    shown = _read_all(master)  # a terminal that nobody reads would stop it
    out, _ = ran.communicate(timeout=60)
    assert ran.returncode == 0
    (found,) = json.loads(out)["files"].values()
    assert found["stored"] == 2
    assert b"importing" in shown
