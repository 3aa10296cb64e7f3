"""The task graph: text and back, patches whole or not at all, operations one by one, limits always."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.graphs import LATER, NOW, TEXTS, TIMES, graph, graphs, node

from memstrata.domain import canvas
from memstrata.domain.canvas import (
    MOST_CHARACTERS,
    STATUSES,
    AddNode,
    Graph,
    LinePatch,
    Link,
    Merge,
    Operation,
    SetStatus,
    SetSummary,
    counts,
    file_name,
    operate,
    parse,
    patch,
    patched,
    progress,
    render,
    slug,
    within,
)
from memstrata.errors import Invalid

PAGER = graph(
    node(1, "Explore: read the failing test", summary="off-by-one in pager"),
    node(2, "Fix: pager.py", "doing"),
    edges=(("001-N1", "001-N2"),),
)
PAGER_TEXT = """\
%% mmd-meta: {"taskGoal":"Fix the pager","progress":50,"createdTime":"2026-11-30T09:00:00Z","updatedTime":"2026-11-30T09:00:00Z"}
flowchart TD
    001-N1["Explore: read the failing test<br/>status: done<br/>summary: off-by-one in pager<br/>Timestamp: 2026-11-30T09:00:01Z"]
    001-N2["Fix: pager.py<br/>status: doing<br/>summary: <br/>Timestamp: 2026-11-30T09:00:02Z"]
    001-N1 --> 001-N2"""  # noqa: E501
IDS = st.sampled_from([*(f"001-N{rank}" for rank in range(1, 9)), "N2", "new", "other", ""])
OPERATIONS: st.SearchStrategy[Operation] = st.one_of(
    st.builds(AddNode, TEXTS, st.sampled_from(STATUSES), TEXTS, IDS, IDS),
    st.builds(SetStatus, IDS, st.sampled_from(STATUSES)),
    st.builds(SetSummary, IDS, TEXTS),
    st.builds(Link, IDS, IDS),
    st.builds(Merge, st.lists(IDS, max_size=4).map(tuple), TEXTS, TEXTS),
)
PATCHES = st.builds(
    LinePatch, st.integers(-1, 9), st.integers(-2, 12), st.sampled_from(["", "X", "X\nY", "\n"])
)


# -- text -------------------------------------------------------------------------------------------


@pytest.mark.promise("offload.graph-text")
def test_the_text_of_a_graph() -> None:
    assert render(PAGER) == PAGER_TEXT
    assert parse(PAGER_TEXT, "001-fix-pager.mmd") == PAGER
    assert file_name(PAGER) == "001-fix-pager.mmd"
    assert progress(PAGER) == 50
    assert counts(PAGER) == {"done": 1, "doing": 1, "paused": 0, "blocked": 0}


@pytest.mark.promise("offload.graph-text")
@settings(max_examples=200)
@given(graphs())
def test_a_graph_read_back_is_the_same(one: Graph) -> None:
    text = render(one)
    assert parse(text, file_name(one)) == one
    assert render(parse(text, file_name(one))) == text
    assert len(text.splitlines()) == len(text.split("\n")) == 2 + len(one.nodes) + len(one.edges)


@pytest.mark.promise("offload.graph-text")
@settings(max_examples=100)
@given(graphs())
def test_no_text_can_pass_for_syntax(one: Graph) -> None:
    head, _, *lines = render(one).split("\n")
    assert "```" not in render(one)
    assert json.loads(head.removeprefix("%% mmd-meta: "))["taskGoal"] == one.goal
    assert "%" not in head.removeprefix("%% mmd-meta: ")
    for line in lines[: len(one.nodes)]:
        inner = line.partition('["')[2].removesuffix('"]')
        assert '"' not in inner
        assert "%%" not in inner
        assert "%{" not in inner
        assert inner.count("<") == inner.count("<br/>") == 3


def test_the_directive_of_the_original_format_is_read() -> None:
    _, _, rest = PAGER_TEXT.partition("\n")
    meta = '"taskGoal": "Fix the pager", "progress": 80,\n"updatedTime": "2026-11-30T10:00:00Z"'
    for head in (f"%%{{ {meta} }}%%", f"%%{{\nmmd-meta: {{{meta}}}\n}}%%"):
        found = parse(f"{head}\n{rest}")
        assert (found.number, found.goal, progress(found)) == (1, "Fix the pager", 80)
        assert found.created == NOW + timedelta(seconds=1)  # its first node's
        assert [one.label for one in found.nodes] == [one.label for one in PAGER.nodes]


def test_what_other_writers_put_there_is_read() -> None:
    text = """
