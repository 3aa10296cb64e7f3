"""The task graph of offloaded work: a value that operations change, and its text for Mermaid renderers."""

from memstrata.domain.canvas.graph import (
    STATUSES,
    Graph,
    Node,
    Status,
    counts,
    empty,
    file_name,
    progress,
    slug,
)
from memstrata.domain.canvas.limits import MOST_CHARACTERS, Fitted, within
from memstrata.domain.canvas.operations import (
    AddNode,
    Link,
    Merge,
    Operated,
    Operation,
    SetStatus,
    SetSummary,
    operate,
    patched,
    propose,
    with_progress,
)
from memstrata.domain.canvas.patches import LinePatch, patch
from memstrata.domain.canvas.text import parse, render

__all__ = [
    "MOST_CHARACTERS",
    "STATUSES",
    "AddNode",
    "Fitted",
    "Graph",
    "LinePatch",
    "Link",
    "Merge",
    "Node",
    "Operated",
    "Operation",
    "SetStatus",
    "SetSummary",
    "Status",
    "counts",
    "empty",
    "file_name",
    "operate",
    "parse",
    "patch",
    "patched",
    "progress",
    "propose",
    "render",
    "slug",
    "with_progress",
    "within",
]
