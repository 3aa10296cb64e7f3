"""What a new fact does to what is known already, by rules alone.

Same subject and slot is what ties two facts together; nothing else ever ends one. Within it, the
time it was said decides: newer supersedes, older arrives as already ended, and the same intervals
result in whatever order the facts come in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Final

from memstrata.domain import terms
from memstrata.domain.candidate import Candidate
from memstrata.domain.lazy import Regex
from memstrata.domain.memory import (
    DEFAULT_PRIORITY,
    MAX_ENTITIES,
    MAX_NAME,
    NO_REASON,
    Memory,
    normalised_name,
    reason_note,
    shorten,
    united,
)
from memstrata.domain.plan import Kept, NotKept, Verb
from memstrata.domain.scope import Key

ALIKE: Final = 0.85
"""Token Jaccard from which two descriptions say the same."""

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_NEGATION: Final = Regex(
    r"\b(?:not|no|never|without|nothing|nobody|none|nor|neither|cannot|[a-z]+n't"
    r"|(?:do|does|did|is|are|was|were|ca|wo|have|has)nt)\b"
    r"|不(?!错)|没|(?<![特分级性类区个差])别(?![人墅])|勿|未(?!来)|无(?![线论])"
)
_OF_ENDING: Final = frozenset(
    "work live longer stop quit left more ani use allerg job employ home "
    "不再 再在 工作 上班 住在 再住 不住 不在 离职 过敏 不过 再用 不用 使用".split()
)
"""Words of endings in general, as terms of the index."""
PROPER: Final = Regex(r"(?<=\S )[A-Z]\w*(?: [A-Z]\w*)*")
"""A proper name: words with a capital inside a sentence."""
TRUSTED: Final = ("user", "person")
MARK: Final = "said to be over, of what nothing was known"
"""The note of a mark: see `is_mark`."""
UNCONFIRMED: Final = "for review: only the {} said so, against what the user said"


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
    where = place(fresh, timed, now)
    told = _told(where, fresh, now, zone)
    if told is not None:
        return told
    written = written_since(fresh, timed, now, zone)
    if written is not None:
        return Decision("noop", "a person wrote otherwise since", written.id, ())
    tied = {one.id for one in timed}
    for one in (*known.named, *known.alike):
        if one.id not in tied and _repeats(one, fresh, now, zone):
            return retold(one, fresh, now)
    return added(fresh, where, known, now, zone)


def identical(candidate: Candidate, known: Known, now: datetime, zone: tzinfo) -> Memory | None:
    """The valid memory that says the very same, but for case, width and accents."""
    for one in (*known.slot, *known.named, *known.alike):
        if (
            candidate.change == "states"
            and one.status(now, zone) == "active"
            and one.type == candidate.type
            and (one.valid_until, one.happened_from)
            == (candidate.valid_until, candidate.happened_from)
            and terms.fold(one.description) == terms.fold(candidate.description)
            and (one.subject == candidate.subject or not one.subject)
        ):
            return one
    return None


def deleted_before(candidate: Candidate, deleted: Sequence[Memory]) -> Memory | None:
    """The memory that a person deleted and that `candidate` draws from the same message once more."""
    said = {(one.session, one.message) for one in candidate.evidence}
    for one in deleted:
        same = fits(candidate.name, one) or (
            bool(candidate.slot) and (candidate.subject, candidate.slot) == (one.subject, one.slot)
        )
        alike = same or terms.similarity(candidate.description, one.description) >= ALIKE
        if alike and any((e.session, e.message) in said for e in one.evidence):
            return one
    return None


def written_since(
    fresh: Memory, slot: Sequence[Memory], now: datetime, zone: tzinfo
) -> Memory | None:
    """The valid memory of `slot` that a person wrote or corrected after `fresh` was said: it stands."""
    for one in slot:
        if (
            one.authority == "person"
            and one.status(now, zone) == "active"
            and one.updated_at > said(fresh, now)
        ):
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
    if not same_days(one, other) or negated(one.description) != negated(other.description):
        return False
    short, long = sorted((one.description, other.description), key=lambda text: len(content(text)))
    words, rest = content(short), iter(content(long))
    if not words or not all(word in rest for word in words):
        return False
    parts = PROPER.findall(short)
    return not any(f" {part} " in f"{name} " for name in PROPER.findall(long) for part in parts)


def same_days(one: Memory, other: Memory) -> bool:
    """Whether both hold until the same day and happened on the same day."""
    return (one.valid_until, one.happened_from) == (other.valid_until, other.happened_from)


def content(text: str) -> list[str]:
    """The terms of a text without stop words; all of them where there is nothing else."""
    words = [term.text for term in terms.query_terms(text, most=1_000)]
    return words or terms.index_terms(text)


def negated(text: str) -> bool:
    """Whether something is denied in it, in English or Chinese."""
    return _NEGATION.search(terms.fold(text).replace("’", "'")) is not None


def _repeats(one: Memory, fresh: Memory, now: datetime, zone: tzinfo) -> bool:
    """Whether `fresh` says a valid memory of no slot, or of another, again in (almost) the same words.

    The same words of the assistant alone are an echo, whatever type they are given; a rule of conduct
    is the same whomever it is said to be about.
    """
    if one.status(now, zone) != "active" or not same_days(one, fresh):
        return False
    again = terms.fold(one.description) == terms.fold(fresh.description)
    if one.type != fresh.type:
        return again and fresh.authority not in TRUSTED
    if again:
        same = one.subject == fresh.subject or not (one.subject and fresh.subject)
        return same or one.type == "feedback"
    if (one.subject, one.slot) != (fresh.subject, fresh.slot):
        return False
    return terms.similarity(one.description, fresh.description) >= ALIKE and same_value(one, fresh)


def retold(old: Memory, fresh: Memory, now: datetime) -> Decision:
    """Said again: a new source, and the better wording if it says more."""
    says_more = len(content(fresh.description)) > len(content(old.description))
    newer = said(fresh, now) >= said(old, now) and old.invalid_at is None
    if says_more and newer and may_change(fresh, old):
        better = reworded(old, fresh, fresh.description, fresh.body or old.body, now)
        why = "the same, said with more"
        return Decision("update", why, old.id, (Step(better, "update", why),))
    return sourced(old, fresh)


def reworded(old: Memory, fresh: Memory, description: str, body: str, now: datetime) -> Memory:
    """The next version of `old` in other words, with the sources and entities of `fresh` as well."""
    return replace(
        _with_source(old, fresh),
        description=description,
        body=body,
        note=reason_note(old.type, body) if old.note == NO_REASON else old.note,
        entities=tuple(dict.fromkeys((*old.entities, *fresh.entities)))[:MAX_ENTITIES],
        version=old.version + 1,
        updated_at=max(now, old.updated_at),
    )


def sourced(old: Memory, fresh: Memory) -> Decision:
    """Said again: a new source, and nothing else moves."""
    if united(old.evidence, fresh.evidence) == old.evidence:
        return Decision("noop", "known already", old.id, ())
    step = Step(_with_source(old, fresh), "source", "said again")
    return Decision("noop", "known already; the source was added", old.id, (step,))


def _with_source(old: Memory, fresh: Memory) -> Memory:
    return replace(
        old,
        evidence=united(old.evidence, fresh.evidence),
        said_at=max(filter(None, (old.said_at, fresh.said_at)), default=None),
    )


def said(memory: Memory, now: datetime) -> datetime:
    """The instant that orders facts: when it began to hold, else when it was said, else now."""
    return memory.valid_from or memory.said_at or now


def may_change(fresh: Memory, old: Memory) -> bool:
    """What the assistant or a tool said neither rewords nor ends what the user said."""
    return fresh.authority in TRUSTED or old.authority not in TRUSTED


def _end(
    candidate: Candidate, fresh: Memory, known: Known, now: datetime, zone: tzinfo
) -> Decision:
    """A person said that something is over; only what they named ends, and only if they did not say it since."""
    at = said(fresh, now)
    for old in known.slot:
        if old.archived or not _holds(old, at):
            continue
        if at < began(old) or confirmed_after(old, fresh, at) or not names(candidate, old):
            continue
        if written_since(fresh, (old,), now, zone):
            return Decision("noop", "a person wrote otherwise since", old.id, ())
        if not may_change(fresh, old):
            note = UNCONFIRMED.format(fresh.authority)
            return alone(replace(fresh, slot="", note=note), known, now, zone)
        return over(old, fresh, now)
    return _marked(candidate, fresh, known, now)


def _marked(candidate: Candidate, fresh: Memory, known: Known, now: datetime) -> Decision:
    """Nothing known ends: what is told later of an earlier time will, so that it is over stays known.

    The mark holds at no moment: it is invalid from the instant it was said.
    """
    if not candidate.slot or fresh.authority not in TRUSTED:
        return Decision("noop", "nothing known that this ends", "", ())
    at = said(fresh, now)
    if any(began(one) <= at and names(candidate, one) for one in known.slot):
        return Decision("noop", "over already, or said again since", "", ())
    mark = replace(fresh, valid_from=at, invalid_at=at, retired_at=now, note=MARK)
    step = Step(mark, "add", MARK)
    return Decision("delete", f"{MARK}; what is told of earlier ends there", mark.id, (step,))


def is_mark(memory: Memory) -> bool:
    """Whether it only says since when something is over of which nothing was known."""
    return memory.note == MARK and memory.invalid_at is not None


def _said_over(fresh: Memory, marks: Iterable[Memory], begins: datetime) -> datetime | None:
    """When what `fresh` says was over: by the first mark that names it, said after it."""
    since = max(begins, fresh.said_at or begins)
    named = (one for one in marks if _named_by(one.entities, one.description, fresh))
    return min(
        (one.invalid_at for one in named if one.invalid_at and one.invalid_at > since), default=None
    )


def over(old: Memory, fresh: Memory, now: datetime) -> Decision:
    """`old` ends when `fresh` says so, with nothing in its place."""
    step = Step(
        replace(
            ended(old, said(fresh, now), None, now),
            evidence=united(old.evidence, fresh.evidence),
        ),
        "invalidate",
        "said to be over",
    )
    return Decision("delete", "said to be over", old.id, (step,))


def names(candidate: Candidate, old: Memory) -> bool:
    """Whether the candidate names what `old` is about: an entity; without entities, a word of it.

    A word that any ending has says nothing ("works at the bakery no longer" is not about Harrow),
    unless there is no other ("works no longer").
    """
    return _named_by(candidate.entities, candidate.description, old)


def _named_by(entities: Sequence[str], description: str, old: Memory) -> bool:
    about = terms.fold(f"{old.description} {' '.join(old.entities)}")
    if entities:
        return any(terms.fold(entity) in about for entity in entities)
    known, words = set(terms.index_terms(about)), content(description)
    naming = [word for word in words if word not in _OF_ENDING]
    return any(word in known for word in naming or words)


def began(memory: Memory) -> datetime:
    """Since when it holds; long ago when nobody said."""
    return memory.valid_from or memory.said_at or _LONG_AGO


def ended(old: Memory, at: datetime, by: str | None, now: datetime) -> Memory:
    """The next version of `old`, invalid since `at`, superseded `by` that memory if there is one."""
    return replace(
        old,
        invalid_at=at,
        superseded_by=by,
        retired_at=now if old.retired_at is None else old.retired_at,
        version=old.version + 1,
        updated_at=max(now, old.updated_at),
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact falls among those of its slot: who held at `begins`, who came next, and when it
    was said to be over of which nothing was known then (see `is_mark`)."""

    begins: datetime
    holder: Memory | None
    following: Memory | None
    over: datetime | None = None
    beside: tuple[Memory, ...] = ()
    """Others that hold then: one that expired may stand beside one that was brought back."""


