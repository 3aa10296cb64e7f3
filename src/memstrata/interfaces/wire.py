"""The one wire format: what the facade returns, as values that JSON holds, for every door.

`encode` gives a value its form, `answer` each verb one JSON object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, cast

from memstrata.domain.plain import Json as Json
from memstrata.domain.plain import encode as encode
from memstrata.errors import MemstrataError

Setting = tuple[str, object, str]
"""Key, value and origin of a setting, as `config` gives them."""

ENVELOPES: Final[Mapping[str, str]] = {
    "search": "hits",
    "search_conversations": "hits",
    "history": "versions",
    "revisions": "revisions",
    "candidates": "candidates",
    "doctor": "checks",
    "entities": "entities",
    "team.history": "revisions",
    "private.history": "revisions",
    "team.entries": "entries",
    "private.entries": "entries",
    "sessions": "sessions",
    "settings": "settings",
    "configure": "settings",
    "workspace_of": "workspace",
    "fill_vectors": "worked",
    "workspaces": "workspaces",
    "tokens": "tokens",
    "scenes": "scenes",
    "versions": "versions",
    "scene_versions": "versions",
    "persona_versions": "versions",
    "tasks": "tasks",
    "offload.tasks": "tasks",
    "estimate": "estimate",
}
"""Verbs whose result is no object: the name it has in the object that goes over the wire, as its first member."""

ATTRIBUTES: Final = ("degraded", "profile")
"""What a sequence of hits says of itself, beside its items."""


def answer(verb: str, value: object) -> dict[str, Json]:
    """The result of `verb` as a JSON object.

    Raises:
        TypeError: it holds something that the wire format does not know.
    """
    if verb == "config":
        return {"settings": [_setting(row) for row in cast("Iterable[Setting]", value)]}
    if verb in ENVELOPES:
        about = {name: encode(getattr(value, name)) for name in ATTRIBUTES if hasattr(value, name)}
        return {ENVELOPES[verb]: encode(value), **about}
    found = encode(value)
    if isinstance(found, str):
        return {verb.rpartition(".")[2]: found}
    if not isinstance(found, dict):
        raise TypeError(f"the answer of {verb!r} is no object")
    return found


def error(problem: MemstrataError) -> dict[str, Json]:
    """An error as `{"error": {"code", "message", "retryable", …what a machine reads}}`."""
    about = {name: encode(value) for name, value in problem.detail().items()}
    return {
        "error": {
            "code": problem.code,
            "message": problem.message,
            "retryable": problem.retryable,
            **about,
        }
    }


def _setting(row: Setting) -> Json:
    key, value, origin = row
    return {"key": key, "value": encode(value), "origin": origin}
