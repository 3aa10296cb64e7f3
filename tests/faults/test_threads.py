"""One process, many threads and tasks on one memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.oracle import faults, sound
from tests.faults.works import SETTINGS, messages, opened

from memstrata import AsyncMemory, Memory
from memstrata.errors import Conflict

THREADS = 8
ROUNDS = 12


@pytest.mark.promise("write.threads")
def test_threads_write_extract_and_search_on_one_memory(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as memory:
        begin = threading.Barrier(THREADS)

        def work(me: int) -> list[str]:
            begin.wait()
            return [id for n in range(ROUNDS) for id in _round(memory, me, n)]

        with ThreadPoolExecutor(THREADS) as pool:
            said = [id for ids in pool.map(work, range(THREADS)) for id in ids]
        done = memory.drain()
        assert done.parked == []
        assert sorted(id for _, id, _ in messages(memory)) == sorted(said)
        names = [one.name for one in memory.list(limit=1_000).items]
        assert sum(name.startswith("door") for name in names) == THREADS * ROUNDS
        assert sum(name.startswith("race") for name in names) == ROUNDS
        assert memory.status().waiting == 0
        assert faults(memory) == []
    assert sound(tmp_path / "home") == []


def _round(memory: Memory, me: int, n: int) -> list[str]:
    chat = memory.session("shared" if n % 2 else f"own {me}")
    turn = [
        {"role": "user", "content": f"I live in Town{me}. {n}", "id": f"{me}-{n}-{k}"}
        for k in range(2)
    ]
    stored = chat.commit(turn).stored
    memory.add(name=f"door {me} {n}", description=f"opens at {n}")
    with suppress(Conflict):
        memory.add(name=f"race {n}", description=f"won by {me}")
    assert not memory.search("opens town").degraded
    assert chat.recall("Where do I live?").warnings == ()
    if n % 4 == me % 4:
        assert memory.drain().parked == []
    return list(stored)


@pytest.mark.promise("write.threads")
def test_threads_while_the_index_is_made_anew(tmp_path: Path) -> None:
    """A rebuild in between loses nothing and has nothing done twice."""
    with opened(tmp_path / "home") as memory:
        stop = threading.Event()

        def write(me: int) -> int:
            n = 0
            while not stop.is_set() or n < 3:
                memory.session(f"s{me}").commit(
                    [{"role": "user", "content": f"I prefer tea number {n}.", "id": f"{me}-{n}"}]
                )
                memory.add(name=f"door {me} {n}", description=f"opens at {n}")
                memory.drain()
                n += 1
            return n

        with ThreadPoolExecutor(3) as pool:
            writers = [pool.submit(write, me) for me in range(3)]
            try:
                for _ in range(5):
                    memory.reindex()
            finally:
                stop.set()
            rounds = sum(writer.result() for writer in writers)
        memory.drain()
        assert len(messages(memory)) == rounds
        names = [one.name for one in memory.list(limit=1_000, type="user").items]
        assert sum(name.startswith("door") for name in names) == rounds
        assert memory.status().parked == ()
        assert faults(memory) == []


@pytest.mark.promise("async.threads")
def test_fifty_calls_of_asyncio_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with await AsyncMemory.open(
            tmp_path / "home", settings=SETTINGS, background=False
        ) as memory:
            chats = [await memory.session(f"s{n % 5}") for n in range(50)]
            await asyncio.gather(
                *(
                    chat.commit([{"role": "user", "content": f"The mill, {n}.", "id": f"m{n}"}])
                    for n, chat in enumerate(chats)
                ),
                *(memory.add(name=f"door {n}", description="opens") for n in range(10)),
                *(memory.search("mill") for _ in range(10)),
                *(chat.recall("mill") for chat in chats[:5]),
            )
            await memory.drain()
            assert len(messages(_sync(memory))) == 50
            assert len((await memory.list()).items) >= 10

    asyncio.run(work())
    assert sound(tmp_path / "home") == []


def _sync(memory: AsyncMemory) -> Memory:
    assert isinstance(memory.sync, Memory)
    return memory.sync


@pytest.mark.promise("async.cancelled")
def test_a_cancelled_commit_is_whole(tmp_path: Path) -> None:
    """Cancelled while it waits for the write lock: once begun, it runs to its end."""
    cancelled: list[int] = []

    async def work() -> None:
        memory = await AsyncMemory.open(tmp_path / "home", settings=SETTINGS, background=False)
        chat = await memory.session("s")
        vault = _sync(memory)._world.vault
        for n in range(10):
            turn = [
                {"role": "user", "content": f"The mill, {n}, {k}.", "id": f"{n}-{k}"}
                for k in range(3)
            ]
            with vault.exclusive():
                task = asyncio.ensure_future(chat.commit(turn))
                await asyncio.sleep(0)
                task.cancel()
                results = await asyncio.gather(task, return_exceptions=True)
            cancelled.extend(n for one in results if isinstance(one, asyncio.CancelledError))
        await memory.close()

    asyncio.run(work())
    assert cancelled == list(range(10))
    with opened(tmp_path / "home") as memory:
        ids = {id for _, id, _ in messages(memory)}
        assert faults(memory) == []
    assert ids == {f"{n}-{k}" for n in range(10) for k in range(3)}


def test_close_waits_for_nobody_twice(tmp_path: Path) -> None:
    memory = opened(tmp_path / "home")
    closing: list[Callable[[], None]] = [memory.close] * 3
    with ThreadPoolExecutor(3) as pool:
        for one in [pool.submit(close) for close in closing]:
            one.result()
    assert sound(tmp_path / "home") == []
