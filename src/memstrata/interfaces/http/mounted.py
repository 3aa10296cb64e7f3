"""The MCP door at `/mcp`, where it is installed: the same callers, let in by the same guard."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from starlette.routing import Route

from memstrata.interfaces.http.guard import IDENTITY
from memstrata.interfaces.http.identity import Identity
from memstrata.memory import Verbs

PATH: Final = "/mcp"
_DOOR: Final = "memstrata.interfaces.mcp"


@dataclass(frozen=True, slots=True)
class Mounted:
    """What stands beside the API: its routes, and what has to run while they are served."""

    routes: tuple[Route, ...] = ()
    app: Any = None

    def running(self) -> AbstractAsyncContextManager[None]:
        """Serve while inside."""
        if self.app is None:
            return nullcontext()
        found: AbstractAsyncContextManager[None] = self.app.running()
        return found


def mcp(verbs: Verbs) -> Mounted:
    """The MCP door of a memory; nothing where it is not installed.

    Whose memory it is says the token, as for every request; workspace, agent and session come from the
    door's own headers. A reader is offered no tool that writes.
    """
    if find_spec(_DOOR) is None or find_spec("mcp") is None:
        return Mounted()
    named = import_module(f"{_DOOR}.identity").of_request(verbs)

    def identify(scope: Mapping[str, Any]) -> Any:
        caller: Identity = scope[IDENTITY]
        return replace(named(scope), owner=caller.owner, may_write=caller.role != "reader")

    app = import_module(f"{_DOOR}.http").streamable_app(verbs, identify=identify, hosts=None)
    return Mounted((Route(PATH, endpoint=app),), app)
