"""MCP at `/mcp` of the same server, where its door is installed: the same tokens, the same guard."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.interfaces.command import here
from tests.interfaces.http.conftest import Answer, Wire, as_token
from tests.served import Remote

from memstrata.interfaces.cli import serve
from memstrata.interfaces.http import mounted

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
@pytest.mark.promise("mcp.offload")
def test_a_session_is_named_by_a_header(remote: Remote) -> None:
    remote.engine.offload("bake", user="ana").record("c1", "look", "{}", "warm")
    for owner, said in (("ana", b'"warm"'), ("ben", b"no ref 'c1' here")):
        wire = Wire(remote.server.url, as_token(remote, "reader", owner))
        document = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        document["params"] = {"name": "recall_result", "arguments": {"ref": "c1"}}
        both = "application/json, text/event-stream"
        found = wire("POST", "/mcp", document, Accept=both, X_Memstrata_Offload="bake")
        wire.close()
        assert said in found.data


@pytest.mark.promise("http.mcp")
def test_without_its_extra_the_rest_is_served(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = find_spec
    monkeypatch.setattr(mounted, "find_spec", lambda name: None if name == "mcp" else there(name))
    monkeypatch.setattr(serve, "until_told", lambda server: _asked(server.url))
    cli = here(home, monkeypatch, capsys)
    ran = cli("serve", "--port", "0")
    assert ran.code == 0
    assert "without MCP at /mcp: it needs pip install" in ran.err


def _asked(url: str) -> bool:
    wire = Wire(url)
    assert wire("GET", "/v1/status").status == 200
    assert wire("POST", "/mcp", {}).status == 404
    wire.close()
    return False


@pytest.mark.promise("http.mcp")
def test_nobody_calls_a_tool_without_a_token(remote: Remote, wire: Wire) -> None:
    assert call(wire, "tools/list").status == 200
    as_token(remote, "reader")
    assert call(wire, "tools/list").status == 401
    assert wire("POST", "/mcp", {}, Origin="https://evil.example").status == 403
