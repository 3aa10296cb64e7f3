"""Works jobs off in this process: each durable, each idempotent, a failing one set aside and named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from memstrata import failpoints
from memstrata.domain.plan import Verdict
from memstrata.domain.scope import Realm
from memstrata.errors import Conflict, MemstrataError
from memstrata.pipelines import apply, bind, extract, reconcile
from memstrata.pipelines.world import World
from memstrata.ports import Job

TRIES: Final = 8
"""How often a batch that lost a race is run again from the start while nobody else moves its session on."""

Progress = Callable[[int, int], None]
"""Called with (messages done, messages in all)."""


@dataclass(slots=True)
class Worked:
    """What was done: batches, messages, their verdicts, and jobs set aside with the reason.

    `away` are jobs that wait for a workspace whose folder is not there.
    """

    batches: int = 0
    messages: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    parked: list[str] = field(default_factory=list)
    away: dict[int, str] = field(default_factory=dict)


def work_off(world: World, realm: Realm | None = None, progress: Progress | None = None) -> Worked:
    """Work off every waiting job (of `realm`, or of all).

    A job that fails is parked with its reason and the others go on. While memory is switched off or
    no extractor is chosen, the jobs wait.

    Raises:
        Unavailable: the disk or the database said no; the jobs wait.
    """
    done = Worked()
    if not world.settings.memory.enabled or world.settings.extraction.fallback == "none":
        return done
    while jobs := [job for job in world.store.jobs(realm) if job.number not in done.away]:
        total = done.messages + (_left(world, jobs) if progress else 0)
        for job in jobs:
            _work(world, job, done, partial(_report, progress, done, total))
    return done


def _report(progress: Progress | None, done: Worked, total: int) -> None:
    if progress is not None:
        progress(done.messages, total)


def _left(world: World, jobs: Sequence[Job]) -> int:
    """How many messages stand behind the cursors of the jobs' sessions."""
    sessions = {(job.realm, job.key) for job in jobs}
    return sum(
        behind
        for realm in dict.fromkeys(job.realm for job in jobs)
        for session, _, behind in world.store.sessions(realm)
        if (realm, session) in sessions
    )


def _work(world: World, job: Job, done: Worked, report: Callable[[], object]) -> None:
    failpoints.hit("job.leased")
    try:
        while (outcome := _batch(world, job)) is not None:
            done.batches += 1
            done.messages += outcome.messages
            done.verdicts += outcome.verdicts
            report()
        apply.settle_extraction(world, job)
    except bind.Away as error:
        done.away[job.number] = f"{job.kind} {job.key}: {error.message}"
        world.bus.emit("extraction.failed", degraded=True, session=job.key, problem=error.code)
    except MemstrataError as error:
        if error.retryable:
            raise
        _park(world, job, done, f"{error.code}: {error.message}")
    except Exception as error:  # noqa: BLE001 -- the worker loop: one bad job must not stop the rest
        _park(world, job, done, f"internal: {type(error).__name__}: {error}")
    failpoints.hit("job.finished")


def _batch(world: World, job: Job) -> extract.Outcome | None:
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


def _park(world: World, job: Job, done: Worked, problem: str) -> None:
    apply.park_job(world, job, problem)
    done.parked.append(f"{job.kind} {job.key}: {problem}")
    world.bus.emit(
        "extraction.failed", degraded=True, session=job.key, problem=problem.split(":")[0]
    )
