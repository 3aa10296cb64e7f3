"""`memstrata mcp` as clients start it: real processes, real pipes, and clients that misbehave or die."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client
from tests.faults.oracle import sound
from tests.interfaces.command import PROGRAM, environment
from tests.interfaces.mcp_client import BLIND, HANDSHAKE, beside, call, raw
from tests.interfaces.test_mcp import asked, read, told
from tests.waiting import until

from memstrata import Memory
from memstrata.interfaces.mcp.stdio import MOST_BYTES

NOISY = """
import os, subprocess, sys
from memstrata.interfaces.cli.run import run
from memstrata.tools import Tools

def noise(where):
    print("printed", where)
    sys.stdout.write("written\\n")
    os.write(1, b"straight to the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('by a child', input() if False else '')"])

real = Tools.search_memory

def search(self, query):
    noise("in a tool")
    return real(self, query)

Tools.search_memory = search
from memstrata import bootstrap
close = bootstrap.Memory.close

def closed(self):
    noise("at the end")
    close(self)

bootstrap.Memory.close = closed
sys.exit(run(sys.argv[1:]))
"""
"""The command with libraries that print."""

CLIENT = """
import json, subprocess, sys, time
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for one in json.loads(sys.argv[1]):
    server.stdin.write(json.dumps(one).encode() + b"\\n")
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
time.sleep(60)
"""
"""A client that starts a server, shakes hands, says its process id and waits."""


@pytest.fixture
def lamp(home: Path) -> str:
    """A memory in the home; its id."""
    with Memory.open(home, background=False) as memory:
        memory.session("ferry").commit([{"role": "user", "content": "渡轮九点开。Tea at nine."}])
        return memory.add(name="lamp", description="The lamp is green", body="灯是绿色的。").id


def holder(home: Path) -> tuple[int, str] | None:
    """(process, role) of whoever does the home's background work."""
    with Memory.open(home, background=False) as memory:
        found = memory.status().worker
    return None if found is None else (found.pid, found.role)


@pytest.mark.promise("mcp.stdio")
def test_the_official_client(home: Path, lamp: str) -> None:
    """In the newest protocol; what follows speaks an older one."""

    async def tour(client: Client) -> None:
        assert len((await client.list_tools()).tools) == 4
        assert await told(client, "search_memory", query="lamp") == (
            f"- [{lamp}] lamp: The lamp is green",
            False,
        )
        assert "灯是绿色的。" in (await told(client, "recall_memory", id=lamp))[0]
        assert "渡轮九点开。" in (await told(client, "search_conversations", query="渡轮"))[0]
        assert "Came from:" in (await told(client, "trace_memory", id=lamp))[0]
        assert "灯是绿色的。" in await read(client, f"memstrata://memories/{lamp}")
        assert "The lamp is green" in await asked(client, "Is the lamp green?")
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(told_the_same, client, number)

    async def told_the_same(client: Client, number: int) -> None:
        text, _ = await told(client, "recall_memory", id=lamp)
        assert lamp in text, number

    beside(home, tour, "--agent", "coder", "--session", "chat-7")
    with Memory.open(home, background=False) as memory:
        found = memory.reads(session="chat-7", limit=100).items
        assert {(one.agent, one.caller) for one in found} == {("coder", "mcp loom")}
        assert len(found) == 26
        assert memory.get(lamp).hit_count == 21
        assert memory.status().worker is None
    sound(home)


@pytest.mark.promise("mcp.stdout")
def test_stdout_is_the_protocols_alone(home: Path, lamp: str) -> None:
    """Libraries that print, in a tool, in a child, at the end; noise that a client sends."""
    with raw(home, program=(sys.executable, "-W", "error", "-c", NOISY)) as server:
        server.send(call(1, "search_memory", query="lamp"))
        assert "The lamp is green" in json.dumps(server.answer(1))
        assert server.process.stdin
        server.process.stdin.close()
        assert server.ended() == 0
        assert server.process.stderr
        noise = server.process.stderr.read().decode()
    for told_on_stderr in ("printed in a tool", "straight to the", "by a child", "at the end"):
        assert told_on_stderr in noise
    assert len(server.lines) == 2
    for line in server.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"


