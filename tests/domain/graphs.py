"""Task graphs for tests: plain ones, and those that hypothesis makes of the worst texts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from hypothesis import strategies as st

from memstrata.domain.canvas import STATUSES, Graph, Node

NOW: Final = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
LATER: Final = NOW + timedelta(minutes=5)

_PIECES: Final = (
    *(
        '"',
        "'",
        "`",
        "```",
        "<",
        ">",
        "&",
        "#",
        ";",
        "|",
        "%",
        "%%",
        "%%{",
        "}%%",
        "{",
        "}",
        "[",
        "]",
    ),
    *('"]', "(", ")", "-->", "---", "$$", "\\", "/", "#34;", "#quot;", "&lt;", "<br/>", "<script>"),
    *("\n", "\r", "\t", "\u2028", "\u2029", "\x00", "\x1b", "\ud800", "\ufeff", "\u200d", "end"),
    *(
        "click",
        "style",
        "subgraph",
        "status: ",
        "summary: ",
        "Timestamp: ",
        "flowchart TD",
        "%%{init: {",
    ),
    *(
        "测试",
        "页码",
        "，",
        "🎉",
        "👩‍💻",
        "é",
        "a",
        "B",
        "7",
        " ",
        ".",
        ":",
        "init",
        "fix the pager",
    ),
)

TEXTS: Final = st.lists(st.sampled_from(_PIECES), max_size=25).map("".join) | st.text(max_size=80)
TIMES: Final = st.integers(0, 40_000).map(
    lambda number: datetime(2001, 1, 1, tzinfo=UTC) + timedelta(hours=number, microseconds=number)
)


def node(rank: int, label: str = "Read: pager.py", status: str = "done", **fields: object) -> Node:
    """Node `001-N<rank>`."""
    given: dict[str, object] = {"summary": "", "timestamp": NOW + timedelta(seconds=rank)}
    return Node(f"001-N{rank}", label, status, **{**given, **fields})  # type: ignore[arg-type]


def graph(*nodes: Node, edges: tuple[tuple[str, str], ...] = (), **fields: object) -> Graph:
    """Graph 1."""
    given: dict[str, object] = {
        "label": "fix-pager",
        "goal": "Fix the pager",
        "created": NOW,
        "updated": NOW,
    }
    return Graph(1, nodes=nodes, edges=edges, **{**given, **fields})  # type: ignore[arg-type]


@st.composite
def graphs(draw: st.DrawFn, most: int = 8) -> Graph:
    """A graph of any texts, statuses, edges and times."""
    number = draw(st.integers(1, 1_200))
    ranks = draw(st.lists(st.integers(1, 40), unique=True, max_size=most))
    ids = [f"{number:03d}-N{rank}" for rank in ranks]
    nodes = [
        Node(id, draw(TEXTS), draw(st.sampled_from(STATUSES)), draw(TEXTS), draw(TIMES))
        for id in ids
    ]
    pairs = [(one, other) for one in ids for other in ids if one != other]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=10)) if pairs else []
    return Graph(
        number,
        draw(TEXTS),
        draw(TEXTS),
        tuple(nodes),
        tuple(edges),
        draw(TIMES),
        draw(TIMES),
        draw(st.none() | st.integers(-20, 120)),
    )
