"""The short-term memory of one long task: results archived, summarised, mapped, folded, and read again."""

from memstrata.pipelines.offload.archive import record
from memstrata.pipelines.offload.asking import Answered, due, give_up, left, work
from memstrata.pipelines.offload.assembling import Assembled, Report, assemble
from memstrata.pipelines.offload.host import Cache, Counter, Host, limits, parse_cache, parse_window
from memstrata.pipelines.offload.reading import (
    MOST_LINES,
    Opened,
    Recalled,
    all_tasks,
    open_task,
    recall,
    sessions_of,
    tasks,
    text,
)
from memstrata.pipelines.offload.tools import TOOLS, call
from memstrata.pipelines.sessions import Spot

__all__ = [
    "MOST_LINES",
    "TOOLS",
    "Answered",
    "Assembled",
    "Cache",
    "Counter",
    "Host",
    "Opened",
    "Recalled",
    "Report",
    "Spot",
    "all_tasks",
    "assemble",
    "call",
    "due",
    "give_up",
    "left",
    "limits",
    "open_task",
    "parse_cache",
    "parse_window",
    "recall",
    "record",
    "sessions_of",
    "tasks",
    "text",
    "work",
]
