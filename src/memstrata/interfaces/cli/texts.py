"""Every message of the command line in English and Chinese. The English text is the key.

A message that the table lacks is said in English; a test finds those, and those nobody says.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Final

from memstrata.errors import Invalid
from memstrata.interfaces.cli.chinese import CHINESE

LANGUAGES: Final = ("en", "zh")
_VARIABLES: Final = ("MEMSTRATA_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
_SPOKEN: Final[ContextVar[str]] = ContextVar("language", default="en")


def language(asked: str | None, environment: Mapping[str, str]) -> str:
    """The language: `asked` (`--lang`), else the first variable that is set, else English.

    Raises:
        Invalid: `asked` is none of `LANGUAGES`.
    """
    if asked is not None:
        if asked not in LANGUAGES:
            raise Invalid("--lang", f"{asked!r} is no language; use en or zh")
        return asked
    found = next((environment[name] for name in _VARIABLES if environment.get(name)), "")
    return "zh" if found.lower().startswith("zh") else "en"


def speak(language: str) -> None:
    """Say everything from here on in `language`."""
    _SPOKEN.set(language)


def spoken() -> str:
    """The language that is spoken."""
    return _SPOKEN.get()


def say(text: str, /, **values: object) -> str:
    """`text` in the spoken language, its `{names}` filled with `values`."""
    found = CHINESE.get(text, text) if spoken() == "zh" else text
    return found.format(**values) if values else found
