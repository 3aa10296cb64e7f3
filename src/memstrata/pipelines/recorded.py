"""Memories as their record lines hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from memstrata.domain import codec
from memstrata.domain.memory import Memory
from memstrata.domain.records import DELETE, MEMORY
from memstrata.domain.scope import Key
from memstrata.pipelines.world import World
from memstrata.ports import RecordLine


def recorded(world: World, line: RecordLine, key: Key) -> Memory:
    """The version of a memory that a line holds.

    Raises:
        Invalid: it cannot be read.
    """
    fields = cast("Mapping[str, object]", line.data["memory"])
    return codec.from_fields(fields, key, id=line.id, now=line.at, zone=world.zone)


def deleted(world: World, key: Key) -> Iterator[Memory]:
    """The memories of a key that were deleted, as they were last."""
    for id in world.store.record_versions(key):
        lines = world.store.records((key,), id)
        newest = max(lines, key=lambda line: (line.version, line.at))
        versions = [line for line in lines if line.kind == MEMORY]
        if newest.kind == DELETE and versions:
            yield recorded(world, versions[-1], key)
