"""Values as JSON holds them.

A dataclass becomes an object of its fields, a tuple, list or set a list (a set is sorted), an instant
RFC 3339 in UTC, a day `YYYY-MM-DD`, a path its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import TypeAlias

from memstrata.domain import times

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


def encode(value: object) -> Json:
    """`value` as JSON holds it.

    Raises:
        TypeError: it is of a type that has no such form.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return times.stamp(value)
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): encode(one) for key, one in value.items()}
        case tuple() | list():
            return [encode(one) for one in value]
        case set() | frozenset():
            return [encode(one) for one in sorted(value)]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
        case _ if hasattr(value, "__fspath__"):
            return str(value)
        case _:
            raise TypeError(f"the wire format knows no {type(value).__name__}")
