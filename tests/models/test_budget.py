"""The day's budget is spent in the middle of what waits."""

from __future__ import annotations

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.ports import Answer

NAME = "openai-compatible:scripted"


@pytest.mark.promise("ledger.every-call")
@pytest.mark.parametrize("sessions", ["one", "many"])
def test_a_budget_that_is_spent_half_way_pauses_there(
    sessions: str, open_memory: Open, clock: FakeClock
) -> None:
    model = ScriptedModel(Answer('{"candidates": []}', NAME, 90, 10, 0.2), repeat=True)
    memory = open_memory(
        model=model,
        settings={
            "extraction.model": NAME,
            "extraction.batch_tokens": 100,
            "budget.daily_tokens": 150,
        },
    )

    def say(number: int) -> None:
        session = "chat" if sessions == "one" else f"chat {number}"
        text = f"Thing {number}. " + "The mill turns. " * 40
        memory.session(session).commit([{"role": "user", "content": text}])

    for number in range(4):
        say(number)
    memory.drain()
    assert len(model.questions) == 2
    status = memory.status()
    assert "paused by budget, 200/150" in status.extractor
    assert (status.waiting, status.parked, status.retrying) == (2, (), ())
    say(4)
    memory.drain()
    assert (memory.status().messages, memory.status().waiting) == (5, 3)
    clock.advance(days=1)
    memory.drain()
    assert len(model.questions) == 4
    assert memory.status().waiting == 1
    clock.advance(days=1)
    memory.drain()
    assert (len(model.questions), memory.status().waiting) == (5, 0)
    asked = [question.user for question in model.questions]
    assert [f"Thing {n}." in text for n, text in enumerate(asked)] == [True] * 5
