"""Consolidation through the real adapter: both providers' languages, each rung, each way to fail."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.models.conftest import KEY, Opened
from tests.pipelines.consolidating import (
    MERGED,
    RULES,
    TEAS,
    elevate,
    fill,
    merge,
    proposals,
    valid,
)
from tests.stub_model import (
    Reply,
    StubModel,
    cut_stream,
    no_such_form,
    rate_limited,
    server_error,
    timeout,
    unknown_model,
    wrong_key,
)

from memstrata import Memory, Unavailable

GOOD = proposals(merge("k3", "k4"), elevate("k1", "k2"))
"""About `fill`: rules are shown first."""


@pytest.mark.promise("consolidate.merge")
@pytest.mark.parametrize(
    "before, text",
    [
        ((), GOOD),
        ((no_such_form(),), GOOD),
        ((), f"<think>k9</think>Sure:\n```json\n{GOOD}\n```\nDone."),
        ((), json.dumps(json.loads(GOOD)["proposals"])),
        ((), GOOD[:-40]),
    ],
    ids=["schema", "refused form", "prose", "bare list", "cut"],
)
def test_an_answer_in_any_form(
    memory: Memory, endpoint: StubModel, before: tuple[Reply, ...], text: str
) -> None:
    endpoint.say(*before, text, GOOD)
    fill(memory)
    (run,) = memory.consolidate().runs
    assert run.problem == ""
    assert set(valid(memory)) == {MERGED, *RULES}
    assert len(memory.candidates()) == 1
    spent = memory.status().spent["consolidation"]
    assert spent.calls >= 1


@pytest.mark.promise("consolidate.failed")
@pytest.mark.parametrize(
    "fail", [timeout, rate_limited, server_error, wrong_key, unknown_model, cut_stream]
)
def test_a_provider_that_fails_retires_nothing(
    with_model: Opened, endpoint: StubModel, fail: Callable[[], Reply]
) -> None:
    memory = with_model({"extraction.deadline_seconds": 0.5})
    endpoint.say(*[fail()] * 8)
    fill(memory)
    (run,) = memory.consolidate().runs
    assert run.problem
    assert KEY not in run.problem
    assert set(valid(memory)) == {*TEAS, *RULES}
    assert run.problem in memory.status().consolidated[0]


@pytest.mark.promise("ledger.every-call")
def test_a_day_s_budget_that_is_spent(with_model: Opened, endpoint: StubModel) -> None:
    endpoint.say(Reply(GOOD, usage=(90, 10)))
    memory = with_model({"budget.daily_tokens": 100})
    fill(memory)
    memory.consolidate()
    with pytest.raises(Unavailable, match="paused by budget"):
        memory.consolidate()
    with pytest.raises(Unavailable, match="paused by budget"):
        memory.consolidate(dry_run=True)
