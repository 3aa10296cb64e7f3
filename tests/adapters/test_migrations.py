"""From one schema to the next: steps, the backup before them, databases that are not ours."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.contracts.store import ANNS, memory, put, row

from memstrata.adapters.sqlite import SqliteStore
from memstrata.adapters.sqlite.connection import Connection
from memstrata.adapters.sqlite.migrations import Step, migrate, numbered, steps
from memstrata.domain.scope import Realm
from memstrata.errors import Corrupt, Internal, MemstrataError, Unavailable

NEWEST = len(steps())
SECOND = Step(
    NEWEST + 1, "ALTER TABLE shards ADD COLUMN seen TEXT; UPDATE shards SET seen = 'never'"
)
THIRD = Step(NEWEST + 2, "CREATE TABLE visits (at TEXT) STRICT;\n-- and no more\n")
BROKEN = Step(NEWEST + 2, "CREATE TABLE visits (at TEXT) STRICT; INSERT INTO nowhere VALUES (1)")


def migrated(folder: Path, *more: Step) -> Path | None:
    """Migrate the folder's database to the release's steps and `more`."""
    path = folder / "index.db"
    with (
        closing(Connection(path, None, 30.0, writes=True)) as writer,
        closing(Connection(path, None, 30.0, writes=False)) as reader,
    ):
        return migrate(writer, reader, (*steps(), *more), folder / "backups")


def version(path: Path) -> int:
    """The schema version of a database."""
    db = apsw.Connection(str(path))
    found = int(db.pragma("user_version"))
    db.close()
    return found


def answer(path: Path, sql: str) -> list[object]:
    """The first column of what a database answers."""
    db = apsw.Connection(str(path))
    found = [one[0] for one in db.execute(sql)]
    db.close()
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a database of this release that holds a memory and a shard."""
    store = SqliteStore(tmp_path / "index.db", backups=tmp_path / "backups")
    put(store, row(memory()))
    with store.transaction() as write:
        write.set_shard("records", "x.jsonl", 5)
    store.close()
    return tmp_path


def test_a_new_database_takes_every_step_and_needs_no_backup(tmp_path: Path) -> None:
    assert migrated(tmp_path, SECOND, THIRD) is None
    assert version(tmp_path / "index.db") == NEWEST + 2
    assert not (tmp_path / "backups").exists()


@pytest.mark.promise("disk.migration")
def test_an_existing_database_is_copied_first(home: Path) -> None:
    copy = migrated(home, SECOND, THIRD)
    assert copy == home / "backups" / f"index.schema-{NEWEST}.1.db"
    assert version(home / "index.db") == NEWEST + 2
    assert answer(home / "index.db", "SELECT seen FROM shards") == ["never"]
    assert answer(home / "index.db", "SELECT id FROM memories") == ["mem_1"]
    assert version(copy) == NEWEST
    assert copy.stat().st_mode & 0o777 == 0o600
    assert list((home / "backups").iterdir()) == [copy]
    assert migrated(home, SECOND, THIRD) is None
    copy.rename(home / "index.db")
    store = SqliteStore(home / "index.db", backups=home / "backups")
    assert store.memory([ANNS], "mem_1") == row(memory())
    store.close()


def test_messages_of_the_first_schema_are_read_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with (
        closing(Connection(path, None, 30.0, writes=True)) as writer,
        closing(Connection(path, None, 30.0, writes=False)) as reader,
    ):
        migrate(writer, reader, steps()[:1], tmp_path / "backups")
    db = apsw.Connection(str(path))
    db.execute(
        "INSERT INTO keys (space, owner, scope, ref) VALUES ('local', 'ann', 'realm', '');"
        "INSERT INTO messages VALUES (1, 1, 1, 's', 'm1', 'user', NULL,"
        " '2026-05-10T09:30:00.000000Z', '', '', '', '', '', 'I prefer tea')"
    )
    db.close()
    with closing(SqliteStore(path, backups=tmp_path / "backups")) as store:
        (found,) = store.message(Realm("local", "ann"), "m1")
    assert (found.content, found.model) == ("I prefer tea", "")


def test_a_step_that_fails_is_undone_and_can_be_repeated(home: Path) -> None:
    with pytest.raises(MemstrataError, match="nowhere"):
        migrated(home, SECOND, BROKEN)
    assert version(home / "index.db") == NEWEST + 1
    assert answer(
        home / "index.db", "SELECT count(*) FROM sqlite_schema WHERE name = 'visits'"
    ) == [0]
    assert migrated(home, SECOND, THIRD) == home / "backups" / f"index.schema-{NEWEST + 1}.1.db"
    assert version(home / "index.db") == NEWEST + 2


@pytest.mark.promise("disk.migration")
def test_without_a_backup_nothing_is_migrated(home: Path) -> None:
    (home / "backups").write_text("in the way")
    with pytest.raises(Unavailable, match="no backup"):
        migrated(home, SECOND)
    assert version(home / "index.db") == NEWEST


def test_what_an_interrupted_copy_left_is_replaced(home: Path) -> None:
    (home / "backups").mkdir()
    (home / "backups" / f"index.schema-{NEWEST}.1.unfinished").write_bytes(b"half")
    copy = migrated(home, SECOND)
    assert copy is not None
    assert answer(copy, "SELECT id FROM memories") == ["mem_1"]
    assert list((home / "backups").iterdir()) == [copy]


@pytest.mark.promise("disk.migration")
def test_a_newer_database_is_refused_and_left_alone(home: Path) -> None:
    migrated(home, SECOND)
    before = (home / "index.db").read_bytes()
    with pytest.raises(
        Unavailable,
        match=rf"has schema {NEWEST + 1} and this release knows {NEWEST} .* newer release",
    ):
        SqliteStore(home / "index.db", backups=home / "backups")
    assert (home / "index.db").read_bytes() == before


def test_a_migration_under_an_open_store_is_noticed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "index.db", backups=tmp_path / "backups")
    put(store, row(memory()))
    migrated(tmp_path, SECOND)
    with pytest.raises(Unavailable, match="start again"):
        store.memory([ANNS], "mem_1")
    with pytest.raises(Unavailable, match="start again"):
        put(store, row(memory(id="mem_2")))
    store.close()


@pytest.mark.parametrize("number", [0, 1, 2])
def test_another_programs_database_is_refused(tmp_path: Path, number: int) -> None:
    db = apsw.Connection(str(tmp_path / "index.db"))
    db.execute(f"CREATE TABLE songs (title TEXT); PRAGMA user_version = {number}")
    db.close()
    with pytest.raises((Corrupt, Unavailable)):
        SqliteStore(tmp_path / "index.db", backups=tmp_path / "backups")
    assert answer(tmp_path / "index.db", "SELECT name FROM sqlite_schema") == ["songs"]


def test_steps_are_numbered_without_a_gap(tmp_path: Path) -> None:
    (tmp_path / "0002_first.sql").write_text("SELECT 2")
    (tmp_path / "0003_second.sql").write_text("SELECT 3")
    (tmp_path / "README.md").write_text("not a step")
    assert numbered(tmp_path) == (Step(2, "SELECT 2"), Step(3, "SELECT 3"))
    (tmp_path / "0003_second.sql").rename(tmp_path / "0004_second.sql")
    with pytest.raises(Internal, match="without a gap"):
        numbered(tmp_path)
    assert [step.version for step in steps()] == list(range(1, len(steps()) + 1))
