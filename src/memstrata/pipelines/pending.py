"""What consolidation left behind: candidates that wait for a person, what was decided, when it ran last.

Candidates are read from their files, decisions and runs from the records: nothing of it is in the
database alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from memstrata.domain import checks, consolidate, elevation, gates, layout, markdown
from memstrata.domain.consolidate import Rhythm, Run
from memstrata.domain.elevation import Elevation
from memstrata.domain.layout import Place
from memstrata.domain.plan import CONSOLIDATE, Enqueue, Plan, consolidation_key
from memstrata.domain.records import CANDIDATE, CONSOLIDATION, PROPOSE, RUN
from memstrata.domain.scope import Key
from memstrata.errors import Corrupt, Invalid, NotFound, Unavailable
from memstrata.pipelines import apply, bind
from memstrata.pipelines.world import World
from memstrata.ports import StoreRead


@dataclass(frozen=True, slots=True)
class Held:
    """A candidate in its file, and the digest of the file's bytes."""

    candidate: Elevation
    place: Place
    digest: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What the records say of a key: candidates that were decided on, by what they are known, the last run."""

    settled: frozenset[str] = frozenset()
    known: Mapping[str, str] = field(default_factory=dict)
    last: Run | None = None


def decided(store: StoreRead, key: Key) -> Decided:
    """What was decided and done so far. A line that is not as we write it tells nothing."""
    settled: set[str] = set()
    known: dict[str, str] = {}
    last: Run | None = None
    for line in store.records((key,), CONSOLIDATION):
        data = line.data
        if line.kind == RUN:
            outcome = data.get("outcome")
            counts = outcome if isinstance(outcome, Mapping) else {}
            last = Run(
                id=str(data.get("run", "")),
                at=line.at,
                problem=str(data.get("problem", "")),
                seen=str(data.get("seen", "")),
                merged=_count(counts.get("merged")),
                proposed=_count(counts.get("proposed")),
            )
        elif line.kind == CANDIDATE and data.get("verb") != PROPOSE:
            settled.add(str(data.get("candidate", "")))
            prints = data.get("fingerprints")
            why = "a person confirmed it" if data.get("memory") else "a person rejected it"
            known |= {str(one): why for one in prints} if isinstance(prints, list) else {}
    return Decided(frozenset(settled), known, last)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def names(world: World, key: Key) -> list[str]:
    """The ids of the files in a key's folder of candidates, decided on or not; `doctor` names what is none."""
    try:
        files = world.vault.scan(layout.candidates_folder(key)) or {}
    except Invalid:  # a link, or a file in its place
        return []
    stems = (name.removesuffix(".md") for name in files if name.endswith(".md"))
    return sorted(filter(is_id, stems))


def is_id(stem: str) -> bool:
    """Whether a file's stem can be a candidate's id."""
    try:
        return bool(checks.ref("id", stem))
    except Invalid:
        return False


def waiting(world: World, key: Key) -> list[str]:
    """The ids of the candidates that wait for a person."""
    found = names(world, key)
    settled = decided(world.store, key).settled if found else frozenset()
    return [one for one in found if one not in settled]


def read(world: World, key: Key, id: str) -> Held:
    """The candidate of that id, decided on or not.

    Raises:
        NotFound: there is no file of that name.
        Corrupt: it cannot be read.
        Unavailable: the disk said no.
    """
    try:
        place = layout.candidate_file(key, id)
        data, _ = world.vault.read(place)
    except (NotFound, Invalid) as error:
        raise NotFound("candidate", id) from error
    found = elevation.parse(data, str(place), now=world.clock.now())
    return Held(found, place, markdown.digest(data))


def readable(world: World, key: Key) -> Iterator[Held]:
    """The candidates that wait, in the order of their ids; what cannot be read is passed over."""
    for id in waiting(world, key):
        try:
            yield read(world, key, id)
        except (NotFound, Corrupt, Unavailable):
            continue  # `doctor` names it


def known(world: World, key: Key) -> dict[str, str]:
    """By fingerprint: why a candidate is not to be proposed again."""
    found = {
        one: "it waits for a person already"
        for held in readable(world, key)
        for one in held.candidate.fingerprints
    }
    return {**found, **decided(world.store, key).known}


# -- when it is due ---------------------------------------------------------------------------------


def within(world: World, key: Key) -> World:
    """The world under the settings of a project's own workspace.

    Raises:
        Away: the workspace's root is not there.
        Invalid: it sets what it may not.
    """
    if key.scope != "project":
        return world
    return world.within(bind.present(world, key.ref).root)


def is_due(world: World, key: Key) -> bool:
    """Whether a key is to be consolidated by now.

    Raises:
        Away: the workspace's root is not there.
    """
    world = within(world, key)
    chosen = world.settings.consolidation
    if not (chosen.enabled and world.settings.memory.enabled):
        return False
    rhythm = Rhythm(chosen.threshold, timedelta(days=chosen.interval_days))
    counts = world.store.counts((key,), world.moment())
    valid = {kind: n for (_, kind, status), n in counts.items() if status == "active"}
    if sum(valid.values()) < rhythm.threshold:
        return False
    taken = sum(n for kind, n in valid.items() if kind != gates.EPISODIC)
    full = taken >= gates.QUOTA_WARNING * world.limits().quota[key.scope]
    last = decided(world.store, key).last
    return consolidate.is_due(sum(valid.values()), full, last, rhythm, world.clock.now())


def queue(world: World, keys: Sequence[Key]) -> bool:
    """Queue a job for each key that is due; whether there is one.

    Raises:
        Unavailable: the database said no, or a workspace's root is not there.
    """
    due = [key for key in keys if _is_free(world, key) and is_due(world, key)]
    now = world.clock.now()
    jobs = [Enqueue(key.realm, CONSOLIDATE, consolidation_key(key), now) for key in due]
    if jobs:
        apply.apply(world, Plan(tuple(jobs)), {})
    return bool(jobs)


def _is_free(world: World, key: Key) -> bool:
    return not world.store.waits(key.realm, CONSOLIDATE, consolidation_key(key))


def last_runs(world: World, keys: Sequence[Key]) -> dict[Key, Run]:
    """The last run of each key that ever had one."""
    found = {key: decided(world.store, key).last for key in keys}
    return {key: run for key, run in found.items() if run is not None}
