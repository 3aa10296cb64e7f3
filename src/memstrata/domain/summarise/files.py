"""What a file read says: how long the file is and what it defines."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.summarise.summary import Result, Summary, counted, listed, made

_NUMBERED: Final = Regex(r"\s*(\d+)(?:\t|→|: ?|\| ?|│ ?|  ?(?=\S)|$).*")
_NUMBER: Final = Regex(r"\s*\d+(?:\t|→|: ?|\| ?|│ ?)")
_BANNER: Final = Regex(r"\[File: (.+?) \((\d+) lines total\)\].*")
_DEFINED: Final = Regex(
    r"\s*(?:(?:export|default|public|private|protected|static|async|abstract|final|pub(?:\(\w+\))?) +)*"
    r"(?:(?:def|class|function\*?|fn|func|struct|interface|trait|enum|impl|module) +([A-Za-z_$][\w$.]*)"
    r"|func +\([^)]{1,80}\) *(\w+)|type +(\w+) *(?:=|<|\[|struct\b|interface\b|func\b).*"
    r"|(?:CREATE|create) +(?:\w+ +){0,2}(?:TABLE|INDEX|VIEW|TRIGGER|table|index|view|trigger) +"
    r"(?:IF NOT EXISTS +|if not exists +)?([\w.\"]+)).*"
)
_HEADING: Final = Regex(r"#{1,3} +(\S.*)|(\[\[?[\w.\"-]+\]\]?)")
_PROSE: Final = Regex(r".*\.(?:md|markdown|mdx|rst|txt|toml|ini|cfg|conf)", re.IGNORECASE)
_READS: Final = Regex(
    r"(?:.*[_.-])?(?:read|open|cat|view|show|load|scroll|goto|create|edit|insert|str_replace)"
    r"(?:[_-]?(?:file|text|lines?|up|down|based_edit_tool|editor|contents?|many_files))?",
    re.IGNORECASE,
)
_READ_COMMAND: Final = Regex(r"\s*(?:cd \S+ *&& *)?(?:cat|head|tail|less|more|bat|nl|sed -n)\b.*")
_MOST_LINES: Final = 20_000
_LOOKED_AT: Final = 400
"""Lines by which it is seen whether a text has line numbers."""


def reads(result: Result) -> bool:
    """Whether the call reads or edits a file."""
    return bool(_READS.fullmatch(result.tool) or _READ_COMMAND.match(result.command))


def file(result: Result) -> Summary | None:
    """A file or a part of one: its name, how long it is, what it defines or how it begins."""
    banner = next((match for line in result.lines if (match := _BANNER.fullmatch(line))), None)
    told = [line for line in result.lines[:_MOST_LINES] if line.strip()]
    if banner is None and (len(told) < 3 or not (reads(result) or _is_numbered(told))):
        return None
    name = banner[1] if banner else _name(result)
    total = f"{int(banner[2]):,} lines" if banner else counted(len(result.lines), "line")
    head = f"{name}, {total}" if name else total
    changed = any("edit" in line.lower() and "review" in line.lower() for line in told[-5:])
    bare = [_NUMBER.sub("", line, 1) for line in told] if _is_numbered(told) else told
    names = _names(bare, name)
    said = listed(dict.fromkeys(names), 190 - len(head)) if names else _first(bare)
    return made(f"{head}{'; changed' if changed else ''}: {said}", "file", 4)


def _name(result: Result) -> str:
    """The file's name; of a command's words it is the last one."""
    return result.target.split()[-1] if result.command and result.target else result.target


def _is_numbered(told: list[str]) -> bool:
    """Whether most lines begin with numbers that go up."""
    found = [match for line in told[:_LOOKED_AT] if (match := _NUMBERED.fullmatch(line))]
    if len(found) * 10 < min(len(told), _LOOKED_AT) * 8 or len(found) < 2:
        return False
    return all(int(one[1]) < int(other[1]) for one, other in pairwise(found))


def _names(told: list[str], file: str) -> list[str]:
    """What is defined; of prose and settings the headings."""
    for pattern in (_HEADING, _DEFINED) if _PROSE.fullmatch(file) else (_DEFINED,):
        found = (match for line in told if (match := pattern.fullmatch(line.rstrip())))
        names = [next(filter(None, match.groups()), "").strip() for match in found]
        if names:
            return names
    return []


def _first(told: list[str]) -> str:
    """The first line of the content that is not a banner, a shebang or an import."""
    for line in told:
        text = line.strip()
        passed_over = ("#!", "import ", "from ", "(", "[File: ")
        if text and not text.startswith(passed_over):
            return text
    return told[0].strip()
