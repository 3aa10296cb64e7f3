"""What a person does to a memory: the next version and nothing else; what was said before comes back whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.domain.build import BODIES, DAYS, KEY, NAMES, NOW, QUOTE, TEXTS, memories, memory

from memstrata.domain import codec, lifecycle
from memstrata.domain.memory import TYPES, UNREVIEWED, Memory, reason_note
from memstrata.errors import Invalid

LATER = NOW + timedelta(days=400)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES,
        "description": TEXTS.filter(str.strip),
        "body": BODIES,
        "type": st.sampled_from(TYPES),
        "priority": st.none() | st.integers(0, 100),
        "confidence": st.floats(0, 1),
        "entities": st.lists(NAMES, max_size=3),
        "valid_until": st.none() | DAYS,
    },
)


def edited(old: Memory, **changes: object) -> Memory:
    return lifecycle.edited(old, changes, now=LATER, zone=UTC)


@pytest.mark.promise("life.restore")
@settings(max_examples=100)
@given(memories(), CHANGES)
def test_an_edit_taken_back_gives_the_old_text(one: Memory, changes: dict[str, Any]) -> None:
    note = reason_note(one.type, one.body)
    one = replace(one, invalid_at=None, superseded_by=None, archived=False, note=note)
    assume(changes)
    after = edited(one, **changes)
    back = lifecycle.as_it_was(after, one, LATER)
    assert lifecycle.text(back) == lifecycle.text(one)
    fields = ("type", "priority", "confidence", "entities", "valid_until", "evidence", "created_at")
    assert [getattr(back, name) for name in fields] == [getattr(one, name) for name in fields]
    assert back.version >= after.version >= one.version
    assert back.updated_at >= one.updated_at
    again = codec.from_fields(codec.to_fields(back), KEY, id=one.id, now=NOW)
    assert again == back


@pytest.mark.promise("life.edit")
@settings(max_examples=100)
@given(memories(), CHANGES)
def test_an_edit_touches_what_is_given_and_makes_it_theirs(
    one: Memory, changes: dict[str, Any]
) -> None:
    assume(changes)
    after = edited(one, **changes)
    touched = {*changes, "description", "body", "confidence", "note", "authority"}
    touched |= {"version", "updated_at"}
    kept = set(Memory.__slots__) - touched
    assert {name for name in kept if getattr(after, name) != getattr(one, name)} == set()
    assert after.authority == "person"
    assert after.evidence == one.evidence
    assert after.version - one.version == (after != one)
    assert edited(after, **changes) == after


@settings(max_examples=100)
@given(memories())
def test_a_sheet_read_back_changes_nothing(one: Memory) -> None:
    fields = {name: getattr(one, name) for name in lifecycle.EDITABLE}
    fields |= {"happened_from": None, "happened_until": None, "valid_until": None}
    text = lifecycle.sheet({**fields, "entities": list(one.entities)})
    assert lifecycle.changes(text, text) == {}


def test_a_sheet_says_what_was_changed_in_it() -> None:
    fields = {
        "name": "no",
        "description": "# green",
        "type": "user",
        "priority": 60,
        "confidence": 0.8,
        "entities": ["Hall"],
        "valid_until": NOW.date(),
        "body": "<<<<<<< x\nline",
    }
    before = lifecycle.sheet(fields)
    after = before.replace("'# green'", "blue").replace("- Hall\n", "- Hall\n- Door\n")
    after = after.replace("valid_until: 2026-03-14\n", "").replace("line", "line\nmore")
    assert lifecycle.changes(before, after) == {
        "description": "blue",
        "entities": ["Hall", "Door"],
        "valid_until": None,
        "body": "<<<<<<< x\nline\nmore",
    }
    assert lifecycle.changes(before, before.partition("\n\\<")[0] + "\n") == {"body": ""}


@pytest.mark.parametrize(
    "text, problem",
    [
        ("no front matter", "no fields"),
        ("---\nname: [\n---\n", "no YAML"),
        ("---\nname: x\n", "never closed"),
        ("---\nname: x\nid: mem_2\n---\n", "nothing that can be edited"),
    ],
)
def test_a_sheet_that_cannot_be_read(text: str, problem: str) -> None:
    with pytest.raises(Invalid, match=problem):
        lifecycle.changes(lifecycle.sheet({"name": "x"}), text)


def test_what_was_for_review_is_reviewed_but_a_clone_stays_what_it_is() -> None:
    assert edited(memory(note="for review: only the tool said so"), name="x").note == ""
    clone = memory(note=UNREVIEWED)
    assert edited(clone, name="x").note == UNREVIEWED
    assert lifecycle.as_it_was(clone, memory(name="x"), LATER).note == UNREVIEWED
    with pytest.raises(Invalid, match="standing rule"):
        edited(clone, priority=-1)


@pytest.mark.promise("life.restore")
def test_one_step_back_at_a_time() -> None:
    ended = memory(invalid_at=NOW, superseded_by="mem_2", retired_at=NOW, authority="user")
    both = replace(ended, archived=True)
    once = lifecycle.restored(both, now=LATER, zone=UTC)
    assert (once.status(LATER, UTC), once.authority, once.version) == ("invalid", "user", 2)
    twice = lifecycle.restored(once, now=LATER, zone=UTC)
    assert (twice.status(LATER, UTC), twice.authority, twice.version) == ("active", "person", 3)
    assert (twice.superseded_by, twice.retired_at) == (None, None)
    assert lifecycle.restored(twice, now=LATER, zone=UTC) == twice


@pytest.mark.promise("life.archive")
def test_what_is_aside_stays_so() -> None:
    one = lifecycle.archived(memory(evidence=(QUOTE,)), LATER)
    assert (one.status(LATER, UTC), one.version, one.updated_at) == ("archived", 2, LATER)
    assert lifecycle.archived(one, LATER) == one


@pytest.mark.promise("times.updated")
def test_a_clock_that_went_back_does_not_make_it_older() -> None:
    one = memory(updated_at=LATER)
    assert lifecycle.archived(one, NOW).updated_at == LATER


def test_a_text_says_what_people_see() -> None:
    one = memory(entities=("Hall", "Door"), body="More.", evidence=(QUOTE,), archived=True)
    assert lifecycle.text(one) == (
        "name: drink\ndescription: Prefers tea\ntype: user\npriority: 60\nconfidence: 1.0\n"
        "entities: Hall, Door\narchived: True\n\nMore."
    )
    assert lifecycle.difference("a", "a", old_version=1, new_version=2) == ""
