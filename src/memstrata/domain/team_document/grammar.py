"""A team document as text and as lines that mean something; what is not understood is kept as it is.

A document is what stands before its first heading, and sections. A line is an entry (a day and a
text) or raw; a fenced code block is one raw line of several rows, because nothing may ever be put
into it. Whatever `parse` makes of a text, `render` writes it in one form, and reads it again as the
same.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import dropwhile
from typing import Final, Literal, TypeAlias, TypeVar

from memstrata.domain.team_document import headings

Marker = Literal["", "fact", "pref", "instr"]
_MARKERS: Final[dict[str, Marker]] = {"fact": "fact", "pref": "pref", "instr": "instr"}

ORPHANS: Final = "Memory"
"""The heading under which entries go that stand before any heading."""
BOM: Final = "\ufeff"

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_ENTRY: Final = re.compile(r"- ([0-9]{4}-[0-9]{2}-[0-9]{2}):[ \t]+(.+)")
_LEGACY: Final = re.compile(r"- \(([0-9]{4}-[0-9]{2}-[0-9]{2})\) \[(fact|pref|instr)\] (\S.*)")
_OPENS: Final = re.compile(
    r"(?P<lead>\s*(?:(?:[-+*]|[0-9]{1,9}[.)])\s+)*)(?P<mark>`{3,}+(?!.*`)|~{3,})"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """`- day: text`. `marker` is what an entry of the old form was marked with; it is not written."""

    day: str
    text: str
    marker: Marker = field(default="", compare=False)

    def __str__(self) -> str:
        return f"- {self.day}: {self.text}"


@dataclass(frozen=True, slots=True)
class Raw:
    """A line that is no entry, or a whole fenced block; `""` is a blank line."""

    text: str

    def __str__(self) -> str:
        return self.text


Line: TypeAlias = Entry | Raw
L = TypeVar("L", bound=Line)
BLANK: Final = Raw("")


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one `## ` heading."""

    heading: str
    lines: tuple[Line, ...] = ()

    def __str__(self) -> str:
        return "\n".join((f"## {self.heading}", *map(str, without_end(self.lines))))


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document. `preamble` is what stands before the first heading or entry."""

    preamble: tuple[Raw, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line that is not blank, in order, without the headings."""
        every = (*self.preamble, *(line for one in self.sections for line in one.lines))
        return tuple(line for line in every if line != BLANK)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of all sections, in order."""
        return tuple(line for line in self.lines if isinstance(line, Entry))

    @property
    def raw_lines(self) -> tuple[Raw, ...]:
        """What else there is, in order."""
        return tuple(line for line in self.lines if isinstance(line, Raw))


def parse(text: str) -> Document:
    """`text` as a document. Any text is one.

    Entries before the first heading go under `## Memory`, with all that follows them. A fence that
    is never closed ends where its section ends, and is closed there.
    """
    preamble: list[Raw] = []
    sections: list[tuple[str, list[Line]]] = []
    orphans: list[Line] = []
    for item in _items(_rows(text), {}):
        if isinstance(item, _Heading):
            sections.append((item.name, []))
        elif sections:
            sections[-1][1].append(item)
        elif orphans or isinstance(item, Entry):
            orphans.append(item)
        else:
            preamble.append(item)
    return Document(
        without_ends(preamble),
        tuple(
            Section(name, without_end(lines)) for name, lines in _with_orphans(sections, orphans)
        ),
    )


def render(document: Document) -> str:
    """`document` in its one form: `\\n`, one blank line between sections, none at the end."""
    preamble = "\n".join(map(str, without_ends(document.preamble)))
    return "\n\n".join(filter(None, (preamble, *map(str, document.sections))))


def markers(document: Document) -> tuple[tuple[str, Marker], ...]:
    """Entry as it is written → marker, for the entries that came in the old form."""
    return tuple((str(one), one.marker) for one in document.entries if one.marker)


def without_end(lines: Sequence[L]) -> tuple[L, ...]:
    """`lines` without the blank ones at their end."""
    end = len(lines)
    while end and lines[end - 1] == BLANK:
        end -= 1
    return tuple(lines[:end])


def without_ends(lines: Sequence[L]) -> tuple[L, ...]:
    """`lines` without the blank ones at their start and end."""
    return without_end(tuple(dropwhile(BLANK.__eq__, lines)))


def fenced(line: Line) -> tuple[str, ...] | None:
    """What stands within the fences of `line`, by rows; None when it is no fenced block."""
    if isinstance(line, Entry) or not _OPENS.match(line.text):
        return None
    return tuple(line.text.split("\n")[1:-1])


def is_closed(text: str) -> bool:
    """Whether every fence in `text` is closed."""
    hopeless: dict[str, int] = {}
    deque(_items(_rows(text), hopeless), maxlen=0)
    return not hopeless


@dataclass(frozen=True, slots=True)
class _Heading:
    name: str


def _with_orphans(
    sections: list[tuple[str, list[Line]]], orphans: Sequence[Line]
) -> list[tuple[str, list[Line]]]:
    """`sections` with the entries that had no heading, in front of a section of that name if there is one."""
    orphans = without_end(orphans)
    if not orphans:
        return sections
    home = headings.normalised(ORPHANS)
    for name, lines in sections:
        if headings.normalised(name) == home:
            lines[:0] = orphans
            return sections
    return [(ORPHANS, list(orphans)), *sections]


def _rows(text: str) -> list[str]:
    """The lines of `text` without blanks at their ends; one that shows nothing is blank."""
    rows = map(str.rstrip, _LINE_END.split(text.removeprefix(BOM)))
    return [row if headings.shows(row) else "" for row in rows]


def _items(lines: Sequence[str], hopeless: dict[str, int]) -> Iterator[_Heading | Line]:
    at = 0
    while at < len(lines):
        block = _block(lines, at, hopeless)
        if block is None:
            yield _item(lines[at])
            at += 1
        else:
            yield block[0]
            at = block[1]


def _item(line: str) -> _Heading | Line:
    if name := _heading(line):
        return _Heading(name)
    if (found := _ENTRY.fullmatch(line)) and _is_entry(found[1], found[2]):
        return Entry(found[1], found[2].strip())
    if (found := _LEGACY.fullmatch(line)) and _is_entry(found[1], found[3]):
        return Entry(found[1], found[3].strip(), _MARKERS[found[2]])
    return Raw(line)


def _heading(line: str) -> str:
    name = line[3:].strip() if line.startswith("## ") else ""
    return name if headings.shows(name) else ""


def _is_entry(day: str, text: str) -> bool:
    """Whether `day`, which has the form YYYY-MM-DD, is one of the calendar, and `text` says something."""
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return headings.shows(text)


def _block(lines: Sequence[str], at: int, hopeless: dict[str, int]) -> tuple[Raw, int] | None:
    """The fenced block that begins at line `at`, and where the next line is.

    `hopeless` holds, by character, how long a fence nobody closes from here on: each is looked for
    once, or many open fences would take quadratic time.
    """
    opened = _OPENS.match(lines[at])
    if opened is None:
        return None
    mark = opened["mark"]
    for end in range(at + 1, len(lines) if len(mark) < hopeless.get(mark[0], 1 << 30) else 0):
        if _closes(lines[end], mark):
            return Raw("\n".join(lines[at : end + 1])), end + 1
    hopeless[mark[0]] = min(len(mark), hopeless.get(mark[0], len(mark)))
    end = next((n for n in range(at + 1, len(lines)) if _heading(lines[n])), len(lines))
    body = map(str, without_end([Raw(line) for line in lines[at:end]]))
    return Raw("\n".join([*body, " " * len(opened["lead"]) + mark])), end


def _closes(line: str, mark: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(mark) and not bare.strip(mark[0])
