"""Asking where one task ends and another begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memstrata.domain.boundary import Judgement
from memstrata.domain.canvas.graph import Graph, counts, file_name, progress
from memstrata.prompts.answers import BoundaryItem
from memstrata.prompts.template import Rendered, indented, load, one_line

MOST_SHOWN: Final = 4_000
"""Characters of the user's message that the model sees."""
MOST_GRAPHS: Final = 20
"""The newest ones, and the active one."""


def question(
    prompt: str, active: Graph | None, graphs: Sequence[Graph], results: int = 0
) -> Rendered:
    """The prompt about what the user says now, `results` tool calls after they said it."""
    shown = [*graphs[-MOST_GRAPHS:]]
    if active is not None and all(graph.number != active.number for graph in shown):
        shown.insert(0, active)
    number = active.number if active else 0
    lines = [told(graph, active=graph.number == number) for graph in shown]
    said = prompt if len(prompt) <= MOST_SHOWN else f"{prompt[:MOST_SHOWN]}…"
    return load("offload_boundary").render(
        graphs="\n".join(lines) or "no task yet", activity=str(results), prompt=indented(said)
    )


def judgement(items: Sequence[BoundaryItem]) -> Judgement | None:
    """What the first item of an answer says; None without one."""
    if not items:
        return None
    item = items[0]
    return Judgement(
        completed=item.taskCompleted,
        long=item.isLongTask,
        continuation=item.isContinuation,
        continuation_graph=item.continuationGraph,
        new_task_label=item.newTaskLabel,
    )


def told(graph: Graph, *, active: bool = False) -> str:
    """A graph on one line: file, goal, progress, how many nodes have which status."""
    tally = ", ".join(f"{count} {status}" for status, count in counts(graph).items() if count)
    mark = " (active)" if active else ""
    return one_line(
        f"{file_name(graph)}{mark}: {graph.goal} — {progress(graph)} %, {tally or 'no nodes yet'}"
    )
