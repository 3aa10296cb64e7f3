"""An embeddings endpoint on loopback, for tests, in OpenAI's form.

Without a script every text gets the vector that `vector` gives it; a script says otherwise, one reply a
request. What was sent is kept.
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import sqrt
from select import select
from threading import Event, Thread
from typing import Any, Final, Self

NUMBERS: Final = 8
"""How long a vector is, unless a request asks for another length."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request gets: without anything said, the right vectors.

    `data` and `raw` are the list of vectors and the body instead; `hang`: nothing, until one side hangs
    up; `cut`: the connection ends in the middle of the body; both: it stays open there.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    data: object = None
    raw: bytes | None = None
    backwards: bool = False
    packed: bool = False
    hang: bool = False
    cut: bool = False


def vector(text: str, numbers: int = NUMBERS) -> list[float]:
    """Of any length but 1, as some services send them; the same for the same text."""
    seed = hashlib.blake2b(text.encode(), digest_size=64).digest()
    return [seed[at % 64] / 16 - 7.53125 for at in range(numbers)]


def unit(numbers: Sequence[float]) -> bytes:
    """`numbers` as an embedder returns them."""
    length = sqrt(sum(one * one for one in numbers))
    return struct.pack(f"<{len(numbers)}f", *(one / length for one in numbers))


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class StubEmbeddings:
    """The endpoint. A context manager; `requests` holds what it was sent, in order."""

    def __init__(self, *replies: Reply) -> None:
        self.requests: list[Request] = []
        self.accepted = 0
        """Connections so far."""
        self.left = Event()
        """Set when a client hung up on a reply that never came."""
        self.connections: set[socket.socket] = set()
        self._wake, self.woken = socket.socketpair()
        self._replies = deque(replies)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stub = self
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._wake.close()
        self._server.shutdown()
        for connection in list(self.connections):
            with suppress(OSError):  # it may end by itself meanwhile
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()
        self.woken.close()

    @property
    def host(self) -> str:
        """With its port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """What is called the base URL."""
        return f"http://{self.host}/v1"

    def say(self, *replies: Reply) -> None:
        """Add replies to the script."""
        self._replies.extend(replies)

    def next(self) -> Reply:
        """The next reply of the script."""
        return self._replies.popleft() if self._replies else Reply()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # closing the stub waits for its answers
    stub: StubEmbeddings

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no fault here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes; else each reply waits 40 ms
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.stub.connections.add(self.connection)
        self.server.stub.accepted += 1

    def finish(self) -> None:
        self.server.stub.connections.discard(self.connection)
        super().finish()

    def do_POST(self) -> None:
        stub = self.server.stub
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        headers = {name.lower(): value for name, value in self.headers.items()}
        stub.requests.append(Request(self.path, headers, body))
        reply = stub.next()
        if reply.cut or not reply.hang:
            self._send(reply, _body(reply, body) if reply.raw is None else reply.raw)
        if reply.hang:
            ready, _, _ = select([self.connection, stub.woken], [], [])
            if self.connection in ready:
                stub.left.set()
            self.close_connection = True

    def _send(self, reply: Reply, data: bytes) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if reply.cut else data)
        self.close_connection = reply.cut

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the requests are kept instead."""


def _body(reply: Reply, asked: Mapping[str, Any]) -> bytes:
    if reply.status != 200:
        told = {"message": "no: sk-demo-0000 said 'I live in Porto'", "code": reply.code or None}
        return json.dumps({"error": told}).encode()
    data = reply.data if reply.data is not None else _vectors(reply, asked)
    return json.dumps({"object": "list", "data": data, "model": asked["model"]}).encode()


def _vectors(reply: Reply, asked: Mapping[str, Any]) -> list[object]:
    rows = [vector(text, asked.get("dimensions", NUMBERS)) for text in asked["input"]]
    found: list[object] = [
        {"object": "embedding", "index": at, "embedding": _packed(row) if reply.packed else row}
        for at, row in enumerate(rows)
    ]
    return found[::-1] if reply.backwards else found


def _packed(row: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode()
