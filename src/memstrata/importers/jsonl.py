"""JSON Lines of messages: one object a line with `role` and `content`, and `session`, `id`, `said_at` if known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from memstrata.domain import checks
from memstrata.errors import Invalid
from memstrata.importers.record import Bad, Spoken

_LONGEST: Final = 64 * 1024 * 1024


def looks_like(head: bytes) -> bool:
    """Whether a file that begins with `head` holds JSON objects, one a line."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0].strip()
    return first.startswith(b"{") and b'"' in first


def read(path: Path) -> Iterator[Spoken | Bad]:
    """The messages of a file in order; a session that is not named is the file's stem.

    Raises:
        Invalid: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST), b""), start=1):
                if line.strip():
                    yield _record(line, f"line {number}", path.stem)
    except OSError as error:
        raise Invalid("path", f"{path} cannot be read: {error.strerror}") from error


def _record(line: bytes, where: str, stem: str) -> Spoken | Bad:
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return Bad(where, f"is no JSON: {error}")
    if not isinstance(found, Mapping):
        return Bad(where, "is no object with role and content")
    try:
        session = checks.identity("session", found.get("session") or stem)
        agent = checks.ref("agent", found["agent"]) if found.get("agent") else ""
    except Invalid as error:
        return Bad(where, str(error))
    return Spoken(session, found, where, agent)
