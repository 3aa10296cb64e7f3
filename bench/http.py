"""Many clients at once on one server, beside an empty endpoint: `python -m bench.http`.

The server is a real process on loopback, the clients are raw sockets in this one, each with a connection
that it keeps. In one run they first ask /healthz, which does nothing, then work: store turns, add
memories, search, recall, list. Everything that was acknowledged must be there at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final

from bench import common
from memstrata import Memory

OUT: Final = Path(__file__).with_suffix(".md")
CLIENTS: Final = 64
SECONDS: Final = 60.0
EMPTY_SHARE: Final = 0.2
"""Of the time, for the empty endpoint."""
_WORDS: Final = "lamp river kiln heron weir mill bridge harvest letter clock garden boat".split()
_SETTINGS: Final = {
    "MEMSTRATA_SERVER__REQUESTS_PER_SECOND": "0",
    "MEMSTRATA_SERVER__ACCESS_LOG": "false",
    "MEMSTRATA_QUOTA__USER": "1000000",
    "MEMSTRATA_EMBEDDING__MODEL": "none",
}
_PAGE: Final = 1_000
_ABOUT: Final = """\
# HTTP

{clients} clients at once for {seconds:g} s on loopback, each with one connection and no pause; {cores} cores that
server and clients share, CPython {python}, full text only, every write flushed to disk.
"""
_BESIDE: Final = """\
Waiting times beside those of the empty endpoint (/healthz) with as many clients in the same run; ratios are
what lasts:
"""


@dataclass(slots=True)
class Tally:
    """What the clients saw: milliseconds by what they asked, errors, and what was acknowledged."""

    waited: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    memories: set[str] = field(default_factory=set)
    messages: set[str] = field(default_factory=set)

    @property
    def requests(self) -> int:
        """How many were answered."""
        return sum(map(len, self.waited.values()))


class Line:
    """One connection that is kept."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, document: object = None) -> tuple[int, bytes]:
        """Send a request; status and body."""
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        body = b"" if document is None else json.dumps(document).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        head += "Content-Type: application/json\r\n" if body else ""
        self._writer.write(head.encode() + b"\r\n" + body)
        said = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", said, re.IGNORECASE)
        data = await self._reader.readexactly(int(length[1])) if length else b""
        return int(said[9:12]), data

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()


@dataclass(frozen=True, slots=True)
class Client:
    """One of the many: who asks, and what it saw."""

    number: int
    line: Line
    tally: Tally
    chance: random.Random

    async def until(self, end: float, *, empty: bool) -> None:
        """Ask until `end`."""
        turn = 0
        while monotonic() < end:
            turn += 1
            name, method, path, document = (
                ("empty", "GET", "/healthz", None) if empty else self._next(turn)
            )
            began = monotonic()
            try:
                status, data = await self.line.ask(method, path, document)
            except (OSError, asyncio.IncompleteReadError) as error:
                self.tally.errors[f"{name}: {type(error).__name__}"] += 1
                return
            self.tally.waited.setdefault(name, []).append((monotonic() - began) * 1_000)
            if status >= 300:
                self.tally.errors[f"{name}: {status} {data[:120]!r}"] += 1
            else:
                self._keep(name, json.loads(data))

    def _next(self, turn: int) -> tuple[str, str, str, object]:
        word = self.chance.choice(_WORDS)
        name = f"{word} {self.number} {turn}"
        kind = self.chance.choices(("commit", "add", "search", "recall", "list"), (3, 2, 3, 3, 1))[
            0
        ]
        match kind:
            case "commit":
                said = {"role": "user", "content": f"The {name} stands by the old mill"}
                return kind, "POST", "/v1/turns", {"session": f"s{self.number}", "messages": [said]}
            case "add":
                about = {"name": name, "description": f"About the {word} of {self.number}"}
                return kind, "POST", "/v1/memories", about
            case "search":
                return kind, "POST", "/v1/search", {"query": f"{word} mill"}
            case "recall":
                asked = {"session": f"s{self.number}", "message": f"Where is the {word}?"}
                return kind, "POST", "/v1/recall", asked
            case _:
                return kind, "GET", "/v1/memories?limit=20", None

    def _keep(self, name: str, document: Any) -> None:
        if name == "add":
            self.tally.memories.add(document["id"])
        if name == "commit":
            self.tally.messages.update((f"s{self.number}\n{id}") for id in document["stored"])


async def load(
    host: str, port: int, clients: int, seconds: float, *, empty: bool, seed: int
) -> Tally:
    """Let so many clients ask at once for so long."""
    tally = Tally()
    end = monotonic() + seconds
    asking = [
        Client(number, Line(host, port), tally, random.Random(seed * 1_000 + number))
        for number in range(clients)
    ]
    await asyncio.gather(*(one.until(end, empty=empty) for one in asking))
    for one in asking:
        one.line.close()
    return tally


