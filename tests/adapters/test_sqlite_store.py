"""The SQLite store: the contract, and what only a file on a disk can do to it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import apsw
import pytest
from tests.contracts.store import (
    AGENT,
    ANN,
    ANNS,
    MOMENT,
    NOW,
    SPACE,
    StoreContract,
    ids,
    line,
    memory,
    put,
    row,
    said,
    say,
    search,
)

from memstrata.adapters.sqlite import SqliteStore
from memstrata.adapters.sqlite.statements import SQL, parse
from memstrata.domain.memory import Evidence
from memstrata.domain.scope import Key, Realm
from memstrata.domain.terms import query_terms
from memstrata.errors import Corrupt, Internal, Unavailable
from memstrata.ports import Cursor, Damaged, Listing, Store, StoreRead, StoreWrite


def opened(folder: Path, *, vfs: str | None = None, patience: float = 30.0) -> SqliteStore:
    """The store in a folder."""
    return SqliteStore(folder / "index.db", backups=folder / "backups", vfs=vfs, patience=patience)


def opening(folder: Path) -> str:
    """The same as a script."""
    return (
        "from pathlib import Path\n"
        "from memstrata.adapters.sqlite import SqliteStore\n"
        f"folder = Path({str(folder)!r})\n"
        "store = SqliteStore(folder / 'index.db', backups=folder / 'backups')\n"
    )


def run(folder: Path, script: str) -> str:
    """What `script` prints in a process of its own, with the folder's store open."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", opening(folder) + script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteStore]:
    found = opened(tmp_path)
    yield found
    found.close()


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, sqlite: SqliteStore) -> Store:
        return sqlite

    @pytest.fixture
    def opening(self, tmp_path: Path) -> str:
        return opening(tmp_path)


# -- the file --------------------------------------------------------------------------------------


def test_the_files_are_the_owners_alone(tmp_path: Path) -> None:
    store = opened(tmp_path / "new" / "home")
    put(store, row(memory()))
    modes = {file.name: file.stat().st_mode & 0o777 for file in store.path.parent.iterdir()}
    assert modes == dict.fromkeys(("index.db", "index.db-wal", "index.db-shm"), 0o600)
    store.close()
    assert [file.name for file in store.path.parent.iterdir()] == ["index.db"]


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, row(memory()))
    store.close()
    store = opened(tmp_path)
    assert store.memory([ANNS], "mem_1") == row(memory())
    store.close()


def test_what_was_dropped_is_in_no_file_after_scrubbing(sqlite: SqliteStore) -> None:
    put(sqlite, row(memory(id="secret", name="Zyxwname", body="zyxwbody " * 2000)))
    say(sqlite, ANN, said("m1", "zyxwsaid of the heath " * 500), said("m2", "of the heath"))
    sqlite.optimise()
    with sqlite.transaction() as write:
        write.drop(ANNS, "secret")
        assert write.drop_messages(ANN, [("s1", "m1")]) == 1
    assert sqlite.scrub()
    files = [file for file in sqlite.path.parent.iterdir() if file.is_file()]
    assert [file.name for file in files if b"zyxw" in file.read_bytes().lower()] == []
    assert [hit.message.id for hit in sqlite.search_messages(ANN, ("",), query_terms("heath"))] == [
        "m2"
    ]


def test_a_reader_that_goes_on_keeps_the_log(tmp_path: Path) -> None:
    store, other = opened(tmp_path, patience=0.05), opened(tmp_path)
    say(store, ANN, said("m1", "zyxwsaid of the heath"))
    lines = iter(other.record_lines("orchard", "ann"))
    with other._pool.reading():
        with store.transaction() as write:
            write.drop_messages(ANN, [("s1", "m1")])
        assert not store.scrub()
    assert store.scrub()
    assert list(lines) == []
    store.close()
    other.close()


