"""Memories to consolidate, and a model that says what it is told about them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memstrata import Memory
from memstrata.ports import Question

SETTINGS = {"extraction.model": "openai:invented"}
TEAS = ("Prefers mint tea to coffee", "Prefers mint tea in the morning")
MERGED = "Prefers mint tea to coffee in the morning"
RULES = ("Give the answer first in mails", "Give the answer first in reports")
RAISED = "Give the answer before the reasons"

Proposal = Mapping[str, object]


def proposals(*items: Proposal) -> str:
    """The answer that proposes `items`."""
    return json.dumps({"proposals": list(items)}, ensure_ascii=False)


def merge(*ids: str, **fields: object) -> Proposal:
    """A merge of the teas."""
    plain = {"kind": "merge", "name": "Drinks", "description": MERGED, "body": MERGED}
    return {**plain, "ids": list(ids), **fields}


def elevate(*ids: str, **fields: object) -> Proposal:
    """The general rule of the two rules."""
    plain = {
        "kind": "elevate",
        "name": "Answers",
        "description": RAISED,
        "body": "**Why:** time is short. **How to apply:** always",
    }
    return {**plain, "ids": list(ids), **fields}


def shown(question: Question) -> dict[str, str]:
    """What a question shows: by the description's beginning words, the short id."""
    found = re.findall(r"^\[(k\d+)\] \([^)]*\) [^:]*: (.*)$", question.user, re.MULTILINE)
    return {description: short for short, description in found}


def naming(
    propose: Callable[..., Proposal], descriptions: Sequence[str], **fields: object
) -> Callable[[Question], str]:
    """A line of a script: the proposal about the memories of these descriptions."""

    def say(question: Question) -> str:
        ids = shown(question)
        return proposals(propose(*(ids[one] for one in descriptions), **fields))

    return say


def both(question: Question) -> str:
    """A merge of the teas and a general rule."""
    ids = shown(question)
    return proposals(merge(*(ids[one] for one in TEAS)), elevate(*(ids[one] for one in RULES)))


def fill(memory: Memory, more: int = 0, **where: Any) -> None:
    """The teas, the rules and `more` memories that have nothing to do with each other."""
    for number, text in enumerate(TEAS):
        memory.add(name=f"tea {number}", description=text, **where)
    for number, text in enumerate(RULES):
        memory.add(name=f"rule {number}", type="feedback", description=text, **where)
    for number in range(more):
        memory.add(name=f"other {number}", description=f"Owns key number {number}", **where)


def valid(memory: Memory, **where: Any) -> dict[str, str]:
    """By description the id of each valid memory."""
    page = memory.list(status="active", limit=1000, **where)
    return {one.description: one.id for one in page.items}
