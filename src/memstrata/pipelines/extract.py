"""One batch of a session: gather → ask → gates → evolve → apply. The oldest messages first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from memstrata import failpoints
from memstrata.domain import evolve, gates, redact, rules, terms
from memstrata.domain.candidate import Candidate
from memstrata.domain.evolve import Known, Step
from memstrata.domain.memory import Memory, Type, normalised_name
from memstrata.domain.plan import Advance, Base, Change, Plan, Put, Verb, Verdict
from memstrata.domain.scope import Key, Realm, Scope
from memstrata.domain.turn import Message
from memstrata.pipelines import apply, ask, bind, ledger
from memstrata.pipelines.world import World
from memstrata.ports import Cursor, Model, Queued, Stored
from memstrata.prompts import extract as prompt
from memstrata.prompts.answers import CANDIDATES, Rejected

Matches = Callable[[Memory], bool]
RULES: Final = "rules"
EXTRACTION: Final = "extraction"
"""The purpose under which the ledger books a batch's calls, and the gate of what could not be read."""
_MOST_MESSAGES: Final = 500
_NEIGHBOURS: Final = 10


@dataclass(frozen=True, slots=True)
class Batch:
    """The oldest messages of a session that are not extracted yet, all of one workspace."""

    realm: Realm
    cursor: Cursor
    queued: tuple[Queued, ...]
    background: tuple[Message, ...] = ()
    """Earlier messages of the session, for a model to understand these by."""

    @property
    def messages(self) -> list[Message]:
        """The messages alone."""
        return [one.message for one in self.queued]

    @property
    def workspace(self) -> str:
        """The workspace key, `""` for none."""
        return self.queued[0].message.workspace


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an extractor proposed: candidates, what of it could not be read, and who it was."""

    extractor: str
    candidates: tuple[Candidate, ...]
    malformed: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a batch came to."""

    session: str
    messages: int
    verdicts: tuple[Verdict, ...]


