"""What is true when: any order of arrival, any time zone, places taken while a file was away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Conflict, Memory
from memstrata.pipelines.read import Record

FIRMS = ("Harrow Tools", "Brightwater", "Quillon", "Marlow Glass")


def say(memory: Memory, session: str, text: str, on: str | None = None, **where: Any) -> None:
    """One turn, and what it comes to."""
    memory.session(session, **where).commit([{"role": "user", "content": text, "said_at": on}])
    memory.drain()


def active(memory: Memory) -> list[str]:
    return [one.description for one in memory.list(status="active").items]


def one(memory: Memory, words: str) -> Record:
    (found,) = (row for row in memory.list().items if words in row.description)
    return found


def settled(memory: Memory) -> bool:
    """Whether another reconcile finds nothing to do."""
    return not memory.reconcile().actions


# -- any order ----------------------------------------------------------------------------------------


@st.composite
def careers(draw: st.DrawFn) -> tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]]:
    """Turns about one's employers and ends of some, in the order they were said and as they come in."""
    firms = draw(st.lists(st.sampled_from(FIRMS), min_size=2, max_size=4, unique=True))
    turns: list[tuple[str, str]] = []
    for month, firm in enumerate(firms, start=1):
        turns.append((f"2025-{month:02}-01", f"I work at {firm}."))
        if draw(st.booleans()):
            turns.append((f"2025-{month:02}-15", f"I no longer work at {firm}."))
    return turns, draw(st.permutations(turns))


def intervals(turns: Iterable[tuple[str, str]], folder: Path) -> set[tuple[object, ...]]:
    """What the engine makes of turns, but for marks, which hold at no moment."""
    chosen = {"timezone": "UTC", "embedding.model": "none"}
    with Memory.open(folder, settings=chosen, background=False, clock=FakeClock()) as memory:
        for day, text in turns:
            say(memory, f"on {day}", text, day)
        return {
            (row.description, row.valid_from, row.invalid_at)
            for row in memory.list().items
            if row.valid_from != row.invalid_at
        }


@pytest.mark.promise("evolve.order")
@settings(max_examples=12, deadline=None)
@given(careers())
def test_turns_may_arrive_in_any_order(careers: tuple[Any, Any]) -> None:
    in_order, as_they_came = careers
    with TemporaryDirectory(prefix="memstrata-") as folder:
        found = [
            intervals(turns, Path(folder, str(number)))
            for number, turns in enumerate((in_order, as_they_came))
        ]
    assert found[0] == found[1]
    assert len(found[0]) == sum("I work" in text for _, text in in_order)


def test_an_end_that_arrives_first_is_listed_and_found_at_no_time(memory: Memory) -> None:
    say(memory, "b", "I no longer work at Quillon.", "2025-03-01")
    (mark,) = memory.list().items
    assert (mark.status, mark.note) == ("invalid", "said to be over, of what nothing was known")
    for day in ("2024-12-01", "2025-03-01", "2025-04-01"):
        assert memory.search("Quillon", kinds=("memory",), as_of=day) == ()
    say(memory, "a", "I work at Quillon.", "2025-01-01")
    (held,) = (row for row in memory.list().items if row.id != mark.id)
    assert (held.status, held.superseded_by) == ("invalid", None)
    assert held.invalid_at == datetime(2025, 3, 1, tzinfo=UTC)
    hits = memory.search("Quillon", kinds=("memory",), as_of="2025-02-01")
    assert [hit.id for hit in hits] == [held.id]


def test_what_was_invalidated_by_mistake_is_brought_back(memory: Memory) -> None:
    say(memory, "a", "I live in Porto.", "2025-01-01")
    say(memory, "b", "I live in Braga.", "2025-02-01")
    old, new = one(memory, "Porto"), one(memory, "Braga")
    assert (old.status, old.superseded_by) == ("invalid", new.id)
    with pytest.raises(Conflict) as caught:
        memory.restore(old.id)
    assert (caught.value.reason, caught.value.holder) == ("ALREADY_EXISTS", new.id)
    memory.archive(new.id)
    back = memory.restore(old.id)
    assert (back.status, back.invalid_at, back.superseded_by) == ("active", None, None)
    assert [line.why for line in memory.history(old.id)][1:] == [
        f"superseded by {new.id}",
        "brought back",
    ]


