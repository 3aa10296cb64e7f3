"""SIGKILL everywhere: nothing acknowledged is lost, nothing is there twice, and the end is the same."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.faults import child
from tests.faults.child import Server
from tests.faults.oracle import faults, sound
from tests.faults.works import (
    FORGOTTEN,
    LAYERED,
    MINE,
    SIGNS,
    WORKS,
    State,
    messages,
    missing,
    opened,
    portrait,
    prepare,
    state,
    traces,
    uncited,
)

from memstrata.errors import Conflict, MemstrataError

Case = tuple[str, int]
End = tuple[State, list[tuple[str, str, str]], dict[str, str]]
"""Memories, messages, and the texts of scenes and persona."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as found:
        yield found


class Trial:
    """One work: the home before it, the end without a kill, and where it can be killed."""

    def __init__(self, folder: Path, work: str) -> None:
        self.work = work
        self.settings = LAYERED if work in ("layers", "forget_layers") else {}
        self.before = folder / "before"
        prepare(self.before, work)
        with child.counted() as counts:
            self.end = self._finish(self.copy(folder / "whole"))
        self.counts = counts

    @property
    def state(self) -> State:
        """What the memories come to in the end."""
        return self.end[0]

    def copy(self, folder: Path) -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.before, folder)
        return folder

    def _finish(self, home: Path) -> End:
        """Do the work (again), then all that waits: where it all ends."""
        WORKS[self.work](home, lambda _: None)
        with opened(home, **self.settings) as memory:
            memory.drain()
            assert memory.status().degraded == ()
            assert faults(memory) == []
            if self.work == "forget":
                assert traces(home, *FORGOTTEN) == []
            if self.work == "forget_layers":
                assert traces(home, MINE) == []
            assert uncited(memory) == []
            return state(memory), messages(memory), portrait(home)

    def judge(self, home: Path, said: list[str]) -> None:
        """After a kill: acknowledged is there, all is sound, and doing the rest ends the same."""
        with opened(home, **self.settings) as memory:
            assert missing(memory, said) == []
            assert faults(memory) == []
        assert self._finish(home) == self.end
        assert sound(home) == []


def _cases(counts: Counter[str], most: int = 1_000) -> list[Case]:
    """Each place at its 1st, 2nd … and `most`-th passing."""
    return [
        (name, at)
        for name, passed in sorted(counts.items())
        for at in range(1, min(passed, most) + 1)
    ]


def killed_everywhere(
    folder: Path, server: Server, work: str, most: int, places: tuple[str, ...] = ("",)
) -> Counter[str]:
    """How many kills struck, by place; only at places whose names begin so."""
    trial = Trial(folder, work)
    struck: Counter[str] = Counter()
    for name, at in _cases(trial.counts, most):
        if not name.startswith(places):
            continue
        home = trial.copy(folder / "killed")
        ended = server.run(work, home, {name: at})
        assert ended.signal in (0, signal.SIGKILL), ended.error
        assert not ended.error
        struck[name] += ended.signal == signal.SIGKILL
        with _named(work, name, at):
            trial.judge(home, ended.said)
    return struck


@contextmanager
def _named(*what: object) -> Iterator[None]:
    try:
        yield
    except (AssertionError, MemstrataError) as error:
        error.add_note(f"killed at {what}")
        raise


@pytest.mark.promise("l0.durable")
@pytest.mark.promise("write.kill")
@pytest.mark.promise("life.kill")
@pytest.mark.promise("consolidate.on-disk")
@pytest.mark.parametrize("work", ["commit", "add", "first", "correct", "consolidate", "decide"])
def test_killed_while_writing(tmp_path: Path, server: Server, work: str) -> None:
    struck = killed_everywhere(tmp_path, server, work, most=2)
    passed = {
        "commit": {"capture.parsed", "apply.logged", "vault.append.after"},
        "add": {"apply.staged", "apply.committed", "vault.settle", "vault.sync", "apply.done"},
        "correct": {
            "apply.logged",
            "sqlite.after_commit",
            "vault.remove.before",
            "apply.committed",
        },
        "consolidate": {"consolidate.decided", "apply.logged", "vault.publish.after"},
        "decide": {"apply.logged", "vault.remove.before", "apply.committed"},
        "first": {"extract.decided", "apply.published", "vault.publish.after", "job.finished"},
    }[work]
    assert passed <= struck.keys()
    assert all(struck[name] for name in passed)


