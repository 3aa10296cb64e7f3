"""The command line as a real process: answers, errors, pipes, signals, languages, terminals."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.interfaces.command import PROGRAM, Ran, Run, environment, here, memstrata

from memstrata import Memory, __version__, failpoints
from memstrata.errors import ERRORS
from memstrata.interfaces.cli import run as running
from memstrata.interfaces.cli import texts
from memstrata.interfaces.cli.chinese import CHINESE

SECRET = "sk-proj-0f9E8d7C6b5A4f3E2d1C0b9A8f7E6d5C4b3A2f1E"


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    """A file of three messages, and a line that is none."""
    rows: list[dict[str, str]] = [
        {"role": "user", "content": "I live in Gdynia.", "said_at": "2025-03-03T08:00:00Z"},
        {"role": "assistant", "content": "Nice \u001b[31mplace\u001b[0m."},
        {"role": "user", "content": "I think I prefer oat milk."},
    ]
    lines = [json.dumps({"session": "s1", "id": f"m{n}", **row}) for n, row in enumerate(rows)]
    path = tmp_path / "talks" / "talk.jsonl"
    path.parent.mkdir()
    path.write_text("\n".join([*lines, "no json"]) + "\n", "utf-8")
    return path


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


def added(cli: Callable[..., Ran], name: str, description: str, **more: str) -> str:
    """The id of a memory that was added by hand."""
    options = [part for key, value in more.items() for part in (f"--{key}", value)]
    ran = cli("add", "--name", name, "--description", description, *options, "--json")
    assert (ran.code, ran.err) == (0, "")
    return str(ran.json["id"])


# -- answers ------------------------------------------------------------------------------------------


@pytest.mark.promise("cli.lazy")
def test_version_loads_nothing_heavy(home: Path) -> None:
    assert memstrata(home, "--version").out == f"memstrata {__version__}\n"
    program = (
        "import sys; sys.argv = ['memstrata', '--version']\n"
        "from memstrata.interfaces.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print(sorted({'typer', 'rich', 'pydantic', 'apsw', 'json'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.promise("cli.lazy")
def test_help_loads_neither_settings_nor_engine(home: Path) -> None:
    program = (
        "import sys; from memstrata.interfaces.cli.run import run; run(['--help'])\n"
        "print(sorted({'rich', 'pydantic', 'apsw', 'memstrata.bootstrap'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "[]"
    assert not home.exists()


def test_two_processes_and_one_home(home: Path) -> None:
    id = added(partial(memstrata, home), "preferred drink", "Prefers green tea.")
    listed = memstrata(home, "list")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out == f"{id}  user  user  active  preferred drink: Prefers green tea.\n"


def test_a_memory_from_add_to_history(cli: Run) -> None:
    id = added(cli, "preferred drink", "Prefers green tea.", entity="Sencha", body="**Why**: taste")
    shown = cli("show", id)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("preferred drink\n")
    assert shown.out.endswith("\n\n**Why**: taste\n")
    assert f"id                    {id}\n" in shown.out
    found = cli("search", "which tea", "--json").json
    assert [hit["id"] for hit in found["hits"]] == [id]
    assert cli("history", id, "--json").json["versions"][0]["verb"] == "add"
    assert cli("trace", id).out.endswith("  no source: manual\n")
    assert "memories        active 1" in cli("status").out


def test_stdin_gives_the_body(cli: Run) -> None:
    args = ("add", "--name", "n", "--description", "d", "--body", "-", "--json")
    assert cli(*args, stdin="a\n\nb ü 茶").json["body"] == "a\n\nb ü 茶"


def test_import_extract_and_why(cli: Run, conversation: Path) -> None:
    first = cli("import", str(conversation), "--no-extract")
    assert first.code == 0
    assert (
        first.out
        == f"{conversation} (jsonl): 3 stored, 0 there already, 1 unreadable, sessions: 1\n"
    )
    assert f"note: {conversation}: line 4: is no JSON" in first.err
    assert "note: 3 messages wait for extraction" in first.err
    extracted = cli("extract")
    assert extracted.out == "extracted: 3 messages; verdicts: add 1, low_confidence 1\n"
    again = cli("import", str(conversation.parent), "--json").json
    assert [one["existing"] for one in again["files"].values()] == [3]
    assert again["extraction"]["messages"] == 0
    why = cli("why", "--verdict", "low_confidence").out
    assert "low_confidence  confidence" in why
    rows = cli("why", "--session", "s1", "--json").json["items"]
    assert [row["verdict"]["verdict"] for row in rows] == ["low_confidence", "add"]
    id = rows[1]["verdict"]["memory"]
    trace = cli("trace", id).out
    assert "  quote: 'I live in Gdynia" in trace
    assert "  message: m0  user, 2025-03-03 08:00Z, session s1\n" in trace
    assert id in cli("trace", "m0").out


def test_a_folder_with_other_things_in_it(cli: Run, conversation: Path) -> None:
    other = conversation.with_name("other.json")
    other.write_text("[1, 2]")
    ran = cli("import", str(conversation.parent))
    assert ran.code == 0
    assert ran.out.startswith(f"{conversation} (jsonl): 3 stored")
    assert f"note: path: {other} has no format that is known" in ran.err
    conversation.unlink()
    assert cli("import", str(conversation.parent)).code == 2
    other.unlink()
    assert cli("import", str(conversation.parent)).code == 2


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(gone)
        gone.rmdir()
        ran = subprocess.run(
            [*PROGRAM, "list"], env=environment(tmp_path / "home"), capture_output=True, check=False
        )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.mark.promise("cli.terminal")
def test_what_is_printed_cannot_drive_a_terminal(cli: Run, conversation: Path) -> None:
    cli("import", str(conversation))
    ran = cli("search", "nice", "--kind", "message")
    assert "Nice \ufffd[31mplace" in ran.out
    assert "\x1b" not in ran.out


def test_pages_go_on(cli: Run) -> None:
    ids = [added(cli, f"n{n}", f"number {n}") for n in range(3)]
    first = cli("list", "--limit", "2")
    assert first.err == f"note: there is more: --cursor {ids[1]}\n"
    rest = cli("list", "--limit", "2", "--cursor", ids[1], "--json")
    assert [one["id"] for one in rest.json["items"]] == ids[2:]
    assert rest.err == ""


@pytest.mark.promise("visibility.user")
def test_owners_are_apart(cli: Run) -> None:
    added(cli, "drink", "Prefers tea.", owner="ana")
    assert cli("--owner", "ben", "list").out == ""
    assert len(cli("list", "--owner", "ana").out.splitlines()) == 1
    assert cli("list", "--owner", "").code == 2


@pytest.mark.promise("cli.workspace")
def test_the_folder_you_are_in(cli: Run, tmp_path: Path) -> None:
    project = tmp_path / "tallyboat"
    (project / ".git").mkdir(parents=True)
    deep = project / "src"
    deep.mkdir()
    add = ("add", "--scope", "project", "--type", "project", "--name", "n", "--description", "d")
    refused = cli(*add, cwd=deep)
    assert (refused.code, refused.out) == (2, "")
    assert "workspace" in refused.err
    assert cli(*add, "--workspace", str(project)).code == 0
    assert len(cli("list", cwd=deep).out.splitlines()) == 1
    assert cli("list").out == ""
    assert len(cli("list", "--workspace", str(deep)).out.splitlines()) == 1
    second = cli(*add[:-4], "--name", "n2", "--description", "d2", cwd=deep)
    assert (second.code, second.err) == (0, "")


@pytest.mark.promise("visibility.agent")
def test_agents_are_apart(cli: Run) -> None:
    added(cli, "n", "d", scope="agent", agent="coder")
    assert cli("list").out == ""
    assert len(cli("list", "--agent", "coder").out.splitlines()) == 1


def test_reindex_doctor_and_config(cli: Run, home: Path) -> None:
    added(cli, "n", "d")
    before = cli("list").out
    assert cli("reindex").code == 0
    assert cli("list").out == before
    doctor = cli("doctor")
    assert doctor.code == 0
    assert {line.split()[0] for line in doctor.out.splitlines()} == {"ok"}
    (home / "config.toml").write_text("[recall]\nmax_tokens = 900\n")
    config = cli("config", "show", "--json", env={"MEMSTRATA_RECALL__LIMIT": "3"}).json
    rows = {row["key"]: (row["value"], row["origin"]) for row in config["settings"]}
    assert rows["recall.max_tokens"] == (900, str(home / "config.toml"))
    assert rows["recall.limit"] == (3, "environment MEMSTRATA_RECALL__LIMIT")
    assert rows["memory.enabled"] == (True, "default")


def test_a_fault_shows_in_the_exit_code_of_doctor(cli: Run, home: Path) -> None:
    id = added(cli, "n", "d")
    (home / "memory" / "user" / f"{id}.md").write_text("---\nid: [\n---\n")
    ran = cli("doctor", "--json")
    assert ran.code == 8
    faults = [check["name"] for check in ran.json["checks"] if not check["ok"]]
    assert faults == ["files"]


# -- errors -------------------------------------------------------------------------------------------


@pytest.mark.promise("cli.exit-codes")
def test_every_exit_code_of_a_caller(cli: Run) -> None:
    add = ("add", "--name", "n", "--description")
    assert cli(*add, "d").code == 0
    off = {"MEMSTRATA_MEMORY__ENABLED": "false"}
    runs = {
        "invalid": cli(*add, "d", "--type", "nonsense", "--json"),
        "denied": cli("search", "x", "--json", env=off),
        "not_found": cli("show", "mem_0", "--json"),
        "conflict": cli(*add, "d", "--json"),
        "refused": cli("add", "--name", "k", "--description", SECRET, "--json"),
    }
    with failpoints.armed({"vault.stage.write": "enospc"}):
        runs["unavailable"] = cli("add", "--name", "o", "--description", "d", "--json")
    codes = {error.code: error.exit_code for error in ERRORS}
    for code, ran in runs.items():
        assert (code, ran.code, ran.out) == (code, codes[code], "")
        assert ran.error["code"] == code
        assert SECRET not in ran.err
    assert runs["conflict"].error["reason"] == "ALREADY_EXISTS"
    assert cli("show", "mem_0").err == "error: no memory 'mem_0' here\n"


@pytest.mark.promise("cli.exit-codes")
def test_a_corrupt_file(cli: Run, home: Path) -> None:
    added(cli, "n", "d")
    (home / "workspaces.json").write_text("{")
    ran = cli("list", "--json")
    assert (ran.code, ran.out, ran.error["code"]) == (8, "", "corrupt")


@pytest.mark.promise("cli.one-line")
@pytest.mark.parametrize(
    "arguments, message",
    [
        (("lst",), "lst: is no command; did you mean list?"),
        (("list", "--lmit", "3"), "--lmit: is no option; did you mean --limit?"),
        (("search",), "QUERY: is missing"),
        (("config",), "memstrata config: Missing command."),
        (("list", "--limit", "0"), "limit: 0 is not between 1 and 1000"),
        (("list", "--lang", "fr"), "--lang: 'fr' is no language; use en or zh"),
        (("import", "nowhere.jsonl"), "path: nowhere.jsonl cannot be read"),
        (("why", "--verdict", "maybe"), "verdict: 'maybe' is no verdict"),
    ],
)
def test_a_wrong_command_line(
    arguments: tuple[str, ...],
    message: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MEMSTRATA_HOME", str(home))
    monkeypatch.setenv("MEMSTRATA_LANG", "en")
    assert running.run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {message}")
    assert printed.err.count("\n") == 1


def test_an_unknown_setting_is_told_with_the_nearest_name(cli: Run) -> None:
    ran = cli("status", env={"MEMSTRATA_RECALL__MAXTOKENS": "1"})
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean MEMSTRATA_RECALL__MAX_TOKENS?" in ran.err


@pytest.mark.promise("cli.one-line")
def test_a_bug_is_one_line_unless_the_traceback_is_asked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: Memory) -> Any:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(Memory, "status", broken)
    monkeypatch.setenv("MEMSTRATA_LANG", "en")
    arguments = ["--home", str(home), "status"]
    assert running.run(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "error: a bug: ZeroDivisionError: by nought (run it again with --traceback to see where)\n"
    )
    assert running.run([*arguments, "--traceback"]) == 1
    assert 'raise ZeroDivisionError("by nought")' in capsys.readouterr().err


# -- pipes, signals, terminals ------------------------------------------------------------------------


@pytest.mark.promise("cli.pipes")
def test_a_pipe_whose_reader_has_gone(cli: Run, home: Path) -> None:
    added(cli, "n", "d")
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [*PROGRAM, "list"],
        env=environment(home),
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (141, b"")


@pytest.mark.promise("cli.pipes")
def test_a_full_disk_behind_stdout(cli: Run, home: Path) -> None:
    added(cli, "n", "d")
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [*PROGRAM, "list"],
            env=environment(home),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ran.returncode == 7
    assert ran.stderr.startswith(b"error: stdout cannot be written")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.promise("cli.interrupted")
def test_ctrl_c(cli: Run, home: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "talk.jsonl"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [sys.executable, "-m", "memstrata", "import", str(fifo)],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with fifo.open("wb"):  # opens when the process reads, which then waits for us
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err == b"\ninterrupted; what was done so far is kept\n"
    assert cli("doctor").code == 0


@pytest.mark.promise("cli.pipes")
def test_an_output_that_cannot_hold_chinese(cli: Run, home: Path) -> None:
    added(cli, "饮品", "偏好绿茶")
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    assert memstrata(home, "list", "--json", env=ascii_only).json["items"][0]["name"] == "饮品"
    assert r"\u996e\u54c1" in memstrata(home, "list", env=ascii_only).out


def terminal(home: Path, *arguments: str, columns: int = 100) -> str:
    """What a terminal of `columns` shows of a run."""
    master, slave = pty.openpty()
    env = environment(home, COLUMNS=str(columns), TERM="xterm")
    ran = subprocess.Popen(
        [*PROGRAM, *arguments], env=env, stdin=slave, stdout=slave, stderr=slave, close_fds=True
    )
    os.close(slave)
    parts: list[bytes] = []
    try:
        while part := os.read(master, 65_536):
            parts.append(part)
    except OSError:  # Linux: the other side is closed
        pass
    finally:
        os.close(master)
    assert ran.wait(timeout=60) == 0
    return b"".join(parts).decode()


@pytest.mark.promise("cli.terminal")
def test_a_terminal_gets_tables(cli: Run, home: Path) -> None:
    id = added(
        partial(memstrata, home), "n", "a rather long description that has to be folded " * 4
    )
    listed = terminal(home, "list")
    assert id in listed
    assert "memory" in listed
    assert all(len(line) <= 100 for line in plain(listed).splitlines())
    assert len(plain(listed).splitlines()) > 4


def test_progress_is_shown_in_a_terminal(home: Path, conversation: Path) -> None:
    shown = terminal(home, "import", str(conversation))
    assert "importing" in shown
    assert "extracted: 3 messages" in shown


def plain(text: str) -> str:
    """`text` without what styles it."""
    import re

    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


# -- languages ----------------------------------------------------------------------------------------


@pytest.mark.promise("cli.languages")
def test_chinese(cli: Run) -> None:
    added(cli, "饮品", "偏好绿茶")
    assert "用户" in cli("list", env={"LC_ALL": "zh_CN.UTF-8"}).out
    assert "用户" in cli("--lang", "zh", "list").out
    assert "用户" in cli("list", "--lang=zh").out
    english = cli("list", "--lang", "en", env={"MEMSTRATA_LANG": "zh"})
    assert "  user  user  active  " in english.out
    error = cli("show", "mem_0", env={"MEMSTRATA_LANG": "zh"})
    assert error.err == "错误: 此处没有记忆 'mem_0'\n"
    status = cli("status", "--lang", "zh")
    assert "数据目录" in status.out


class Missed(dict[str, str]):
    """The Chinese table, noting what it was asked for in vain."""

    def __init__(self, table: Mapping[str, str]) -> None:
        super().__init__(table)
        self.asked: set[str] = set()

    def get(self, text: str, default: Any = None) -> Any:
        if text not in self:
            self.asked.add(text)
        return super().get(text, default)


@pytest.mark.promise("cli.languages")
def test_whatever_is_said_has_its_chinese(
    cli: Run, home: Path, conversation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Missed(CHINESE)
    monkeypatch.setattr(texts, "CHINESE", table)
    chinese = partial(cli, "--lang", "zh")
    workspace = ("--workspace", str(home / "demo" / "tallyboat"))
    assert chinese("demo", "--home", str(home)).code == 0
    assert chinese("import", str(conversation)).code == 0
    id = added(cli, "n", "d", type="feedback")
    for arguments in (
        ("list", *workspace),
        ("show", id),
        ("trace", id),
        ("history", id),
        ("why",),
        ("search", "tea", *workspace),
        ("status",),
        ("doctor",),
        ("config", "show"),
        ("reindex",),
        ("extract",),
        ("show", "mem_0"),
        ("trace", "mem_0"),
        ("add", "--name", "k", "--description", SECRET),
    ):
        assert chinese(*arguments).code in (0, 4, 6)
    assert table.asked == set()


@pytest.mark.promise("vectors.meaning")
def test_a_search_makes_the_few_vectors_that_lack(cli: Run) -> None:
    env = {"MEMSTRATA_EMBEDDING__MODEL": ""}
    cli("add", "--name", "diet", "--description", "Does not eat meat", env=env)
    cli("add", "--name", "home", "--description", "Lives in Tarnow since May", env=env)
    ran = cli("search", "is she a vegetarian", "--json", env=env)
    (first, *_) = ran.json["hits"]
    assert (first["name"], first["lanes"], ran.json["degraded"]) == ("diet", ["vectors"], [])
    assert ran.err == ""


def test_a_token_in_the_environment_is_for_another_server(cli: Run, home: Path) -> None:
    ran = cli("panel", "--token", "ms_x")
    assert (ran.code, "--url" in ran.err) == (2, True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        ran = memstrata(home, "panel", "--port", port, env={"MEMSTRATA_TOKEN": "ms_x"})
    assert (ran.code, f"127.0.0.1:{port}" in ran.err) == (7, True), "the home's own panel was begun"
