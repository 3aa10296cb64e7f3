"""A life of a home by chance: the real engine beside a plain model of what is true.

The model knows, by memory, what it says, where it came from, since when and until when it holds,
and which versions it had. It decides by a few sentences of its own what each deed comes to; after
every deed the engine must say the same, find only what is valid, and have nothing left to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.doubles import FakeClock
from tests.faults.conftest import in_memory
from tests.faults.oracle import faults

from memstrata import Conflict, Invalid, Memory, NotFound
from memstrata.pipelines.read import Record

OWNERS: Final = ("local", "ana")
NAMES: Final = ("kiln", "loom", "employer")
SAYS: Final = {"employer": "I work at {}.", "home": "I live in {}."}
TOLD: Final = {"employer": "Works at {}", "home": "Lives in {}"}
VALUES: Final = {"employer": ("Harrow", "Quillon", "Brightwater"), "home": ("Porto", "Braga")}
WORDS: Final = "works lives note"
"""One of these stands in every description: a search for them finds all that may be found."""


@dataclass(frozen=True)
class Text:
    """What one version says."""

    name: str
    description: str
    slot: str
    until: date | None
    began: datetime | None
    said: datetime | None
    sources: frozenset[str]
    sure: bool = True
    """Confidence 1, of what a person typed."""


@dataclass
class Fact:
    """A memory as the model has it. `away`: its file was moved aside."""

    id: str
    owner: str
    text: Text
    created: datetime
    updated: datetime
    person: bool
    version: int = 1
    ended: datetime | None = None
    by: str | None = None
    learned: datetime | None = None
    archived: bool = False
    away: bool = False
    versions: dict[int, Text] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What no other has: ids are an owner's."""
        return f"{self.owner}/{self.id}"

    def status(self, now: datetime) -> str:
        """What it is at `now`, in UTC."""
        if self.archived:
            return "archived"
        if self.ended is not None and self.ended <= now:
            return "invalid"
        return "expired" if self.text.until and self.text.until < now.date() else "active"

    def next(self, now: datetime, text: Text | None = None, *, person: bool | None = None) -> None:
        """Make the next version."""
        self.version += 1
        self.updated = max(now, self.updated)
        self.text = self.text if text is None else text
        self.person = self.person if person is None else person
        self.versions[self.version] = self.text

    def written_at_once(self, before: int) -> None:
        """Whatever a batch did to it is one version more than `before`."""
        if self.version > before + 1:
            self.version = before + 1
            self.versions = {n: text for n, text in self.versions.items() if n <= before}
            self.versions[self.version] = self.text

    def end(self, at: datetime, by: str | None, now: datetime) -> None:
        """Make it invalid."""
        self.ended, self.by, self.learned = at, by, self.learned or now
        self.next(now)

    def revive(self) -> None:
        """Take its end away."""
        self.ended, self.by, self.learned = None, None, None


