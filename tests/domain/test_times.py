"""Instants and days: what is taken, in which zone, and how they are written."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain import times
from memstrata.errors import Invalid

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")
AT = datetime(2026, 5, 10, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        AT,
        AT.astimezone(SHANGHAI),
        "2026-05-10T09:30:00Z",
        "2026-05-10 09:30:00+00:00",
        " 2026-05-10T17:30:00+08:00 ",
        AT.timestamp(),
        int(AT.timestamp()),
    ],
)
def test_instants(value: object) -> None:
    found = times.instant("said_at", value)
    assert found == AT
    assert found.tzinfo is UTC


@pytest.mark.promise("times.three")
@pytest.mark.parametrize("value", [None, ""])
def test_unknown_stays_unknown(value: object) -> None:
    assert times.instant("said_at", value) is None
    assert times.day("valid_until", value) is None


@pytest.mark.parametrize(
    "zone, text, hour",
    [
        (SHANGHAI, "2026-05-10T09:30:00", "01:30"),
        (BERLIN, "2026-07-01T09:30:00", "07:30"),
        (BERLIN, "2026-01-01T09:30:00", "08:30"),
        (BERLIN, "2026-07-01", "22:00"),
    ],
)
def test_a_time_without_an_offset_is_local(zone: ZoneInfo, text: str, hour: str) -> None:
    found = times.instant("said_at", text, zone)
    assert found is not None
    assert f"{found:%H:%M}" == hour


@pytest.mark.parametrize(
    "value",
    ["yesterday", "  ", "2026-13-01", "\ud800", True, [], b"2026", float("nan"), float("inf"), 1e18,
     1778405400000.0 * 1000, datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))],
)  # fmt: skip
def test_what_is_no_instant(value: object) -> None:
    with pytest.raises(Invalid) as caught:
        times.instant("messages[0].said_at", value)
    assert caught.value.field == "messages[0].said_at"


@given(st.datetimes(timezones=st.timezones()))
def test_a_stamp_is_read_back_and_sorts_like_the_instant(at: datetime) -> None:
    try:
        utc = at.astimezone(UTC)
    except OverflowError:
        return
    stamp = times.stamp(at)
    assert len(stamp) == 27
    assert times.instant("x", stamp) == utc
    later = utc + timedelta(microseconds=1) if utc < datetime.max.replace(tzinfo=UTC) else utc
    assert stamp <= times.stamp(later)


def test_stamps_of_early_years_have_the_same_width() -> None:
    assert times.stamp(datetime(7, 1, 2, tzinfo=UTC)) == "0007-01-02T00:00:00.000000Z"
    assert times.stamp_or_none(None) is None


def test_days() -> None:
    assert times.day("x", "2026-10-31") == times.day("x", date(2026, 10, 31)) == date(2026, 10, 31)


@pytest.mark.parametrize(
    "value",
    [AT, "31.10.2026", "20261031", "2026-W44-6", "2026-10-31T00:00", "2026-02-30", 1, True, "null"],
)
def test_what_is_no_day(value: object) -> None:
    with pytest.raises(Invalid) as caught:
        times.day("valid_until", value)
    assert caught.value.field == "valid_until"


def test_a_time_for_a_person_is_to_the_minute() -> None:
    assert times.short(datetime(2026, 5, 10, 9, 30, 59, tzinfo=UTC)) == "2026-05-10 09:30"
