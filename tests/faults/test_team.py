"""Team documents killed at every step, and saved by many at once: document and history agree, no entry is lost."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.faults import child
from tests.faults.child import Server
from tests.faults.oracle import faults
from tests.faults.test_many_processes import start
from tests.faults.works import (
    BY_HAND,
    ENTRIES,
    HEADING,
    SAVED,
    SLIP,
    WORKS,
    documents,
    opened,
    prepare,
)

from memstrata import Memory
from memstrata.domain import revision

MEMBERS = 8
PLACES = ("team.staged", "team.logged", "team.published", "vault.settle", "vault.append.after")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as found:
        yield found


class Trial:
    """The work `team`: the home before it, and where it can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before = folder / "before"
        prepare(self.before, "team")
        with child.counted() as counts:
            self.finish(self.copy("whole"))
        self.counts = counts

    def copy(self, name: str, home: Path | None = None) -> Path:
        """A home as it was before the work, or another one."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(home or self.before, place)
        return place

    def finish(self, home: Path) -> None:
        """Do the work (again): how it ends."""
        WORKS["team"](home, lambda _: None)
        with opened(home) as memory:
            texts = {name: one.read().memory_md for name, one in documents(memory).items()}
            agree(memory)
        assert texts["team"].splitlines() == [HEADING, SAVED, BY_HAND, *ENTRIES]
        assert texts["private"].splitlines() == [HEADING, *ENTRIES]

    def judge(self, home: Path, said: list[str]) -> None:
        """After a kill: what was acknowledged is there, all agree, and the rest ends the same."""
        with opened(home) as memory:
            agree(memory)
            found = documents(memory)
            for line in said:
                kind, name, *entry = line.split(" ", 2)
                text = found[name].read().memory_md
                if kind == "entry":
                    assert entry[0] in text
            undone = [line.split(" ")[1] for line in said if line.startswith("undone")]
            assert not any(SLIP in found[name].read().memory_md for name in undone)
            assert BY_HAND in found["team"].read().memory_md
        self.finish(home)


def agree(memory: Memory) -> None:
    """File, log and what is read say the same, and healing them once was enough."""
    assert faults(memory) == []
    for one in documents(memory).values():
        shown, history = one.read(), one.history()
        assert [each.rev for each in history] == list(range(1, len(history) + 1))
        assert shown.rev == len(history)
        if history:
            assert one.read(rev=shown.rev).memory_md == shown.memory_md
        file = memory.home / str(one._thread.document)
        assert (file.read_bytes() if file.exists() else b"") == revision.content(shown.memory_md)
    for folder in (memory.home, *memory.home.glob("team/*")):
        assert [path for path in folder.iterdir() if path.name.endswith("~")] == []


def killed_everywhere(
    folder: Path, server: Server, most: int, *, only: tuple[str, ...]
) -> set[str]:
    """Kill the work at the first `most` passings of each place; the places that struck."""
    trial = Trial(folder)
    struck: set[str] = set()
    for name in only or sorted(trial.counts):
        for at in range(1, min(trial.counts[name], most) + 1):
            home = trial.copy("killed")
            ended = server.run("team", home, {name: at})
            assert ended.signal in (0, signal.SIGKILL), ended.error
            assert not ended.error
            try:
                trial.judge(home, ended.said)
            except AssertionError as error:
                error.add_note(f"killed at {name}, passing {at}")
                raise
            struck |= {name} if ended.signal else set()
    return struck


@pytest.mark.promise("team.whole")
def test_killed_at_each_step_of_a_save(tmp_path: Path, server: Server) -> None:
    places = (*PLACES, *child.COMMITS)
    assert killed_everywhere(tmp_path, server, 3, only=places) == set(places)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_killed_at_each_passing(tmp_path: Path, server: Server) -> None:
    assert set(PLACES) < killed_everywhere(tmp_path, server, 1_000, only=())


@pytest.mark.promise("team.whole")
def test_killed_while_it_heals_what_a_kill_left(tmp_path: Path, server: Server) -> None:
    """A line without its file, then a kill at each step of the healing."""
    trial = Trial(tmp_path)
    left = trial.copy("left")
    first = server.run("team", left, {"team.logged": 2})
    assert first.signal == signal.SIGKILL
    with child.counted() as counts:
        WORKS["heal"](trial.copy("counted", left), lambda _: None)
    assert counts["team.published"] == 1, "the line is carried out"
    for name in ("team.staged", "team.published", "vault.publish.before", *child.COMMITS):
        home = trial.copy("killed", left)
        server.run("heal", home, {name: 1})
        trial.judge(home, first.said)


@pytest.mark.promise("team.whole")
@pytest.mark.parametrize("place", ["team.logged", "team.published"])
def test_killed_beside_a_process_that_goes_on(tmp_path: Path, server: Server, place: str) -> None:
    """The other one never opens anew: it reads what was cut off carried out, and builds on that."""
    trial = Trial(tmp_path)
    home = trial.copy("killed")
    with opened(home) as memory:
        team = documents(memory)["team"]
        assert team.read().rev == 2, "the hand edit is taken over"
        assert server.run("team", home, {place: 1}).signal == signal.SIGKILL
        assert ENTRIES[0] in team.read().memory_md
        assert team.save(f"{team.read().memory_md}\n{ENTRIES[1]}").rev == 4
        memory.reconcile()  # sweeps
        agree(memory)


def test_a_line_that_was_cut_off_and_a_file_changed_by_hand_since(
    tmp_path: Path, server: Server
) -> None:
    """What the person wrote is the document; what was cut off stays in the history."""
    trial = Trial(tmp_path)
    home = trial.copy("killed")
    assert server.run("team", home, {"team.logged": 2}).signal == signal.SIGKILL
    (file,) = home.glob("team/*/TEAM_MEMORY.md")
    file.write_text(f"{HEADING}\n{SAVED}\n- 2025-01-06: Written after the crash\n")
    with opened(home) as memory:
        team = documents(memory)["team"]
        assert team.read().memory_md == f"{HEADING}\n{SAVED}\n- 2025-01-06: Written after the crash"
        assert [one.verb for one in team.history()] == ["save", "edit", "save", "edit"]
        assert ENTRIES[0] in team.read(rev=3).memory_md


def test_a_save_killed_at_its_very_end_and_taken_back_by_hand_later(
    tmp_path: Path, server: Server
) -> None:
    """Once somebody has seen it, the older text in the file is an edit and no write that was cut off."""
    trial = Trial(tmp_path)
    home = trial.copy("killed")
    assert server.run("team", home, {"team.published": 1}).signal == signal.SIGKILL
    with opened(home) as memory:
        team = documents(memory)["team"]
        assert ENTRIES[0] in team.read().memory_md
        (file,) = home.glob("team/*/TEAM_MEMORY.md")
        file.write_text(f"{HEADING}\n{SAVED}\n{BY_HAND}\n")
        assert ENTRIES[0] not in team.read().memory_md
        assert [one.verb for one in team.history()] == ["save", "edit", "save", "edit"]


MEMBER = """
import os, sys, traceback
from pathlib import Path
from tests.faults.works import opened
home, place, saves = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])

