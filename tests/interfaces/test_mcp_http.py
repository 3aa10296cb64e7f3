"""MCP over streamable HTTP on loopback: the official client, identities, and requests that are none."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.conftest import Open
from tests.interfaces.mcp_client import LOOM, call
from tests.interfaces.test_mcp import ABSENT, asked, read, refused, told
from tests.waiting import until

from memstrata import Memory
from memstrata.interfaces.mcp.http import StreamableApp, standalone, streamable_app
from memstrata.interfaces.mcp.identity import STATE, Identity

TOKENS = {"token-ann": Identity(owner="ann", agent="cook"), "token-bob": Identity(owner="bob")}


class Authenticated:
    """A server around the door that knows tokens, as the one that mounts it does."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            token = dict(scope["headers"]).get(b"authorization", b"").decode()
            scope.setdefault("state", {})[STATE] = TOKENS[token]
        await self._app(scope, receive, send)


@contextmanager
def served(app: StreamableApp, around: Callable[[Any], Any] = lambda inner: inner) -> Iterator[str]:
    """The address of `app` in a server of this process."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(around(standalone(app)), log_level="error", ws="none", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def visit(
    url: str, tour: Callable[[Client], Awaitable[None]], mode: str = "auto", **headers: str
) -> None:
    """Do `tour` as a client that sends these headers."""

    async def run() -> None:
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=mode, client_info=LOOM) as client:
                await tour(client)

    asyncio.run(run())


@pytest.fixture
def shed(tmp_path: Path) -> Path:
    root = tmp_path / "shed"
    root.mkdir()
    return root


@pytest.mark.promise("mcp.http")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client(memory: Memory, shed: Path, mode: str) -> None:
    id = memory.add(name="lamp", description="The lamp is green", body="灯是绿色的。").id
    memory.add(name="shed", description="Rakes inside", scope="project", workspace=shed)
    workspace = memory.workspace_of(shed)
    assert workspace is not None

    async def tour(client: Client) -> None:
        assert {one.name for one in (await client.list_tools()).tools} == {
            *("search_memory", "recall_memory", "search_conversations", "trace_memory")
        }
        assert "The lamp is green" in (await told(client, "search_memory", query="lamp"))[0]
        assert "灯是绿色的。" in (await told(client, "recall_memory", id=id))[0]
        assert "灯是绿色的。" in await read(client, f"memstrata://memories/{id}")
        assert "The lamp is green" in await asked(client, "Is the lamp green?")
        assert "Rakes inside" in (await told(client, "search_memory", query="rakes"))[0]
        every = await asyncio.gather(*(told(client, "recall_memory", id=id) for _ in range(20)))
        assert len(set(every)) == 1

    async def outside(client: Client) -> None:
        assert (await told(client, "search_memory", query="rakes"))[0] == "Nothing was found."

    async def unknown(client: Client) -> None:
        with pytest.raises(MCPError, match="no workspace 'ws_none' here"):
            await client.call_tool("search_memory", {"query": "rakes"})

    with served(streamable_app(memory)) as url:
        headers = {"X-Memstrata-Agent": "coder", "X-Memstrata-Session": "chat-3"}
        visit(url, tour, mode, **headers, **{"X-Memstrata-Workspace": workspace.id})
        visit(url, outside, mode)
        visit(url, unknown, mode, **{"X-Memstrata-Workspace": "ws_none"})
    found = memory.reads(session="chat-3", limit=100).items
    assert {one.agent for one in found} == {"coder"}
    assert memory.get(id).hit_count == 21


@pytest.mark.promise("mcp.http")
@pytest.mark.promise("visibility.unknown")
def test_a_request_sees_what_its_identity_sees(open_memory: Open) -> None:
    memory = open_memory()
    hidden = [
        memory.add(name="user", description="Quinces of Ann", user="ann").id,
        memory.add(
            name="agent", description="Quinces cooked", scope="agent", agent="cook", user="ann"
        ).id,
    ]

    async def ann(client: Client) -> None:
        for id in hidden:
            assert "Quinces" in (await told(client, "recall_memory", id=id))[0]

    async def bob(client: Client) -> None:
        for tool in ("recall_memory", "trace_memory"):
            missing = await told(client, tool, id=ABSENT)
            for id in hidden:
                text, failed = await told(client, tool, id=id)
                assert (text.replace(id, ABSENT), failed) == missing
        nothing = await refused(client, f"memstrata://memories/{ABSENT}")
        for id in hidden:
            error = await refused(client, f"memstrata://memories/{id}")
            assert repr(error.error).replace(id, ABSENT) == repr(nothing.error)
        assert (await told(client, "search_memory", query="quinces"))[0] == "Nothing was found."
        assert "uince" not in await asked(client, "Where are the quinces?")

    with served(streamable_app(memory), Authenticated) as url:
        visit(url, ann, Authorization="token-ann")
        visit(url, bob, Authorization="token-bob")
    assert {one.agent for one in memory.reads(user="ann").items} == {"cook"}
    assert memory.reads().items == ()


@pytest.mark.promise("mcp.http")
def test_a_page_of_another_site_and_a_body_without_end_are_refused(memory: Memory) -> None:
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2025-06-18",
    }
    body = json.dumps(call(1, "search_memory", query="x"))
    with served(streamable_app(memory)) as url, httpx2.Client(headers=headers) as http:
        found = http.post(url, content=body)
        assert found.status_code == 200
        assert "Nothing was found." in found.text
        assert http.post(url, content=body, headers={"Host": "evil.example"}).status_code == 421
        origin = {"Origin": "https://evil.example"}
        assert http.post(url, content=body, headers=origin).status_code == 403
        assert http.post(url, content="x" * (5 * 1024 * 1024)).status_code == 413
        assert http.post(url, content="{").status_code == 400
        assert http.post(url, content="[]").status_code == 400
        for method in ("GET", "DELETE", "PUT"):
            assert http.request(method, url).status_code == 405
        assert http.post(url, content=body).status_code == 200, "it goes on"
