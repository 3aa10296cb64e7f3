"""`update_memory` as a model calls it: whatever it sends, the answer is one JSON object that it can read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace

from memstrata.domain.plain import Json, encode
from memstrata.errors import MemstrataError
from memstrata.pipelines.team_document.saving import SaveResult, save
from memstrata.pipelines.team_document.thread import Thread
from memstrata.pipelines.world import World
from memstrata.prompts.team_document import ARGUMENT, TOOL

CHANNEL = "tool"
"""The door that a model comes through."""


def update_memory(
    world: World, thread: Thread, arguments: object, *, message: str | None = None
) -> dict[str, Json]:
    """The answer to a call of the tool: a `SaveResult`, or an error without a document.

    `arguments` are an object, or its JSON text as OpenAI sends it. Nothing is raised that a model can
    cause, nor where the disk or a role says no: the model is told instead.
    """
    given = _parsed(arguments)
    if not isinstance(given, Mapping) or ARGUMENT not in given:
        return _error("text", f"{TOOL} takes one object with the text {ARGUMENT!r}.")
    mine = replace(thread, channel=CHANNEL)
    try:
        found = save(world, mine, given[ARGUMENT], message=message)
    except MemstrataError as error:
        return _error(error.code, f"Memory was not saved: {error.message}")
    finally:
        thread.shown = mine.shown
    return _answer(found)


def _parsed(arguments: object) -> object:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


def _answer(found: SaveResult) -> dict[str, Json]:
    return {one.name: encode(getattr(found, one.name)) for one in fields(found)}


def _error(reason: str, message: str) -> dict[str, Json]:
    return {"status": "error", "reason": reason, "message": message}
