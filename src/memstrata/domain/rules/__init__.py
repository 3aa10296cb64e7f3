"""Memories without a model: what people plainly say of themselves, their work and how to work with them.

Tables of patterns in English and Chinese, read clause by clause. Precision comes before recall:
questions, suppositions, what others said, code, logs and quotations are passed over. Deterministic
and pure; the cost is linear in the text, and of a very long message only both ends are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Final

from memstrata.domain.candidate import Candidate
from memstrata.domain.lazy import Regex
from memstrata.domain.rules.chinese import CHINESE
from memstrata.domain.rules.english import ENGLISH
from memstrata.domain.rules.proposing import Heard, candidate, heard
from memstrata.domain.rules.reading import Language, read
from memstrata.domain.rules.sentences import Sentence, sentences
from memstrata.domain.turn import Message

__all__ = ["extract"]

_HANDED_OVER: Final = Regex(r"[:：\n]")


def extract(
    messages: Sequence[Message], *, has_workspace: bool, zone: tzinfo
) -> tuple[Candidate, ...]:
    """What the user messages of one session state that lasts, in the order it was said.

    Only messages of role `user` without a `skip` are read; relative days count from their `said_at`
    in `zone`. Each candidate has one piece of evidence, a clause or sentence of its message. A
    dated matter of the project ("freeze until …") is the person's own event in a session without a
    workspace; every other project candidate keeps its scope, for the gates to refuse.
    """
    found: list[Candidate] = []
    for message in messages:
        if message.role == "user" and not message.skip:
            found.extend(_of_message(heard(message, has_workspace=has_workspace, zone=zone)))
    return tuple(found)


def _of_message(where: Heard) -> tuple[Candidate, ...]:
    found: dict[tuple[str, str, str], Candidate] = {}
    for sentence, language in _own_words(where.message.content):
        for one in _of_sentence(sentence, language, where):
            found.setdefault((one.subject, one.slot, one.description), one)
    return _without_replaced_endings(tuple(found.values()))


def _own_words(content: str) -> Iterator[tuple[Sentence, Language]]:
    """The sentences to read, up to a text that the person only hands over ("translate this: …")."""
    for sentence in sentences(content):
        language = CHINESE if sentence.chinese else ENGLISH
        if not language.handed.search(sentence.text):
            yield sentence, language
        elif _HANDED_OVER.search(sentence.text + sentence.mark):
            return


def _of_sentence(sentence: Sentence, language: Language, where: Heard) -> tuple[Candidate, ...]:
    """What one sentence states, one value a slot: "keep it short, no long answers" is one rule."""
    found: dict[tuple[str, str, str], Candidate] = {}
    for draft in read(sentence, language, where.dated, team=where.has_workspace):
        one = candidate(draft, sentence, where)
        if one is not None:
            found.setdefault((one.subject, one.slot or one.description, one.change), one)
    return tuple(found.values())


def _without_replaced_endings(found: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """An ending whose successor is told in the same message is said by the successor alone."""
    stated = {(one.subject, one.slot) for one in found if one.change == "states"}
    return tuple(
        one for one in found if one.change == "states" or (one.subject, one.slot) not in stated
    )
