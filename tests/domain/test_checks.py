"""Checks of what comes from outside: what passes, and the field that is named when it does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.build import KEY, NOW

from memstrata.domain import checks, codec, times, turn
from memstrata.domain.memory import parse_entities, parse_priority, parse_type
from memstrata.domain.scope import parse_scope
from memstrata.errors import Invalid


@pytest.mark.parametrize("value", ["a", "A-1", "_x", "mem_01j", "v1.2.3", "-", "0" * 128, "a..b"])
def test_refs_that_may_become_part_of_a_path(value: str) -> None:
    assert checks.ref("id", value) == value


@pytest.mark.promise("disk.paths")
@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        ".",
        "..",
        ".hidden",
        "a/b",
        "a\\b",
        "a b",
        "a\n",
        "a\x00",
        "ä",
        "名",
        "x" * 129,
        "a:b",
        "~",
    ],
)
def test_refs_that_may_not(value: str) -> None:
    with pytest.raises(Invalid) as caught:
        checks.ref("agent", value)
    assert caught.value.field == "agent"


@pytest.mark.promise("disk.paths")
@given(st.text(max_size=140))
def test_a_ref_is_one_plain_path_part(value: str) -> None:
    try:
        found = checks.ref("id", value)
    except Invalid:
        return
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,128}", found)
    assert not found.startswith(".")


@pytest.mark.parametrize("value", ["chat-42", "7", "a/b", "名 字", "🫖", "x" * 256])
def test_identities(value: str) -> None:
    assert checks.identity("id", value) == value


@pytest.mark.parametrize("value", ["", "  ", "a\nb", "a\x00", "x" * 257, "\u200b\u2028"])
def test_what_is_no_identity(value: str) -> None:
    with pytest.raises(Invalid, match=r"^id: .*is not an id"):
        checks.identity("id", value)


@pytest.mark.parametrize("value", [None, 1, b"x", ["x"], {"x": 1}, True])
def test_what_is_no_text_is_named_by_its_type(value: object) -> None:
    with pytest.raises(Invalid, match=rf"^x: expected text, got {type(value).__name__}$"):
        checks.string("x", value)


@pytest.mark.parametrize("value", ["\ud800", "a\udfff", "\ud83d \ude00"])
def test_half_characters_are_refused(value: str) -> None:
    with pytest.raises(Invalid, match="lone surrogate"):
        checks.string("x", value)


def test_a_text_may_hold_tabs_and_line_breaks_and_no_other_control_character() -> None:
    assert checks.text("x", "a\tb\r\nc", most=10) == "a\tb\r\nc"
    with pytest.raises(Invalid, match=r"U\+0000 at 1"):
        checks.text("x", "a\x00", most=10)


def test_a_text_is_bounded_and_not_blank_unless_told_so() -> None:
    assert checks.text("x", " ", most=1, empty=True) == " "
    with pytest.raises(Invalid, match="is empty"):
        checks.text("x", " \n", most=10)
    with pytest.raises(Invalid, match="is 1,001 characters long; at most 1,000"):
        checks.text("x", "a" * 1001, most=1000)


HUGE: list[object] = [
    *("x" * 10_000_000, b"x" * 1_000_000, 10**5_000, -(10**5_000), ["x" * 1_000] * 1_000),
    *({"a" * 1_000: ["b" * 1_000] * 100}, "\n" * 500, "short", None, 3, True, 1.5, float("nan")),
]
Parse = Callable[[object], object]


def field(name: str, value: object) -> object:
    """A memory's field as a file or a caller could hold it."""
    fields = {"name": "a", "description": "b", name: value}
    return codec.from_fields(fields, KEY, id="m", now=NOW)


PARSERS: list[Parse] = [
    lambda value: checks.ref("x", value),
    lambda value: checks.identity("x", value),
    lambda value: times.instant("x", value),
    lambda value: times.day("x", value),
    parse_scope,
    parse_type,
    lambda value: parse_priority(value, "user"),
    lambda value: parse_entities([value]),
    lambda value: turn.parse([{"role": value, "content": "x"}], most=100),
    lambda value: turn.parse([{"role": "user", "content": value}], most=100),
    lambda value: turn.parse([{"role": "user", "content": "x", "said_at": value}], most=100),
    *(partial(field, name) for name in sorted(codec.KNOWN)),
]


@pytest.mark.parametrize("parse", PARSERS, ids=range(len(PARSERS)))
def test_whatever_comes_is_taken_or_refused_in_a_short_sentence(parse: Parse) -> None:
    for value in HUGE:
        try:
            parse(value)
        except Invalid as error:
            said = str(error)
            if len(said) > 400:
                pytest.fail(f"{len(said)} characters: {said[:100]}")


@pytest.mark.parametrize("value", HUGE, ids=range(len(HUGE)))
def test_a_value_is_shown_short(value: object) -> None:
    shown = checks.shown(value)
    assert 0 < len(shown) <= 300
    assert "\n" not in shown
