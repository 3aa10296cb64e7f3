"""MCP over stdio: stdout is the protocol's alone, and whatever becomes of the client the process ends.

No thread waits at a descriptor, so that a signal, or a client that has gone, is noticed at once.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

from memstrata.aio import Threads
from memstrata.errors import Unavailable
from memstrata.interfaces.mcp.identity import Identify
from memstrata.interfaces.mcp.server import Door
from memstrata.memory import Verbs

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one message; a longer one is refused, and what follows it is read on."""
LAST_ANSWERS: Final = 1.0
"""Seconds for the answers that are under way when the client closes its end: it ends us after two."""
_PART: Final = 65_536
_WRITABLE: Final = select.PIPE_BUF
"""Bytes that a descriptor takes without blocking once it says that it takes any."""
_ANSWER: Final = '{"jsonrpc":"2.0","id":'
_ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def claim() -> tuple[int, int]:
    """(in, out): the descriptors of the protocol; from here on stdin is empty and stdout is stderr.

    So whatever prints, here or in a child, cannot reach the wire. It stays so to the process's end, for
    a library in C may hold back what it printed until then.

    Raises:
        Unavailable: there is no stdin or stdout.
    """
    try:
        inward, outward = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1))
    except OSError as error:
        raise Unavailable(f"stdin and stdout are needed: {error.strerror}") from error
    nothing = os.open(os.devnull, os.O_RDWR)  # the lowest that is free: stderr, where there is none
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    if nothing > 2:
        os.close(nothing)
    return inward, outward


class Wire:
    """Both ends of the protocol, as the SDK takes them: lines come in, lines go out."""

    def __init__(self, inward: int, outward: int) -> None:
        self._in = inward
        self._out = outward
        self._waits = True
        self._open: set[types.RequestId] = set()
        self._settled = anyio.Event()
        self._turn = anyio.Lock()
        self.gone = anyio.Event()
        """The client takes no more answers."""

    async def __aiter__(self) -> AsyncIterator[str]:
        """Each message as it came; what is none is answered here, and reading goes on."""
        async for line in self._lines():
            match _parsed(line):
                case (int(code), str(problem)):
                    await self._refuse(code, problem)
                case message:
                    self._note(message)
                    yield line.decode("utf-8", "replace")
        with anyio.move_on_after(LAST_ANSWERS):
            while self._open and not self.gone.is_set():
                self._settled = anyio.Event()
                await self._settled.wait()

    def _note(self, message: object) -> None:
        """Keep account of what has to be answered: a request, unless it is taken back."""
        match message:
            case types.JSONRPCRequest(id=id):
                self._open.add(id)
            case types.JSONRPCNotification(
                method="notifications/cancelled", params={"requestId": int() | str() as id}
            ):
                self._open.discard(id)

    async def _lines(self) -> AsyncIterator[bytes]:
        held, overlong = bytearray(), False
        while part := await self._read():
            *ends, rest = part.split(b"\n")
            for end in ends:
                line = bytes(held) + end
                held.clear()
                if not overlong and line.strip():
                    yield line
                overlong = False
            held += b"" if overlong else rest
            if len(held) > MOST_BYTES:
                overlong = True
                held.clear()
                await self._refuse(types.INVALID_REQUEST, f"longer than {MOST_BYTES:,} bytes")
        if bytes(held).strip() and not overlong:
            yield bytes(held)

    async def _read(self) -> bytes:
        while True:
            if self._waits:
                try:
                    await anyio.wait_readable(self._in)
                except (
                    PermissionError
                ):  # a file, or /dev/null: always readable, never to be waited for
                    self._waits = False
            with suppress(BlockingIOError):  # the client's end may be set not to block
                try:
                    return os.read(self._in, _PART)
                except ConnectionResetError:
                    return b""

    async def _refuse(self, code: int, problem: str) -> None:
        error = types.ErrorData(code=code, message=problem)
        told = types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
        await self._send(told.model_dump_json(by_alias=True, exclude_unset=True) + "\n")

    async def write(self, text: str) -> None:
        """Write one line; when the client takes no more, nothing is written and `gone` is set."""
        await self._send(text)
        if text.startswith(_ANSWER):
            self._open.discard(json.loads(text)["id"])
            self._settled.set()

    async def flush(self) -> None:
        """Nothing is held back."""

    async def _send(self, text: str) -> None:
        data = memoryview(text.encode())
        async with self._turn:
            while data and not self.gone.is_set():
                with suppress(PermissionError):  # a file
                    await anyio.wait_writable(self._out)
                try:
                    data = data[os.write(self._out, data[:_WRITABLE]) :]
                except BlockingIOError:
                    continue
                except OSError:  # the reader has gone, or the disk behind it is full
                    self.gone.set()
                    self._settled.set()


def _parsed(line: bytes) -> types.JSONRPCMessage | tuple[int, str]:
    """A line as a message, or (code, problem) of what is none."""
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        if error.errors(include_input=False, include_url=False)[0]["type"] == "json_invalid":
            return types.PARSE_ERROR, "no JSON"
        return types.INVALID_REQUEST, "no JSON-RPC message"


def serve(memory: Verbs, ends: tuple[int, int], identify: Identify, language: str) -> int:
    """Serve on these descriptors until the client ends or a signal comes; the signal, 0 for none."""
    return anyio.run(_serve, memory, ends, identify, language)


async def _serve(memory: Verbs, ends: tuple[int, int], identify: Identify, language: str) -> int:
    threads, heard = Threads(), [0]
    door, wire = Door(memory, threads, identify, language), Wire(*ends)
    server = door.server(await threads.run(door.instructions))

    async def until_signal(scope: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(*_ENDING) as signals:
            async for number in signals:
                heard.append(number)
                scope.cancel()

    async def until_gone(scope: anyio.CancelScope) -> None:
        await wire.gone.wait()
        scope.cancel()

    files: Any = wire  # the SDK asks for files, and uses of them what a wire has
    async with anyio.create_task_group() as group:
        group.start_soon(until_signal, group.cancel_scope)
        group.start_soon(until_gone, group.cancel_scope)
        async with stdio_server(files, files) as (read, write):
            await server.run(read, write, server.create_initialization_options())
            group.cancel_scope.cancel()  # an answer that the client does not take is waited for no longer
    await threads.rest()
    threads.close()
    return heard[-1]
