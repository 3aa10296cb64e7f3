"""Tool results in one line each, without a model: known kinds by rule, the rest by its ends and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memstrata.domain.summarise.calls import call_line, command, parts, step
from memstrata.domain.summarise.changes import diff
from memstrata.domain.summarise.data import http, json_value
from memstrata.domain.summarise.errors import error, error_lines, failure, traceback
from memstrata.domain.summarise.files import file, reads
from memstrata.domain.summarise.places import checks, listing, search
from memstrata.domain.summarise.summary import (
    MOST_SUMMARY,
    Kind,
    Result,
    Summariser,
    Summary,
    counted,
    made,
    plain,
)
from memstrata.domain.summarise.tables import table
from memstrata.domain.summarise.testing import tests

__all__ = ["MOST_SUMMARY", "Kind", "Summary", "call_line", "is_known", "step", "summarise"]

_NOTHING: Final = Summary("no output", "empty", 10)
_LONGEST: Final = 4_000_000
"""Characters that are looked at, half of them at either end."""


def _empty(result: Result) -> Summary | None:
    return None if result.text.strip() else _NOTHING


def _short(result: Result) -> Summary | None:
    """A result that is its own summary."""
    line = " ".join(result.text.split())
    if len(line) > MOST_SUMMARY:
        return None
    value = json_value(result)
    message = value.error if value else failure(result)
    found = made(line, "error" if message else "short", 10, message)
    return found if found.text else _NOTHING


def _text(result: Result) -> Summary:
    """Anything else: how much, the lines that look like errors, the first and the last line."""
    told = [line.strip() for line in result.lines if line.strip()]
    head = f"{counted(len(result.lines), 'line')}, {counted(len(result.text), 'character')}"
    wrong = error_lines(result)
    room = MOST_SUMMARY - len(head) - 4
    if wrong:
        share = room // len(wrong)
        shown = "; ".join(_cut(line, share - 2) for line in wrong)
        return made(f"{head}; {shown}", "text", 4)
    ends = told if len(told) < 2 else [told[0], told[-1]]
    share = room // len(ends) - 3
    return made(f"{head}: {' … '.join(_cut(line, share) for line in ends)}", "text", 3)


def _cut(line: str, most: int) -> str:
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


_REST: Final[tuple[Summariser, ...]] = (
    *(diff, tests, http, json_value, traceback, checks, search, listing, table, error, file),
)
_CONTENTS: Final[tuple[Summariser, ...]] = (diff, json_value, table, file)
"""What a file may hold. A source with a traceback in it is no traceback."""


def summarise(name: str, arguments: Mapping[str, object] | str, result: str) -> Summary:
    """The summary of a tool's `result` (at most 200 characters) by rules; never fails, never empty.

    An error always keeps its message. Arguments may be the JSON text of an object.
    """
    tool, target = parts(call_line(name, arguments))
    text = plain(_middle_out(result))
    lines = tuple(text.removesuffix("\n").split("\n"))
    given = Result(tool, target, command(name, arguments), text, lines)
    first = _CONTENTS if reads(given) and not failure(given) else ()
    for kind in (_empty, _short, *first, *_REST):
        if found := kind(given):
            return found
    return _text(given)


def is_known(summary: Summary) -> bool:
    """Whether the rules know what the result is: a model has nothing to add."""
    return summary.kind != "text"


def _middle_out(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}\n…\n{text[-_LONGEST // 2 :]}"
