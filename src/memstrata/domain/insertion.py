"""Our own blocks in the host's list: what they say, and where they stand so that no pair is split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memstrata.domain.canvas import Graph, counts, file_name, progress, render
from memstrata.domain.window import CONTEXT, HISTORY, OTHERS, Count, Window

FARTHEST: Final = 30
"""The block stands at most so many messages before the end of a run of tool calls."""
BIRDS_EYE: Final = 600
"""Tokens of the lines about other tasks, at most."""
REMOVED: Final = "removed"
"""The ref of everything that was removed from a list, all of it together."""
_STATUSES: Final = (
    "done: finished; doing: goes on; paused: set aside; blocked: a dead end, not to be tried again. "
    'recall_result(ref="NNN-Nk", grep="…") opens a node: the full text of its tool results.'
)


@dataclass(frozen=True, slots=True)
class Task:
    """A task as one line tells it. `file` is what `open_task` takes."""

    file: str
    goal: str
    progress: int
    counts: tuple[tuple[str, int], ...]
    updated: datetime


def task(graph: Graph, folder: str = "") -> Task:
    """A graph in short; `folder` is that of another session."""
    file = file_name(graph)
    found = tuple((status, number) for status, number in counts(graph).items() if number)
    whole = f"{folder}/{file}" if folder else file
    return Task(whole, graph.goal, progress(graph), found, graph.updated)


# -- where ------------------------------------------------------------------------------------------


def index(window: Window) -> int:
    """Where the block of the task goes in the list. System messages in front are not counted.

    Of n messages: at most 2: in front; the last real user message in the second half: behind it; else
    where the trailing run of assistant and tool messages begins, at most 30 from the end and before
    the last one. Never between a call and its results.
    """
    lead = window.lead
    items = window.items[lead:]
    n, user = len(items), window.last_user - lead
    if n <= 2:
        return lead
    farther = min(max(_run(window) - lead, n - FARTHEST), n - 1)
    return _outside(window, lead + (user + 1 if user >= n // 2 else farther))


def _run(window: Window) -> int:
    """Where the trailing run of assistant and tool messages begins."""
    start = len(window.items)
    while start > window.lead and window.items[start - 1].kind in ("assistant", "result"):
        start -= 1
    return start


def _outside(window: Window, place: int) -> int:
    """`place`, or before the unit that it would split."""
    while splitting := [unit for unit in window.units if unit[0] < place <= unit[-1]]:
        place = min(unit[0] for unit in splitting)
    return place


# -- what -------------------------------------------------------------------------------------------


def context(
    graph: Graph | None, others: Sequence[Task], count: Count, most: int = 1_000_000
) -> str:
    """The block of the active task with its graph, and below it the lines about other tasks.

    What does not fit `most` tokens is told instead of drawn. `""` where there is neither: a graph in which
    nothing happened yet says nothing.
    """
    parts: list[str] = []
    if graph is not None and graph.nodes:
        drawn = _current(graph, (*_drawn(graph), _STATUSES))
        parts.append(drawn if count(drawn) <= most else _current(graph, _named(graph)))
    room = min(BIRDS_EYE, most - sum(map(count, parts)))
    lines = _fitting(map(line, others), count, room)
    if lines:
        head = "Other tasks, newest first; open_task(file) shows one:"
        parts.append("\n".join((f"<{OTHERS}>", head, *lines, f"</{OTHERS}>")))
    return "\n".join(parts)


def _current(graph: Graph, shown: Iterable[str]) -> str:
    return "\n".join(
        (
            f'<{CONTEXT} file="{file_name(graph)}">',
            f"Goal: {_safe(graph.goal)}",
            *shown,
            f"</{CONTEXT}>",
        )
    )


def _named(graph: Graph) -> Iterator[str]:
    yield f"{len(graph.nodes)} steps; open_task shows them, recall_result(ref, grep) their results."


def _drawn(graph: Graph) -> Iterator[str]:
    yield "```mermaid"
    yield render(graph).replace("```", "'''")
    yield "```"


def history(graphs: Sequence[Graph], removed: int, count: Count, most: int) -> str:
    """The block for `removed` messages, with the graphs they belong to, newest first, in `most` tokens.

    A graph that has no room for its drawing is one line; lines that have none are counted.
    """
    ordered = sorted(graphs, key=lambda graph: (graph.updated, graph.number), reverse=True)
    told = [[line(task(graph))] for graph in ordered]
    taken = len(told)
    while taken and count(_history(told[:taken], len(told) - taken, removed)) > most:
        taken -= 1
    for at, graph in enumerate(ordered[:taken]):
        drawn = [f"{file_name(graph)}: {_safe(graph.goal)}", *_drawn(graph)]
        richer = [*told[:at], drawn, *told[at + 1 :]]
        if count(_history(richer[:taken], len(told) - taken, removed)) <= most:
            told = richer
    return _history(told[:taken], len(told) - taken, removed)


def _history(told: Iterable[Sequence[str]], more: int, removed: int) -> str:
    lines = [text for part in told for text in part]
    if more:
        lines.append(f"- {more} tasks more: list_tasks shows them")
    head = (
        f"{removed} earlier messages are not in this list any more. "
        f'recall_result(ref="{REMOVED}", grep="…") gives their words; a node of a graph, or its file, '
        "the full results."
    )
    return "\n".join((f"<{HISTORY}>", head, *lines, f"</{HISTORY}>"))


def line(one: Task) -> str:
    """`- file: goal (60 %; done 3, doing 2)`."""
    numbers = ", ".join(f"{status} {number}" for status, number in one.counts)
    told = f"{one.progress} %" + (f"; {numbers}" if numbers else "")
    return f"- {_safe(one.file)}: {_safe(one.goal)} ({told})"


def _fitting(lines: Iterable[str], count: Count, most: int) -> list[str]:
    found: list[str] = []
    left = most
    for one in lines:
        left -= count(one) + 1
        if left < 0:
            break
        found.append(one)
    return found


def _safe(text: str) -> str:
    """`text` without what opens or closes a tag or a fence."""
    return text.replace("<", "‹").replace(">", "›").replace("```", "'''")
