"""`memstrata serve` and `memstrata token`: a real process, told to end, in the middle of things."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.interfaces.command import PROGRAM, Run, environment, here
from tests.waiting import until

from memstrata import Memory


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return here(home, monkeypatch, capsys)


class Process:
    """A server in a process of its own; what it says on stderr is read as it comes."""

    def __init__(self, home: Path, *arguments: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0", *arguments],
            env=environment(home, MEMSTRATA_EMBEDDING__MODEL="none", **env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        found = re.search(r"http://\S+", first)
        assert found, first
        self.url = found[0]

    def end(self, number: int = signal.SIGTERM) -> tuple[str, str]:
        """Tell it to end; what it had said."""
        self.process.send_signal(number)
        return self.process.communicate(timeout=60)


@contextmanager
def serving(home: Path, *arguments: str, **env: str) -> Iterator[Process]:
    process = Process(home, *arguments, **env)
    try:
        yield process
    finally:
        process.process.kill()
        process.process.communicate()


@pytest.mark.promise("http.serve")
@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_server_ends_in_good_order(home: Path, number: signal.Signals, code: int) -> None:
    with serving(home, "--json") as server:
        with Memory.connect(server.url) as memory:
            memory.session("s").commit(
                [
                    {"role": "user", "content": "I live in Tarnow."},
                    {"role": "assistant", "content": "Noted."},
                ]
            )
            worker = until(lambda: memory.status().worker)
            assert (worker.pid, worker.role) == (server.process.pid, "server")
            until(lambda: memory.list().items)
        stream = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)
        stream.request("GET", "/v1/events")
        events = stream.getresponse()
        assert events.readline() == b": alive\n"
        out, err = server.end(number)
        events.close()
        stream.close()
    assert server.process.returncode == code, err
    assert (json.loads(out) if code == 0 else out) == ({"url": server.url} if code == 0 else "")
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert {"POST"} <= {one["method"] for one in lines}
    assert "Tarnow" not in err
    with Memory.open(home, background=False) as memory:
        assert memory.status().worker is None
        assert [one.description for one in memory.list().items] == ["Lives in Tarnow"]


SLOW = """
import functools, sys, time
from memstrata.interfaces.cli.run import run
from memstrata.memory import Verbs

add = Verbs.add

@functools.wraps(add)
def slowly(self, **given):
    sys.stderr.write("adding\\n")
    sys.stderr.flush()
    time.sleep(float(sys.argv.pop()))
    return add(self, **given)

Verbs.add = slowly
sys.exit(run(["serve", "--port", "0"]))
"""


@contextmanager
def slow(home: Path, seconds: str) -> Iterator[subprocess.Popen[str]]:
    """A server whose `add` takes so long."""
    process = subprocess.Popen(
        [*PROGRAM[:3], "-c", SLOW, seconds],
        env=environment(
            home, MEMSTRATA_EMBEDDING__MODEL="none", MEMSTRATA_SERVER__ACCESS_LOG="false"
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.promise("http.serve")
def test_a_request_in_flight_is_answered(home: Path) -> None:
    with slow(home, "0.5") as process:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        found: list[str] = []

        def add() -> None:
            with Memory.connect(url) as memory:
                found.append(memory.add(name="n", description="d").name)

        thread = threading.Thread(target=add)
        thread.start()
        assert process.stderr.readline() == "adding\n"
        process.terminate()
        thread.join()
        assert found == ["n"]
        assert process.wait(60) == 0


def is_closed(address: str) -> bool:
    """Whether nobody listens any more."""
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=30).close()
    except ConnectionError:
        return True
    return False


@contextmanager
def adding(home: Path, seconds: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in the middle of an `add` that takes so long, and its address."""
    with slow(home, seconds) as process:
        assert process.stderr is not None
        address = process.stderr.readline().split()[-1].removeprefix("http://")
        line = http.client.HTTPConnection(address, timeout=60)
        body = json.dumps({"name": "n", "description": "d"})
        line.request("POST", "/v1/memories", body, {"Content-Type": "application/json"})
        try:
            assert process.stderr.readline() == "adding\n"
            yield process, address
        finally:
            line.close()


@pytest.mark.promise("http.serve")
def test_a_second_signal_ends_at_once(home: Path) -> None:
    with adding(home, "60") as (process, address):
        process.terminate()
        until(lambda: is_closed(address))  # the first one was heard
        process.terminate()
        assert process.wait(30) == -signal.SIGTERM
    with Memory.open(home, background=False) as memory:
        assert memory.list().items == ()


@pytest.mark.promise("http.serve")
def test_what_is_in_flight_has_a_time_limit(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[server]\nshutdown_seconds = 1\n")
    with adding(home, "60") as (process, _):
        process.terminate()
        assert process.wait(30) == 0


@pytest.mark.promise("http.serve")
def test_what_cannot_be_served(cli: Run, home: Path) -> None:
    ran = cli("serve", "--host", "0.0.0.0", "--port", "0")
    assert (ran.code, ran.out) == (3, "")
    assert "token" in ran.err
    ran = cli("serve", "--host", "192.0.2.1", "--port", "0")
    assert ran.code == 3
    with Memory.open(home, background=False) as memory:
        memory.create_token()
    ran = cli("serve", "--host", "192.0.2.1", "--port", "0")
    assert (ran.code, ran.out) == (7, "")
    assert "cannot be listened at" in ran.err


@pytest.mark.promise("http.serve")
def test_a_missing_extra_is_named(home: Path) -> None:
    script = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from memstrata.interfaces.cli.run import run\n"
        "sys.exit(run(['serve', '--port', '0']))"
    )
    ran = subprocess.run(
        [*PROGRAM[:3], "-c", script],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2
    assert "pip install 'memstrata[server]'" in ran.stderr


@pytest.mark.promise("http.tokens")
def test_tokens_on_the_command_line(cli: Run) -> None:
    made = cli("token", "create", "--owner", "ana", "--role", "reader", "--note", "phone", "--json")
    assert made.json["token"]["owner"] == "ana"
    secret = made.json["secret"]
    listed = cli("token", "list")
    assert made.json["token"]["id"] in listed.out
    assert "phone" in listed.out
    assert secret not in listed.out
    assert cli("token", "revoke", made.json["token"]["id"]).code == 0
    assert cli("token", "revoke", made.json["token"]["id"]).code == 4
    assert cli("token", "list", "--json").json == {"tokens": []}
    assert cli("token", "create", "--role", "root").code == 2
    plain = cli("token", "create")
    assert re.fullmatch(r"ms_[\w-]{43}\n", plain.out)
    assert "not shown again" in plain.err


@pytest.mark.promise("cli.log")
def test_the_log_and_the_workspaces(cli: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "kiln").mkdir()
    with Memory.open(home, background=False) as memory:
        chat = memory.session("chat-1", workspace=tmp_path / "kiln")
        chat.commit([{"role": "user", "id": "m1", "content": "We fire the kiln on Tuesdays"}])
        memory.session("chat-2").commit([{"role": "user", "id": "m1", "content": "Hello"}])
    assert [line.split() for line in cli("log").out.splitlines()] == [
        ["chat-1", "1", "1"],
        ["chat-2", "1", "1"],
    ]
    assert cli("log", "chat-1").out == "", "it was said in a project"
    assert "fire the kiln" in cli("log", "chat-1", "--workspace", str(tmp_path / "kiln")).out
    assert cli("log", "chat-2", "--json").json["items"][0]["content"] == "Hello"
    assert cli("workspace", "list", "--json").json["workspaces"][0]["name"] == "kiln"
    assert str(tmp_path / "kiln") in cli("workspace", "list").out
