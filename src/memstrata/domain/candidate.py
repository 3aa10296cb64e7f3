"""What an extractor proposes. Nothing is kept before the gates have seen it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from memstrata.domain.memory import Authority, Evidence, Type
from memstrata.domain.scope import Scope

Change = Literal["states", "ends"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed memory.

    `subject` is whom it is about (`user` for the owner, else a name in lower case) and `slot` what of
    them (`employer`, `home`, `preferred drink`; `""` when it has none): together they decide what
    supersedes what. `change` is `ends` when the words only say that something is over ("I no longer
    work at Harrow"). `priority` None stands for the type's default.
    """

    scope: Scope
    type: Type
    name: str
    description: str
    evidence: tuple[Evidence, ...]
    authority: Authority
    said_at: datetime | None
    body: str = ""
    confidence: float = 0.8
    priority: int | None = None
    entities: tuple[str, ...] = ()
    subject: str = "user"
    slot: str = ""
    change: Change = "states"
    scene: str = ""
    happened_from: date | None = None
    happened_until: date | None = None
    valid_from: datetime | None = None
    valid_until: date | None = None
    resolved: tuple[str, ...] = field(default=())
    """What relative words were resolved to ("2023-05-05"): gate 2 takes these for supported."""
