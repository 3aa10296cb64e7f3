"""Text that says what it rests on: each paragraph ends with the ids of its sources in a comment.

`Works at Brightwater. <!-- mem_…, mem_… -->`. A paragraph whose comment says `locked` is a person's and
stays as it is; so does one without a comment, which nobody but a person writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from memstrata.domain import terms
from memstrata.domain.memory import Memory

LOCKED: Final = "locked"
"""The word by which a person keeps a paragraph."""
ENOUGH: Final = 2
"""So many content words must a paragraph share with a memory that it cites, or an entity."""
_FRONT: Final = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD: Final = re.compile(r"^([a-z_]+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.+?)[ \t#]*")
_COMMENT: Final = re.compile(r"\s*<!--(.*?)-->\s*\Z", re.DOTALL)
_BULLET: Final = re.compile(r"\A[-*+][ \t]+")
_STRUCTURE: Final = re.compile(r"\A(?=\\*(?:#{1,6}\s|---|[-*+]\s))")
_OWNER: Final = frozenset(("user", "i", "用户", "戶", "户"))
"""What most memories begin with, and so connects none."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph (a line of a list is one): its words, what it rests on, whether a person keeps it."""

    text: str
    cites: tuple[str, ...] = ()
    locked: bool = False

    @property
    def kept(self) -> bool:
        """Whether it is a person's."""
        return self.locked or not self.cites


@dataclass(frozen=True, slots=True)
class Section:
    """Paragraphs under one heading; `""` before the first."""

    title: str
    pieces: tuple[Piece, ...]


Sections = tuple[Section, ...]


def pieces(sections: Iterable[Section]) -> list[Piece]:
    """Every paragraph, in order."""
    return [piece for section in sections for piece in section.pieces]


def cited(sections: Iterable[Section]) -> list[str]:
    """Every id that is cited, once, in order."""
    return list(dict.fromkeys(id for piece in pieces(sections) for id in piece.cites))


# -- as text --------------------------------------------------------------------------------------


def head(text: str) -> tuple[dict[str, str], str]:
    """The fields between the two lines of `---` at the top (none where there are not) and the rest."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT.match(plain)
    if front is None:
        return {}, plain
    return {name: value.strip("\"'") for name, value in _FIELD.findall(front[1])}, plain[
        front.end() :
    ]


def with_head(fields: Mapping[str, object], body: str) -> str:
    """Fields, each on its line, and a body."""
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"---\n{lines}---\n" + (f"\n{body}\n" if body else "")


def parse(body: str) -> Sections:
    """The sections of a text, those without a paragraph left out."""
    found: list[tuple[str, list[Piece]]] = [("", [])]
    lines: list[str] = []

    def end() -> None:
        piece = _piece("\n".join(lines))
        lines.clear()
        if piece is not None:
            found[-1][1].append(piece)

    for line in body.splitlines():
        heading = _HEADING.fullmatch(line.strip())
        if heading is not None:
            end()
            found.append((heading[1], []))
            continue
        if not line.strip() or (lines and _BULLET.match(line) and _BULLET.match(lines[0])):
            end()
        if line.strip():
            lines.append(line.strip())
        if line.rstrip().endswith("-->"):
            end()
    end()
    return tuple(Section(title, tuple(inner)) for title, inner in found if inner)


def _piece(text: str) -> Piece | None:
    comment = _COMMENT.search(text)
    words = _BULLET.sub("", text[: comment.start()] if comment else text).strip()
    words = words.removeprefix("\\") if _STRUCTURE.match(words) else words
    named = [one.strip() for one in comment[1].split(",")] if comment else []
    if not words:
        return None
    cites = tuple(dict.fromkeys(one for one in named if one and one != LOCKED))
    return Piece(words, cites, LOCKED in named)


def render(sections: Iterable[Section], *, bullets: bool = False) -> str:
    """The text of sections; with `bullets` each paragraph is a line of a list."""
    return "\n\n".join(filter(None, (_rendered(one, bullets) for one in sections)))


def _rendered(section: Section, bullets: bool) -> str:
    lines = [("- " if bullets else "") + line(piece) for piece in section.pieces]
    body = ("\n" if bullets else "\n\n").join(lines)
    return f"## {section.title}\n{'' if bullets else chr(10)}{body}" if section.title else body


def line(piece: Piece) -> str:
    """A paragraph with its comment."""
    named = (*([LOCKED] if piece.locked else []), *piece.cites)
    text = piece.text if not _STRUCTURE.match(piece.text) else f"\\{piece.text}"
    return f"{text} <!-- {', '.join(named)} -->" if named else text


def plain(text: str) -> str:
    """A memory's words as a paragraph: on one line, opening and closing no comment."""
    return " ".join(text.replace("<!--", "‹!--").replace("-->", "--›").split())


# -- what a person wrote --------------------------------------------------------------------------


def by_hand(sections: Sections, ours: Iterable[Piece]) -> Sections:
    """Sections of which every paragraph that is not one of `ours` is locked: a person wrote it."""
    known = {(one.text, one.cites) for one in ours}
    return tuple(
        replace(
            section,
            pieces=tuple(
                one if one.cites and (one.text, one.cites) in known else replace(one, locked=True)
                for one in section.pieces
            ),
        )
        for section in sections
    )


# -- what a paragraph rests on --------------------------------------------------------------------


def supporting(text: str, memories: Iterable[Memory]) -> tuple[str, ...]:
    """The ids of those memories that share an entity or two content words with a text.

    Of a memory, or a text, that has but one content word, that one is enough.
    """
    words = content(text)
    folded = terms.fold(text)
    return tuple(one.id for one in memories if _shares(words, folded, one))


def _shares(words: frozenset[str], folded: str, memory: Memory) -> bool:
    if any(_names(folded, entity) for entity in memory.entities):
        return True
    its = content(f"{memory.name} {memory.description} {memory.body}")
    return len(words & its) >= max(1, min(ENOUGH, len(words), len(its)))


def _names(folded: str, entity: str) -> bool:
    name = " ".join(terms.fold(entity).split())
    if not name or name in _OWNER:
        return False
    if not name.isascii():
        return name in folded
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", folded) is not None


def content(text: str) -> frozenset[str]:
    """The content words of a text: stems without stop words, pairs of CJK characters."""
    words = [term.text for term in terms.query_terms(text, most=1_000)]
    return frozenset(word for word in words or terms.index_terms(text) if word not in _OWNER)


def without(
    sections: Sections, gone: Iterable[str], ended: Iterable[str] = ()
) -> tuple[Sections, int]:
    """Sections without the paragraphs that cite something `gone`, or nothing but what has `ended`; and how many.

    A person's paragraph goes only when all that it cites is gone.
    """
    lost, over = frozenset(gone), frozenset(ended)

    def stays(piece: Piece) -> bool:
        cites = frozenset(piece.cites)
        if not cites:
            return True
        if piece.locked:
            return not cites <= lost
        return not cites & lost and not cites <= over

    kept = [(one.title, [*filter(stays, one.pieces)]) for one in sections]
    left = tuple(Section(title, tuple(inner)) for title, inner in kept if inner)
    return left, len(pieces(sections)) - len(pieces(left))
