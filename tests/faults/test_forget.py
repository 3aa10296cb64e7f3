"""An erasure that fails half-way, beside others who write, and what is put back by hand afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw
import pytest
from tests.faults.child import ROOT, Server, counted
from tests.faults.disks import failing
from tests.faults.oracle import faults, sound
from tests.faults.works import before_forgetting, opened, traces

from memstrata import Memory, NotFound, bootstrap, failpoints
from memstrata.adapters.sqlite import SqliteStore
from memstrata.adapters.vault_fs import FileVault
from memstrata.errors import OutcomeUnknown, Unavailable
from memstrata.failpoints import NAMES
from memstrata.pipelines.reconcile import erasing

STEPS = tuple(name for name in NAMES if name.startswith("forget."))
WORD = "Harrow"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as found:
        yield found


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which somebody worked at a place that is to be forgotten."""
    home = tmp_path_factory.mktemp("before") / "home"
    before_forgetting(home)
    return home


@pytest.fixture
def home(before: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(before, tmp_path / "copy"))


@pytest.mark.promise("forget.kill")
@pytest.mark.promise("write.reconcile-idle")
@pytest.mark.parametrize("place", STEPS)
def test_once_it_is_written_down_the_next_start_finishes_it(
    home: Path, server: Server, place: str
) -> None:
    ended = server.run("forget_one", home, {place: 1})
    assert (ended.signal, ended.said) == (9, [])
    with opened(home) as memory:
        assert traces(home, WORD) == []
        assert memory.reconcile().actions == []
        assert faults(memory) == []
        with pytest.raises(NotFound):
            memory.forget(entity=WORD)
    assert sound(home) == []


@pytest.mark.promise("forget.kill")
def test_killed_while_the_next_start_finishes_it(
    home: Path, server: Server, tmp_path: Path
) -> None:
    assert server.run("forget_one", home, {"forget.buried": 1}).signal == 9
    for place in STEPS[1:]:
        left = Path(shutil.copytree(home, tmp_path / place))
        assert server.run("heal", left, {place: 1}).signal == 9
        with opened(left) as memory:
            assert traces(left, WORD) == []
            assert faults(memory) == []


@pytest.mark.promise("forget.kill")
@pytest.mark.parametrize("place", ["forget.buried", "forget.committed"])
def test_a_process_that_goes_on_finishes_it_before_it_writes(
    home: Path, server: Server, place: str
) -> None:
    with opened(home) as memory:
        assert server.run("forget_one", home, {place: 1}).signal == 9
        chat = memory.session("work")
        chat.commit([{"role": "user", "content": "I live in Graz.", "id": "z1"}])
        memory.drain()
        memory.reconcile()
        assert traces(home, WORD) == []
        assert faults(memory) == []


@pytest.mark.promise("forget.atomic")
def test_each_write_of_files_fails_once(home: Path, tmp_path: Path) -> None:
    """What fails before the commit forgets nothing; what fails behind it is finished later."""
    whole = Path(shutil.copytree(home, tmp_path / "whole"))
    with opened(whole) as memory, counted() as counts:
        memory.forget(entity=WORD)
    io = [name for name in counts if name.startswith(("vault.", "forget."))]
    assert len(io) > 10
    for name in sorted(io):
        place = Path(shutil.copytree(home, tmp_path / "failing"))
        with opened(place) as memory:
            _fails_whole(memory, name)
        shutil.rmtree(place)


def _fails_whole(memory: Memory, name: str) -> None:
    """An erasure with one write that fails, then one with room."""
    stays = len(traces(memory.home, WORD))
    with failpoints.armed({name: "enospc"}):
        try:
            memory.forget(entity=WORD)
        except OutcomeUnknown:
            memory.reconcile()
            assert traces(memory.home, WORD) == [], name
        except (Unavailable, OSError):
            assert len(traces(memory.home, WORD)) == stays, name
            assert faults(memory) == [], name
            memory.forget(entity=WORD)
    memory.reconcile()
    assert traces(memory.home, WORD) == [], name
    assert faults(memory) == [], name


