"""A model extracts: what it says goes through the same gates, and what it costs is written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Memory, ModelFailed
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.ports import Answer, Question

NAME = "openai-compatible:scripted"


def said(memory: Memory, text: str, session: str = "s") -> None:
    memory.session(session).commit([{"role": "user", "content": text, "said_at": "2026-03-10"}])


def proposal(description: str, quote: str, **fields: Any) -> str:
    """An answer with one candidate that quotes the first message."""
    item = {
        "scope": "user",
        "type": "user",
        "name": "note",
        "description": description,
        "confidence": 0.9,
        "entities": [],
        "evidence": [{"message": "m1", "quote": quote}],
    }
    return json.dumps({"candidates": [item | fields]})


def opened(open_memory: Open, model: ScriptedModel, **settings: object) -> Memory:
    return open_memory(model=model, settings={"extraction.model": NAME, **settings})


@pytest.mark.promise("case.m5")
def test_m5_prose_and_a_fence_around_one_good_candidate(open_memory: Open) -> None:
    text = "My flat is on the third floor."
    answer = proposal("Lives on the third floor", "My flat is on the third floor")
    memory = opened(open_memory, ScriptedModel(f"Sure! ```json\n{answer}\n``` Hope that helps"))
    said(memory, text)
    memory.drain()
    (kept,) = memory.list().items
    assert (kept.description, kept.origin, kept.authority) == (
        "Lives on the third floor",
        "extraction",
        "user",
    )
    assert kept.evidence[0].quote == "My flat is on the third floor"
    assert memory.status().extractor.startswith(NAME)
    assert memory.history(kept.id)[0].who == f"extraction:{NAME}"


@pytest.mark.promise("case.m6")
def test_m6_a_model_that_refuses_loses_nothing(open_memory: Open, clock: FakeClock) -> None:
    def refuse(_: Question) -> str:
        raise ModelFailed("the provider is away", reason="server")

    model = ScriptedModel(refuse)
    memory = opened(open_memory, model)
    said(memory, "The spare key is with Odile.")
    done = memory.drain()
    assert done.retrying or done.parked
    assert [hit.content for hit in memory.search("spare key", kinds=("message",))] == [
        "The spare key is with Odile."
    ]
    state = memory.status()
    assert state.waiting == 1
    model.say(proposal("The spare key is with Odile", "The spare key is with Odile"))
    clock.advance(days=1)
    memory.drain()
    assert [one.description for one in memory.list().items] == ["The spare key is with Odile"]
    assert memory.drain().batches == 0
    assert memory.status().waiting == 0


@pytest.mark.promise("case.m7")
def test_m7_what_the_messages_do_not_say_is_refused(open_memory: Open) -> None:
    invented = proposal("Mira marries in June", "Which hose fits a 19 mm tap?")
    memory = opened(open_memory, ScriptedModel(invented))
    said(memory, "Which hose fits a 19 mm tap?")
    memory.drain()
    assert memory.list().items == ()
    (row,) = memory.why().items
    assert (row.verdict.verdict, row.verdict.name) == ("unsupported", "note")


def test_a_candidate_without_its_message_is_malformed_and_the_others_go_on(
    open_memory: Open,
) -> None:
    good = json.loads(proposal("Grows tomatoes", "I grow tomatoes on the balcony"))
    lost = {**good["candidates"][0], "evidence": [{"message": "m9", "quote": "elsewhere"}]}
    answer = json.dumps({"candidates": [lost, good["candidates"][0]]})
    memory = opened(open_memory, ScriptedModel(answer, answer))
    said(memory, "I grow tomatoes on the balcony.")
    memory.drain()
    assert [one.description for one in memory.list().items] == ["Grows tomatoes"]
    assert "malformed" in [row.verdict.verdict for row in memory.why().items]


def test_nothing_worth_keeping_is_an_answer(open_memory: Open) -> None:
    memory = opened(open_memory, ScriptedModel('{"candidates": []}'))
    said(memory, "Which hose fits a 19 mm tap?")
    assert memory.drain().batches == 1
    assert (memory.list().items, memory.status().waiting) == ((), 0)


@pytest.mark.promise("ledger.every-call")
def test_every_call_is_in_the_ledger_and_a_budget_pauses_the_day(
    open_memory: Open, home: Path, clock: FakeClock
) -> None:
    nothing = Answer('{"candidates": []}', "the-model", 90, 10, 0.2)
    model = ScriptedModel(nothing, repeat=True)
    memory = opened(open_memory, model, **{"budget.daily_tokens": 100})
    said(memory, "The first thing I said today.")
    memory.drain()
    (line,) = (home / "ledger").glob("*.jsonl")
    (booked,) = map(json.loads, line.read_text().splitlines())
    assert (booked["purpose"], booked["model"], booked["outcome"]) == (
        "extraction",
        NAME,
        "answered",
    )
    assert "first thing" not in line.read_text()
    assert memory.status().spent["extraction"].tokens == 100
    said(memory, "And then another thing.", "t")
    assert memory.drain().batches == 0
    assert "paused by budget" in memory.status().extractor
    assert memory.status().waiting == 1
    clock.advance(days=1)
    assert memory.drain().batches == 1
    assert memory.status().waiting == 0


def test_a_trial_calls_the_model_and_keeps_nothing(open_memory: Open) -> None:
    item = {"message": "m1", "quote": "I moved to Lisbon in May"}
    answer = proposal("Moved to Lisbon in May", "", evidence=[item])
    memory = opened(open_memory, ScriptedModel(answer))
    found = memory.test_extraction()
    assert (found.ok, found.sample) == (True, ("Moved to Lisbon in May",))
    assert memory.list().items == ()
    assert memory.status().messages == 0


def test_without_a_model_a_trial_says_so(memory: Memory) -> None:
    found = memory.test_extraction()
    assert not found.ok
    assert "extraction.model" in found.problem


def test_a_key_is_shown_by_its_end(open_memory: Open) -> None:
    memory = open_memory(settings={"extraction.api_key": "a-long-enough-key-1234"})
    assert {key: value for key, value, _ in memory.config()}["extraction.api_key"] == "…1234"
