"""Who wrote which entry of a document, told from its revisions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from memstrata.domain.team_document.grammar import parse
from memstrata.domain.team_document.units import PREAMBLE, Key, keyed, parts

Origin = TypeVar("Origin")


@dataclass(frozen=True, slots=True)
class Authored(Generic[Origin]):
    """A line of a document under its heading (`""`: none), and the revision that brought it."""

    heading: str
    text: str
    origin: Origin


def authored(revisions: Iterable[tuple[str, Origin]]) -> tuple[Authored[Origin], ...]:
    """The lines of the last of `revisions` (text, what is to be known of it), oldest revision first.

    A line is that revision's which brought it; one that was away for a while, that's which brought it back.
    """
    origins: dict[Key, Origin] = {}
    text = ""
    for text, origin in revisions:
        origins = {key: origins.get(key, origin) for key in keyed(parts(parse(text)))}
    return tuple(
        Authored(
            "" if part.heading == PREAMBLE else part.heading, str(unit.line), origins[unit.key]
        )
        for part in parts(parse(text))
        for unit in part.units
    )
