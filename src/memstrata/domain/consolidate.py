"""What may be made of a key's memories: several that say the same as one, scattered rules as a general one.

The wording comes from a model, or is one of the memories' own; whether it may stand is decided here. A
merge stays within one key, type, subject and slot, says nothing that its sources do not say and drops no
name, number or date of theirs. It gets the least confidence and the least priority among them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from itertools import combinations
from typing import Final

from memstrata.domain import elevation, evolve, gates, likeness, terms
from memstrata.domain.elevation import Elevation, Source
from memstrata.domain.evolve import TRUSTED
from memstrata.domain.memory import (
    MAX_BODY,
    MAX_ENTITIES,
    MAX_NAME,
    STANDING_RULE,
    UNREVIEWED,
    Authority,
    Memory,
    reason_note,
    shorten,
    tidy,
    united,
)

MOST_MERGED: Final = 10
"""Memories that one merge may take the place of."""
MOST_MERGES: Final = 15
"""Merges of one run: with what they end they stay within one transaction."""
MOST_PROPOSED: Final = 5
"""Candidates of one run."""
LEAST_SOURCES: Final = 2
LINE_SHARE: Final = 6
"""One in so many words of a memory's line may be missing in what it is merged into: a value is one word."""
BODY_SHARE: Final = 2
"""The same of its body, which says why and how, and may be put otherwise."""
LONGEST_BODY: Final = 2_000
"""Characters of a body that a model is shown whole; what has more is not weighed at all."""
A_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """From how many valid memories on a key is consolidated, and how long after the last time."""

    threshold: int
    interval: timedelta


@dataclass(frozen=True, slots=True)
class Run:
    """The last run of a key: its id, when it was, why it failed (`""`: it did not), what it weighed."""

    id: str
    at: datetime
    problem: str = ""
    seen: str = ""
    merged: int = 0
    proposed: int = 0


def is_due(valid: int, nearly_full: bool, last: Run | None, rhythm: Rhythm, now: datetime) -> bool:
    """Whether a key with `valid` memories is to be consolidated.

    Where it is nearly full, and after a run that failed, a day is enough: less would ask a model at
    every turn.
    """
    if valid < rhythm.threshold:
        return False
    if last is None:
        return True
    soon = nearly_full or bool(last.problem)
    pause = min(rhythm.interval, A_DAY) if soon else rhythm.interval
    return now - last.at >= pause


@dataclass(frozen=True, slots=True)
class Wording:
    """What a memory that is to be would say."""

    name: str
    description: str
    body: str


def is_weighed(memory: Memory) -> bool:
    """Whether it may be shown and merged: not what a clone brought, not what is too long to be shown whole."""
    return memory.note != UNREVIEWED and len(memory.body) <= LONGEST_BODY


def seen(memories: Sequence[Memory]) -> str:
    """A digest of which versions of which memories were weighed."""
    text = "\n".join(sorted(f"{one.id} {one.version}" for one in memories))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# -- merging ----------------------------------------------------------------------------------------


def merged(
    sources: Sequence[Memory], wording: Wording, *, id: str, now: datetime, zone: tzinfo
) -> Memory | str:
    """The memory that takes the place of `sources`, or why none may.

    It holds from when the newest of them was said, the moment at which they end: at no instant are
    both valid, nor none.
    """
    problem = _apart(sources, now, zone)
    if problem:
        return problem
    fresh = _made(sources, wording, id, now)
    if len(fresh.body) > MAX_BODY:
        return "together they are too long"
    return _unlike(fresh, sources) or fresh


def ended(old: Memory, fresh: Memory, now: datetime) -> Memory:
    """`old` superseded by the memory that it was merged into."""
    return evolve.ended(old, fresh.valid_from or now, fresh.id, now)


def _apart(sources: Sequence[Memory], now: datetime, zone: tzinfo) -> str:
    """Why `sources` cannot be one; `""`: they may."""
    if not LEAST_SOURCES <= len(sources) <= MOST_MERGED:
        return f"it names {len(sources)} memories; {LEAST_SOURCES} to {MOST_MERGED} can be merged"
    if any(one.status(now, zone) != "active" or not is_weighed(one) for one in sources):
        return "one of them is not valid, or not to be touched"
    differ: dict[str, set[object]] = {
        "they belong to different scopes": {one.key for one in sources},
        "they are of different types": {one.type for one in sources},
        "they are about different subjects": {one.subject for one in sources if one.subject},
        "they have different slots": {one.slot for one in sources if one.slot},
        "some are standing rules and some are not": {
            one.priority == STANDING_RULE for one in sources
        },
        "some are the user's words and some are not": {one.authority in TRUSTED for one in sources},
        "they hold until different days": {
            (one.valid_until, one.happened_from, one.happened_until) for one in sources
        },
    }
    found = next((why for why, values in differ.items() if len(values) > 1), "")
    return found or next(
        (why for one, other in combinations(sources, 2) if (why := likeness.apart(one, other))), ""
    )


def _made(sources: Sequence[Memory], wording: Wording, id: str, now: datetime) -> Memory:
    newest = max(sources, key=lambda one: (evolve.said(one, now), one.id))
    body = tidy(wording.body)
    if terms.fold(body).split() == terms.fold(wording.description).split():
        body = ""
    description, body = shorten(wording.description, body)
    at = min(max(evolve.said(one, now) for one in sources), now)
    names = dict.fromkeys(name for one in sources for name in one.entities)
    return replace(
        newest,
        id=id,
        name=" ".join(wording.name.split())[:MAX_NAME].rstrip(),
        description=description,
        body=body,
        confidence=min(one.confidence for one in sources),
        priority=elevation.least_priority([one.priority for one in sources]),
        entities=tuple(names)[:MAX_ENTITIES],
        origin="consolidation",
        authority=_authority(sources),
        evidence=united(*(one.evidence for one in sources)),
        subject=next((one.subject for one in sources if one.subject), ""),
        slot=next((one.slot for one in sources if one.slot), ""),
        note=reason_note(newest.type, body),
        version=1,
        said_at=max((one.said_at for one in sources if one.said_at), default=None),
        valid_from=at,
        created_at=now,
        updated_at=now,
        extra={},
    )


