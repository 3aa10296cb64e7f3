"""A small real language model extracts. What it says is its own affair; what is made of it is ours.

It needs the package `xllamacpp` and a GGUF file that `$REAL_MODEL_GGUF` names; the minutes that it
takes are the model's. How well one does: bench/real_model.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from bench import real_model
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Memory
from memstrata.domain.plan import VERDICTS
from memstrata.pipelines.read import Record

_LACK: Final = real_model.missing(real_model.model_file())
_FIGURE: Final = re.compile(r"\d+")
_TURNS: Final = 3
"""Of each conversation: enough for a name, a taboo and a rule."""
_LATER: Final = datetime(2026, 4, 1, 9, tzinfo=UTC)

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.timeout(3_600),
    pytest.mark.skipif(bool(_LACK), reason=_LACK),
]

TALKS: Final = {
    "english": list(real_model.messages(real_model.ENGLISH.first))[:_TURNS],
    "chinese": list(real_model.messages(real_model.CHINESE.first))[:_TURNS],
    "chit-chat": list(real_model.messages(real_model.EMPTY)),
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The endpoint of the model, one for all tests: loading it takes a while."""
    file = real_model.model_file()
    assert file is not None
    with real_model.serving(file) as served:
        yield served


@pytest.fixture
def real(url: str, open_memory: Open, clock: FakeClock) -> Memory:
    """A fresh home whose settings name the model."""
    clock.set(_LATER)
    return open_memory(
        settings={
            "extraction.model": real_model.NAME,
            "extraction.base_url": url,
            "extraction.deadline_seconds": real_model.DEADLINE,
        }
    )


@pytest.mark.parametrize("name", TALKS)
def test_whatever_the_model_says_the_promises_hold(name: str, real: Memory, home: Path) -> None:
    session = real.session(name)
    for turn in TALKS[name]:
        session.commit(turn)
    real.drain()
    said = [message for turn in TALKS[name] for message in turn]
    every_message_is_there(real, said)
    every_call_is_booked(real, home)
    the_state_is_sane(real)
    for kept in real.list(limit=500).items:
        it_was_said(kept, said)


def every_message_is_there(memory: Memory, said: list[dict[str, str]]) -> None:
    """In L0, word for word."""
    assert memory.status().messages == len(said)
    for message in said:
        found = memory.search_conversations(message["content"], limit=20)
        assert message["content"] in [hit.content for hit in found]


def every_call_is_booked(memory: Memory, home: Path) -> None:
    """With its tokens and how it ended, and without a word of what was said."""
    lines = [
        json.loads(line)
        for file in (home / "ledger").glob("*.jsonl")
        for line in file.read_text("utf-8").splitlines()
    ]
    assert lines
    for line in lines:
        assert line["model"] == real_model.NAME
        assert line["outcome"] != "answered" or min(line["tokens_in"], line["tokens_out"]) > 0
    spent = memory.status().spent
    assert sum(one.calls for one in spent.values()) == len(lines)
    assert sum(one.tokens for one in spent.values()) == sum(
        line["tokens_in"] + line["tokens_out"] for line in lines
    )


def the_state_is_sane(memory: Memory) -> None:
    """Nothing waits unseen; every verdict is one of the known, and what was kept can be read."""
    state = memory.status()
    assert state.extractor.startswith(real_model.NAME)
    assert state.waiting == 0 or state.retrying or state.parked
    assert all(check.ok for check in memory.doctor() if check.name != "extraction")
    verdicts = [row.verdict for row in memory.why(limit=500).items]
    assert state.verdicts == {
        name: sum(one.verdict == name for one in verdicts)
        for name in {one.verdict for one in verdicts}
    }
    assert {one.verdict for one in verdicts} <= set(VERDICTS)
    for one in verdicts:
        assert one.gate or memory.get(one.memory).id == one.memory


def it_was_said(kept: Record, said: list[dict[str, str]]) -> None:
    """A quote from the conversation, for what is the user's the user's, and no name or number added."""
    assert kept.origin == "extraction"
    assert kept.evidence
    quoted = [
        message for one in kept.evidence for message in said if one.quote in message["content"]
    ]
    assert len(quoted) >= len(kept.evidence)
    if kept.type in ("user", "feedback"):
        assert "user" in {message["role"] for message in quoted}
    words = " ".join(f"{one['content']} {one['said_at']}" for one in said)
    assert all(name.casefold() in words.casefold() for name in kept.entities)
    assert set(_FIGURE.findall(kept.description)) <= set(_FIGURE.findall(words))
