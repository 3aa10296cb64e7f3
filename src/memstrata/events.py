"""What happened, as frozen values, and the bus that carries them to the log, metrics and doors.

Event names are public and stable. An event carries ids, names, counts and durations, never a body.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

NAMES: Final = (
    "turn.committed",
    "extraction.triggered",
    "extraction.finished",
    "extraction.failed",
    "candidate.refused",
    "consolidation.triggered",
    "consolidation.finished",
    "consolidation.failed",
    "consolidation.proposed",
    "consolidation.confirmed",
    "consolidation.rejected",
    "memory.written",
    "memory.deleted",
    "memory.forgotten",
    "document.written",
    "texts.written",
    "texts.refused",
    "scope.full",
    "fulltext.failed",
    "vectors.unavailable",
    "vectors.lost",
    "vectors.filled",
    "recall.served",
    "tool.called",
    "reads.unlogged",
    "file.taken_over",
    "file.unreadable",
    "file.absent",
    "file.blocked",
    "index.healed",
    "index.rebuilt",
    "home.opened",
    "settings.changed",
    "settings.refused",
    "offload.degraded",
    "worker.started",
    "worker.stopped",
    "worker.failed",
)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened; `degraded` when something is not as it should be."""

    name: str
    fields: Mapping[str, object] = field(default_factory=dict)
    degraded: bool = False


Listener = Callable[[Event], None]


class Bus:
    """Hands each event to every listener, in the thread that emits it."""

    def __init__(self) -> None:
        self._listeners: tuple[tuple[Listener], ...] = ()
        self._lock = threading.Lock()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; returns what removes it again."""
        entry = (listener,)  # of its own, so that a listener added twice can be removed once
        with self._lock:
            self._listeners += (entry,)

        def remove() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not entry)

        return remove

    def emit(self, name: str, *, degraded: bool = False, **fields: object) -> None:
        """Tell every listener.

        Raises:
            ValueError: `name` is none of `NAMES`.
        """
        if name not in NAMES:
            raise ValueError(f"{name!r} is no event; the names stand in memstrata.events.NAMES")
        event = Event(name, fields, degraded)
        for (listener,) in self._listeners:
            listener(event)
