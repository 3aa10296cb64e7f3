"""Regular expressions that compile when they are first used.

Tables of hundreds of patterns took half a second of every start; most commands use none of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any


class Regex:
    """A pattern with the methods of `re.Pattern` that we use.

    Raises:
        re.error: at first use, when the pattern is none.
    """

    __slots__ = ("_compiled", "flags", "pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern, made once."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self.flags)
        return self._compiled

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As `re.Pattern.match`."""
        return self.compiled.match(text, start, end)

    def fullmatch(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As `re.Pattern.fullmatch`."""
        return self.compiled.fullmatch(text, start, end)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        return self.compiled.search(text, start, end)

    def finditer(
        self, text: str, start: int = 0, end: int = sys.maxsize
    ) -> Iterator[re.Match[str]]:
        """As `re.Pattern.finditer`."""
        return self.compiled.finditer(text, start, end)

    def findall(self, text: str) -> list[Any]:
        """As `re.Pattern.findall`."""
        return self.compiled.findall(text)

    def split(self, text: str, most: int = 0) -> list[str | Any]:
        """As `re.Pattern.split`."""
        return self.compiled.split(text, most)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, most: int = 0) -> str:
        """As `re.Pattern.sub`."""
        return self.compiled.sub(new, text, most)
