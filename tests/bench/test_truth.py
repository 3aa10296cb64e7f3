"""The labelled cases of facts that change, through the whole engine: nothing ends that nobody ended."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from bench.truth import DATA, KINDS, LANGUAGES, Case, Fact, cases, score, table


@pytest.fixture(scope="module", params=LANGUAGES)
def every(request: pytest.FixtureRequest) -> list[Case]:
    """The cases of one language."""
    return list(cases(DATA / f"{request.param}.json"))


def test_a_hundred_of_each_language_and_a_third_held_out(every: list[Case]) -> None:
    assert len({case.id for case in every}) == len(every) == 100
    assert sum(case.held_out for case in every) == 34
    assert set(Counter(case.kind for case in every)) == set(KINDS)


@pytest.mark.promise("truth.no-false-end")
@pytest.mark.parametrize("kind", ["near", "owners"])
def test_what_is_near_or_anothers_ends_nothing(
    every: list[Case], kind: str, tmp_path: Path
) -> None:
    (found,) = score([case for case in every if case.kind == kind], tmp_path).values()
    assert found.holding >= found.facts / 2, "most of it is told at all"
    assert (found.false_ends, found.wrong) == (0, [])


@pytest.mark.promise("evolve.order")
def test_what_arrives_late_takes_its_place(every: list[Case], tmp_path: Path) -> None:
    (found,) = score([case for case in every if case.kind == "order"], tmp_path).values()
    assert found.asked == found.answered >= 12
    assert found.false_ends == 0
    assert found.stale <= 2, found.wrong


def test_what_went_wrong_is_counted(tmp_path: Path) -> None:
    turns = (("2025-01-01", "I live in Porto."), ("2025-02-01", "I live in Braga."))
    porto, braga = Fact(("Porto",), (), True), Fact(("Braga",), (), False)
    wrong = Case("w", "near", False, turns, (porto, braga), {"2025-01-15": [1], "2025-03-01": [1]})
    found = score([wrong], tmp_path)
    one = found["near"]
    assert (one.told, one.stale, one.ended) == (2, 1, 1)
    assert (one.false_ends, one.holding) == (1, 1)
    assert (one.answered, one.asked) == (1, 2)
    assert len(one.wrong) == 3
    assert table({"en": found})[-1] == "| **en** | all | 1 | 2/2 | 1/1 | 1/1 | 0 | 1/2 |"
