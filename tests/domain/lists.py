"""Message lists by shorthand: U user, A text, T a call, R its result; in each of the three shapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from memstrata.domain.folding import Asked, Folded, fold
from memstrata.domain.offload_entry import Entry
from memstrata.domain.offload_state import Kept, Session
from memstrata.domain.reclaim import Limits
from memstrata.domain.window import Window, view

Message = dict[str, Any]
NOW: Final = datetime(2026, 5, 10, 9, 30, tzinfo=UTC)


def words(text: str) -> int:
    """A tokenizer whose counts can be read off: one a word."""
    return len(text.split())


def chat(letters: str, result: Callable[[int], str] = lambda n: f"result {n}") -> list[Message]:
    """OpenAI's chat: every R answers the T before it that has no result yet."""
    found: list[Message] = []
    waiting: list[str] = []
    for n, letter in enumerate(letters):
        match letter:
            case "S":
                found.append({"role": "system", "content": "You are a careful baker."})
            case "U":
                found.append({"role": "user", "content": f"Please do number {n}."})
            case "A":
                found.append({"role": "assistant", "content": f"Thought {n}."})
            case "T":
                waiting.append(f"call_{n}")
                found.append(calling(f"call_{n}", {"path": f"oven/{n}.py"}))
            case "R":
                found.append({"role": "tool", "tool_call_id": waiting.pop(0), "content": result(n)})
    return found


def calling(id: str, arguments: object, name: str = "read_file") -> Message:
    """A message of the assistant that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def anthropic(letters: str) -> list[Message]:
    """Anthropic's blocks: results stand in messages of the user's role."""
    found: list[Message] = []
    for one in chat(letters):
        if one["role"] == "tool":
            block = {
                "type": "tool_result",
                "tool_use_id": one["tool_call_id"],
                "content": one["content"],
            }
            found.append({"role": "user", "content": [block]})
        elif one.get("tool_calls"):
            call = one["tool_calls"][0]
            given = json.loads(call["function"]["arguments"])
            block = {"type": "tool_use", "id": call["id"], "name": "read_file", "input": given}
            found.append({"role": "assistant", "content": [block]})
        else:
            found.append(
                {"role": one["role"], "content": [{"type": "text", "text": one["content"]}]}
            )
    return found


def responses(letters: str) -> list[Message]:
    """OpenAI's responses: calls and outputs are items of their own."""
    found: list[Message] = []
    for one in chat(letters):
        if one["role"] == "tool":
            output = {"call_id": one["tool_call_id"], "output": one["content"]}
            found.append({"type": "function_call_output", **output})
        elif one.get("tool_calls"):
            call = one["tool_calls"][0]
            found.append({"type": "function_call", "call_id": call["id"], **call["function"]})
        else:
            kind = "output_text" if one["role"] == "assistant" else "input_text"
            content = [{"type": kind, "text": one["content"]}]
            found.append({"type": "message", "role": one["role"], "content": content})
    return found


SHAPES: Final = {"chat": chat, "anthropic": anthropic, "responses": responses}


def archived(window: Window, score: Callable[[int], int] = lambda n: 8) -> Session:
    """A session in which every result of a window is archived; `score` by its number."""
    kept: list[Kept] = []
    seen: set[tuple[str, str]] = set()
    for number, (_, result) in enumerate(window.results):
        if (result.id, result.digest) in seen:
            continue
        seen.add((result.id, result.digest))
        taken = [one.call for one in kept]
        key = result.id if result.id not in taken else f"{result.id}~{len(taken)}"
        entry = Entry(
            NOW, "", f"read_file({number})", "short", f"refs/{key}.md", key, score(number)
        )
        kept.append(Kept(entry, result.id, result.digest, "read_file", len(result.text)))
    return Session(kept=tuple(kept))


def folded(
    messages: Sequence[object],
    window: int,
    session: Session | None = None,
    score: Callable[[int], int] = lambda n: 8,
    **how: Any,
) -> Folded:
    """A list folded into a window of so many tokens, one a word."""
    seen = view(messages)
    limits = how.pop("limits", Limits(window, overhead=0.0))
    given = archived(seen, score) if session is None else session
    refresh = how.pop("refresh", False)
    return fold(seen, given, Asked(limits, words, NOW, **how), refresh=refresh)


def texts(messages: Sequence[Any]) -> list[str]:
    """The contents of a chat list."""
    return [str(one.get("content")) for one in messages]
