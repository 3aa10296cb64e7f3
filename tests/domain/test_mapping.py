"""Every call has exactly one home, whatever the model forgot; without a model a node for each run of calls."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.graphs import LATER, NOW, graph, graphs, node

from memstrata.domain.canvas import (
    MOST_CHARACTERS,
    AddNode,
    Graph,
    Merge,
    empty,
    operate,
    render,
)
from memstrata.domain.mapping import Placed, backfill, by_rules, place
from memstrata.domain.offload_entry import Entry


def entry(number: int, call: str = "read_file(pager.py)", *, failed: bool = False) -> Entry:
    """Call `c<number>`."""
    return Entry(
        timestamp=NOW + timedelta(seconds=number),
        node_id="",
        tool_call=call,
        summary=f"result {number}",
        result_ref=f"refs/c{number}.md",
        tool_call_id=f"c{number}",
        score=5,
        failed=failed,
    )


FIVE = [entry(number) for number in range(1, 6)]
CALLS = st.lists(
    st.tuples(
        st.sampled_from(
            ["bash(pytest -x)", "bash(pytest)", "open(a.py)", "open(b.py; line=3)", "x"]
        ),
        st.booleans(),
    ),
    max_size=40,
)
ASSIGNMENTS = st.dictionaries(
    st.sampled_from(["c1", "c2", "c3", "c9"]),
    st.sampled_from(["001-N1", "001-N2", "001-N9", "N1", "new", ""]),
)


def statuses(found: Graph) -> list[tuple[str, str]]:
    """Label and status of every node."""
    return [(one.label, one.status) for one in found.nodes]


# -- homes ------------------------------------------------------------------------------------------


@pytest.mark.promise("offload.one-home")
def test_what_was_forgotten_goes_to_the_most_frequent_node() -> None:
    two = graph(node(1), node(2), node(3))
    given_two = {"c1": "001-N1", "c2": "001-N2", "c3": "001-N1", "c9": "001-N3"}
    homes = backfill(two, FIVE, given_two).homes
    assert homes == {
        "c1": "001-N1",
        "c2": "001-N2",
        "c3": "001-N1",
        "c4": "001-N1",
        "c5": "001-N1",
    }
    even = {"c1": "001-N1", "c2": "001-N2"}
    assert backfill(two, FIVE, even).homes["c5"] == "001-N2"


@pytest.mark.promise("offload.one-home")
def test_without_any_it_is_the_newest_node_else_a_new_one() -> None:
    two = graph(node(1), node(2))
    assert set(backfill(two, FIVE, {"c1": "001-N7"}).homes.values()) == {"001-N2"}
    found = backfill(empty(1, "x", "x", NOW), FIVE, {})
    assert set(found.homes.values()) == {"001-N1"}
    assert statuses(found.graph) == [("read_file: pager.py", "done")]


@pytest.mark.promise("offload.one-home")
def test_calls_may_be_assigned_by_the_names_a_model_gave() -> None:
    before = graph(node(1), node(2))
    operated = operate(
        before,
        [AddNode("Fix: pager", name="fix"), AddNode(""), Merge(("N1", "N2"), "Read: all")],
        LATER,
    )
    found = place(operated, FIVE, {"c1": "fix", "c2": "N1", "c3": "001-N1", "c4": "N2", "c9": "x"})
    assert found.homes == {
        "c1": "001-N3",
        "c2": "001-N2",
        "c3": "001-N2",
        "c4": "001-N2",
        "c5": "001-N2",
    }
    assert found.moved == {"001-N1": "001-N2"}
    assert found.refused == ("operation 2: a node needs a label",)


def whole(found: Placed, entries: list[Entry]) -> None:
    """Each entry has a node that is there, and the graph fits."""
    ids = {one.id for one in found.graph.nodes}
    assert found.homes.keys() == {one.tool_call_id for one in entries}
    assert set(found.homes.values()) <= ids
    assert set(found.moved.values()) <= ids
    assert len(render(found.graph)) <= MOST_CHARACTERS


@pytest.mark.promise("case.o5")
@pytest.mark.promise("offload.one-home")
@settings(max_examples=100)
@given(graphs(), CALLS, ASSIGNMENTS)
def test_every_call_has_exactly_one_home(
    one: Graph, calls: list[tuple[str, bool]], assignments: dict[str, str]
) -> None:
    entries = [entry(at, call, failed=failed) for at, (call, failed) in enumerate(calls, start=1)]
    operated = operate(one, [AddNode("Read: it", name="new")], LATER)
    whole(place(operated, entries, assignments), entries)
    whole(backfill(one, entries, assignments), entries)
    whole(by_rules(one, entries), entries)


# -- without a model --------------------------------------------------------------------------------


@pytest.mark.promise("offload.rules-graph")
def test_a_node_for_each_run_of_calls_to_a_tool_on_a_target() -> None:
    calls = ["open(a.py)", "open(a.py; line=9)", "open(b.py)", "bash(cd src && pytest -x | tail)"]
    calls += ["bash(pytest --lf)", "open(a.py)"]
    found = by_rules(
        empty(1, "x", "x", NOW), [entry(at, call) for at, call in enumerate(calls, start=1)]
    )
    assert statuses(found.graph) == [
        ("open: a.py", "done"),
        ("open: b.py", "done"),
        ("bash: pytest", "done"),
        ("open: a.py", "done"),
    ]
    assert [*found.homes.values()] == [f"001-N{rank}" for rank in (1, 1, 2, 3, 3, 4)]
    assert found.graph.edges == (
        ("001-N1", "001-N2"),
        ("001-N2", "001-N3"),
        ("001-N3", "001-N4"),
    )
    assert found.graph.nodes[0].summary == "result 2"
    assert found.graph.updated == NOW + timedelta(seconds=6)


def test_a_run_goes_on_in_the_next_batch() -> None:
    first = by_rules(empty(1, "x", "x", NOW), FIVE[:2])
    second = by_rules(first.graph, FIVE[2:])
    assert set(second.homes.values()) == {"001-N1"}
    assert second.graph.nodes[0].summary == "result 5"


@pytest.mark.promise("case.o6")
@pytest.mark.promise("offload.rules-graph")
def test_a_way_that_failed_is_blocked_and_the_one_that_worked_is_done() -> None:
    found = by_rules(
        empty(1, "x", "x", NOW),
        [
            entry(1, "open(setup.py)"),
            entry(2, "bash(pip install frobnicate)", failed=True),
            entry(3, "bash(apt-get install python3-frobnicate)"),
        ],
    )
    assert statuses(found.graph) == [
        ("open: setup.py", "done"),
        ("bash: pip install frobnicate", "blocked"),
        ("bash: apt-get install python3-frobnicate", "done"),
    ]
    assert found.graph.edges == (("001-N1", "001-N2"), ("001-N1", "001-N3"))


@pytest.mark.promise("offload.rules-graph")
def test_the_same_call_that_works_later_was_no_dead_end() -> None:
    first = by_rules(
        empty(1, "x", "x", NOW), [entry(1, "bash(make)", failed=True), entry(2, "edit(Makefile)")]
    )
    assert statuses(first.graph)[0] == ("bash: make", "blocked")
    second = by_rules(first.graph, [entry(3, "bash(make -j2)")])
    assert statuses(second.graph) == [
        ("bash: make", "done"),
        ("edit: Makefile", "done"),
        ("bash: make", "done"),
    ]
    again = by_rules(
        empty(1, "x", "x", NOW), [entry(1, "bash(make)", failed=True), entry(2, "bash(make)")]
    )
    assert statuses(again.graph) == [("bash: make", "done")]


def test_a_long_task_stays_within_the_limit() -> None:
    entries = [entry(at, f"open(src/module_{at}.py)") for at in range(1, 200)]
    found = by_rules(empty(1, "x", "x", NOW), entries)
    whole(found, entries)
    assert found.graph.nodes[-1].label == "open: src/module_199.py"
    more = by_rules(found.graph, [entry(200, "open(last.py)")])
    assert more.graph.nodes[-1].rank == 200
