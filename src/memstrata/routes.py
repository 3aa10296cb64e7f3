"""Every verb's place in HTTP: one row a verb, for the server, its OpenAPI and the client alike.

What a request may hold is the verb's own signature: a row names the verb, its method and path, and who
may call it. A verb that is not served has a reason instead, in `NOT_SERVED`.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from os import PathLike
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from memstrata.domain.token import Role
from memstrata.memory import Kept, Session, Verbs
from memstrata.offload import OffloadSession
from memstrata.pipelines.offload import Recalled, Report
from memstrata.pipelines.read import Hit, Hits
from memstrata.prompts.template import Rendered
from memstrata.team_document import MemoryDocument
from memstrata.tools import Tools

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Owner = Literal["", "session", "team", "private", "tools", "offload"]
"""What a verb belongs to: the memory itself, or what it opens (a session, a document, an agent's tools)."""

SHOWN: Final = "Memstrata-Shown"
"""The header that carries the revision which a thread without a session was shown last."""
_LEFT_OUT: Final = frozenset({"self", "progress"})
_TEXTUAL: Final = (date, datetime)
_SESSION: Final = ("id", "session_id")
"""Names of an argument that opens a session: on the wire it is `session`, an id is of what is in it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt that was rendered, as it goes over the wire."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Part:
    """An archived text, or a part of it, as it goes over the wire (see `Recalled`)."""

    text: str
    start: int
    shown: int
    lines: int
    masked: int


@dataclass(frozen=True, slots=True)
class Folded:
    """A list that was assembled, and what was done, as they go over the wire."""

    messages: list[Any]
    report: Report


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a verb, as a request holds it. `type` is the type of its JSON."""

    name: str
    type: Any
    required: bool
    default: object = None

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The alternatives of its type."""
        is_union = get_origin(self.type) is Union
        return get_args(self.type) if is_union else (self.type,)

    @property
    def is_text(self) -> bool:
        """Whether it may be a text; else it is a number or a switch."""
        return not {int, float, bool} & set(self.kinds) or str in self.kinds


@dataclass(frozen=True)
class Route:
    """How a verb is called: `verb` is `search`, `session.commit`, `team.save`.

    `role` is what the caller must have at least. `match` names the argument that `If-Match` may give,
    `tag` the field of the answer that its ETag tells. A `long` one may take its time.
    """

    verb: str
    method: Method
    path: str
    role: Role = "reader"
    status: int = 200
    match: str = ""
    tag: str = ""
    long: bool = False

    @property
    def owner(self) -> Owner:
        """What the verb belongs to."""
        return cast("Owner", self.verb.rpartition(".")[0])

    @property
    def name(self) -> str:
        """The verb's own name."""
        return self.verb.rpartition(".")[2]

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The verb itself."""
        return cast("Callable[..., Any]", getattr(_KINDS[self.owner], self.name))

    @cached_property
    def opening(self) -> tuple[Parameter, ...]:
        """The arguments of what the verb belongs to."""
        if not self.owner:
            return ()
        found = _parameters(getattr(Verbs, self.owner))
        return tuple(
            Parameter("session", one.type, one.required) if one.name in _SESSION else one
            for one in found
        )

    @cached_property
    def own(self) -> tuple[Parameter, ...]:
        """The verb's own arguments. What lies in a file where the caller is comes as its text."""
        found = _parameters(self.function)
        if self.verb != "import_":
            return found
        return tuple(Parameter("content", str, True) if o.name == "path" else o for o in found)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All that a request may hold."""
        return (*self.opening, *self.own)

    @cached_property
    def returns(self) -> Any:
        """The type of the result."""
        return get_type_hints(self.function)["return"]

    @property
    def in_path(self) -> tuple[str, ...]:
        """The arguments that stand in the path."""
        return tuple(one.name for one in self.parameters if f"{{{one.name}}}" in self.path)

    @property
    def folders(self) -> tuple[str, ...]:
        """The arguments that name a workspace: by its path where the caller is, else by key, id or name."""
        named = ("workspace", "path") if self.verb in _BY_PATH else ("workspace",)
        return tuple(one.name for one in self.parameters if one.name in named)

    @property
    def has_body(self) -> bool:
        """Whether the rest stands in a JSON body, else in the query."""
        return self.method in ("POST", "PUT", "PATCH")

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent twice: it changes nothing."""
        return self.role == "reader" and not self.long


_BY_PATH: Final = ("workspace_of", "bind_workspace")
_KINDS: Final[Mapping[str, type]] = {
    "": Verbs,
    "session": Session,
    "team": MemoryDocument,
    "private": MemoryDocument,
    "tools": Tools,
    "offload": OffloadSession,
}


def _document(owner: str, path: str) -> tuple[Route, ...]:
    """The verbs of a document, below `path`."""
    return (
        Route(f"{owner}.read", "GET", path, tag="rev"),
        Route(f"{owner}.save", "PUT", path, "writer", match="expected_rev", tag="rev"),
        Route(f"{owner}.reset", "DELETE", path, "writer", tag="rev"),
        Route(f"{owner}.history", "GET", f"{path}/history"),
        Route(f"{owner}.entries", "GET", f"{path}/entries"),
        Route(f"{owner}.diff", "GET", f"{path}/diff"),
        Route(f"{owner}.restore", "POST", f"{path}/restore", "writer", tag="rev"),
        Route(f"{owner}.undo", "POST", f"{path}/undo", "writer", tag="rev"),
        Route(f"{owner}.block", "GET", f"{path}/block"),
        Route(f"{owner}.prompt", "GET", f"{path}/prompt"),
        Route(f"{owner}.tool", "GET", f"{path}/tool"),
        Route(f"{owner}.update_memory", "POST", f"{path}/tool", "writer"),
        Route(f"{owner}.delegation", "POST", f"{path}/delegation"),
    )


ROUTES: Final[tuple[Route, ...]] = (
    Route("session.commit", "POST", "/v1/turns", "writer"),
    Route("session.recall", "POST", "/v1/recall"),
    Route("session.end", "POST", "/v1/sessions/end", "writer", status=204),
    Route("sessions", "GET", "/v1/sessions"),
    Route("messages", "GET", "/v1/messages"),
    Route("search", "POST", "/v1/search"),
    Route("search_conversations", "POST", "/v1/messages/search"),
    Route("list", "GET", "/v1/memories"),
    Route("add", "POST", "/v1/memories", "writer", status=201, tag="version"),
    Route("get", "GET", "/v1/memories/{id}", tag="version"),
    Route(
        "edit",
        "PATCH",
        "/v1/memories/{id}",
        "writer",
        match="expected_version",
        tag="version",
    ),
    Route("delete", "DELETE", "/v1/memories/{id}", "writer"),
    Route("forget", "POST", "/v1/forget", "admin", long=True),
    Route("history", "GET", "/v1/memories/{id}/history"),
    Route("diff", "GET", "/v1/memories/{id}/diff"),
    Route("archive", "POST", "/v1/memories/{id}/archive", "writer", tag="version"),
    Route("restore", "POST", "/v1/memories/{id}/restore", "writer", tag="version"),
    Route("resolve", "POST", "/v1/memories/{id}/resolve", "writer", tag="version"),
    Route("trace", "GET", "/v1/trace"),
    Route("why", "GET", "/v1/why"),
    Route("candidates", "GET", "/v1/candidates"),
    Route("confirm", "POST", "/v1/candidates/{id}/confirm", "writer", tag="version"),
    Route("reject", "POST", "/v1/candidates/{id}/reject", "writer"),
    Route("consolidate", "POST", "/v1/consolidate", "admin", long=True),
    Route("reads", "GET", "/v1/reads"),
    Route("entities", "GET", "/v1/entities"),
    Route("alias", "POST", "/v1/entities/aliases", "writer"),
    Route("unalias", "DELETE", "/v1/entities/aliases", "writer"),
    Route("scenes", "GET", "/v1/scenes"),
    Route("scene", "GET", "/v1/scene"),
    Route("request_scenes", "POST", "/v1/scenes/request", "writer", status=204),
    Route("scene_versions", "GET", "/v1/scenes/versions"),
    Route("restore_scenes", "POST", "/v1/scenes/restore", "writer"),
    Route("persona", "GET", "/v1/persona"),
    Route("persona_file", "GET", "/v1/persona/file"),
    Route("edit_persona", "PUT", "/v1/persona", "writer"),
    Route("lock_persona", "POST", "/v1/persona/lock", "writer"),
    Route("request_persona", "POST", "/v1/persona/request", "writer", status=204),
    Route("persona_versions", "GET", "/v1/persona/versions"),
    Route("restore_persona", "POST", "/v1/persona/restore", "writer"),
    Route("offload.record", "POST", "/v1/offload/record", "writer"),
    Route("offload.assemble", "POST", "/v1/offload/assemble", "writer"),
    Route("offload.recall", "GET", "/v1/offload/recall"),
    Route("offload.text", "GET", "/v1/offload/text"),
    Route("offload.tasks", "GET", "/v1/offload/tasks"),
    Route("offload.open", "GET", "/v1/offload/open"),
    Route("offload.call", "POST", "/v1/offload/call"),
    Route("tasks", "GET", "/v1/tasks"),
    Route("recall_result", "GET", "/v1/results"),
    *_document("team", "/v1/workspaces/{workspace}/memory"),
    *_document("private", "/v1/users/me/memory"),
    Route("workspaces", "GET", "/v1/workspaces"),
    Route("workspace_of", "GET", "/v1/workspaces/of"),
    Route("bind_workspace", "POST", "/v1/workspaces"),
    Route("unbind_workspace", "POST", "/v1/workspaces/unbind", "admin"),
    Route("unreviewed", "GET", "/v1/workspaces/unreviewed", "admin", long=True),
    Route("trust", "POST", "/v1/workspaces/trust", "admin", long=True),
    Route("status", "GET", "/v1/status"),
    Route("estimate", "GET", "/v1/estimate"),
    Route("ledger", "GET", "/v1/ledger", "admin"),
    Route("doctor", "POST", "/v1/doctor", "admin", long=True),
    Route("settings", "GET", "/v1/settings", "admin"),
    Route("configure", "PATCH", "/v1/settings", "admin"),
    Route("config", "GET", "/v1/settings/origins", "admin"),
    Route("test_extraction", "POST", "/v1/settings/test", "admin", long=True),
    Route("drain", "POST", "/v1/jobs/drain", "admin", long=True),
    Route("extract", "POST", "/v1/jobs/extract", "admin", long=True),
    Route("import_", "POST", "/v1/import", "admin", long=True),
    Route("reindex", "POST", "/v1/reindex", "admin", long=True),
    Route("reconcile", "POST", "/v1/reconcile", "admin", long=True),
    Route("fill_vectors", "POST", "/v1/vectors/fill", "admin", long=True),
    Route("rebuild_vectors", "POST", "/v1/vectors/rebuild", "admin", long=True),
)

NOT_SERVED: Final[Mapping[str, str]] = {
    "session": "opened where it is used; its verbs are served",
    "team": "opened where it is used; its verbs are served",
    "private": "opened where it is used; its verbs are served",
    "offload": "opened where it is used; its verbs are served",
    "tools": "over MCP, at /mcp",
    **{
        f"tools.{name}": "over MCP, at /mcp"
        for name in (
            *("search_memory", "recall_memory", "search_conversations", "trace_memory"),
            *("memory_context", "resource", "persona", "scene", "call", "schemas"),
        )
    },
    "offload.tools": "worked out where it is asked: nothing stored is needed for it",
    "close": "ends the connection, not the server",
    "create_token": "made on the machine of the home, so that no token makes another",
    "tokens": "told on the machine of the home only",
    "revoke_token": "done on the machine of the home only",
    "team.delegated": "worked out where it is asked: nothing stored is needed for it",
    "private.delegated": "worked out where it is asked: nothing stored is needed for it",
}
"""Verbs that no route serves, and why."""

BY_VERB: Final[Mapping[str, Route]] = {one.verb: one for one in ROUTES}


def answer_type(returns: Any) -> Any:
    """The type of a result as JSON can be checked against it: of hits the list, of an object its members."""
    if returns is Hits:
        return tuple[Hit, ...]
    if returns is Rendered:
        return Asked
    if returns is Recalled:
        return Part
    if returns == list[Any]:
        return Folded
    if get_origin(returns) is dict:
        return dict[str, Any]
    return returns


def sent(value: object, opened: object) -> object:
    """A result as it goes over the wire; `opened` is what the verb belongs to."""
    match value:
        case Rendered():
            return Asked(value.system, value.user)
        case Recalled():
            return Part(str(value), value.start, value.shown, value.lines, value.masked)
        case list() if isinstance(opened, OffloadSession):
            return Folded(value, opened.report)
        case _:
            return value


def verbs_of(kind: type) -> tuple[str, ...]:
    """The names of the verbs of a class."""
    return tuple(
        name
        for name in dir(kind)
        if not name.startswith("_") and inspect.isfunction(inspect.getattr_static(kind, name))
    )


def all_verbs() -> tuple[str, ...]:
    """Every verb there is: the memory's, then those of what it opens."""
    own = [one for one in vars(Verbs) if one in verbs_of(Verbs)]
    more = [
        f"{owner}.{name}"
        for owner, kind in _KINDS.items()
        if owner
        for name in vars(kind)
        if name in verbs_of(kind)
    ]
    return (*own, *more)


# -- from a signature to what JSON holds ----------------------------------------------------------


def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    hints = get_type_hints(function)
    found = []
    for name, one in inspect.signature(function).parameters.items():
        if name in _LEFT_OUT:
            continue
        required = one.default is inspect.Parameter.empty
        default = None if required or isinstance(one.default, Kept) else one.default
        found.append(Parameter(name, _plain(hints[name], name), required, default))
    return tuple(found)


def _plain(hint: Any, name: str) -> Any:
    """The type of an argument's JSON: a path or a day is text, a sequence a list, an object anything."""
    origin, inner = get_origin(hint), get_args(hint)
    if name == "messages":
        return list[dict[str, Any]]
    if hint is object:
        return Any
    if origin is Literal or hint in (str, int, float, bool, types.NoneType):
        return hint
    if hint in _TEXTUAL:
        return str
    if origin in (list, tuple, Sequence, Iterable):
        return list[_plain(inner[0], "")]  # type: ignore[misc]
    if origin in (Union, types.UnionType):
        kept = [_plain(one, name) for one in inner if not _is_left_out(one)]
        return Union[tuple(dict.fromkeys(kept))]  # noqa: UP007 -- of as many as there are
    raise TypeError(f"the wire format knows no argument of type {hint!r}")


def _is_left_out(hint: Any) -> bool:
    """Alternatives that only a caller in the same process can give."""
    plain = (object, str, int, float, bool, types.NoneType, *_TEXTUAL)
    is_plain = hint in plain or get_origin(hint) not in (None, PathLike)
    return not is_plain
