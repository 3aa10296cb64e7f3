"""A graph as Mermaid text and back. No text in it can be taken for syntax, ours or the renderer's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import isfinite
from typing import Final

from memstrata.domain import times
from memstrata.domain.canvas.graph import (
    NODE_ID,
    PLAIN_SLUG,
    STATUSES,
    Graph,
    Node,
    Status,
    progress,
)
from memstrata.domain.lazy import Regex
from memstrata.errors import Invalid

_FIELD: Final = "graph"
_BREAK: Final = "<br/>"

_HEAD: Final = Regex(r"%%(?!\{)\s*mmd-meta\s*:\s*(\{.*\})\s*")
_DIRECTIVE: Final = Regex(r"\A\s*%%\{(.*?)\}\s*%%", re.DOTALL)
_NAMED: Final = Regex(r"\s*mmd-meta\s*:\s*")
_DIAGRAM: Final = Regex(r"(?:flowchart|graph)(?:\s+(?:TD|TB|LR|RL|BT))?\s*;?")
_NODE: Final = Regex(rf'({NODE_ID.pattern})\["(.*)"\]\s*;?')
_PASSED_OVER: Final = Regex(r"(?:%%|classDef\b|class\b|style\b|linkStyle\b).*")
_ARROW: Final = Regex(r"\s*(?:-{2,}>|-\.+->|={2,}>)\s*(?:\|[^|]*\|\s*)?")
_BREAKS: Final = Regex(r"<br\s*/?>", re.IGNORECASE)
_LABELLED: Final = Regex(r"(status|summary|timestamp)\s*:\s*", re.IGNORECASE)
_FILE: Final = Regex(r"(?:.*/)?(\d{3,9})-([^/]+)\.mmd")

# Escaped: what ends a quoted label, opens a tag, a Markdown string or a formula, starts a comment or
# a directive (renderers look for both anywhere in the text), closes the fence that a graph is shown
# in, or reads as an escape itself.
_SYNTAX: Final = Regex(
    r"[\"<]|^`|`(?=``)|%(?=[%{])|\$(?=\$)|#(?=\w+;)|&(?=#?\w)",
)
# Renderers drop the last semicolon of a line that looks like styling with a colour in it.
_STYLES: Final = Regex("style|classDef")
_COLOUR: Final = Regex(r":(?=\S*#)")
_NAMES: Final = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;"}
"""The escapes with a name, which models read with more ease than numbers."""
_MEANINGS: Final = {name: character for character, name in _NAMES.items()}
_ESCAPE: Final = Regex(r"#(?:(\d{2,3})|quot|lt|gt|amp);")


def render(graph: Graph) -> str:
    """The text of a graph, no line end behind its last line; the same graph has the same text always."""
    head = {
        "taskGoal": graph.goal,
        "progress": progress(graph),
        "createdTime": stamp(graph.created),
        "updatedTime": stamp(graph.updated),
    }
    meta = json.dumps(head, ensure_ascii=False, separators=(",", ":"))
    lines = [f"%% mmd-meta: {_quiet(meta)}", "flowchart TD"]
    lines += [f'    {node.id}["{_told(node)}"]' for node in graph.nodes]
    lines += [f"    {source} --> {target}" for source, target in graph.edges]
    return "\n".join(lines)


def stamp(time: datetime) -> str:
    """`2026-11-30T09:00:00Z`."""
    return f"{times.stamp(time)[:19]}Z"


def _quiet(meta: str) -> str:
    """JSON in which no directive, comment or fence can begin, and no line end of JavaScript stands."""
    hidden = meta.replace("%", "\\u0025").replace("\u2028", "\\u2028")
    hidden = hidden.replace("\u2029", "\\u2029").replace("<", "\\u003c")
    return hidden.replace("```", "\\u0060``")


def _told(node: Node) -> str:
    label, summary = escaped(node.label), escaped(node.summary)
    if _STYLES.search(f"{label} {summary}"):
        label, summary = _COLOUR.sub("#58;", label), _COLOUR.sub("#58;", summary)
    texts = (
        label,
        f"status: {node.status}",
        f"summary: {summary}",
        f"Timestamp: {stamp(node.timestamp)}",
    )
    return _BREAK.join(texts)


def escaped(text: str) -> str:
    """`text` as a quoted Mermaid label may hold it."""
    return _SYNTAX.sub(lambda match: _NAMES.get(match[0], f"#{ord(match[0])};"), text)


def unescaped(text: str) -> str:
    """What `escaped` was given."""
    return _ESCAPE.sub(_meant, text)


def _meant(match: re.Match[str]) -> str:
    return chr(int(match[1])) if match[1] else _MEANINGS[match[0]]


# -- reading ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands above the diagram; None where the text says nothing."""

    goal: str = ""
    progress: int | None = None
    created: datetime | None = None
    updated: datetime | None = None


