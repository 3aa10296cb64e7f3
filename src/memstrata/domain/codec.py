"""A memory as plain fields and back: the one form that files, records, rows and the wire share.

Fields that are empty are left out, so that a file reads well; reading fills them in. Every value is
checked on the way in, because a file may have been written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from typing import Any, Final, TypeVar, cast, get_args

from memstrata.domain import checks, times
from memstrata.domain.memory import (
    MAX_BODY,
    MAX_NAME,
    STANDING_RULE,
    Authority,
    Evidence,
    Memory,
    Origin,
    parse_entities,
    parse_priority,
    parse_type,
    shorten,
)
from memstrata.domain.scope import Key
from memstrata.errors import Invalid

Fields = Mapping[str, object]
_N = TypeVar("_N", int, float)

_TEXTS: Final = ("subject", "slot", "scene", "note")
_INSTANTS: Final = ("said_at", "valid_from", "invalid_at", "created_at", "updated_at", "retired_at")
_DAYS: Final = ("happened_from", "happened_until", "valid_until")
_PLACE: Final = ("owner", "scope", "scope_ref")
KNOWN: Final = frozenset(
    (
        *("id", "type", "name", "description", "body", "confidence", "priority", "entities"),
        *("origin", "authority", "evidence", "version", "superseded_by", "archived"),
        *_TEXTS,
        *_INSTANTS,
        *_DAYS,
        *_PLACE,
    )
)


def to_fields(
    memory: Memory, *, owner: str = "", ref: str | None = None, quotes: bool = True
) -> dict[str, object]:
    """`memory` as JSON-able fields in a fixed order, `body` last.

    `owner` and `ref` are what a reader of the file sees (author, workspace id); without them the
    key's own. `quotes=False` leaves the words of the conversation out, for files in a workspace.
    """
    key = memory.key
    found: dict[str, object] = {
        "id": memory.id,
        "owner": owner or key.realm.owner,
        "scope": key.scope,
        "scope_ref": key.ref if ref is None else ref,
        "type": memory.type,
        "name": memory.name,
        "description": memory.description,
        "confidence": memory.confidence,
        "priority": memory.priority,
        "entities": list(memory.entities),
        "origin": memory.origin,
        "authority": memory.authority,
        "subject": memory.subject,
        "slot": memory.slot,
        "scene": memory.scene,
        "note": memory.note,
        "version": memory.version,
    }
    found |= {name: times.stamp_or_none(getattr(memory, name)) for name in _INSTANTS}
    found |= {name: _iso(getattr(memory, name)) for name in _DAYS}
    found["superseded_by"] = memory.superseded_by
    found["archived"] = memory.archived
    found["evidence"] = [_evidence_fields(one, quotes) for one in memory.evidence]
    found |= memory.extra
    found["body"] = memory.body
    return {n: value for n, value in found.items() if n in memory.extra or not _empty(value)}


def _empty(value: object) -> bool:
    """Whether a field says nothing. 0 does say something, though it equals False."""
    return value is None or value is False or value in ("", [])


def _iso(value: date | None) -> str | None:
    return None if value is None else value.isoformat()


def _evidence_fields(one: Evidence, quotes: bool) -> dict[str, object]:
    found: dict[str, object] = {
        "message": one.message,
        "session": one.session,
        "start": one.start,
        "end": one.end,
    }
    return found | {"quote": one.quote} if quotes else found


def from_fields(fields: Fields, key: Key, *, id: str, now: datetime, zone: tzinfo = UTC) -> Memory:
    """The memory that `fields` describe, under `key` whatever they say of their place.

    `id` and `now` stand in for a missing id and missing times.

    Raises:
        Invalid: the field that is wrong.
    """
    type_ = parse_type(fields.get("type") or "user")
    description, body = shorten(
        checks.text("description", fields.get("description", ""), most=MAX_BODY),
        checks.text("body", fields.get("body", ""), most=MAX_BODY, empty=True),
    )
    checks.text("body", body, most=MAX_BODY, empty=True)
    made = Memory(
        id=checks.ref("id", fields.get("id") or id),
        key=key,
        type=type_,
        name=checks.text("name", fields.get("name", ""), most=MAX_NAME).strip(),
        description=description,
        body=body,
        confidence=_number("confidence", fields.get("confidence"), 1.0),
        priority=parse_priority(_whole("priority", fields.get("priority"), STANDING_RULE), type_),
        entities=parse_entities(fields.get("entities") or ()),
        origin=cast("Origin", _one_of("origin", fields.get("origin") or "file", get_args(Origin))),
        authority=cast(
            "Authority",
            _one_of("authority", fields.get("authority") or "person", get_args(Authority)),
        ),
        evidence=_evidence(fields.get("evidence") or ()),
        version=_whole("version", fields.get("version"), 1) or 1,
        superseded_by=_optional_ref("superseded_by", fields.get("superseded_by")),
        archived=_flag("archived", fields.get("archived")),
        created_at=now,
        updated_at=now,
        extra={name: value for name, value in fields.items() if name not in KNOWN},
    )
    return replace(made, **_texts(fields), **_times(fields, zone))


def _texts(fields: Fields) -> dict[str, Any]:
    return {n: checks.text(n, fields.get(n) or "", most=MAX_NAME * 4, empty=True) for n in _TEXTS}


def _times(fields: Fields, zone: tzinfo) -> dict[str, Any]:
    instants = {
        name: times.instant(name, fields[name], zone) for name in _INSTANTS if fields.get(name)
    }
    days = {name: times.day(name, fields[name]) for name in _DAYS if fields.get(name)}
    return {**instants, **days}


def _evidence(value: object) -> tuple[Evidence, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid("evidence", "expected a list of {message, start, end, quote}")
    found: list[Evidence] = []
    for index, one in enumerate(value):
        where = f"evidence[{index}]"
        if not isinstance(one, Mapping):
            raise Invalid(where, "expected an object with message, start, end, quote")
        start = _whole(f"{where}.start", one.get("start"), 0) or 0
        found.append(
            Evidence(
                message=checks.identity(f"{where}.message", one.get("message")),
                start=start,
                end=_whole(f"{where}.end", one.get("end"), start) or start,
                quote=checks.string(f"{where}.quote", one.get("quote") or ""),
                session=checks.string(f"{where}.session", one.get("session") or ""),
            )
        )
    return tuple(found)


def _number(field: str, value: object, default: float) -> float:
    if value is None or value == "":
        return default
    found = _parsed(field, value, float, "a number")
    if not 0 <= found <= 1:
        raise Invalid(field, f"{found} is outside 0 to 1")
    return found


def _whole(field: str, value: object, least: int) -> int | None:
    if value is None or value == "":
        return None
    found = _parsed(field, value, int, "a whole number")
    if not least <= found < 2**53:
        raise Invalid(field, f"{checks.shown(found)} is out of range (at least {least})")
    return found


def _parsed(field: str, value: object, read: Callable[[str], _N], what: str) -> _N:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Invalid(field, f"expected {what}, got {type(value).__name__}")
    try:
        return read(str(value).strip())
    except (ValueError, OverflowError):
        raise Invalid(field, f"{checks.shown(value)} is not {what}") from None


def _one_of(field: str, value: object, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise Invalid(field, f"{checks.shown(value)} is none of {', '.join(allowed)}")
    return str(value)


def _optional_ref(field: str, value: object) -> str | None:
    return checks.ref(field, value) if value else None


def _flag(field: str, value: object) -> bool:
    match value.lower() if isinstance(value, str) else value:
        case None | False | "" | "false" | "no":
            return False
        case True | "true" | "yes":
            return True
        case _:
            raise Invalid(field, f"{checks.shown(value)} is neither true nor false")
