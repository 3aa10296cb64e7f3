"""Processes that are killed while a model extracts: `tests.faults.child` with works of its own.

The model is a script that answers by what it is shown, so that a batch done again comes to the same.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.faults import child
from tests.faults.works import LAYERED, SETTINGS, WORKS, Say

from memstrata import Memory
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.ports import Answer, Question

NAME: Final = "openai-compatible:scripted"
TURNS: Final = (
    ("work", "2025-01-10", "I work at Harrow Tools."),
    ("food", "2025-01-11", "I prefer mint tea."),
    ("work", "2025-02-10", "The spare key is with Odile."),
    ("work", "2025-03-10", "I work at Brightwater now."),
    ("food", "2025-03-11", "I prefer mint tea, best from the garden."),
)
LATER: Final = ("work", "2025-04-10", "I live in Graz.")
NOTES: Final[dict[str, dict[str, Any]]] = {
    "I work at Harrow Tools": {"slot": "employer", "entities": ["Harrow Tools"]},
    "I work at Brightwater": {"slot": "employer", "entities": ["Brightwater"]},
    "I prefer mint tea": {"slot": "preferred drink"},
    "The spare key is with Odile": {"entities": ["Odile"]},
    "I live in Graz": {"slot": "home"},
}
"""What the model notes, by the words that say it."""
QUESTIONS: Final = 4
"""How many a work asks at least."""
_SHOWN: Final = re.compile(r"^\[(m\d+)\] user[^:\n]*: (.*)", re.MULTILINE)
_TOLD: Final = re.compile(r"^\[(k\d+)\] (.*?) \(", re.MULTILINE)
"""A memory as a question about scenes or persona shows it."""
_WEIGHED: Final = re.compile(r"^candidate (\d+): .*\n    \[(\w+)\]", re.MULTILINE)


def answer(question: Question) -> Answer:
    """Each fact that is shown, with its words; of two that are alike the new one is the better."""
    if "decisions" in question.schema["properties"]:  # type: ignore[operator]
        rulings = [
            {"candidate": int(number), "decision": "update", "target": target, "reason": "newer"}
            for number, target in _WEIGHED.findall(question.user)
        ]
        return Answer(json.dumps({"decisions": rulings}), "scripted", 100, 10, 0.1)
    items = [
        {
            "scope": "user",
            "type": "user",
            "name": note.get("slot", words[:20]),
            "description": words,
            "confidence": 0.9,
            "scene": "settling in",
            **note,
            "evidence": [{"message": id, "quote": words}],
        }
        for id, text in _SHOWN.findall(question.user)
        for words, note in NOTES.items()
        if words in text
    ]
    return Answer(json.dumps({"candidates": items}), "scripted", 100, 10, 0.1)


def telling(question: Question) -> Answer:
    """As `answer`; each memory is a scene of its own, and a line of the persona."""
    shown = _TOLD.findall(question.user)
    match question.purpose:
        case "scenes":
            found = [*(_written(id, words) for id, words in shown), {"do": "done"}]
            return Answer(json.dumps({"operations": found}), "scripted", 100, 10, 0.1)
        case "persona":
            lines = [{"layer": "facts", "text": words, "cites": [id]} for id, words in shown]
            return Answer(json.dumps({"lines": lines}), "scripted", 100, 10, 0.1)
        case _:
            return answer(question)


def _written(id: str, words: str) -> dict[str, str]:
    text = f"---\nsummary: {words}\n---\n\n{words} <!-- {id} -->"
    return {"do": "write", "file": words.replace(" ", "-"), "content": text}


def opened(home: Path, asked: Callable[[Question], Answer] = answer, **given: object) -> Memory:
    """The home with that model, and batches of a message or two."""
    settings = {**SETTINGS, "extraction.model": NAME, "extraction.batch_tokens": 100, **given}
    model = ScriptedModel(asked, repeat=True)
    return Memory.open(home, settings=settings, background=False, model=model)


def commit(memory: Memory, say: Say, *turns: tuple[str, str, str]) -> None:
    """Turns, each too long for a batch with another."""
    for session, day, text in turns:
        filler = "Noted. " * 40
        memory.session(session).commit(
            [
                {"role": "user", "content": text, "id": f"u {text}", "said_at": day},
                {"role": "assistant", "content": filler, "id": f"a {text}"},
            ]
        )
        say(f"message u {text}")


def prepare(home: Path) -> None:
    """The turns that wait."""
    with opened(home) as memory:
        commit(memory, lambda _: None, *TURNS)


def work(home: Path, say: Say, asked: Callable[[Question], Answer] = answer) -> None:
    """Extract what waits, say one thing more, extract that."""
    with opened(home, asked) as memory:
        memory.drain()
        say("drained")
        say("later")  # from here on something may wait again
        commit(memory, say, LATER)
        memory.drain()
        say("drained")


def told(home: Path, say: Say, asked: Callable[[Question], Answer] = telling) -> None:
    """Extract what waits and tell it in scenes and persona, say one thing more, tell that."""
    with opened(home, asked, **LAYERED) as memory:
        memory.drain()
        say("drained")
        say("later")
        commit(memory, say, LATER)
        memory.drain()
        say("drained")


def _killed_telling(number: int, home: Path, say: Say) -> None:
    """`told`, killed while the model answers that question about scenes or persona."""
    left = iter(range(number - 1, -1, -1))

    def asked(question: Question) -> Answer:
        if question.purpose in ("scenes", "persona") and not next(left):
            os.kill(os.getpid(), signal.SIGKILL)
        return telling(question)

    told(home, say, asked)


def _killed_at(number: int, home: Path, say: Say) -> None:
    """`work`, killed while the model answers the question of that number."""
    left = iter(range(number - 1, -1, -1))

    def asked(question: Question) -> Answer:
        if not next(left):
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(question)

    work(home, say, asked)


TOLD: Final = 3
"""How many questions about scenes and persona `told` asks at least."""
WORKS["model"] = work
WORKS["told"] = told
WORKS |= {f"told, question {n}": partial(_killed_telling, n) for n in range(1, TOLD + 1)}
WORKS |= {f"model, question {n}": partial(_killed_at, n) for n in range(1, QUESTIONS + 1)}

if __name__ == "__main__":
    match sys.argv[1:]:
        case ["one", name, home]:
            WORKS[name](Path(home), child._say)
        case _:
            child._serve()
