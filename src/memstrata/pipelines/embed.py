"""The vectors of a shelf: gather what has none → embed → keep. A part at a time, oldest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, cast

from memstrata import failpoints
from memstrata.domain import passages
from memstrata.domain.scope import Key, Scope
from memstrata.errors import MemstrataError, Unavailable
from memstrata.pipelines import apply
from memstrata.pipelines.sight import Sight, message_id, session_and_id
from memstrata.pipelines.world import World
from memstrata.ports import Listing, Shelf, Stored, Vectored

Held = Mapping[str, bytes]
PART: Final = 64
"""Texts of one step: what a kill loses, and how often the progress moves."""
_PAGE: Final = 256
"""Messages looked at in one step when they have vectors already, as after a reindex."""
_EVERY: Final = Listing()


class Unseen(Unavailable):
    """No vectors can be made now; what has none is found by its words alone."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a step came to: how many vectors it made."""

    vectors: int


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that may need a vector."""

    id: str
    text: str
    digest: bytes


def fill(world: World, shelf: Shelf) -> Filled | None:
    """Make the next vectors of `shelf`; None when none is missing (or vectors are switched off).

    Raises:
        Unseen: the embedder or the vectors' file says no; nothing of this step was kept.
        Unavailable: the database says no.
    """
    if world.sight is None:
        return None
    if shelf.kind == "message":
        return _messages(world, world.sight, shelf)
    return _memories(world, world.sight, shelf)


@contextmanager
def _unseen(world: World) -> Iterator[None]:
    """What fails in here costs vectors and nothing else, and is said."""
    try:
        yield
    except MemstrataError as error:
        world.bus.emit("vectors.unavailable", degraded=True, problem=error.code)
        raise Unseen(error.message) from error


def _messages(world: World, sight: Sight, shelf: Shelf) -> Filled | None:
    with _unseen(world):
        reached = sight.vectors.reached(shelf)
    page = world.store.shelf(shelf, after=reached, limit=_PAGE)
    if not page:
        return None
    texts = {
        one.position: _text(
            message_id(one.message.session, one.message.id),
            passages.passage_of_message(one.message.name, one.message.content),
        )
        for one in page
    }
    with _unseen(world):
        held = sight.vectors.held(shelf, [one.id for one in texts.values()])
    missing = _missing(held, texts.values())
    if not missing:
        return _kept(world, sight, shelf, (), page[-1].position)
    part = missing[:PART]
    last = {one.id for one in missing[PART:]}
    until = next((at - 1 for at, one in texts.items() if one.id in last), page[-1].position)
    return _kept(world, sight, shelf, part, until)


def _memories(world: World, sight: Sight, shelf: Shelf) -> Filled | None:
    key = key_of(shelf)
    with _unseen(world):
        held = sight.vectors.held(shelf)
    texts = [
        _text(one.id, passages.passage_of_memory(one.name, one.description, one.body))
        for one in (row.memory for row in _rows(world, key))
    ]
    gone = held.keys() - {one.id for one in texts}
    if gone:
        with _unseen(world):
            apply.drop_vectors(sight.vectors, shelf, sorted(gone))
    missing = _missing(held, texts)
    return _kept(world, sight, shelf, missing[:PART], None) if missing else None


def _rows(world: World, key: Key) -> Iterator[Stored]:
    after = ""
    while page := world.store.memories((key,), _EVERY, world.moment(), after=after):
        yield from page
        after = page[-1].memory.id


def _missing(held: Held, texts: Iterable[_Text]) -> list[_Text]:
    """Those without a vector, or with one that was made from another text."""
    return [one for one in texts if held.get(one.id) != one.digest]


def _text(id: str, text: str) -> _Text:
    return _Text(id, text, passages.digest(text))


def _kept(
    world: World, sight: Sight, shelf: Shelf, texts: Sequence[_Text], reached: int | None
) -> Filled:
    with _unseen(world):
        made = sight.embedder.embed([one.text for one in texts], "passage") if texts else []
        failpoints.hit("embed.made")
        rows = [Vectored(one.id, one.digest, v) for one, v in zip(texts, made, strict=True)]
        if rows:
            sight.vectors.begin(sight.embedder.key)  # only what can be made anew makes others go
        apply.keep_vectors(sight.vectors, shelf, rows, reached)
        _drop_forgotten(world, sight, shelf, rows)
    world.bus.emit("vectors.filled", kind=shelf.kind, vectors=len(rows))
    return Filled(len(rows))


def _drop_forgotten(world: World, sight: Sight, shelf: Shelf, rows: Sequence[Vectored]) -> None:
    """Take out again what was forgotten while its vectors were made; memories' are told by their counts."""
    if shelf.kind != "message" or not rows:
        return
    there = world.store.message_rows(shelf.realm, [session_and_id(one.id) for one in rows])
    gone = [one.id for one in rows if session_and_id(one.id) not in there]
    if gone:
        apply.drop_vectors(sight.vectors, shelf, gone)


def key_of(shelf: Shelf) -> Key:
    """The key whose memories stand on `shelf`."""
    return Key(shelf.realm, cast("Scope", shelf.kind), shelf.ref)
