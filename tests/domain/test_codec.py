"""A memory as plain fields and back: nothing is lost, and every wrong value names its field."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from tests.domain.build import KEY, NOW, QUOTE, memories, memory

from memstrata.domain import codec
from memstrata.domain.memory import MAX_BODY, MAX_DESCRIPTION, Evidence, Memory
from memstrata.domain.scope import Key, Realm
from memstrata.errors import Invalid

LEAST = {"name": "drink", "description": "Prefers tea"}


def read(fields: dict[str, Any], **changed: Any) -> Memory:
    given: dict[str, Any] = {"id": "mem_9", "now": NOW} | changed
    return codec.from_fields(fields, KEY, **given)


@given(memories())
@example(memory(priority=0))
@example(memory(priority=-1, confidence=0.0))
@example(memory(extra={"mood": "", "tags": [], "deep": {"a": ["", "no"]}}))
@example(memory(body="---\nid: other\n---\n\nrest"))
@example(memory(evidence=(Evidence("m", 0, 0, "\x00\x1b[0m", ""),)))
def test_fields_are_read_back_as_they_were(one: Memory) -> None:
    fields = codec.to_fields(one)
    assert read(fields) == one
    assert read(json.loads(json.dumps(fields))) == one


def test_empty_fields_are_left_out_and_zero_is_not_empty() -> None:
    fields = codec.to_fields(memory(priority=0, confidence=0.0))
    assert list(fields) == [
        *("id", "owner", "scope", "type", "name", "description", "confidence", "priority"),
        *("origin", "authority", "version", "created_at", "updated_at"),
    ]
    assert fields["priority"] == fields["confidence"] == 0


def test_the_body_is_the_last_field() -> None:
    assert list(codec.to_fields(memory(body="x", extra={"tags": "a"})))[-2:] == ["tags", "body"]


def test_a_reader_of_the_file_sees_author_and_workspace() -> None:
    key = Key(Realm("local", ""), "project", "ws-key")
    fields = codec.to_fields(memory(key=key), owner="ann", ref="orchard")
    assert (fields["owner"], fields["scope"], fields["scope_ref"]) == ("ann", "project", "orchard")
    found = codec.from_fields(fields, key, id="x", now=NOW)
    assert found.key == key
    assert not found.extra


@pytest.mark.promise("disk.workspace-clean")
def test_a_workspace_file_holds_no_words_of_the_conversation() -> None:
    one = memory(evidence=(QUOTE,))
    fields = codec.to_fields(one, quotes=False)
    assert fields["evidence"] == [{"message": "m1", "session": "chat", "start": 0, "end": 9}]
    assert QUOTE.quote not in json.dumps(fields)
    assert read(fields).evidence == (Evidence("m1", 0, 9, "", "chat"),)


def test_what_is_missing_is_filled_in() -> None:
    found = read(dict(LEAST))
    assert (found.id, found.type, found.priority, found.confidence) == ("mem_9", "user", 60, 1.0)
    assert (found.origin, found.authority, found.version) == ("file", "person", 1)
    assert found.created_at == found.updated_at == NOW
    assert (found.said_at, found.valid_until, found.superseded_by) == (None, None, None)


def test_values_that_a_hand_or_yaml_wrote_as_text() -> None:
    found = read(
        LEAST
        | {"priority": "-1", "confidence": "0.8", "version": "3", "archived": "True"}
        | {"type": "instruction", "valid_until": "2026-10-31", "said_at": "2026-05-10T09:30"},
        zone=ZoneInfo("Asia/Shanghai"),
    )
    assert (found.priority, found.confidence, found.version) == (-1, 0.8, 3)
    assert (found.archived, found.type, found.valid_until) == (True, "feedback", date(2026, 10, 31))
    assert found.said_at == datetime(2026, 5, 10, 1, 30, tzinfo=UTC)


def test_the_place_is_given_and_not_what_the_fields_say_of_it() -> None:
    found = read(LEAST | {"owner": "ben", "scope": "agent", "scope_ref": "spy"})
    assert found.key == KEY
    assert not found.extra


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_line_ends_are_one_kind(line_end: str) -> None:
    assert read(LEAST | {"body": f"{line_end}a{line_end}b{line_end}"}).body == "a\nb"


@pytest.mark.promise("description.200")
def test_a_long_description_continues_in_the_body() -> None:
    found = read(LEAST | {"description": "word " * 60, "body": "the body"})
    assert len(found.description) <= MAX_DESCRIPTION
    assert found.body.startswith("…word")
    assert found.body.endswith("\n\nthe body")
    assert read(codec.to_fields(found)) == found


def test_a_description_too_long_for_the_body_is_refused_and_not_written() -> None:
    with pytest.raises(Invalid, match=r"^body: is "):
        read(LEAST | {"description": "x" * MAX_BODY, "body": "y" * MAX_BODY})


NO_EVIDENCE = {"message": "m", "start": 0, "end": 0}


@pytest.mark.parametrize(
    "fields, field",
    [
        ({"type": "fact"}, "type"),
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"name": "a\x00"}, "name"),
        ({"name": ["a"]}, "name"),
        ({"description": None}, "description"),
        ({"description": " "}, "description"),
        ({"description": "\ud800"}, "description"),
        ({"body": 3}, "body"),
        ({"body": "x" * (MAX_BODY + 1)}, "body"),
        ({"body": "\x1b[31m"}, "body"),
        ({"id": "../x"}, "id"),
        ({"id": 7}, "id"),
        ({"confidence": 1.01}, "confidence"),
        ({"confidence": "nan"}, "confidence"),
        ({"confidence": "high"}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"priority": -2}, "priority"),
        ({"priority": "101"}, "priority"),
        ({"priority": 50.5}, "priority"),
        ({"priority": "9" * 5_000}, "priority"),
        ({"version": -1}, "version"),
        ({"version": 0}, "version"),
        ({"version": "two"}, "version"),
        ({"entities": "Ines"}, "entities"),
        ({"origin": "dream"}, "origin"),
        ({"authority": ["user"]}, "authority"),
        ({"archived": "perhaps"}, "archived"),
        ({"archived": 1.5}, "archived"),
        ({"superseded_by": "a/b"}, "superseded_by"),
        ({"valid_until": "31.10.2026"}, "valid_until"),
        ({"invalid_at": "soon"}, "invalid_at"),
        ({"slot": {"a": 1}}, "slot"),
        ({"note": "x" * 481}, "note"),
        ({"evidence": "m1"}, "evidence"),
        ({"evidence": ["m1"]}, "evidence[0]"),
        ({"evidence": [NO_EVIDENCE, {}]}, "evidence[1].message"),
        ({"evidence": [NO_EVIDENCE | {"start": -1}]}, "evidence[0].start"),
        ({"evidence": [NO_EVIDENCE | {"start": 5, "end": 3}]}, "evidence[0].end"),
        ({"evidence": [NO_EVIDENCE | {"quote": 3}]}, "evidence[0].quote"),
        ({"evidence": [NO_EVIDENCE | {"session": 3}]}, "evidence[0].session"),
    ],
)
def test_a_wrong_value_names_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        read(LEAST | fields)
    assert caught.value.field == field
    assert len(str(caught.value)) < 300