@pytest.mark.promise("mcp.stdio")
def test_what_is_no_message_is_refused_and_the_next_one_served(home: Path, lamp: str) -> None:
    with raw(home) as server:
        for number, (noise, code) in enumerate(
            (
                (b"{", -32700),
                (b"\xff\xfe\x00", -32700),
                (b"[" * 100_000, -32700),
                (b"[]", -32600),
                (b'"text"', -32600),
                (b'{"jsonrpc": "2.0"}', -32600),
                (b'{"jsonrpc": "2.0", "id": {}, "method": 3}', -32600),
                (b'{"a": "' + b"x" * (MOST_BYTES + 100_000) + b'"}', -32600),
            ),
            start=1,
        ):
            server.send(b"", noise, call(number, "recall_memory", id=lamp))
            assert server.answer(None)["error"]["code"] == code, noise[:40]
            assert "灯是绿色的。" in json.dumps(server.answer(number), ensure_ascii=False)
        server.send(call(90, "search_memory", query="x" * 3_000_000))
        assert server.answer(90)["result"]["isError"] is True
        server.send({"jsonrpc": "2.0", "id": 91, "method": "no/method"})
        assert server.answer(91)["error"]["code"] == -32601
        server.send({"jsonrpc": "2.0", "id": 92, "method": "tools/call", "params": {"name": 3}})
        assert server.answer(92)["error"]["code"] == -32602
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)


@pytest.mark.promise("mcp.stdio")
def test_a_cancelled_call_and_a_twin_harm_nobody(home: Path, lamp: str) -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    with raw(home) as server:
        for number in range(1, 20):
            server.send(
                call(number, "search_memory", query="lamp"),
                cancelled | {"params": {"requestId": number}},
            )
        server.send(cancelled | {"params": {"requestId": "none"}})
        server.send(call(50, "recall_memory", id=lamp), call(50, "recall_memory", id=lamp))
        assert server.answer(50) == server.answer(50)
        assert server.process.stdin
        server.process.stdin.close()
        assert server.ended() == 0


