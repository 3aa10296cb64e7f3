"""The search lanes: full text and vectors; what a lane cannot do is said, never raised to a reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from memstrata.domain import budget, fusion, passages, ranking, terms
from memstrata.domain.likeness import OWNER
from memstrata.domain.memory import Memory, Type
from memstrata.domain.plan import EMBED
from memstrata.domain.scope import Key, Realm
from memstrata.domain.turn import Message
from memstrata.errors import Corrupt, Unavailable
from memstrata.pipelines import entities
from memstrata.pipelines.sight import (
    job_key,
    message_id,
    messages_of,
    session_and_id,
    shelf_of,
)
from memstrata.pipelines.world import World
from memstrata.ports import Listing, Moment, Near, SaidAt, Scores, Shelf, Stored

FULL_TEXT: Final = "fulltext"
VECTORS: Final = "vectors"
BY_TYPE: Final = "type"
ENTITY: Final = "entity"
"""What shares a named thing with a direct hit."""
HOPS_FROM: Final = 5
"""The entities of so many of the best hits lead on."""
CONTEXT: Final = "context"
"""What was said just before or behind a hit."""
FAILED: Final = "full text failed"
BLIND: Final = "no vectors, full text only"
BESIDE: Final = 20
"""Of so many of each lane what was said just before and behind is weighed too."""
POOL: Final = 50
"""How many hits of each lane are weighed against each other."""


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


@dataclass(slots=True)
class _Found:
    """What the lanes found: rows by id, and what each lane says of them, best first."""

    rows: dict[str, Stored] = field(default_factory=dict)
    words: dict[str, float] = field(default_factory=dict)
    near: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, list[str]] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)


def memories(
    world: World,
    keys: Sequence[Key],
    query: str,
    moment: Moment,
    *,
    realm: Realm,
    types: Sequence[Type] = (),
    limit: int = 10,
    sure: bool = False,
) -> tuple[list[MemoryHit], tuple[str, ...]]:
    """Memories for `query` by the profile that is set, and what was degraded (empty: nothing).

    Named things are one by the alias table of `realm`.

    What shares no word with the query is found by its meaning, but nothing when even the nearest is
    no nearer than neutral texts are; with `sure` each of them has to be nearer.
    """
    classic = world.settings.search.profile == "classic"
    depth = _depth(limit, fusion.LANE_DEPTH if classic else POOL)
    found = _Found()
    said = _by_words(world, keys, query, moment, types, depth, found)
    meant = _by_meaning(world, keys, query, moment, types, depth, found, sure)
    if not said:
        found.degraded.insert(0, f"{FAILED}: {'by meaning alone' if meant else 'all by type'}")
    if not said and not meant:
        return _by_type(world, keys, moment, types, limit), tuple(found.degraded)
    scores = fusion.rrf(found.ranks) if classic else fusion.blended(found.words, found.near)
    hits = [
        MemoryHit(found.rows[id], _weighed(world, found.rows[id], score, moment), _lanes(found, id))
        for id, score in scores.items()
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.stored.memory.id))
    related = _related(world, keys, hits[:limit], moment, types, limit, realm) if said else []
    return [*hits[:limit], *related], tuple(found.degraded)


def _related(
    world: World,
    keys: Sequence[Key],
    hits: Sequence[MemoryHit],
    moment: Moment,
    types: Sequence[Type],
    limit: int,
    realm: Realm,
) -> list[MemoryHit]:
    """Behind the direct hits, where there is room: what shares a named thing with one of the best, one hop on."""
    names = [
        name
        for hit in hits[:HOPS_FROM]
        for name in hit.stored.memory.entities
        if terms.fold(name) not in OWNER
    ]
    if not names or len(hits) >= limit:
        return []
    aliases = entities.aliases(world, realm)
    named = aliases.every(names)
    every = (other for name in names for other in (name, *aliases.spellings(name)))
    wanted = terms.query_terms(" ".join(dict.fromkeys(every)))
    known = {hit.stored.memory.id for hit in hits}
    found = world.store.search_memories(keys, wanted, moment, types=types, limit=POOL)
    related = [
        hit.stored
        for hit in found
        if hit.stored.memory.id not in known and named & aliases.every(hit.stored.memory.entities)
    ]
    return [MemoryHit(row, 0.0, (ENTITY,)) for row in related[: limit - len(hits)]]


def _depth(limit: int, pool: int) -> int:
    """How deep a lane is asked: as deep for ten hits as for a hundred, that their order be the same."""
    return pool if limit <= 2 * pool else limit


def _by_words(
    world: World,
    keys: Sequence[Key],
    query: str,
    moment: Moment,
    types: Sequence[Type],
    depth: int,
    found: _Found,
) -> bool:
    """The full-text lane; False when it failed."""
    try:
        lane = world.store.search_memories(
            keys, terms.query_terms(query), moment, types=types, limit=depth
        )
    except (Unavailable, Corrupt) as error:
        world.bus.emit("fulltext.failed", degraded=True, problem=error.code)
        return False
    found.rows |= {hit.stored.memory.id: hit.stored for hit in lane}
    found.words = {hit.stored.memory.id: hit.score for hit in lane}
    found.ranks[FULL_TEXT] = list(found.words)
    return True


def _by_meaning(
    world: World,
    keys: Sequence[Key],
    query: str,
    moment: Moment,
    types: Sequence[Type],
    depth: int,
    found: _Found,
    sure: bool,
) -> bool:
    """The vector lane; False when there is none, or it failed."""
    if world.sight is None or not query.strip():
        return False
    near: dict[str, float] = {}
    rows: dict[str, Stored] = {}
    try:
        vector = world.sight.query(query)
        for key in keys:
            scores = world.sight.vectors.scores(shelf_of(key), vector)
            if told := _unfilled(world, shelf_of(key), len(scores)):
                found.degraded.append(told)
            for one, row in _nearest(world, key, scores, moment, types, depth):
                near[one.id], rows[one.id] = one.score, row
            known = {id: row.memory for id, row in found.rows.items() if row.memory.key == key}
            near |= {
                id: one.score
                for id, one in scores.of(list(known)).items()
                if one.digest == _digest(known[id])
            }
    except Unavailable as error:
        world.bus.emit("vectors.unavailable", degraded=True, problem=error.code)
        found.degraded.append(f"{BLIND}: {error.message}")
        return False
    rows |= found.rows
    floors = [world.sight.embedder.floor(vector, cjk) for cjk in (False, True)]
    plain = {id for id, score in near.items() if score < floors[_is_cjk(rows[id].memory)]}
    near = _believed(found.words, near, plain, sure)
    found.rows |= {id: rows[id] for id in near}
    found.near = near
    found.ranks[VECTORS] = sorted(near, key=lambda id: (-near[id], id))[:depth]
    return True


def _nearest(
    world: World, key: Key, scores: Scores, moment: Moment, types: Sequence[Type], depth: int
) -> Iterator[tuple[Near, Stored]]:
    """The `depth` nearest that pass the filters, whatever else lies on the shelf."""
    seen, wanted, found = 0, 2 * depth, 0
    while found < depth and seen < len(scores):
        page = scores.top(wanted)[seen:]
        rows = world.store.valid_memories((key,), [one.id for one in page], moment, types=types)
        for one in page:
            row = rows.get(one.id)
            if row is not None and one.digest == _digest(row.memory) and found < depth:
                found += 1
                yield one, row
        seen, wanted = seen + len(page), 4 * wanted


def _digest(memory: Memory) -> bytes:
    """The hash of what is embedded of a memory: a vector of another text says nothing of this one."""
    return passages.digest(passages.passage_of_memory(memory.name, memory.description, memory.body))


def _is_cjk(memory: Memory) -> bool:
    return terms.is_cjk(memory.description)


def _believed(
    words: Mapping[str, float], near: dict[str, float], plain: Set[str], sure: bool
) -> dict[str, float]:
    """Without what is no nearer than neutral texts are: all of it, when nothing else was found."""
    if sure or not (words or near.keys() - plain):
        return {id: score for id, score in near.items() if id in words or id not in plain}
    return near


def _unfilled(world: World, shelf: Shelf, vectors: int) -> str:
    """What is to be said while a good part of a shelf has no vector yet."""
    if world.sight is None or not world.store.waits(shelf.realm, EMBED, job_key(shelf)):
        return ""
    lacking = world.sight.missing(world.store, world.space, world.moment()).get(shelf, 0)
    if lacking * 10 <= vectors:
        return ""
    return f"{lacking} of {vectors + lacking} {shelf.kind} texts have no vector yet"


def _lanes(found: _Found, id: str) -> tuple[str, ...]:
    return tuple(name for name, ids in found.ranks.items() if id in ids)


def _weighed(world: World, row: Stored, fused: float, moment: Moment) -> float:
    memory = row.memory
    updated = memory.updated_at.astimezone(world.zone).date()
    rate = world.settings.search.time_decay_lambda
    return fusion.classic(fused, updated, memory.confidence, moment.today, rate)


def _by_type(
    world: World, keys: Sequence[Key], moment: Moment, types: Sequence[Type], limit: int
) -> list[MemoryHit]:
    """All that is valid at `moment`, most important first: what is left when no lane works."""
    asked = moment.every or moment.as_of is not None or moment.known_at is not None
    listing = Listing(types=tuple(types), statuses=() if asked else ("active",))
    rows = world.store.memories(keys, listing, moment, limit=5_000)
    if asked:
        valid = world.store.valid_memories(keys, [row.memory.id for row in rows], moment)
        rows = list(valid.values())
    rows.sort(
        key=lambda row: (
            budget.keep_rank(row.memory),
            -row.memory.updated_at.timestamp(),
            row.memory.id,
        )
    )
    return [MemoryHit(row, 0.0, (BY_TYPE,)) for row in rows[:limit]]


# -- messages -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """Where messages are looked for: a realm's of these workspaces, perhaps one session, some roles."""

    realm: Realm
    workspaces: tuple[str, ...]
    session: str | None = None
    roles: tuple[str, ...] = ()

    def admits(self, said: SaidAt) -> bool:
        """Whether a message is among them."""
        return self.session in (None, said.session) and (not self.roles or said.role in self.roles)


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
    if session is not None:  # naming one reaches its messages whatever their workspace
        workspaces = world.store.workspaces_of(realm, session)
    asked = Asked(realm, tuple(workspaces), session, tuple(roles))
    classic = world.settings.search.profile == "classic"
    depth = _depth(limit, fusion.LANE_DEPTH if classic else POOL)
    degraded: list[str] = []
    said = _said(world, asked, query, depth, degraded)
    meant = _meant(world, asked, query, depth, bool(said), degraded)
    if said is None and meant is None:
        return [], tuple(degraded)
    words, near = said or {}, meant.top if meant else {}
    found = {FULL_TEXT: list(words), VECTORS: list(near)}
    if classic:
        ranked = sorted(fusion.rrf(found).items(), key=lambda one: (-one[1], one[0]))
    else:
        ranked = _ranked(world, asked, query, found, meant)
    said_at = world.store.said_at([row for row, _ in ranked])
    best = [one for one in ranked if one[0] in said_at and asked.admits(said_at[one[0]])][:limit]
    rows = world.store.messages_at([row for row, _ in best])
    hits = [
        MessageHit(rows[row], score, _found_by(found, row)) for row, score in best if row in rows
    ]
    return hits, tuple(degraded)


