"""A message as a line of the conversation log, and back."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.domain.build import INSTANTS, NOW, PRINTABLE, message

from memstrata.domain import conversation
from memstrata.domain.turn import Message, Role
from memstrata.errors import Invalid

TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@given(
    st.builds(
        Message,
        id=PRINTABLE,
        session=PRINTABLE,
        role=st.sampled_from(get_args(Role)),
        content=TEXTS.filter(bool),
        said_at=st.none() | INSTANTS,
        recorded_at=INSTANTS,
        workspace=TEXTS,
        agent=TEXTS,
        name=TEXTS,
        call=TEXTS,
        skip=st.sampled_from(("", "command", "wordless", "tool")),
    )
)
@example(message("a\nb\r\n\x00\u2028 [x] 🫖 混排"))
def test_a_line_is_read_back_as_it_was(one: Message) -> None:
    line = conversation.encode(one)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert conversation.decode(line) == one
    assert conversation.encode(conversation.decode(line)) == line


def test_a_line_reads_well() -> None:
    assert conversation.encode(message("Grüße", said_at=None)).decode() == (
        '{"id": "m1", "session": "chat", "role": "user", '
        '"recorded_at": "2026-03-14T09:30:00.000000Z", "content": "Grüße"}\n'
    )


GOOD: dict[str, Any] = {
    "id": "m1",
    "session": "chat",
    "role": "user",
    "recorded_at": "2026-03-14T09:30:00Z",
    "content": "x",
}


@pytest.mark.parametrize(
    "changed, field",
    [
        ({"id": None}, "id"),
        ({"id": ""}, "id"),
        ({"session": 3}, "session"),
        ({"role": "system"}, "role"),
        ({"role": ["user"]}, "role"),
        ({"recorded_at": None}, "recorded_at"),
        ({"recorded_at": "soon"}, "recorded_at"),
        ({"said_at": "soon"}, "said_at"),
        ({"content": None}, "content"),
        ({"content": "\ud800"}, "content"),
        ({"workspace": 3}, "workspace"),
    ],
)
def test_a_wrong_value_names_its_field(changed: dict[str, Any], field: str) -> None:
    assert conversation.decode(json.dumps(GOOD).encode()).recorded_at == NOW
    with pytest.raises(Invalid) as caught:
        conversation.decode(json.dumps(GOOD | changed).encode())
    assert caught.value.field == field


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"\n", b"{", b'"x"', b"[]", b"null", b"\xff", b'{"id": "m1", "sess'),
        *(b"[" * 100_000, b'{"a":' * 100_000),
    ],
)
def test_what_is_no_line(line: bytes) -> None:
    with pytest.raises(Invalid) as caught:
        conversation.decode(line)
    assert caught.value.field == "line"


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_refused(line: bytes) -> None:
    with pytest.raises(Invalid):
        conversation.decode(line)
