"""What a model's ruling may do to what is known, and what it may not: decisions alone, nothing stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.build import KEY, NOW, candidate, memory

from memstrata.domain import evolve, ruling, terms
from memstrata.domain.candidate import Candidate
from memstrata.domain.evolve import Decision, Known
from memstrata.domain.memory import (
    MAX_BODY,
    MAX_DESCRIPTION,
    MAX_ENTITIES,
    NO_REASON,
    Evidence,
    Memory,
    normalised_name,
)
from memstrata.domain.ruling import Given, Objection, Ruling

ID = "mem_new000001"


def on(day: int, month: int = 1) -> datetime:
    return datetime(2025, month, day, 12, tzinfo=UTC)


def held(description: str, id: str = "mem_old", **fields: Any) -> Memory:
    """What is known: said by the user on day 5."""
    quote = Evidence(f"m-{id}", 0, len(description), description, "chat")
    plain: dict[str, Any] = {
        "description": description,
        "name": id,
        "subject": "user",
        "authority": "user",
        "origin": "extraction",
        "evidence": (quote,),
        "confidence": 0.7,
        "priority": 55,
        "said_at": on(5),
        "valid_from": on(5),
        "created_at": on(6),
        "updated_at": on(6),
    }
    return memory(id, **(plain | fields))


def says(description: str, at: datetime | None = None, **fields: Any) -> Candidate:
    """A candidate of one source, said on day 10 unless told."""
    quote = Evidence("m-new", 0, len(description), description, "chat")
    plain: dict[str, Any] = {"name": "new", "evidence": (quote,), "confidence": 0.95}
    return candidate(
        description=description, said_at=at or on(10), **(plain | {"priority": 90} | fields)
    )


def known_of(one: Candidate, *memories: Memory) -> Known:
    """`memories` as a store would find them; everything else reads alike."""
    name = normalised_name(one.name)
    slot = [m for m in memories if one.slot and (m.subject, m.slot) == (one.subject, one.slot)]
    named = [m for m in memories if normalised_name(m.name) == name]
    alike = [m for m in memories if m.status(NOW, UTC) == "active"]
    return Known(slot=slot, named=named, alike=alike)


def judged(
    one: Candidate,
    what: Ruling,
    *memories: Memory,
    target: str = "mem_old",
    unshown: Sequence[Memory] = (),
) -> Decision:
    """What becomes of a ruling on `one`, that was shown those of `memories` that are valid."""
    valid = {m.id: m for m in memories if m.status(NOW, UTC) == "active"}
    every = {m.id: m for m in (*memories, *unshown)}
    given = Given(what, None if what == "add" else every[target], frozenset(valid))
    known = known_of(one, *every.values())
    return ruling.judge(one, given, known, KEY, id=ID, now=NOW, zone=UTC)


def after(decision: Decision, *memories: Memory) -> dict[str, Memory]:
    return {m.id: m for m in memories} | {step.memory.id: step.memory for step in decision.steps}


def active(decision: Decision, *memories: Memory) -> list[str]:
    """The descriptions that are valid afterwards."""
    found = after(decision, *memories).values()
    return sorted(m.description for m in found if m.status(NOW, UTC) == "active")


def refused(decision: Decision) -> bool:
    return "the model's ruling was refused" in decision.reason


# -- update ---------------------------------------------------------------------------------------

HARROW = held("Works at Harrow", slot="employer", entities=("Harrow",))
TEA = held("Prefers tea")


@pytest.mark.promise("evolve.update")
def test_the_same_value_said_better_keeps_its_id_and_every_source() -> None:
    one = says("Prefers green tea", entities=("Ines",), body="In the morning.")
    found = judged(one, "update", TEA)
    (new,) = (step.memory for step in found.steps)
    assert (found.verdict, found.memory, found.adds) == ("update", "mem_old", False)
    assert (new.id, new.version, new.description) == ("mem_old", 2, "Prefers green tea")
    assert (new.body, new.entities, len(new.evidence)) == ("In the morning.", ("Ines",), 2)
    assert (new.confidence, new.priority) == (0.7, 55)
    assert (new.valid_from, new.said_at, new.updated_at) == (on(5), on(10), NOW)


def test_a_shorter_wording_is_a_source() -> None:
    found = judged(says("Prefers tea"), "update", replace(TEA, description="Prefers tea over maté"))
    assert (found.verdict, [step.verb for step in found.steps]) == ("noop", ["source"])


@pytest.mark.promise("evolve.supersede")
@pytest.mark.parametrize(
    "old, one",
    [
        (HARROW, says("Works at Brightwater", slot="employer", entities=("Brightwater",))),
        (
            held("Rex is a puppy", subject="rex", entities=("Rex",)),
            says("Rex is a grown dog", subject="rex", entities=("Rex",)),
        ),
        (held("The report is due to Ines"), says("The report goes to Tomas", entities=("Ines",))),
        (TEA, says("Prefers coffee")),
        (held("Lives in York", slot="home"), says("Lives in New York", slot="home")),
        (held("Likes coriander"), says("Does not like coriander")),
        (held("Pays 900 for the flat"), says("Pays 950 for the flat")),
        (
            held("Ines owns billing", subject="ines", entities=("billing",)),
            says("Tomas took billing over from Ines", subject="tomas", entities=("billing",)),
        ),
    ],
    ids=lambda one: one.description,
)
def test_another_value_takes_the_place_of_the_old_one(old: Memory, one: Candidate) -> None:
    found = judged(one, "update", old)
    assert not refused(found)
    assert (found.verdict, found.memory, found.adds) == ("update", ID, False)
    assert active(found, old) == [one.description]
    ended = after(found, old)["mem_old"]
    assert (ended.invalid_at, ended.superseded_by, ended.version) == (one.said_at, ID, 2)
    assert ended.description == old.description
    assert [step.verb for step in found.steps] == ["add", "supersede"]


@pytest.mark.promise("evolve.order")
@pytest.mark.parametrize("slot", ["employer", ""])
def test_what_was_said_earlier_ends_nothing(slot: str) -> None:
    old = replace(HARROW, slot=slot)
    one = says("Left Brightwater for Harrow", on(2), slot=slot, entities=("Brightwater", "Harrow"))
    found = judged(one, "update", old)
    assert (found.verdict, found.adds, active(found, old)) == ("add", False, ["Works at Harrow"])
    added = after(found)[ID]
    assert (added.valid_from, added.invalid_at, added.superseded_by) == (on(2), on(5), "mem_old")
    assert [step.memory.id for step in found.steps] == [ID], "and the old one is not touched"


@pytest.mark.promise("evolve.order")
def test_what_was_said_again_since_is_not_ended() -> None:
    old = replace(HARROW, slot="", said_at=on(20))
    found = judged(says("Works at Quill, not Harrow", entities=("Harrow",)), "update", old)
    assert active(found, old) == ["Works at Harrow"]
    assert after(found)[ID].invalid_at == on(20)


@pytest.mark.parametrize(
    "old, one, why",
    [
        (TEA, says("Owns a boat"), "neither slot nor entity"),
        (HARROW, says("Lives in Krosno", slot="home"), "neither slot nor entity"),
        (
            held("The deploy key of billing rotates on Monday", entities=("billing",)),
            says("The deploy key of search rotates on Monday", entities=("search",)),
            "neither slot nor entity",
        ),
        (
            held("Ines owns the billing service", subject="ines", entities=("billing service",)),
            says("Tomas owns the billing service", subject="tomas", entities=("billing service",)),
            "another subject",
        ),
        (
            held("Drives a van", entities=("van",)),
            says("Ines drives the van of the user", subject="ines", entities=("van", "Ines")),
            "another subject",
        ),
        (
            held("Ines is a colleague", entities=("Ines",)),
            says("Met Ines at the fair", type="episodic", entities=("Ines",)),
            "an event",
        ),
        (
            held("Deploys with Nomad", type="project", slot="deployment"),
            says("Deploys with Kubernetes", type="project", slot="deployment", authority="tool"),
            "only the tool said so",
        ),
        (
            held("Rex sleeps outside", entities=("Rex",)),
            says("Rex sleeps inside", entities=("Rex",), valid_until=date(2025, 2, 1)),
            "does not hold any more",
        ),
    ],
    ids=lambda one: getattr(one, "description", one),
)
def test_an_update_that_is_refused_is_added_for_review(
    old: Memory, one: Candidate, why: str
) -> None:
    found = judged(one, "update", old)
    assert refused(found)
    assert "(update mem_old: " in found.reason
    assert why in found.reason
    assert found.verdict == "add"
    assert after(found, old)["mem_old"] == old
    assert ("for review" in after(found)[ID].note) == found.adds


def test_the_note_for_review_says_what_was_refused_and_keeps_the_other_mark() -> None:
    old = held("Answers in French", type="feedback")
    found = judged(says("Never push to main", type="feedback"), "merge", old)
    note = after(found)[ID].note
    assert note.startswith("for review: the model's ruling was refused (merge mem_old: ")
    assert note.endswith(f"; {NO_REASON}")


# -- merge ----------------------------------------------------------------------------------------


def test_a_merge_unites_texts_and_sources_and_raises_nothing() -> None:
    old = held("Has a cat named Miso.", entities=("Miso",), body="Since spring.")
    one = says("Has a cat with one eye", entities=("cat",), body="Found in the yard.")
    found = judged(one, "merge", old)
    (step,) = found.steps
    new = step.memory
    assert (found.verdict, step.verb, found.memory, found.adds) == (
        "merge",
        "merge",
        "mem_old",
        False,
    )
    assert new.description == "Has a cat named Miso; Has a cat with one eye"
    assert new.body == "Since spring.\n\nFound in the yard."
    assert (new.version, new.name, new.entities) == (2, old.name, ("Miso", "cat"))
    assert (new.confidence, new.priority, new.key) == (0.7, 55, old.key)
    assert len(new.evidence) == 2


def test_a_merge_of_one_text_with_a_longer_one_is_the_longer_one() -> None:
    found = judged(says("Prefers green tea"), "merge", TEA)
    assert (found.verdict, found.steps[0].memory.description) == ("merge", "Prefers green tea")
    again = judged(says("Prefers tea"), "merge", held("Prefers green tea"))
    assert (again.verdict, [step.verb for step in again.steps]) == ("noop", ["source"])


def test_a_long_merge_loses_no_word() -> None:
    old = held("Has a cat named Miso " + "and then some " * 12, slot="cat")
    one = says("Has a cat with a rather long story of its own", slot="cat")
    found = judged(one, "merge", old)
    new = found.steps[0].memory
    assert len(new.description) <= MAX_DESCRIPTION
    words = f"{new.description} {new.body}".replace("…", " ").split()
    assert {"Miso", "some", "story", "own"} <= {word.strip(";") for word in words}


def test_what_is_too_long_together_is_not_merged() -> None:
    old = held("Has a cat named Miso", slot="cat", body="a" * MAX_BODY)
    found = judged(says("Has a cat with one eye", slot="cat", body="b"), "merge", old)
    assert refused(found)
    assert "too long" in found.reason


def test_entities_stay_as_many_as_a_file_may_hold() -> None:
    old = held(
        "Has a cat named Miso", entities=tuple(f"n{n}" for n in range(MAX_ENTITIES)), slot="cat"
    )
    found = judged(
        says("Has a cat named Miso upstairs", slot="cat", entities=("Miso",)), "update", old
    )
    assert len(found.steps[0].memory.entities) == MAX_ENTITIES


NEVER_ONE = [
    (
        held("Ines owns the billing service", subject="ines", entities=("billing service",)),
        says("Tomas owns the billing service", subject="tomas", entities=("billing service",)),
        "another subject",
    ),
    (
        held("Billing is owned by Ines", entities=("billing", "Ines")),
        says("Billing is owned by Tomas", entities=("billing", "Tomas")),
        "another name",
    ),
    (held("Likes coriander"), says("Does not like coriander"), "denies"),
    (held("喜欢香菜", slot="香菜"), says("不喜欢香菜", slot="香菜"), "denies"),
    (
        held("Lives in York", slot="home"),
        says("Lives in New York", slot="home"),
        "begins otherwise",
    ),
    (
        held("Lives in New York", slot="home"),
        says("Lives in York", slot="home"),
        "begins otherwise",
    ),
    (
        held("The clinic in Tarnow opens at nine", entities=("Tarnow",)),
        says("The clinic in Krosno opens at nine", entities=("clinic", "Krosno")),
        "another name",
    ),
    (
        held("住在上海", slot="住处", entities=("上海",)),
        says("住在北京", slot="住处", entities=("北京",)),
        "another name",
    ),
    (held("The flat costs 900"), says("The flat costs 950"), "another number"),
    (
        held("Had lunch with Ines", type="episodic", happened_from=date(2025, 1, 5)),
        says("Had lunch with Ines", type="episodic", happened_from=date(2025, 1, 12)),
        "days of its own",
    ),
    (
        held("The freeze holds", valid_until=date(2027, 1, 1)),
        says("The freeze holds still", valid_until=date(2027, 2, 1)),
        "days of its own",
    ),
    (held("Runs marathons"), says("Runs marathons abroad", type="episodic"), "an event"),
    (
        held("Works at Harrow", slot="employer", entities=("Harrow",)),
        says("No longer works at Quill", slot="employer", change="ends", entities=("Quill",)),
        "only says that something is over",
    ),
]


@pytest.mark.promise("evolve.near-text")
@pytest.mark.parametrize("what", ["merge", "noop"])
@pytest.mark.parametrize(
    "old, one, why",
    NEVER_ONE,
    ids=[f"{old.description}|{one.description}" for old, one, _ in NEVER_ONE],
)
def test_near_texts_are_never_one(what: Ruling, old: Memory, one: Candidate, why: str) -> None:
    found = judged(one, what, old)
    assert refused(found)
    assert why in found.reason
    new = after(found, old)["mem_old"]
    assert new.description == old.description
    assert new.evidence == old.evidence
    assert one.change == "ends" or one.description in active(found, old)
    if new.status(NOW, UTC) == "active" and found.adds:
        assert "for review" in after(found)[ID].note


@pytest.mark.promise("evolve.near-text")
@pytest.mark.parametrize("old, one, why", NEVER_ONE[:1] + NEVER_ONE[6:7])
def test_nor_does_one_of_two_owners_or_places_end_the_other(
    old: Memory, one: Candidate, why: str
) -> None:
    for what in ("update", "delete"):
        found = judged(one, what, old)
        assert refused(found)
        assert active(found, old) == sorted((old.description, one.description))


# -- noop -----------------------------------------------------------------------------------------


@pytest.mark.promise("evolve.noop")
def test_a_noop_adds_the_source_and_moves_nothing_else() -> None:
    old = held("Has a black cat named Miso", entities=("Miso",))
    found = judged(says("The cat is called Miso", on(12), entities=("Miso",)), "noop", old)
    new = after(found)["mem_old"]
    assert (found.verdict, found.memory, found.adds) == ("noop", "mem_old", False)
    assert new == replace(old, evidence=new.evidence, said_at=on(12))
    assert len(new.evidence) == 2


@pytest.mark.parametrize(
    "one, why",
    [
        (says("Has a cat named Miso", entities=("Miso",)), "a name that the other lacks"),
        (says("Has a cat of 12 years"), "a number that the other lacks"),
    ],
)
def test_a_noop_that_would_lose_a_name_or_a_number_is_refused(one: Candidate, why: str) -> None:
    found = judged(one, "noop", held("Has a cat"))
    assert refused(found)
    assert why in found.reason
    assert one.description in active(found, held("Has a cat"))


def test_a_refused_noop_in_a_slot_is_what_the_rules_make_of_it() -> None:
    old = held("Works at Harrow", slot="employer")
    found = judged(says("Works at Harrow since 2020", slot="employer"), "noop", old)
    assert (found.verdict, refused(found)) == ("update", True)
    assert found.steps[0].memory.description == "Works at Harrow since 2020"


# -- delete ---------------------------------------------------------------------------------------


@pytest.mark.promise("evolve.ends")
@pytest.mark.parametrize(
    "one",
    [
        says("No longer works at Harrow", change="ends", slot="employer", entities=("Harrow",)),
        says("Harrow is history", change="ends", entities=("Harrow",)),
        says("Quit Harrow", entities=("Harrow",)),
        says("Does not work at Harrow", entities=("Harrow",)),
        says("从 Harrow 离职了", entities=("Harrow",)),
    ],
    ids=lambda one: one.description,
)
def test_the_users_words_end_what_they_name(one: Candidate) -> None:
    for what in ("delete", "update") if one.change == "ends" else ("delete",):
        found = judged(one, what, HARROW)
        assert (found.verdict, found.memory, found.adds) == ("delete", "mem_old", False)
        assert not refused(found)
        (step,) = found.steps
        ended = step.memory
        assert (ended.invalid_at, ended.superseded_by, step.verb) == (on(10), None, "invalidate")
        assert (ended.version, len(ended.evidence)) == (2, 2)


@pytest.mark.promise("evolve.ends")
@pytest.mark.parametrize(
    "fields, why",
    [
        ({"authority": "assistant"}, "only the assistant"),
        ({"authority": "tool"}, "only the tool"),
        ({"entities": ("Quill",)}, "name something else"),
        ({"said_at": on(2)}, "said again since"),
        ({"subject": "ines"}, "another subject"),
        ({"change": "states", "description": "Works at Harrow on Mondays"}, "do not say"),
    ],
)
def test_anything_else_ends_nothing(fields: dict[str, Any], why: str) -> None:
    plain = {"change": "ends", "slot": "employer", "entities": ("Harrow",), "type": "project"}
    one = replace(says("The job at Harrow is done"), **(plain | fields))
    quote = replace(one.evidence[0], quote=one.description)
    old = replace(HARROW, type="project")
    found = judged(replace(one, evidence=(quote,)), "delete", old)
    assert refused(found)
    assert why in found.reason
    assert "mem_old" not in {step.memory.id for step in found.steps if step.verb == "invalidate"}
    assert after(found, old)["mem_old"].status(NOW, UTC) == "active"


# -- add ------------------------------------------------------------------------------------------


def test_what_is_ruled_to_be_new_is_added_with_its_slot() -> None:
    found = judged(says("Lives in Krosno", slot="home"), "add", HARROW)
    assert (found.verdict, found.reason, found.adds) == ("add", "new", True)
    assert (after(found)[ID].slot, after(found)[ID].note) == ("home", "")


def test_what_is_ruled_to_hold_beside_another_has_no_slot() -> None:
    for at in (on(2), on(10)):
        old = held("Plays chess", slot="hobby")
        found = judged(says("Plays go", at, slot="hobby"), "add", old)
        assert active(found, old) == ["Plays chess", "Plays go"]
        assert (found.verdict, after(found)[ID].slot) == ("add", "")
        assert found.reason == "holds beside what has its slot"


def test_an_addition_beside_the_users_words_by_the_assistant_is_for_review() -> None:
    old = held("Deploys with Nomad", slot="deployment", type="project")
    one = says("Deploys with Kubernetes", slot="deployment", type="project", authority="assistant")
    assert "for review" in after(judged(one, "add", old))[ID].note


def test_an_addition_takes_its_place_among_what_ended() -> None:
    gone = held("Works at Quill", slot="employer", invalid_at=on(20), superseded_by=None)
    found = judged(says("Works at Brightwater", on(25), slot="employer"), "add", gone)
    assert (after(found)[ID].slot, found.adds) == ("employer", True)


@pytest.mark.promise("evolve.near-text")
def test_an_addition_that_says_nothing_new_is_none() -> None:
    quill = held("Works at Quill", "mem_past", slot="employer", invalid_at=on(20))
    past = replace(quill, superseded_by="mem_old")
    old = replace(HARROW, said_at=on(20), valid_from=on(20))
    found = judged(says("Works at Quill", on(10), slot="employer"), "add", past, old)
    assert (found.verdict, refused(found)) == ("noop", True)
    assert active(found, past, old) == ["Works at Harrow"]


def test_an_ending_that_is_ruled_new_ends_what_it_names_or_is_a_fact() -> None:
    one = says("No longer works at Harrow", change="ends", slot="employer", entities=("Harrow",))
    found = judged(one, "add", HARROW)
    assert (found.verdict, refused(found)) == ("delete", True)
    meat = says("No longer eats meat", change="ends", slot="meat")
    found = judged(meat, "add", held("Eats out a lot"))
    assert (found.verdict, after(found)[ID].slot) == ("add", "")


# -- whatever the ruling ----------------------------------------------------------------------------

ALL: tuple[Ruling, ...] = ruling.RULINGS


@pytest.mark.parametrize("what", ALL)
def test_the_very_same_is_a_source(what: Ruling) -> None:
    found = judged(says("PREFERS tea"), what, TEA)
    assert (found.verdict, found.memory) == ("noop", "mem_old")


@pytest.mark.promise("evolve.authority")
@pytest.mark.parametrize("what", ["update", "merge", "delete"])
@pytest.mark.parametrize("who", ["assistant", "tool"])
def test_the_assistant_neither_rewords_nor_ends_what_the_user_said(what: Ruling, who: Any) -> None:
    old = held("Deploys with Nomad", type="project", slot="deployment")
    more = says("Deploys with Nomad no longer", type="project", slot="deployment", authority=who)
    for one in (more, replace(more, description="Deploys with Nomad on two machines")):
        found = judged(one, what, old)
        stays = after(found, old)["mem_old"]
        assert (stays.description, stays.version) == (old.description, 1)
        assert stays.status(NOW, UTC) == "active"


@pytest.mark.parametrize("what", ["update", "merge", "delete"])
def test_what_a_person_edited_since_stands(what: Ruling) -> None:
    old = held(
        "Has a cat named Miso",
        entities=("Miso",),
        authority="person",
        origin="file",
        updated_at=on(12),
    )
    one = (
        says("Has no cat but Miso", entities=("Miso",))
        if what != "merge"
        else says("Has a cat with one eye, Miso")
    )
    found = judged(one, what, old)
    assert (found.verdict, found.steps) == ("noop", ())
    assert found.reason == "a person wrote otherwise since"
    earlier = replace(old, updated_at=on(8))
    assert judged(one, what, earlier).steps[-1].memory.version == 2


@pytest.mark.parametrize("what", ["update", "merge", "delete", "noop"])
def test_what_is_over_by_now_takes_no_ruling(what: Ruling) -> None:
    gone = replace(TEA, invalid_at=on(8))
    known = Known()
    given = Given(what, gone, frozenset([gone.id]))
    found = ruling.judge(says("Prefers oolong"), given, known, KEY, id=ID, now=NOW, zone=UTC)
    assert (found.verdict, after(found)[ID].note) == ("add", "")
    assert "not valid any more" in found.reason


@pytest.mark.parametrize("what", ["update", "add"])
def test_a_ruling_that_did_not_know_what_holds_the_slot_is_the_rules_to_make(what: Ruling) -> None:
    mate = held("Works at Quill", "mem_mate", slot="employer")
    old = replace(HARROW, slot="")
    one = says("Left Harrow for Brightwater", slot="employer", entities=("Harrow", "Brightwater"))
    found = judged(one, what, old, unshown=[mate])
    assert refused(found)
    assert active(found, old, mate) == ["Left Harrow for Brightwater", "Works at Harrow"]


def test_a_successor_keeps_its_slot_where_nothing_else_is_left_in_it() -> None:
    old = held("Lives in Tarnow")
    moved = says("Lives in Krosno", slot="home")
    assert after(judged(moved, "update", old))[ID].slot == "home"
    other = held("Lives in Gorlice", "mem_other", slot="home")
    found = judged(moved, "update", old, other)
    assert after(found)[ID].slot == ""
    assert active(found, old, other) == ["Lives in Gorlice", "Lives in Krosno"]
    past = replace(other, invalid_at=on(8))
    assert after(judged(moved, "update", old, past))[ID].slot == "home"


@pytest.mark.promise("name.unique")
def test_a_name_is_free_once_its_holder_ended() -> None:
    old = replace(TEA, name="drink")
    assert after(judged(says("Prefers coffee", name="Drink"), "update", old))[ID].name == "Drink"
    found = judged(says("Owns a boat", name="Drink"), "add", old)
    assert after(found)[ID].name == f"Drink ({ID[-6:]})"


def test_without_a_ruling_the_rules_decide_and_say_why() -> None:
    one, known = says("Owns a boat"), Known()
    for review in (True, False):
        given = Objection("no sense", review)
        found = ruling.judge(one, given, known, KEY, id=ID, now=NOW, zone=UTC)
        assert found.verdict == "add"
        assert found.reason == "new; the model's ruling was refused (no sense)"
        assert bool(after(found)[ID].note) == review


def test_a_target_that_was_not_shown() -> None:
    given = Given("update", TEA, frozenset())
    found = ruling.judge(says("Prefers coffee"), given, Known(), KEY, id=ID, now=NOW, zone=UTC)
    assert "no memory that it was shown" in found.reason
    assert after(found)[ID].note


# -- laws -----------------------------------------------------------------------------------------

DESCRIPTIONS = st.sampled_from(
    (
        *("Works at Harrow", "Works at Harrow Tools", "Works at Brightwater", "Harrow is history"),
        *("Likes Harrow", "Likes Harrow tea a lot", "Does not like Harrow", "Owes Harrow 900"),
        *("Ines owns billing", "Tomas owns billing", "住在上海", "住在北京"),
    )
)
SHARED: dict[str, st.SearchStrategy[Any]] = {
    "description": DESCRIPTIONS,
    "slot": st.sampled_from(("", "employer", "likes")),
    "subject": st.sampled_from(("user", "user", "user", "ines")),
    "entities": st.sampled_from(((), ("Harrow",), ("Harrow", "Ines"))),
    "name": st.sampled_from(("a", "b", "c", "d")),
    "type": st.sampled_from(("user", "user", "user", "episodic")),
    "authority": st.sampled_from(("user", "user", "user", "assistant")),
    "confidence": st.sampled_from((0.6, 0.9)),
    "valid_until": st.sampled_from((None, None, None, date(2025, 2, 1), date(2030, 1, 1))),
}


def _fitted(made: Memory, memories: Sequence[Memory]) -> Memory:
    """`made` as it could stand beside `memories`: no name twice, no slot held by two at a time."""
    mates = [m for m in memories if m.slot and (m.subject, m.slot) == (made.subject, made.slot)]
    following = min(mates, key=evolve.began, default=None)
    if following is not None and evolve.began(made) < evolve.began(following):
        at = evolve.began(following)
        return replace(made, invalid_at=at, superseded_by=following.id, retired_at=NOW)
    made = replace(made, slot="") if mates else made
    valid = [m for m in memories if m.status(NOW, UTC) == "active"]
    if made.status(NOW, UTC) == "active" and any(m.name == made.name for m in valid):
        return replace(made, invalid_at=on(21), retired_at=NOW)
    return made


@st.composite
def worlds(draw: Any) -> tuple[list[Memory], Candidate, Ruling, str]:
    """Up to four memories with one valid one of each slot and name, a candidate, a ruling, a target."""
    memories: list[Memory] = []
    for number in range(draw(st.integers(1, 4))):
        day = draw(st.integers(1, 20))
        fields = draw(st.fixed_dictionaries(SHARED))
        made = held(id=f"mem_{number}", **fields, said_at=on(day), valid_from=on(day))
        memories.append(_fitted(made, memories))
    fields = draw(st.fixed_dictionaries(SHARED))
    one = replace(
        says(fields.pop("description"), on(draw(st.integers(1, 28)))),
        **fields,
        change=draw(st.sampled_from(("states", "states", "ends"))),
    )
    valid = [m.id for m in memories if m.status(NOW, UTC) == "active"]
    target = draw(st.sampled_from(valid or [m.id for m in memories]))
    return memories, one, draw(st.sampled_from(ALL)), target


@pytest.mark.promise("evolve.confidence")
@given(worlds())
def test_whatever_the_ruling(world: tuple[list[Memory], Candidate, Ruling, str]) -> None:
    memories, one, what, target = world
    before = {m.id: m for m in memories}
    found = judged(one, what, *memories, target=target)
    for id, new in after(found).items():
        if id not in before:
            assert id == ID
            continue
        old = before[id]
        assert (new.confidence, new.priority, new.key, new.type) == (
            old.confidence,
            old.priority,
            old.key,
            old.type,
        )
        assert set(old.evidence) <= set(new.evidence)
        assert new.version in (old.version, old.version + 1)
        assert (new.version == old.version) == (new.updated_at == old.updated_at)
        assert set(terms.index_terms(old.description)) <= set(
            terms.index_terms(f"{new.description} {new.body}")
        )
        if new.authority == "user" and one.authority == "assistant":
            assert (new.description, new.invalid_at) == (old.description, old.invalid_at) or (
                old.status(NOW, UTC) != "active"
            )
    held_after = after(found, *memories)
    valid = [m for m in held_after.values() if m.status(NOW, UTC) == "active"]
    slots = [(m.subject, m.slot) for m in valid if m.slot]
    names = [normalised_name(m.name) for m in valid]
    assert len(slots) == len(set(slots)), "two valid memories of one slot"
    assert len(names) == len(set(names)), "two valid memories of one name"
    was = sum(m.status(NOW, UTC) == "active" for m in memories)
    assert found.adds == (len(valid) > was)
    ended = [
        id
        for id, m in before.items()
        if m.status(NOW, UTC) == "active" and held_after[id] not in valid
    ]
    assert len(ended) <= 1
    assert found.memory in ("", *held_after)


@given(worlds())
def test_only_what_was_named_or_holds_its_slot_changes(
    world: tuple[list[Memory], Candidate, Ruling, str],
) -> None:
    memories, one, what, target = world
    found = judged(one, what, *memories, target=target)
    if refused(found):
        return
    for step in found.steps:
        id = step.memory.id
        was = next((m for m in memories if m.id == id), None)
        assert (
            id in (ID, target)
            or was is None
            or was.status(NOW, UTC) != "active"
            or (bool(one.slot) and (was.subject, was.slot) == (one.subject, one.slot))
            or evolve.identical(one, known_of(one, *memories), NOW, UTC) is not None
        )


@given(worlds())
def test_the_same_ruling_twice_leaves_what_is_valid(
    world: tuple[list[Memory], Candidate, Ruling, str],
) -> None:
    memories, one, what, target = world
    first = judged(one, what, *memories, target=target)
    if one.change == "ends" or what == "delete":
        return  # with its target gone, what was said is news
    stood = after(first, *memories)
    stands = stood[target].status(NOW, UTC) == "active"
    again = judged(one, what, *stood.values(), target=target if stands else first.memory or target)
    assert active(again, *stood.values()) == active(first, *memories)
