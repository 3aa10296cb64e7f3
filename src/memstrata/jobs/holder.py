"""One worker a home: whoever holds its lock does the background work, in one thread, and answers its socket.

Every process that wants to may try for the lock; one has it, the others try again now and then. When it
dies the system frees the lock, and the next one takes up what it left.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic, sleep
from typing import Final

from memstrata.domain.plan import EMBED
from memstrata.errors import MemstrataError, Unavailable
from memstrata.jobs import requests
from memstrata.jobs.kinds import HURRIED, KINDS
from memstrata.jobs.requests import Desk, Doors
from memstrata.jobs.worker import Progress, Shift, Worked, work_off
from memstrata.pipelines import apply, reconcile
from memstrata.pipelines.world import World
from memstrata.ports import Fields, Held, HomeLock, NobodyListens, Serving, Socket

DRAIN: Final = "drain"
"""The role of a process that holds the lock for one drain only."""
HEAL_EVERY: Final = 300.0
"""Seconds between two looks at the files."""
_SHORTLY: Final = 0.05
"""Seconds until it is tried again to drain while another process does so."""
_GRACE: Final = 0.5
"""Seconds beyond the limit that a batch may take to notice it."""


@dataclass(slots=True)
class _Drain:
    """Somebody who waits until nothing waits any more."""

    progress: Progress | None
    over: threading.Event = field(default_factory=threading.Event)
    found: Worked | MemstrataError | None = None

    def end(self, found: Worked | MemstrataError) -> None:
        if self.found is None:
            self.found = found
            self.over.set()


@dataclass(frozen=True, slots=True)
class Office:
    """What the background work of a home needs besides its world.

    `role` is how `status` names this process; `chance` gives numbers in [0, 1); `after(all)` writes
    what follows a batch: what is due of it, or all.
    """

    lock: HomeLock
    socket: Socket
    role: str
    chance: Callable[[], float]
    doors: Doors
    after: Callable[[bool], None]


class Holder:
    """This process's part in its home's background work. Safe for threads; a forked child has no part.

    `start` begins to try for the lock; without it jobs are only ever done by `drain`. `world` gives
    the ports and the settings as they are now.
    """

    def __init__(self, world: Callable[[], World], office: Office) -> None:
        self._fresh = world
        self._office = office
        self._pid = os.getpid()
        self._bell = threading.Condition()
        self._thread: threading.Thread | None = None
        self._held: Held | None = None
        self._answers = False
        self._woken = False
        self._end: float | None = None
        self._over = False
        self._drains: list[_Drain] = []
        self._busy = True
        self._last_work = monotonic()
        self._healed = monotonic()

    @property
    def _world(self) -> World:
        return self._fresh()

    # -- for every process ----------------------------------------------------------------------

    @property
    def is_holder(self) -> bool:
        """Whether this process does the home's background work."""
        held = self._held
        return held is not None and held.stands

    def wake(self) -> None:
        """There is something to do."""
        if self._is_here():
            self._rung()
        if not self.is_holder:
            self._office.socket.tell({"do": "wake"})

    def drain(self, seconds: float | None = None, progress: Progress | None = None) -> Worked:
        """Have everything worked off that waits, by whoever holds the lock, else here.

        What failed and waits for its next try is left. The report is of what was done from here on.

        Raises:
            Unavailable: not done within `seconds` (what is left goes on waiting), or the disk or the
                database said no.
        """
        deadline = None if seconds is None else monotonic() + seconds
        while True:
            done = self._drained(deadline, progress)
            if done is not None:
                return done
            if deadline is not None and monotonic() >= deadline:
                raise Unavailable(f"another process works; it was not done within {seconds:g} s")
            sleep(_SHORTLY)

    def _drained(self, deadline: float | None, progress: Progress | None) -> Worked | None:
        """By this process's thread, here, or by another process; None when none of them could."""
        try:
            if self._is_here() and self.is_holder:
                return self._by_thread(deadline, progress)
            held = self._office.lock.take(DRAIN, self._world.clock.now())
            if held is not None:
                return self._by_hand(held, deadline, progress)
            return requests.drain(self._office.socket, _left(deadline), progress)
        except NobodyListens:
            return None

    def _by_thread(self, deadline: float | None, progress: Progress | None) -> Worked:
        one = _Drain(progress)
        with self._bell:
            if not self._answers:
                raise NobodyListens("the worker is about to stop")
            self._drains.append(one)
            self._bell.notify_all()
        if not one.over.wait(_left(deadline)):
            raise Unavailable("it was not done in time; the rest goes on")
        if isinstance(one.found, Worked):
            return one.found
        raise one.found or NobodyListens("the worker stopped")

    def _by_hand(self, held: Held, deadline: float | None, progress: Progress | None) -> Worked:
        def is_late() -> bool:
            return deadline is not None and monotonic() >= deadline

        try:
            done = work_off(self._world, self._shift(True, is_late, progress))
        finally:
            held.release()
        if is_late() and self._world.store.jobs(None):
            raise Unavailable("it was not done in time; the rest waits")
        return done

    def embed(self, progress: Progress | None = None) -> Worked | None:
        """Make the vectors that lack, here; None when another process does the background work.

        Raises:
            Unavailable: the disk or the database said no.
        """
        held = None if self._is_here() else self._office.lock.take(DRAIN, self._world.clock.now())
        if held is None:
            return None
        try:
            shift = self._shift(True, lambda: False, progress)
            return work_off(self._world, replace(shift, kinds=(EMBED,)))
        finally:
            held.release()

    def _shift(
        self, every: bool, stop: Callable[[], bool], progress: Progress | None = None
    ) -> Shift:
        who = f"{os.uname().nodename}:{os.getpid()}"
        return Shift(who, self._office.chance, every, stop, progress)

    def _is_here(self) -> bool:
        """Whether this is the process whose thread tries for the lock."""
        return self._thread is not None and self._pid == os.getpid()

    # -- for those that try for the lock ----------------------------------------------------------

    def start(self) -> None:
        """Try for the lock now, and go on in a thread."""
        self._held = self._take()
        self._thread = threading.Thread(target=self._run, name="memstrata-worker", daemon=True)
        self._thread.start()

    def stop(self) -> bool:
        """Work off what waits, within the time limit, and stop. False when a batch goes on beyond it.

        What is left is done when the next one takes the lock.
        """
        thread = self._thread
        if thread is None or not self._is_here():
            return True
        limit = self._world.settings.worker.shutdown_seconds
        with self._bell:
            if self._end is None:
                self._end = monotonic() + limit
            self._bell.notify_all()
        thread.join(limit + _GRACE)
        return not thread.is_alive()

    def abandon(self) -> None:
        """Give the lock up though a batch goes on: it can write nothing any more."""
        if self._is_here() and self._held is not None:
            self._held.release()

    def rest(self, seconds: float) -> None:
        """Return when there was nothing to do for so long."""
        with self._bell:
            while self._is_here() and not self._over:
                is_idle = not (self._busy or self._woken or self._drains)
                left = seconds - (monotonic() - self._last_work if is_idle else 0)
                if is_idle and left <= 0:
                    return
                self._bell.wait(min(max(left, _SHORTLY), HEAL_EVERY))

    def _take(self) -> Held | None:
        try:
            return self._office.lock.take(self._office.role, self._world.clock.now())
        except Unavailable as error:
            self._fail(error)
            return None

    def _run(self) -> None:
        try:
            while not self._is_ending():
                if self._held is None:
                    self._held = self._take()
                    self._healed = -HEAL_EVERY  # what the last holder left half-way
                if self._held is not None:
                    self._hold(self._held)
                else:
                    self._is_done(False)
                    self._wait(self._world.settings.worker.retry_seconds)
            self._finish()
        finally:
            self._give_up()
            with self._bell:
                self._over = True
                self._bell.notify_all()

    def _give_up(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.release()

    def _is_ending(self) -> bool:
        return self._end is not None

    def _hold(self, held: Held) -> None:
        """Do the background work for as long as the lock is ours."""
        self._world.bus.emit("worker.started", role=self._office.role)
        with self._bell:
            self._answers = True
        serving = self._serve()
        try:
            while held.stands and not self._is_ending():
                self._wait(self._pass())
        finally:
            self._close(serving)
            self._world.bus.emit("worker.stopped", role=self._office.role)
        if not held.stands:
            self._give_up()

    def _serve(self) -> Serving | None:
        """The socket; without one the work goes on, and others read by themselves."""
        office = self._office
        desk = Desk(office.doors, office.lock.holder, self._rung, self._drain_for)

        def answer(request: Fields, tell: Callable[[Fields], None]) -> Fields:
            found = desk.answer(request, tell)
            if request["do"] in ("recall", "search"):
                self._is_done(True)
            return found

        try:
            return office.socket.serve(answer)
        except Unavailable as error:
            self._fail(error)
            return None

    def _rung(self) -> None:
        with self._bell:
            self._woken = True
            self._last_work = monotonic()
            self._bell.notify_all()

    def _drain_for(self, progress: Progress) -> Worked:
        return self._by_thread(None, progress)

    def _close(self, serving: Serving | None) -> None:
        with self._bell:
            self._answers = False
            left, self._drains = self._drains, []
        for one in left:
            one.end(NobodyListens("the worker stopped"))
        if serving is not None:
            serving.close()

    def _pass(self) -> float:
        """Do what is due, or all that waits if somebody waits for it; seconds until the next look."""
        with self._bell:
            drains, self._drains = self._drains, []
        worked = False
        try:
            self._heal()
            if drains or self._is_due():
                worked = self._work(drains)
            self._office.after(False)
            return self._pause()
        except MemstrataError as error:
            self._fail(error)
            for one in drains:
                one.end(error)
            return self._world.settings.worker.retry_seconds
        finally:
            for one in drains:
                one.end(NobodyListens("the worker stopped"))
            self._is_done(worked or bool(drains))

    def _work(self, drains: list[_Drain]) -> bool:
        """Whether there was something to do."""
        shift = self._shift(bool(drains), self._is_ending, _all(drains))
        done = work_off(self._world, shift)
        self._office.after(bool(drains))
        # Broken off, it is not what they wait for: they look for another who does it.
        for one in () if self._is_ending() else drains:
            one.end(done)
        told = done.batches or done.vectors or done.retold or done.merged or done.proposed
        return bool(told or done.parked or done.retrying)

    def _is_done(self, worked: bool) -> None:
        """There is nothing to do now: since now if it `worked`, else since before."""
        with self._bell:
            self._busy = False
            if worked:
                self._last_work = monotonic()
            self._bell.notify_all()

    def _heal(self) -> None:
        """Look at the files: at the beginning, and now and then."""
        if monotonic() - self._healed >= HEAL_EVERY:
            reconcile.reconcile(self._world)
            self._healed = monotonic()

    def _is_due(self) -> bool:
        now = self._world.clock.now()
        jobs = self._world.store.jobs(None, ("waiting", "running"))
        return any(
            job.state == "running" or job.due <= now or (job.at_once and not job.attempts)
            for job in jobs
        )

    def _pause(self) -> float:
        """Until the next job is due; but the clock may be set, and files and list be changed by others."""
        now = self._world.clock.now()
        dues = [(job.due - now).total_seconds() for job in self._world.store.jobs(None)]
        most = self._world.settings.worker.retry_seconds
        return max(_SHORTLY, min([most, *(seconds for seconds in dues if seconds > 0)]))

    def _wait(self, seconds: float) -> None:
        with self._bell:
            self._bell.wait_for(
                lambda: self._woken or self._drains or self._is_ending(), timeout=seconds
            )
            self._woken, self._busy = False, True

    def _finish(self) -> None:
        """Work off what waits until the time is up; the rest is for the next to begin with."""

        def is_late() -> bool:
            return self._end is not None and monotonic() >= self._end

        self._held = self._held or self._take()
        if self._held is None:
            return
        try:
            if not is_late():
                work_off(self._world, replace(self._shift(True, is_late), kinds=HURRIED))
                self._office.after(True)
            left = [job for job in self._world.store.jobs(None) if job.kind in HURRIED]
            if any(not (job.attempts or job.at_once) for job in left):
                patient = tuple(name for name in KINDS if name not in HURRIED)
                apply.hasten_jobs(self._world, patient)
        except MemstrataError as error:
            self._fail(error)

    def _fail(self, error: MemstrataError) -> None:
        self._world.bus.emit("worker.failed", degraded=True, problem=error.code)


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - monotonic(), 0.0)


def _all(drains: list[_Drain]) -> Progress | None:
    """Tells each of them."""
    told = [one.progress for one in drains if one.progress is not None]
    if not told:
        return None

    def progress(what: str, done: int, total: int) -> None:
        for one in told:
            one(what, done, total)

    return progress