def test_what_was_dropped_is_in_no_file_after_optimising(sqlite: SqliteStore) -> None:
    put(sqlite, row(memory(id="secret", name="Zyxwname", body="zyxwbody " * 2000)))
    put(sqlite, *(row(memory(id=f"m{n}", body=f"bees {n}")) for n in range(50)))
    say(sqlite, ANN, *(said(f"m{n}", f"bees {n}") for n in range(50)))
    with sqlite.transaction() as write:
        write.drop(ANNS, "secret")
    sqlite.optimise()
    files = [file.read_bytes().lower() for file in sqlite.path.parent.glob("index.db*")]
    assert len(files) == 3
    assert not any(b"zyxw" in data for data in files)


@pytest.mark.promise("write.unavailable")
def test_no_database_is_damaged_and_left_alone_until_it_is_renewed(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"a note, not a database " * 100)
    store = opened(tmp_path)
    uses: tuple[Callable[[], object], ...] = (
        lambda: store.memory([ANNS], "mem_1"),
        lambda: put(store, row(memory())),
    )
    for use in uses:
        with pytest.raises(Damaged, match="memstrata reindex") as error:
            use()
        assert error.value.path == str(path)
    assert len(store.check()) == 1
    assert path.read_bytes() == b"a note, not a database " * 100
    store.renew()
    assert store.check() == []
    put(store, row(memory()))
    store.close()
    store = opened(tmp_path)
    assert store.memory([ANNS], "mem_1") == row(memory())
    assert b"a note" not in path.read_bytes()
    store.close()


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "index.db"))
    other.execute("CREATE TABLE precious (text)")
    other.close()
    with pytest.raises(Corrupt, match="another program"):
        opened(tmp_path)


