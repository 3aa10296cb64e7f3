"""Working jobs off: what is due, what fails, what is set aside, what the progress says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Memory, ModelFailed
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.domain.scope import Realm
from memstrata.errors import Conflict, Corrupt, Invalid, MemstrataError, Unavailable
from memstrata.jobs import kinds
from memstrata.jobs.worker import PAUSE, Shift, Worked, work_off
from memstrata.pipelines import bind, extract
from memstrata.pipelines.extract import Outcome
from memstrata.pipelines.world import World
from memstrata.ports import Job

SAID: Final = "I live in Tarnow."
ALL: Final = ("waiting", "running", "parked")


def turn(memory: Memory, session: str = "s", *, user: str = SAID, answered: bool = True) -> None:
    """One turn; it has ended when it was answered."""
    said = [{"role": "user", "content": user}]
    said += [{"role": "assistant", "content": f"Noted: {user}"}] if answered else []
    memory.session(session).commit(said)


def due(memory: Memory, **given: object) -> Worked:
    """Do what is due now."""
    shift: dict[str, object] = {"who": "test", "chance": lambda: 0.5, **given}
    return work_off(memory._world, Shift(**shift))  # type: ignore[arg-type]


def jobs(memory: Memory) -> list[Job]:
    return memory._world.store.jobs(None, ALL)


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, MemstrataError | Exception], None]:
    """Lets the extraction of a session fail, each time."""
    errors: dict[str, Exception] = {}
    real = extract.extract

    def failing(world: World, realm: Realm, session: str) -> Outcome | None:
        if session in errors:
            raise errors[session]
        return real(world, realm, session)

    monkeypatch.setattr(extract, "extract", failing)

    def fail(session: str, error: Exception) -> None:
        errors[session] = error

    return fail


Fails = Callable[[str, Exception], None]

# -- when ----------------------------------------------------------------------------------------


def test_each_turn_is_due_when_it_has_ended(memory: Memory) -> None:
    turn(memory, answered=False)
    assert due(memory).batches == 0
    memory.session("s").commit([{"role": "assistant", "content": "Noted."}])
    assert due(memory).messages == 2
    assert jobs(memory) == []


def test_the_idle_timer_takes_what_is_left(memory: Memory, clock: FakeClock) -> None:
    turn(memory, answered=False)
    clock.advance(seconds=400)
    turn(memory, user="I prefer tea.", answered=False)
    clock.advance(seconds=599)
    assert due(memory).batches == 0, "it counts from the last message"
    clock.advance(seconds=1)
    assert due(memory).messages == 2
    assert memory.status().waiting == 0


def test_the_idle_timer_is_a_setting(open_memory: Open, clock: FakeClock) -> None:
    memory = open_memory(settings={"extraction.idle_seconds": 5})
    turn(memory, answered=False)
    assert due(memory).batches == 0
    clock.advance(seconds=5)
    assert due(memory).messages == 1


def test_it_warms_up_to_every_so_many_turns(open_memory: Open) -> None:
    memory = open_memory(settings={"extraction.every_turns": 5})
    sizes = []
    for number in range(17):
        turn(memory, user=f"The mill has {number} doors.")
        sizes.append(due(memory).messages // 2)
    assert [size for size in sizes if size] == [1, 2, 4, 5, 5]
    turn(memory, user="One more.")
    assert due(memory).batches == 0
    assert memory.drain().messages == 2, "waiting for it takes what is left"


def test_the_end_of_a_session_is_due_at_once(open_memory: Open) -> None:
    memory = open_memory(settings={"extraction.every_turns": 5})
    chat = memory.session("s")
    chat.end()
    assert jobs(memory) == [], "nothing was said"
    turn(memory)
    assert due(memory).messages == 2
    turn(memory, user="I prefer tea.", answered=False)
    assert due(memory).batches == 0
    chat.end()
    assert due(memory).messages == 1
    chat.end()
    assert jobs(memory) == []


def test_a_long_session_lets_others_have_their_turn(
    open_memory: Open, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(settings={"extraction.batch_tokens": 100})
    for number in range(14):
        turn(memory, "long", user=f"{number} " + "The mill stands by the river. " * 20)
    clock.advance(seconds=1)
    turn(memory, "short")
    order: list[str] = []
    real = extract.extract

    def noted(world: World, realm: Realm, session: str) -> Outcome | None:
        clock.advance(seconds=1)
        found = real(world, realm, session)
        order.extend([session] if found else [])
        return found

    monkeypatch.setattr(extract, "extract", noted)
    due(memory)
    assert order.index("short") == 10
    assert order.count("long") == 28
    assert jobs(memory) == []


def test_it_stops_between_two_batches(open_memory: Open) -> None:
    memory = open_memory(settings={"extraction.batch_tokens": 100})
    for number in range(3):
        turn(memory, user=f"{number} " + "The mill stands by the river. " * 20)
    done = Worked()

    def stop() -> bool:
        return bool(done.batches)

    def progress(what: str, messages: int, total: int) -> None:
        done.batches += 1

    assert due(memory, stop=stop, progress=progress).batches == 1
    assert [job.state for job in jobs(memory)] == ["waiting"]
    assert due(memory).batches == 5


# -- failures --------------------------------------------------------------------------------------


def test_a_failing_session_is_tried_again_later_then_set_aside(
    memory: Memory, clock: FakeClock, fails: Fails
) -> None:
    fails("s", ModelFailed("timed out", reason="timeout"))
    turn(memory)
    turn(memory, "other")
    pauses: list[float] = []
    for tried in range(1, 5):
        done = due(memory)
        assert done.retrying == ["extract s: unavailable: timed out"]
        (job,) = jobs(memory)
        assert (job.attempts, job.state) == (tried, "waiting")
        assert memory._world.store.cursor(job.realm, "s").position == 0
        pauses.append((job.due - clock.now()).total_seconds())
        assert due(memory).batches == 0, "not before its time"
        assert memory.drain().retrying == []
        turn(memory, user="Something else.")
        assert [one.due for one in jobs(memory)] == [job.due], "a new turn does not hurry it"
        clock.set(job.due)
    assert pauses == [15, 60, 240, 960]
    assert memory.status().retrying[0].startswith("extract s: unavailable: timed out (4 of 5 tries")
    done = due(memory)
    assert done.parked == ["extract s: unavailable: timed out"]
    (aside,) = memory.status().parked
    assert aside.startswith("extract s (batch_")
    assert aside.endswith("): unavailable: timed out")
    assert "extract --retry" in memory.status().degraded[0]
    clock.advance(days=2)
    assert due(memory).batches == 0
    memory.reindex()
    assert memory.drain().batches == 0, "it waits for its command"
    assert memory.status().parked == (aside,)
    turn(memory, "later")
    assert due(memory).batches == 1, "others go on"


@pytest.mark.promise("extract.parked-batch")
def test_what_is_said_after_a_batch_that_was_set_aside_is_extracted(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn(memory)
    with monkeypatch.context() as patched:
        patched.setattr(extract, "extract", _too_long)
        assert len(due(memory).parked) == 1
    turn(memory, user="I prefer mint tea.")
    assert due(memory).messages == 2
    assert [one.description for one in memory.list().items] == ["Prefers mint tea"]
    assert memory.status().waiting == 0
    done = memory.extract(retry=True)
    assert (done.messages, done.parked) == (2, [])
    assert {one.description for one in memory.list().items} == {
        "Lives in Tarnow",
        "Prefers mint tea",
    }
    assert (jobs(memory), memory.status().parked) == ([], ())
    assert memory.extract(retry=True).batches == 0


def _too_long(*_: object) -> None:
    raise ModelFailed("too long", reason="too_long", permanent=True)


@pytest.mark.promise("extract.parked-batch")
def test_an_index_made_anew_remembers_what_was_set_aside(
    open_memory: Open, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    for said in (SAID, "I prefer mint tea."):
        turn(memory, user=said)
        with monkeypatch.context() as patched:
            patched.setattr(extract, "extract", _too_long)
            due(memory)
    aside = memory.status().parked
    assert len(aside) == 2
    memory.close()
    for file in home.glob("memstrata.db*"):
        file.unlink()
    again = open_memory()
    assert again.status().parked == aside
    assert again.drain().batches == 0
    assert again.extract(retry=True).messages == 4
    again.close()
    for file in home.glob("memstrata.db*"):
        file.unlink()
    last = open_memory()
    assert last.status().parked == ()
    assert (last.status().waiting, last.extract(retry=True).batches) == (0, 0)


def test_what_was_set_aside_is_taken_up_on_command(open_memory: Open, fails: Fails) -> None:
    chosen = {"extraction.model": "openai-compatible:scripted"}
    memory = open_memory(model=ScriptedModel(), settings=chosen)
    fails("s", ModelFailed("wrong key", reason="key", permanent=True))
    fails("t", ModelFailed("timed out", reason="timeout"))
    for session in ("s", "t"):
        turn(memory, session)
    memory.session("s").commit([{"role": "user", "content": "I prefer tea."}])
    done = memory.drain()
    assert done.parked == ["extract s: unavailable: wrong key"], "asking again cannot help"
    assert done.retrying == ["extract t: unavailable: timed out"]
    check = next(one for one in memory.doctor() if one.name == "extraction")
    assert not check.ok
    assert "wrong key" in check.found
    assert "timed out" in check.found
    assert memory.extract().batches == 0
    done = memory.extract(retry=True)
    assert (len(done.parked), len(done.retrying)) == (1, 1)
    fails("s", Conflict("moved"))
    memory.extract(retry=True)
    for session in ("s", "t"):
        fails(session, Corrupt("x", "y"))
    assert len(memory.extract(retry=True).parked) == 2


def test_once_it_works_nothing_is_missing(
    memory: Memory, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, fails: Fails
) -> None:
    turn(memory)
    with monkeypatch.context() as patched:

        def away(*_: object) -> None:
            raise ModelFailed("refused", reason="refused")

        patched.setattr(extract, "extract", away)
        assert len(due(memory).retrying) == 1
    turn(memory, user="I prefer mint tea.")
    clock.advance(seconds=15)
    assert due(memory).messages == 4
    assert jobs(memory) == []
    assert {one.description for one in memory.list().items} == {
        "Lives in Tarnow",
        "Prefers mint tea",
    }


@pytest.mark.parametrize("asked, pause", [(None, 15), (3.0, 15), (90.0, 90)])
def test_a_provider_that_names_a_time_is_heard(
    memory: Memory, clock: FakeClock, fails: Fails, asked: float | None, pause: float
) -> None:
    fails("s", ModelFailed("slow down", reason="rate_limited", retry_after=asked))
    turn(memory)
    due(memory)
    assert (jobs(memory)[0].due - clock.now()).total_seconds() == pause


@pytest.mark.parametrize("chance, pause", [(0.0, 7.5), (0.25, 11.25)])
def test_chance_spreads_the_tries(
    memory: Memory, clock: FakeClock, fails: Fails, chance: float, pause: float
) -> None:
    fails("s", ModelFailed("timed out", reason="timeout"))
    turn(memory)
    due(memory, chance=lambda: chance)
    assert (jobs(memory)[0].due - clock.now()).total_seconds() == pause


def test_how_often_is_a_setting(open_memory: Open, fails: Fails) -> None:
    memory = open_memory(settings={"extraction.max_tries": 1})
    fails("s", ModelFailed("timed out", reason="timeout"))
    turn(memory)
    assert len(due(memory).parked) == 1


@pytest.mark.parametrize(
    "error, told",
    [
        (Corrupt("a.md", "no YAML", 3), "corrupt: a.md:3: no YAML"),
        (Invalid("name", "is empty"), "invalid: name: is empty"),
        (ZeroDivisionError("division by zero"), "internal: ZeroDivisionError: division by zero"),
    ],
)
def test_what_no_try_can_help_is_set_aside_at_once(
    memory: Memory, fails: Fails, error: Exception, told: str
) -> None:
    fails("s", error)
    turn(memory)
    turn(memory, "other")
    done = due(memory)
    assert done.parked == [f"extract s: {told}"]
    assert done.batches == 1


def test_a_disk_that_says_no_is_no_failure_of_the_session(
    memory: Memory, clock: FakeClock, fails: Fails
) -> None:
    fails("s", Unavailable("the disk is full"))
    turn(memory)
    turn(memory, "other")
    with pytest.raises(Unavailable, match="the disk is full"):
        memory.drain()
    (job,) = jobs(memory)
    assert (job.key, job.attempts, job.state) == ("s", 0, "waiting"), "the other went on"
    assert memory.status().retrying[0].startswith("extract s: unavailable: the disk is full")
    assert due(memory).batches == 0
    clock.advance(PAUSE)
    assert due(memory) == Worked(), "here nobody waits for it"


def test_an_absent_workspace_is_no_failure_either(
    memory: Memory, clock: FakeClock, fails: Fails
) -> None:
    fails("s", bind.Away("the workspace /x is not there"))
    turn(memory)
    for _ in range(10):
        assert list(due(memory).away.values()) == ["extract s: the workspace /x is not there"]
        clock.advance(PAUSE)
    assert jobs(memory)[0].attempts == 0


def test_a_race_that_is_always_lost_is_a_failure(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    def lose(*_: object) -> None:
        nonlocal tried
        tried += 1
        raise Conflict("moved")

    monkeypatch.setattr(extract, "extract", lose)
    turn(memory)
    assert due(memory).retrying == ["extract s: conflict: moved"]
    assert tried == kinds.TRIES


def test_jobs_of_a_dead_worker_are_taken_up(memory: Memory, clock: FakeClock) -> None:
    turn(memory)
    with memory._world.store.transaction() as tx:
        from memstrata.ports import Lease

        far = clock.now().replace(year=2030)
        assert tx.lease(Lease("dead:1", far, tuple(kinds.KINDS)), clock.now())
    assert due(memory).messages == 2
    assert jobs(memory) == []


def test_what_is_of_no_known_kind_waits(memory: Memory, clock: FakeClock) -> None:
    with memory._world.store.transaction() as tx:
        tx.enqueue(memory._realm, "of tomorrow", "x", clock.now())
    assert memory.drain() == Worked()
    assert [job.kind for job in jobs(memory)] == ["of tomorrow"]


# -- reports ---------------------------------------------------------------------------------------


def test_progress_counts_what_waits_in_every_session(memory: Memory) -> None:
    for session, count in (("one", 2), ("two", 1)):
        chat = memory.session(session)
        chat.commit([{"role": "user", "content": f"Sentence {n}."} for n in range(count)])
    memory.drain()
    memory.session("two").commit([{"role": "user", "content": "A later one."}])
    memory.session("three").commit([{"role": "user", "content": "Another."}])
    told: list[tuple[str, int, int]] = []
    done = memory.drain(progress=lambda *given: told.append(given))
    assert done.messages == 2
    assert told == [("extracting", 1, 2), ("extracting", 2, 2)]


@pytest.mark.parametrize("seconds", [-1, "5", True, float("nan")])
def test_a_time_limit_is_a_number(memory: Memory, seconds: object) -> None:
    with pytest.raises(Invalid, match="timeout"):
        memory.drain(seconds)  # type: ignore[arg-type]


def test_no_time_at_all(memory: Memory) -> None:
    assert memory.drain(0) == Worked()
    turn(memory)
    with pytest.raises(Unavailable, match="not done in time"):
        memory.drain(0)
    assert memory.drain(float("inf")).messages == 2
