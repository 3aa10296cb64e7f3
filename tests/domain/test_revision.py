"""A revision as a line of the log, and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain import revision
from memstrata.domain.markdown import digest
from memstrata.domain.revision import Revision
from memstrata.errors import Invalid

AT = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
TEXT = "## Facts\n- 2026-03-01: Keeps bees \u2028 — 蜜蜂"


def made(**fields: Any) -> Revision:
    """A revision."""
    given: dict[str, Any] = {
        "rev": 7,
        "at": AT,
        "verb": "save",
        "author": "mira",
        "channel": "cli",
        "text": TEXT,
        "digest": digest(revision.content(TEXT)),
    }
    return Revision(**{**given, **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"session": "s 1", "message": "m1"},
        {"verb": "restore", "restored": 3},
        {"verb": "reset", "text": "", "digest": digest(b"")},
        {"markers": (("- 2026-03-01: Keeps bees", "fact"),)},
    ],
)
def test_round_trip(fields: dict[str, Any]) -> None:
    line = revision.encode(made(**fields))
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert revision.decode(line) == made(**fields)


@given(text=st.text(st.characters(exclude_categories=["Cs"])), rev=st.integers(1, 10**6))
def test_every_text_makes_one_line(text: str, rev: int) -> None:
    one = made(text=text, rev=rev)
    line = revision.encode(one)
    assert line.index(b"\n") == len(line) - 1
    assert line.startswith(revision.beginning(rev))
    assert not line.startswith(revision.beginning(rev * 10))
    assert revision.decode(line) == one


def test_the_file_of_a_text() -> None:
    assert revision.content("") == b""
    assert revision.content("## A") == b"## A\n"


@pytest.mark.parametrize(
    "field, value",
    [
        ("rev", 0),
        ("rev", True),
        ("rev", "7"),
        ("rev", None),
        ("at", None),
        ("at", "yesterday"),
        ("verb", "burn"),
        ("verb", ["save"]),
        ("text", None),
        ("text", "\ud800"),
        ("author", 3),
        ("restored", -1),
        ("markers", {"a": 1}),
    ],
)
def test_a_field_that_is_wrong_is_named(field: str, value: object) -> None:
    raw = {**json.loads(revision.encode(made())), field: value}
    with pytest.raises(Invalid) as caught:
        revision.decode(json.dumps(raw).encode())
    assert caught.value.field == field


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_line_is_refused(line: bytes) -> None:
    with pytest.raises(Invalid, match="JSON"):
        revision.decode(line)
