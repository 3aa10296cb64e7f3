"""What a new fact does to what is known already, by rules alone.

Same subject and slot is what ties two facts together; nothing else ever ends one. Within it, the
time it was said decides: newer supersedes, older arrives as already ended, and the same intervals
result in whatever order the facts come in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Final

from memstrata.domain import terms
from memstrata.domain.candidate import Candidate
from memstrata.domain.memory import (
    DEFAULT_PRIORITY,
    MAX_NAME,
    NO_REASON,
    Evidence,
    Memory,
    normalised_name,
    reason_note,
    shorten,
)
from memstrata.domain.plan import Kept, NotKept, Verb
from memstrata.domain.scope import Key

ALIKE: Final = 0.85
"""Token Jaccard from which two descriptions say the same."""

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|without|nothing|nobody|none|nor|neither|cannot|[a-z]+n't"
    r"|(?:do|does|did|is|are|was|were|ca|wo|have|has)nt)\b"
    r"|不(?!错)|没|(?<![特分级性类区个差])别(?![人墅])|勿|未(?!来)|无(?![线论])"
)
_PROPER: Final = re.compile(r"(?<=\S )[A-Z]\w*(?: [A-Z]\w*)*")
"""A proper name: words with a capital inside a sentence."""
_TRUSTED: Final = ("user", "person")
_UNCONFIRMED: Final = "for review: only the {} said so, against what the user said"


@dataclass(frozen=True, slots=True)
class Step:
    """One memory's new state, and the verb that brought it there."""

    memory: Memory
    verb: Verb
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a candidate: its verdict, the memory it concerns and the steps to take."""

    verdict: Kept | NotKept
    reason: str
    memory: str
    steps: tuple[Step, ...]
    adds: bool = False
    """Whether a valid memory more is the result (what a quota counts)."""


@dataclass(frozen=True, slots=True)
class Known:
    """The memories a candidate is weighed against, all of its key: those of its subject and slot
    (ended ones too), those of its name (expired ones too), and the valid ones that read alike."""

    slot: Sequence[Memory] = ()
    named: Sequence[Memory] = ()
    alike: Sequence[Memory] = ()


def decide(
    candidate: Candidate, known: Known, key: Key, *, id: str, now: datetime, zone: tzinfo
) -> Decision:
    """What `candidate` does to `known`. `id` is the new memory's, if there is to be one."""
    fresh = memory_of(candidate, key, id=id, now=now)
    if candidate.change == "ends":
        return _end(candidate, fresh, known, now, zone)
    timed = known.slot if candidate.slot else ()
    place = _place(fresh, timed, now)
    told = _told(place, fresh, now, zone)
    if told is not None:
        return told
    written = _written_since(fresh, timed, now, zone)
    if written is not None:
        return Decision("noop", "a person wrote otherwise since", written.id, ())
    tied = {one.id for one in timed}
    for one in (*known.named, *known.alike):
        if one.id not in tied and _repeats(one, fresh, now, zone):
            return _same(one, fresh, now)
    return _added(fresh, place, known, now, zone)


def _written_since(
    fresh: Memory, slot: Sequence[Memory], now: datetime, zone: tzinfo
) -> Memory | None:
    """The valid memory of the slot whose file a person edited after `fresh` was said: it stands."""
    for one in slot:
        by_hand = one.authority == "person" and one.origin == "file"
        if by_hand and one.status(now, zone) == "active" and one.updated_at > _said(fresh, now):
            return one
    return None


def memory_of(candidate: Candidate, key: Key, *, id: str, now: datetime) -> Memory:
    """The memory that `candidate` would be, version 1."""
    description, body = shorten(candidate.description, candidate.body)
    priority = (
        DEFAULT_PRIORITY[candidate.type] if candidate.priority is None else candidate.priority
    )
    return Memory(
        id=id,
        key=key,
        type=candidate.type,
        name=" ".join(candidate.name.split())[:MAX_NAME].rstrip(),
        description=description,
        body=body,
        confidence=candidate.confidence,
        priority=priority,
        entities=tuple(dict.fromkeys(candidate.entities)),
        origin="extraction",
        authority=candidate.authority,
        evidence=candidate.evidence,
        subject=candidate.subject,
        slot=candidate.slot,
        scene=candidate.scene,
        note=reason_note(candidate.type, body),
        said_at=candidate.said_at,
        happened_from=candidate.happened_from,
        happened_until=candidate.happened_until,
        valid_from=candidate.valid_from or candidate.said_at,
        valid_until=candidate.valid_until,
        created_at=now,
        updated_at=now,
    )


