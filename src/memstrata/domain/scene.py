"""A scene: what is known of one matter, told in paragraphs that each name the memories they rest on.

A file has a META head (created, updated, heat, summary) and the paragraphs, perhaps under headings.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memstrata.domain import cited, terms, times
from memstrata.domain.cited import Piece, Sections
from memstrata.domain.memory import EPOCH
from memstrata.errors import Corrupt, Invalid

SECTIONS: Final = (
    *("Facts", "Traits", "Preferences", "Signals", "Story", "Evolution", "Open questions"),
    *("事实", "特点", "偏好", "信号", "经过", "变化", "未决问题"),
)
"""The headings there are: any other could claim what nothing supports."""
SUMMARY_WORDS: Final = 40
"""Words of a summary, at most; two CJK characters count as one."""
LONGEST_NAME: Final = 64
_NAME_SIGNS: Final = "-_."


@dataclass(frozen=True, slots=True)
class Limits:
    """How many scenes there may be, how long each: at `prefer` an update is preferred, at `most - 1` none is made."""

    most: int = 15
    prefer: int = 12
    characters: int = 1_500

    @property
    def full(self) -> int:
        """From so many on no scene is made."""
        return max(1, self.most - 1)


@dataclass(frozen=True, slots=True)
class Scene:
    """One scene. `name` is its file's without `.md`."""

    name: str
    sections: Sections
    created: datetime = EPOCH
    updated: datetime = EPOCH
    heat: int = 1
    summary: str = ""

    @property
    def pieces(self) -> list[Piece]:
        """Its paragraphs."""
        return cited.pieces(self.sections)

    @property
    def cites(self) -> list[str]:
        """The ids of the memories that it rests on."""
        return cited.cited(self.sections)


def render(scene: Scene) -> str:
    """The file of a scene."""
    fields = {
        "created": times.stamp(scene.created),
        "updated": times.stamp(scene.updated),
        "heat": scene.heat,
        "summary": scene.summary,
    }
    return cited.with_head(fields, cited.render(scene.sections))


def parse(data: bytes, path: str, name: str) -> Scene:
    """The scene in a file's bytes; what its head does not say is unknown, and the summary its first words.

    Raises:
        Corrupt: it is not UTF-8.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt(path, "is not UTF-8") from error
    fields, body = cited.head(text)
    found = Scene(
        name,
        cited.parse(body),
        _instant(fields.get("created")),
        _instant(fields.get("updated")),
        _heat(fields.get("heat")),
        " ".join(fields.get("summary", "").split()),
    )
    return found if found.summary else replace(found, summary=summary_of(found.pieces))


def _instant(value: str | None) -> datetime:
    try:
        return times.instant("created", value) or EPOCH
    except Invalid:
        return EPOCH


def _heat(value: str | None) -> int:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 10 else 1


# -- names ----------------------------------------------------------------------------------------


def name_problem(name: str) -> str:
    """Why `name` can be no scene's; `""`: it can."""
    if not name or len(name) > LONGEST_NAME or len(name.encode()) > 180:
        return f"a name has 1 to {LONGEST_NAME} characters"
    if name.startswith(".") or not all(one.isalnum() or one in _NAME_SIGNS for one in name):
        return "a name has letters, digits, CJK, -, _ and ., and begins with no dot"
    return ""


def name_of(text: str) -> str:
    """A name made of some words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    signs = "".join(one if one.isalnum() else "-" for one in folded)
    name = "-".join(filter(None, signs.split("-")))
    cut = name[:48] if len(name) <= 48 else name[:48].rpartition("-")[0] or name[:48]
    return cut or "scene"


def free_name(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, or with `-2`, `-3` … where that is another scene's; letters' case tells none apart."""
    held = {one.casefold() for one in taken}
    if wanted.casefold() not in held:
        return wanted
    return next(
        name for n in range(2, len(held) + 3) if (name := f"{wanted}-{n}").casefold() not in held
    )


def tells(name: str, before: str, after: str) -> bool:
    """Whether a name says something of the paragraphs that a text lost, and of none that it has left."""
    words_of_it = cited.content(name.removesuffix(".md").replace("-", " "))
    return bool(words_of_it & (_said(before) - _said(after)))


def without_titles(before: str, after: str) -> str:
    """A scene's text that lost paragraphs, without the headings that tell of those alone."""
    lost = _said(before) - _said(after)
    fields, body = cited.head(after)
    sections = cited.parse(body)
    left = tuple(
        replace(one, title="") if cited.content(one.title) & lost else one for one in sections
    )
    return after if left == sections else cited.with_head(fields, cited.render(left))


def _said(text: str) -> frozenset[str]:
    pieces = cited.pieces(cited.parse(cited.head(text)[1]))
    return cited.content(" ".join(piece.text for piece in pieces))


# -- summaries and order --------------------------------------------------------------------------


def words(text: str) -> int:
    """How many words: those written apart, and a half for each CJK character."""
    apart, cjk = 0, 0
    for word in text.split():
        many = sum(map(terms.is_cjk, word))
        cjk += many
        apart += many < len(word)
    return apart + (cjk + 1) // 2


def shortened(text: str, most: int = SUMMARY_WORDS) -> str:
    """The first words of a text, at most `most`."""
    line = " ".join(text.split())
    if words(line) <= most:
        return line
    ends = [at for at, one in enumerate(line) if one == " " or terms.is_cjk(one)]
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if words(line[: ends[middle]]) <= most else (low, middle - 1)
    return line[: ends[low]].rstrip(" ,;，；、") + "…"


def summary_of(pieces: Iterable[Piece]) -> str:
    """The first words of the paragraphs, as many as a summary has; no prose is invented."""
    found = ""
    for piece in pieces:
        found = f"{found}; {piece.text.rstrip('.;。；')}" if found else piece.text.rstrip(".;。；")
        if words(found) >= SUMMARY_WORDS:
            break
    return shortened(found)


def told(scene: Scene) -> str:
    """A summary that its paragraphs bear out: its own if half of its content words stand in them."""
    own = cited.content(scene.summary)
    there = cited.content(" ".join(piece.text for piece in scene.pieces))
    if own and 2 * len(own & there) >= len(own):
        return shortened(scene.summary)
    return summary_of(scene.pieces)


def hottest(scenes: Iterable[Scene]) -> list[Scene]:
    """Hottest first; of equal ones the newest change, then the name."""
    return sorted(scenes, key=lambda one: (-one.heat, -one.updated.timestamp(), one.name))


def likeness(one: Scene, other: Scene) -> float:
    """How much two scenes have in common: of the content words of both, the shared ones."""
    first, second = (
        cited.content(" ".join(piece.text for piece in scene.pieces)) for scene in (one, other)
    )
    return len(first & second) / len(first | second) if first | second else 0.0


def most_alike(scenes: Sequence[Scene]) -> tuple[Scene, Scene] | None:
    """The two scenes that have most in common; None for fewer than two."""
    pairs = [(one, other) for at, one in enumerate(scenes) for other in scenes[at + 1 :]]
    return max(pairs, key=lambda pair: likeness(*pair), default=None)
