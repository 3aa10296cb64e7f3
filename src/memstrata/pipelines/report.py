"""What there is, and whether it is sound: `status` and `doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memstrata.domain import layout, terms, times
from memstrata.domain.consolidate import Run
from memstrata.domain.memory import UNREVIEWED
from memstrata.domain.plan import EMBED, PERSONA, PRUNE, SCENES, consolidation_key, job_name
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm
from memstrata.errors import MemstrataError, Unavailable
from memstrata.pipelines import bind, ledger, pages, pending
from memstrata.pipelines.ledger import Spent
from memstrata.pipelines.sight import shelf_of
from memstrata.pipelines.world import Fault, Problem, Report, World
from memstrata.ports import Holding, Job, Listing, Shelf, Stored

PROBE: Final = "memstrata"
REINDEX: Final = "memstrata reindex"
"""The cure for a damaged index."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a home. `degraded` is empty when all is as it should be."""

    enabled: bool
    owner: str
    space: str
    extractor: str
    profile: str
    embedder: str
    """What makes vectors, and whether texts leave this machine for it."""
    vectors: tuple[int, int]
    """Texts that have one, and texts in all."""
    tokenizer: str
    timezone: str
    memories: Mapping[str, int]
    messages: int
    sessions: int
    scenes: int
    persona: int
    """Lines of the persona."""
    untold: tuple[int, int]
    """Of the last runs: paragraphs that nothing bore out and were dropped; memories that found no room."""
    waiting: int
    parked: tuple[str, ...]
    retrying: tuple[str, ...]
    """Extraction jobs that failed and are tried again later, by themselves."""
    worker: Holding | None
    """Who does the background work, None for nobody."""
    verdicts: Mapping[str, int]
    workspaces: tuple[str, ...]
    full: tuple[str, ...]
    candidates: int
    """General rules that wait for a person."""
    consolidated: tuple[str, ...]
    """The last run of each scope: when, what it came to, or why it failed."""
    spent: Mapping[str, Spent]
    problems: tuple[str, ...]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: whether it passed, what it found, what to do if it did not."""

    name: str
    ok: bool
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound workspace: the home's key for it, what its files call it, where it lies, whether it is
    there, how many memories are valid, and how many of all nobody looked at yet."""

    key: str
    id: str
    name: str
    root: str
    there: bool
    memories: int
    unreviewed: int


def workspaces(world: World) -> tuple[Bound, ...]:
    """Every bound workspace, by its root.

    Raises:
        Corrupt: `workspaces.json` cannot be read.
    """
    found: list[Bound] = []
    for one in bind.bound(world).values():
        key = Key(Realm(world.space, ""), "project", one.key)
        rows = list(_rows(world, key))
        valid = sum(row.memory.status(world.clock.now(), world.zone) == "active" for row in rows)
        new = sum(row.memory.note == UNREVIEWED for row in rows)
        there = bind.is_there(world, one.root)
        found.append(Bound(one.key, one.id, one.name, one.root, there, valid, new))
    return tuple(sorted(found, key=lambda one: one.root))


def _rows(world: World, key: Key) -> Iterator[Stored]:
    after = ""
    while page := world.store.memories((key,), Listing(), world.moment(), after=after):
        yield from page
        after = page[-1].memory.id


