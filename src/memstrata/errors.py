"""Everything memstrata raises, one tree, one table.

::

    MemstrataError
    ├── Invalid       can never work as given            422   -32602   exit 2
    ├── Denied        this caller may not                403   -32003   exit 3
    ├── NotFound      no such id in this scope           404   -32602   exit 4
    ├── Conflict      moved meanwhile, nothing was saved 409   -32009   exit 5
    ├── Refused       a gate said no                     422   -32006   exit 6
    ├── Unavailable   model, embedder, database away     503   -32007   exit 7
    ├── Corrupt       a file or row cannot be read       500   -32008   exit 8
    └── Internal      a bug                              500   -32603   exit 1

Only `Unavailable` is worth trying again as it stands. The numbers below zero are MCP's: its own where
it has one (a resource that is not there counts as a wrong parameter), else from JSON-RPC's range for
servers; a tool's error is a result that is marked as one, for the model to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class MemstrataError(Exception):
    """The root: `code` names the row of the table above, `message` is for a person."""

    code: ClassVar[str] = "internal"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    mcp_code: ClassVar[int] = -32603
    retryable: ClassVar[bool] = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def detail(self) -> dict[str, object]:
        """The fields a machine reads, beside `code` and `message`."""
        return {}


class Invalid(MemstrataError):
    """The input can never work as given; `field` says where (`messages[2].content`)."""

    code = "invalid"
    http_status = 422
    exit_code = 2
    mcp_code = -32602

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem

    def detail(self) -> dict[str, object]:
        return {"field": self.field, "problem": self.problem, "reason": "VALIDATION_FAILED"}


class Denied(MemstrataError):
    """This caller may not do that."""

    code = "denied"
    http_status = 403
    exit_code = 3
    mcp_code = -32003


class NotFound(MemstrataError):
    """No such id in this scope; an id of another scope answers exactly the same."""

    code = "not_found"
    http_status = 404
    exit_code = 4
    mcp_code = -32602

    def __init__(self, kind: str, id: str) -> None:
        super().__init__(f"no {kind} {id!r} here")
        self.kind = kind
        self.id = id

    def detail(self) -> dict[str, object]:
        return {"kind": self.kind, "id": self.id}


class Conflict(MemstrataError):
    """What was to be changed moved meanwhile, or its name is taken; nothing was saved.

    `reason` is `VERSION_CONFLICT` (with `base` and `current` versions, and the texts of both where an
    edit was stale) or `ALREADY_EXISTS` (with `holder`, the id that has the name, or the slot).
    """

    code = "conflict"
    http_status = 409
    exit_code = 5
    mcp_code = -32009

    def __init__(
        self,
        message: str,
        *,
        reason: str = "VERSION_CONFLICT",
        base: int | None = None,
        current: int | None = None,
        holder: str | None = None,
        base_text: str | None = None,
        current_text: str | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.base = base
        self.current = current
        self.holder = holder
        self.base_text = base_text
        self.current_text = current_text

    def detail(self) -> dict[str, object]:
        found = {
            "reason": self.reason,
            "base": self.base,
            "current": self.current,
            "holder": self.holder,
            "base_text": self.base_text,
            "current_text": self.current_text,
        }
        return {name: value for name, value in found.items() if value is not None}


class Refused(MemstrataError):
    """A gate said no: `gate` which, `verdict` how it is listed, `reason` why."""

    code = "refused"
    http_status = 422
    exit_code = 6
    mcp_code = -32006

    def __init__(self, gate: str, verdict: str, reason: str) -> None:
        super().__init__(f"refused by the {gate} gate: {reason}")
        self.gate = gate
        self.verdict = verdict
        self.reason = reason

    def detail(self) -> dict[str, object]:
        return {"gate": self.gate, "verdict": self.verdict, "reason": self.reason}


class Unavailable(MemstrataError):
    """A model, an embedder, the database or the disk is away; try again later."""

    code = "unavailable"
    http_status = 503
    exit_code = 7
    mcp_code = -32007
    retryable = True


class OutcomeUnknown(Unavailable):
    """The write failed and so did taking it back; reconcile decides by the file."""


class ModelFailed(Unavailable):
    """A model gave no answer. `permanent`: asking again cannot help (wrong key, unknown model).

    `retry_after` in seconds where the provider said so; `unsupported_rung`: this form of answer is
    not to be had from it; `reason` in one word (timeout, refused, rate_limited, server, cut, key, model).
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        retry_after: float | None = None,
        permanent: bool = False,
        unsupported_rung: bool = False,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry_after = retry_after
        self.permanent = permanent
        self.unsupported_rung = unsupported_rung

    def detail(self) -> dict[str, object]:
        return {"reason": self.reason, "retry_after": self.retry_after}


class Corrupt(MemstrataError):
    """A file or row cannot be read; it was left untouched."""

    code = "corrupt"
    http_status = 500
    exit_code = 8
    mcp_code = -32008

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {problem}")
        self.path = path
        self.problem = problem
        self.line = line

    def detail(self) -> dict[str, object]:
        return {"path": self.path, "line": self.line, "problem": self.problem}


class Internal(MemstrataError):
    """A bug of ours."""


ERRORS: tuple[type[MemstrataError], ...] = (
    Invalid,
    Denied,
    NotFound,
    Conflict,
    Refused,
    Unavailable,
    Corrupt,
    Internal,
)


def restored(fields: Mapping[str, Any]) -> MemstrataError:
    """The error that another process raised, from its `code`, `message` and `detail()`."""
    message = str(fields.get("message", ""))
    match fields:
        case {"code": "invalid", "field": field, "problem": problem}:
            return Invalid(field, problem)
        case {"code": "denied"}:
            return Denied(message)
        case {"code": "not_found", "kind": kind, "id": id}:
            return NotFound(kind, id)
        case {"code": "conflict"}:
            names = ("reason", "base", "current", "holder", "base_text", "current_text")
            return Conflict(message, **{name: fields[name] for name in names if name in fields})
        case {"code": "refused", "gate": gate, "verdict": verdict, "reason": reason}:
            return Refused(gate, verdict, reason)
        case {"code": "unavailable"}:
            return Unavailable(message)
        case {"code": "corrupt", "path": path, "problem": problem, "line": line}:
            return Corrupt(path, problem, line)
        case _:
            return Internal(message)
