"""worker, extract --retry, and what status and doctor say of the background work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faults.oracle import sound
from tests.interfaces.command import PROGRAM, Run, environment, here
from tests.waiting import until

from memstrata import Memory, ModelFailed
from memstrata.adapters.lock_fs import FileLock
from memstrata.pipelines import extract


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return here(home, monkeypatch, capsys)


def commit(home: Path, *, end: bool = False) -> None:
    with Memory.open(home, background=False) as memory:
        chat = memory.session("s")
        chat.commit([{"role": "user", "content": "I live in Tarnow."}])
        if end:
            chat.end()


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


HELD = """
import os, sys
from memstrata.interfaces.cli.run import run
from memstrata.jobs.holder import Holder
from memstrata.pipelines import extract, reconcile

def told(place):
    os.write(1, f"{place}\\n".encode())

def stop_at(owner, name, place):
    # Say that it was reached, and go on when we are told to.
    real = getattr(owner, name)
    def held(*given, **named):
        if places.pop(place, None):
            told(place)
            os.read(0, 1)
        return real(*given, **named)
    setattr(owner, name, held)

places = dict.fromkeys(sys.argv[1].split(","), True)
stop_at(reconcile, "reconcile", "opening")
stop_at(extract, "extract", "batch")
stop_at(Holder, "stop", "closing")
sys.exit(run(["worker", *sys.argv[2:]]))
"""
"""The command, held wherever a test wants to look at it."""


class Held:
    """A worker that stops at some places until it is let go."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def reaches(self, place: str) -> None:
        """Wait until it stands there."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        assert line == f"{place}\n", self.process.communicate()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def ended(self) -> tuple[int, str, str]:
        """Its exit code, and what it wrote since; where it still stands it is not let go."""
        code = self.process.wait(60)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        return code, self.process.stdout.read().decode(), self.process.stderr.read().decode()


@contextmanager
def held_at(home: Path, places: str, *arguments: str, seconds: float = 60) -> Iterator[Held]:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", HELD, places, *arguments],
        env=environment(home, MEMSTRATA_WORKER__SHUTDOWN_SECONDS=str(seconds)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield Held(process)
        finally:
            process.kill()


INTERRUPTED = "\ninterrupted; what was done so far is kept\n"
ENDS = pytest.mark.parametrize(
    "number, ended",
    [
        (signal.SIGTERM, (0, "no work is left\n", "")),
        (signal.SIGINT, (130, "", INTERRUPTED)),
    ],
)


def is_left_clean(home: Path) -> None:
    """Nobody holds the lock or listens, and the home is sound."""
    assert FileLock(home / "worker.lock").holder() is None
    assert not (home / "run" / "memstrata.sock").exists()
    assert sound(home) == []


@ENDS
@pytest.mark.parametrize("place", ["opening", "closing"])
def test_a_signal_while_the_home_opens_or_closes_waits(
    home: Path, number: signal.Signals, ended: tuple[int, str, str], place: str
) -> None:
    commit(home)
    idle = () if place == "opening" else ("--idle-exit", "0")
    with held_at(home, place, *idle) as worker:
        worker.reaches(place)
        worker.process.send_signal(number)
        worker.go_on()
        assert worker.ended() == ended
    is_left_clean(home)
    with Memory.open(home, background=False) as memory:
        assert memory.status().waiting == 0


@ENDS
def test_a_signal_in_a_batch_waits_for_its_end(
    home: Path, number: signal.Signals, ended: tuple[int, str, str]
) -> None:
    commit(home, end=True)
    with held_at(home, "batch,closing") as worker:
        worker.reaches("batch")
        worker.process.send_signal(number)
        worker.reaches("closing")
        worker.go_on()
        worker.go_on()
        assert worker.ended() == ended
    is_left_clean(home)
    with Memory.open(home, background=False) as memory:
        assert memory.status().waiting == 0


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
def test_a_second_interrupt_breaks_a_batch_off(home: Path, first: signal.Signals) -> None:
    commit(home, end=True)
    with held_at(home, "batch,closing", seconds=600) as worker:
        worker.reaches("batch")
        worker.process.send_signal(first)
        worker.reaches("closing")
        for _ in range(3):  # whoever is impatient presses more than once
            worker.process.send_signal(signal.SIGINT)
        assert worker.ended() == (130, "", INTERRUPTED)
    is_left_clean(home)
    with Memory.open(home, background=False) as memory:
        assert memory.status().waiting == 1
        assert memory.drain().messages == 1


TAKEN_BY_ANOTHER = """
import signal, sys, threading
from memstrata.bootstrap import Worker
from memstrata.interfaces.cli.run import run
real, main = Worker.work, threading.main_thread().ident

def work(self, idle):
    while sys._current_frames()[main].f_code.co_name != "work":
        threading.Event().wait(0.01)
    threading.Event().wait(0.05)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    real(self, idle)

Worker.work = work
sys.exit(run(["worker"]))
"""


def test_a_signal_that_another_thread_takes_is_heard(home: Path) -> None:
    """It wakes no wait of the main thread, and neither does one that comes just before the wait."""
    commit(home)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", TAKEN_BY_ANOTHER],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "no work is left\n", "")
    is_left_clean(home)


AT_EACH_STEP = """
import os, sys
from memstrata.adapters.sqlite.connection import Connection
from memstrata.interfaces.cli.run import run
at, left = int(sys.argv[1]), [int(one) for one in sys.argv[2].split(",")]
begin = Connection.begin
def counted(self, mode):
    global at
    at -= 1
    if at <= 0 and left:
        os.kill(os.getpid(), left.pop(0))
    return begin(self, mode)
Connection.begin = counted
code = run(["worker", "--idle-exit", "0"])
assert at <= 0, "it ended before the signal came"
sys.exit(code)
"""


@pytest.mark.parametrize("at", [1, 10, 25])
@pytest.mark.parametrize("signals, code", [("15", 0), ("2,2", 130)])
def test_a_signal_at_any_transaction(home: Path, at: int, signals: str, code: int) -> None:
    commit(home, end=True)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", AT_EACH_STEP, str(at), signals],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == code, ran.stderr
    # Broken off, the worker's thread may find the home closed and say so.
    if "," in signals:
        assert INTERRUPTED in ran.stderr
        assert "Traceback" not in ran.stderr
    else:
        assert ran.stderr == (INTERRUPTED if code else "")
    is_left_clean(home)