def extract(world: World, realm: Realm, session: str) -> Outcome | None:
    """Extract the next batch of `session`; None when nothing is left.

    Raises:
        Conflict: something moved meanwhile; nothing was saved, run again.
        Away: memories for a workspace whose root is not there; nothing was saved.
        ModelFailed: the model gave no answer that could be read; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    batch = _gather(world, realm, session)
    if batch is None:
        return None
    failpoints.hit("extract.gathered")
    id = world.clock.new_id("batch_")
    world.bus.emit("extraction.triggered", session=session, batch=id, messages=len(batch.queued))
    proposal = _propose(world, batch, id)
    draft = Draft(world, batch, proposal.extractor)
    decided = tuple(draft.decide(candidate) for candidate in proposal.candidates)
    verdicts = (*decided, *proposal.malformed)
    apply.refuse_rebuilding(world.store)
    failpoints.hit("extract.decided")
    plan = Plan((*draft.changes(), _advance(batch, id, proposal.extractor, verdicts)))
    if any(isinstance(c, Put) and c.memory.key.scope == "project" for c in plan.changes):
        bind.announce(world, bind.present(world, batch.workspace))
    apply.apply(world, plan, draft.targets())
    world.bus.emit("extraction.finished", session=session, batch=id, kept=len(draft.changes()))
    return Outcome(session, len(batch.queued), verdicts)


def _gather(world: World, realm: Realm, session: str) -> Batch | None:
    """The oldest unextracted messages, cut by tokens and where the workspace changes; at least one."""
    cursor = world.store.cursor(realm, session)
    waiting = world.store.messages(realm, session, after=cursor.position, limit=_MOST_MESSAGES)
    if not waiting:
        return None
    taken: list[Queued] = []
    left = world.settings.extraction.batch_tokens
    for one in waiting:
        left -= world.tokens.count(one.message.content)
        if taken and (left < 0 or one.message.workspace != waiting[0].message.workspace):
            break
        taken.append(one)
    overlap = 0 if world.model is None else world.settings.extraction.overlap
    earlier = world.store.messages_before(realm, session, cursor.position, overlap)
    return Batch(realm, cursor, tuple(taken), tuple(earlier))


def _propose(world: World, batch: Batch, id: str) -> Proposal:
    """The rules' proposal, or the model's where one is set: never the one in place of the other."""
    if world.model is not None:
        return _by_model(world, world.model, batch, id)
    found = rules.extract(batch.messages, has_workspace=bool(batch.workspace), zone=world.zone)
    return Proposal(RULES, found)


def _by_model(world: World, model: Model, batch: Batch, id: str) -> Proposal:
    chosen = world.settings.extraction
    if not prompt.readable(batch.messages):
        return Proposal(chosen.model, ())
    asked = ask.ask(
        model,
        prompt.question(
            batch.messages, background=batch.background, zone=world.zone, scopes=_scopes(batch)
        ),
        CANDIDATES,
        purpose=EXTRACTION,
        name=chosen.model,
        deadline=chosen.deadline_seconds,
        book=partial(ledger.book, world, batch.realm, id),
    )
    found, unplaced = prompt.candidates(asked.items, batch.messages, world.zone, batch.background)
    malformed = tuple(map(_malformed, (*asked.rejected, *unplaced)))
    return Proposal(chosen.model, found, malformed)


def _scopes(batch: Batch) -> tuple[Scope, ...]:
    """The scopes that a candidate of this batch can have."""
    found: list[Scope] = ["user"]
    if batch.workspace:
        found.append("project")
    if batch.queued[0].message.agent:
        found.append("agent")
    return tuple(found)


def _malformed(rejected: Rejected) -> Verdict:
    return Verdict("malformed", EXTRACTION, redact.mask(rejected.name, "all"), rejected.reason)


def _advance(batch: Batch, id: str, extractor: str, verdicts: tuple[Verdict, ...]) -> Advance:
    first, last = batch.queued[0], batch.queued[-1]
    return Advance(
        realm=batch.realm,
        session=last.message.session,
        batch=id,
        expected=batch.cursor.position,
        cursor=last.position,
        first=first.message.id,
        last=last.message.id,
        extractor=extractor,
        verdicts=verdicts,
    )


class Draft:
    """The memories as this batch has changed them so far: a later candidate meets an earlier one's result."""

    def __init__(self, world: World, batch: Batch, extractor: str) -> None:
        self._world = world
        self._extractor = extractor
        self._batch = batch
        self._limits = world.limits()
        self._messages: Mapping[tuple[str, str], Message] = {
            (one.session, one.id): one for one in (*batch.background, *batch.messages)
        }
        self._now = world.clock.now()
        self._full: set[Key] = set()
        self._drafted: dict[str, Memory] = {}
        self._bases: dict[str, Base | None] = {}
        self._verbs: dict[str, tuple[Verb, str]] = {}

    def decide(self, candidate: Candidate) -> Verdict:
        """Take `candidate` through the gates and, if they let it, into the draft."""
        kinds = [finding.kind for finding in self._world.findings(_words(candidate))]
        refusal = gates.check(
            candidate,
            self._messages,
            limits=self._limits,
            has_workspace=bool(self._batch.workspace),
            kinds=kinds,
        )
        if refusal is None and candidate.scope not in (*_scopes(self._batch), "project"):
            refusal = gates.Refusal(
                "confidence", "no_workspace", "is an agent's, and none is named"
            )
        if refusal is not None:
            return self._refused(candidate, refusal, bool(kinds))
        key = self._key(candidate)
        decision = evolve.decide(
            candidate,
            self._known(candidate, key),
            key,
            id=self._world.clock.new_id("mem_"),
            now=self._now,
            zone=self._world.zone,
        )
        if decision.adds:
            refusal = gates.quota(candidate.type, candidate.scope, self._valid(key), self._limits)
            if refusal is not None:
                self._say_full(key)
                return self._refused(candidate, refusal, False)
        for step in decision.steps:
            self._take(step)
        gate = "duplicates" if decision.verdict == "noop" else ""
        return Verdict(
            decision.verdict,
            gate,
            candidate.name,
            decision.reason,
            decision.memory,
            _sources(candidate),
        )

    def _say_full(self, key: Key) -> None:
        """Once a batch and key, however many it refuses."""
        if key not in self._full:
            self._full.add(key)
            self._world.bus.emit("scope.full", degraded=True, scope=key.scope, ref=key.ref)

    def changes(self) -> tuple[Change, ...]:
        """The puts that bring the draft about, new before old."""
        puts = [
            Put(memory, *self._named_verb(id), self._bases[id])
            for id, memory in self._drafted.items()
        ]
        return tuple(sorted(puts, key=lambda put: put.base is not None))

    def targets(self) -> dict[Key, apply.Target]:
        """Where each key of the draft lies."""
        keys = {memory.key for memory in self._drafted.values()}
        return {key: bind.target(self._world, key, self._batch.realm.owner) for key in keys}

    def _named_verb(self, id: str) -> tuple[Verb, str, str]:
        verb, why = self._verbs[id]
        return verb, f"extraction:{self._extractor}", why

    def _refused(self, candidate: Candidate, refusal: gates.Refusal, secret: bool) -> Verdict:
        """The verdict of a refusal; its name is kept out where it may hold the secret itself."""
        name = redact.mask(candidate.name, "all")
        if secret and self._world.findings([name]):
            name = "(withheld)"
        return Verdict(refusal.verdict, refusal.gate, name, refusal.reason, "", _sources(candidate))

    def _key(self, candidate: Candidate) -> Key:
        realm = self._batch.realm
        match candidate.scope:
            case "user":
                return Key(realm, "user", "")
            case "agent":
                return Key(realm, "agent", self._batch.queued[0].message.agent)
            case "project":
                return Key(Realm(realm.space, ""), "project", self._batch.workspace)

    def _known(self, candidate: Candidate, key: Key) -> Known:
        store = self._world.store
        name = normalised_name(candidate.name)
        alike = store.search_memories(
            (key,),
            terms.query_terms(candidate.description),
            self._world.moment(),
            types=(candidate.type,),
            limit=_NEIGHBOURS,
        )
        slot = store.slot(key, candidate.subject, candidate.slot) if candidate.slot else []
        return Known(
            slot=self._drafted_over(
                slot,
                key,
                lambda m: (
                    bool(candidate.slot)
                    and (m.subject, m.slot) == (candidate.subject, candidate.slot)
                ),
            ),
            named=self._drafted_over(
                store.named(key, name), key, lambda m: normalised_name(m.name) == name
            ),
            alike=self._drafted_over(
                [hit.stored for hit in alike],
                key,
                lambda m: terms.similarity(m.description, candidate.description) >= evolve.ALIKE,
            ),
        )

    def _drafted_over(
        self, rows: Sequence[Stored], key: Key, belongs: Matches
    ) -> tuple[Memory, ...]:
        """`rows` (those whose file can be read) with the draft's states in their place, and its new ones."""
        found: dict[str, Memory] = {}
        for row in rows:
            if row.presence == "live":
                found[row.memory.id] = self._drafted.get(row.memory.id, row.memory)
                self._bases.setdefault(row.memory.id, Base(row.memory.version, row.digest))
        for id, memory in self._drafted.items():
            if id not in found and memory.key == key and belongs(memory):
                found[id] = memory
        return tuple(found.values())

    def _take(self, step: Step) -> None:
        id = step.memory.id
        self._bases.setdefault(id, None)
        base = self._bases[id]
        version = 1 if base is None else base.version + (step.memory.version > base.version)
        self._drafted[id] = replace(step.memory, version=version)
        held = self._verbs.get(id)
        keep = held is not None and (held[0] == "add" or step.verb == "source")
        self._verbs[id] = held if held is not None and keep else (step.verb, step.why)

    def _valid(self, key: Key) -> dict[Type, int]:
        """Valid memories of `key` by type, the draft counted in."""
        moment = self._world.moment()
        found: dict[Type, int] = {}
        for (_, type_, status), count in self._world.store.counts((key,), moment).items():
            if status == "active":
                found[type_] = found.get(type_, 0) + count
        for id, memory in self._drafted.items():
            if memory.key == key and self._bases[id] is None and memory.invalid_at is None:
                found[memory.type] = found.get(memory.type, 0) + 1
        return found


def _sources(candidate: Candidate) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.message for one in candidate.evidence))


def _words(candidate: Candidate) -> list[str]:
    """Every text of a candidate that could come to be kept."""
    texts = [candidate.name, candidate.description, candidate.body, candidate.scene]
    return [*texts, *candidate.entities, *(one.quote for one in candidate.evidence)]
