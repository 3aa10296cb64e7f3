"""Where things lie, and that no path is made from an unchecked id."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memstrata.domain import layout
from memstrata.domain.layout import Place
from memstrata.domain.scope import Key, Realm
from memstrata.errors import Invalid

LOCAL = Realm("local", "local")
ANN = Realm("local", "ann")


@pytest.mark.promise("disk.layout")
@pytest.mark.parametrize(
    "key, root, path",
    [
        (Key(LOCAL, "user", ""), "", "memory/user/mem_1.md"),
        (Key(ANN, "user", ""), "", "owners/ann/memory/user/mem_1.md"),
        (Key(LOCAL, "agent", "coder"), "", "memory/agent/coder/mem_1.md"),
        (Key(ANN, "agent", "coder"), "", "owners/ann/memory/agent/coder/mem_1.md"),
        (Key(Realm("local", ""), "project", "ws-1"), "/src/app", ".memstrata/memory/mem_1.md"),
    ],
)
def test_the_file_of_a_memory(key: Key, root: str, path: str) -> None:
    place = layout.memory_file(key, "mem_1", root)
    assert place == Place(root, path)
    assert place.folder == layout.memory_folder(key, root)
    assert place.name == "mem_1.md"
    assert str(place) == (f"{root}/{path}" if root else path)


@pytest.mark.promise("disk.paths")
@pytest.mark.parametrize("bad", ["..", "a/b", ".x", "", "a\\b", "x" * 129, "a\x00"])
def test_what_is_no_ref_becomes_no_path(bad: str) -> None:
    with pytest.raises(Invalid):
        layout.memory_file(Key(LOCAL, "user", ""), bad)
    with pytest.raises(Invalid):
        layout.owner_folder(bad)
    with pytest.raises(Invalid):
        layout.memory_folder(Key(LOCAL, "agent", bad))
    with pytest.raises(Invalid):
        layout.memory_folder(Key(Realm("local", bad), "user", ""))


@pytest.mark.promise("disk.layout")
@pytest.mark.parametrize(
    "zone, day",
    [("UTC", "2026-03-14"), ("Asia/Shanghai", "2026-03-15"), ("America/New_York", "2026-03-14")],
)
def test_a_shard_is_of_the_local_day(zone: str, day: str) -> None:
    at = datetime(2026, 3, 14, 20, 0, tzinfo=UTC)
    assert str(layout.shard("local", "records", at, ZoneInfo(zone))) == f"records/{day}.jsonl"
    assert str(layout.shard("ann", "conversations", at, ZoneInfo(zone))) == (
        f"owners/ann/conversations/{day}.jsonl"
    )


def test_a_shard_lies_in_its_logs_folder() -> None:
    at = datetime(2026, 3, 14, tzinfo=UTC)
    for owner in ("local", "ann"):
        assert layout.shard(owner, "records", at, UTC).folder == layout.log_folder(owner, "records")


def test_places_within_places() -> None:
    assert Place("", "").within("a").within("b") == Place("", "a/b")
    assert Place("", "a/b").folder == Place("", "a")
    assert Place("/r", "a").folder == Place("/r", "")
