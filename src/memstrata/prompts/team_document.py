"""What a host gives its model so that it keeps the team or private document, and the prompt to shorten one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from memstrata.domain.team_document import HARD, SOFT, Visibility
from memstrata.prompts.template import Rendered, load

TOOL: Final = "update_memory"
ARGUMENT: Final = "updated_memory"

_FILES: Final[dict[Visibility, str]] = {"team": "team", "private": "team_private"}
_ARGUMENT_IS: Final = (
    "The whole new document in Markdown: every heading and every entry that is to stay, without "
    "abbreviation and without a code fence around it."
)
_AIM: Final = 20_000
"""What the model is asked for: room below the limit, and not so little that lines must go."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """The three strings for one visibility.

    `protocol` goes into the system prompt behind the tools, `tool` is the description of
    `update_memory`, `examples` may follow the protocol.
    """

    protocol: str
    tool: str
    examples: str


def guidance(visibility: Visibility, today: date) -> Guidance:
    """The strings for a thread: a shared one has the team's, a private one the user's, none has both.

    `today` is the server's day.
    """
    protocol = load(f"{_FILES[visibility]}_protocol").render(
        today=today.isoformat(), soft=f"{SOFT:,}", hard=f"{HARD:,}"
    )
    return Guidance(
        protocol=f"<memory_protocol>\n{protocol.user}\n</memory_protocol>",
        tool=tool_description(visibility),
        examples=load(f"{_FILES[visibility]}_examples").render().user,
    )


def tool_description(visibility: Visibility) -> str:
    """The description of `update_memory`."""
    return load(f"{_FILES[visibility]}_tool").render().user


def openai_tool(visibility: Visibility) -> dict[str, object]:
    """`update_memory` as OpenAI's chat completions take a tool, strict."""
    return {
        "type": "function",
        "function": {
            "name": TOOL,
            "description": tool_description(visibility),
            "parameters": _parameters(),
            "strict": True,
        },
    }


def anthropic_tool(visibility: Visibility) -> dict[str, object]:
    """`update_memory` as Anthropic's messages take a tool."""
    return {
        "name": TOOL,
        "description": tool_description(visibility),
        "input_schema": _parameters(),
    }


def compaction(document: str) -> Rendered:
    """The prompt to shorten a document above the hard limit. The answer is Markdown, not JSON."""
    return load("team_compaction").render(
        length=f"{len(document):,}", hard=f"{HARD:,}", aim=f"{_AIM:,}", document=document
    )


def _parameters() -> dict[str, object]:
    return {
        "type": "object",
        "properties": {ARGUMENT: {"type": "string", "description": _ARGUMENT_IS}},
        "required": [ARGUMENT],
        "additionalProperties": False,
    }
