"""What we injected comes back, said again or pasted, round after round: nothing grows from it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.faults.oracle import rows_of

from memstrata import Memory
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.domain.memory import Memory as Kept
from memstrata.ports import Question

ROUNDS: Final = 10
SAID: Final = (
    "I work at Harrow Tools.",
    "I prefer mint tea to coffee.",
    "Please always answer in French.",
    "We decided to use Postgres for the billing service.",
    "我对花生过敏。",
)
ASKED: Final = "Which tea do I prefer, and what does Harrow Tools make?"
_SHOWN: Final = re.compile(r"^\[(m\d+)\] (\w+)[^:\n]*: (.*(?:\n    .*)*)", re.MULTILINE)
_LINE: Final = re.compile(r"^- \[[\w.]+\] [^:：\n]*[:：] ?", re.MULTILINE)

Form = Callable[[str], str]


def _lines(context: str) -> str:
    return "\n".join(line for line in context.splitlines() if line.startswith("- "))


WHOLE: Final[dict[str, Form]] = {
    "as it is": lambda context: context,
    "behind words": lambda context: f"This is what I was told: {context}",
    "in a code block": lambda context: f"```\n{context}\n```",
    "with Windows' line ends": lambda context: context.replace("\n", "\r\n"),
}
"""Ways in which a block comes back as one."""

IN_PARTS: Final[dict[str, Form]] = {
    "line by line": _lines,
    "quoted": lambda context: "\n".join(f"> {line}" for line in context.splitlines()),
    "in prose": lambda context: "So: " + ". ".join(_LINE.sub("", _lines(context)).splitlines()),
}
"""Ways in which only its words come back."""

FORMS: Final = WHOLE | IN_PARTS


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A project's folder."""
    (tmp_path / "billing").mkdir()
    return tmp_path / "billing"


@pytest.fixture
def seeded(open_memory: Open, workspace: Path) -> list[Kept]:
    """What is remembered before the first round."""
    with open_memory() as memory:
        for number, text in enumerate(SAID):
            memory.session("seed", workspace=workspace).commit(
                [{"role": "user", "content": text, "said_at": f"2026-01-{number + 10}"}]
            )
        memory.drain()
        found = list(valid(memory))
    assert len(found) == len(SAID)
    return found


def valid(memory: Memory) -> Iterator[Kept]:
    """Every memory there is."""
    for key in memory._world.store.keys("local"):
        yield from (row.memory for row in rows_of(memory._world, key))


def state(memory: Memory) -> set[tuple[object, ...]]:
    """All of a memory that echoes could move; sources may come to it."""
    return {
        (
            *(one.id, one.version, one.type, one.name, one.description, one.body),
            *(one.confidence, one.priority, one.authority, one.updated_at, one.invalid_at),
        )
        for one in valid(memory)
    }


def rounds(memory: Memory, workspace: Path, clock: FakeClock, form: Form, who: str) -> None:
    """Ten turns in which `who` brings the context back; fails when anything moved."""
    chat = memory.session("chat", workspace=workspace)
    before = state(memory)
    stable = chat.recall(ASKED).stable
    for number in range(ROUNDS):
        context = chat.recall(ASKED)
        assert context.stable == stable
        back = form(f"{context.stable}\n{context.turn}".strip())
        user, assistant = (ASKED, back) if who == "assistant" else (f"{back}\n{ASKED}", "I see.")
        chat.commit(
            [
                {"role": "user", "content": user, "id": f"u{number}"},
                {"role": "assistant", "content": assistant, "id": f"a{number}"},
            ]
        )
        clock.advance(hours=1)
        memory.drain()
        assert state(memory) == before, f"round {number + 1}"
    assert memory.status().waiting == 0


def echo(known: list[Kept]) -> Callable[[Question], str]:
    """A model that notes each memory's words again wherever they come back, surer and more important."""

    def answer(question: Question) -> str:
        return json.dumps(
            {
                "candidates": [
                    _noted(one, id)
                    for id, _, text in _SHOWN.findall(question.user)
                    for one in known
                    if one.description in text
                ]
            }
        )

    return answer


def _noted(one: Kept, message: str) -> dict[str, Any]:
    return {
        "scope": one.key.scope,
        "type": one.type,
        "name": one.name,
        "description": one.description,
        "subject": one.subject,
        "slot": one.slot,
        "confidence": 1.0,
        "priority": 100,
        "evidence": [{"message": message, "quote": one.description}],
        "body": "**Why:** it was said again" if one.type in ("feedback", "project") else "",
    }


@pytest.mark.promise("context.own-words")
@pytest.mark.parametrize("who", ["assistant", "user"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_rules_make_nothing_of_it(
    form: Form,
    who: str,
    seeded: list[Kept],
    open_memory: Open,
    workspace: Path,
    clock: FakeClock,
) -> None:
    rounds(open_memory(), workspace, clock, form, who)


@pytest.mark.promise("context.own-words")
@pytest.mark.promise("evolve.confidence")
@pytest.mark.parametrize("who", ["assistant", "user"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_model_that_notes_it_again_makes_nothing_of_it(
    form: Form,
    who: str,
    seeded: list[Kept],
    open_memory: Open,
    workspace: Path,
    clock: FakeClock,
) -> None:
    model = ScriptedModel(echo(seeded), repeat=True)
    memory = open_memory(model=model, settings={"extraction.model": "openai-compatible:echo"})
    rounds(memory, workspace, clock, form, who)
    verdicts = memory.status().verdicts
    assert set(verdicts) <= {"add", "noop", "authority"}
    echoed = sum(verdicts.values()) - len(SAID)
    assert echoed == 0 if form in WHOLE.values() else echoed >= ROUNDS


@pytest.mark.promise("gate.authority")
def test_a_greeting_makes_nothing_the_user_s_that_the_assistant_said(open_memory: Open) -> None:
    says = {"role": "assistant", "content": "You work at Harrow Tools, as I was told."}

    def answer(question: Question) -> str:
        shown = _SHOWN.findall(question.user)
        evidence = [{"message": id, "quote": text} for id, _, text in shown]
        item = {
            "scope": "user",
            "type": "user",
            "name": "employer",
            "confidence": 1.0,
            "description": "Works at Harrow Tools",
            "evidence": evidence,
        }
        return json.dumps({"candidates": [item]})

    memory = open_memory(
        model=ScriptedModel(answer, repeat=True),
        settings={"extraction.model": "openai-compatible:echo"},
    )
    for session, others in {
        "before": [{"role": "user", "content": "Hello there, good morning!"}, says],
        "after": [says, {"role": "user", "content": "What is the weather in the mountains today?"}],
        "asked": [{"role": "user", "content": "Where do I work? At Harrow Tools?"}, says],
    }.items():
        memory.session(session).commit(others)
        memory.drain()
        (row,) = memory.why(session=session).items
        assert row.verdict.verdict == "authority"
    for session, yes in {
        "yes": "Yes, since May.",
        "both": "I do work there.",
        "zh": "对。",
    }.items():
        memory.session(session).commit([says, {"role": "user", "content": yes}])
        memory.drain()
        (row,) = memory.why(session=session).items
        assert row.verdict.verdict in ("add", "noop")
    assert [one.authority for one in memory.list().items] == ["user"]
