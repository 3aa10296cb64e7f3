"""What must go with what was forgotten: everything that the index holds of it, in one look.

The tombstones decide, so that what a killed process began is found again from them alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from memstrata.domain import forget, records
from memstrata.domain.memory import Evidence, Memory, normalised_name
from memstrata.domain.records import BATCH, CANDIDATE, CONSOLIDATION, ERASED, MEMORY, RUN
from memstrata.domain.scope import Key, Realm
from memstrata.domain.tombstones import Tombstones
from memstrata.domain.turn import Message
from memstrata.pipelines.reconcile import files, lines
from memstrata.pipelines.sight import message_id
from memstrata.pipelines.world import World
from memstrata.ports import Cursor, RecordLine, Stored

At = tuple[Key, str]
"""A memory: its key and id."""
Part = tuple[str, int]
"""A record line: its transaction and part."""
_WORD: Final = re.compile(r"[\w.-]+")
_QUOTED: Final = re.compile(r'"([^"\\]+)"')
FORGET: Final = "forget"
LESS: Final = "some of its sources were forgotten"
"""Verb and reason of the version that a memory becomes which loses words."""
RELINKED: Final = "what came after it was forgotten"
"""The reason of one that says the same as before."""
SET_ASIDE: Final = "set aside"
"""What is left of why a batch was set aside: a model's error may quote what it read."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A memory that goes: its row if it has one, and every version that was recorded."""

    key: Key
    id: str
    row: Stored | None
    versions: tuple[Memory, ...]
    digests: frozenset[str]
    """Of the bytes that its file ever had."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that loses sources or its successor: the row, and what it says from here on."""

    row: Stored
    after: Memory

    @property
    def is_less(self) -> bool:
        """Whether it says or rests on something else than before."""
        old = self.row.memory
        said = replace(self.after, version=old.version, updated_at=old.updated_at)
        return replace(said, **_standing(old)) != old


def _standing(memory: Memory) -> dict[str, Any]:
    """What is in force, and what came after: no words."""
    return {name: getattr(memory, name) for name in ("superseded_by", "invalid_at", "retired_at")}


@dataclass(frozen=True, slots=True)
class Erasure:
    """All that goes. `lines`: what becomes of a record line, None where it goes without a trace."""

    realm: Realm
    messages: tuple[Message, ...] = ()
    gone: tuple[Gone, ...] = ()
    kept: tuple[Kept, ...] = ()
    lines: Mapping[Part, RecordLine | None] = field(default_factory=dict)
    versions: int = 0
    texts: tuple[str, ...] = ()
    """What the erased versions said and quoted."""
    verdicts: tuple[int, ...] = ()
    cursors: tuple[Cursor, ...] = ()
    redo: tuple[tuple[str, str], ...] = ()
    """(batch, session) to extract again: their messages still say what a memory that goes said."""
    batches: frozenset[str] = frozenset()
    """The batches in which a forgotten message was read."""
    reads: tuple[tuple[Realm, tuple[int, ...]], ...] = ()
    """The calls of agents, by number, that name what goes."""
    answers: tuple[tuple[Realm, tuple[str, ...]], ...] = ()
    """The answers, by key, that tell of what goes or changes."""

    @property
    def sessions(self) -> list[str]:
        """The sessions that lose messages."""
        return list(dict.fromkeys(one.session for one in self.messages))


def gather(world: World, realm: Realm, stones: Tombstones) -> Erasure:
    """What the index holds of what `stones` name, and what rests on it alone."""
    talk = _Talk.read(world, realm, stones)
    held = _Held.read(world, realm)
    gone, kept, bereft = _memories(world, held, stones)
    names = {at[1] for at in gone}
    dirty = [one for one in held.all_lines() if _is_dirty(one, gone.keys(), names, stones)]
    kept = _with_line(held, gone, kept, {(one.tx, one.part) for _, one in dirty})
    now = world.clock.now()
    told = [Kept(held.rows[at], _next(held.rows[at].memory, m, now)) for at, m in kept.items()]
    dirty += _about(held, {*gone, *((o.after.key, o.after.id) for o in told if o.is_less)})
    changed = {
        **{(one.tx, one.part): erased(one) for _, one in dirty},
        **_batches(held.batches, talk),
        **_runs(held, {at[0] for at in gone} | {o.after.key for o in told if o.is_less}),
    }
    found = Erasure(
        realm,
        tuple(talk.forgotten),
        tuple(gone.values()),
        tuple(told),
        _without_trace(changed, held.groups),
        sum(one.kind == MEMORY for _, one in dirty),
        tuple(text for _, one in dirty for text in _texts(one)),
        _verdicts(world, realm, stones, names, talk.read_in(held.batches)),
        tuple(talk.cursors(world)),
        tuple(dict.fromkeys(again for one in bereft for again in talk.redo(one, held.batches))),
        frozenset(talk.read_in(held.batches)),
    )
    return replace(
        found,
        reads=tuple(_reads(world, found, talk.ended(), stones)),
        answers=tuple(_answers(world, found, talk.ended())),
    )


