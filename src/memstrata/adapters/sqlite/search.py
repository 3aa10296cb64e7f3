"""Full-text search inside some keys of an index that holds everybody's.

FTS5's bm25 weighs a term by how rare it is in the *whole* index, so that the order of a person's
hits would hang on what others wrote. Here each term is looked up alone, its part of bm25 is
freed of that weight and gets the one of the keys that are searched (ln(1 + (N - n + 0.5) / (n +
0.5)): Robertson and Spärck Jones 1976, kept above zero as Lucene does). On LoCoMo's turns
recall@10 is 64.8 so, among 3,000 messages and among 89,000; with FTS5's weights 63.8 and 61.0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from memstrata.adapters.sqlite.connection import Connection, Row
from memstrata.domain.lazy import Regex
from memstrata.domain.terms import Term

_TOKEN: Final = Regex(r"[0-9A-Za-z._\u0080-\U0010ffff]+")
_COMMON: Final = 0.1
"""A term in more than this share of the keys' rows is left out once rarer ones found enough."""
_ENOUGH: Final = 10
"""Enough rows to leave a common term out: so many times the hits that are asked for. Without
common terms a search among 100,000 messages takes 14 ms instead of 34, and finds the same."""

Index = Literal["memory", "message"]
_SEARCH: Final = {"memory": "search_memories", "message": "search_messages"}


@dataclass(frozen=True, slots=True)
class Sought:
    """One term in all the keys: the rows that have it, their share of all, and for each key what
    matches it there and what that match's bm25 is multiplied by."""

    rows: int
    share: float
    phrases: tuple[tuple[str, float], ...]


def best(
    db: Connection,
    index: Index,
    numbers: Sequence[int],
    terms: Sequence[Term],
    filters: dict[str, Any],
    limit: int,
) -> list[Row]:
    """The `limit` best rows of `search_memories` or `search_messages` in the keys `numbers`."""
    everything = _weighed(db, index, numbers, _counted(db, index, numbers, terms))
    rare = _rare(everything, limit * _ENOUGH)
    found = _ranked(db, index, rare, filters, limit)
    if len(found) < limit and len(rare) < len(everything):
        found = _ranked(db, index, everything, filters, limit)
    return found


def _counted(
    db: Connection, index: Index, numbers: Sequence[int], terms: Sequence[Term]
) -> list[list[tuple[str, int]]]:
    """For each term that is found: what matches it in each key, and in how many rows.

    What is no run of token characters stands in no index; leaving it out leaves no character that
    could end a quoted term.
    """
    tokens = [term for term in dict.fromkeys(terms) if _TOKEN.fullmatch(term.text)]
    matches = [
        f'"{number}x{term.text}"{"*" if term.prefix else ""}'
        for term in tokens
        for number in numbers
    ]
    if not matches:
        return []
    found: dict[int, list[tuple[str, int]]] = {}
    for place, rows in db.all(f"count_{index}_phrases", {"matches": _json(matches)}):
        found.setdefault(place // len(numbers), []).append((matches[place], rows))
    return list(found.values())


def _weighed(
    db: Connection, index: Index, numbers: Sequence[int], counted: list[list[tuple[str, int]]]
) -> list[Sought]:
    """The terms with their weights, the rarest first."""
    if not counted:
        return []
    ((everywhere,),) = db.all("all_text_rows", {"name": index})
    ((here,),) = db.all("text_rows", {"numbers": _json(numbers)})
    found: list[Sought] = []
    for phrases in counted:
        having = sum(rows for _, rows in phrases)
        idf = math.log(1 + (here - having + 0.5) / (having + 0.5))
        weighed = tuple((match, idf / _fts5_idf(everywhere, rows)) for match, rows in phrases)
        found.append(Sought(having, having / here, weighed))
    return sorted(found, key=lambda term: term.share)


def _fts5_idf(rows: int, having: int) -> float:
    """The weight of a phrase in FTS5's bm25 (fts5_aux.c, fts5Bm25GetData)."""
    return max(0.0, math.log((rows - having + 0.5) / (having + 0.5))) or 1e-6


def _rare(terms: Sequence[Sought], enough: int) -> list[Sought]:
    """`terms` without the common ones at the end, if those before them are in `enough` rows."""
    found: list[Sought] = []
    rows = 0
    for term in terms:
        if rows >= enough and term.share > _COMMON:
            break
        found.append(term)
        rows += term.rows
    return found


def _ranked(
    db: Connection, index: Index, terms: Sequence[Sought], filters: dict[str, Any], limit: int
) -> list[Row]:
    if not terms:
        return []
    phrases = _json([phrase for term in terms for phrase in term.phrases])
    return db.all(_SEARCH[index], {**filters, "phrases": phrases, "limit": limit})


def _json(values: Sequence[object]) -> str:
    return json.dumps(values, ensure_ascii=False)
