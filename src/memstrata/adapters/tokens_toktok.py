"""Exact token counts, offline: toktok carries its tables."""

from __future__ import annotations

from typing import Final

from memstrata.errors import Invalid

BUNDLED: Final = ("cl100k_base", "o200k_base", "o200k_harmony", "qwen3.5")
"""The encodings that toktok counts exactly. Its `jev` is an estimate, so not one of them."""


class ToktokTokenizer:
    """`Tokenizer` over one of the bundled encodings; the first count loads its table.

    Raises:
        Invalid: no encoding of that name is bundled.
    """

    def __init__(self, name: str = "o200k_base") -> None:
        if name not in BUNDLED:
            raise Invalid(
                "tokens.tokenizer", f"{name!r} is not bundled; use one of {', '.join(BUNDLED)}"
            )
        self.name = name

    def count(self, text: str) -> int:
        """Tokens of `text`, 0 for none; a special token's name in it counts as plain text."""
        import toktok  # megabytes of tables: most commands never count

        # One thread: texts are short, and a pool would cost more than it saves.
        found: list[int] = toktok.batch_count([text], self.name, threads=1)
        return found[0]
