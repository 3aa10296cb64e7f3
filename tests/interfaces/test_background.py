"""worker, extract --retry, and what status and doctor say of the background work."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.interfaces.command import PROGRAM, Run, environment, here
from tests.waiting import until

from memstrata import Memory, ModelFailed
from memstrata.pipelines import extract


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return here(home, monkeypatch, capsys)


def commit(home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        memory.session("s").commit([{"role": "user", "content": "I live in Tarnow."}])


def test_status_and_doctor_name_the_worker(cli: Run, home: Path) -> None:
    assert "worker          nobody" in cli("status").out
    assert "ok  worker: nobody" in cli("doctor").out
    with Memory.open(home):
        found = cli("status", "--json").json["worker"]
        assert (found["pid"], found["role"]) == (os.getpid(), "library")
        named = f"process {os.getpid()} on {os.uname().nodename} (library) since "
        assert f"worker          {named}" in cli("status").out
        assert f"ok  worker: {named}" in cli("doctor").out
        assert f"进程 {os.getpid()}" in cli("status", "--lang", "zh").out
    assert cli("status", "--json").json["worker"] is None


def test_a_failed_session_is_shown_and_tried_on_command(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(home)
    with monkeypatch.context() as patched:

        def fail(*_: object) -> None:
            raise ModelFailed("timed out", reason="timeout")

        patched.setattr(extract, "extract", fail)
        ran = cli("extract")
        assert ran.code == 0
        assert "tried again later: extract s: unavailable: timed out (1 of 5 tries" in ran.err
        status = cli("status")
        assert "tried again     extract s: unavailable: timed out (1 of 5 tries" in status.out
        doctor = cli("doctor")
        assert "FAULT  extraction: extract s: unavailable: timed out" in doctor.out
        assert doctor.code == 8
        ran = cli("extract", "--retry", env={"MEMSTRATA_EXTRACTION__MAX_TRIES": "1"})
        assert "set aside: extract s: unavailable: timed out" in ran.err
        assert "extract --retry" in cli("doctor").out
    assert cli("extract", "--json").json["messages"] == 0
    assert cli("extract", "--retry", "--json").json["messages"] == 1
    assert cli("doctor").code == 0


@pytest.mark.parametrize("seconds", ["-1", "nan", "soon"])
def test_a_time_that_is_none(cli: Run, seconds: str) -> None:
    ran = cli("worker", "--idle-exit", seconds)
    assert (ran.code, ran.out) == (2, "")
    assert "--idle-exit" in ran.err


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_worker_that_is_told_to_end_does_what_waits_first(
    home: Path, number: signal.Signals, code: int
) -> None:
    with subprocess.Popen(
        [*PROGRAM, "worker"],
        env=environment(home, MEMSTRATA_WORKER__SHUTDOWN_SECONDS="60"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as worker:
        with Memory.open(home, background=False) as memory:
            until(lambda: memory.status().worker)
            memory.session("s").commit([{"role": "user", "content": "I live in Tarnow."}])
            assert memory.status().waiting == 1, "its turn has not ended"
            worker.send_signal(number)
            out, error = worker.communicate()
            assert worker.returncode == code, error
            assert memory.status().waiting == 0
            assert memory.status().worker is None
        assert out == ("no work is left\n" if code == 0 else "")
