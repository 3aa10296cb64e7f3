"""What changed between two revisions."""

from __future__ import annotations

from difflib import unified_diff


def diff(old: str, new: str, *, old_rev: int, new_rev: int, context: int = 3) -> str:
    """A unified diff of two rendered documents, with `context` lines around each change; `""` when equal."""
    lines = unified_diff(
        old.split("\n") if old else [],
        new.split("\n") if new else [],
        f"rev {old_rev}",
        f"rev {new_rev}",
        n=context,
        lineterm="",
    )
    return "\n".join(lines)
