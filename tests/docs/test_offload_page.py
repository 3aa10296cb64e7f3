"""The page about the offload: its code runs, and its table of scores is what the summarisers give."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.domain import test_summarise as results

from memstrata.domain.canvas import STATUSES, parse, render
from memstrata.domain.summarise import summarise

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "offload.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.promise("docs.true")
def test_its_code_runs(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMSTRATA_")}
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[0]],
        cwd=tmp_path,
        env={**kept, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "value_77 = 77" in done.stdout
    assert "mild" in done.stdout


@pytest.mark.promise("docs.true")
def test_its_graph_is_one() -> None:
    (text,) = [block for block in blocks("text") if "flowchart" in block]
    shown = text.removesuffix("\n")
    assert render(parse(shown)) == shown
    assert all(f"| `{status}` |" in PAGE for status in STATUSES)


@pytest.mark.promise("docs.true")
@pytest.mark.parametrize(
    "row, result",
    [
        ("| tests ", results.PYTEST),
        ("| traceback ", results.TRACEBACK),
        ("| a directory ", results.LS),
        ("| a search ", results.GREP),
        ("| findings ", results.MYPY),
        ("| a diff ", results.DIFF),
        ("| JSON, HTTP ", results.FLIGHTS),
        ("| a table ", results.PSQL),
        ("| a file ", results.SOURCE),
        ("| anything else ", results.PROSE),
        ("| nothing, ", ""),
    ],
)
def test_its_scores_are_given(row: str, result: str) -> None:
    (line,) = [line for line in PAGE.splitlines() if line.startswith(row)]
    told = [int(number) for number in re.findall(r"\d+", line.split("|")[3])]
    given = summarise("look", {"at": "x"}, result).score
    assert given in told or (" to " in line.split("|")[3] and told[0] <= given <= told[-1])