def _next(old: Memory, after: Memory, now: datetime) -> Memory:
    return replace(after, version=old.version + 1, updated_at=max(now, old.updated_at))


# -- what was said ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Talk:
    """A realm's messages in their order: the forgotten ones, and where each stands in its session."""

    realm: Realm
    forgotten: list[Message]
    places: dict[str, dict[str, int]]
    lost: dict[str, set[str]]

    @classmethod
    def read(cls, world: World, realm: Realm, stones: Tombstones) -> _Talk:
        found = cls(realm, [], {}, {})
        for session, _, _ in world.store.sessions(realm):
            places = found.places.setdefault(session, {})
            after = 0
            while page := world.store.messages(realm, session, after=after):
                after = page[-1].position
                for one in page:
                    places[one.message.id] = len(places)
                    if stones.has_message(realm, session, one.message.id):
                        found.forgotten.append(one.message)
                        found.lost.setdefault(session, set()).add(one.message.id)
        return found

    def ended(self) -> frozenset[str]:
        """The sessions of which nothing is left."""
        return frozenset(s for s, lost in self.lost.items() if len(lost) == len(self.places[s]))

    def span(self, line: RecordLine) -> list[str]:
        """The ids of the messages of a batch, in order; none where its ends are not there."""
        places = self.places.get(line.id, {})
        first, last = places.get(str(line.data["first"])), places.get(str(line.data["last"]))
        return [] if first is None or last is None else list(places)[first : last + 1]

    def read_in(self, batches: Iterable[RecordLine]) -> set[str]:
        """The ids of the batches in which a forgotten message was read."""
        return {
            str(line.data["batch"])
            for line in batches
            if line.id in self.lost and self.lost[line.id] & set(self.span(line))
        }

    def cursors(self, world: World) -> Iterator[Cursor]:
        """The cursors that name a forgotten message, naming the one before it that is left."""
        for session, lost in self.lost.items():
            cursor = world.store.cursor(self.realm, session)
            places = self.places[session]
            if cursor.last in lost:
                before = [
                    id for id in places if id not in lost and places[id] < places[cursor.last]
                ]
                yield replace(cursor, last=before[-1] if before else "")

    def redo(self, one: Evidence, batches: Sequence[RecordLine]) -> Iterator[tuple[str, str]]:
        """The batches in which a message that is left was read."""
        mine = [line for line in batches if line.id == one.session]
        for batch, data in records.open_batches(line.data for line in mine).items():
            line = next(line for line in mine if line.data is data)
            if one.message in self.span(line):
                yield batch, one.session


def _batches(found: Sequence[RecordLine], talk: _Talk) -> dict[Part, RecordLine | None]:
    """The lines of batches that name a forgotten message, or quote one perhaps: they name what is left."""
    changed: dict[Part, RecordLine | None] = {}
    for line in found:
        lost = talk.lost.get(line.id, set())
        span = talk.span(line)
        if not lost & {*span, str(line.data["first"]), str(line.data["last"])}:
            continue
        left = [id for id in span if id not in lost]
        if not left:
            changed[line.tx, line.part] = erased(line)
            continue
        data = {**line.data, "first": left[0], "last": left[-1]}
        if "parked" in data:
            data["parked"] = SET_ASIDE
        if data != line.data:
            changed[line.tx, line.part] = replace(line, data=data)
    return changed


