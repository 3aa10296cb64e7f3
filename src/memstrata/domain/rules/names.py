"""Short names for what has no slot, and the proper names in a text."""

from __future__ import annotations

import re
from typing import Final

from memstrata.domain.lazy import Regex

_BRACKETED: Final = Regex(r"\s*[（(][^）)]*[）)]")
_MOST_WORDS: Final = 8
_MOST_CHARACTERS: Final = 60
_MOST_CJK: Final = 24

_SECOND_CLAUSE: Final = Regex(
    r"(?<=\w)[,;] (?:(?:and|but|so|because|since|as) )?(?:[\w'-]+ ){1,4}(?:is|are|was|were|has|have|will|does)\b.*",
    re.IGNORECASE,
)
_HANGING: Final = Regex(
    r"(?:and|or|but|to|of|in|on|at|by|for|from|with|the|an?|my|their|our|is|are|was|were|until|till|through"
    r"|about|into|as|than|that|which|not|jan\w*|feb\w*|mar(?:ch)?|apr\w*|may|june?|july?|aug\w*|sept?\w*"
    r"|oct\w*|nov\w*|dec\w*),?",
    re.IGNORECASE,
)

_WORD: Final = r"[\w'’&+#-]*(?:\.\w+)*"
_CAPITAL_RUN: Final = Regex(
    rf"(?<!\w)[A-Z]{_WORD}(?: (?:of (?:the )?|de |da |van )?[A-Z0-9]{_WORD})*"
)
_LATIN_WORD: Final = r"[A-Za-zÀ-ÿ0-9_'’&+#-]*(?:\.[A-Za-z0-9]+)*"
_LATIN: Final = Regex(rf"[A-Za-z]{_LATIN_WORD}(?: [A-Z0-9]{_LATIN_WORD})*")
_NUMBER: Final = Regex(r"\d+(?:st|nd|rd|th)?")
_ADDRESS: Final = Regex(r"(?:https?://|www\.)\S+|[\w.-]*/[\w./-]+")
_TOOL: Final = Regex(
    r"\b(?:pnpm|npm|yarn|pytest|mypy|ruff|eslint|vitest|jest|webpack|vite|esbuild|kubectl"
    r"|systemd|nginx|vim|neovim|emacs"
    r"|git|uv|pip|tmux|zsh|docker|redis|postgres)\b"
)
_ORDINARY: Final = frozenset(
    """
    I I'm I've I'd I'll A An The My Our We We're We've It It's This That These Those He She
    They You Your And But So If When While Where What Who How Why Yes No Not Now Then Also
    Please Always Never Keep Stop Don't Do Use Answer Write Reply Call Be Just From For In
    On At By To Of With Since After Before Until As Is Are Was Were Has Have Had Remember
    Note Ok Okay Hi Hello Hey Thanks Sure Well Actually Monday Tuesday Wednesday Thursday
    Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays
    January February March April May June July August September October November December
    Today Yesterday Tomorrow Last Next Every Each All Avoid Make Give Start End Freeze Mom
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mum Dad There Here Works Lives Likes
    """.split()
)


def short(description: str, *, chinese: bool) -> str:
    """The head of a description as a name, the words in brackets left out."""
    plain = _BRACKETED.sub("", description).strip(" .,，。")
    if chinese:
        return _as_wide(plain)
    plain = _SECOND_CLAUSE.sub("", plain)
    every = plain.split()
    words = every[:_MOST_WORDS]
    while len(words) > 1 and len(" ".join(words)) > _MOST_CHARACTERS:
        words.pop()
    if len(words) < len(every):
        words = _without_hanging(words)
    return " ".join(words)[:_MOST_CHARACTERS].rstrip(" ,;:")


def _as_wide(text: str) -> str:
    """`text` cut to the width of `_MOST_CJK` Chinese characters, of which a Latin one takes half."""
    width = 0
    for at, character in enumerate(text):
        width += 1 if character.isascii() else 2
        if width > _MOST_CJK * 2:
            return text[:at].rstrip()
    return text


def _without_hanging(words: list[str]) -> list[str]:
    """`words` without those at the end that only lead to what was cut off ("… to October")."""
    while len(words) > 2 and _HANGING.fullmatch(words[-1]):
        words = words[:-1]
    return words


def entities(text: str, known: tuple[str, ...], *, chinese: bool) -> tuple[str, ...]:
    """Proper names in `text`, in order: `known` ones first, then what is written like one."""
    text = _ADDRESS.sub(" ", text)
    found = [one for one in known if one in text]
    if chinese:
        found += [match[0] for match in _LATIN.finditer(text) if len(match[0]) > 1]
    else:
        found += filter(None, (_name(match) for match in _CAPITAL_RUN.finditer(text)))
        found += [match[0] for match in _TOOL.finditer(text)]
    return tuple(dict.fromkeys(found))


def _name(match: re.Match[str]) -> str:
    """A run of capitalised words without ordinary ones at its ends; `""` when nothing is left."""
    words = match[0].split(" ")
    while words and words[0] in _ORDINARY:
        words.pop(0)
    while words and words[-1] in _ORDINARY:
        words.pop()
    if all(_NUMBER.fullmatch(word) for word in words):
        return ""
    found = " ".join(words).removesuffix("'s").removesuffix("’s")
    # The first word of a sentence is written large whatever it is.
    opens = match.start() == 0 and [found] == match[0].split(" ")
    return "" if opens else found
