"""Events as a stream: what one caller may hear, kept for a moment for those who read slowly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Final

from memstrata.domain import plain
from memstrata.events import Event
from memstrata.hosting import Hosted
from memstrata.interfaces.http.identity import Identity

HELD: Final = 1_000
"""Events that wait for a reader; one that falls further behind is hung up on and comes again."""
QUIET: Final = 15.0
"""Seconds after which a silent stream says that it is alive."""
ALIVE: Final = b": alive\n\n"


class Streams:
    """Every open stream of the process; `close` ends them all, so that the server can stop."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted
        self._open: set[asyncio.Queue[Event | None]] = set()

    async def stream(self, identity: Identity) -> AsyncIterator[bytes]:
        """The events that `identity` may hear, from now on."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue(HELD)
        loop = asyncio.get_running_loop()

        def heard(event: Event) -> None:
            if may_hear(identity, event):
                loop.call_soon_threadsafe(_offer, queue, event)

        leave = self._hosted.listen(heard)
        self._open.add(queue)
        try:
            yield ALIVE  # so that the reader knows that it listens
            while (found := await _next(queue)) is not None:
                yield found
        finally:
            self._open.discard(queue)
            leave()

    def close(self) -> None:
        """End every stream. Called in the loop's thread."""
        for queue in self._open:
            _end(queue)


def may_hear(identity: Identity, event: Event) -> bool:
    """An admin hears all; the others what is their own, and what happens to memories of projects."""
    if identity.role == "admin":
        return True
    owner = event.fields.get("owner")
    return owner == identity.owner or (owner == "" and event.fields.get("scope") == "project")


def encoded(event: Event) -> bytes:
    """One event of the stream."""
    data = {"degraded": event.degraded, **event.fields}
    text = json.dumps(plain.encode(data), ensure_ascii=False)
    return f"event: {event.name}\ndata: {text}\n\n".encode()


async def _next(queue: asyncio.Queue[Event | None]) -> bytes | None:
    try:
        event = await asyncio.wait_for(queue.get(), QUIET)
    except TimeoutError:
        return ALIVE
    return None if event is None else encoded(event)


def _offer(queue: asyncio.Queue[Event | None], event: Event) -> None:
    if queue.full():
        _end(queue)
    else:
        queue.put_nowait(event)


def _end(queue: asyncio.Queue[Event | None]) -> None:
    """Let the reader hear nothing but the end."""
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(None)
