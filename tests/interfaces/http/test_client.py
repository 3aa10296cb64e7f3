"""`Memory.connect`: its addresses and tokens, what is tried again, what the errors are, asyncio."""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.served import Remote

from memstrata import AsyncMemory, Denied, Invalid, Memory, NotFound, OutcomeUnknown, Unavailable
from memstrata.client import Connected, ConnectedDocument, ConnectedOffload, ConnectedSession
from memstrata.memory import Session, Verbs
from memstrata.offload import OffloadSession
from memstrata.routes import verbs_of
from memstrata.team_document import MemoryDocument


class Scripted:
    """A server that says what it is told to, once a connection."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        for answer in self._answers:
            line, _ = self._socket.accept()
            with line:
                self.asked.append(line.recv(65_536))
                line.sendall(answer)

    def close(self) -> None:
        self._thread.join(10)
        self._socket.close()


@contextmanager
def scripted(*answers: bytes) -> Iterator[Scripted]:
    server = Scripted(*answers)
    try:
        yield server
    finally:
        server.close()


def answer(status: int, body: bytes, type: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {type}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body


AWAY = answer(
    503, b'{"code": "unavailable", "detail": "busy", "retryable": true}', "application/problem+json"
)
NOTHING = answer(200, b'{"sessions": []}')


@pytest.mark.promise("http.client")
@pytest.mark.parametrize(
    "kind",
    [
        *((Connected, Verbs), (ConnectedSession, Session)),
        *((ConnectedDocument, MemoryDocument), (ConnectedOffload, OffloadSession)),
    ],
)
def test_every_verb_is_sent_or_refused(kind: tuple[type, type]) -> None:
    ours, theirs = kind
    local = {"delegated"} if theirs is MemoryDocument else set()  # worked out where it is asked
    local |= {"tools"} if theirs is OffloadSession else set()
    for name in verbs_of(theirs):
        if name in local:
            continue
        assert getattr(ours, name) is not getattr(theirs, name), name
        if name != "import_":
            assert inspect.signature(getattr(ours, name)) == inspect.signature(
                getattr(theirs, name)
            )


@pytest.mark.promise("http.client")
@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        "ftp://127.0.0.1",
        "http://",
        "http://a:b@127.0.0.1",
        "http://h:x",
        "http://h?x=1",
        3,
    ],
)
def test_an_address_that_is_none(url: Any) -> None:
    with pytest.raises(Invalid, match="url"):
        Memory.connect(url)


@pytest.mark.promise("http.client")
@pytest.mark.parametrize("token", ["", "a b", "a\nb", "é", 3])
def test_a_token_that_is_none(token: Any) -> None:
    with pytest.raises(Invalid, match="token"):
        Memory.connect("http://127.0.0.1:1", token=token)


@pytest.mark.promise("http.client")
def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Memory.connect(f"http://127.0.0.1:{port}") as memory:
        with pytest.raises(Unavailable, match="cannot be reached"):
            memory.sessions()
        with pytest.raises(Unavailable, match="cannot be reached") as caught:
            memory.add(name="n", description="d")
        assert not isinstance(caught.value, OutcomeUnknown), "nothing was sent"


@pytest.mark.promise("http.client")
def test_what_reads_is_tried_again() -> None:
    with scripted(AWAY, b"", NOTHING) as server, Memory.connect(server.url) as memory:
        assert memory.sessions() == ()
    assert len(server.asked) == 3
    with (
        scripted(AWAY, AWAY, AWAY) as server,
        Memory.connect(server.url) as memory,
        pytest.raises(Unavailable, match="busy"),
    ):
        memory.sessions()


@pytest.mark.promise("http.client")
def test_what_writes_is_sent_once() -> None:
    with (
        scripted(b"") as server,
        Memory.connect(server.url) as memory,
        pytest.raises(OutcomeUnknown, match="outcome unknown"),
    ):
        memory.add(name="n", description="d")
    assert len(server.asked) == 1
    with (
        scripted(AWAY) as server,
        Memory.connect(server.url) as memory,
        pytest.raises(Unavailable, match="busy"),
    ):
        memory.add(name="n", description="d")
    assert len(server.asked) == 1


@pytest.mark.promise("http.client")
def test_what_was_not_let_in_is_tried_again() -> None:
    busy = answer(
        429,
        b'{"code": "unavailable", "detail": "too many", "retryable": true}',
        "application/problem+json",
    )
    done = answer(200, b'{"stored": ["m"], "existing": [], "warnings": []}')
    with scripted(busy, done) as server, Memory.connect(server.url) as memory:
        assert memory.session("s").commit([]).stored == ("m",)
    assert len(server.asked) == 2


@pytest.mark.promise("http.client")
@pytest.mark.parametrize("said", [answer(200, b"<html>"), answer(404, b"{}"), answer(302, b"")])
def test_another_program_answers(said: bytes) -> None:
    with (
        scripted(said) as server,
        Memory.connect(server.url) as memory,
        pytest.raises(Unavailable, match="no memstrata"),
    ):
        memory.why()


@pytest.mark.promise("http.client")
def test_a_token_is_not_sent_on() -> None:
    elsewhere = b"HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with (
        scripted(elsewhere) as server,
        Memory.connect(server.url, token="ms_x") as memory,
        pytest.raises(Unavailable, match="no memstrata"),
    ):
        memory.why()
    assert b"authorization: bearer ms_x" in server.asked[0].lower()


@pytest.mark.promise("http.client")
def test_values_that_cannot_be_sent(remote: Remote) -> None:
    with pytest.raises(Invalid, match="name"):
        remote.add(name=object(), description="d")  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="surrogate"):
        remote.add(name="n", description="half \ud800")
    with pytest.raises(Invalid, match="surrogate"):
        remote.list(text="half \ud800")
    with pytest.raises(Invalid, match="an object cannot be sent"):
        remote.session("s").commit([], model=object())  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        remote.get("mem/../x")
    with pytest.raises(NotFound):
        remote.get("mem_none")


@pytest.mark.promise("http.client")
def test_what_can_be_read_once_is_sent_whole(remote: Remote) -> None:
    told = ({"role": "user", "content": f"Line {n}"} for n in range(3))
    assert len(remote.session("s").commit(told).stored) == 3
    page = remote.messages("s", limit=2)
    assert [one.content for one in page.items] == ["Line 0", "Line 1"]
    rest = remote.messages("s", limit=2, cursor=page.cursor)
    assert ([one.content for one in rest.items], rest.cursor) == (["Line 2"], None)
    assert [(one.id, one.messages, one.waiting) for one in remote.sessions()] == [("s", 3, 3)]


@pytest.mark.promise("http.client")
def test_asyncio_speaks_to_a_server_too(remote: Remote, tmp_path: Path) -> None:
    (tmp_path / "kiln").mkdir()

    async def tour() -> tuple[object, ...]:
        async with await AsyncMemory.connect(remote.server.url) as memory:
            chat = await memory.session("s", workspace=tmp_path / "kiln")
            await chat.commit([{"role": "user", "content": "I live in Tarnow."}])
            await memory.drain()
            team = await memory.team(tmp_path / "kiln", channel="panel")
            await team.save("## Project Facts\n- 2026-03-01: The mill stands on the hill")
            with pytest.raises(Denied):
                await memory.revoke_token("tok_1")
            return await memory.list(), await chat.recall("Tarnow"), await team.read()

    found = asyncio.run(tour())
    local = remote.engine
    chat = local.session("s", workspace=tmp_path / "kiln")
    document = local.team(tmp_path / "kiln")
    assert found == (local.list(), chat.recall("Tarnow"), document.read())
    assert document.history()[0].channel == "panel"


@pytest.mark.promise("http.client")
def test_many_threads_share_a_connection(remote: Remote) -> None:
    failed: list[BaseException] = []

    def work(me: int) -> None:
        try:
            for n in range(5):
                id = remote.add(name=f"{me} {n}", description="d").id
                assert remote.get(id).name == f"{me} {n}"
        except BaseException as error:  # noqa: BLE001 -- told to the test, which fails of it
            failed.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(remote.list(limit=100).items) == 20
