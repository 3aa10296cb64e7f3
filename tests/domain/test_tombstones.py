"""Keyed hashes of what was forgotten: they name it and say nothing of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.domain.build import memory

from memstrata.domain import tombstones, turn
from memstrata.domain.memory import Evidence
from memstrata.domain.scope import Key, Realm
from memstrata.domain.tombstones import Stone, Tombstones
from memstrata.domain.turn import Message
from memstrata.errors import Invalid

SECRET = b"k" * 32
ANN, BEN = Realm("local", "ann"), Realm("local", "ben")
KEY = Key(ANN, "user", "")
PROJECT = Key(Realm("local", ""), "project", "ws_1")
AT = datetime(2026, 3, 14, tzinfo=UTC)
SAID = Message("u1", "s", "user", "I live in Quillhaven.", AT, AT)


def stones(*messages: Message) -> Tombstones:
    """Those of some messages of Ann's."""
    stone = Stone(
        AT,
        messages=frozenset(tombstones.message(SECRET, ANN, m.session, m.id) for m in messages),
        contents=frozenset(tombstones.content(SECRET, ANN, m) for m in messages),
    )
    return Tombstones(SECRET).with_stones([stone])


def bare(message: Message) -> Message:
    """The same as a host without ids sends it."""
    return replace(message, id=turn.content_id(message))


UNTIMED = replace(SAID, said_at=None)


@pytest.mark.parametrize(
    "forgotten, sent, stopped",
    [
        (SAID, SAID, True),
        (SAID, replace(SAID, content="other words"), True),
        (SAID, bare(SAID), True),
        (SAID, replace(bare(SAID), id=f"{turn.content_id(SAID)}-2"), True),
        (SAID, replace(SAID, id="u2"), True),
        (SAID, replace(SAID, id="u2", said_at=AT + timedelta(days=1)), False),
        (SAID, replace(SAID, session="t"), False),
        (UNTIMED, replace(UNTIMED, id="u2"), False),
        (UNTIMED, bare(UNTIMED), True),
    ],
)
def test_the_same_message_is_stopped_and_a_new_saying_is_not(
    forgotten: Message, sent: Message, stopped: bool
) -> None:
    known = stones(forgotten)
    assert known.stops(ANN, sent) is stopped
    assert not known.stops(BEN, sent)
    assert not Tombstones().stops(ANN, sent)


def test_a_memory_is_forgotten_up_to_then() -> None:
    stone = Stone(AT, memories=frozenset([tombstones.memory(SECRET, KEY, "baker")]))
    known = Tombstones(SECRET).with_stones([stone])
    assert known
    assert known.has_memory(KEY, "baker", AT)
    assert not known.has_memory(KEY, "baker", AT + timedelta(seconds=1))
    assert not known.has_memory(replace(KEY, realm=BEN), "baker", AT)
    later = known.with_stones([replace(stone, at=AT + timedelta(days=1)), stone])
    assert later.has_memory(KEY, "baker", AT + timedelta(hours=1))


def test_the_sources_of_a_project_are_named_one_by_one() -> None:
    one = Evidence("u1", 0, 5, "quote", "s")
    mine = memory(key=KEY, evidence=(one, replace(one, message="u2")))
    assert stones(SAID).sources(mine) == [one]
    project = memory(key=PROJECT, evidence=(one,))
    assert stones(SAID).sources(project) == []
    stone = Stone(AT, evidence=frozenset([tombstones.source(SECRET, PROJECT, project.id, one)]))
    assert Tombstones(SECRET).with_stones([stone]).sources(project) == [one]


def test_lines_come_back_and_hold_no_text() -> None:
    stone = Stone(
        AT,
        messages=frozenset([tombstones.message(SECRET, ANN, "s", "u1")]),
        files=frozenset([tombstones.file(SECRET, KEY, "abc")]),
    )
    line = tombstones.encode(stone, SECRET)
    assert tombstones.decode(line) == (tombstones.mark(SECRET), stone)
    assert b"u1" not in line
    assert tombstones.message(b"other", ANN, "s", "u1") not in stone.messages
    assert tombstones.log("local").path == "tombstones.jsonl"
    assert tombstones.log("ann").path == "owners/ann/tombstones.jsonl"


@pytest.mark.parametrize(
    "line", [b"", b"[]", b"{}", b'{"at": 3}', b'{"at": "soon", "key": "x"}', b"\xff"]
)
def test_what_is_no_line(line: bytes) -> None:
    with pytest.raises(Invalid):
        tombstones.decode(line)
