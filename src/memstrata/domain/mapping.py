"""Which node of a task graph a tool result belongs to: each to exactly one, whatever a model forgot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memstrata.domain.canvas.graph import Graph, Node, Status
from memstrata.domain.canvas.limits import within
from memstrata.domain.canvas.operations import Operated
from memstrata.domain.offload_entry import Entry
from memstrata.domain.summarise.calls import step


@dataclass(frozen=True, slots=True)
class Placed:
    """A graph, and where the entries that were placed live in it.

    `homes`: the node of every one of those entries, by tool_call_id. `moved`: the node that took in
    each one that is gone, for the entries that were placed before. `refused`: why some operations were.
    """

    graph: Graph
    homes: Mapping[str, str]
    moved: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()


def place(operated: Operated, entries: Sequence[Entry], assignments: Mapping[str, str]) -> Placed:
    """`entries` in the graph after a model's operations; nodes may be assigned by the names it gave them."""
    known = {id: home for id, name in assignments.items() if (home := operated.home(name))}
    found = backfill(operated.graph, entries, known)
    moved = {old: found.moved.get(new, new) for old, new in operated.moved.items()}
    return replace(found, moved={**found.moved, **moved}, refused=operated.refused)


def backfill(graph: Graph, entries: Sequence[Entry], assignments: Mapping[str, str]) -> Placed:
    """Every entry with a node: as assigned (tool_call_id → node id) where that node exists.

    The others go to the most frequent node of the batch (of several the newest), else to the newest
    of the graph, else to a new one that is named after the first of them. Assignments of calls that
    are not in the batch are passed over.
    """
    known = {node.id: node for node in graph.nodes}
    homes = {
        entry.tool_call_id: assignments[entry.tool_call_id]
        for entry in entries
        if assignments.get(entry.tool_call_id) in known
    }
    left = [entry for entry in entries if entry.tool_call_id not in homes]
    if not left:
        return Placed(graph, homes)
    if homes:
        tally = Counter(homes.values())
        home = max(tally, key=lambda id: (tally[id], known[id].rank))
    elif graph.newest:
        home = graph.newest.id
    else:
        return by_rules(graph, left)
    return Placed(graph, homes | {entry.tool_call_id: home for entry in left})


def by_rules(graph: Graph, entries: Sequence[Entry]) -> Placed:
    """`entries`, in order, as nodes without a model: one for each run of calls to a tool on one target.

    A run that ends in an error is `blocked`, any other `done`. When the same call works later, the
    blocked node was no dead end and is `done` too; success by another way leaves it blocked. A step
    comes from the newest one that was no dead end.
    """
    homes: dict[str, str] = {}
    made = graph
    for entry in entries:
        made = _run(made, entry)
        homes[entry.tool_call_id] = made.nodes[-1].id
    fitted = within(made)
    return Placed(
        fitted.graph, {id: fitted.moved.get(home, home) for id, home in homes.items()}, fitted.moved
    )


def _run(graph: Graph, entry: Entry) -> Graph:
    """`graph` with an entry in its newest node, or in one that is added for it."""
    label, when = step(entry.tool_call), entry.timestamp
    status: Status = "blocked" if entry.failed else "done"
    node = Node(graph.next_id, label, status, entry.summary, when)
    last = graph.newest
    if last and last.label == node.label:
        nodes = (*graph.nodes[:-1], replace(node, id=last.id))
        return _reopened(replace(graph, nodes=nodes, updated=max(graph.updated, when)))
    open = [one.id for one in graph.nodes if one.status != "blocked"]
    come_from = open[-1] if open else last.id if last else ""
    edges = ((come_from, node.id),) if come_from else ()
    return _reopened(
        replace(
            graph,
            nodes=(*graph.nodes, node),
            edges=(*graph.edges, *edges),
            updated=max(graph.updated, when),
        )
    )


def _reopened(graph: Graph) -> Graph:
    """`graph` after its newest node: where that worked, the same call was no dead end before."""
    last = graph.nodes[-1]
    if last.status != "done":
        return graph
    return replace(
        graph, nodes=tuple(_resolved(node, last, last.timestamp) for node in graph.nodes)
    )


def _resolved(node: Node, last: Node, when: datetime) -> Node:
    if node.status == "blocked" and node.label == last.label:
        return replace(node, status="done", timestamp=when)
    return node
