"""A memory's state at a moment, its line, and the values that it is made of."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.domain.build import NOW, memory

from memstrata.domain.memory import (
    DEFAULT_PRIORITY,
    MAX_DESCRIPTION,
    MAX_ENTITIES,
    TYPES,
    Status,
    Type,
    normalised_name,
    parse_entities,
    parse_priority,
    parse_type,
    shorten,
    tidy,
)
from memstrata.errors import Invalid

YEAR = datetime(2026, 1, 1, tzinfo=UTC)
LAST_DAY = date(2026, 10, 31)
DST_DAY = date(2026, 10, 25)
"""Summer time ends in Berlin: that day has 25 hours."""
SPRING_DAY = date(2026, 3, 8)
"""Summer time begins in New York: that day has 23 hours."""


@pytest.mark.parametrize(
    "zone, day",
    [
        ("UTC", LAST_DAY),
        ("Asia/Shanghai", LAST_DAY),
        ("America/New_York", LAST_DAY),
        ("Pacific/Kiritimati", LAST_DAY),
        ("Asia/Kathmandu", LAST_DAY),
        ("Europe/Berlin", DST_DAY),
        ("America/New_York", SPRING_DAY),
    ],
)
def test_the_last_day_counts_whole_in_the_owners_zone(zone: str, day: date) -> None:
    here = ZoneInfo(zone)
    held = memory(valid_until=day)
    midnight = datetime.combine(day + timedelta(days=1), datetime.min.time(), here).astimezone(UTC)
    assert held.status(midnight - timedelta(microseconds=1), here) == "active"
    assert held.status(midnight, here) == "expired"
    assert held.status(midnight - timedelta(minutes=1), here) == "active"


@given(
    st.sampled_from(("Asia/Shanghai", "Europe/Berlin", "America/New_York")),
    st.integers(0, 365 * 24 * 60).map(lambda minutes: YEAR + timedelta(minutes=minutes)),
)
def test_expired_is_exactly_a_later_local_day(zone: str, now: datetime) -> None:
    here = ZoneInfo(zone)
    expired = memory(valid_until=LAST_DAY).status(now, here) == "expired"
    assert expired == (now.astimezone(here).date() > LAST_DAY)


@pytest.mark.parametrize(
    "fields, status",
    [
        ({}, "active"),
        ({"archived": True, "invalid_at": NOW, "valid_until": date(2020, 1, 1)}, "archived"),
        ({"invalid_at": NOW, "valid_until": date(2020, 1, 1)}, "invalid"),
        ({"invalid_at": NOW + timedelta(seconds=1)}, "active"),
        ({"valid_until": date(2020, 1, 1)}, "expired"),
    ],
)
def test_states_have_an_order(fields: dict[str, Any], status: Status) -> None:
    assert memory(**fields).status(NOW, UTC) == status


@pytest.mark.parametrize(
    "one, other",
    [("Home  Town", "home town"), ("ＨＯＭＥ", "home"), ("Straße", "STRASSE"), (" x\t\ny ", "x y")],
)
def test_names_that_are_the_same(one: str, other: str) -> None:
    assert normalised_name(one) == normalised_name(other)


def test_a_short_description_is_one_line_and_the_body_is_left() -> None:
    assert shorten(" a\n b ", "body") == ("a b", "body")


@pytest.mark.promise("description.200")
@given(st.text(max_size=600), st.text(max_size=50))
@example("word " * 100, "body")
@example("字" * 300, "")
@example("x" * 99 + " " + "y" * 300, "---\nbody")
@example("x" * 198 + " y z", "")
def test_shortening_loses_no_word_and_is_done_once(description: str, body: str) -> None:
    line, rest = shorten(description, body)
    assert len(line) <= MAX_DESCRIPTION
    assert shorten(line, rest) == (line, rest)
    whole = " ".join(description.split())
    if len(whole) <= MAX_DESCRIPTION:
        assert (line, rest) == (whole, tidy(body))
        return
    first = rest.partition("\n\n")[0] if tidy(body) else rest
    assert f"{line[:-1]}{first[1:]}".replace(" ", "") == whole.replace(" ", "")
    assert line.endswith("…")
    assert first.startswith("…")
    assert rest.endswith(tidy(body).rstrip())


@pytest.mark.promise("description.200")
def test_a_description_is_cut_at_a_word() -> None:
    line, rest = shorten("word " * 60, "")
    assert line == " ".join(["word"] * 40) + "…"
    assert rest.startswith("…word word")


@pytest.mark.parametrize(
    "body, tidied", [("\n\na\r\nb\rc\n\n", "a\nb\nc"), ("  a\n", "  a"), ("\r\n", ""), ("", "")]
)
def test_a_tidy_body(body: str, tidied: str) -> None:
    assert tidy(body) == tidied


@pytest.mark.promise("type.aliases")
@pytest.mark.parametrize(
    "value, type", [*((t, t) for t in TYPES), ("persona", "user"), ("instruction", "feedback")]
)
def test_types_and_their_other_names(value: str, type: Type) -> None:
    assert parse_type(value) == type


@pytest.mark.parametrize("value", ["User", "", None, 3, ["user"]])
def test_what_is_no_type(value: object) -> None:
    with pytest.raises(Invalid, match=r"^kind: .* use one of user, feedback"):
        parse_type(value, "kind")


@pytest.mark.parametrize("type", TYPES)
def test_priorities(type: Type) -> None:
    assert parse_priority(None, type) == DEFAULT_PRIORITY[type]
    assert [parse_priority(n, type) for n in (-1, 0, 100)] == [-1, 0, 100]


@pytest.mark.parametrize("value", [-2, 101, 50.0, "50", True, False])
def test_what_is_no_priority(value: object) -> None:
    with pytest.raises(Invalid, match=r"^priority"):
        parse_priority(value, "user")


def test_entities_are_kept_in_order_each_once() -> None:
    assert parse_entities([" Ines ", "Harrow", "Ines"]) == ("Ines", "Harrow")


@pytest.mark.parametrize(
    "value, field",
    [
        ("Ines", "entities"),
        (None, "entities"),
        ({"a": 1}, "entities"),
        ([f"e{n}" for n in range(MAX_ENTITIES + 1)], "entities"),
        (["a", 1], "entities[1]"),
        (["a", " "], "entities[1]"),
        (["a" * 121], "entities[0]"),
    ],
)
def test_what_are_no_entities(value: object, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_entities(value)
    assert caught.value.field == field
