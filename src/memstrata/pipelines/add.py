"""A memory that a person types: checked, past the sensitive gate, then written. Conflicts are raised."""

from __future__ import annotations

from dataclasses import replace

from memstrata.domain.memory import Memory, normalised_name
from memstrata.domain.plan import Base, Plan, Put
from memstrata.errors import Conflict
from memstrata.pipelines import apply
from memstrata.pipelines.apply import Target
from memstrata.pipelines.world import World, refuse_sensitive, warn_when_full
from memstrata.ports import Stored


def add(world: World, memory: Memory, target: Target, *, who: str = "person") -> Stored:
    """Store `memory` as it is; an expired one of the same name becomes invalid, superseded by it.

    Raises:
        Refused: the sensitive gate says no.
        Conflict: the name belongs to a memory that is valid now (`ALREADY_EXISTS`, with its id).
        Unfinished: reconcile must finish something first; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    refuse_sensitive(world, memory)
    expired = _expired_namesakes(world, memory)
    apply.refuse_rebuilding(world.store)
    puts = [
        Put(memory, "add", who, "typed by hand"),
        *(_ended(row, memory, who) for row in expired),
    ]
    applied = apply.apply(world, Plan(tuple(puts)), {memory.key: target})
    warn_when_full(world, memory.key)
    return applied.stored[0]


def _expired_namesakes(world: World, memory: Memory) -> list[Stored]:
    now = world.clock.now()
    found: list[Stored] = []
    for row in world.store.named(memory.key, normalised_name(memory.name)):
        if row.memory.status(now, world.zone) == "active":
            raise Conflict(
                f"the name {memory.name!r} belongs to {row.memory.id} already; not saved",
                reason="ALREADY_EXISTS",
                holder=row.memory.id,
            )
        found.append(row)
    return found


def _ended(row: Stored, successor: Memory, who: str) -> Put:
    old, at = row.memory, successor.created_at
    ended = replace(
        old,
        invalid_at=at,
        superseded_by=successor.id,
        retired_at=at,
        version=old.version + 1,
        updated_at=max(at, old.updated_at),
    )
    return Put(
        ended,
        "supersede",
        who,
        f"expired; superseded by {successor.id}",
        Base(old.version, row.digest),
    )