@pytest.mark.promise("mcp.stdio")
def test_requests_from_a_file_are_all_answered(home: Path, lamp: str) -> None:
    """Stdin ends right behind the last request, and a file cannot be waited for."""
    script = home.parent / "requests.jsonl"
    calls = [call(number, "recall_memory", id=lamp) for number in range(1, 9)]
    script.write_text("".join(json.dumps(one) + "\n" for one in (*HANDSHAKE, *calls)).rstrip("\n"))
    with script.open("rb") as file, (home.parent / "out").open("wb") as out:
        done = subprocess.run(
            [*PROGRAM, "mcp"],
            stdin=file,
            stdout=out,
            stderr=subprocess.PIPE,
            env=environment(home, **BLIND),
            cwd=home.parent,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    lines = (home.parent / "out").read_bytes().splitlines()
    assert len([one for one in lines if "result" in json.loads(one)]) == 9


# -- ends ------------------------------------------------------------------------------------------


@pytest.mark.promise("mcp.ends")
@pytest.mark.parametrize("number, code", [(None, 0), (signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_when_told_and_frees_the_lock(
    home: Path, number: signal.Signals | None, code: int
) -> None:
    with raw(home) as server:
        assert holder(home) == (server.process.pid, "mcp")
        if number is None:
            assert server.process.stdin
            server.process.stdin.close()
        else:
            server.process.send_signal(number)
        assert server.process.wait(10) == code
        assert holder(home) is None
    assert len(server.lines) == 1


@pytest.mark.promise("mcp.ends")
def test_a_client_that_takes_no_more_answers_ends_it(home: Path, lamp: str) -> None:
    with raw(home) as server:
        assert server.process.stdout
        server.process.stdout.close()
        server.send(call(1, "recall_memory", id=lamp))
        assert server.process.wait(10) == 0
    assert holder(home) is None


@pytest.mark.promise("mcp.ends")
def test_a_client_that_reads_no_answers_and_leaves_is_not_waited_for(home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        long = memory.add(name="long", description="A long one", body="word " * 15_000).id
    with raw(home) as server:
        server.send(*(call(number, "recall_memory", id=long) for number in range(1, 30)))
        assert server.process.stdin
        server.process.stdin.close()
        assert server.process.wait(15) == 0
    assert holder(home) is None


def is_over(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for has, too."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


@pytest.mark.promise("mcp.ends")
def test_it_ends_when_its_client_is_killed(home: Path, lamp: str) -> None:
    server = [*PROGRAM, "mcp"]
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, json.dumps(HANDSHAKE), *server],
        stdout=subprocess.PIPE,
        env=environment(home, **BLIND),
        cwd=home.parent,
        text=True,
    ) as client:
        assert client.stdout
        pid = int(client.stdout.readline())
        assert holder(home) == (pid, "mcp")
        client.kill()
        until(lambda: is_over(pid), 10)
    assert holder(home) is None
    sound(home)


# -- one home, many servers ------------------------------------------------------------------------


@pytest.mark.promise("mcp.many")
def test_two_servers_share_a_home(home: Path, lamp: str) -> None:
    quick = {"MEMSTRATA_WORKER__RETRY_SECONDS": "0.1"}
    with raw(home, env=quick) as one, raw(home, "--session", "second", env=quick) as two:
        assert holder(home) == (one.process.pid, "mcp")
        for number in range(1, 10):
            for server in (one, two):
                server.send(call(number, "recall_memory", id=lamp))
        for server in (one, two):
            for number in range(1, 10):
                assert "灯是绿色的。" in json.dumps(server.answer(number), ensure_ascii=False)
        one.process.kill()
        until(lambda: holder(home) == (two.process.pid, "mcp"))
        with Memory.open(home, background=False) as memory:
            chat = memory.session("s")
            chat.commit(
                [
                    {"role": "user", "content": "I live in Tarnow."},
                    {"role": "assistant", "content": "Noted."},
                ]
            )
            until(lambda: memory.list(text="Tarnow").items)
            assert memory.get(lamp).hit_count == 18
            assert len(memory.reads(session="second").items) == 9
        two.send(call(20, "search_memory", query="Tarnow"))
        assert "Lives in Tarnow" in json.dumps(two.answer(20))


@pytest.mark.promise("mcp.stdio")
def test_the_folder_it_is_started_in_is_its_project(home: Path, tmp_path: Path) -> None:
    """Also when it becomes known to the home while the server runs."""
    with raw(home) as server, Memory.open(home, background=False) as memory:
        server.send(call(1, "search_memory", query="rakes"))
        assert "Nothing was found." in json.dumps(server.answer(1))
        memory.add(name="shed", description="Rakes inside", scope="project", workspace=tmp_path)
        server.send(call(2, "search_memory", query="rakes"))
        assert "Rakes inside" in json.dumps(server.answer(2))


@pytest.mark.promise("mcp.errors")
def test_a_wrong_argument_is_told_before_it_serves(home: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "mcp", "--agent", "../x"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(home, **BLIND),
        cwd=home.parent,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: agent: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.promise("mcp.offload")
def test_an_agent_session_is_named_by_an_option(home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        memory.offload("bake").record("c1", "look", "{}", "the oven is warm")

    async def tour(client: Client) -> None:
        names = {one.name for one in (await client.list_tools()).tools}
        assert {"search_memory", "recall_result", "list_tasks", "open_task"} <= names
        assert await told(client, "recall_result", ref="c1") == ("the oven is warm", False)

    beside(home, tour, "--offload", "bake")
