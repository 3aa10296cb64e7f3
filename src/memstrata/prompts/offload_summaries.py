"""Asking what tool results come to, a few at a time, and what of the answer may be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memstrata.prompts.answers import SummaryItem
from memstrata.prompts.template import Rendered, indented, load, one_line

BATCH: Final = 5
"""Pairs of one question."""
MOST_SHOWN: Final = 4_000
"""Characters of a result that the model sees: its beginning and its end."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A call as one line and the result it gave."""

    tool_call_id: str
    call: str
    result: str


@dataclass(frozen=True, slots=True)
class Read:
    """The summaries by tool_call_id; the ids that none came for; how many named a call that was not shown."""

    summaries: Mapping[str, SummaryItem]
    missing: tuple[str, ...]
    unknown: int


def question(pairs: Sequence[Pair]) -> Rendered:
    """The prompt for `pairs`; what stands in a result cannot pass for another call."""
    return load("offload_summaries").render(pairs="\n\n".join(map(_told, pairs)))


def read(items: Iterable[SummaryItem], pairs: Sequence[Pair]) -> Read:
    """What an answer says of `pairs`. Of two on one call the first counts; unknown ones are passed over."""
    wanted = {one_line(pair.tool_call_id): pair.tool_call_id for pair in pairs}
    found: dict[str, SummaryItem] = {}
    unknown = 0
    for item in items:
        id = wanted.get(item.tool_call_id) or wanted.get(item.tool_call_id.strip("[]() "))
        if id is None:
            unknown += 1
        else:
            found.setdefault(id, item)
    missing = tuple(pair.tool_call_id for pair in pairs if pair.tool_call_id not in found)
    return Read(found, missing, unknown)


def _told(pair: Pair) -> str:
    shown = indented(f"\n{_ends(pair.result)}")
    return f"[{one_line(pair.tool_call_id)}] {one_line(pair.call)}{shown}"


def _ends(text: str) -> str:
    if len(text) <= MOST_SHOWN:
        return text
    head, tail = MOST_SHOWN * 3 // 5, MOST_SHOWN * 2 // 5
    left = len(text) - head - tail
    return f"{text[:head]}\n… {left:,} characters left out …\n{text[-tail:]}"
