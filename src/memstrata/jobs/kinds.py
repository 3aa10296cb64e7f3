"""The kinds of jobs, in one table: what each runs, when it is due, how long it goes on at a stretch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from memstrata.domain import cadence, layout
from memstrata.domain.cadence import Rhythm
from memstrata.domain.plan import (
    CONSOLIDATE,
    EMBED,
    EXTRACT,
    OFFLOAD,
    PERSONA,
    PRUNE,
    REDO,
    SCENES,
    redo_of,
)
from memstrata.errors import Conflict
from memstrata.pipelines import (
    apply,
    consolidate,
    embed,
    extract,
    offload,
    pages,
    persona,
    prune,
    reconcile,
    scene,
)
from memstrata.pipelines.consolidate import Done
from memstrata.pipelines.embed import Filled
from memstrata.pipelines.extract import Outcome
from memstrata.pipelines.offload import Answered
from memstrata.pipelines.pages import Retold
from memstrata.pipelines.sight import job_shelf
from memstrata.pipelines.world import World
from memstrata.ports import Job

_T = TypeVar("_T")
TRIES: Final = 8
"""How often a batch that lost a race is run again from the start while nobody else moves its session on."""

FEW_TRIES: Final = 3
"""The same, of what asks a model about a whole scope."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a job of one kind does. Two of them are the same work when their `key` is the same.

    `park` sets aside the part that failed, so that the rest goes on; False: it is the whole job that
    fails. `due` says from when on it is to be done (None: nothing is left); `step` does a part of it, None
    when nothing was left; `settle` takes it off the list, False when something came in between.
    `steps` are done at a stretch, then others have their turn.
    """

    key: str
    due: Callable[[World, Job], datetime | None]
    step: Callable[[World, Job], Outcome | Filled | Done | Retold | Answered | None]
    settle: Callable[[World, Job], bool]
    park: Callable[[World, Job, str], bool]
    steps: int
    extracts: bool = True
    """Whether it needs an extractor, and calls of a model that the day's budget allows."""
    patient: bool = False
    """Whether a process that ends leaves it to its time: what it makes is told of later, or not at all."""


def _session_due(world: World, job: Job) -> datetime | None:
    chosen = world.settings.extraction
    rhythm = Rhythm(chosen.every_turns, timedelta(seconds=chosen.idle_seconds))
    most = cadence.counted(rhythm.every)
    return cadence.due(world.store.backlog(job.realm, job.key, most), rhythm)


def _batch(world: World, job: Job) -> Outcome | None:
    return _again_after_a_race(world, job, lambda: extract.extract(world, job.realm, job.key))


def _set_aside(world: World, job: Job, problem: str) -> bool:
    def park() -> bool:
        return extract.set_aside(world, job.realm, job.key, problem)

    return _again_after_a_race(world, job, park)


def _again_after_a_race(world: World, job: Job, write: Callable[[], _T]) -> _T:
    left = TRIES
    while True:
        before = world.store.cursor(job.realm, job.key).position
        try:
            return write()
        except Conflict:
            if world.store.cursor(job.realm, job.key).position != before:
                continue  # another worker was faster: the next batch
            left -= 1
            if not left:
                raise
            reconcile.reconcile(world)


def _at_once(world: World, job: Job) -> datetime | None:
    return job.due


def _redo(world: World, job: Job) -> Outcome | None:
    batch, session = redo_of(job.key)

    def again() -> Outcome | None:
        return extract.again(world, job.realm, session, batch)

    return _again_after_a_race(world, job, again)


def _fill(world: World, job: Job) -> Filled | None:
    return embed.fill(world, job_shelf(job.realm, job.key))


def _settle_vectors(world: World, job: Job) -> bool:
    """Take the job off the list, unless something is missing still."""
    shelf = job_shelf(job.realm, job.key)
    left = world.sight is not None and shelf in world.sight.missing(
        world.store, world.space, world.moment()
    )
    if left:
        apply.postpone_job(world, job, world.clock.now())
        return False
    return apply.drop_job(world, job)


def _consolidate(world: World, job: Job) -> Done | None:
    """Each try asks a model anew, so there are few of them."""
    for _ in range(FEW_TRIES - 1):
        try:
            return consolidate.work(world, job.realm, job.key)
        except Conflict:
            reconcile.reconcile(world)
    return consolidate.work(world, job.realm, job.key)


