"""`memstrata team …`: a file, stdin or an editor goes in; what stays, clashes or is refused is told."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from tests.interfaces.command import PROGRAM, Run, environment, here, memstrata

from memstrata import Memory

MILL = "- 2026-03-01: The mill stands on the hill"
RIVER = "- 2026-03-02: The river flows north"
BRIDGE = "- 2026-03-03: The bridge closes at dusk"
DOCUMENT = f"## Project Facts\n{MILL}\n{RIVER}\n{BRIDGE}"
KEY = "AKIAIOSFODNN7EXAMPLQ"


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace's folder."""
    (tmp_path / "town").mkdir()
    return tmp_path / "town"


def kept(home: Path, place: Path) -> str:
    """The document as it is stored."""
    with Memory.open(home, background=False) as memory:
        return memory.team(place).read().memory_md


@pytest.mark.promise("team.cli")
def test_a_file_goes_in_and_the_document_comes_out(cli: Run, place: Path, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text(f"Here it is:\n\n{DOCUMENT}\n")
    saved = cli("team", "edit", str(tmp_path / "new.md"), "--workspace", str(place))
    assert (saved.code, saved.out) == (0, "saved: revision 1\n")
    assert "note: Text before the first heading was left out: Here it is:" in saved.err
    shown = cli("team", "show", cwd=place)
    assert (shown.code, shown.out) == (0, f"{DOCUMENT}\n")
    assert shown.err == f"note: revision 1, {len(DOCUMENT)} of 25000 characters\n"
    assert cli("team", "show", "--json", cwd=place).json == {
        "memory_md": DOCUMENT,
        "rev": 1,
        "limits": {"soft": 18_000, "hard": 25_000},
        "problem": "",
    }


@pytest.mark.promise("team.cli")
@pytest.mark.parametrize("text", ["# Our team\n- rule one\n", "We deploy on Tuesdays.\n"])
def test_a_person_s_few_words_are_not_taken_for_nothing(cli: Run, text: str) -> None:
    ran = cli("team", "edit", "--private", "-", stdin=text)
    assert ran.code == 2
    assert "##" in ran.err
    for nothing in ("", "NO_UPDATE", " no change. "):
        assert cli("team", "edit", "--private", "-", stdin=nothing).code == 0


@pytest.mark.promise("team.cli")
@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_stdin_goes_in(cli: Run, arguments: tuple[str, ...]) -> None:
    found = cli("team", "edit", *arguments, "--private", "--json", stdin=f"## Facts\n{MILL}\n")
    assert found.code == 0
    assert found.json["status"] == "saved"
    assert set(found.json) == {
        "status",
        "message",
        "memory_md",
        "rev",
        "reason",
        "warnings",
        "diff_warnings",
        "format_warnings",
        "retained",
        "conflicts",
        "notice",
    }
    assert cli("team", "show", "--private").out == f"## Facts\n{MILL}\n"
    nothing = cli("team", "edit", "--private", stdin="NO_UPDATE")
    assert (nothing.code, nothing.out) == (0, "nothing to save: revision 1\n")


@pytest.mark.promise("team.cli")
def test_what_stays_and_what_clashes_is_told(cli: Run, home: Path, place: Path) -> None:
    at = ("--workspace", str(place))
    cli("team", "edit", *at, stdin=DOCUMENT)
    cli(
        "team", "edit", *at, "--base-rev", "1", stdin=DOCUMENT.replace("on the hill", "on the rock")
    )
    clash = cli(
        "team", "edit", *at, "--base-rev", "1", stdin=DOCUMENT.replace("on the hill", "on the moor")
    )
    assert clash.code == 0
    assert "both stay (Project Facts): - 2026-03-01: The mill stands on the rock | " in clash.err
    assert "- undated" in cli("team", "edit", *at, stdin=f"{DOCUMENT}\n- undated").err
    left_out = cli("team", "edit", *at, stdin=f"## Project Facts\n{MILL}")
    assert f"note: left out, and kept all the same: {BRIDGE}" in left_out.err
    rev = str(len(cli("team", "history", *at).out.splitlines()))
    cli(
        "team",
        "edit",
        *at,
        "--base-rev",
        rev,
        "--allow-deletions",
        stdin=f"## Project Facts\n{RIVER}",
    )
    assert kept(home, place) == f"## Project Facts\n{RIVER}"


@pytest.mark.promise("team.cli")
@pytest.mark.parametrize(
    "text, code, told",
    [
        ("The mill stands on the hill, and that is all there is.", 2, "at least one ## heading"),
        (f"## Preferences\n{MILL}", 2, "personal headings"),
        (f"## Project Facts\n- 2026-03-01: The key is {KEY}", 6, "sensitive"),
        ("## Project Facts\n" + "\n".join(f"{MILL} {n}" for n in range(600)), 2, "By section"),
    ],
)
def test_what_is_refused_has_its_exit_code(
    cli: Run, place: Path, text: str, code: int, told: str
) -> None:
    at = ("team", "edit", "--workspace", str(place))
    refused = cli(*at, stdin=text)
    assert (refused.code, refused.out) == (code, "")
    assert refused.err.startswith("error: ")
    assert told in refused.err
    assert KEY not in refused.err
    as_json = cli(*at, "--json", stdin=text)
    assert (as_json.code, as_json.json["status"], as_json.json["rev"]) == (code, "error", 0)


@pytest.mark.promise("team.cli")
def test_history_diff_undo_and_reset(cli: Run, place: Path) -> None:
    at = ("--workspace", str(place))
    cli("team", "edit", *at, stdin=f"## Project Facts\n{MILL}")
    cli("team", "edit", *at, "--owner", "mira", stdin=f"## Project Facts\n{MILL}\n{RIVER}")
    rows = [row.split() for row in cli("team", "history", *at).out.splitlines()]
    assert [(row[0], *row[3:]) for row in rows] == [
        ("1", "save", "local", "cli", str(len(MILL) + 17)),
        ("2", "save", "mira", "cli", str(len(MILL) + len(RIVER) + 18)),
    ]
    assert cli("team", "diff", "1", *at).out.endswith(f"+{RIVER}\n")
    assert cli("team", "diff", "2", "2", *at).out == ""
    assert cli("team", "show", "--rev", "1", *at).out == f"## Project Facts\n{MILL}\n"
    assert cli("team", "undo", *at).out == "saved: revision 3\n"
    assert cli("team", "undo", *at).code == 2
    assert cli("team", "undo", "--to", "2", *at).out == "saved: revision 4\n"
    assert cli("team", "undo", "--to", "9", *at).code == 4
    assert cli("team", "reset", *at).code == 2
    assert cli("team", "reset", "--yes", *at).out == "saved: revision 5\n"
    assert cli("team", "show", *at).out == ""
    assert cli("team", "undo", *at).code == 0
    last = cli("team", "history", *at, "--json").json["revisions"][-1]
    assert (last["rev"], last["verb"], last["restored"]) == (6, "restore", 4)


def test_neither_a_project_nor_private(cli: Run, tmp_path: Path) -> None:
    found = cli("team", "show")
    assert found.code == 2
    assert "--workspace" in found.err
    assert "--private" in found.err
    missing = cli("team", "edit", str(tmp_path / "none.md"), "--private")
    assert missing.code == 2
    assert "none.md" in missing.err


def test_in_chinese(cli: Run) -> None:
    ran = cli("team", "edit", "--private", "--lang", "zh", stdin=f"## Facts\n{MILL}")
    assert ran.out == "已保存：修订版 1\n"
    assert "修订版 1" in cli("team", "show", "--private", "--lang", "zh").err


@pytest.fixture
def viewed(home: Path, place: Path) -> Path:
    """The folder of a document of which `sam` is a viewer."""
    with Memory.open(home, background=False) as memory:
        memory.team(place).save(DOCUMENT)
    (folder,) = home.glob("team/*")
    (folder / "roles.toml").write_text('local = "owner"\nsam = "viewer"\n')
    return folder


@pytest.mark.promise("team.roles")
@pytest.mark.parametrize(
    "arguments",
    [("edit", "-"), ("undo",), ("undo", "--to", "1"), ("reset", "--yes")],
    ids=" ".join,
)
def test_a_viewer_is_refused(
    cli: Run, home: Path, place: Path, viewed: Path, arguments: tuple[str, ...]
) -> None:
    at = ("--workspace", str(place), "--owner", "sam")
    ran = cli("team", *arguments, *at, stdin=f"## Project Facts\n{MILL}")
    assert (ran.code, ran.out) == (3, "")
    assert "viewer" in ran.err
    assert kept(home, place) == DOCUMENT == cli("team", "show", *at).out.strip()
    assert len((viewed / "revisions.jsonl").read_text().splitlines()) == 1


@pytest.mark.promise("team.roles")
def test_a_viewer_is_refused_in_a_process_of_its_own(home: Path, place: Path, viewed: Path) -> None:
    at = ("--workspace", str(place), "--owner", "sam", "--json")
    ran = memstrata(home, "team", "edit", *at, stdin=f"## Project Facts\n{MILL}")
    assert (ran.code, ran.out, ran.error["code"]) == (3, "", "denied")
    assert kept(home, place) == DOCUMENT


# -- the editor -----------------------------------------------------------------------------------


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """An editor that replaces what it is given by what stands in `typed`, and keeps what it was given."""
    script = tmp_path / "my editor.py"
    script.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\n"
        "here, file = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[-1])\n"
        "(here / 'given').write_text(file.read_text())\n"
        "(here / 'name').write_text(str(file))\n"
        "if (here / 'typed').exists():\n    file.write_text((here / 'typed').read_text())\n"
        "sys.exit(int((here / 'code').read_text()) if (here / 'code').exists() else 0)\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


class Terminal(StringIO):
    """A stdin that a person sits at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def at_terminal(cli: Run, editor: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`memstrata` with a person at stdin."""

    def call(*arguments: str, **given: object) -> object:
        monkeypatch.setattr("tests.interfaces.command.StringIO", Terminal)
        return cli(*arguments, env={"EDITOR": f"'{editor}' --wait", "VISUAL": ""}, **given)  # type: ignore[arg-type]

    return call  # type: ignore[return-value]


@pytest.mark.promise("team.cli")
def test_in_an_editor_what_is_deleted_is_deleted(
    at_terminal: Run, tmp_path: Path, place: Path, home: Path
) -> None:
    at = ("team", "edit", "--workspace", str(place))
    (tmp_path / "typed").write_text(f"{DOCUMENT}\n")
    assert at_terminal(*at).out == "saved: revision 1\n"
    assert (tmp_path / "given").read_text() == ""
    (tmp_path / "typed").write_text(f"## Project Facts\n{RIVER}\n")
    assert at_terminal(*at).out == "saved: revision 2\n"
    assert (tmp_path / "given").read_text() == f"{DOCUMENT}\n"
    assert kept(home, place) == f"## Project Facts\n{RIVER}"
    (tmp_path / "typed").unlink()
    assert at_terminal(*at).out == "nothing changed\n"
    assert not Path((tmp_path / "name").read_text()).exists()


@pytest.mark.promise("team.cli")
@pytest.mark.parametrize("json_too", [(), ("--json",)])
@pytest.mark.parametrize(
    "typed, code, told",
    [
        (f"## Preferences\n{MILL}", "0", "personal headings"),
        (DOCUMENT, "3", "ended with 3"),
    ],
)
def test_what_is_not_saved_is_kept_in_a_file(
    at_terminal: Run,
    tmp_path: Path,
    place: Path,
    typed: str,
    code: str,
    told: str,
    json_too: tuple[str],
) -> None:
    (tmp_path / "typed").write_text(typed)
    (tmp_path / "code").write_text(code)
    ran = at_terminal("team", "edit", "--workspace", str(place), *json_too)
    assert ran.code == 2
    left = Path((tmp_path / "name").read_text())
    assert f"your text is kept in {left}" in ran.err
    assert told in ran.err + ran.out
    assert left.read_text() == typed
    assert left.stat().st_mode & 0o077 == 0
    left.unlink()


def test_an_editor_that_is_not_there(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.interfaces.command.StringIO", Terminal)
    for name in ("/nowhere/ed", "'"):
        ran = cli("team", "edit", "--private", env={"EDITOR": "vi", "VISUAL": name})
        assert ran.code == 2
        assert "cannot be run" in ran.err
        Path(ran.err.splitlines()[0].rpartition(" ")[2]).unlink()


@pytest.mark.promise("team.cli")
def test_a_real_process_at_a_real_terminal(home: Path, editor: Path, tmp_path: Path) -> None:
    (tmp_path / "typed").write_text(f"## Facts\n{MILL}\n")
    master, slave = pty.openpty()
    ran = subprocess.Popen(
        [*PROGRAM, "team", "edit", "--private", "--json"],
        env=environment(home, VISUAL=f"'{editor}'", MEMSTRATA_EMBEDDING__MODEL="none"),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(slave)
    out, err = ran.communicate(timeout=60)
    os.close(master)
    assert (ran.returncode, err) == (0, b"")
    assert json.loads(out)["memory_md"] == f"## Facts\n{MILL}"
