"""log, workspace list: what was said, and where."""

from __future__ import annotations

from typing import Annotated

import typer

from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli import options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.texts import say

PANEL = "Look things up"


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(app, "log", PANEL)(log)
    workspace = doors.group("Look at the workspaces.", "workspace")
    command(workspace, "list")(workspace_list)
    app.add_typer(workspace, rich_help_panel=PANEL)


def log(
    door: Door,
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="the id of a conversation (else all are listed)"),
    ] = None,
    limit: options.Limit = 50,
    cursor: options.Cursor = None,
    workspace: options.Workspace = None,
) -> Reply:
    """List the conversations, or what was said in one, oldest first."""
    with door.open() as memory:
        if session is None:
            found = memory.sessions()
            return Reply(wire.answer("sessions", found), lambda out: render.sessions(out, found))
        where = door.workspace(memory, workspace)
        page = memory.messages(session, limit=limit, cursor=cursor, workspace=where)
    more = page.cursor
    notes = () if more is None else (say("there is more: --cursor {cursor}", cursor=more),)
    return Reply(wire.answer("messages", page), lambda out: render.messages(out, page), notes)


def workspace_list(door: Door) -> Reply:
    """List the workspaces that are bound to the home."""
    with door.open() as memory:
        found = memory.workspaces()
    return Reply(wire.answer("workspaces", found), lambda out: render.workspaces(out, found))
