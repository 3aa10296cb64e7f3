"""Reads: search, get, list, history, trace, why. Each answers only from the reader's own view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final, Generic, Literal, TypeVar, cast

from memstrata.domain import codec, layout, lifecycle
from memstrata.domain.memory import Evidence, Status, Type
from memstrata.domain.persona import SCENE
from memstrata.domain.records import MEMORY
from memstrata.domain.scope import Realm, Scope, View
from memstrata.domain.turn import Message
from memstrata.errors import NotFound
from memstrata.pipelines import lanes, portrait
from memstrata.pipelines.portrait import PersonaLine, SceneText
from memstrata.pipelines.world import World
from memstrata.ports import (
    Listing,
    Moment,
    Presence,
    Queued,
    RecordLine,
    Stored,
    ToolRead,
    VerdictRow,
)

Kind = Literal["memory", "message"]
KINDS: Final[tuple[Kind, ...]] = ("memory", "message")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Record:
    """A memory as a reader sees it: its fields, what it is now, and where it stands."""

    id: str
    owner: str
    scope: Scope
    scope_ref: str | None
    type: Type
    name: str
    description: str
    body: str
    confidence: float
    priority: int
    entities: tuple[str, ...]
    origin: str
    authority: str
    evidence: tuple[Evidence, ...]
    scene: str
    note: str
    version: int
    status: Status
    said_at: datetime | None
    happened_from: date | None
    happened_until: date | None
    valid_from: datetime | None
    valid_until: date | None
    invalid_at: datetime | None
    superseded_by: str | None
    created_at: datetime
    updated_at: datetime
    retired_at: datetime | None
    presence: Presence
    problem: str
    path: str
    hit_count: int
    last_hit_at: datetime | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One search hit. `kind` is memory or message; for a message `description` is its content.

    `score` is comparable within one kind of one answer; `lanes` says which searches found it.
    """

    kind: Kind
    id: str
    name: str
    description: str
    content: str
    score: float
    lanes: tuple[str, ...]
    type: str = ""
    scope: str = ""
    status: str = ""
    session: str = ""
    role: str = ""
    said_at: datetime | None = None


class Hits(tuple[Hit, ...]):  # noqa: SLOT001 -- a tuple cannot have slots of its own
    """Hits in order. `degraded` says what could not be searched (empty: nothing), `profile` how they are ranked."""

    degraded: tuple[str, ...]
    profile: str

    def __new__(cls, hits: Sequence[Hit], degraded: tuple[str, ...], profile: str) -> Hits:
        """The hits with what is true of all of them."""
        made = super().__new__(cls, hits)
        made.degraded = degraded
        made.profile = profile
        return made


