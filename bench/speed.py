"""Speed as ratios, measured in one run with the compared things taking turns: `python -m bench.speed`.

Absolute figures depend on the machine and its disk; what a thing costs beside another on the same
machine lasts. `plain` is the least that would do: one SQLite file at `synchronous=FULL`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random
from typing import Final
from unittest.mock import patch

import apsw
import numpy as np

from bench import common
from memstrata import Memory
from memstrata.domain import layout
from memstrata.domain import memory as domain
from memstrata.domain.scope import Key, Realm
from memstrata.pipelines import apply
from memstrata.pipelines.read import Hits
from memstrata.ports import Side, Stored, Vector

OUT: Final = Path(__file__).with_suffix(".md")
_TURNS: Final = 100
_PROCESSES: Final = 8
_SCOPE: Final = 300
_SEEN: Final = 200
_WORDS: Final = tuple(
    f"{start}{end}"
    for start in "bar cor del fen gar hol jun kel lom mer nor pal quin ros sal tor ul ver wil yor".split()
    for end in "ad eck ian olt ump ash ise ory ant ule".split()
)
_NOW: Final = datetime(2026, 3, 1, 9, tzinfo=UTC)
_DIMENSION: Final = 896

Timed = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Ratio:
    """What was compared, the ratio of each round, and what is wanted (empty: nothing named)."""

    what: str
    rounds: tuple[float, ...]
    wanted: str = ""

    def row(self) -> list[str]:
        """A table row: the median and the quartiles."""
        low, middle, high = statistics.quantiles(self.rounds, n=4, method="inclusive")
        return [self.what, f"{middle:.2f}", f"{low:.2f}-{high:.2f}", self.wanted]


def rounds(count: int, timed: Mapping[str, Timed]) -> dict[str, list[float]]:
    """Seconds of each, `count` times, taking turns; the order is turned around every round."""
    found: dict[str, list[float]] = {name: [] for name in timed}
    names = list(timed)
    for number in range(count):
        for name in names if number % 2 else names[::-1]:
            begin = time.perf_counter()
            timed[name]()
            found[name].append(time.perf_counter() - begin)
    return found


def ratios(seconds: Sequence[float], reference: Sequence[float]) -> tuple[float, ...]:
    """Round by round, how many times as long as the reference."""
    return tuple(one / other for one, other in zip(seconds, reference, strict=True))


def sentence(dice: Random, words: int = 12) -> str:
    """Words of no language, in a fixed order for a seed, commoner ones more often."""
    size = len(_WORDS)
    return " ".join(_WORDS[int(size * dice.random() ** 2)] for _ in range(words))


# -- starting -------------------------------------------------------------------------------------


def starting() -> Iterator[Ratio]:
    """A fresh interpreter: nothing, our package, our command line."""
    commands = {
        "pass": ["-c", "pass"],
        "import": ["-c", "import memstrata"],
        "facade": ["-c", "from memstrata import Memory"],
        "version": ["-m", "memstrata", "--version"],
    }
    runs = {name: _process(arguments) for name, arguments in commands.items()}
    for one in runs.values():
        one()
    found = rounds(20, runs)
    beside = "beside `python -c pass`"
    yield Ratio(f"`import memstrata` {beside}", ratios(found["import"], found["pass"]), "≤ 3")
    yield Ratio(f"`memstrata --version` {beside}", ratios(found["version"], found["pass"]), "≤ 12")
    yield Ratio(f"`from memstrata import Memory` {beside}", ratios(found["facade"], found["pass"]))


def _process(arguments: Sequence[str]) -> Timed:
    return lambda: subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=_environment()
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


# -- writing --------------------------------------------------------------------------------------


@contextmanager
def opened(home: Path) -> Iterator[Memory]:
    """A home without background work."""
    with Memory.open(home, background=False) as memory:
        yield memory


class Plain:
    """One SQLite file, write-ahead log, `synchronous=FULL`, one transaction a turn."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        self.db = apsw.Connection(str(path))
        self.db.set_busy_timeout(30_000)
        self.db.pragma("journal_mode", "WAL")
        self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute("CREATE TABLE IF NOT EXISTS turn (id INTEGER PRIMARY KEY, text TEXT)")

    def commit(self, text: str) -> None:
        """One durable turn."""
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("INSERT INTO turn (text) VALUES (?)", (text,))
        self.db.execute("COMMIT")

    def commit_all(self, texts: Sequence[str]) -> None:
        """Each text a durable turn."""
        for text in texts:
            self.commit(text)

    def file(self, number: int, text: str) -> None:
        """One durable file, renamed into its place, and its row."""
        target = self.folder / f"{number}.md"
        with open(target.with_suffix(".new"), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        target.with_suffix(".new").rename(target)
        self.commit(text)


def writing(folder: Path) -> Iterator[Ratio]:
    """Durable turns and memories, one process."""
    dice = Random(1)
    texts = [sentence(dice) for _ in range(_TURNS)]
    with opened(folder / "writes") as memory:
        plain = Plain(folder / "plain.db")
        number = iter(range(10_000_000))

        def commit() -> None:
            chat = memory.session(f"s{next(number)}")
            for text in texts:
                chat.commit([{"role": "user", "content": text}])

        def add() -> None:
            for text in texts:
                memory.add(name=f"note {next(number)}", description=text)

        def plain_files() -> None:
            for text in texts:
                plain.file(next(number), text)

        found = rounds(
            5,
            {
                "commit": commit,
                "plain": lambda: plain.commit_all(texts),
                "add": add,
                "file": plain_files,
            },
        )
        _absolute("commit", _TURNS, found["commit"])
        _absolute("add", _TURNS, found["add"])
        yield Ratio(
            "a `commit` of one turn beside a plain SQLite commit",
            ratios(found["commit"], found["plain"]),
        )
        yield Ratio(
            "an `add` beside a flushed file and a plain SQLite commit",
            ratios(found["add"], found["file"]),
        )


def _committer(home: str, name: str, ready: Barrier, durations: Queue[float]) -> None:
    """In a process of its own: commit turns as soon as all are ready."""
    with opened(Path(home)) as memory:
        chat = memory.session(name)
        ready.wait()
        begin = time.perf_counter()
        for number in range(_TURNS):
            chat.commit(
                [{"role": "user", "content": f"{name} {number} {sentence(Random(number))}"}]
            )
        durations.put(time.perf_counter() - begin)


def _together(home: Path, processes: int) -> float:
    """Turns a second of so many processes on one home."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(processes)
    durations: Queue[float] = context.Queue()
    workers = [
        context.Process(target=_committer, args=(str(home), f"p{number}", ready, durations))
        for number in range(processes)
    ]
    for one in workers:
        one.start()
    longest = max(durations.get(timeout=300) for _ in workers)
    for one in workers:
        one.join()
    return processes * _TURNS / longest


def together(folder: Path) -> Iterator[Ratio]:
    """Eight processes on one home beside one."""
    found = []
    for number in range(5):
        alone = _together(folder / f"one{number}", 1)
        all_of_them = _together(folder / f"eight{number}", _PROCESSES)
        print(f"commit: {alone:.0f} turns/s by one process, {all_of_them:.0f} by {_PROCESSES}")
        found.append(all_of_them / alone)
    yield Ratio(f"turns/s of {_PROCESSES} processes together beside one alone", tuple(found))


def importing(folder: Path) -> Iterator[Ratio]:
    """An import beside filling a plain FTS5 table with the same texts, in one transaction."""
    dice = Random(2)
    texts = [sentence(dice) for _ in range(2_000)]
    file = folder / "many.jsonl"
    file.write_text("\n".join(f'{{"role": "user", "content": "{text}"}}' for text in texts))
    number = iter(range(1_000))

    def take() -> None:
        with opened(folder / f"import{next(number)}") as memory:
            assert memory.import_(file, extract=False).stored == len(texts)

    def plain() -> None:
        db = apsw.Connection(str(folder / f"fts{next(number)}.db"))
        db.execute("CREATE VIRTUAL TABLE plain USING fts5 (text, tokenize = 'porter unicode61')")
        with db:
            db.executemany("INSERT INTO plain (text) VALUES (?)", [(text,) for text in texts])

    found = rounds(5, {"import": take, "plain": plain})
    _absolute("import", len(texts), found["import"])
    yield Ratio(
        "an import of 2,000 messages beside filling plain FTS5",
        ratios(found["import"], found["plain"]),
    )


def _absolute(what: str, count: int, seconds: Sequence[float]) -> None:
    print(f"{what}: {count / statistics.median(seconds):.0f}/s")


# -- reading --------------------------------------------------------------------------------------


def stored(owner: str, number: int, dice: Random) -> Stored:
    """A memory of `owner` with invented words, as the index holds it."""
    one = domain.Memory(
        id=f"mem_{owner}{number:06}",
        key=Key(Realm("local", owner), "user", ""),
        type="user",
        name=f"{sentence(dice, 2)} {number}",
        description=sentence(dice),
        body=sentence(dice, 20),
        confidence=1.0,
        priority=50,
        origin="manual",
        authority="person",
        version=1,
        created_at=_NOW,
        updated_at=_NOW,
    )
    place = layout.memory_file(one.key, one.id, layout.HOME)
    return Stored(one, place, f"digest{number}", owner, None)


def fill(memory: Memory, rows: int, own: int = _SCOPE) -> None:
    """The reader's scope of `own`, then others' rows up to `rows`, 1,000 an owner, index only."""
    dice = Random(3)
    owners = ["local"] * own + [f"o{number // 1_000}" for number in range(rows - own)]
    for at in range(0, rows, 5_000):
        with memory._world.store.transaction() as tx:
            for number, owner in enumerate(owners[at : at + 5_000], start=at):
                tx.put(stored(owner, number, dice))
    memory._world.store.optimise()


def reading(folder: Path) -> Iterator[Ratio]:
    """Search and recall in a scope of 300 among 1,000 and among 100,000 rows, and in one of 3,000."""
    with (
        opened(folder / "few") as few,
        opened(folder / "many") as many,
        opened(folder / "large") as large,
    ):
        fill(few, 1_000)
        fill(many, 100_000)
        fill(large, 3_000, own=3_000)
        dice = Random(4)
        queries = [sentence(dice, 4) for _ in range(150)]
        calls: dict[str, Callable[[str], object]] = {
            "plain": _plain_index(),
            "few": lambda query: few.search(query, kinds=("memory",)),
            "many": lambda query: many.search(query, kinds=("memory",)),
            "recall": few.session("s").recall,
            "recall many": many.session("s").recall,
            "recall large": large.session("s").recall,
        }
        for call in calls.values():
            call(queries[0])
        found = rounds(len(queries), {name: _each(call, queries) for name, call in calls.items()})
    for name, seconds in found.items():
        print(f"{name}: p50 {1000 * statistics.median(seconds):.2f} ms")
    yield Ratio(
        "p50 of a search in a scope of 300 beside plain FTS5 over 300 rows",
        ratios(found["few"], found["plain"]),
    )
    yield Ratio(
        "p50 of the same search among 100,000 rows beside among 1,000",
        ratios(found["many"], found["few"]),
        "1",
    )
    yield Ratio("p50 of a recall beside a search", ratios(found["recall"], found["few"]))
    yield Ratio(
        "p50 of the same recall among 100,000 rows beside among 1,000",
        ratios(found["recall many"], found["recall"]),
        "1",
    )
    yield Ratio(
        "p50 of a recall in a scope of 3,000 beside one in a scope of 300",
        ratios(found["recall large"], found["recall"]),
    )


def _each(call: Callable[[str], object], queries: Sequence[str]) -> Timed:
    """`call` on the next of the queries, each time."""
    left = iter(queries)
    return lambda: call(next(left))


def _plain_index() -> Callable[[str], object]:
    dice = Random(3)
    ours = [stored("local", number, dice).memory for number in range(_SCOPE)]
    return common.porter({one.id: f"{one.name} {one.description} {one.body}" for one in ours})


class MadeUp:
    """An embedder whose vectors come from a seed that is the text's: they mean nothing, and cost nothing."""

    key = "made up"
    dimension = _DIMENSION
    remote = False

    def embed(self, texts: Sequence[str], side: Side) -> list[Vector]:
        """A vector a text, anywhere on the sphere."""
        found = (
            np.random.default_rng(zlib.crc32(text.encode())).standard_normal(_DIMENSION, np.float32)
            for text in texts
        )
        return [(one / np.linalg.norm(one)).tobytes() for one in found]

    def floor(self, query: Vector, cjk: bool) -> float:
        """None is known."""
        return -1.0

    def close(self) -> None:
        """Nothing is held."""


def seeing(folder: Path) -> Iterator[Ratio]:
    """A hybrid search in a scope of 200 among 1,000 and among 100,000 memories, each with a vector."""
    with (
        patch("memstrata.bootstrap.open_embedder", lambda *_, **__: MadeUp()),
        ExitStack() as stack,
    ):
        few, many = (
            stack.enter_context(opened(folder / f"seeing{rows}")) for rows in (1_000, 100_000)
        )
        for memory, rows in ((few, 1_000), (many, 100_000)):
            fill(memory, rows, own=_SEEN)
            memory.rebuild_vectors()
            held = memory._world.vectors
            assert held is not None
            assert sum(held.counts("local").values()) == rows
        dice = Random(6)
        queries = [sentence(dice, 4) for _ in range(300)]
        calls: dict[str, Callable[[str], Hits]] = {
            "few": lambda query: few.search(query, kinds=("memory",)),
            "many": lambda query: many.search(query, kinds=("memory",)),
        }
        for call in calls.values():
            assert not call(queries[0]).degraded
        found = rounds(len(queries), {name: _each(call, queries) for name, call in calls.items()})
    for name, seconds in found.items():
        print(f"hybrid, {name}: p50 {1000 * statistics.median(seconds):.2f} ms")
    yield Ratio(
        f"p50 of a hybrid search in a scope of {_SEEN} among 100,000 memories with vectors beside among 1,000",
        ratios(found["many"], found["few"]),
        "≤ 1.5",
    )


def opening(folder: Path) -> Iterator[Ratio]:
    """Opening homes of 0, 1,000 and 10,000 memories that nothing changed since."""
    homes = {count: folder / f"home{count}" for count in (0, 1_000, 10_000)}
    for count, home in homes.items():
        _write_home(home, count)
    found = rounds(7, {str(count): partial(_open, home) for count, home in homes.items()})
    for count in homes:
        print(f"open {count}: {1000 * statistics.median(found[str(count)]):.0f} ms")
    for count in (1_000, 10_000):
        yield Ratio(
            f"opening a home of {count:,} memories beside an empty one",
            ratios(found[str(count)], found["0"]),
        )


def _write_home(home: Path, count: int) -> None:
    """The files as `add` leaves them, then one open that takes them over."""
    dice = Random(5)
    target = apply.Target(layout.HOME, "local", "")
    for number in range(count):
        row = stored("local", number, dice)
        path = home / row.place.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(apply.rendered(row.memory, target))
    _open(home)


def _open(home: Path) -> None:
    with opened(home):
        pass


# -- size -----------------------------------------------------------------------------------------


def installed() -> tuple[float, list[tuple[str, float]]]:
    """Megabytes of the base dependencies and what they need, in all and the five largest."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    waiting = [_name(one) for one in project["project"]["dependencies"]]
    sizes: dict[str, float] = {}
    while waiting:
        name = waiting.pop()
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # another platform's
            continue
        if name not in sizes:
            sizes[name] = sum(_size(Path(str(file.locate()))) for file in found.files or ()) / 1e6
            waiting += [_name(one) for one in found.requires or () if "extra ==" not in one]
    largest = sorted(sizes.items(), key=lambda one: -one[1])[:5]
    return sum(sizes.values()), largest


def _name(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() and path.suffix != ".pyc" else 0


# -- the report -----------------------------------------------------------------------------------


def report(found: Sequence[Ratio]) -> str:
    """The ratios in Markdown."""
    total, largest = installed()
    parts = ", ".join(f"{name} {size:.1f}" for name, size in largest)
    head = ("what, beside what", "ratio: median", "quartiles", "wanted")
    about = (
        "Ratios of times unless it says turns/s, the compared things taking turns in one run: "
        f"{os.cpu_count()} cores, CPython {platform.python_version()}, SQLite "
        f"{apsw.sqlite_lib_version()}. Every write is durable (`synchronous=FULL`)."
    )
    size = f"Base dependencies installed, without compiled caches: {total:.0f} MB ({parts})."
    lines = ("# Speed", about, common.table(head, [one.row() for one in found]), size)
    return "\n\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="bench.speed", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE")
    parser.add_argument("--data", type=Path, help="not used: the texts are made up here")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memstrata-bench-") as name:
        folder = Path(name)
        found = list(starting())
        for measure in (writing, together, importing, reading, seeing, opening):
            found += measure(folder)
    common.write(chosen.out, report(found))
    print(chosen.out.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
