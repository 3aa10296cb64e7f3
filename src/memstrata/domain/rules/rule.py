"""The shape of a rule: a pattern and what it proposes, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memstrata.domain.candidate import Change
from memstrata.domain.lazy import Regex
from memstrata.domain.memory import STANDING_RULE, Type

HEALTH: Final = 90
CORE: Final = 80
LIKING: Final = 60
MILESTONE: Final = 80
RULE: Final = 80
ABSOLUTE: Final = STANDING_RULE


@dataclass(frozen=True, slots=True)
class Says:
    """What a matched pattern proposes. `slot`, `description` and `subject` are templates over its groups.

    A slot that begins with `@` is worked out by the function of that name in `slots`. A template
    whose group is empty proposes nothing, so one rule may hold an optional second statement.
    """

    type: Type
    slot: str
    description: str
    subject: str = "user"
    confidence: float = 0.85
    priority: int | None = None
    change: Change = "states"
    event: bool = False
    """Taken only with a day named in its clause; it then happened on it."""
    past: bool = True
    """The direction in which days without one are looked for."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is matched at the start of a clause; the names of its groups say how their text is checked.

    `need`: texts of which one must be in the lower-cased clause (a cheap test); none: always tried.
    `either`: only the first statement whose groups are filled is made, else each of them.
    `wide`: the pattern sees the rest of the sentence, not only its clause.
    `alone`: not tried in a session with a workspace, where "we" is a team and not a household.
    `greeting`: only tried behind a greeting ("Hi, I'm …").
    """

    pattern: Regex
    says: tuple[Says, ...]
    need: tuple[str, ...] = ()
    either: bool = False
    wide: bool = False
    alone: bool = False
    greeting: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A filled-in `Says`: where its clause stands in the sentence, and what the groups held."""

    says: Says
    values: Mapping[str, str]
    start: int
    end: int
    subject: str
    slot: str
    description: str
    hedged: bool
    reason: str


def rule(
    pattern: str,
    *says: Says,
    need: str = "",
    either: bool = False,
    wide: bool = False,
    alone: bool = False,
    greeting: bool = False,
) -> Rule:
    """A rule from its pattern (case ignored) and what it says; `need` is split at `|`."""
    needed = tuple(word for word in need.split("|") if word)
    return Rule(Regex(pattern, re.IGNORECASE), says, needed, either, wide, alone, greeting)
