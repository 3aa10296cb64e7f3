"""Offload sessions killed at every step, on full disks, and shared by processes: what was archived is there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults import child
from tests.faults.child import ROOT, Server
from tests.faults.works import WORKS, dialogue, opened

from memstrata import failpoints
from memstrata.offload import OffloadSession

PLACES = (
    "offload.",
    "vault.stage.write",
    "vault.publish.after",
    "vault.append.after",
    "vault.sync",
)
WINDOW = 2_000

ASSEMBLE = """
import json, os, signal, sys
from pathlib import Path
from tests.faults.works import dialogue, opened
with opened(Path(sys.argv[1])) as memory:
    session = memory.offload("mill", window=2_000)
    for at in map(int, sys.argv[3].split(",")):
        sent = session.assemble(dialogue(20)[:at])
    print(json.dumps(sent, ensure_ascii=True), flush=True)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as found:
        yield found


def assembled(home: Path, how: str, places: str) -> tuple[int, str]:
    """What another process assembles, and the signal that ended it."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", ASSEMBLE, str(home), how, places],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return -done.returncode, done.stdout


@pytest.mark.promise("case.o4")
@pytest.mark.promise("offload.replay")
def test_o4_killed_and_assembled_again_byte_for_byte(tmp_path: Path) -> None:
    ended, first = assembled(tmp_path, "die", "11,23,41")
    assert ended == signal.SIGKILL
    assert "[Offloaded Tool Result" in first or "history_task_context" in first
    with opened(tmp_path) as memory:
        sent = memory.offload("mill", window=WINDOW).assemble(dialogue(20)[:41])
    assert json.dumps(sent, ensure_ascii=True) == first.strip()
    shutil.rmtree(tmp_path / "backups", ignore_errors=True)
    for name in ("memstrata.db", "memstrata.db-wal", "memstrata.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    assert assembled(tmp_path, "live", "41") == (0, first)  # the files say it all


def whole(session: OffloadSession, messages: list[dict[str, object]]) -> None:
    """Everything is archived, comes back, has a home, and the same list the same bytes."""
    sent = session.assemble(messages)
    assert not session.report.warnings
    for one in messages:
        if one["role"] == "tool":
            assert session.text(str(one["tool_call_id"])) == one["content"]
    assert session.assemble(messages) == sent
    held = [
        key
        for task in session.tasks()
        for _, keys in session.open(task.file).results
        for key in keys
    ]
    assert len(held) == len(set(held))


@pytest.mark.promise("offload.killed")
@pytest.mark.promise("offload.archive-first")
def test_killed_anywhere_nothing_archived_is_lost(tmp_path: Path, server: Server) -> None:
    with child.counted() as counts:
        WORKS["offload"](tmp_path / "whole", lambda _: None)
    cases = [
        (name, at)
        for name, passed in sorted(counts.items())
        if name.startswith(PLACES)
        for at in sorted({1, passed} if name.startswith("offload.") else {passed // 2 + 1})
    ]
    for name, at in cases:
        home = tmp_path / "killed"
        shutil.rmtree(home, ignore_errors=True)
        ended = server.run("offload", home, {name: at})
        assert ended.signal in (0, signal.SIGKILL), ended.error
        with opened(home) as memory:
            assert memory.reconcile().actions == [], (name, at)
            session = memory.offload("mill", window=WINDOW)
            done = [int(line.split()[1]) for line in ended.said]
            for one in dialogue()[: max(done, default=0)]:
                if one["role"] == "tool":
                    assert session.text(str(one["tool_call_id"])) == one["content"], (name, at)
            whole(session, dialogue())
            assert memory.reconcile().actions == [], (name, at)


@pytest.mark.promise("offload.degraded")
def test_a_full_disk_is_told_and_nothing_is_folded(tmp_path: Path) -> None:
    messages = dialogue(20)
    with opened(tmp_path) as memory:
        session = memory.offload("mill", window=WINDOW)
        before = session.assemble(messages[:11])
        for place in (
            "vault.stage.write",
            "vault.stage.fsync",
            "vault.publish.before",
            "vault.sync",
        ):
            with failpoints.armed({place: "enospc"}) as fired:
                sent = session.assemble(messages[:41])
            assert fired
            assert "nothing was archived or folded now" in session.report.warnings[0]
            assert sent[: len(before)] == before
            assert sent[len(before) :] == messages[11:41]
        whole(session, messages)
        assert session.report.after < 0.95 * WINDOW
    with opened(tmp_path) as memory:
        assert memory.reconcile().actions == []


def test_files_that_cannot_be_read_are_told_and_left(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        session = memory.offload("mill", window=WINDOW)
        for at in (11, 23, 41):
            session.assemble(dialogue(20)[:at])
    folder = tmp_path / "offload" / "mill"
    (graph,) = (folder / "graphs").iterdir()
    graph.write_text("no graph at all")
    (folder / "state.json").write_text("{")
    with (folder / "offload.jsonl").open("ab") as file:
        file.write(b"not json\n")
    with opened(tmp_path) as memory:
        assert {Path(one.path).name for one in memory.reconcile().problems} <= {
            *("state.json", "offload.jsonl", graph.name),
        }
        session = memory.offload("mill", window=WINDOW)
        whole(session, dialogue(20))
        assert session.report.after < 0.95 * WINDOW


TWO = """
import sys
from pathlib import Path
from tests.faults.works import dialogue, opened
home, first = Path(sys.argv[1]), int(sys.argv[2])
messages = dialogue(16)
with opened(home) as memory:
    session = memory.offload("mill", window=2_000)
    for at in range(3 + 2 * first, len(messages) + 1, 4):
        session.assemble(messages[:at])
        assert not session.report.warnings, session.report.warnings
    session.assemble(messages)
    print("done", flush=True)
"""


@pytest.mark.promise("offload.two-processes")
def test_two_processes_share_a_session(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    env: dict[str, Any] = {**os.environ, "PYTHONPATH": path}
    with opened(tmp_path):
        pass
    both = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, str(tmp_path), str(n)],
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(2)
    ]
    for one in both:
        out, err = one.communicate(timeout=100)
        assert (out, one.returncode) == ("done\n", 0), err
    with opened(tmp_path) as memory:
        whole(memory.offload("mill", window=WINDOW), dialogue(16))
        lines = (tmp_path / "offload" / "mill" / "offload.jsonl").read_text().splitlines()
        assert len({json.loads(line)["tool_call_id"] for line in lines}) == len(lines) == 16
        assert memory.reconcile().actions == []
