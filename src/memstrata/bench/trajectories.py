"""Recorded runs of agents as message lists, and long ones that are made of them by a seeded recipe.

Read are SWE-agent's `*.traj.json` (thought, action, observation) and τ-bench's lists of runs.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memstrata.errors import Invalid

Message = dict[str, Any]
SEED: Final = 7
CALLS: Final = 400
"""Tool calls of the run that is repeated."""
_PATH: Final = re.compile(r"(?<![\w/.-])/?(?:[\w.-]+/)+[\w.-]+")
_PROMPT_ENDS: Final = re.compile(
    r"\n*\(Open file: [^\n]*\)\n\(Current directory: [^\n]*\)\nbash-\$\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One session: its name, where it comes from, and its messages in OpenAI's shape."""

    name: str
    source: str
    messages: tuple[Message, ...]

    @property
    def calls(self) -> int:
        """How many tool calls it has."""
        return sum(len(one.get("tool_calls") or ()) for one in self.messages)

    def turns(self) -> Iterator[int]:
        """Where the model is called: before each message of the assistant."""
        for at, one in enumerate(self.messages):
            if one["role"] == "assistant":
                yield at


def load(data: Path) -> list[Run]:
    """Every run in a file or folder.

    Raises:
        Invalid: nothing there is a recorded run.
    """
    files = sorted(data.rglob("*.json")) if data.is_dir() else [data]
    found = [run for file in files for run in _runs(file)]
    if not found:
        raise Invalid("data", f"{data} holds no recorded runs (*.traj.json, lists of τ-bench runs)")
    return found


def _runs(file: Path) -> Iterator[Run]:
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Invalid("data", f"{file} cannot be read: {error}") from error
    if isinstance(raw, Mapping) and isinstance(raw.get("history"), list):
        name = file.name.removesuffix(".json").removesuffix(".traj")
        yield Run(name, "swe-agent", tuple(_swe(raw["history"])))
    elif isinstance(raw, list) and raw and isinstance(raw[0], Mapping) and "traj" in raw[0]:
        for number, one in enumerate(raw, start=1):
            yield Run(f"{file.stem}-{number:02d}", "tau-bench", tuple(_tau(one["traj"], number)))


def _swe(history: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    """Every action is a call of a tool, what follows it its result."""
    open_call = ""
    for number, one in enumerate(history):
        if one["role"] == "assistant" and one.get("action"):
            open_call = f"call_{number:03d}"
            words = str(one.get("thought") or one["content"])
            command = str(one["action"]).strip()
            yield _calling(words, open_call, _tool_of(command), {"command": command})
        elif open_call:
            text = _PROMPT_ENDS.sub("", str(one["content"]))
            yield {"role": "tool", "tool_call_id": open_call, "content": text}
            open_call = ""
        else:
            yield {"role": one["role"], "content": str(one["content"])}


def _tool_of(command: str) -> str:
    """SWE-agent's own commands are tools of their name, all else goes to the shell."""
    head = command.split(maxsplit=1)[0] if command else "bash"
    return (
        head if re.fullmatch(r"[a-z]+(?:_[a-z]+)+|open|goto|edit|create|submit", head) else "bash"
    )


def _calling(words: str, id: str, name: str, arguments: Mapping[str, object]) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {
        "role": "assistant",
        "content": words,
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    }


def _tau(traj: Sequence[Mapping[str, Any]], number: int) -> Iterator[Message]:
    for one in traj:
        kept = {"content": "", **{key: value for key, value in one.items() if value is not None}}
        if kept["role"] == "tool":
            kept.pop("name", None)
        yield kept


# -- the recipe -------------------------------------------------------------------------------------


def made(runs: Sequence[Run]) -> list[Run]:
    """The recorded runs and what is made of them.

    All coding runs in one session, each a task of its own; the longest coding run repeated with other
    paths until one prompt has 400 calls; all τ-bench runs in one session.
    """
    coding = [run for run in runs if run.source == "swe-agent"]
    talks = [run for run in runs if run.source == "tau-bench"]
    found = list(coding)
    if coding:
        found.append(chained("coding runs, one after the other", coding))
        found.append(repeated(max(coding, key=lambda run: run.calls), CALLS))
    if talks:
        found.append(chained("airline runs, one after the other", talks))
    return found


def chained(name: str, runs: Sequence[Run]) -> Run:
    """Runs in one session under the first one's system message, with ids of their own."""
    messages: list[Message] = [one for one in runs[0].messages if one["role"] == "system"]
    for number, run in enumerate(runs, start=1):
        messages += [
            _renamed(one, f"r{number:02d}_") for one in run.messages if one["role"] != "system"
        ]
    return Run(name, runs[0].source, tuple(messages))


def _renamed(message: Message, prefix: str) -> Message:
    found = dict(message)
    if "tool_call_id" in found:
        found["tool_call_id"] = prefix + found["tool_call_id"]
    if found.get("tool_calls"):
        found["tool_calls"] = [{**one, "id": prefix + one["id"]} for one in found["tool_calls"]]
    return found


def repeated(run: Run, calls: int, seed: int = SEED) -> Run:
    """A run with its steps repeated under other paths until its one prompt has so many calls."""
    dice = random.Random(seed)
    head = [one for one in run.messages if one["role"] in ("system", "user")][:2]
    steps = [one for one in run.messages if one["role"] in ("assistant", "tool")]
    messages, number = list(head), 0
    while sum(len(one.get("tool_calls") or ()) for one in messages) < calls:
        number += 1
        word = "".join(dice.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(6))
        messages += [_moved(_renamed(one, f"n{number:02d}_"), word) for one in steps]
    while messages[-1]["role"] == "assistant" or _calls(messages) > calls:
        messages.pop()
    return Run(f"{run.name}, repeated to {calls} calls", run.source, tuple(messages))


def _calls(messages: Sequence[Message]) -> int:
    return sum(len(one.get("tool_calls") or ()) for one in messages)


def _moved(message: Message, word: str) -> Message:
    """The message with every path in another folder."""

    def elsewhere(text: str) -> str:
        return _PATH.sub(lambda found: _under(found[0], word), text)

    found = dict(message)
    if isinstance(found.get("content"), str):
        found["content"] = elsewhere(found["content"])
    if found.get("tool_calls"):
        found["tool_calls"] = [_call_moved(one, elsewhere) for one in found["tool_calls"]]
    return found


def _call_moved(call: Mapping[str, Any], elsewhere: Any) -> Mapping[str, Any]:
    function = call["function"]
    arguments = {
        key: elsewhere(value) if isinstance(value, str) else value
        for key, value in json.loads(function["arguments"]).items()
    }
    text = json.dumps(arguments, ensure_ascii=False)
    return {**call, "function": {**function, "arguments": text}}


def _under(path: str, word: str) -> str:
    head, _, name = path.rpartition("/")
    return f"{head}/{word}/{name}"