def place(fresh: Memory, slot: Sequence[Memory], now: datetime) -> Place:
    """Where `fresh` falls among the memories of its slot."""
    begins = said(fresh, now)
    line = sorted((one for one in slot if not is_mark(one)), key=lambda one: (began(one), one.id))
    holders = [one for one in line if began(one) <= begins and _holds(one, begins)]
    later = [one for one in line if began(one) > begins]
    over = _said_over(fresh, filter(is_mark, slot), begins)
    holder = holders[-1] if holders else None
    beside = tuple(one for one in holders[:-1] if not confirmed_after(one, fresh, begins))
    return Place(begins, holder, later[0] if later else None, over, beside)


def _holds(one: Memory, at: datetime) -> bool:
    return one.invalid_at is None or one.invalid_at > at


def confirmed_after(old: Memory, fresh: Memory, at: datetime) -> bool:
    """Whether `old` was said again after both `at` and the moment `fresh` was said."""
    return old.said_at is not None and old.said_at > max(at, fresh.said_at or at)


def _told(where: Place, fresh: Memory, now: datetime, zone: tzinfo) -> Decision | None:
    """`fresh` as a source of who held then, or of who came next and now begins earlier; None: it is new."""

    def same(one: Memory | None) -> bool:
        return (
            one is not None
            and one.status(now, zone) in ("active", "invalid")
            and one.type == fresh.type
            and same_value(one, fresh)
        )

    known = next(filter(same, reversed((*where.beside, where.holder))), None)
    if known is not None:
        return retold(known, fresh, now)
    stale = where.holder is not None and confirmed_after(where.holder, fresh, where.begins)
    if where.following is None or stale or not same(where.following):
        return None
    if where.over is not None and where.over <= began(where.following):
        return None  # it was over before it began anew
    evidence = united(where.following.evidence, fresh.evidence)
    earlier = replace(where.following, valid_from=where.begins, evidence=evidence)
    steps = [Step(earlier, "source", "said earlier already")]
    if where.holder is not None and may_change(fresh, where.holder):
        steps.append(superseded(where.holder, where.begins, earlier.id, now))
    return Decision("noop", "known already; it began earlier", earlier.id, tuple(steps))


