"""`memstrata tasks` and `memstrata recall-result`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.domain.lists import chat
from tests.interfaces.command import Run, here

from memstrata import Memory


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


@pytest.fixture
def baked(home: Path) -> None:
    """Two sessions, one of them in a workspace."""
    mill = home.parent / "mill"
    mill.mkdir()
    with Memory.open(home, background=False) as memory:
        memory.offload("bake").assemble(chat("U" + "TR" * 5, lambda n: f"rye {n}\nwheat {n}"))
        memory.offload("grind", workspace=mill).assemble(chat("U" + "TR" * 5))


@pytest.mark.promise("offload.cli")
@pytest.mark.usefixtures("baked")
def test_tasks_are_listed(cli: Run, home: Path) -> None:
    ran = cli("tasks")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("bake/001-please-do-number-0.mmd  ")
    assert ran.out.rstrip().endswith("100 %: 5 done")
    (found,) = cli("tasks", "--session", "bake", "--json").json["tasks"]
    assert (found["file"], found["progress"]) == ("001-please-do-number-0.mmd", 100)
    (other,) = cli("tasks", "--workspace", str(home.parent / "mill"), "--json").json["tasks"]
    assert other["file"] == "grind/001-please-do-number-0.mmd"
    assert cli("tasks", "--session", "nobody").out == ""
    assert cli("tasks", "--limit", "0").code == 2


@pytest.mark.promise("offload.cli")
@pytest.mark.usefixtures("baked")
def test_a_result_is_recalled(cli: Run) -> None:
    assert cli("recall-result", "call_1").out == "rye 2\nwheat 2\n"
    assert cli("recall-result", "bake/call_3").out == "rye 4\nwheat 4\n"
    assert cli("recall-result", "call_1", "--session", "bake", "--start", "2").out.startswith(
        "wheat 2"
    )
    assert cli("recall-result", "001-N1", "--grep", "wheat", "--json").json["lines"] == 2
    missing = cli("recall-result", "call_1", "--session", "nobody")
    assert (missing.code, missing.out) == (4, "")
    assert cli("recall-result", "call_1", "--lines", "401").code == 2
    assert cli("recall-result", "call_x", "--lang", "zh").code == 4
