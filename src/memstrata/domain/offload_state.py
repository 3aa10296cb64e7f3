"""What is known of one offload session: its archived results, task graphs, boundaries, and what was folded.

A value with its text form (JSON), which is the truth: the index can be made anew from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final, cast

from memstrata.domain import checks, times
from memstrata.domain.canvas import Graph
from memstrata.domain.offload_entry import STATES, Entry, State
from memstrata.domain.reclaim import Archived, Compacted, Cut, Removed, Replaced, Step
from memstrata.domain.window import Result, digest
from memstrata.errors import Invalid

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST: Final = 80


@dataclass(frozen=True, slots=True)
class Kept:
    """An archived result: its entry, and what tells it again in a list.

    `call` is the id that the host gave, `digest` the hash of the text as it stood there, `size` its
    characters. `masked` counts the secrets that the archive does not hold. `pending`: a model is still
    to say what it was about.
    """

    entry: Entry
    call: str
    digest: str
    name: str
    size: int
    masked: int = 0
    pending: bool = False

    @property
    def key(self) -> str:
        """The id of the result in this session."""
        return self.entry.tool_call_id

    @property
    def file(self) -> str:
        """The name of its file in `refs/`."""
        return self.entry.result_ref.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where a task was judged to begin, go on or end: after `results` of them, at the prompt `prompt`.

    `number` is the graph that was active from there on, 0 for none; `by` who judged.
    """

    results: int
    prompt: str
    number: int
    by: str
    at: datetime
    completed: int = 0
    """The graph that was taken for completed there, 0 for none."""


