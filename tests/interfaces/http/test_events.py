"""The stream of events: who hears what, how it ends, and what happens to one who does not listen."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.interfaces.http.conftest import as_token
from tests.served import Remote

from memstrata.events import Event
from memstrata.hosting import Hosted
from memstrata.interfaces.http.events import ALIVE, HELD, Streams, may_hear
from memstrata.interfaces.http.identity import Identity


class Stream:
    """An open stream."""

    def __init__(self, remote: Remote, token: str | None) -> None:
        self._line = http.client.HTTPConnection(remote.server.host, remote.server.port, timeout=30)
        about = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._line.request("GET", "/v1/events", headers=about)
        self.answer = self._line.getresponse()
        assert self.answer.status == 200
        assert self.answer.headers["content-type"].startswith("text/event-stream")
        assert self.answer.readline() == b": alive\n"
        assert self.answer.readline() == b"\n"

    def next(self) -> tuple[str, dict[str, object]]:
        """The next event: its name and fields."""
        name = self.answer.readline().decode().removeprefix("event: ").strip()
        data = json.loads(self.answer.readline().decode().removeprefix("data: "))
        self.answer.readline()
        return name, data

    def close(self) -> None:
        """Hang up."""
        self.answer.close()
        self._line.close()


@contextmanager
def listening(remote: Remote, token: str | None = None) -> Iterator[Stream]:
    stream = Stream(remote, token)
    try:
        yield stream
    finally:
        stream.close()


@pytest.mark.promise("http.events")
def test_what_happens_is_told_without_its_text(remote: Remote) -> None:
    with listening(remote) as stream:
        record = remote.engine.add(name="heron", description="The heron nests by the weir")
        name, data = stream.next()
        assert name == "memory.written"
        assert (data["id"], data["verb"], data["degraded"]) == (record.id, "add", False)
        assert "weir" not in json.dumps(data)
        remote.engine.delete(record.id)
        assert stream.next()[0] == "memory.deleted"


@pytest.mark.promise("http.events")
def test_everybody_hears_of_their_own(remote: Remote) -> None:
    token = as_token(remote, "reader", "ana")
    with listening(remote, token) as stream:
        remote.engine.add(name="n", description="Ben's", user="ben")
        remote.engine.session("s", user="ben").commit([{"role": "user", "content": "Hello"}])
        remote.engine.add(name="n", description="Ana's", user="ana")
        name, data = stream.next()
        assert (name, data["owner"]) == ("memory.written", "ana")


@pytest.mark.promise("http.events")
@pytest.mark.parametrize(
    "role, fields, heard",
    [
        ("admin", {}, True),
        ("admin", {"owner": "ben"}, True),
        ("writer", {}, False),
        ("writer", {"owner": "ben"}, False),
        ("writer", {"owner": "ana"}, True),
        ("reader", {"owner": "", "scope": "project"}, True),
        ("reader", {"owner": "", "scope": "user"}, False),
        ("reader", {"owner": "ben", "scope": "agent"}, False),
    ],
)
def test_who_may_hear(role: str, fields: dict[str, object], heard: bool) -> None:
    identity = Identity("ana", role)  # type: ignore[arg-type]
    assert may_hear(identity, Event("memory.written", fields)) is heard


@pytest.mark.promise("http.events")
def test_who_does_not_listen_is_hung_up_on(remote: Remote) -> None:
    bus = remote.engine._world.bus

    async def tour() -> list[bytes]:
        streams = Streams(Hosted(remote.engine))
        stream = streams.stream(Identity("local", "admin"))
        found = [await anext(stream)]
        for _ in range(HELD + 1):
            bus.emit("home.opened")
        await asyncio.sleep(0)
        found += [one async for one in stream]
        return found

    assert asyncio.run(tour()) == [ALIVE]


@pytest.mark.promise("http.events")
def test_a_stream_ends_with_the_server(remote: Remote) -> None:
    with listening(remote) as stream:
        remote.server.stop()
        assert stream.answer.read() == b""
