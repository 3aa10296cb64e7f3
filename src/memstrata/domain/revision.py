"""A revision of a document as one line of its `revisions.jsonl`: the whole text, by whom and through which door."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast, get_args

from memstrata.domain import checks, times
from memstrata.domain.markdown import digest
from memstrata.errors import Invalid

Verb = Literal["save", "edit", "restore", "reset"]
"""How a revision came about; `edit`: somebody changed the file by hand."""
VERBS: Final[tuple[Verb, ...]] = get_args(Verb)


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision, numbered from 1. `text` is the whole document, `digest` that of its file's bytes.

    `author` wrote it, through `channel` (python, cli, tool, file …), in the thread `session`, because
    of `message`. `restored` is the older revision that it brought back. `markers` (entry → marker) are
    those of entries that came in the old form, which the text no longer shows.
    """

    rev: int
    at: datetime
    verb: Verb
    author: str
    channel: str
    text: str
    digest: str
    session: str = ""
    message: str = ""
    restored: int | None = None
    markers: tuple[tuple[str, str], ...] = ()


def content(text: str) -> bytes:
    """The bytes of the file that holds a document's text."""
    return f"{text}\n".encode() if text else b""


def encode(revision: Revision) -> bytes:
    """One line, UTF-8, with its newline, its number first; empty fields left out."""
    fields = {
        "rev": revision.rev,
        "at": times.stamp(revision.at),
        "verb": revision.verb,
        "author": revision.author,
        "channel": revision.channel,
        "session": revision.session,
        "message": revision.message,
        "restored": revision.restored,
        "markers": dict(revision.markers),
        "digest": revision.digest,
    }
    kept = {name: value for name, value in fields.items() if value}
    return json.dumps({**kept, "text": revision.text}, ensure_ascii=False).encode() + b"\n"


def beginning(rev: int) -> bytes:
    """What the line of that revision begins with, so that a long log need not be parsed to find it."""
    return b'{"rev": %d, ' % rev


def decode(line: bytes) -> Revision:
    """The revision of a line.

    Raises:
        Invalid: the line is no JSON object, or the field that is wrong.
    """
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Invalid("line", f"is no JSON: {error}") from error
    if not isinstance(raw, Mapping):
        raise Invalid("line", "is no JSON object")
    if raw.get("verb") not in VERBS:
        raise Invalid("verb", f"{checks.shown(raw.get('verb'))} is none of {', '.join(VERBS)}")
    at = times.instant("at", raw.get("at"))
    if at is None:
        raise Invalid("at", "is missing")
    text = checks.string("text", raw.get("text"))
    return Revision(
        rev=_number("rev", raw.get("rev")),
        at=at,
        verb=cast("Verb", raw["verb"]),
        text=text,
        digest=checks.string("digest", raw.get("digest") or digest(content(text))),
        restored=None if raw.get("restored") is None else _number("restored", raw["restored"]),
        markers=_markers(raw.get("markers")),
        **{
            name: checks.string(name, raw.get(name) or "")
            for name in ("author", "channel", "session", "message")
        },
    )


def _number(field: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Invalid(field, f"{checks.shown(value)} is no number of a revision")
    return value


def _markers(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        return ()
    return tuple(
        (checks.string("markers", k), checks.string("markers", v)) for k, v in value.items()
    )
