"""Open pages hear of what changed, whoever changed it, and show it within a second."""

from __future__ import annotations

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import Callable
from typing import Final

from nicegui import Client, background_tasks

from memstrata.events import Event, Listener
from memstrata.interfaces.panel.desk import Desk

SOON: Final = 0.4
"""Seconds for which changes are gathered before pages load them: an import makes thousands."""
SHOWN: Final = frozenset(
    {
        "turn.committed",
        "extraction.finished",
        "extraction.failed",
        "candidate.refused",
        "memory.written",
        "memory.deleted",
        "document.written",
        "vectors.filled",
        "vectors.unavailable",
        "file.taken_over",
        "file.unreadable",
        "index.healed",
    }
)
"""The events that change what a page shows."""
Listen = Callable[[Listener], Callable[[], None]]


class Live:
    """The open pages of one memory. Events come from any thread; pages live in the one of the loop."""

    def __init__(self, listen: Listen) -> None:
        self._open: dict[str, Desk] = {}
        self._loop: AbstractEventLoop | None = None
        self._due = False
        self.close = listen(self._heard)

    def join(self, client: Client, desk: Desk) -> None:
        """A page was opened; it leaves when its browser does."""
        self._loop = get_running_loop()
        self._open[client.id] = desk
        client.on_delete(lambda: self._open.pop(client.id, None))

    def _heard(self, event: Event) -> None:
        if event.name in SHOWN and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._soon, self._loop)

    def _soon(self, loop: AbstractEventLoop) -> None:
        if not self._due:
            self._due = True
            loop.call_later(SOON, self._load)

    def _load(self) -> None:
        self._due = False
        for desk in tuple(self._open.values()):
            for change in tuple(desk.changed):
                background_tasks.create(change())