@pytest.mark.promise("forget.atomic")
def test_the_database_cannot_be_written(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing(monkeypatch) as disk:
        for at in (1, 3, 9, 27):
            place = Path(shutil.copytree(home, tmp_path / str(at)))
            with opened(place) as memory:
                disk.fail(at, apsw.FullError, stays=False)
                try:
                    memory.forget(entity=WORD)
                except Unavailable:
                    disk.heal()
                    memory.reconcile()
                disk.heal()
                try:
                    memory.forget(entity=WORD)
                except NotFound:
                    memory.reconcile()
                assert traces(place, WORD) == [], at
                assert faults(memory) == [], at


@pytest.mark.promise("forget.blocked")
def test_a_file_that_cannot_be_removed_is_said_and_tried_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: FileVault, place: object) -> bool:
        raise Unavailable(f"{place}: permission denied")

    with opened(home) as memory:
        (one,) = (o for o in memory.list().items if WORD in o.description)
        with monkeypatch.context() as patched:
            patched.setattr(FileVault, "remove", refuse)
            receipt = memory.forget(ids=[one.id])
        assert one.path in [left.path for left in receipt.left]
        with pytest.raises(NotFound):
            memory.get(one.id)
        memory.reconcile()
        assert not (home / one.path).exists()


# -- beside others ---------------------------------------------------------------------------------


@pytest.mark.promise("forget.in-flight")
def test_a_batch_whose_model_is_answering_loses(home: Path) -> None:
    """It read what is forgotten meanwhile: nothing of its answer is kept, it asks again."""
    with opened(home) as memory:
        memory.session("new").commit(
            [
                {"role": "user", "content": "My badge at Harrowgate is brass.", "id": "n1"},
                {"role": "user", "content": "I live in Graz.", "id": "n2"},
            ]
        )
        world = memory._world
        met = threading.Event()
        hit = failpoints.hit

        def stop(name: str) -> None:
            if name == "extract.decided" and not met.is_set():
                met.set()
                with opened(home) as other:
                    other.forget(session="new", entity="Harrowgate")
            hit(name)

        failpoints.hit = stop
        try:
            memory.drain()
        finally:
            failpoints.hit = hit
        assert met.is_set()
        assert traces(home, "Harrowgate") == []
        assert [one.description for one in memory.list(text="graz").items] == ["Lives in Graz"]
        assert faults(memory) == []
        assert world.store.check() == []


@pytest.mark.promise("forget.in-flight")
def test_a_commit_that_was_under_way_stores_nothing_of_it(home: Path) -> None:
    """Between reading what is known and writing, another process forgets."""
    said = [
        {"role": "user", "content": "I work at Harrow Tools.", "id": "u1", "said_at": "2025-01-10"}
    ]
    with opened(home) as memory, opened(home) as other:
        hit = failpoints.hit

        def stop(name: str) -> None:
            if name == "apply.staged":
                failpoints.hit = hit
                other.forget(entity=WORD)
            hit(name)

        memory.session("fresh").commit([{"role": "user", "content": "Hello there, Harrow."}])
        failpoints.hit = stop
        try:
            memory.session("work").commit([*said, {"role": "user", "content": "And hello."}])
        finally:
            failpoints.hit = hit
        assert traces(home, WORD) == []
        assert faults(memory) == []


@pytest.mark.promise("forget.in-flight")
def test_a_vector_that_was_being_made_goes_too(home: Path) -> None:
    """Its text is forgotten between embedding and storing."""
    bundled = {"embedding.model": ""}
    with opened(home, **bundled) as memory, opened(home, **bundled) as other:
        memory.session("new").commit(
            [{"role": "user", "content": f"{WORD} lies on the river.", "id": "n1"}]
        )
        hit, met = failpoints.hit, list[str]()

        def stop(name: str) -> None:
            if name == "embed.made" and not met:
                met.append(name)
                other.forget(entity=WORD)
            hit(name)

        failpoints.hit = stop
        try:
            memory.drain()
        finally:
            failpoints.hit = hit
        assert met
        world = memory._world
        assert world.vectors is not None
        assert erasing.orphans(world, memory._realm) == {}
        assert memory.status().vectors[0] == memory.status().vectors[1]


