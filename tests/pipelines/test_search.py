"""Search: what is found, in which order, what is left out, and what happens when full text is gone."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Invalid, Memory
from memstrata.adapters.sqlite.connection import Connection
from memstrata.events import Event
from memstrata.pipelines.read import Hits
from memstrata.ports import Stored


def memories(hits: Hits) -> list[str]:
    """The names of the memories that were found, in order."""
    return [hit.name for hit in hits if hit.kind == "memory"]


def say(memory: Memory, session: str, *texts: str, on: str | None = None) -> None:
    memory.session(session).commit(
        [{"role": "user", "content": text, "said_at": on} for text in texts]
    )
    memory.drain()


# -- what is found ----------------------------------------------------------------------------------


@pytest.mark.promise("search.stems")
@pytest.mark.parametrize(
    "description, query",
    [
        ("The potter glazes tiles", "glazing a tile"),
        ("The potter glazes tiles", "POTTERS"),
        ("Café Zenobia opens late", "cafe zenobia"),
        ("项目统一使用函数式组件", "函数组件"),
        ("喜欢下雨天", "雨"),
        ("喜欢喝茶", "茶"),
        ("Runs release 2.14 of Kiln", "2.14"),
    ],
)
def test_words_are_found_in_another_form(memory: Memory, description: str, query: str) -> None:
    memory.add(name="it", description=description)
    memory.add(name="other", description="Nothing of the kind")
    assert memories(memory.search(query)) == ["it"]


@pytest.mark.promise("l0.search")
def test_every_message_is_found_by_its_words(memory: Memory) -> None:
    turn = [
        {"role": "user", "id": "m1", "content": "Where did the heron nest?"},
        {"role": "assistant", "id": "m2", "content": "Under the weir, I believe."},
        {
            "role": "assistant",
            "id": "m3",
            "content": [{"type": "tool_use", "name": "look", "id": "c1", "input": {"at": "reeds"}}],
        },
        {"role": "tool", "id": "m4", "tool_call_id": "c1", "content": "two otters seen"},
        {"role": "user", "id": "m5", "content": "/compact the sluice"},
        {"role": "user", "id": "m6", "content": "苍鹭在堤坝下筑巢。"},
    ]
    stored = memory.session("s").commit(turn).stored
    assert len(stored) == 6
    words = ("heron", "weir", "reeds", "otter", "sluice", "堤坝")
    for id, word in zip(stored, words, strict=True):
        first, *beside = memory.search_conversations(word)
        assert (first.id, first.lanes) == (id, ("fulltext",))
        assert {hit.lanes for hit in beside} <= {("context",)}
        hit, *_ = memory.search(word)
        assert (hit.kind, hit.id, hit.session) == ("message", id, "s")
    assert memory.search_conversations("heron", session="other") == ()


@pytest.mark.promise("search.kinds")
def test_memories_come_before_messages_at_most_so_many_of_each(memory: Memory) -> None:
    say(memory, "s", *(f"How many owls sit on branch {n}?" for n in range(5)))
    for n in range(5):
        memory.add(name=f"owl {n}", description=f"Owl {n} sits on a branch")
    hits = memory.search("owl branch", limit=3)
    assert [hit.kind for hit in hits] == ["memory"] * 3 + ["message"] * 3
    assert all(hit.lanes == ("fulltext",) for hit in hits)
    assert {hit.kind for hit in memory.search("owl", kinds=("message",))} == {"message"}
    assert {hit.kind for hit in memory.search("owl", type="user")} == {"memory"}
    assert {hit.kind for hit in memory.search("owl", scope="user")} == {"memory"}
    for wrong in ({"limit": 0}, {"kinds": ()}, {"type": "owl"}, {"scope": "tree"}):
        with pytest.raises(Invalid):
            memory.search("owl", **wrong)


@pytest.mark.promise("search.filters-inside")
def test_a_small_scope_among_many_gets_its_hits(memory: Memory, tmp_path: Path) -> None:
    for n in range(30):
        memory.add(name=f"owl {n}", description="owl owl owl")
        memory.add(name=f"bens owl {n}", description="owl owl owl", user="ben")
    for n in range(3):
        memory.add(
            name=f"barn {n}",
            description="A barn with somewhere in it an owl of a kind",
            scope="project",
            type="project",
            workspace=tmp_path,
        )
    found = memory.search("owl", scope="project", limit=3, workspace=tmp_path, kinds=("memory",))
    assert sorted(memories(found)) == ["barn 0", "barn 1", "barn 2"]
    found = memory.search("owl", type="project", limit=3, workspace=tmp_path, kinds=("memory",))
    assert sorted(memories(found)) == ["barn 0", "barn 1", "barn 2"]


# -- order ------------------------------------------------------------------------------------------


@pytest.mark.promise("search.classic")
def test_classic_is_rank_times_age_times_confidence(open_memory: Open, clock: FakeClock) -> None:
    classic = {"search.profile": "classic"}
    memory = open_memory(settings={**classic, "search.time_decay_lambda": 0.1})
    memory.add(name="old", description="owl owl", priority=60)
    clock.advance(days=10)
    memory.add(name="new", description="owl and many other birds of the wood")
    hits = memory.search("owl", kinds=("memory",))
    assert hits.profile == memory.status().profile == "classic"
    assert memories(hits) == ["new", "old"]
    assert hits[0].score == pytest.approx(1 / 62)
    assert hits[1].score == pytest.approx(1 / 61 * math.exp(-1))
    memory.close()
    flat = open_memory(settings={**classic, "search.time_decay_lambda": 0.0}).search(
        "owl", kinds=("memory",)
    )
    assert memories(flat) == ["old", "new"]
    assert [hit.score for hit in flat] == pytest.approx([1 / 61, 1 / 62])


@pytest.mark.promise("search.classic")
def test_confidence_weighs_and_messages_know_none_of_it(
    open_memory: Open, clock: FakeClock
) -> None:
    memory = open_memory(settings={"search.profile": "classic"})
    say(memory, "s", "I live in Tarnow.")
    (tarnow,) = memory.list().items
    assert tarnow.confidence < 1
    before = memory.search("Tarnow")
    assert before[0].score == pytest.approx(tarnow.confidence / 61)
    clock.advance(days=100)
    after = memory.search("Tarnow")
    assert after[0].score == pytest.approx(tarnow.confidence / 61 * math.exp(-1))
    assert before[1].score == after[1].score == pytest.approx(1 / 61)


@pytest.mark.promise("search.entity-hop")
def test_one_hop_over_shared_entities_adds_what_is_related(memory: Memory, tmp_path: Path) -> None:
    def add(name: str, description: str, *entities: str, **where: Any) -> None:
        memory.add(name=name, description=description, entities=entities, **where)

    add("ferry", "The ferry is run by Odile", "Odile")
    add("shop", "ODILE owns a shop for sails", "odile", "Sails")
    add("sail", "Sails are sewn from old flags", "Sails")
    add("cheese", "Odile, a cheese from the hills")
    add("bens", "Odile sings", "Odile", user="ben")
    add("gone", "Odile had a dog", "Odile", valid_until="2020-01-01")
    hits = memory.search("ferry", kinds=("memory",))
    assert [(hit.name, hit.lanes) for hit in hits] == [
        ("ferry", ("fulltext",)),
        ("shop", ("entity",)),
    ]
    assert [hit.name for hit in memory.search("ferry", kinds=("memory",), limit=1)] == ["ferry"]
    assert [hit.name for hit in memory.search("dog", kinds=("memory",))] == []


# -- when ---------------------------------------------------------------------------------------------


@pytest.mark.promise("search.validity")
def test_the_worlds_time_and_ours(memory: Memory, clock: FakeClock) -> None:
    clock.set(datetime(2025, 6, 1, 9, tzinfo=UTC))
    say(memory, "one", "I work at Marlow Glass.", on="2025-01-10")
    clock.set(datetime(2025, 7, 1, 9, tzinfo=UTC))
    say(memory, "two", "I work at Quillon.", on="2025-03-03")

    def employers(**asked: object) -> set[str]:
        hits = memory.search("works at Marlow Glass Quillon", kinds=("memory",), **asked)  # type: ignore[arg-type]
        return {hit.description.removeprefix("Works at ") for hit in hits}

    assert employers() == {"Quillon"}
    assert employers(include_invalid=True) == {"Quillon", "Marlow Glass"}
    assert employers(as_of="2025-01-09") == set()
    assert employers(as_of="2025-02-01") == {"Marlow Glass"}
    assert employers(as_of="2025-03-04") == {"Quillon"}
    assert employers(known_at="2025-05-31") == set(), "nobody had told us"
    assert employers(known_at="2025-06-15") == {"Marlow Glass"}, "we thought so still"
    assert employers(known_at="2025-07-02") == {"Quillon"}
    assert employers(as_of="2025-04-01", known_at="2025-06-15") == {"Marlow Glass"}
    assert employers(as_of="2025-02-01", known_at="2025-07-02") == {"Marlow Glass"}
    assert employers(as_of=datetime(2025, 2, 1, tzinfo=UTC)) == {"Marlow Glass"}


@pytest.mark.promise("search.validity")
def test_the_last_day_counts_in_the_owners_zone(open_memory: Open, clock: FakeClock) -> None:
    memory = open_memory(settings={"timezone": "Asia/Tokyo"})
    memory.add(name="sale", description="The kiln sale", valid_until=date(2026, 3, 20))
    clock.set(datetime(2026, 3, 20, 14, 59, tzinfo=UTC))  # 23:59 in Tokyo
    assert memories(memory.search("sale")) == ["sale"]
    clock.advance(minutes=1)
    assert memory.search("sale") == ()
    assert [hit.status for hit in memory.search("sale", include_invalid=True)] == ["expired"]
    assert memories(memory.search("sale", as_of="2026-03-20T23:59:00")) == ["sale"]
    assert memory.search("sale", as_of="2026-03-21T00:00:00") == ()
    assert memory.get(memory.list().items[0].id).status == "expired", "it can be read"


# -- degraded -----------------------------------------------------------------------------------------


def broken(home: Path, *tables: str) -> None:
    """Take the text away from under the index."""
    database = apsw.Connection(str(home / "memstrata.db"))
    for table in tables:
        database.execute(f"DELETE FROM {table}_data")
    database.close()


@pytest.mark.promise("search.degraded")
def test_without_full_text_all_come_by_type(memory: Memory, home: Path) -> None:
    say(memory, "s", "Is the ferry late?")
    for kind in ("episodic", "reference", "project", "user", "feedback"):
        memory.add(name=kind, description=f"One of {kind}", type=kind)
    memory.add(name="rule", description="Never sail", type="feedback", priority=-1)
    memory.add(name="over", description="Long gone", valid_until="2020-01-01")
    heard: list[Event] = []
    memory._world.bus.listen(heard.append)
    broken(home, "memory_text", "message_text")
    hits = memory.search("ferry")
    assert memories(hits) == ["rule", "feedback", "user", "project", "reference", "episodic"]
    assert hits.degraded == ("full text failed: all by type", "full text failed: no messages")
    assert {hit.lanes for hit in hits} == {("type",)}
    assert memories(memory.search("ferry", type="project")) == ["project"]
    assert memories(memory.search("ferry", limit=2)) == ["rule", "feedback"]
    talk = memory.search_conversations("ferry")
    assert (tuple(talk), talk.degraded) == ((), ("full text failed: no messages",))
    assert {(one.name, one.degraded) for one in heard} == {("fulltext.failed", True)}
    assert any("full text fails" in line for line in memory.status().degraded)
    assert not memory.doctor()[0].ok
    assert len(memory.list().items) == 7, "what needs no full text goes on"


@pytest.mark.promise("search.degraded")
def test_one_lane_of_two_is_still_searched(memory: Memory, home: Path) -> None:
    say(memory, "s", "Is the ferry late?")
    memory.add(name="ferry", description="The ferry is blue")
    broken(home, "memory_text")
    hits = memory.search("ferry")
    assert [hit.kind for hit in hits] == ["memory", "message"]
    assert hits.degraded == ("full text failed: all by type",)


# -- cost -----------------------------------------------------------------------------------------------


def pages_read(memory: Memory, monkeypatch: pytest.MonkeyPatch, user: str) -> int:
    """How many database pages SQLite looks at for a search of memories and messages."""
    seen = 0
    all_rows = Connection.all

    def counted(self: Connection, name: str, values: object = None) -> object:
        nonlocal seen
        kinds = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)
        for kind in kinds:
            self._db.status(kind, reset=True)
        found = all_rows(self, name, values)  # type: ignore[arg-type]
        seen += sum(self._db.status(kind)[0] for kind in kinds)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Connection, "all", counted)
        hits = memory.search("owl in the barn", user=user)
    assert [hit.kind for hit in hits] == ["memory"] * 10 + ["message"] * 10
    return seen


@pytest.mark.promise("search.scope-cost")
def test_a_search_costs_what_its_scope_holds(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(user: str, count: int) -> None:
        world, key = memory._world, memory.session("x", user=user).view.keys[0]
        stored = world.store.memory((key,), memory.add(name="n", description="d", user=user).id)
        assert stored is not None
        turn = [{"role": "user", "content": f"An owl, {n}, in the barn"} for n in range(count)]
        memory.session("s", user=user).commit(turn)
        with world.store.transaction() as tx:
            for n in range(count):
                tx.put(_copy(stored, f"{user}-{n}"))

    fill("ana", 40)
    fill("other-0", 300)
    memory._world.store.optimise()
    among_few = pages_read(memory, monkeypatch, "ana")
    for n in range(1, 11):
        fill(f"other-{n}", 300)
    memory._world.store.optimise()
    among_many = pages_read(memory, monkeypatch, "ana")
    assert among_many < 1.1 * among_few
    large = pages_read(memory, monkeypatch, "other-0")
    assert large > 2 * among_many, "the measure sees what a larger scope costs"


def _copy(stored: Stored, id: str) -> Stored:
    held = stored.memory
    one = replace(held, id=id, name=id, description="An owl sits in the barn")
    return replace(stored, memory=one, place=stored.place.folder.within(f"{id}.md"))