def status(
    world: World, realm: Realm, problems: Sequence[Problem], worker: Holding | None
) -> Status:
    """The state of `realm`; `problems` are those of the last reconcile."""
    problems = [one for one in problems if _concerns(realm, one)]
    keys = _keys(world, realm)
    moment = world.moment()
    memories: dict[str, int] = {}
    for (key, kind, state), count in world.store.counts(keys, moment).items():
        for name in (state, f"{state} scope {key.scope}", f"{state} type {kind}"):
            memories[name] = memories.get(name, 0) + count
    sessions = world.store.sessions(realm)
    told = _told(world, realm)
    parked = tuple(
        f"{job_name(job.kind, job.key)}: {job.problem}" for job in _jobs(world, realm, ("parked",))
    )
    return Status(
        enabled=world.settings.memory.enabled,
        owner=realm.owner,
        space=realm.space,
        extractor=extractor(world),
        profile=world.settings.search.profile,
        embedder=_embedder(world),
        vectors=_vectors(world, realm, keys),
        tokenizer=world.tokens.name,
        timezone=str(world.zone),
        memories=memories,
        messages=sum(count for _, count, _ in sessions),
        sessions=len(sessions),
        scenes=told.scenes,
        persona=told.lines,
        untold=(told.dropped, told.untold),
        waiting=sum(left for _, _, left in sessions),
        parked=parked,
        retrying=_retrying(world, realm),
        worker=worker,
        verdicts=world.store.verdict_counts(realm),
        workspaces=tuple(f"{one.name} ({one.root})" for one in bind.bound(world).values()),
        full=_full(world, keys),
        candidates=sum(len(pending.waiting(world, key)) for key in keys),
        consolidated=tuple(_ran(key, run) for key, run in pending.last_runs(world, keys).items()),
        spent=ledger.today(world),
        problems=tuple(map(str, problems)),
        degraded=_degraded(world, realm, parked, problems),
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What scenes and persona come to: how many of each, and of the last runs what was dropped or found no room."""

    scenes: int = 0
    lines: int = 0
    dropped: int = 0
    untold: int = 0


def _told(world: World, realm: Realm) -> _Told:
    """Of every group of scenes; nothing where they cannot be read."""
    try:
        looks = [pages.look(world, realm, group) for group in pages.groups(world, realm.owner)]
        portrait = pages.look(world, realm, layout.PERSONA)
    except MemstrataError:  # among the problems of the last reconcile
        return _Told()
    held = portrait.persona
    return _Told(
        sum(len(one.texts) for one in looks),
        len(held.lines) if held else 0,
        sum(one.chronicle.dropped for one in (*looks, portrait)),
        sum(one.chronicle.left_out for one in looks),
    )


def _concerns(realm: Realm, problem: Problem) -> bool:
    """Whether a problem is this owner's to see: one in their own tree, or in a workspace."""
    path = problem.path
    if path.startswith("owners/"):
        return path.startswith(layout.owner_folder(realm.owner) or "-")
    return path.startswith("/") or realm.owner == LOCAL_OWNER


def extractor(world: World) -> str:
    """Which extractor runs, and why."""
    if not world.settings.memory.enabled:
        return "none: memory is switched off"
    if world.model is not None:
        return (
            f"{world.settings.extraction.model}: {ledger.paused(world) or 'the model that is set'}"
        )
    if world.settings.extraction.fallback == "none":
        return "none: extraction.fallback is none, but for turns whose host names a model"
    return "rules: no model is set"


def _embedder(world: World) -> str:
    if world.sight is None and world.settings.embedding.model != "none":
        return "none: the bundled one is not installed here, full text only"
    if world.sight is None:
        return "none: full text only"
    found = world.sight.embedder
    return f"{found.key}{' (texts leave this machine)' if found.remote else ''}"


def _vectors(world: World, realm: Realm, keys: Sequence[Key]) -> tuple[int, int]:
    """What of a realm has a vector, of all that could."""
    if world.sight is None:
        return 0, 0
    try:
        held = world.sight.vectors.counts(world.space)
    except Unavailable:  # `degraded` says why
        held = {}
    wanted: dict[Shelf, int] = {
        shelf: count for shelf, count, _ in world.store.shelves(world.space) if shelf.realm == realm
    }
    for (key, _, _), count in world.store.counts(keys, world.moment()).items():
        wanted[shelf_of(key)] = wanted.get(shelf_of(key), 0) + count
    made = sum(min(held.get(shelf, 0), count) for shelf, count in wanted.items())
    return made, sum(wanted.values())


def _keys(world: World, realm: Realm) -> list[Key]:
    return [key for key in world.store.keys(world.space) if key.realm.owner in ("", realm.owner)]


def _full(world: World, keys: Sequence[Key]) -> tuple[str, ...]:
    """The scopes that have no room, or less than a fifth of it."""
    limits = world.limits()
    held: dict[Key, int] = {}
    for (key, kind, state), count in world.store.counts(keys, world.moment()).items():
        if state == "active" and kind != "episodic":
            held[key] = held.get(key, 0) + count
    return tuple(
        f"{key.scope} {key.ref}".strip() + f": {count} of {limits.quota[key.scope]}"
        for key, count in held.items()
        if count >= limits.quota[key.scope] * 0.8
    )


def _ran(key: Key, run: Run) -> str:
    """A run of a key in words."""
    did = f"failed ({run.problem})" if run.problem else _did(run)
    return f"{consolidation_key(key)}: {did}, {times.short(run.at)}Z"


def _did(run: Run) -> str:
    return f"{run.merged} merged, {run.proposed} proposed"


def _degraded(
    world: World, realm: Realm, parked: Sequence[str], problems: Sequence[Problem]
) -> tuple[str, ...]:
    found = [
        f"consolidation of {consolidation_key(key)} failed ({run.problem}): memstrata consolidate"
        for key, run in pending.last_runs(world, _keys(world, realm)).items()
        if run.problem
    ]
    if parked:
        found.append(f"{len(parked)} jobs are set aside: memstrata extract --retry")
    if problems:
        found.append(f"{len(problems)} files were left as they are: memstrata doctor")
    try:
        world.store.search_memories(
            _keys(world, realm)[:1], terms.query_terms(PROBE), world.moment(), limit=1
        )
    except MemstrataError as error:
        found.append(f"full text fails ({error.message}): memstrata reindex")
    return (*found, *_blind(world))


def _blind(world: World) -> Iterator[str]:
    """What hinders the search by meaning, if it is not switched off."""
    if world.sight is None:
        if world.settings.embedding.model != "none":
            yield "no embedder is installed for this machine: set embedding.model"
        return
    try:
        missing = world.sight.missing(world.store, world.space, world.moment())
    except Unavailable as error:
        yield f"vectors cannot be read, full text serves alone ({error.message})"
        return
    if missing and (lost := world.sight.lost()):
        yield f"vectors had to go and are made again ({lost})"
    if problem := _unseen(world):
        yield f"vectors cannot be made, full text serves alone ({problem})"


def _unseen(world: World) -> str:
    """Why the job that makes vectors failed last; empty when it did not."""
    jobs = world.store.jobs(None)
    return next((job.problem for job in jobs if job.kind == EMBED and job.problem), "")


def _retrying(world: World, realm: Realm) -> tuple[str, ...]:
    most = world.settings.extraction.max_tries
    return tuple(
        f"{job_name(job.kind, job.key)}: {job.problem} "
        f"({job.attempts} of {most} tries, again at {times.stamp(job.due)})"
        for job in _jobs(world, realm, ("waiting",))
        if job.problem and job.kind != EMBED
    )


def _jobs(world: World, realm: Realm, states: Sequence[str]) -> list[Job]:
    """The jobs of a realm and those of projects, which are nobody's own."""
    shared = Realm(realm.space, "")
    return [job for one in (realm, shared) for job in world.store.jobs(one, states)]


def held(worker: Holding | None) -> str:
    """Who does the background work, in words; empty for nobody."""
    if worker is None:
        return ""
    since = times.stamp(worker.since)
    return f"process {worker.pid} on {worker.host} ({worker.role}) since {since}"


def _failing(state: Status, *, layers: bool = True) -> list[str]:
    """The jobs that failed: those that make scenes and persona, or the others."""
    kinds = (SCENES, PERSONA, PRUNE)
    every = (*state.parked, *state.retrying)
    return [one for one in every if (one.split()[0].rstrip(":") in kinds) is layers]


def _layers(state: Status) -> str:
    dropped, untold = state.untold
    return "; ".join(_failing(state)) or (
        f"{state.scenes} scenes, {state.persona} lines of the persona; "
        f"{dropped} paragraphs dropped, {untold} memories untold"
    )


def _some(faults: Sequence[str]) -> str:
    """The first three, and how many more."""
    more = f"; and {len(faults) - 3} faults more" if len(faults) > 3 else ""
    return "; ".join(faults[:3]) + more


def doctor(world: World, realm: Realm, healed: Report, worker: Holding | None) -> tuple[Check, ...]:
    """Every check, each on the real thing: the database, the files, the text index, the jobs.

    `healed` is what a reconcile just found. Of a damaged database nothing else is told: what it says
    cannot be relied on.
    """
    faults = world.store.check() or [str(o) for o in healed.problems if isinstance(o, Fault)]
    if faults:
        return (Check("database", False, _some(faults), REINDEX),)
    state = status(world, realm, healed.problems, worker)
    totals = world.store.totals(world.space)
    counts = world.store.counts(world.store.keys(world.space), world.moment())
    shown = sum(counts.values())
    indexed = sum(count for (_, _, state), count in counts.items() if state != "archived")
    texts, said = totals["memory_texts"], totals["message_texts"]
    checks = [
        Check("database", True, "sound", REINDEX),
        Check(
            "files",
            not state.problems,
            "; ".join(state.problems) or f"{shown} memories, all readable",
            "mend the file named, or move it away",
        ),
        Check(
            "reconcile",
            True,
            "; ".join(healed.actions) or "files and index agree",
        ),
        Check(
            "text index",
            (texts, said) == (indexed, totals["messages"]),
            f"{texts} of {indexed} memories and {said} of {totals['messages']} messages",
            REINDEX,
        ),
        Check(
            "vectors",
            not any("vectors" in one for one in state.degraded)
            and (state.vectors[0] == state.vectors[1] or worker is not None),
            "; ".join(one for one in state.degraded if "vectors" in one)
            or f"{state.vectors[0]} of {state.vectors[1]}, {state.embedder}",
            "memstrata vectors rebuild",
        ),
        Check(
            "extraction",
            not _failing(state, layers=False),
            "; ".join(_failing(state, layers=False)) or state.extractor,
            "memstrata extract --retry",
        ),
        Check(
            "consolidation",
            not any(one.startswith("consolidation") for one in state.degraded),
            "; ".join(state.consolidated) or "it never ran",
            "memstrata consolidate --dry-run",
        ),
        Check("layers", not _failing(state), _layers(state), "memstrata extract --retry"),
        Check("worker", True, held(worker) or "nobody; memstrata extract does what waits"),
        Check(
            "room",
            not state.full,
            "; ".join(state.full) or "every scope has room",
            "raise quota in config.toml, or delete files of memories",
        ),
    ]
    return tuple(checks)
