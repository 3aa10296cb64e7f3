"""The tools that an agent gets: their schemas, and answers that it can read, whatever it sends."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from memstrata.domain import insertion
from memstrata.errors import Invalid, MemstrataError
from memstrata.pipelines.offload import reading
from memstrata.pipelines.offload.host import Host
from memstrata.pipelines.world import World

_REF: Final = (
    "A ref as it stands in the list: a tool_call_id, a node of the task graph (001-N3), or a graph's "
    'file; "removed" for the words of messages that were removed; <tool_call_id>:arguments for the '
    "whole arguments of a call."
)

TOOLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "recall_result": {
        "description": "The full text of a tool result that was folded out of this conversation.",
        "parameters": {
            "type": "object",
            "properties": {
                "ref": {"type": "string", "description": _REF},
                "start": {"type": "integer", "minimum": 1, "default": 1},
                "lines": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": reading.MOST_LINES,
                    "default": 200,
                },
                "grep": {
                    "type": "string",
                    "description": "Only the lines that hold this text, upper and lower case alike.",
                },
            },
            "required": ["ref"],
            "additionalProperties": False,
        },
    },
    "list_tasks": {
        "description": "The tasks of this session, or of all sessions in this workspace, newest first.",
        "parameters": {
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20},
                "scope": {"type": "string", "enum": list(reading.SCOPES), "default": "session"},
            },
            "additionalProperties": False,
        },
    },
    "open_task": {
        "description": "The graph of a task, with the tool results of each of its nodes.",
        "parameters": {
            "type": "object",
            "properties": {
                "file": {"type": "string", "description": "As list_tasks names it."},
            },
            "required": ["file"],
            "additionalProperties": False,
        },
    },
}
"""By name: what it is for, and the JSON schema of its arguments."""


def call(world: World, host: Host, name: str, arguments: object) -> str:
    """The answer to a call of one of the tools. `arguments` are an object or its JSON text.

    Nothing is raised that a model can cause: it is told instead.
    """
    answers: Mapping[str, Callable[[World, Host, Mapping[str, Any]], str]] = {
        "recall_result": _recall,
        "list_tasks": _list,
        "open_task": _open,
    }
    try:
        if name not in answers:
            raise Invalid("tool", f"there is none of that name; there are {', '.join(TOOLS)}")
        return answers[name](world, host, _given(name, arguments))
    except MemstrataError as error:
        return f"Error ({error.code}): {error.message}"


def _given(name: str, arguments: object) -> Mapping[str, Any]:
    given = arguments
    if isinstance(arguments, str):
        try:
            given = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise Invalid("arguments", f"are no JSON: {error}") from error
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise Invalid("arguments", "expected an object")
    known = TOOLS[name]["parameters"]["properties"]
    for one in given:
        if one not in known:
            raise Invalid(str(one), f"is no argument of {name}; there are {', '.join(known)}")
    for one in TOOLS[name]["parameters"].get("required", ()):
        if one not in given:
            raise Invalid(one, "is missing")
    return {one: value for one, value in given.items() if value is not None}


def _recall(world: World, host: Host, given: Mapping[str, Any]) -> str:
    return str(reading.recall(world, host, given.get("ref"), **_without(given, "ref")))


def _list(world: World, host: Host, given: Mapping[str, Any]) -> str:
    found = reading.tasks(world, host, **given)
    return "\n".join(map(insertion.line, found)) or "There is no task yet."


def _open(world: World, host: Host, given: Mapping[str, Any]) -> str:
    found = reading.open_task(world, host, given.get("file"))
    lines = [f"{node}: {', '.join(keys)}" for node, keys in found.results if keys]
    return "\n".join((found.text, "", "recall_result opens a node or one of its results:", *lines))


def _without(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != name}
