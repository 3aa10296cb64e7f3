"""A plan that is kept says afterwards exactly what it said before."""

from __future__ import annotations

import json
from datetime import UTC

import pytest
from tests.domain import build
from tests.domain.build import KEY, NOW

from memstrata.domain import kept_plan
from memstrata.domain.elevation import Elevation, Source
from memstrata.domain.kept_plan import KeptPlan
from memstrata.domain.plan import Base, Consolidated, Plan, Propose, Put
from memstrata.errors import Invalid

FRESH = build.memory("mem_9", entities=("Harrow",), evidence=(build.QUOTE,), said_at=NOW)
OLD = build.memory("mem_1", version=2, invalid_at=NOW, superseded_by="mem_9")
CANDIDATE = Elevation("cand_1", "n", "d", "b", (Source("mem_1", 1),), "m", NOW)
PLAN = KeptPlan(
    (
        Put(FRESH, "add", "consolidation:m", "merged of mem_1", None, "ann"),
        Put(OLD, "supersede", "consolidation:m", "merged", Base(1, "d"), "ann"),
        Propose(KEY, CANDIDATE, "consolidation:m"),
        Consolidated(KEY, "run_1", "run_0", "m", "s", 1, 1, ("a", "b"), "p"),
    ),
    NOW,
)


@pytest.mark.promise("consolidate.dry-run")
def test_it_comes_back_as_it_was() -> None:
    data = kept_plan.encode(PLAN)
    assert kept_plan.decode(data, "local", UTC) == PLAN
    assert kept_plan.digest(data) == kept_plan.digest(kept_plan.encode(PLAN))
    assert kept_plan.digest(data) != kept_plan.digest(data + b" ")


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"expires_at": "x", "changes": []}'])
def test_what_is_no_plan(data: bytes) -> None:
    with pytest.raises(Invalid):
        kept_plan.decode(data, "local", UTC)


def test_a_change_that_is_none() -> None:
    fields = json.loads(kept_plan.encode(PLAN))
    fields["changes"][0]["kind"] = "forget"
    with pytest.raises(Invalid, match="'forget' is no change"):
        kept_plan.decode(json.dumps(fields).encode(), "local", UTC)


def test_a_plan_prints() -> None:
    assert Plan(PLAN.changes).lines() == [
        "add mem_9 v1 'drink': merged of mem_1",
        "supersede mem_1 v2 'drink': merged",
        "propose cand_1 'n': from 1 rules",
        "consolidated user: 1 merged, 1 proposed",
    ]
