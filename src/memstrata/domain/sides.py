"""The two sides of a file that a merge left with conflict markers."""

from __future__ import annotations

from typing import Final, Literal

Side = Literal["ours", "theirs"]
_MARKS: Final = {"<<<<<<<": "ours", "|||||||": "base", "=======": "theirs", ">>>>>>>": ""}
"""What the lines behind a mark belong to; `|||||||` opens the common ancestor (diff3)."""


def side(text: str, wanted: Side) -> str | None:
    """`text` with one side of each conflict; None when there is no conflict in it, or one that never ends."""
    kept: list[str] = []
    part, found = "", False
    for line in text.split("\n"):
        mark = _mark(line, part)
        if mark is not None:
            found = True
            part = mark
        elif part in ("", wanted):
            kept.append(line)
    return "\n".join(kept) if found and not part else None


def _mark(line: str, part: str) -> str | None:
    """What a line opens, where it is a mark that may stand here; None: it is text."""
    opens = _MARKS.get(line[:7]) if line[7:8] in ("", " ", "\r") else None
    # Outside of a conflict only its beginning is one: a body may underline a heading with =======.
    return opens if (part != "") != (opens == "ours") else None
