"""The home's socket: for its owner alone, whatever lies there, whatever is sent, whoever goes away."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import pytest
from tests.waiting import SOON, forked, parent_of_a_child, until

from memstrata import Conflict, Denied, Internal, Invalid, NotFound, Refused, Unavailable
from memstrata.adapters import socket_unix
from memstrata.adapters.socket_unix import UnixSocket
from memstrata.errors import Corrupt, MemstrataError
from memstrata.ports import Answering, Fields, NobodyListens

SYSTEM_LIMIT = Path("/proc/sys/net/core/somaxconn")
"""A listener's queue is no longer than this, whatever it asks for."""


@pytest.fixture
def path() -> Iterator[Path]:
    with TemporaryDirectory(prefix="mem-") as folder:
        yield Path(folder) / "run" / "memstrata.sock"


def echo(request: Fields, tell: Callable[[Fields], None]) -> Fields:
    for number in range(int(str(request.get("tell", 0)))):
        tell({"number": number})
    return {"you": request.get("say")}


@contextmanager
def served(path: Path, answer: Answering = echo) -> Iterator[UnixSocket]:
    """A socket that is answered, and no thread of it left behind."""
    before = set(threading.enumerate())
    one = UnixSocket(path)
    serving = one.serve(answer)
    try:
        yield one
    finally:
        serving.close()
        serving.close()
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("memstrata"):
            thread.join(SOON)
            assert not thread.is_alive()


