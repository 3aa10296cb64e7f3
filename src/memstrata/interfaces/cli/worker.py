"""worker."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer

from memstrata.errors import Invalid
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.texts import say

PANEL = "Look after it"


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

    with _until_terminated(), door.worker() as memory:
        memory.work(idle_exit)
    home = str(home_path(door.home))
    return Reply({"home": home}, lambda out: out.text(say("no work is left")))


class _Terminated(BaseException):
    """SIGTERM: what waits is worked off within its time limit, as at any end."""


@contextmanager
def _until_terminated() -> Iterator[None]:
    def end(*_: object) -> NoReturn:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except _Terminated:
        return
    finally:
        signal.signal(signal.SIGTERM, before)
