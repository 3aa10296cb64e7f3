"""log: what was said, and what agents read of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memstrata.interfaces import wire
from memstrata.interfaces.cli import options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.reads import more

if TYPE_CHECKING:
    from memstrata.pipelines.read import Page
    from memstrata.ports import ToolRead

PANEL = "Look things up"


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(app, "log", PANEL)(log)


def log(
    door: Door,
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="the id of a conversation (else all are listed)"),
    ] = None,
    called: options.Called = None,
    reads: Annotated[
        bool,
        typer.Option("--reads", help="what agents read by their tools, newest first; no texts"),
    ] = False,
    limit: options.Limit = 50,
    cursor: options.Cursor = None,
    workspace: options.Workspace = None,
) -> Reply:
    """List the conversations, what was said in one, or what agents read by their tools."""
    session = called if session is None else session
    with door.open() as memory:
        if reads:
            return _reads(memory.reads(session=session, limit=limit, cursor=cursor))
        if session is None:
            found = memory.sessions()
            return Reply(wire.answer("sessions", found), lambda out: render.sessions(out, found))
        where = door.workspace(memory, workspace)
        page = memory.messages(session, limit=limit, cursor=cursor, workspace=where)
    return Reply(
        wire.answer("messages", page), lambda out: render.messages(out, page), more(page.cursor)
    )


def _reads(page: Page[ToolRead]) -> Reply:
    return Reply(
        wire.answer("reads", page), lambda out: render.tool_reads(out, page), more(page.cursor)
    )
