"""What a person does to a memory: correct it, put it aside, bring it back. Each gives the next version.

Where nothing would change, the memory comes back as it is, its version too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from difflib import unified_diff
from typing import Final, assert_never

from memstrata.domain import codec, markdown
from memstrata.domain.memory import (
    STANDING_RULE,
    UNREVIEWED,
    Memory,
    parse_type,
    reason_note,
    united,
)
from memstrata.errors import Invalid

EDITABLE: Final = (
    *("name", "description", "type", "priority", "confidence", "entities"),
    *("happened_from", "happened_until", "valid_until", "body"),
)
"""What a person may change, in the order of a file. Where it belongs and where it came from stay."""
SURE: Final = 1.0
"""The confidence of what a person typed."""
_SHOWN: Final = (
    *EDITABLE[:-1],
    *("subject", "slot", "scene", "note", "said_at", "valid_from"),
    *("invalid_at", "superseded_by", "archived"),
)


def edited(old: Memory, changes: Mapping[str, object], *, now: datetime, zone: tzinfo) -> Memory:
    """`old` with the fields that a person changed; it is theirs from here on, its evidence is kept as earlier evidence.

    None takes a field away, or gives it its default; a confidence that is not given is 1.

    Raises:
        Invalid: the field that is wrong, or none is given.
    """
    if not changes:
        raise Invalid("fields", f"nothing to change was given; use {', '.join(EDITABLE)}")
    given = dict(changes)
    if "name" in given:
        given["name"] = markdown.checked_name(given["name"])  # type: ignore[arg-type]
    if "type" in given:
        given["type"] = parse_type(given["type"])
    fields = codec.to_fields(old) | {"confidence": SURE} | given
    made = codec.from_fields(fields, old.key, id=old.id, now=now, zone=zone)
    # A long description goes on in the body, so both are taken whichever was given.
    names = {*given, "description", "body", "confidence"}
    found = replace(
        old, **{name: getattr(made, name) for name in names}, authority="person", note=_note(made)
    )
    if found.note == UNREVIEWED and found.priority == STANDING_RULE:
        raise Invalid("priority", "what came with a workspace's files can be no standing rule")
    return _next(old, found, now)


def archived(old: Memory, now: datetime) -> Memory:
    """`old` put aside."""
    return _next(old, replace(old, archived=True), now)


def restored(old: Memory, *, now: datetime, zone: tzinfo) -> Memory:
    """`old` in use again: an archived one as it was before, an invalid one valid, on a person's word.

    Raises:
        Invalid: it has expired.
    """
    match old.status(now, zone):
        case "archived":
            found = replace(old, archived=False)
        case "invalid":
            found = replace(_unended(old), authority="person")
        case "expired":
            day = old.valid_until
            raise Invalid("id", f"{old.id} has expired ({day}); edit its last day that counts")
        case "active":
            found = old
        case other:
            assert_never(other)
    return _next(old, found, now)


def as_it_was(old: Memory, then: Memory, now: datetime) -> Memory:
    """`old` with what its version `then` said, in use again, on a person's word; evidence of both."""
    found = replace(
        _unended(then),
        archived=False,
        key=old.key,
        origin=old.origin,
        authority="person",
        evidence=united(old.evidence, then.evidence),
        note=UNREVIEWED if old.note == UNREVIEWED else _note(then),
        version=old.version,
        created_at=old.created_at,
        updated_at=old.updated_at,
    )
    return _next(old, found, now)


def mended(old: Memory, said: Memory, now: datetime) -> Memory:
    """`old` as its mended file says it, on a person's word; its sources stay."""
    rule = old.note == UNREVIEWED and said.priority == STANDING_RULE
    found = replace(
        said,
        origin="file",
        authority="person",
        evidence=united(old.evidence, said.evidence),
        note=UNREVIEWED if old.note == UNREVIEWED else said.note,
        priority=old.priority if rule else said.priority,
        version=old.version,
        created_at=old.created_at,
        updated_at=old.updated_at,
    )
    return replace(found, version=old.version + 1, updated_at=max(now, old.updated_at))


def _unended(memory: Memory) -> Memory:
    return replace(memory, invalid_at=None, superseded_by=None, retired_at=None)


def _note(memory: Memory) -> str:
    """What is for review is reviewed by whoever edits it; but a clone is trusted as a whole or not at all."""
    if memory.note == UNREVIEWED:
        return UNREVIEWED
    return reason_note(memory.type, memory.body)


def _next(old: Memory, found: Memory, now: datetime) -> Memory:
    if found == old:
        return old
    return replace(found, version=old.version + 1, updated_at=max(now, old.updated_at))


# -- texts ------------------------------------------------------------------------------------------


def text(memory: Memory) -> str:
    """What a memory says, for people: its fields, a line each, and its body; no ids, counts or time stamps."""
    fields = codec.to_fields(memory)
    lines = [f"{name}: {_shown(fields[name])}" for name in _SHOWN if name in fields]
    return "\n".join([*lines, *(["", memory.body] if memory.body else [])])


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def difference(old: str, new: str, *, old_version: int, new_version: int) -> str:
    """A unified diff of two versions' texts; `""` when they say the same."""
    names = f"version {old_version}", f"version {new_version}"
    return "\n".join(unified_diff(old.split("\n"), new.split("\n"), *names, lineterm=""))


def sheet(fields: Mapping[str, object]) -> str:
    """The Markdown that a person edits: what may be changed, as front matter, and the body."""
    front = {name: fields.get(name) for name in EDITABLE if name != "body"}
    kept = {name: value for name, value in front.items() if value not in (None, "", [], ())}
    return markdown.with_front(kept, str(fields.get("body") or ""))


def changes(before: str, after: str) -> dict[str, object]:
    """What a person changed in a sheet; None for a field that they took out.

    Raises:
        Invalid: it cannot be read, or has a field that may not be changed.
    """
    old, new = markdown.fields_of(before), markdown.fields_of(after)
    unknown = [name for name in new if name not in EDITABLE]
    if unknown:
        raise Invalid(unknown[0], f"is nothing that can be edited; use {', '.join(EDITABLE)}")
    return {
        name: new.get(name, "" if name == "body" else None)
        for name in EDITABLE
        if new.get(name) != old.get(name)
    }