@contextmanager
def plugged(path: Path) -> Iterator[socket.socket]:
    """A peer that says what it likes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(SOON)
        peer.connect(str(path))
        yield peer


def heard(peer: socket.socket) -> list[Any]:
    """Everything that comes until we are hung up on."""
    data = b""
    while more := peer.recv(65_536):
        data += more
    return [json.loads(line) for line in data.splitlines()]


def test_it_answers_and_tells(path: Path) -> None:
    told: list[Fields] = []
    with served(path) as one:
        assert one.ask({"say": "tea 茶 \ud800"}, SOON) == {"you": "tea 茶 \ud800"}
        assert one.ask({"tell": 3}, SOON, told.append) == {"you": None}
        assert one.ask({"tell": 3}) == {"you": None}
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
    assert told == [{"number": number} for number in range(3)]
    assert not path.exists()


def test_many_at_once(path: Path) -> None:
    meet = threading.Barrier(20)

    def answer(request: Fields, _: object) -> Fields:
        meet.wait(SOON)
        return {"you": request["say"]}

    found: list[Fields] = []
    with served(path, answer) as one:
        threads = [
            threading.Thread(target=lambda n=n: found.append(one.ask({"say": n}, SOON)))
            for n in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(map(str, found)) == sorted(str({"you": n}) for n in range(20))


def test_more_than_that_are_hung_up_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_unix, "MOST_PEERS", 2)
    with served(path) as one, plugged(path) as first, plugged(path) as second:
        for peer in (first, second):
            peer.sendall(b'{"say": 1}\n')
            assert json.loads(peer.recv(100)) == {"answer": {"you": 1}}
        with plugged(path) as third:
            assert heard(third) == []
        with pytest.raises(NobodyListens):
            one.ask({"say": 1}, SOON)


@contextmanager
def crowded(path: Path) -> Iterator[tuple[socket.socket, list[socket.socket]]]:
    """A listener that takes nobody in, and those who wait for it: no further one can be in its queue."""
    path.parent.mkdir()
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.bind(str(path))
        listener.listen(1)
        callers: list[socket.socket] = []
        with suppress(BlockingIOError):
            while True:
                peer = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                peer.setblocking(False)
                peer.connect(str(path))
                callers.append(peer)
        yield listener, callers


def test_too_many_wait_to_be_taken_in(path: Path) -> None:
    with crowded(path):
        begin = monotonic()
        with pytest.raises(Unavailable, match=r"too many call .* no call within 0\.3 s"):
            UnixSocket(path).ask({"say": 1}, 0.3)
        assert monotonic() - begin >= 0.25
        with pytest.raises(Unavailable, match="too many call"):
            UnixSocket(path).ask({"say": 1}, 0)


@pytest.mark.parametrize("seconds", [SOON, None])
def test_who_finds_the_queue_full_waits_for_a_place(path: Path, seconds: float | None) -> None:
    answers: list[Fields] = []
    with crowded(path) as (listener, callers):
        asking = threading.Thread(
            target=lambda: answers.append(UnixSocket(path).ask({"say": 1}, seconds))
        )
        asking.start()
        asking.join(0.1)
        assert asking.is_alive(), "it gave up though its time was not over"
        for _ in callers:
            listener.accept()[0].close()
        peer, _ = listener.accept()
        with peer:
            assert json.loads(peer.recv(100)) == {"say": 1}
            peer.sendall(b'{"answer": {"you": 1}}\n')
            asking.join(SOON)
    assert answers == [{"you": 1}]


def test_a_message_that_nobody_takes_is_dropped_soon(path: Path) -> None:
    with crowded(path) as (listener, callers):
        begin = monotonic()
        UnixSocket(path).tell({"say": 1})
        assert monotonic() - begin < 5
        for _ in callers:
            listener.accept()[0].close()
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_message_waits_a_little_for_a_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_unix, "_TELLING", SOON)
    with crowded(path) as (listener, callers):
        telling = threading.Thread(target=UnixSocket(path).tell, args=({"say": 1},))
        telling.start()
        for _ in callers:
            listener.accept()[0].close()
        peer, _ = listener.accept()
        with peer:
            assert json.loads(peer.recv(100)) == {"say": 1}
        telling.join(SOON)
        assert not telling.is_alive()


def test_hundreds_may_wait_for_a_busy_server(path: Path) -> None:
    most = min(512, int(SYSTEM_LIMIT.read_text()))
    with served(path), ExitStack() as callers:
        (server,) = (found for found in socket_unix._servers if found._path == path)
        with server._lock:  # the first is taken in, and then nobody until we let go
            for _ in range(most):
                peer = callers.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                peer.setblocking(False)
                peer.connect(str(path))


def test_nobody_is_there(path: Path) -> None:
    one = UnixSocket(path)
    with pytest.raises(NobodyListens):
        one.ask({}, SOON)
    one.tell({})
    path.parent.mkdir()
    path.write_text("no socket")
    with pytest.raises(NobodyListens):
        one.ask({}, SOON)
    one.tell({})


def test_what_a_dead_process_left_is_replaced(path: Path) -> None:
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))
    with pytest.raises(NobodyListens):
        UnixSocket(path).ask({}, SOON)
    with served(path) as one:
        assert one.ask({"say": 1}, SOON) == {"you": 1}


def test_what_is_no_socket_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("a person's")
    with pytest.raises(Unavailable, match="no socket can be made"):
        UnixSocket(path).serve(echo)
    assert path.read_text() == "a person's"


def test_a_successors_socket_is_not_removed(path: Path) -> None:
    first = UnixSocket(path).serve(echo)
    with served(path) as second:
        first.close()
        assert second.ask({"say": 1}, SOON) == {"you": 1}


@pytest.mark.parametrize("length", [90, 107, 108, 109, 200, 1000])
def test_a_path_of_any_length(path: Path, length: int) -> None:
    folder = path.parent
    while len(os.fsencode(folder / "memstrata.sock")) < length:
        missing = length - len(os.fsencode(folder / "memstrata.sock")) - 1
        folder = folder / ("d" * max(1, min(missing, 200)))
    long = folder / "memstrata.sock"
    with served(long) as one:
        assert one.ask({"say": 1}, SOON) == {"you": 1}
        one.tell({"say": 1})
    assert not long.exists()


def test_a_path_too_long_for_the_system(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_unix, "_DESCRIPTORS", path / "none")
    one = UnixSocket(path.parent / ("d" * 100) / "memstrata.sock")
    with pytest.raises(Unavailable, match="too long"):
        one.serve(echo)
    with pytest.raises(Unavailable, match="too long"):
        one.ask({})
    one.tell({})


@pytest.mark.parametrize(
    "line, problem",
    [
        (b"tea", "is no JSON"),
        (b"", "is no JSON"),
        (b"[1]", "is no JSON object"),
        (b'"x"', "is no JSON object"),
        (b"\xff\x00", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
    ],
)
def test_garbage_is_answered_and_the_peer_may_go_on(path: Path, line: bytes, problem: str) -> None:
    with served(path), plugged(path) as peer:
        peer.sendall(line + b'\n{"say": 1}\n')
        peer.shutdown(socket.SHUT_WR)
        error, answer = heard(peer)
        assert error["error"]["code"] == "invalid"
        assert problem in error["error"]["problem"]
        assert answer == {"answer": {"you": 1}}


def test_half_a_line_is_no_request(path: Path) -> None:
    with served(path) as one, plugged(path) as peer:
        peer.sendall(b'{"say": 1}')
        peer.shutdown(socket.SHUT_WR)
        assert heard(peer) == []
        assert one.ask({"say": 1}, SOON) == {"you": 1}


def test_a_request_that_is_too_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(path) as one:
        assert one.ask({"say": "x" * 3_000_000}, SOON) == {"you": "x" * 3_000_000}
        monkeypatch.setattr(socket_unix, "MOST_REQUEST", 1_000)
        with pytest.raises(Invalid, match="longer than 1000 bytes"):
            one.ask({"say": "x" * 1_000}, SOON)
        with plugged(path) as peer:
            peer.sendall(b"x" * 1_001)
            (error,) = heard(peer)
            assert "longer than 1000 bytes" in error["error"]["message"]


def test_a_peer_that_says_nothing_or_takes_nothing_is_hung_up_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_unix, "PATIENCE", 0.2)
    with served(path) as one:
        with plugged(path) as peer:
            assert heard(peer) == []
        with plugged(path) as peer:
            peer.sendall(b'{"say": ')
            assert heard(peer) == []
        with plugged(path) as peer:
            peer.sendall(json.dumps({"say": "x" * 5_000_000}).encode() + b"\n")
            until(lambda: not any(one.name == "memstrata-peer" for one in threading.enumerate()))
            assert len(peer.recv(10)) == 10
        assert one.ask({"say": 1}, SOON) == {"you": 1}


def test_a_peer_that_goes_before_the_answer(path: Path) -> None:
    asked, gone = threading.Event(), threading.Event()

    def answer(request: Fields, tell: Callable[[Fields], None]) -> Fields:
        if request.get("say") == "wait":
            asked.set()
            gone.wait(SOON)
            tell({"number": 1})
        return echo(request, tell)

    with served(path, answer) as one:
        with plugged(path) as peer:
            peer.sendall(b'{"say": "wait"}\n')
            asked.wait(SOON)
        gone.set()
        one.tell({"say": 1})
        assert one.ask({"say": 1}, SOON) == {"you": 1}


def test_closing_hangs_up_on_whoever_waits(path: Path) -> None:
    asked, free = threading.Event(), threading.Event()

    def answer(request: Fields, _: object) -> Fields:
        asked.set()
        free.wait(SOON)
        return {}

    errors: list[BaseException] = []
    serving = UnixSocket(path).serve(answer)

    def ask() -> None:
        with pytest.raises(NobodyListens) as caught:
            UnixSocket(path).ask({}, SOON)
        errors.append(caught.value)

    thread = threading.Thread(target=ask)
    thread.start()
    asked.wait(SOON)
    serving.close()
    thread.join(SOON)
    free.set()
    assert len(errors) == 1


def test_who_cannot_answer_any_more_hangs_up(path: Path) -> None:
    def answer(request: Fields, _: object) -> Fields:
        raise NobodyListens("about to stop")

    with served(path, answer) as one, pytest.raises(NobodyListens):
        one.ask({}, SOON)


def test_no_answer_in_time(path: Path) -> None:
    free = threading.Event()

    def answer(request: Fields, _: object) -> Fields:
        free.wait(SOON)
        return {}

    with served(path, answer) as one:
        with pytest.raises(Unavailable, match=r"within 0\.1 s"):
            one.ask({}, 0.1)
        with pytest.raises(Unavailable, match="within 0 s"):
            one.ask({}, 0)
        free.set()


@pytest.mark.parametrize(
    "error",
    [
        Invalid("name", "is empty"),
        Denied("not you"),
        NotFound("memory", "mem_1"),
        Conflict("moved", base=1, current=2),
        Conflict("taken", reason="ALREADY_EXISTS", holder="mem_2"),
        Refused("sensitive", "sensitive", "holds a key"),
        Unavailable("the disk is full"),
        Corrupt("a.md", "no YAML", 3),
        Internal("a bug"),
    ],
)
def test_an_error_arrives_as_it_was(path: Path, error: MemstrataError) -> None:
    def answer(request: Fields, _: object) -> Fields:
        raise error

    with served(path, answer) as one, pytest.raises(type(error)) as caught:
        one.ask({}, SOON)
    assert str(caught.value) == str(error)
    assert caught.value.detail() == error.detail()


@pytest.mark.parametrize("reply", [b"tea\n", b"[]\n", b"{}\n", b'{"answer": 3}\n', b'{"ans'])
def test_an_answer_that_is_none(path: Path, reply: bytes) -> None:
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()

        def answer() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(100)
                peer.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(Unavailable):
            UnixSocket(path).ask({}, SOON)
        thread.join()


def test_a_forked_child_neither_answers_nor_closes_it(path: Path) -> None:
    one = UnixSocket(path)
    serving = one.serve(echo)

    def child() -> None:
        serving.close()
        assert path.exists()

    assert forked(child) == 0
    assert one.ask({"say": 1}, SOON) == {"you": 1}
    serving.close()


def test_a_child_does_not_keep_a_dead_parents_socket_open(path: Path) -> None:
    with parent_of_a_child(lambda: UnixSocket(path).serve(echo)) as parent:
        assert UnixSocket(path).ask({"say": 1}, SOON) == {"you": 1}
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
        with pytest.raises(NobodyListens):
            UnixSocket(path).ask({"say": 1}, SOON)