# -- memories --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Held:
    """What the index holds of the memories that a realm's words may stand in: rows and record lines."""

    rows: dict[At, Stored] = field(default_factory=dict)
    lines: dict[At, list[RecordLine]] = field(default_factory=dict)
    made_of: dict[At, set[str]] = field(default_factory=dict)
    """By memory that a consolidation made, or a person of a general rule: the memories it was made of."""
    about: list[tuple[Key, RecordLine]] = field(default_factory=list)
    """The lines about general rules and runs of consolidation."""
    batches: list[RecordLine] = field(default_factory=list)
    groups: dict[str, int] = field(default_factory=dict)
    """How many lines of a transaction there are."""

    @classmethod
    def read(cls, world: World, realm: Realm) -> _Held:
        found = cls()
        for key in world.store.keys(world.space):
            if _reaches(realm, key):
                found.rows |= {(key, id): row for id, row in files.rows_of(world, key).items()}
        for owner in world.owners():
            for line in world.store.record_lines(world.space, owner):
                whose = lines.key_of(world, line)
                found.groups[line.tx] = found.groups.get(line.tx, 0) + 1
                if whose is not None and _reaches(realm, whose):
                    found._note_makers(whose, line)
                    if line.id == CONSOLIDATION:
                        found.about.append((whose, line))
                        continue
                    found.lines.setdefault((whose, line.id), []).append(line)
                elif line.kind == BATCH and owner == realm.owner:
                    found.batches.append(line)
        return found

    def _note_makers(self, key: Key, line: RecordLine) -> None:
        match line.kind:
            case "memory":
                into = _superseded_by(line)
                if into and line.data.get("why") == f"merged into {into}":
                    self.made_of.setdefault((key, into), set()).add(line.id)
            case "candidate" if line.data.get("memory"):
                sources = self.made_of.setdefault((key, str(line.data["memory"])), set())
                sources.update(_sources_of(line))
            case _:
                pass

    def all_lines(self) -> Iterator[tuple[At, RecordLine]]:
        """Every line of a memory."""
        return ((at, line) for at, found in self.lines.items() for line in found)


def _reaches(realm: Realm, key: Key) -> bool:
    return key.realm == realm or (key.scope == "project" and key.realm.space == realm.space)


def _memories(
    world: World, held: _Held, stones: Tombstones
) -> tuple[dict[At, Gone], dict[At, Memory], list[Evidence]]:
    """The memories that go, those that change, and the sources that are left of some that go.

    What was made of memories goes with any of them, unless the words that are left hold all of its own.
    """
    made = set[At]()
    while True:
        gone, kept, bereft = _once(world, held, stones, made)
        more = {
            at
            for at, ids in held.made_of.items()
            if at not in gone and any((at[0], id) in gone for id in ids) and at not in kept
        }
        if more <= made:
            return gone, _relinked(world, held, gone, kept), bereft
        made |= more


def _once(
    world: World, held: _Held, stones: Tombstones, made: Set[At]
) -> tuple[dict[At, Gone], dict[At, Memory], list[Evidence]]:
    gone: dict[At, Gone] = {}
    kept: dict[At, Memory] = {}
    bereft: list[Evidence] = []
    for at in held.rows.keys() | held.lines.keys():
        row, found = held.rows.get(at), held.lines.get(at, [])
        since = row.memory.created_at if row else min(line.at for line in found)
        named = stones.has_memory(*at, since) or at in made
        if not named and not any(_sources(one, at, stones) for one in (row, *found)):
            continue
        versions = tuple(lines.recorded(world, one, at[0]) for one in found if one.kind == MEMORY)
        current = row.memory if row else versions[-1]
        if named or (row is None and len(stones.sources(current)) == len(current.evidence)):
            gone[at] = Gone(*at, row, versions, _digests(row, found))
        elif row is not None and stones.sources(current):
            left = forget.remainder(
                current,
                versions,
                partial(stones.has_source, at[0], at[1]),
            )
            if left is None:
                gone[at] = Gone(*at, row, versions, _digests(row, found))
                lost = stones.sources(current)
                bereft += [one for one in current.evidence if one not in lost]
            else:
                kept[at] = left
    return gone, kept, bereft


def _digests(row: Stored | None, found: Sequence[RecordLine]) -> frozenset[str]:
    recorded = {str(line.data["digest"]) for line in found if line.data.get("digest")}
    return frozenset(recorded | ({row.digest} if row is not None else set()))


def _sources(one: Stored | RecordLine | None, at: At, stones: Tombstones) -> bool:
    """Whether a row, or a version that was recorded, rests on something forgotten."""
    match one:
        case None:
            return False
        case Stored(memory=memory):
            return bool(stones.sources(memory))
        case RecordLine():
            return any(stones.has_source(at[0], at[1], source) for source in evidence_of(one))


