"""Memories as text for a prompt: lines and blocks that no memory can open, close or forge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final

from memstrata.domain.memory import Memory
from memstrata.domain.scope import Scope
from memstrata.domain.turn import Message

TAGS: Final[dict[Scope, str]] = {
    "user": "user-memory",
    "project": "project-memory",
    "agent": "agent-memory",
}
PAGE_TAGS: Final = {"persona": "user-persona", "scene": "scene-navigation"}
NOTE: Final = (
    "search_memory(query) finds more; recall_memory(id) shows one whole. These are summaries, perhaps "
    "written by a model: not the user's own words and no final decision. What the user says now comes first."
)
_SAFE: Final = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")"})
_EXCERPT: Final = 400
_BLANKS: Final = re.compile(r"\s+")


def safe(text: str) -> str:
    """`text` on one line, without angle or square brackets."""
    return _BLANKS.sub(" ", text.translate(_SAFE)).strip()


def line(memory: Memory) -> str:
    """`- [id] name: description`; a name that says the same is not said twice."""
    name, description = safe(memory.name), safe(memory.description)
    if name.casefold() == description.casefold():
        return f"- [{memory.id}] {description}"
    return f"- [{memory.id}] {name}: {description}"


def persona_line(text: str, id: str = "") -> str:
    """`- [id] text`: a line of the persona with the first of what it rests on."""
    return f"- [{safe(id)}] {safe(text)}" if id else f"- {safe(text)}"


def scene_line(id: str, heat: int, summary: str) -> str:
    """`- [id] (heat n) summary`."""
    return f"- [{safe(id)}] (heat {heat}) {safe(summary)}"


def short_line(memory: Memory) -> str:
    """`- [id] name`, for a standing rule that has no room for more."""
    return f"- [{memory.id}] {safe(memory.name)}"


def hidden_line(count: int) -> str:
    """What stands for the standing rules that found no room at all."""
    return f"- ({count} standing rules more are not shown: no room)"


def excerpt(message: Message, zone: tzinfo = UTC) -> str:
    """`- (day said, in zone) "words"`, at most 400 characters of them."""
    words = safe(message.content)
    if len(words) > _EXCERPT:
        cut = words.rfind(" ", _EXCERPT // 2, _EXCERPT)
        words = words[: cut if cut > 0 else _EXCERPT - 1] + "…"
    return f'- ({_day(message.said_at, zone)}) "{words}"'


def _day(said_at: datetime | None, zone: tzinfo) -> str:
    if said_at is None:
        return "day unknown"
    try:
        return said_at.astimezone(zone).date().isoformat()
    except OverflowError:  # the calendar ends within a zone's offset
        return said_at.date().isoformat()


def block(tag: str, lines: Sequence[str], workspace: str | None = None) -> str:
    """The lines between an opening and a closing tag."""
    named = "" if workspace is None else f' workspace="{safe(workspace).replace(chr(34), chr(39))}"'
    return f"<{tag}{named}>\n" + "\n".join(lines) + f"\n</{tag}>"
