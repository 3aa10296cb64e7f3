"""Instants and days as text: RFC 3339 in UTC with microseconds (sortable as text), and ISO dates."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo

from memstrata.domain import checks
from memstrata.errors import Invalid


def instant(field: str, value: object, zone: tzinfo = UTC) -> datetime | None:
    """`value` as an aware UTC datetime; None stays None (unknown stays unknown).

    Takes a datetime, an ISO 8601 text or seconds since 1970. A value without an offset is local
    to `zone`.

    Raises:
        Invalid: it is none of those.
    """
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        found = value
    elif isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            raise Invalid(
                field, f"{checks.shown(value)} is no ISO 8601 time (2026-05-10T09:30:00Z)"
            ) from None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            found = datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError):
            raise Invalid(
                field, f"{checks.shown(value)} seconds since 1970 is out of range"
            ) from None
    else:
        raise Invalid(field, f"expected a time, got {type(value).__name__}")
    if found.tzinfo is None:
        found = found.replace(tzinfo=zone)
    try:
        return found.astimezone(UTC)
    except (OverflowError, ValueError):
        raise Invalid(field, "is out of range (years 1 to 9999)") from None


def day(field: str, value: object) -> date | None:
    """`value` as a date; None stays None.

    Raises:
        Invalid: it is neither a date nor `YYYY-MM-DD`.
    """
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        raise Invalid(field, "expected a day (YYYY-MM-DD), got a time")
    if isinstance(value, date):
        return value
    if not isinstance(value, str):
        raise Invalid(field, f"expected a day, got {type(value).__name__}")
    try:
        found = date.fromisoformat(value.strip())
    except ValueError:
        found = None
    # fromisoformat also takes 20261031 and 2026-W44-6; one day has one spelling here.
    if found is None or found.isoformat() != value.strip():
        raise Invalid(field, f"{checks.shown(value)} is no day; write YYYY-MM-DD")
    return found


def stamp(value: datetime) -> str:
    """`2026-05-10T09:30:00.000000Z`: always the same width, so that text order is time order."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def stamp_or_none(value: datetime | None) -> str | None:
    """`stamp`, or None for an unknown time."""
    return None if value is None else stamp(value)


def short(value: datetime) -> str:
    """An instant as a person reads it, to the minute, UTC."""
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
