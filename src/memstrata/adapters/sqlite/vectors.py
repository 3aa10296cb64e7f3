"""The vectors of texts in a SQLite file of their own: derived data, scanned shelf by shelf.

A search compares every vector of its shelf, and no others, in memory: what lies on the shelf is read
once, and from then on only what came since. Reading whether anything came is the whole cost of the
file. See `vectors_file` for what becomes of a damaged file, `vectors_matrix` for the numbers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstrata.adapters.sqlite.connection import Connection, Row
from memstrata.adapters.sqlite.rows import listed
from memstrata.adapters.sqlite.store import PATIENCE
from memstrata.adapters.sqlite.vectors_file import BegunAnew, Mutex, VectorsFile
from memstrata.domain.scope import Realm
from memstrata.errors import Conflict, Corrupt, Internal, Unavailable
from memstrata.ports import Scores, Shelf, Vector, Vectored

if TYPE_CHECKING:
    from memstrata.adapters.sqlite import vectors_matrix as matrix
else:

    class _Matrix:
        """`vectors_matrix`, imported when it is first used: numpy costs as much as all else together."""

        def __getattr__(self, name: str) -> Any:
            try:
                return getattr(import_module("memstrata.adapters.sqlite.vectors_matrix"), name)
            except ImportError as error:
                raise Unavailable(
                    f"vectors need numpy 2 or newer ({error}); install an embedder, "
                    "which brings it, or set embedding.model to none"
                ) from error

    matrix = _Matrix()

LARGE: Final = 50_000
"""A shelf of more vectors is scanned by their signs (8 ms for 50,000 of 896 numbers exactly)."""
CACHE: Final = 256 * 2**20
"""Bytes of vectors to keep in memory; the shelf searched last stays even if it takes more."""
_BITS: Final = 32
_MOST: Final = 2**31
"""Above any number of a shelf and of a vector on it."""


@dataclass(frozen=True, slots=True)
class _State:
    """A shelf's row: its number (0: it has none), how many vectors, the last number given, how far filled."""

    number: int = 0
    vectors: int = 0
    last: int = 0
    reached: int = 0


