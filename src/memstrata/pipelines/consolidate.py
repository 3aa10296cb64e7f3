"""The memories of one key made fewer: gather → ask → decide → apply. No lock while a model thinks.

A merge is created and read back before what it takes the place of ends, in one transaction; a general
rule waits as a candidate for a person. What moved meanwhile makes the plan lose as a Conflict. A run is
recorded whatever it came to, so that a reindex knows when it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Literal, get_args

from memstrata import failpoints
from memstrata.domain import checks, consolidate, gates, kept_plan, layout, markdown, redact
from memstrata.domain.kept_plan import Kept, KeptPlan
from memstrata.domain.layout import HOME, Place
from memstrata.domain.memory import Memory, normalised_name
from memstrata.domain.plan import (
    Base,
    Consolidated,
    Plan,
    Propose,
    Put,
    consolidation_of,
)
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm, Scope, View
from memstrata.errors import Conflict, Corrupt, Invalid, ModelFailed, NotFound
from memstrata.pipelines import apply, ask, bind, ledger, pending
from memstrata.pipelines.apply import Target
from memstrata.pipelines.world import RULES, Extractor, World
from memstrata.ports import Listing, Stored
from memstrata.prompts import consolidate as prompt
from memstrata.prompts.answers import PROPOSALS, Rejected
from memstrata.prompts.consolidate import Proposed

CONSOLIDATION: Final = "consolidation"
"""The purpose under which the ledger books these calls."""
KEPT_FOR: Final = timedelta(hours=24)
"""How long the plan of a dry run can be applied."""
MOST_SHOWN: Final = 200
"""Memories that a model is shown at once: those that matter least, events, come last."""
_ANSWER: Final = 6_000
_NO_MODEL: Final = (
    "no model is set: only memories that are the same word for word are merged, no rule is proposed"
)
_ORDER: Final = ("feedback", "user", "project", "reference", "episodic")


Outcome = Literal["planned", "applied", "failed", "nothing to do"]
_TOLD: Final[tuple[Outcome, ...]] = get_args(Outcome)

# -- what it comes to -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """A memory by its id and what it says."""

    id: str
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Made:
    """A memory that is merged of others, or a candidate: what it says, what it is made of."""

    id: str
    name: str
    description: str
    body: str
    of: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What the consolidation of one key came to. `problem`: it failed, and why; `refused`: what may not be."""

    scope: Scope
    scope_ref: str | None
    model: str
    merges: tuple[Made, ...]
    candidates: tuple[Made, ...]
    refused: tuple[str, ...]
    problem: str
    note: str

    def lines(self) -> list[str]:
        """One line a change, for a person."""
        merges = [
            f"merge {' '.join(o.id for o in m.of)} into {m.id} {m.name!r}" for m in self.merges
        ]
        raised = [f"propose {c.id} {c.name!r} from {len(c.of)} rules" for c in self.candidates]
        return [*merges, *raised, *(f"refused: {why}" for why in self.refused)]


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What was planned or done. `digest` names a plan that was kept, until `expires_at`."""

    status: Outcome
    runs: tuple[Run, ...]
    digest: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a job did: memories that were merged away, candidates that were proposed."""

    key: str
    merged: int
    proposed: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Drafted:
    """What is to be done to one key."""

    changes: tuple[Kept, ...]
    done: Consolidated
    target: Target
    weighed: int

    @property
    def plan(self) -> Plan:
        """Everything as one."""
        return Plan((*self.changes, self.done))


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
    drafted = _draft(world, key, LOCAL_OWNER, again=False)
    _apply(world, [drafted])
    done = drafted.done
    return Done(name, done.merged, done.proposed, done.problem)


def run(world: World, key: Key, author: str) -> Consolidation:
    """Consolidate a key now, due or not.

    Raises:
        As `work`.
    """
    world = pending.within(world, key)
    drafted = _draft(world, key, author)
    if drafted.weighed >= consolidate.LEAST_SOURCES:
        _apply(world, [drafted])
    return _report(world, [drafted], "applied")


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
    drafts: list[Drafted] = []
    for key in keys:
        if progress is not None:
            progress("consolidating", len(drafts), len(keys))
        drafts.append(_draft(pending.within(world, key), key, author))
    _sweep_plans(world, owner)
    found = _report(world, drafts, "planned")
    changes = tuple(change for one in drafts if one.changes for change in one.plan.changes)
    if not changes:
        return found
    expires = world.clock.now() + KEPT_FOR
    data = kept_plan.encode(KeptPlan(changes, expires))  # type: ignore[arg-type]
    name = kept_plan.digest(data)
    apply.edit_text(world, layout.kept_plan(owner.owner, name), lambda _: data)
    return replace(found, digest=name, expires_at=expires)


