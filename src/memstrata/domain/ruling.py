"""What a model's ruling on a new fact may do to what is known; where it may not, the rules decide.

A ruling names one memory that was shown, of the same subject and slot or sharing an entity. It never
raises confidence or priority, and never drops a source. Whether another value ends the old one is a
question of time as it is for the rules: what was said earlier ends nothing that was said later. The
new one keeps its slot only where nothing else is left in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Final, Literal, assert_never, get_args

from memstrata.domain import evolve, likeness, terms
from memstrata.domain.candidate import Candidate
from memstrata.domain.entities import NONE, Aliases
from memstrata.domain.evolve import Decision, Known, Step
from memstrata.domain.lazy import Regex
from memstrata.domain.memory import MAX_BODY, Memory, shorten
from memstrata.domain.scope import Key

Ruling = Literal["add", "update", "merge", "delete", "noop"]
RULINGS: Final[tuple[Ruling, ...]] = get_args(Ruling)

_OVER: Final = Regex(
    r"\b(?:stop(?:s|ped|ping)?|quit(?:s|ting)?|left|leav(?:e|es|ing)|resign\w*|retired?|cancel\w*"
    r"|sold|g(?:a|i)ven? (?:\w+ )?(?:up|away)|got rid|moved (?:out|away)|broke up|divorced|died"
    r"|dropped|end(?:s|ed)|finished|(?:is|are|was|['’]s) (?:all )?(?:over|done)|former(?:ly)?|used to"
    r"|any ?more|no longer|forget|wrong|untrue|false|mistaken|outdated|obsolete|expired"
    r"|abandon\w*|removed?|deleted?)\b"
    r"|停(?!车)|离(?!.?不开)|辞|卖|戒(?!指)|取消|结束|放弃|分手|去世|退|忘|错|过时|作废|删|以前|曾经",
    re.IGNORECASE,
)
"""Words that say something is over; so does a denial."""
_BLIND: Final = "it did not know another candidate of the same slot"


@dataclass(frozen=True, slots=True)
class Given:
    """A ruling on one candidate. `target` is the memory it names as it is now, None for `add`;
    `shown` the ids of the memories that the candidate was shown with."""

    ruling: Ruling
    target: Memory | None
    shown: Collection[str]


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a ruling may not do what it says. `review`: what the rules add instead is to be looked at."""

    reason: str
    review: bool = True


@dataclass(frozen=True, slots=True)
class _Case:
    """A candidate with the memory it would be, and what is known."""

    candidate: Candidate
    fresh: Memory
    known: Known
    shown: Collection[str]
    now: datetime
    zone: tzinfo
    aliases: Aliases

    @property
    def at(self) -> datetime:
        """When the candidate began to hold, as far as anybody said."""
        return evolve.said(self.fresh, self.now)

    @property
    def timed(self) -> list[Memory]:
        """The memories of its slot, ended ones too."""
        return list(self.known.slot) if self.candidate.slot else []

    def valid(self, one: Memory) -> bool:
        """Whether `one` is valid now."""
        return one.status(self.now, self.zone) == "active"

    def earlier_than(self, old: Memory) -> bool:
        """Whether `old` began later, or was said again since."""
        before = self.at < evolve.began(old)
        return before or evolve.confirmed_after(old, self.fresh, self.at)

    def blind(self) -> bool:
        """Whether a memory holds its slot that the ruling did not know of."""
        return any(self.valid(one) and one.id not in self.shown for one in self.timed)

    def by_rules(self) -> Decision:
        """What the rules make of it."""
        return evolve.decide(
            self.candidate,
            self.known,
            self.fresh.key,
            id=self.fresh.id,
            now=self.now,
            zone=self.zone,
        )

    def unslotted(self, old: Memory) -> Memory:
        """The new memory, without its slot unless `old` is all that is left in it."""
        left = any(
            one.id != old.id and (one.invalid_at is None or one.invalid_at > self.at)
            for one in self.timed
        )
        return replace(self.fresh, slot="") if left else self.fresh


