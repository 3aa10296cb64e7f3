"""The demo: the conversation that ships meets every gate; a file of one's own works as well."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memstrata import Memory
from memstrata.domain.gates import GATES
from memstrata.domain.memory import TYPES
from memstrata.interfaces.cli import demo, run, tour
from memstrata.interfaces.cli.out import width

SHIPPED = Path(demo.__file__).with_name("demo.jsonl")
ROWS: list[dict[str, str]] = [json.loads(line) for line in SHIPPED.read_text("utf-8").splitlines()]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary folder of the test's own for the demo's, and English."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("MEMSTRATA_HOME", str(tmp_path / "never-made"))
    monkeypatch.setenv("MEMSTRATA_LANG", "en")


def toured(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The demo's document."""
    assert run.run(["demo", *arguments, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)["tour"]


def test_the_shipped_conversation_is_both_languages_over_months() -> None:
    user = [row for row in ROWS if row["role"] == "user"]
    assert len(user) == 40
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    chinese = [row for row in user if re.search("[\u4e00-\u9fff]", row["content"])]
    assert 10 <= len(chinese) <= 30
    months = {row["said_at"][:7] for row in ROWS}
    assert len(months) >= 5
    assert [row["said_at"] for row in ROWS] == sorted(row["said_at"] for row in ROWS)


@pytest.mark.promise("demo.tells")
def test_what_the_demo_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = toured(capsys)
    kept = [one["record"] for one in found["kept"]]
    assert len(kept) >= 12
    assert {one["type"] for one in kept} == set(TYPES)
    assert {one["scope"] for one in kept} == {"user", "project"}
    assert [gate["name"] for gate in found["gates"]] == list(GATES)
    assert all(gate["count"] >= 1 for gate in found["gates"])
    assert all(one["said"] for gate in found["gates"] for one in gate["examples"])
    assert sum(len(one["superseded"]) for one in found["kept"]) >= 3
    secret = re.search(r"sk-[\w-]+", SHIPPED.read_text("utf-8"))
    assert secret is not None
    assert secret[0] not in json.dumps(found)
    assert [text for text in found["masked"] if "[secret:" in text]
    assert len(found["asked"]) == 3
    for asked in found["asked"]:
        assert 0 < asked["context"]["tokens"] <= demo.BUDGET
        assert asked["context"]["turn"]
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "never-made").exists()


@pytest.mark.promise("demo.tells")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_how_it_reads(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.run(["demo", "--lang", language]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert [line for line in lines if width(line) > 100 or line != line.rstrip()] == []
    assert len(lines) <= 130
    assert ("Kept: " in printed.out) is (language == "en")
    assert ("保留：" in printed.out) is (language == "zh")


def test_a_home_that_is_given_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "kept"
    found = toured(capsys, "--home", str(home))
    assert found["home"] == str(home)
    again = toured(capsys, "--home", str(home))
    assert again["kept"] == []
    with Memory.open(home, background=False) as memory:
        workspace = home / "demo" / "tallyboat"
        ids = {one.id for one in memory.list(workspace=workspace, status="active").items}
        assert memory.doctor()[0].ok
    shown = {one["record"]["id"] for one in found["kept"] if one["record"]["status"] == "active"}
    assert shown == ids


def test_a_file_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.jsonl"
    said = ["I live in Gdynia.", "Where is the harbour?", "I prefer green tea.", "And the station?"]
    rows = [{"role": "user", "content": one, "said_at": "2025-01-02T03:04:05Z"} for one in said]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    found = toured(capsys, str(file))
    assert found["file"] == str(file)
    assert (found["messages"], found["sessions"], found["settings"]) == (4, 1, {})
    assert [asked["question"] for asked in found["asked"]][:2] == [said[1], said[3]]
    assert len(found["asked"]) == 3
    assert {one["record"]["scope"] for one in found["kept"]} == {"user"}


def test_the_snippet_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(tour.SNIPPET, "snippet", "exec"), {})  # noqa: S102 -- our own text, shown to people
    assert "green tea" in capsys.readouterr().out
    assert (tmp_path / "never-made").is_dir()


def test_shortened() -> None:
    assert tour.shortened("tea", 3) == "tea"
    assert tour.shortened("green tea", 6) == "green…"
    assert tour.shortened("偏好绿茶", 8) == "偏好绿茶"
    assert tour.shortened("偏好绿茶", 7) == "偏好绿…"
