"""The size of a graph: 4,000 characters of text, kept by merging the oldest done nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memstrata.domain.canvas.graph import MOST_LABEL, MOST_SUMMARY, Graph, Node, Status, fitted
from memstrata.domain.canvas.text import render

MOST_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Fitted:
    """A graph within its limits; `moved` names the node that took in each one that was merged away."""

    graph: Graph
    moved: Mapping[str, str]


def within(graph: Graph) -> Fitted:
    """`graph` in at most 4,000 characters.

    The two oldest done nodes become one until it fits; when fewer than two are done, the two oldest
    blocked ones, at last the two oldest of any status. A graph of one node always fits.
    """
    moved: dict[str, str] = {}
    while len(render(graph)) > MOST_CHARACTERS and len(graph.nodes) > 1:
        pair = _oldest(graph)
        graph, step = merged(graph, [node.id for node in pair])
        moved = followed(moved, step)
    return Fitted(graph, moved)


def merged(
    graph: Graph, ids: Sequence[str], label: str = "", summary: str = ""
) -> tuple[Graph, dict[str, str]]:
    """`graph` with those nodes as one under the newest of their ids, and what moved where.

    The newest id stays, so that no id is ever given twice. Without a `label` or `summary` the parts'
    own are joined. All that were done stay done; else it has the status of the newest that was not.
    """
    parts = [node for node in graph.nodes if node.id in set(ids)]
    last = parts[-1]
    one = Node(
        last.id,
        label or _joined([part.label for part in parts], MOST_LABEL),
        _status(parts),
        summary or _joined([part.summary for part in parts], MOST_SUMMARY),
        max(part.timestamp for part in parts),
    )
    moved = {part.id: last.id for part in parts if part.id != last.id}
    kept = tuple(one if node.id == last.id else node for node in graph.nodes)
    nodes = tuple(node for node in kept if node.id not in moved)
    return replace(graph, nodes=nodes, edges=_redirected(graph.edges, moved)), moved


def followed(moved: Mapping[str, str], step: Mapping[str, str]) -> dict[str, str]:
    """Both moves as one: whatever went to a node that moved on went along with it."""
    return {**{old: step.get(new, new) for old, new in moved.items()}, **step}


def _oldest(graph: Graph) -> Sequence[Node]:
    ordered = sorted(graph.nodes, key=lambda node: (node.timestamp, node.rank))
    for status in ("done", "blocked"):
        found = [node for node in ordered if node.status == status]
        if len(found) > 1:
            return found[:2]
    return ordered[:2]


def _status(parts: Iterable[Node]) -> Status:
    found: Status = "done"
    for part in parts:
        found = found if part.status == "done" else part.status
    return found


def _joined(texts: Sequence[str], most: int) -> str:
    """The texts in one, each with its share of the room."""
    distinct = [text for text in dict.fromkeys(texts) if text]
    whole = "; ".join(distinct)
    if len(whole) <= most or len(distinct) < 2:
        return fitted(whole, most)
    share = max(8, most // len(distinct) - 2)
    return fitted("; ".join(fitted(text, share) for text in distinct), most)


def _redirected(
    edges: Iterable[tuple[str, str]], moved: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    found = ((moved.get(source, source), moved.get(target, target)) for source, target in edges)
    return tuple(dict.fromkeys(edge for edge in found if edge[0] != edge[1]))
