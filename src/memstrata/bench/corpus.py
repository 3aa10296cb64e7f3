"""Conversations with questions and the evidence that answers them, as values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

Level = Literal["turn", "session"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category, and the ids of the messages (or sessions) that answer it.

    `known`: only so many messages of the corpus had been said when it was asked; None: all.
    """

    text: str
    category: str
    evidence: frozenset[str]
    known: int | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Messages as a file to import (`file`, `data`), their texts and sessions by id, and questions.

    `level` says what evidence names: turns (messages) or sessions. `atomic`: each text stands for
    itself, as a memory does; its session means nothing. Where a question knows only the first messages,
    `data` has one line a message, in the order of `texts`.
    """

    collection: str
    name: str
    file: str
    data: bytes
    texts: Mapping[str, str]
    sessions: Mapping[str, str]
    questions: tuple[Question, ...]
    level: Level = "turn"
    atomic: bool = False

    def known(self, question: Question) -> list[str]:
        """The ids of the messages that had been said when it was asked."""
        return list(islice(self.texts, question.known))

    def in_sessions(self, ids: Iterable[str]) -> list[str]:
        """The sessions of messages, each where its first one stands."""
        return list(dict.fromkeys(self.sessions[id] for id in ids))

    def wanted_sessions(self, question: Question) -> frozenset[str]:
        """The sessions that hold its evidence."""
        if self.level == "session":
            return question.evidence
        return frozenset(self.sessions[id] for id in question.evidence)

    def stages(self) -> Iterator[tuple[bytes, Sequence[int]]]:
        """What to import next, and the numbers of the questions that are asked before more comes."""
        marks = sorted({one.known for one in self.questions if one.known is not None})
        if not marks:
            yield self.data, range(len(self.questions))
            return
        lines = self.data.split(b"\n")
        for start, end in zip([0, *marks], marks, strict=False):
            due = [n for n, one in enumerate(self.questions) if one.known == end]
            yield b"\n".join(lines[start:end]), due