def work(me):
    with opened(home) as memory:
        team = memory.team(place, session=f"member {me}")
        seen, own = team.read(), []
        for n in range(saves):
            if me % 2 and n % 10 == 9:
                seen, own = team.read(), []
            own.append(f"- 2026-01-{me + 1:02d}: Member {me} saw sight {n} of town{me}x{n}")
            found = team.save("\\n".join((seen.memory_md, *own)), base_rev=seen.rev)
            assert found.status == "saved", found
            assert not found.retained and not found.conflicts, found
            assert own[-1] in found.memory_md
            if me == 0 and n % 7 == 0:
                assert own[-1] in team.block()

pids = []
for me in range(int(sys.argv[4])):
    pid = os.fork()
    if not pid:
        try:
            work(me)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    pids.append(pid)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids))
"""


def _all_save(folder: Path, saves: int) -> None:
    home, place = folder / "home", folder / "town"
    place.mkdir()
    with opened(home) as memory:
        memory.team(place).save(f"{HEADING}\n{SAVED}")
    members = start(MEMBER, home, place, saves, MEMBERS)
    out, error = members.communicate()
    assert (members.returncode, out, error) == (0, "", "")
    with opened(home) as memory:
        agree_on_all(memory, place, saves)
        assert faults(memory) == []


def agree_on_all(memory: Memory, place: Path, saves: int) -> None:
    """Every entry of every member is there, and was in each revision since it was saved."""
    team = memory.team(place)
    entries = set(team.read().memory_md.splitlines()) - {HEADING, SAVED}
    assert entries == {
        f"- 2026-01-{me + 1:02d}: Member {me} saw sight {n} of town{me}x{n}"
        for me in range(MEMBERS)
        for n in range(saves)
    }
    (log,) = memory.home.glob("team/*/revisions.jsonl")
    seen: set[str] = set()
    for number, line in enumerate(log.read_text().splitlines(), start=1):
        one = json.loads(line)
        assert one["rev"] == number
        assert seen < set(one["text"].splitlines())
        seen = set(one["text"].splitlines())
    assert number == 1 + MEMBERS * saves


@pytest.mark.promise("team.many")
def test_eight_members_save_at_once_from_stale_revisions(tmp_path: Path) -> None:
    _all_save(tmp_path, 8)


@pytest.mark.long
@pytest.mark.promise("team.many")
@pytest.mark.timeout(600)
def test_eight_members_save_fifty_times_at_once() -> None:
    """On the disk, with its fsyncs."""
    with TemporaryDirectory() as folder:
        _all_save(Path(folder).resolve(), 50)