def superseded(old: Memory, at: datetime, by: str, now: datetime) -> Step:
    """`old` ends at `at` in favour of the memory `by`."""
    return Step(ended(old, at, by, now), "supersede", f"superseded by {by}")


def added(fresh: Memory, where: Place, known: Known, now: datetime, zone: tzinfo) -> Decision:
    """A fact takes its place: it ends the one before it; the one behind it, or a mark, ends it."""
    holder, following = where.holder, where.following
    if holder is not None and not may_change(fresh, holder):
        note = UNCONFIRMED.format(fresh.authority)
        return alone(replace(fresh, slot="", note=note), known, now, zone)
    if holder is not None and confirmed_after(holder, fresh, where.begins):
        fresh = replace(fresh, invalid_at=holder.said_at, superseded_by=holder.id, retired_at=now)
        return alone(fresh, known, now, zone)
    ends = [(following.valid_from or following.said_at, following.id)] if following else []
    if holder is not None and holder.superseded_by:
        ends.append((holder.invalid_at, holder.superseded_by))
    if ends:
        at, by = min((at, by) for at, by in ends if at is not None)
        fresh = replace(fresh, invalid_at=at, superseded_by=by, retired_at=now)
    if where.over is not None and (fresh.invalid_at is None or where.over < fresh.invalid_at):
        fresh = replace(fresh, invalid_at=where.over, superseded_by=None, retired_at=now)
    held = [one for one in where.beside if may_change(fresh, one)]
    held += [] if holder is None else [holder]
    old = [superseded(one, where.begins, fresh.id, now) for one in held]
    return alone(fresh, known, now, zone, old)


