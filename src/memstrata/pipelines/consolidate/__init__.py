"""The memories of one key made fewer: gather → ask → decide → apply. No lock while a model thinks.

A merge is created and read back before what it takes the place of ends, in one transaction; a general
rule waits as a candidate for a person. What moved meanwhile makes the plan lose as a Conflict. A run is
recorded whatever it came to, so that a reindex knows when it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from memstrata import failpoints
from memstrata.domain import consolidate, redact
from memstrata.domain.memory import Memory
from memstrata.domain.plan import Consolidated, Plan, Propose, consolidation_of
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm, View
from memstrata.errors import Invalid, ModelFailed, Unavailable
from memstrata.pipelines import apply, ask, bind, graves, ledger, pending
from memstrata.pipelines.consolidate import keeping
from memstrata.pipelines.consolidate.drafting import CONSOLIDATION, Draft, Drafted
from memstrata.pipelines.consolidate.telling import Consolidation as Consolidation
from memstrata.pipelines.consolidate.telling import Made as Made
from memstrata.pipelines.consolidate.telling import Run as Run
from memstrata.pipelines.consolidate.telling import report
from memstrata.pipelines.consolidate.telling import together as together
from memstrata.pipelines.world import Extractor, World
from memstrata.ports import Listing, Stored
from memstrata.prompts import consolidate as prompt
from memstrata.prompts.answers import PROPOSALS, Rejected
from memstrata.prompts.consolidate import Proposed

MOST_SHOWN: Final = 200
"""Memories that a model is shown at once: those that matter least, events, come last."""
MOST_TOKENS: Final = 24_000
"""Tokens of the memories that are shown at once."""
_ANSWER: Final = 6_000
_ORDER: Final = ("feedback", "user", "project", "reference", "episodic")


@dataclass(frozen=True, slots=True)
class Done:
    """What a job did: memories that were merged away, candidates that were proposed."""

    key: str
    merged: int
    proposed: int
    problem: str = ""


# -- the ways in ------------------------------------------------------------------------------------


def work(world: World, realm: Realm, name: str) -> Done | None:
    """Do the job of that name, if its key is still due; None when it is not.

    Raises:
        Conflict: something moved meanwhile; nothing was saved, run again.
        Away: the workspace's root is not there.
        Unavailable: disk or database said no; nothing was saved.
    """
    key = consolidation_of(realm, name)
    if not pending.is_due(world, key):
        return None
    world = pending.within(world, key)
    forgotten = graves.total(world)
    drafted = _draft(world, key, LOCAL_OWNER, again=False)
    _apply(world, [drafted], forgotten)
    done = drafted.done
    return Done(name, done.merged, done.proposed, done.problem)


def run(world: World, key: Key, author: str) -> Consolidation:
    """Consolidate a key now, due or not.

    Raises:
        As `work`; Unavailable, too, where the day's budget is spent.
    """
    world = pending.within(world, key)
    _refuse_paused(world)
    forgotten = graves.total(world)
    drafted = _draft(world, key, author)
    if drafted.weighed >= consolidate.LEAST_SOURCES:
        _apply(world, [drafted], forgotten)
    return report(world, [drafted], "applied")


def dry_run(
    world: World,
    keys: Sequence[Key],
    author: str,
    owner: Realm,
    progress: Callable[[str, int, int], None] | None = None,
) -> Consolidation:
    """What consolidating `keys` would do; the plan is kept for `apply_kept`, nothing else is written.

    Raises:
        As `work`.
    """
    _refuse_paused(world)
    forgotten = graves.total(world)
    drafts: list[Drafted] = []
    for key in keys:
        if progress is not None:
            progress("consolidating", len(drafts), len(keys))
        drafts.append(_draft(pending.within(world, key), key, author))
    keeping.sweep(world, owner)
    found = report(world, drafts, "planned")
    changes = [c for one in drafts if one.changes for c in (*one.changes, one.done)]
    if not changes:
        return found
    digest, expires = keeping.keep(world, owner, changes, forgotten)
    return replace(found, digest=digest, expires_at=expires)


def apply_kept(world: World, view: View, digest: str, author: str) -> Consolidation:
    """Apply the plan that a dry run kept under `digest`, exactly.

    Raises:
        NotFound: there is none (any more) that this view may apply.
        Conflict: something moved since; nothing was saved, make a new dry run.
        Unavailable: disk or database said no; nothing was saved.
    """
    drafts = keeping.again(world, view, digest, author)
    _apply(world, drafts)
    keeping.drop(world, view.realm, digest)
    return report(world, drafts, "applied")


def _refuse_paused(world: World) -> None:
    why = ledger.paused(world) if world.model is not None else ""
    if why:
        raise Unavailable(f"no model is asked today: {why}")


# -- gather -----------------------------------------------------------------------------------------


def _gather(world: World, key: Key) -> list[Stored]:
    """The valid memories of a key that may be touched, those that matter most first."""
    rows: list[Stored] = []
    after = ""
    listing = Listing(statuses=("active",), presences=("live",))
    while page := world.store.memories((key,), listing, world.moment(), after=after):
        rows += [row for row in page if consolidate.is_weighed(row.memory)]
        after = page[-1].memory.id
    rows.sort(key=lambda row: (_ORDER.index(row.memory.type), row.memory.id))
    return list(_fitting(world, rows[:MOST_SHOWN]))


def _fitting(world: World, rows: Sequence[Stored]) -> Iterator[Stored]:
    """As many as a model can be shown at once."""
    left = MOST_TOKENS
    for row in rows:
        one = row.memory
        left -= world.tokens.count(f"{one.name}: {one.description}\n{one.body}")
        if left < 0:
            return
        yield row


def _draft(world: World, key: Key, author: str, *, again: bool = True) -> Drafted:
    """What is to be done to `key`; without `again` nothing, where nothing changed since the last run."""
    rows = _gather(world, key)
    memories = [row.memory for row in rows]
    before = pending.decided(world.store, key).last
    apply.refuse_rebuilding(world.store)
    failpoints.hit("consolidate.gathered")
    chosen = world.extractor(key.realm, "")
    run = world.clock.new_id("run_")
    seen = consolidate.seen(memories)
    known = before is not None and not before.problem and before.seen == seen
    draft = Draft(world, key, bind.target(world, key, author), rows, chosen.name)
    if len(memories) >= consolidate.LEAST_SOURCES and (again or not known):
        world.bus.emit("consolidation.triggered", run=run, scope=key.scope, memories=len(memories))
        _decide(world, key, draft, memories, chosen, run)
    failpoints.hit("consolidate.decided")
    done = Consolidated(
        key=key,
        run=run,
        expected=before.id if before else "",
        model=chosen.name,
        seen=seen,
        merged=draft.merged,
        proposed=sum(isinstance(change, Propose) for change in draft.changes),
        refused=tuple(draft.refused),
        problem=draft.problem,
    )
    return Drafted(tuple(draft.changes), done, draft.target, len(memories))


# -- ask --------------------------------------------------------------------------------------------


def _decide(
    world: World,
    key: Key,
    draft: Draft,
    memories: Sequence[Memory],
    chosen: Extractor,
    run: str,
) -> None:
    """What a model proposes, or the rules do, taken into the draft as far as it may stand."""
    if chosen.model is None:
        for group in consolidate.same(memories):
            wording = consolidate.wording_of(group, draft.now)
            draft.take(Proposed("merge", tuple(group), wording))
        return
    waiting = [
        f"{h.candidate.name}: {h.candidate.description}" for h in pending.readable(world, key)
    ]
    try:
        asked = ask.ask(
            chosen.model,
            prompt.question(key.scope, memories, waiting),
            PROPOSALS,
            purpose=CONSOLIDATION,
            name=chosen.name,
            deadline=world.settings.extraction.deadline_seconds,
            most_tokens=_ANSWER,
            book=partial(ledger.book, world, key.realm if key.realm.owner else _local(key), run),
        )
    except ModelFailed as error:
        draft.problem = redact.mask(f"{error.reason}: {error.message}", "all")
        return
    except Invalid as error:  # the model's name, or a setting of its provider
        draft.problem = redact.mask(error.message, "all")
        return
    found = prompt.proposed(asked.items, memories)
    for one in sorted(found, key=lambda one: one.kind == "elevate"):
        draft.take(one)
    draft.refused += map(_malformed, asked.rejected)
    if asked.rejected and not found:
        draft.problem = f"nothing of the answer can be used: {_malformed(asked.rejected[0])}"


def _local(key: Key) -> Realm:
    """Whom the calls for a project are booked under."""
    return Realm(key.realm.space, LOCAL_OWNER)


def _malformed(rejected: Rejected) -> str:
    name = redact.mask(rejected.name, "all")
    why = redact.mask(rejected.reason, "all")
    return f"malformed{f' ({name})' if name else ''}: {why}"


# -- apply ------------------------------------------------------------------------------------------


def _apply(world: World, drafts: Sequence[Drafted], forgotten: int | None = None) -> None:
    changes = tuple(change for one in drafts for change in one.plan.changes)
    targets = {one.done.key: one.target for one in drafts}
    apply.apply(world, Plan(changes, forgotten), targets)
    for one in drafts:
        _say(world, one.done)


def _say(world: World, done: Consolidated) -> None:
    run, key = done.run, done.key
    if done.problem:
        world.bus.emit("consolidation.failed", degraded=True, run=run, scope=key.scope)
    else:
        world.bus.emit(
            "consolidation.finished",
            run=run,
            scope=key.scope,
            merged=done.merged,
            proposed=done.proposed,
        )
