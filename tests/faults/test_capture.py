"""What is captured and what is not: switched off, excluded, ours, said again, said at an unknown time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.faults.oracle import faults
from tests.faults.works import messages

from memstrata import Memory
from memstrata.errors import Denied

Open = Callable[..., Memory]

OFF = {"memory.enabled": False}
TEA: dict[str, object] = {"role": "user", "content": "I prefer mint tea.", "id": "m1"}


def commit(memory: Memory, *turn: dict[str, object], session: str = "s") -> tuple[str, ...]:
    """The ids that were stored."""
    return memory.session(session).commit(turn).stored


@pytest.mark.promise("memory.off")
def test_switched_off_nothing_is_stored_extracted_or_told(open_memory: Open) -> None:
    memory = open_memory()
    memory.add(name="mill", description="stands by the river")
    commit(memory, TEA)
    files = _files(memory.home)
    memory.close()

    off = open_memory(settings=OFF)
    done = off.session("s").commit([{"role": "user", "content": "I prefer coffee.", "id": "m2"}])
    assert (done.stored, done.existing) == ((), ())
    assert "switched off" in done.warnings[0]
    assert off.drain().batches == 0
    context = off.session("s").recall("tea")
    assert (context.status, context.stable, context.turn) == ("disabled", "", "")
    reads: list[Callable[[], object]] = [
        lambda: off.search("tea"),
        lambda: off.search_conversations("tea"),
        lambda: off.get("mem_none"),
        off.list,
        lambda: off.history("mem_none"),
        lambda: off.trace("m1"),
        off.why,
    ]
    for read in reads:
        with pytest.raises(Denied, match="switched off"):
            read()
    assert not off.status().enabled
    assert off.status().waiting == 1, "the job waits"
    off.close()
    assert _files(off.home) == files, "nothing is deleted"

    again = open_memory()
    assert again.drain().messages == 1
    assert [one.description for one in again.list().items if one.origin == "extraction"]
    assert [id for _, id, _ in messages(again)] == ["m1"]
    assert commit(again, {"role": "user", "content": "I prefer coffee.", "id": "m2"}) == ("m2",)
    assert faults(again) == []


def _files(home: Path) -> dict[str, bytes]:
    return {
        str(file): file.read_bytes()
        for file in home.rglob("*")
        if file.is_file() and file.suffix in (".md", ".jsonl")
    }


@pytest.mark.promise("memory.off")
def test_switched_off_the_log_may_go_on(open_memory: Open) -> None:
    off = open_memory(settings={**OFF, "capture.when_disabled": True})
    assert commit(off, TEA) == ("m1",)
    assert off.drain().batches == 0
    off.close()
    memory = open_memory()
    assert memory.drain().messages == 1
    assert faults(memory) == []


@pytest.mark.promise("extract.fallback-none")
def test_without_an_extractor_jobs_wait(open_memory: Open) -> None:
    none = open_memory(settings={"extraction.fallback": "none"})
    commit(none, TEA)
    assert none.drain().batches == 0
    assert none.status().waiting == 1
    none.close()
    assert open_memory().drain().batches == 1


@pytest.mark.promise("l0.excluded")
@pytest.mark.parametrize("session", ["private", "private-1", "memstrata-worker", "memstrata-"])
def test_sessions_that_are_never_captured(open_memory: Open, session: str) -> None:
    memory = open_memory(settings={"capture.exclude": ["private*"]})
    done = memory.session(session).commit([TEA])
    assert (done.stored, done.existing) == ((), ())
    assert session in done.warnings[0]
    assert messages(memory) == []
    assert not (memory.home / "conversations").exists()
    assert commit(memory, TEA, session="memstrata") == ("m1",)
    assert commit(memory, TEA, session="Private") == ("m1",)


@pytest.mark.promise("l0.idempotent")
def test_a_turn_said_again_is_stored_once_across_restarts(open_memory: Open) -> None:
    turn: list[dict[str, object]] = [
        {"role": "user", "content": "The mill has doors."},
        {"role": "user", "content": "The mill has doors."},
        {"role": "assistant", "content": "Noted.", "id": "a1"},
    ]
    memory = open_memory()
    first = memory.session("s").commit(turn)
    assert len(set(first.stored)) == 3
    for _ in range(2):
        memory.close()
        memory = open_memory()
        again = memory.session("s").commit(turn)
        assert (again.stored, again.warnings) == ((), ())
        assert set(again.existing) == set(first.stored)
    assert len(messages(memory)) == 3
    assert commit(memory, *turn, session="other")
    assert faults(memory) == []


@pytest.mark.promise("l0.idempotent")
@pytest.mark.parametrize("at_once", [True, False])
def test_one_id_with_two_texts_keeps_the_first_and_says_so(memory: Memory, at_once: bool) -> None:
    other = {**TEA, "content": "I prefer coffee."}
    turns = [[TEA, other]] if at_once else [[TEA], [other]]
    done = [memory.session("s").commit(turn) for turn in turns]
    assert [id for one in done for id in one.stored] == ["m1"]
    (warning,) = done[-1].warnings
    assert "m1" in warning
    assert "first was kept" in warning
    assert messages(memory) == [("s", "m1", "I prefer mint tea.")]
    assert faults(memory) == []


def test_the_same_id_in_another_session_is_another_message(memory: Memory) -> None:
    assert commit(memory, TEA) == ("m1",)
    assert commit(memory, {**TEA, "content": "Other words."}, session="t") == ("m1",)
    assert len(messages(memory)) == 2


@pytest.mark.promise("times.three")
def test_a_time_that_is_not_known_stays_unknown(memory: Memory) -> None:
    commit(memory, TEA, {**TEA, "id": "m2", "content": "I live in Lyon.", "said_at": "2025-02-03"})
    memory.drain()
    memory.reindex()
    unknown, known = (memory.trace(id).message for id in ("m1", "m2"))
    assert unknown is not None
    assert unknown.said_at is None
    assert known is not None
    assert known.said_at == datetime(2025, 2, 3, tzinfo=UTC)
    said = {one.said_at for one in memory.list().items}
    assert said == {None, datetime(2025, 2, 3, tzinfo=UTC)}
    assert faults(memory) == []


@pytest.mark.promise("l0.verbatim")
def test_what_we_injected_does_not_come_back(memory: Memory) -> None:
    memory.add(name="mill", description="The mill stands by the river")
    context = memory.session("s").recall("Where is the mill?")
    assert context.stable
    said = f"{context.stable}\n{context.turn}\nI prefer mint tea."
    commit(memory, {"role": "user", "content": said, "id": "m9"})
    ((_, _, kept),) = messages(memory)
    assert kept.strip() == "I prefer mint tea."
