"""worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from threading import Thread
from typing import Annotated, Final, Self

import typer

from memstrata.errors import Invalid
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.texts import say

PANEL = "Look after it"
_ENDING: Final = (signal.SIGTERM, signal.SIGINT)
_SOON: Final = 0.1
"""Seconds until the thread that waited for the work to end has noticed that the home is closed."""
_DONE: Final = 0
"""No signal: the work is done."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(app, "worker", PANEL)(worker)


def worker(
    door: Door,
    idle_exit: Annotated[
        float | None,
        typer.Option(
            "--idle-exit",
            metavar="SECONDS",
            help="end after so long without work (else worker.idle_exit_seconds)",
        ),
    ] = None,
) -> Reply:
    """Do the home's background work until there is none; one process at a time does it."""
    if idle_exit is not None and not idle_exit >= 0:
        raise Invalid("--idle-exit", f"{idle_exit!r} is no number of seconds")
    from memstrata.bootstrap import home_path

    with _Signals() as signals:
        with door.worker() as memory:
            signals.work(lambda: memory.work(idle_exit))
        if signal.SIGINT in signals.heard:
            raise KeyboardInterrupt
    home = str(home_path(door.home))
    return Reply({"home": home}, lambda out: out.text(say("no work is left")))


class _Signals:
    """SIGTERM and SIGINT as an end in good order: what waits is worked off within its time limit.

    An exception out of a signal handler can come between any two steps, also while a lock is being
    taken. So a signal is only noted; the work goes on in another thread, and this one listens: at a
    pipe, for a signal that comes just before it waits for anything else would not wake it. What comes
    while the home opens or closes waits until that is done. Only a SIGINT behind another signal
    breaks off what this thread does, once: the batch that it waits for is left to the next worker.
    """

    def __init__(self) -> None:
        self.heard: list[int] = []
        self._broken_off = False
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        self._ends, self._told = os.pipe()
        os.set_blocking(self._told, False)
        self._woken = signal.set_wakeup_fd(self._told)
        self._before = {one: signal.signal(one, self._hear) for one in _ENDING}
        return self

    def __exit__(self, *_: object) -> None:
        # The process is about to end as it was told to; told again it must not end otherwise.
        for one, before in self._before.items():
            signal.signal(one, signal.SIG_IGN if self.heard else before)
        signal.set_wakeup_fd(self._woken)
        if self._thread is not None:
            self._thread.join(_SOON)
            if self._thread.is_alive():
                return  # a batch goes on; it will still tell the pipe that it ended
        os.close(self._ends)
        os.close(self._told)

    def work(self, work: Callable[[], object]) -> None:
        """Return when a signal was heard, or when `work`, in a thread of its own, came to its end."""

        def run() -> None:
            try:
                work()
            finally:
                os.write(self._told, bytes([_DONE]))

        self._thread = Thread(target=run, name="memstrata-idle", daemon=True)
        self._thread.start()
        while os.read(self._ends, 1)[0] not in (_DONE, *_ENDING):
            pass  # a signal that is another's

    def _hear(self, number: int, _: object) -> None:
        """Called between any two steps of the main thread, when the pipe has the signal already."""
        self.heard.append(number)
        if number == signal.SIGINT and len(self.heard) > 1 and not self._broken_off:
            self._broken_off = True
            raise KeyboardInterrupt