@dataclass(frozen=True, slots=True)
class Page(Generic[_T]):
    """Some items and, when there are more, the cursor that gets the next ones."""

    items: tuple[_T, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory came from: the quote, its message (None when that is gone), who said it when."""

    evidence: Evidence
    message: Message | None


@dataclass(frozen=True, slots=True)
class Trace:
    """Where something came from and what came of it.

    For a memory: `record`, its `sources`, what it `superseded` and the chain it was superseded by
    (`successors`, nearest first). For a message: `message` and the memories `derived` from it. For a
    `scene`, or a `line` of the persona: the `memories` that it rests on, and their `sources`. Upwards,
    of all of them: the `scenes` and the `lines` of the persona that rest on it; of a line, its scenes.
    """

    record: Record | None = None
    sources: tuple[Source, ...] = ()
    successors: tuple[Record, ...] = ()
    superseded: tuple[Record, ...] = ()
    message: Message | None = None
    derived: tuple[Record, ...] = ()
    scene: SceneText | None = None
    line: PersonaLine | None = None
    memories: tuple[Record, ...] = ()
    scenes: tuple[SceneText, ...] = ()
    lines: tuple[PersonaLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """One version in a memory's history."""

    version: int
    verb: str
    who: str
    why: str
    at: datetime
    name: str
    description: str
    body: str


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A conversation: how many messages it has, and how many of them wait to be extracted."""

    id: str
    messages: int
    waiting: int


def record(world: World, stored: Stored, moment: Moment) -> Record:
    """A row as a reader sees it at `moment`."""
    m = stored.memory
    return Record(
        id=m.id,
        owner=stored.owner,
        scope=m.key.scope,
        scope_ref=m.key.ref or None,
        type=m.type,
        name=m.name,
        description=m.description,
        body=m.body,
        confidence=m.confidence,
        priority=m.priority,
        entities=m.entities,
        origin=m.origin,
        authority=m.authority,
        evidence=m.evidence,
        scene=m.scene,
        note=m.note,
        version=m.version,
        status=m.status(moment.now, world.zone),
        said_at=m.said_at,
        happened_from=m.happened_from,
        happened_until=m.happened_until,
        valid_from=m.valid_from,
        valid_until=m.valid_until,
        invalid_at=m.invalid_at,
        superseded_by=m.superseded_by,
        created_at=m.created_at,
        updated_at=m.updated_at,
        retired_at=m.retired_at,
        presence=stored.presence,
        problem=stored.problem,
        path=str(stored.place),
        hit_count=stored.hits,
        last_hit_at=stored.last_hit_at,
    )


def search(
    world: World,
    view: View,
    query: str,
    moment: Moment,
    *,
    kinds: Sequence[Kind] = KINDS,
    scope: Scope | None = None,
    types: Sequence[Type] = (),
    limit: int = 10,
) -> Hits:
    """Memories first, then messages, at most `limit` of each kind."""
    hits: list[Hit] = []
    degraded: tuple[str, ...] = ()
    if "memory" in kinds:
        keys = [key for key in view.keys if scope is None or key.scope == scope]
        found, degraded = lanes.memories(
            world, keys, query, moment, realm=view.realm, types=types, limit=limit
        )
        hits += [_memory_hit(world, one, moment) for one in found]
    if "message" in kinds and scope is None and not types:
        said, failed = lanes.messages(world, view.realm, workspaces(view), query, limit=limit)
        hits += [message_hit(one) for one in said]
        degraded += failed
    return Hits(hits, tuple(dict.fromkeys(degraded)), world.settings.search.profile)


def workspaces(view: View) -> tuple[str, ...]:
    """The workspace keys whose messages this reader sees: those said in none, and in its own."""
    return ("",) if view.workspace is None else ("", view.workspace)


def _memory_hit(world: World, hit: lanes.MemoryHit, moment: Moment) -> Hit:
    memory = hit.stored.memory
    return Hit(
        kind="memory",
        id=memory.id,
        name=memory.name,
        description=memory.description,
        content="",
        score=hit.score,
        lanes=hit.lanes,
        type=memory.type,
        scope=memory.key.scope,
        status=memory.status(moment.now, world.zone),
        said_at=memory.said_at,
    )


def message_hit(hit: lanes.MessageHit) -> Hit:
    """A message as a hit."""
    message = hit.message
    return Hit(
        kind="message",
        id=message.id,
        name=message.name or message.role,
        description=message.content,
        content=message.content,
        score=hit.score,
        lanes=hit.lanes,
        session=message.session,
        role=message.role,
        said_at=message.said_at,
    )


def stored(world: World, view: View, id: str) -> Stored:
    """The row of a memory that this reader sees.

    Raises:
        NotFound: no such id in the view.
    """
    found = world.store.memory(view.keys, id)
    if found is None:
        raise NotFound("memory", id)
    return found


def page(
    world: World,
    view: View,
    moment: Moment,
    *,
    scope: Scope | None = None,
    listing: Listing,
    limit: int = 50,
    cursor: str = "",
) -> Page[Record]:
    """Memories by id, so that a page stays right while others are added."""
    keys = [key for key in view.keys if scope is None or key.scope == scope]
    rows = world.store.memories(keys, listing, moment, after=cursor, limit=limit + 1)
    items = tuple(record(world, row, moment) for row in rows[:limit])
    return Page(items, items[-1].id if len(rows) > limit else None)


def history(world: World, view: View, id: str) -> tuple[Version, ...]:
    """Every version of a memory, oldest first; of a deleted one too.

    Raises:
        NotFound: no such id in the view.
    """
    lines = _lines(world, view, id)
    return tuple(_version(line.version, line.at, line.data) for line in lines)


def _lines(world: World, view: View, id: str) -> list[RecordLine]:
    """What was recorded of a memory, oldest version first."""
    held = world.store.memory(view.keys, id)
    lines = world.store.records(view.keys if held is None else (held.memory.key,), id)
    if held is None and not lines:
        raise NotFound("memory", id)
    # By version, not by time alone: a clock may have been set back.
    return sorted(lines, key=lambda line: line.version)


def diff(world: World, view: View, id: str, old: int, new: int | None = None) -> str:
    """A unified diff of what two versions of a memory say (`new` None: the newest); `""` when they say the same.

    Raises:
        NotFound: no such id in the view, or no such version.
    """
    lines = {one.version: one for one in _lines(world, view, id) if one.kind == MEMORY}
    number = max(lines, default=0) if new is None else new
    for wanted in (old, number):
        if wanted not in lines:
            raise NotFound("version", str(wanted))
    before, after = (_text(world, view, lines[one]) for one in (old, number))
    return lifecycle.difference(before, after, old_version=old, new_version=number)


def _text(world: World, view: View, line: RecordLine) -> str:
    fields = cast("Mapping[str, object]", line.data["memory"])
    key = view.keys[0]  # a text does not say where it belongs
    return lifecycle.text(codec.from_fields(fields, key, id=line.id, now=line.at, zone=world.zone))


def _version(number: int, at: datetime, data: object) -> Version:
    fields = data if isinstance(data, dict) else {}
    memory = fields.get("memory", {})
    return Version(
        version=number,
        verb=str(fields.get("verb", "")),
        who=str(fields.get("who", "")),
        why=str(fields.get("why", "")),
        at=at,
        name=str(memory.get("name", "")),
        description=str(memory.get("description", "")),
        body=str(memory.get("body", "")),
    )


def trace(
    world: World, view: View, id: str, moment: Moment, *, session: str | None = None
) -> Trace:
    """Where `id` came from and what came of it: a memory's, a message's, a scene's, `persona/<number>`.

    Raises:
        NotFound: no such thing in the view.
        Corrupt: scenes or persona cannot be read.
    """
    held = world.store.memory(view.keys, id) if session is None else None
    if held is not None:
        return _above(world, view, _trace_memory(world, view, held, moment), [held.memory.id])
    seen = workspaces(view)
    for message in world.store.message(view.realm, id, session):
        if message.workspace in seen:
            found = _trace_message(world, view, message, moment)
            return _above(world, view, found, [one.id for one in found.derived])
    if session is None and (below := _trace_page(world, view, id, moment)) is not None:
        return below
    raise NotFound("memory or message", id)


def _above(world: World, view: View, found: Trace, ids: Sequence[str]) -> Trace:
    """With the scenes and the lines of the persona that rest on memories."""
    scenes = [one for one in portrait.scenes(world, view) if _rests_on(one, ids)]
    return replace(found, scenes=tuple(scenes), lines=_lines_on(world, view, ids, scenes))


def _rests_on(scene: SceneText, ids: Sequence[str]) -> bool:
    return any(id in ids for one in scene.paragraphs for id in one.cites)


def _lines_on(
    world: World, view: View, ids: Sequence[str], scenes: Sequence[SceneText]
) -> tuple[PersonaLine, ...]:
    wanted = {*ids, *(one.id for one in scenes)}
    every = portrait.persona_of(world, view.realm).lines
    return tuple(one for one in every if wanted.intersection(one.cites))


def _trace_page(world: World, view: View, id: str, moment: Moment) -> Trace | None:
    """The trace of a scene, or of a line of the persona; None when it is neither."""
    for line in portrait.persona_of(world, view.realm).lines:
        if line.id == id:
            return _trace_line(world, view, line, moment)
    wanted = id.replace(SCENE, f"{layout.GLOBAL}/", 1)
    for scene in portrait.scenes(world, view):
        if scene.id == wanted:
            ids = list(dict.fromkeys(id for one in scene.paragraphs for id in one.cites))
            found = _below(world, view, ids, moment)
            return replace(found, scene=scene, lines=_lines_on(world, view, ids, [scene]))
    return None


def _trace_line(world: World, view: View, line: PersonaLine, moment: Moment) -> Trace:
    """A line, the scenes that it cites or that tell of the same memories, and the memories."""
    every = portrait.scenes(world, view)
    cited = [one for one in every if one.id in line.cites]
    own = [id for id in line.cites if id not in {one.id for one in every}]
    ids = [*own, *(id for scene in cited for one in scene.paragraphs for id in one.cites)]
    found = _below(world, view, list(dict.fromkeys(ids)), moment)
    scenes = tuple(one for one in every if one in cited or _rests_on(one, own))
    return replace(found, line=line, scenes=scenes)


def _below(world: World, view: View, ids: Sequence[str], moment: Moment) -> Trace:
    """The memories behind a text, and the messages behind those."""
    rows = [row for id in ids if (row := world.store.memory(view.keys, id)) is not None]
    return Trace(
        memories=tuple(record(world, row, moment) for row in rows),
        sources=tuple(
            Source(one, _message(world, view, one)) for row in rows for one in row.memory.evidence
        ),
    )


def _trace_memory(world: World, view: View, held: Stored, moment: Moment) -> Trace:
    sources = tuple(Source(one, _message(world, view, one)) for one in held.memory.evidence)
    successors: list[Record] = []
    seen = {held.memory.id}
    following = held.memory.superseded_by
    while following and following not in seen:
        seen.add(following)
        after = world.store.memory((held.memory.key,), following)
        if after is None:
            break
        successors.append(record(world, after, moment))
        following = after.memory.superseded_by
    superseded = world.store.superseded((held.memory.key,), held.memory.id)
    return Trace(
        record=record(world, held, moment),
        sources=sources,
        successors=tuple(successors),
        superseded=tuple(record(world, row, moment) for row in superseded),
    )


def _message(world: World, view: View, evidence: Evidence) -> Message | None:
    found = world.store.message(view.realm, evidence.message, evidence.session or None)
    return found[0] if found else None


def _trace_message(world: World, view: View, message: Message, moment: Moment) -> Trace:
    derived: list[Record] = []
    for key, id in world.store.derived(view.realm, message.session, message.id):
        held = world.store.memory((key,), id) if key in view.keys else None
        if held is not None:
            derived.append(record(world, held, moment))
    return Trace(message=message, derived=tuple(derived))


def sessions(world: World, view: View) -> tuple[SessionInfo, ...]:
    """The reader's conversations, in the order of their first messages."""
    return tuple(SessionInfo(*row) for row in world.store.sessions(view.realm))


def messages(world: World, view: View, session: str, *, limit: int, cursor: int) -> Page[Message]:
    """A conversation's messages that this reader sees, oldest first, those behind position `cursor`."""
    seen = workspaces(view)
    found: list[Queued] = []
    after = cursor
    while len(found) <= limit:
        page = world.store.messages(view.realm, session, after=after, limit=limit + 1)
        if not page:
            break
        found += [one for one in page if one.message.workspace in seen]
        after = page[-1].position
    items = tuple(one.message for one in found[:limit])
    return Page(items, str(found[limit - 1].position) if len(found) > limit else None)


def why(
    world: World,
    view: View,
    *,
    session: str | None = None,
    verdict: str | None = None,
    cursor: int = 0,
    limit: int = 50,
) -> Page[VerdictRow]:
    """What became of each candidate, newest first."""
    rows = world.store.verdicts(
        view.realm, session=session, verdict=verdict, after=cursor, limit=limit + 1
    )
    more = str(rows[limit - 1].number) if len(rows) > limit else None
    return Page(tuple(rows[:limit]), more)


def reads(
    world: World, realm: Realm, *, session: str | None = None, cursor: int = 0, limit: int = 50
) -> Page[ToolRead]:
    """What agents read, newest first."""
    rows = world.store.reads(realm, session=session, after=cursor, limit=limit + 1)
    more = str(rows[limit - 1].number) if len(rows) > limit else None
    return Page(tuple(rows[:limit]), more)
