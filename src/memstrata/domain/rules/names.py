"""Short names for what has no slot, and the proper names in a text."""

from __future__ import annotations

import re
from typing import Final

_BRACKETED: Final = re.compile(r"\s*[（(][^）)]*[）)]")
_MOST_WORDS: Final = 8
_MOST_CHARACTERS: Final = 60
_MOST_CJK: Final = 24

_WORD: Final = r"[\w'’&+#-]*(?:\.\w+)*"
_CAPITAL_RUN: Final = re.compile(
    rf"(?<!\w)[A-Z]{_WORD}(?: (?:of (?:the )?|de |da |van )?[A-Z0-9]{_WORD})*"
)
_LATIN: Final = re.compile(rf"[A-Za-z]{_WORD}(?: [A-Z0-9]{_WORD})*")
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S+|[\w.-]*/[\w./-]+")
_TOOL: Final = re.compile(
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
    Mum Dad There Here Works Lives Likes
    """.split()
)


def short(description: str, *, chinese: bool) -> str:
    """The head of a description as a name, the words in brackets left out."""
    plain = _BRACKETED.sub("", description).strip(" .,，。")
    if chinese:
        return plain[:_MOST_CJK]
    words = plain.split()[:_MOST_WORDS]
    while len(words) > 1 and len(" ".join(words)) > _MOST_CHARACTERS:
        words.pop()
    return " ".join(words)[:_MOST_CHARACTERS].rstrip(" ,;:")


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
    while words and (words[-1] in _ORDINARY or (words == [words[-1]] and words[-1].isdigit())):
        words.pop()
    found = " ".join(words).removesuffix("'s").removesuffix("’s")
    # The first word of a sentence is written large whatever it is.
    opens = match.start() == 0 and [found] == match[0].split(" ")
    return "" if opens else found
