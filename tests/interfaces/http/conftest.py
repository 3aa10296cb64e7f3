"""A served home and raw requests to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import urllib3
from tests.doubles import FakeClock
from tests.faults.conftest import tmp_path as tmp_path
from tests.served import Remote

Serve = Callable[..., Remote]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def json(self) -> Any:
        """The document."""
        return json.loads(self.data)

    @property
    def code(self) -> str:
        """The code of the problem that it is."""
        assert self.headers["content-type"] == "application/problem+json"
        assert self.json["status"] == self.status
        return str(self.json["code"])


class Wire:
    """Raw requests to one server, one connection."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = url
        self._about = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._pool = urllib3.PoolManager(retries=False)

    def __call__(
        self,
        method: str,
        path: str,
        document: object = None,
        *,
        body: bytes | None = None,
        **headers: str,
    ) -> Answer:
        """Send one request; header names are written with underscores."""
        about = {**self._about, **{name.replace("_", "-"): text for name, text in headers.items()}}
        if document is not None:
            body = json.dumps(document).encode()
            about.setdefault("Content-Type", "application/json")
        found = self._pool.request(method, self.url + path, body=body, headers=about, timeout=30)
        return Answer(found.status, found.headers, found.data)

    def close(self) -> None:
        """Close the connection."""
        self._pool.clear()


@pytest.fixture
def serve(home: Path, clock: FakeClock) -> Iterator[Serve]:
    """Opens the home and serves it."""
    with ExitStack() as stack:

        def one(**settings: object) -> Remote:
            given = {"timezone": "UTC", "server.access_log": False, **settings}
            opened = Remote.open(home=home, clock=clock, background=False, settings=given)
            return stack.enter_context(opened)

        yield one


@pytest.fixture
def remote(serve: Serve) -> Remote:
    """A served home."""
    return serve()


@pytest.fixture
def wire(remote: Remote) -> Iterator[Wire]:
    """Raw requests to it."""
    found = Wire(remote.server.url)
    yield found
    found.close()


def as_token(remote: Remote, role: str, user: str = "ana") -> str:
    """A token that was just made."""
    return remote.engine.create_token(role=role, user=user).secret
