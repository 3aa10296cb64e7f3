"""serve, token create|list|revoke: the home for others, and who they are."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final, Protocol

import typer

from memstrata.domain.token import ROLES
from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli import render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.out import line
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    pass


class Ending(Protocol):
    """A server that can be told to end and waited for."""

    def wait(self) -> None:
        """Return when it has ended."""

    def end(self) -> None:
        """Take no more requests. Returns at once."""


PANEL = "Serve others"
_ENDING: Final = (signal.SIGTERM, signal.SIGINT)


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(app, "serve", PANEL)(serve)
    token = doors.group("Make tokens, see them, take them away.", "token")
    for name, function in (("create", create), ("list", list_), ("revoke", revoke)):
        command(token, name)(function)
    app.add_typer(token, rich_help_panel=PANEL)


def serve(
    door: Door,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help="where to listen (else server.host)"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", min=0, max=65_535, help="at which port (else server.port)"
        ),
    ] = None,
) -> Reply:
    """Serve the home over HTTP until told to end; its background work is done meanwhile."""
    from memstrata.interfaces.http.server import Server

    with door.host() as memory, _access_log(), Server(memory, host=host, port=port) as server:
        sys.stderr.write(f"{line(say('memstrata serves {url}', url=server.url))}\n")
        if not server.has_mcp:
            without = say("without MCP at /mcp: it needs pip install 'memstrata[mcp]'")
            sys.stderr.write(f"{say('note')}: {without}\n")
        sys.stderr.flush()
        interrupted = until_told(server)
    if interrupted:
        raise KeyboardInterrupt
    url = server.url
    return Reply({"url": url}, lambda out: out.text(say("no longer served: {url}", url=url)))


def until_told(server: Ending) -> bool:
    """Wait for a signal, and then for the requests in flight; whether it was a SIGINT.

    The second signal ends the process as it would have without us: the system frees the locks, the next
    start heals what was broken off.
    """
    heard: list[int] = []

    def hear(number: int, _: FrameType | None) -> None:
        if heard:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        heard.append(number)
        server.end()

    for one in _ENDING:
        signal.signal(one, hear)
    server.wait()
    return signal.SIGINT in heard


class _access_log:
    """The lines of requests on stderr, as they are: JSON, one a line."""

    def __enter__(self) -> None:
        import logging

        self._handler = logging.StreamHandler()
        self._handler.setFormatter(logging.Formatter("%(message)s"))
        logger = logging.getLogger("memstrata.access")
        logger.addHandler(self._handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False

    def __exit__(self, *_: object) -> None:
        import logging

        logging.getLogger("memstrata.access").removeHandler(self._handler)


def create(
    door: Door,
    role: Annotated[
        str, typer.Option("--role", metavar="|".join(ROLES), help="what it lets its bearer do")
    ] = "writer",
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="what it is for; told by token list")
    ] = "",
    space: Annotated[
        str, typer.Option("--space", metavar="NAME", help="its space; a home of files has one")
    ] = "local",
) -> Reply:
    """Make a token for --owner and print it, this once."""
    with door.open() as memory:
        made = memory.create_token(role=role, note=note, space=space)
    return Reply(
        wire.answer("create_token", made),
        lambda out: out.text(made.secret),
        (say("keep it: it is not shown again; the home keeps a digest"),),
    )


def list_(door: Door) -> Reply:
    """List the tokens of the home, without their secrets."""
    with door.open() as memory:
        found = memory.tokens()
    return Reply(wire.answer("tokens", found), lambda out: render.tokens(out, found))


def revoke(
    door: Door,
    id: Annotated[str, typer.Argument(metavar="ID", help="the id of a token (token list)")],
) -> Reply:
    """Take a token away; from the next request on it opens nothing."""
    with door.open() as memory:
        gone = memory.revoke_token(id)
    return Reply(
        wire.answer("revoke_token", gone), lambda out: out.text(say("revoked: {id}", id=gone.id))
    )
