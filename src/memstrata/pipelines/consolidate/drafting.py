"""The draft of a key's consolidation: what of the proposals may be, until it is applied as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memstrata.domain import consolidate, gates, layout, markdown, redact
from memstrata.domain.consolidate import Wording
from memstrata.domain.kept_plan import Kept
from memstrata.domain.memory import Memory, normalised_name
from memstrata.domain.plan import Base, Consolidated, Plan, Propose, Put
from memstrata.domain.scope import Key
from memstrata.errors import Corrupt
from memstrata.pipelines import apply, pending
from memstrata.pipelines.apply import Target
from memstrata.pipelines.world import World
from memstrata.ports import Stored
from memstrata.prompts.consolidate import Proposed

CONSOLIDATION: Final = "consolidation"
"""The purpose under which the ledger books these calls, and who wrote what came of them."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """What is to be done to one key."""

    changes: tuple[Kept, ...]
    done: Consolidated
    target: Target
    weighed: int

    @property
    def plan(self) -> Plan:
        """Everything as one."""
        return Plan((*self.changes, self.done))


@dataclass(slots=True)
class Draft:
    """The changes so far: a later proposal meets what an earlier one came to."""

    world: World
    key: Key
    target: Target
    rows: Sequence[Stored]
    model: str
    changes: list[Kept] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    merged: int = 0
    problem: str = ""
    _taken: set[str] = field(default_factory=set)
    _merges: int = 0
    _known: dict[str, str] | None = None

    @property
    def now(self) -> datetime:
        """The present."""
        return self.world.clock.now()

    def take(self, one: Proposed) -> None:
        """Take a proposal in, or note why it may not be."""
        why = self._secret(one.wording)
        if not why:
            why = self._merge(one) if one.kind == "merge" else self._elevate(one)
        if why:
            self.refused.append(f"{one.kind} {self._told(one.wording.name)!r}: {why}")

    def _merge(self, one: Proposed) -> str:
        by_id = {row.memory.id: row for row in self.rows}
        rows = [by_id[source.id] for source in one.sources]
        if self._taken.intersection(by.memory.id for by in rows):
            return "one of them is in another merge"
        if self._merges >= consolidate.MOST_MERGES:
            return f"a run makes at most {consolidate.MOST_MERGES} merges"
        if len({row.owner for row in rows}) > 1:
            return "different people wrote them"
        found = consolidate.merged(
            one.sources,
            one.wording,
            id=self.world.clock.new_id("mem_"),
            now=self.now,
            zone=self.world.zone,
        )
        if isinstance(found, str):
            return found
        found = self._named(found, one.sources)
        why = self._still_secret(found) or self._unreadable(found)
        if why:
            return why
        self._put(found, rows)
        return ""

    def _put(self, fresh: Memory, rows: Sequence[Stored]) -> None:
        ids = [row.memory.id for row in rows]
        who, author = f"{CONSOLIDATION}:{self.model}", rows[0].owner
        self.changes.append(Put(fresh, "add", who, f"merged of {', '.join(ids)}", None, author))
        for row in rows:
            old = consolidate.ended(row.memory, fresh, self.now)
            base = Base(row.memory.version, row.digest)
            why = f"merged into {fresh.id}"
            self.changes.append(Put(old, "supersede", who, why, base, author))
        self._taken.update(ids)
        self._merges += 1
        self.merged += len(rows)

    def _named(self, fresh: Memory, sources: Sequence[Memory]) -> Memory:
        """With a name of its own: one that it takes over, or that nobody valid has."""
        mine = {source.id for source in sources}
        name = normalised_name(fresh.name)
        holders = [row.memory for row in self.world.store.named(self.key, name)]
        holders += [one.memory for one in self.changes if isinstance(one, Put) and not one.base]
        if any(
            holder.id not in mine and normalised_name(holder.name) == name for holder in holders
        ):
            return replace(fresh, name=f"{fresh.name[:100].rstrip()} ({fresh.id[-6:]})")
        return fresh

    def _elevate(self, one: Proposed) -> str:
        if self._taken.intersection(source.id for source in one.sources):
            return "one of its sources is merged in this run"
        if sum(isinstance(o, Propose) for o in self.changes) >= consolidate.MOST_PROPOSED:
            return f"a run proposes at most {consolidate.MOST_PROPOSED} rules"
        if self._known is None:
            self._known = pending.known(self.world, self.key)
        found = consolidate.elevated(
            one.sources,
            one.wording,
            self._known,
            id=self.world.clock.new_id("cand_"),
            model=self.model,
            now=self.now,
            zone=self.world.zone,
        )
        if isinstance(found, str):
            return found
        self.changes.append(Propose(self.key, found, f"{CONSOLIDATION}:{self.model}"))
        self._known |= dict.fromkeys(found.fingerprints, "it is proposed in this run already")
        return ""

    def _secret(self, wording: Wording) -> str:
        """What the sensitive gate says, first of all: no reason of another one may repeat a secret."""
        texts = (wording.name, wording.description, wording.body)
        found = self.world.findings([*texts, " ".join(texts)])
        refusal = gates.sensitive([one.kind for one in found])
        return "" if refusal is None else refusal.reason

    def _still_secret(self, memory: Memory) -> str:
        """The same on the result, which has the sources' quotes and names besides."""
        refusal = gates.sensitive([found.kind for found in self.world.findings_of(memory)])
        return "" if refusal is None else refusal.reason

    def _unreadable(self, memory: Memory) -> str:
        """Whether its file would not say what it says, before anything is given up for it."""
        place = layout.memory_file(memory.key, memory.id, self.target.root)
        data = apply.rendered(memory, self.target)
        try:
            again = markdown.parse(
                data, str(place), memory.key, now=memory.created_at, zone=self.world.zone
            )
        except Corrupt as error:
            return f"its file could not be read: {error.problem}"
        said = (again.id, again.name, again.description, again.body)
        same = said == (memory.id, memory.name, memory.description, memory.body)
        return "" if same else "its file would say something else"

    def _told(self, name: str) -> str:
        shown = redact.mask(name, "all")[:120]
        return "(withheld)" if self.world.findings([shown]) else shown
