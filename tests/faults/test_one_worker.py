"""One home, many processes: one of them works, it may be killed, and every message is extracted once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.faults.child import ROOT, Server
from tests.faults.oracle import faults, sound
from tests.faults.test_kill import Trial, killed_everywhere
from tests.faults.test_many_processes import _all_write
from tests.faults.works import messages, opened
from tests.waiting import until

from memstrata import Memory
from memstrata.ports import Holding

ALONE = """
import fcntl, os, sys
from pathlib import Path
from memstrata.pipelines import extract
home, real = Path(sys.argv[1]), extract.extract
def alone(*given):
    # A lock of the test's own: whoever works beside another is set aside, which shows at the end.
    file = os.open(home.with_name("inside"), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return real(*given)
    finally:
        os.close(file)
extract.extract = alone
"""
LIBRARY = """
from memstrata import Memory
me = sys.argv[2]
with Memory.open(home) as memory:
    print("open", flush=True)
    n = 0
    while not home.with_name("stop").exists():
        said = f"I live in Town{n}. The mill of {me} has {n} doors."
        turn = [{"role": "user", "content": said, "id": f"{me}-{n}", "said_at": 1e9 + n},
                {"role": "assistant", "content": f"Noted {n}.", "id": f"{me}-{n}a"}]
        assert len(memory.session(f"of {me}" if n % 3 else "shared").commit(turn).stored) == 2
        print(f"{me}-{n}", flush=True)
        n += 1
        if n % 7 == 0:
            assert not memory.drain(60).parked
    memory.drain(60)
"""
COMMAND = """
from memstrata.interfaces.cli.run import run
sys.exit(run(["--home", str(home), *sys.argv[2:]]))
"""
READER = """
from memstrata import Memory
with Memory.open(home, background=False) as memory:
    print("open", flush=True)
    while not home.with_name("stop").exists():
        assert not memory.search("mill doors", kinds="message").degraded
        assert not memory.session("reader").recall("Where do I live?").warnings
        assert memory.status().parked == ()
"""


@pytest.fixture
def home() -> Iterator[Path]:
    with TemporaryDirectory(prefix="mem-") as folder:
        yield Path(folder) / "home"


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of `code` that never works beside another and tries for the lock ten times a second."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", ALONE + code, *map(str, arguments)],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
            "MEMSTRATA_WORKER__RETRY_SECONDS": "0.1",
            "MEMSTRATA_TIMEZONE": "UTC",
            "LANG": "C.UTF-8",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def killed_at_last(*processes: subprocess.Popen[str]) -> Iterator[None]:
    """None of them outlives the test."""
    with ExitStack() as stack:
        for process in processes:
            stack.enter_context(process)
            stack.callback(process.kill)
        yield


def is_open(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n", process.stderr and process.stderr.read()


def holder(memory: Memory, *but: int) -> Holding | None:
    """Who `status` says works, unless it is one of `but`."""
    found = memory.status().worker
    return None if found is None or found.pid in but else found


def extracted_once(home: Path, memory: Memory) -> None:
    """The batches of each session follow one another, and no message is in two of them or in none."""
    order: dict[str, list[str]] = {}
    for session, *_ in memory._world.store.sessions(memory._realm):
        said = memory._world.store.messages(memory._realm, session, limit=100_000)
        order[session] = [one.message.id for one in said]
    done: dict[str, list[str]] = {session: [] for session in order}
    for shard in sorted((home / "records").glob("*.jsonl")):
        for line in map(json.loads, shard.read_text().splitlines()):
            if line["kind"] == "batch":
                ids = order[line["id"]]
                done[line["id"]] += ids[ids.index(line["first"]) : ids.index(line["last"]) + 1]
    assert done == order


def judge(home: Path) -> None:
    with opened(home) as memory:
        memory.drain()
        assert memory.status().waiting == 0
        assert memory.status().parked == ()
        assert memory.status().worker is None
        stored = [id for _, id, _ in messages(memory)]
        assert len(stored) == len(set(stored))
        extracted_once(home, memory)
        assert faults(memory) == []
    assert sound(home) == []


def chat_file(folder: Path, name: str) -> Path:
    """A conversation to import."""
    file = folder / f"{name}.jsonl"
    rows = [
        {"role": role, "content": f"The ferry of {name} leaves at {n}.", "session": f"file {name}"}
        for n in range(10)
        for role in ("user", "assistant")
    ]
    lines = [json.dumps({**row, "id": f"{name}-{at}"}) for at, row in enumerate(rows)]
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_library_a_command_a_reader_and_a_worker_share_a_home(home: Path) -> None:
    """Whoever works is killed, twice; the next one goes on, and nothing is lost or done twice."""
    first = start(LIBRARY, home, "ana")
    with killed_at_last(first):
        is_open(first)
        second, reader = start(LIBRARY, home, "bob"), start(READER, home)
        worker = start(COMMAND, home, "worker", "--idle-exit", "60")
        with killed_at_last(second, reader, worker), opened(home) as memory:
            for one in (second, reader):
                is_open(one)
            imports(home, "one")
            found = until(lambda: holder(memory))
            assert (found.pid, found.role) == (first.pid, "library")
            assert found.host == os.uname().nodename
            kill(first)
            found = until(lambda: holder(memory, first.pid))
            successor, last = (second, worker) if found.pid == second.pid else (worker, second)
            assert found.pid == successor.pid
            imports(home, "two")
            kill(successor)
            assert until(lambda: holder(memory, first.pid, successor.pid)).pid == last.pid
            imports(home, "three")
            (home.parent / "stop").touch()
            ends_well(reader)
            if last is worker:
                worker.terminate()
            ends_well(last)
    judge(home)


def imports(home: Path, name: str) -> None:
    """A short command that writes, and leaves the work to whoever does it."""
    file = chat_file(home.parent, name)
    with start(COMMAND, home, "import", file, "--no-extract") as command:
        note = command.communicate()[1]
        assert command.returncode == 0, note


def kill(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def ends_well(process: subprocess.Popen[str]) -> None:
    assert (process.communicate()[1], process.returncode) == ("", 0)


def test_eight_writers_beside_a_worker(home: Path) -> None:
    worker = start(COMMAND, home, "worker", "--idle-exit", "600")
    with killed_at_last(worker):
        with opened(home) as memory:
            until(lambda: holder(memory))
        _all_write(home, 20)
        worker.terminate()
        ends_well(worker)
    judge(home)


def test_a_worker_ends_when_it_is_idle(home: Path) -> None:
    with opened(home) as memory:
        memory.session("s").commit([{"role": "user", "content": "I live in Tarnow."}])
    with start(COMMAND, home, "worker", "--idle-exit", "0", "--json") as worker:
        assert worker.stdout is not None
        assert json.loads(worker.stdout.read()) == {"home": str(home)}
        ends_well(worker)
    judge(home)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as found:
        yield found


def test_a_worker_killed_anywhere_in_a_batch(tmp_path: Path, server: Server) -> None:
    """The end is the same as without a kill, whoever goes on."""
    struck = killed_everywhere(tmp_path, server, "background", most=2)
    places = {"job.leased", "extract.gathered", "extract.decided", "apply.logged", "job.finished"}
    assert all(struck[name] for name in places)


@pytest.mark.parametrize("place", ["job.leased", "apply.published"])
def test_the_next_worker_takes_up_what_a_killed_one_leased(
    tmp_path: Path, server: Server, place: str
) -> None:
    trial = Trial(tmp_path, "background")
    home = trial.copy(tmp_path / "killed")
    assert server.run("background", home, {place: 1}).signal == signal.SIGKILL
    assert len(running(home)) == 1
    assert server.run("background", home, {}).said == ["drained"]
    assert running(home) == []
    judge(home)


def running(home: Path) -> list[str]:
    with opened(home) as memory:
        return [job.key for job in memory._world.store.jobs(None, ("running",))]
