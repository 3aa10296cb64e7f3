"""What a summariser gets and gives, and the texts that all of them make."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from memstrata.domain.canvas.graph import fitted
from memstrata.domain.lazy import Regex

MOST_SUMMARY: Final = 200

Kind = Literal[
    "empty", "short", "error", "tests", "traceback", "diff", "http", "json", "search", "listing",
    "table", "file", "checks", "text",
]  # fmt: skip

_COLOURS: Final = Regex(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)")


@dataclass(frozen=True, slots=True)
class Summary:
    """A result in at most 200 characters, on one line.

    `score` 0 to 10: how well it can replace the result. `error`: what the call said when it failed,
    `""` when it worked (a test run that finds failures has worked).
    """

    text: str
    kind: Kind
    score: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result with the call that gave it: `step` is `tool: target`, `command` a shell's or `""`."""

    tool: str
    target: str
    command: str
    text: str
    lines: tuple[str, ...]


Summariser: TypeAlias = Callable[[Result], Summary | None]
"""None: the result is not of its kind."""


def plain(text: str) -> str:
    """`text` without colours and without what a progress bar wrote over."""
    bare = _COLOURS.sub("", text) if "\x1b" in text else text
    if "\r" not in bare:
        return bare
    lines = bare.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def made(text: str, kind: Kind, score: int, error: str = "") -> Summary:
    """A summary that fits."""
    return Summary(fitted(text, MOST_SUMMARY), kind, score, fitted(error, MOST_SUMMARY))


def counted(count: int, one: str, many: str = "") -> str:
    """`3 files`, `1 file`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def listed(names: Iterable[str], room: int) -> str:
    """The names that fit in `room` characters, and how many more there are."""
    every = [name for name in names if name]
    shown = ""
    for index, name in enumerate(every):
        more = f" and {len(every) - index - 1} more" if index + 1 < len(every) else ""
        longer = f"{shown}, {name}" if shown else fitted(name, max(20, room))
        if index and len(longer) + len(more) > room:
            return f"{shown} and {len(every) - index} more"
        shown = longer
    return shown
