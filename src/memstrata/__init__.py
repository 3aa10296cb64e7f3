"""memstrata: the memory of AI agents. Public names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memstrata.bootstrap import AsyncMemory as AsyncMemory
    from memstrata.bootstrap import Memory as Memory
    from memstrata.errors import Conflict as Conflict
    from memstrata.errors import Corrupt as Corrupt
    from memstrata.errors import Denied as Denied
    from memstrata.errors import Internal as Internal
    from memstrata.errors import Invalid as Invalid
    from memstrata.errors import MemstrataError as MemstrataError
    from memstrata.errors import ModelFailed as ModelFailed
    from memstrata.errors import NotFound as NotFound
    from memstrata.errors import OutcomeUnknown as OutcomeUnknown
    from memstrata.errors import Refused as Refused
    from memstrata.errors import Unavailable as Unavailable
    from memstrata.settings import Settings as Settings

__version__ = "0.1.0"

_HOMES = {
    "Memory": "memstrata.bootstrap",
    "AsyncMemory": "memstrata.bootstrap",
    "Settings": "memstrata.settings",
} | dict.fromkeys(
    (
        "Conflict",
        "Corrupt",
        "Denied",
        "Internal",
        "Invalid",
        "MemstrataError",
        "ModelFailed",
        "NotFound",
        "OutcomeUnknown",
        "Refused",
        "Unavailable",
    ),
    "memstrata.errors",
)
__all__ = [
    "AsyncMemory",
    "Conflict",
    "Corrupt",
    "Denied",
    "Internal",
    "Invalid",
    "Memory",
    "MemstrataError",
    "ModelFailed",
    "NotFound",
    "OutcomeUnknown",
    "Refused",
    "Settings",
    "Unavailable",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'memstrata' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
