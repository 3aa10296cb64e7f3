"""Behaviours of the offload, each told by what goes in and what must come out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import Open
from tests.domain.lists import Message, calling, chat
from tests.domain.test_insertion import PLACES

from memstrata import Memory
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.domain.window import own_block
from memstrata.offload import OffloadSession
from memstrata.ports import Question

NAME = "openai-compatible:scripted"
WINDOW = 4_000
WIDE = 5_600


def loaf(n: int, crumbs: int = 30) -> str:
    return " ".join(f"crumb{n}x{k}" for k in range(crumbs))


def scored(*scores: int) -> ScriptedModel:
    """A model that gives the results these scores, in order, and knows nothing of tasks."""

    def say(question: Question) -> str:
        if question.purpose == "offload boundary":
            fields = {"taskCompleted": False, "isLongTask": True, "newTaskLabel": "bake-bread"}
            return json.dumps({"boundary": [fields]})
        if question.purpose == "offload graph":
            return json.dumps(
                {"operations": [{"op": "add_node", "label": "Bake", "status": "done"}]}
            )
        items = [
            {"tool_call_id": f"call_{2 * n + 1}", "summary": f"loaf {n}", "score": score}
            for n, score in enumerate(scores)
            if f"[call_{2 * n + 1}]" in question.user
        ]
        return json.dumps({"entries": items})

    return ScriptedModel(say, repeat=True)


def baked(open_memory: Open, *scores: int) -> tuple[Memory, OffloadSession, list[Message]]:
    """A session whose results have these scores, none of them known to the rules."""
    memory = open_memory(model=scored(*scores), settings={"extraction.model": NAME})
    session = memory.offload("bake", window=WIDE)
    messages = chat("U" + "TR" * len(scores), loaf)
    for message in messages:
        if message["role"] == "tool":
            session.record(message["tool_call_id"], "knead", "{}", message["content"])
    session.assemble(messages[:1])
    memory.drain()
    return memory, session, messages


def replaced(messages: list[Any]) -> list[str]:
    return [
        one["tool_call_id"]
        for one in messages
        if str(one.get("content")).startswith("[Offloaded Tool Result | node: 001-N")
    ]


def just_over(session: OffloadSession, messages: list[Message]) -> list[Message]:
    """The list with words behind it until the mild line is passed; the results in the first 70 %."""
    session.assemble(messages)
    while session.report.before < WIDE // 2:
        messages = [*messages, {"role": "assistant", "content": "kneading on and on"}]
        session.assemble(messages)
    return messages


@pytest.mark.promise("case.o1")
def test_o1_replaced_best_first_and_the_lowest_stays(open_memory: Open) -> None:
    scores = [9, 9, 8, *[7] * 8, 3]
    _, session, messages = baked(open_memory, *scores)
    sent = session.assemble(just_over(session, messages))
    found = replaced(sent)
    assert {"call_1", "call_3"} <= set(found)
    assert "call_23" not in found
    assert session.report.after < 0.45 * WIDE


@pytest.mark.promise("case.o1")
def test_o1_low_scores_are_replaced_when_there_is_nothing_better(open_memory: Open) -> None:
    _, session, messages = baked(open_memory, *[2] * 12)
    assert replaced(session.assemble(just_over(session, messages)))


@pytest.mark.promise("case.o2")
def test_o2_a_summary_longer_than_its_result_replaces_nothing(memory: Memory) -> None:
    session = memory.offload("bake", window=1_000)
    messages = chat("U" + "TR" * 20 + "A" * 9, lambda n: "ok")
    sent = session.assemble(messages)
    assert not replaced(sent)
    results = [one["content"] for one in sent if one["role"] == "tool"]
    assert set(results) <= {"ok"}
    assert session.report.before <= session.report.unfolded + 1.2 * session.report.blocks


@pytest.mark.promise("case.o3")
def test_o3_one_prompt_of_twenty_calls_at_twice_the_line(memory: Memory) -> None:
    session = memory.offload("bake", window=WINDOW)
    messages = chat("U" + "TR" * 20, lambda n: loaf(n, 85))
    sent = session.assemble(messages)
    assert len(messages) == 41
    assert session.report.unfolded > 2 * 0.95 * WINDOW
    assert session.report.after < 0.60 * WINDOW
    assert [one for one in sent if one["role"] == "tool"][-4:] == [
        one for one in messages if one["role"] == "tool"
    ][-4:]
    held = {
        key
        for task in session.tasks()
        for _, keys in session.open(task.file).results
        for key in keys
    }
    there = {one["tool_call_id"] for one in sent if one["role"] == "tool"}
    for one in messages:
        if one["role"] == "tool":
            assert one["tool_call_id"] in held | there
            assert session.text(one["tool_call_id"]) == one["content"]


@pytest.mark.promise("case.o5")
def test_o5_a_model_that_marks_only_some_calls(open_memory: Open) -> None:
    """Each result is in exactly one node, whatever the model forgot."""
    _, session, messages = baked(open_memory, *[5] * 9)
    (task,) = session.tasks()
    keys = [key for _, keys in session.open(task.file).results for key in keys]
    assert sorted(keys) == sorted(one["tool_call_id"] for one in messages if one["role"] == "tool")


@pytest.mark.promise("case.o6")
def test_o6_a_dead_end_stays_blocked_and_the_other_way_is_done(memory: Memory) -> None:
    session = memory.offload("bake", window=WINDOW)
    failed = "Traceback (most recent call last):\n  File 'oven.py', line 3\nOSError: oven is cold"
    steps = [
        ("run", {"command": "python oven.py"}, failed),
        ("run", {"command": "make heat"}, "oven is warm, 220 degrees"),
        ("run", {"command": "ls shelf"}, "bread.txt\nrolls.txt\nbuns.txt"),
        ("run", {"command": "cat shelf/bread.txt"}, "a loaf of rye"),
    ]
    messages: list[Message] = [{"role": "user", "content": "Bake the rye loaf in oven.py today"}]
    for n, (name, arguments, result) in enumerate(steps):
        messages.append(calling(f"c{n}", arguments, name))
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": result})
    session.assemble(messages)
    (task,) = session.tasks()
    text = session.open(task.file).text
    lines = {one.split("[")[0].strip(): one for one in text.splitlines() if '["' in one}
    assert "status: blocked" in lines["001-N1"]
    assert "oven is cold" in lines["001-N1"]
    assert all("status: done" in lines[f"001-N{n}"] for n in (2, 3, 4))


@pytest.mark.parametrize("letters", [one for one in PLACES if len(one) > 2])
@pytest.mark.promise("offload.place")
def test_the_block_stands_at_its_place(open_memory: Open, letters: str) -> None:
    """A finished task of another session is told of, so there is a block from the first call on."""
    memory = open_memory()
    before = memory.offload("yesterday", window=WINDOW)
    before.assemble(chat("U" + "TR" * 5))
    sent = memory.offload("today", window=WINDOW).assemble(chat(letters))
    assert [bool(own_block(one)) for one in sent].index(True) == PLACES[letters]
