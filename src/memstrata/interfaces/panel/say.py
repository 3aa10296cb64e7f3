"""Every text of the panel in English and Chinese. The English text is the key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from memstrata.interfaces.panel.chinese import CHINESE

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")
QUASAR: Final = {"en": "en-US", "zh": "zh-CN"}
"""What a page says of its language."""


@dataclass(frozen=True, slots=True)
class Say:
    """Says texts in one language."""

    language: Language

    def __call__(self, text: str, /, **values: object) -> str:
        """`text`, its `{names}` filled with `values`."""
        found = CHINESE.get(text, text) if self.language == "zh" else text
        return found.format(**values) if values else found


def preferred(cookie: str | None, accepted: str) -> Language:
    """The language that was chosen, else the first of the browser's that there is, else English."""
    if cookie in LANGUAGES:
        return "zh" if cookie == "zh" else "en"
    for one in accepted.split(","):
        name = one.partition(";")[0].strip().lower()
        if name.startswith(LANGUAGES):
            return "zh" if name.startswith("zh") else "en"
    return "en"
