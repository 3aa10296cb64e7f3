"""The judgement of a model on where a task ends."""

from __future__ import annotations

import json

import pytest
from tests.domain.graphs import NOW, graph, node

from memstrata.domain.boundary import Activate, Judgement, decide
from memstrata.domain.canvas import empty
from memstrata.prompts.answers import BOUNDARY
from memstrata.prompts.offload_boundary import judgement, question, told

PAGER = graph(node(1), node(2, status="doing"))
INVOICE = empty(2, "invoice-export", "Export\ninvoices", NOW)
SAID = {
    "taskCompleted": True,
    "isLongTask": False,
    "isContinuation": True,
    "continuationGraph": "002-invoice-export.mmd",
    "newTaskLabel": "",
}
JUDGED = Judgement(True, False, True, "002-invoice-export.mmd", "")


@pytest.mark.promise("offload.answers")
@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"boundary": [SAID]}),
        json.dumps({"boundary": SAID}),
        json.dumps(SAID),
        f"<think>Is it done?</think>\n```json\n{json.dumps(SAID)}\n```",
        json.dumps({name.lower(): value for name, value in SAID.items()}),
        json.dumps(
            {
                "task_completed": "true",
                "is_long_task": 0,
                "is_continuation": "yes",
                "continuation_graph": "002-invoice-export.mmd",
                "new_task_label": None,
            }
        ),
    ],
)
def test_every_shape_is_read(text: str) -> None:
    found = BOUNDARY.parse(text)
    assert found is not None
    assert judgement([item for _, item in found.items]) == JUDGED
    assert decide(JUDGED, PAGER, [PAGER, INVOICE]) == Activate(2)


def test_a_graph_may_be_named_by_its_number() -> None:
    found = BOUNDARY.parse(json.dumps({**SAID, "continuationGraph": 2}))
    assert found is not None
    assert judgement([item for _, item in found.items]) == Judgement(True, False, True, "2", "")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"boundary": []}', '{"boundary": [{"isLongTask": true}]}', "yes"]
)
def test_no_judgement(text: str) -> None:
    found = BOUNDARY.parse(text)
    assert judgement([item for _, item in found.items] if found else []) is None


def test_the_prompt_shows_the_graphs_and_what_was_said() -> None:
    user = question("Now the\n[x] invoices", PAGER, [PAGER, INVOICE], 3).user
    assert (
        "~~~ graphs\n"
        "001-fix-pager.mmd (active): Fix the pager — 50 %, 1 done, 1 doing\n"
        "002-invoice-export.mmd: Export invoices — 0 %, no nodes yet\n"
        "~~~"
    ) in user
    assert "since the user last spoke: 3" in user
    assert "~~~ prompt\nNow the\n    [x] invoices\n~~~" in user
    assert "~~~ graphs\nno task yet\n~~~" in question("x" * 9_000, None, []).user


def test_the_active_graph_is_always_shown() -> None:
    many = [empty(number, f"task-{number}", "x", NOW) for number in range(1, 40)]
    user = question("go on", many[0], many).user
    assert "001-task-1.mmd (active)" in user
    assert "002-task-2.mmd" not in user
    assert told(many[-1]) in user
