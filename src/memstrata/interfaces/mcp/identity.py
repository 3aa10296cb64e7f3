"""Who is behind a request: given once for a process over stdio, taken from each request over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memstrata.domain.scope import LOCAL_SPACE
from memstrata.errors import Invalid, NotFound
from memstrata.memory import Verbs

STATE: Final = "memstrata_identity"
"""Under this name a server that mounts the door puts the `Identity` into the ASGI scope's state."""
_HEADERS: Final = {
    "workspace": b"x-memstrata-workspace",
    "agent": b"x-memstrata-agent",
    "session": b"x-memstrata-session",
    "offload": b"x-memstrata-offload",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller: whose memory, and where, as which agent and in which session it works.

    `owner` None is the memory's own. `workspace` is the path of a folder, which is not made known to the
    home by reading; `offload` is the agent session whose archived results and tasks it may read;
    `may_write`: whether `update_memory` is offered at all.
    """

    owner: str | None = None
    space: str = LOCAL_SPACE
    workspace: str | None = None
    agent: str | None = None
    session: str | None = None
    offload: str | None = None
    may_write: bool = True


Scope = Mapping[str, Any]
Identify = Callable[[Scope], Identity]
"""The identity of a request, from its ASGI scope; over stdio the scope is empty. Runs in a worker thread."""


def of_request(memory: Verbs) -> Identify:
    """Who a request comes from: what the mounting server's authentication put into the scope's state.

    Without that it is the memory's own owner, as whom only loopback may call; workspace, agent and
    session then come from the headers `X-Memstrata-Workspace` (the id or root of a workspace that the
    home knows), `-Agent`, `-Session` and `-Offload`.
    """

    def identify(scope: Scope) -> Identity:
        known = scope.get("state", {}).get(STATE)
        if isinstance(known, Identity):
            return known
        given = {name: _header(scope, header) for name, header in _HEADERS.items()}
        named = given["workspace"]
        root = None if named is None else _root(memory, named)
        return Identity(
            workspace=root,
            agent=given["agent"],
            session=given["session"],
            offload=given["offload"],
        )

    return identify


def _header(scope: Scope, name: bytes) -> str | None:
    """A header as text, None where it is not there or empty."""
    for one, value in scope.get("headers", ()):
        if one == name:
            try:
                return value.decode("utf-8") or None
            except UnicodeDecodeError as error:
                raise Invalid(name.decode(), "is no UTF-8") from error
    return None


def _root(memory: Verbs, named: str) -> str:
    """The root of the bound workspace of that id or root: a header may not make folders known."""
    for one in memory.workspaces():
        if named in (one.id, one.key, one.root):
            return one.root
    raise NotFound("workspace", named)
