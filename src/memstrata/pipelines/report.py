"""What there is, and whether it is sound: `status` and `doctor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memstrata.domain import layout, terms, times
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm
from memstrata.errors import MemstrataError
from memstrata.pipelines import bind, ledger
from memstrata.pipelines.ledger import Spent
from memstrata.pipelines.world import Problem, Report, World
from memstrata.ports import Holding

PROBE: Final = "memstrata"


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a home. `degraded` is empty when all is as it should be."""

    enabled: bool
    owner: str
    space: str
    extractor: str
    profile: str
    tokenizer: str
    timezone: str
    memories: Mapping[str, int]
    messages: int
    sessions: int
    waiting: int
    parked: tuple[str, ...]
    retrying: tuple[str, ...]
    """Extraction jobs that failed and are tried again later, by themselves."""
    worker: Holding | None
    """Who does the background work, None for nobody."""
    verdicts: Mapping[str, int]
    workspaces: tuple[str, ...]
    full: tuple[str, ...]
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
    parked = tuple(
        f"{job.kind} {job.key}: {job.problem}" for job in world.store.jobs(realm, ("parked",))
    )
    return Status(
        enabled=world.settings.memory.enabled,
        owner=realm.owner,
        space=realm.space,
        extractor=extractor(world),
        profile=world.settings.search.profile,
        tokenizer=world.tokens.name,
        timezone=str(world.zone),
        memories=memories,
        messages=sum(count for _, count, _ in sessions),
        sessions=len(sessions),
        waiting=sum(left for _, _, left in sessions),
        parked=parked,
        retrying=_retrying(world, realm),
        worker=worker,
        verdicts=world.store.verdict_counts(realm),
        workspaces=tuple(f"{one.name} ({one.root})" for one in bind.bound(world).values()),
        full=_full(world, keys),
        spent=ledger.today(world),
        problems=tuple(map(str, problems)),
        degraded=_degraded(world, realm, parked, problems),
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
        return "none: extraction.fallback is none"
    return "rules: no model is set"


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


def _degraded(
    world: World, realm: Realm, parked: Sequence[str], problems: Sequence[Problem]
) -> tuple[str, ...]:
    found = []
    if parked:
        found.append(f"{len(parked)} extraction jobs are set aside: memstrata extract --retry")
    if problems:
        found.append(f"{len(problems)} files were left as they are: memstrata doctor")
    try:
        world.store.search_memories(
            _keys(world, realm)[:1], terms.query_terms(PROBE), world.moment(), limit=1
        )
    except MemstrataError as error:
        found.append(f"full text fails ({error.message}): memstrata reindex")
    return tuple(found)


def _retrying(world: World, realm: Realm) -> tuple[str, ...]:
    most = world.settings.extraction.max_tries
    return tuple(
        f"{job.kind} {job.key}: {job.problem} "
        f"({job.attempts} of {most} tries, again at {times.stamp(job.due)})"
        for job in world.store.jobs(realm)
        if job.problem
    )


def held(worker: Holding | None) -> str:
    """Who does the background work, in words; empty for nobody."""
    if worker is None:
        return ""
    since = times.stamp(worker.since)
    return f"process {worker.pid} on {worker.host} ({worker.role}) since {since}"


def doctor(world: World, realm: Realm, healed: Report, worker: Holding | None) -> tuple[Check, ...]:
    """Every check, each on the real thing: the database, the files, the text index, the jobs.

    `healed` is what a reconcile just found.
    """
    state = status(world, realm, healed.problems, worker)
    faults = world.store.check()
    totals = world.store.totals(world.space)
    shown = sum(world.store.counts(world.store.keys(world.space), world.moment()).values())
    texts, said = totals["memory_texts"], totals["message_texts"]
    checks = [
        Check("database", not faults, "; ".join(faults) or "sound", "memstrata reindex"),
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
            (texts, said) == (shown, totals["messages"]),
            f"{texts} of {shown} memories and {said} of {totals['messages']} messages",
            "memstrata reindex",
        ),
        Check(
            "extraction",
            not (state.parked or state.retrying),
            "; ".join((*state.parked, *state.retrying)) or state.extractor,
            "memstrata extract --retry",
        ),
        Check("worker", True, held(worker) or "nobody; memstrata extract does what waits"),
        Check(
            "room",
            not state.full,
            "; ".join(state.full) or "every scope has room",
            "raise quota in config.toml, or delete files of memories",
        ),
    ]
    return tuple(checks)
