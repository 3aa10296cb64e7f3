"""Prompt files and how they are filled in: strictly, and so that no text can pass for the prompt's own.

A prompt file has front matter (`id`, `version`, `answer`, `slots`) and the sections `# System`
(optional) and `# User`. A slot is `line` (inside a line; its text becomes one line) or `block`
(on a line of its own; its text stands between two fences).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast, get_args

from memstrata.errors import Internal

SlotKind = Literal["line", "block"]

_FRONT: Final = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)
_SECTION: Final = re.compile(r"^# (.+)\n", re.MULTILINE)
_SLOT: Final = re.compile(r"\{\{([a-z_]+)\}\}")
_BLOCK: Final = re.compile(r"^\{\{([a-z_]+)\}\}$", re.MULTILINE)
_FENCE: Final = re.compile("~{3,}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file, parsed and checked. `answer` names the form of what comes back (`answers.FORMS`)."""

    id: str
    version: int
    answer: str
    slots: Mapping[str, SlotKind]
    system: str
    user: str

    def render(self, **values: str) -> Rendered:
        """The prompt with `values` in its slots.

        Raises:
            Internal: a slot without a value, or a value without a slot.
        """
        for name in self.slots.keys() ^ values.keys():
            problem = "has no slot" if name in values else "needs a value for"
            raise Internal(f"prompt {self.id} {problem} {name!r}")

        def put(match: re.Match[str]) -> str:
            name = match[1]
            kind = self.slots[name]
            return one_line(values[name]) if kind == "line" else fenced(values[name], name)

        return Rendered(self, _SLOT.sub(put, self.system), _SLOT.sub(put, self.user))


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt ready to be asked.

    `fault` says what an item of the answer has wrong by what was shown here, `""` for nothing: what
    the form alone cannot know, such as which ids there are.
    """

    prompt: Prompt
    system: str
    user: str
    fault: Callable[[Any], str] = lambda _: ""


def fenced(text: str, name: str) -> str:
    """`text` as it is between two fences, longer than any run of their mark in it: it cannot close them."""
    fence = "~" * max(3, 1 + max(map(len, _FENCE.findall(text)), default=2))
    return f"{fence} {name}\n{text}\n{fence}"


def one_line(text: str) -> str:
    """`text` with every run of blanks and line ends as one blank."""
    return " ".join(text.split())


def indented(text: str) -> str:
    """`text` with all its lines but the first indented: none of them can pass for a line of ours."""
    return "\n    ".join(text.splitlines())


@cache
def load(id: str) -> Prompt:
    """The prompt of that id.

    Raises:
        Internal: the file is not as a prompt must be.
        FileNotFoundError: there is none.
    """
    text = files("memstrata.prompts").joinpath(f"{id}.md").read_text("utf-8")
    prompt = parse(text)
    if prompt.id != id:
        raise Internal(f"prompt file {id}.md says that its id is {prompt.id!r}")
    return prompt


def parse(text: str) -> Prompt:
    """A prompt file's text as a prompt.

    Raises:
        Internal: front matter or sections that are wrong, a slot that is not declared, not used, or
            not placed as its kind demands.
    """
    import yaml  # a tenth of a start-up, and only a model is asked with a prompt

    front = _FRONT.match(text)
    if front is None:
        raise Internal("prompt without front matter")
    fields = yaml.safe_load(front[1])
    if not isinstance(fields, dict) or set(fields) != {"id", "version", "answer", "slots"}:
        raise Internal("front matter of a prompt is id, version, answer and slots")
    id, version, slots = fields["id"], fields["version"], fields["slots"]
    if not isinstance(id, str) or not isinstance(version, int) or not isinstance(slots, dict):
        raise Internal("front matter of a prompt: id is text, version a number, slots a mapping")
    sections = _sections(text[front.end() :], id)
    prompt = Prompt(
        id=id,
        version=version,
        answer=str(fields["answer"]),
        slots=cast("Mapping[str, SlotKind]", slots),
        system=sections.get("System", ""),
        user=sections["User"],
    )
    _check_slots(prompt)
    return prompt


def _sections(body: str, id: str) -> dict[str, str]:
    head, *parts = _SECTION.split(body)
    found = {title: text.strip() for title, text in zip(parts[::2], parts[1::2], strict=True)}
    if head.strip() or not {"User"} <= found.keys() <= {"System", "User"}:
        raise Internal(f"prompt {id} has the sections System and User, and nothing before them")
    return found


def _check_slots(prompt: Prompt) -> None:
    text = f"{prompt.system}\n\n{prompt.user}"
    used, blocks = _SLOT.findall(text), set(_BLOCK.findall(text))
    for name in sorted(prompt.slots.keys() | set(used)):
        kind = prompt.slots.get(name)
        if kind not in get_args(SlotKind):
            raise Internal(f"prompt {prompt.id}: slot {name!r} is not declared as line or block")
        if used.count(name) != 1 or (name in blocks) != (kind == "block"):
            raise Internal(
                f"prompt {prompt.id}: slot {name!r} stands once, a block on a line of its own, "
                "a line within one"
            )
