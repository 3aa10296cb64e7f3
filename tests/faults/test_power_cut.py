"""The power fails: what was flushed is there, of what was not any part may be missing.

COMMIT is flushed; the appended lines and the renames need not be, and come back from the rows.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.faults.oracle import faults
from tests.faults.works import messages, opened, state

from memstrata import Memory, failpoints
from memstrata.errors import OutcomeUnknown


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """A home with a memory that is about to be superseded."""
    home = tmp_path / "before"
    with opened(home) as memory:
        _say(memory, "m1", "2025-01-10", "I work at Harrow Tools.")
        memory.drain()
        _say(memory, "m2", "2025-03-10", "I work at Brightwater.")
    return home


def _say(memory: Memory, id: str, day: str, text: str) -> None:
    memory.session("s").commit([{"role": "user", "content": text, "id": id, "said_at": day}])


@pytest.mark.promise("l0.durable")
@pytest.mark.promise("write.reconcile-idle")
@pytest.mark.parametrize(
    "lost",
    [
        (),
        ("conversations",),
        ("records",),
        ("records", "conversations"),
        ("memory", "records"),
        ("memory", "records", "conversations"),
    ],
    ids=lambda lost: " and ".join(lost) or "nothing",
)
def test_what_was_committed_comes_back(before: Path, tmp_path: Path, lost: tuple[str, ...]) -> None:
    """The database as it is after an extraction, with the files or logs from before it."""
    home = tmp_path / "home"
    shutil.copytree(before, home)
    with opened(home) as memory:
        memory.drain()
        whole = state(memory), messages(memory), _history(memory)
    for name in lost:
        shutil.rmtree(home / name)
        shutil.copytree(before / name, home / name)
    with opened(home) as memory:
        assert (state(memory), messages(memory), _history(memory)) == whole
        memory.drain()
        assert (state(memory), messages(memory), _history(memory)) == whole
        assert faults(memory) == []
        memory.reindex()
        assert (state(memory), messages(memory), _history(memory)) == whole
        assert faults(memory) == []


def _history(memory: Memory) -> dict[str, list[int]]:
    return {
        one.id: [line.version for line in memory.history(one.id)] for one in memory.list().items
    }


def test_a_person_who_edited_after_the_cut_is_not_overruled(before: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(before, home)
    with opened(home) as memory:
        memory.drain()
        old = next(one for one in memory.list().items if one.status == "invalid")
    for folder in ("memory", "records"):
        shutil.rmtree(home / folder)
        shutil.copytree(before / folder, home / folder)
    file = home / old.path
    file.write_text(file.read_text().replace("Harrow Tools", "Harrow & Sons"))
    with opened(home) as memory:
        assert "Harrow & Sons" in file.read_text()
        assert any(old.path in problem for problem in memory.status().problems)
        assert memory.get(old.id).presence == "stale", "its name belongs to its successor"
        assert faults(memory) == []


def test_the_database_alone_is_older(before: Path, tmp_path: Path) -> None:
    """A database put back from before: lines and files have gone on, and are taken over."""
    home = tmp_path / "home"
    shutil.copytree(before, home)
    with opened(home) as memory:
        memory.drain()
        whole = state(memory), messages(memory)
    for file in home.glob("memstrata.db*"):
        file.unlink()
    for file in before.glob("memstrata.db*"):
        shutil.copy(file, home / file.name)
    with opened(home) as memory:
        memory.drain()
        assert (state(memory), messages(memory)) == whole
        assert faults(memory) == []


@pytest.mark.promise("write.outcome")
def test_a_write_that_could_not_be_flushed_is_decided_by_the_file(tmp_path: Path) -> None:
    """Said to be unknown; after a power cut that takes file and line, the row brings both back."""
    home = tmp_path / "home"
    with opened(home) as memory:
        memory.add(name="mill", description="stands by the river")
        shutil.copytree(home / "memory", tmp_path / "memory")
        shutil.copytree(home / "records", tmp_path / "records")
        with failpoints.armed({"vault.sync": "eio"}), pytest.raises(OutcomeUnknown):
            memory.add(name="ferry", description="leaves at nine")
    for folder in ("memory", "records"):
        shutil.rmtree(home / folder)
        shutil.copytree(tmp_path / folder, home / folder)
    with opened(home) as memory:
        assert sorted(one.name for one in memory.list().items) == ["ferry", "mill"]
        assert faults(memory) == []
