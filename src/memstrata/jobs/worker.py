"""Works jobs off: each durable, each idempotent; one that fails is tried again later or set aside, by name.

Who works holds the home's worker lock, so a job that runs when it begins is one of a process that died.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from memstrata import failpoints
from memstrata.domain import cadence, redact
from memstrata.domain.plan import EXTRACT, Verdict, job_name, job_session
from memstrata.errors import Conflict, Invalid, MemstrataError, ModelFailed, Unavailable
from memstrata.jobs.kinds import KINDS
from memstrata.pipelines import apply, bind, ledger
from memstrata.pipelines.consolidate import Done
from memstrata.pipelines.embed import Filled, Unseen
from memstrata.pipelines.extract import NoExtractor, Outcome
from memstrata.pipelines.offload import Answered
from memstrata.pipelines.pages import Retold
from memstrata.pipelines.world import World
from memstrata.ports import Job, Lease

TOO_LONG: Final = "too_long"
"""The reason of a model for which the batch, and not the model, is at fault."""
PAUSE: Final = timedelta(seconds=30)
"""How long a job waits that could not be done for no fault of its own: a full disk, an absent folder."""

LEASE: Final = timedelta(minutes=30)
"""Longer than a stretch of any job takes; only where no lock proves a death does it have to run out."""

Progress = Callable[[str, int, int], None]
"""Called with (what, done, in all): `extracting` messages, `embedding` texts, `retelling` memories in scenes."""


@dataclass(slots=True)
class Worked:
    """What was done: batches, messages, their verdicts; jobs set aside, and those tried again later.

    `vectors` were made; so many memories were `retold` in scenes; `merged` memories became fewer, `proposed`
    general rules wait for a person.
    `away` are jobs that wait for a workspace whose folder is not there, an extractor, an embedder.
    """

    batches: int = 0
    messages: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    parked: list[str] = field(default_factory=list)
    retrying: list[str] = field(default_factory=list)
    away: dict[int, str] = field(default_factory=dict)
    vectors: int = 0
    merged: int = 0
    proposed: int = 0
    retold: int = 0

    def take(self, outcome: Outcome | Filled | Done | Retold | Answered) -> None:
        """Count a batch, vectors, a consolidation, what was retold; of an offload session's questions nothing."""
        match outcome:
            case Answered():
                pass
            case Filled():
                self.vectors += outcome.vectors
            case Done():
                self.merged += outcome.merged
                self.proposed += outcome.proposed
            case Retold():
                self.retold += outcome.memories
            case Outcome():
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
            fields["vectors"],
            fields["merged"],
            fields["proposed"],
            fields["retold"],
        )


@dataclass(frozen=True, slots=True)
class Shift:
    """How one worker works: `who` holds the leases, `chance` gives numbers in [0, 1).

    Only jobs of these `kinds`. `every`: whatever waits for its turn, too, and a disk that says no is
    the caller's to hear of; `stop` is asked between two batches, `progress` told after each.
    """

    who: str
    chance: Callable[[], float]
    every: bool = False
    stop: Callable[[], bool] = lambda: False
    progress: Progress | None = None
    kinds: tuple[str, ...] = tuple(KINDS)


def work_off(world: World, shift: Shift) -> Worked:
    """Work off every job that is due, or with `shift.every` all that wait and did not fail before.

    A job that fails is tried again later, or set aside with its reason, and the others go on. While
    memory is switched off all wait; without an extractor, or when the day's budget is spent, those
    that extract do.

    Raises:
        Unavailable: the disk or the database said no; the jobs wait.
    """
    done = Worked()
    if not _ready(world, shift):
        return done
    apply.free_jobs(world)
    shy: dict[int, Unavailable] = {}
    report = _reporter(world, shift, done)
    while not shift.stop() and (job := _next(world, shift, frozenset(done.away.keys() | shy))):
        _work(world, job, shift, done, shy, report)
    if shift.every and shy:
        raise next(iter(shy.values()))
    return done


def _ready(world: World, shift: Shift) -> tuple[str, ...]:
    """The kinds of the shift's jobs that can be done now."""
    if not world.settings.memory.enabled:
        return ()
    rests = _no_extractor(world) or bool(ledger.paused(world))
    return tuple(name for name in shift.kinds if not (KINDS[name].extracts and rests))


def _no_extractor(world: World) -> bool:
    none = world.model is None and world.hosts is None
    return none and world.settings.extraction.fallback == "none"


def _reporter(world: World, shift: Shift, done: Worked) -> Callable[[], None]:
    """What tells the progress: what is done, of what waited at the beginning."""
    if shift.progress is None:
        return lambda: None
    tell = shift.progress
    totals = {"extracting": _behind(world), "embedding": _unseen(world)}
    told: dict[str, int] = {}

    def report() -> None:
        counts = {
            "extracting": done.messages,
            "embedding": done.vectors,
            "retelling": done.retold,
        }
        for what, now in counts.items():
            if now != told.get(what, 0):
                told[what] = now
                tell(what, now, max(totals.get(what, 0), now))

    return report