def judge(
    candidate: Candidate,
    given: Given | Objection,
    known: Known,
    key: Key,
    *,
    id: str,
    now: datetime,
    zone: tzinfo,
    aliases: Aliases = NONE,
) -> Decision:
    """What the ruling does; where it may not, what the rules do, with the objection in the reason.

    Where they add beside the memory that the ruling named, the new one has a note for review.
    """
    if isinstance(given, Given):
        done = ruled(candidate, given, known, key, id=id, now=now, zone=zone, aliases=aliases)
        if isinstance(done, Decision):
            return done
        given = _about(given, done, now, zone)
    found = evolve.decide(candidate, known, key, id=id, now=now, zone=zone)
    why = f"the model's ruling was refused ({given.reason})"
    steps = found.steps
    if found.adds and given.review:
        steps = tuple(_noted(step, id, f"for review: {why}") for step in steps)
    return replace(found, reason=f"{found.reason}; {why}", steps=steps)


def _about(given: Given, objection: Objection, now: datetime, zone: tzinfo) -> Objection:
    """The objection with what was ruled; nothing to review where what it names is gone."""
    target = given.target
    if target is None:
        return Objection(f"{given.ruling}: {objection.reason}", review=False)
    stands = target.status(now, zone) == "active"
    why = f"{given.ruling} {target.id}: {objection.reason}"
    return Objection(why, objection.review and stands)


def _noted(step: Step, id: str, note: str) -> Step:
    if step.memory.id != id or step.memory.note.startswith("for review"):
        return step
    notes = "; ".join(filter(None, (note, step.memory.note)))
    return replace(step, memory=replace(step.memory, note=notes))


def ruled(
    candidate: Candidate,
    given: Given,
    known: Known,
    key: Key,
    *,
    id: str,
    now: datetime,
    zone: tzinfo,
    aliases: Aliases = NONE,
) -> Decision | Objection:
    """The steps that a ruling asks for, or why it may not have them. `id` is the new memory's."""
    fresh = evolve.memory_of(candidate, key, id=id, now=now)
    case = _Case(candidate, fresh, known, given.shown, now, zone, aliases)
    if evolve.identical(candidate, known, now, zone) is not None:
        return Objection("the very same is known", review=False)
    if given.ruling == "add":
        return _add(case)
    target = given.target
    if target is None or target.id not in given.shown:
        return Objection("it names no memory that it was shown")
    if not case.valid(target):
        return Objection("what it names is not valid any more")
    untied = likeness.untied(fresh, target, aliases)
    if untied:
        return Objection(untied)
    match given.ruling:
        case "noop":
            return _noop(case, target)
        case "update":
            return _update(case, target)
        case "merge":
            return _merge(case, target)
        case "delete" if _states_more(case.candidate):
            return _update(case, target)
        case "delete":
            return _delete(case, target)
        case _:
            assert_never(given.ruling)


# -- each ruling ----------------------------------------------------------------------------------


def _add(case: _Case) -> Decision | Objection:
    """A memory of its own, beside what holds its slot."""
    by_rules = case.by_rules()
    ends = any(step.verb == "invalidate" for step in by_rules.steps)
    if case.candidate.change == "ends" and ends:
        return Objection("its words end something")
    if case.candidate.change == "states" and by_rules.verdict == "noop":
        return Objection("nothing in it is to be added")
    if case.blind():
        return Objection(_BLIND)
    holder = next(filter(case.valid, case.timed), None)
    if holder is None and case.candidate.change == "states":
        where = evolve.place(case.fresh, case.timed, case.now)
        return evolve.added(case.fresh, where, case.known, case.now, case.zone)
    beside = replace(case.fresh, slot="")
    if holder is not None and not evolve.may_change(beside, holder):
        beside = replace(beside, note=evolve.UNCONFIRMED.format(beside.authority))
    found = evolve.alone(beside, case.known, case.now, case.zone)
    return replace(found, reason="new" if holder is None else "holds beside what has its slot")


def _noop(case: _Case, old: Memory) -> Decision | Objection:
    """A source more."""
    objection = _not_one(case, old) or likeness.more(case.fresh, old, case.aliases)
    return Objection(objection) if objection else evolve.sourced(old, case.fresh)


def _update(case: _Case, old: Memory) -> Decision | Objection:
    """The same value in better words, or another value in the place of the old one."""
    if case.candidate.change == "ends":
        return _delete(case, old)
    if evolve.written_since(case.fresh, (old,), case.now, case.zone):
        return _stands(old)
    if evolve.same_value(old, case.fresh) and not _not_one(case, old):
        return evolve.retold(old, case.fresh, case.now)
    return _supersede(case, old)


