"""`AsyncMemory` has the verbs of `Memory`, with the same signatures, results and errors."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path

import pytest
from tests.doubles import FakeClock

from memstrata import AsyncMemory, Invalid, Memory, NotFound
from memstrata.aio import AsyncOffloadSession, AsyncSession, AsyncTools, AsyncVerbs
from memstrata.memory import Session, Verbs
from memstrata.offload import OffloadSession
from memstrata.tools import Tools


def verbs(kind: type) -> dict[str, inspect.Signature]:
    """The public methods of a class and their signatures."""
    return {
        name: inspect.signature(getattr(kind, name))
        for name in dir(kind)
        if not name.startswith("_") and callable(getattr(kind, name))
    }


@pytest.mark.promise("python.verbs")
@pytest.mark.parametrize(
    "sync, other",
    [
        *((Memory, AsyncMemory), (Verbs, AsyncVerbs), (Session, AsyncSession)),
        *((Tools, AsyncTools), (OffloadSession, AsyncOffloadSession)),
    ],
)
def test_both_have_the_same_verbs(sync: type, other: type) -> None:
    assert set(verbs(sync)) == set(verbs(other))
    assert all(inspect.iscoroutinefunction(getattr(other, name)) for name in verbs(other))


@pytest.mark.promise("python.verbs")
@pytest.mark.parametrize("name", sorted(verbs(Memory)))
def test_a_verb_has_the_same_arguments(name: str) -> None:
    one, two = (list(verbs(kind)[name].parameters.values()) for kind in (Memory, AsyncMemory))

    def told(given: list[inspect.Parameter]) -> list[tuple[str, object, object]]:
        return [(each.name, each.kind, each.default) for each in given if each.name != "self"]

    assert told(one) == told(two)


@pytest.mark.promise("python.verbs")
@pytest.mark.parametrize("name", sorted(verbs(Session)))
def test_a_sessions_verb_has_the_same_arguments(name: str) -> None:
    assert verbs(Session)[name] == verbs(AsyncSession)[name]
    assert getattr(AsyncSession, name).__doc__ == getattr(Session, name).__doc__


@pytest.mark.promise("python.verbs")
def test_an_offload_session_answers_the_same(home: Path) -> None:
    messages = [{"role": "user", "content": "go"}]

    async def tour() -> list[object]:
        async with await AsyncMemory.open(home, background=False) as memory:
            session = await memory.offload("bake", window=2_000)
            await session.record("c1", "look", "{}", "warm")
            assert await session.recall("c1") == "warm"
            sent = await session.assemble(messages)
            assert session.report.window == 2_000
            return sent

    assert asyncio.run(tour()) == messages


@pytest.mark.promise("python.verbs")
def test_the_verbs_of_the_page(home: Path) -> None:
    """What is built of the verbs that every door has."""
    promised = """session search search_conversations add get list history trace why drain import_
        reindex status doctor close edit archive restore delete candidates confirm reject
        consolidate"""
    assert set(promised.split()) <= set(verbs(Memory))
    with Memory.open(home, background=False) as memory:
        assert {"commit", "recall", "id"} <= set(dir(memory.session("s")))


@pytest.mark.promise("python.verbs")
def test_they_answer_the_same(home: Path, clock: FakeClock) -> None:
    async def tour() -> tuple[object, ...]:
        settings = {"timezone": "UTC"}
        async with await AsyncMemory.open(
            home, settings=settings, background=False, clock=clock
        ) as memory:
            chat = await memory.session("s", agent="coder")
            captured = await chat.commit([{"role": "user", "content": "I live in Tarnow."}])
            done = await memory.drain()
            record = await memory.add(name="lamp", description="The lamp is green")
            with pytest.raises(NotFound):
                await memory.get("mem_none")
            with pytest.raises(Invalid):
                await memory.search("x", limit=0)
            assert done.messages == len(captured.stored) == 1
            tools = await memory.tools(agent="coder", session="s")
            return (
                await tools.call("search_memory", {"query": "lamp"}),
                (await memory.reads()).items[0].ids,
                await memory.list(),
                await memory.search("lamp Tarnow"),
                await memory.search_conversations("Tarnow"),
                await memory.history(record.id),
                await memory.trace(record.id),
                await memory.why(),
                await chat.recall("lamp"),
                await memory.status(),
            )

    asynchronous = asyncio.run(tour())
    with Memory.open(home, settings={"timezone": "UTC"}, background=False, clock=clock) as memory:
        id = memory.list(text="lamp").items[0].id
        chat = memory.session("s", agent="coder")
        assert asynchronous == (
            memory.tools(agent="coder", session="s").call("search_memory", {"query": "lamp"}),
            (id,),
            memory.list(),
            memory.search("lamp Tarnow"),
            memory.search_conversations("Tarnow"),
            memory.history(id),
            memory.trace(id),
            memory.why(),
            chat.recall("lamp"),
            memory.status(),
        )


@pytest.mark.promise("async.threads")
def test_verbs_run_in_threads_of_our_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    status = Verbs.status

    def noted(self: Verbs) -> object:
        seen.append(threading.current_thread().name)
        return status(self)

    async def tour() -> None:
        async with await AsyncMemory.open(home, background=False) as memory:
            await memory.threads.run(noted, memory.sync)
            await asyncio.gather(*(memory.threads.run(noted, memory.sync) for _ in range(20)))

    asyncio.run(tour())
    assert len(seen) == 21
    assert all(name.startswith("memstrata") for name in seen)
    assert len(set(seen)) <= 8
