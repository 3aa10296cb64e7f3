"""The vectors of one shelf in memory, and how near they are to a query.

On disk each number has 16 bits and each vector one scale: half of float32, cosines off by 4e-6 at most
(float16: 2e-5, and numpy takes seven times as long to turn it back). Up to a size a shelf is held as float32 and
compared exactly; beyond it as signs, one bit a number, which choose what is read and compared exactly.

Importing this needs numpy 2. `vecdot` gives equal rows equal scores and takes one thread, whatever the
BLAS; `@` gives the same row up to three scores, by where it stands, and may start threads that spin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy import bitwise_count, vecdot
from numpy.typing import NDArray

from memstrata.errors import Internal
from memstrata.ports import Near, Vector, Vectored

Floats: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = Sequence[tuple[Any, ...]]
"""(row, id, digest, sealed vector) each."""

_MOST_ROOM: Final = 1_000_000
"""Vectors to make room for at once, whatever a file says that it has."""
CANDIDATES: Final = 500
"""How many vectors of a large shelf are compared exactly, at least; 1 in 200 where that is more."""
_ROUGH: Final = 4
"""Times as many are chosen by the first bit alone."""
_PLANES: Final = 4
SLICE: Final = 1_000
"""How many vectors are read at a time."""
_STEPS: Final = 32_767
_SCALE: Final = 4
_SEAL: Final = 4
_SLACK: Final = 0.001
_LABELS: Final = 200
"""About how many bytes an id, a digest and their places take in Python."""


def packed(rows: Sequence[Vectored]) -> list[bytes]:
    """Vectors as they are stored: the scale (float32), 16-bit whole numbers, a seal over the row.

    The seal is what tells damage: SQLite checks its pages' structure, not what is in them.

    Raises:
        Internal: as `floats`.
    """
    if not rows:
        return []
    numbers = floats([row.vector for row in rows])
    scale = np.abs(numbers).max(axis=1, keepdims=True) / np.float32(_STEPS)
    whole = np.rint(numbers / np.where(scale > 0, scale, 1)).astype("<i2")
    parts = zip(rows, scale.astype("<f4"), whole, strict=True)
    return [_sealed(row, a.tobytes() + b.tobytes()) for row, a, b in parts]


def _sealed(row: Vectored, vector: bytes) -> bytes:
    return vector + _seal(row.id, row.digest, vector)


def _seal(id: str, digest: bytes, vector: bytes) -> bytes:
    return crc32(vector, crc32(id.encode() + digest)).to_bytes(_SEAL, "little")


def floats(vectors: Sequence[Vector]) -> Floats:
    """Vectors as an embedder gives them, one a row. All zero stands for a text that is near nothing.

    Raises:
        Internal: they have different dimensions, or one is not of unit length.
    """
    sizes = {len(one) for one in vectors}
    if len(sizes) != 1 or not (size := sizes.pop()) or size % 4:
        raise Internal(f"these are no vectors of one dimension: {sorted(sizes)} bytes")
    found = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    with np.errstate(all="ignore"):
        length = np.sqrt(vecdot(found, found))
        fine = (np.abs(length - 1) <= _SLACK) | (length == 0)
    if not fine.all():
        raise Internal("a vector is not of unit length, or has a number that is none")
    return found.astype(np.float32, copy=False)


def unpacked(rows: Rows, dimension: int) -> Floats:
    """The vectors of rows, in their order.

    Raises:
        ValueError: a row is not as it was stored.
    """
    end = _SCALE + 2 * dimension
    for _, id, digest, vector in rows:
        if not (isinstance(id, str) and isinstance(digest, bytes) and isinstance(vector, bytes)):
            raise ValueError("a row of other types")
        if len(vector) != end + _SEAL or vector[end:] != _seal(id, digest, vector[:end]):
            raise ValueError("a vector is not as it was stored")
    raw = np.frombuffer(b"".join([row[3] for row in rows]), np.uint8).reshape(len(rows), -1)
    found = raw[:, _SCALE:end].view("<i2").astype(np.float32)
    found *= raw[:, :_SCALE].view("<f4")
    return found


class Shelved(ABC):
    """What is in memory of a shelf: `number` in the file, `last` the number of its last row here.

    Rows are added at the end in place, which what was taken from it before does not see, and removed
    by copying.
    """

    def __init__(self, number: int, dimension: int) -> None:
        self.number = number
        self.dimension = dimension
        self.last = 0
        self.rows: list[int] = []
        self.ids: list[str] = []
        self.digests: list[bytes] = []
        self.places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, rows: Rows, numbers: Floats) -> None:
        """Add rows and their vectors.

        Raises:
            ValueError: an id is there twice.
        """
        self._append(numbers)
        for row, id, digest, _ in rows:
            if id in self.places:
                raise ValueError(f"two vectors of {id!r}")
            self.places[id] = len(self.rows)
            self.rows.append(row)
            self.ids.append(id)
            self.digests.append(digest)

    def keep(self, rows: set[int]) -> None:
        """Remove every other row."""
        kept = [place for place, row in enumerate(self.rows) if row in rows]
        if len(kept) == len(self.rows):
            return
        self._take(np.array(kept, np.intp))
        self.rows = [self.rows[place] for place in kept]
        self.ids = [self.ids[place] for place in kept]
        self.digests = [self.digests[place] for place in kept]
        self.places = {id: place for place, id in enumerate(self.ids)}

    @property
    @abstractmethod
    def size(self) -> int:
        """Bytes it takes, about."""

    @abstractmethod
    def _append(self, numbers: Floats) -> None: ...

    @abstractmethod
    def _take(self, places: NDArray[np.intp]) -> None: ...


class Exact(Shelved):
    """A shelf as float32."""

    def __init__(self, number: int, dimension: int, room: int) -> None:
        super().__init__(number, dimension)
        self._numbers = np.empty((room, dimension), np.float32)

    @property
    def size(self) -> int:
        return self._numbers.nbytes + _LABELS * len(self)

    def _append(self, numbers: Floats) -> None:
        n, m = len(self), len(self) + len(numbers)
        if m > len(self._numbers):
            # Memory that was never written takes no room.
            grown = np.empty((m + m // 4, self.dimension), np.float32)
            grown[:n] = self._numbers[:n]
            self._numbers = grown
        self._numbers[n:m] = numbers

    def _take(self, places: NDArray[np.intp]) -> None:
        self._numbers = self._numbers[places]

    @property
    def numbers(self) -> Floats:
        """One row a vector."""
        return self._numbers[: len(self)]


class Signs(Shelved):
    """A large shelf as signs: which numbers are above the mean of its first slice.

    The mean, because encoders like e5 put every text near one direction: a sign that all have says
    nothing.
    """

    def __init__(self, number: int, dimension: int, room: int) -> None:
        super().__init__(number, dimension)
        self._middle: Floats = np.empty(0, np.float32)
        self._bits = np.empty((-(-dimension // 64), min(room, _MOST_ROOM)), np.uint64)

    @property
    def size(self) -> int:
        return self._bits.nbytes + _LABELS * len(self)

    def _append(self, numbers: Floats) -> None:
        if not len(self):
            self._middle = numbers.mean(axis=0)
        n, m = len(self), len(self) + len(numbers)
        if m > self._bits.shape[1]:
            grown = np.empty((len(self._bits), m + m // 4), np.uint64)
            grown[:, :n] = self._bits[:, :n]
            self._bits = grown
        self._bits[:, n:m] = _words(numbers > self._middle).T

    def _take(self, places: NDArray[np.intp]) -> None:
        self._bits = self._bits[:, places]

    @property
    def bits(self) -> NDArray[np.uint64]:
        """One column a vector, 64 signs in each of its words."""
        return self._bits[:, : len(self)]

    def planes(self, query: Floats) -> NDArray[np.uint64]:
        """A query, compared to the same mean, as whole numbers of four bits: one row of words a bit."""
        away = query - self._middle
        most = np.abs(away).max() or 1
        steps = np.rint((away / most + 1) * 7.5).astype(np.uint8)
        return _words(np.stack([steps >> bit & 1 for bit in range(_PLANES)]) > 0)


def _words(signs: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Each row in as many words as it needs, the rest of the last one zero."""
    found = np.packbits(signs, axis=1)
    spare = -found.shape[1] % 8
    words: NDArray[np.uint64] = np.pad(found, ((0, 0), (0, spare))).view(np.uint64)
    return words


