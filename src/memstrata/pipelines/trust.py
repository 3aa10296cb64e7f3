"""What came with a workspace's files and nobody of this home has looked at: shown, then trusted as shown."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memstrata.domain import markdown
from memstrata.domain.memory import UNREVIEWED, reason_note
from memstrata.domain.scope import Key, Realm
from memstrata.errors import Conflict
from memstrata.pipelines import apply
from memstrata.pipelines.bind import Workspace
from memstrata.pipelines.world import World
from memstrata.ports import Listing, Stored


@dataclass(frozen=True, slots=True)
class Unreviewed:
    """The unreviewed memories of a workspace, and the digest of their files together."""

    digest: str
    rows: tuple[Stored, ...]


def unreviewed(world: World, workspace: Workspace) -> Unreviewed:
    """What is to be looked at, by id."""
    rows = tuple(_rows(world, workspace))
    told = "\n".join(f"{row.memory.id} {row.memory.version} {row.digest}" for row in rows)
    return Unreviewed(hashlib.sha256(told.encode()).hexdigest()[:32] if rows else "", rows)


def _rows(world: World, workspace: Workspace) -> Iterator[Stored]:
    key = Key(Realm(world.space, ""), "project", workspace.key)
    after = ""
    while page := world.store.memories((key,), Listing(), world.moment(), after=after):
        yield from (row for row in page if row.memory.note == UNREVIEWED)
        after = page[-1].memory.id


def trust(world: World, workspace: Workspace, digest: str) -> tuple[Stored, ...]:
    """Trust what was shown under `digest`: it is like any other memory from here on, until its file changes.

    No file is written: that it was looked at is this home's own.

    Raises:
        Conflict: something changed since it was shown (`VERSION_CONFLICT`); nothing was trusted.
        Unfinished: reconcile must take a change over first.
        Unavailable: disk or database said no; nothing was saved.
    """
    shown = unreviewed(world, workspace)
    if not digest or shown.digest != digest:
        raise Conflict("the files changed since they were shown; nothing was trusted, look again")
    found = [(row, _reviewed(world, row)) for row in shown.rows]
    for at in range(0, len(found), apply.MOST):
        apply.review(world, found[at : at + apply.MOST])
    return tuple(after for _, after in found)


def _reviewed(world: World, row: Stored) -> Stored:
    """The row as its file says it, a standing rule too."""
    before, now = row.memory, world.clock.now()
    data, _ = world.vault.read(row.place)
    said = markdown.parse(data, str(row.place), before.key, now=now, zone=world.zone)
    memory = replace(
        before,
        note=reason_note(before.type, before.body),
        priority=said.priority,
        version=before.version + 1,
        updated_at=max(now, before.updated_at),
    )
    return replace(row, memory=memory)
