"""Tables: how many rows, which columns, the first and the last row."""

from __future__ import annotations

import csv
from typing import Final

from memstrata.domain.canvas.graph import fitted
from memstrata.domain.lazy import Regex
from memstrata.domain.summarise.summary import Result, Summary, counted, made

_RULE: Final = Regex(
    r"\s*\|?\s*:?-+:?\s*(?:[|+]\s*:?-+:?\s*)+\|?\s*|\s*\+(?:[-=]+\+)+\s*"
    r"|[┌├└╞╘╒][─┬┼┴═╪╤╧┐┤┘╡╛╕]+\s*"
)
_DASHES: Final = Regex(r"\s*[-=]{2,}(?:\s+[-=]{2,})+\s*")
_GAP: Final = Regex(r"\s{2,}")
_MOST_ROWS: Final = 20_000


def table(result: Result) -> Summary | None:
    """A table in Markdown, of a database's shell, or separated by commas or tabs."""
    told = [line for line in result.lines[:_MOST_ROWS] if line.strip()]
    found = _drawn(told) or _aligned(told) or _separated(told)
    if found is None:
        return None
    columns, rows = found
    head = f"table of {counted(len(rows), 'row')} × {counted(len(columns), 'column')}"
    names = fitted(", ".join(columns), 70)
    if not rows:
        return made(f"{head} ({names})", "table", 5)
    share = max(20, (185 - len(head) - len(names)) // (1 + (len(rows) > 1)))
    ends = [fitted(" | ".join(row), share - 8) for row in (rows[0], rows[-1])[: len(rows)]]
    shown = "; last: ".join(ends)
    return made(f"{head} ({names}); first: {shown}", "table", 4)


def _drawn(told: list[str]) -> tuple[list[str], list[list[str]]] | None:
    rules = [place for place, line in enumerate(told[:6]) if _RULE.fullmatch(line)]
    if not rules:
        return None
    rows = [
        _cells(line) for line in told if not _RULE.fullmatch(line) and ("|" in line or "│" in line)
    ]
    if len(rows) < 2 or len(rows[0]) < 2 or len(rows) * 2 < len(told) - len(rules):
        return None
    return rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]


def _aligned(told: list[str]) -> tuple[list[str], list[list[str]]] | None:
    """Columns that blanks hold apart, under a head in capitals or a line of dashes."""
    if len(told) < 3:
        return None
    ruled = _DASHES.fullmatch(told[1]) is not None
    if not (ruled or told[0].isupper()):
        return None
    head, lines = told[0], told[2 if ruled else 1 :]
    names, rows = _by_gaps(head), [_by_gaps(line) for line in lines]
    whole = [row for row in rows if len(row) == len(names)]
    if len(names) < 2 or len(whole) * 10 < len(rows) * 7:
        names, rows = head.split(), [line.split() for line in lines]
        last = len(names) - 1  # takes whatever more words there are
        whole = [[*row[:last], " ".join(row[last:])] for row in rows if len(row) > last]
    enough = len(names) > 1 and whole and len(whole) * 10 >= len(rows) * 7
    return (names, whole) if enough else None


def _by_gaps(line: str) -> list[str]:
    return _GAP.split(line.strip())


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.replace("│", "|").strip().strip("|").split("|")]


def _separated(told: list[str]) -> tuple[list[str], list[list[str]]] | None:
    """Lines of one number of fields; commas only where the first line reads like names of columns."""
    if len(told) < 3:
        return None
    for mark in ("\t", ",", ";"):
        width = told[0].count(mark)
        if not width or (mark != "\t" and width < 2) or any(len(line) > 20_000 for line in told):
            continue
        try:
            rows = list(csv.reader(told, delimiter=mark))
        except csv.Error:
            continue
        if [row[0].strip() for row in rows[:9]] == [str(at) for at in range(1, 1 + len(rows[:9]))]:
            return None  # a file with numbered lines
        even = sum(len(row) == len(rows[0]) for row in rows)
        names = [cell.strip() for cell in rows[0]]
        if even * 20 >= len(rows) * 19 and all(0 < len(name) <= 40 for name in names):
            return names, [row for row in rows[1:] if len(row) == len(names)]
    return None
