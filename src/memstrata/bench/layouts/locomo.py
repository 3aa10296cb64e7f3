"""LoCoMo (Maharana et al., 2024): long dialogues of two people; evidence names turns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from memstrata.bench.corpus import Corpus, Question

CATEGORIES: Final = {
    "1": "1 multi-hop",
    "2": "2 temporal",
    "3": "3 open-domain",
    "4": "4 single-hop",
    "5": "5 adversarial",
}
_SESSION: Final = re.compile(r"session_\d+")
_TURN: Final = re.compile(r"D:?(\d+):(\d+)")


def fits(document: Any) -> bool:
    """Whether a document is a list of conversations with questions."""
    return (
        isinstance(document, Sequence)
        and bool(document)
        and all(
            isinstance(one, Mapping) and {"conversation", "qa"} <= one.keys() for one in document
        )
    )


def read(file: Path, document: Any) -> Iterator[Corpus]:
    """One corpus a conversation; questions of every category, those without evidence left out.

    A file that is not called LoCoMo is a data set of its own name.
    """
    for index, sample in enumerate(document):
        name = str(sample.get("sample_id") or f"{file.stem}-{index + 1}")
        texts: dict[str, str] = {}
        sessions: dict[str, str] = {}
        for session, turn in _turns(sample["conversation"]):
            id = f"{name}:{turn['dia_id']}"
            texts[id], sessions[id] = str(turn["text"]), f"{name}-{session}"
        questions = (_question(name, texts, one) for one in sample["qa"])
        yield Corpus(
            "LoCoMo" if file.stem.startswith("locomo") else file.stem,
            name,
            f"{name}.json",
            json.dumps([{**sample, "sample_id": name}], ensure_ascii=False).encode(),
            texts,
            sessions,
            tuple(one for one in questions if one.evidence),
        )


def _turns(conversation: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for session, turns in conversation.items():
        if _SESSION.fullmatch(session):
            yield from ((session, turn) for turn in turns)


def _question(name: str, texts: Mapping[str, str], raw: Mapping[str, Any]) -> Question:
    # Several ids may stand in one string, some as "D:11:26"; a few name turns that do not exist.
    named = _TURN.findall(" ".join(raw.get("evidence", ())))
    ids = frozenset(f"{name}:D{session}:{turn}" for session, turn in named)
    category = str(raw["category"])
    return Question(raw["question"], CATEGORIES.get(category, category), ids.intersection(texts))
