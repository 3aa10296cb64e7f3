"""The vectors' file: searching, filling, erasing, and what the storage costs: `python -m bench.vectors`.

Vectors are made up from a seed: 896 numbers, around 500 directions that lean to one side, as those of
encoders do. Ratios were measured with the compared things taking turns; times are of this machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import apsw
import numpy as np
from numpy.typing import NDArray

from bench import common
from bench.speed import Ratio, ratios, rounds
from memstrata.adapters.sqlite.vectors import LARGE, SqliteVectors
from memstrata.domain.scope import Realm
from memstrata.ports import Near, Shelf, Vectored

OUT: Final = Path(__file__).with_suffix(".md")
DIMENSION: Final = 896
SIZES: Final = (28, 1_200, 13_000, 100_000)
_EMBEDDING: Final = "made up"
_SPACE: Final = "local"
_OURS: Final = 200
_PART: Final = 64
_QUERIES: Final = 40
_MIDDLES: Final = 500

Floats = NDArray[np.float32]


def made(size: int, seed: int) -> Iterator[Floats]:
    """Vectors of unit length, at most 10,000 at a time."""
    middles = np.random.default_rng(0).standard_normal((_MIDDLES, DIMENSION), np.float32) + 1
    dice = np.random.default_rng(seed)
    for at in range(0, size, 10_000):
        rows = min(10_000, size - at)
        found = middles[dice.integers(0, _MIDDLES, rows)]
        found += dice.standard_normal((rows, DIMENSION), np.float32)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        yield found


def shelf(name: object) -> Shelf:
    """The messages of somebody."""
    return Shelf(Realm(_SPACE, f"owner-{name}"), "message", "")


def fill(vectors: SqliteVectors, where: Shelf, numbers: Floats, first: int = 0) -> None:
    """Put vectors in parts, as the background job does."""
    for at in range(0, len(numbers), _PART):
        vectors.put(
            where,
            [
                Vectored(f"session\nmessage-{first + at + n:07}", bytes(16), one.tobytes())
                for n, one in enumerate(numbers[at : at + _PART])
            ],
        )


def fill_all(vectors: SqliteVectors, where: Shelf, size: int, seed: int) -> None:
    """Put so many made-up vectors."""
    for n, numbers in enumerate(made(size, seed)):
        fill(vectors, where, numbers, n * 10_000)


def opened(path: Path) -> SqliteVectors:
    """The vectors in a file, begun."""
    found = SqliteVectors(path)
    found.begin(_EMBEDDING)
    return found


def search(vectors: SqliteVectors, where: Shelf, query: Floats) -> list[Near]:
    """The ten nearest."""
    return vectors.scores(where, query.tobytes()).top(10)


def cold(path: Path, where: Shelf, query: Floats) -> list[Near]:
    """The same as the first thing after opening the file."""
    with closing(opened(path)) as vectors:
        return search(vectors, where, query)


# -- one shelf among others ------------------------------------------------------------------------


def among(folder: Path) -> Iterator[Ratio]:
    """A shelf of 200 among 1,000 vectors and among 100,000."""
    query = next(made(1, 3))[0]
    files = {total: folder / f"among{total}" / "vectors.db" for total in (1_000, 100_000)}
    for total, path in files.items():
        with closing(opened(path)) as vectors:
            fill_all(vectors, shelf("ours"), _OURS, 1)
            for number in range((total - _OURS) // 1_000 + 1):
                fill_all(vectors, shelf(number), min(1_000, total - _OURS - 1_000 * number), 2)
            assert sum(vectors.counts(_SPACE).values()) == total
    few, many = (opened(path) for path in files.values())
    with closing(few), closing(many):
        warm = {
            n: partial(search, one, shelf("ours"), query)
            for n, one in (("few", few), ("many", many))
        }
        for one in warm.values():
            one()
        found = rounds(400, warm)
    print(f"search of {_OURS}: p50 {1000 * statistics.median(found['few']):.3f} ms")
    first = {str(total): partial(cold, path, shelf("ours"), query) for total, path in files.items()}
    opening = rounds(300, first)
    what = f"a search in a shelf of {_OURS} among 100,000 vectors beside among 1,000"
    yield Ratio(f"{what}, warm", ratios(found["many"], found["few"]), "≤ 1.5")
    yield Ratio(f"{what}, opening included", ratios(opening["100000"], opening["1000"]), "≤ 1.5")


# -- shelves by size -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Size:
    """What a shelf of `size` costs: milliseconds, and the share of the ten nearest that is found."""

    size: int
    warm: float
    cold: float
    one_more: float
    some_more: float
    recall: float
    error: float

    def row(self) -> list[str]:
        """A table row."""
        times = (self.warm, self.cold, self.one_more, self.some_more)
        return [
            f"{self.size:,}",
            *(f"{one:.2f}" for one in times),
            f"{self.recall:.4f}",
            f"{self.error:.0e}",
        ]


def milliseconds(work: Callable[[], object], times: int) -> float:
    """The median."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return 1000 * statistics.median(found)


def sizes(path: Path) -> Iterator[Size]:
    """Each of the sizes, all in one file."""
    queries = next(made(_QUERIES, 4))
    with closing(opened(path)) as vectors:
        for size in SIZES:
            fill_all(vectors, shelf(size), size, size)
    for size in SIZES:
        yield sized(path, size, queries)