def alone(
    fresh: Memory, known: Known, now: datetime, zone: tzinfo, old: Sequence[Step] = ()
) -> Decision:
    """`fresh` as a memory of its own under a name of its own, and what it ends.

    An expired namesake becomes invalid, superseded by it; a valid one keeps its name.
    """
    steps = list(old)
    touched = {step.memory.id: step.memory for step in steps}
    others = {one.id: one for one in (*known.slot, *known.named, *known.alike)}
    valid = fresh.status(now, zone) == "active"
    taken = False
    for one in others.values():
        if not valid or not fits(fresh.name, one):
            continue
        match touched.get(one.id, one).status(now, zone):
            case "expired" if one.id not in touched:
                at = max(said(fresh, now), began(one))
                steps.append(superseded(one, at, fresh.id, now))
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
    why = "new" if fresh.invalid_at is None else "over already, by what was said later"
    if fresh.superseded_by is not None:
        why = "superseded already by what was said later"
    verdict: Kept = "update" if old else "add"
    reason = "another value of the same slot" if old else why
    return Decision(
        verdict, reason, fresh.id, (Step(fresh, "add", why), *steps), adds=valid and not freed
    )


def fits(name: str, memory: Memory) -> bool:
    """Whether `memory` holds `name` under the rule of unique names."""
    return normalised_name(name) == normalised_name(memory.name)
