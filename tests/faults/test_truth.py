"""Killed while a version is written that leaves its file as it is: it is done or it is not, and the file stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.oracle import faults

from memstrata import Memory
from memstrata.pipelines.read import Record

TRUST = """
import sys
from memstrata import Memory
memory = Memory.open(sys.argv[1], background=False, settings={"timezone": "UTC"})
memory.trust(sys.argv[2], memory.unreviewed(sys.argv[2]).digest)
"""
OPEN = """
import sys
from memstrata import Memory
Memory.open(sys.argv[1], background=False, settings={"timezone": "UTC"}).reconcile()
"""
POINTS = ("vault.append.before", "vault.append.after")


def killed(code: str, point: str, *args: object) -> None:
    """Run `code` in a process that dies at a failpoint."""
    path = os.pathsep.join(filter(None, sys.path))
    ran = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        env={**os.environ, "PYTHONPATH": path, "MEMSTRATA_FAILPOINTS": f"{point}=kill"},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == -9, ran.stderr


def sound(memory: Memory) -> bool:
    memory.reconcile()
    return faults(memory) == []


@pytest.mark.promise("workspace.trust")
@pytest.mark.parametrize("point", POINTS)
def test_a_trust_is_whole_or_not_at_all(home: Path, tmp_path: Path, point: str) -> None:
    clone = tmp_path / "clone"
    (clone / ".memstrata/memory").mkdir(parents=True)
    note = clone / ".memstrata/memory/note.md"
    note.write_text("The kiln is hot\n")
    with Memory.open(home, background=False) as memory:
        memory.bind_workspace(clone)
    killed(TRUST, point, home, clone)
    with Memory.open(home, background=False) as memory:
        left = len(memory.unreviewed(clone).memories)
        assert left == (1 if point.endswith("before") else 0)
        assert note.read_text() == "The kiln is hot\n"
        assert sound(memory)
        (one,) = memory.list(workspace=clone).items
        assert one.version == 2 - left


@pytest.mark.promise("evolve.expired-namesake")
@pytest.mark.parametrize("point", POINTS)
def test_an_end_by_a_file_made_by_hand_is_whole_or_not_at_all(home: Path, point: str) -> None:
    with Memory.open(home, background=False) as memory:
        old = memory.add(name="freeze", description="Freeze it", valid_until="2020-01-01")
    path = home / "memory/user" / f"{old.id}.md"
    before = path.read_bytes()
    (home / "memory/user/freeze.md").write_text("Freeze the loom\n")
    killed(OPEN, point, home)
    with Memory.open(home, background=False) as memory:
        assert sound(memory)
        rows: dict[str, Record] = {one.name + one.status: one for one in memory.list().items}
        assert set(rows) == {"freezeactive", "freezeinvalid"}
        assert rows["freezeinvalid"].superseded_by == rows["freezeactive"].id
        assert (rows["freezeinvalid"].version, path.read_bytes()) == (2, before)
