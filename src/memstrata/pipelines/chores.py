"""What follows a write but need not be waited for: MEMORY.md at most once a second, hits in bulk."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, cast

from memstrata.domain.scope import Key, Realm, parse_scope
from memstrata.errors import MemstrataError
from memstrata.events import Event
from memstrata.pipelines import apply, bind
from memstrata.pipelines.world import World

EVERY: Final = timedelta(seconds=1)


class Chores:
    """Collects what is to be done; `tick` does what is due, `flush` all of it.

    Nothing canonical is at stake: MEMORY.md is derived and hit counts are the index's own, so a
    failure is kept for the next round and never reaches a caller.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._lock = threading.Lock()
        self._stale: set[Key] = set()
        self._written: dict[Key, datetime] = {}
        self._hits: dict[tuple[Key, ...], dict[str, int]] = {}

    def on_event(self, event: Event) -> None:
        """Listen for memories that were written or deleted."""
        if event.name in ("memory.written", "memory.deleted"):
            fields = event.fields
            realm = Realm(self._world.space, cast("str", fields["owner"]))
            with self._lock:
                self._stale.add(
                    Key(realm, parse_scope(fields["scope"]), cast("str", fields["ref"]))
                )

    def hit(self, keys: Sequence[Key], ids: Sequence[str]) -> None:
        """Remember one hit of each id."""
        with self._lock:
            counts = self._hits.setdefault(tuple(keys), {})
            for id in ids:
                counts[id] = counts.get(id, 0) + 1

    def tick(self) -> None:
        """Do what is due: folders not written within the last second."""
        now = self._world.clock.now()
        with self._lock:
            due = {key for key in self._stale if now - self._written.get(key, now - EVERY) >= EVERY}
        self._write(due, now)

    def flush(self) -> None:
        """Do all of it."""
        with self._lock:
            due = set(self._stale)
            hits, self._hits = self._hits, {}
        self._write(due, self._world.clock.now())
        for keys, counts in hits.items():
            try:
                apply.count_hits(self._world, counts, keys)
            except MemstrataError:
                self._put_back(keys, counts)

    def _write(self, due: set[Key], now: datetime) -> None:
        for key in due:
            with self._lock:
                self._stale.discard(key)
                self._written[key] = now
            try:
                apply.write_index(self._world, key, bind.target(self._world, key, key.realm.owner))
            except MemstrataError:
                with self._lock:
                    self._stale.add(key)

    def _put_back(self, keys: tuple[Key, ...], counts: dict[str, int]) -> None:
        with self._lock:
            held = self._hits.setdefault(keys, {})
            for id, count in counts.items():
                held[id] = held.get(id, 0) + count