def _authority(sources: Sequence[Memory]) -> Authority:
    """What a person wrote in one of them goes on standing against what was said before."""
    known = {one.authority for one in sources}
    ranked: tuple[Authority, ...] = ("person", "user", "assistant", "tool")
    return next(one for one in ranked if one in known)


def _unlike(fresh: Memory, sources: Sequence[Memory]) -> str:
    """Why the wording may not stand for `sources`; `""`: it may."""
    said = gates.folded(" ".join(map(_text, sources)))
    added = next(gates.unsaid(_words(fresh), (), said), None)
    if added is not None:
        return f"none of them says {added!r}"
    told = gates.folded(_text(fresh))
    for one in sources:
        lost = next(gates.unsaid(_words(one), _own_entities(one), told), None)
        lost = lost or _dropped(one, fresh)
        if lost:
            return f"it drops {lost!r} of {one.id}"
        apart = likeness.apart(fresh, one) or likeness.untied(fresh, one)
        if apart:
            return f"not what {one.id} says: {apart}"
    return ""


def _dropped(one: Memory, fresh: Memory) -> str:
    """A word of `one` that `fresh` lacks, where it lacks too many of them: of the line, of the body."""
    told = _text(fresh)
    there = {*terms.index_terms(told), *likeness.OWNER}
    letters = set(terms.fold(told))
    for text, share in ((one.description, LINE_SHARE), (one.body, BODY_SHARE)):
        words = evolve.content(text)
        lost = [word for word in words if word not in there and not _is_spelt(word, letters)]
        if len(lost) * share > len(words):
            return lost[0]
    return ""


def _is_spelt(word: str, letters: Set[str]) -> bool:
    """Whether a Chinese word can stand in other company: its pairs of characters change with the order."""
    return terms.is_cjk(word) and letters >= set(word)


def _words(one: Memory) -> str:
    return f"{one.description}\n{one.body}"


def _text(one: Memory) -> str:
    """Everything that a memory says of itself."""
    days = filter(None, (one.valid_until, one.happened_from, one.happened_until))
    return " \n".join((one.name, one.description, one.body, *one.entities, *map(str, days)))


def _own_entities(one: Memory) -> list[str]:
    """The entities that its words name; others are merely known of it, and stay in the list."""
    words = gates.folded(_words(one))
    return [name for name in one.entities if gates.folded(name) in words]


def same(memories: Sequence[Memory]) -> list[list[Memory]]:
    """The groups of memories that say the same but for case, width, kinds of quotes and blanks."""
    groups: dict[tuple[object, ...], list[Memory]] = {}
    for one in memories:
        days = (one.valid_until, one.happened_from, one.happened_until)
        words = (gates.folded(one.description), gates.folded(one.body))
        kind = (one.type, one.priority == STANDING_RULE, one.authority in TRUSTED)
        about = (one.subject, one.slot)
        groups.setdefault((*kind, *about, *days, *words), []).append(one)
    return [group[:MOST_MERGED] for group in groups.values() if len(group) > 1]


def wording_of(memories: Sequence[Memory], now: datetime) -> Wording:
    """The words of the newest of memories that say the same."""
    newest = max(memories, key=lambda one: (evolve.said(one, now), one.id))
    return Wording(newest.name, newest.description, newest.body)


# -- elevating --------------------------------------------------------------------------------------


def elevated(
    sources: Sequence[Memory],
    wording: Wording,
    known: Mapping[str, str],
    *,
    id: str,
    model: str,
    now: datetime,
    zone: tzinfo,
) -> Elevation | str:
    """The general rule that `sources` come to, as a candidate, or why it is not to be proposed.

    `known` says by fingerprint what was proposed or decided before.
    """
    if len(sources) < LEAST_SOURCES:
        return f"it names {len(sources)} rules; at least {LEAST_SOURCES} make a general one"
    if any(one.type != "feedback" for one in sources):
        return "only rules of conduct (feedback) make a general one"
    if any(one.status(now, zone) != "active" or not is_weighed(one) for one in sources):
        return "one of them is not valid, or not to be touched"
    description, body = shorten(wording.description, wording.body)
    found = Elevation(
        id=id,
        name=" ".join(wording.name.split())[:MAX_NAME].rstrip(),
        description=description,
        body=body,
        sources=tuple(Source(one.id, one.version) for one in sources),
        model=model,
        created_at=now,
    )
    if len(body) > MAX_BODY:
        return "it is too long"
    said = gates.folded(" ".join(map(_text, sources)))
    added = next(gates.unsaid(f"{description}\n{body}", (), said), None)
    if added is not None:
        return f"none of them says {added!r}"
    repeated = next(_repeated(found, sources, known), None)
    return repeated or found


def _repeated(
    found: Elevation, sources: Sequence[Memory], known: Mapping[str, str]
) -> Iterator[str]:
    for one in sources:
        if terms.fold(one.description).split() == terms.fold(found.description).split():
            yield f"{one.id} says it already"
    yield from (known[one] for one in found.fingerprints if one in known)
