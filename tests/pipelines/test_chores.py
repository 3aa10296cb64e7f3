"""What follows a write: MEMORY.md at most once a second, hits in bulk, and no failure of it for a caller."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Memory, Unavailable, failpoints
from memstrata.pipelines import apply


@pytest.fixture
def index(home: Path) -> Path:
    """The list of the user's folder."""
    return home / "memory" / "user" / "MEMORY.md"


@pytest.mark.promise("disk.index-md")
def test_the_list_is_written_at_most_once_a_second(
    memory: Memory, clock: FakeClock, index: Path
) -> None:
    memory.add(name="lamp", description="The lamp is green")
    first = index.read_text()
    assert first.count("\n") == 1
    for n in range(5):
        memory.add(name=f"jar {n}", description="The jar is blue")
    assert index.read_text() == first
    clock.advance(milliseconds=999)
    memory.add(name="mug", description="The mug is red")
    assert index.read_text() == first
    clock.advance(milliseconds=1)
    memory.add(name="pot", description="The pot is black")
    assert index.read_text().count("\n") == 8


@pytest.mark.promise("disk.index-md")
def test_whatever_is_due_is_written_by_drain_and_by_close(
    open_memory: Open, index: Path, clock: FakeClock
) -> None:
    memory = open_memory()
    memory.add(name="lamp", description="The [lamp] is\ngreen")
    memory.add(name="Jar", description="The jar is blue")
    memory.drain()
    lines = index.read_text().splitlines()
    names = [line.partition("]")[0] for line in lines]
    assert names == ["- [Jar", "- [lamp"], "a stable order"
    assert lines[1].endswith(".md) — The (lamp) is green")
    for line in lines:
        assert (index.parent / line.partition("](")[2].partition(")")[0]).is_file()
    memory.add(name="mug", description="The mug is red", valid_until="2020-01-01")
    memory.add(name="pot", description="The pot is black")
    memory.close()
    assert [line.partition("]")[0] for line in index.read_text().splitlines()] == [
        "- [Jar",
        "- [lamp",
        "- [pot",
    ], "the valid ones"
    before = index.stat().st_mtime_ns
    open_memory().close()
    assert index.stat().st_mtime_ns == before, "written only when it differs"


@pytest.mark.promise("disk.index-md")
def test_a_list_that_cannot_be_written_waits(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, index: Path
) -> None:
    def refuse(*_: object) -> bool:
        raise Unavailable("the disk said no")

    with monkeypatch.context() as patched:
        patched.setattr(apply, "write_index", refuse)
        added = memory.add(name="lamp", description="The lamp is green")
        memory.drain()
        assert memory.get(added.id) == added, "the caller has what they asked for"
        assert not index.exists()
    memory.drain()
    assert "lamp" in index.read_text()


@pytest.mark.promise("recall.hits")
def test_hits_that_could_not_be_counted_are_counted_later(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(settings={"recall.max_tokens": 160})
    for n in range(12):
        memory.add(name=f"jar {n}", description="A jar of plums")
    memory.drain()
    told = memory.session("s").recall("jar of plums")
    turned = [item.id for item in told.items if item.part == "turn"]
    assert turned

    def refuse(*_: object) -> None:
        raise Unavailable("the database said no")

    with monkeypatch.context() as patched:
        patched.setattr(apply, "count_hits", refuse)
        memory.drain()
    memory.session("s").recall("jar of plums")
    assert {memory.get(id).hit_count for id in turned} == {0}
    memory.drain()
    assert {memory.get(id).hit_count for id in turned} == {2}
    memory.drain()
    assert {memory.get(id).hit_count for id in turned} == {2}, "each once"


def test_a_failure_of_the_disk_itself_is_no_callers(memory: Memory, index: Path) -> None:
    memory.add(name="lamp", description="The lamp is green")
    memory.add(name="jar", description="The jar is blue")
    with failpoints.armed({"vault.stage.write": "enospc"}) as struck:
        memory.drain()
    assert struck
    assert "jar" not in index.read_text()
    memory.drain()
    assert "jar" in index.read_text()