def same_value(one: Memory, other: Memory) -> bool:
    """Whether two memories of one slot say the same, perhaps one of them with more words.

    The content words of the shorter stand in the longer in the same order ("tea" in "tea over
    coffee", but not "coffee over tea"), with the same negation, and the same dates. A name may be
    continued (Harrow, Harrow Tools) but not begun otherwise (York, New York).
    """
    if not _same_days(one, other) or _negated(one.description) != _negated(other.description):
        return False
    short, long = sorted((one.description, other.description), key=lambda text: len(_content(text)))
    words, rest = _content(short), iter(_content(long))
    if not words or not all(word in rest for word in words):
        return False
    parts = _PROPER.findall(short)
    return not any(f" {part} " in f"{name} " for name in _PROPER.findall(long) for part in parts)


def _same_days(one: Memory, other: Memory) -> bool:
    return (one.valid_until, one.happened_from) == (other.valid_until, other.happened_from)


def _content(text: str) -> list[str]:
    words = [term.text for term in terms.query_terms(text, most=1_000)]
    return words or terms.index_terms(text)


def _negated(text: str) -> bool:
    return _NEGATION.search(terms.fold(text).replace("’", "'")) is not None


def _repeats(one: Memory, fresh: Memory, now: datetime, zone: tzinfo) -> bool:
    """Whether `fresh` says a valid memory of no slot, or of another, again in (almost) the same words."""
    if one.status(now, zone) != "active" or one.type != fresh.type or not _same_days(one, fresh):
        return False
    if terms.fold(one.description) == terms.fold(fresh.description):
        return one.subject == fresh.subject or not (one.subject and fresh.subject)
    if (one.subject, one.slot) != (fresh.subject, fresh.slot):
        return False
    return terms.similarity(one.description, fresh.description) >= ALIKE and same_value(one, fresh)


def _same(old: Memory, fresh: Memory, now: datetime) -> Decision:
    """Said again: a new source, and the better wording if it says more."""
    evidence = _united(old.evidence, fresh.evidence)
    said = max(filter(None, (old.said_at, fresh.said_at)), default=None)
    says_more = len(_content(fresh.description)) > len(_content(old.description))
    newer = _said(fresh, now) >= _said(old, now) and old.invalid_at is None
    if says_more and newer and _may_change(fresh, old):
        body = fresh.body or old.body
        better = replace(
            old,
            description=fresh.description,
            body=body,
            note=reason_note(old.type, body) if old.note == NO_REASON else old.note,
            entities=tuple(dict.fromkeys((*old.entities, *fresh.entities))),
            evidence=evidence,
            said_at=said,
            version=old.version + 1,
            updated_at=max(now, old.updated_at),
        )
        return Decision(
            "update",
            "the same, said with more",
            old.id,
            (Step(better, "update", "the same, said with more"),),
        )
    if evidence == old.evidence:
        return Decision("noop", "known already", old.id, ())
    sourced = replace(old, evidence=evidence, said_at=said)
    return Decision(
        "noop",
        "known already; the source was added",
        old.id,
        (Step(sourced, "source", "said again"),),
    )


