"""What may not come back: keyed hashes of what was forgotten, without a word of it.

A message is named by its session and id, and once more by what a host without ids would send again. A
memory is named by its key and id, its file by its bytes. The key of the hashes (HMAC-SHA256, cut to
128 bits) lies in the home: without it nobody can try texts until one fits.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, cast

from memstrata.domain import times, turn
from memstrata.domain.layout import HOME, Place, owner_folder
from memstrata.domain.memory import Evidence, Memory
from memstrata.domain.scope import Key, Realm
from memstrata.domain.turn import Message
from memstrata.errors import Invalid

SECRET: Final = Place(HOME, "tombstones.key")
"""Where the key of the hashes lies."""
_DIGITS: Final = 32


def log(owner: str) -> Place:
    """Where an owner's tombstones lie."""
    return Place(HOME, f"{owner_folder(owner)}tombstones.jsonl")


@dataclass(frozen=True, slots=True)
class Stone:
    """The hashes of one erasure, a line of the log."""

    at: datetime
    messages: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()
    evidence: frozenset[str] = frozenset()
    memories: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()


_KINDS: Final = ("messages", "contents", "evidence", "memories", "files", "sessions")
_DATED: Final = ("memories", "sessions")
"""What may be made anew under its name: a later one is not the one that was forgotten."""


@dataclass(frozen=True, slots=True)
class Tombstones:
    """Every hash that is known, and the key that makes them."""

    secret: bytes = b""
    messages: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()
    evidence: frozenset[str] = frozenset()
    memories: Mapping[str, datetime] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    sessions: Mapping[str, datetime] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.messages or self.memories or self.sessions)

    def with_stones(self, stones: Iterable[Stone]) -> Tombstones:
        """These and those of `stones`; of what was forgotten twice the later time counts."""
        found = {kind: set(getattr(self, kind)) for kind in _KINDS if kind not in _DATED}
        dated = {kind: dict(getattr(self, kind)) for kind in _DATED}
        for stone in stones:
            for kind in found:
                found[kind] |= getattr(stone, kind)
            for kind, times_of in dated.items():
                for one in getattr(stone, kind):
                    times_of[one] = max(times_of.get(one, stone.at), stone.at)
        fields: dict[str, Any] = {kind: frozenset(hashes) for kind, hashes in found.items()}
        return Tombstones(self.secret, **{**fields, **dated})

    # -- what is forgotten --------------------------------------------------------------------

    def has_message(self, realm: Realm, session: str, id: str) -> bool:
        """Whether that message was forgotten."""
        return bool(self.messages) and message(self.secret, realm, session, id) in self.messages

    def stops(self, realm: Realm, one: Message) -> bool:
        """Whether a message that comes in is a forgotten one: by its id, or without one by what it is.

        With an id of its own and no time it may be a new saying of the same words, and is let in.
        """
        if not self.messages:
            return False
        if self.has_message(realm, one.session, one.id):
            return True
        own = turn.content_id(one)
        named = not (one.id == own or one.id.startswith(f"{own}-"))
        return not (named and one.said_at is None) and (
            content(self.secret, realm, one) in self.contents
        )

    def has_memory(self, key: Key, id: str, made: datetime) -> bool:
        """Whether the memory that was made then is a forgotten one; a file of its name may be made anew."""
        if not self.memories:
            return False
        at = self.memories.get(memory(self.secret, key, id))
        return at is not None and made <= at

    def has_session(self, realm: Realm, id: str, made: datetime) -> bool:
        """Whether what was kept of a session since then was forgotten; one of its name may begin anew."""
        if not self.sessions:
            return False
        at = self.sessions.get(session(self.secret, realm, id))
        return at is not None and made <= at

    def has_file(self, key: Key, digest: str) -> bool:
        """Whether a file of these bytes was forgotten."""
        return bool(self.files) and file(self.secret, key, digest) in self.files

    def has_source(self, key: Key, id: str, one: Evidence) -> bool:
        """Whether a source of a memory was forgotten; what a project's rest on is named one by one."""
        if key.scope == "project":
            return bool(self.evidence) and source(self.secret, key, id, one) in self.evidence
        return self.has_message(key.realm, one.session, one.message)

    def sources(self, found: Memory) -> list[Evidence]:
        """The sources of a memory that were forgotten."""
        if not (self.messages or self.evidence):
            return []
        return [one for one in found.evidence if self.has_source(found.key, found.id, one)]


def message(secret: bytes, realm: Realm, session: str, id: str) -> str:
    """The hash that names a message."""
    return _hash(secret, "message", realm.space, realm.owner, session, id)


def content(secret: bytes, realm: Realm, one: Message) -> str:
    """The hash that names a message by what it is, whatever its id."""
    return _hash(secret, "content", realm.space, realm.owner, one.session, turn.content_id(one))


def memory(secret: bytes, key: Key, id: str) -> str:
    """The hash that names a memory."""
    return _hash(secret, "memory", *_key(key), id)


def session(secret: bytes, realm: Realm, id: str) -> str:
    """The hash that names a session."""
    return _hash(secret, "session", realm.space, realm.owner, id)


def source(secret: bytes, key: Key, id: str, one: Evidence) -> str:
    """The hash that names one source of one memory."""
    return _hash(secret, "source", *_key(key), id, one.session, one.message)


def file(secret: bytes, key: Key, digest: str) -> str:
    """The hash that names a memory's file by its bytes."""
    return _hash(secret, "file", *_key(key), digest)


def _key(key: Key) -> tuple[str, ...]:
    return key.realm.space, key.realm.owner, key.scope, key.ref


def _hash(secret: bytes, *parts: str) -> str:
    text = json.dumps(parts, ensure_ascii=False)
    return hmac.digest(secret, text.encode(), "sha256").hex()[:_DIGITS]


# -- lines -----------------------------------------------------------------------------------------


def encode(stone: Stone, secret: bytes) -> bytes:
    """One line of the log, with its newline."""
    hashes = {kind: sorted(getattr(stone, kind)) for kind in _KINDS if getattr(stone, kind)}
    return json.dumps({"at": times.stamp(stone.at), "key": mark(secret), **hashes}).encode() + b"\n"


def decode(line: bytes) -> tuple[str, Stone]:
    """(mark of the key, the stone) of a line.

    Raises:
        Invalid: it is none.
    """
    try:
        raw = json.loads(line)
        at = cast("datetime", times.instant("at", raw["at"]))
        found = {kind: frozenset(map(str, raw.get(kind, ()))) for kind in _KINDS}
        return str(raw["key"]), Stone(at, **found)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Invalid("line", f"is no tombstone: {error}") from error


def mark(secret: bytes) -> str:
    """What a line says of the key that made it."""
    return hashlib.sha256(secret).hexdigest()[:8]
