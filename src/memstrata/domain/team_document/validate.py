"""What a document must be to be stored, and what its writer is warned about. Words, no decisions on the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, Literal, TypeAlias

from memstrata.domain.redact import Finding
from memstrata.domain.team_document import headings, limits
from memstrata.domain.team_document.grammar import Document, fenced

Reason = Literal["text", "heading", "scope", "sensitive", "size"]
Find: TypeAlias = Callable[[str], Iterable[Finding]]
"""The scanner of the sensitive gate: what in a text must not be kept, and where it stands."""

NO_HEADING: Final = "Memory must be markdown with at least one ## heading."
NON_STANDARD: Final = "Non-standard memory bullet: "
SHRUNK: Final = 0.4
"""Below this share of its former length a document has shrunk."""

_UNREADABLE: Final = re.compile("[\x00\ud800-\udfff]")
_ANY_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(.*)", re.DOTALL)
_SHOWN: Final = 80


def text_problem(value: object) -> str:
    """Why `value` is no text that a file and a database can hold; `""` when it is."""
    if not isinstance(value, str):
        return f"Memory must be text, not {type(value).__name__}."
    found = _UNREADABLE.search(value)
    if found is None:
        return ""
    return f"Memory must be text: it holds U+{ord(found[0]):04X} at character {found.start()}."


def personal(document: Document, people: Collection[str]) -> dict[tuple[str, ...], str]:
    """The personal headings of a document, of any level: canonical form → as spelled."""
    return {
        headings.canonical(name): name
        for name in _every_heading(document)
        if headings.is_personal(name, people)
    }


def scope(
    before: Document, after: Document, people: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """What keeps `after` from following `before` as a team document, and warnings of what was there."""
    held, now = personal(before, people), personal(after, people)
    new = [_short(name) for form, name in now.items() if form not in held]
    if new:
        return f"Team memory cannot introduce personal headings: {', '.join(new)}.", ()
    return "", tuple(
        f"Team memory holds the personal heading {_short(name)}; it belongs into private memory."
        for name in now.values()
    )


def sensitive(before: str, after: str, find: Find) -> tuple[str, tuple[str, ...]]:
    """What keeps `after` from being stored, without its words, and warnings of what stood there before."""
    now = _found(after, find)
    held = _found(before, find) if now else now
    new = list(dict.fromkeys(kind for kind, _ in now - held))
    if new:
        return f"Memory cannot hold {', '.join(new)}; leave it out.", ()
    return "", tuple(
        f"Memory holds {kind}, which must not be kept; take it out."
        for kind in dict.fromkeys(kind for kind, _ in now)
    )


def size_problem(document: Document, length: int) -> str:
    """The error of a document of `length` characters, with the size of each section."""
    sizes = [("(before the headings)", sum(len(one.text) + 1 for one in document.preamble))]
    sizes += [(section.heading, len(str(section))) for section in document.sections]
    listed = "; ".join(f"{_short(name)} {size:,}" for name, size in sizes if size)
    told = f"Memory has {length:,} characters, at most {limits.HARD:,} can be saved."
    return f"{told} By section: {listed}." if listed else told


def soft_limit(length: int) -> tuple[str, ...]:
    """The warning of a document above the soft limit."""
    if length <= limits.SOFT:
        return ()
    found = (
        f"Memory has {length:,} characters, above the soft limit of {limits.SOFT:,} (at most "
        f"{limits.HARD:,}): merge, drop outdated, shorten."
    )
    return (found,)


def bullets(document: Document) -> tuple[str, ...]:
    """One warning for each bullet that is no entry; what stands in a code fence is none."""
    return tuple(
        f"{NON_STANDARD}{row[:_SHOWN]}"
        for line in document.raw_lines
        if (row := line.text.split("\n")[0].lstrip()).startswith("- ")
    )


def changes(before: Document, after: Document, length_before: int, length: int) -> tuple[str, ...]:
    """Warnings of what an update took away: sections that are gone, most of the text."""
    left = {headings.normalised(section.heading) for section in after.sections}
    gone = dict.fromkeys(
        section.heading
        for section in before.sections
        if headings.normalised(section.heading) not in left
    )
    found = [f"Section dropped: {_short(name)}" for name in gone]
    if length < SHRUNK * length_before:
        found.append(
            f"Memory shrank from {length_before:,} to {length:,} characters, below {SHRUNK:.0%}."
        )
    return tuple(found)


def dropped(rows: Iterable[str]) -> tuple[str, ...]:
    """The warning of text before the first heading that was not kept."""
    text = " ".join(" ".join(rows).split())
    return (f"Text before the first heading was left out: {_short(text)}",) if text else ()


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _every_heading(document: Document) -> Iterator[str]:
    yield from (section.heading for section in document.sections)
    for line in document.raw_lines:
        found = _ANY_HEADING.fullmatch(line.text) if fenced(line) is None else None
        if found:
            yield found[1].strip()


def _found(text: str, find: Find) -> Counter[tuple[str, str]]:
    return Counter((one.kind, text[one.start : one.end]) for one in find(text))
