"""A message as one JSON line of the conversation log, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from memstrata.domain import checks, times
from memstrata.domain.turn import Message, Role
from memstrata.errors import Invalid


def encode(message: Message) -> bytes:
    """One line, UTF-8, with its newline; empty fields left out."""
    fields = {
        "id": message.id,
        "session": message.session,
        "role": message.role,
        "name": message.name,
        "said_at": times.stamp_or_none(message.said_at),
        "recorded_at": times.stamp(message.recorded_at),
        "workspace": message.workspace,
        "agent": message.agent,
        "call": message.call,
        "skip": message.skip,
        "model": message.model,
        "content": message.content,
    }
    kept = {name: value for name, value in fields.items() if value}
    return json.dumps(kept, ensure_ascii=False).encode() + b"\n"


def decode(line: bytes) -> Message:
    """The message of a line.

    Raises:
        Invalid: the line is no JSON object, or the field that is wrong.
    """
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Invalid("line", f"is no JSON: {error}") from error
    if not isinstance(raw, Mapping):
        raise Invalid("line", "is no JSON object")
    role = raw.get("role")
    if role not in ("user", "assistant", "tool"):
        raise Invalid("role", f"{checks.shown(role)} is no role")
    recorded = times.instant("recorded_at", raw.get("recorded_at"))
    if recorded is None:
        raise Invalid("recorded_at", "is missing")
    others = {
        name: checks.string(name, raw.get(name) or "")
        for name in ("workspace", "agent", "name", "call", "skip", "model")
    }
    return Message(
        id=checks.identity("id", raw.get("id")),
        session=checks.identity("session", raw.get("session")),
        role=cast("Role", role),
        content=checks.string("content", raw.get("content")),
        said_at=times.instant("said_at", raw.get("said_at")),
        recorded_at=recorded,
        **others,
    )