def _found_by(found: Mapping[str, Sequence[int]], row: int) -> tuple[str, ...]:
    return tuple(name for name, ids in found.items() if row in ids) or (CONTEXT,)


def _said(
    world: World, asked: Asked, query: str, depth: int, degraded: list[str]
) -> dict[int, float] | None:
    """By row, best first, what the full-text lane found; None when it failed."""
    try:
        lane = world.store.search_messages(
            asked.realm,
            asked.workspaces,
            terms.query_terms(query),
            session=asked.session,
            roles=asked.roles,
            limit=depth,
        )
    except (Unavailable, Corrupt) as error:
        world.bus.emit("fulltext.failed", degraded=True, problem=error.code)
        degraded.append(f"{FAILED}: {'no messages' if world.sight is None else 'by meaning alone'}")
        return None
    return {hit.row: hit.score for hit in lane}


@dataclass(frozen=True, slots=True)
class _Meant:
    """What the vector lane found: the rows of the nearest, best first, and every shelf's scores."""

    top: dict[int, float]
    shelves: tuple[Scores, ...]

    def of(self, ids: Mapping[int, str]) -> dict[int, float]:
        """The cosines of some rows, whose ids on their shelves are given."""
        found: dict[int, float] = {}
        for scores in self.shelves:
            near = scores.of(list(ids.values()))
            found |= {row: near[id].score for row, id in ids.items() if id in near}
        return found