def parse(text: str, file: str = "") -> Graph:
    """The graph that a text shows; number and label are its `file` name's (`NNN-<label>.mmd`).

    Without one the number is that of its nodes (1 when it has none), the label the goal's. The head
    may also be the directive of the original format. Comments and styling are passed over.

    Raises:
        Invalid: a line that is no node or edge, an edge to a node that is not there, a node that
            stands twice, or has no status or time or another graph's number.
    """
    head, body = _head(text)
    nodes: list[Node] = []
    edges: list[tuple[str, str]] = []
    for place, line in _lines(body):
        if found := _NODE.fullmatch(line):
            nodes.append(_node(found[1], found[4], head, place))
        else:
            edges += _edges(line, place)
    number, label = _numbered(file, nodes, head)
    _check(number, nodes, edges)
    created = head.created or min((node.timestamp for node in nodes), default=None)
    updated = head.updated or max((node.timestamp for node in nodes), default=created)
    if created is None or updated is None:
        raise Invalid(_FIELD, "has neither a head with its times nor a node")
    return Graph(
        number,
        label,
        head.goal,
        tuple(nodes),
        tuple(dict.fromkeys(edges)),
        created,
        updated,
        head.progress,
    )


def _head(text: str) -> tuple[_Head, str]:
    """The head and the text without it."""
    directive = _DIRECTIVE.match(text)
    if directive:
        inner = _NAMED.sub("", directive[1], 1)
        # Lines are counted as they stand in the file.
        rest = "\n" * directive[0].count("\n") + text[directive.end() :]
        return _meta(inner if inner.lstrip().startswith("{") else f"{{{inner}}}"), rest
    for line in text.split("\n"):
        if found := _HEAD.fullmatch(line.strip()):
            return _meta(found[1]), text
    return _Head(), text


def _meta(text: str) -> _Head:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise Invalid(f"{_FIELD}.head", "is no JSON") from None
    if not isinstance(fields, Mapping):
        raise Invalid(f"{_FIELD}.head", "is no JSON object")
    goal = fields.get("taskGoal")
    return _Head(
        goal if isinstance(goal, str) else "",
        _percent(fields.get("progress")),
        times.instant(f"{_FIELD}.createdTime", fields.get("createdTime")),
        times.instant(f"{_FIELD}.updatedTime", fields.get("updatedTime")),
    )


def _percent(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return int(min(100, max(0, value)))


def _lines(body: str) -> Iterator[tuple[int, str]]:
    """The lines that say something behind the one that opens the diagram, with their numbers."""
    opened = False
    for place, raw in enumerate(body.split("\n"), start=1):
        line = raw.strip()
        if not line or line.startswith("%%"):
            continue
        if not opened:
            if not _DIAGRAM.fullmatch(line):
                raise Invalid(f"{_FIELD}, line {place}", "expected `flowchart TD`")
            opened = True
        elif not _PASSED_OVER.fullmatch(line):
            yield place, line
    if not opened:
        raise Invalid(_FIELD, "has no line `flowchart TD`")


def _node(id: str, told: str, head: _Head, place: int) -> Node:
    label, *parts = _BREAKS.split(told)
    fields = {"label": label, "status": "", "summary": "", "timestamp": ""}
    name = "label"
    for part in parts:
        found = _LABELLED.match(part.strip())
        if found and not fields[found[1].lower()]:
            name = found[1].lower()
            fields[name] = part.strip()[found.end() :]
        else:
            name = name if name == "label" else "summary"
            fields[name] = f"{fields[name]} {part}"
    where = f"{_FIELD}, line {place}"
    when = times.instant(f"{where}, Timestamp", fields["timestamp"].strip()) or head.updated
    if when is None:
        raise Invalid(where, f"node {id} has no Timestamp")
    label, summary = unescaped(fields["label"]), unescaped(fields["summary"])
    return Node(id, label, _status(fields["status"], where), summary, when)


def _status(text: str, where: str) -> Status:
    word = text.strip().lower()
    for status in STATUSES:
        if word == status:
            return status
    raise Invalid(where, f"the status is one of {', '.join(STATUSES)}")


def _edges(line: str, place: int) -> list[tuple[str, str]]:
    ids = _ARROW.split(line.removesuffix(";").strip())
    if len(ids) < 2 or not all(map(NODE_ID.fullmatch, ids)):
        raise Invalid(f"{_FIELD}, line {place}", "is neither a node nor an edge")
    return [(one, other) for one, other in pairwise(ids) if one != other]


def _numbered(file: str, nodes: list[Node], head: _Head) -> tuple[int, str]:
    if file:
        found = _FILE.fullmatch(file)
        if found is None:
            raise Invalid("file", "is not named NNN-<label>.mmd")
        return int(found[1]), found[2]
    numbered = NODE_ID.fullmatch(nodes[0].id) if nodes else None
    return int(numbered[1]) if numbered else 1, head.goal or PLAIN_SLUG


def _check(number: int, nodes: list[Node], edges: list[tuple[str, str]]) -> None:
    known: set[str] = set()
    for node in nodes:
        found = NODE_ID.fullmatch(node.id)
        if found is None or int(found[1]) != number:
            raise Invalid(_FIELD, f"node {node.id} is not of graph {number:03d}")
        if node.id in known:
            raise Invalid(_FIELD, f"node {node.id} stands twice")
        known.add(node.id)
    for id in (id for edge in edges for id in edge):
        if id not in known:
            raise Invalid(_FIELD, f"an edge names {id}, which is no node of it")
