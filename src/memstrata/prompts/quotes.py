"""Where a quote stands in a message, when a model copied it almost exactly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from memstrata.domain import gates

_LEFT_OUT: Final = re.compile(r"\s*(?:…|\.{3,}|\[\s*(?:…|\.{3,})\s*\])\s*")
_EDGES: Final = " \t\n\r\"'“”„‘’`«»「」『』.,;:!?。，；：！？…"


def locate(quote: str, content: str) -> tuple[int, int] | None:
    """(start, end) of `quote` in `content`, compared as the support gate does; None when it is not there.

    Marks around it that the model put there do not count, and where it left words out ("I work …
    at Harrow") the span runs from the first words to the last.
    """
    if not quote.strip():
        return None
    start = content.find(quote)
    if start >= 0:
        return start, start + len(quote)
    text = _Folded(content)
    for form in (quote, quote.strip(_EDGES)):
        found = text.find(form, 0)
        if found is not None:
            return found[:2]
    return _in_parts(quote, text)


def _in_parts(quote: str, text: _Folded) -> tuple[int, int] | None:
    parts = [part.strip(_EDGES) for part in _LEFT_OUT.split(quote)]
    spans: list[tuple[int, int]] = []
    at = 0
    for part in filter(None, parts):
        found = text.find(part, at)
        if found is None:
            return None
        spans.append(found[:2])
        at = found[2]
    return (spans[0][0], spans[-1][1]) if len(spans) > 1 else None


class _Folded:
    """A text as `gates.folded` sees it, with where each folded character comes from."""

    def __init__(self, content: str) -> None:
        letters: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in _clusters(content):
            folded = gates.folded(content[start:end]) or " "
            if folded == " " and letters[-1:] == [" "]:
                self._ends[-1] = end
                continue
            letters += folded
            self._starts += [start] * len(folded)
            self._ends += [end] * len(folded)
        self._text = "".join(letters)

    def find(self, quote: str, at: int) -> tuple[int, int, int] | None:
        """(start, end) of `quote`'s first occurrence from the folded place `at` on, and where to go on."""
        folded = gates.folded(quote)
        index = self._text.find(folded, at) if folded else -1
        if index < 0:
            return None
        last = index + len(folded)
        return self._starts[index], self._ends[last - 1], last


def _clusters(content: str) -> Iterator[tuple[int, int]]:
    """The stretches that normalise by themselves: a character and what combines with it."""
    start = 0
    for index in range(1, len(content) + 1):
        if index == len(content) or not _joins(content[index]):
            yield start, index
            start = index


def _joins(character: str) -> bool:
    """Whether it merges with the one before it: accents, and the vowels and finals of Hangul."""
    return character >= "\u0300" and (
        unicodedata.combining(character) != 0
        or "\u1160" <= character <= "\u11ff"
        or character in "\uff9e\uff9f"
    )
