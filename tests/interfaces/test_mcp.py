"""MCP: what is offered, what each thing answers, and that nobody sees what is another's."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents
from tests.conftest import Open
from tests.interfaces.command import Run, here
from tests.interfaces.mcp_client import within

from memstrata import Memory
from memstrata.interfaces.mcp.caller import client_name
from memstrata.interfaces.mcp.identity import Identity
from memstrata.tools import Tools

GOLDEN = Path(__file__).parents[1] / "golden" / "mcp.json"
ABSENT = "mem_00000000000000000000000000"


def said(content: object) -> str:
    """The one text of a result."""
    assert isinstance(content, list)
    (only,) = content
    assert isinstance(only, TextContent)
    return only.text


async def told(client: Client, tool: str, **arguments: object) -> tuple[str, bool]:
    """(text, error) of a call."""
    found: Any = await client.call_tool(tool, arguments)
    return said(found.content), found.is_error


async def read(client: Client, uri: str) -> str:
    found = await client.read_resource(uri)
    (only,) = found.contents
    assert isinstance(only, TextResourceContents)
    assert (only.uri, only.mime_type) == (uri, "text/markdown")
    return only.text


async def asked(client: Client, message: str) -> str:
    found = await client.get_prompt("memory_context", {"message": message})
    return said([one.content for one in found.messages])


async def refused(client: Client, uri: str) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return caught.value


@pytest.fixture
def shed(tmp_path: Path) -> Path:
    root = tmp_path / "shed"
    root.mkdir()
    return root


# -- what is offered -------------------------------------------------------------------------------


@pytest.mark.promise("mcp.read-only")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_is_offered(open_memory: Open, shed: Path, mode: str) -> None:
    """`GOLDEN=write pytest …` writes it anew."""
    memory = open_memory(settings={"team.protocol": "team"})
    memory.add(name="shed", description="Rakes inside", scope="project", workspace=shed)

    async def offered(client: Client) -> dict[str, object]:
        assert client.server_info is not None
        capabilities = client.server_capabilities
        return {
            "server": client.server_info.name,
            "capabilities": [name for name, one in capabilities if one is not None],
            "instructions": client.instructions,
            "tools": [
                one.model_dump(by_alias=True, exclude_none=True)
                for one in (await client.list_tools()).tools
            ],
            "resource templates": [
                one.model_dump(by_alias=True, exclude_none=True)
                for one in (await client.list_resource_templates()).resource_templates
            ],
            "prompts": [
                one.model_dump(by_alias=True, exclude_none=True)
                for one in (await client.list_prompts()).prompts
            ],
        }

    found = within(memory, Identity(), offered, mode=mode)
    text = json.dumps(found, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("GOLDEN") == "write":
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")
    tools: Any = found["tools"]
    assert all(one["annotations"]["readOnlyHint"] for one in tools)
    assert "update_memory" not in {one["name"] for one in tools}, "it has no workspace"


@pytest.mark.promise("mcp.read-only")
def test_update_memory_is_offered_only_where_the_protocol_is_on(
    open_memory: Open, shed: Path
) -> None:
    async def tools(client: Client) -> dict[str, bool | None]:
        found = (await client.list_tools()).tools
        hints = {one.name: one.annotations for one in found}
        return {name: None if one is None else one.read_only_hint for name, one in hints.items()}

    plain = {"search_memory", "recall_memory", "search_conversations", "trace_memory"}
    there = Identity(workspace=str(shed))
    memory = open_memory()
    assert set(within(memory, there, tools)) == plain
    for protocol, identity in (("team", there), ("private", Identity())):
        memory = open_memory(settings={"team.protocol": protocol})
        found = within(memory, identity, tools)
        assert set(found) == {*plain, "update_memory"}
        assert found["update_memory"] is False
        reader = Identity(workspace=identity.workspace, may_write=False)
        assert set(within(memory, reader, tools)) == plain

        async def forbidden(client: Client) -> None:
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("update_memory", {"updated_memory": "## A\n- 2026-01-01: b"})

        within(memory, reader, forbidden)


@pytest.mark.promise("mcp.team")
def test_the_team_document_over_mcp(open_memory: Open, shed: Path) -> None:
    memory = open_memory(settings={"team.protocol": "team"})
    identity = Identity(workspace=str(shed), session="chat-1")
    document = "## Product Decisions\n- 2026-03-01: We ship on Mondays"

    async def tour(client: Client) -> None:
        assert client.instructions
        assert "<memory_protocol>" in client.instructions
        assert '<team_memory chars="0"' in await asked(client, "When do we ship?")
        text, failed = await told(client, "update_memory", updated_memory=document)
        assert (json.loads(text)["status"], failed) == ("saved", False)
        workspace = memory.workspace_of(shed)
        assert workspace is not None
        (listed,) = (await client.list_resources()).resources
        assert listed.uri == f"memstrata://team/{workspace.id}"
        assert (await read(client, listed.uri)).strip() == document
        assert "- 2026-03-01: We ship on Mondays\n</team_memory>" in await asked(client, "ship?")
        text, failed = await told(client, "update_memory", updated_memory="## Preferences\n- x")
        assert (json.loads(text)["status"], failed) == ("error", True)
        text, failed = await told(client, "update_memory")
        assert (json.loads(text)["status"], failed) == ("error", True)

    within(memory, identity, tour)
    (saved,) = memory.team(shed).history()
    assert (saved.session, saved.channel) == ("chat-1", "tool")


@pytest.mark.promise("mcp.team")
def test_the_protocol_is_switched_on_while_it_serves(memory: Memory) -> None:
    async def tour(client: Client) -> None:
        assert len((await client.list_tools()).tools) == 4
        memory.configure("team.protocol", "private")
        assert len((await client.list_tools()).tools) == 5
        document = "## Facts\n- 2026-03-01: Keeps bees"
        text, _ = await told(client, "update_memory", updated_memory=document)
        assert json.loads(text)["status"] == "saved"

    within(memory, Identity(), tour)
    assert memory.private().read().memory_md == "## Facts\n- 2026-03-01: Keeps bees"


# -- what it answers -------------------------------------------------------------------------------


@pytest.mark.promise("mcp.tools")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_answers_as_in_python(memory: Memory, mode: str) -> None:
    memory.session("ferry").commit(
        [
            {"role": "user", "id": "m1", "content": "I live in Tarnow. 我喜欢喝龙井茶。"},
            {"role": "assistant", "id": "m2", "content": "Noted."},
        ]
    )
    memory.drain()
    (home,) = memory.list(text="Tarnow").items
    calls: list[tuple[str, dict[str, object]]] = [
        ("search_memory", {"query": "Tarnow"}),
        ("search_memory", {"query": "龙井", "limit": 1, "type": "user"}),
        ("search_memory", {"query": "x" * 501}),
        ("recall_memory", {"id": home.id}),
        ("recall_memory", {"id": ABSENT}),
        ("search_conversations", {"query": "龙井茶", "session": "ferry"}),
        ("trace_memory", {"id": home.id}),
        ("trace_memory", {}),
    ]

    async def tour(client: Client) -> list[tuple[str, bool]]:
        return [await told(client, name, **arguments) for name, arguments in calls]

    failures = [False, False, True, False, True, False, False, True]
    for language in ("en", "zh"):
        found = within(memory, Identity(), tour, language=language, mode=mode)
        tools = memory.tools(language=language)
        wanted = [tools.call(name, arguments) for name, arguments in calls]
        assert found == [(one.text, bool(one.error)) for one in wanted]
        assert "龙井" in found[1][0]
        assert [failed for _, failed in found] == failures


@pytest.mark.promise("mcp.resources")
def test_resources_and_the_prompt(memory: Memory, shed: Path) -> None:
    added = memory.add(name="lamp", description="The lamp is green", body="灯是绿色的。")
    memory.add(name="shed", description="Rakes inside", scope="project", workspace=shed)
    memory.team(shed).save("## Project Facts\n- 2026-03-01: The shed leaks")
    there = Identity(workspace=str(shed), agent="coder")

    async def tour(client: Client) -> None:
        text = await read(client, f"memstrata://memories/{added.id}")
        assert text == memory.tools().resource(added.id).text
        (team,) = (await client.list_resources()).resources
        assert "The shed leaks" in await read(client, team.uri)
        context = memory.session("s", workspace=shed, agent="coder").recall("Is the lamp green?")
        assert await asked(client, "Is the lamp green?") == "\n".join(
            filter(None, (context.stable, context.turn))
        )
        with pytest.raises(MCPError, match="needs the argument message"):
            await client.get_prompt("memory_context", {})
        with pytest.raises(MCPError, match="Unknown prompt: other"):
            await client.get_prompt("other", {"message": "x"})
        for uri in ("memstrata://nothing", "memstrata://memories", "file:///etc/passwd", "a" * 999):
            error = await refused(client, uri)
            assert (error.code, error.data["code"]) == (-32602, "not_found")
            assert len(error.message) < 300
        assert (await refused(client, "memstrata://memories/..%2F..")).data["code"] == "invalid"

    within(memory, there, tour)
    assert memory.get(added.id).hit_count == 0, (
        "it stood in the stable part; a resource counts none"
    )


@pytest.mark.promise("mcp.resources")
@pytest.mark.usefixtures("_layers")
def test_scenes_and_the_persona_are_read_by_address(open_memory: Open, shed: Path) -> None:
    memory = open_memory(owner="ann")
    memory.add(name="tea", description="Prefers <b>mint</b> tea")
    memory.request_scenes()
    memory.drain()
    (scene,) = memory.scenes()
    (cited,) = scene.paragraphs[0].cites
    addresses = [f"memstrata://scenes/{scene.id.replace('/', '%2F')}", "memstrata://persona"]

    async def tour(client: Client) -> list[str]:
        listed = [one.uri for one in (await client.list_resources()).resources]
        assert sorted(listed) == sorted(addresses)
        by_name = await read(client, f"memstrata://scenes/{scene.name}")
        texts = [await read(client, uri) for uri in addresses]
        assert by_name == texts[0]
        assert (await refused(client, "memstrata://scenes/none")).data["code"] == "not_found"
        return texts

    texts = within(memory, Identity(session="chat-3"), tour)
    for text in texts:
        assert f"[{cited}]" in text
        assert "<" not in text
        assert "tea" in text
    assert [one.ids for one in memory.reads(session="chat-3").items] == [(), *3 * [(cited,)]]

    async def foreign(client: Client) -> list[str]:
        assert (await client.list_resources()).resources == []
        assert await read(client, "memstrata://persona") == ""
        missing = await refused(client, addresses[0])
        return [missing.message.replace(scene.id, "…"), str(missing.code)]

    async def missing(client: Client) -> list[str]:
        error = await refused(client, "memstrata://scenes/nothing")
        return [error.message.replace("nothing", "…"), str(error.code)]

    ben = Identity(owner="ben")
    assert within(memory, ben, foreign) == within(memory, ben, missing)


@pytest.mark.promise("mcp.offload")
def test_archived_results_are_read_where_a_session_was_named(open_memory: Open, shed: Path) -> None:
    memory = open_memory()
    memory.offload("bake").record("c1", "look", "{}", "warm\nand brown")
    memory.offload("bake", user="ben").record("c2", "look", "{}", "cold")

    async def tools(client: Client) -> set[str]:
        return {one.name for one in (await client.list_tools()).tools}

    async def tour(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
        assert await told(client, "recall_result", ref="c1") == ("warm\nand brown", False)
        assert await told(client, "recall_result", ref="c1", grep="BROWN") == (
            "2: and brown\n[1 of 2 lines hold 'BROWN']",
            False,
        )
        assert await told(client, "list_tasks") == ("There is no task yet.", False)
        assert "not_found" in (await told(client, "open_task", file="none"))[0]
        for ref in ("c2", "c9"):
            text, _ = await told(client, "recall_result", ref=ref)
            assert text == f"Error (not_found): no ref {ref!r} here"

    async def none(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("recall_result", {"ref": "c1"})

    named = Identity(offload="bake", workspace=str(shed))
    offered = {"recall_result", "list_tasks", "open_task"}
    assert offered < within(memory, named, tools)
    assert not offered & within(memory, Identity(), tools)
    within(memory, Identity(offload="bake"), tour)
    within(memory, Identity(), none)
    assert memory.workspaces() == (), "reading makes no folder known"


@pytest.mark.promise("mcp.resources")
def test_an_empty_memory_has_a_prompt(memory: Memory) -> None:
    assert (
        within(memory, Identity(), lambda client: asked(client, "x")) == "(nothing is remembered)"
    )


@pytest.mark.promise("memory.off")
def test_switched_off_the_server_says_so(open_memory: Open, shed: Path) -> None:
    id = open_memory().add(name="lamp", description="The lamp is green").id
    off = open_memory(settings={"memory.enabled": False, "team.protocol": "team"})

    async def tour(client: Client) -> None:
        assert len((await client.list_tools()).tools) == 5
        for name, given in (("search_memory", {"query": "lamp"}), ("recall_memory", {"id": id})):
            text, failed = await told(client, name, **given)
            assert "memory is switched off" in text
            assert failed
        text, failed = await told(client, "update_memory", updated_memory="## A\n- 2026-01-01: b")
        assert ("memory is switched off" in text, failed) == (True, True)
        error = await refused(client, f"memstrata://memories/{id}")
        assert (error.code, error.data["code"]) == (-32003, "denied")

    within(off, Identity(workspace=str(shed)), tour)


@pytest.mark.promise("mcp.errors")
def test_a_bug_is_told_without_what_it_held(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("mem_secret says marmalade")

    monkeypatch.setattr(Tools, "call", broken)

    async def tour(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("search_memory", {"query": "x"})
        return caught.value

    for mode in ("auto", "legacy"):
        error = within(memory, Identity(), tour, mode=mode)
        assert (error.code, error.message) == (-32603, "a bug: RuntimeError")
    assert "a bug: RuntimeError in tools/call" in caplog.text
    assert "marmalade" not in caplog.text


@pytest.mark.promise("tools.log")
def test_reads_name_the_program_behind_the_door(memory: Memory) -> None:
    id = memory.add(name="lamp", description="The lamp is green").id

    async def tour(client: Client) -> None:
        await client.call_tool("search_memory", {"query": "lamp"})
        await client.read_resource(f"memstrata://memories/{id}")
        await client.get_prompt("memory_context", {"message": "lamp"})

    identity = Identity(session="chat-9", agent="coder")
    for mode in ("auto", "legacy"):
        within(memory, identity, tour, mode=mode)
    found = memory.reads(session="chat-9").items
    assert {(one.caller, one.agent) for one in found} == {("mcp loom", "coder")}
    assert [one.tool for one in reversed(found)] == 2 * [
        "search_memory",
        "memstrata://memories",
        "memory_context",
    ]
    assert client_name("a b\x1b[0m\n" + "c" * 99) == "a-b[0m" + "c" * 58
    assert client_name(None) == ""


# -- who sees what ---------------------------------------------------------------------------------


@pytest.mark.promise("visibility.unknown")
def test_nobody_reads_what_is_anothers(open_memory: Open, shed: Path, tmp_path: Path) -> None:
    """Two owners, agents and workspaces: foreign ids by every tool and resource."""
    barn = tmp_path / "barn"
    barn.mkdir()
    ann = open_memory(owner="ann")
    hidden = [
        ann.add(name="user", description="Quinces of Ann").id,
        ann.add(name="agent", description="Quinces cooked", scope="agent", agent="cook").id,
        ann.add(name="barn", description="Quinces stored", scope="project", workspace=barn).id,
    ]
    ann.session("orchard", workspace=barn).commit(
        [{"role": "user", "id": "q1", "content": "Quinces are ripe."}]
    )
    ann.team(barn).save("## Project Facts\n- 2026-03-01: Quinces rot")
    ann.add(name="x", description="Rakes", scope="project", workspace=shed)
    barns = ann.workspace_of(barn)
    assert barns is not None

    async def nothing(client: Client) -> None:
        for tool in ("recall_memory", "trace_memory"):
            missing = await told(client, tool, id=ABSENT)
            for id in hidden:
                text, failed = await told(client, tool, id=id)
                assert (text.replace(id, ABSENT), failed) == missing
        missing_resource = await refused(client, f"memstrata://memories/{ABSENT}")
        for id in hidden:
            error = await refused(client, f"memstrata://memories/{id}")
            assert repr(error.error).replace(id, ABSENT) == repr(missing_resource.error)
        missing_team = await refused(client, "memstrata://team/ws_none")
        for name in (barns.id, barns.name, barns.key):
            error = await refused(client, f"memstrata://team/{name}")
            assert repr(error.error).replace(name, "ws_none") == repr(missing_team.error)
        assert await told(client, "search_memory", query="quinces") == ("Nothing was found.", False)
        for session in ({}, {"session": "orchard"}):
            found, _ = await told(client, "search_conversations", query="quinces", **session)
            assert "ripe" not in found
        assert "uince" not in await asked(client, "Where are the quinces?")
        assert barns.id not in repr(await client.list_resources())

    bob = open_memory(owner="bob")
    for memory, identity in (
        (bob, Identity(workspace=str(shed), agent="cook")),
        (ann, Identity(owner="carol", workspace=str(shed), agent="cook")),
        (ann, Identity(owner="carol")),
    ):
        within(memory, identity, nothing)
    assert not {id for one in bob.reads().items for id in one.ids} & {*hidden, "q1"}

    async def elsewhere(client: Client) -> None:
        assert len((await client.list_tools()).tools) == 4
        with pytest.raises(MCPError, match="another space"):
            await client.call_tool("recall_memory", {"id": hidden[0]})
        assert (await refused(client, f"memstrata://memories/{hidden[0]}")).code == -32003

    within(ann, Identity(space="quarry"), elsewhere)


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return here(home, monkeypatch, capsys)


@pytest.mark.promise("mcp.errors")
def test_without_the_extra_it_says_what_to_install(
    cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mcp", None)
    ran = cli("mcp")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: mcp: needs pip install 'memstrata[mcp]'\n"


@pytest.mark.promise("tools.log")
def test_the_log_of_reads_holds_no_text(cli: Run, home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        id = memory.add(
            name="lamp", description="The lamp is green", body="A gherkin lies on it"
        ).id
        tools = memory.tools(session="chat-7", agent="coder", caller="loom")
        tools.search_memory("gherkin lamp")
        tools.recall_memory(id)
        tools.call("recall_memory", {"id": "mem_none"})
        memory.tools(session="other").search_memory("green")
    ran = cli("log", "--reads", "--session", "chat-7")
    lines = ran.out.splitlines()
    assert [line.split()[2:] for line in lines] == [
        ["recall_memory", "loom", "coder", "chat-7", "not_found", "-"],
        ["recall_memory", "loom", "coder", "chat-7", "ok", id],
        ["search_memory", "loom", "coder", "chat-7", "ok", id],
    ]
    whole = cli("log", "--reads", "--json")
    assert [one["tool"] for one in whole.json["items"]] == ["search_memory"] + [
        one["tool"] for one in cli("log", "--reads", "--session", "chat-7", "--json").json["items"]
    ]
    for word in ("gherkin", "green", "lamp", "mem_none"):
        assert word not in ran.out + whole.out
    ran = cli("log", "--reads", "--limit", "1")
    assert "there is more: --cursor" in ran.err
