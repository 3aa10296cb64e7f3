"""A message cut into sentences and clauses, without what is not the person's own plain speech.

Code, quoted lines, pasted logs and longer quotations are blanked out with `MASK`, one for one, so
that every span still fits the message. Everything here is linear in the length of the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memstrata.domain.lazy import Regex

MASK: Final = "\ufffc"
"""Stands for a character that is not to be read; no value that holds one is ever taken."""
MAX_SENTENCE: Final = 400
"""Longer ones are pasted material more often than speech, and bound the cost of every pattern."""
MAX_EACH_END: Final = 10_000
"""Of a message longer than twice this only both ends are read: people write before and behind what they paste."""

_FENCED: Final = Regex(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_FOREIGN_LINE: Final = Regex(
    r"""[ \t]*(?:
      >                                                  # a quoted line, a prompt
    | [\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d      # a log line by its time
    | (?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b
    | Traceback\ \(most\ recent | File\ " | at\ [\w$.<>]+\( | [\w.]{1,80}(?:Error|Exception)\b
    | [$%\#]\  | \.\.\.\  | (?:\+\+\+|---|@@) | [+-](?![ \t])  # a shell, a diff
    | [{}\[\]<|](?!secret:)                              # JSON, markup, tables
    | (?:User|Human|Assistant|AI|System|Bot|用户|助手)[:：]  # a pasted dialogue
    )""",
    re.VERBOSE,
)
_CODE_START: Final = Regex(
    r"[ \t]*(?:(?:async )?def |class \w+[(:]|import [\w.]+$|from \S+ import|function\b|const "
    r"|let \w+ =|var \w+ ="
    r"|return\b|public |private )"
)
_QUOTATION: Final = Regex(
    r"\"[^\"\n]{12,400}\"|“[^“”\n]{6,400}”|「[^「」\n]{6,400}」|『[^『』\n]{6,400}』|《[^《》\n]{20,400}》"
)
_BREAK: Final = Regex(r"[.!?]+[\"'”’)]*|[。！？；;…]+[”」』）]*|\n+")
_ABBREVIATION: Final = Regex(
    r"\b(?:e\.g|i\.e|etc|vs|approx|no|dr|mr|mrs|ms|prof|st|jr|sr|inc|ltd|u\.s|a\.m|p\.m)\.\Z",
    re.IGNORECASE,
)
_GREETING: Final = Regex(
    r"\s*(?:hi|hello|hey|good (?:morning|evening|afternoon))(?:,? (?:there|all|everyone|again))?",
    re.IGNORECASE,
)
_BULLET: Final = Regex(r"[ \t]*(?:[-*•·–—]|\d{1,2}[.)、]|[（(]\d{1,2}[)）])[ \t]*")
_CJK: Final = Regex(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is `content[start:end]` with foreign parts masked; `mark` what it ended with (`?`, `。`, `\\n` …)."""

    start: int
    end: int
    text: str
    mark: str

    @property
    def asks(self) -> bool:
        """True when it ends as a question."""
        return "?" in self.mark or "？" in self.mark

    @property
    def chinese(self) -> bool:
        """True when it holds a Chinese character: then the Chinese rules read it."""
        return _CJK.search(self.text) is not None


def sentences(content: str) -> Iterator[Sentence]:
    """The sentences of a message in order, bullets and blanks stripped, the over-long left out."""
    text = masked(content)
    start = 0
    for end, after, mark in _breaks(text):
        read = start < MAX_EACH_END or end > len(text) - MAX_EACH_END
        if read and end - start <= MAX_SENTENCE * 2:
            found = _sentence(text, start, end, mark)
            if found is not None:
                yield found
        start = after


def _breaks(text: str) -> Iterator[tuple[int, int, str]]:
    """Where sentences end: the end of the words, the end of the marks, the marks."""
    after = 0
    for match in _BREAK.finditer(text):
        if match[0][0] in ".!?" and not _ends_words(text, match):
            continue
        if match[0] in (".", "!") and _GREETING.fullmatch(text, after, match.start()):
            # "Hi! I'm …": what follows is read as said behind a greeting.
            continue
        yield match.start(), match.end(), match[0]
        after = match.end()
    yield len(text), len(text), ""


def _ends_words(text: str, match: re.Match[str]) -> bool:
    """False inside a number, a name or an address ("3.11", "wiki.example.org") and behind "e.g."."""
    at = match.end()
    if at < len(text) and not text[at].isspace():
        return _CJK.match(text, at) is not None
    return match[0] != "." or not _ABBREVIATION.search(text, max(0, at - 8), at)


def _sentence(text: str, start: int, end: int, mark: str) -> Sentence | None:
    bullet = _BULLET.match(text, start, end)
    if bullet is not None and bullet.end() < end:
        start = bullet.end()
    while start < end and text[start] in f" \t\r{MASK}":
        start += 1
    while end > start and text[end - 1] in f" \t\r{MASK}":
        end -= 1
    if start == end or end - start > MAX_SENTENCE:
        return None
    return Sentence(start, end, text[start:end], mark)


def masked(content: str) -> str:
    """`content` with code blocks, quoted lines, log lines and quotations masked, equally long."""
    text = _FENCED.sub(_blank, content)
    text = "".join(_line(line) for line in text.splitlines(keepends=True))
    return _QUOTATION.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", MASK, match[0])


def _line(line: str) -> str:
    if len(line) > MAX_SENTENCE * 10:
        return line
    code = line.rstrip().endswith((";", "{")) or _CODE_START.match(line)
    return line if not code and not _FOREIGN_LINE.match(line) else re.sub(r"[^\r\n]", MASK, line)
