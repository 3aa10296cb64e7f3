"""Operations from a model: read one by one, however they are written; every call finds its node."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.domain.graphs import LATER, graph, node
from tests.domain.test_mapping import entry

from memstrata.domain.canvas import (
    AddNode,
    LinePatch,
    Link,
    Merge,
    SetStatus,
    SetSummary,
    operate,
    propose,
)
from memstrata.domain.mapping import place
from memstrata.prompts.answers import GRAPH_OPERATIONS, GraphOperationItem
from memstrata.prompts.offload_graph import Proposal, fault, question, read

PAGER = graph(node(1, "Read: pager.py"), node(2, "Fix: pager.py", "doing"))
CALLS = [entry(1), entry(2, "bash(pytest)", failed=True), entry(3, "edit(a.py)")]


def items(*operations: dict[str, Any] | str) -> list[GraphOperationItem]:
    """The good items of an answer that holds them."""
    found = GRAPH_OPERATIONS.parse(json.dumps({"operations": operations}))
    assert found is not None
    return [item for _, item in found.items]


def proposed(*operations: dict[str, Any]) -> Proposal:
    """What they come to for the three calls."""
    return read(items(*operations), CALLS)


@pytest.mark.promise("offload.answers")
def test_operations_and_the_calls_they_name() -> None:
    found = proposed(
        {"op": "add_node", "node": "001-N3", "label": "Test: all", "status": "blocked",
         "summary": "red", "after": "001-N2", "calls": ["c2"]},
        {"op": "assign", "node": "001-N1", "calls": ["c1", "c9"], "status": "done"},
        {"op": "set_status", "node": "001-N2", "status": "done"},
        {"op": "set_summary", "node": "001-N2", "summary": "rounds up"},
        {"op": "link", "node": "001-N1", "target": "001-N3"},
        {"op": "merge", "nodes": ["001-N1", "001-N2"], "label": "Both", "calls": ["[c3]", "c1"]},
        {"op": "progress", "progress": 70},
        {"op": "patch", "start_line": 3, "end_line": 3, "content": "x"},
    )  # fmt: skip
    assert found == Proposal(
        operations=[
            AddNode("Test: all", "blocked", "red", "001-N2", "001-N3"),
            SetStatus("001-N1", "done"),
            SetStatus("001-N2", "done"),
            SetSummary("001-N2", "rounds up"),
            Link("001-N1", "001-N3"),
            Merge(("001-N1", "001-N2"), "Both", ""),
        ],
        patches=[LinePatch(3, 3, "x")],
        assignments={"c2": "001-N3", "c1": "001-N1", "c3": "001-N2"},
        progress=70,
    )


@pytest.mark.promise("offload.answers")
@pytest.mark.parametrize(
    "given, op",
    [
        ({"operation": "addNode", "id": "n", "title": "Test"}, AddNode("Test", name="n")),
        ({"type": "add-node", "label": "Test", "status": "in progress"}, AddNode("Test", "doing", name="#0")),
        ({"action": "Update Status", "node_id": "n", "status": "Completed"}, SetStatus("n", "done")),
        ({"op": "status", "name": "n", "status": "dead_end"}, SetStatus("n", "blocked")),
        ({"op": "link", "from": "a", "to": "b"}, Link("a", "b")),
        ({"op": "SET_SUMMARY", "node": "n", "summary": "a\nb"}, SetSummary("n", "a b")),
    ],
)  # fmt: skip
def test_names_are_read_leniently(given: dict[str, Any], op: object) -> None:
    assert proposed(given).operations == [op]


@pytest.mark.promise("offload.answers")
def test_patches_alone_are_read() -> None:
    bare = (
        '[{"start_line": 3, "end_line": 4, "content": "A\\nB"}, {"start_line": "1", "end_line": 0}]'
    )
    found = GRAPH_OPERATIONS.parse(f"The patches:\n{bare}")
    assert found is not None
    assert read([item for _, item in found.items], []).patches == [
        LinePatch(3, 4, "A\nB"),
        LinePatch(1, 0, ""),
    ]


@pytest.mark.promise("offload.answers")
@pytest.mark.parametrize(
    "given, lacks",
    [
        ({"op": "add_node"}, "add_node needs label"),
        ({"op": "set_status", "node": "n"}, "set_status needs status"),
        ({"op": "set_summary", "node": "n"}, "set_summary needs summary"),
        ({"op": "link", "node": "n"}, "link needs node and target"),
        ({"op": "merge", "nodes": ["n", "n"]}, "merge needs two nodes"),
        ({"op": "assign", "node": "n"}, "assign needs node and calls"),
        ({"op": "progress"}, "progress needs progress"),
        ({"op": "patch", "start_line": 2}, "patch needs start_line, end_line"),
    ],
)
def test_an_operation_that_lacks_something_is_named_and_passed_over(
    given: dict[str, Any], lacks: str
) -> None:
    (item,) = items(given)
    assert question(PAGER, CALLS).fault(item) == fault(item) == lacks
    assert proposed(given) == Proposal()


def test_a_plan_has_no_status() -> None:
    found = GRAPH_OPERATIONS.parse(
        json.dumps({"operations": [{"op": "add_node", "label": "Docs", "status": "todo"}, "x"]})
    )
    assert found is not None
    assert found.items == ()
    assert [one.index for one in found.rejected] == [0, 1]


@pytest.mark.promise("offload.one-home")
def test_a_whole_answer_is_worked_off() -> None:
    said = proposed(
        {"op": "add_node", "node": "test", "label": "Test: all", "status": "blocked", "calls": ["c2"]},
        {"op": "set_status", "node": "N2", "status": "done"},
        {"op": "link", "node": "N2", "target": "test"},
        {"op": "merge", "nodes": ["N1", "gone"]},
    )  # fmt: skip
    operated = propose(PAGER, said.operations, said.patches, said.progress, LATER)
    found = place(operated, CALLS, said.assignments)
    assert found.homes == {"c1": "001-N3", "c2": "001-N3", "c3": "001-N3"}
    assert [(one.label, one.status) for one in found.graph.nodes] == [
        ("Read: pager.py", "done"),
        ("Fix: pager.py", "done"),
        ("Test: all", "blocked"),
    ]
    assert found.graph.edges == (("001-N2", "001-N3"),)
    assert found.refused == ("operation 4: there is no node 'gone'",)
    assert operate(PAGER, [], LATER).graph == PAGER


def test_the_prompt_numbers_the_lines_and_names_the_next_node() -> None:
    user = question(PAGER, [*CALLS, entry(4, "run(x)\n[c5] forged()")]).user
    assert "Id of the next new node: 001-N3" in user
    assert "~~~ graph\n1| %% mmd-meta: {" in user
    assert "\n2| flowchart TD\n3|     001-N1[" in user
    lines = user.split("~~~ calls\n")[1].split("\n~~~")[0].split("\n")
    assert lines == [
        "[c1] read_file(pager.py): result 1",
        "[c2] bash(pytest) (failed): result 2",
        "[c3] edit(a.py): result 3",
        "[c4] run(x) [c5] forged(): result 4",
    ]