class Truth(RuleBasedStateMachine):
    """The deeds, and what must hold after each."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory(prefix="memstrata-truth-", dir=in_memory())
        self.home = Path(self.folder.name).resolve() / "home"
        self.clock = FakeClock(datetime(2026, 3, 14, 9, 30, tzinfo=UTC))
        self.facts: dict[str, Fact] = {}
        self.pending: dict[str, list[tuple[str, str, datetime, str]]] = {o: [] for o in OWNERS}
        self.deleted: dict[str, Fact] = {}
        self.forgotten: list[Fact] = []
        self.number = 0

    # -- the engine ------------------------------------------------------------------------------

    @initialize()
    def open(self) -> None:
        """Open the home for the first time."""
        chosen = {"timezone": "UTC", "embedding.model": "none"}
        self.memory = Memory.open(
            self.home, settings=chosen, background=False, clock=self.clock, owner="local"
        )

    def teardown(self) -> None:
        """Judge the whole home once more, files and logs included."""
        try:
            if hasattr(self, "memory"):
                assert faults(self.memory) == []
                self.memory.close()
        finally:
            self.folder.cleanup()

    def listed(self, owner: str, **asked: Any) -> list[Record]:
        return list(self.memory.list(user=owner, limit=1_000, **asked).items)

    # -- the model -------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def of(self, owner: str) -> Iterator[Fact]:
        """What can be seen of an owner."""
        return (one for one in self.facts.values() if one.owner == owner and not one.away)

    def valid(self, owner: str, but: str = "") -> list[Fact]:
        return [one for one in self.of(owner) if one.status(self.now) == "active" and one.id != but]

    def namesake(self, owner: str, name: str, but: str = "") -> Fact | None:
        return next((one for one in self.valid(owner, but) if one.text.name == name), None)

    def rival(self, fact: Fact, text: Text) -> Fact | None:
        """Who holds the slot of a fact."""
        found = (one for one in self.valid(fact.owner, fact.id) if one.text.slot == text.slot)
        return next(found, None) if text.slot else None

    def taken(self, fact: Fact, after: Fact, *, slot: bool) -> bool:
        """Whether what `fact` would be, valid again, takes the name or slot of another."""
        if after.status(self.now) != "active":
            return False
        named = self.namesake(fact.owner, after.text.name, fact.id) is not None
        return named or (slot and self.rival(fact, after.text) is not None)

    def fresh(self) -> int:
        self.number += 1
        return self.number

    def chosen(self, index: int, *, away: bool = False) -> Fact:
        """One of the facts, by a number drawn."""
        some = [one for one in self.facts.values() if away or not one.away]
        return some[index % len(some)]

    # -- turns -----------------------------------------------------------------------------------

    @rule(
        owner=st.sampled_from(OWNERS),
        slot=st.sampled_from(sorted(SAYS)),
        place=st.integers(0, 2),
        drained=st.booleans(),
    )
    def say(self, owner: str, slot: str, place: int, drained: bool) -> None:
        """A turn that states a value of a slot; extracted at once or later."""
        self.clock.advance(minutes=1)
        value = VALUES[slot][place % len(VALUES[slot])]
        id = f"m{self.fresh()}"
        self.memory.session("chat", user=owner).commit(
            [{"role": "user", "content": SAYS[slot].format(value), "id": id, "said_at": self.now}]
        )
        self.pending[owner].append((slot, TOLD[slot].format(value), self.now, id))
        if drained:
            self.drain()

    @rule()
    def drain(self) -> None:
        """What waits is extracted."""
        self.clock.advance(minutes=1)
        self.memory.drain()
        before = {key: one.version for key, one in self.facts.items()}
        for owner in OWNERS:
            new = self.unknown(owner)
            for slot, description, at, source in self.pending[owner]:
                self.hear(owner, slot, description, at, source, new)
            self.pending[owner].clear()
            assert new == []
        for key, one in self.facts.items():
            one.written_at_once(before.get(key, 0))

    def unknown(self, owner: str) -> list[Record]:
        """What the engine lists and the model has not."""
        return [row for row in self.listed(owner) if f"{owner}/{row.id}" not in self.facts]

    def hear(
        self, owner: str, slot: str, told: str, at: datetime, source: str, new: list[Record]
    ) -> None:
        """What one statement comes to: a source, a new value, or nothing against a person's word."""
        line = [one for one in self.of(owner) if one.text.slot == slot and not one.archived]
        open_ = [one for one in line if one.ended is None or one.ended > at]
        open_.sort(key=lambda one: (one.text.began or at, one.id))
        same = [o for o in open_ if o.text.description == told and o.status(self.now) != "expired"]
        if same:
            one = same[-1]
            text = replace(one.text, said=at, sources=one.text.sources | {source})
            one.text = one.versions[one.version] = text
            return
        if any(
            one.person and one.status(self.now) == "active" and one.updated > at for one in line
        ):
            return
        row = next(one for one in new if one.description == told)
        new.remove(row)
        for one in open_:
            one.end(at, row.id, self.now)
        for one in self.of(owner):  # an expired namesake gives way
            if one.text.name == slot and one.ended is None and one.status(self.now) == "expired":
                one.end(max(at, one.text.began or at), row.id, self.now)
        taken = self.namesake(owner, slot) is not None
        name = f"{slot} ({row.id[-6:]})" if taken else slot
        text = Text(name, told, slot, None, at, at, frozenset({source}), sure=False)
        self.keep(row, owner, text, person=False)

    def keep(self, row: Record, owner: str, text: Text, *, person: bool) -> None:
        fact = Fact(row.id, owner, text, self.now, self.now, person)
        gone = self.deleted.pop(fact.key, None)
        if gone is not None:  # a file of the same name is a new memory behind the old one's history
            fact.version, fact.versions = gone.version + 2, gone.versions
        fact.versions[fact.version] = text
        self.facts[fact.key] = fact

    # -- a person --------------------------------------------------------------------------------

    @rule(
        owner=st.sampled_from(OWNERS), name=st.sampled_from(NAMES), days=st.sampled_from([0, 1, 30])
    )
    def add(self, owner: str, name: str, days: int) -> None:
        """Type a memory, perhaps with a last day."""
        until = self.now.date() + timedelta(days) if days else None
        description = f"Note {self.fresh()}"

        def write() -> Record:
            return self.memory.add(
                user=owner, name=name, description=description, valid_until=until
            )

        if self.namesake(owner, name) is not None:
            self.refused(write, "ALREADY_EXISTS")
            return
        row = write()
        self.expire_namesakes(owner, name, row.id)
        text = Text(name, description, "", until, self.now, None, frozenset())
        self.keep(row, owner, text, person=True)

    @rule(
        owner=st.sampled_from(OWNERS),
        name=st.sampled_from(NAMES),
        what=st.sampled_from(["confirm", "stale", "reject"]),
    )
    def propose(self, owner: str, name: str, what: str) -> None:
        """A general rule that somebody put before a person: confirmed, on an old digest, or rejected."""
        self.clock.advance(minutes=1)
        tree = self.home if owner == "local" else self.home / "owners" / owner
        folder = tree / "candidates" / "user"
        folder.mkdir(parents=True, exist_ok=True)
        number = self.fresh()
        told = f"---\nname: {name}\ndescription: Note {number}\n---\n"
        (folder / f"cand_{number}.md").write_text(told)
        (one,) = self.memory.candidates(user=owner)
        digest = one.digest[::-1] if what == "stale" else one.digest

        def write() -> Record:
            return self.memory.confirm(one.id, digest=digest, user=owner)

        if what == "stale":
            self.refused(write, "VERSION_CONFLICT")
        elif what == "confirm" and self.namesake(owner, name) is not None:
            self.refused(write, "ALREADY_EXISTS")
        elif what == "confirm":
            row = write()
            self.expire_namesakes(owner, name, row.id)
            text = Text(name, one.description, "", None, self.now, None, frozenset())
            self.keep(row, owner, text, person=True)
            assert (row.type, row.origin) == ("feedback", "consolidation")
        if self.memory.candidates(user=owner):
            self.memory.reject(one.id, user=owner)
        assert self.memory.candidates(user=owner) == ()

    def expire_namesakes(self, owner: str, name: str, by: str) -> None:
        for one in self.of(owner):
            expired = one.status(self.now) == "expired" and one.ended is None
            if expired and one.text.name == name and one.id != by:
                one.end(self.now, by, self.now)

    def refused(self, write: Callable[[], object], reason: str) -> None:
        with pytest.raises(Conflict) as caught:
            write()
        assert caught.value.reason == reason

    @precondition(lambda self: any(not one.away for one in self.facts.values()))
    @rule(
        index=st.integers(0, 99),
        stale=st.booleans(),
        what=st.sampled_from(["description", "name", "until", "no end"]),
        name=st.sampled_from(NAMES),
        days=st.integers(-2, 5),
    )
    def edit(self, index: int, stale: bool, what: str, name: str, days: int) -> None:
        """Correct a memory, on its version or an older one."""
        self.clock.advance(minutes=1)
        fact = self.chosen(index)
        until = self.now.date() + timedelta(days)
        choices: dict[str, dict[str, Any]] = {
            "description": {"description": f"Note {self.fresh()}"},
            "name": {"name": name},
            "until": {"valid_until": until},
            "no end": {"valid_until": None},
        }
        fields = choices[what]
        text = replace(
            fact.text,
            description=fields.get("description", fact.text.description),
            name=fields.get("name", fact.text.name),
            until=fields.get("valid_until", fact.text.until),
            sure=True,
        )

        def write() -> Record:
            expected = fact.version - stale or fact.version + 1
            return self.memory.edit(fact.id, user=fact.owner, expected_version=expected, **fields)

        if stale:
            self.refused(write, "VERSION_CONFLICT")
            return
        changed = text != fact.text or not fact.person
        after = replace(fact, text=text)
        if changed and self.taken(fact, after, slot=fact.status(self.now) != "active"):
            self.refused(write, "ALREADY_EXISTS")
            return
        write()
        if changed:
            fact.next(self.now, text, person=True)

    @precondition(lambda self: any(not one.away for one in self.facts.values()))
    @rule(index=st.integers(0, 99))
    def archive(self, index: int) -> None:
        """Put a memory aside."""
        fact = self.chosen(index)
        self.memory.archive(fact.id, user=fact.owner)
        if not fact.archived:
            fact.archived = True
            fact.next(self.now)

    @precondition(lambda self: self.facts)
    @rule(index=st.integers(0, 99))
    def restore(self, index: int) -> None:
        """Bring back what was put aside, has ended, or whose file is away."""
        fact = self.chosen(index, away=True)

        def write() -> Record:
            return self.memory.restore(fact.id, user=fact.owner)

        status, after = fact.status(self.now), replace(fact, archived=False)
        if status == "expired":
            with pytest.raises(Invalid):
                write()
            return
        if status == "invalid":
            after.revive()
        if status == "invalid" and self.superseded_by_a_valid_one(fact):
            self.refused(write, "ALREADY_EXISTS")
            return
        changed = status != "active" or fact.away
        if changed and self.taken(fact, after, slot=True):
            self.refused(write, "ALREADY_EXISTS")
            return
        write()
        if changed:
            self.back_in_use(fact, revived=status == "invalid")

    def back_in_use(self, fact: Fact, *, revived: bool, text: Text | None = None) -> None:
        fact.archived = False
        if revived:
            fact.revive()
        fact.next(self.now, text, person=True if revived else None)
        if fact.away:
            fact.away = False
            self.aside(fact).unlink()

    def superseded_by_a_valid_one(self, fact: Fact) -> bool:
        seen, by = {fact.id}, fact.by
        while by and by not in seen and f"{fact.owner}/{by}" in self.facts:
            seen.add(by)
            one = self.facts[f"{fact.owner}/{by}"]
            if not one.away and one.status(self.now) == "active":
                return True
            by = one.by
        return False

    @precondition(lambda self: self.facts)
    @rule(index=st.integers(0, 99), version=st.integers(1, 4))
    def restore_version(self, index: int, version: int) -> None:
        """Bring back what an older version said."""
        fact = self.chosen(index, away=True)

        def write() -> Record:
            return self.memory.restore(fact.id, user=fact.owner, version=version)

        if version not in fact.versions:
            with pytest.raises(NotFound):
                write()
            return
        then = fact.versions[version]
        text = replace(then, sources=fact.text.sources | then.sources)
        after = replace(fact, text=text, archived=False)
        after.revive()
        invalid = fact.status(self.now) == "invalid"
        if invalid and self.superseded_by_a_valid_one(fact):
            self.refused(write, "ALREADY_EXISTS")
            return
        same = (text, fact.archived, fact.ended, fact.person) == (fact.text, False, None, True)
        changed = not same or fact.away
        was_there = fact.status(self.now) == "active" and not fact.away
        if changed and self.taken(fact, after, slot=not was_there):
            self.refused(write, "ALREADY_EXISTS")
            return
        write()
        if changed:
            self.back_in_use(fact, revived=True, text=text)

    @precondition(lambda self: self.facts)
    @rule(index=st.integers(0, 99))
    def delete(self, index: int) -> None:
        """Delete a memory for good."""
        fact = self.chosen(index, away=True)
        assert self.memory.delete(fact.id, user=fact.owner).status == "deleted"
        self.deleted[fact.key] = fact
        del self.facts[fact.key]
        with suppress(FileNotFoundError):
            self.aside(fact).unlink()

    # -- forgetting ------------------------------------------------------------------------------

    @precondition(lambda self: any(not one.away for one in self.facts.values()))
    @rule(index=st.integers(0, 99), verify=st.booleans())
    def forget(self, index: int, verify: bool) -> None:
        """Forget a memory and what it was drawn from, to the last byte."""
        self.clock.advance(minutes=1)
        fact = self.chosen(index)
        if any(one.away for one in self.facts.values() if one.owner == fact.owner):
            return  # a file that is put back by hand names what came after it
        receipt = self.memory.forget(ids=[fact.id], user=fact.owner, verify=verify)
        assert receipt.erased == (fact.id,)
        assert receipt.counts["messages"] == len(self.said(fact))
        assert receipt.verified is None or receipt.verified.clean
        self.gone(fact.owner, {fact.id})

    @rule(owner=st.sampled_from(OWNERS))
    def forget_session(self, owner: str) -> None:
        """Forget all that was said, and what was drawn from it; what was typed stays."""
        self.clock.advance(minutes=1)
        if any(one.away for one in self.facts.values() if one.owner == owner):
            return
        every = {**self.facts, **self.deleted}.values()
        drawn = {one.id for one in every if one.owner == owner and self.said(one)}
        try:
            receipt = self.memory.forget(session="chat", user=owner)
        except NotFound:
            assert not drawn
            assert not self.pending[owner]
            return
        assert set(receipt.erased) == drawn
        self.pending[owner].clear()
        self.gone(owner, drawn)

    def said(self, fact: Fact) -> frozenset[str]:
        """Every message that any version of a memory was drawn from."""
        every = (fact.text, *fact.versions.values())
        return frozenset().union(*(text.sources for text in every))

    def gone(self, owner: str, ids: set[str]) -> None:
        """These are forgotten: what they took the place of stays ended, and names the next that is left."""
        going: dict[str, Fact] = {}
        for key in (f"{owner}/{id}" for id in ids):
            fact = self.facts.pop(key, None) or self.deleted.pop(key)
            going[fact.id] = fact
        self.forgotten += going.values()
        for one in [one for one in self.facts.values() if one.owner == owner]:
            if one.by in going:
                while one.by in going:
                    one.by = going[one.by].by
                one.next(self.now)
        for one in (*self.facts.values(), *self.deleted.values()):
            if one.owner == owner:
                self.lose_versions(one, going)
        self.clock.advance(minutes=1)  # what is made under the same name from here on is another

    def lose_versions(self, fact: Fact, going: Collection[str]) -> None:
        """The versions that named what is forgotten are no part of a history any more."""
        lines = self.memory.history(fact.id, user=fact.owner)
        told = {line.version for line in lines}
        fact.versions = {n: text for n, text in fact.versions.items() if n in told}
        assert not any(id in line.why for line in lines for id in going)

    # -- the files -------------------------------------------------------------------------------

    def path(self, fact: Fact) -> Path:
        return self.home / self.memory.get(fact.id, user=fact.owner).path

    def aside(self, fact: Fact) -> Path:
        return self.home.parent / f"{fact.owner}-{fact.id}"

    def user_folder(self, owner: str) -> Path:
        return self.home / ("memory/user" if owner == "local" else f"owners/{owner}/memory/user")

    @precondition(lambda self: any(not one.away for one in self.facts.values()))
    @rule(index=st.integers(0, 99))
    def edit_by_hand(self, index: int) -> None:
        """Change the description in a file."""
        self.clock.advance(minutes=1)
        fact = self.chosen(index)
        path, description = self.path(fact), f"Note {self.fresh()}"
        before = path.read_text()
        path.write_text(before.replace(fact.text.description, description, 1))
        self.memory.reconcile()
        fact.next(self.now, replace(fact.text, description=description), person=True)

    @rule(owner=st.sampled_from(OWNERS), name=st.sampled_from(NAMES))
    def make_by_hand(self, owner: str, name: str) -> None:
        """Write a file of plain words; its expired namesake gives way, a valid one keeps its name."""
        folder = self.user_folder(owner)
        path = folder / f"{name}.md"
        if path.exists() or f"{owner}/{name}" in self.facts or not any(self.of(owner)):
            return
        description = f"Note {self.fresh()}"
        path.write_text(f"{description}\n")
        report = self.memory.reconcile()
        if self.namesake(owner, name) is not None:
            assert any("belongs to" in one.problem for one in report.problems)
            path.unlink()
            self.memory.reconcile()
            return
        (row,) = self.unknown(owner)
        self.expire_namesakes(owner, name, row.id)
        text = Text(name, description, "", None, row.valid_from, None, frozenset())
        self.keep(row, owner, text, person=True)

    @precondition(lambda self: any(not one.away for one in self.facts.values()))
    @rule(index=st.integers(0, 99))
    def move_aside(self, index: int) -> None:
        """Take a file away."""
        fact = self.chosen(index)
        self.path(fact).rename(self.aside(fact))
        self.memory.reconcile()
        fact.away = True

    @precondition(lambda self: any(one.away for one in self.facts.values()))
    @rule(index=st.integers(0, 99))
    def put_back(self, index: int) -> None:
        """Put a file back; of two values of a slot the later one is valid."""
        away = [one for one in self.facts.values() if one.away]
        fact = away[index % len(away)]
        rival = self.rival(fact, fact.text) if fact.status(self.now) == "active" else None
        namesake = self.namesake(fact.owner, fact.text.name, fact.id)
        if fact.status(self.now) == "active" and namesake not in (None, rival):
            return  # it would be reported, and stay so until the name is free
        self.aside(fact).rename(self.path(fact))
        self.memory.reconcile()
        fact.away = False
        if rival is not None:
            pair = sorted((fact, rival), key=lambda one: (one.text.began, one.created, one.id))
            at = pair[1].text.began
            assert at is not None
            pair[0].end(at, pair[1].id, self.now)

    # -- time and death --------------------------------------------------------------------------

    @rule(days=st.sampled_from([1, 2, 31]))
    def days_pass(self, days: int) -> None:
        """Some memories expire."""
        self.clock.advance(days=days)
        self.memory.reconcile()

    @rule(database=st.booleans())
    def crash(self, database: bool) -> None:
        """The process dies without closing, perhaps the database is lost, and the home is opened again."""
        self.memory._world.store.close()
        if database:
            for path in self.home.glob("memstrata.db*"):
                path.unlink()
        self.open()

    # -- what must hold --------------------------------------------------------------------------

    @invariant()
    def the_engine_says_what_the_model_says(self) -> None:
        """Ids, texts, versions, statuses, ends and sources of each owner; and nothing is left to do."""
        if not hasattr(self, "memory"):
            return
        self.memory.reconcile()  # MEMORY.md, which is written once a second
        assert self.memory.reconcile().actions == []
        for owner in OWNERS:
            rows = {row.id: row for row in self.listed(owner)}
            assert rows.keys() == {one.id for one in self.of(owner)}
            for one in self.of(owner):
                row = rows[one.id]
                assert seen(row) == modelled(one, self.now), one.id
            active = self.listed(owner, status="active")
            assert {row.id for row in active} == {one.id for one in self.valid(owner)}
            assert len({row.name for row in active}) == len(active)

    @invariant()
    def a_search_finds_what_is_valid_and_nothing_else(self) -> None:
        """Now, then, and as far as was known then."""
        if not hasattr(self, "memory"):
            return
        moments: list[tuple[datetime | None, datetime | None]] = [(None, None)]
        if self.facts:
            ends = [one.ended for one in self.facts.values() if one.ended]
            some = max(ends) if ends else self.now - timedelta(days=1)
            moments += [(some - timedelta(seconds=1), None), (None, some), (some, some)]
        for owner in OWNERS:
            for as_of, known_at in moments:
                hits = self.memory.search(
                    WORDS,
                    kinds=("memory",),
                    user=owner,
                    limit=1_000,
                    as_of=as_of,
                    known_at=known_at,
                )
                expected = {o.id for o in self.of(owner) if self.holds(o, as_of, known_at)}
                assert {hit.id for hit in hits} == expected, (as_of, known_at)

    def holds(self, one: Fact, as_of: datetime | None, known_at: datetime | None) -> bool:
        at = as_of or self.now
        if one.archived or (known_at is not None and one.created > known_at):
            return False
        known = known_at is None or one.learned is None or one.learned <= known_at
        if one.ended is not None and one.ended <= at and known:
            return False
        if one.text.until is not None and one.text.until < at.date():
            return False
        return as_of is None or one.text.began is None or one.text.began <= as_of

    @invariant()
    def history_has_every_version_and_strangers_see_nothing(self) -> None:
        """Versions are counted without a gap; another owner is told that there is no such id."""
        for one in list(self.facts.values())[-3:]:
            lines = self.memory.history(one.id, user=one.owner)
            told = {line.version for line in lines}
            assert max(told) == one.version
            assert set(one.versions) <= told
            if not self.forgotten:
                assert sorted(told) == list(range(1, one.version + 1))
            stranger = next(owner for owner in OWNERS if owner != one.owner)
            if f"{stranger}/{one.id}" in {**self.facts, **self.deleted}:
                continue  # a file of the same name
            for read in (self.memory.get, self.memory.history, self.memory.trace):
                with pytest.raises(NotFound):
                    read(one.id, user=stranger)
        for gone in list(self.deleted.values())[-2:]:
            with pytest.raises(NotFound):
                self.memory.get(gone.id, user=gone.owner)

    @invariant()
    def nothing_tells_of_what_is_forgotten(self) -> None:
        """No file, no history; a file of the same name that was made later is a memory of its own."""
        for gone in self.forgotten[-2:]:
            note = gone.text.description
            if note.startswith("Note "):
                words = re.compile(rf"{note}(?![0-9])".encode())
                files = [path for path in self.home.rglob("*") if path.is_file()]
                assert [path for path in files if words.search(path.read_bytes())] == []
            if gone.key not in {**self.facts, **self.deleted}:
                with pytest.raises(NotFound):
                    self.memory.history(gone.id, user=gone.owner)


def seen(row: Record) -> tuple[object, ...]:
    """What the engine says of a memory."""
    return (
        row.name,
        row.description,
        row.version,
        row.status,
        row.valid_until,
        row.invalid_at,
        row.superseded_by,
        row.authority == "person",
        frozenset(one.message for one in row.evidence),
        row.presence,
    )


def modelled(one: Fact, now: datetime) -> tuple[object, ...]:
    """The same of the model."""
    text = one.text
    return (
        text.name,
        text.description,
        one.version,
        one.status(now),
        text.until,
        one.ended,
        one.by,
        one.person,
        text.sources,
        "live",
    )


QUIET: Final = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@pytest.mark.promise("truth.machine")
def test_a_life_by_chance() -> None:
    """A few lives, the same at each run."""
    few = settings(
        max_examples=15,
        stateful_step_count=20,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=QUIET,
    )
    run_state_machine_as_test(Truth, settings=few)


@pytest.mark.long
@pytest.mark.promise("truth.machine")
def test_many_long_lives_by_chance() -> None:
    """Many, other ones at each run."""
    many = settings(
        max_examples=400, stateful_step_count=50, deadline=None, suppress_health_check=QUIET
    )
    run_state_machine_as_test(Truth, settings=many)
