"""A text as the patterns read it, what they find in it, and the way back to the text as it was given."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

from memstrata.domain.lazy import Regex


@dataclass(frozen=True, slots=True)
class Finding:
    """Something of `kind` at `text[start:end]`."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as the patterns read it, and the way back: where it was changed and to how much.

    `changes` holds (start here, length here, start there, end there), in order; "there" is the text
    that was given.
    """

    text: str
    lower: str
    changes: tuple[tuple[int, int, int, int], ...]

    def original(self, finding: Finding) -> Finding:
        """`finding` with the span it has in the text that was given."""
        if not self.changes:
            return finding
        start, _ = self._there(finding.start)
        _, end = self._there(finding.end - 1)
        return Finding(finding.kind, start, end)

    def _there(self, here: int) -> tuple[int, int]:
        last = bisect_right(self.changes, here, key=lambda change: change[0]) - 1
        if last < 0:
            return here, here + 1
        start, length, there, until = self.changes[last]
        if here < start + length:
            return there, until
        return until + here - start - length, until + here - start - length + 1


# Invisible: soft hyphen, joiners, direction marks, variation selectors, tags. Changed by NFKC: spaces,
# super- and subscripts, letter-like, enclosed and styled letters, ligatures, full-width forms. Full-width
# sentence punctuation stays, because it ends a value and its ASCII twin may be part of one.
_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef"
)
_STYLED: Final = (
    "\u00a0\u00b2\u00b3\u00b9\u2000-\u200a\u202f\u205f\u2070-\u209c\u2100-\u214f\u2460-\u24ff\u3000"
    "\ufb00-\ufb06\ufe50-\ufe6b\uff02-\uff07\uff0a\uff0b\uff0d-\uff1a\uff1c-\uff1e\uff20-\uff5e"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f149"
)
_CHANGED: Final = Regex(f"[{_INVISIBLE}]+|[{_STYLED}]")
_UNSEEN: Final = Regex(f"[{_INVISIBLE}]")
TAIL: Final = r"[A-Za-z0-9_+/=.~-]{4}"
MASK: Final = Regex(rf"\[secret:[a-z][a-z-]{{2,19}}(?: …{TAIL})?\]")


def fold(text: str) -> Folded:
    """`text` with styled characters plain, invisible ones gone and earlier masks blanked out."""
    pieces: list[str] = []
    changes: list[tuple[int, int, int, int]] = []
    done = length = 0
    for hit in () if text.isascii() else _CHANGED.finditer(text):
        plain = "" if _UNSEEN.match(hit[0]) else normalize("NFKC", hit[0])
        length += hit.start() - done
        changes.append((length, len(plain), hit.start(), hit.end()))
        pieces += text[done : hit.start()], plain
        length += len(plain)
        done = hit.end()
    folded = "".join([*pieces, text[done:]])
    if "[secret:" in folded:
        folded = MASK.sub(lambda mask: "\0" * len(mask[0]), folded)
    # İ is the one character whose lower case is longer than itself.
    return Folded(folded, folded.replace("İ", "I").lower(), tuple(changes))
