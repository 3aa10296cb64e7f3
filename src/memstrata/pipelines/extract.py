"""One batch of a session: gather → ask → gates → evolve → apply. The oldest messages first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from memstrata import failpoints
from memstrata.domain import records, redact, rules
from memstrata.domain.candidate import Candidate
from memstrata.domain.plan import Advance, Plan, Put, Verdict
from memstrata.domain.scope import Realm, Scope
from memstrata.domain.turn import Message
from memstrata.errors import Unavailable
from memstrata.pipelines import apply, ask, bind, evolve, graves, ledger
from memstrata.pipelines.draft import Draft
from memstrata.pipelines.world import Extractor, World
from memstrata.ports import Cursor, Model, Queued
from memstrata.prompts import extract as prompt
from memstrata.prompts.answers import CANDIDATES, Rejected

EXTRACTION: Final = "extraction"
"""The purpose under which the ledger books a batch's calls, and the gate of what could not be read."""
_MOST_MESSAGES: Final = 500


class NoExtractor(Unavailable):
    """Nothing may extract this: neither a model is set, nor do the rules stand in."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The oldest messages of a session that are not extracted yet, all of one workspace."""

    realm: Realm
    cursor: Cursor
    queued: tuple[Queued, ...]
    background: tuple[Message, ...] = ()
    """Earlier messages of the session, for a model to understand these by."""
    redo: str = ""
    """The batch that is done again; `""`: these were never extracted."""
    forgotten: int = 0
    """How much had been forgotten before these were read: what is forgotten meanwhile makes them stale."""

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
        NoExtractor: there is no model and the rules may not stand in; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    batch = _gather(world, realm, session)
    return None if batch is None else _extracted(world, batch)


def again(world: World, realm: Realm, session: str, redo: str) -> Outcome | None:
    """Extract the recorded batch `redo` again; None when that was done, or its messages are gone.

    Raises:
        As `extract`.
    """
    batch = _recorded(world, realm, session, redo)
    return None if batch is None else _extracted(world, batch)


def set_aside(world: World, realm: Realm, session: str, problem: str) -> bool:
    """Let the next batch of `session` wait for a command, and the later ones go on; False: none is left.

    Raises:
        As `extract`, but for the model.
    """
    batch = _gather(world, realm, session)
    if batch is None:
        return False
    id = world.clock.new_id("batch_")
    advance = replace(_advance(batch, id, _extractor(world, batch).name, ()), parked=problem)
    apply.refuse_rebuilding(world.store)
    apply.apply(world, Plan((advance,)), {})
    return True


def _extracted(world: World, batch: Batch) -> Outcome:
    realm, session = batch.realm, batch.cursor.session
    world = _within(world, batch.workspace)
    failpoints.hit("extract.gathered")
    id = world.clock.new_id("batch_")
    world.bus.emit("extraction.triggered", session=session, batch=id, messages=len(batch.queued))
    chosen = _extractor(world, batch)
    proposal = _propose(world, batch, chosen, id)
    draft = Draft(
        world,
        realm,
        proposal.extractor,
        (*batch.background, *batch.messages),
        workspace=batch.workspace,
        agent=batch.queued[0].message.agent,
        known=(*batch.background, *(batch.messages if batch.redo else ())),
    )
    book = partial(ledger.book, world, realm, id)
    decided = evolve.judge(world, draft, proposal.candidates, chosen, book)
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
    forgotten = graves.size(world, realm.owner)
    cursor = world.store.cursor(realm, session)
    waiting = world.store.messages(realm, session, after=cursor.position, limit=_MOST_MESSAGES)
    if not waiting:
        return None
    taken: list[Queued] = []
    left = world.settings.extraction.batch_tokens
    for one in waiting:
        left -= world.tokens.count(one.message.content)
        if taken and (left < 0 or _whose(one.message) != _whose(waiting[0].message)):
            break
        taken.append(one)
    return _with_background(world, Batch(realm, cursor, tuple(taken), forgotten=forgotten))


def _whose(message: Message) -> tuple[str, str, str]:
    """What a batch has one of: the workspace, the agent, the host's model."""
    return message.workspace, message.agent, message.model


def _with_background(world: World, batch: Batch) -> Batch:
    asked = _extractor(world, batch).model is not None
    overlap = world.settings.extraction.overlap if asked else 0
    before = batch.queued[0].position - 1
    earlier = world.store.messages_before(batch.realm, batch.cursor.session, before, overlap)
    return replace(batch, background=tuple(earlier))


def _recorded(world: World, realm: Realm, session: str, redo: str) -> Batch | None:
    """The messages that a recorded batch covered, unless it was done again since."""
    forgotten = graves.size(world, realm.owner)
    lines = [line.data for line in world.store.batches(realm, session)]
    line = records.open_batches(lines).get(redo)
    if line is None:
        return None
    taken: list[Queued] = []
    after = 0
    while page := world.store.messages(realm, session, after=after):
        after = page[-1].position
        for one in page:
            if taken or one.message.id == line["first"]:
                taken.append(one)
            if taken and one.message.id == line["last"]:
                cursor = world.store.cursor(realm, session)
                batch = Batch(realm, cursor, tuple(taken), redo=redo, forgotten=forgotten)
                return _with_background(world, batch)
    return None


def _propose(world: World, batch: Batch, chosen: Extractor, id: str) -> Proposal:
    """The rules' proposal, or the model's where one is set: never the one in place of the other."""
    if chosen.model is not None:
        return _by_model(world, chosen.name, chosen.model, batch, id)
    if world.settings.extraction.fallback == "none":
        raise NoExtractor("no model is set and extraction.fallback is none; the messages wait")
    found = rules.extract(batch.messages, has_workspace=bool(batch.workspace), zone=world.zone)
    return Proposal(chosen.name, found)


def _within(world: World, workspace: str) -> World:
    """The world with the tighter settings of the batch's workspace, where its folder is there."""
    bound = bind.bound(world).get(workspace) if workspace else None
    there = bound is not None and bind.is_there(world, bound.root)
    return world.within(bound.root) if bound is not None and there else world


def _extractor(world: World, batch: Batch) -> Extractor:
    host = next((one.model for one in reversed(batch.messages) if one.model), "")
    return world.extractor(batch.realm, batch.cursor.session, host)


def _by_model(world: World, name: str, model: Model, batch: Batch, id: str) -> Proposal:
    if not prompt.readable(batch.messages):
        return Proposal(name, ())
    asked = ask.ask(
        model,
        prompt.question(
            batch.messages, background=batch.background, zone=world.zone, scopes=_scopes(batch)
        ),
        CANDIDATES,
        purpose=EXTRACTION,
        name=name,
        deadline=world.settings.extraction.deadline_seconds,
        book=partial(ledger.book, world, batch.realm, id),
    )
    found, unplaced = prompt.candidates(asked.items, batch.messages, world.zone, batch.background)
    malformed = tuple(map(_malformed, (*asked.rejected, *unplaced)))
    return Proposal(name, found, malformed)


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
        redo=batch.redo,
        forgotten=batch.forgotten,
    )
