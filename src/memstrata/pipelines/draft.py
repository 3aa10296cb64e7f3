"""The draft of a batch: what its candidates make of the memories, until it is applied as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from memstrata.domain import evolve, gates, likeness, redact, ruling, terms
from memstrata.domain.candidate import Candidate
from memstrata.domain.entities import Aliases
from memstrata.domain.evolve import Decision, Known, Step
from memstrata.domain.memory import Memory, Type, normalised_name
from memstrata.domain.plan import Base, Change, Put, Verb, Verdict
from memstrata.domain.ruling import Given, Objection
from memstrata.domain.scope import Key, Realm
from memstrata.domain.turn import Message
from memstrata.pipelines import apply, bind, entities
from memstrata.pipelines import recorded as records
from memstrata.pipelines.world import World
from memstrata.ports import Stored

Matches = Callable[[Memory], bool]
_NEIGHBOURS: Final = 10


class Draft:
    """The memories as this batch has changed them so far: a later candidate meets an earlier one's result."""

    def __init__(
        self,
        world: World,
        realm: Realm,
        extractor: str,
        messages: Iterable[Message],
        *,
        workspace: str = "",
        agent: str = "",
        known: Iterable[Message] = (),
    ) -> None:
        """`known` are those of the messages that were read before: what was drawn from them may be deleted."""
        self._world = world
        self._realm = realm
        self._extractor = extractor
        self._workspace = workspace
        self._agent = agent
        self._limits = world.limits()
        self._messages: Mapping[tuple[str, str], Message] = {
            (one.session, one.id): one for one in messages
        }
        self._known_before = frozenset((one.session, one.id) for one in known)
        self._deleted: dict[Key, tuple[Memory, ...]] = {}
        self._now = world.clock.now()
        self._aliases = entities.aliases(world, realm)
        self._full: set[Key] = set()
        self._drafted: dict[str, Memory] = {}
        self._bases: dict[str, Base | None] = {}
        self._verbs: dict[str, tuple[Verb, str]] = {}

    def refused(self, candidate: Candidate) -> Verdict | None:
        """The verdict of the gates that need no other memory, where one of them says no."""
        kinds = [finding.kind for finding in self._world.findings(_words(candidate))]
        refusal = gates.check(
            candidate,
            self._messages,
            limits=self._limits,
            has_workspace=bool(self._workspace),
            kinds=kinds,
        )
        if refusal is None and candidate.scope == "agent" and not self._agent:
            refusal = gates.Refusal(
                "confidence", "no_workspace", "is an agent's, and none is named"
            )
        return None if refusal is None else self._no(candidate, refusal, bool(kinds))

    def shown(self, candidate: Candidate) -> tuple[Memory, ...]:
        """The valid memories that a ruling on `candidate` is asked about; none if it says one of them again."""
        known = self._known(candidate, self._key(candidate))
        if evolve.identical(candidate, known, self._now, self._world.zone) is not None:
            return ()
        every = {one.id: one for one in (*known.slot, *known.named, *known.alike)}
        return tuple(
            one for one in every.values() if one.status(self._now, self._world.zone) == "active"
        )

    def decide(self, candidate: Candidate, given: Given | Objection | None = None) -> Verdict:
        """Take a `candidate` that was not refused into the draft, by the ruling `given` or by the rules."""
        key = self._key(candidate)
        gone = self._deleted_by_hand(candidate, key)
        if gone is not None:
            why = f"{gone.id} was deleted by hand; said again it is new"
            return Verdict("noop", "duplicates", candidate.name, why, gone.id, _sources(candidate))
        decision = self._decision(candidate, key, given)
        refusal = self._full_scope(candidate, key) if decision.adds else None
        if refusal is not None:
            return self._no(candidate, refusal, False)
        refusal = gates.sensitive(self._kinds(decision))
        if refusal is not None:
            return self._no(candidate, refusal, True)
        for step in decision.steps:
            self._take(step)
        gate = "duplicates" if decision.verdict == "noop" else ""
        return Verdict(
            decision.verdict,
            gate,
            candidate.name,
            decision.reason,
            decision.memory,
            _sources(candidate),
        )

    def _deleted_by_hand(self, candidate: Candidate, key: Key) -> Memory | None:
        """The deleted memory that `candidate` would bring back from what was read before."""
        if not any((e.session, e.message) in self._known_before for e in candidate.evidence):
            return None
        if key not in self._deleted:
            self._deleted[key] = tuple(records.deleted(self._world, key))
        return evolve.deleted_before(candidate, self._deleted[key])

    def _decision(
        self, candidate: Candidate, key: Key, given: Given | Objection | None
    ) -> Decision:
        known = self._known(candidate, key)
        id = self._world.clock.new_id("mem_")
        now, zone = self._now, self._world.zone
        if given is None:
            return evolve.decide(candidate, known, key, id=id, now=now, zone=zone)
        if isinstance(given, Given) and given.target is not None:
            given = replace(given, target=self._drafted.get(given.target.id, given.target))
        return ruling.judge(
            candidate, given, known, key, id=id, now=now, zone=zone, aliases=self._aliases
        )

    def _full_scope(self, candidate: Candidate, key: Key) -> gates.Refusal | None:
        refusal = gates.quota(candidate.type, candidate.scope, self._valid(key), self._limits)
        if refusal is not None:
            self._say_full(key)
        return refusal

    def _kinds(self, decision: Decision) -> list[str]:
        """What the scanner finds in the texts that the decision would bring about."""
        written = (
            step.memory for step in decision.steps if step.verb in ("add", "update", "merge")
        )
        return [found.kind for memory in written for found in self._world.findings_of(memory)]

    def _say_full(self, key: Key) -> None:
        """Once a batch and key, however many it refuses."""
        if key not in self._full:
            self._full.add(key)
            self._world.bus.emit("scope.full", degraded=True, scope=key.scope, ref=key.ref)

    def changes(self) -> tuple[Change, ...]:
        """The puts that bring the draft about, new before old."""
        puts = [
            Put(memory, *self._named_verb(id), self._bases[id])
            for id, memory in self._drafted.items()
        ]
        return tuple(sorted(puts, key=lambda put: put.base is not None))

    def targets(self) -> dict[Key, apply.Target]:
        """Where each key of the draft lies."""
        keys = {memory.key for memory in self._drafted.values()}
        return {key: bind.target(self._world, key, self._realm.owner) for key in keys}

    def _named_verb(self, id: str) -> tuple[Verb, str, str]:
        verb, why = self._verbs[id]
        return verb, f"extraction:{self._extractor}", why

    def _no(self, candidate: Candidate, refusal: gates.Refusal, secret: bool) -> Verdict:
        """The verdict of a refusal; its name is kept out where it may hold the secret itself."""
        name = redact.mask(candidate.name, "all")
        if secret and self._world.findings([name]):
            name = "(withheld)"
        return Verdict(refusal.verdict, refusal.gate, name, refusal.reason, "", _sources(candidate))

    def _key(self, candidate: Candidate) -> Key:
        realm = self._realm
        match candidate.scope:
            case "user":
                return Key(realm, "user", "")
            case "agent":
                return Key(realm, "agent", self._agent)
            case "project":
                return Key(Realm(realm.space, ""), "project", self._workspace)

    def _known(self, candidate: Candidate, key: Key) -> Known:
        store = self._world.store
        name = normalised_name(candidate.name)
        slot = store.slot(key, candidate.subject, candidate.slot) if candidate.slot else []
        return Known(
            slot=self._drafted_over(
                slot,
                key,
                lambda m: (
                    bool(candidate.slot)
                    and (m.subject, m.slot) == (candidate.subject, candidate.slot)
                ),
            ),
            named=self._drafted_over(
                store.named(key, name), key, lambda m: normalised_name(m.name) == name
            ),
            alike=self._drafted_over(
                similar(self._world, key, candidate, self._aliases),
                key,
                lambda m: terms.similarity(m.description, candidate.description) >= evolve.ALIKE,
            ),
        )

    def _drafted_over(
        self, rows: Sequence[Stored], key: Key, belongs: Matches
    ) -> tuple[Memory, ...]:
        """`rows` (those whose file can be read) with the draft's states in their place, and its new ones."""
        found: dict[str, Memory] = {}
        for row in rows:
            if row.presence == "live":
                found[row.memory.id] = self._drafted.get(row.memory.id, row.memory)
                self._bases.setdefault(row.memory.id, Base(row.memory.version, row.digest))
        for id, memory in self._drafted.items():
            if id not in found and memory.key == key and belongs(memory):
                found[id] = memory
        return tuple(found.values())

    def _take(self, step: Step) -> None:
        id = step.memory.id
        self._bases.setdefault(id, None)
        base = self._bases[id]
        version = 1 if base is None else base.version + (step.memory.version > base.version)
        self._drafted[id] = replace(step.memory, version=version)
        held = self._verbs.get(id)
        keep = held is not None and (held[0] == "add" or step.verb == "source")
        self._verbs[id] = held if held is not None and keep else (step.verb, step.why)

    def _valid(self, key: Key) -> dict[Type, int]:
        """Valid memories of `key` by type, the draft counted in."""
        moment = self._world.moment()
        found: dict[Type, int] = {}
        for (_, type_, status), count in self._world.store.counts((key,), moment).items():
            if status == "active":
                found[type_] = found.get(type_, 0) + count
        for id, memory in self._drafted.items():
            if memory.key == key and self._bases[id] is None and memory.invalid_at is None:
                found[memory.type] = found.get(memory.type, 0) + 1
        return found


def similar(world: World, key: Key, candidate: Candidate, aliases: Aliases) -> list[Stored]:
    """The valid memories of `key` that read most like `candidate`, best first: by full text.

    A thing it names is looked for by its other names too. What the owner is called is no likeness:
    most descriptions begin with it.
    """
    others = (other for name in candidate.entities for other in aliases.spellings(name)[1:])
    text = " ".join((candidate.description, *others))
    words = [term for term in terms.query_terms(text) if term.text not in likeness.OWNER]
    hits = world.store.search_memories((key,), words, world.moment(), limit=_NEIGHBOURS)
    return [hit.stored for hit in hits]


def _sources(candidate: Candidate) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.message for one in candidate.evidence))


def _words(candidate: Candidate) -> list[str]:
    """Every text of a candidate that could come to be kept."""
    texts = [candidate.name, candidate.description, candidate.body, candidate.scene]
    return [*texts, *candidate.entities, *(one.quote for one in candidate.evidence)]
