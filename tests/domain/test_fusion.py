"""Fusion and decay, worked out by hand."""

from __future__ import annotations

from datetime import date, timedelta
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain import fusion

TODAY = date(2026, 3, 14)


@pytest.mark.promise("search.classic")
def test_rrf_by_hand() -> None:
    found = fusion.rrf({"text": ["a", "b"], "vectors": ["b", "c"], "none": []})
    assert found == {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}
    assert sorted(found, key=found.__getitem__, reverse=True) == ["b", "a", "c"]


def test_rrf_of_nothing() -> None:
    assert fusion.rrf({}) == fusion.rrf({"text": []}) == {}


def test_rrf_with_another_constant() -> None:
    assert fusion.rrf({"text": ["a"]}, k=1) == {"a": 0.5}


@given(
    st.lists(st.sampled_from("abcdef"), unique=True),
    st.lists(st.sampled_from("abcdef"), unique=True),
)
def test_the_order_of_lanes_does_not_matter(one: list[str], other: list[str]) -> None:
    first, second = fusion.rrf({"x": one, "y": other}), fusion.rrf({"y": other, "x": one})
    assert first == pytest.approx(second)
    assert set(first) == {*one, *other}


@pytest.mark.promise("search.classic")
def test_decay_counts_calendar_days() -> None:
    assert fusion.decay(TODAY, TODAY, 0.01) == 1
    assert fusion.decay(TODAY - timedelta(days=30), TODAY, 0.01) == pytest.approx(exp(-0.3))
    assert fusion.decay(TODAY - timedelta(days=3650), TODAY, 0) == 1


def test_what_was_changed_tomorrow_does_not_gain() -> None:
    assert fusion.decay(TODAY + timedelta(days=5), TODAY, 0.01) == 1


@pytest.mark.promise("search.classic")
def test_classic_is_the_product() -> None:
    found = fusion.classic(0.5, TODAY - timedelta(days=10), 0.8, TODAY, 0.01)
    assert found == pytest.approx(0.5 * exp(-0.1) * 0.8)


@given(st.integers(0, 5_000), st.integers(0, 5_000), st.integers(1, 3_000))
def test_two_memories_never_change_places_by_themselves(one: int, other: int, later: int) -> None:
    first, second = TODAY - timedelta(days=one), TODAY - timedelta(days=other)
    then = TODAY + timedelta(days=later)
    before = fusion.decay(first, TODAY, 0.01) - fusion.decay(second, TODAY, 0.01)
    after = fusion.decay(first, then, 0.01) - fusion.decay(second, then, 0.01)
    assert (before > 0) == (after > 0)
    assert (before < 0) == (after < 0)
