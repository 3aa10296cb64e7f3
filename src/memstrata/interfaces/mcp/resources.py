"""What can be read by an address. A new kind is one row of `KINDS`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from memstrata.errors import Denied, NotFound
from memstrata.interfaces.mcp.caller import Caller

SCHEME: Final = "memstrata://"
MARKDOWN: Final = "text/markdown"
_SHOWN: Final = 200
"""Characters of an address that is none, at most, in the error."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of resource: `memstrata://{host}/{name}`, or without a name where there is one only.

    `read(caller, name)` gives its text or raises; `listed(caller)` gives the names that are worth listing.
    """

    host: str
    parameter: str
    title: str
    description: str
    read: Callable[[Caller, str], str]
    listed: Callable[[Caller], tuple[str, ...]]

    @property
    def template(self) -> str:
        """The address with its parameter."""
        return f"{SCHEME}{self.host}" + (f"/{{{self.parameter}}}" if self.parameter else "")


def address(host: str, name: str) -> str:
    """The address of a resource; a host that has one only takes no name."""
    return f"{SCHEME}{host}" + (f"/{quote(name, safe='')}" if name else "")


def _memory(caller: Caller, id: str) -> str:
    return caller.tools.resource(id).text


def _team(caller: Caller, name: str) -> str:
    """The team document of the caller's own workspace; another's is as one that is not there."""
    workspace = caller.workspace
    if workspace is None or name not in (workspace.id, workspace.name):
        raise NotFound("team document", name)
    return caller.team(workspace.root).read().memory_md


def _persona(caller: Caller, _: str) -> str:
    return caller.tools.persona().text


def _scene(caller: Caller, name: str) -> str:
    return caller.tools.scene(name).text


def _the_persona(caller: Caller) -> tuple[str, ...]:
    with suppress(Denied):  # memory is switched off; who reads is told so
        return ("",) if caller.memory.persona(user=caller.owner).lines else ()
    return ()


def _own_scenes(caller: Caller) -> tuple[str, ...]:
    where = caller.workspace
    root = None if where is None else where.root
    with suppress(Denied):
        return tuple(one.id for one in caller.memory.scenes(workspace=root, user=caller.owner))
    return ()


def _own_workspace(caller: Caller) -> tuple[str, ...]:
    return () if caller.workspace is None else (caller.workspace.id,)


KINDS: Final = (
    Kind(
        "memories",
        "id",
        "A memory",
        "One memory whole, as Markdown, under a warning where it no longer holds.",
        _memory,
        lambda _: (),  # there may be thousands; search_memory finds them
    ),
    Kind(
        "team",
        "workspace",
        "Team document",
        "The document that the members of the workspace and their agents keep together.",
        _team,
        _own_workspace,
    ),
    Kind(
        "persona",
        "",
        "The person",
        "Who the person is and how to work with them, each line with the memories it rests on.",
        _persona,
        _the_persona,
    ),
    Kind(
        "scenes",
        "name",
        "A scene",
        "What is known of one matter, each paragraph with the memories it rests on.",
        _scene,
        _own_scenes,
    ),
)


def read(caller: Caller, uri: str) -> str:
    """The text of the resource at `uri`.

    Raises:
        NotFound: there is none in this caller's view, whatever the reason.
    """
    host, _, rest = uri.removeprefix(SCHEME).partition("/")
    for kind in KINDS:
        if uri.startswith(SCHEME) and kind.host == host and bool(rest) == bool(kind.parameter):
            return kind.read(caller, unquote(rest))
    raise NotFound("resource", uri[:_SHOWN])