# -- zones --------------------------------------------------------------------------------------------

ZONES = {
    "Asia/Kolkata": "2026-10-31",
    "Pacific/Apia": "2026-10-31",
    "Europe/Lisbon": "2026-10-24",  # the clocks go back in the following night
    "America/Santiago": "2026-09-05",  # the next day has no midnight: it begins at one
    "America/St_Johns": "2026-10-31",  # so do the clocks here
}


def first_moment_after(day: str, zone: ZoneInfo) -> datetime:
    """When a day is over: the first second of a later one in the zone."""
    at = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=zone).astimezone(UTC)
    while at.astimezone(zone).date() <= date.fromisoformat(day):
        at += timedelta(minutes=30)
    return at


@pytest.mark.promise("life.last-day")
@pytest.mark.parametrize("name", ZONES)
def test_the_last_day_counts_to_its_end_in_any_zone(
    open_memory: Open, clock: FakeClock, name: str
) -> None:
    memory, day = open_memory(settings={"timezone": name}), ZONES[name]
    over = first_moment_after(day, ZoneInfo(name))
    kept = memory.add(name="freeze", description="Freeze the kiln", valid_until=day)
    clock.set(over - timedelta(minutes=1))
    assert memory.get(kept.id).status == "active"
    assert [hit.id for hit in memory.search("freeze")] == [kept.id]
    assert kept.id in memory.session("s").recall("freeze").stable
    assert active(memory) == ["Freeze the kiln"]
    clock.set(over)
    assert memory.get(kept.id).status == "expired"
    assert memory.search("freeze") == ()
    context = memory.session("s").recall("freeze")
    assert kept.id not in context.stable + context.turn
    assert (context.status, active(memory)) == ("expired", [])
    at = (over - timedelta(seconds=1)).astimezone(ZoneInfo(name))
    assert [hit.id for hit in memory.search("freeze", as_of=at)] == [kept.id]
    assert memory.search("freeze", as_of=over) == ()


@pytest.mark.promise("life.last-day")
def test_a_day_that_a_zone_never_had_is_over_when_the_next_begins(
    open_memory: Open, clock: FakeClock
) -> None:
    """Samoa went from 29 to 31 December 2011."""
    clock.set(datetime(2011, 12, 1, tzinfo=UTC))
    memory = open_memory(settings={"timezone": "Pacific/Apia"})
    kept = memory.add(name="sale", description="The kiln sale", valid_until="2011-12-30")
    clock.set(datetime(2011, 12, 30, 9, 59, tzinfo=UTC))  # 23:59 on the 29th
    assert memory.get(kept.id).status == "active"
    clock.advance(minutes=1)
    assert memory.get(kept.id).status == "expired"
    assert memory.search("sale") == ()


@pytest.mark.promise("life.last-day")
def test_the_zone_is_that_of_the_setting_as_it_is_now(open_memory: Open, clock: FakeClock) -> None:
    memory = open_memory(settings={"timezone": "Pacific/Apia"})
    kept = memory.add(name="sale", description="The kiln sale", valid_until="2026-10-31")
    clock.set(datetime(2026, 10, 31, 20, tzinfo=UTC))  # 1 November in Apia, 31 October in Lisbon
    assert memory.search("sale") == ()
    memory.close()
    memory = open_memory(settings={"timezone": "Europe/Lisbon"})
    assert [hit.id for hit in memory.search("sale")] == [kept.id]
    assert "kiln sale" in memory.session("s").recall("sale").stable
    memory.close()
    memory = open_memory(settings={"timezone": "Pacific/Apia"})
    assert memory.search("sale") == ()
    assert settled(memory)