def evidence_of(line: RecordLine) -> Iterator[Evidence]:
    """The sources that a record line names; nothing else of it is read."""
    fields = line.data.get("memory")
    for one in fields.get("evidence", ()) if isinstance(fields, Mapping) else ():
        start, end = int(one.get("start", 0)), int(one.get("end", 0))
        quote, session = str(one.get("quote", "")), str(one.get("session", ""))
        yield Evidence(str(one.get("message", "")), start, end, quote, session)


def _relinked(
    world: World, held: _Held, gone: Mapping[At, Gone], kept: dict[At, Memory]
) -> dict[At, Memory]:
    """Those that a memory that goes superseded name the next one of the chain that stays, or none.

    That what came after is forgotten does not make what ended true again; but what a memory was made of
    never ended: it is back in use, unless another has its name or place by now.
    """
    for at, row in held.rows.items():
        memory = kept.get(at, row.memory)
        if at in gone or (at[0], memory.superseded_by) not in gone:
            continue
        if at[1] in held.made_of.get((at[0], str(memory.superseded_by)), ()):
            kept[at] = _back(world, memory)
            continue
        seen: set[str] = set()
        following = memory.superseded_by
        while following and (at[0], following) in gone and following not in seen:
            seen.add(following)
            one = gone[at[0], following]
            last = (one.row.memory,) if one.row else one.versions[-1:]
            following = last[0].superseded_by if last else None
        kept[at] = replace(memory, superseded_by=None if following in seen else following)
    return kept


def _back(world: World, memory: Memory) -> Memory:
    """A memory that was merged into one that goes: in use again where nobody took its name or place."""
    now = world.clock.now()
    found = replace(memory, superseded_by=None, invalid_at=None, retired_at=None)
    names = world.store.named(memory.key, normalised_name(memory.name))
    slots = world.store.slot(memory.key, memory.subject, memory.slot) if memory.slot else ()
    taken = any(
        row.memory.id not in (memory.id, memory.superseded_by)
        and row.memory.status(now, world.zone) == "active"
        for row in (*names, *slots)
    )
    return replace(memory, superseded_by=None) if taken else found


def _with_line(
    held: _Held, gone: Mapping[At, Gone], kept: dict[At, Memory], dirty: set[Part]
) -> dict[At, Memory]:
    """Those too whose newest line goes: a row has a line of its version."""
    for at, row in held.rows.items():
        found = [one for one in held.lines.get(at, ()) if one.version == row.memory.version]
        bare = bool(found) and (found[-1].tx, found[-1].part) in dirty
        if bare and at not in gone and at not in kept:
            kept[at] = row.memory
    return kept


def _is_dirty(
    one: tuple[At, RecordLine], gone: Iterable[At], names: set[str], stones: Tombstones
) -> bool:
    """Whether a line holds something forgotten, or names a memory that is."""
    at, line = one
    if at in gone or stones.has_memory(*at, line.at):
        return True
    return bool(_named(line) & names) or _sources(line, at, stones)


def _named(line: RecordLine) -> set[str]:
    """What may be the ids of other memories: in why a version came to be, and what superseded it."""
    fields = line.data.get("memory")
    named = set(_WORD.findall(str(line.data.get("why", ""))))
    return named | ({str(fields.get("superseded_by"))} if isinstance(fields, Mapping) else set())


def _superseded_by(line: RecordLine) -> str:
    fields = line.data.get("memory")
    return str(fields.get("superseded_by") or "") if isinstance(fields, Mapping) else ""


def _sources_of(line: RecordLine) -> set[str]:
    """The memories that a general rule was made of, by a line about it."""
    fields = line.data.get("fields")
    if isinstance(fields, Mapping):
        return {str(one.get("id")) for one in fields.get("sources", ())}
    sources = line.data.get("sources")
    return set(map(str, sources)) if isinstance(sources, list) else set()


def _about(held: _Held, touched: Set[At]) -> Iterator[tuple[At, RecordLine]]:
    """The lines about general rules that were made of what goes or changes, or that became one that goes.

    A rejected one goes as well: what it is known by could be guessed from its words.
    """
    for key, line in held.about:
        ids = {*_sources_of(line), str(line.data.get("memory", ""))}
        if line.kind == CANDIDATE and any((key, id) in touched for id in ids):
            yield (key, line.id), line


def _runs(held: _Held, keys: Set[Key]) -> dict[Part, RecordLine]:
    """The lines of runs over keys that lose something: what they refused, and why, may quote it."""
    changed: dict[Part, RecordLine] = {}
    for key, line in held.about:
        if line.kind == RUN and key in keys:
            problem = SET_ASIDE if line.data.get("problem") else ""
            data = {**line.data, "refused": [], "problem": problem}
            if data != line.data:
                changed[line.tx, line.part] = replace(line, data=data)
    return changed