def sized(path: Path, size: int, queries: Floats) -> Size:
    """One of the sizes."""
    where, query = shelf(size), queries[0]
    first = milliseconds(partial(cold, path, where, query), 5)
    with closing(opened(path)) as vectors:
        recall, error = judged(vectors, where, size, queries)
        left = iter(np.repeat(queries, 3, axis=0))
        return Size(
            size=size,
            warm=milliseconds(lambda: search(vectors, where, next(left)), 3 * _QUERIES),
            cold=first,
            one_more=grown(vectors, where, 1, query),
            some_more=grown(vectors, where, _PART, query),
            recall=recall,
            error=error,
        )


def grown(vectors: SqliteVectors, where: Shelf, part: int, query: Floats) -> float:
    """Milliseconds of a search after `part` vectors were added."""
    seconds = []
    for n in range(10):
        fill(vectors, where, next(made(part, n))[:part], 1_000_000 + n * part)
        begin = time.perf_counter()
        search(vectors, where, query)
        seconds.append(time.perf_counter() - begin)
    return 1000 * statistics.median(seconds)


def judged(vectors: SqliteVectors, where: Shelf, size: int, queries: Floats) -> tuple[float, float]:
    """The share of the ten nearest that is found, and how far a score is from the cosine at most."""
    exact = np.concatenate(
        [part.astype(np.float64) @ queries.T.astype(np.float64) for part in made(size, size)]
    )
    kept, error = 0, 0.0
    for query, cosines in zip(queries, exact.T, strict=True):
        hits = {int(near.id[-7:]): near.score for near in search(vectors, where, query)}
        kept += len(hits.keys() & set(np.argsort(-cosines)[:10].tolist()))
        error = max(error, *(abs(score - cosines[n]) for n, score in hits.items()))
    return kept / (10 * len(queries)), error


# -- filling and erasing ---------------------------------------------------------------------


def filling(folder: Path) -> Iterator[str]:
    """What it costs to put and to drop, and how large the file is."""
    path, number = folder / "filling" / "vectors.db", count()
    numbers = next(made(10_000, 5))
    with closing(opened(path)) as vectors:
        parts = np.split(numbers, range(500, 10_000, 500))
        seconds = [
            milliseconds(partial(fill, vectors, shelf("fill"), part, next(number) * 500), 1)
            for part in parts
        ]
        yield f"- Put in parts of {_PART}: {500_000 / statistics.median(seconds):,.0f} vectors/s."
        one = milliseconds(
            lambda: vectors.put(
                shelf("one"),
                [Vectored(f"one {next(number)}", bytes(16), numbers[0].tobytes())],
            ),
            100,
        )
        yield f"- Put a single one: {one:.2f} ms."
        gone = milliseconds(
            lambda: vectors.drop(shelf("fill"), [f"session\nmessage-{next(number):07}"]), 50
        )
        yield f"- Drop one, its bytes and the log's included: {gone:.2f} ms."
    size = path.stat().st_size / 10_100
    plain = 4 * DIMENSION
    yield f"- In the file: {size:,.0f} bytes a vector of {DIMENSION} numbers (float32 alone: {plain:,})."


def plainly(path: Path) -> Iterator[Ratio]:
    """A search beside the product alone, as numpy's BLAS does it."""
    query = next(made(1, 6))[0]
    numbers = np.concatenate(list(made(13_000, 13_000)))
    with closing(opened(path)) as vectors:
        works: dict[str, Callable[[], object]] = {
            "search": partial(search, vectors, shelf(13_000), query),
            "plain": lambda: numbers @ query,
        }
        for work in works.values():
            work()
        found = rounds(60, works)
    what = "a search in a shelf of 13,000 beside `numbers @ query` alone"
    yield Ratio(what, ratios(found["search"], found["plain"]))


# -- the report ------------------------------------------------------------------------------------


def report(found: Sequence[Ratio], by_size: Sequence[Size], lines: Sequence[str]) -> str:
    """All of it in Markdown."""
    about = (
        f"Vectors of {DIMENSION} numbers, made up around {_MIDDLES} directions; "
        f"{os.cpu_count()} cores, CPython {platform.python_version()}, SQLite "
        f"{apsw.sqlite_lib_version()}, numpy {np.__version__}. Compared things took turns in one run."
    )
    beside = ("what, beside what", "ratio: median", "quartiles", "wanted")
    head = ("vectors", "warm", "first", "1 more", f"{_PART} more", "recall@10", "off by")
    explained = (
        "The ten nearest, milliseconds (median): again; as the first thing after opening; after 1 and "
        f"{_PART} vectors were added. Recall is against an exact scan in float64, as is how far a score "
        f"is off at most. Above {LARGE:,} vectors signs choose what is compared exactly."
    )
    return "\n\n".join(
        (
            "# Vectors",
            about,
            common.table(beside, [one.row() for one in found]),
            "## By the size of the shelf",
            explained,
            common.table(head, [one.row() for one in by_size]),
            "## Filling and erasing",
            "\n".join(lines),
        )
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="bench.vectors", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE")
    parser.add_argument("--data", type=Path, help="not used: the vectors are made up here")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memstrata-bench-") as name:
        folder = Path(name)
        path = folder / "sizes" / "vectors.db"
        found = list(among(folder))
        by_size = list(sizes(path))
        found += plainly(path)
        lines = list(filling(folder))
    common.write(chosen.out, report(found, by_size, lines))
    print(chosen.out.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