def _retell_scenes(world: World, job: Job) -> Retold | None:
    if not world.settings.scenes.enabled:
        return None
    while _prune(world, job) is not None:
        pass  # the persona must lose what a scene tells of a memory that is gone before the scene does
    return _once_more(world, lambda: scene.retell(world, job.realm, job.key))


def _scenes_due(world: World, job: Job) -> datetime | None:
    """When they are due, but not before so long since the last run."""
    ran_at = pages.look(world, job.realm, job.key).chronicle.ran_at
    least = timedelta(seconds=world.settings.scenes.least_seconds)
    return job.due if ran_at is None else max(job.due, ran_at + least)


def _settle_scenes(world: World, job: Job) -> bool:
    """Take the job off the list, unless there was more than one stretch could tell."""
    if world.settings.scenes.enabled and scene.is_due(world, job.realm, job.key):
        apply.postpone_job(world, job, world.clock.now())
        return False
    return apply.end_job(world, job, _portray(world) if job.key == layout.GLOBAL else ())


def _portray(world: World) -> list[tuple[str, str, datetime]]:
    """The persona is looked at next; whether it is due it finds out by itself."""
    return [(PERSONA, "", world.clock.now())] if world.settings.persona.enabled else []


def _retell_persona(world: World, job: Job) -> Retold | None:
    if not world.settings.persona.enabled:
        return None
    return _once_more(world, lambda: persona.retell(world, job.realm, job.key))


def _prune(world: World, job: Job) -> Retold | None:
    return _once_more(world, lambda: prune.prune(world, job.realm))


def _settle_prune(world: World, job: Job) -> bool:
    """Take the job off the list; what stood beside what went is told again."""
    chosen = world.settings.scenes
    due = world.clock.now() + timedelta(seconds=chosen.delay_seconds)
    groups = pages.groups(world, job.realm.owner) if chosen.enabled else ()
    left = [(SCENES, group, due) for group in groups if scene.is_due(world, job.realm, group)]
    return apply.end_job(world, job, [*left, *_portray(world)])


def _once_more(world: World, write: Callable[[], _T]) -> _T:
    """Do it, and again if something moved meanwhile: each time a model may be asked anew."""
    try:
        return write()
    except Conflict:
        reconcile.reconcile(world)
        return write()


def _answer(world: World, job: Job) -> Answered | None:
    return offload.work(world, job.realm, job.key)


def _by_rules(world: World, job: Job, problem: str) -> bool:
    """A model that does not answer: what the rules said stands."""
    return offload.give_up(world, job.realm, job.key)


def _whole(world: World, job: Job, problem: str) -> bool:
    return False


KINDS: Final[Mapping[str, Kind]] = {
    EXTRACT: Kind(
        key="the session",
        due=_session_due,
        step=_batch,
        settle=apply.settle_extraction,
        park=_set_aside,
        steps=10,
    ),
    REDO: Kind(
        key="the batch and its session",
        due=_at_once,
        step=_redo,
        settle=apply.drop_job,
        park=_whole,
        steps=1,
    ),
    EMBED: Kind(
        key="the shelf",
        due=_at_once,
        step=_fill,
        settle=_settle_vectors,
        park=_whole,
        steps=4,
        extracts=False,
    ),
    CONSOLIDATE: Kind(
        key="the scope and its ref",
        due=_at_once,
        step=_consolidate,
        settle=apply.drop_job,
        park=_whole,
        steps=1,
    ),
    SCENES: Kind(
        key="the group",
        due=_scenes_due,
        step=_retell_scenes,
        settle=_settle_scenes,
        park=_whole,
        steps=4,
        patient=True,
    ),
    PERSONA: Kind(
        key="why",
        due=_at_once,
        step=_retell_persona,
        settle=apply.drop_job,
        park=_whole,
        steps=1,
        patient=True,
    ),
    PRUNE: Kind(
        key="none",
        due=_at_once,
        step=_prune,
        settle=_settle_prune,
        park=_whole,
        steps=100,
        extracts=False,
    ),
    OFFLOAD: Kind(
        key="the session's folder",
        due=offload.due,
        step=_answer,
        settle=offload.left,
        park=_by_rules,
        steps=6,
    ),
}
HURRIED: Final = tuple(name for name, kind in KINDS.items() if not kind.patient)
"""The kinds that a process does before it ends, and the next one at once."""
