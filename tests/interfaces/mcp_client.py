"""The official client beside a server: in this process, and as a subprocess over stdio."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import Implementation
from tests.interfaces.command import PROGRAM, environment

from memstrata.aio import Threads
from memstrata.interfaces.mcp.identity import Identity
from memstrata.interfaces.mcp.server import Door
from memstrata.memory import Verbs

T = TypeVar("T")
LOOM: Final = Implementation(name="loom", version="1")
BLIND: Final = {"MEMSTRATA_EMBEDDING__MODEL": "none"}
"""Vectors have tests of their own."""
HANDSHAKE: Final = (
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "loom", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


def within(
    memory: Verbs,
    identity: Identity,
    tour: Callable[[Client], Awaitable[T]],
    *,
    language: str = "en",
    mode: str = "auto",
) -> T:
    """What `tour` gives, as a client of a server in this process."""

    async def run() -> T:
        threads = Threads()
        door = Door(memory, threads, lambda _: identity, language)
        server = door.server(await threads.run(door.instructions))
        try:
            async with Client(server, mode=mode, client_info=LOOM) as client:
                return await tour(client)
        finally:
            await threads.rest()
            threads.close()

    return asyncio.run(run())


def beside(home: Path, tour: Callable[[Client], Awaitable[T]], *arguments: str) -> T:
    """What `tour` gives, as a client of `memstrata mcp` in a process of its own."""
    kept = environment(home, **BLIND)
    server = StdioServerParameters(
        command=sys.executable, args=[*PROGRAM[1:], "mcp", *arguments], env=kept, cwd=home.parent
    )

    async def run() -> T:
        async with Client(server, client_info=LOOM) as client:
            return await tour(client)

    return asyncio.run(run())


def call(number: int, tool: str, **arguments: object) -> dict[str, Any]:
    """A call of a tool, as it goes over the wire."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Raw:
    """`memstrata mcp` with its bare pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[bytes] = []
        self._answers: dict[int | None, list[dict[str, Any]]] = {}

    def send(self, *messages: object) -> None:
        """Write messages, JSON or bytes as they are, a line each."""
        assert self.process.stdin
        for one in messages:
            line = one if isinstance(one, bytes) else json.dumps(one).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self, number: int | None) -> dict[str, Any]:
        """The next answer to that request; others may come before it."""
        assert self.process.stdout
        while not self._answers.get(number):
            line = self.process.stdout.readline()
            assert line, self.process.stderr and self.process.stderr.read()
            self.lines.append(line)
            found: dict[str, Any] = json.loads(line)
            if "method" not in found:
                self._answers.setdefault(found.get("id"), []).append(found)
        return self._answers[number].pop(0)

    def ended(self) -> int:
        """Its exit code, once it ended; what it still said is kept."""
        assert self.process.stdout
        self.lines += self.process.stdout.readlines()
        return self.process.wait(30)


@contextmanager
def raw(
    home: Path,
    *arguments: str,
    program: tuple[str, ...] = PROGRAM,
    env: Mapping[str, str] = {},
) -> Iterator[Raw]:
    """A server that was shaken hands with."""
    process = subprocess.Popen(
        [*program, "mcp", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home, **BLIND, **env),
        cwd=home.parent,
    )
    found = Raw(process)
    try:
        found.send(*HANDSHAKE)
        found.answer(0)
        yield found
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream
            with suppress(BrokenPipeError):
                stream.close()
        process.wait(30)