@contextmanager
def server(home: Path) -> Iterator[tuple[str, int, int]]:
    """A server in a process of its own: host, port, process id."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memstrata", "--home", str(home), "serve", "--port", "0"],
        env={**os.environ, **_SETTINGS},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        found = re.search(r"http://([\d.]+):(\d+)", process.stderr.readline())
        if found is None:
            raise SystemExit(process.stderr.read())
        yield found[1], int(found[2]), process.pid
        process.terminate()
        if process.wait(120):
            raise SystemExit(f"the server ended with {process.returncode}")
    finally:
        process.kill()
        process.communicate()


def resident(pid: int) -> float:
    """Megabytes of memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) / 1_024 if found else float("nan")


def lost(home: Path, tally: Tally) -> int:
    """How many acknowledged writes are not there."""
    with Memory.open(home, background=False, settings={"embedding.model": "none"}) as memory:
        known: set[str] = set()
        cursor = None
        while True:
            page = memory.list(limit=_PAGE, cursor=cursor)
            known.update(one.id for one in page.items)
            if (cursor := page.cursor) is None:
                break
        said: set[str] = set()
        for session in memory.sessions():
            cursor = None
            while True:
                told = memory.messages(session.id, limit=_PAGE, cursor=cursor)
                said.update(f"{session.id}\n{one.id}" for one in told.items)
                if (cursor := told.cursor) is None:
                    break
    return len(tally.memories - known) + len(tally.messages - said)


def p95(waited: Sequence[float]) -> float:
    """Milliseconds that 95 of 100 requests took at most."""
    return statistics.quantiles(waited, n=20)[-1] if len(waited) > 1 else float("nan")


@dataclass(frozen=True, slots=True)
class Found:
    """One run."""

    clients: int
    seconds: float
    empty: Tally
    work: Tally
    megabytes: tuple[float, float, float]
    """At the start, after the empty requests, after the work."""
    lost: int


def run(clients: int, seconds: float) -> Found:
    """Measure."""
    with tempfile.TemporaryDirectory(prefix="memstrata-") as folder:
        home = Path(folder) / "home"
        share = seconds * EMPTY_SHARE
        with server(home) as (host, port, pid), asyncio.Runner() as runner:  # noqa: TID251 -- no model here
            runner.run(load(host, port, 1, 0.5, empty=False, seed=0))
            start = resident(pid)
            empty = runner.run(load(host, port, clients, share, empty=True, seed=1))
            idle = resident(pid)
            work = runner.run(load(host, port, clients, seconds - share, empty=False, seed=2))
            megabytes = start, idle, resident(pid)
        return Found(clients, seconds, empty, work, megabytes, lost(home, work))


def report(found: Found) -> str:
    """The page."""
    base = p95(found.empty.waited["empty"])
    median = statistics.median(found.empty.waited["empty"])
    rows = [
        [
            name,
            f"{len(waited):,}",
            f"{statistics.median(waited) / median:.1f}",
            f"{p95(waited) / base:.1f}",
            f"{p95(waited):.0f}",
        ]
        for name, waited in sorted({**found.empty.waited, **found.work.waited}.items())
    ]
    start, _, after = found.megabytes
    errors = sum(found.empty.errors.values()) + sum(found.work.errors.values())
    told = [
        f"- {what}: {count}" for what, count in (found.empty.errors + found.work.errors).items()
    ]
    share = found.seconds * EMPTY_SHARE
    idling = found.empty.requests / share
    working = found.work.requests / (found.seconds - share)
    writes = len(found.work.memories) + len(found.work.messages)
    lines = [
        f"- Errors: {errors} of {found.empty.requests + found.work.requests:,} requests.",
        *told,
        f"- Lost: {found.lost} of {writes:,} acknowledged writes.",
        f"- Answered: {working:.0f} requests/s of work, {idling:.0f} empty ones.",
        f"- Memory: {after / start:.2f} times that after the first requests ({start:.0f} MB).",
    ]
    about = _ABOUT.format(
        clients=found.clients,
        seconds=found.seconds,
        cores=os.cpu_count(),
        python=platform.python_version(),
    )
    headings = ("request", "answered", "median, ratio", "p95, ratio", "p95, ms")
    table = common.table(headings, rows)
    return f"{about}\n{chr(10).join(lines)}\n\n{_BESIDE}\n{table}"


def main() -> int:
    """Measure and write the page; 1 when something failed or was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    found = run(arguments.clients, arguments.seconds)
    text = report(found)
    print(text)
    arguments.out.write_text(text.rstrip() + "\n", "utf-8")
    return int(bool(found.empty.errors or found.work.errors or found.lost))


if __name__ == "__main__":
    sys.exit(main())
