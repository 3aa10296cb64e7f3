"""What there is, and whether it is sound: `status` and `doctor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memstrata.domain import terms
from memstrata.domain.scope import Key, Realm
from memstrata.errors import MemstrataError
from memstrata.pipelines import bind
from memstrata.pipelines.world import Problem, Report, World

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
    verdicts: Mapping[str, int]
    workspaces: tuple[str, ...]
    full: tuple[str, ...]
    problems: tuple[str, ...]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: whether it passed, what it found, what to do if it did not."""

    name: str
    ok: bool
    found: str
    advice: str = ""


def status(world: World, realm: Realm, problems: Sequence[Problem]) -> Status:
    """The state of `realm`; `problems` are those of the last reconcile."""
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
        verdicts=world.store.verdict_counts(realm),
        workspaces=tuple(f"{one.name} ({one.root})" for one in bind.bound(world).values()),
        full=_full(world, keys),
        problems=tuple(map(str, problems)),
        degraded=_degraded(world, realm, parked, problems),
    )


def extractor(world: World) -> str:
    """Which extractor runs, and why."""
    if not world.settings.memory.enabled:
        return "none: memory is switched off"
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
        found.append(f"{len(parked)} extraction jobs are set aside: memstrata doctor")
    if problems:
        found.append(f"{len(problems)} files were left as they are: memstrata doctor")
    try:
        world.store.search_memories(
            _keys(world, realm)[:1], terms.query_terms(PROBE), world.moment(), limit=1
        )
    except MemstrataError as error:
        found.append(f"full text fails ({error.message}): memstrata reindex")
    return tuple(found)


def doctor(world: World, realm: Realm, healed: Report) -> tuple[Check, ...]:
    """Every check, each on the real thing: the database, the files, the text index, the jobs.

    `healed` is what a reconcile just found.
    """
    state = status(world, realm, healed.problems)
    faults = world.store.check()
    totals = world.store.totals(world.space)
    checks = [
        Check("database", not faults, "; ".join(faults) or "sound", "memstrata reindex"),
        Check(
            "files",
            not healed.problems,
            "; ".join(map(str, healed.problems))
            or f"{totals.get('memories', 0)} memories, all readable",
            "mend the file named, or move it away",
        ),
        Check(
            "reconcile",
            True,
            "; ".join(healed.actions) or "files and index agree",
        ),
        Check(
            "text index",
            totals.get("memories") == totals.get("memory_texts")
            and totals.get("messages") == totals.get("message_texts"),
            f"{totals.get('memory_texts', 0)} memories and {totals.get('message_texts', 0)} messages",
            "memstrata reindex",
        ),
        Check(
            "extraction",
            not state.parked,
            "; ".join(state.parked) or state.extractor,
            "see memstrata status",
        ),
        Check(
            "room",
            not state.full,
            "; ".join(state.full) or "every scope has room",
            "archive or raise quota",
        ),
    ]
    return tuple(checks)
