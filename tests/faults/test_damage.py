"""A damaged database: it is told, nothing canonical is lost, and `reindex` makes it whole again."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import pytest
from tests.faults.oracle import faults
from tests.faults.works import opened
from tests.interfaces.command import Run, here

from memstrata import Corrupt, Memory
from memstrata.domain.plan import EXTRACT
from memstrata.pipelines import apply
from memstrata.ports import Lease

PAGE = 4096
SECRET = "zyxwvut"
"""Stands in the database alone."""


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    """A home of some pages of everything: memories, ended ones, messages, verdicts and a job set aside."""
    with TemporaryDirectory(prefix="mem-") as folder:
        home = Path(folder) / "home"
        with opened(home) as memory:
            for n in range(20):
                words = " ".join(f"bees{n + m} of hive{n * m}" for m in range(20))
                memory.add(name=f"mill {n}", description=f"Mill {n} has {n} doors", body=words)
            for n in range(30):
                said = f"I live in Town{n}. The ferry of bees leaves at {n}."
                chat = memory.session(f"s{n % 3}")
                chat.commit(
                    [{"role": "user", "content": said}, {"role": "assistant", "content": "x"}]
                )
            memory.drain()
            memory.session("aside").commit([{"role": "user", "content": "I prefer tea."}])
            set_aside(memory)
            memory._world.store.optimise()
        yield home


def set_aside(memory: Memory) -> None:
    world = memory._world
    until = world.clock.now()
    job = apply.lease_job(world, Lease("me", until, (EXTRACT,), every=True))
    assert job is not None
    apply.park_job(world, job, SECRET)


@pytest.fixture
def home(base: Path, tmp_path: Path) -> Path:
    return shutil.copytree(base, tmp_path / "home")


def database(home: Path) -> Path:
    return home / "memstrata.db"


def pages(home: Path, name: str) -> list[int]:
    """The numbers, from 0, of the pages of a table or index."""
    db = apsw.Connection(str(database(home)), flags=apsw.SQLITE_OPEN_READONLY)
    found = db.execute("SELECT pageno - 1 FROM dbstat WHERE name = ? ORDER BY pageno", (name,))
    numbers = [number for (number,) in found]
    db.close()
    return numbers


def overwrite(home: Path, page: int, data: bytes, at: int = 0) -> None:
    with database(home).open("r+b") as file:
        file.seek(page * PAGE + at)
        file.write(data)


def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


def seen(memory: Memory) -> object:
    """What a reader sees of the whole."""
    status = memory.status()
    found = memory.search("ferry mill doors Town7 bees", limit=50)
    return (
        [hit.id for hit in found],
        found.degraded,
        [one.id for one in memory.list(limit=500).items],
        (status.memories, status.messages, status.waiting),
    )


def is_healed(home: Path, before: object) -> list[str]:
    """What `reindex` says that it did; the home is sound then, and reads as it did before."""
    with opened(home) as memory:
        said = memory.reindex().actions
        assert [one for one in memory.doctor() if not (one.ok or one.name == "extraction")] == []
        assert seen(memory) == before
        assert faults(memory) == []
    with opened(home) as memory:
        assert memory._opened.actions == []
        assert memory._opened.problems == []
    return said


def whole(home: Path) -> object:
    with opened(home) as memory:
        memory.reindex()
        found = seen(memory)
    assert isinstance(found, tuple)
    assert all(found[0:3:2]), "the home holds nothing"
    return found


def advice(home: Path) -> list[tuple[str, str]]:
    """The checks of `doctor` that failed, each with its cure."""
    with opened(home) as memory:
        checks = [one for one in memory.doctor() if not one.ok]
    return [(one.name, one.advice) for one in checks if one.name != "extraction"]


PARTS = (
    *("sqlite_schema", "keys", "memories", "memory_ids", "memory_names", "evidence", "messages"),
    *("message_ids", "cursors", "jobs", "verdicts", "records", "record_versions", "shards"),
    *("memory_text_data", "memory_text_idx", "memory_text_docsize", "message_text_data"),
    *("message_text_docsize",),
)


@pytest.mark.parametrize("part", PARTS)
def test_any_page_may_be_damaged(home: Path, part: str) -> None:
    before = whole(home)
    overwrite(home, pages(home, part)[-1], noise(PAGE))
    assert advice(home) == [("database", "memstrata reindex")]
    said = is_healed(home, before)
    assert any("made the damaged database anew" in one and "verdicts" in one for one in said)
    assert not any(home.glob("memstrata.db.*")), "nothing of it is put aside"
    assert not (home / "backups").exists()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE memory_text_data SET block = zeroblob(length(block)) WHERE id = 10",
        "UPDATE memory_text_data SET block = x'ff' WHERE id > 10",
        "DELETE FROM memory_text_data WHERE id > 10",
        "UPDATE message_text_data SET block = x'9d03a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7' WHERE id = 10",
        # A count in it that asks for more memory than there is.
        "UPDATE message_text_data SET block = x'f56218bf252f52a668b9948bcb2483d34738ce1b21' WHERE id = 10",
        "UPDATE message_text_data SET block = zeroblob(9) WHERE id > 10",
        "DELETE FROM message_text_data WHERE id > 10",
    ],
)
def test_a_text_index_may_be_damaged_alone(home: Path, damage: str) -> None:
    before = whole(home)
    with opened(home) as memory:
        verdicts = memory.status().verdicts
        assert sum(verdicts.values()) > 20
    db = apsw.Connection(str(database(home)))
    db.execute(damage)
    assert db.changes() > 0
    db.close()
    assert advice(home) == [("database", "memstrata reindex")]
    said = is_healed(home, before)
    assert not any("damaged" in one for one in said)
    with opened(home) as memory:
        assert memory.status().verdicts == verdicts
        assert len(memory.status().parked) == 1


@pytest.mark.parametrize("table", ["memory_text_data", "message_text_data"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_bytes_amid_the_words_of_a_text_index(home: Path, table: str, share: float) -> None:
    before = whole(home)
    db = apsw.Connection(str(database(home)))
    ((id, block),) = db.execute(
        f"SELECT id, block FROM {table} ORDER BY length(block) DESC LIMIT 1"
    )
    at = int(len(block) * share)
    values = (block[:at] + bytes(24) + block[at + 24 :], id)
    db.execute(f"UPDATE {table} SET block = ? WHERE id = ?", values)
    db.close()
    assert advice(home) == [("database", "memstrata reindex")]
    assert not any("damaged" in one for one in is_healed(home, before))


def test_bytes_that_are_no_text(home: Path) -> None:
    """The pages are in order, what stands on them is not: no check sees that, and no reader may fall over it."""
    before = whole(home)
    for page in pages(home, "messages"):
        data = database(home).read_bytes()[page * PAGE : (page + 1) * PAGE]
        overwrite(home, page, data.replace(b"ferry", b"\xff" * 5))
    with opened(home) as memory:
        assert memory._world.store.check() == []
        with pytest.raises(Corrupt, match="memstrata reindex"):
            memory._world.store.messages(memory._realm, "s2")
    is_healed(home, before)


@pytest.mark.parametrize("part", ["memories", "records", "messages"])
def test_a_sector_of_zeros(home: Path, part: str) -> None:
    """What a failing disk gives back; where it lies amid the text of a row only that row is lost."""
    before = whole(home)
    for page in pages(home, part):
        data = database(home).read_bytes()[page * PAGE : (page + 1) * PAGE]
        if data[0] == 0x0D:  # a leaf
            overwrite(home, page, bytes(512), at=2048)
    assert advice(home) == [("database", "memstrata reindex")]
    is_healed(home, before)


@pytest.mark.parametrize("table", ["memories", "records"])
def test_a_row_that_cannot_be_read(home: Path, table: str) -> None:
    before = whole(home)
    db = apsw.Connection(str(database(home)))
    db.execute(f"UPDATE {table} SET data = replace(data, 'version', 'v' || char(0) || 'rsion')")
    db.execute("UPDATE memories SET stat = 'x'")
    db.close()
    assert advice(home) == [("database", "memstrata reindex")]
    with opened(home) as memory, pytest.raises(Corrupt, match="memstrata reindex"):
        memory.list()
    is_healed(home, before)


@pytest.mark.parametrize("size", [100, PAGE, PAGE * 7 + 11, -PAGE - 1])
def test_a_database_that_ends_too_early(home: Path, size: int) -> None:
    before = whole(home)
    data = database(home).read_bytes()
    database(home).write_bytes(data[:size])
    assert advice(home) == [("database", "memstrata reindex")]
    is_healed(home, before)


def test_no_database_at_all(home: Path) -> None:
    before = whole(home)
    database(home).write_bytes(noise(PAGE * 5))
    with opened(home) as memory:
        chat = memory.session("new")
        for read in (
            lambda: memory.search("tea"),
            memory.status,
            lambda: chat.commit([{"role": "user", "content": "I like bees."}]),
            lambda: chat.recall("tea"),
            memory.drain,
        ):
            with pytest.raises(Corrupt, match="memstrata reindex makes it anew"):
                read()
        (problem,) = memory._opened.problems
        assert problem.path == str(database(home))
    is_healed(home, before)


def test_what_was_in_it_is_gone(home: Path) -> None:
    """Nothing of the old database is left in the new one's file or beside it."""
    whole(home)
    assert SECRET.encode() in database(home).read_bytes()
    overwrite(home, pages(home, "memories")[-1], noise(PAGE))
    with opened(home) as memory:
        memory.reindex()
        assert memory.status().parked == ()
        files = [one.read_bytes() for one in home.rglob("*") if one.is_file()]
    assert not any(SECRET.encode() in data for data in files)


