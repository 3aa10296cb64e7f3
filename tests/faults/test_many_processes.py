"""Eight processes share a home: all of them write, some extract and add, readers search; nobody sees an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.faults.child import ROOT
from tests.faults.oracle import faults
from tests.faults.works import messages, opened

WRITERS = 8
READERS = 2

WRITER = """
import sys
from pathlib import Path
from memstrata.errors import Conflict
from tests.faults.works import opened
home, me, turns = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
towns = ("Lyon", "Graz", "Porto", "Bergen")
with opened(home) as memory:
    own = memory.session(f"own {me}")
    for n in range(turns):
        chat = memory.session("shared") if n % 10 == 0 else own
        said = f"I live in {towns[n % 4]}. The mill of writer {me} has {n} doors."
        turn = [{"role": "user", "content": said, "id": f"w{me}-{n}", "said_at": 1e9 + n}]
        assert len(chat.commit(turn).stored) == 1
        print("message", f"w{me}-{n}", flush=True)
        if n % 20 == me:
            print("memory", memory.add(name=f"door {me} {n}", description=f"opens {n}").id, flush=True)
            try:
                memory.add(name=f"race {n // 20}", description=f"won by {me}")
            except Conflict as error:
                assert error.reason == "ALREADY_EXISTS", error
        if n % 25 == 24 and me % 2:
            done = memory.drain()
            assert not done.parked, done.parked
        if n % 15 == me:
            assert memory.search("mill doors", kinds="message"), n
            memory.session("reader").recall("Where do I live?")
    done = memory.drain()
    assert not done.parked, done.parked
"""

READER = """
import sys
from pathlib import Path
from tests.faults.works import opened
with opened(Path(sys.argv[1])) as memory:
    print("ready", flush=True)
    while not Path(sys.argv[1], "stop").exists():
        hits = memory.search("mill doors writer")
        assert not hits.degraded, hits.degraded
        memory.search("live", include_invalid=True)
        memory.list(limit=20)
        assert not memory.session("reader").recall("Where do I live?").warnings
        assert memory.status().parked == ()
"""


def start(code: str, *args: object) -> subprocess.Popen[str]:
    """A Python process of `code`."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *map(str, args)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _all_write(home: Path, turns: int) -> None:
    readers = [start(READER, home) for _ in range(READERS)]
    writers = [start(WRITER, home, me, turns) for me in range(WRITERS)]
    said: list[list[str]] = []
    for writer in writers:
        out, error = writer.communicate()
        assert (writer.returncode, error) == (0, "")
        said += [line.split() for line in out.splitlines()]
    (home / "stop").touch()
    for reader in readers:
        assert (reader.communicate()[1], reader.returncode) == ("", 0)
    (home / "stop").unlink()
    _judge(home, said, turns)


def _judge(home: Path, said: list[list[str]], turns: int) -> None:
    told = {id for kind, id in said if kind == "message"}
    assert len(told) == WRITERS * turns
    with opened(home) as memory:
        stored = [id for _, id, _ in messages(memory)]
        assert len(stored) == len(set(stored))
        assert set(stored) == told
        for kind, id in said:
            if kind == "memory":
                assert memory.get(id).presence == "live"
        races = [one.name for one in memory.list(text="race", limit=1_000).items]
        assert len(races) == len(set(races)) == len(range(0, turns, 20))
        homes = [one for one in memory.list(status="active").items if one.name == "home"]
        assert len(homes) <= 1
        assert memory.status().waiting == 0
        assert memory.status().parked == ()
        assert faults(memory) == []
    _no_line_twice(home)


def _no_line_twice(home: Path) -> None:
    lines = [
        json.loads(line)
        for shard in (home / "conversations").glob("*.jsonl")
        for line in shard.read_bytes().splitlines()
    ]
    assert len({(one["session"], one["id"]) for one in lines}) == len(lines)


@pytest.mark.promise("write.many")
def test_eight_processes_at_once(tmp_path: Path) -> None:
    _all_write(tmp_path / "home", 40)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_eight_processes_write_four_thousand_turns() -> None:
    """On the disk, with its fsyncs."""
    with TemporaryDirectory() as folder:
        _all_write(Path(folder) / "home", 500)
