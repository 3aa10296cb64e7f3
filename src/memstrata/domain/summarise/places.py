"""What searches, listings and checkers say: which files, how many."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.summarise.summary import Result, Summary, counted, listed, made

_HIT: Final = Regex(
    r"(?!\d{4}-\d\d)(?=[^:]*[^\W\d])((?:[A-Za-z]:)?[^\s:]{1,300}):(\d+)(?::\d+)?[:-].*"
)
_FINDING: Final = Regex(
    r"(?:[A-Za-z]:)?[^\s:]{1,300}\.\w{1,6}[:(]\d+(?:[:,]\d+)?[:)]{0,2} *-? *"
    r"(?:(fatal error|error|warning|note|info)\b|([A-Z]{1,4}\d{2,5}) ).*",
    re.IGNORECASE,
)
_FOUND: Final = Regex(
    r"(?:found|more than) (\d+) (?:matche?s?|files?|results?|hits?)\b.*", re.IGNORECASE
)
_NONE: Final = Regex(
    r"(?:no (?:matches|files|results|hits)\b.*|0 (?:matches|results)\b.*)", re.IGNORECASE
)
_LINE_HIT: Final = Regex(r"\s*(?:line )?\d+[:-].*", re.IGNORECASE)
_LONG: Final = Regex(
    r"([-dlcbps])[-rwxsStT]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+[\d.,]+[KMGT]?\s+\S+\s+\S+\s+\S+\s+(.+)"
)
_TREE: Final = Regex(r"[│├└─|`\s+\\-]*(?:├──|└──|\|--|`--|\+---)\s+(\S.*)")
_PATH: Final = Regex(r"(?:\./|/|~/|[A-Za-z]:\\)?[\w.@+~-]+(?:[/\\][\w.@+~ -]+)*[/\\*@|=]?")
_SEARCH: Final = Regex(
    r"(?:.*[_.-])?(?:grep|rg|ripgrep|search|find|glob|ag|ack)(?:[_.-].*)?", re.IGNORECASE
)
_SEARCH_COMMAND: Final = Regex(
    r"\s*(?:cd \S+ *&& *)?(?:(?:git )?grep|rg|ag|ack|find|fd|locate)\b.*"
)
_LISTS: Final = Regex(r"(?:.*[_.-])?(?:ls|list|dir|tree|glob|find)(?:[_.-].*)?", re.IGNORECASE)
_LIST_COMMAND: Final = Regex(r"\s*(?:cd \S+ *&& *)?(?:ls|dir|tree|find|fd|git ls-files)\b.*")
_MOST_LINES: Final = 20_000


def checks(result: Result) -> Summary | None:
    """Findings of a linter, type checker or compiler: how many of which kind, the first errors."""
    found = [
        (line, match)
        for line in result.lines[:_MOST_LINES]
        if (match := _FINDING.fullmatch(line.strip()))
    ]
    if not found or len(found) * 4 < sum(bool(line.strip()) for line in result.lines):
        return None
    kinds = Counter((match[1] or match[2]).lower() if match[1] else match[2] for _, match in found)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(4))
    worst = [line.strip() for line, match in found if "error" in (match[1] or "").lower()]
    first = worst or [line.strip() for line, _ in found]
    return made(f"findings: {told}: {listed(first, 170 - len(told))}", "checks", 6)


def search(result: Result) -> Summary | None:
    """Hits of a search, by file."""
    told = [line for line in result.lines[:_MOST_LINES] if line.strip()]
    if not told:
        return None
    if _NONE.fullmatch(told[0].strip()):
        return made(told[0], "search", 9)
    if _FOUND.match(told[0].strip()) and len(told) > 1:
        return _announced(told)
    hits = [match[1] for line in told if (match := _HIT.fullmatch(line))]
    if len(hits) * 2 > len(told):
        return _hits(Counter(hits), len(hits))
    if _asks(result) and (single := sum(map(bool, map(_LINE_HIT.fullmatch, told)))) * 2 > len(told):
        where = f" in {result.target}" if result.target else ""
        return made(
            f"{counted(single, 'match', 'matches')}{where}: {listed(map(str.strip, told), 150)}",
            "search",
            5,
        )
    return _files_found(result, told)


def _asks(result: Result) -> bool:
    return bool(_SEARCH.fullmatch(result.tool) or _SEARCH_COMMAND.match(result.command))


def _announced(told: list[str]) -> Summary:
    """A search that says itself how much it found."""
    body = [line.strip() for line in told[1:] if not line.lower().startswith("end of matches")]
    head = told[0].strip().rstrip(":")
    return made(f"{head}: {listed(body, 190 - len(head))}", "search", 6)


def _hits(files: Counter[str], count: int) -> Summary:
    told = f"{counted(count, 'match', 'matches')} in {counted(len(files), 'file')}: "
    every = (f"{file} ({number})" for file, number in files.most_common())
    return made(told + listed(every, 195 - len(told)), "search", 6)


def _files_found(result: Result, told: list[str]) -> Summary | None:
    if not _asks(result) or not _mostly_paths(told):
        return None
    head = f"{counted(len(told), 'file')} found: "
    return made(head + listed((line.strip() for line in told), 195 - len(head)), "search", 7)


def _mostly_paths(told: list[str]) -> bool:
    paths = sum(_PATH.fullmatch(line.strip()) is not None for line in told)
    return paths * 10 >= len(told) * 9


def listing(result: Result) -> Summary | None:
    """A directory: `ls` in its forms, `tree`, `find`, or a list of paths."""
    told = [line for line in result.lines[:_MOST_LINES] if line.strip()]
    names = _long_names(told) or _tree_names(told) or _bare_names(result, told)
    if not names:
        return None
    folders = [name for name in names if name.endswith(("/", "\\"))]
    files = [name for name in names if name not in set(folders)]
    counts = [counted(len(files), "file")] if files else []
    counts += [counted(len(folders), "folder")] if folders else []
    head = f"{', '.join(counts)}: "
    return made(head + listed([*folders, *files], 195 - len(head)), "listing", 7)


def _long_names(told: list[str]) -> list[str]:
    rows = [match for line in told if (match := _LONG.fullmatch(line.strip()))]
    if not rows or len(rows) * 10 < (len(told) - 1) * 7:
        return []
    every = (f"{match[2]}/" if match[1] == "d" else match[2].split(" -> ")[0] for match in rows)
    return [name for name in every if name not in ("./", "../")]


def _tree_names(told: list[str]) -> list[str]:
    names = [match[1].strip() for line in told if (match := _TREE.fullmatch(line))]
    return names if len(names) * 2 > len(told) else []


def _bare_names(result: Result, told: list[str]) -> list[str]:
    """A path a line, or the columns that `ls` makes; `folder:` heads the files of one."""
    if _LISTS.fullmatch(result.tool) or _LIST_COMMAND.match(result.command):
        heads = [f"{line[:-1]}/" for line in told if line.endswith(":")]
        words = [word for line in told if not line.endswith(":") for word in line.split()]
        if all(map(_PATH.fullmatch, words)):
            return [*heads, *words]
    deep = sum("/" in line for line in told)
    paths = len(told) > 2 and deep * 2 > len(told) and _mostly_paths(told)
    return [line.strip() for line in told] if paths else []
