"""What follows a turn or a write but need not be waited for: MEMORY.md at most once a second, hits in
bulk, and the look whether anything is to be consolidated.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, cast

from memstrata.domain.scope import Key, Realm, parse_scope
from memstrata.errors import MemstrataError
from memstrata.events import Event
from memstrata.pipelines import apply, bind, pending
from memstrata.pipelines.world import World

EVERY: Final = timedelta(seconds=1)
LOOK_EVERY: Final = timedelta(minutes=1)
"""How often a scope in use is looked at, whether it is to be consolidated."""


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
        self._in_use: dict[Key, World] = {}
        self._looked: dict[Key, datetime] = {}

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

    def turn(self, world: World, keys: Sequence[Key]) -> None:
        """Remember that a turn began for whoever sees `keys`, and under which settings; costs no look."""
        with self._lock:
            self._in_use |= dict.fromkeys(keys, world)

    def tick(self) -> None:
        """Do what is due: folders not written within the last second, scopes not looked at for a minute."""
        now = self._world.clock.now()
        self._look(now)
        with self._lock:
            due = {key for key in self._stale if now - self._written.get(key, now - EVERY) >= EVERY}
        self._write(due, now)

    def flush(self) -> None:
        """Do all of it."""
        self._look(self._world.clock.now())
        with self._lock:
            due = set(self._stale)
            hits, self._hits = self._hits, {}
        self._write(due, self._world.clock.now())
        for keys, counts in hits.items():
            try:
                apply.count_hits(self._world, counts, keys)
            except MemstrataError:
                self._put_back(keys, counts)

    def _look(self, now: datetime) -> None:
        """Queue the consolidation of the scopes in use that are due."""
        with self._lock:
            in_use, self._in_use = self._in_use, {}
            due = {
                key: world
                for key, world in in_use.items()
                if key not in self._looked or now - self._looked[key] >= LOOK_EVERY
            }
            self._looked |= dict.fromkeys(due, now)
        for key, world in due.items():
            try:
                pending.queue(world, (key,))
            except MemstrataError:
                continue  # the next turn looks again

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
