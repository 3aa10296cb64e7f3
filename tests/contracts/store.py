"""What every store keeps: inherit `StoreContract`, provide `store` and `opening`."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product

import pytest

from memstrata.domain.cadence import Backlog
from memstrata.domain.layout import Place, memory_file
from memstrata.domain.memory import STANDING_RULE, Evidence, Memory, Type
from memstrata.domain.plan import Verdict
from memstrata.domain.scope import Key, Realm, View
from memstrata.domain.terms import Term, query_terms
from memstrata.domain.turn import Message, Role
from memstrata.errors import Conflict, Internal
from memstrata.ports import (
    GONE,
    Answered,
    Cursor,
    FileStat,
    Job,
    Lease,
    Listing,
    Moment,
    OffloadChange,
    Offloaded,
    OffloadHead,
    RecordLine,
    Store,
    Stored,
    StoreWrite,
    ToolRead,
)

SPACE = "orchard"
ANN = Realm(SPACE, "ann")
BOB = Realm(SPACE, "bob")
ELSEWHERE = Realm("quarry", "ann")
ANNS = Key(ANN, "user", "")
BOBS = Key(BOB, "user", "")
PROJECT = Key(Realm(SPACE, ""), "project", "ws-1")
AGENT = Key(ANN, "agent", "cook")
NOW = datetime(2026, 5, 10, 9, 30, 0, 123456, tzinfo=UTC)
TODAY = NOW.date()
MOMENT = Moment(NOW, TODAY)


def day(n: int) -> datetime:
    """Noon of the n-th of May 2026."""
    return datetime(2026, 5, n, 12, tzinfo=UTC)


def memory(key: Key = ANNS, id: str = "mem_1", **changes: object) -> Memory:
    """A small memory; `changes` are its other fields."""
    plain = Memory(
        id=id,
        key=key,
        type="user",
        name=f"Note {id}",
        description="Ann keeps bees behind the mill",
        created_at=day(1),
        updated_at=day(1),
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def row(memory: Memory, **changes: object) -> Stored:
    """`memory` as it is stored; `changes` are what only the index knows."""
    author = memory.key.realm.owner or "ann"
    place = memory_file(memory.key, memory.id, "/mill")
    plain = Stored(memory, place, f"d{memory.version}", author)
    return replace(plain, **changes)  # type: ignore[arg-type]


def said(
    id: str, content: str, session: str = "s1", role: Role = "user", **changes: object
) -> Message:
    """A message; `changes` are its other fields."""
    plain = Message(id, session, role, content, said_at=None, recorded_at=NOW)
    return replace(plain, **changes)  # type: ignore[arg-type]


def line(
    tx: str, part: int = 1, id: str = "mem_1", version: int = 1, **changes: object
) -> RecordLine:
    """A record line; `changes` are its other fields."""
    data = {"id": id, "digest": f"{tx}-{part}"}
    plain = RecordLine("ann", "memory", id, version, tx, part, 9, day(version), data)
    return replace(plain, **changes)  # type: ignore[arg-type]


def put(store: Store, *rows: Stored) -> None:
    """Put rows in one transaction."""
    with store.transaction() as write:
        for one in rows:
            write.put(one)


def say(store: Store, realm: Realm, *messages: Message) -> None:
    """Add messages in one transaction."""
    with store.transaction() as write:
        write.add_messages(realm, messages)


def enqueue(store: Store, session: str, due: datetime, *, at_once: bool = False) -> None:
    """Put an extraction on Ann's list."""
    with store.transaction() as write:
        write.enqueue(ANN, "extract", session, due, at_once=at_once)


def lease(
    store: Store,
    now: datetime,
    *,
    until: datetime | None = None,
    kinds: tuple[str, ...] = ("extract",),
    every: bool = False,
    but: frozenset[int] = frozenset(),
) -> Job | None:
    """Take a job, until the 20th of May unless told."""
    with store.transaction() as write:
        return write.lease(Lease("me", until or day(20), kinds, every, but), now)


def ids(found: list[Stored]) -> list[str]:
    """The ids of rows, in order."""
    return [one.memory.id for one in found]


def search(store: Store, text: str, *keys: Key, moment: Moment = MOMENT) -> list[str]:
    """The ids of the memories found for `text`, best first."""
    found = store.search_memories(keys or (ANNS,), query_terms(text), moment, limit=1000)
    return [hit.stored.memory.id for hit in found]


def search_messages(store: Store, text: str, *workspaces: str) -> list[str]:
    """The ids of Ann's messages found for `text`, best first."""
    found = store.search_messages(ANN, workspaces or ("",), query_terms(text), limit=1000)
    return [hit.message.id for hit in found]


