"""What a model may do to a graph: five typed operations, each applied or refused by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeAlias, assert_never

from memstrata.domain.canvas.graph import Graph, Node, Status, file_name, progress
from memstrata.domain.canvas.limits import followed, merged, within
from memstrata.domain.canvas.patches import LinePatch, patch
from memstrata.domain.canvas.text import parse, render
from memstrata.domain.lazy import Regex
from memstrata.errors import Invalid

_PLAN: Final = Regex(
    r"\s*(?:to-?do\b|next(?:\s+steps?)?\s*[:：]|plan(?:ned|s)?(?:\s+to\b|\s*[:：])"
    r"|计划|待办|下一步|接下来)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AddNode:
    """A step that happened. `name` is what the model calls it; the id is given by code.

    `after` is the node it came from: an id, the name of one added before it, or `""` for none.
    """

    label: str
    status: Status = "done"
    summary: str = ""
    after: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SetStatus:
    """A node has another status now."""

    node: str
    status: Status


@dataclass(frozen=True, slots=True)
class SetSummary:
    """A node says something else now."""

    node: str
    summary: str


@dataclass(frozen=True, slots=True)
class Link:
    """One node led to another."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Merge:
    """Two or more nodes become one, under the newest of their ids."""

    nodes: tuple[str, ...]
    label: str = ""
    summary: str = ""


Operation: TypeAlias = AddNode | SetStatus | SetSummary | Link | Merge


@dataclass(frozen=True, slots=True)
class Operated:
    """A graph after operations: why the refused ones were, and where to find nodes since.

    `moved`: the node that took in each one that is gone. `named`: the id of what a model named itself.
    """

    graph: Graph
    refused: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)

    def home(self, name: str) -> str:
        """The id of the node that a model means by `name` (also `N3` alone), `""` when there is none."""
        short = f"{self.graph.number:03d}-{name}"
        for id in (self.named.get(name, name), short):
            found = self.moved.get(id, id)
            if self.graph.node(found):
                return found
        return ""


def operate(graph: Graph, operations: Iterable[Operation], now: datetime) -> Operated:
    """`graph` after the operations that can be applied, in order and within its limits.

    What changes nothing leaves `updated` as it is, so that an unchanged graph has an unchanged text.
    """
    found = Operated(graph)
    for place, operation in enumerate(operations):
        try:
            found = _applied(found, operation, now)
        except Invalid as error:
            refusal = f"operation {place + 1}: {error.problem}"
            found = replace(found, refused=(*found.refused, refusal))
    return _settled(graph, found, now)


def patched(graph: Graph, patches: Sequence[LinePatch], now: datetime) -> Operated:
    """`graph` after line patches on its text: all of them, or none and the reason among the refused.

    They are refused when one of them is bad, when what they make is no graph (`parse`), and when the
    newest node is gone, whose id could then be given again. Other nodes that are gone went to the
    newest one before them. Goal and times stay; a text that says the same is no change.
    """
    try:
        drawn = parse(patch(render(graph), patches), file_name(graph))
        if graph.newest and (drawn.newest is None or drawn.newest.rank < graph.newest.rank):
            raise Invalid("graph", f"node {graph.newest.id} must stay")
    except Invalid as error:
        return Operated(graph, (f"patches: {error}",))
    # The head shows the progress as it was; only another number was given by whoever made the patches.
    untouched = progress(drawn) == progress(graph)
    given = graph.progress_given if untouched else drawn.progress_given
    kept = replace(graph, nodes=drawn.nodes, edges=drawn.edges, progress_given=given)
    gone = [node for node in graph.nodes if drawn.node(node.id) is None]
    moved = {node.id: _nearest(drawn, node) for node in gone}
    return _settled(graph, Operated(kept, (), moved), now)


def propose(
    graph: Graph,
    operations: Iterable[Operation],
    patches: Sequence[LinePatch],
    percent: int | None,
    now: datetime,
) -> Operated:
    """`graph` after all that one answer proposes: patches first, for they number the text it was shown.

    Patches that cannot be taken are refused as a whole, and the operations stand. None for `percent`
    leaves the progress as it was.
    """
    drawn = patched(graph, patches, now) if patches else Operated(graph)
    found = operate(drawn.graph, operations, now)
    if percent is not None:
        found = replace(found, graph=with_progress(found.graph, percent, now))
    moved = followed(drawn.moved, found.moved)
    return replace(found, moved=moved, refused=(*drawn.refused, *found.refused))


def with_progress(graph: Graph, percent: int | None, now: datetime) -> Graph:
    """`graph` with the progress that a model gave, clamped to 0 to 100; None: by the statuses."""
    found = replace(graph, progress_given=percent)
    return found if found == graph else replace(found, updated=now)


def _settled(before: Graph, found: Operated, now: datetime) -> Operated:
    if found.graph != before:
        found = replace(found, graph=replace(found.graph, updated=now))
    fitted = within(found.graph)
    return replace(found, graph=fitted.graph, moved=followed(found.moved, fitted.moved))


def _nearest(graph: Graph, gone: Node) -> str:
    """The newest node that is older than `gone`, else the oldest."""
    older = [node.id for node in graph.nodes if node.rank < gone.rank]
    return older[-1] if older else graph.nodes[0].id


def _applied(found: Operated, operation: Operation, now: datetime) -> Operated:
    graph = found.graph
    match operation:
        case AddNode():
            return _added(found, operation, now)
        case SetStatus(node, status):
            return _changed(found, node, lambda one: replace(one, status=status), now)
        case SetSummary(node, summary):
            return _changed(found, node, lambda one: replace(one, summary=summary), now)
        case Link(source, target):
            ends = _known(found, source), _known(found, target)
            return replace(found, graph=_linked(graph, *ends))
        case Merge(nodes, label, summary):
            ids = dict.fromkeys(_known(found, node) for node in nodes)
            if len(ids) < 2:
                raise Invalid("nodes", "a merge takes two nodes or more")
            one, moved = merged(graph, [*ids], label, summary)
            return replace(found, graph=one, moved=followed(found.moved, moved))
        case other:
            assert_never(other)


def _added(found: Operated, operation: AddNode, now: datetime) -> Operated:
    graph = found.graph
    node = Node(graph.next_id, operation.label, operation.status, operation.summary, now)
    if not node.label:
        raise Invalid("label", "a node needs a label")
    if _PLAN.match(node.label):
        raise Invalid("label", "a node is what happened, not a plan")
    if operation.name in found.named or graph.node(operation.name):
        raise Invalid("node", f"there is a node {operation.name!r} already")
    after = _known(found, operation.after) if operation.after else ""
    made = replace(graph, nodes=(*graph.nodes, node))
    named = {**found.named, operation.name: node.id} if operation.name else found.named
    return replace(found, graph=_linked(made, after, node.id) if after else made, named=named)


def _changed(found: Operated, name: str, change: Callable[[Node], Node], now: datetime) -> Operated:
    id = _known(found, name)
    nodes = []
    for node in found.graph.nodes:
        changed = change(node) if node.id == id else node
        nodes.append(node if changed == node else replace(changed, timestamp=now))
    return replace(found, graph=replace(found.graph, nodes=tuple(nodes)))


def _linked(graph: Graph, source: str, target: str) -> Graph:
    if source == target:
        raise Invalid("link", "a node does not lead to itself")
    if (source, target) in graph.edges:
        return graph
    return replace(graph, edges=(*graph.edges, (source, target)))


def _known(found: Operated, name: str) -> str:
    id = found.home(name)
    if not id:
        raise Invalid("node", f"there is no node {name[:40]!r}")
    return id
