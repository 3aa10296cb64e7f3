"""MCP at `/mcp` of the same server, where its door is installed: the same tokens, the same guard."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from tests.interfaces.http.conftest import Answer, Wire, as_token
from tests.served import Remote

pytestmark = pytest.mark.skipif(
    find_spec("memstrata.interfaces.mcp") is None, reason="the door is not part of this release"
)


def call(wire: Wire, method: str, **params: Any) -> Answer:
    """One request of MCP, of a client that keeps no session."""
    document = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return wire("POST", "/mcp", document, Accept="application/json, text/event-stream")


@pytest.mark.promise("http.mcp")
def test_a_tool_sees_what_the_token_may(remote: Remote) -> None:
    remote.engine.add(name="lamp", description="The lamp is green", user="ana")
    remote.engine.add(name="door", description="The door is green", user="ben")
    wire = Wire(remote.server.url, as_token(remote, "reader", "ana"))
    found = call(wire, "tools/call", name="search_memory", arguments={"query": "green"})
    wire.close()
    assert found.status == 200
    assert b"lamp" in found.data
    assert b"door" not in found.data


@pytest.mark.promise("http.mcp")
def test_nobody_calls_a_tool_without_a_token(remote: Remote, wire: Wire) -> None:
    assert call(wire, "tools/list").status == 200
    as_token(remote, "reader")
    assert call(wire, "tools/list").status == 401
    assert wire("POST", "/mcp", {}, Origin="https://evil.example").status == 403