def apply_kept(world: World, view: View, digest: str, author: str) -> Consolidation:
    """Apply the plan that a dry run kept under `digest`, exactly.

    Raises:
        NotFound: there is none (any more) that this view may apply.
        Conflict: something moved since; nothing was saved, make a new dry run.
        Unavailable: disk or database said no; nothing was saved.
    """
    plan = _kept(world, view, digest)
    keys = list(dict.fromkeys(map(_key_of, plan.changes)))
    drafts = [
        _drafted_again(world, key, [c for c in plan.changes if _key_of(c) == key], author)
        for key in keys
    ]
    for one in plan.changes:
        _refuse_secret(world, one)
    _apply(world, drafts)
    apply.remove_text(world, layout.kept_plan(view.realm.owner, digest))
    return _report(world, drafts, "applied")


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
    return rows[:MOST_SHOWN]


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
    draft = _Draft(world, key, bind.target(world, key, author), rows, chosen.name)
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
    draft: _Draft,
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
        draft.problem = f"nothing of the answer can be used: {asked.rejected[0].reason}"


def _local(key: Key) -> Realm:
    """Whom the calls for a project are booked under."""
    return Realm(key.realm.space, LOCAL_OWNER)


def _malformed(rejected: Rejected) -> str:
    name = redact.mask(rejected.name, "all")
    return f"malformed{f' ({name})' if name else ''}: {rejected.reason}"


# -- decide -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Draft:
    """The changes so far: a later proposal meets what an earlier one came to."""

    world: World
    key: Key
    target: Target
    rows: Sequence[Stored]
    model: str
    changes: list[Kept] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    merged: int = 0
    problem: str = ""
    _taken: set[str] = field(default_factory=set)
    _merges: int = 0
    _known: dict[str, str] | None = None

    @property
    def now(self) -> datetime:
        """The present."""
        return self.world.clock.now()

    def take(self, one: Proposed) -> None:
        """Take a proposal in, or note why it may not be."""
        why = self._merge(one) if one.kind == "merge" else self._elevate(one)
        if why:
            self.refused.append(f"{one.kind} {self._told(one.wording.name)!r}: {why}")

    def _merge(self, one: Proposed) -> str:
        by_id = {row.memory.id: row for row in self.rows}
        rows = [by_id[source.id] for source in one.sources]
        if self._taken.intersection(by.memory.id for by in rows):
            return "one of them is in another merge"
        if self._merges >= consolidate.MOST_MERGES:
            return f"a run makes at most {consolidate.MOST_MERGES} merges"
        if len({row.owner for row in rows}) > 1:
            return "different people wrote them"
        found = consolidate.merged(
            one.sources,
            one.wording,
            id=self.world.clock.new_id("mem_"),
            now=self.now,
            zone=self.world.zone,
        )
        if isinstance(found, str):
            return found
        found = self._named(found, one.sources)
        why = self._secret(found) or self._unreadable(found)
        if why:
            return why
        self._put(found, rows)
        return ""

    def _put(self, fresh: Memory, rows: Sequence[Stored]) -> None:
        ids = [row.memory.id for row in rows]
        who, author = f"{CONSOLIDATION}:{self.model}", rows[0].owner
        self.changes.append(Put(fresh, "add", who, f"merged of {', '.join(ids)}", None, author))
        for row in rows:
            old = consolidate.ended(row.memory, fresh, self.now)
            base = Base(row.memory.version, row.digest)
            why = f"merged into {fresh.id}"
            self.changes.append(Put(old, "supersede", who, why, base, author))
        self._taken.update(ids)
        self._merges += 1
        self.merged += len(rows)

    def _named(self, fresh: Memory, sources: Sequence[Memory]) -> Memory:
        """With a name of its own: one that it takes over, or that nobody valid has."""
        mine = {source.id for source in sources}
        name = normalised_name(fresh.name)
        holders = [row.memory for row in self.world.store.named(self.key, name)]
        holders += [one.memory for one in self.changes if isinstance(one, Put) and not one.base]
        if any(
            holder.id not in mine and normalised_name(holder.name) == name for holder in holders
        ):
            return replace(fresh, name=f"{fresh.name[:100].rstrip()} ({fresh.id[-6:]})")
        return fresh

    def _elevate(self, one: Proposed) -> str:
        if self._taken.intersection(source.id for source in one.sources):
            return "one of its sources is merged in this run"
        if sum(isinstance(o, Propose) for o in self.changes) >= consolidate.MOST_PROPOSED:
            return f"a run proposes at most {consolidate.MOST_PROPOSED} rules"
        if self._known is None:
            self._known = pending.known(self.world, self.key)
        found = consolidate.elevated(
            one.sources,
            one.wording,
            self._known,
            id=self.world.clock.new_id("cand_"),
            model=self.model,
            now=self.now,
            zone=self.world.zone,
        )
        if isinstance(found, str):
            return found
        texts = (found.name, found.description, found.body)
        refusal = gates.sensitive([f.kind for f in self.world.findings([*texts, " ".join(texts)])])
        if refusal is not None:
            return refusal.reason
        self.changes.append(Propose(self.key, found, f"{CONSOLIDATION}:{self.model}"))
        self._known |= dict.fromkeys(found.fingerprints, "it is proposed in this run already")
        return ""

    def _secret(self, memory: Memory) -> str:
        refusal = gates.sensitive([found.kind for found in self.world.findings_of(memory)])
        return "" if refusal is None else refusal.reason

    def _unreadable(self, memory: Memory) -> str:
        """Whether its file would not say what it says, before anything is given up for it."""
        place = layout.memory_file(memory.key, memory.id, self.target.root)
        data = apply.rendered(memory, self.target)
        try:
            again = markdown.parse(
                data, str(place), memory.key, now=memory.created_at, zone=self.world.zone
            )
        except Corrupt as error:
            return f"its file could not be read: {error.problem}"
        said = (again.id, again.name, again.description, again.body)
        same = said == (memory.id, memory.name, memory.description, memory.body)
        return "" if same else "its file would say something else"

    def _told(self, name: str) -> str:
        shown = redact.mask(name, "all")[:120]
        return "(withheld)" if self.world.findings([shown]) else shown


