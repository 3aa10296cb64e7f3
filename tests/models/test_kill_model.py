"""Killed at every place of an extraction by a model: the end is the one without a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Self

import pytest
from tests.faults import child as faults_child
from tests.faults.child import ROOT, Server
from tests.faults.oracle import faults, sound
from tests.faults.works import State, messages, missing, state
from tests.models import child

from memstrata import Memory, failpoints

PASSED: Final = {
    *("job.leased", "extract.gathered", "vault.append.before", "vault.append.after"),
    *("extract.decided", "apply.staged", "apply.logged", "apply.published", "apply.done"),
    *("vault.publish.after", "sqlite.before_commit", "sqlite.after_commit", "job.finished"),
}

End = tuple[State, list[tuple[str, str, str]], dict[str, str]]


class Killed(Server):
    """The forking process with our works."""

    def __enter__(self) -> Self:
        path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.models.child", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, "MEMSTRATA_EMBEDDING__MODEL": "none"},
        )
        return self


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Killed() as found:
        yield found


def ledger(home: Path) -> list[dict[str, Any]]:
    """Every line, which must be whole."""
    return [
        json.loads(line)
        for shard in sorted((home / "ledger").glob("*.jsonl"))
        for line in shard.read_text().splitlines()
    ]


class Trial:
    """The home before, the end without a kill, and where it can be killed."""

    def __init__(self, folder: Path) -> None:
        self.before = folder / "before"
        child.prepare(self.before)
        self.home = self.copy(folder / "whole")
        with faults_child.counted() as counts:
            self.end = self._finish(self.home)
        self.counts = counts
        lines = ledger(self.home)
        self.calls = len(lines)
        self.batch = max(Counter(line["batch"] for line in lines).values())

    def copy(self, folder: Path) -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.before, folder)
        return folder

    def _finish(self, home: Path) -> End:
        """Do the work (again), which ends with nothing left to do."""
        child.work(home, lambda _: None)
        with child.opened(home) as memory:
            assert memory.status().degraded == ()
            assert memory.status().waiting == 0
            assert faults(memory) == []
            return state(memory), messages(memory), _cursors(memory)

    def judge(self, home: Path, said: list[str]) -> None:
        """After a kill: acknowledged is there, all is sound, and doing the rest ends the same."""
        booked = len(ledger(home))
        with child.opened(home) as memory:
            assert missing(memory, said) == []
            assert faults(memory) == []
        assert self._finish(home) == self.end
        assert sound(home) == []
        lines = ledger(home)
        assert self.calls <= len(lines) <= self.calls + self.batch, "one batch is asked again"
        assert len(lines) >= booked
        assert {line["outcome"] for line in lines} == {"answered"}


def _cursors(memory: Memory) -> dict[str, str]:
    store, realm = memory._world.store, memory._realm
    return {session: store.cursor(realm, session).last for session, _, _ in store.sessions(realm)}


def killed(trial: Trial, server: Server, passings: Callable[[int], Iterable[int]]) -> Counter[str]:
    """How many kills struck, by place, each at some of its passings."""
    struck: Counter[str] = Counter()
    for name, passed in sorted(trial.counts.items()):
        for at in passings(passed):
            home = trial.copy(trial.home.parent / "killed")
            ended = server.run("model", home, {name: at})
            assert not ended.error
            struck[name] += ended.signal == signal.SIGKILL
            _judged(trial, home, ended.said, name, at)
    return struck


def _judged(trial: Trial, home: Path, said: list[str], *where: object) -> None:
    try:
        trial.judge(home, said)
    except AssertionError as error:
        error.add_note(f"killed at {where}")
        raise


def test_the_work_is_worth_killing(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    assert trial.counts.keys() >= PASSED
    assert trial.counts.keys() <= {*failpoints.NAMES, *faults_child.COMMITS}
    assert trial.calls >= child.QUESTIONS
    described = {row[3] for row in trial.end[0]}
    assert described >= {"I work at Harrow Tools", "I work at Brightwater", "I live in Graz"}
    assert set(trial.end[2]) == {"work", "food"}


@pytest.mark.promise("model.kill")
@pytest.mark.promise("write.kill")
@pytest.mark.promise("extract.cursor")
@pytest.mark.promise("ledger.every-call")
def test_killed_at_each_place(tmp_path: Path, server: Server) -> None:
    struck = killed(Trial(tmp_path), server, lambda passed: [(passed + 1) // 2])
    assert {name for name in struck if struck[name]} >= PASSED


@pytest.mark.promise("write.kill")
def test_killed_while_the_model_answers(tmp_path: Path, server: Server) -> None:
    trial = Trial(tmp_path)
    for number in range(1, child.QUESTIONS + 1):
        home = trial.copy(tmp_path / "killed")
        ended = server.run(f"model, question {number}", home, {})
        assert ended.signal == signal.SIGKILL, ended.error
        assert len(ledger(home)) == number - 1
        _judged(trial, home, ended.said, "question", number)
        assert len(ledger(home)) == trial.calls, (
            "the call that nobody got an answer to is not booked"
        )


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.promise("write.kill")
def test_killed_at_each_passing(tmp_path: Path, server: Server) -> None:
    struck = killed(Trial(tmp_path), server, lambda passed: range(1, passed + 1))
    assert sum(struck.values()) > 200
