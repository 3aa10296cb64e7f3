"""An update as a model or a person sends it: freed of its wrapping, with what it says about the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memstrata.domain.team_document import headings, limits
from memstrata.domain.team_document.grammar import (
    BLANK,
    BOM,
    Document,
    Line,
    Raw,
    Section,
    fenced,
    is_closed,
    parse,
)
from memstrata.domain.team_document.units import folded

_EDGE: Final = BOM + "".join(filter(str.isspace, map(chr, range(0x3001))))
_SIGNS: Final = re.compile(r"[\W_]+")
_NOTHING: Final = frozenset(("noupdate", "nochange"))
_REST: Final = ("...", "…", "……")
_ENDS: Final = re.compile(r"(`{3,}|~{3,})[^`\n]*\n(.*)\n(`{3,}|~{3,})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Update:
    """A new document, and what of the old one it asks to keep without showing it.

    `rest` is set when "..." stands at the start or end of the document, `rest_of` holds the headings
    (as compared) of the sections that have one there. `dropped` is the prose before the document.
    """

    document: Document
    rest: bool
    rest_of: frozenset[str]
    dropped: tuple[str, ...]

    def keeps(self, heading: str) -> bool:
        """Whether what is not shown under `heading` (as compared) stays."""
        return self.rest or heading in self.rest_of


def trimmed(text: str) -> str:
    """`text` without blanks and marks around it and out of its code fence, if it stands in one.

    A text whose only headings and entries stand in one fenced block is that block, whatever is said
    around it.
    """
    bare = text.strip(_EDGE).replace("\r\n", "\n").replace("\r", "\n")
    wrapped = _ENDS.fullmatch(bare)
    if wrapped and wrapped[1] == wrapped[3][: len(wrapped[1])] and _is_whole(wrapped[2]):
        return wrapped[2].strip(_EDGE)
    document = parse(bare)
    if document.sections:
        return bare
    blocks = ["\n".join(rows) for line in document.preamble if (rows := fenced(line)) is not None]
    whole = [block for block in blocks if parse(block).sections]
    return whole[0].strip(_EDGE) if len(whole) == 1 else bare


def says_nothing(text: str) -> bool:
    """Whether a trimmed text says that there is nothing to save, is short without a document, or is empty."""
    if _SIGNS.sub("", headings.plain(text)) in _NOTHING:
        return True
    return len(text) <= limits.SHORT and not parse(text).sections


def read(text: str, held: Document) -> Update:
    """A trimmed text as an update of `held`, from which it may repeat the text before the first heading."""
    document = parse(text)
    known = {folded(line) for line in held.raw_lines} | {""}
    told = [line for line in document.preamble if not _is_rest(line)]
    shown = [_shown(section) for section in document.sections]
    starts = len(told) < len(document.preamble)
    ends = bool(shown) and any(map(_is_rest, document.sections[-1].lines[-1:]))
    return Update(
        Document(
            tuple(line for line in told if folded(line) in known),
            tuple(section for section, _ in shown),
        ),
        rest=starts or ends,
        rest_of=frozenset(headings.normalised(section.heading) for section, rest in shown if rest),
        dropped=tuple(line.text for line in told if folded(line) not in known),
    )


def _shown(section: Section) -> tuple[Section, bool]:
    """`section` without the "..." at its start and end, and whether there was one."""
    seen = [n for n, line in enumerate(section.lines) if line != BLANK and not _is_rest(line)]
    start, end = (seen[0], seen[-1] + 1) if seen else (len(section.lines), len(section.lines))
    rest = any(map(_is_rest, (*section.lines[:start], *section.lines[end:])))
    return (Section(section.heading, section.lines[start:end]) if rest else section), rest


def _is_rest(line: Line) -> bool:
    return isinstance(line, Raw) and line.text.strip() in _REST


def _is_whole(inner: str) -> bool:
    """Whether `inner` is a document of its own: it has a heading or entry, and its fences are closed."""
    return bool(parse(inner).sections) and is_closed(inner)