class StoreContract:
    """One suite for every store."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """An empty store."""
        raise NotImplementedError

    @pytest.fixture
    def opening(self) -> str:
        """Python that another process runs to have the same store as `store`."""
        raise NotImplementedError

    # -- memories --------------------------------------------------------------------------------

    def test_a_row_comes_back_as_it_was_put(self, store: Store) -> None:
        full = Memory(
            id="mem_full",
            key=AGENT,
            type="episodic",
            name="  Stra\u00dfe \U0001f41d 'quoted' \"name\"",
            description="line",
            body="\n# Heading\n\nbody with \x00 and 蜂蜜\n",
            confidence=0.0,
            priority=0,
            entities=("Ada", "蜂"),
            origin="extraction",
            authority="tool",
            evidence=(Evidence("m1", 0, 4, "line", "s1"), Evidence("m2", 3, 3, "", "")),
            subject="user",
            slot="home",
            scene="mill",
            note="?",
            version=7,
            said_at=day(2),
            happened_from=date(2026, 1, 1),
            happened_until=date(2026, 1, 2),
            valid_from=day(3),
            valid_until=date(2026, 12, 31),
            invalid_at=day(4),
            superseded_by="mem_next",
            created_at=datetime.min.replace(tzinfo=UTC),
            updated_at=datetime.max.replace(tzinfo=UTC),
            retired_at=day(5),
            archived=True,
            extra={"pinned": "", "tags": ["a", {"b": None}], "n": 0},
        )
        put(
            store,
            Stored(
                full,
                Place("/a b/c", "x/y.md"),
                "digest",
                "ann",
                FileStat(2**40, 2**62, 2**64 - 1),
                presence="stale",
                since=day(6),
                problem="merge marks",
            ),
            row(memory()),
        )
        found = store.memory([AGENT], "mem_full")
        assert found is not None
        assert found.memory == full
        assert found == Stored(
            full,
            Place("/a b/c", "x/y.md"),
            "digest",
            "ann",
            FileStat(2**40, 2**62, 2**64 - 1),
            "stale",
            day(6),
            "merge marks",
        )
        assert store.memory([ANNS], "mem_1") == row(memory())

    def test_put_replaces_the_row_and_keeps_the_hits(self, store: Store) -> None:
        put(store, row(memory()))
        with store.transaction() as write:
            write.touch([ANNS, PROJECT], ["mem_1", "mem_none"], day(3))
            write.touch([ANNS], ["mem_1"], day(2))
            write.touch([BOBS], ["mem_1"], day(9))
        put(store, row(memory(version=2, description="Ann sold the bees")))
        found = store.memory([ANNS], "mem_1")
        assert found is not None
        assert (found.memory.version, found.hits, found.last_hit_at) == (2, 2, day(3))
        assert ids(store.memories([ANNS], Listing(), MOMENT)) == ["mem_1"]
        assert search(store, "sold") == ["mem_1"]
        assert search(store, "mill") == []

    def test_drop_removes_row_text_and_links(self, store: Store) -> None:
        quoted = (Evidence("m1", 0, 3, "bee", "s1"),)
        put(store, row(memory(evidence=quoted)), row(memory(id="mem_2")))
        with store.transaction() as write:
            write.drop(ANNS, "mem_1")
            write.drop(ANNS, "mem_none")
            write.drop(BOBS, "mem_2")
        assert store.memory([ANNS], "mem_1") is None
        assert search(store, "bees") == ["mem_2"]
        assert store.derived(ANN, "s1", "m1") == []
        assert store.totals(SPACE)["memory_texts"] == 1
        put(store, row(memory(description="Ann keeps geese")))
        assert search(store, "bees geese") == ["mem_1", "mem_2"]

    def test_the_first_key_wins_whatever_the_presence(self, store: Store) -> None:
        put(
            store,
            row(memory(AGENT, description="agent's"), presence="absent"),
            row(memory(ANNS, description="user's")),
        )
        first = store.memory([AGENT, ANNS], "mem_1")
        second = store.memory([ANNS, AGENT], "mem_1")
        assert [one and one.memory.description for one in (first, second)] == ["agent's", "user's"]
        assert store.memory([], "mem_1") is None

    def test_the_foremost(self, store: Store) -> None:
        def one(id: str, type: Type = "user", priority: int = 50, **changes: object) -> Stored:
            plain = memory(id=id, type=type, priority=priority)
            return row(replace(plain, **changes))  # type: ignore[arg-type]

        put(
            store,
            one("a", priority=20),
            one("b", "project", 90),
            one("c", "project", STANDING_RULE),
            one("d", priority=70),
            one("e", priority=50, updated_at=day(2)),
            one("f"),
            one("g"),
            one("h", "feedback", 10, updated_at=day(3)),
            one("i", "feedback", 90, updated_at=day(2)),
            one("j", "feedback", STANDING_RULE),
            one("k", archived=True),
            one("l", invalid_at=NOW),
            one("m", invalid_at=NOW + timedelta(days=1)),
            one("n", valid_until=TODAY - timedelta(days=1)),
            one("o", valid_until=TODAY),
            replace(one("p"), presence="absent"),
            replace(one("q"), presence="stale"),
        )
        put(store, row(memory(AGENT, "z")))

        def foremost(*types: Type, limit: int = 100, key: Key = ANNS) -> str:
            return "".join(ids(store.foremost(key, types, MOMENT, limit=limit)))

        assert foremost("user", "project") == "cdefgmoqab"
        assert foremost("project", "user") == "cbdefgmoqa"
        assert foremost("feedback") == "jhi"
        assert foremost("user", "project", "feedback") == "cjdefgmoqabhi"
        assert foremost("user", "project", limit=3) == "cde"
        assert foremost("reference") == foremost() == foremost("user", limit=0) == ""
        assert foremost("user", key=AGENT) == "z"
        assert foremost("user", key=PROJECT) == ""

    def test_listing_filters(self, store: Store) -> None:
        put(
            store,
            row(memory(id="a", name="Bee  Keeping", type="project")),
            row(memory(id="b", description="ÄPFEL and 100% _juice_", type="feedback")),
            row(memory(id="c", archived=True)),
            row(memory(id="d", invalid_at=NOW)),
            row(memory(id="e", invalid_at=NOW + timedelta(microseconds=1))),
            row(memory(id="f", valid_until=TODAY - timedelta(days=1))),
            row(memory(id="g", valid_until=TODAY)),
            row(memory(id="h"), presence="absent"),
            row(memory(id="i"), presence="stale"),
            row(memory(id="j", archived=True, invalid_at=NOW)),
        )

        def listed(listing: Listing) -> str:
            return "".join(ids(store.memories([ANNS], listing, MOMENT)))

        assert listed(Listing()) == "abcdefgij"
        assert listed(Listing(statuses=("active",))) == "abegi"
        assert listed(Listing(statuses=("archived",))) == "cj"
        assert listed(Listing(statuses=("invalid", "expired"))) == "df"
        assert listed(Listing(types=("project", "feedback"))) == "ab"
        assert listed(Listing(text="bee keep")) == "a"
        assert listed(Listing(text="äpfel AND 100%")) == "b"
        assert listed(Listing(text="_")) == "b"
        assert listed(Listing(text="juice%")) == ""
        assert listed(Listing(presences=("absent",))) == "h"
        assert listed(Listing(presences=())) == "abcdefghij"

    def test_pages_cover_everything_once(self, store: Store) -> None:
        put(
            store,
            *(row(memory(ANNS, f"m{n:02}")) for n in range(0, 20, 2)),
            *(row(memory(AGENT, f"m{n:02}")) for n in range(0, 20, 3)),
        )
        seen: list[tuple[str, str]] = []
        after = ""
        while page := store.memories([ANNS, AGENT], Listing(), MOMENT, after=after, limit=4):
            seen += [(one.memory.id, one.memory.key.scope) for one in page]
            after = page[-1].memory.id
        assert [id for id, _ in seen] == sorted(id for id, _ in seen)
        assert sorted(seen) == sorted(
            [(f"m{n:02}", "user") for n in range(0, 20, 2)]
            + [(f"m{n:02}", "agent") for n in range(0, 20, 3)]
        )

    def test_named_finds_those_that_claim_a_name(self, store: Store) -> None:
        put(
            store,
            row(memory(id="a", name="Tea  Ritual")),
            row(memory(id="b", name="ＴＥＡ ritual"), presence="stale"),
            row(memory(id="c", name="tea ritual", archived=True)),
            row(memory(id="d", name="tea ritual", invalid_at=day(2))),
            row(memory(id="e", name="tea ritual"), presence="absent"),
            row(memory(id="f", name="tea ritual", valid_until=date(2020, 1, 1))),
            row(memory(id="g", name="tea rituals")),
            row(memory(AGENT, "h", name="tea ritual")),
        )
        assert ids(store.named(ANNS, "tea RITUAL ")) == ["a", "b", "f"]
        assert ids(store.named(BOBS, "tea ritual")) == []
        assert ids(store.named(PROJECT, "tea ritual")) == []

    def test_slot_finds_ended_ones_too(self, store: Store) -> None:
        put(
            store,
            row(memory(id="a", subject="user", slot="home")),
            row(memory(id="b", subject="user", slot="home", invalid_at=day(2))),
            row(memory(id="c", subject="user", slot="home", valid_until=date(2020, 1, 1))),
            row(memory(id="d", subject="user", slot="home", archived=True)),
            row(memory(id="e", subject="user", slot="home"), presence="absent"),
            row(memory(id="f", subject="ada", slot="home")),
            row(memory(id="g", subject="user", slot="employer")),
            row(memory(BOBS, "h", subject="user", slot="home")),
        )
        assert ids(store.slot(ANNS, "user", "home")) == ["a", "b", "c"]

    def test_superseded_finds_the_predecessors(self, store: Store) -> None:
        put(
            store,
            row(memory(id="b", superseded_by="new", invalid_at=day(2))),
            row(memory(id="a", superseded_by="new", archived=True), presence="absent"),
            row(memory(AGENT, "c", superseded_by="new")),
            row(memory(BOBS, "d", superseded_by="new")),
            row(memory(id="e", superseded_by="other")),
            row(memory(id="new")),
        )
        assert ids(store.superseded([ANNS], "new")) == ["a", "b"]
        assert ids(store.superseded([AGENT, PROJECT, ANNS], "new")) == ["c", "a", "b"]
        put(store, row(memory(id="a")))
        assert ids(store.superseded([ANNS], "new")) == ["b"]

    def test_files_by_name_without_their_memories(self, store: Store) -> None:
        stat = FileStat(1, 2, 3)
        put(
            store,
            row(memory(id="a"), stat=stat),
            row(memory(id="b"), presence="absent"),
            row(memory(id="c"), presence="stale", place=Place("", "memory/user/By hand.md")),
            row(memory(AGENT, "d")),
        )
        assert store.files(ANNS) == {
            "a.md": (stat, "live"),
            "b.md": (None, "absent"),
            "By hand.md": (None, "stale"),
        }
        assert store.files(PROJECT) == {}

    def test_counts_by_key_type_and_status(self, store: Store) -> None:
        put(
            store,
            row(memory(id="a")),
            row(memory(id="b"), presence="stale"),
            row(memory(id="c"), presence="absent"),
            row(memory(id="d", archived=True)),
            row(memory(id="e", type="project", valid_until=date(2020, 1, 1))),
            row(memory(AGENT, "f", invalid_at=day(1))),
            row(memory(BOBS, "g")),
        )
        assert store.counts([ANNS, AGENT, PROJECT], MOMENT) == {
            (ANNS, "user", "active"): 2,
            (ANNS, "user", "archived"): 1,
            (ANNS, "project", "expired"): 1,
            (AGENT, "user", "invalid"): 1,
        }

    def test_keys_are_those_that_ever_held_a_memory(self, store: Store) -> None:
        put(store, *(row(memory(key)) for key in (ANNS, BOBS, PROJECT, AGENT)))
        put(store, row(memory(Key(ELSEWHERE, "user", ""))))
        say(store, Realm(SPACE, "cy"), said("m1", "hello", workspace="ws-9"))
        with store.transaction() as write:
            write.drop(BOBS, "mem_1")
            write.enqueue(Realm(SPACE, "dee"), "extract", "s1", NOW)
        assert set(store.keys(SPACE)) == {ANNS, BOBS, PROJECT, AGENT}
        assert store.keys("nowhere") == ()

    # -- who sees what ---------------------------------------------------------------------------

    @pytest.mark.promise("visibility.user")
    def test_nothing_of_one_realm_is_seen_from_another(self, store: Store) -> None:
        other = {realm: Key(realm, "user", "") for realm in (BOB, ELSEWHERE, Realm("ann", SPACE))}
        for realm, key in ((ANN, ANNS), *other.items()):
            quoted = (Evidence("m1", 0, 3, "bee", "s1"),)
            owner = realm.owner + realm.space
            put(store, row(memory(key, description=f"bees of {owner}", evidence=quoted)))
            say(store, realm, said("m1", f"bees of {owner}"), said(f"m2-{owner}", "bees"))
            with store.transaction() as write:
                write.set_cursor(realm, Cursor("s1", 1, f"m1-{owner}"))
                write.add_verdicts(realm, "s1", "b", NOW, [Verdict("add", "", owner, "")])
                write.enqueue(realm, "extract", owner, NOW)
                write.add_records(realm.space, [key], [line(owner)])
        mine = "annorchard"
        found = store.memory([ANNS], "mem_1")
        assert found is not None
        assert found.memory.description == f"bees of {mine}"
        hits = store.search_memories([ANNS], query_terms("bees"), MOMENT)
        assert [hit.stored.memory.description for hit in hits] == [f"bees of {mine}"]
        heard = store.search_messages(ANN, ["", "ws-1"], query_terms("bees"))
        assert {hit.message.id for hit in heard} == {"m1", f"m2-{mine}"}
        assert [one.content for one in store.message(ANN, "m1")] == [f"bees of {mine}"]
        assert [one.message.id for one in store.messages(ANN, "s1")] == ["m1", f"m2-{mine}"]
        assert set(store.known_messages(ANN, "s1", ["m1", "m2-bobs", f"m2-{mine}"])) == {
            "m1",
            f"m2-{mine}",
        }
        assert store.cursor(ANN, "s1").last == f"m1-{mine}"
        assert [session for session, _, _ in store.sessions(ANN)] == ["s1"]
        assert store.derived(ANN, "s1", "m1") == [(ANNS, "mem_1")]
        assert [job.key for job in store.jobs(ANN)] == [mine]
        assert [one.verdict.name for one in store.verdicts(ANN)] == [mine]
        assert store.verdict_counts(ANN) == {"add": 1}
        assert [one.tx for one in store.records([ANNS], "mem_1")] == [mine]
        assert store.record_versions(ANNS) == {"mem_1": (1, f"{mine}-1")}
        assert store.totals(SPACE)["memories"] == 2
        stranger = Realm(SPACE, "eve")
        assert store.search_messages(stranger, [""], query_terms("bees"), session="s1") == []
        assert store.message(stranger, "m1") == []

    @pytest.mark.promise("visibility.project")
    def test_a_project_is_its_members_together(self, store: Store) -> None:
        put(store, row(memory(PROJECT, description="bees of all"), owner="ann"))
        for realm in (ANN, BOB):
            key = View(realm, workspace="ws-1").key("project")
            found = store.memory([key], "mem_1")
            assert found is not None
            assert (found.memory.key, found.owner) == (PROJECT, "ann")
            assert search(store, "bees", key) == ["mem_1"]
        put(store, row(memory(replace(PROJECT, realm=BOB), version=2), owner="bob"))
        assert ids(store.memories([PROJECT], Listing(), MOMENT)) == ["mem_1"]
        assert store.memory([Key(Realm("quarry", ""), "project", "ws-1")], "mem_1") is None
        assert store.memory([Key(Realm(SPACE, ""), "project", "ws-2")], "mem_1") is None

    @pytest.mark.promise("visibility.agent")
    def test_keys_that_look_alike_are_apart(self, store: Store) -> None:
        keys = [
            Key(Realm("a", "b"), "agent", "c"),
            Key(Realm("a", "c"), "agent", "b"),
            Key(Realm("a", "b"), "user", "c"),
            Key(Realm("A", "b"), "agent", "c"),
            Key(Realm("a", "b"), "agent", "C"),
            Key(Realm("ab", "c"), "agent", "c"),
        ]
        put(store, *(row(memory(key, description=f"bees {n}")) for n, key in enumerate(keys)))
        for n, key in enumerate(keys):
            found = store.search_memories([key], query_terms("bees"), MOMENT)
            assert [hit.stored.memory.description for hit in found] == [f"bees {n}"]

    # -- search ----------------------------------------------------------------------------------

    @pytest.mark.promise("search.validity")
    def test_validity_by_the_worlds_time_and_by_ours(self, store: Store) -> None:
        rows = [
            memory(
                id=f"m{n:03}",
                created_at=day(created),
                valid_from=None if start is None else day(start),
                invalid_at=None if end is None else day(end),
                superseded_by=None if end is None else "mem_next",
                retired_at=None if retired is None else day(retired),
                valid_until=None if last is None else day(last).date(),
            )
            for n, (created, start, end, retired, last) in enumerate(
                product((2, 6), (None, 3, 7), (None, 4, 8), (None, 5, 9), (None, 4, 8))
            )
        ]
        put(store, *map(row, rows))
        instants = (None, *map(day, (1, 3, 4, 5, 8, 9)))
        for now, as_of, known_at, every in product(
            (day(4), day(9)), instants, instants, (False, True)
        ):
            moment = Moment(now, now.date(), as_of, as_of and as_of.date(), known_at, every)
            expected = {one.id for one in rows if _holds(one, moment)}
            assert set(search(store, "bees", moment=moment)) == expected, moment

    def test_the_day_of_as_of_is_its_owners(self, store: Store) -> None:
        put(store, row(memory(valid_until=date(2026, 5, 3))))
        late = datetime(2026, 5, 3, 23, 30, tzinfo=UTC)
        moment = Moment(NOW, TODAY, as_of=late, as_of_day=date(2026, 5, 4))
        assert search(store, "bees", moment=moment) == []
        assert search(store, "bees", moment=replace(moment, as_of_day=None)) == ["mem_1"]
        assert search(store, "bees") == []
        assert search(store, "bees", moment=Moment(NOW, date(2026, 5, 3))) == ["mem_1"]

    def test_search_shows_live_and_stale_rows_that_are_not_archived(self, store: Store) -> None:
        put(
            store,
            row(memory(id="a")),
            row(memory(id="b"), presence="stale"),
            row(memory(id="c"), presence="absent"),
            row(memory(id="d", archived=True)),
        )
        everything = Moment(NOW, TODAY, every=True)
        assert search(store, "bees", moment=everything) == ["a", "b"]
        put(store, row(memory(id="a", archived=True)), row(memory(id="b"), presence="absent"))
        put(store, row(memory(id="c")), row(memory(id="d")))
        assert search(store, "bees", moment=everything) == ["c", "d"]
        assert store.totals(SPACE)["memory_texts"] == 2

    @pytest.mark.promise("search.filters-inside")
    def test_filters_apply_before_the_limit(self, store: Store) -> None:
        put(
            store,
            *(row(memory(BOBS, f"b{n}", description="bees bees bees")) for n in range(50)),
            *(row(memory(id=f"x{n}", description="bees bees", archived=True)) for n in range(50)),
            *(
                row(memory(id=f"y{n}", description="bees bees", invalid_at=day(2)))
                for n in range(50)
            ),
            *(row(memory(id=f"z{n}", description="bees bees", type="project")) for n in range(50)),
            *(row(memory(id=f"a{n}", description="the mill has bees in it")) for n in range(3)),
        )
        found = store.search_memories([ANNS], query_terms("bees"), MOMENT, types=("user",), limit=3)
        assert sorted(hit.stored.memory.id for hit in found) == ["a0", "a1", "a2"]
        some = store.search_memories(
            [ANNS], query_terms("bees"), MOMENT, types=("user", "project"), limit=10
        )
        assert len(some) == 10
        assert {hit.stored.memory.type for hit in some} == {"project"}

    def test_better_hits_come_first_with_greater_scores(self, store: Store) -> None:
        filler = [memory(id=f"f{n}", description="Ann walks to the river") for n in range(20)]
        put(
            store,
            *map(row, filler),
            row(memory(id="one", description="Ann has a mill and a boat and a garden")),
            row(memory(id="both", description="Ann has bees in the mill")),
            row(memory(id="named", name="Mill bees", description="Ann")),
            row(memory(id="body", description="Ann", body="the mill " + "and so on " * 60)),
        )
        found = store.search_memories([ANNS], query_terms("mill bees"), MOMENT)
        assert [hit.stored.memory.id for hit in found] == ["named", "both", "one", "body"]
        scores = [hit.score for hit in found]
        assert scores == sorted(scores, reverse=True)
        assert min(scores) > 0

    def test_several_keys_are_ranked_together(self, store: Store) -> None:
        put(
            store,
            row(memory(ANNS, "a", description="bees")),
            row(memory(PROJECT, "b", description="bees and honey")),
            row(memory(AGENT, "c", description="honey and bees and bread and much besides")),
            *(row(memory(ANNS, f"f{n}", description="rain")) for n in range(9)),
        )
        found = store.search_memories(
            [ANNS, PROJECT, AGENT, ANNS], query_terms("honey bees"), MOMENT, limit=2
        )
        assert len(found) == 2
        keys = [Key(ANN, "agent", f"agent-{n}") for n in range(30)]
        put(store, *(row(memory(key, f"k{n}")) for n, key in enumerate(keys)))
        assert len(search(store, "bees", *keys)) == 30

    @pytest.mark.promise("search.own-weights")
    def test_the_order_does_not_hang_on_what_others_wrote(self, store: Store) -> None:
        common, query = "mill river road", "bees mill river road"
        put(store, row(memory(id="rare", description="bees")))
        put(store, *(row(memory(id=f"c{n}", description=common)) for n in range(30)))
        say(store, ANN, said("rare", "bees"), *(said(f"c{n}", common) for n in range(30)))
        for others in (0, 1000):
            text = "much longer words that somebody else wrote down here for himself"
            put(store, *(row(memory(BOBS, f"b{n}", description=text)) for n in range(others)))
            say(store, BOB, *(said(f"b{n}", text) for n in range(others)))
            assert search(store, query)[0] == "rare"
            assert search_messages(store, query)[0] == "rare"

    def test_common_terms_count_when_the_rare_ones_are_filtered_out(self, store: Store) -> None:
        put(
            store,
            *(row(memory(id=f"r{n}", description="bees", archived=n > 0)) for n in range(3)),
            *(row(memory(id=f"b{n:02}", description="bees bees")) for n in range(60)),
            *(row(memory(id=f"m{n:03}", description="mill")) for n in range(900)),
            row(memory(id="wanted", description="the mill", type="project")),
        )
        found = store.search_memories(
            [ANNS], query_terms("bees mill"), MOMENT, types=("project",), limit=5
        )
        assert [hit.stored.memory.id for hit in found] == ["wanted"]
        best = store.search_memories([ANNS], query_terms("bees mill"), MOMENT, limit=5)
        assert all(hit.stored.memory.id.startswith("b") for hit in best)

    def test_no_terms_find_nothing(self, store: Store) -> None:
        put(store, row(memory()))
        say(store, ANN, said("m1", "bees"))
        for terms in ((), (Term(""),), (Term("", prefix=True),)):
            assert store.search_memories([ANNS], terms, MOMENT) == []
            assert store.search_messages(ANN, [""], terms) == []
        assert store.search_memories([], query_terms("bees"), MOMENT) == []
        assert store.search_messages(ANN, [], query_terms("bees")) == []

    @pytest.mark.promise("search.query-is-data")
    @pytest.mark.parametrize(
        "text",
        [
            '"a" OR b* NEAR( -c :^',
            "name : bees AND NOT mill",
            "{name description} : (bees) + mill",
            "bees' -- ; DROP TABLE memories",
            "*",
            "^bees",
            "a\x00b",
            "\\ % _ ? :x @y $z",
            "ﬁn Ⅻ ½ ① ß İ",
            "नमस्ते こんにちは 안녕 😀 👩‍👩‍👧 e\u0301",
            "1x2 2x 12x3.5",
        ],
    )
    def test_text_is_data_never_syntax(self, store: Store, text: str) -> None:
        put(
            store,
            row(memory(id="that", description=f"so {text}", body=text)),
            row(memory(id="other", description="the mill has bees")),
            row(memory(BOBS, "that", description=text)),
        )
        say(store, ANN, said("that", text), said("other", "nothing of it"))
        terms = query_terms(text)
        assert "that" in search(store, text) or not terms
        assert "that" in search_messages(store, text) or not terms
        # As a term of its own it is in no index: it must neither break the query nor widen it.
        for raw in (Term(text), Term(f'{text}" OR "1x', prefix=True)):
            hits = store.search_memories([ANNS], [raw], MOMENT)
            assert {hit.stored.memory.id for hit in hits} <= {"that"}
            store.search_messages(ANN, [""], [raw])

    @pytest.mark.promise("l0.search")
    def test_every_letter_is_found_again(self, store: Store) -> None:
        letters = [chr(n) for n in range(0x20, 0x3000) if chr(n).isalnum()][::7]
        texts = [f"{letter}q{letter}{n}" for n, letter in enumerate(letters)]
        put(store, *(row(memory(id=f"m{n}", description=text)) for n, text in enumerate(texts)))
        for n, text in list(enumerate(texts))[::5]:
            assert f"m{n}" in search(store, text), text

    @pytest.mark.promise("search.stems")
    def test_chinese_by_pairs_and_a_lone_character(self, store: Store) -> None:
        put(
            store,
            row(memory(id="tea", description="她喜欢喝绿茶")),
            row(memory(id="hill", description="茶山在南边")),
            row(memory(id="rain", description="昨天下雨了")),
            row(memory(BOBS, "bob", description="茶")),
        )
        assert search(store, "绿茶") == ["tea"]
        assert sorted(search(store, "茶")) == ["hill", "tea"]
        assert search(store, "下雨") == ["rain"]
        assert search(store, "雪") == []

    def test_messages_are_found_by_words_speaker_and_day(self, store: Store) -> None:
        say(
            store,
            ANN,
            said("m1", "the bees swarmed", name="Joan", said_at=datetime(2023, 5, 8, tzinfo=UTC)),
            said("m2", "rain again", name="Piet", said_at=datetime(2023, 5, 9, tzinfo=UTC)),
            said("m3", "蜂群飞走了", role="assistant"),
        )
        assert search_messages(store, "swarming bee") == ["m1"]
        assert search_messages(store, "what did Piet say") == ["m2"]
        assert search_messages(store, "8 May 2023")[0] == "m1"
        assert search_messages(store, "蜂群") == ["m3"]

    def test_message_search_by_workspace_session_and_role(self, store: Store) -> None:
        say(
            store,
            ANN,
            said("m1", "bees", "s1"),
            said("m2", "bees", "s1", workspace="ws-1"),
            said("m3", "bees", "s2", role="assistant", workspace="ws-1"),
            said("m4", "bees", "s2", role="tool", workspace="ws-2"),
        )
        say(store, BOB, said("m5", "bees", "s1", workspace="ws-1"))
        terms = query_terms("bees")

        def found(*workspaces: str, session: str | None = None, roles: tuple[str, ...] = ()) -> str:
            hits = store.search_messages(ANN, workspaces, terms, session=session, roles=roles)
            return " ".join(sorted(hit.message.id for hit in hits))

        assert found("") == "m1"
        assert found("", "ws-1", "ws-1") == "m1 m2 m3"
        assert found("", session="s2") == "m3 m4"
        assert found(session="s1") == "m1 m2"
        assert found("ws-1", "ws-2", roles=("assistant", "tool")) == "m3 m4"
        assert found("ws-1", session="none") == ""

    # -- messages --------------------------------------------------------------------------------

    def test_a_message_comes_back_as_it_was(self, store: Store) -> None:
        full = Message(
            "m/1 é",
            "s 1",
            "tool",
            "a\x00b\r\n\t\u2028蜂\U0001f41d " + "x" * 70_000,
            said_at=day(3),
            recorded_at=NOW,
            workspace="ws-1",
            agent="cook",
            name="Joan",
            call="call_1",
            skip="command",
        )
        say(store, ANN, full, said("m2", ""))
        assert store.message(ANN, "m/1 é") == [full]
        assert [one.message for one in store.messages(ANN, "s 1")] == [full]
        assert store.known_messages(ANN, "s 1", ["m/1 é"]) == {"m/1 é": full}
        assert store.known_messages(ANN, "s1", ["m2", "m2", "none"]) == {"m2": said("m2", "")}

    @pytest.mark.promise("l0.idempotent")
    def test_messages_are_stored_once(self, store: Store) -> None:
        say(store, ANN, said("m1", "first"), said("m1", "again"), said("m2", "second"))
        say(store, ANN, said("m2", "changed"), said("m1", "changed", "s2"), said("m3", "third"))
        assert [one.message.content for one in store.messages(ANN, "s1")] == [
            "first",
            "second",
            "third",
        ]
        assert [one.content for one in store.message(ANN, "m1")] == ["first", "changed"]
        assert [one.session for one in store.message(ANN, "m1", "s2")] == ["s2"]
        assert store.message(ANN, "m2", "s2") == []
        assert store.totals(SPACE)["message_texts"] == 4
        assert search_messages(store, "again") == []

    def test_messages_go_with_their_text_and_their_cursor(self, store: Store) -> None:
        with store.transaction() as tx:
            for realm in (ANN, BOB):
                tx.add_messages(realm, [said(f"m{n}", f"bees number {n}") for n in range(4)])
                tx.set_cursor(realm, Cursor("s1", 2, "m1"))
        with store.transaction() as tx:
            assert (
                tx.drop_messages(ANN, [("s1", "m1"), ("s1", "m3"), ("x", "m0"), ("s1", "m9")]) == 2
            )
        left = [one.message.id for one in store.messages(ANN, "s1")]
        assert left == ["m0", "m2"]
        assert sorted(search_messages(store, "bees")) == left
        assert store.totals(SPACE)["message_texts"] == 6
        assert store.cursor(ANN, "s1").position == 2
        assert [count for _, count, _ in store.shelves(SPACE)] == [2, 4]
        with store.transaction() as tx:
            tx.drop_messages(ANN, [("s1", "m0"), ("s1", "m2")])
        assert store.cursor(ANN, "s1") == Cursor("s1", 0)
        assert store.sessions(ANN) == []
        assert len(store.messages(BOB, "s1")) == 4
        assert store.cursor(BOB, "s1").position == 2
        with store.transaction() as tx:
            tx.add_messages(ANN, [said("m1", "bees again")])
        (again,) = store.messages(ANN, "s1")
        assert again.position > 8, "a position is never used again"

    def test_records_are_replaced_and_removed(self, store: Store) -> None:
        lines = [line("tx_1", part) for part in (1, 2, 3)]
        with store.transaction() as tx:
            tx.add_records(SPACE, [ANNS] * 3, lines)
        gone = replace(lines[1], kind="erased", id="", version=0, data={})
        with store.transaction() as tx:
            tx.replace_record(SPACE, gone)
            tx.drop_records(SPACE, [(lines[2].tx, 3), ("tx_none", 1)])
        assert list(store.record_lines(SPACE, "ann")) == [lines[0], gone]
        assert store.records([ANNS], "mem_1") == [lines[0]]

    def test_verdicts_go_by_their_numbers(self, store: Store) -> None:
        rows = [Verdict("add", "", f"v{n}", "new") for n in range(3)]
        with store.transaction() as tx:
            tx.add_verdicts(ANN, "s1", "b", NOW, rows)
            tx.add_verdicts(BOB, "s1", "b", NOW, rows[:1])
        numbers = [row.number for row in store.verdicts(ANN)]
        with store.transaction() as tx:
            tx.drop_verdicts(ANN, [numbers[0], *(row.number for row in store.verdicts(BOB))])
        assert [row.number for row in store.verdicts(ANN)] == numbers[1:]
        assert len(store.verdicts(BOB)) == 1

    def test_reads_and_answers_go_by_what_names_them(self, store: Store) -> None:
        read = ToolRead(NOW, "cli", "", "s1", "", "memory_search", "ok", ("mem_1",))
        with store.transaction() as tx:
            for realm in (ANN, BOB):
                tx.add_read(realm, read, most=9, before=NOW)
                tx.add_read(realm, replace(read, ids=()), most=9, before=NOW)
                for key in ("a", "b"):
                    tx.keep_answer(realm, key, Answered("d", 200, "", f"body {key}"), NOW, NOW)
        numbers = [one.number for one in store.reads(ANN)]
        assert store.answers(ANN) == [("a", "body a"), ("b", "body b")]
        with store.transaction() as tx:
            tx.drop_reads(ANN, [numbers[0], *(one.number for one in store.reads(BOB))])
            tx.drop_answers(ANN, ["a", "none"])
        assert [one.number for one in store.reads(ANN)] == numbers[1:]
        assert store.answers(ANN) == [("b", "body b")]
        assert store.answered(ANN, "a", NOW) == Answered("", GONE, "", "")
        assert (len(store.reads(BOB)), len(store.answers(BOB))) == (2, 2)

    def test_jobs_of_a_session_are_hushed_or_go_with_it(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_messages(ANN, [said("m1", "bees")])
            tx.enqueue(ANN, "extract", "s1", NOW)
            tx.set_aside(ANN, "redo", "batch_1 s1", "it said: bees", NOW)
            tx.enqueue(ANN, "extract", "gone", NOW)
            tx.enqueue(ANN, "extract", "other", NOW)
            tx.enqueue(ANN, "embed", "s1", NOW)
        with store.transaction() as tx:
            assert tx.hush_jobs(ANN, ["s1", "gone"]) == 2
        jobs = store.jobs(ANN, ("waiting", "parked"))
        assert sorted((one.kind, one.key, one.problem) for one in jobs) == [
            ("embed", "s1", ""),
            ("extract", "other", ""),
            ("extract", "s1", ""),
            ("redo", "batch_1 s1", ""),
        ]

    def test_order_of_arrival_and_pages(self, store: Store) -> None:
        say(store, ANN, *(said(f"m{9 - n}", "x", f"s{n % 2}") for n in range(10)))
        say(store, ANN, said("m-late", "x", "s0"))
        found = store.messages(ANN, "s0")
        assert [one.message.id for one in found] == ["m9", "m7", "m5", "m3", "m1", "m-late"]
        positions = [one.position for one in found]
        assert positions == sorted(set(positions))
        assert positions[0] > 0
        page = store.messages(ANN, "s0", after=positions[1], limit=2)
        assert [one.message.id for one in page] == ["m5", "m3"]

    def test_positions_are_never_used_again(self, store: Store) -> None:
        say(store, ANN, said("m1", "x"), said("m2", "x"))
        last = store.messages(ANN, "s1")[-1].position
        with store.transaction() as write:
            write.clear(SPACE)
        say(store, ANN, said("m3", "x"))
        assert store.messages(ANN, "s1")[0].position > last

    def test_cursor_and_sessions(self, store: Store) -> None:
        say(store, ANN, said("m1", "x", "late"), said("m2", "x", "a"), said("m3", "x", "late"))
        assert store.cursor(ANN, "late") == Cursor("late", 0, "")
        assert store.sessions(ANN) == [("late", 2, 2), ("a", 1, 1)]
        first = store.messages(ANN, "late")[0]
        with store.transaction() as write:
            write.set_cursor(ANN, Cursor("late", first.position, "m1"))
            assert write.cursor(ANN, "late").last == "m1"
        assert store.cursor(ANN, "late") == Cursor("late", first.position, "m1")
        assert store.sessions(ANN) == [("late", 2, 1), ("a", 1, 1)]
        with store.transaction() as write:
            write.set_cursor(ANN, Cursor("late", 10**12, "m3"))
        assert store.sessions(ANN) == [("late", 2, 0), ("a", 1, 1)]
        assert store.sessions(BOB) == []

    # -- provenance, jobs, verdicts, records -------------------------------------------------------

    def test_derived_follows_the_evidence(self, store: Store) -> None:
        def quoting(key: Key, id: str, *sources: tuple[str, str]) -> Stored:
            quoted = tuple(Evidence(message, 0, 1, "x", session) for session, message in sources)
            return row(memory(key, id, evidence=quoted))

        put(
            store,
            quoting(ANNS, "a", ("s1", "m1"), ("s1", "m2"), ("s1", "m1")),
            quoting(AGENT, "b", ("s1", "m1")),
            quoting(PROJECT, "c", ("s1", "m1")),
            quoting(ANNS, "d", ("s2", "m1")),
            quoting(BOBS, "e", ("s1", "m1")),
            quoting(ANNS, "f", ("", "m1")),
        )
        assert set(store.derived(ANN, "s1", "m1")) == {
            (ANNS, "a"),
            (AGENT, "b"),
            (PROJECT, "c"),
            (ANNS, "f"),
        }
        assert store.derived(ANN, "s1", "m2") == [(ANNS, "a")]
        put(store, quoting(ANNS, "a", ("s1", "m9")))
        assert store.derived(ANN, "s1", "m2") == []
        assert store.derived(ANN, "s1", "m9") == [(ANNS, "a")]

    def test_a_waiting_job_serves_for_the_next(self, store: Store) -> None:
        with store.transaction() as write:
            write.enqueue(ANN, "extract", "s1", day(5))
            write.enqueue(ANN, "extract", "s1", day(4))
            write.enqueue(ANN, "extract", "s1", day(6))
            write.enqueue(ANN, "extract", "s2", day(3))
            write.enqueue(ANN, "scene", "s1", day(7))
            write.enqueue(BOB, "extract", "s1", day(1))
        found = store.jobs(ANN)
        assert [(job.kind, job.key, job.due) for job in found] == [
            ("extract", "s2", day(3)),
            ("extract", "s1", day(4)),
            ("scene", "s1", day(7)),
        ]
        assert all(job.realm == ANN and job.state == "waiting" for job in found)
        assert [job.realm for job in store.jobs(None)] == [BOB, ANN, ANN, ANN]

    def test_a_job_runs_fails_waits_again_and_ends(self, store: Store) -> None:
        enqueue(store, "s1", day(5))
        (waiting,) = store.jobs(ANN)
        running = lease(store, day(5))
        assert running == replace(waiting, state="running", holder="me", lease_until=day(20))
        assert store.jobs(ANN, ("running",)) == [running]
        with store.transaction() as write:
            write.enqueue(ANN, "extract", "s1", day(4))
        assert [one.state for one in store.jobs(ANN, ("waiting", "running"))] == [
            "waiting",
            "running",
        ]
        with store.transaction() as write:
            write.postpone_job(waiting.number, day(6), "the model was away", failed=True)
        failed = replace(waiting, attempts=1, due=day(6), problem="the model was away")
        assert store.jobs(None, ("waiting", "running")) == [failed]
        enqueue(store, "s1", day(4))
        assert store.jobs(ANN) == [failed], "a turn said meanwhile does not bring it forward"
        assert lease(store, day(5), every=True) is None
        assert lease(store, day(6)) is not None
        with store.transaction() as write:
            write.enqueue(ANN, "extract", "s1", day(4))
            write.park_job(waiting.number, "twice")
        parked = replace(waiting, state="parked", attempts=2, due=day(6), problem="twice")
        assert store.jobs(None, ("waiting", "running", "parked")) == [parked]
        enqueue(store, "s1", day(4))
        assert store.jobs(ANN) == [], "it waits for its command"
        with store.transaction() as write:
            assert write.unpark_jobs(BOB, day(7)) == 0
            assert write.unpark_jobs(ANN, day(7)) == 1
        assert store.jobs(ANN) == [replace(waiting, due=day(7))]
        with store.transaction() as write:
            write.postpone_job(waiting.number, day(8), "again", failed=True)
            write.forgive_jobs(BOB, "extract", "s1")
            assert write.drop_jobs(ANN, "extract", "s2") == 0
        assert store.jobs(ANN)[0].attempts == 1
        with store.transaction() as write:
            write.forgive_jobs(ANN, "extract", "s1")
        assert store.jobs(ANN) == [replace(waiting, due=day(8))]
        with store.transaction() as write:
            write.set_aside(ANN, "extract", "s1", "there is one", day(9))
            write.set_aside(ANN, "redo", "b s1", "too long", day(9))
            write.set_aside(ANN, "redo", "b s1", "again", day(9))
        (aside,) = store.jobs(ANN, ("parked",))
        assert (aside.kind, aside.key, aside.problem) == ("redo", "b s1", "too long")
        with store.transaction() as write:
            assert write.drop_jobs(ANN, "redo", "b s1") == 1
        with store.transaction() as write:
            write.drop_job(waiting.number)
        assert store.jobs(None, ("waiting", "running", "parked", "done")) == []
        assert not store.waits(ANN, "extract", "s1")
        enqueue(store, "s1", day(5))
        assert store.jobs(ANN)[0].number > waiting.number
        assert store.waits(ANN, "extract", "s1")
        assert not any(store.waits(*one) for one in ((BOB, "extract", "s1"), (ANN, "redo", "s1")))

    def test_leased_is_what_is_due_first(self, store: Store) -> None:
        for session, due in (("late", day(9)), ("second", day(5)), ("first", day(4))):
            enqueue(store, session, due)
        with store.transaction() as write:
            write.enqueue(BOB, "scene", "other", day(1))
        taken = [lease(store, day(5)) for _ in range(3)]
        assert [job and job.key for job in taken] == ["first", "second", None]
        late = lease(store, day(5), every=True)
        assert late is not None
        assert late.key == "late"
        with store.transaction() as write:
            write.postpone_job(late.number, day(5))
        assert lease(store, day(5), every=True, but=frozenset({late.number})) is None
        assert lease(store, day(5), kinds=()) is None
        other = lease(store, day(5), kinds=("scene",))
        assert other is not None
        assert (other.realm, other.attempts) == (BOB, 0)

    def test_one_of_a_kind_runs_at_a_time_and_a_lease_ends(self, store: Store) -> None:
        enqueue(store, "s1", day(4))
        first = lease(store, day(4))
        assert first is not None
        enqueue(store, "s1", day(4))
        assert lease(store, day(5)) is None
        again = lease(store, day(20), until=day(25))
        assert again == replace(first, lease_until=day(25))
        with store.transaction() as write:
            assert write.free_jobs() == 1
        (job,) = store.jobs(ANN, ("waiting", "running"))
        assert job == replace(first, state="waiting", holder="", lease_until=None)
        with store.transaction() as write:
            assert write.free_jobs() == 0

    def test_put_off_is_no_failure(self, store: Store) -> None:
        enqueue(store, "s1", day(4))
        job = lease(store, day(4))
        assert job is not None
        enqueue(store, "s1", day(5))
        with store.transaction() as write:
            write.postpone_job(job.number, day(9), "not yet")
        (found,) = store.jobs(ANN)
        assert (found.number, found.due, found.attempts) == (job.number, day(5), 0)

    def test_what_is_at_once_need_not_be_due(self, store: Store) -> None:
        enqueue(store, "s1", day(9), at_once=True)
        enqueue(store, "s1", day(8))
        job = lease(store, day(4))
        assert job is not None
        assert (job.at_once, job.due) == (True, day(8))
        enqueue(store, "s2", day(8))
        assert lease(store, day(4)) is None
        kind = store.jobs(ANN)[0].kind
        with store.transaction() as write:
            write.hasten_jobs((kind,))
        assert [one.key for one in store.jobs(ANN) if one.at_once] == []
        with store.transaction() as write:
            write.hasten_jobs()
        assert [one.key for one in store.jobs(ANN) if one.at_once] == ["s2"]
        with store.transaction() as write:
            write.postpone_job(job.number, day(9))
        assert [one.key for one in store.jobs(ANN) if one.at_once] == ["s2", "s1"]
        assert lease(store, day(4), but=frozenset({job.number})) is not None

    def test_after_a_problem_the_due_time_rules(self, store: Store) -> None:
        for failed in (False, True):
            enqueue(store, "s1", day(9), at_once=True)
            job = lease(store, day(4))
            assert job is not None
            with store.transaction() as write:
                write.postpone_job(job.number, day(6), "the disk is full", failed=failed)
            assert lease(store, day(5)) is None
            assert store.jobs(ANN) == [
                replace(
                    job,
                    state="waiting",
                    due=day(6),
                    problem="the disk is full",
                    attempts=int(failed),
                    at_once=False,
                    holder="",
                    lease_until=None,
                )
            ]

    def test_the_backlog_counts_turns_that_ended(self, store: Store) -> None:
        assert store.backlog(ANN, "s1", 9) == Backlog(0, 0, None)
        turn: tuple[tuple[str, Role], ...] = (
            ("u1", "user"),
            ("a1", "assistant"),
            ("u2", "user"),
            ("t2", "tool"),
            ("a2", "assistant"),
            ("u3", "user"),
        )
        for n, (id, role) in enumerate(turn, start=1):
            say(store, ANN, replace(said(id, "bees"), role=role, recorded_at=day(n)))
        say(store, ANN, replace(said("a9", "bees", session="s2"), role="assistant"))
        assert store.backlog(ANN, "s1", 9) == Backlog(0, 2, day(6))
        position = store.messages(ANN, "s1")[1].position
        with store.transaction() as write:
            write.set_cursor(ANN, Cursor("s1", position, "a1"))
        assert store.backlog(ANN, "s1", 9) == Backlog(1, 1, day(6))
        with store.transaction() as write:
            write.set_cursor(ANN, Cursor("s1", 10**12, "u3"))
        assert store.backlog(ANN, "s1", 9) == Backlog(3, 0, None)
        assert store.backlog(ANN, "s1", 2) == Backlog(2, 0, None)
        assert store.backlog(BOB, "s1", 9) == Backlog(0, 0, None)

    def test_answers_are_given_again_for_a_while(self, store: Store) -> None:
        one, other = Answered("d1", 201, '"1"', '{"id":"m1"}'), Answered("d2", 200, "", "{}")
        with store.transaction() as write:
            write.keep_answer(ANN, "k", one, day(3), day(2))
            write.keep_answer(BOB, "k", other, day(3), day(2))
        assert store.answered(ANN, "k", day(3)) == one
        assert store.answered(BOB, "k", day(3)) == other
        assert store.answered(ANN, "other", day(1)) is None
        assert store.answered(ANN, "k", day(4)) is None, "too old"
        with store.transaction() as write:
            write.keep_answer(ANN, "k", other, day(5), day(4))
        assert store.answered(ANN, "k", day(1)) == other
        assert store.answered(BOB, "k", day(1)) is None, "forgotten"

    def test_an_answer_goes_with_the_memory_it_tells_of(self, store: Store) -> None:
        with store.transaction() as write:
            write.put(row(memory(id="mem_a")))
            for key, about in (("k1", "mem_a"), ("k2", "mem_b")):
                write.keep_answer(BOB, key, Answered("d", 201, "", "{}", about), day(3), day(2))
        with store.transaction() as write:
            write.drop(ANNS, "mem_a")
        assert store.answered(BOB, "k1", day(3)) == Answered("", GONE, "", "")
        assert store.answered(BOB, "k2", day(3)) == Answered("d", 201, "", "{}", "mem_b")

    def test_verdicts_newest_first(self, store: Store) -> None:
        rows = [
            Verdict("add", "", "tea", "", "mem_1", ("m1", "m2")),
            Verdict("transient", "durability", "lunch", "only today", quote_of=("m3",)),
            Verdict("add", "", "home", "", "mem_2"),
        ]
        with store.transaction() as write:
            write.add_verdicts(ANN, "s1", "b1", day(3), rows)
            write.add_verdicts(ANN, "s2", "b2", day(4), rows[:1])
            write.add_verdicts(BOB, "s1", "b3", day(5), rows)
        found = store.verdicts(ANN)
        assert [one.verdict for one in found] == [rows[0], rows[2], rows[1], rows[0]]
        assert [(one.session, one.batch, one.at) for one in found[:2]] == [
            ("s2", "b2", day(4)),
            ("s1", "b1", day(3)),
        ]
        page = store.verdicts(ANN, limit=2)
        assert store.verdicts(ANN, after=page[-1].number) == found[2:]
        assert store.verdicts(ANN, session="s2") == found[:1]
        assert store.verdicts(ANN, verdict="transient") == [found[2]]
        assert store.verdict_counts(ANN) == {"add": 3, "transient": 1}
        assert store.verdict_counts(Realm(SPACE, "eve")) == {}

    @pytest.mark.promise("tools.log")
    def test_what_agents_read_newest_first(self, store: Store) -> None:
        def one(n: int, session: str = "s1") -> ToolRead:
            ids = ("mem_1", "m 1")
            return ToolRead(day(n), "mcp", "cook", session, "ws-1", "recall_memory", "ok", ids)

        with store.transaction() as write:
            for n in range(1, 7):
                write.add_read(ANN, one(n, f"s{n % 2}"), most=5, before=day(1))
            write.add_read(BOB, one(1), most=5, before=day(1))
        found = store.reads(ANN)
        assert [replace(read, number=0) for read in found] == [
            one(n, f"s{n % 2}") for n in (6, 5, 4, 3, 2)
        ]
        page = store.reads(ANN, limit=2)
        assert store.reads(ANN, after=page[-1].number) == found[2:]
        assert store.reads(ANN, session="s0") == found[::2]
        assert store.reads(ANN, session="s0", after=found[0].number, limit=1) == found[2:3]
        assert len(store.reads(BOB)) == 1
        assert store.reads(ELSEWHERE) == []
        with store.transaction() as write:
            write.add_read(ANN, one(9), most=5, before=day(5))
        assert [read.at for read in store.reads(ANN)] == [day(9), day(6), day(5)]
        assert len(store.reads(BOB)) == 1

    @pytest.mark.promise("disk.records")
    def test_record_lines_are_indexed_once(self, store: Store) -> None:
        lines = [
            line("t2", version=2),
            line("t1"),
            line("t3", 1, "mem_2"),
            line("t3", 2, "mem_2", 2),
        ]
        batch = line("t3", 3, "s1", kind="batch")
        with store.transaction() as write:
            write.add_records(SPACE, [ANNS] * 4 + [None], [*lines, batch])
            write.add_records(SPACE, [ANNS, PROJECT], [line("t1", version=9), line("t4")])
        assert store.records([ANNS], "mem_1") == [lines[1], lines[0]]
        assert store.records([ANNS, PROJECT], "mem_1") == [lines[1], line("t4"), lines[0]]
        assert store.records([BOBS], "mem_1") == []
        assert store.record_versions(ANNS) == {"mem_1": (2, "t2-1"), "mem_2": (2, "t3-2")}
        assert store.record_versions(PROJECT) == {"mem_1": (1, "t4-1")}
        assert store.totals(SPACE)["records"] == 6

    def test_the_newest_line_of_a_version_counts(self, store: Store) -> None:
        with store.transaction() as write:
            write.add_records(
                SPACE,
                [ANNS, ANNS],
                [line("t1", at=day(5), data={"digest": "new"}), line("t2", at=day(4), data={})],
            )
        assert store.record_versions(ANNS) == {"mem_1": (1, "new")}

    def test_the_lines_of_an_owner_in_order(self, store: Store) -> None:
        lines = [
            line("t1", 1, at=day(1)),
            line("t1", 2, "s1", kind="batch", at=day(1)),
            line("t2", 1, at=day(3)),
        ]
        foreign = line("t3", owner="bob", at=day(2))
        with store.transaction() as write:
            write.add_records(SPACE, [PROJECT, PROJECT], [lines[2], foreign])
            write.add_records(SPACE, [ANNS, None], lines[:2])
            assert list(write.record_lines(SPACE, "ann")) == lines
        assert list(store.record_lines(SPACE, "ann")) == lines
        assert list(store.record_lines(SPACE, "bob")) == [foreign]
        assert list(store.record_lines("quarry", "ann")) == []

    def test_shards(self, store: Store) -> None:
        with store.transaction() as write:
            write.set_shard("records", "records/2026-05-01.jsonl", 10)
            write.set_shard("records", "records/2026-05-01.jsonl", 20)
            write.set_shard("records", "owners/bob/records/2026-05-01.jsonl", 2**33)
            write.set_shard("conversations", "conversations/2026-05-01.jsonl", 5)
        assert store.shards("records") == {
            "owners/bob/records/2026-05-01.jsonl": 2**33,
            "records/2026-05-01.jsonl": 20,
        }
        assert store.shards("none") == {}

    def test_clear_forgets_what_is_derived_of_one_space(self, store: Store) -> None:
        for realm in (ANN, ELSEWHERE):
            key = Key(realm, "user", "")
            put(store, row(memory(key, evidence=(Evidence("m1", 0, 1, "b", "s1"),))))
            say(store, realm, said("m1", "bees", workspace="ws-1"))
            with store.transaction() as write:
                write.set_cursor(realm, Cursor("s1", 1, "m1"))
                write.add_records(realm.space, [key], [line("t1")])
                write.enqueue(realm, "extract", "s1", NOW)
                write.add_verdicts(realm, "s1", "b1", NOW, [Verdict("add", "", "tea", "")])
                write.set_shard("records", f"{realm.space}/x.jsonl", 1)
        kept = store.totals("quarry")
        with store.transaction() as write:
            write.clear(SPACE)
        assert store.totals(SPACE) == dict.fromkeys(kept, 0) | {"jobs": 1}
        assert store.totals("quarry") == kept
        assert store.verdict_counts(ANN) == {"add": 1}
        assert store.cursor(ANN, "s1") == Cursor("s1", 0, "")
        assert store.derived(ANN, "s1", "m1") == []
        assert search(store, "bees") == []
        assert search_messages(store, "bees", "ws-1") == []
        assert f"{SPACE}/x.jsonl" not in store.shards("records")
        assert ANNS in store.keys(SPACE), "its folder must be read again"
        assert search(store, "bees", Key(ELSEWHERE, "user", "")) == ["mem_1"]
        put(store, row(memory()))
        say(store, ANN, said("m1", "bees", workspace="ws-1"))
        assert search(store, "bees") == ["mem_1"]
        assert search_messages(store, "bees", "ws-1") == ["m1"]

    def test_totals(self, store: Store) -> None:
        put(store, row(memory()), row(memory(id="mem_2", archived=True)), row(memory(PROJECT)))
        say(store, ANN, said("m1", "bees"))
        say(store, BOB, said("m1", "bees", workspace="ws-1"))
        with store.transaction() as write:
            write.enqueue(ANN, "extract", "s1", NOW)
            write.add_records(SPACE, [None], [line("t1", kind="batch")])
        assert store.totals(SPACE) == {
            "memories": 3,
            "memory_texts": 2,
            "messages": 2,
            "message_texts": 2,
            "records": 1,
            "jobs": 1,
        }

    # -- transactions ----------------------------------------------------------------------------

    def test_an_error_rolls_everything_back(self, store: Store) -> None:
        put(store, row(memory()))
        before = store.totals(SPACE)

        def fail(write: StoreWrite) -> None:
            write.put(row(memory(description="changed")))
            write.put(row(memory(AGENT, "mem_2")))
            write.drop(ANNS, "mem_1")
            write.add_messages(ANN, [said("m1", "bees")])
            write.set_cursor(ANN, Cursor("s1", 3, "m1"))
            write.add_records(SPACE, [ANNS], [line("t1")])
            write.add_verdicts(ANN, "s1", "b1", NOW, [Verdict("add", "", "tea", "")])
            write.enqueue(ANN, "extract", "s1", NOW)
            write.set_shard("records", "x.jsonl", 1)
            write.clear("quarry")
            raise Conflict("moved meanwhile")

        with pytest.raises(Conflict), store.transaction() as write:
            fail(write)
        assert store.totals(SPACE) == before
        assert store.memory([ANNS], "mem_1") == row(memory())
        assert search(store, "bees") == ["mem_1"]
        assert search_messages(store, "bees") == []
        assert store.cursor(ANN, "s1").position == 0
        assert store.verdict_counts(ANN) == {}
        assert store.shards("records") == {}
        assert AGENT not in store.keys(SPACE)
        put(store, row(memory(AGENT, "mem_2")))
        assert store.memory([AGENT], "mem_2") is not None

    def test_reads_inside_see_own_writes_and_others_do_not(self, store: Store) -> None:
        with store.transaction() as write:
            write.put(row(memory()))
            write.add_messages(ANN, [said("m1", "bees")])
            hits = write.search_memories([ANNS], query_terms("bees"), MOMENT)
            assert [hit.stored.memory.id for hit in hits] == ["mem_1"]
            assert write.known_messages(ANN, "s1", ["m1"]) != {}
            assert write.memory([ANNS], "mem_1") == row(memory())
            assert store.memory([ANNS], "mem_1") is None
            assert search(store, "bees") == []
        assert store.memory([ANNS], "mem_1") == row(memory())

    def test_a_transaction_inside_a_transaction_is_a_bug(self, store: Store) -> None:
        def nest() -> None:
            with store.transaction() as outer:
                outer.put(row(memory()))
                with store.transaction():
                    pass

        with pytest.raises(Internal):
            nest()
        assert store.memory([ANNS], "mem_1") is None
        put(store, row(memory()))
        assert store.memory([ANNS], "mem_1") is not None

    def test_a_transaction_cannot_be_used_after_its_end(self, store: Store) -> None:
        with store.transaction() as write:
            write.put(row(memory()))
        with pytest.raises(Internal):
            write.put(row(memory(id="mem_2")))
        with pytest.raises(Internal):
            write.memory([ANNS], "mem_1")
        assert store.memory([ANNS], "mem_2") is None

    def test_offload_sessions_are_kept_and_changed(self, store: Store) -> None:
        head = OffloadHead("ws-1", "bake", "bake", 1, day(3), "m1")
        first = OffloadChange(head, "{1}", ((0, "a"), (1, "b")), (("001-x.mmd", "g"),))
        with store.transaction() as tx:
            tx.put_offload(ANN, first)
        found = store.offloaded(ANN, "ws-1", "bake")
        assert found == Offloaded(head, "{1}", ("a", "b"), (("001-x.mmd", "g"),))
        assert store.offload_head(ANN, "ws-1", "bake") == head
        later = replace(head, version=2, at=day(4), marks="m2")
        with store.transaction() as tx:
            tx.put_offload(ANN, OffloadChange(later, "{2}", ((1, "B"), (2, "c"))))
        found = store.offloaded(ANN, "ws-1", "bake")
        assert found == Offloaded(later, "{2}", ("a", "B", "c"), (("001-x.mmd", "g"),))
        with store.transaction() as tx:
            tx.put_offload(ANN, OffloadChange(later, "{}", ((0, "z"),), anew=True))
        assert store.offloaded(ANN, "ws-1", "bake") == Offloaded(later, "{}", ("z",))

    def test_an_offload_session_is_of_its_owner_and_workspace(self, store: Store) -> None:
        heads = [
            OffloadHead(workspace, session, session, 1, day(n))
            for n, (workspace, session) in enumerate(
                (("", "bake"), ("ws-1", "bake"), ("ws-1", "cook")), start=1
            )
        ]
        with store.transaction() as tx:
            for head in heads:
                tx.put_offload(ANN, OffloadChange(head, head.session, ((0, "x"),)))
        assert store.offload_heads(ANN, "ws-1") == [heads[2], heads[1]]
        assert store.offload_heads(ANN) == [heads[2], heads[1], heads[0]]
        for realm in (BOB, ELSEWHERE):
            assert store.offload_heads(realm) == []
            assert store.offloaded(realm, "", "bake") is None
        with store.transaction() as tx:
            tx.drop_offload(BOB, "", "bake")
            tx.drop_offload(ANN, "ws-1", "bake")
        assert store.offload_heads(ANN) == [heads[2], heads[0]]
        with store.transaction() as tx:
            tx.clear(SPACE)
        assert store.offload_heads(ANN) == []
        assert store.offloaded(ANN, "", "bake") is None

    def test_a_read_sees_one_state(self, store: Store) -> None:
        """A memory moves between two keys; nobody may see it in neither."""
        put(store, row(memory(ANNS)))
        done = threading.Event()

        def move() -> None:
            for n in range(60):
                here, there = (ANNS, AGENT) if n % 2 == 0 else (AGENT, ANNS)
                with store.transaction() as write:
                    write.drop(here, "mem_1")
                    write.put(row(memory(there)))
            done.set()

        def look() -> int:
            looks = 0
            while not done.is_set():
                assert len(store.memories([ANNS, AGENT], Listing(), MOMENT)) == 1
                assert store.memory([ANNS, AGENT], "mem_1") is not None
                assert len(search(store, "bees", ANNS, AGENT)) == 1
                looks += 1
            return looks

        with ThreadPoolExecutor(3) as pool:
            looking = [pool.submit(look) for _ in range(2)]
            pool.submit(move).result()
            assert all(one.result() > 0 for one in looking)

    def test_twenty_threads_write_at_once(self, store: Store) -> None:
        def work(n: int) -> None:
            for i in range(5):
                with store.transaction() as write:
                    write.put(row(memory(id=f"m{n:02}-{i}")))
                    write.add_messages(ANN, [said(f"{n}-{i}", "bees", f"s{n}")])
                    seen = len(write.messages(ANN, f"s{n}"))
                assert seen == i + 1
                assert store.memory([ANNS], f"m{n:02}-{i}") is not None

        _all_at_once(work, 20)
        assert len(store.memories([ANNS], Listing(), MOMENT)) == 100
        assert store.totals(SPACE)["message_texts"] == 100
        assert store.check() == []

    @pytest.mark.promise("write.many")
    def test_two_processes_write_at_once(self, store: Store, opening: str) -> None:
        writers = [
            subprocess.Popen(
                [sys.executable, "-W", "error", "-c", f"{opening}\nNAME = {name!r}\n{_OTHER}"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for name in ("p", "q")
        ]
        for n in range(30):
            say(store, ANN, said(f"here-{n}", "bees", "together"))
        for writer in writers:
            out, err = writer.communicate(timeout=60)
            assert (writer.returncode, out, err) == (0, "30\n", "")
        found = [one.message.id for one in store.messages(ANN, "together")]
        assert len(found) == 90
        for name in ("here", "p", "q"):
            mine = [id for id in found if id.startswith(name)]
            assert mine == [f"{name}-{n}" for n in range(30)]
        assert store.check() == []

    # -- upkeep ----------------------------------------------------------------------------------

    def test_optimise_changes_no_answer(self, store: Store) -> None:
        for n in range(60):
            put(store, row(memory(id=f"m{n:02}", description=f"bees {n} " * (n % 5 + 1))))
            say(store, ANN, said(f"m{n}", f"bees {n}"))
        with store.transaction() as write:
            for n in range(0, 60, 3):
                write.drop(ANNS, f"m{n:02}")
        before = (search(store, "bees 7 8"), search_messages(store, "bees 7 8"))
        store.optimise()
        store.optimise()
        assert (search(store, "bees 7 8"), search_messages(store, "bees 7 8")) == before
        assert len(before[0]) == 40
        assert store.check() == []

    def test_a_closed_store_may_not_be_used(self, store: Store) -> None:
        put(store, row(memory()))
        store.close()
        with pytest.raises(Internal):
            store.memory([ANNS], "mem_1")
        with pytest.raises(Internal), store.transaction():
            pass
        store.close()


_OTHER = """
from datetime import UTC, datetime
from memstrata.domain.scope import Realm
from memstrata.domain.turn import Message
at = datetime(2026, 5, 1, tzinfo=UTC)
for n in range(30):
    with store.transaction() as write:
        message = Message(f"{NAME}-{n}", "together", "user", "bees", None, at)
        write.add_messages(Realm("orchard", "ann"), [message])
found = [one.message.id for one in store.messages(Realm("orchard", "ann"), "together")]
print(len([id for id in found if id.startswith(NAME)]))
store.close()
"""


def _all_at_once(work: Callable[[int], None], threads: int) -> None:
    barrier = threading.Barrier(threads)

    def start(n: int) -> None:
        barrier.wait(30)
        work(n)

    with ThreadPoolExecutor(threads) as pool:
        for one in [pool.submit(start, n) for n in range(threads)]:
            one.result()


def _holds(memory: Memory, moment: Moment) -> bool:
    """The contract's sentence on validity, word for word."""
    if moment.known_at is not None and memory.created_at > moment.known_at:
        return False
    if moment.every:
        return True
    end = memory.invalid_at
    if moment.known_at is not None and (memory.retired_at or memory.created_at) > moment.known_at:
        end = None
    if moment.as_of is not None:
        at, last = moment.as_of, moment.as_of_day
        if memory.valid_from is not None and memory.valid_from > at:
            return False
    else:
        at, last = moment.now, moment.today
    assert last is not None
    return (end is None or at < end) and (memory.valid_until is None or memory.valid_until >= last)