def erased(line: RecordLine) -> RecordLine:
    """What keeps the place of a line: its group is whole, and nothing is said."""
    return replace(line, kind=ERASED, id="", version=0, data={})


def _without_trace(
    changed: Mapping[Part, RecordLine | None], groups: Mapping[str, int]
) -> dict[Part, RecordLine | None]:
    """A group of which nothing is left goes as a whole."""
    erased: dict[str, int] = {}
    for (tx, _), line in changed.items():
        erased[tx] = erased.get(tx, 0) + (line is not None and line.kind == ERASED)
    return {at: None if erased[at[0]] == groups[at[0]] else line for at, line in changed.items()}


def _texts(line: RecordLine) -> Iterator[str]:
    fields = line.data.get("memory")
    if isinstance(fields, Mapping):
        yield from (str(fields.get(name, "")) for name in ("name", "description", "body", "scene"))
        yield from (one.quote for one in evidence_of(line))


# -- what was read and answered ---------------------------------------------------------------------


def _reads(
    world: World, found: Erasure, ended: frozenset[str], stones: Tombstones
) -> Iterator[tuple[Realm, tuple[int, ...]]]:
    """The calls of agents that name what goes: a memory's id in anybody's, a message or a session in their own."""
    memories = {one.id for one in found.gone}
    said = {id for one in found.messages for id in (one.id, message_id(one.session, one.id))}
    for owner in world.owners():
        realm = Realm(found.realm.space, owner)
        own = realm == found.realm
        names = memories | (said if own else set())
        numbers: list[int] = []
        after = 0
        while page := world.store.reads(realm, after=after, limit=1_000):
            after = page[-1].number
            numbers += [
                one.number
                for one in page
                if names.intersection(one.ids)
                or (
                    own and (one.session in ended or stones.has_session(realm, one.session, one.at))
                )
            ]
        if numbers:
            yield realm, tuple(numbers)


def _answers(
    world: World, found: Erasure, ended: frozenset[str]
) -> Iterator[tuple[Realm, tuple[str, ...]]]:
    """The answers that are kept and tell of what goes or changes: by an id, a session's name, or words."""
    memories = {one.id for one in found.gone} | {one.after.id for one in found.kept}
    own = {id for one in found.messages for id in (one.id, message_id(one.session, one.id))}
    said = [one.content for one in found.messages]
    pieces, _ = forget.pieces([*said, *found.texts])
    forms = [json.dumps(one, ensure_ascii=False)[1:-1] for one in pieces]
    for owner in world.owners():
        realm = Realm(found.realm.space, owner)
        names = memories | (own | ended if realm == found.realm else set())
        keys = tuple(
            key
            for key, body in world.store.answers(realm)
            if names.intersection(_QUOTED.findall(body)) or any(form in body for form in forms)
        )
        if keys:
            yield realm, keys


# -- verdicts --------------------------------------------------------------------------------------


def _verdicts(
    world: World, realm: Realm, stones: Tombstones, names: set[str], read_in: set[str]
) -> tuple[int, ...]:
    """The verdicts on what was drawn from something forgotten, or that name a memory that goes."""
    found: list[int] = []
    after = 0
    while page := world.store.verdicts(realm, after=after, limit=1_000):
        after = page[-1].number
        for row in page:
            one = row.verdict
            told = {one.memory, *_WORD.findall(one.reason)} & names
            quoted = any(stones.has_message(realm, row.session, id) for id in one.quote_of)
            if told or quoted or (row.batch in read_in and not one.quote_of):
                found.append(row.number)
    return tuple(found)


def is_forgotten(world: World, line: RecordLine, realm: Realm, stones: Tombstones) -> bool:
    """Whether a record line that the index does not know holds something forgotten."""
    key = lines.key_of(world, line)
    match line.kind:
        case "memory" | "delete" if key is not None:
            names = {id for id in _named(line) if stones.has_memory(key, id, line.at)}
            return _is_dirty(((key, line.id), line), (), names, stones)
        case "candidate" if key is not None:
            ids = {*_sources_of(line), str(line.data.get("memory", ""))}
            return any(stones.has_memory(key, id, line.at) for id in ids)
        case "batch":
            ends = (str(line.data.get("first")), str(line.data.get("last")))
            return any(stones.has_message(realm, line.id, id) for id in ends)
        case _:
            return False