@pytest.mark.promise("forget.bytes")
@pytest.mark.promise("forget.receipt")
def test_a_reader_that_goes_on_keeps_the_log_for_a_while(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receipt says so, and the next reconcile takes the last traces out."""
    monkeypatch.setattr(bootstrap, "SqliteStore", partial(SqliteStore, patience=0.05))
    with opened(home) as memory, opened(home) as other:
        store = other._world.store
        assert isinstance(store, SqliteStore)
        with store._pool.reading():
            receipt = memory.forget(entity=WORD)
            assert [one.why for one in receipt.not_reached] == ["log", "copies"]
        assert memory.reconcile().actions == [
            "took out the last traces of what local had forgotten"
        ]
        assert memory.reconcile().actions == []
        assert traces(home, WORD) == []
        assert faults(memory) == []


@pytest.mark.promise("forget.in-flight")
def test_readers_and_writers_of_other_processes_go_on(home: Path) -> None:
    """Four processes add and search while one forgets one thing after another."""
    program = (
        "import sys; from tests.faults.works import opened; from pathlib import Path\n"
        "with opened(Path(sys.argv[1])) as m:\n"
        "    for n in range(5):\n"
        "        m.add(name=f'{sys.argv[2]}-{n}', description=f'Note {n} of {sys.argv[2]}')\n"
        "        m.search('Harrow'); m.session(sys.argv[2]).commit("
        "[{'role': 'user', 'content': f'Said {n} by {sys.argv[2]}'}])\n"
    )
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    others = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(home), name],
            env={**os.environ, "PYTHONPATH": path},
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        for name in ("one", "two")
    ]
    with opened(home) as memory:
        for given in ({"entity": WORD}, {"session": "food"}, {"session": "later"}):
            memory.forget(**given)  # type: ignore[arg-type]
        for other in others:
            _, error = other.communicate(timeout=60)
            assert other.returncode == 0, error.decode()
        memory.reconcile()
        assert traces(home, WORD) == []
        assert faults(memory) == []
        assert len(memory.list(limit=100, text="note").items) == 10


# -- put back by hand ------------------------------------------------------------------------------


@pytest.mark.promise("forget.stays")
@pytest.mark.parametrize("folder", ["conversations", "records", "memory", "conversations.gone"])
def test_what_is_put_back_goes_again(before: Path, home: Path, folder: str) -> None:
    """An old shard, an old record or an old file, with or without a new index."""
    name = folder.removesuffix(".gone")
    with opened(home) as memory:
        memory.forget(entity=WORD)
        kept = sorted(one.id for one in memory.list().items)
        if folder.endswith(".gone"):
            for shard in (home / name).glob("*.jsonl"):
                shard.unlink()
    shutil.copytree(before / name, home / name, dirs_exist_ok=True)
    with opened(home) as memory:
        assert sorted(one.id for one in memory.list().items) == kept
        memory.reindex()
        assert sorted(one.id for one in memory.list().items) == kept
        memory.drain()
        memory.extract(retry_refused="low_priority")
        assert list(memory.search(WORD)) == []
        assert faults(memory) == []
        assert traces(home, WORD) == []


@pytest.mark.promise("forget.stays")
def test_an_old_shard_that_is_shorter_by_now(before: Path, home: Path) -> None:
    """The index knows of more than stands in it: what is missing is appended, what was forgotten goes."""
    with opened(home) as memory:
        memory.forget(entity=WORD)
        for n in range(9):
            said = {"role": "user", "content": f"{n}. {'It rained on the hills. ' * 9}"}
            memory.session("late").commit([said])
        memory.drain()
    for name in ("conversations", "records"):
        shutil.copytree(before / name, home / name, dirs_exist_ok=True)
    with opened(home) as memory:
        assert faults(memory) == []
        assert traces(home, WORD) == []
        assert len(memory._world.store.messages(memory._realm, "late")) == 9


@pytest.mark.promise("forget.stays")
def test_the_database_alone_is_put_back(before: Path, home: Path) -> None:
    with opened(home) as memory:
        memory.forget(entity=WORD)
    for ending in ("", "-wal", "-shm"):
        (home / f"memstrata.db{ending}").unlink(missing_ok=True)
    shutil.copy(before / "memstrata.db", home)
    with opened(home) as memory:
        assert faults(memory) == []
        assert traces(home, WORD) == []


@pytest.mark.promise("forget.stays")
def test_a_lost_key_is_said(home: Path) -> None:
    with opened(home) as memory:
        memory.forget(entity=WORD)
        (home / "tombstones.key").unlink()
        (problem,) = memory.reconcile().problems
        assert "tombstones.key" in problem.problem


@pytest.mark.promise("forget.stays")
def test_lost_tombstones_are_said(home: Path) -> None:
    with opened(home) as memory:
        memory.forget(entity=WORD)
        (home / "tombstones.jsonl").unlink()
        (problem,) = memory.reconcile().problems
        assert (problem.path, "is gone" in problem.problem) == ("tombstones.jsonl", True)
