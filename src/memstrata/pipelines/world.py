"""What every pipeline is given: the ports, the settings and whose space it works in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from threading import Lock
from typing import Final

from memstrata.domain import checks, gates
from memstrata.domain.layout import HOME, Place
from memstrata.domain.memory import Memory
from memstrata.domain.redact import Finding
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm, Scope
from memstrata.domain.tombstones import Tombstones
from memstrata.errors import Invalid, Refused
from memstrata.events import Bus
from memstrata.pipelines.sight import Sight
from memstrata.ports import (
    Clock,
    FileStat,
    Model,
    Moment,
    Scanner,
    Store,
    Tokenizer,
    Vault,
    Vectors,
)
from memstrata.settings import Settings

BLOCKED: Final = "blocked_locally"
"""What a deletion is called whose file could not be removed; reconcile tries again."""
RULES: Final = "rules"
"""The name of the extractor that needs no model."""


@dataclass(slots=True)
class Hosts:
    """The models that hosts bring with their turns: by name, or as an object for a session.

    `make` builds what asks a model by its name, at the first use. An object serves while its process
    lives.
    """

    make: Callable[[], Model]
    checked: Callable[[str], object]
    """Raises `Invalid` for a name that is none."""
    guests: dict[tuple[Realm, str], Model] = field(default_factory=dict)
    _made: Model | None = None
    _lock: Lock = field(default_factory=Lock)

    def named(self) -> Model:
        """What asks a model by name."""
        with self._lock:
            self._made = self._made or self.make()
            return self._made

    def close(self) -> None:
        """End what was made; a guest is its owner's."""
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made.close()


@dataclass(frozen=True, slots=True)
class Extractor:
    """Who extracts: a model under its name; without one, the rules."""

    name: str
    model: Model | None = None