def _unlike(bits: NDArray[np.uint64], planes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """For each column how many signs are other than the query's, counted by how far its number is from zero.

    With the query's numbers taken as odd ones from -15 to 15, that is -15 to 15 times a sign, this is
    the product of query and signs but for a constant: sum over the bits of 2^bit * (other signs).
    """
    found = np.zeros(bits.shape[1], np.uint32)
    for word, one in zip(bits, planes.T, strict=True):
        for bit, sign in enumerate(one):
            found += bitwise_count(word ^ sign) * np.uint32(1 << bit)
    return found


def _nearest(bits: NDArray[np.uint64], planes: NDArray[np.uint64], count: int) -> list[int]:
    """The places of about the `count` nearest: first by the highest bit alone, the best of those by all."""
    if count >= bits.shape[1]:
        return list(range(bits.shape[1]))
    rough = _least(_unlike(bits, planes[-1:]), _ROUGH * count)
    best: list[int] = rough[_least(_unlike(bits[:, rough], planes), count)].tolist()
    return best


def _least(found: NDArray[np.uint32], count: int) -> NDArray[np.intp]:
    """The places of the `count` least."""
    if count >= len(found):
        return np.arange(len(found))
    return np.argpartition(found, count - 1)[:count]


def _best(ids: Sequence[str], scores: Floats, limit: int) -> list[tuple[str, float, int]]:
    """The best as (id, score, place), of equal ones the smaller id first."""
    if limit < 1:
        return []
    chosen: Iterable[int] = range(len(scores))
    if limit < len(scores):
        edge = np.partition(scores, -limit)[-limit]
        chosen = np.flatnonzero(scores >= edge).tolist()
    found = sorted((-float(scores[place]), ids[place], place) for place in chosen)
    return [(id, -score, place) for score, id, place in found[:limit]]


def _scores(numbers: Floats, query: Floats) -> Floats:
    found: Floats = vecdot(numbers, query)
    # Rounding may lift equal directions above 1.
    return np.clip(found, -1, 1, out=found)


class ExactScores:
    """`Scores` of a shelf that is in memory."""

    def __init__(self, held: Exact, query: Floats) -> None:
        self._ids, self._digests, self._places = held.ids, held.digests, held.places
        self._numbers = held.numbers
        self._query = query
        self._all: Floats | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def _scored(self) -> Floats:
        if self._all is None:
            self._all = _scores(self._numbers, self._query)
        return self._all

    def top(self, limit: int) -> list[Near]:
        """The nearest, best first; of equal ones the smaller id first."""
        found = _best(self._ids, self._scored(), limit)
        return [Near(id, self._digests[place], score) for id, score, place in found]

    def of(self, ids: Sequence[str]) -> dict[str, Near]:
        """Those of `ids` that have a vector."""
        places = [place for id in ids if (place := self._places.get(id, len(self))) < len(self)]
        some = self._all[places] if self._all is not None else self._some(places)
        return {
            self._ids[place]: Near(self._ids[place], self._digests[place], float(score))
            for place, score in zip(places, some, strict=True)
        }

    def _some(self, places: Sequence[int]) -> Floats:
        return _scores(self._numbers[places], self._query)


Read: TypeAlias = Callable[[Sequence[int]], tuple[Rows, Floats]]
"""What is stored in some rows, at most `SLICE`, and their vectors; rows that are gone are left out."""


class SignScores:
    """`Scores` of a large shelf: signs choose the candidates, the file has their exact numbers.

    `top` and `of` raise `Unavailable` where the file cannot be read.
    """

    def __init__(self, held: Signs, query: Floats, read: Read) -> None:
        self._rows, self._places, self._bits = held.rows, held.places, held.bits
        self._size = len(held)
        self._planes = held.planes(query)
        self._query, self._read = query, read

    def __len__(self) -> int:
        return self._size

    def top(self, limit: int) -> list[Near]:
        """The nearest, best first; of equal ones the smaller id first."""
        count = max(CANDIDATES, self._size // 200, 4 * limit)
        found = list(self._scored(_nearest(self._bits, self._planes, count)))
        found.sort(key=lambda near: (-near.score, near.id))
        return found[: max(limit, 0)]

    def of(self, ids: Sequence[str]) -> dict[str, Near]:
        """Those of `ids` that have a vector."""
        places = [place for id in ids if (place := self._places.get(id, self._size)) < self._size]
        return {near.id: near for near in self._scored(places)}

    def _scored(self, places: Sequence[int]) -> Iterator[Near]:
        rows = sorted(self._rows[place] for place in places)
        for at in range(0, len(rows), SLICE):
            found, numbers = self._read(rows[at : at + SLICE])
            for row, score in zip(found, _scores(numbers, self._query), strict=True):
                yield Near(row[1], row[2], float(score))
