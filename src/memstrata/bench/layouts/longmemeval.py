"""LongMemEval (Wu et al., 2025): a question over a haystack of sessions; evidence names sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from memstrata.bench.corpus import Corpus, Question

_DATE: Final = re.compile(r"(\d{4})/(\d\d)/(\d\d)\D*(\d\d:\d\d)?")


def fits(document: Any) -> bool:
    """Whether a document is a list of haystacks."""
    return (
        isinstance(document, Sequence)
        and bool(document)
        and all(isinstance(one, Mapping) and "haystack_sessions" in one for one in document)
    )


def read(file: Path, document: Any) -> Iterator[Corpus]:
    """One corpus a haystack, with its question, or the several that a subset gives it."""
    for sample in document:
        lines = list(_messages(sample))
        yield Corpus(
            "LongMemEval",
            str(sample["question_id"]),
            f"{sample['question_id']}.jsonl",
            "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode(),
            {line["id"]: line["content"] for line in lines},
            {line["id"]: line["session"] for line in lines},
            tuple(_questions(sample)),
            level="session",
        )


def _messages(sample: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for session, date, turns in zip(
        sample["haystack_session_ids"],
        sample["haystack_dates"],
        sample["haystack_sessions"],
        strict=True,
    ):
        for number, turn in enumerate(turns, start=1):
            if turn["content"].strip():
                yield {
                    "session": session,
                    "id": f"{session}:{number}",
                    "role": turn["role"],
                    "content": turn["content"],
                    "said_at": _instant(date),
                }


def _questions(sample: Mapping[str, Any]) -> Iterator[Question]:
    """The official question under its type, those that were added to its haystack as `added`."""
    if str(sample["question_id"]).endswith("_abs"):  # no session answers it
        return
    kind = str(sample["question_type"])
    held = frozenset(sample["haystack_session_ids"])
    if "questions" in sample:
        pairs = zip(sample["questions"], sample["answer_session_ids"], strict=True)
    else:
        pairs = zip([sample["question"]], [sample["answer_session_ids"]], strict=True)
    for number, (text, sessions) in enumerate(pairs):
        if evidence := held.intersection(sessions):
            yield Question(text, "added" if number else kind, evidence)


def _instant(text: str) -> str:
    """`2023/07/12 (Wed) 10:14` as ISO 8601.

    Raises:
        ValueError: it is no date.
    """
    found = _DATE.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no date")
    return f"{found[1]}-{found[2]}-{found[3]}T{found[4] or '00:00'}"
