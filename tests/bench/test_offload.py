"""The measurement of the offload: what it reads, what it makes of it, and that its figures can be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.bench.conftest import trajectory

from memstrata import Invalid
from memstrata.bench import offload, offload_report, trajectories


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two coding runs and two conversations."""
    for name, steps in (("short", 3), ("long", 12)):
        (tmp_path / f"{name}.traj.json").write_text(json.dumps(trajectory(steps)))
    talk = [
        {"role": "system", "content": "You sell bread."},
        {"role": "user", "content": "Two loaves of rye please"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function",
             "function": {"name": "stock", "arguments": json.dumps({"bread": "rye"})}}]},
        {"role": "tool", "tool_call_id": "c1", "name": "stock", "content": "rye: 7 loaves"},
        {"role": "assistant", "content": "There are 7 loaves."},
    ]  # fmt: skip
    (tmp_path / "talks.json").write_text(json.dumps([{"traj": talk}, {"traj": talk}]))
    return tmp_path


@pytest.mark.promise("bench.offload")
def test_what_is_made_of_the_runs(data: Path) -> None:
    runs = trajectories.load(data)
    assert [(one.name, one.calls) for one in runs] == [
        *(("long", 12), ("short", 3), ("talks-01", 1), ("talks-02", 1))
    ]
    made = {one.name: one for one in trajectories.made(runs)}
    chained = made["coding runs, one after the other"]
    assert (chained.calls, len(made)) == (15, 5)
    assert [one["role"] for one in chained.messages].count("system") == 1
    repeated = made["long, repeated to 400 calls"]
    assert repeated.calls == 400
    assert [one["role"] for one in repeated.messages].count("user") == 1
    again = trajectories.made(trajectories.load(data))[3]
    assert again == repeated
    for one in made.values():
        ids = [call["id"] for m in one.messages for call in m.get("tool_calls") or ()]
        assert len(ids) == len(set(ids))


@pytest.mark.promise("bench.offload")
def test_a_run_is_measured(data: Path) -> None:
    run = next(one for one in trajectories.load(data) if one.name == "long")
    (found,) = offload.measure([run], [3_000])
    assert (found.calls, found.results) == (12, 11)
    assert found.equal == found.results
    assert (found.split, found.touched, found.breaks, found.unlike) == (0, 0, 0, 0)
    assert found.over > 0
    assert found.after < found.before
    assert found.largest < 1
    assert found.quotes > 0
    assert found.reachable == 1.0
    page = offload_report.markdown([found])
    assert "come back equal" in page
    assert "| long | 3,000 | 12 |" in page


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(Invalid, match="holds no recorded runs"):
        trajectories.load(tmp_path)
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(Invalid, match="cannot be read"):
        trajectories.load(tmp_path)
