"""What finds by meaning: the embedder, the vectors, the queries that were embedded lately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, cast

from memstrata.domain.scope import Key, Realm
from memstrata.errors import MemstrataError, Unavailable
from memstrata.ports import Embedder, Moment, Shelf, StoreRead, Vector, Vectors

REMEMBERED: Final = 256
"""Queries whose vectors are kept: a recall asks the same more than once, and so do people."""
REST: Final = 30.0
"""Seconds for which an embedder that failed is not asked again for a query."""


@dataclass(slots=True)
class Sight:
    """Safe for threads. `asking` embeds queries: the same embedder, perhaps with less patience.

    `monotonic` counts seconds.
    """

    embedder: Embedder
    asking: Embedder
    vectors: Vectors
    monotonic: Callable[[], float]
    _known: OrderedDict[str, Vector] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)
    _failed: tuple[float, str] = (0.0, "")
    _lost: str = ""

    def lost(self) -> str:
        """Why vectors that were there had to go since this process opened the home; `""`: none had."""
        self._lost = self.vectors.lost() or self._lost
        return self._lost

    def query(self, text: str) -> Vector:
        """The vector of a query.

        Raises:
            Unavailable: none now, and why.
        """
        with self._lock:
            if text in self._known:
                self._known.move_to_end(text)
                return self._known[text]
            until, problem = self._failed
        if self.monotonic() < until:
            raise Unavailable(problem)
        try:
            (vector,) = self.asking.embed([text], "query")
        except MemstrataError as error:
            with self._lock:
                self._failed = (self.monotonic() + REST, error.message)
            raise Unavailable(error.message) from error
        with self._lock:
            self._failed = (0.0, "")
            self._known[text] = vector
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return vector

    def missing(self, store: StoreRead, space: str, moment: Moment) -> dict[Shelf, int]:
        """By shelf: about how many texts lack a vector, told from counts; only shelves that lack some."""
        held = self.vectors.counts(space)
        found: dict[Shelf, int] = {}
        for shelf, count, last in store.shelves(space):
            if self.vectors.reached(shelf) < last:
                found[shelf] = max(1, count - held.get(shelf, 0))
        counts: dict[Shelf, int] = {}
        for (key, _, _), count in store.counts(store.keys(space), moment).items():
            counts[shelf_of(key)] = counts.get(shelf_of(key), 0) + count
        for shelf, count in counts.items():
            if count != held.get(shelf, 0):
                found[shelf] = max(1, count - held.get(shelf, 0))
        return found

    def close(self) -> None:
        """Free the embedders and close the vectors' file."""
        self.vectors.close()
        self.embedder.close()
        if self.asking is not self.embedder:
            self.asking.close()


def shelf_of(key: Key) -> Shelf:
    """The shelf of a key's memories."""
    return Shelf(key.realm, key.scope, key.ref)


def messages_of(realm: Realm, workspace: str) -> Shelf:
    """The shelf of a realm's messages of one workspace."""
    return Shelf(realm, "message", workspace)


def message_id(session: str, id: str) -> str:
    """A message's id on its shelf: hosts number messages anew in each session."""
    return f"{session}\n{id}"


def session_and_id(id: str) -> tuple[str, str]:
    """The session of such an id, and the message's own."""
    session, _, own = id.partition("\n")
    return session, own


def job_key(shelf: Shelf) -> str:
    """How the job that fills a shelf is called."""
    return f"{shelf.kind} {shelf.ref}".rstrip()


def job_shelf(realm: Realm, key: str) -> Shelf:
    """The shelf of such a job."""
    kind, _, ref = key.partition(" ")
    return Shelf(realm, cast("Any", kind), ref)
