"""A memory: one thing that lasts, with where it came from and when it holds."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from typing import Final, Literal, get_args

from memstrata.domain import checks
from memstrata.domain.scope import Key
from memstrata.errors import Invalid

Type = Literal["user", "feedback", "project", "reference", "episodic"]
Origin = Literal["extraction", "manual", "consolidation", "import", "sync", "file"]
Authority = Literal["user", "assistant", "tool", "person"]
Status = Literal["active", "expired", "invalid", "archived"]

TYPES: Final[tuple[Type, ...]] = get_args(Type)
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
TYPE_ALIASES: Final[Mapping[str, Type]] = {"persona": "user", "instruction": "feedback"}
DEFAULT_PRIORITY: Final[Mapping[Type, int]] = {
    "user": 60,
    "feedback": 80,
    "project": 70,
    "reference": 60,
    "episodic": 65,
}
STANDING_RULE: Final = -1
"""The priority of a rule that always holds; it is injected first and cut last."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
UNREVIEWED: Final = "unreviewed"
"""The note of a memory that came with a workspace's files: never a standing rule, never in the stable part."""

MAX_NAME: Final = 120
MAX_DESCRIPTION: Final = 200
MAX_BODY: Final = 100_000
MAX_ENTITIES: Final = 32
NO_REASON: Final = "no reason given"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote and where it stands: `content[start:end] == quote` in that message of that session."""

    message: str
    start: int
    end: int
    quote: str
    session: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory, every field that its file holds. Times are aware UTC; days are the owner's."""

    id: str
    key: Key
    type: Type
    name: str
    description: str
    body: str = ""
    confidence: float = 1.0
    priority: int = 60
    entities: tuple[str, ...] = ()
    origin: Origin = "manual"
    authority: Authority = "person"
    evidence: tuple[Evidence, ...] = ()
    subject: str = ""
    slot: str = ""
    scene: str = ""
    note: str = ""
    version: int = 1
    said_at: datetime | None = None
    happened_from: date | None = None
    happened_until: date | None = None
    valid_from: datetime | None = None
    valid_until: date | None = None
    invalid_at: datetime | None = None
    superseded_by: str | None = None
    created_at: datetime = EPOCH
    updated_at: datetime = EPOCH
    retired_at: datetime | None = None
    archived: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)
    """Front matter that a person added and we do not know; written back as it was."""

    def status(self, now: datetime, zone: tzinfo) -> Status:
        """What it is at `now`: archived, invalid, expired or active. `valid_until` still counts, all day in `zone`."""
        if self.archived:
            return "archived"
        if self.invalid_at is not None and self.invalid_at <= now:
            return "invalid"
        if self.valid_until is not None and self.valid_until < now.astimezone(zone).date():
            return "expired"
        return "active"


def united(*several: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """The evidence of several memories: the first's as it is, and each further source once."""
    found = several[0] if several else ()
    for other in several[1:]:
        known = {(e.session, e.message, e.start, e.end) for e in found}
        found += tuple(e for e in other if (e.session, e.message, e.start, e.end) not in known)
    return found


def normalised_name(name: str) -> str:
    """The form under which a name is unique: NFKC, case folded, blanks collapsed."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def tidy(body: str) -> str:
    """A body as it is kept: lines end with a bare newline, none is empty at either end."""
    return body.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def shorten(description: str, body: str) -> tuple[str, str]:
    """`description` cut at a word to 200 characters, the rest put in front of the tidy `body`. No word is lost."""
    line, body = " ".join(description.split()), tidy(body)
    if len(line) <= MAX_DESCRIPTION:
        return line, body
    cut = line.rfind(" ", MAX_DESCRIPTION // 2, MAX_DESCRIPTION)
    if cut < 0:
        cut = MAX_DESCRIPTION - 1
    rest = "…" + line[cut:].lstrip()
    return line[:cut].rstrip() + "…", f"{rest}\n\n{body}".rstrip() if body else rest


def reason_note(type: Type, body: str) -> str:
    """The mark of a rule or decision that says neither why nor how to apply it; empty for the others."""
    return NO_REASON if type in ("feedback", "project") and "**Why" not in body else ""


def parse_type(value: object, field: str = "type") -> Type:
    """`value` as a type; `persona` and `instruction` are other names of user and feedback.

    Raises:
        Invalid: it is no type.
    """
    if isinstance(value, str):
        found = TYPE_ALIASES.get(value, value)
        if found in TYPES:
            return found
    raise Invalid(field, f"{checks.shown(value)} is no type; use one of {', '.join(TYPES)}")


def parse_priority(value: object, type: Type, field: str = "priority") -> int:
    """`value` as a priority, −1 or 0 to 100; None gives the type's default.

    Raises:
        Invalid: it is not a whole number in that range.
    """
    if value is None:
        return DEFAULT_PRIORITY[type]
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value <= 100:
        raise Invalid(
            field, f"{checks.shown(value)} is no priority; use 0 to 100, or -1 for a standing rule"
        )
    return value


def parse_entities(value: object, field: str = "entities") -> tuple[str, ...]:
    """`value` as names, in order, each once.

    Raises:
        Invalid: it is no list of short texts.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid(field, "expected a list of names")
    if len(value) > MAX_ENTITIES:
        raise Invalid(field, f"has {len(value)} names; at most {MAX_ENTITIES} are taken")
    found = (
        checks.text(f"{field}[{i}]", one, most=MAX_NAME).strip() for i, one in enumerate(value)
    )
    return tuple(dict.fromkeys(found))
