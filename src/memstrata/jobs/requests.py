"""What the holder answers on the home's socket: a table of requests, each with the arguments it takes.

`recall` and `search` are the verbs of that name with the verbs' own arguments, so that a short-lived
process need not load what they need. A request is `{"do": name, …arguments}`, an answer plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, cast

from memstrata.domain.plain import encode
from memstrata.errors import Invalid
from memstrata.jobs.worker import Progress, Worked
from memstrata.ports import Fields, Socket

VIEW: Final = ("user", "workspace", "agent")
ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "ping": (),
    "status": (),
    "wake": (),
    "drain": (),
    "recall": ("session", "message", "max_tokens", *VIEW),
    "search": (
        *("query", "kinds", "scope", "type", "limit", "as_of", "known_at", "include_invalid"),
        *VIEW,
    ),
}
"""The requests there are."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What answers: the verbs of the process that holds the background work."""

    recall: Callable[..., object]
    search: Callable[..., Any]
    status: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Desk:
    """Answers requests; `drain` and `wake` go to the worker's loop, `holding` says who answers."""

    doors: Doors
    holding: Callable[[], object]
    wake: Callable[[], object]
    drain: Callable[[Progress], Worked]

    def answer(self, request: Fields, tell: Callable[[Fields], None]) -> Fields:
        """The answer to `request`; progress of a drain is told.

        Raises:
            Invalid: there is no such request, or an argument that it does not take.
            MemstrataError: what the verb raised.
        """
        name, given = parsed(request)
        match name:
            case "ping":
                return _object(self.holding())
            case "status":
                return _object(self.doors.status())
            case "wake":
                self.wake()
                return {}
            case "drain":
                return _object(self.drain(_telling(tell)))
            case "recall":
                return _object(self.doors.recall(**given))
            case _:
                found = self.doors.search(**given)
                about = {"degraded": encode(found.degraded), "profile": found.profile}
                return {"hits": encode(found), **about}


def _telling(tell: Callable[[Fields], None]) -> Progress:
    return lambda what, done, total: tell({"what": what, "done": done, "of": total})


def parsed(request: Fields) -> tuple[str, dict[str, Any]]:
    """The name of a request and its arguments; those that are null are not given.

    Raises:
        Invalid: there is no such request, or an argument that it does not take.
    """
    name = request.get("do")
    if not isinstance(name, str) or name not in ARGUMENTS:
        raise Invalid("do", f"{name!r} is no request; there are {', '.join(ARGUMENTS)}")
    given = {one: value for one, value in request.items() if one != "do" and value is not None}
    for one in given:
        if one not in ARGUMENTS[name]:
            raise Invalid(one, f"{name} takes no such argument")
    for one in ARGUMENTS[name][:2]:
        if one in ("session", "message", "query") and one not in given:
            raise Invalid(one, "is missing")
    workspace = given.get("workspace", "/")
    # The asker's folder is not ours.
    if not isinstance(workspace, str) or not PurePath(workspace).is_absolute():
        raise Invalid("workspace", "expected an absolute path")
    return name, given


def drain(socket: Socket, seconds: float | None, progress: Progress | None) -> Worked:
    """Let the holder work off what waits; its report.

    Raises:
        NobodyListens: there is no holder, or it went away meanwhile.
        Unavailable: it was not done within `seconds`, or disk or database said no.
    """

    def heard(told: Fields) -> None:
        if progress is not None:
            what, done, total = told["what"], told["done"], told["of"]
            progress(cast("str", what), cast("int", done), cast("int", total))

    return Worked.of(socket.ask({"do": "drain"}, seconds, heard))


def _object(value: object) -> Fields:
    return cast("Fields", encode(value))
