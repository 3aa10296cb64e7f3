"""Where a task ends: the table of transitions, and the judgement without a model."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.graphs import NOW, graph, node

from memstrata.domain.boundary import (
    Activate,
    Deactivate,
    Judgement,
    Keep,
    Start,
    Transition,
    by_rules,
    decide,
)
from memstrata.domain.canvas import Graph, empty, file_name

PAGER = graph(node(1, "Read: src/pager.py", summary="off-by-one on the last page"))
INVOICE = empty(2, "invoice-export", "Export invoices of the shop as PDF", NOW)
GRAPHS = (PAGER, INVOICE)
OTHER = file_name(INVOICE)


@pytest.mark.promise("offload.boundary")
@pytest.mark.parametrize(
    "judgement, active, becomes",
    [
        (None, PAGER, Keep()),
        (None, None, Keep()),
        (Judgement(True, False, True, OTHER), PAGER, Activate(2)),
        (Judgement(True, True, True, OTHER, "other"), PAGER, Activate(2)),
        (Judgement(True, True, False, "", "Rate limits!"), PAGER, Start("rate-limits")),
        (Judgement(True, True, True, "009-gone.mmd", "rates"), PAGER, Start("rates")),
        (Judgement(True, False, True, "009-gone.mmd"), PAGER, Deactivate()),
        (Judgement(True, False), PAGER, Deactivate()),
        (Judgement(True, False), None, Keep()),
        (Judgement(False, True, False, "", "rates"), PAGER, Keep()),
        (Judgement(False, False), PAGER, Keep()),
        (Judgement(False, False, True, OTHER), PAGER, Keep()),
        (Judgement(False, True, False, "", "rates"), None, Start("rates")),
        (Judgement(True, True, False, "", ""), None, Start("task")),
        (Judgement(False, False), None, Keep()),
        (Judgement(False, False, True, OTHER), None, Activate(2)),
        (Judgement(True, True, True, "fix-pager", "rates"), PAGER, Keep()),
    ],
)
def test_the_table(judgement: Judgement | None, active: Graph | None, becomes: Transition) -> None:
    assert decide(judgement, active, GRAPHS) == becomes


@pytest.mark.parametrize(
    "named",
    [
        "002-invoice-export.mmd",
        "002-invoice-export",
        "invoice-export",
        "2",
        "002",
        "graphs/002-invoice-export.mmd",
    ],
)
def test_a_graph_is_named_by_file_label_or_number(named: str) -> None:
    assert decide(Judgement(True, False, True, named), PAGER, GRAPHS) == Activate(2)


def test_of_two_graphs_with_one_label_the_newest_is_meant() -> None:
    third = empty(3, "invoice-export", "Again", NOW)
    said = Judgement(True, False, True, "invoice-export")
    assert decide(said, PAGER, (*GRAPHS, third)) == Activate(3)


@pytest.mark.promise("offload.boundary")
def test_a_graph_is_only_left_when_its_task_is_completed() -> None:
    for long, goes_on, named in product((True, False), (True, False), ("", OTHER, "gone")):
        assert decide(Judgement(False, long, goes_on, named, "x"), PAGER, GRAPHS) == Keep()


# -- without a model --------------------------------------------------------------------------------


@pytest.mark.promise("offload.boundary-rules")
@pytest.mark.parametrize(
    "prompt, active, becomes",
    [
        # The first task of a session, and what is none.
        ("Please fix the failing test in tests/test_pager.py", None, Start("fix-failing-test-tests-test")),
        ("实现发票导出功能，支持 PDF", None, Start("pdf")),
        ("Hello!", None, Keep()),
        ("What is a pager?", None, Keep()),
        # Going on.
        ("Yes, go ahead", PAGER, Keep()),
        ("继续", PAGER, Keep()),
        ("Now run the other pages as well", PAGER, Keep()),
        ("The last page of the pager is still wrong", PAGER, Keep()),
        ("why?", PAGER, Keep()),
        # Back to an earlier one.
        ("Invoices need their PDF export footer changed", PAGER, Activate(2)),
        ("The invoice export breaks", None, Activate(2)),
        # Something else.
        ("Write a Dockerfile for deploying our website behind nginx", PAGER, Start("write-dockerfile-deploying")),
        ("New task: rename the column user_name in schema.sql", PAGER, Start("task-rename-column-user-name")),
        ("Which colours suit autumn weather best?", PAGER, Deactivate()),
    ],
)  # fmt: skip
def test_prompts(prompt: str, active: Graph | None, becomes: Transition) -> None:
    graphs = GRAPHS if active or "invoice" in prompt else ()
    assert decide(by_rules(prompt, active, graphs), active, graphs) == becomes


@pytest.mark.promise("offload.boundary-rules")
def test_a_task_is_long_once_it_made_a_few_calls() -> None:
    assert decide(by_rules("How many pages are there?", None, ()), None, ()) == Keep()
    later = by_rules("How many pages are there?", None, (), results=4)
    assert decide(later, None, ()) == Start("many-pages")
    assert decide(by_rules("", PAGER, GRAPHS, results=30), PAGER, GRAPHS) == Keep()
    assert decide(by_rules("", None, (), results=30), None, ()) == Start("task")


@given(st.text(), st.sampled_from([None, *GRAPHS]), st.integers(0, 60))
def test_any_prompt_is_judged(prompt: str, active: Graph | None, results: int) -> None:
    found = by_rules(prompt, active, GRAPHS, results)
    assert found == by_rules(prompt, active, GRAPHS, results)
    assert decide(found, active, GRAPHS) is not None
    assert len(found.new_task_label) <= 30
