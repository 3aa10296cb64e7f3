"""The shards of a log: which lines the index lacks, and which lines the log lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memstrata.domain import layout
from memstrata.domain.layout import HOME, Place
from memstrata.errors import Invalid, NotFound
from memstrata.pipelines.world import Problem, Report, World
from memstrata.ports import StoreWrite

Progress = Callable[[str, int, int], None]
"""Called with (what, done, in all)."""


def shards(world: World, owner: str, log: str) -> list[tuple[Place, int, int]]:
    """(place, bytes on disk, bytes indexed) of a log's shards, those that vanished included."""
    folder = layout.log_folder(owner, log)
    files = world.vault.scan(folder) or {}
    known = {
        path: size
        for path, size in world.store.shards(log).items()
        if Place(HOME, path).folder == folder
    }
    places = {folder.within(n): s.size for n, s in files.items() if n.endswith(".jsonl")}
    places |= {Place(HOME, path): 0 for path in known if Place(HOME, path) not in places}
    return [(place, size, known.get(place.path, 0)) for place, size in sorted(places.items())]


def is_short(world: World, tx: StoreWrite, log: str, place: Place) -> bool:
    """Whether it still is, under the lock: another process may have been between file and row."""
    stat = world.vault.stat(place)
    return (stat.size if stat else 0) < tx.shards(log).get(place.path, 0)


def lines_if_there(world: World, place: Place) -> list[tuple[int, bytes]]:
    try:
        return list(world.vault.lines(place))
    except NotFound:
        return []


def append_again(world: World, place: Place, lines: bytes) -> int:
    if lines:
        return world.vault.append(place, lines).end
    stat = world.vault.stat(place)
    return stat.size if stat else 0


def take(lines: Iterator[tuple[int, bytes]], most: int) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    for line in lines:
        found.append(line)
        if len(found) == most:
            break
    return found


def readable(
    lines: Sequence[tuple[int, bytes]], place: Place, decode: Callable[[bytes], Any], report: Report
) -> Iterator[Any]:
    for end, line in lines:
        if not line.strip():
            continue
        try:
            yield decode(line)
        except (Invalid, RecursionError) as error:
            report.problems.append(Problem(str(place), f"at byte {end - len(line) - 1}: {error}"))
