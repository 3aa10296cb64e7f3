"""The read-only tools as models are offered them: names, descriptions, parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from memstrata.domain.memory import TYPES
from memstrata.prompts.template import load

Shape = Literal["openai", "anthropic"]
QUERY: Final = 500
"""Characters of a query, at most."""
LIMIT: Final = 8
MOST: Final = 20
"""Hits of one call: unless it says how many, and at most."""

_QUERY: Final = {
    "type": "string",
    "minLength": 1,
    "maxLength": QUERY,
    "description": "What to look for, in words.",
}
_LIMIT: Final = {
    "type": "integer",
    "minimum": 1,
    "maximum": MOST,
    "default": LIMIT,
    "description": "At most so many.",
}
_ID: Final = {
    "type": "string",
    "minLength": 1,
    "maxLength": 128,
    "description": "The id of a memory, such as mem_01jv….",
}
_TYPE: Final = {
    "type": "string",
    "enum": list(TYPES),
    "description": "Only memories of this type: user (facts about the person), feedback (rules of "
    "conduct), project (decisions), reference (pointers), episodic (what happened).",
}
_SESSION: Final = {
    "type": "string",
    "minLength": 1,
    "maxLength": 256,
    "description": "Only messages of this session.",
}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its parameters by name, each as JSON schema, and which of them it needs."""

    name: str
    title: str
    parameters: Mapping[str, Mapping[str, object]]
    required: tuple[str, ...]

    @property
    def description(self) -> str:
        """What a model is told of it."""
        return load(self.name).render().user

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": {name: dict(one) for name, one in self.parameters.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }


TOOLS: Final = (
    Tool(
        "search_memory",
        "Search memories",
        {"query": _QUERY, "type": _TYPE, "limit": _LIMIT},
        ("query",),
    ),
    Tool("recall_memory", "Show one memory", {"id": _ID}, ("id",)),
    Tool(
        "search_conversations",
        "Search conversations",
        {"query": _QUERY, "limit": _LIMIT, "session": _SESSION},
        ("query",),
    ),
    Tool("trace_memory", "Trace a memory", {"id": _ID}, ("id",)),
)


def openai_tool(tool: Tool) -> dict[str, object]:
    """A tool as OpenAI's chat completions take it."""
    about = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": about}


def anthropic_tool(tool: Tool) -> dict[str, object]:
    """A tool as Anthropic's messages take it."""
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


SHAPES: Final[Mapping[Shape, Callable[[Tool], dict[str, object]]]] = {
    "openai": openai_tool,
    "anthropic": anthropic_tool,
}
