"""The log sink: one line an event on the logger `memstrata`. Ids, names and counts only."""

from __future__ import annotations

import json
import logging

from memstrata.events import Event

_LOGGER = logging.getLogger("memstrata")
_LOGGER.addHandler(logging.NullHandler())


def sink(event: Event) -> None:
    """Log `event`: a degradation as a warning, the rest as info."""
    level = logging.WARNING if event.degraded else logging.INFO
    if _LOGGER.isEnabledFor(level):
        _LOGGER.log(
            level, "%s %s", event.name, json.dumps(event.fields, ensure_ascii=False, default=str)
        )
