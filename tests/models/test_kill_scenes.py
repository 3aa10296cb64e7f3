"""Killed while a model tells scenes and persona: the end is the one without a kill, and nothing stands half."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults import child as faults_child
from tests.faults.child import Server
from tests.faults.oracle import faults, sound
from tests.faults.works import LAYERED, State, missing, portrait, state, uncited
from tests.models import child
from tests.models.test_kill_model import Killed

PLACES = ("swap.", "scene.", "persona.")
End = tuple[State, dict[str, str]]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Killed() as found:
        yield found


def finished(home: Path) -> End:
    """Do the work (again): where it ends."""
    child.told(home, lambda _: None)
    with child.opened(home, child.telling, **LAYERED) as memory:
        assert memory.status().degraded == ()
        assert faults(memory) == []
        assert uncited(memory) == []
        return state(memory), portrait(home)


def copied(home: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(home, folder)
    return folder


@pytest.mark.promise("scene.kill")
def test_killed_while_a_model_tells(tmp_path: Path, server: Server) -> None:
    before = tmp_path / "before"
    child.prepare(before)
    with faults_child.counted() as counts:
        end = finished(copied(before, tmp_path / "whole"))
    assert "scenes/_global/I-live-in-Graz.md" in end[1]
    assert "I prefer mint tea" in end[1]["persona.md"]
    cases = [("told", {name: 1}) for name in counts if name.startswith(PLACES)]
    cases += [(f"told, question {n}", {}) for n in range(1, child.TOLD + 1)]
    for work, kill in cases:
        home = copied(before, tmp_path / "killed")
        ended = server.run(work, home, kill)
        assert ended.signal == signal.SIGKILL, ended.error
        with child.opened(home, child.telling) as memory:
            assert missing(memory, ended.said) == [], (work, kill)
            assert faults(memory) == [], (work, kill)
        assert finished(home) == end, (work, kill)
        assert sound(home) == [], (work, kill)
