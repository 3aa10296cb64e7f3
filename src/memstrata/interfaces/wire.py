"""The one wire format: what the facade returns, as values that JSON holds, for every door.

A dataclass becomes an object of its fields, a tuple, list or set a list (a set is sorted), an instant
RFC 3339 in UTC, a day `YYYY-MM-DD`, a path its text. `answer` gives each verb one JSON object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from pathlib import PurePath
from typing import Final, TypeAlias, cast

from memstrata.domain import times
from memstrata.errors import MemstrataError

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Setting = tuple[str, object, str]
"""Key, value and origin of a setting, as `config` gives them."""

ENVELOPES: Final[Mapping[str, str]] = {
    "search": "hits",
    "search_conversations": "hits",
    "history": "versions",
    "doctor": "checks",
}
"""Verbs that return a sequence: the name it has in the object that goes over the wire."""

ATTRIBUTES: Final = ("degraded", "profile")
"""What a sequence of hits says of itself, beside its items."""


def answer(verb: str, value: object) -> dict[str, Json]:
    """The result of `verb` as a JSON object.

    Raises:
        TypeError: it holds something that the wire format does not know.
    """
    if verb == "config":
        return {"settings": [_setting(row) for row in cast("Iterable[Setting]", value)]}
    if verb in ENVELOPES:
        about = {name: encode(getattr(value, name)) for name in ATTRIBUTES if hasattr(value, name)}
        return {ENVELOPES[verb]: encode(value), **about}
    found = encode(value)
    if not isinstance(found, dict):
        raise TypeError(f"the answer of {verb!r} is no object")
    return found


def error(problem: MemstrataError) -> dict[str, Json]:
    """An error as `{"error": {"code", "message", "retryable", …what a machine reads}}`."""
    about = {name: encode(value) for name, value in problem.detail().items()}
    return {
        "error": {
            "code": problem.code,
            "message": problem.message,
            "retryable": problem.retryable,
            **about,
        }
    }


def encode(value: object) -> Json:
    """`value` in the wire format.

    Raises:
        TypeError: it is of a type that the wire format does not know.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return times.stamp(value)
        case date():
            return value.isoformat()
        case PurePath():
            return str(value)
        case Mapping():
            return {str(key): encode(one) for key, one in value.items()}
        case tuple() | list():
            return [encode(one) for one in value]
        case set() | frozenset():
            return [encode(one) for one in sorted(value)]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
        case _:
            raise TypeError(f"the wire format knows no {type(value).__name__}")


def _setting(row: Setting) -> Json:
    key, value, origin = row
    return {"key": key, "value": encode(value), "origin": origin}
