"""The document as it is put before the model: a block that its own text can neither close nor forge."""

from __future__ import annotations

import re
from typing import Final, Literal

from memstrata.domain.team_document import limits

Visibility = Literal["team", "private"]
"""Whose document: the workspace's or the user's."""

TAGS: Final[dict[Visibility, str]] = {"team": "team_memory", "private": "user_memory"}

_TAG: Final = re.compile(
    r"<(?=\s*/|[A-Za-z_|!?]|\s+(?:team|user)_memory|\s+memory_)", re.IGNORECASE
)


def block(text: str, visibility: Visibility, rev: int) -> str:
    """`text` between its tags with its length, the limit and its revision; above the soft limit a warning.

    An empty document has an empty block, so that the model knows where it stands.
    """
    tag = TAGS[visibility]
    opening = f'<{tag} chars="{len(text)}" limit="{limits.HARD}" rev="{rev}">'
    inner = f"{opening}\n{neutral(text)}\n" if text else f"{opening}\n"
    return f"{inner}</{tag}>{_warning(len(text))}"


def neutral(text: str) -> str:
    """`text` with the angle bracket of everything that could be a tag replaced; "a < b" stays."""
    return _TAG.sub("‹", text)


def _warning(length: int) -> str:
    if length <= limits.SOFT:
        return ""
    return (
        f"\n<memory_warning>This memory has {length:,} characters, above its soft limit of "
        f"{limits.SOFT:,}; more than {limits.HARD:,} cannot be saved. With your next update merge "
        "entries that belong together, drop outdated ones and shorten the rest.</memory_warning>"
    )
