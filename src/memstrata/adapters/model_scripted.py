"""The one double of a language model: it says exactly what it was given, and notes what it was asked."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Final

import apsw

from memstrata.adapters import vault_fs
from memstrata.errors import MemstrataError
from memstrata.ports import Answer, Question

PATIENCE: Final = 2.0
"""Seconds within which another thread's transaction is over; one of whoever asks cannot end."""

Said = str | Answer | MemstrataError
"""A text as it is, a whole answer, or an error to raise."""

Line = Said | Callable[[Question], Said]
"""What is said, or a function that says it when it hears the question."""


def is_in_transaction(patience: float = PATIENCE) -> bool:
    """Whether who waits for the answer to this call holds a transaction of SQLite, or a vault's lock.

    Connections do not say whose thread they work for: one that comes free within `patience`
    seconds was another's.
    """
    if getattr(vault_fs._locked, "homes", ()):
        return True
    deadline = time.monotonic() + patience
    busy = {one for one in apsw.connections() if _is_busy(one)}
    while busy and time.monotonic() < deadline:
        time.sleep(0.001)
        busy = {one for one in busy.intersection(apsw.connections()) if _is_busy(one)}
    return bool(busy)


def _is_busy(connection: apsw.Connection) -> bool:
    try:
        return connection.in_transaction
    except (apsw.ThreadingViolationError, apsw.ConnectionClosedError):
        return False  # another thread runs a statement on it, or has closed it


class ScriptedModel:
    """`Model` from a script: one line a question, in order; with `repeat` the last one for ever.

    `guard` says whether a transaction or the vault's lock is open; being asked meanwhile fails the
    test, and so does a question more than there are lines: at once as an AssertionError, and at
    `close` again, where something in between swallowed it. Safe for threads.
    """

    def __init__(
        self, *lines: Line, guard: Callable[[], bool] = is_in_transaction, repeat: bool = False
    ) -> None:
        self.questions: list[Question] = []
        self.faults: list[str] = []
        self._lines = deque(lines)
        self._guard = guard
        self._repeat = repeat
        self._lock = Lock()

    def say(self, *lines: Line) -> None:
        """Add lines to the script."""
        with self._lock:
            self._lines.extend(lines)

    def ask(self, question: Question) -> Answer:
        """The next line of the script.

        Raises:
            AssertionError: asked while a transaction or lock is open, or more often than scripted.
            MemstrataError: the line is one.
        """
        if self._guard():
            raise self._fault(
                f"{question.purpose}: a model was asked inside a transaction or a lock"
            )
        line = self._next(question)
        said = line(question) if callable(line) else line
        match said:
            case str():
                return Answer(said, question.model, 0, 0, 0.0)
            case Answer():
                return said
            case _:
                raise said

    def close(self) -> None:
        """End the script.

        Raises:
            AssertionError: it was asked when it should not have been.
        """
        if self.faults:
            raise AssertionError("; ".join(self.faults))

    def _next(self, question: Question) -> Line:
        with self._lock:
            self.questions.append(question)
            if self._repeat and len(self._lines) == 1:
                return self._lines[0]
            if self._lines:
                return self._lines.popleft()
            number = len(self.questions)
        raise self._fault(f"{question.purpose}: question {number} is not in the script")

    def _fault(self, problem: str) -> AssertionError:
        self.faults.append(problem)
        return AssertionError(problem)