def _supersede(case: _Case, old: Memory) -> Decision | Objection:
    fresh = case.fresh
    if not evolve.may_change(fresh, old):
        return Objection(f"only the {fresh.authority} said so, against what the user said")
    if case.blind():
        return Objection(_BLIND)
    if likeness.same_slot(fresh, old):
        return case.by_rules()
    if likeness.other_entities(fresh, old, case.aliases):
        return Objection(likeness.UNTIED)
    if likeness.event_and_fact(fresh, old):
        return Objection("an event does not take the place of a fact, nor a fact that of an event")
    if not case.valid(fresh):
        return Objection("it does not hold any more itself")
    if case.earlier_than(old):
        at = evolve.began(old) if case.at < evolve.began(old) else old.said_at
        past = replace(fresh, slot="", invalid_at=at, superseded_by=old.id, retired_at=case.now)
        return evolve.alone(past, case.known, case.now, case.zone)
    fresh = case.unslotted(old)
    step = evolve.superseded(old, case.at, fresh.id, case.now)
    found = evolve.alone(fresh, case.known, case.now, case.zone, [step])
    return replace(found, reason="another value")


def _merge(case: _Case, old: Memory) -> Decision | Objection:
    """Both texts and all sources in the old one."""
    fresh = case.fresh
    if not evolve.may_change(fresh, old):
        return Objection(f"only the {fresh.authority} said so, and the user's words stand")
    objection = _not_one(case, old)
    if objection:
        return Objection(objection)
    if evolve.written_since(fresh, (old,), case.now, case.zone):
        return _stands(old)
    description, body = _joined(old, fresh)
    if (description, body) == (old.description, old.body):
        return evolve.sourced(old, fresh)
    if len(body) > MAX_BODY:
        return Objection("together they are too long")
    merged = evolve.reworded(old, fresh, description, body, case.now)
    why = "the same, each with details of its own"
    return Decision("merge", why, old.id, (Step(merged, "merge", why),))


def _delete(case: _Case, old: Memory) -> Decision | Objection:
    """The old one ends, with nothing in its place."""
    candidate, fresh = case.candidate, case.fresh
    if fresh.authority not in evolve.TRUSTED:
        return Objection(f"only the {fresh.authority} said so")
    if not _says_over(candidate):
        return Objection("the user's words do not say that anything is over")
    if candidate.entities and not evolve.names(candidate, old):
        return Objection("the user's words name something else")
    if evolve.written_since(fresh, (old,), case.now, case.zone):
        return _stands(old)
    if case.earlier_than(old):
        return Objection("it was said again since")
    return evolve.over(old, fresh, case.now)


def _not_one(case: _Case, old: Memory) -> str:
    if case.candidate.change == "ends":
        return "it only says that something is over"
    return likeness.apart(case.fresh, old, case.aliases)


def _stands(old: Memory) -> Decision:
    return Decision("noop", "a person wrote otherwise since", old.id, ())


def _states_more(candidate: Candidate) -> bool:
    """Whether it says what holds now, besides what is over: deleting alone would lose that."""
    said = candidate.description
    holds = candidate.change == "states" and not (evolve.negated(said) or _OVER.search(said))
    return holds and _says_over(candidate)


def _says_over(candidate: Candidate) -> bool:
    texts = [candidate.description, *(one.quote for one in candidate.evidence)]
    return candidate.change == "ends" or any(
        evolve.negated(text) or _OVER.search(text) for text in texts
    )


def _joined(old: Memory, fresh: Memory) -> tuple[str, str]:
    """Description and body of both, nothing twice."""
    bodies = [old.body, fresh.body]
    body = "\n\n".join(
        one
        for one in dict.fromkeys(bodies)
        if one and not any(one != b and one in b for b in bodies)
    )
    longer = max(old.description, fresh.description, key=lambda text: len(evolve.content(text)))
    told = set(terms.index_terms(f"{old.description}\n{old.body}"))
    if told.issuperset(evolve.content(fresh.description)):
        line = old.description
    elif evolve.same_value(old, fresh):
        line = longer
    else:
        line = f"{old.description.rstrip(' .;。；')}; {fresh.description}"
    return shorten(line, body)
