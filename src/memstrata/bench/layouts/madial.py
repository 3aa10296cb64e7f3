"""MADial-Bench (He et al., 2025): memories of a user, and dialogues that call for some of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from memstrata.bench.corpus import Corpus, Question

MEMORIES: Final = "-memory.jsonl"
DIALOGUES: Final = "-dialogue.jsonl"

Rows = Mapping[str, Mapping[str, Any]]


def read(dialogues: Path) -> Iterator[Corpus]:
    """One corpus a user, or one in all where memories name no user.

    Raises:
        OSError: the file of the memories is not beside that of the dialogues.
    """
    stem = dialogues.name.removesuffix(DIALOGUES)
    memories: dict[str, Mapping[str, Any]] = {}
    for line in _lines(dialogues.with_name(f"{stem}{MEMORIES}")):
        memories.update(line)
    asked = list(_lines(dialogues))
    for user in sorted({str(one.get("user-id", "")) for one in memories.values()}):
        held = {id: one for id, one in memories.items() if str(one.get("user-id", "")) == user}
        own = [one for one in asked if not user or str(one["user-id"]) == user]
        yield _corpus(stem, f"{stem} {user}".strip(), held, own)


def _lines(file: Path) -> Iterator[Any]:
    return map(json.loads, file.read_text(encoding="utf-8").splitlines())


def _corpus(
    collection: str, name: str, memories: Rows, dialogues: Sequence[Mapping[str, Any]]
) -> Corpus:
    lines = [
        {"session": id, "id": id, "role": "user", "content": one["event"], "said_at": one["time"]}
        for id, one in memories.items()
    ]
    texts = {id: str(one["event"]) for id, one in memories.items()}
    return Corpus(
        collection,
        name,
        f"{name.replace(' ', '-')}.jsonl",
        "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode(),
        texts,
        {id: id for id in texts},
        tuple(one for raw in dialogues for one in _questions(texts, raw)),
        atomic=True,
    )


def _questions(texts: Mapping[str, str], raw: Mapping[str, Any]) -> Iterator[Question]:
    """For each test turn three queries: the user's last line, all the user's lines, all lines so far."""
    evidence = frozenset(map(str, raw["relevant-id"])).intersection(texts)
    for turn in raw["test-turn"]:
        before = [line for line in raw["dialogue"][:turn] if not line.startswith("<BOD>")]
        own = [line for line in before if not line.startswith("<Assistant>")]
        if evidence and own:
            for category, lines in (
                ("last line", own[-1:]),
                ("user's lines so far", own),
                ("all lines so far", before),
            ):
                yield Question("\n".join(map(_spoken, lines)), category, evidence)


def _spoken(line: str) -> str:
    return re.sub(r"\A<[^>]*>\s*[:：]?", "", line).strip(' "“”\n')
