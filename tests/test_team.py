"""`Memory.team` and `Memory.private`: the same documents for both facades, for threads, for everybody in a home."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import AsyncMemory, Denied, Invalid, Memory
from memstrata.aio import AsyncMemoryDocument
from memstrata.team_document import MemoryDocument

MILL = "- 2026-03-01: The mill stands on the hill"
RIVER = "- 2026-03-02: The river flows north"
DOCUMENT = f"## Project Facts\n{MILL}"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace's folder with one within."""
    (tmp_path / "town" / "square").mkdir(parents=True)
    return tmp_path / "town"


def verbs(kind: type) -> dict[str, inspect.Signature]:
    """The public methods of a class and their signatures."""
    return {
        name: inspect.signature(getattr(kind, name))
        for name in dir(kind)
        if not name.startswith("_") and callable(getattr(kind, name))
    }


@pytest.mark.promise("team.verbs")
def test_the_verbs_of_a_document() -> None:
    assert {"read", "save", "reset", "history", "restore", "block", "prompt"} <= set(
        verbs(MemoryDocument)
    )
    for name in ("base_rev", "allow_deletions", "author"):
        kind = verbs(MemoryDocument)["save"].parameters[name].kind
        assert kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.promise("team.verbs")
@pytest.mark.parametrize("name", sorted(verbs(MemoryDocument)))
def test_both_facades_have_the_same_verbs(name: str) -> None:
    assert verbs(AsyncMemoryDocument).keys() == verbs(MemoryDocument).keys()
    other = getattr(AsyncMemoryDocument, name)
    assert inspect.iscoroutinefunction(other)
    assert verbs(AsyncMemoryDocument)[name] == verbs(MemoryDocument)[name]
    assert other.__doc__ == getattr(MemoryDocument, name).__doc__


@pytest.mark.promise("team.verbs")
def test_they_answer_the_same(home: Path, place: Path, clock: FakeClock) -> None:
    async def tour() -> tuple[object, ...]:
        settings = {"timezone": "UTC"}
        async with await AsyncMemory.open(
            home, settings=settings, background=False, clock=clock
        ) as memory:
            team = await memory.team(place, session="s", channel="panel")
            await team.block()
            await team.save(DOCUMENT)
            await team.update_memory({"updated_memory": f"{DOCUMENT}\n{RIVER}"})
            await team.undo()
            await team.restore(2)
            private = await memory.private(user="mira")
            await private.save(DOCUMENT)
            await private.reset(confirm=1)
            return (
                await team.read(),
                await team.history(),
                await team.diff(1),
                await team.block(),
                await team.prompt(),
                await team.tool("anthropic"),
                await private.read(),
                await private.history(),
            )

    asynchronous = asyncio.run(tour())
    with Memory.open(home, settings={"timezone": "UTC"}, background=False, clock=clock) as memory:
        team, private = memory.team(place, session="s"), memory.private(user="mira")
        assert asynchronous == (
            team.read(),
            team.history(),
            team.diff(1),
            team.block(),
            team.prompt(),
            team.tool("anthropic"),
            private.read(),
            private.history(),
        )
    assert [one.verb for one in asynchronous[1]] == ["save", "save", "restore", "restore"]


@pytest.mark.promise("team.on-disk")
def test_a_workspace_has_one_document_for_all_its_folders_and_users(
    memory: Memory, place: Path, tmp_path: Path
) -> None:
    memory.team(place).save(DOCUMENT)
    assert memory.team(place / "square", user="mira").read().memory_md == "", "no git repository"
    (place / ".git").mkdir()
    (tmp_path / "other").mkdir()
    assert memory.team(place, user="mira").read().memory_md == DOCUMENT
    assert memory.team(tmp_path / "other").read().memory_md == ""
    assert memory.private().read().memory_md == ""


@pytest.mark.parametrize(
    "given",
    [
        {"session": ""},
        {"session": "a\nb"},
        {"user": ""},
        {"user": "../mira"},
        {"channel": ""},
        {"channel": "a b"},
    ],
)
def test_arguments_that_are_wrong(memory: Memory, place: Path, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        memory.team(place, **given)
    with pytest.raises(Invalid):
        memory.private(**given)


@pytest.mark.parametrize("workspace", ["", None, 3, "/nowhere/at/all", "a\0b"])
def test_a_workspace_that_is_none(memory: Memory, workspace: Any) -> None:
    with pytest.raises(Invalid):
        memory.team(workspace)


@pytest.mark.parametrize("given", [{"author": ""}, {"author": "a\nb"}, {"message": ""}])
def test_an_author_that_is_none(memory: Memory, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        memory.private().save(DOCUMENT, **given)
    assert memory.private().read().rev == 0


@pytest.mark.promise("team.many")
def test_threads_save_at_once_over_one_memory_and_over_two(open_memory: Open, place: Path) -> None:
    memories = [open_memory(), open_memory()]
    memories[0].team(place).save(DOCUMENT)
    failed: list[BaseException] = []

    def work(me: int) -> None:
        try:
            team = memories[me % 2].team(place, session=f"s{me}")
            seen, own = team.read(), []
            for n in range(6):
                own.append(f"- 2026-02-{me + 1:02d}: Thread {me} met guest {n}")
                assert team.save("\n".join((seen.memory_md, *own)), base_rev=1).status == "saved"
        except BaseException as error:  # noqa: BLE001 -- told to the test, which fails of it
            failed.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    lines = memories[1].team(place).read().memory_md.splitlines()
    assert len(lines) == 2 + 4 * 6
    assert len(set(lines)) == len(lines)


@pytest.mark.promise("team.roles")
def test_a_viewer_is_refused_by_the_asynchronous_facade_too(home: Path, place: Path) -> None:
    with Memory.open(home, background=False) as memory:
        memory.team(place).save(DOCUMENT)
    (folder,) = home.glob("team/*")
    (folder / "roles.toml").write_text('"*" = "viewer"\n')

    async def tour() -> str:
        async with await AsyncMemory.open(home, background=False) as memory:
            team = await memory.team(place)
            for write in (team.save(f"{DOCUMENT}\n{RIVER}"), team.reset(confirm=1), team.undo()):
                with pytest.raises(Denied, match="viewer"):
                    await write
            return (await team.read()).memory_md

    assert asyncio.run(tour()) == DOCUMENT
