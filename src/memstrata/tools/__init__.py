"""`Memory.tools()`: the read-only tools of an agent, for any host.

What lasts is decided by the pipeline and by people, so no tool writes. Each call is an event, and is
listed (`Memory.reads`, `memstrata log --reads`) with who called, in which session, and which ids it was
given; no text of either side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final

from memstrata.domain import checks
from memstrata.domain.memory import Type, parse_type
from memstrata.domain.scope import View
from memstrata.errors import Corrupt, Invalid, MemstrataError, Unavailable
from memstrata.pipelines import apply, lanes, portrait, read, recall
from memstrata.pipelines.bind import Workspace
from memstrata.pipelines.recall import Asker
from memstrata.pipelines.world import World
from memstrata.ports import ToolRead
from memstrata.prompts.tools import LIMIT, MOST, QUERY, SHAPES, TOOLS, Shape
from memstrata.tools import texts
from memstrata.tools.texts import Language, Voice

CONTEXT: Final = "memory_context"
"""The name under which a context that was asked for is listed."""
_MESSAGE: Final = 1_000_000
"""Characters of a message that are looked at."""
RESOURCE: Final = "memstrata://memories"
"""The name under which a memory that was read as a resource is listed."""
PERSONA: Final = "memstrata://persona"
SCENES: Final = "memstrata://scenes"
"""The same for the persona, and for a scene."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answers: `text` for the model, the `ids` that stand in it, the code of an `error` or `""`."""

    text: str
    ids: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a call found: the text, the ids in it, and the memories that count a hit."""

    text: str
    ids: tuple[str, ...]
    hits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads by a call: the world under the workspace's settings, the view, the workspace."""

    world: World
    view: View
    workspace: Workspace | None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the door, and where it says so the program behind it; the session; the language of notes."""

    name: str
    session: str
    language: Language


class Tools:
    """The tools of one caller. Each method answers as the model is to read it, or raises; `call` never does."""

    def __init__(self, zone: tzinfo, reader: Callable[[], Reader], caller: Caller) -> None:
        self._reader = reader
        self._caller = caller
        self._voice = Voice(caller.language, zone)

    def search_memory(self, query: str, type: str | None = None, limit: int = LIMIT) -> ToolAnswer:
        """The ids and descriptions of what is valid now, best first; a note says what could not be searched.

        Raises:
            Invalid: `query` has not 1 to 500 characters, `type` is none, `limit` not 1 to 20.
            Denied: memory is switched off.
        """
        asked, most = _query(query), _limit(limit)
        types: tuple[Type, ...] = () if type is None else (parse_type(type),)

        def find(reader: Reader) -> _Found:
            world, view = reader.world, reader.view
            hits, degraded = lanes.memories(
                world, view.keys, asked, world.moment(), realm=view.realm, types=types, limit=most
            )
            rows = [hit.stored for hit in hits]
            ids = tuple(row.memory.id for row in rows)
            return _Found(texts.found(self._voice, rows, degraded), ids)

        return self._answered("search_memory", find)

    def recall_memory(self, id: str) -> ToolAnswer:
        """A memory whole, under a warning where it no longer holds; its hit count goes up by one.

        Raises:
            Invalid: `id` is none.
            NotFound: no such id in the caller's view.
            Denied: memory is switched off.
        """
        wanted = checks.ref("id", id)
        return self._answered(
            "recall_memory", lambda reader: self._whole(reader, wanted, (wanted,))
        )

    def resource(self, id: str) -> ToolAnswer:
        """`recall_memory` for a host that shows a memory as a resource: no hit is counted.

        Raises:
            As `recall_memory`.
        """
        wanted = checks.ref("id", id)
        return self._answered(RESOURCE, lambda reader: self._whole(reader, wanted))

    def persona(self) -> ToolAnswer:
        """Who the person is and how to work with them, each line with what it rests on; "" while that is unknown.

        Raises:
            Denied: memory is switched off.
            Corrupt: what is known of its versions cannot be read.
        """

        def find(reader: Reader) -> _Found:
            found = portrait.persona_of(reader.world, reader.view.realm)
            pieces = [(one.section, one.text, one.cites) for one in found.lines]
            return _Found(texts.cited("Persona", pieces) if pieces else "", _cites(pieces))

        return self._answered(PERSONA, find)

    def scene(self, name: str) -> ToolAnswer:
        """The scene of that name, or id, each paragraph with what it rests on.

        Raises:
            Invalid: `name` is none.
            NotFound: there is none that the caller sees.
            Denied: memory is switched off.
            Corrupt: what is known of its versions cannot be read.
        """
        wanted = checks.identity("name", name)

        def find(reader: Reader) -> _Found:
            found = portrait.scene_named(reader.world, reader.view, wanted)
            pieces = [(one.section, one.text, one.cites) for one in found.paragraphs]
            return _Found(texts.cited(found.name, pieces), _cites(pieces))

        return self._answered(SCENES, find)

    def search_conversations(
        self, query: str, limit: int = LIMIT, session: str | None = None
    ) -> ToolAnswer:
        """Messages word for word with ids and times, best first: those said in no workspace and in the caller's.

        Raises:
            Invalid: `query` has not 1 to 500 characters, `limit` not 1 to 20, `session` is none.
            Denied: memory is switched off.
        """
        asked, most = _query(query), _limit(limit)
        named = None if session is None else checks.identity("session", session)

        def find(reader: Reader) -> _Found:
            seen = read.workspaces(reader.view)
            hits, degraded = lanes.messages(
                reader.world, reader.view.realm, seen, asked, session=named, limit=most
            )
            # A session that is named is searched whole, also what it said in another workspace.
            shown = [hit.message for hit in hits if hit.message.workspace in seen]
            ids = tuple(message.id for message in shown)
            return _Found(texts.said(self._voice, shown, degraded), ids)

        return self._answered("search_conversations", find)

    def trace_memory(self, id: str) -> ToolAnswer:
        """Where a memory came from, what superseded it and what it superseded.

        Raises:
            Invalid: `id` is none.
            NotFound: no such id in the caller's view.
            Denied: memory is switched off.
        """
        wanted = checks.ref("id", id)

        def find(reader: Reader) -> _Found:
            world, view, moment = reader.world, reader.view, reader.world.moment()
            row = read.stored(world, view, wanted)
            record = read.record(world, row, moment)
            found = read.trace(world, view, wanted, moment)
            mine = row.owner == view.realm.owner
            chain = (*found.successors, *found.superseded)
            quoted = [one.evidence.message for one in found.sources] if mine else []
            ids = (wanted, *(one.id for one in chain), *quoted)
            return _Found(texts.trace(self._voice, row, record, found, mine), ids)

        return self._answered("trace_memory", find)

    def memory_context(self, message: str, max_tokens: int | None = None) -> ToolAnswer:
        """What a model should be told before it answers `message`: the stable part, then the turn's.

        Raises:
            Invalid: `message` is no text, `max_tokens` no number of tokens.
            Denied: memory is switched off.
        """
        asked = checks.string("message", message)[:_MESSAGE]

        def find(reader: Reader) -> _Found:
            context = recall.recall(reader.world, self._asker(reader), asked, max_tokens)
            text = "\n".join(filter(None, (context.stable, context.turn)))
            told = tuple(one.id for one in context.items if one.part == "turn")
            return _Found(text, tuple(one.id for one in context.items), told)

        return self._answered(CONTEXT, find)

    def call(self, name: str, arguments: object) -> ToolAnswer:
        """Answer a call as a provider sent it: `arguments` are an object or its JSON text.

        Nothing is raised that a model can cause, nor where the disk says no: the answer has an `error`
        then, and its text says what to do.
        """
        try:
            verb = self._verb(name)
            return verb(**_arguments(name, arguments))
        except MemstrataError as error:
            return ToolAnswer(texts.failed(self._voice, error), error=error.code)

    def schemas(self, shape: Shape = "openai") -> list[dict[str, object]]:
        """Every tool as OpenAI's chat completions or Anthropic's messages take it.

        Raises:
            Invalid: another shape.
        """
        if shape not in SHAPES:
            raise Invalid("shape", f"{checks.shown(shape)} is none of {', '.join(SHAPES)}")
        return [SHAPES[shape](tool) for tool in TOOLS]

    # -- inside -------------------------------------------------------------------------------

    def _whole(self, reader: Reader, id: str, hits: tuple[str, ...] = ()) -> _Found:
        row = read.stored(reader.world, reader.view, id)
        record = read.record(reader.world, row, reader.world.moment())
        return _Found(texts.whole(self._voice, row, record), (id,), hits)

    def _answered(self, tool: str, find: Callable[[Reader], _Found]) -> ToolAnswer:
        """What `find` gives; the call is listed, also one that failed, then without an id."""
        reader = self._reader()
        try:
            found = find(reader)
        except MemstrataError as error:
            self._note(reader, tool, error.code)
            raise
        self._note(reader, tool, "ok", found.ids, found.hits)
        return ToolAnswer(found.text, found.ids)

    def _note(
        self,
        reader: Reader,
        tool: str,
        outcome: str,
        ids: Sequence[str] = (),
        hits: Sequence[str] = (),
    ) -> None:
        """List the call. Where that cannot be written the answer stands all the same, and it is said."""
        world, view, caller = reader.world, reader.view, self._caller
        one = ToolRead(
            at=world.clock.now(),
            caller=caller.name,
            agent=view.agent or "",
            session=caller.session,
            workspace=view.workspace or "",
            tool=tool,
            outcome=outcome,
            ids=tuple(dict.fromkeys(ids)),
        )
        try:
            apply.note_read(world, view.realm, one, view.keys, hits)
        except (Unavailable, Corrupt) as error:
            world.bus.emit("reads.unlogged", degraded=True, tool=tool, problem=error.code)
        world.bus.emit(
            "tool.called",
            tool=tool,
            caller=caller.name,
            owner=view.realm.owner,
            agent=one.agent,
            session=one.session,
            outcome=outcome,
            ids=one.ids,
        )

    def _asker(self, reader: Reader) -> Asker:
        bound, agent = reader.workspace, reader.view.agent or ""
        name, folder = (bound.name, Path(bound.root).name) if bound else (None, "")
        return Asker(reader.view, self._caller.session, agent, name, folder)

    def _verb(self, name: object) -> Callable[..., ToolAnswer]:
        for tool in TOOLS:
            if tool.name == name:
                return getattr(self, tool.name)  # type: ignore[no-any-return]
        known = ", ".join(tool.name for tool in TOOLS)
        raise Invalid("name", f"there is no tool {checks.shown(name)}; use one of {known}")


def _arguments(name: str, given: object) -> dict[str, Any]:
    """The arguments of a call, each one that the tool takes; null is one that was left out.

    Raises:
        Invalid: they are no object, or one is missing or too many.
    """
    found = given
    if isinstance(given, str):
        found = None
        with suppress(ValueError, RecursionError):
            found = json.loads(given)
    if not isinstance(found, Mapping):
        raise Invalid("arguments", "expected one JSON object")
    (tool,) = (one for one in TOOLS if one.name == name)
    for one in found:
        if one not in tool.parameters:
            known = ", ".join(tool.parameters)
            raise Invalid("arguments", f"{name} takes no {checks.shown(one)}; it takes {known}")
    chosen = {one: value for one, value in found.items() if value is not None}
    for one in tool.required:
        if one not in chosen:
            raise Invalid(one, "is missing")
    return chosen


def _cites(pieces: Sequence[tuple[str, str, tuple[str, ...]]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id for _, _, ids in pieces for id in ids))


def _query(value: object) -> str:
    if not isinstance(value, str):
        raise Invalid("query", f"expected text, got {type(value).__name__}")
    if not 1 <= len(value) <= QUERY or not value.strip():
        raise Invalid("query", f"has {len(value)} characters; use 1 to {QUERY}, not all blank")
    return value.encode("utf-8", "replace").decode()


def _limit(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON has one kind of number
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise Invalid("limit", f"{checks.shown(value)} is not between 1 and {MOST}")
    return value
