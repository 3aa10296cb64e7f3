"""A plan prints, a line a change; the verdicts are a closed list."""

from __future__ import annotations

import pytest
from tests.domain.build import ANN, NOW, memory, message

from memstrata.domain.plan import VERDICTS, Advance, Append, Base, Delete, Enqueue, Plan, Put


def test_a_plan_prints_a_line_a_change() -> None:
    plan = Plan(
        (
            Put(
                memory(name="drink\nnow", version=2),
                "update",
                "ann",
                "said with more",
                Base(1, "d"),
            ),
            Delete(memory(version=3), "ann", "deleted by hand", Base(3, "d")),
            Append(ANN, (message(), message("y"))),
            Enqueue(ANN, "extract", "chat", NOW),
            Advance(ANN, "chat", "batch_1", 0, 7, "m1", "m7", "rules", ()),
        )
    )
    assert plan.lines() == [
        "update mem_1 v2 'drink\\nnow': said with more",
        "delete mem_1 v3 'drink': deleted by hand",
        "append 2 messages",
        "enqueue extract chat",
        "advance chat to m7",
    ]


def test_an_empty_plan_prints_nothing() -> None:
    assert Plan(()).lines() == []


@pytest.mark.promise("gate.verdicts")
def test_the_verdicts_are_the_closed_list() -> None:
    kept = "add update merge delete"
    not_kept = (
        "transient low_confidence low_priority unsupported authority no_workspace noop quota"
        " sensitive malformed"
    )
    assert " ".join(VERDICTS) == f"{kept} {not_kept}"
