"""How long a document may be, in characters (code points) of its rendered form."""

from __future__ import annotations

from typing import Final

SOFT: Final = 18_000
"""Above it the agent is warned."""
HARD: Final = 25_000
"""Nothing longer is stored."""
INPUT: Final = 50_000
"""Nothing longer is read: no rewriting makes two documents one."""
SHORT: Final = 40
"""A text without heading or entry that is no longer says that there is nothing to save."""
