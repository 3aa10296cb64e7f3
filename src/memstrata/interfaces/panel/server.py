"""The panel's own server: on this machine alone, in a thread, started and ended in good order."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Final, Self

from memstrata.errors import Invalid, Unavailable
from memstrata.hosting import Hosted
from memstrata.interfaces.listening import listening
from memstrata.memory import Verbs

try:
    import uvicorn

    from memstrata.aio import AsyncVerbs, Threads
    from memstrata.interfaces.panel.app import application
except ModuleNotFoundError as error:
    raise Invalid(
        "panel", f"{error.name} is not installed; pip install 'memstrata[panel]'"
    ) from error

HOST: Final = "127.0.0.1"
_PATIENCE: Final = 30.0
"""Seconds in which it must have begun."""


class _Uvicorn(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


class PanelServer:
    """Serves the panel of a memory on loopback, as a context manager. One in a process.

    With `live` pages hear of changes; what is reached over the network tells of none.

    Raises:
        Unavailable: the port cannot be listened at.
    """

    def __init__(self, verbs: Verbs, port: int, *, live: bool = True) -> None:
        self._threads = Threads()
        listen = Hosted(verbs).listen if live else _deaf
        app = application(AsyncVerbs(verbs, self._threads), listen)
        self._socket = listening(HOST, port)
        self.port: int = self._socket.getsockname()[1]
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="websockets-sansio",
                timeout_graceful_shutdown=2,
            )
        )
        self._thread = threading.Thread(target=self._run, name="memstrata-panel", daemon=True)

    @property
    def url(self) -> str:
        """Where it is to be reached."""
        return f"http://{HOST}:{self.port}"

    def __enter__(self) -> Self:
        """Begin, and return when it answers.

        Raises:
            Unavailable: it does not begin.
        """
        self._thread.start()
        if not self._uvicorn.ready.wait(_PATIENCE):
            raise Unavailable(f"the panel did not start within {_PATIENCE:g} s")
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._thread.join()
        self._socket.close()
        self._threads.close()

    def wait(self) -> None:
        """Return when it has ended."""
        self._thread.join()

    def end(self) -> None:
        """Take no more requests. Returns at once."""
        self._uvicorn.should_exit = True

    def _run(self) -> None:
        self._uvicorn.run(sockets=[self._socket])


def _deaf(_: object) -> Callable[[], None]:
    """Nothing is to be heard."""
    return lambda: None