def _unseen(world: World) -> int:
    """About how many texts lack a vector."""
    if world.sight is None:
        return 0
    return sum(world.sight.missing(world.store, world.space, world.moment()).values())


def _behind(world: World) -> int:
    """How many messages stand behind the cursors of the sessions that wait."""
    jobs = world.store.jobs(None)
    waiting = {(job.realm, job.key) for job in jobs if job.kind == EXTRACT}
    return sum(
        behind
        for realm in dict.fromkeys(realm for realm, _ in waiting)
        for session, _, behind in world.store.sessions(realm)
        if (realm, session) in waiting
    )


def _next(world: World, shift: Shift, but: frozenset[int]) -> Job | None:
    until = world.clock.now() + LEASE
    return apply.lease_job(world, Lease(shift.who, until, _ready(world, shift), shift.every, but))


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
    except NoExtractor as error:
        done.away[job.number] = _told(job, error.message)
        apply.postpone_job(world, job, world.clock.now() + PAUSE)
    except bind.Away as error:
        done.away[job.number] = _told(job, error.message)
        _put_off(world, job, error)
    except Unseen as error:
        done.away[job.number] = _told(job, error.message)
        problem = f"{error.code}: {error.message}"
        apply.postpone_job(world, job, world.clock.now() + PAUSE, problem)
    except (ModelFailed, Conflict) as error:
        _failed(world, job, shift, done, error)
    except Unavailable as error:
        shy[job.number] = error
        _put_off(world, job, error)
    except Invalid as error:  # of a model that a turn's host named, later ones know nothing
        park = _park_whole if world.model is not None else _park
        park(world, job, done, f"{error.code}: {error.message}")
    except MemstrataError as error:
        _park_whole(world, job, done, f"{error.code}: {error.message}")
    except Exception as error:  # noqa: BLE001 -- the worker loop: one bad job must not stop the rest
        _park_whole(world, job, done, f"internal: {type(error).__name__}: {error}")
    failpoints.hit("job.finished")


def _do(world: World, job: Job, shift: Shift, done: Worked, report: Callable[[], None]) -> None:
    """A stretch of a job: to its end, or until others have their turn."""
    kind = KINDS[job.kind]
    due = None if shift.every or job.at_once else kind.due(world, job)
    if due is not None and due > world.clock.now():
        apply.postpone_job(world, job, due)
        return
    for _ in range(kind.steps):
        spent = kind.extracts and ledger.paused(world)
        outcome = None if shift.stop() or spent else kind.step(world, job)
        if outcome is None:
            break
        done.take(outcome)
        report()
    kind.settle(world, job)


def _told(job: Job, problem: str) -> str:
    return f"{job_name(job.kind, job.key)}: {problem}"


def _put_off(world: World, job: Job, error: Unavailable) -> None:
    """No fault of the job's own: its tries are not counted."""
    apply.postpone_job(world, job, world.clock.now() + PAUSE, f"{error.code}: {error.message}")
    _say_failed(world, job, error.code)


def _failed(
    world: World, job: Job, shift: Shift, done: Worked, error: ModelFailed | Conflict
) -> None:
    """One try less: later again, or set aside when it was the last or none can help."""
    problem = f"{error.code}: {error.message}"
    permanent, reason, asked = False, "", timedelta()
    if isinstance(error, ModelFailed):
        permanent, reason = error.permanent, error.reason
        asked = timedelta(seconds=error.retry_after or 0)
    if permanent and reason != TOO_LONG and world.model is not None:
        _park_whole(world, job, done, problem)  # no batch of this session would fare better
        return
    if permanent or job.attempts + 1 >= world.settings.extraction.max_tries:
        _park(world, job, done, problem)
        return
    pause = cadence.back_off(job.attempts + 1, shift.chance(), asked)
    apply.postpone_job(world, job, world.clock.now() + pause, problem, failed=True)
    done.retrying.append(_told(job, problem))
    _say_failed(world, job, error.code)


def _park(world: World, job: Job, done: Worked, problem: str) -> None:
    """Set aside what failed, and let the rest of it go on."""
    kind, problem = KINDS[job.kind], redact.mask(problem, "all")
    try:
        parted = kind.park(world, job, problem)
    except MemstrataError as error:
        parted, problem = False, f"{problem}; {error.code}: {error.message}"
    if not parted:
        _park_whole(world, job, done, problem)
        return
    kind.settle(world, job)
    _say_parked(world, job, done, problem)


def _park_whole(world: World, job: Job, done: Worked, problem: str) -> None:
    problem = redact.mask(problem, "all")  # a host's model may say anything
    apply.park_job(world, job, problem)
    _say_parked(world, job, done, problem)


def _say_parked(world: World, job: Job, done: Worked, problem: str) -> None:
    done.parked.append(_told(job, problem))
    _say_failed(world, job, problem.split(":")[0])


def _say_failed(world: World, job: Job, code: str) -> None:
    session = job_session(job.kind, job.key)
    world.bus.emit("extraction.failed", degraded=True, session=session, problem=code)
