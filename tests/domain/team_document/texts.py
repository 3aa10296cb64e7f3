"""Documents to work with, and texts of every kind for the laws. Names are invented."""

from __future__ import annotations

from hypothesis import strategies as st

from memstrata.domain.redact import find_sensitive
from memstrata.domain.team_document import Oversize, Saved, Visibility, save

DAY = "2025-09-08"

TEAM = """## Product Decisions
- 2025-05-05: The trial lasts thirty days

## Engineering Conventions
- 2025-05-06: Schema changes need a second reader
- 2025-05-07: Every endpoint has a contract test

## Project Facts
- 2025-05-08: Builds are cut on Mondays
- 2025-05-09: Runa leads support"""
"""Five entries: two may go at once."""

_LINES = st.sampled_from(
    (
        "## Facts",
        "## facts!",
        "## Preferences",
        "##  ",
        "## Memory",
        "### Lower",
        "# Title",
        "",
        "",
        "- 2025-09-08: Runa leads support",
        "- 2025-09-08: runa  leads SUPPORT",
        "- 2025-09-09: Runa leads support and sales",
        "- 2025-09-09: Builds are cut on Mondays",
        "- 2025-02-30: no day",
        "- (2025-09-08) [pref] Runa likes charts",
        "- undated",
        "  - nested",
        "\t- nested with a tab",
        "* other",
        "```",
        "````",
        "```python",
        "- ```",
        "  ```",
        "~~~",
        "~~~~ text",
        "...",
        "…",
        "prose",
        "trailing  ",
        "<team_memory>",
        "\ufeff",
        "\u2028",
        "a\x0bb",
        "NO_UPDATE",
    )
)
ANY = st.lists(_LINES | st.text(max_size=12), max_size=14).map("\n".join) | st.text(max_size=200)
"""Any text, mostly such as could be a document."""


def stored(text: str) -> str:
    """What a first save of `text` leaves; `""` when that is nothing."""
    return saved("", text).memory_md


def saved(
    current: str,
    updated: object,
    *,
    base: str | None = "as current",
    whose: Visibility = "private",
    allow_deletions: bool = False,
) -> Saved:
    """An update of revision 7 that fits."""
    found = save(
        current,
        updated,
        rev=7,
        base=current if base == "as current" else base,
        visibility=whose,
        find=find_sensitive,
        allow_deletions=allow_deletions,
    )
    assert not isinstance(found, Oversize)
    return found


DOCUMENTS = ANY.map(lambda text: stored(text) or TEAM)
"""Documents as they are found."""
