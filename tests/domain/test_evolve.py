"""What a new fact does to what is known: decisions alone, nothing stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.domain.build import KEY, NOW, candidate, memory

from memstrata.domain import evolve, terms
from memstrata.domain.candidate import Candidate
from memstrata.domain.evolve import Decision, Known
from memstrata.domain.memory import MAX_NAME, Evidence, Memory, normalised_name

LATER = NOW + timedelta(days=400)


def on(day: int, month: int = 1) -> datetime:
    return datetime(2025, month, day, 12, tzinfo=UTC)


class World:
    """Memories by id, found as a store would find them: by slot, by name, by likeness."""

    def __init__(self, *held: Memory, now: datetime = NOW, zone: str = "UTC") -> None:
        self.held = {one.id: one for one in held}
        self.now = now
        self.zone = ZoneInfo(zone)
        self._number = 0

    def known(self, one: Candidate) -> Known:
        name = normalised_name(one.name)
        held = tuple(self.held.values())
        return Known(
            slot=[m for m in held if one.slot and (m.subject, m.slot) == (one.subject, one.slot)],
            named=[m for m in held if normalised_name(m.name) == name],
            alike=[
                m for m in held if terms.similarity(m.description, one.description) >= evolve.ALIKE
            ],
        )

    def hear(self, one: Candidate) -> Decision:
        self._number += 1
        id = f"mem_{self._number:026}"
        found = evolve.decide(one, self.known(one), KEY, id=id, now=self.now, zone=self.zone)
        before = self.valid
        self.held |= {step.memory.id: step.memory for step in found.steps}
        assert found.adds == (len(self.valid) > len(before))
        assert len(self.valid) - len(before) in (-1, 0, 1)
        names = [normalised_name(m.name) for m in self.valid]
        assert len(names) == len(set(names)), "two valid memories of one name"
        assert all(len(m.name) <= MAX_NAME for m in self.valid)
        return found

    @property
    def valid(self) -> list[Memory]:
        return [m for m in self.held.values() if m.status(self.now, self.zone) == "active"]

    def texts(self, at: datetime | None = None) -> list[str]:
        """What is valid now, or held at a moment of the past."""
        if at is None:
            return [m.description for m in self.valid]
        return [
            m.description
            for m in self.held.values()
            if (m.valid_from or on(1)) <= at and (m.invalid_at is None or m.invalid_at > at)
        ]


def says(
    description: str, at: datetime | None = NOW, *, quote: str = "", **fields: Any
) -> Candidate:
    """A candidate of one source of its own."""
    quote = quote or f"{description} ({at})"
    evidence = (Evidence(f"m-{quote}", 0, len(quote), quote, "chat"),)
    return candidate(description=description, evidence=evidence, said_at=at, **fields)


def works(at_: str, at: datetime | None, **fields: Any) -> Candidate:
    return says(f"Works at {at_}", at, slot="employer", name="employer", **fields)


# -- the cases -------------------------------------------------------------------------------------


def test_said_three_times_is_one_memory_with_three_sources() -> None:
    world = World()
    drink: dict[str, Any] = {"slot": "preferred drink", "confidence": 0.8}
    first = world.hear(says("Prefers tea", on(1), **drink))
    second = world.hear(
        says("Prefers tea over coffee", on(2), **drink | {"confidence": 0.99, "priority": 95})
    )
    third = world.hear(says("Prefers tea", on(3), **drink | {"confidence": 1.0}))
    (only,) = world.held.values()
    assert [one.verdict for one in (first, second, third)] == ["add", "update", "noop"]
    assert [step.verb for step in third.steps] == ["source"]
    assert len(only.evidence) == 3
    assert only.description == "Prefers tea over coffee"
    assert (only.confidence, only.priority) == (0.8, 60)
    assert (only.version, only.said_at, only.valid_from) == (2, on(3), on(1))


@pytest.mark.promise("evolve.supersede")
def test_a_new_employer_supersedes_the_old_one() -> None:
    world = World()
    harrow = world.hear(works("Harrow Tools", on(10))).memory
    brightwater = world.hear(works("Brightwater", on(3, 3)))
    assert (brightwater.verdict, brightwater.adds) == ("update", False)
    assert world.texts() == ["Works at Brightwater"]
    assert world.texts(on(1, 2)) == ["Works at Harrow Tools"]
    old = world.held[harrow]
    assert (old.invalid_at, old.superseded_by, old.retired_at) == (
        on(3, 3),
        brightwater.memory,
        NOW,
    )
    assert old.version == 2
    assert [step.verb for step in brightwater.steps] == ["add", "supersede"]


def test_two_owners_of_two_services_are_both_valid() -> None:
    world = World()
    world.hear(
        says(
            "Ines owns the billing service",
            on(1),
            name="billing",
            subject="ines",
            slot="owns billing",
        )
    )
    world.hear(
        says(
            "Tomas owns the search service",
            on(2),
            name="search",
            subject="tomas",
            slot="owns search",
        )
    )
    assert len(world.valid) == 2


@pytest.mark.promise("evolve.supersede")
def test_two_subjects_of_one_slot_are_both_valid() -> None:
    world = World()
    for who in ("ines", "tomas", "user"):
        world.hear(
            works("Harrow", on(1), subject=who)
            if who == "user"
            else replace(
                works("Harrow", on(1), subject=who),
                name=f"{who}: employer",
                description=f"{who} works at Harrow",
            )
        )
    assert len(world.valid) == 3


@pytest.mark.promise("times.three")
def test_a_visit_keeps_when_it_happened_and_when_it_was_said() -> None:
    world = World()
    friday = date(2023, 5, 5)
    said = datetime(2023, 5, 10, 12, tzinfo=UTC)
    world.hear(
        says(
            "Saw the dentist on 2023-05-05",
            said,
            type="episodic",
            happened_from=friday,
            happened_until=friday,
        )
    )
    (one,) = world.valid
    assert (one.happened_from, one.said_at, one.created_at) == (friday, said, NOW)


def test_the_same_event_on_another_day_is_another_memory() -> None:
    world = World()
    for day in (5, 12):
        happened = date(2023, 5, day)
        world.hear(
            says(
                "Had lunch with Ines",
                on(day),
                name=f"lunch {day}",
                type="episodic",
                happened_from=happened,
            )
        )
    assert len(world.valid) == 2


@pytest.mark.promise("evolve.expired-namesake")
@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/New_York"])
@pytest.mark.parametrize("slot", ["freeze", ""])
def test_a_freeze_that_ended_and_a_new_one_of_the_same_name(zone: str, slot: str) -> None:
    here = ZoneInfo(zone)
    freeze: dict[str, Any] = {"name": "freeze", "slot": slot, "type": "project", "scope": "user"}
    world = World(now=on(1), zone=zone)
    old = world.hear(
        says("Freeze until 2026-10-31", on(1), valid_until=date(2026, 10, 31), **freeze)
    ).memory
    midnight = datetime(2026, 11, 1, tzinfo=here).astimezone(UTC)
    world.now = midnight - timedelta(seconds=1)
    assert world.texts() == ["Freeze until 2026-10-31"]
    world.now = midnight
    assert world.texts() == []
    said = midnight + timedelta(hours=9)
    world.now = said + timedelta(days=2)
    new = world.hear(says("Freeze until 2027-01-15", said, valid_until=date(2027, 1, 15), **freeze))
    assert new.memory != old
    assert new.adds
    assert world.texts() == ["Freeze until 2027-01-15"]
    assert world.held[new.memory].name == "freeze"
    ended = world.held[old]
    assert ended.status(world.now, here) == "invalid"
    assert (ended.invalid_at, ended.superseded_by) == (said, new.memory)
    assert ended.description == "Freeze until 2026-10-31"
    assert ended.valid_until == date(2026, 10, 31)


@pytest.mark.promise("evolve.expired-namesake")
def test_an_expired_memory_is_never_merged_into() -> None:
    world = World(memory(name="freeze", description="Freeze it", valid_until=date(2020, 1, 1)))
    found = world.hear(says("Freeze it", NOW, name="freeze", valid_until=date(2030, 1, 1)))
    assert found.verdict == "add"
    assert world.held["mem_1"].superseded_by == found.memory


def test_what_began_before_its_expired_namesake_leaves_no_backward_interval() -> None:
    held = memory(
        name="freeze", valid_until=date(2020, 1, 1), valid_from=datetime(2019, 6, 1, tzinfo=UTC)
    )
    world = World(held)
    world.hear(says("Freeze another thing", datetime(2019, 1, 1, tzinfo=UTC), name="freeze"))
    ended = world.held["mem_1"]
    assert ended.invalid_at is not None
    assert ended.valid_from is not None
    assert ended.invalid_at >= ended.valid_from


# -- one slot in any order ---------------------------------------------------------------------------

Facts = Sequence[tuple[int, str]]
EMPLOYERS = ("Harrow", "Brightwater", "Quill", "Orchid", "Lantern", "Copper")


def heard(facts: Iterable[tuple[int, str]]) -> World:
    world = World()
    for day, employer in facts:
        world.hear(works(employer, on(day)))
    return world


def intervals(world: World) -> set[tuple[object, ...]]:
    return {(m.description, m.valid_from, m.invalid_at) for m in world.held.values()}


@st.composite
def shuffled(draw: Any, employers: st.SearchStrategy[list[str]]) -> tuple[Facts, Facts]:
    """Facts in the order they were said, and in the order they come in."""
    names = draw(employers)
    days = sorted(
        draw(st.lists(st.integers(1, 28), min_size=len(names), max_size=len(names), unique=True))
    )
    facts = tuple(zip(days, names, strict=True))
    return facts, tuple(draw(st.permutations(facts)))


DISTINCT = st.lists(st.sampled_from(EMPLOYERS), min_size=1, max_size=6, unique=True)
REPEATED = st.lists(st.sampled_from(EMPLOYERS[:3]), min_size=1, max_size=6)


@pytest.mark.promise("evolve.order")
@given(shuffled(DISTINCT))
def test_the_order_of_arrival_does_not_matter(facts: tuple[Facts, Facts]) -> None:
    in_order, as_they_came = facts
    world = heard(as_they_came)
    assert intervals(world) == intervals(heard(in_order))
    assert world.texts() == [f"Works at {in_order[-1][1]}"]
    for (day, employer), (until, _) in zip(in_order, [*in_order[1:], (31, "")], strict=True):
        (one,) = (m for m in world.held.values() if m.valid_from == on(day))
        assert one.description == f"Works at {employer}"
        assert one.invalid_at == (None if until == 31 else on(until))
        assert (one.superseded_by is None) == (until == 31)


@pytest.mark.promise("evolve.order")
@given(shuffled(REPEATED))
@example(
    (((2, "Harrow"), (4, "Quill"), (6, "Harrow")), ((2, "Harrow"), (6, "Harrow"), (4, "Quill")))
)
def test_what_was_said_last_holds_also_when_it_was_said_before(facts: tuple[Facts, Facts]) -> None:
    in_order, as_they_came = facts
    world = heard(as_they_came)
    assert world.texts() == [f"Works at {in_order[-1][1]}"]
    sources = [one.message for m in world.held.values() for one in m.evidence]
    assert len(sources) == len(set(sources)) == len(in_order)
    for day, employer in in_order:
        assert f"Works at {employer}" in world.texts(on(day))
    for one in world.held.values():
        assert one.valid_from is not None
        assert one.invalid_at is None or one.invalid_at > one.valid_from


@given(shuffled(REPEATED))
def test_hearing_all_of_it_again_changes_nothing_that_holds(facts: tuple[Facts, Facts]) -> None:
    in_order, as_they_came = facts
    world = heard(in_order)
    before = world.texts()
    for day, employer in as_they_came[-1:]:
        world.hear(works(employer, on(day)))
    assert world.texts() == before


def test_an_expired_value_beside_a_valid_one_is_superseded_with_it() -> None:
    """One was brought back after another of its slot had expired."""
    plain: dict[str, Any] = {"subject": "user", "slot": "home", "authority": "user"}
    expired = memory(
        id="mem_old", name="home", said_at=on(5), valid_from=on(5), valid_until=date(2025, 1, 8)
    )
    back = memory(id="mem_back", name="here", said_at=on(2), valid_from=on(2))
    expired, back = replace(expired, **plain), replace(back, **plain)
    world = World(expired, back, now=on(20))
    found = world.hear(says("Lives in Braga", on(20), slot="home", name="home"))
    assert [m.id for m in world.valid] == [found.memory]
    assert {m.superseded_by for m in world.held.values()} == {None, found.memory}


def test_a_fact_from_the_past_says_so_and_takes_no_place() -> None:
    world = heard([(20, "Brightwater")])
    found = world.hear(works("Harrow", on(10)))
    assert (found.verdict, found.adds) == ("add", False)
    assert found.reason == "superseded already by what was said later"
    assert world.held[found.memory].invalid_at == on(20)


def test_a_beginning_that_was_named_orders_it() -> None:
    world = heard([(20, "Brightwater")])
    world.hear(works("Harrow", on(25), valid_from=on(5)))
    assert world.texts() == ["Works at Brightwater"]
    assert world.texts(on(10)) == ["Works at Harrow"]


def test_a_beginning_in_the_future_ends_the_old_one_then() -> None:
    world = World(now=on(3))
    world.hear(works("Harrow", on(2)))
    world.hear(works("Brightwater", on(3), valid_from=on(20)))
    world.now = on(21)
    assert world.texts() == ["Works at Brightwater"]
    assert world.texts(on(10)) == ["Works at Harrow"]


def test_what_was_never_dated_counts_as_said_now() -> None:
    world = World(
        memory(slot="employer", description="Works at Harrow", subject="user", said_at=None)
    )
    world.hear(works("Brightwater", None))
    assert world.texts() == ["Works at Brightwater"]


# -- the same value ----------------------------------------------------------------------------------


@pytest.mark.promise("evolve.near-text")
@pytest.mark.parametrize(
    "one, other, same",
    [
        ("Prefers tea", "prefers TEA!", True),
        ("Prefers tea", "Prefers tea over coffee", True),
        ("Prefers tea over coffee", "Prefers coffee over tea", False),
        ("Works at Harrow", "Works at Harrow Tools", True),
        ("Lives in York", "Lives in New York", False),
        ("Works at Harrow", "Works at Brightwater", False),
        ("Likes coriander", "Does not like coriander", False),
        ("Likes coriander", "Doesn't like coriander", False),
        ("Likes coriander", "Doesn’t like coriander", False),
        ("Can eat nuts", "Can't eat nuts", False),
        ("Can eat nuts", "Cannot eat nuts", False),
        ("Eats meat", "Eats no meat", False),
        ("Eats meat", "Never, ever eats meat", False),
        ("Does not eat meat", "Does not eat red meat", True),
        ("Notices details", "Notices small details", True),
        ("Rent is 900", "Rent is 950", False),
        ("喜欢香菜", "不喜欢香菜", False),
        ("喜欢香菜", "特别喜欢香菜", True),
        ("喝酒", "没喝酒", False),
        ("住在上海", "住在上海浦东", True),
        ("住在上海", "住在北京", False),
        ("???", "!!!", False),
    ],
)
def test_same_value(one: str, other: str, same: bool) -> None:
    first, second = memory(description=one), memory("mem_2", description=other)
    assert evolve.same_value(first, second) == same
    assert evolve.same_value(second, first) == same


def test_another_day_is_another_value() -> None:
    first, second = (memory(valid_until=date(2026, month, 1)) for month in (5, 6))
    assert not evolve.same_value(first, second)


# -- without a slot ----------------------------------------------------------------------------------

LONG = (
    "The deploy key of the billing service rotates every 30 days on a Monday morning at nine sharp"
)


@pytest.mark.promise("evolve.near-text")
@pytest.mark.parametrize(
    "description, verdict",
    [
        (LONG, "noop"),
        (LONG.upper() + "!", "noop"),
        (LONG.replace("sharp", "sharp always"), "update"),
        (LONG.replace("30", "60"), "add"),
        (LONG.replace("rotates", "never rotates"), "add"),
        (LONG.replace("billing", "search"), "add"),
        ("Prefers tea", "add"),
    ],
)
def test_near_texts(description: str, verdict: str) -> None:
    world = World()
    world.hear(says(LONG, on(1), name="key"))
    found = world.hear(says(description, on(2), name="key 2"))
    assert found.verdict == verdict
    assert len(world.held) == (2 if verdict == "add" else 1)


@pytest.mark.promise("evolve.near-text")
@given(st.integers(0, 999), st.integers(0, 999))
def test_a_text_with_another_number_is_never_merged(one: int, other: int) -> None:
    world = World()
    for number, day in ((one, 1), (other, 2)):
        world.hear(says(LONG.replace("30", str(number)), on(day), name=f"key {number}"))
    assert len(world.valid) == (1 if one == other else 2)


@pytest.mark.promise("name.unique")
def test_a_valid_namesake_keeps_its_name() -> None:
    world = World()
    world.hear(says("Prefers tea", on(1), name="x" * MAX_NAME))
    found = world.hear(says("Owns a boat", on(2), name="x" * MAX_NAME))
    assert found.verdict == "add"
    first, second = world.valid
    assert first.name == "x" * MAX_NAME
    assert second.name.startswith("x" * 100)
    assert second.name.endswith(f"({second.id[-6:]})")


def test_a_name_is_also_free_when_the_slot_is_another() -> None:
    world = World()
    world.hear(works("Harrow", on(1)))
    world.hear(says("Lives in Bergen", on(2), name="Employer", slot="home"))
    world.hear(says("Lives in Lyon", on(3), name="EMPLOYER", slot="home"))
    assert sorted(world.texts()) == ["Lives in Lyon", "Works at Harrow"]


def test_an_archived_memory_is_not_merged_into() -> None:
    world = World(memory(description=LONG, archived=True))
    assert world.hear(says(LONG, on(2))).verdict == "add"


def test_another_type_is_another_memory() -> None:
    world = World()
    world.hear(says(LONG, on(1), name="a", type="project"))
    world.hear(says(LONG, on(2), name="b", type="reference"))
    assert len(world.valid) == 2


# -- said again ------------------------------------------------------------------------------------


@pytest.mark.promise("evolve.noop")
def test_a_noop_adds_the_source_and_moves_nothing_else() -> None:
    world = World(
        memory(slot="drink", subject="user", said_at=on(1), valid_from=on(1), evidence=())
    )
    before = world.held["mem_1"]
    found = world.hear(
        says("Prefers tea", on(5), slot="drink", confidence=1.0, priority=100, entities=("Tea",))
    )
    after = world.held["mem_1"]
    assert (found.verdict, found.memory, found.adds) == ("noop", "mem_1", False)
    assert len(after.evidence) == 1
    assert after == replace(before, evidence=after.evidence, said_at=on(5))


@pytest.mark.promise("evolve.noop")
def test_the_very_same_source_again_is_nothing() -> None:
    world = World()
    one = says("Prefers tea", on(1), slot="drink")
    world.hear(one)
    found = world.hear(one)
    assert (found.verdict, found.steps) == ("noop", ())


@pytest.mark.promise("evolve.update")
def test_a_better_wording_is_a_new_version_with_all_evidence() -> None:
    world = World()
    first = world.hear(
        says("Prefers tea", on(1), slot="drink", entities=("Ines",), body="kept")
    ).memory
    world.now = LATER
    found = world.hear(says("Prefers green tea", on(2), slot="drink", entities=("Tomas",)))
    one = world.held[first]
    assert (found.verdict, one.version, one.description) == ("update", 2, "Prefers green tea")
    assert (one.entities, one.body, one.updated_at) == (("Ines", "Tomas"), "kept", LATER)
    assert (one.created_at, one.valid_from, len(one.evidence)) == (NOW, on(1), 2)


@pytest.mark.promise("times.updated")
def test_updated_at_never_decreases() -> None:
    world = World(memory(slot="drink", subject="user", updated_at=LATER, said_at=on(1)))
    world.hear(says("Prefers green tea", on(2), slot="drink"))
    assert world.held["mem_1"].updated_at == LATER
    world.hear(says("Prefers water", on(3), slot="drink"))
    assert world.held["mem_1"].updated_at == LATER


def test_an_older_wording_does_not_replace_a_newer_one() -> None:
    world = World()
    world.hear(says("Prefers tea", on(5), slot="drink"))
    found = world.hear(says("Prefers green tea", on(1), slot="drink"))
    (one,) = world.valid
    assert (found.verdict, one.description, one.valid_from) == ("noop", "Prefers tea", on(1))
    assert one.version == 1


@pytest.mark.promise("evolve.confidence")
@given(st.floats(0, 1), st.integers(-1, 100), st.sampled_from(("Prefers tea", "Prefers green tea")))
def test_repetition_raises_neither_confidence_nor_priority(
    sure: float, high: int, text: str
) -> None:
    world = World(memory(slot="drink", subject="user", confidence=0.7, priority=55, said_at=on(1)))
    world.hear(says(text, on(2), slot="drink", confidence=sure, priority=high))
    (one,) = world.held.values()
    assert (one.confidence, one.priority) == (0.7, 55)


# -- what the assistant or a tool said ---------------------------------------------------------------


@pytest.mark.promise("evolve.authority")
@pytest.mark.parametrize("who", ["assistant", "tool"])
def test_the_assistant_neither_ends_nor_rewords_what_the_user_said(who: str) -> None:
    world = World()
    deploys: dict[str, Any] = {"slot": "deployment", "type": "project", "name": "deployment"}
    first = world.hear(says("Deploys with Nomad", on(1), **deploys)).memory
    other = world.hear(says("Deploys with Kubernetes", on(2), authority=who, **deploys))
    more = world.hear(says("Deploys with Nomad and prayers", on(3), authority=who, **deploys))
    assert world.held[first].description == "Deploys with Nomad"
    assert world.held[first].status(NOW, UTC) == "active"
    assert (other.verdict, more.verdict) == ("add", "noop")
    added = world.held[other.memory]
    assert "review" in added.note
    assert (added.authority, added.slot) == (who, "")


@pytest.mark.promise("evolve.authority")
def test_the_assistant_may_correct_itself_and_the_user_anybody() -> None:
    world = World()
    deploys: dict[str, Any] = {"slot": "deployment", "type": "project", "name": "deployment"}
    world.hear(says("Deploys with Nomad", on(1), authority="assistant", **deploys))
    world.hear(says("Deploys with Kubernetes", on(2), authority="assistant", **deploys))
    assert world.texts() == ["Deploys with Kubernetes"]
    world.hear(says("Deploys with Helm", on(3), **deploys))
    assert world.texts() == ["Deploys with Helm"]


# -- endings ---------------------------------------------------------------------------------------


def left(employer: str, at: datetime, **fields: Any) -> Candidate:
    return says(
        f"No longer works at {employer}",
        at,
        slot="employer",
        name="employer",
        change="ends",
        **fields,
    )


@pytest.mark.promise("evolve.ends")
def test_what_is_said_to_be_over_ends_then() -> None:
    world = heard([(10, "Harrow")])
    found = world.hear(left("Harrow", on(20), entities=("Harrow",)))
    assert (found.verdict, found.adds, [step.verb for step in found.steps]) == (
        "delete",
        False,
        ["invalidate"],
    )
    (old,) = world.held.values()
    assert (old.invalid_at, old.superseded_by, old.retired_at, old.version) == (
        on(20),
        None,
        NOW,
        2,
    )
    assert len(old.evidence) == 2
    assert world.texts(on(15)) == ["Works at Harrow"]
    assert world.texts() == []


def test_said_to_be_over_twice_ends_once() -> None:
    world = heard([(10, "Harrow")])
    world.hear(left("Harrow", on(20)))
    found = world.hear(left("Harrow", on(25)))
    assert (found.verdict, found.steps) == ("noop", ())


@pytest.mark.promise("evolve.ends")
@pytest.mark.parametrize(
    "ending",
    [
        left("Quill", on(20), entities=("Quill",)),
        left("Harrow", on(5)),
        replace(left("Harrow", on(20)), slot="home"),
        replace(left("Harrow", on(20)), subject="ines"),
    ],
    ids=["another employer", "before it began", "another slot", "another subject"],
)
def test_only_what_was_named_ends(ending: Candidate) -> None:
    world = heard([(10, "Harrow")])
    found = world.hear(ending)
    assert not found.adds
    assert [step.verb for step in found.steps] == ["add"], "a mark, which holds at no moment"
    assert world.texts() == ["Works at Harrow"]
    assert world.held["mem_" + "1".zfill(26)].version == 1


@pytest.mark.promise("life.stands")
def test_what_a_person_wrote_since_does_not_end() -> None:
    world = heard([(10, "Harrow")])
    ((id, one),) = world.held.items()
    world.held[id] = replace(one, authority="person", updated_at=on(25))
    found = world.hear(left("Harrow", on(20)))
    assert (found.verdict, found.memory, found.steps) == ("noop", id, ())
    assert world.hear(left("Harrow", on(28))).verdict == "delete"


@pytest.mark.promise("evolve.ends")
@pytest.mark.parametrize(
    "ending, over", [("Works at the bakery no longer", False), ("Works no longer", True)]
)
def test_a_word_that_every_ending_has_names_nothing(ending: str, over: bool) -> None:
    world = heard([(10, "Harrow")])
    world.hear(replace(left("Harrow", on(20)), description=ending))
    assert world.texts() == ([] if over else ["Works at Harrow"])


def test_what_was_said_again_since_does_not_end() -> None:
    world = heard([(10, "Harrow"), (25, "Harrow")])
    assert world.hear(left("Harrow", on(20))).verdict == "noop"
    assert world.texts() == ["Works at Harrow"]


@pytest.mark.promise("evolve.ends")
@pytest.mark.parametrize("who", ["assistant", "tool"])
def test_an_ending_without_a_successor_needs_the_users_words(who: str) -> None:
    world = heard([(10, "Harrow")])
    found = world.hear(left("Harrow", on(20), authority=who))
    assert found.verdict == "add"
    assert "review" in world.held[found.memory].note
    assert "Works at Harrow" in world.texts()


def test_after_an_ending_the_next_one_begins_anew() -> None:
    world = heard([(10, "Harrow")])
    world.hear(left("Harrow", on(15)))
    world.hear(works("Harrow", on(20)))
    assert len(world.held) == 2
    assert world.texts(on(17)) == []
    assert world.texts() == ["Works at Harrow"]


@pytest.mark.promise("evolve.order")
@pytest.mark.parametrize("entities", [(), ("Harrow",)])
def test_an_ending_that_arrives_first_ends_what_comes_later_and_was_said_before(
    entities: tuple[str, ...],
) -> None:
    world = World()
    first = world.hear(left("Harrow", on(20), entities=entities))
    assert (first.verdict, first.adds, world.texts()) == ("delete", False, [])
    found = world.hear(works("Harrow", on(10)))
    assert (found.verdict, found.reason) == ("add", "over already, by what was said later")
    old = world.held[found.memory]
    assert (old.valid_from, old.invalid_at, old.superseded_by) == (on(10), on(20), None)
    assert world.texts(on(15)) == ["Works at Harrow"]
    assert world.texts() == []
    world.hear(works("Quill", on(12)))
    assert world.texts() == ["Works at Quill"], "it was named by nobody"
    world.hear(works("Harrow", on(25)))
    assert world.texts() == ["Works at Harrow"], "it began anew"


def test_an_ending_said_again_is_marked_once() -> None:
    world = World()
    world.hear(left("Harrow", on(20)))
    assert world.hear(left("Harrow", on(22))).verdict == "noop"
    assert len(world.held) == 1


@st.composite
def a_life(draw: Any) -> tuple[Sequence[Candidate], Sequence[Candidate]]:
    """Employers and endings of some of them, in the order they were said and as they come in."""
    (facts, _) = draw(shuffled(DISTINCT))
    said: list[Candidate] = []
    for (day, employer), (following, _) in zip(facts, [*facts[1:], (29, "")], strict=True):
        said.append(works(employer, on(day)))
        if following - day > 1 and draw(st.booleans()):
            said.append(left(employer, on(draw(st.integers(day + 1, following - 1)))))
    return said, draw(st.permutations(said))


@pytest.mark.promise("evolve.order")
@given(a_life())
def test_endings_too_may_arrive_in_any_order(life: tuple[Sequence[Candidate], Any]) -> None:
    worlds = World(), World()
    for world, said in zip(worlds, life, strict=True):
        for one in said:
            world.hear(one)
    held = [
        {row for row in intervals(world) if row[1] != row[2]} for world in worlds
    ]  # but for marks
    assert held[0] == held[1]


# -- the memory of a candidate -----------------------------------------------------------------------


def test_the_memory_that_a_candidate_would_be() -> None:
    one = says(
        "word " * 60,
        on(2),
        name="  a \n b  ",
        body="\nbody\r\n",
        entities=("Ines", "Ines"),
        scene="s",
    )
    found = evolve.memory_of(one, KEY, id="mem_9", now=NOW)
    assert (found.id, found.key, found.version, found.origin) == ("mem_9", KEY, 1, "extraction")
    assert (found.name, found.entities, found.scene) == ("a b", ("Ines",), "s")
    assert len(found.description) <= 200
    assert found.body.endswith("\n\nbody")
    assert (found.said_at, found.valid_from, found.created_at) == (on(2), on(2), NOW)
    assert (found.priority, found.authority, found.evidence) == (60, "user", one.evidence)


def test_a_long_name_is_cut() -> None:
    name = "x" * (MAX_NAME - 1) + " y"
    assert evolve.memory_of(candidate(name=name), KEY, id="mem_9", now=NOW).name == "x" * (
        MAX_NAME - 1
    )


def test_names_fit_folded() -> None:
    assert evolve.fits("ＤＲＩＮＫ", memory(name=" drink "))
    assert not evolve.fits("drinks", memory(name="drink"))