def test_whoever_has_a_renewed_database_open_goes_on(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    put(first, row(memory()))
    say(first, ANN, said("m1", "bees"))
    assert search(second, "bees") == ["mem_1"]
    inside = "with store._pool.reading() as db:\n    print(db.all('all_text_rows', {'name': 'memory'}))\n"
    assert run(tmp_path, inside) == "[(1,)]\n"
    second.renew()
    for store in (first, second):
        assert search(store, "bees") == []
        assert store.totals(SPACE)["messages"] == 0
    put(first, row(memory(id="mem_2")))
    assert search(second, "bees") == search(first, "bees") == ["mem_2"]
    assert first.check() == second.check() == []
    first.close()
    second.close()


def test_numbers_mean_nothing_else_after_renewing(sqlite: SqliteStore) -> None:
    """Whoever remembers a message or a job by its number does not take another for it."""

    def numbers() -> set[int]:
        put(sqlite, row(memory()))
        say(sqlite, ANN, said("m1", "bees"))
        with sqlite.transaction() as write:
            write.enqueue(ANN, "extract", "s1", NOW)
        db = apsw.Connection(str(sqlite.path))
        found = {number for (number,) in db.execute("SELECT row FROM memories")}
        db.close()
        found |= {one.position for one in sqlite.messages(ANN, "s1")}
        return found | {job.number for job in sqlite.jobs(ANN)}

    seen: set[int] = set()
    for _ in range(3):
        found = numbers()
        assert not found & seen
        seen |= found
        sqlite.renew()
    assert sqlite.check() == []


def test_renewing_waits_for_a_writer(tmp_path: Path) -> None:
    store = opened(tmp_path, patience=0.05)
    put(store, row(memory()))
    other = apsw.Connection(str(store.path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="in use by another process"):
        store.renew()
    other.close()
    assert search(store, "bees") == ["mem_1"]
    with store.transaction(), pytest.raises(Unavailable, match="another thread"):
        store.renew()
    store.renew()
    assert search(store, "bees") == []
    store.close()


def test_words_that_a_text_index_lost_are_found(sqlite: SqliteStore) -> None:
    put(sqlite, *(row(memory(id=f"m{n}", body=f"bees {n}")) for n in range(9)))
    say(sqlite, ANN, *(said(f"m{n}", f"bees {n}") for n in range(9)))
    with sqlite.transaction() as write:
        write.drop(ANNS, "m3")
    sqlite.optimise()
    assert sqlite.check() == []
    db = apsw.Connection(str(sqlite.path))
    db.execute("UPDATE message_text_data SET block = zeroblob(length(block)) WHERE id = 10")
    db.close()
    (fault,) = sqlite.check()
    assert fault.startswith("the text index message_text holds 0 words and should hold ")


def test_clearing_mends_the_text_indexes_and_keeps_what_they_hold_of_others(
    sqlite: SqliteStore,
) -> None:
    elsewhere = Realm("quarry", "ann")
    for realm in (ANN, elsewhere):
        found = memory(Key(realm, "user", ""), body="bees in May")
        put(sqlite, row(found), row(replace(found, id="mem_2", archived=True)))
        say(sqlite, realm, said("m1", "bees", workspace="ws-1"))
    before = sqlite.totals("quarry")
    db = apsw.Connection(str(sqlite.path))
    db.execute("UPDATE memory_text_data SET block = x'ff' WHERE id >= 10")
    db.execute("UPDATE message_text_data SET block = x'ff' WHERE id >= 10")
    db.close()
    assert sqlite.check() != []
    with sqlite.transaction() as write:
        write.clear(SPACE)
    assert sqlite.check() == []
    assert sqlite.totals("quarry") == before
    assert search(sqlite, "bees") == []
    assert search(sqlite, "may", Key(elsewhere, "user", "")) == ["mem_1"]
    hits = sqlite.search_messages(elsewhere, ("ws-1",), query_terms("bees"))
    assert [hit.message.id for hit in hits] == ["m1"]


def test_damage_is_reported(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, *(row(memory(id=f"m{n:03}", body="bees " * 200)) for n in range(100)))
    store.close()
    with store.path.open("r+b") as file:
        file.seek(store.path.stat().st_size // 2)
        file.write(b"\xa5" * 4096 * 5)
    store = opened(tmp_path)
    assert store.check() != []
    with pytest.raises(Corrupt):
        store.memories([ANNS], Listing(), MOMENT)
    store.close()


def test_a_place_that_cannot_be_a_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "index.db").mkdir()
    with pytest.raises(Unavailable, match=r"cannot be opened"):
        opened(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable, match=r"cannot be opened"):
        opened(tmp_path / "file")


def test_many_open_a_new_database_at_once(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)

    def work(n: int) -> None:
        barrier.wait(30)
        store = opened(tmp_path)
        put(store, row(memory(id=f"m{n}")))
        store.close()

    with ThreadPoolExecutor(8) as pool:
        for one in [pool.submit(work, n) for n in range(8)]:
            one.result()
    store = opened(tmp_path)
    assert len(store.memories([ANNS], Listing(), MOMENT)) == 8
    store.close()


# -- the statements --------------------------------------------------------------------------------


def test_every_statement_has_a_name_and_a_sentence() -> None:
    text = "-- name: one\n-- It is one.\nSELECT 1;\n\n-- name: two\n-- It is two.\nSELECT\n2;\n"
    assert parse(text) == {"one": "SELECT 1;", "two": "SELECT\n2;"}
    for broken in ("-- name: one\nSELECT 1;\n", text + text):
        with pytest.raises(Internal):
            parse(broken)


@pytest.mark.promise("search.scope-cost")
def test_no_statement_reads_a_whole_table(sqlite: SqliteStore) -> None:
    """Cost grows with what is asked for, not with the store."""
    whole = {"clear_shards": {"shards"}, "jobs": {"k", "j"}, "totals": {"j"}}
    # A reindex empties the text indexes as a whole: others' texts go in again.
    whole |= {"other_memory_texts": {"m"}, "other_messages": {"m"}}
    whole |= {"forget_numbers": {"sqlite_sequence"}}
    db = apsw.Connection(str(sqlite.path))
    for name, sql in SQL.items():
        plan = db.execute(f"EXPLAIN QUERY PLAN {sql}", defaultdict(lambda: None)).fetchall()
        scanned = {
            found[1]
            for step in plan
            if (found := re.match(r"SCAN (\w+)(?! VIRTUAL|\w)", str(step[3])))
        }
        scanned -= {"json_each", "wanted", "memory_text", "message_text"}
        scanned -= {"hit", "part", "total", "ranked"}
        assert scanned <= whole.get(name, set()) | {"(subquery-1)", "CONSTANT"}, (name, plan)
    db.close()


def test_the_counts_of_texts_are_those_of_the_index(sqlite: SqliteStore) -> None:
    def counted() -> list[tuple[object, ...]]:
        db = apsw.Connection(str(sqlite.path))
        counts = "SELECT name, rows FROM text_counts ORDER BY name"
        rows = """SELECT 'memory', count(*) FROM memory_text_docsize
            UNION ALL SELECT 'message', count(*) FROM message_text_docsize"""
        keys = """SELECT number FROM keys WHERE texts <> (SELECT count(*) FROM (
            SELECT id FROM memory_text_docsize UNION ALL SELECT id FROM message_text_docsize
            ) WHERE id >> 32 = number)"""
        found = db.execute(counts).fetchall()
        assert found == db.execute(rows).fetchall()
        assert db.execute(keys).fetchall() == []
        db.close()
        return found

    put(sqlite, *(row(memory(key, f"m{n}")) for n in range(5) for key in (ANNS, AGENT)))
    say(sqlite, ANN, *(said(f"m{n}", "bees", workspace=f"ws-{n % 2}") for n in range(5)))
    assert counted() == [("memory", 10), ("message", 5)]
    put(sqlite, row(memory(id="m0", archived=True)), row(memory(id="m1", body="more")))
    with sqlite.transaction() as write:
        write.drop(ANNS, "m0")
        write.drop(ANNS, "m2")
        write.drop(ANNS, "m2")
    say(sqlite, ANN, said("m0", "bees"), said("m9", "bees"))
    assert counted() == [("memory", 8), ("message", 6)]
    with sqlite.transaction() as write:
        write.clear(SPACE)
    assert counted() == [("memory", 0), ("message", 0)]


# -- other writers ---------------------------------------------------------------------------------


@pytest.mark.promise("write.unavailable")
def test_a_database_in_use_is_unavailable_in_time_and_still_read(tmp_path: Path) -> None:
    store = opened(tmp_path, patience=0.05)
    put(store, row(memory()))
    other = apsw.Connection(str(store.path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="in use by another process"), store.transaction():
        pass
    assert search(store, "bees") == ["mem_1"]
    other.execute("ROLLBACK")
    put(store, row(memory(id="mem_2")))
    other.close()
    store.close()


def test_a_thread_that_keeps_writing_makes_others_unavailable(tmp_path: Path) -> None:
    store = opened(tmp_path, patience=0.05)
    with ThreadPoolExecutor(1) as pool, store.transaction() as write:
        write.put(row(memory()))
        with pytest.raises(Unavailable, match="another thread"):
            pool.submit(put, store, row(memory(id="mem_2"))).result()
    assert ids(store.memories([ANNS], Listing(), MOMENT)) == ["mem_1"]
    store.close()


def test_a_killed_writer_leaves_nothing_and_blocks_nobody(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    script = """
import sys
import tempfile
from tests.contracts.store import ANN, said
with store.transaction() as write:
    write.add_messages(ANN, [said(f"m{n}", "bees " * 5000) for n in range(100)])
    print("writing", flush=True)
    sys.stdin.read()
"""
    killed = subprocess.Popen(
        [sys.executable, "-c", opening(tmp_path) + script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert killed.stdout is not None
    assert killed.stdout.readline() == "writing\n"
    killed.kill()
    killed.communicate(timeout=30)
    say(sqlite, ANN, said("m-after", "bees"))
    assert [one.message.id for one in sqlite.messages(ANN, "s1")] == ["m-after"]
    assert sqlite.check() == []


# -- forks -----------------------------------------------------------------------------------------

_FORK = """
import os
import threading
from memstrata.errors import Internal
from tests.contracts.store import ANN, said, say

def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
        os._exit(0)
    return pid

def ended(pid):
    assert os.waitpid(pid, 0)[1] == 0
"""


@pytest.mark.promise("write.fork")
def test_parent_and_child_of_a_fork_both_go_on(sqlite: SqliteStore, tmp_path: Path) -> None:
    script = """
def write(name):
    for n in range(20):
        say(store, ANN, said(f"{name}-{n}", "bees"))
        assert store.message(ANN, f"{name}-{n}")

write("before")
children = [child(lambda: write("one")), child(lambda: (write("two"), store.close()))]
write("parent")
for pid in children:
    ended(pid)
store.close()
"""
    run(tmp_path, _FORK + script)
    found = [one.message.id for one in sqlite.messages(ANN, "s1")]
    names = ("before", "one", "two", "parent")
    assert sorted(found) == sorted(f"{name}-{n}" for name in names for n in range(20))
    assert sqlite.check() == []


def test_a_fork_waits_for_a_transaction_of_another_thread(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    script = """
inside, go_on = threading.Event(), threading.Event()
def slow():
    with store.transaction() as write:
        write.add_messages(ANN, [said("slow", "bees")])
        inside.set()
        go_on.wait(30)

thread = threading.Thread(target=slow)
thread.start()
inside.wait(30)
threading.Timer(0.05, go_on.set).start()
ended(child(lambda: say(store, ANN, said("child", "bees"))))
thread.join()
say(store, ANN, said("parent", "bees"))
"""
    run(tmp_path, _FORK + script)
    found = [one.message.id for one in sqlite.messages(ANN, "s1")]
    assert found == ["slow", "child", "parent"]
    assert sqlite.check() == []


def test_a_child_forked_inside_a_transaction_cannot_touch_it(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    script = """
def refused(work):
    try:
        work()
    except Internal:
        return
    raise AssertionError("it was allowed")

def all_refused():
    refused(lambda: write.add_messages(ANN, [said("child", "bees")]))
    refused(lambda: say(store, ANN, said("child", "bees")))
    refused(lambda: store.message(ANN, "m1"))
    store.close()

with store.transaction() as write:
    write.add_messages(ANN, [said("m1", "bees")])
    ended(child(all_refused))
    try:
        with store.transaction():
            pass
    except Internal:
        pass
    pid = os.fork()
    if pid == 0:
        parent = False
    else:
        parent = True
        ended_at = os.waitpid(pid, 0)[1]
        write.add_messages(ANN, [said("m2", "bees")])
if parent:
    assert ended_at >> 8 == 1, ended_at
    store.close()
"""
    # The child that leaves the block by itself ends with the error it deserves.
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", opening(tmp_path) + _FORK + script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Internal: this process was forked inside a transaction") == 1
    assert [one.message.id for one in sqlite.messages(ANN, "s1")] == ["m1", "m2"]
    assert sqlite.check() == []


# -- a disk that fails -----------------------------------------------------------------------------


class Disk(apsw.VFS):
    """The system's disk, until the n-th write, sync or truncation from `fail` on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = 0
        self.syncs = 0
        self._at = 0
        self._error: type[apsw.Error] = apsw.IOError
        self._stays = False
        super().__init__(name, "")

    def fail(self, at: int, error: type[apsw.Error], *, stays: bool) -> None:
        """Fail call `at`, counted from here, and with `stays` every later one."""
        self.calls, self._at, self._error, self._stays = 0, at, error, stays

    def heal(self) -> None:
        """Fail no more."""
        self._at = 0

    def call(self) -> None:
        """Count a call; fail it if it is its turn."""
        self.calls += 1
        if self._at and (self.calls == self._at or (self._stays and self.calls > self._at)):
            raise self._error(f"call {self.calls} failed")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return FailingFile(self, name, flags)


class FailingFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.call()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.call()
        self._disk.syncs += 1
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        self._disk.call()
        super().xTruncate(newsize)


_disks = count()


@pytest.fixture
def disk() -> Iterator[Disk]:
    found = Disk(f"disk-{next(_disks)}")
    yield found
    found.unregister()


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: thousands of syncs, of which only the calls matter."""
    memory = Path("/dev/shm")
    found = Path(tempfile.mkdtemp(dir=memory)) if os.access(memory, os.W_OK) else tmp_path
    yield found
    shutil.rmtree(found)


STEPS = 3


def step(write: StoreWrite, n: int) -> None:
    """One transaction's work: it touches every kind of row and moves a value from n - 1 to n."""
    quoted = (Evidence(f"m{n}", 0, 4, "bees", "s1"),)
    write.put(row(memory(id=f"m{n}", description=f"bees step{n}", evidence=quoted)))
    write.put(row(memory(id="value", version=n, description=f"value{n}")))
    write.add_messages(ANN, [said(f"m{n}", f"bees step{n} " + "and so on " * 300)])
    write.set_cursor(ANN, Cursor("s1", n, f"m{n}"))
    write.add_records(SPACE, [ANNS], [line(f"t{n}", id=f"m{n}")])
    write.enqueue(ANN, "extract", f"s{n}", NOW)


def traces(store: StoreRead, n: int) -> set[bool]:
    """For each thing that step n writes for good: is it there?"""
    terms = query_terms(f"step{n}")
    return {
        store.memory([ANNS], f"m{n}") is not None,
        store.search_memories([ANNS], terms, MOMENT) != [],
        store.search_messages(ANN, [""], terms) != [],
        store.message(ANN, f"m{n}") != [],
        store.derived(ANN, "s1", f"m{n}") != [],
        store.records([ANNS], f"m{n}") != [],
        any(job.key == f"s{n}" for job in store.jobs(ANN)),
    }


def judge(folder: Path, acknowledged: set[int]) -> None:
    """Reopen with a sound disk: each step is whole or absent, each acknowledged one there."""
    store = opened(folder)
    assert store.check() == []
    there = set()
    for n in range(1, STEPS + 1):
        found = traces(store, n)
        assert len(found) == 1, f"step {n} is half there"
        there |= {n} & ({n} if found == {True} else set())
    assert acknowledged <= there
    value = store.memory([ANNS], "value")
    assert (value.memory.version if value else 0) == max(there, default=0)
    assert store.cursor(ANN, "s1").position == max(there, default=0)
    assert search(store, " ".join(f"value{n}" for n in range(9))) == ["value"] * bool(there)
    put(store, row(memory(id="after")))
    store.close()


def work(folder: Path, disk: Disk) -> tuple[set[int], int]:
    """Open, do every step, close; the acknowledged steps, and how many failed."""
    acknowledged: set[int] = set()
    failures = 0
    store = None
    for n in range(1, STEPS + 1):
        try:
            store = store or opened(folder, vfs=disk.name, patience=0.05)
            with store.transaction() as write:
                step(write, n)
            acknowledged.add(n)
            if n == STEPS - 1:
                store.close()
                store = None
        except Unavailable:
            failures += 1
    _copy(folder)
    if store is not None:
        store.close()
    return acknowledged, failures


def _copy(folder: Path) -> None:
    """The files as a process that is killed now leaves them."""
    (folder / "killed").mkdir()
    for file in folder.glob("index.db*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, folder / "killed" / file.name)


@pytest.mark.promise("write.atomic")
@pytest.mark.parametrize(
    "error, stays",
    [(apsw.FullError, True), (apsw.IOError, False)],
    ids=["disk stays full", "one error"],
)
def test_whatever_write_fails_a_transaction_is_there_or_not(
    scratch: Path, disk: Disk, error: type[apsw.Error], stays: bool
) -> None:
    made = scratch / "made"
    opened(made).close()
    assert work(_again(made, scratch / "sound"), disk) == (set(range(1, STEPS + 1)), 0)
    judge(scratch / "sound", set(range(1, STEPS + 1)))
    calls = disk.calls
    assert calls > 100
    loud = 0
    for n in range(1, calls + 1):
        folder = _again(made, scratch / "tried")
        disk.fail(n, error, stays=stays)
        acknowledged, failures = work(folder, disk)
        disk.heal()
        judge(folder, acknowledged)
        judge(folder / "killed", acknowledged)
        loud += bool(failures)
    assert loud > calls // 2


def _again(made: Path, folder: Path) -> Path:
    """A fresh copy of a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made, folder)
    return folder


def test_a_database_that_could_not_be_made_is_made_the_next_time(scratch: Path, disk: Disk) -> None:
    opened(scratch / "0", vfs=disk.name).close()
    assert disk.calls > 50
    for n in range(1, disk.calls + 1):
        disk.fail(n, apsw.FullError, stays=True)
        with suppress(Unavailable):
            opened(scratch / str(n), vfs=disk.name).close()
        disk.heal()
        judge(scratch / str(n), set())


@pytest.mark.promise("write.unavailable")
def test_a_full_disk_says_so_and_the_store_goes_on_after(tmp_path: Path, disk: Disk) -> None:
    store = opened(tmp_path, vfs=disk.name)
    put(store, row(memory()))
    disk.fail(1, apsw.FullError, stays=True)
    with pytest.raises(Unavailable, match="the disk is full"):
        put(store, row(memory(id="mem_2")))
    assert search(store, "bees") == ["mem_1"]
    disk.heal()
    put(store, row(memory(id="mem_3")))
    assert search(store, "bees") == ["mem_1", "mem_3"]
    store.close()


def test_what_follows_a_rollback_by_sqlite_is_not_committed_by_itself(
    tmp_path: Path, disk: Disk
) -> None:
    """A transaction larger than the cache spills to the disk and is rolled back when that fails."""
    store = opened(tmp_path, vfs=disk.name)
    disk.fail(1, apsw.FullError, stays=False)

    def swallow(write: StoreWrite) -> None:
        with suppress(Unavailable):
            for n in range(2000):
                write.add_messages(ANN, [said(f"m{n}", "bees " * 1000)])
        with pytest.raises(Unavailable, match="rolled back"):
            write.put(row(memory()))

    with pytest.raises(Unavailable), store.transaction() as write:
        swallow(write)
    assert store.totals(SPACE) == dict.fromkeys(store.totals(SPACE), 0)
    store.close()


@pytest.mark.promise("l0.durable")
def test_every_commit_reaches_the_disk(tmp_path: Path, disk: Disk) -> None:
    store = opened(tmp_path, vfs=disk.name)
    put(store, row(memory(id="m")))
    before = disk.syncs
    for n in range(10):
        put(store, row(memory(id=f"m{n}")))
    assert disk.syncs - before >= 10
    store.close()


def test_two_stores_in_one_process_do_not_meet(tmp_path: Path) -> None:
    first, second = opened(tmp_path / "a"), opened(tmp_path / "b")
    with first.transaction() as write, second.transaction() as other:
        write.put(row(memory()))
        other.add_messages(Realm(SPACE, "ann"), [said("m1", "bees")])
    assert first.totals(SPACE)["messages"] == 0
    assert second.totals(SPACE)["memories"] == 0
    first.close()
    second.close()
