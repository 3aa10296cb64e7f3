"""One document as one thread works on it: read, put before the model, saved, restored, emptied."""

from memstrata.pipelines.team_document.reading import (
    Limits,
    RevisionInfo,
    Shown,
    block,
    diff,
    entries,
    guidance,
    history,
    read,
)
from memstrata.pipelines.team_document.replacing import reset, restore, undo
from memstrata.pipelines.team_document.saving import SaveResult, save
from memstrata.pipelines.team_document.thread import Thread
from memstrata.pipelines.team_document.tool import update_memory

__all__ = [
    "Limits",
    "RevisionInfo",
    "SaveResult",
    "Shown",
    "Thread",
    "block",
    "diff",
    "entries",
    "guidance",
    "history",
    "read",
    "reset",
    "restore",
    "save",
    "undo",
    "update_memory",
]
