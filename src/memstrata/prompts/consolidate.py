"""Asking what a key's memories may become, and what of the answer may be looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memstrata.domain import gates
from memstrata.domain.consolidate import Wording
from memstrata.domain.memory import Memory
from memstrata.prompts.answers import ProposalItem
from memstrata.prompts.template import Rendered, indented, load, one_line

NOTHING = "none"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal whose ids were shown: the memories that it names, and its words."""

    kind: Literal["merge", "elevate"]
    sources: tuple[Memory, ...]
    wording: Wording


def question(scope: str, memories: Sequence[Memory], waiting: Sequence[str]) -> Rendered:
    """The consolidation prompt: `memories` under short ids k1, k2, …, `waiting` rules one a line.

    What an item has wrong by what was shown is asked for once more: an id that was not, a merge of
    other types.
    """
    shown = _shown(memories)
    told = [f"[{short}] {_told(one)}" for short, one in _numbered(memories)]
    rendered = load("consolidate").render(
        scope=scope,
        waiting="\n".join(map(one_line, waiting)) or NOTHING,
        memories="\n".join(told),
    )
    return replace(rendered, fault=lambda item: _fault(item, shown))


def proposed(items: Sequence[ProposalItem], memories: Sequence[Memory]) -> tuple[Proposed, ...]:
    """The items of an answer to that question, each without fault, with what they name."""
    shown = _shown(memories)
    found: list[Proposed] = []
    for item in items:
        sources = {shown[id.lower()].id: shown[id.lower()] for id in item.ids}
        wording = Wording(item.name, item.description, item.body)
        found.append(Proposed(item.kind, tuple(sources.values()), wording))
    return tuple(found)


def _fault(item: ProposalItem, shown: Mapping[str, Memory]) -> str:
    unknown = [id for id in item.ids if id.lower() not in shown]
    if unknown:
        return f"ids: {', '.join(id[:60] for id in unknown[:3])} was not shown"
    sources = [shown[id.lower()] for id in item.ids]
    if len({one.id for one in sources}) < 2:
        return "ids: names fewer than two memories"
    if item.kind == "elevate" and any(one.type != "feedback" for one in sources):
        return "ids: only memories of type feedback are elevated"
    return ""


def _numbered(memories: Sequence[Memory]) -> list[tuple[str, Memory]]:
    return [(f"k{number}", one) for number, one in enumerate(memories, start=1)]


def _shown(memories: Sequence[Memory]) -> dict[str, Memory]:
    """The memories by every id under which they may be named, in lower case."""
    return {id.lower(): one for short, one in _numbered(memories) for id in (short, one.id)}


def _told(one: Memory) -> str:
    """What it says in a line, then its body, further in: no line of it can pass for another memory."""
    days = (one.happened_from, one.happened_until, one.valid_until)
    facts = [one.type, f"about {one.subject}" if one.subject else "", one.slot]
    facts += [f"said {one.said_at.date()}" if one.said_at else "", *(str(d) for d in days if d)]
    line = one_line(f"({', '.join(filter(None, facts))}) {one.name}: {one.description}")
    body = indented(one.body) if gates.folded(one.body) else ""
    return f"{line}\n    {body}" if body else line
