"""The help pages as golden texts, in both languages. `GOLDEN=write pytest …` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer

from memstrata.errors import ERRORS
from memstrata.interfaces.cli import app, pages, reference, run
from memstrata.interfaces.cli.out import width

GOLDEN = Path(__file__).parents[1] / "golden"


def paths() -> list[list[str]]:
    """The words of every page: the root, groups, commands."""
    command = typer.main.get_command(app.build())
    leaves = [path.split()[1:] for path, _ in reference.leaves(command, app.NAME)]
    groups = [path[:end] for path in leaves for end in range(1, len(path))]
    return [[], *groups, *leaves]


def printed(language: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Every help page in `language`."""
    for path in paths():
        assert run.run(["--lang", language, *path, "--help"]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    return found.out


@pytest.mark.promise("cli.docs")
@pytest.mark.promise("cli.languages")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(language, capsys)
    golden = GOLDEN / f"help-{language}.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(found, "utf-8")
    assert found == golden.read_text("utf-8")
    assert [line for line in found.splitlines() if width(line) > 100] == []


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.run([]) == 0
    bare = capsys.readouterr().out
    assert run.run(["-h"]) == 0
    assert bare == capsys.readouterr().out


@pytest.mark.promise("cli.exit-codes")
def test_every_exit_code_of_the_table_is_told() -> None:
    told = {int(code) for code, _ in pages.exit_codes()}
    assert told == {0, 130, 141, *(error.exit_code for error in ERRORS)}
    assert set(pages.MEANINGS) == {error.code for error in ERRORS}
