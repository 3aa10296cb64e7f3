"""Diffs: which files, how many lines."""

from __future__ import annotations

from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.summarise.summary import Result, Summary, counted, listed, made

_FILE: Final = Regex(r"\+\+\+ (?:b/)?([^\t\n]+).*|--- (?:a/)?([^\t\n]+).*|diff --git a/(\S+) b/\S+")
_HUNK: Final = Regex(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*")


def diff(result: Result) -> Summary | None:
    """A unified diff."""
    files: dict[str, list[int]] = {}
    name, inside = "", False
    for line in result.lines:
        if line.startswith(("diff --git ", "--- ", "+++ ")) and (found := _FILE.fullmatch(line)):
            name = _named(name, found[1] or found[2] or found[3])
            inside = False
        elif _HUNK.fullmatch(line):
            inside = True
            files.setdefault(name, [0, 0])
        elif inside and line[:1] in ("+", "-"):
            files[name][line[0] == "-"] += 1
    if not files:
        return None
    added, gone = (sum(counts[side] for counts in files.values()) for side in (0, 1))
    told = f"diff of {counted(len(files), 'file')}, +{added} −{gone}: "
    every = (f"{file} +{counts[0]} −{counts[1]}" for file, counts in files.items())
    return made(told + listed(every, 195 - len(told)), "diff", 5)


def _named(before: str, found: str) -> str:
    return before if found == "/dev/null" else found.strip()