@dataclass(frozen=True)
class Session:
    """Everything that decides what `assemble` gives. `block` and `history` are our own texts as they stand.

    `anchor` is the identity of the message that the block follows (`""`: it stands behind the system
    messages); it tells of the graph `told`. `moved` leads from nodes that were merged away to those that
    took them in. `asked` is the prompt that a model is still to judge: its identity and its words.
    """

    kept: tuple[Kept, ...] = ()
    graphs: tuple[Graph, ...] = ()
    active: int = 0
    boundaries: tuple[Boundary, ...] = ()
    steps: tuple[Step, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    block: str = ""
    anchor: str = ""
    history: str = ""
    told: int = 0
    asked: tuple[str, str] = ("", "")

    @cached_property
    def by_call(self) -> Mapping[tuple[str, str], Kept]:
        """The archived results by call and hash of the text."""
        return {(one.call, one.digest): one for one in self.kept}

    @cached_property
    def by_key(self) -> Mapping[str, Kept]:
        """The archived results by their ids."""
        return {one.key: one for one in self.kept}

    @cached_property
    def shown(self) -> Mapping[tuple[str, str], str]:
        """The keys of results by call and hash of what stands in their place."""
        found: dict[tuple[str, str], str] = {}
        for step in self.steps:
            if isinstance(step, Replaced | Cut) and (one := self.by_key.get(step.key)):
                found[one.call, digest(step.text)] = step.key
        return found

    @property
    def graph(self) -> Graph | None:
        """The active graph."""
        return self.graph_of(self.active)

    def graph_of(self, number: int) -> Graph | None:
        """The graph of that number."""
        return next((graph for graph in self.graphs if graph.number == number), None)

    def home(self, node: str) -> str:
        """The node that stands for `node` now."""
        return self.moved.get(node, node)

    def find(self, result: Result) -> Kept | None:
        """What is archived of a result, whole or folded."""
        place = (result.id, result.digest)
        return self.by_call.get(place) or self.by_key.get(self.shown.get(place, ""))

    def archived(self, result: Result) -> Archived | None:
        """What folding needs to know of a result."""
        one = self.find(result)
        if one is None:
            return None
        entry = one.entry
        whole = (result.id, result.digest) in self.by_call
        return Archived(one.key, entry.score, fold_text(entry), one.key, folded=not whole)

    @property
    def unmapped(self) -> list[Kept]:
        """The results that have no node yet, in order."""
        return [one for one in self.kept if not one.entry.node_id]

    @property
    def removed(self) -> list[Removed]:
        """What was removed, in the order it went."""
        return [step for step in self.steps if isinstance(step, Removed)]

    def with_graph(self, graph: Graph) -> Session:
        """The session with that graph in the place of the one of its number."""
        others = [one for one in self.graphs if one.number != graph.number]
        graphs = sorted((*others, graph), key=lambda one: one.number)
        return replace(self, graphs=tuple(graphs))

    def placed(self, homes: Mapping[str, str], moved: Mapping[str, str]) -> Session:
        """The session with results in their nodes; `moved`: nodes that went up in others meanwhile."""
        before = {old: moved.get(new, new) for old, new in self.moved.items()}
        kept = (
            replace(one, entry=replace(one.entry, node_id=home))
            if (home := homes.get(one.key, moved.get(one.entry.node_id, one.entry.node_id)))
            != one.entry.node_id
            else one
            for one in self.kept
        )
        return replace(self, kept=tuple(kept), moved={**before, **moved})

    def folded(self, steps: Sequence[Step]) -> Session:
        """The session after more steps, the entries' states with it."""
        states: dict[str, State] = {}
        for step in steps:
            match step:
                case Replaced(key=key) | Cut(key=key):
                    states[key] = "replaced"
                case Removed(keys=keys):
                    states |= dict.fromkeys(keys, "removed")
                case Compacted():
                    pass
        kept = (
            replace(one, entry=replace(one.entry, state=states[one.key]))
            if states.get(one.key, one.entry.state) != one.entry.state
            else one
            for one in self.kept
        )
        return replace(self, kept=tuple(kept), steps=(*self.steps, *steps))

    @property
    def next_number(self) -> int:
        """The number of the next graph; none is given twice."""
        given = [graph.number for graph in self.graphs]
        given += [one.number for one in self.boundaries] + [
            one.completed for one in self.boundaries
        ]
        return 1 + max(given, default=0)

    @property
    def finished(self) -> frozenset[int]:
        """The graphs that were taken for completed and are not active again."""
        done = {one.completed for one in self.boundaries if one.completed}
        return frozenset(done - {self.active})


def fold_text(entry: Entry) -> str:
    """What stands in the place of a replaced result."""
    return (
        f"[Offloaded Tool Result | node: {entry.node_id or '-'}]\n{entry.summary}\n"
        f"ref: {entry.tool_call_id}"
    )


def safe_name(text: str, taken: Iterable[str] = ()) -> str:
    """A file name for an id: its letters, digits, `-` and `_`; where that loses something or is taken,
    with the hash of the id, so that two ids never share one.
    """
    found = _UNSAFE.sub("-", text)[:_LONGEST].strip("-") or "x"
    used = {one.casefold() for one in taken}
    name = found if found == text else f"{found}-{digest(text)[:8]}"
    number = 2
    while name.casefold() in used:
        name = f"{found}-{digest(f'{text}#{number}')[:8]}"
        number += 1
    return name


# -- text form --------------------------------------------------------------------------------------


def entry_line(one: Kept) -> str:
    """One line of `offload.jsonl`, without its line end."""
    entry = one.entry
    fields = {
        "timestamp": times.stamp(entry.timestamp),
        "node_id": entry.node_id,
        "tool_call": entry.tool_call,
        "summary": entry.summary,
        "result_ref": entry.result_ref,
        "tool_call_id": entry.tool_call_id,
        "score": entry.score,
        "state": entry.state,
        "failed": entry.failed,
        "name": one.name,
        "call": one.call,
        "digest": one.digest,
        "size": one.size,
        "masked": one.masked,
        "pending": one.pending,
    }
    return json.dumps(fields, ensure_ascii=True)


def parse_entry(line: str | bytes) -> Kept:
    """The archived result of a line.

    Raises:
        Invalid: the line is no JSON object, or the field that is wrong.
    """
    raw = _object(line)
    at = times.instant("timestamp", raw.get("timestamp"))
    if at is None:
        raise Invalid("timestamp", "is missing")
    if raw.get("state") not in STATES:
        raise Invalid("state", f"{checks.shown(raw.get('state'))} is none of {', '.join(STATES)}")
    entry = Entry(
        at,
        _text(raw, "node_id"),
        _text(raw, "tool_call"),
        _text(raw, "summary"),
        _text(raw, "result_ref"),
        _text(raw, "tool_call_id"),
        _number(raw, "score"),
        cast("State", raw["state"]),
        bool(raw.get("failed")),
    )
    return Kept(
        entry,
        _text(raw, "call"),
        _text(raw, "digest"),
        _text(raw, "name"),
        _number(raw, "size"),
        _number(raw, "masked"),
        bool(raw.get("pending")),
    )


def state_text(session: Session) -> str:
    """All of a session but its results and graphs, as JSON."""
    fields = {
        "active": session.active,
        "boundaries": [_boundary_fields(one) for one in session.boundaries],
        "steps": [_step_fields(one) for one in session.steps],
        "moved": dict(session.moved),
        "block": session.block,
        "anchor": session.anchor,
        "history": session.history,
        "told": session.told,
        "asked": list(session.asked),
    }
    return json.dumps(fields, ensure_ascii=True)


def parse_state(text: str | bytes, kept: Iterable[Kept], graphs: Iterable[Graph]) -> Session:
    """A session from its texts, put right: whoever has a node that is not there has none.

    Raises:
        Invalid: the text is no JSON object, or the field that is wrong.
    """
    raw = _object(text) if text else {}
    graphs = tuple(sorted(graphs, key=lambda one: one.number))
    nodes = {node.id for graph in graphs for node in graph.nodes}
    moved = {str(old): str(new) for old, new in _mapping(raw, "moved").items() if new in nodes}
    asked = [str(one) for one in _list(raw, "asked")]
    found = Session(
        kept=tuple(_homed(one, nodes, moved) for one in kept),
        graphs=graphs,
        active=_number(raw, "active"),
        boundaries=tuple(map(_boundary, _list(raw, "boundaries"))),
        moved=moved,
        block=_text(raw, "block"),
        anchor=_text(raw, "anchor"),
        history=_text(raw, "history"),
        told=_number(raw, "told"),
        asked=(asked[0], asked[1]) if len(asked) == 2 else ("", ""),
    )
    return found.folded([_step(one) for one in _list(raw, "steps")])


def _homed(one: Kept, nodes: set[str], moved: Mapping[str, str]) -> Kept:
    node = moved.get(one.entry.node_id, one.entry.node_id)
    entry = replace(one.entry, node_id=node if node in nodes else "", state="live")
    return replace(one, entry=entry)


def _boundary_fields(one: Boundary) -> dict[str, object]:
    return {
        "results": one.results,
        "prompt": one.prompt,
        "number": one.number,
        "by": one.by,
        "at": times.stamp(one.at),
        "completed": one.completed,
    }


def _boundary(raw: object) -> Boundary:
    fields = _object(raw)
    at = times.instant("at", fields.get("at"))
    if at is None:
        raise Invalid("at", "is missing")
    return Boundary(
        _number(fields, "results"),
        _text(fields, "prompt"),
        _number(fields, "number"),
        _text(fields, "by"),
        at,
        _number(fields, "completed"),
    )


def _step_fields(step: Step) -> dict[str, object]:
    match step:
        case Replaced(key=key, text=text):
            return {"step": "replaced", "key": key, "text": text}
        case Cut(key=key, text=text):
            return {"step": "cut", "key": key, "text": text}
        case Compacted(item=item, at=at, digest=hashed, text=text):
            fields = {"item": item, "at": at, "digest": hashed, "text": text}
            return {"step": "compacted", **fields}
        case Removed(items=items, keys=keys):
            return {"step": "removed", "items": list(items), "keys": list(keys)}


def _step(raw: object) -> Step:
    fields = _object(raw)
    match fields.get("step"):
        case "replaced":
            return Replaced(_text(fields, "key"), _text(fields, "text"))
        case "cut":
            return Cut(_text(fields, "key"), _text(fields, "text"))
        case "compacted":
            item, at = _text(fields, "item"), _number(fields, "at")
            return Compacted(item, at, _text(fields, "digest"), _text(fields, "text"))
        case "removed":
            items, keys = _list(fields, "items"), _list(fields, "keys")
            return Removed(tuple(map(str, items)), tuple(map(str, keys)))
        case other:
            raise Invalid("step", f"{checks.shown(other)} is no step")


def _object(raw: object) -> Mapping[str, Any]:
    if isinstance(raw, str | bytes):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise Invalid("line", f"is no JSON: {error}") from error
    if not isinstance(raw, Mapping):
        raise Invalid("line", "is no JSON object")
    return raw


def _text(raw: Mapping[str, Any], name: str) -> str:
    found = raw.get(name, "")
    if not isinstance(found, str):
        raise Invalid(name, f"expected text, got {type(found).__name__}")
    return found


def _number(raw: Mapping[str, Any], name: str) -> int:
    found = raw.get(name, 0)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise Invalid(name, f"{checks.shown(found)} is no number")
    return found


def _list(raw: Mapping[str, Any], name: str) -> list[Any]:
    found = raw.get(name, [])
    if not isinstance(found, list):
        raise Invalid(name, "expected a list")
    return found


def _mapping(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = raw.get(name, {})
    if not isinstance(found, Mapping):
        raise Invalid(name, "expected an object")
    return found
