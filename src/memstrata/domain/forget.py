"""What is to be forgotten, what stays of a memory that loses some of its sources, and how it is looked for after."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memstrata.domain import checks, terms
from memstrata.domain.likeness import OWNER
from memstrata.domain.memory import Evidence, Memory, normalised_name
from memstrata.errors import Invalid

LEAST: Final = 16
"""Letters of a text that is looked for afterwards; of a shorter one nobody can tell whose it is."""
LEAST_CJK: Final = 8
"""The same, in Chinese, Japanese and Korean characters."""
PIECE: Final = 32
"""Characters of a piece of a longer text: a database may keep the whole in several places."""
MOST_PIECES: Final = 500
"""So many texts are looked for where that was asked for; each costs a walk through every byte."""
FEW_PIECES: Final = 60
"""So many otherwise."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asked to forget: these memories, or all that fits session, entity and times together.

    `since` and `until` (both included) are when it was said, else recorded.
    """

    ids: tuple[str, ...] = ()
    session: str | None = None
    entity: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def during(self, at: datetime) -> bool:
        """Whether an instant lies within the times asked for."""
        return (self.since is None or self.since <= at) and (self.until is None or at <= self.until)

    def names(self, *texts: str) -> bool:
        """Whether one of the texts names the entity asked for; True when none was."""
        return self.entity is None or any(mentions(self.entity, text) for text in texts)


def wanted(
    *,
    ids: object,
    session: object,
    entity: object,
    since: datetime | None,
    until: datetime | None,
) -> Wanted:
    """The arguments of a call as a value; an empty text or list never means everything.

    Raises:
        Invalid: nothing was asked for, too much, or the argument that is wrong.
    """
    narrowed = [one for one in (session, entity, since, until) if one is not None]
    if ids is None and not narrowed:
        raise Invalid("forget", "say what: ids, session, entity, since or until")
    if ids is not None and narrowed:
        raise Invalid("ids", "are given; session, entity, since and until choose otherwise")
    if since is not None and until is not None and since > until:
        raise Invalid("since", "lies after until")
    return Wanted(
        () if ids is None else _ids(ids),
        None if session is None else checks.identity("session", session),
        None if entity is None else checks.text("entity", entity, most=120).strip(),
        since,
        until,
    )


def _ids(value: object) -> tuple[str, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise Invalid("ids", "expected a list of memory ids")
    found = tuple(dict.fromkeys(checks.ref(f"ids[{n}]", one) for n, one in enumerate(value)))
    if not found:
        raise Invalid("ids", "is empty: nothing was named")
    return found


def mentions(entity: str, text: str) -> bool:
    """Whether `text` names `entity`: as whole words, in Chinese, Japanese or Korean as a run of characters."""
    name, line = normalised_name(entity), normalised_name(text)
    if terms.is_cjk(name):
        return name in line
    at = line.find(name)
    while at >= 0:
        before, after = line[:at][-1:], line[at + len(name) :][:1]
        if not (_joins(before) or _joins(after)):
            return True
        at = line.find(name, at + 1)
    return False


def _joins(letter: str) -> bool:
    """Whether a letter beside a name makes another word of it; Chinese beside Latin letters does not."""
    return letter.isalnum() and not terms.is_cjk(letter)


# -- what stays of a memory ------------------------------------------------------------------------


def remainder(
    memory: Memory, versions: Sequence[Memory], forgotten: Callable[[Evidence], bool]
) -> Memory | None:
    """`memory` on what is left of its sources, its text what they alone say; None when that is nothing.

    Its words stay if the quotes that are left hold each of them. Else it says what its newest version
    said that rests on none of the forgotten; `versions` are those recorded, oldest first.
    """
    left = tuple(one for one in memory.evidence if not forgotten(one))
    if left and _supported(memory, left):
        scene = memory.scene if _within(memory.scene, left) else ""
        return replace(memory, evidence=left, scene=scene)
    for one in reversed(versions):
        if any(map(forgotten, one.evidence)) or not (one.evidence or one.origin != "extraction"):
            continue
        return replace(
            memory,
            **{name: getattr(one, name) for name in _SAID},
            evidence=left,
        )
    return None


_SAID: Final = (
    *("type", "name", "description", "body", "confidence", "priority", "entities", "authority"),
    *("subject", "slot", "scene", "note", "said_at", "happened_from", "happened_until"),
    *("valid_from", "valid_until", "extra"),
)
"""What a version says; when it ended and by what stays as it is by now."""


def _supported(memory: Memory, left: Sequence[Evidence]) -> bool:
    named = f"{memory.subject} {memory.slot}"
    texts = (memory.name, memory.description, memory.body, *memory.entities)
    return all(_within(text, left, named) for text in texts) and not memory.extra


def _within(text: str, left: Sequence[Evidence], besides: str = "") -> bool:
    """Whether each word of `text` stands in the quotes (or in `besides`); what joins words counts for nothing."""
    said = " \n ".join((besides, *(one.quote for one in left)))
    known = set(terms.index_terms(said)) | terms.STOP_WORDS | OWNER
    return all(term in known for term in terms.index_terms(text))


# -- looking for it afterwards ---------------------------------------------------------------------


def pieces(texts: Iterable[str], most: int = MOST_PIECES) -> tuple[list[str], int]:
    """`most` pieces of the texts by which they can be told from others, and how many are too short or too many.

    A piece lies within one line, for a file may indent or escape what stands between two.
    """
    found: dict[str, None] = {}
    short = 0
    for text in dict.fromkeys(texts):
        mine = [piece for line in text.splitlines() for piece in _pieces(line.strip())]
        found.update(dict.fromkeys(mine))
        short += not mine and bool(text.strip())
    ranked = sorted(found, key=len, reverse=True)
    return ranked[:most], short + max(0, len(ranked) - most)


def _pieces(line: str) -> list[str]:
    least = LEAST_CJK if terms.is_cjk(line) else LEAST
    size = PIECE // 2 if terms.is_cjk(line) else PIECE
    if len(line) < least:
        return []
    if len(line) <= size:
        return [line]
    return [line[:size], line[(len(line) - size) // 2 :][:size], line[-size:]]


def forms(piece: str) -> tuple[bytes, ...]:
    """The bytes that a text may have on disk: UTF-8, UTF-16, and escaped as JSON writes it."""
    plain = piece.encode()
    escaped = json.dumps(piece)[1:-1].encode()
    quoted = json.dumps(piece, ensure_ascii=False)[1:-1].encode()
    wide = piece.encode("utf-16-le"), piece.encode("utf-16-be")
    return tuple(dict.fromkeys((plain, escaped, quoted, *wide)))
