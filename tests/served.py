"""A memory behind a real server on a loopback port, spoken to as `Memory.connect` does."""

from __future__ import annotations

from typing import Any

from memstrata import Memory
from memstrata.client import Connected
from memstrata.interfaces.http.server import Server


class Remote(Connected):
    """A connected memory that owns what it is connected to: closed, the server and its memory are too."""

    def __init__(self, engine: Memory, token: str | None = None) -> None:
        self.engine = engine
        self.home = engine.home
        self._world = engine._world  # some tests look behind the verbs
        self._realm = engine._realm
        self._chores = engine._chores
        self.server = Server(engine, port=0)
        self.server.start()
        super().__init__(self.server.url, token)

    def close(self) -> None:
        """Close the connections, the server, the memory; again: nothing."""
        super().close()
        self.server.stop()
        self.engine.close()

    @classmethod
    def open(cls, **given: Any) -> Remote:
        """Open a home and serve it."""
        return cls(Memory.open(**given))
