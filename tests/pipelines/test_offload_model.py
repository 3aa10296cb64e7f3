"""A model summarises, judges and maps in the background; whatever it does not say, the rules do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.conftest import Open
from tests.domain.lists import Message, chat
from tests.doubles import FakeClock

from memstrata import Memory, ModelFailed
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.errors import MemstrataError
from memstrata.offload import OffloadSession
from memstrata.ports import Question

NAME = "openai-compatible:scripted"
Said = Callable[[Question], dict[str, Any] | MemstrataError]


def crumbs(n: int) -> str:
    return " ".join(f"crumb{n}x{k}" for k in range(40))


def boundary(**fields: Any) -> dict[str, Any]:
    given = {"taskCompleted": False, "isLongTask": True, "newTaskLabel": "bake-rye", **fields}
    return {"boundary": [given]}


class Baker:
    """Answers by purpose, in order, the last answer again and again; notes what it was asked."""

    def __init__(self, **answers: list[Said]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.model = ScriptedModel(self.say, repeat=True)

    def say(self, question: Question) -> str | MemstrataError:
        name = question.purpose.removeprefix("offload ")
        self.asked.append(name)
        waiting = self.answers[name]
        answer = (waiting.pop(0) if len(waiting) > 1 else waiting[0])(question)
        return answer if isinstance(answer, MemstrataError) else json.dumps(answer)


def told(question: Question, ids: list[str], score: int = 9) -> dict[str, Any]:
    shown = [id for id in ids if f"[{id}]" in question.user]
    return {
        "entries": [{"tool_call_id": id, "summary": f"about {id}", "score": score} for id in shown]
    }


def opened(open_memory: Open, baker: Baker, **settings: object) -> tuple[Memory, OffloadSession]:
    memory = open_memory(model=baker.model, settings={"extraction.model": NAME, **settings})
    return memory, memory.offload("bake", window=4_000)


def ids(messages: list[Message]) -> list[str]:
    return [str(one["tool_call_id"]) for one in messages if one["role"] == "tool"]


def mapped(question: Question) -> dict[str, Any]:
    """One node for the first call that is shown, and no word of the others."""
    return {
        "operations": [{"op": "add_node", "label": "Knead", "status": "doing", "calls": ["call_1"]}]
    }


@pytest.mark.promise("offload.model")
def test_summaries_come_in_batches_and_a_forgotten_one_is_asked_for_again(
    open_memory: Open,
) -> None:
    messages = chat("U" + "TR" * 7, crumbs)
    names = ids(messages)
    baker = Baker(
        boundary=[lambda _: boundary()],
        summaries=[lambda q: told(q, names[:3]), lambda q: told(q, names)],
        graph=[mapped],
    )
    memory, session = opened(open_memory, baker)
    session.assemble(messages)
    assert baker.asked == []  # nobody waits for a model
    memory.drain()
    assert baker.asked == ["boundary", "summaries", "summaries", "summaries", "graph"]
    (task,) = session.tasks()
    assert task.file == "001-bake-rye.mmd"
    opened_task = session.open(task.file)
    assert opened_task.results == (("001-N1", tuple(names)),)
    assert "status: doing" in opened_task.text
    kept = session._host.standing
    assert kept is not None
    assert [one.entry.summary for one in kept.session.kept] == [f"about {id}" for id in names]
    assert not memory.status().parked
    assert {"offload boundary", "offload summaries", "offload graph"} == set(memory.status().spent)


@pytest.mark.promise("offload.model")
def test_a_pair_that_is_never_answered_keeps_the_words_of_the_rules(open_memory: Open) -> None:
    messages = chat("U" + "TR" * 4, crumbs)
    names = ids(messages)
    baker = Baker(
        boundary=[lambda _: boundary()],
        summaries=[
            lambda q: {"entries": [{"tool_call_id": "call_none", "summary": "?", "score": 1}]}
        ],
        graph=[mapped],
    )
    memory, session = opened(open_memory, baker)
    session.assemble(messages)
    memory.drain()
    assert baker.asked.count("summaries") == 2
    session.assemble(messages)
    kept = session._host.standing
    assert kept is not None
    assert all("1 line" in one.entry.summary and not one.pending for one in kept.session.kept)
    assert len(names) == len(kept.session.kept)


@pytest.mark.promise("offload.model")
def test_a_model_that_fails_for_good_leaves_it_to_the_rules(
    open_memory: Open, clock: FakeClock
) -> None:
    baker = Baker(
        boundary=[lambda _: ModelFailed("gone", reason="timeout")],
        summaries=[lambda _: ModelFailed("gone", reason="timeout")],
        graph=[lambda _: ModelFailed("gone", reason="timeout")],
    )
    memory, session = opened(open_memory, baker, **{"extraction.max_tries": 2})
    messages = chat("U" + "TR" * 5, crumbs)
    session.assemble(messages)
    for _ in range(3):
        memory.drain()
        clock.advance(hours=2)
    (task,) = session.tasks()
    held = [key for _, keys in session.open(task.file).results for key in keys]
    assert held == ids(messages)
    assert session.assemble(messages)


@pytest.mark.promise("offload.model")
def test_a_judgement_moves_the_task(open_memory: Open) -> None:
    baker = Baker(
        boundary=[
            lambda _: boundary(),
            lambda _: boundary(taskCompleted=True, newTaskLabel="Glaze The Buns!"),
        ],
        summaries=[lambda q: told(q, [f"call_{n}" for n in range(99)])],
        graph=[mapped],
    )
    memory, session = opened(open_memory, baker)
    first = chat("U" + "TR" * 4, crumbs)
    session.assemble(first)
    memory.drain()
    both = [*first, {"role": "user", "content": "Now glaze the buns"}]
    session.assemble(both)
    memory.drain()
    sent = session.assemble(both)
    assert {one.file for one in session.tasks()} == {"001-bake-rye.mmd", "002-glaze-the-buns.mmd"}
    assert "- 001-bake-rye.mmd" in str(sent)


def test_none_asks_nobody(open_memory: Open) -> None:
    baker = Baker()
    memory, session = opened(open_memory, baker, **{"offload.model": "none"})
    session.assemble(chat("U" + "TR" * 5, crumbs))
    memory.drain()
    assert baker.asked == []
    assert len(session.tasks()) == 1