LAYERS = ("swap.", "scene.", "persona.", "prune.")


@pytest.mark.promise("scene.kill")
@pytest.mark.promise("scene.atomic")
def test_killed_while_scenes_and_persona_are_told(tmp_path: Path, server: Server) -> None:
    struck = killed_everywhere(tmp_path, server, "layers", most=2, places=LAYERS)
    assert {"swap.logged", "swap.half", "swap.published", "scene.decided"} <= struck.keys()
    assert all(struck.values())


@pytest.mark.promise("write.kill")
@pytest.mark.promise("write.reconcile-idle")
@pytest.mark.parametrize("work", ["heal", "reindex"])
def test_killed_while_healing(tmp_path: Path, server: Server, work: str) -> None:
    struck = killed_everywhere(tmp_path, server, work, most=100)
    assert struck["sqlite.before_commit"] > 3
    assert struck["vault.publish.before"], "MEMORY.md is written at the end"


@pytest.mark.promise("forget.kill")
@pytest.mark.timeout(300)
def test_killed_while_forgetting(tmp_path: Path, server: Server) -> None:
    """What was begun is carried out to the end by the next start, to the last byte."""
    struck = killed_everywhere(tmp_path, server, "forget", most=1)
    passed = ("buried", "rows", "staged", "committed", "published", "files", "vectors", "scrubbed")
    assert all(struck[f"forget.{name}"] for name in passed)


@pytest.mark.promise("forget.layers")
@pytest.mark.timeout(300)
def test_killed_while_layers_are_forgotten(tmp_path: Path, server: Server) -> None:
    """Scenes, persona, candidates, plans and archives go, wherever it is killed."""
    struck = killed_everywhere(tmp_path, server, "forget_layers", most=1, places=("forget.",))
    assert len(struck) == 8
    assert all(struck.values())


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "work",
    [
        "commit",
        "drain",
        "add",
        "first",
        "everything",
        "correct",
        "consolidate",
        "decide",
        "forget",
        "forget_layers",
        "layers",
    ],
)
def test_killed_at_each_passing(tmp_path: Path, server: Server, work: str) -> None:
    struck = killed_everywhere(tmp_path, server, work, most=1_000)
    assert sum(struck.values()) > 50


@pytest.mark.parametrize("place", ["apply.logged", "vault.publish.after", "apply.published"])
def test_killed_beside_a_process_that_goes_on(tmp_path: Path, server: Server, place: str) -> None:
    """The other one never opens anew: it must not build on what is half done, nor do it again."""
    trial = Trial(tmp_path, "first")
    for at in range(1, trial.counts[place] + 1):
        home = trial.copy(tmp_path / "killed")
        with opened(home) as memory:
            assert server.run("first", home, {place: at}).signal == signal.SIGKILL
            memory.drain()
            for name, description in SIGNS:
                with suppress(Conflict):
                    memory.add(name=name, description=description)
            with _named(place, at):
                assert state(memory) == trial.state
                memory.reconcile()  # sweeps
                assert faults(memory) == []


@pytest.mark.parametrize("work", ["commit", "drain", "add"])
def test_a_process_armed_by_its_environment(tmp_path: Path, work: str) -> None:
    trial = Trial(tmp_path, work)
    home = trial.copy(tmp_path / "killed")
    ended = child.alone(work, home, "apply.logged=kill:2")
    assert ended.signal == signal.SIGKILL, ended.error
    trial.judge(home, ended.said)


@pytest.mark.parametrize("work", ["add", "first", "correct", "consolidate"])
def test_killed_while_it_heals_what_a_kill_left(tmp_path: Path, server: Server, work: str) -> None:
    """The kill that leaves most behind, then a kill at each place of the healing."""
    trial = Trial(tmp_path, work)
    left = trial.copy(tmp_path / "left")
    first = server.run(work, left, {"apply.logged": 1})
    assert first.signal == signal.SIGKILL
    with child.counted() as counts:
        WORKS["heal"](_copied(left, tmp_path / "counted"), lambda _: None)
    for name, at in _cases(counts, 3):
        home = _copied(left, tmp_path / "killed")
        server.run("heal", home, {name: at})
        with _named("heal", name, at):
            trial.judge(home, first.said)


def _copied(home: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(home, folder)
    return folder
