"""A document as what can be added, removed or changed in it: a multiset of units under headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from memstrata.domain import terms
from memstrata.domain.team_document import headings
from memstrata.domain.team_document.grammar import BLANK, Document, Entry, Line, Raw

PREAMBLE: Final = "\n"
"""What stands for the heading of that which has none; no heading is compared as this."""

_MARKS: Final = str.maketrans("‹›", "<>")
"""A tag that was neutralised for the model comes back like this."""


class Key(NamedTuple):
    """What makes a unit itself: two of one key are the same entry, however it is spelled.

    `day` is `""` for a raw line; `turn` numbers those that are alike within the document.
    """

    heading: str
    day: str
    text: str
    turn: int


@dataclass(frozen=True)  # without slots, for the cached property
class Unit:
    """An entry or a raw line that is not blank, where it stands."""

    key: Key
    line: Line

    @property
    def weight(self) -> int:
        """How many rows it is: a fenced block has several."""
        return sum(1 for row in str(self.line).split("\n") if row)

    @property
    def nested(self) -> bool:
        """Whether it belongs to the line above it."""
        return isinstance(self.line, Raw) and self.line.text[:1].isspace()

    @cached_property
    def terms(self) -> frozenset[str]:
        """The search terms of its text."""
        return frozenset(terms.index_terms(words(self.line)))


@dataclass(frozen=True, slots=True)
class Part:
    """A section, or the preamble: its heading as spelled and as compared, its units; None is a blank line."""

    heading: str
    name: str
    items: tuple[Unit | None, ...]

    @property
    def units(self) -> tuple[Unit, ...]:
        """Its units without the blanks."""
        return tuple(item for item in self.items if item is not None)


Units = Mapping[Key, Unit]


def parts(document: Document) -> tuple[Part, ...]:
    """The preamble, also an empty one, and the sections in order."""
    seen: Counter[tuple[str, str, str]] = Counter()
    every: list[tuple[str, str, Sequence[Line]]] = [(PREAMBLE, PREAMBLE, document.preamble)]
    every += [
        (one.heading, headings.normalised(one.heading), one.lines) for one in document.sections
    ]
    return tuple(
        Part(spelled, name, tuple(_items(name, lines, seen))) for spelled, name, lines in every
    )


def keyed(parts: Sequence[Part]) -> dict[Key, Unit]:
    """All units by key, in order."""
    return {unit.key: unit for part in parts for unit in part.units}


def units(document: Document) -> tuple[Unit, ...]:
    """All units of a document, in order."""
    return tuple(keyed(parts(document)).values())


def words(line: Line) -> str:
    """What a line says, without its day."""
    return line.text if isinstance(line, Entry) else str(line)


def folded(line: Line) -> str:
    """The text of a line as it is compared: NFKC, case folded, blanks as one."""
    return " ".join(headings.plain(words(line).translate(_MARKS)).split())


def _items(
    name: str, lines: Sequence[Line], seen: Counter[tuple[str, str, str]]
) -> Iterator[Unit | None]:
    for line in lines:
        if line == BLANK:
            yield None
            continue
        alike = (name, line.day if isinstance(line, Entry) else "", folded(line))
        yield Unit(Key(*alike, seen[alike]), line)
        seen[alike] += 1