# -- places taken ---------------------------------------------------------------------------------------


@pytest.mark.promise("evolve.expired-namesake")
@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_file_made_by_hand_supersedes_its_expired_namesake(
    open_memory: Open, clock: FakeClock, home: Path, rebuilt: bool
) -> None:
    memory = open_memory()
    old = memory.add(name="Freeze", description="Freeze the kiln", valid_until="2026-03-20")
    before = (home / "memory/user" / f"{old.id}.md").read_bytes()
    clock.advance(days=10)
    (home / "memory/user/freeze.md").write_text("Freeze the loom\n")
    memory.reconcile()
    (new,) = memory.list(status="active").items
    ended = memory.get(old.id)
    assert (ended.status, ended.superseded_by) == ("invalid", new.id)
    assert ended.version == 2
    assert memory.history(old.id)[-1].verb == "supersede"
    assert (home / "memory/user" / f"{old.id}.md").read_bytes() == before, "left as it is"
    assert settled(memory)
    if rebuilt:
        memory.reindex()
        assert memory.get(old.id) == ended
        assert settled(memory)
    memory.delete(new.id)
    assert memory.restore(old.id, version=1).status == "expired"


@pytest.mark.promise("disk.slot")
@pytest.mark.parametrize("first, valid", [("2025-01-01", "Braga"), ("2025-03-01", "Porto")])
def test_a_file_that_is_back_meets_what_took_its_slot(
    open_memory: Open, home: Path, first: str, valid: str
) -> None:
    memory = open_memory()
    say(memory, "a", "I live in Porto.", first)
    path = home / "memory/user" / f"{one(memory, 'Porto').id}.md"
    data = path.read_bytes()
    path.rename(home / "aside.md")
    memory.reconcile()
    say(memory, "b", "I live in Braga.", "2025-02-01")
    (home / "aside.md").rename(path)
    memory.reconcile()
    assert active(memory) == [f"Lives in {valid}"]
    ended = next(row for row in memory.list(status="invalid").items)
    assert ended.superseded_by == one(memory, valid).id
    assert path.read_bytes() == data
    assert settled(memory)
    found = {row.id: row for row in memory.list().items}
    memory.reindex()
    assert {row.id: row for row in memory.list().items} == found
    assert settled(memory)


@pytest.mark.promise("disk.slot")
def test_a_copy_by_hand_makes_no_second_value_of_a_slot(open_memory: Open, home: Path) -> None:
    memory = open_memory()
    say(memory, "a", "I live in Porto.", "2025-01-01")
    held = one(memory, "Porto")
    folder = home / "memory/user"
    text = (folder / f"{held.id}.md").read_text()
    copy = folder / "copy.md"
    copy.write_text(text.replace(f"id: {held.id}\n", "").replace("name: home", "name: old home"))
    report = memory.reconcile()
    assert [one.problem for one in report.problems] == [
        f"its slot 'home' belongs to {held.id} already"
    ]
    assert active(memory) == ["Lives in Porto"]
    assert settled(memory)
    memory.archive(held.id)
    memory.reconcile()
    assert len(memory.list(status="active").items) == 1


@pytest.mark.promise("search.degraded")
def test_without_full_text_the_past_is_asked_all_the_same(memory: Memory, home: Path) -> None:
    say(memory, "a", "I live in Porto.", "2025-01-01")
    say(memory, "b", "I live in Braga.", "2025-02-01")
    database = apsw.Connection(str(home / "memstrata.db"))
    database.execute("DELETE FROM memory_text_data")
    database.close()

    def found(**asked: Any) -> set[str]:
        hits = memory.search("home", kinds=("memory",), **asked)
        assert hits.degraded
        return {hit.description for hit in hits}

    assert found() == {"Lives in Braga"}
    assert found(as_of="2025-01-15") == {"Lives in Porto"}
    assert found(include_invalid=True) == {"Lives in Porto", "Lives in Braga"}
    assert found(known_at="2024-01-01") == set()
