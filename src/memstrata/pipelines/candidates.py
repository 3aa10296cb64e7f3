"""General rules that wait for a person: listed, confirmed, rejected. Nobody confirms what they have not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from memstrata.domain import elevation, evolve
from memstrata.domain.memory import Memory, normalised_name
from memstrata.domain.plan import Base, Plan, Put, Settle
from memstrata.domain.scope import Key, Scope, View
from memstrata.errors import Conflict, NotFound
from memstrata.pipelines import apply, bind, pending
from memstrata.pipelines.pending import Held
from memstrata.pipelines.world import World, refuse_sensitive, warn_when_full
from memstrata.ports import Stored

PERSON: Final = "person"
State = Literal["active", "expired", "invalid", "archived", "gone"]


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """A rule that a candidate was made from, as it stands; `changed`: not as it was when it was proposed."""

    id: str
    name: str
    description: str
    version: int
    status: State
    changed: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A general rule that waits for a person. `digest` is of all that is shown: confirm it with that.

    `taken_by` is the memory that has its name, `""` for none: confirm it under another one.
    """

    id: str
    scope: Scope
    scope_ref: str | None
    name: str
    description: str
    body: str
    sources: tuple[SourceInfo, ...]
    digest: str
    model: str
    created_at: datetime
    taken_by: str
    path: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """A candidate that a person decided against."""

    id: str
    status: Literal["rejected"] = "rejected"


def every(world: World, view: View, scope: Scope | None = None) -> tuple[Candidate, ...]:
    """The candidates that wait in a view, by scope, the oldest first. What cannot be read `doctor` names."""
    return tuple(
        _shown(world, key, held)[0]
        for key in view.keys
        if scope is None or key.scope == scope
        for held in pending.readable(world, key)
    )


def confirm(world: World, view: View, id: str, digest: str, edits: Mapping[str, object]) -> Stored:
    """Make a candidate a rule, as it was shown under `digest`, with the words that a person changed.

    Raises:
        NotFound: no such candidate waits in the view.
        Conflict: it or a source was changed since it was shown, it was decided on already, or its
            name belongs to a memory that is valid now (`ALREADY_EXISTS`): it goes on waiting.
        Invalid: the field that is wrong.
        Refused: it holds a credential or a private identifier: it goes on waiting.
        Corrupt: its file cannot be read.
        Unfinished: reconcile must finish something first, or take a hand edit over.
    """
    key, held = _find(world, view, id)
    shown, rows = _shown(world, key, held)
    if shown.digest != digest:
        raise Conflict(
            f"{id} or one of its sources was changed since it was shown; look at it again; not saved"
        )
    worded = elevation.worded(held.candidate, edits) if edits else held.candidate
    now = world.clock.now()
    sources = [row.memory for row in rows if row is not None]
    memory = elevation.confirmed(worded, sources, key, id=world.clock.new_id("mem_"), now=now)
    refuse_sensitive(world, memory)
    apply.refuse_rebuilding(world.store)
    puts = [Put(memory, "add", PERSON, f"confirmed {id}"), *_namesakes(world, memory, now)]
    settle = Settle(
        key,
        held.candidate,
        "confirm",
        PERSON,
        held.digest,
        tuple(zip((one.id for one in shown.sources), map(_base, rows), strict=True)),
        memory.id,
    )
    target = bind.target(world, key, view.realm.owner)
    applied = apply.apply(world, Plan((*puts, settle)), {key: target})
    warn_when_full(world, key)
    return applied.stored[0]


def reject(world: World, view: View, id: str) -> Rejection:
    """Decide against a candidate; the same is not proposed again.

    Raises:
        NotFound: no such candidate waits in the view.
        Conflict: it was changed meanwhile, or decided on already.
        Corrupt: its file cannot be read.
    """
    key, held = _find(world, view, id)
    apply.refuse_rebuilding(world.store)
    settle = Settle(key, held.candidate, "reject", PERSON, held.digest)
    target = bind.target(world, key, view.realm.owner)
    apply.apply(world, Plan((settle,)), {key: target})
    return Rejection(id)


def _find(world: World, view: View, id: str) -> tuple[Key, Held]:
    for key in view.keys:
        if id in pending.waiting(world, key):
            return key, pending.read(world, key, id)
        if id in pending.decided(world.store, key).settled:
            raise Conflict(f"{id} was decided on already; not saved")
    raise NotFound("candidate", id)


def _shown(world: World, key: Key, held: Held) -> tuple[Candidate, list[Stored | None]]:
    """A candidate as a person is shown it, and the rows of its sources."""
    one = held.candidate
    rows = [world.store.memory((key,), source.id) for source in one.sources]
    infos = tuple(
        _source(world, source, row) for source, row in zip(one.sources, rows, strict=True)
    )
    states = [
        (info.id, info.version, row.digest if row else "", info.status)
        for info, row in zip(infos, rows, strict=True)
    ]
    candidate = Candidate(
        id=one.id,
        scope=key.scope,
        scope_ref=key.ref or None,
        name=one.name,
        description=one.description,
        body=one.body,
        sources=infos,
        digest=elevation.shown_digest(one, states),
        model=one.model,
        created_at=one.created_at,
        taken_by=_holder(world, key, one.name),
        path=str(held.place),
    )
    return candidate, rows


def _source(world: World, source: elevation.Source, row: Stored | None) -> SourceInfo:
    if row is None or row.presence == "absent":
        return SourceInfo(source.id, "", "", source.version, "gone", True)
    memory = row.memory
    status = memory.status(world.clock.now(), world.zone)
    changed = memory.version != source.version or status != "active"
    return SourceInfo(source.id, memory.name, memory.description, memory.version, status, changed)


def _base(row: Stored | None) -> Base | None:
    return None if row is None else Base(row.memory.version, row.digest)


def _holder(world: World, key: Key, name: str) -> str:
    """The id of the memory that has a name and is valid now, `""` for none."""
    now = world.clock.now()
    rows: Sequence[Stored] = world.store.named(key, normalised_name(name))
    valid = [row for row in rows if row.memory.status(now, world.zone) == "active"]
    return valid[0].memory.id if valid else ""


def _namesakes(world: World, memory: Memory, now: datetime) -> list[Put]:
    """What ends of an expired namesake.

    Raises:
        Conflict: one is valid now, and keeps its name.
    """
    holder = _holder(world, memory.key, memory.name)
    if holder:
        raise Conflict(
            f"the name {memory.name!r} belongs to {holder} already; the candidate waits: confirm it "
            "under another name",
            reason="ALREADY_EXISTS",
            holder=holder,
        )
    why = f"expired; superseded by {memory.id}"
    return [
        Put(
            evolve.ended(row.memory, now, memory.id, now),
            "supersede",
            PERSON,
            why,
            Base(row.memory.version, row.digest),
            row.owner,
        )
        for row in world.store.named(memory.key, normalised_name(memory.name))
    ]
