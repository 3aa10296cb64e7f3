"""panel: what is remembered, in a browser."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import Annotated, Final

import typer

from memstrata.errors import Invalid
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.out import line
from memstrata.interfaces.cli.serve import until_told
from memstrata.interfaces.cli.texts import say

PANEL = "Look after it"
PORT: Final = 8766


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(app, "panel", PANEL)(panel)


def panel(
    door: Door,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="at which port")
    ] = PORT,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="of a server, instead of the home")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token", metavar="TOKEN", help="the token of that server (else $MEMSTRATA_TOKEN)"
        ),
    ] = None,
) -> Reply:
    """See and correct what is remembered, in a browser on this machine, until told to end."""
    if token is not None and url is None:
        raise Invalid("--token", "goes with --url")
    from memstrata.interfaces.panel.server import PanelServer

    with ExitStack() as stack:
        if url is None:
            memory = stack.enter_context(door.host())
            server = stack.enter_context(PanelServer(memory, port))
        else:
            from memstrata.bootstrap import Memory

            far = Memory.connect(url, token=token or os.environ.get("MEMSTRATA_TOKEN"))
            stack.callback(far.close)
            server = stack.enter_context(PanelServer(far, port, live=False))
        where = server.url
        sys.stderr.write(f"{line(say('the panel is at {url}', url=where))}\n")
        sys.stderr.flush()
        interrupted = until_told(server)
    if interrupted:
        raise KeyboardInterrupt
    return Reply({"url": where}, lambda out: out.text(say("no longer served: {url}", url=where)))
