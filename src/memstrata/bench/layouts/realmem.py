"""RealMem: a person's sessions with an assistant, in order; evidence names earlier sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from memstrata.bench.corpus import Corpus, Question


def fits(document: Any) -> bool:
    """Whether a document is one person's dialogues."""
    return isinstance(document, Mapping) and "dialogues" in document


def read(file: Path, document: Any) -> Iterator[Corpus]:
    """One corpus; a question is a query turn, asked when all earlier sessions are known and no other."""
    name = str(document.get("_metadata", {}).get("person_name") or file.stem)
    lines: list[str] = []
    texts: dict[str, str] = {}
    sessions: dict[str, str] = {}
    questions: list[Question] = []
    for dialogue in document["dialogues"]:
        questions += _questions(dialogue, frozenset(sessions.values()), len(texts))
        for line in _messages(dialogue):
            texts[line["id"]], sessions[line["id"]] = line["content"], line["session"]
            lines.append(json.dumps(line, ensure_ascii=False))
    yield Corpus(
        "RealMem",
        name,
        f"{file.stem}.jsonl",
        "\n".join(lines).encode(),
        texts,
        sessions,
        tuple(questions),
        level="session",
    )


def _messages(dialogue: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    session = str(dialogue["session_uuid"])
    for number, turn in enumerate(dialogue["dialogue_turns"], start=1):
        yield {
            "session": session,
            "id": f"{session}:{number}",
            "role": str(turn["speaker"]).lower(),
            "content": str(turn["content"]),
            "said_at": str(dialogue["current_time"]).split(" ", 1)[0],
        }


def _questions(
    dialogue: Mapping[str, Any], earlier: frozenset[str], known: int
) -> Iterator[Question]:
    """The query turns whose answer names earlier sessions."""
    turns = dialogue["dialogue_turns"]
    for asked, answer in pairwise(turns):
        evidence = earlier.intersection(answer.get("memory_session_uuids") or ())
        if asked.get("is_query") and evidence:
            category = str(asked.get("category_name") or "query")
            yield Question(str(asked["content"]), category, evidence, known)