@dataclass(slots=True)
class Graves:
    """The tombstones that were read last, by their log; read again when that or the key moved."""

    _held: dict[Place, tuple[tuple[FileStat | None, ...], Tombstones]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def held(self, place: Place, stats: tuple[FileStat | None, ...]) -> Tombstones | None:
        """What was read while these were the stats of the log and the key."""
        with self._lock:
            known = self._held.get(place)
        return known[1] if known is not None and known[0] == stats else None

    def keep(
        self, place: Place, stats: tuple[FileStat | None, ...], found: Tombstones
    ) -> Tombstones:
        """Keep what was read."""
        with self._lock:
            self._held[place] = stats, found
        return found


@dataclass(frozen=True, slots=True)
class World:
    """The ports in one value. `zone` is the owner's time zone, `space` the tenant."""

    vault: Vault
    store: Store
    clock: Clock
    tokens: Tokenizer
    scanner: Scanner
    bus: Bus
    settings: Settings
    zone: tzinfo
    space: str
    model: Model | None = None
    """The model that extracts; None: the host's does, else the rules do."""
    sight: Sight | None = None
    """What finds by meaning; None: words alone do."""
    vectors: Vectors | None = None
    """Where vectors lie, those of an embedder that is switched off too; None: nowhere."""
    hosts: Hosts | None = None
    """What hosts bring with a turn; None: no model can be asked here."""

    graves: Graves = field(default_factory=Graves)
    """The tombstones as they were read last."""
    looks: dict[str, tuple[object, object]] = field(default_factory=dict)
    """Scenes and personas as they were last read, by their chronicle's path: the state of the files, and them."""

    tightened: Callable[[str], tuple[Settings, Scanner]] | None = None
    """What a workspace's own settings, by its root, make of these, and the gate that follows from them."""

    def owners(self) -> tuple[str, ...]:
        """Every owner with a tree in this home, `local` first; a folder whose name is no id is nobody's."""
        names = self.vault.folders(Place(HOME, "owners"))
        return (LOCAL_OWNER, *(name for name in names if checks.is_ref(name)))

    def within(self, root: str) -> World:
        """The same world with the tighter settings and gate of the workspace `root`.

        Raises:
            Invalid: the workspace sets what it may not.
        """
        if self.tightened is None:
            return self
        settings, scanner = self.tightened(root)
        return replace(self, settings=settings, scanner=scanner)

    def extractor(self, realm: Realm, session: str, host: str = "") -> Extractor:
        """Who extracts a session whose host named the model `host`: what is set, the host's, the rules."""
        chosen = self.settings.extraction.model
        if self.model is not None:
            return Extractor(chosen, self.model)
        if self.hosts is not None:
            guest = self.hosts.guests.get((realm, session))
            if guest is not None:
                return Extractor(host or "host", guest)
            if host:
                return Extractor(host, self.hosts.named())
        return Extractor(RULES)

    def moment(
        self,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        every: bool = False,
    ) -> Moment:
        """The present, in the owner's day, with what a reader asks besides."""
        now = self.clock.now()
        day = None if as_of is None else self._day(as_of)
        return Moment(now, now.astimezone(self.zone).date(), as_of, day, known_at, every)

    def _day(self, at: datetime) -> date:
        """The owner's day; at the two ends of the calendar, where theirs does not exist, UTC's."""
        try:
            return at.astimezone(self.zone).date()
        except OverflowError:
            return at.date()

    def limits(self) -> gates.Limits:
        """The gates' numbers and patterns from the settings.

        Raises:
            Invalid: a pattern of `gates.transient` is no regular expression.
        """
        chosen = self.settings
        try:
            patterns = gates.compile_transient(chosen.gates.transient)
        except re.error as error:
            raise Invalid("gates.transient", f"is no regular expression: {error}") from error
        quota: dict[Scope, int] = {
            "user": chosen.quota.user,
            "project": chosen.quota.project,
            "agent": chosen.quota.agent,
        }
        least = chosen.extraction.min_confidence
        return gates.Limits(least, quota, chosen.quota.episodic, patterns)

    def findings(self, texts: Sequence[str]) -> list[Finding]:
        """What the scanner finds in any of `texts`."""
        return [finding for text in texts if text for finding in self.scanner.scan(text)]

    def findings_of(self, memory: Memory) -> list[Finding]:
        """What the scanner finds in the words of a memory, each text by itself and all together."""
        return self.findings(words_of(memory))


def refuse_sensitive(world: World, memory: Memory) -> None:
    """Gate 5, before anything that a person types touches disk or index.

    Raises:
        Refused: it holds a credential or a private identifier.
    """
    refusal = gates.sensitive([finding.kind for finding in world.findings_of(memory)])
    if refusal is not None:
        world.bus.emit(
            "candidate.refused", verdict="sensitive", gate="sensitive", session="", batch=""
        )
        raise Refused(refusal.gate, refusal.verdict, refusal.reason)


def warn_when_full(world: World, key: Key) -> None:
    """Say that a scope holds more than its quota: what a person writes is stored all the same."""
    counts = world.store.counts((key,), world.moment())
    held = sum(
        n for (_, kind, status), n in counts.items() if status == "active" and kind != "episodic"
    )
    if held > world.limits().quota[key.scope]:
        world.bus.emit("scope.full", degraded=True, scope=key.scope, ref=key.ref)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was left as it is: where, which line, why."""

    path: str
    problem: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.path}{'' if self.line is None else f':{self.line}'}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Fault(Problem):
    """The index itself cannot be read: `reindex` makes it anew."""


@dataclass(slots=True)
class Report:
    """What a reconcile did, one line each, and what it left alone."""

    actions: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def words_of(memory: Memory) -> list[str]:
    """Every text of a memory that a reader may come to see, then all of them as one."""
    texts = [
        memory.name,
        memory.description,
        memory.body,
        memory.note,
        memory.scene,
        memory.subject,
        memory.slot,
    ]
    texts += [*memory.entities, *(one.quote for one in memory.evidence)]
    texts += [str(value) for value in memory.extra.values()]
    return [*texts, " ".join(filter(None, (memory.name, memory.description, memory.body)))]