# -- apply ------------------------------------------------------------------------------------------


def _apply(world: World, drafts: Sequence[Drafted]) -> None:
    changes = tuple(change for one in drafts for change in one.plan.changes)
    targets = {one.done.key: one.target for one in drafts}
    apply.apply(world, Plan(changes), targets)
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


# -- a plan that is kept ----------------------------------------------------------------------------


def _key_of(change: Kept) -> Key:
    return change.memory.key if isinstance(change, Put) else change.key


def _kept(world: World, view: View, digest: str) -> KeptPlan:
    place = layout.kept_plan(view.realm.owner, checks.ref("digest", digest))
    data, _ = world.vault.read(place)
    plan = kept_plan.decode(data, world.space, world.zone)
    fresh = kept_plan.digest(data) == digest and plan.expires_at > world.clock.now()
    if not fresh or not {_key_of(change) for change in plan.changes} <= set(view.keys):
        raise NotFound("plan", digest)
    return plan


def _drafted_again(world: World, key: Key, changes: Sequence[Kept], author: str) -> Drafted:
    done = next(one for one in changes if isinstance(one, Consolidated))
    rest = tuple(one for one in changes if one is not done)
    return Drafted(rest, done, bind.target(world, key, author), len(rest))


def _refuse_secret(world: World, change: Kept) -> None:
    """The gate's patterns may be newer than the plan."""
    texts: list[str] = []
    if isinstance(change, Propose):
        one = change.candidate
        texts = [one.name, one.description, one.body]
    elif isinstance(change, Put) and change.base is None:
        texts = [change.memory.name, change.memory.description, change.memory.body]
    if world.findings([*texts, " ".join(texts)]):
        raise Conflict("the sensitive gate refuses this plan by now; make a new dry run")


def _sweep_plans(world: World, owner: Realm) -> None:
    """Remove the plans that nobody can apply any more."""
    folder = layout.kept_plan(owner.owner, "none").folder
    for place in _plans(world, folder):
        data, _ = world.vault.read(place)
        try:
            stale = kept_plan.decode(data, world.space, world.zone).expires_at <= world.clock.now()
        except Invalid:
            stale = True
        if stale:
            apply.remove_text(world, place)


def _plans(world: World, folder: Place) -> Iterator[Place]:
    for name in sorted(world.vault.scan(Place(HOME, folder.path)) or {}):
        if name.endswith(".json"):
            yield folder.within(name)


# -- what is told -----------------------------------------------------------------------------------


def _report(world: World, drafts: Sequence[Drafted], status: Outcome) -> Consolidation:
    runs = tuple(_run(world, one) for one in drafts)
    if any(one.changes for one in drafts):
        return Consolidation(status, runs)
    failed = any(one.problem for one in runs)
    return Consolidation("failed" if failed else "nothing to do", runs)


def together(several: Sequence[Consolidation]) -> Consolidation:
    """What several keys came to as one answer."""
    states = {one.status for one in several}
    known = [one for one in _TOLD if one in states]
    return Consolidation(
        known[0] if known else "nothing to do", tuple(run for one in several for run in one.runs)
    )


def _run(world: World, drafted: Drafted) -> Run:
    done = drafted.done
    puts = [one for one in drafted.changes if isinstance(one, Put)]
    by_successor: dict[str, list[Named]] = {}
    for put in puts:
        old = put.memory
        if put.base is not None and old.superseded_by:
            by_successor.setdefault(old.superseded_by, []).append(_named(old))
    return Run(
        scope=done.key.scope,
        scope_ref=done.key.ref or None,
        model=done.model,
        merges=tuple(
            Made(m.id, m.name, m.description, m.body, tuple(by_successor[m.id]))
            for m in (put.memory for put in puts if put.base is None)
        ),
        candidates=tuple(
            Made(c.id, c.name, c.description, c.body, _sources(world, done.key, change))
            for change in drafted.changes
            if isinstance(change, Propose)
            for c in (change.candidate,)
        ),
        refused=done.refused,
        problem=done.problem,
        note=_NO_MODEL if done.model == RULES else "",
    )


def _named(one: Memory) -> Named:
    return Named(one.id, one.name, one.description)


def _sources(world: World, key: Key, change: Propose) -> tuple[Named, ...]:
    ids = [source.id for source in change.candidate.sources]
    rows: Mapping[str, Stored | None] = {id: world.store.memory((key,), id) for id in ids}
    return tuple(_named(row.memory) for row in rows.values() if row is not None)
