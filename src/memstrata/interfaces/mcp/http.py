"""MCP over streamable HTTP, stateless: an ASGI app to mount, and one that stands alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from memstrata.aio import Threads
from memstrata.interfaces.mcp.identity import Identify, of_request
from memstrata.interfaces.mcp.server import Door
from memstrata.memory import Verbs

PATH: Final = "/mcp"
MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one message."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Scope]]
_Send = Callable[[_Scope], Awaitable[None]]


class StreamableApp:
    """One memory over streamable HTTP, as an ASGI app: `Route("/mcp", endpoint=app)`.

    Whoever mounts it enters `running()` in its own lifespan, once. Nothing is kept between requests,
    so any process of a home may answer any of them.
    """

    def __init__(self, manager: StreamableHTTPSessionManager, threads: Threads) -> None:
        self._manager = manager
        self._threads = threads

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Answer one request. Nothing is kept, so there is nothing to listen to (GET) or to end (DELETE)."""
        if scope["method"] == "POST":
            await self._manager.handle_request(scope, receive, send)
        else:
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests while inside; at the end the verbs that run come to theirs."""
        try:
            async with self._manager.run():
                yield
        finally:
            await self._threads.rest()
            self._threads.close()


def streamable_app(
    memory: Verbs,
    *,
    identify: Identify | None = None,
    language: str = "en",
    hosts: Sequence[str] | None = LOOPBACK,
) -> StreamableApp:
    """The app of `memory`, which stays the caller's to close.

    `identify` says from a request's ASGI scope whose it is (default `of_request`). `hosts` are the names
    that a request's `Host`, and the `Origin` of a page, may have; None where the mounting server has
    looked at both already.
    """
    threads = Threads()
    door = Door(memory, threads, identify or of_request(memory), language)
    manager = StreamableHTTPSessionManager(
        door.server(),
        stateless=True,
        json_response=True,
        security_settings=None if hosts is None else _security(hosts),
        max_request_body_size=MOST_BYTES,
    )
    return StreamableApp(manager, threads)


def standalone(app: StreamableApp) -> Starlette:
    """The app by itself at `/mcp`, for a server that has nothing else."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with app.running():
            yield

    return Starlette(routes=[Route(PATH, endpoint=app)], lifespan=lifespan)


def _security(hosts: Sequence[str]) -> TransportSecuritySettings:
    names = [name for host in hosts for name in (host, f"{host}:*")]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)
