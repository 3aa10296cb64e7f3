"""The persona: who the person is and how to work with them, in lines that each cite what they rest on.

`persona.md` has its lines under four headings, in the order of a scan: base facts, interests, how to
work with the person, how they decide. A locked line is a person's and survives every regeneration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, get_args

from memstrata.domain import cited, terms, times
from memstrata.domain.cited import Piece, Section, Sections
from memstrata.domain.grouping import piece_of
from memstrata.domain.memory import EPOCH, STANDING_RULE, Memory
from memstrata.errors import Corrupt, Invalid

Layer = Literal["facts", "interests", "protocol", "decisions"]
LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)
TITLES: Final[Mapping[Layer, tuple[str, str]]] = {
    "facts": ("Base facts", "基本情况"),
    "interests": ("Interests", "兴趣"),
    "protocol": ("How to work together", "相处方式"),
    "decisions": ("How they decide", "决策方式"),
}
"""The heading of each layer, English and Chinese."""
SCENE: Final = "scene:"
"""How a citation of a scene begins; its name follows."""
_IMPORTANT: Final = 80
"""From this priority on what happened is told of a person."""
_INTERESTED: Final = re.compile(
    r"\b(?:prefer|favou?rite|likes?|loves?|enjoys?|hobb(?:y|ies)|interest|fan of|hates?|dislikes?)"
    r"|喜欢|喜爱|爱好|偏好|感兴趣|讨厌",
    re.IGNORECASE,
)
_DECIDES: Final = re.compile(
    r"\b(?:decides?|chooses?|weighs?|trade-?offs?|values?|principles?|because|rather than)\b"
    r"|决定|选择|权衡|原则|看重",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Persona:
    """The persona; `updated` is unknown (the epoch) for a file that a person made."""

    sections: Sections = ()
    updated: datetime = EPOCH

    @property
    def lines(self) -> list[Piece]:
        """Its lines, in order."""
        return cited.pieces(self.sections)

    @property
    def cites(self) -> list[str]:
        """What it rests on: ids of memories, and scenes as `scene:name`."""
        return cited.cited(self.sections)


def render(persona: Persona) -> str:
    """The file of a persona."""
    return cited.with_head(
        {"updated": times.stamp(persona.updated)}, cited.render(persona.sections, bullets=True)
    )


def parse(data: bytes, path: str) -> Persona:
    """The persona in a file's bytes.

    Raises:
        Corrupt: it is not UTF-8.
    """
    try:
        fields, body = cited.head(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Corrupt(path, "is not UTF-8") from error
    try:
        updated = times.instant("updated", fields.get("updated")) or EPOCH
    except Invalid:
        updated = EPOCH
    return Persona(cited.parse(body), updated)


def layer_of(title: str) -> Layer | None:
    """The layer of a heading, None for one of a person's own."""
    return next((layer for layer, titles in TITLES.items() if title in titles), None)


# -- without a model ------------------------------------------------------------------------------


def told(memories: Iterable[Memory], held: Persona, *, now: datetime, most: int) -> Persona:
    """The persona in the memories' own words, as many as `most` characters hold, with the locked lines of `held`.

    What matters most has room first: standing rules, then by type and priority, newest first.
    """
    ranked = sorted(memories, key=_rank)
    lines = [(layer, piece_of(one)) for one in ranked if (layer := _layer(one)) is not None]
    return composed(lines, held, now=now, most=most)


def _layer(memory: Memory) -> Layer | None:
    """Where a memory stands; None: it tells nothing of the person."""
    match memory.type:
        case "feedback":
            return "protocol"
        case "project":
            return "decisions"
        case "reference":
            return None
        case "episodic":
            return "facts" if memory.priority >= _IMPORTANT else None
        case "user":
            words = f"{memory.slot} {memory.name} {memory.description}"
            if _INTERESTED.search(words):
                return "interests"
            return "decisions" if _DECIDES.search(words) else "facts"


def _rank(memory: Memory) -> tuple[int, int, float, str]:
    kinds = ("feedback", "user", "project", "reference", "episodic")
    first = 0 if memory.priority == STANDING_RULE else 1 + kinds.index(memory.type)
    return first, -memory.priority, -memory.updated_at.timestamp(), memory.id


# -- put together ---------------------------------------------------------------------------------