def _united(one: tuple[Evidence, ...], other: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    known = {(e.session, e.message, e.start, e.end) for e in one}
    return one + tuple(e for e in other if (e.session, e.message, e.start, e.end) not in known)


def _said(memory: Memory, now: datetime) -> datetime:
    """The instant that orders facts: when it began to hold, else when it was said, else now."""
    return memory.valid_from or memory.said_at or now


def _may_change(fresh: Memory, old: Memory) -> bool:
    """What the assistant or a tool said neither rewords nor ends what the user said."""
    return fresh.authority in _TRUSTED or old.authority not in _TRUSTED


def _end(
    candidate: Candidate, fresh: Memory, known: Known, now: datetime, zone: tzinfo
) -> Decision:
    """A person said that something is over; only what they named ends, and only if they did not say it since."""
    at = _said(fresh, now)
    for old in known.slot:
        if old.status(now, zone) not in ("active", "expired"):
            continue
        if at < _began(old) or _confirmed_after(old, fresh, at) or not _names(candidate, old):
            continue
        if not _may_change(fresh, old):
            note = _UNCONFIRMED.format(fresh.authority)
            return _alone(replace(fresh, slot="", note=note), known, now, zone)
        ended = replace(_ended(old, at, None, now), evidence=_united(old.evidence, fresh.evidence))
        step = Step(ended, "invalidate", "said to be over")
        return Decision("delete", "said to be over", old.id, (step,))
    return Decision("noop", "nothing known that this ends", "", ())


def _names(candidate: Candidate, old: Memory) -> bool:
    about = terms.fold(f"{old.description} {' '.join(old.entities)}")
    if candidate.entities:
        return any(terms.fold(entity) in about for entity in candidate.entities)
    known = set(terms.index_terms(about))
    return any(word in known for word in _content(candidate.description))


def _began(memory: Memory) -> datetime:
    return memory.valid_from or memory.said_at or _LONG_AGO


def _ended(old: Memory, at: datetime, by: str | None, now: datetime) -> Memory:
    return replace(
        old,
        invalid_at=at,
        superseded_by=by,
        retired_at=now if old.retired_at is None else old.retired_at,
        version=old.version + 1,
        updated_at=max(now, old.updated_at),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a fact falls among those of its slot: who held at `begins`, and who came next."""

    begins: datetime
    holder: Memory | None
    following: Memory | None


def _place(fresh: Memory, slot: Sequence[Memory], now: datetime) -> _Place:
    begins = _said(fresh, now)
    line = sorted(slot, key=lambda one: (_began(one), one.id))
    holders = [one for one in line if _began(one) <= begins and _holds(one, begins)]
    later = [one for one in line if _began(one) > begins]
    return _Place(begins, holders[-1] if holders else None, later[0] if later else None)


def _holds(one: Memory, at: datetime) -> bool:
    return one.invalid_at is None or one.invalid_at > at


def _confirmed_after(old: Memory, fresh: Memory, at: datetime) -> bool:
    """Whether `old` was said again after both `at` and the moment `fresh` was said."""
    return old.said_at is not None and old.said_at > max(at, fresh.said_at or at)


def _told(place: _Place, fresh: Memory, now: datetime, zone: tzinfo) -> Decision | None:
    """`fresh` as a source of who held then, or of who came next and now begins earlier; None: it is new."""

    def same(one: Memory | None) -> bool:
        return (
            one is not None
            and one.status(now, zone) in ("active", "invalid")
            and one.type == fresh.type
            and same_value(one, fresh)
        )

    if place.holder is not None and same(place.holder):
        return _same(place.holder, fresh, now)
    stale = place.holder is not None and _confirmed_after(place.holder, fresh, place.begins)
    if place.following is None or stale or not same(place.following):
        return None
    evidence = _united(place.following.evidence, fresh.evidence)
    earlier = replace(place.following, valid_from=place.begins, evidence=evidence)
    steps = [Step(earlier, "source", "said earlier already")]
    if place.holder is not None and _may_change(fresh, place.holder):
        steps.append(_superseded(place.holder, place.begins, earlier.id, now))
    return Decision("noop", "known already; it began earlier", earlier.id, tuple(steps))


def _superseded(old: Memory, at: datetime, by: str, now: datetime) -> Step:
    return Step(_ended(old, at, by, now), "supersede", f"superseded by {by}")


def _added(fresh: Memory, place: _Place, known: Known, now: datetime, zone: tzinfo) -> Decision:
    """A fact takes its place: it ends the one before it and is ended by the one behind it."""
    holder, following = place.holder, place.following
    if holder is not None and not _may_change(fresh, holder):
        note = _UNCONFIRMED.format(fresh.authority)
        return _alone(replace(fresh, slot="", note=note), known, now, zone)
    if holder is not None and _confirmed_after(holder, fresh, place.begins):
        fresh = replace(fresh, invalid_at=holder.said_at, superseded_by=holder.id, retired_at=now)
        return _alone(fresh, known, now, zone)
    ends = [(following.valid_from or following.said_at, following.id)] if following else []
    if holder is not None and holder.superseded_by:
        ends.append((holder.invalid_at, holder.superseded_by))
    if ends:
        at, by = min((at, by) for at, by in ends if at is not None)
        fresh = replace(fresh, invalid_at=at, superseded_by=by, retired_at=now)
    old = [] if holder is None else [_superseded(holder, place.begins, fresh.id, now)]
    return _alone(fresh, known, now, zone, old)


def _alone(
    fresh: Memory, known: Known, now: datetime, zone: tzinfo, old: Sequence[Step] = ()
) -> Decision:
    """`fresh` as a memory of its own under a name of its own, and what it ends.

    An expired namesake becomes invalid, superseded by it; a valid one keeps its name.
    """
    steps = list(old)
    touched = {step.memory.id: step.memory for step in steps}
    others = {one.id: one for one in (*known.slot, *known.named)}
    valid = fresh.status(now, zone) == "active"
    taken = False
    for one in others.values():
        if not valid or not fits(fresh.name, one):
            continue
        match touched.get(one.id, one).status(now, zone):
            case "expired" if one.id not in touched:
                at = max(_said(fresh, now), _began(one))
                steps.append(_superseded(one, at, fresh.id, now))
            case "active":
                taken = True
            case _:
                pass
    if taken:
        fresh = replace(fresh, name=f"{fresh.name[: MAX_NAME - 9].rstrip()} ({fresh.id[-6:]})")
    freed = any(
        others[step.memory.id].status(now, zone) == "active"
        and step.memory.status(now, zone) != "active"
        for step in steps
    )
    why = "new" if fresh.superseded_by is None else "superseded already by what was said later"
    verdict: Kept = "update" if old else "add"
    reason = "another value of the same slot" if old else why
    return Decision(
        verdict, reason, fresh.id, (Step(fresh, "add", why), *steps), adds=valid and not freed
    )


def fits(name: str, memory: Memory) -> bool:
    """Whether `memory` holds `name` under the rule of unique names."""
    return normalised_name(name) == normalised_name(memory.name)
