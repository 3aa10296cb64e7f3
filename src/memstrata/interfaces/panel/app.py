"""The panel as part of a web application: who may reach it, and how it hears of changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import FastAPI, Request
from nicegui import context, ui
from starlette.types import ASGIApp, Receive, Scope, Send

from memstrata.aio import AsyncVerbs
from memstrata.errors import Denied
from memstrata.interfaces.http.identity import refuse_foreign
from memstrata.interfaces.panel import frame
from memstrata.interfaces.panel.live import Listen, Live

ICON: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 18" fill="#2f5d50">'
    '<rect width="18" height="4" rx="1.5" y="1"/><rect width="14" height="4" rx="1.5" y="7" opacity=".7"/>'
    '<rect width="10" height="4" rx="1.5" y="13" opacity=".4"/></svg>'
)


class Guard:
    """Lets only this machine's own pages in: neither a foreign name for it nor a foreign page.

    A browser sends a foreign page's requests here with that page's `Origin`, websockets too, which no
    same-origin rule of its own stops; a name that a stranger lets point here comes as `Host`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on or refuse."""
        if scope["type"] in ("http", "websocket") and not self._trusted(scope):
            if scope["type"] == "websocket":
                await receive()
                await send({"type": "websocket.close", "code": 4403})
                return
            body = b"this host or origin may not use the panel\n"
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        await self.app(scope, receive, send)

    def _trusted(self, scope: Scope) -> bool:
        headers: Mapping[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        local = (scope.get("server") or ("",))[0]
        try:
            refuse_foreign(headers.get("host", ""), headers.get("origin"), local, (), ())
        except Denied:
            return False
        return True


def mount(app: FastAPI, memory: AsyncVerbs, listen: Listen) -> Live:
    """Serve the panel of `memory` at the root of `app`, behind whatever routes that has already.

    `listen` adds a listener to the memory's events and returns what removes it.
    """
    live = Live(listen)

    def root(request: Request) -> None:
        live.join(context.client, frame.build(memory, request))

    ui.run_with(
        app,
        root=root,
        title="memstrata",
        favicon=ICON,
        dark=None,
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=10,
    )
    return live


def application(memory: AsyncVerbs, listen: Listen) -> FastAPI:
    """The panel alone, for loopback."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.add_middleware(Guard)
    live = mount(app, memory, listen)
    app.router.on_shutdown.append(live.close)
    return app
