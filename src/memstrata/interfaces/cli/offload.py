"""tasks, recall-result."""

from __future__ import annotations

from typing import Annotated

import typer

from memstrata.interfaces import wire
from memstrata.interfaces.cli import options, render
from memstrata.interfaces.cli.door import Door, Reply, command

PANEL = "Look things up"

OfAgent = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="only of this agent session"),
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(app, "tasks", PANEL)(tasks)
    command(app, "recall-result", PANEL)(recall_result)


def tasks(
    door: Door,
    session: OfAgent = None,
    limit: options.Limit = 20,
    workspace: options.Workspace = None,
) -> Reply:
    """List the tasks of agent sessions, newest first, with what became of their steps."""
    with door.open() as memory:
        where = door.workspace(memory, workspace)
        found = memory.tasks(session=session, limit=limit, workspace=where)
    return Reply(wire.answer("tasks", found), lambda out: render.tasks(out, found))


def recall_result(
    door: Door,
    ref: Annotated[
        str,
        typer.Argument(
            metavar="REF", help="a tool_call_id, a node of a task graph (001-N3), or its file"
        ),
    ],
    session: OfAgent = None,
    start: Annotated[int, typer.Option("--start", metavar="N", help="from this line on")] = 1,
    lines: Annotated[
        int, typer.Option("--lines", metavar="N", help="so many lines, at most 400")
    ] = 200,
    grep: Annotated[
        str | None, typer.Option("--grep", metavar="TEXT", help="only lines that hold this text")
    ] = None,
    workspace: options.Workspace = None,
) -> Reply:
    """Show the full text of an archived tool result."""
    with door.open() as memory:
        found = memory.recall_result(
            ref,
            session=session,
            start=start,
            lines=lines,
            grep=grep,
            workspace=door.workspace(memory, workspace),
        )
    told: dict[str, wire.Json] = {
        "ref": ref,
        "text": str(found),
        "start": found.start,
        "shown": found.shown,
        "lines": found.lines,
        "masked": found.masked,
    }
    return Reply(told, lambda out: out.text(str(found)) if found else None)
