"""The labelled turns: precision and recall hold on each shipped set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from bench.rules import DATA, SETS, Score, score, turns


@pytest.fixture(scope="module", params=SETS)
def measured(request: pytest.FixtureRequest) -> Score:
    """The score of one set."""
    return score(turns(DATA / f"{request.param}.jsonl"))


@pytest.mark.promise("rules.precision")
def test_nine_of_ten_are_right(measured: Score) -> None:
    assert measured.found.total() >= 10
    assert measured.precision >= 0.9, measured.wrong


@pytest.mark.promise("rules.recall")
def test_more_than_a_memory_for_each_eight_turns_that_state_something(measured: Score) -> None:
    assert measured.lasting >= 20
    assert measured.reached * 8 >= measured.lasting
    assert measured.recall >= 0.6


def test_slots_and_subjects_are_the_labelled_ones(measured: Score) -> None:
    assert measured.slots_right >= 0.9 * measured.slots


def test_a_wrong_candidate_costs_precision_and_a_missed_one_recall() -> None:
    rows: list[Mapping[str, Any]] = [
        {"id": "a", "text": "I prefer tea", "expect": []},
        {"id": "b", "text": "I prefer tea", "expect": [{"type": "user", "contains": ["tea"]}]},
        {"id": "c", "text": "hello", "expect": [{"type": "user", "contains": ["tea"]}]},
        {"id": "d", "text": "I prefer tea", "expect": [], "may": [{"type": "user"}]},
    ]
    measured = score(rows)
    assert (measured.precision, measured.recall) == (0.5, 0.5)
    assert (measured.lasting, measured.reached) == (2, 1)
