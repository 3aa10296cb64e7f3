"""The search lanes: full text now; what a lane cannot do is said, never raised to a reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memstrata.domain import budget, fusion, terms
from memstrata.domain.memory import Type
from memstrata.domain.scope import Key, Realm
from memstrata.domain.turn import Message
from memstrata.errors import Corrupt, Unavailable
from memstrata.pipelines.world import World
from memstrata.ports import Listing, Moment, Stored

FULL_TEXT = "fulltext"
BY_TYPE = "type"


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that was found, its score (greater is better) and the lanes that found it."""

    stored: Stored
    score: float
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that was found, its score and the lanes that found it."""

    message: Message
    score: float
    lanes: tuple[str, ...]


def memories(
    world: World,
    keys: Sequence[Key],
    query: str,
    moment: Moment,
    *,
    types: Sequence[Type] = (),
    limit: int = 10,
) -> tuple[list[MemoryHit], tuple[str, ...]]:
    """Memories for `query` by profile `classic`, and what was degraded (empty: nothing)."""
    found = terms.query_terms(query)
    depth = max(limit, fusion.LANE_DEPTH)
    try:
        lane = world.store.search_memories(keys, found, moment, types=types, limit=depth)
    except (Unavailable, Corrupt) as error:
        world.bus.emit("fulltext.failed", degraded=True, problem=error.code)
        return _by_type(world, keys, moment, types, limit), ("full text failed: all by type",)
    rows = {hit.stored.memory.id: hit.stored for hit in lane}
    fused = fusion.rrf({FULL_TEXT: [hit.stored.memory.id for hit in lane]})
    hits = [
        MemoryHit(rows[id], _classic(world, rows[id], score, moment), (FULL_TEXT,))
        for id, score in fused.items()
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.stored.memory.id))
    return hits[:limit], ()


def _classic(world: World, row: Stored, fused: float, moment: Moment) -> float:
    memory = row.memory
    updated = memory.updated_at.astimezone(world.zone).date()
    rate = world.settings.search.time_decay_lambda
    return fusion.classic(fused, updated, memory.confidence, moment.today, rate)


def _by_type(
    world: World, keys: Sequence[Key], moment: Moment, types: Sequence[Type], limit: int
) -> list[MemoryHit]:
    """All that is valid, most important first: what is left when no lane works."""
    listing = Listing(types=tuple(types), statuses=("active",))
    rows = world.store.memories(keys, listing, moment, limit=5_000)
    rows.sort(
        key=lambda row: (
            budget.keep_rank(row.memory),
            -row.memory.updated_at.timestamp(),
            row.memory.id,
        )
    )
    return [MemoryHit(row, 0.0, (BY_TYPE,)) for row in rows[:limit]]


def messages(
    world: World,
    realm: Realm,
    workspaces: Sequence[str],
    query: str,
    *,
    session: str | None = None,
    roles: Sequence[str] = (),
    limit: int = 10,
) -> tuple[list[MessageHit], tuple[str, ...]]:
    """Messages for `query`, ranked by the fused score alone, and what was degraded."""
    try:
        lane = world.store.search_messages(
            realm, workspaces, terms.query_terms(query), session=session, roles=roles, limit=limit
        )
    except (Unavailable, Corrupt) as error:
        world.bus.emit("fulltext.failed", degraded=True, problem=error.code)
        return [], ("full text failed: no messages",)
    return [
        MessageHit(hit.message, 1.0 / (fusion.RRF_K + rank), (FULL_TEXT,))
        for rank, hit in enumerate(lane, start=1)
    ], ()
