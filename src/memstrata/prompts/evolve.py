"""Asking what new candidates do to what is known, and what of the answer may be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memstrata.domain.candidate import Candidate
from memstrata.domain.memory import Memory
from memstrata.domain.ruling import Ruling
from memstrata.prompts.answers import DecisionItem, Rejected
from memstrata.prompts.template import Rendered, load, one_line

Known = Sequence[Sequence[Memory]]
"""The known memories that each candidate is weighed against, in the candidates' order."""


@dataclass(frozen=True, slots=True)
class Ruled:
    """What a candidate does; `target` is the id of a memory it was shown, `""` for `add`."""

    ruling: Ruling
    target: str
    reason: str


def question(candidates: Sequence[Candidate], known: Known) -> Rendered:
    """The evolution prompt. Candidates are numbered from 1, memories shown under short ids k1, k2, …"""
    ids = _ids(known)
    lines: list[str] = []
    for number, (candidate, memories) in enumerate(zip(candidates, known, strict=True), start=1):
        lines.append(f"candidate {number}: {_told(candidate)}")
        lines += [f"    [{ids[memory.id]}] {_told(memory)}" for memory in memories]
        lines += [] if memories else ["    nothing known"]
    return load("evolve").render(candidates="\n".join(lines))


def rulings(
    items: Sequence[DecisionItem], known: Known
) -> tuple[dict[int, Ruled], tuple[Rejected, ...]]:
    """The usable decisions by candidate (from 0), and the others (`index` is their candidate's).

    A decision may only name a memory that was shown under its candidate, by its id or, as small models
    do, by its name; where just one was, it need not name it. Of two decisions on one candidate the first counts.
    """
    ids = _ids(known)
    found: dict[int, Ruled] = {}
    rejected: list[Rejected] = []
    for item in items:
        index = item.candidate - 1
        if index >= len(known):
            rejected.append(Rejected(index, "there is no such candidate"))
        elif index in found:
            rejected.append(Rejected(index, "this candidate was decided on already"))
        elif item.decision == "add":
            found[index] = Ruled("add", "", item.reason)
        elif target := _target(item.target, known[index], ids):
            found[index] = Ruled(item.decision, target, item.reason)
        else:
            rejected.append(Rejected(index, f"{item.decision} names no memory that it was shown"))
    return found, tuple(rejected)


def _ids(known: Known) -> dict[str, str]:
    """Memory id → the short id it is shown under, the same wherever it is shown."""
    every = dict.fromkeys(memory.id for memories in known for memory in memories)
    return {id: f"k{number}" for number, id in enumerate(every, start=1)}


def _target(named: str, memories: Sequence[Memory], ids: Mapping[str, str]) -> str:
    named = named.strip("[]() ")
    if not named:
        return memories[0].id if len(memories) == 1 else ""
    shown = {name: one.id for one in memories for name in (one.id, ids[one.id])}
    if found := shown.get(named) or shown.get(named.lower()):
        return found
    by_name = [one.id for one in memories if one.name.casefold() == named.casefold()]
    return by_name[0] if len(by_name) == 1 else ""


def _told(one: Candidate | Memory) -> str:
    """One line: what it says, about whom, since when."""
    facts = [f"about {one.subject}" if one.subject else "", one.slot]
    facts += [f"said {one.said_at.date()}" if one.said_at else ""]
    facts += [f"until {one.valid_until}" if one.valid_until else ""]
    ends = isinstance(one, Candidate) and one.change == "ends"
    facts += ["only says that it is over" if ends else ""]
    told = ", ".join(filter(None, facts))
    return one_line(f"{one.name}: {one.description}{f' ({told})' if told else ''}")
