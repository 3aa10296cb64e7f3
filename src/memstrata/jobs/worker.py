"""Works jobs off: each durable, each idempotent; one that fails is tried again later or set aside, by name.

Who works holds the home's worker lock, so a job that runs when it begins is one of a process that died.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from memstrata import failpoints
from memstrata.domain import cadence
from memstrata.domain.plan import Verdict
from memstrata.errors import Conflict, MemstrataError, ModelFailed, Unavailable
from memstrata.jobs.kinds import KINDS
from memstrata.pipelines import apply, bind, ledger
from memstrata.pipelines.extract import Outcome
from memstrata.pipelines.world import World
from memstrata.ports import Job, Lease

PAUSE: Final = timedelta(seconds=30)
"""How long a job waits that could not be done for no fault of its own: a full disk, an absent folder."""

LEASE: Final = timedelta(minutes=30)
"""Longer than a stretch of any job takes; only where no lock proves a death does it have to run out."""

Progress = Callable[[int, int], None]
"""Called with (messages done, messages in all)."""


@dataclass(slots=True)
class Worked:
    """What was done: batches, messages, their verdicts; jobs set aside, and those tried again later.

    `away` are jobs that wait for a workspace whose folder is not there.
    """

    batches: int = 0
    messages: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    parked: list[str] = field(default_factory=list)
    retrying: list[str] = field(default_factory=list)
    away: dict[int, str] = field(default_factory=dict)

    def take(self, outcome: Outcome) -> None:
        """Count a batch."""
        self.batches += 1
        self.messages += outcome.messages
        self.verdicts += outcome.verdicts

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Worked:
        """The report that another process sent as plain values."""
        return cls(
            fields["batches"],
            fields["messages"],
            [Verdict(**{**one, "quote_of": tuple(one["quote_of"])}) for one in fields["verdicts"]],
            list(fields["parked"]),
            list(fields["retrying"]),
            {int(number): text for number, text in fields["away"].items()},
        )


@dataclass(frozen=True, slots=True)
class Shift:
    """How one worker works: `who` holds the leases, `chance` gives numbers in [0, 1).

    `every`: whatever waits for its turn, too, and a disk that says no is the caller's to hear of;
    `stop` is asked between two batches, `progress` told after each.
    """

    who: str
    chance: Callable[[], float]
    every: bool = False
    stop: Callable[[], bool] = lambda: False
    progress: Progress | None = None


def work_off(world: World, shift: Shift) -> Worked:
    """Work off every job that is due, or with `shift.every` all that wait and did not fail before.

    A job that fails is tried again later, or set aside with its reason, and the others go on. While
    memory is switched off or no extractor is chosen, the jobs wait.

    Raises:
        Unavailable: the disk or the database said no; the jobs wait.
    """
    done = Worked()
    if _resting(world):
        return done
    apply.free_jobs(world)
    shy: dict[int, Unavailable] = {}
    report = _reporter(world, shift, done)
    while (
        not shift.stop()
        and not ledger.paused(world)
        and (job := _next(world, shift, frozenset(done.away.keys() | shy)))
    ):
        _work(world, job, shift, done, shy, report)
    if shift.every and shy:
        raise next(iter(shy.values()))
    return done


def _resting(world: World) -> bool:
    """Whether the jobs wait: memory is off, there is no extractor, or the day's budget is spent."""
    chosen = world.settings
    idle = world.model is None and chosen.extraction.fallback == "none"
    return not chosen.memory.enabled or idle or bool(ledger.paused(world))


def _reporter(world: World, shift: Shift, done: Worked) -> Callable[[], None]:
    """What tells the progress: messages done, of those that waited at the beginning."""
    if shift.progress is None:
        return lambda: None
    tell, total = shift.progress, _behind(world)
    return lambda: tell(done.messages, max(total, done.messages))


def _behind(world: World) -> int:
    """How many messages stand behind the cursors of the sessions that wait."""
    waiting = {(job.realm, job.key) for job in world.store.jobs(None)}
    return sum(
        behind
        for realm in dict.fromkeys(realm for realm, _ in waiting)
        for session, _, behind in world.store.sessions(realm)
        if (realm, session) in waiting
    )


def _next(world: World, shift: Shift, but: frozenset[int]) -> Job | None:
    until = world.clock.now() + LEASE
    return apply.lease_job(world, Lease(shift.who, until, tuple(KINDS), shift.every, but))


def _work(
    world: World,
    job: Job,
    shift: Shift,
    done: Worked,
    shy: dict[int, Unavailable],
    report: Callable[[], None],
) -> None:
    failpoints.hit("job.leased")
    try:
        _do(world, job, shift, done, report)
    except bind.Away as error:
        done.away[job.number] = _told(job, error.message)
        _put_off(world, job, error)
    except (ModelFailed, Conflict) as error:
        _failed(world, job, shift, done, error)
    except Unavailable as error:
        shy[job.number] = error
        _put_off(world, job, error)
    except MemstrataError as error:
        _park(world, job, done, f"{error.code}: {error.message}")
    except Exception as error:  # noqa: BLE001 -- the worker loop: one bad job must not stop the rest
        _park(world, job, done, f"internal: {type(error).__name__}: {error}")
    failpoints.hit("job.finished")


def _do(world: World, job: Job, shift: Shift, done: Worked, report: Callable[[], None]) -> None:
    """A stretch of a job: to its end, or until others have their turn."""
    kind = KINDS[job.kind]
    due = None if shift.every or job.at_once else kind.due(world, job)
    if due is not None and due > world.clock.now():
        apply.postpone_job(world, job, due)
        return
    for _ in range(kind.steps):
        outcome = None if shift.stop() else kind.step(world, job)
        if outcome is None:
            break
        done.take(outcome)
        report()
    kind.settle(world, job)


def _told(job: Job, problem: str) -> str:
    return f"{job.kind} {job.key}: {problem}"


def _put_off(world: World, job: Job, error: Unavailable) -> None:
    """No fault of the job's own: its tries are not counted."""
    apply.postpone_job(world, job, world.clock.now() + PAUSE, f"{error.code}: {error.message}")
    world.bus.emit("extraction.failed", degraded=True, session=job.key, problem=error.code)


def _failed(
    world: World, job: Job, shift: Shift, done: Worked, error: ModelFailed | Conflict
) -> None:
    """One try less: later again, or set aside when it was the last or none can help."""
    problem = f"{error.code}: {error.message}"
    permanent, asked = False, timedelta()
    if isinstance(error, ModelFailed):
        permanent, asked = error.permanent, timedelta(seconds=error.retry_after or 0)
    if permanent or job.attempts + 1 >= world.settings.extraction.max_tries:
        _park(world, job, done, problem)
        return
    pause = cadence.back_off(job.attempts + 1, shift.chance(), asked)
    apply.postpone_job(world, job, world.clock.now() + pause, problem, failed=True)
    done.retrying.append(_told(job, problem))
    world.bus.emit("extraction.failed", degraded=True, session=job.key, problem=error.code)


def _park(world: World, job: Job, done: Worked, problem: str) -> None:
    apply.park_job(world, job, problem)
    done.parked.append(_told(job, problem))
    world.bus.emit(
        "extraction.failed", degraded=True, session=job.key, problem=problem.split(":")[0]
    )
