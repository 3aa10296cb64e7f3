"""The background work of one process: woken, waited for, closed, taken over; and what its socket answers."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.faults.oracle import faults
from tests.waiting import SOON, until

from memstrata import Invalid, Memory, Unavailable
from memstrata.adapters.lock_fs import FileLock
from memstrata.adapters.socket_unix import UnixSocket
from memstrata.bootstrap import Worker
from memstrata.domain.plain import encode
from memstrata.domain.scope import Realm
from memstrata.errors import Denied
from memstrata.events import Event
from memstrata.jobs import requests
from memstrata.jobs.worker import Worked
from memstrata.pipelines import extract, reconcile
from memstrata.pipelines.extract import Outcome
from memstrata.pipelines.world import World
from memstrata.ports import NobodyListens

QUICK = {"worker.retry_seconds": 0.05, "timezone": "UTC"}


@pytest.fixture
def home() -> Iterator[Path]:
    with TemporaryDirectory(prefix="mem-") as folder:
        yield Path(folder) / "home"


@pytest.fixture
def work(open_memory: Open) -> Open:
    """Opens the home with background work."""

    def open_one(**given: Any) -> Memory:
        given["settings"] = {**QUICK, **given.get("settings", {})}
        return open_memory(background=True, **given)

    return open_one


def turn(memory: Memory, session: str = "s", user: str = "I live in Tarnow.") -> None:
    memory.session(session).commit(
        [{"role": "user", "content": user}, {"role": "assistant", "content": f"Noted: {user}"}]
    )


def socket_of(memory: Memory) -> UnixSocket:
    return UnixSocket(memory.home / "run" / "memstrata.sock")


def role(memory: Memory) -> str:
    """How the holder is called, empty for nobody."""
    found = memory.status().worker
    return "" if found is None else found.role


class Gate:
    """Extraction that waits to be let through."""

    def __init__(self) -> None:
        self.inside = threading.Event()
        self.open = threading.Event()
        self.passed = 0

    def hold(self, world: World, realm: Realm, session: str) -> Outcome | None:
        self.inside.set()
        assert self.open.wait(SOON)
        found = REAL(world, realm, session)
        self.passed += found is not None
        return found


REAL = extract.extract


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    found = Gate()
    monkeypatch.setattr(extract, "extract", found.hold)
    yield found
    found.open.set()


def working() -> bool:
    """Whether a thread of this process does background work, or tries to."""
    return any(one.name == "memstrata-worker" for one in threading.enumerate())


# -- one process -----------------------------------------------------------------------------------


def test_a_commit_wakes_it(work: Open) -> None:
    memory = work(settings={"worker.retry_seconds": 60})
    assert role(memory) == "library"
    for n in range(3):
        turn(memory, user=f"I live in Town{n}.")
        until(lambda: memory.status().waiting == 0)
    assert memory.list(status="active").items[0].description == "Lives in Town2"
    assert faults(memory) == []


def test_the_conversation_never_waits_for_it(work: Open, gate: Gate) -> None:
    memory = work()
    turn(memory)
    assert gate.inside.wait(SOON)
    turn(memory, user="I prefer tea.")
    assert memory.search("tea")[0].kind == "message"
    assert memory.status().waiting == 4
    gate.open.set()
    until(lambda: memory.status().waiting == 0)


def test_waiting_for_it(work: Open) -> None:
    memory = work(settings={"extraction.every_turns": 9})
    told: list[tuple[str, int, int]] = []
    turn(memory)
    until(lambda: not memory._world.store.jobs(None, ("waiting", "running")))
    turn(memory, user="I prefer tea.")
    done = memory.drain(SOON, progress=lambda *given: told.append(given))
    assert (done.batches, done.messages) == (1, 2)
    assert told == [("extracting", 2, 2)]
    assert [one.verdict for one in done.verdicts] == ["add"]
    assert "Prefers tea" in (memory.home / "memory/user/MEMORY.md").read_text()
    assert memory.drain() == Worked()


def test_no_longer_than_asked(work: Open, gate: Gate) -> None:
    memory = work()
    turn(memory)
    assert gate.inside.wait(SOON)
    with pytest.raises(Unavailable, match="not done in time"):
        memory.drain(0.05)
    gate.open.set()
    memory.drain(SOON)
    assert memory.status().waiting == 0


def test_without_background_nothing_is_done_until_asked(memory: Memory, clock: FakeClock) -> None:
    turn(memory)
    clock.advance(days=1)
    assert memory.status().worker is None
    assert not working()
    memory.close()
    assert not (memory.home / "run" / "memstrata.sock").exists()


def test_the_idle_timer_runs_in_the_background(work: Open, clock: FakeClock) -> None:
    memory = work()
    memory.session("s").commit([{"role": "user", "content": "I live in Tarnow."}])
    clock.advance(seconds=599)
    memory._holder.wake()
    turn(memory, "other")
    until(lambda: memory.status().waiting == 1)
    clock.advance(seconds=1)
    until(lambda: memory.status().waiting == 0)


def test_it_goes_on_after_the_disk_said_no(work: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Event] = []
    memory = work()
    memory._world.bus.listen(heard.append)
    with monkeypatch.context() as patched:

        def refuse(*_: object) -> None:
            raise Unavailable("the disk is full")

        patched.setattr("memstrata.pipelines.apply.lease_job", refuse)
        turn(memory)
        until(lambda: any(event.name == "worker.failed" for event in heard))
        with pytest.raises(Unavailable, match="the disk is full"):
            memory.drain()
    until(lambda: memory.status().waiting == 0)
    assert all(event.degraded for event in heard if event.name == "worker.failed")


# -- closing ----------------------------------------------------------------------------------------


def test_closing_works_off_what_waits(work: Open, open_memory: Open) -> None:
    memory = work(settings={"extraction.every_turns": 9})
    turn(memory)
    memory.session("s").commit([{"role": "user", "content": "I prefer tea."}])
    memory.close()
    after = open_memory()
    assert after.status().waiting == 0
    assert after.status().worker is None
    assert faults(after) == []


def test_what_there_was_no_time_for_is_done_at_the_next_start(
    work: Open, open_memory: Open
) -> None:
    memory = work(settings={"extraction.every_turns": 9, "worker.shutdown_seconds": 0})
    memory.session("s").commit([{"role": "user", "content": "I live in Tarnow."}])
    memory.close()
    assert open_memory().status().waiting == 1
    again = work(settings={"extraction.every_turns": 9})
    until(lambda: again.status().waiting == 0)


def test_closing_during_work_waits_no_longer_than_its_limit(
    work: Open, open_memory: Open, gate: Gate
) -> None:
    memory = work(settings={"worker.shutdown_seconds": 0.1})
    turn(memory)
    assert gate.inside.wait(SOON)
    began = monotonic()
    memory.close()
    assert monotonic() - began < SOON / 2
    after = open_memory()
    assert after.status().worker is None, "the lock is free though a batch goes on"
    assert after.status().waiting == 2
    gate.open.set()
    until(lambda: not working())
    assert gate.passed == 0, "the one that was left behind could write nothing"
    assert after.status().waiting == 2
    assert after.drain().messages == 2
    assert faults(after) == []


def test_closing_while_somebody_waits(work: Open, gate: Gate) -> None:
    memory = work()
    turn(memory)
    assert gate.inside.wait(SOON)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(socket_of(memory).ask, {"do": "drain"}, SOON)
        until(lambda: memory._holder._drains)
        closing = threading.Thread(target=memory.close)
        closing.start()
        until(memory._holder._is_ending)
        gate.open.set()
        closing.join(SOON)
        with pytest.raises(NobodyListens):
            waiting.result(SOON)
    assert gate.passed == 1


def test_closed_twice_by_many(work: Open) -> None:
    memory = work()
    turn(memory)
    with ThreadPoolExecutor(3) as pool:
        for one in [pool.submit(memory.close) for _ in range(3)]:
            one.result()


# -- several ----------------------------------------------------------------------------------------


def test_the_next_one_takes_over(work: Open, open_memory: Open) -> None:
    first, second = work(), work()
    reader = open_memory()
    assert [one._holder.is_holder for one in (first, second, reader)] == [True, False, False]
    turn(second)
    until(lambda: reader.status().waiting == 0)
    (reader.home / "memory/user/note.md").write_text("The baker is closed on Mondays\n")
    first.close()
    until(lambda: second._holder.is_holder)
    turn(reader, user="I prefer tea.")
    until(lambda: reader.status().waiting == 0)
    until(lambda: reader.list(text="baker").items)
    assert role(reader) == "library"


def test_two_wait_at_once(work: Open, open_memory: Open) -> None:
    memory, others = work(), [open_memory() for _ in range(3)]
    for n in range(4):
        turn(memory, f"s{n}", f"I live in Town{n}.")
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda one: one.drain(SOON), [memory, *others]))
    assert sum(one.messages for one in done) <= 8
    assert memory.status().waiting == 0
    assert memory._world.store.totals("local")["jobs"] == 0
    assert faults(memory) == []


def test_two_drain_a_home_that_nobody_works_on(open_memory: Open, gate: Gate) -> None:
    one, two = open_memory(), open_memory()
    turn(one)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(one.drain)
        assert gate.inside.wait(SOON)
        assert role(two) == "drain"
        second = pool.submit(two.drain)
        with pytest.raises(Unavailable, match="another process works"):
            one.drain(0.1)
        gate.open.set()
        assert first.result(SOON).messages == 2
        assert second.result(SOON).messages == 0
    assert gate.passed == 1
    assert role(one) == ""


def test_somebody_who_never_answers(memory: Memory, clock: FakeClock) -> None:
    held = FileLock(memory.home / "worker.lock").take("library", clock.now())
    assert held is not None
    turn(memory)
    with pytest.raises(Unavailable, match="another process works"):
        memory.drain(0.1)
    held.release()
    assert memory.drain().messages == 2


def test_a_lock_that_was_deleted_is_taken_anew(work: Open) -> None:
    memory = work()
    (memory.home / "worker.lock").unlink()
    turn(memory)
    until(lambda: role(memory) == "library")
    until(lambda: memory.status().waiting == 0)
    assert memory._holder.is_holder


def test_without_a_socket_the_work_goes_on(open_memory: Open, work: Open, home: Path) -> None:
    (home / "run").mkdir(parents=True, mode=0o700)
    (home / "run/memstrata.sock").write_text("a person's")
    memory = work()
    turn(memory)
    until(lambda: memory.status().waiting == 0)
    other = open_memory()
    turn(other, user="I prefer tea.")
    until(lambda: other.status().waiting == 0)
    assert (home / "run/memstrata.sock").read_text() == "a person's"


def test_a_forked_child_has_no_part_in_it(work: Open) -> None:
    memory = work()
    turn(memory)
    memory.drain()
    child = os.fork()
    if not child:
        signal.alarm(60)
        try:
            assert not memory._holder.is_holder
            turn(memory, user="I prefer tea.")
            memory.drain(SOON)
            assert memory.status().waiting == 0
            memory.close()
        except BaseException:  # noqa: BLE001 -- a forked process must not go on as its parent
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert memory._holder.is_holder
    assert role(memory) == "library"
    turn(memory, user="I live in Lyon.")
    memory.drain(SOON)
    assert memory.status().messages == 6
    assert faults(memory) == []


def test_what_the_last_holder_left_half_way_is_healed(
    work: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = work(), work()
    seen: list[str] = []
    real = reconcile.reconcile

    def noted(world: World) -> object:
        seen.append(threading.current_thread().name)
        return real(world)

    monkeypatch.setattr(reconcile, "reconcile", noted)
    first.close()
    until(lambda: "memstrata-worker" in seen)
    until(lambda: second._holder.is_holder)


def test_it_rests_when_nothing_is_to_be_done(home: Path) -> None:
    with Worker.open(home, settings={**QUICK, "worker.idle_exit_seconds": 0}) as worker:
        assert role(worker) == "worker"
        turn(worker)
        worker.work()
        assert worker.status().waiting == 0
        with Worker.open(home, settings=QUICK) as other:
            other.work(0.1)
            assert not other._holder.is_holder
        with ThreadPoolExecutor(1) as pool:
            resting = pool.submit(worker.work, 1e6)
            turn(worker, user="I prefer tea.")
            until(lambda: worker.status().waiting == 0)
            assert not resting.done()
            worker.close()
            resting.result(SOON)


# -- the socket ----------------------------------------------------------------------------------


@pytest.fixture
def asked(work: Open, tmp_path: Path) -> tuple[Memory, Callable[..., Any]]:
    """A memory with something in it, and a way to ask it as another process would."""
    memory = work()
    (tmp_path / "kiln").mkdir()
    turn(memory, user="I prefer mint tea.")
    memory.add(name="kiln", description="The kiln is at Quay 3")
    memory.add(
        scope="project", name="glaze", description="We glaze with ash", workspace=tmp_path / "kiln"
    )
    memory.add(name="lamp", description="The lamp is Ana's kiln lamp", user="ana")
    memory.drain(SOON)

    def ask(do: str, **given: object) -> Any:
        return socket_of(memory).ask({"do": do, **given}, SOON)

    return memory, ask


def plain(value: object) -> Any:
    return json.loads(json.dumps(encode(value)))


def test_it_says_who_it_is(asked: tuple[Memory, Callable[..., Any]]) -> None:
    memory, ask = asked
    assert ask("ping") == plain(memory.status().worker)
    assert ask("ping")["pid"] == os.getpid()
    assert ask("status") == plain(memory.status())
    assert ask("wake") == {}


def test_it_searches_as_the_verb_does(
    asked: tuple[Memory, Callable[..., Any]], tmp_path: Path
) -> None:
    memory, ask = asked
    kiln = str(tmp_path / "kiln")
    questions: list[dict[str, Any]] = [
        {"query": "kiln"},
        {"query": "kiln", "user": "ana"},
        {"query": "glaze", "workspace": kiln, "kinds": ["memory"], "limit": 1},
        {"query": "tea", "type": "user", "include_invalid": True, "as_of": "2026-03-15"},
        {"query": "glaze", "workspace": None},
    ]
    for one in questions:
        found = memory.search(**one)
        assert ask("search", **one) == {
            "hits": plain(found),
            "degraded": list(found.degraded),
            "profile": found.profile,
        }
    assert len(ask("search", query="glaze", workspace=kiln)["hits"]) == 1
    assert ask("search", query="glaze")["hits"] == []


def test_it_recalls_as_the_verb_does(
    asked: tuple[Memory, Callable[..., Any]], tmp_path: Path
) -> None:
    memory, ask = asked
    kiln = str(tmp_path / "kiln")
    for view in ({}, {"workspace": kiln, "agent": "coder"}, {"user": "ana"}):
        found = memory.session("s", **view).recall("Where is the kiln?", max_tokens=500)
        got = ask("recall", session="s", message="Where is the kiln?", max_tokens=500, **view)
        assert got == plain(found)
        assert got["stable"]


def test_another_process_waits_for_it(
    asked: tuple[Memory, Callable[..., Any]], open_memory: Open
) -> None:
    memory, _ = asked
    for n in range(3):
        memory.session(f"s{n}").commit([{"role": "user", "content": f"I live in Town{n}."}])
    told: list[tuple[str, int, int]] = []
    done = open_memory().drain(progress=lambda *given: told.append(given))
    assert (done.messages, done.parked, done.retrying, done.away) == (3, [], [], {})
    assert told == [("extracting", n, 3) for n in (1, 2, 3)]
    assert {one.quote_of for one in done.verdicts} <= {(id,) for id in _ids(memory)}


def _ids(memory: Memory) -> list[str]:
    return [
        one.message.id
        for session in ("s0", "s1", "s2")
        for one in memory._world.store.messages(memory._realm, session)
    ]


@pytest.mark.parametrize(
    "request_, field",
    [
        ({}, "do"),
        ({"do": "dance"}, "do"),
        ({"do": ["ping"]}, "do"),
        ({"do": "ping", "loud": True}, "loud"),
        ({"do": "search"}, "query"),
        ({"do": "recall", "message": "x"}, "session"),
        ({"do": "recall", "session": "s"}, "message"),
        ({"do": "search", "query": 3}, "query"),
        ({"do": "search", "query": "x", "workspace": "."}, "workspace"),
        ({"do": "search", "query": "x", "workspace": 3}, "workspace"),
        ({"do": "search", "query": "x", "limit": "many"}, "limit"),
        ({"do": "search", "query": "x", "user": ""}, "owner"),
    ],
)
def test_a_wrong_request(
    asked: tuple[Memory, Callable[..., Any]], request_: dict[str, object], field: str
) -> None:
    memory, _ = asked
    with pytest.raises(Invalid) as caught:
        socket_of(memory).ask(request_, SOON)
    assert caught.value.field == field


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.lists(st.text(max_size=3), max_size=2),
    st.dictionaries(st.text(max_size=2), st.none()),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_whatever_is_asked_is_answered(memory: Memory, data: st.DataObject) -> None:
    """Every argument may be anything that JSON holds; the answer is one, or an error of ours."""
    doors = memory._holder._office.doors
    desk = requests.Desk(doors, lambda: None, lambda: None, lambda _: Worked())
    name = data.draw(st.sampled_from(["search", "recall"]))
    given = data.draw(
        st.fixed_dictionaries({}, optional=dict.fromkeys(requests.ARGUMENTS[name], VALUES))
    )
    with suppress(Invalid):
        json.dumps(desk.answer({"do": name, **given}, lambda _: None))


def test_switched_off_it_says_so(work: Open) -> None:
    memory = work(settings={"memory.enabled": False})
    until((memory.home / "run/memstrata.sock").exists)
    with pytest.raises(Denied, match="switched off"):
        socket_of(memory).ask({"do": "search", "query": "x"}, SOON)
    assert socket_of(memory).ask({"do": "drain"}, SOON)["batches"] == 0
    assert memory.drain() == Worked()


@contextmanager
def _listening(memory: Memory) -> Iterator[list[Event]]:
    heard: list[Event] = []
    remove = memory._world.bus.listen(heard.append)
    yield heard
    remove()


def test_its_coming_and_going_are_events(work: Open) -> None:
    first, second = work(), work()
    with _listening(first) as one, _listening(second) as two:
        first.close()
        until(lambda: any(event.name == "worker.started" for event in two))
        assert "worker.stopped" in [event.name for event in one]
