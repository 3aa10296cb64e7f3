"""mcp."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final
from uuid import uuid4

import typer

from memstrata.domain import checks
from memstrata.interfaces.cli import options, texts
from memstrata.interfaces.cli.door import Door, command
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.bootstrap import Memory
    from memstrata.interfaces.mcp.identity import Identify, Identity

PANEL: Final = "Start here"
_PATIENCE: Final = {"worker.shutdown_seconds": 1}
"""A client ends a server that is still there two seconds after it closed its end; what waits goes on waiting."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(app, "mcp", PANEL)(mcp)


def mcp(
    door: Door,
    workspace: Annotated[
        str | None,
        typer.Option(
            "--workspace",
            metavar="PATH",
            help="a folder of the project (else the bound one you are in)",
        ),
    ] = None,
    agent: options.Agent = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="the session that calls are listed under"),
    ] = None,
    offload: Annotated[
        str | None,
        typer.Option(
            "--offload",
            metavar="ID",
            help="the agent session whose archived tool results and tasks it may read, too",
        ),
    ] = None,
) -> int:
    """Serve MCP over stdin and stdout: the tools by which an agent reads memory."""
    from memstrata.interfaces.mcp import require

    require()
    from memstrata.interfaces.mcp import stdio
    from memstrata.interfaces.mcp.identity import Identity

    ends = stdio.claim()
    if os.isatty(ends[0]):
        sys.stderr.write(
            f"{say('speaking MCP on stdin and stdout, for a client; Ctrl-C ends it')}\n"
        )
    with door.mcp(_PATIENCE) as memory:
        given = Identity(
            workspace=workspace,
            agent=agent,
            session=session or f"mcp-{uuid4().hex[:12]}",
            offload=offload,
        )
        who = _identify(door, memory, given)
        heard = stdio.serve(memory, ends, who, texts.spoken())
    if heard == signal.SIGINT:
        raise KeyboardInterrupt
    return 0


def _identify(door: Door, memory: Memory, given: Identity) -> Identify:
    """Who the client is, checked before it is served; the folder we are started in is its project's."""
    memory.tools(session=given.session, workspace=given.workspace, agent=given.agent)
    if given.offload is not None:
        checks.identity("offload", given.offload)

    def identify(_: object) -> Identity:
        where = door.workspace(memory, given.workspace)  # it may become known while we serve
        return replace(given, workspace=where)

    return identify
