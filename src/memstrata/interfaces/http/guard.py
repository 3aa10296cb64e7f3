"""What stands before every request: where it comes from, who asks, how much, how often, how long.

Pure ASGI, so that it costs little and holds for whatever is mounted behind it. Each request is told in
the log and the metrics here: method, route, status, milliseconds, bytes and the token's id, never a
query, a body or a token.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from memstrata.errors import Internal, Invalid, MemstrataError, Unavailable
from memstrata.hosting import Hosted
from memstrata.interfaces.http import problems
from memstrata.interfaces.http.calls import Reply, refusal
from memstrata.interfaces.http.identity import Doorkeeper, Identity, refuse_foreign
from memstrata.interfaces.http.limits import Buckets
from memstrata.interfaces.http.metrics import Metrics
from memstrata.pipelines.answers import FIELD as KEY
from memstrata.routes import SHOWN

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

IDENTITY: Final = "memstrata.identity"
"""Where the scope of a request says who asks (an `Identity`), also to what is mounted."""
OPEN: Final = ("/healthz", "/readyz", "/openapi.json")
"""Paths that tell nothing of anybody and need no token."""
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": f"Authorization, Content-Type, If-Match, If-None-Match, {KEY}, {SHOWN}",
    "Access-Control-Max-Age": "600",
}
"""What a browser is told that asks whether a page of an allowed origin may send a request."""
_LOGGER: Final = logging.getLogger("memstrata")
_ACCESS: Final = logging.getLogger("memstrata.access")


@dataclass(slots=True)
class _Exchange:
    """One request and how far it is answered."""

    scope: Scope
    send: Send
    headers: dict[bytes, bytes]
    began: float
    identity: Identity | None = None
    origin: str = ""
    """Of a page elsewhere that may read the answer; `""` for none."""
    status: int = 0
    sent: int = 0
    over: bool = False

    async def sending(self, message: Message) -> None:
        """Send on, unless the request was answered in another way meanwhile."""
        if self.over:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self.origin:
                message["headers"] = [*message.get("headers", ()), *_shared(self.origin)]
        elif message["type"] == "http.response.body":
            self.sent += len(message.get("body", b""))
        await self.send(message)

    async def refuse(self, error: MemstrataError) -> None:
        """Answer with a problem, if nothing was answered yet."""
        if not self.status:
            reply = refusal(error, error.http_status)
            await respond(self.sending, reply, close=reply.status == problems.TooLarge.http_status)

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")


class Guard:
    """An ASGI app around `app`."""

    def __init__(
        self,
        app: App,
        hosted: Hosted,
        doorkeeper: Doorkeeper,
        metrics: Metrics,
        long: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._settings = hosted.settings
        self._doorkeeper = doorkeeper
        self._metrics = metrics
        self._long = frozenset(long)
        self._buckets = Buckets(self._settings.requests_per_second, self._settings.burst)
        self._left: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the lifespan goes through as it is."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, send, dict(scope["headers"]), monotonic())
        self._metrics.began()
        try:
            await self._answer(exchange, receive)
        finally:
            self._tell(exchange)

    async def _answer(self, exchange: _Exchange, receive: Receive) -> None:
        scope = exchange.scope
        patience = (
            self._settings.long_seconds
            if scope["path"] in self._long
            else self._settings.deadline_seconds
        )
        try:
            self._look(exchange)
            if exchange.origin and scope["method"] == "OPTIONS":
                await respond(exchange.sending, Reply(204, headers=_PREFLIGHT))
                return
            self._admit(exchange)
            async with asyncio.timeout(patience):
                body = await self._body(exchange, receive)
            await self._within(exchange, _replayed(body, receive), patience)
        except MemstrataError as error:
            await exchange.refuse(error)
        except TimeoutError:
            await exchange.refuse(Unavailable(f"the body did not come within {patience:g} s"))
        except Exception as error:  # the outermost door: a bug is told and logged
            _LOGGER.error("http.failed %s", type(error).__name__, exc_info=error)
            await exchange.refuse(Internal("the request could not be answered"))

    def _look(self, exchange: _Exchange) -> None:
        """Look where a request comes from.

        Raises:
            Denied: from elsewhere.
        """
        settings = self._settings
        local = (exchange.scope.get("server") or ("", 0))[0]
        origin = exchange.header(b"origin") if b"origin" in exchange.headers else None
        host = exchange.header(b"host")
        refuse_foreign(host, origin, local, settings.allowed_hosts, settings.allowed_origins)
        if origin in settings.allowed_origins:
            exchange.origin = origin or ""

    def _admit(self, exchange: _Exchange) -> None:
        """Let in who may, as who they are.

        Raises:
            MemstrataError: why not.
        """
        scope = exchange.scope
        address = (scope.get("client") or ("", 0))[0]
        caller = address
        if scope["path"] not in OPEN:
            try:
                found = self._doorkeeper.identify(exchange.header(b"authorization"), address)
            except problems.Unknown:
                self._slow_down(f"unknown {address}")
                raise
            exchange.identity = scope[IDENTITY] = found
            if found.paths:
                return  # the owner on this machine, who could do as much without us
            caller = found.id
        self._slow_down(caller)

    def _slow_down(self, caller: str) -> None:
        seconds = self._buckets.take(caller, monotonic())
        if seconds:
            raise problems.TooMany(seconds)

    async def _body(self, exchange: _Exchange, receive: Receive) -> bytes:
        """The whole body.

        Raises:
            TooLarge: it is larger than is taken.
            Invalid: whoever sent it went away meanwhile.
        """
        most = self._settings.max_body_bytes
        said = exchange.header(b"content-length")
        if said.isdecimal() and int(said) > most:
            raise problems.TooLarge("body", f"is larger than {most:,} bytes")
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise Invalid("body", "was cut off")
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                raise problems.TooLarge("body", f"is larger than {most:,} bytes")
            parts.append(part)
            if not message.get("more_body"):
                return b"".join(parts)

    async def _within(self, exchange: _Exchange, receive: Receive, patience: float) -> None:
        """Let the app answer; if it does not begin in time, it goes on alone: a write is never half done."""
        task = asyncio.ensure_future(self._app(exchange.scope, receive, exchange.sending))
        try:
            await asyncio.wait({task}, timeout=patience)
            if exchange.status or task.done():
                await task
                return
        except asyncio.CancelledError:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            raise
        self._left.add(task)
        task.add_done_callback(self._forget)
        await exchange.refuse(
            Unavailable(f"took longer than {patience:g} s; outcome unknown: it goes on")
        )
        exchange.over = True

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._left.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOGGER.error("http.failed %s", type(error).__name__, exc_info=error)

    def _tell(self, exchange: _Exchange) -> None:
        scope = exchange.scope
        seconds = monotonic() - exchange.began
        # With names in the place of ids; what is mounted is no FastAPI route.
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.ended(scope["method"], route, exchange.status, seconds)
        if not self._settings.access_log:
            return
        line = {
            "method": scope["method"],
            "route": route,
            "status": exchange.status,
            "ms": round(seconds * 1000, 1),
            "bytes": exchange.sent,
            "token": exchange.identity.id if exchange.identity else "",
            "from": (scope.get("client") or ("", 0))[0],
        }
        _ACCESS.info("%s", json.dumps(line))


def _shared(origin: str) -> Iterator[tuple[bytes, bytes]]:
    """What lets a page of another origin read an answer."""
    yield b"access-control-allow-origin", origin.encode("latin-1")
    yield b"access-control-expose-headers", f"ETag, {SHOWN}, Retry-After".encode()
    yield b"vary", b"Origin"


async def respond(send: Send, reply: Reply, *, close: bool = False) -> None:
    """Send a whole answer."""
    headers = [(b"content-type", reply.type.encode())] if reply.body else []
    headers += [(name.lower().encode(), text.encode()) for name, text in reply.headers.items()]
    if reply.status not in (204, 304):
        headers.append((b"content-length", str(len(reply.body)).encode()))
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """`receive` for an app behind one that has read the body: the body once more, then what follows."""
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
