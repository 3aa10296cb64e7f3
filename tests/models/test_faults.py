"""Faults that a model or a power cut once brought about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.models.conftest import Opened
from tests.stub_model import GOOD, Reply, StubModel, candidates, item

from memstrata.adapters.model_scripted import ScriptedModel

NAME = "openai-compatible:scripted"


def noted(message: str, type: str, subject: str = "user") -> str:
    return json.dumps(
        {
            "candidates": [
                {
                    "scope": "user",
                    "type": type,
                    "name": "employer",
                    "confidence": 1.0,
                    "description": "Works at Harrow Tools",
                    "subject": subject,
                    "evidence": [{"message": message, "quote": "work at Harrow Tools"}],
                }
            ]
        }
    )


@pytest.mark.parametrize("type", ["reference", "episodic"])
def test_the_assistant_s_echo_under_another_type_is_no_new_memory(
    type: str, open_memory: Open
) -> None:
    answers = (noted("m1", "user"), noted("m2", type))
    model = ScriptedModel(*answers, '{"decisions": []}', '{"decisions": []}')
    memory = open_memory(model=model, settings={"extraction.model": NAME})
    memory.session("a").commit([{"role": "user", "content": "I work at Harrow Tools."}])
    memory.drain()
    memory.session("b").commit(
        [
            {"role": "user", "content": "What do you know of me?"},
            {"role": "assistant", "content": "You work at Harrow Tools."},
        ]
    )
    memory.drain()
    assert len(memory.list().items) == 1


def test_the_same_words_with_the_default_subject_are_no_new_memory(open_memory: Open) -> None:
    """The rules name a subject (here the project's), a model leaves it out: it is `user` then."""
    with open_memory() as memory:
        memory.session("a").commit([{"role": "user", "content": "Please always answer in French."}])
        memory.drain()
        (before,) = memory.list().items
    answer = {
        "scope": "user",
        "type": "feedback",
        "name": "language",
        "confidence": 0.9,
        "description": before.description,
        "body": "**Why:** so",
        "evidence": [{"message": "m1", "quote": "always answer in French"}],
    }
    model = ScriptedModel(json.dumps({"candidates": [answer]}), '{"decisions": []}')
    memory = open_memory(model=model, settings={"extraction.model": NAME})
    memory.session("b").commit([{"role": "user", "content": "As I said, always answer in French."}])
    memory.drain()
    assert [one.id for one in memory.list(status="active").items] == [before.id]


def test_thinking_that_was_cut_off_is_no_answer(endpoint: StubModel, with_model: Opened) -> None:
    draft = candidates(item(description="The user prefers coffee to tea", slot=""))
    endpoint.say(Reply(f"<think>First thought: {draft} but no,", finish="length"), candidates(GOOD))
    memory = with_model()
    memory.session("s").commit([{"role": "user", "content": "I prefer tea to coffee."}])
    memory.drain()
    assert [one.description for one in memory.list().items] == ["The user prefers tea to coffee"]


@pytest.mark.parametrize("garbage", [b"\0" * 40 + b"\n", b"{}\n", b"[1]\n", b'{"purpose": 1\n'])
def test_a_ledger_line_that_a_power_cut_left_breaks_nothing(
    garbage: bytes, open_memory: Open, home: Path
) -> None:
    model = ScriptedModel(candidates(), repeat=True)
    settings = {"extraction.model": NAME, "budget.daily_tokens": 1_000}
    memory = open_memory(model=model, settings=settings)
    memory.session("a").commit([{"role": "user", "content": "I work at Harrow Tools."}])
    memory.drain()
    (shard,) = (home / "ledger").glob("*.jsonl")
    shard.write_bytes(garbage + shard.read_bytes())
    memory.session("b").commit([{"role": "user", "content": "I live in Graz."}])
    assert memory.drain().batches == 1
    assert memory.status().spent["extraction"].calls == 2
    assert memory.doctor()
