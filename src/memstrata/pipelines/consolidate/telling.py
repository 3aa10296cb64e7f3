"""What a consolidation came to, for whoever asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from memstrata.domain.memory import Memory
from memstrata.domain.plan import Propose, Put
from memstrata.domain.scope import Key, Scope
from memstrata.pipelines.consolidate.drafting import Drafted
from memstrata.pipelines.world import RULES, World
from memstrata.ports import Stored

Outcome = Literal["planned", "applied", "failed", "nothing to do"]
_TOLD: Final[tuple[Outcome, ...]] = get_args(Outcome)
_NO_MODEL: Final = (
    "no model is set: only memories that are the same word for word are merged, no rule is proposed"
)


@dataclass(frozen=True, slots=True)
class Named:
    """A memory by its id and what it says."""

    id: str
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Made:
    """A memory that is merged of others, or a candidate: what it says, what it is made of."""

    id: str
    name: str
    description: str
    body: str
    of: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What the consolidation of one key came to. `problem`: it failed, and why; `refused`: what may not be."""

    scope: Scope
    scope_ref: str | None
    model: str
    merges: tuple[Made, ...]
    candidates: tuple[Made, ...]
    refused: tuple[str, ...]
    problem: str
    note: str

    def lines(self) -> list[str]:
        """One line a change, for a person."""
        merges = [
            f"merge {' '.join(o.id for o in m.of)} into {m.id} {m.name!r}" for m in self.merges
        ]
        raised = [f"propose {c.id} {c.name!r} from {len(c.of)} rules" for c in self.candidates]
        return [*merges, *raised, *(f"refused: {why}" for why in self.refused)]


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What was planned or done. `digest` names a plan that was kept, until `expires_at`."""

    status: Outcome
    runs: tuple[Run, ...]
    digest: str = ""
    expires_at: datetime | None = None


def report(world: World, drafts: Sequence[Drafted], status: Outcome) -> Consolidation:
    """What drafts that were planned or applied came to."""
    runs = tuple(_run(world, one) for one in drafts)
    if any(one.changes for one in drafts):
        return Consolidation(status, runs)
    failed = any(one.problem for one in runs)
    return Consolidation("failed" if failed else "nothing to do", runs)


def together(several: Sequence[Consolidation]) -> Consolidation:
    """What several keys came to as one answer."""
    states = {one.status for one in several}
    known = [one for one in _TOLD if one in states]
    return Consolidation(
        known[0] if known else "nothing to do", tuple(run for one in several for run in one.runs)
    )


def _run(world: World, drafted: Drafted) -> Run:
    done = drafted.done
    puts = [one for one in drafted.changes if isinstance(one, Put)]
    by_successor: dict[str, list[Named]] = {}
    for put in puts:
        old = put.memory
        if put.base is not None and old.superseded_by:
            by_successor.setdefault(old.superseded_by, []).append(_named(old))
    return Run(
        scope=done.key.scope,
        scope_ref=done.key.ref or None,
        model=done.model,
        merges=tuple(
            Made(m.id, m.name, m.description, m.body, tuple(by_successor[m.id]))
            for m in (put.memory for put in puts if put.base is None)
        ),
        candidates=tuple(
            Made(c.id, c.name, c.description, c.body, _sources(world, done.key, change))
            for change in drafted.changes
            if isinstance(change, Propose)
            for c in (change.candidate,)
        ),
        refused=done.refused,
        problem=done.problem,
        note=_NO_MODEL if done.model == RULES else "",
    )


def _named(one: Memory) -> Named:
    return Named(one.id, one.name, one.description)


def _sources(world: World, key: Key, change: Propose) -> tuple[Named, ...]:
    ids = [source.id for source in change.candidate.sources]
    rows: Mapping[str, Stored | None] = {id: world.store.memory((key,), id) for id in ids}
    return tuple(_named(row.memory) for row in rows.values() if row is not None)
