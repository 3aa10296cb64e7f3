"""What of the search can be switched off, to see what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SWITCHES: Final[Mapping[str, Mapping[str, object]]] = {
    "classic": {"search.profile": "classic"},
    "no-vectors": {"embedding.model": "none"},
}
"""By name: the settings without it. All else stays as it is by default."""
