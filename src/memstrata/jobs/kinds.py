"""The kinds of jobs, in one table: what each runs, when it is due, how long it goes on at a stretch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from memstrata.domain import cadence
from memstrata.domain.cadence import Rhythm
from memstrata.domain.plan import EXTRACT
from memstrata.errors import Conflict
from memstrata.pipelines import apply, extract, reconcile
from memstrata.pipelines.extract import Outcome
from memstrata.pipelines.world import World
from memstrata.ports import Job

TRIES: Final = 8
"""How often a batch that lost a race is run again from the start while nobody else moves its session on."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a job of one kind does. Two of them are the same work when their `key` is the same.

    `due` says from when on it is to be done (None: nothing is left); `step` does a part of it, None
    when nothing was left; `settle` takes it off the list, False when something came in between.
    `steps` are done at a stretch, then others have their turn.
    """

    key: str
    due: Callable[[World, Job], datetime | None]
    step: Callable[[World, Job], Outcome | None]
    settle: Callable[[World, Job], bool]
    steps: int


def _session_due(world: World, job: Job) -> datetime | None:
    chosen = world.settings.extraction
    rhythm = Rhythm(chosen.every_turns, timedelta(seconds=chosen.idle_seconds))
    most = cadence.counted(rhythm.every)
    return cadence.due(world.store.backlog(job.realm, job.key, most), rhythm)


def _batch(world: World, job: Job) -> Outcome | None:
    left = TRIES
    while True:
        before = world.store.cursor(job.realm, job.key).position
        try:
            return extract.extract(world, job.realm, job.key)
        except Conflict:
            if world.store.cursor(job.realm, job.key).position != before:
                continue  # another worker was faster: the next batch
            left -= 1
            if not left:
                raise
            reconcile.reconcile(world)


KINDS: Final[Mapping[str, Kind]] = {
    EXTRACT: Kind(
        key="the session",
        due=_session_due,
        step=_batch,
        settle=apply.settle_extraction,
        steps=10,
    ),
}
