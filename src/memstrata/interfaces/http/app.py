"""The app: one endpoint for each row of `memstrata.routes`, and the few that are no verb."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI
from fastapi import Request as Incoming
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response, StreamingResponse
from starlette.exceptions import HTTPException

from memstrata import __version__
from memstrata.domain import checks
from memstrata.errors import Internal, Invalid, MemstrataError
from memstrata.hosting import Hosted
from memstrata.interfaces.http import metrics, mounted, openapi, problems
from memstrata.interfaces.http.calls import JSON, Desk, Reply, Request, refusal
from memstrata.interfaces.http.events import Streams
from memstrata.interfaces.http.guard import IDENTITY, App, Guard
from memstrata.interfaces.http.identity import Doorkeeper, Identity
from memstrata.routes import ROUTES, Route

_OK: Final = b'{"status":"ok"}'


class Served:
    """The ASGI app of one memory, with what has to end before the server can."""

    def __init__(self, hosted: Hosted, *, loopback: bool = True) -> None:
        self._metrics = metrics.Metrics()
        self.streams = Streams(hosted)
        self._leave = hosted.listen(self._metrics.happened)
        self._mounted = mounted.mcp(hosted.verbs)
        inner = _app(hosted, self._metrics, self.streams)
        inner.router.routes.extend(self._mounted.routes)
        long = [one.path for one in ROUTES if one.long]
        doorkeeper = Doorkeeper(hosted, loopback=loopback)
        self.app: App = Guard(inner, hosted, doorkeeper, self._metrics, long)

    @property
    def has_mcp(self) -> bool:
        """Whether MCP is served, too: its extra is installed."""
        return bool(self._mounted.routes)

    def running(self) -> AbstractAsyncContextManager[None]:
        """What runs while it is served; entered and left in the task that serves."""
        return self._mounted.running()

    def close(self) -> None:
        """Hear no more events."""
        self._leave()


def _app(hosted: Hosted, counted: metrics.Metrics, streams: Streams) -> FastAPI:
    app = FastAPI(
        title="memstrata", version=__version__, docs_url=None, redoc_url=None, openapi_url=None
    )
    # The router's own redirects would answer for paths that are none.
    app.router.redirect_slashes = False
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(MemstrataError, _ours)
    app.add_exception_handler(Exception, _bug)
    desk = Desk(hosted)
    _plain(app, hosted, counted)
    _beside(app, streams)
    for route in ROUTES:
        app.add_api_route(
            route.path,
            _endpoint(desk, route),
            methods=[route.method],
            name=route.verb,
            include_in_schema=False,
        )
    return app


def _endpoint(desk: Desk, route: Route) -> Callable[..., Response]:
    async def read(incoming: Incoming) -> Request:
        return Request(
            route,
            incoming.scope[IDENTITY],
            incoming.path_params,
            tuple(incoming.query_params.multi_items()),
            incoming.headers,
            await incoming.body(),
        )

    def endpoint(request: Annotated[Request, Depends(read)]) -> Response:
        return _response(desk.reply(request))

    # FastAPI reads the annotations, which name what is local here.
    endpoint.__annotations__ = {"request": Annotated[Request, Depends(read)], "return": Response}
    return endpoint


def _response(reply: Reply) -> Response:
    kind = reply.type if reply.body else None
    return Response(reply.body, reply.status, dict(reply.headers), kind)


def _plain(app: FastAPI, hosted: Hosted, counted: metrics.Metrics) -> None:
    """Health, metrics, the description."""

    def healthz() -> Response:
        return Response(_OK, media_type=JSON)

    def readyz() -> Response:
        hosted.check()
        return Response(_OK, media_type=JSON)

    def numbers(incoming: Incoming) -> Response:
        identity: Identity = incoming.scope[IDENTITY]
        identity.refuse_below("admin")
        return Response(counted.text(), media_type=metrics.TYPE)

    def described() -> Response:
        return Response(_description(), media_type=JSON)

    _get(app, "/healthz", healthz)
    _get(app, "/readyz", readyz)
    _get(app, "/metrics", numbers)
    _get(app, "/openapi.json", described)


def _get(app: FastAPI, path: str, endpoint: Callable[..., Any]) -> None:
    endpoint.__annotations__ |= {"return": Response}
    if endpoint.__code__.co_argcount:  # what FastAPI reads are names that are local here
        endpoint.__annotations__ |= {"incoming": Incoming}
    app.add_api_route(path, endpoint, methods=["GET"], include_in_schema=False)


@lru_cache(maxsize=1)
def _description() -> bytes:
    return json.dumps(openapi.document(), ensure_ascii=False).encode()


def _beside(app: FastAPI, streams: Streams) -> None:
    """What is no verb: events."""

    async def events(incoming: Incoming) -> Response:
        return StreamingResponse(
            streams.stream(incoming.scope[IDENTITY]),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    _get(app, "/v1/events", events)


# -- errors ---------------------------------------------------------------------------------------


def _framework(incoming: Incoming, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict((isinstance(error, HTTPException) and error.headers) or {})
    path = checks.shown(incoming.scope["path"])
    reply = refusal(problems.of_status(status, path, incoming.method), status)
    return Response(reply.body, status, {**headers, **reply.headers}, reply.type)


def _unreadable(_: Incoming, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(part) for part in first.get("loc", ("request",)))
    return _ours(_, Invalid(where, str(first.get("msg", "cannot be read"))))


def _ours(_: Incoming, error: Exception) -> Response:
    found = error if isinstance(error, MemstrataError) else Internal("unknown")
    return _response(refusal(found, found.http_status))


def _bug(_: Incoming, error: Exception) -> Response:
    return _ours(_, Internal(f"{type(error).__name__}; the server's log has more"))
