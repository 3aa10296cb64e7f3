"""The server: uvicorn in a thread of its own, started and ended in good order."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Final, Self

from memstrata.errors import Denied, Invalid, Unavailable
from memstrata.hosting import Hosted
from memstrata.interfaces.http.identity import is_loopback
from memstrata.interfaces.listening import listening
from memstrata.memory import Verbs

try:
    import uvicorn

    from memstrata.interfaces.http.app import Served
except ModuleNotFoundError as error:
    raise Invalid(
        "serve", f"{error.name} is not installed; pip install 'memstrata[server]'"
    ) from error

if TYPE_CHECKING:
    from types import TracebackType

KEEP_ALIVE: Final = 75
"""Seconds that an idle connection is kept: longer than clients keep theirs, so that they close first."""
_PATIENCE: Final = 30.0


class _Uvicorn(uvicorn.Server):
    """Ends the event streams before it waits for connections to close; `ready` tells that it listens."""

    def __init__(self, config: uvicorn.Config, served: Served) -> None:
        super().__init__(config)
        self._served = served
        self.ready = threading.Event()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        async with self._served.running():
            await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._served.streams.close()
        await super().shutdown(sockets)


class Server:
    """Serves an open memory at `host` and `port` (the settings' unless given), as a context manager.

    Requests in flight are answered before it ends, within `server.shutdown_seconds`. The memory stays
    open.

    Raises:
        Denied: an address that others can reach, while the home has no token.
        Unavailable: the address cannot be listened at.
        Invalid: the extra `server` is not installed.
    """

    def __init__(self, verbs: Verbs, *, host: str | None = None, port: int | None = None) -> None:
        hosted = Hosted(verbs)
        settings = hosted.settings
        self.host = settings.host if host is None else host
        loopback = is_loopback(self.host)
        if not loopback and not hosted.tokens():
            raise Denied(
                f"{self.host} can be reached by others and the home has no token; "
                "make one first: memstrata token create"
            )
        self._socket = listening(self.host, settings.port if port is None else port)
        self.port: int = self._socket.getsockname()[1]
        self._served = Served(hosted, loopback=loopback)
        config = uvicorn.Config(
            self._served.app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # whoever sits before us could name any address
            lifespan="off",
            ws="none",
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=max(1, round(settings.shutdown_seconds)),
        )
        self._uvicorn = _Uvicorn(config, self._served)
        self._thread = threading.Thread(target=self._run, name="memstrata-http", daemon=True)

    @property
    def url(self) -> str:
        """Where it is to be reached."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def has_mcp(self) -> bool:
        """Whether MCP is served, too, at `/mcp`."""
        return self._served.has_mcp

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin, and return when requests are answered.

        Raises:
            Unavailable: it does not begin.
        """
        self._thread.start()
        if not self._uvicorn.ready.wait(_PATIENCE):
            raise Unavailable(f"the server did not start within {_PATIENCE:g} s")

    def wait(self) -> None:
        """Return when it has ended."""
        self._thread.join()

    def end(self) -> None:
        """Take no more requests; those in flight are still answered. Returns at once."""
        self._uvicorn.should_exit = True

    def abandon(self) -> None:
        """End without waiting for what is in flight. Returns at once."""
        self._uvicorn.force_exit = self._uvicorn.should_exit = True

    def stop(self) -> None:
        """`end`, and return when it has ended."""
        self.end()
        if self._thread.ident is not None:
            self._thread.join()
        self._socket.close()
        self._served.close()

    def _run(self) -> None:
        self._uvicorn.run(sockets=[self._socket])