class SqliteVectors:
    """`Vectors` in the file `path`, which is made when it is first needed.

    Every method raises `Unavailable` where the file is locked, cannot be made, or turned out to be
    damaged (the next call then finds an empty one), and `Internal` after `close`.

    Args:
        path: the file; its folder must be on a local disk.
        vfs: the name of a registered SQLite VFS, None for the system's.
        readers: how many threads may read at the same time.
        patience: seconds to wait for another process or thread.
        large: the number of vectors above which a shelf is scanned by signs.
        cache: bytes of vectors to keep in memory.
    """

    def __init__(
        self,
        path: Path,
        *,
        vfs: str | None = None,
        readers: int = 4,
        patience: float = PATIENCE,
        large: int = LARGE,
        cache: int = CACHE,
    ) -> None:
        self.path = path
        self._file = VectorsFile(path, vfs, readers=readers, patience=patience)
        self._large = large
        self._cache = cache
        self._shelves: OrderedDict[Shelf, matrix.Exact | matrix.Signs] = OrderedDict()
        self._of = ""
        self._mutex = Mutex()

    def lost(self) -> str:
        """Why the vectors that were there had to go, said once; it looks at no file."""
        reason, self._file.lost = self._file.lost, ""
        return reason

    def expect(self, embedding: str) -> None:
        """Work for that embedder, and leave what another made as it is until `begin`."""
        self._file.embedding = embedding

    def begin(self, embedding: str) -> bool:
        """Keep vectors of that embedder from here on; True when others were there, which are gone now.

        Raises:
            Internal: the embedder has no name.
        """
        if not embedding:
            raise Internal("an embedder needs a key")
        # Even where the file is away now: what comes later is compared with it.
        self._file.embedding = embedding
        try:
            return self._begun(embedding)
        except BegunAnew:
            return self._begun(embedding)

    def _begun(self, embedding: str) -> bool:
        with self._file.reading() as db:
            if _meta(db)[1] == embedding:
                return False
        with self._file.writing() as db:
            others = _meta(db)[1] not in ("", embedding) and db.one("any") is not None
            if not others:
                db.all("forget_shelves")
                db.all("set_embedding", {"embedding": embedding})
        if others:
            self._file.anew(embedding, unless=True)
        return others

    def held(self, shelf: Shelf, ids: Sequence[str] | None = None) -> dict[str, bytes]:
        """By id, of all or of some: the hash of the text that its vector was made from."""
        with self._file.reading() as db:
            state = self._own_state(db, shelf)
            if ids is not None:
                return dict(db.all("held_some", {"shelf": state.number, "ids": listed(ids)}))
            found: dict[str, bytes] = dict(db.all("held", {"shelf": state.number}))
            _counted(db, len(found), state)
        return found

    def reached(self, shelf: Shelf) -> int:
        """The position up to which a shelf of messages is filled, 0 for none."""
        with self._file.reading() as db:
            return self._own_state(db, shelf).reached

    def put(self, shelf: Shelf, rows: Sequence[Vectored], reached: int | None = None) -> None:
        """Store vectors, in the place of older ones of the same ids, and how far the shelf is filled.

        Raises:
            Unavailable: disk or database said no; nothing of it was saved.
            Conflict: the embedder was changed meanwhile by another process.
            Internal: a vector is not of unit length or not of the embedder's dimension, or `begin`
                was not called.
        """
        newest = {row.id: row for row in rows}
        packed = matrix.packed(list(newest.values())) if rows else []
        with self._file.writing() as db:
            self._claim(db, len(rows[0].vector) // 4 if rows else 0)
            state = _state(db, shelf, make=True)
            gone = _dropped(db, state, list(newest))
            _add(db, state, list(newest.values()), packed)
            _set(db, state, len(newest) - gone, len(newest), reached)

    def drop(self, shelf: Shelf, ids: Sequence[str]) -> None:
        """Remove vectors, their bytes too, and those of whatever was replaced before.

        Raises:
            Unavailable: nothing was removed; or it was, but its bytes are still in the log, because
                another process keeps reading: call it again.
        """
        with self._file.writing() as db:
            state = _state(db, shelf)
            gone = _dropped(db, state, ids)
            if gone:
                _set(db, state, -gone, 0, None)
        self._file.scrub()

    def scores(self, shelf: Shelf, query: Vector) -> Scores:
        """Compare every vector of a shelf with a query.

        Raises:
            Unavailable: the file cannot be read now, numpy is not installed, or another process has
                begun with another embedder.
            Internal: the query is not of the embedder's dimension, or `begin` was not called.
        """
        asked = matrix.floats([query])[0]
        with self._mutex, self._file.reading() as db:
            file, embedding, dimension = _meta(db)
            if problem := self._foreign(embedding):
                raise Unavailable(problem)
            if dimension not in (0, asked.size):
                raise Internal(f"a query of {asked.size} numbers among vectors of {dimension}")
            if file != self._of:
                self._shelves.clear()
                self._of = file
            state = _state(db, shelf)
            found = self._fresh(db, shelf, state, asked.size)
            if isinstance(found, matrix.Exact):
                return matrix.ExactScores(found, asked)
            return matrix.SignScores(found, asked, partial(self._read, file, shelf, state))

    def counts(self, space: str) -> dict[Shelf, int]:
        """How many vectors each shelf of a space has, empty ones left out."""
        with self._file.reading() as db:
            found = [] if self._is_anothers(db) else db.all("counts", {"space": space})
        return {Shelf(Realm(space, owner), kind, ref): n for owner, kind, ref, n in found}

    def clear(self) -> None:
        """Remove every vector, and forget how far the shelves were filled."""
        self._file.anew(self._file.embedding)

    def close(self) -> None:
        """Close the file.

        Raises:
            Unavailable: another thread still uses it; it was left open.
        """
        self._file.close()
        self._shelves.clear()

    # -- whose vectors -------------------------------------------------------------------------

    def _own_state(self, db: Connection, shelf: Shelf) -> _State:
        """A shelf's row; of another embedder's vectors we have none."""
        return _State() if self._is_anothers(db) else _state(db, shelf)

    def _is_anothers(self, db: Connection) -> bool:
        """Whether the vectors are not ours; whoever expects none may look at any."""
        return bool(self._file.embedding) and bool(self._foreign(_meta(db)[1]))

    def _foreign(self, embedding: str) -> str:
        """Why vectors of `embedding` are not ours, `""` when they are, or are nobody's yet."""
        if not self._file.embedding:
            raise Internal("whose vectors? begin() was not called")
        if embedding in ("", self._file.embedding):
            return ""
        return f"{self.path} holds the vectors of another embedder now ({embedding})"

    def _claim(self, db: Connection, dimension: int) -> None:
        """See that the file takes our vectors; the first ones tell their dimension."""
        _, embedding, known = _meta(db)
        if problem := self._foreign(embedding):
            raise Conflict(problem)
        if not embedding:
            db.all("set_embedding", {"embedding": self._file.embedding})
        if dimension and not known:
            db.all("set_dimension", {"dimension": dimension})
        elif dimension not in (0, known):
            raise Internal(f"a vector of {dimension} numbers among those of {known}")

    # -- what is in memory ---------------------------------------------------------------------

    def _fresh(
        self, db: Connection, shelf: Shelf, state: _State, dimension: int
    ) -> matrix.Exact | matrix.Signs:
        """A shelf as it is in the file now."""
        kind = matrix.Signs if state.vectors > self._large else matrix.Exact
        # Out of the cache while it is worked on: what fails half-way must not stay.
        found = self._shelves.pop(shelf, None)
        if not isinstance(found, kind) or found.number != state.number:
            found = kind(state.number, dimension, state.vectors)
        _refresh(db, found, state)
        if len(found):
            self._shelves[shelf] = found
        while (
            len(self._shelves) > 1 and sum(one.size for one in self._shelves.values()) > self._cache
        ):
            self._shelves.popitem(last=False)
        return found

    def _read(
        self, file: str, shelf: Shelf, state: _State, rows: Sequence[int]
    ) -> tuple[Sequence[Row], matrix.Floats]:
        """What is in some rows of a shelf that was in `state`, in that file."""
        with self._file.reading() as db:
            there, _, dimension = _meta(db)
            if there != file:
                raise Unavailable(f"{self.path} was begun anew during a search; search again")
            found = db.all("some", {"rows": listed(rows)})
            if len(found) < len(rows) and _state(db, shelf) == state:
                raise Corrupt(str(self.path), "is damaged: vectors are missing")
            with _whole(db):
                return found, matrix.unpacked(found, dimension)


@contextmanager
def _whole(db: Connection) -> Iterator[None]:
    """What cannot be read in here is damage."""
    try:
        yield
    except ValueError as error:
        raise Corrupt(str(db.path), f"is damaged: {error}") from error


def _refresh(db: Connection, found: matrix.Exact | matrix.Signs, state: _State) -> None:
    """Bring what is in memory of a shelf to `state`, by what was added and removed since."""
    added = state.last - found.last
    if len(found) and len(found) + added != state.vectors:
        found.keep({row for (row,) in db.all("rows", {"shelf": state.number})})
    after, until = _row(state.number, found.last), _row(state.number + 1, 0)
    full = added > 0
    while full:
        values = {"after": after, "until": until, "limit": matrix.SLICE}
        rows = db.all("behind", values)
        if rows:
            with _whole(db):
                found.add(rows, matrix.unpacked(rows, found.dimension))
            after = rows[-1][0]
        full = len(rows) == matrix.SLICE
    found.last = state.last
    _counted(db, len(found), state)


# -- rows --------------------------------------------------------------------------------------


def _row(shelf: int, number: int) -> int:
    return shelf << _BITS | number


def _values(shelf: Shelf) -> dict[str, Any]:
    realm = shelf.realm
    return {"space": realm.space, "owner": realm.owner, "kind": shelf.kind, "ref": shelf.ref}


def _meta(db: Connection) -> tuple[str, str, int]:
    """Which file it is, whose vectors it holds, how many numbers each has (0: none there yet)."""
    match db.one("meta"):
        case (str(file), str(embedding), int(dimension)):
            return file, embedding, dimension
        case _:
            raise Corrupt(str(db.path), "is damaged: it does not say whose vectors it holds")


def _state(db: Connection, shelf: Shelf, *, make: bool = False) -> _State:
    """The row of a shelf, made if it is not there and `make` says so."""
    row = db.one("shelf", _values(shelf))
    if row is None and make:
        row = db.one("add_shelf", _values(shelf))
    match row:
        case None:
            return _State()
        case (int(number), int(vectors), int(last), int(reached)) if (
            0 < number < _MOST and 0 <= vectors <= last < _MOST
        ):
            return _State(number, vectors, last, reached)
        case _:
            raise Corrupt(str(db.path), "is damaged: the row of a shelf makes no sense")


def _counted(db: Connection, there: int, state: _State) -> None:
    if there != state.vectors:
        problem = f"is damaged: {there} vectors where there should be {state.vectors}"
        raise Corrupt(str(db.path), problem)


def _dropped(db: Connection, state: _State, ids: Sequence[str]) -> int:
    """Remove the vectors of some ids; gives how many there were."""
    before = db.changes
    db.many("drop", ({"shelf": state.number, "id": id} for id in ids))
    return db.changes - before


def _add(db: Connection, state: _State, rows: Sequence[Vectored], packed: Sequence[bytes]) -> None:
    """Store vectors behind the last."""
    first = _row(state.number, state.last + 1)
    db.many(
        "add",
        (
            {
                "row": first + n,
                "shelf": state.number,
                "id": one.id,
                "digest": one.digest,
                "vector": vector,
            }
            for n, (one, vector) in enumerate(zip(rows, packed, strict=True))
        ),
    )


def _set(db: Connection, state: _State, more: int, given: int, reached: int | None) -> None:
    """Say that there are `more` vectors on a shelf, and that so many numbers were given."""
    values = {
        "number": state.number,
        "vectors": state.vectors + more,
        "last": state.last + given,
        "reached": state.reached if reached is None else reached,
    }
    db.all("set_shelf", values)