def test_others_that_have_it_open_go_on(home: Path) -> None:
    before = whole(home)
    with opened(home) as other:
        assert seen(other) == before
        overwrite(home, pages(home, "memories")[-1], noise(PAGE))
        with opened(home) as memory:
            memory.reindex()
        assert seen(other) == before
        other.session("after").commit([{"role": "user", "content": "The weir is open."}])
        with opened(home) as memory:
            assert [hit.id for hit in memory.search("weir")] == [
                hit.id for hit in other.search("weir")
            ]
            assert memory.search("weir")


def test_one_that_was_damaged_when_it_was_opened_works_once_it_is_healed(home: Path) -> None:
    before = whole(home)
    overwrite(home, 0, noise(PAGE))
    with opened(home) as other:
        with pytest.raises(Corrupt):
            other.status()
        is_healed(home, before)
        assert seen(other) == before


def test_the_commands(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli: Run = here(home, monkeypatch, capsys)
    overwrite(home, 0, noise(PAGE))
    ran = cli("search", "tea")
    assert (ran.code, ran.out) == (8, "")
    assert "memstrata reindex makes it anew from the files" in ran.err
    ran = cli("doctor")
    assert ran.code == 8
    assert "FAULT  database: " in ran.out
    assert "memstrata reindex" in ran.out
    ran = cli("reindex")
    assert ran.code == 0
    assert "made the damaged database anew" in ran.out
    assert cli("doctor").code == 0
    assert cli("search", "ferry").code == 0