def composed(
    lines: Sequence[tuple[Layer, Piece]], held: Persona, *, now: datetime, most: int
) -> Persona:
    """The persona of lines in their order of weight, with the locked lines of `held` before all others.

    What exceeds `most` characters of the file is left out, the least first.
    """
    kept = [(section.title, one) for section in held.sections for one in section.pieces if one.kept]
    chinese = _is_chinese([piece for _, piece in lines])
    texts = {piece.text for _, piece in kept}
    fresh = [(TITLES[layer][chinese], piece) for layer, piece in lines if piece.text not in texts]
    low, high = 0, len(fresh)
    while low < high:
        middle = (low + high + 1) // 2
        fits = len(render(_laid_out(kept, fresh[:middle], now))) <= most
        low, high = (middle, high) if fits else (low, middle - 1)
    found = _laid_out(kept, fresh[:low], now)
    return held if found.sections == held.sections else found


def _is_chinese(lines: Sequence[Piece]) -> bool:
    return 2 * sum(terms.is_cjk(one.text) for one in lines) > len(lines)


def _laid_out(
    kept: Sequence[tuple[str, Piece]], fresh: Sequence[tuple[str, Piece]], now: datetime
) -> Persona:
    """Lines under their headings: the layers' in their order, then those that a person gave."""
    found: dict[tuple[int, str], list[Piece]] = {}
    names: dict[int, str] = {}
    for title, piece in (*fresh, *kept):
        layer = layer_of(title)
        at = len(LAYERS) if layer is None else LAYERS.index(layer)
        name = title if layer is None else names.setdefault(at, title)
        found.setdefault((at if title else -1, name), []).append(piece)
    return Persona(
        tuple(
            Section(name, tuple(dict.fromkeys(pieces)))
            for (_, name), pieces in sorted(found.items(), key=lambda one: one[0][0])
        ),
        now,
    )


# -- what a model wrote ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checked:
    """Lines that are borne out, and how many were dropped."""

    lines: tuple[tuple[Layer, Piece], ...]
    dropped: int


def checked(
    lines: Sequence[tuple[Layer, Piece]],
    memories: Mapping[str, Memory],
    scenes: Mapping[str, Collection[str]],
) -> Checked:
    """Those sentences that share an entity or two content words with something they cite.

    `memories` are those that may be cited; `scenes` the memories that each scene rests on. A citation
    that bears nothing out is taken off, and a line that is left with none is dropped.
    """
    found: list[tuple[Layer, Piece]] = []
    dropped = 0
    for layer, piece in lines:
        good = _borne_out(piece, lambda id: _behind(id, memories, scenes))
        dropped += len(sentences(piece.text)) - len(good)
        if good:
            cites = tuple(id for id in piece.cites if any(id in ids for _, ids in good))
            found.append((layer, Piece(" ".join(text for text, _ in good), cites)))
    return Checked(tuple(found), dropped)


def sentences(text: str) -> list[str]:
    """The sentences of a line."""
    return [one.strip() for one in _SENTENCE.split(text) if one.strip()]


def _behind(
    id: str, memories: Mapping[str, Memory], scenes: Mapping[str, Collection[str]]
) -> list[Memory]:
    ids = scenes.get(id.removeprefix(SCENE), ()) if id.startswith(SCENE) else (id,)
    return [memories[one] for one in ids if one in memories]


def _borne_out(
    piece: Piece, behind: Callable[[str], Sequence[Memory]]
) -> list[tuple[str, tuple[str, ...]]]:
    """Each sentence that something bears out, with the citations that do."""
    found = []
    for text in sentences(piece.text):
        bearing = tuple(id for id in piece.cites if cited.supporting(text, behind(id)))
        if bearing:
            found.append((text, bearing))
    return found


# -- a person's lines -----------------------------------------------------------------------------


def locking(persona: Persona, number: int, *, lock: bool = True) -> Persona:
    """The persona with its line of that number (from 1) locked, or no longer.

    Raises:
        Invalid: there is no such line.
    """
    if not 1 <= number <= len(persona.lines):
        raise Invalid("line", f"{number} is none of the {len(persona.lines)} lines")
    left = iter(range(number - 1, -len(persona.lines) - 1, -1))

    def touched(piece: Piece) -> Piece:
        return replace(piece, locked=lock) if next(left) == 0 else piece

    return replace(
        persona,
        sections=tuple(
            replace(one, pieces=tuple(map(touched, one.pieces))) for one in persona.sections
        ),
    )