def _meant(
    world: World, asked: Asked, query: str, depth: int, said: bool, degraded: list[str]
) -> _Meant | None:
    """What the vector lane found; None when there is none, or it failed.

    Where no word was found, nothing is either unless it is nearer than neutral texts are.
    """
    if world.sight is None or not query.strip():
        return None
    try:
        vector = world.sight.query(query)
        shelves = []
        for workspace in dict.fromkeys(asked.workspaces):
            shelf = messages_of(asked.realm, workspace)
            shelves.append(world.sight.vectors.scores(shelf, vector))
            if told := _unfilled(world, shelf, len(shelves[-1])):
                degraded.append(told)
        top = _nearest_rows(world, asked, shelves, depth)
    except Unavailable as error:
        world.bus.emit("vectors.unavailable", degraded=True, problem=error.code)
        degraded.append(f"{BLIND}: {error.message}")
        return None
    floor = min(world.sight.embedder.floor(vector, cjk) for cjk in (False, True))
    if not said and max(top.values(), default=-1.0) < floor:
        return _Meant({}, tuple(shelves))
    return _Meant(top, tuple(shelves))


def _nearest_rows(
    world: World, asked: Asked, shelves: Sequence[Scores], depth: int
) -> dict[int, float]:
    """The rows of the `depth` nearest that are asked for, best first."""
    found: dict[int, float] = {}
    for scores in shelves:
        seen, wanted, here = 0, depth, 0
        while here < depth and seen < len(scores):
            page = scores.top(wanted)[seen:]
            ids = [session_and_id(one.id) for one in page]
            rows = world.store.message_rows(asked.realm, ids)
            held = world.store.said_at(list(rows.values())) if asked.roles else {}
            for one, at in zip(page, ids, strict=True):
                row = rows.get(at)
                if row is None or asked.session not in (None, at[0]):
                    continue
                if asked.roles and not asked.admits(held[row]):
                    continue
                found[row], here = one.score, here + 1
            seen, wanted = seen + len(page), 4 * wanted
    ranked = sorted(found, key=lambda row: (-found[row], row))
    return {row: found[row] for row in ranked[:depth]}


def _ranked(
    world: World, asked: Asked, query: str, found: Mapping[str, Sequence[int]], meant: _Meant | None
) -> list[tuple[int, float]]:
    """Rows with their scores, best first, by `domain.ranking`."""
    wanted = terms.query_terms(query)
    chosen = list(dict.fromkeys(row for rows in found.values() for row in rows))
    beside = [row for rows in found.values() for row in rows[:BESIDE]]
    workspaces = asked.workspaces
    talk = world.store.talk(asked.realm, workspaces, wanted, chosen, beside)
    near: dict[int, float] = {}
    if meant is not None:
        held = world.store.said_at([one.position for one in talk.turns])
        near = meant.of({row: message_id(one.session, one.id) for row, one in held.items()})
    pool = talk.pool | talk.near
    ranked = ranking.rank(wanted, talk.scope, talk.turns, talk.groups, pool, near)
    return [(one.position, one.score) for one in ranked]