%% mmd-meta: {"taskGoal":"x","updatedTime":"2026-11-30T09:00:00Z"}
graph LR;
  %% a comment
  classDef blocked fill:#f00;
  001-N1["Read <BR>Status: DONE<br />it says #quot;no#quot;"]
  001-N2["Try<br/>status:doing<br/>summary: a<br/>b"];
  001-N3["C<br/>status: paused"]
  001-N1 -->|then| 001-N2 -.-> 001-N3
  style 001-N1 fill:#fff
"""
    found = parse(text)
    assert [(one.label, one.status, one.summary) for one in found.nodes] == [
        ("Read", "done", 'it says "no"'),
        ("Try", "doing", "a b"),
        ("C", "paused", ""),
    ]
    assert found.edges == (("001-N1", "001-N2"), ("001-N2", "001-N3"))
    assert found.nodes[2].timestamp == NOW


@pytest.mark.parametrize(
    "line, problem",
    [
        ('001-N2["x<br/>status: done"]', "stands twice"),
        ('002-N3["x<br/>status: done"]', "is not of graph 001"),
        ('001-N3["x<br/>status: todo"]', "the status is one of done, doing, paused, blocked"),
        ('001-N3["x"]', "the status is one of"),
        ("001-N1 --> 001-N9", "names 001-N9"),
        ("001-N1 --> ", "is neither a node nor an edge"),
        ("001-N3[x]", "is neither a node nor an edge"),
        ('001-N3["x" y"', "is neither a node nor an edge"),
        ("```", "is neither a node nor an edge"),
    ],
)
def test_a_wrong_line_is_named(line: str, problem: str) -> None:
    with pytest.raises(Invalid, match=problem):
        parse(f"{PAGER_TEXT}\n    {line}")


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "has no line"),
        ("%% only a comment", "has no line"),
        ("sequenceDiagram\nA->>B: hi", "expected `flowchart TD`"),
        ("flowchart TD", "has neither a head"),
        ("%% mmd-meta: {nonsense}\nflowchart TD", "is no JSON"),
        ("%%{ [1] }%%\nflowchart TD", "is no JSON"),
        ('%% mmd-meta: {"updatedTime":"soon"}\nflowchart TD', "is no ISO 8601 time"),
        ('flowchart TD\n001-N1["x<br/>status: done"]', "has no Timestamp"),
    ],
)
def test_a_text_that_is_no_graph(text: str, problem: str) -> None:
    with pytest.raises(Invalid, match=problem):
        parse(text)


def test_a_file_must_be_named_like_one() -> None:
    with pytest.raises(Invalid, match="is not named"):
        parse(PAGER_TEXT, "pager.mmd")


@given(st.text() | TEXTS)
def test_any_text_is_a_graph_or_invalid(text: str) -> None:
    for given_text in (text, f"{PAGER_TEXT}\n{text}", f"%%{{{text}}}%%\nflowchart TD"):
        try:
            parse(given_text)
        except Invalid:
            continue


# -- names and progress -----------------------------------------------------------------------------


@pytest.mark.promise("offload.names")
@pytest.mark.parametrize(
    "text, label",
    [
        ("Fix the Pager!", "fix-the-pager"),
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c", "a-b-c"),
        ("Crème brûlée", "creme-brulee"),
        ("修复分页", "task"),
        ("修复 pager 分页", "pager"),
        ("", "task"),
        (".hidden", "hidden"),
        ("investigate the slow database migration", "investigate-the-slow-database"),
        ("x" * 99, "x" * 30),
    ],
)
def test_labels(text: str, label: str) -> None:
    assert slug(text) == label


@pytest.mark.promise("offload.names")
@given(st.text() | TEXTS)
def test_no_label_leaves_its_folder(text: str) -> None:
    name = file_name(replace(PAGER, label=text))
    assert set(name) <= set("0123456789abcdefghijklmnopqrstuvwxyz-.")
    assert name.count(".") == 1
    assert len(name) <= 4 + 30 + 4
    assert slug(slug(text)) == slug(text)


@pytest.mark.promise("offload.progress")
def test_progress_is_counted_unless_given_and_clamped() -> None:
    third = graph(node(1), node(2, status="doing"), node(3, status="blocked"))
    assert progress(third) == 33
    assert progress(graph()) == 0
    for said, shown in ((40, 40), (-5, 0), (130, 100), (None, 33)):
        found = canvas.with_progress(third, said, LATER)
        assert progress(found) == shown
        assert f'"progress":{shown},' in render(found)
        assert (found.updated == LATER) == (said is not None)


# -- patches ----------------------------------------------------------------------------------------


@pytest.mark.promise("offload.patches")
@pytest.mark.parametrize(
    "patches, made",
    [
        ([(2, 2, "B")], "a/B/c"),
        ([(2, 1, "X\nY")], "a/X/Y/b/c"),
        ([(4, 3, "D")], "a/b/c/D"),
        ([(4, 4, "D")], "a/b/c/D"),
        ([(2, 99, "Z")], "a/Z"),
        ([(1, 1, "A1\nA2"), (3, 3, "")], "A1/A2/b"),
        ([(3, 3, ""), (1, 1, "A1\nA2")], "A1/A2/b"),
        ([(2, 2, "B"), (2, 1, "X"), (2, 1, "Y")], "a/X/Y/B/c"),
        ([(1, 0, "top"), (1, 1, "A\n")], "top/A/b/c"),
        ([(1, 3, "")], ""),
        ([], "a/b/c"),
    ],
)
def test_patches_number_the_lines_as_they_stand(
    patches: list[tuple[int, int, str]], made: str
) -> None:
    assert patch("a\nb\nc", [LinePatch(*one) for one in patches]) == made.replace("/", "\n")


@pytest.mark.promise("offload.patches")
@pytest.mark.parametrize(
    "patches, problem",
    [
        ([(9, 9, "Z"), (1, 1, "A")], r"patches\[0\].start_line: 9 is not from 1 to 4"),
        ([(1, 1, "A"), (0, 1, "Z")], r"patches\[1\].start_line: 0"),
        ([(1, 2, "X"), (2, 3, "Y")], r"patches\[1\]: overlaps"),
        ([(2, 3, "Y"), (1, 2, "X")], r"patches\[0\]: overlaps"),
        ([(1, 3, "X"), (2, 1, "Y")], r"patches\[1\]: overlaps"),
    ],
)
def test_a_bad_patch_refuses_all(patches: list[tuple[int, int, str]], problem: str) -> None:
    with pytest.raises(Invalid, match=problem):
        patch("a\nb\nc", [LinePatch(*one) for one in patches])


@pytest.mark.promise("offload.patches")
@settings(max_examples=200)
@given(st.lists(PATCHES, max_size=4))
def test_every_patch_holds_or_none_does(patches: list[LinePatch]) -> None:
    """The oracle: taken one by one from the bottom, each in a list of lines."""
    lines = list("abcdef")
    spans = [(one.start - 1, max(one.start - 1, min(one.end, 6)), one) for one in patches]
    good = all(1 <= one.start <= 7 for one in patches) and not any(
        first < other_end and other_first < end
        for at, (first, end, _) in enumerate(spans)
        for other_first, other_end, _ in spans[at + 1 :]
    )
    if not good:
        with pytest.raises(Invalid):
            patch("\n".join(lines), patches)
        return
    numbered = sorted(enumerate(spans), key=lambda one: (one[1][0], one[1][1], one[0]))
    for _, (first, end, one) in reversed(numbered):
        lines[first:end] = one.lines
    assert patch("\n".join("abcdef"), patches) == "\n".join(lines)


@pytest.mark.promise("offload.patches")
def test_patches_redraw_a_graph() -> None:
    done = '    001-N2["Fix: pager.py<br/>status: done<br/>summary: it pages"]'
    added = '    001-N3["Test: all<br/>status: done"]'
    found = patched(PAGER, [LinePatch(4, 4, f"{done}\n{added}")], LATER)
    assert [(one.id, one.status) for one in found.graph.nodes] == [
        ("001-N1", "done"),
        ("001-N2", "done"),
        ("001-N3", "done"),
    ]
    assert found.graph.updated == LATER
    assert (found.graph.created, found.graph.goal) == (PAGER.created, PAGER.goal)
    assert progress(found.graph) == 100
    head = PAGER_TEXT.split("\n")[0].replace(":50,", ":70,")
    assert progress(patched(PAGER, [LinePatch(1, 1, head)], LATER).graph) == 70
    known = canvas.with_progress(PAGER, 30, NOW)
    assert progress(patched(known, [LinePatch(4, 4, done)], LATER).graph) == 30


@pytest.mark.promise("offload.patches")
@pytest.mark.parametrize(
    "one, problem",
    [
        (LinePatch(3, 3, "001-N1[broken]"), "neither a node nor an edge"),
        (LinePatch(3, 3, ""), "names 001-N1"),
        (LinePatch(4, 5, ""), "001-N2 must stay"),
        (LinePatch(2, 2, "pie"), "expected `flowchart TD`"),
    ],
)
def test_what_does_not_parse_is_refused_whole(one: LinePatch, problem: str) -> None:
    found = patched(PAGER, [one], LATER)
    assert found.graph == PAGER
    assert problem in found.refused[0]


def test_a_node_that_is_patched_away_went_to_the_one_before_it() -> None:
    three = graph(node(1), node(2), node(3))
    assert patched(three, [LinePatch(4, 4, "")], LATER).moved == {"001-N2": "001-N1"}
    assert patched(three, [LinePatch(3, 4, "")], LATER).moved == {
        "001-N1": "001-N3",
        "001-N2": "001-N3",
    }
    assert patched(three, [LinePatch(3, 3, render(three).split("\n")[2])], LATER).graph == three


# -- operations -------------------------------------------------------------------------------------


@pytest.mark.promise("offload.operations")
def test_operations_are_applied_and_the_bad_ones_named() -> None:
    found = operate(
        PAGER,
        [
            AddNode("Test: all pages", "blocked", "still red", "N2", "run"),
            SetStatus("001-N2", "done"),
            SetStatus("001-N9", "done"),
            AddNode("TODO: write docs"),
            AddNode(""),
            SetSummary("run", "red on page 3"),
            Link("001-N1", "run"),
            Link("run", "run"),
            AddNode("Again", name="run"),
            Merge(("001-N1",)),
        ],
        LATER,
    )
    assert [(one.id, one.status, one.summary) for one in found.graph.nodes] == [
        ("001-N1", "done", "off-by-one in pager"),
        ("001-N2", "done", ""),
        ("001-N3", "blocked", "red on page 3"),
    ]
    assert found.graph.edges == (
        ("001-N1", "001-N2"),
        ("001-N2", "001-N3"),
        ("001-N1", "001-N3"),
    )
    assert (found.home("run"), found.home("N3"), found.home("nowhere")) == ("001-N3", "001-N3", "")
    assert found.refused == (
        "operation 3: there is no node '001-N9'",
        "operation 4: a node is what happened, not a plan",
        "operation 5: a node needs a label",
        "operation 8: a node does not lead to itself",
        "operation 9: there is a node 'run' already",
        "operation 10: a merge takes two nodes or more",
    )


@pytest.mark.promise("offload.operations")
def test_a_merge_keeps_the_newest_id_and_its_edges() -> None:
    three = graph(
        node(1, "A", summary="one"),
        node(2, "B", "blocked", summary="two"),
        node(3, "C"),
        edges=(("001-N1", "001-N2"), ("001-N2", "001-N3")),
    )
    found = operate(three, [Merge(("N1", "001-N2")), Merge(("001-N1", "N3"), "Both", "all")], LATER)
    assert [(one.id, one.label, one.summary, one.status) for one in found.graph.nodes] == [
        ("001-N3", "Both", "all", "blocked")
    ]
    assert found.graph.edges == ()
    assert found.moved == {"001-N1": "001-N3", "001-N2": "001-N3"}
    assert operate(found.graph, [AddNode("D")], LATER).graph.nodes[-1].id == "001-N4"
    joined = operate(three, [Merge(("N1", "001-N2"))], LATER).graph.nodes[0]
    assert (joined.label, joined.summary) == ("A; B", "one; two")


def test_what_changes_nothing_leaves_the_text_as_it_is() -> None:
    same: list[Operation] = [
        SetStatus("001-N1", "done"),
        Link("001-N1", "001-N2"),
        SetSummary("001-N2", ""),
    ]
    assert operate(PAGER, same, LATER).graph == PAGER
    assert operate(PAGER, [], LATER).graph == PAGER


@pytest.mark.promise("offload.operations")
def test_one_answer_may_patch_and_operate() -> None:
    line = '    001-N2["Fix: pager.py<br/>status: done<br/>summary: it pages"]'
    ops = [AddNode("Test: all", after="001-N2")]
    found = canvas.propose(PAGER, ops, [LinePatch(4, 4, line)], 90, LATER)
    assert [one.status for one in found.graph.nodes] == ["done", "done", "done"]
    assert progress(found.graph) == 90
    refused = canvas.propose(PAGER, ops, [LinePatch(40, 4, line)], None, LATER)
    assert [one.status for one in refused.graph.nodes] == ["done", "doing", "done"]
    assert refused.refused == ("patches: patches[0].start_line: 40 is not from 1 to 6",)


@pytest.mark.promise("offload.operations")
@settings(max_examples=200)
@given(graphs(), st.lists(OPERATIONS, max_size=8), st.lists(PATCHES, max_size=2), TIMES)
def test_any_operations_leave_a_whole_graph(
    one: Graph, operations: list[Operation], patches: list[LinePatch], now: datetime
) -> None:
    one = replace(one, number=1) if not one.nodes else one
    found = canvas.propose(one, operations, patches, None, now)
    text = render(found.graph)
    assert len(text) <= MOST_CHARACTERS
    assert parse(text, file_name(one)) == found.graph
    kept = {node.id for node in found.graph.nodes}
    assert all(found.moved[node.id] in kept for node in one.nodes if node.id not in kept)
    assert not kept & found.moved.keys()
    assert all(found.home(name) in {*kept} for name in found.named)
    if one.newest and found.graph.newest:
        assert found.graph.newest.rank >= one.newest.rank


# -- limits -----------------------------------------------------------------------------------------


@pytest.mark.promise("offload.graph-limits")
def test_the_oldest_done_nodes_are_merged_first() -> None:
    many = [node(rank, f"Read: file {rank}", summary="s" * 140) for rank in range(1, 31)]
    many[1] = node(2, "Try: another way", "blocked", summary="dead end")
    edges = tuple((f"001-N{rank}", f"001-N{rank + 1}") for rank in range(1, 30))
    found = within(graph(*many, edges=edges))
    assert len(render(found.graph)) <= MOST_CHARACTERS
    assert found.graph.node("001-N2") is not None
    assert found.graph.nodes[-1] == many[-1]
    oldest = found.graph.nodes[1]
    assert set(found.moved.values()) == {oldest.id}
    assert found.moved.keys() == {f"001-N{rank}" for rank in range(1, oldest.rank) if rank != 2}
    assert oldest.label.startswith("Read: file 1")
    assert len(oldest.summary) <= 150
    assert within(found.graph).moved == {}


@pytest.mark.promise("offload.graph-limits")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(TEXTS, st.sampled_from(STATUSES), TEXTS), min_size=20, max_size=60),
    TEXTS,
)
def test_the_limit_holds_whatever_the_nodes_are(
    parts: list[tuple[str, str, str]], goal: str
) -> None:
    nodes = [
        node(rank, label * 9, status, summary=summary * 9)
        for rank, (label, status, summary) in enumerate(parts, start=1)
    ]
    found = within(graph(*nodes, goal=goal * 9))
    assert len(render(found.graph)) <= MOST_CHARACTERS
    assert all(len(one.summary) <= 150 for one in found.graph.nodes)
    kept = {one.id for one in found.graph.nodes}
    assert all(one.id in kept or found.moved[one.id] in kept for one in nodes)


def test_texts_are_made_to_fit() -> None:
    one = node(1, "a\nb\t c" + "x" * 99, summary="y" * 151)
    assert len(one.label) == 80
    assert one.label.startswith("a b cx")
    assert one.summary == "y" * 149 + "…"
    local = datetime(2026, 11, 30, 10, 0, 0, 999, tzinfo=UTC)
    assert replace(one, timestamp=local).timestamp == local.replace(microsecond=0)
