"""Progress bars on stderr, for what can take over a second; none where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memstrata.interfaces.cli.texts import say

Progress = Callable[[str, int, int], None]
"""Called with (what, done, in all); `in all` is 0 while it is unknown."""


@contextmanager
def bars() -> Iterator[Progress | None]:
    """A callback that moves one bar for each kind of work; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as shown:
        tasks = {}

        def moved(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(say(what), total=None)
            shown.update(tasks[what], completed=done, total=total or None)

        yield moved
