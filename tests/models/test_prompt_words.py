"""What stands in the prompts never becomes a memory, however a model proposes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final

import pytest
from tests.conftest import Open
from tests.stub_model import candidates

from memstrata import Memory
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.domain.memory import MAX_BODY, TYPES
from memstrata.prompts.template import load

SAID: Final = "The shutters of our shop squeak whenever the wind turns."
PROMPTS: Final = sorted(
    file.name.removesuffix(".md")
    for file in files("memstrata.prompts").iterdir()
    if file.name.endswith(".md")
)
_EXAMPLE: Final = re.compile(r'"([^"\n]{4,})"|`([^`\n]{4,})`|\(([^()\n]{4,})\)')
_SENTENCE: Final = re.compile(r"(?<=[.:;])\s+")
_AT_ONCE: Final = 40
"""Candidates in one answer."""


def texts(id: str) -> list[str]:
    """Each line of a prompt, each sentence and each example that stands in one."""
    prompt = load(id)
    found: dict[str, None] = {}
    for line in f"{prompt.system}\n{prompt.user}".splitlines():
        bare = line.strip().removeprefix("- ")
        examples = [next(filter(None, match)) for match in _EXAMPLE.findall(line)]
        found |= dict.fromkeys((bare, *_SENTENCE.split(bare), *examples))
    return [text[:MAX_BODY] for text in found if re.search(r"\w", text)]


def proposed(text: str, quote: str) -> Iterator[dict[str, Any]]:
    """A candidate of each type that says `text`."""
    for type in TYPES:
        yield {
            "scope": "user",
            "type": type,
            "name": text[:40],
            "description": text,
            "confidence": 1.0,
            "priority": 100,
            "body": text,
            "entities": [],
            "evidence": [{"message": "m1", "quote": quote}],
        }


def kept(open_memory: Open, items: list[dict[str, Any]]) -> list[str]:
    """What is remembered of the items, a few in each answer."""
    groups = [items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE)]
    model = ScriptedModel(*(candidates(*group) for group in groups))
    memory: Memory = open_memory(
        model=model, settings={"extraction.model": "openai-compatible:parrot"}
    )
    for number, _ in enumerate(groups):
        memory.session(f"chat {number}").commit([{"role": "user", "content": SAID}])
    assert memory.drain().batches == len(groups)
    assert sum(memory.status().verdicts.values()) == len(items)
    return [one.description for one in memory.list(limit=1_000).items]


@pytest.mark.promise("prompt.never-memory")
@pytest.mark.promise("gate.support")
@pytest.mark.parametrize("id", PROMPTS)
def test_a_prompt_s_words_quoted_as_if_they_had_been_said(id: str, open_memory: Open) -> None:
    said = texts(id)
    assert len(said) >= 3
    assert kept(open_memory, [one for text in said for one in proposed(text, text)]) == []


@pytest.mark.promise("gate.support")
def test_a_prompt_s_words_with_true_words_as_their_quote(open_memory: Open) -> None:
    said = [
        text for id in ("extract", "repair") for text in texts(id) if len(text.strip(" .:;")) >= 8
    ]
    assert len(said) > 60
    assert kept(open_memory, [one for text in said for one in proposed(text, SAID)]) == []
