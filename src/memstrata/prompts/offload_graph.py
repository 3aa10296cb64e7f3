"""Asking where tool calls belong on the map of a task, and what of the answer is done to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from memstrata.domain.canvas.graph import Graph
from memstrata.domain.canvas.operations import (
    AddNode,
    Link,
    Merge,
    Operation,
    SetStatus,
    SetSummary,
)
from memstrata.domain.canvas.patches import LinePatch
from memstrata.domain.canvas.text import render
from memstrata.domain.offload_entry import Entry
from memstrata.prompts.answers import GraphOperationItem
from memstrata.prompts.template import Rendered, load, one_line


@dataclass(slots=True)
class Proposal:
    """What an answer proposes: operations, line patches, the node of each call, a progress.

    Nodes are named as the model named them; `canvas.Operated.home` knows their ids.
    """

    operations: list[Operation] = field(default_factory=list)
    patches: list[LinePatch] = field(default_factory=list)
    assignments: dict[str, str] = field(default_factory=dict)
    progress: int | None = None


def question(graph: Graph, entries: Sequence[Entry]) -> Rendered:
    """The prompt for `entries` that have no node yet."""
    numbered = (f"{place}| {line}" for place, line in enumerate(render(graph).split("\n"), start=1))
    rendered = load("offload_graph").render(
        next=graph.next_id, graph="\n".join(numbered), calls="\n".join(map(_told, entries))
    )
    return replace(rendered, fault=fault)


def fault(item: GraphOperationItem) -> str:
    """What an operation lacks by its kind, `""` when it is whole."""
    match item.op:
        case "add_node":
            lacking = not item.label and "label"
        case "set_status":
            lacking = (not item.node and "node") or (item.status is None and "status")
        case "set_summary":
            lacking = (not item.node and "node") or (not item.summary and "summary")
        case "link":
            lacking = not (item.node and item.target) and "node and target"
        case "merge":
            lacking = len(item.nodes) < 2 and "two nodes"
        case "assign":
            lacking = not (item.node and item.calls) and "node and calls"
        case "progress":
            lacking = item.progress is None and "progress"
        case "patch":
            lacking = (item.start_line is None or item.end_line is None) and "start_line, end_line"
        case other:
            assert_never(other)
    return f"{item.op} needs {lacking}" if lacking else ""


def read(items: Iterable[GraphOperationItem], entries: Sequence[Entry]) -> Proposal:
    """What the whole ones of `items` propose. Of two nodes for one call the first counts."""
    ids = {one_line(entry.tool_call_id): entry.tool_call_id for entry in entries}
    found = Proposal()
    for place, item in enumerate(item for item in items if not fault(item)):
        name = item.node or f"#{place}"
        found.operations += _operations(item, name)
        if item.start_line is not None and item.end_line is not None and item.op == "patch":
            found.patches.append(LinePatch(item.start_line, item.end_line, item.content))
        if item.op == "progress":
            found.progress = item.progress
        for call in item.calls:
            if id := ids.get(call) or ids.get(call.strip("[]() ")):
                found.assignments.setdefault(id, item.nodes[-1] if item.op == "merge" else name)
    return found


def _operations(item: GraphOperationItem, name: str) -> list[Operation]:
    match item.op:
        case "add_node":
            return [AddNode(item.label, item.status or "done", item.summary, item.after, name)]
        case "set_status" if item.status:
            return [SetStatus(item.node, item.status)]
        case "set_summary":
            return [SetSummary(item.node, item.summary)]
        case "link":
            return [Link(item.node, item.target)]
        case "merge":
            return [Merge(item.nodes, item.label, item.summary)]
        case "assign":
            # A status or summary beside the calls is meant for the node.
            told: list[Operation] = [SetStatus(name, item.status)] if item.status else []
            return [*told, SetSummary(name, item.summary)] if item.summary else told
        case _:
            return []


def _told(entry: Entry) -> str:
    failed = " (failed)" if entry.failed else ""
    return one_line(f"[{entry.tool_call_id}] {entry.tool_call}{failed}: {entry.summary}")
