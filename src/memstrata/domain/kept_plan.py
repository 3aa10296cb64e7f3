"""A plan as a dry run keeps it, so that exactly what was shown can be applied: text, and the plan again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, tzinfo
from typing import Any, assert_never

from memstrata.domain import codec, elevation, times
from memstrata.domain.plan import Base, Consolidated, Propose, Put
from memstrata.domain.scope import Key, Realm, parse_scope
from memstrata.errors import Invalid

Kept = Put | Propose | Consolidated
"""The changes that a dry run may keep."""


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """The changes of a plan, and until when they may be applied."""

    changes: tuple[Kept, ...]
    expires_at: datetime


def encode(plan: KeptPlan) -> bytes:
    """A plan as text; the same plan always as the same."""
    fields = {
        "expires_at": times.stamp(plan.expires_at),
        "changes": [_fields(change) for change in plan.changes],
    }
    return json.dumps(fields, ensure_ascii=False, indent=1).encode()


def digest(data: bytes) -> str:
    """What a kept plan is called: a digest of its text."""
    return hashlib.sha256(data).hexdigest()[:16]


def decode(data: bytes, space: str, zone: tzinfo) -> KeptPlan:
    """The plan in a text.

    Raises:
        Invalid: it is none.
    """
    try:
        fields = json.loads(data)
        expires = times.instant("expires_at", fields["expires_at"])
        changes = tuple(_change(one, space, zone) for one in fields["changes"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Invalid("digest", f"the kept plan cannot be read: {error}") from error
    if expires is None:
        raise Invalid("digest", "the kept plan does not say until when it holds")
    return KeptPlan(changes, expires)


def _fields(change: Kept) -> dict[str, object]:
    match change:
        case Put(memory=memory, base=base):
            about = {"verb": change.verb, "who": change.who, "why": change.why}
            return {
                "kind": "put",
                "key": _key_fields(memory.key),
                **about,
                "author": change.author,
                "base": None if base is None else asdict(base),
                "memory": codec.to_fields(memory),
            }
        case Propose(key=key, candidate=candidate, who=who):
            told = elevation.to_fields(candidate)
            return {"kind": "propose", "key": _key_fields(key), "who": who, "candidate": told}
        case Consolidated(key=key):
            fields = {name: value for name, value in asdict(change).items() if name != "key"}
            return {"kind": "consolidated", "key": _key_fields(key), **fields}
        case _:
            assert_never(change)


def _key_fields(key: Key) -> dict[str, str]:
    return {"owner": key.realm.owner, "scope": key.scope, "ref": key.ref}


def _change(fields: Mapping[str, Any], space: str, zone: tzinfo) -> Kept:
    raw = fields["key"]
    key = Key(Realm(space, str(raw["owner"])), parse_scope(raw["scope"]), str(raw["ref"]))
    match fields["kind"]:
        case "put":
            return _put(fields, key, zone)
        case "propose":
            told = fields["candidate"]
            at = times.instant("created_at", told["created_at"])
            if at is None:
                raise Invalid("created_at", "is missing")
            candidate = elevation.from_fields(told, id=str(told["id"]), now=at)
            return Propose(key, candidate, str(fields["who"]))
        case "consolidated":
            return _consolidated(fields, key)
        case other:
            raise Invalid("kind", f"{other!r} is no change of a kept plan")


def _put(fields: Mapping[str, Any], key: Key, zone: tzinfo) -> Put:
    told: Mapping[str, Any] = fields["memory"]
    at = times.instant("created_at", told["created_at"])
    if at is None:
        raise Invalid("created_at", "is missing")
    memory = codec.from_fields(told, key, id=str(told["id"]), now=at, zone=zone)
    base = fields["base"]
    known = None if base is None else Base(int(base["version"]), str(base["digest"]))
    about = (str(fields["who"]), str(fields["why"]))
    return Put(memory, fields["verb"], *about, known, str(fields["author"]))


def _consolidated(fields: Mapping[str, Any], key: Key) -> Consolidated:
    refused: Sequence[object] = fields["refused"]
    return Consolidated(
        key=key,
        run=str(fields["run"]),
        expected=str(fields["expected"]),
        model=str(fields["model"]),
        seen=str(fields["seen"]),
        merged=int(fields["merged"]),
        proposed=int(fields["proposed"]),
        refused=tuple(map(str, refused)),
        problem=str(fields["problem"]),
    )
