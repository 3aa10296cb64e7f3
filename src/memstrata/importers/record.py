"""What a reader yields: a message with its session, or a record that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message of a session, in the shape that `commit` takes; `where` names its place in the file."""

    session: str
    message: Mapping[str, object]
    where: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that could not be read: where, and why."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"
