"""A general rule that scattered ones were raised to: a candidate, in a file of its own, until a person decides.

Its file is the truth. What a person is shown has a digest over its words and over each source as it
stands, so that nobody confirms what they have not seen. What was decided is remembered by two
fingerprints, of the sources and of the words: either is enough not to propose it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from memstrata.domain import checks, markdown, terms, times
from memstrata.domain.memory import (
    DEFAULT_PRIORITY,
    EPOCH,
    MAX_BODY,
    MAX_ENTITIES,
    STANDING_RULE,
    Memory,
    reason_note,
    shorten,
    tidy,
    united,
)
from memstrata.domain.scope import Key
from memstrata.errors import Corrupt, Invalid

Outcome = Literal["confirm", "reject"]
EDITABLE: Final = ("name", "description", "body")
"""What a person may change on confirming."""
HEADING: Final = "## Sources"
CHINESE_HEADING: Final = "## 升华来源"
_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Source:
    """A rule that a candidate was made from, and its version then."""

    id: str
    version: int


@dataclass(frozen=True, slots=True)
class Elevation:
    """A candidate: what the general rule says, what it was made from, by which model."""

    id: str
    name: str
    description: str
    body: str
    sources: tuple[Source, ...]
    model: str = ""
    created_at: datetime = EPOCH

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """What it is known by once it was decided on: by its sources, where it has any, and by its words."""
        ids = sorted({one.id for one in self.sources})
        words = terms.fold(f"{self.description}\n{self.body}").split()
        return (*([f"sources:{_hash(ids)}"] if ids else []), f"words:{_hash(words)}")


def _hash(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def shown_digest(one: Elevation, states: Iterable[Sequence[object]]) -> str:
    """The digest of what a person is shown; `states` say how each source stands."""
    words = [one.id, one.name, one.description, one.body]
    return _hash([*words, [list(state) for state in states]])


# -- its file ---------------------------------------------------------------------------------------


def to_fields(one: Elevation) -> dict[str, object]:
    """A candidate as JSON-able fields, `body` last."""
    return {
        "id": one.id,
        "name": one.name,
        "description": one.description,
        "sources": [{"id": source.id, "version": source.version} for source in one.sources],
        "model": one.model,
        "created_at": times.stamp(one.created_at),
        "body": one.body,
    }


def from_fields(fields: Mapping[str, object], *, id: str, now: datetime) -> Elevation:
    """The candidate that `fields` describe; `id` and `now` stand in for what is missing.

    Raises:
        Invalid: the field that is wrong.
    """
    found = Elevation(
        id=checks.ref("id", fields.get("id") or id),
        name="",
        description="",
        body="",
        sources=_sources(fields.get("sources") or ()),
        model=checks.string("model", fields.get("model") or ""),
        created_at=times.instant("created_at", fields.get("created_at") or None) or now,
    )
    return worded(found, {name: fields.get(name, "") for name in EDITABLE})


def worded(one: Elevation, changes: Mapping[str, object]) -> Elevation:
    """`one` with the words that a person gave it.

    Raises:
        Invalid: a field that may not be changed, is empty or too long.
    """
    unknown = [name for name in changes if name not in EDITABLE]
    if unknown:
        raise Invalid(unknown[0], f"cannot be changed here; use {', '.join(EDITABLE)}")
    given = {name: getattr(one, name) for name in EDITABLE} | dict(changes)
    checks.string("name", given["name"])
    description = checks.text("description", given["description"], most=MAX_BODY)
    body = checks.text("body", given["body"], most=MAX_BODY, empty=True)
    description, body = shorten(description, body)
    return replace(
        one, name=markdown.checked_name(given["name"]), description=description, body=body
    )


def _sources(value: object) -> tuple[Source, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid("sources", "expected a list of {id, version}")
    found: dict[str, Source] = {}
    for index, one in enumerate(value):
        where = f"sources[{index}]"
        if not isinstance(one, Mapping):
            raise Invalid(where, "expected an object with id, version")
        id, version = checks.ref(f"{where}.id", one.get("id")), str(one.get("version"))
        if not version.isascii() or not version.isdecimal() or len(version) > 9:
            raise Invalid(f"{where}.version", "expected a whole number")
        found[id] = Source(id, int(version))
    return tuple(found.values())


def render(one: Elevation) -> bytes:
    """The bytes of its file."""
    fields = to_fields(one)
    body = str(fields.pop("body"))
    return markdown.with_front(fields, body).encode()


def parse(data: bytes, path: str, *, now: datetime) -> Elevation:
    """The candidate in a file's bytes; the file's stem is its id, whatever it says.

    Raises:
        Corrupt: it cannot be read, or a field is wrong.
    """
    stem = path.rpartition("/")[2].removesuffix(".md")
    try:
        text = data.decode("utf-8")
        return from_fields({**markdown.fields_of(text), "id": stem}, id=stem, now=now)
    except UnicodeDecodeError as error:
        raise Corrupt(path, "is not UTF-8") from error
    except Invalid as error:
        raise Corrupt(path, str(error)) from error


# -- the memory that it becomes ---------------------------------------------------------------------


def confirmed(
    one: Elevation, sources: Sequence[Memory], key: Key, *, id: str, now: datetime
) -> Memory:
    """The rule that a person confirmed: theirs, with a list of its sources and the evidence of all."""
    body = f"{tidy(one.body)}\n\n{_listed(one, sources)}".strip("\n") if sources else one.body
    said = [source.said_at for source in sources if source.said_at is not None]
    text = terms.fold(f"{one.name} {one.description} {one.body}")
    named = (name for source in sources for name in source.entities)
    return Memory(
        id=id,
        key=key,
        type="feedback",
        name=one.name,
        description=one.description,
        body=body,
        confidence=1.0,
        priority=least_priority([source.priority for source in sources]),
        entities=tuple(dict.fromkeys(n for n in named if terms.fold(n) in text))[:MAX_ENTITIES],
        origin="consolidation",
        authority="person",
        evidence=united(*(source.evidence for source in sources)),
        note=reason_note("feedback", one.body),
        said_at=max(said, default=None),
        valid_from=now,
        created_at=now,
        updated_at=now,
    )


def _listed(one: Elevation, sources: Sequence[Memory]) -> str:
    chinese = terms.is_cjk(one.description)
    lines = [f"- [{each.id}] {each.name}: {each.description}" for each in sources]
    return "\n".join((CHINESE_HEADING if chinese else HEADING, "", *lines))


def least_priority(priorities: Sequence[int]) -> int:
    """The least important of some priorities; a standing rule's is the highest there is."""
    ordinary = [one for one in priorities if one != STANDING_RULE]
    if ordinary:
        return min(ordinary)
    return STANDING_RULE if priorities else DEFAULT_PRIORITY["feedback"]
