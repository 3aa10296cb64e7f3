"""The values of a task graph: nodes, edges, goal; whatever text they are given fits and stands on one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, get_args

from memstrata.domain.lazy import Regex
from memstrata.domain.terms import fold

Status = Literal["done", "doing", "paused", "blocked"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)

MOST_LABEL: Final = 80
MOST_SUMMARY: Final = 150
MOST_GOAL: Final = 200
MOST_SLUG: Final = 30
PLAIN_SLUG: Final = "task"
"""The label of a graph whose words hold nothing that a file name may be made of."""

NODE_ID: Final = Regex(r"(\d{3,9})-N([1-9]\d{0,8})")
_UNSEEN: Final = Regex("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_SEPARATORS: Final = Regex(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Node:
    """A step that happened, holding the calls that made it up.

    `id` is `NNN-Nk`. Texts are made to fit (label 80 characters, summary 150) and to stand on one
    line, the time is UTC in whole seconds: what the text form can hold.
    """

    id: str
    label: str
    status: Status
    summary: str
    timestamp: datetime

    def __post_init__(self) -> None:
        _put(self, "label", fitted(self.label, MOST_LABEL))
        _put(self, "summary", fitted(self.summary, MOST_SUMMARY))
        _put(self, "timestamp", whole(self.timestamp))

    @property
    def rank(self) -> int:
        """The k of `NNN-Nk`."""
        return rank(self.id)


@dataclass(frozen=True, slots=True)
class Graph:
    """A task: its nodes in the order of their ids, and which led to which.

    `label` is made a slug (kebab-case, 30 characters), `goal` fits 200 characters. `progress_given`
    (0 to 100) is what a model said where that differs from what the statuses say.
    """

    number: int
    label: str
    goal: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]
    created: datetime
    updated: datetime
    progress_given: int | None = None

    def __post_init__(self) -> None:
        _put(self, "label", slug(self.label))
        _put(self, "goal", fitted(self.goal, MOST_GOAL))
        _put(self, "created", whole(self.created))
        _put(self, "updated", whole(self.updated))
        _put(self, "nodes", tuple(sorted(self.nodes, key=lambda node: node.rank)))
        given = None if self.progress_given is None else min(100, max(0, self.progress_given))
        _put(self, "progress_given", None if given == counted_progress(self.nodes) else given)

    def node(self, id: str) -> Node | None:
        """The node of that id."""
        return next((node for node in self.nodes if node.id == id), None)

    @property
    def newest(self) -> Node | None:
        """The node that was added last."""
        return self.nodes[-1] if self.nodes else None

    @property
    def next_id(self) -> str:
        """The id of the next node. The newest one is never taken away, so no id comes twice."""
        last = self.newest
        return node_id(self.number, 1 + (last.rank if last else 0))


def empty(number: int, label: str, goal: str, now: datetime) -> Graph:
    """A graph in which nothing has happened yet."""
    return Graph(number, label, goal, (), (), now, now)


def node_id(number: int, rank: int) -> str:
    """`NNN-Nk`."""
    return f"{number:03d}-N{rank}"


def rank(id: str) -> int:
    """The k of `NNN-Nk`, 0 for anything else."""
    found = NODE_ID.fullmatch(id)
    return int(found[2]) if found else 0


def progress(graph: Graph) -> int:
    """0 to 100: as a model gave it, else the share of nodes that are done."""
    given = graph.progress_given
    return counted_progress(graph.nodes) if given is None else given


def counted_progress(nodes: tuple[Node, ...]) -> int:
    """done / all in percent, halves up; 0 without nodes."""
    done = sum(node.status == "done" for node in nodes)
    return (200 * done + len(nodes)) // (2 * len(nodes)) if nodes else 0


def counts(graph: Graph) -> Mapping[Status, int]:
    """How many nodes have each status, every status named."""
    found = Counter(node.status for node in graph.nodes)
    return {status: found[status] for status in STATUSES}


def file_name(graph: Graph) -> str:
    """`NNN-<label>.mmd`; nothing in it could leave its folder."""
    return f"{graph.number:03d}-{graph.label}.mmd"


def slug(text: str) -> str:
    """`text` in kebab-case, at most 30 characters of a-z, 0-9 and `-`, cut between words where that can be.

    A label becomes a file name, so letters of other scripts drop out; the goal keeps them. `task`
    when nothing is left.
    """
    found = _SEPARATORS.sub("-", fold(text)).strip("-")
    if len(found) > MOST_SLUG:
        head = found[: MOST_SLUG + 1].rpartition("-")[0]
        found = (head or found[:MOST_SLUG]).strip("-")
    return found or PLAIN_SLUG


def fitted(text: str, most: int) -> str:
    """`text` on one line, without control characters, cut to `most` characters with an ellipsis."""
    line = " ".join(_UNSEEN.sub(" ", text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def whole(time: datetime) -> datetime:
    """`time` in UTC and whole seconds."""
    return time.astimezone(UTC).replace(microsecond=0)


def _put(value: object, name: str, given: object) -> None:
    object.__setattr__(value, name, given)
