"""`Memory.offload(session)`: the working memory of one long task, as a host's agent loop uses it."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Final, Literal

from memstrata.domain import checks
from memstrata.domain.insertion import Task
from memstrata.domain.offload_state import Kept
from memstrata.errors import Invalid
from memstrata.pipelines import offload as pipeline
from memstrata.pipelines.offload import Cache, Host, Opened, Recalled, Report
from memstrata.pipelines.world import World

Shape = Literal["openai", "responses", "anthropic"]
_SHAPES: Final = ("openai", "responses", "anthropic")


class OffloadSession:
    """One agent's tool results: archived word for word, folded out of the list, and read again.

    ::

        session = memory.offload("task-7", window=200_000)
        messages = session.assemble(messages)      # before each call of the model
        answer = session.call(name, arguments)     # when it calls one of `tools()`

    The host keeps its own list and sends what `assemble` gives; it never stores that. Safe for threads.
    """

    def __init__(self, world: World, host: Host, wake: Callable[[], object]) -> None:
        self._world = world
        self._host = host
        self._wake = wake
        self._lock = RLock()
        self.report: Report = Report(host.limits.window)
        """What the last `assemble` did."""

    def record(self, tool_call_id: str, name: str, arguments: object, result: object) -> Kept:
        """Archive a tool's result at once; without it the next `assemble` does.

        `arguments` are an object or its JSON text; `result` a text, or blocks as providers send them.

        Raises:
            Invalid: an id or a name that is no text.
            Unavailable: the disk or the database said no.
        """
        with self._lock:
            found = pipeline.record(self._world, self._host, tool_call_id, name, arguments, result)
        self._wake()
        return found

    def assemble(
        self, messages: object, *, overhead: int | None = None, overflow: bool = False
    ) -> list[Any]:
        """The list for the next call of the model: what was folded stays so, more is folded where a line is
        passed, and the block of the task stands in it. `report` says what was done.

        Messages are of OpenAI's (chat, responses) or Anthropic's shape; the host's are never changed.
        `overhead` is what comes beside the list (system prompt, tools) in tokens, where the host knows;
        `overflow`: the provider refused the last list as too long. Nothing is raised for any list, nor
        where the disk says no: the list comes back folded as far as it was before.
        """
        with self._lock:
            found = pipeline.assemble(
                self._world,
                self._host,
                messages,
                overhead=overhead if _is_count(overhead) else None,
                overflow=bool(overflow),
            )
            self.report = found.report
        self._wake()
        return found.messages

    def recall(
        self, ref: str, *, start: int = 1, lines: int = 200, grep: str | None = None
    ) -> Recalled:
        """The archived text that a ref leads to: `lines` (at most 400) from line `start` on.

        A ref is a tool_call_id, a result_ref, a node or a graph's file. With `grep` only the lines that
        hold that text, upper and lower case alike.

        Raises:
            Invalid: an argument that is wrong.
            NotFound: nothing is archived under that ref.
            Unavailable: it cannot be read.
        """
        with self._lock:
            return pipeline.recall(
                self._world, self._host, ref, start=start, lines=lines, grep=grep
            )

    def text(self, ref: str) -> str:
        """The whole of one archived result, character for character (secrets masked).

        Raises:
            NotFound: nothing is archived under that ref.
            Unavailable: it cannot be read.
        """
        with self._lock:
            return pipeline.text(self._world, self._host, ref)

    def tasks(
        self, *, scope: Literal["session", "workspace"] = "session", limit: int = 20
    ) -> tuple[Task, ...]:
        """The tasks of this session, newest first; with scope `workspace` those of the owner's other
        sessions there, too.

        Raises:
            Invalid: the argument that is wrong.
        """
        with self._lock:
            return pipeline.tasks(self._world, self._host, scope=scope, limit=limit)

    def open(self, file: str) -> Opened:
        """The graph of a task, by its file as `tasks` names it.

        Raises:
            NotFound: there is no such task here.
        """
        with self._lock:
            return pipeline.open_task(self._world, self._host, file)

    def tools(self, shape: Shape = "openai") -> list[dict[str, Any]]:
        """The tools for the agent, as OpenAI's chat or responses or Anthropic's messages take them.

        Raises:
            Invalid: another shape.
        """
        if shape not in _SHAPES:
            raise Invalid("shape", f"{checks.shown(shape)} is none of {', '.join(_SHAPES)}")
        return [_tool(name, shape) for name in pipeline.TOOLS]

    def call(self, name: str, arguments: object = None) -> str:
        """The answer to a call of one of `tools()`; what is wrong is told in it."""
        with self._lock:
            return pipeline.call(self._world, self._host, name, arguments)


def _tool(name: str, shape: Shape) -> dict[str, Any]:
    described = pipeline.TOOLS[name]
    about, schema = described["description"], described["parameters"]
    if shape == "anthropic":
        return {"name": name, "description": about, "input_schema": schema}
    function = {"name": name, "description": about, "parameters": schema}
    if shape == "responses":
        return {"type": "function", **function}
    return {"type": "function", "function": function}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def opened(
    world: World,
    spot: pipeline.Spot,
    window: int | None,
    cache: Cache | None,
    wake: Callable[[], object],
) -> OffloadSession:
    """The session of a spot.

    Raises:
        Invalid: a window or a cache that is none.
    """
    chosen = pipeline.parse_cache(world.settings.offload.cache if cache is None else cache)
    bounds = pipeline.limits(world, window, chosen)
    host = Host(spot, bounds, chosen, pipeline.Counter(world.tokens.count))
    return OffloadSession(world, host, wake)
