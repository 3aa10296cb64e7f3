"""The order of messages: each feature by hand, and the laws of the whole."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain import ranking
from memstrata.domain.ranking import Features, Group, Scope, Turn
from memstrata.domain.terms import query_terms

QUERY = query_terms("ferry Tilda")
FERRY, TILDA = 0, 1
SCOPE = Scope(turns=100, groups=10, length=1_000, turns_having=(5, 20), groups_having=(3, 8))
DAY = "s|2031-04-02"


def turn(position: int, **given: object) -> Turn:
    """A turn of ten terms without any of the query's, behind the one before it."""
    plain = Turn(position, position - 1 or None, DAY, "Tilda", length=10, counts={})
    return replace(plain, **given)  # type: ignore[arg-type]


def places(turns: list[Turn], chosen: set[int] | None = None, **given: object) -> list[int]:
    """The positions in order of relevance."""
    names = {one.group: Group(60, {FERRY: 1}, speakers=2) for one in turns}
    values = {"groups": names, "near": {}, **given}
    pool = {one.position for one in turns} if chosen is None else chosen
    found = ranking.rank(QUERY, SCOPE, turns, chosen=pool, **values)  # type: ignore[arg-type]
    return [one.position for one in found]


# -- by hand --------------------------------------------------------------------------------------


def test_nothing_is_ranked() -> None:
    assert ranking.rank((), Scope(0, 0, 0, (), ()), [], {}, (), {}) == []


def test_a_chosen_turn_that_is_not_there_is_left_out() -> None:
    assert places([turn(1)], chosen={1, 99}) == [1]


def test_only_chosen_turns_come_back() -> None:
    assert places([turn(1), turn(2, counts={FERRY: 1}), turn(3)], chosen={2}) == [2]


def test_rarity_by_hand() -> None:
    assert ranking.rarity(100, 5) == pytest.approx(math.log(1 + 95.5 / 5.5))
    assert 0 < ranking.rarity(100, 100) < ranking.rarity(100, 50)
    assert ranking.rarity(0, 0) > 0


def test_bm25_by_hand() -> None:
    # Three times a term of weight 2, twice the mean length: 1 - 0.3 + 0.3 * 20 / 10 = 1.3.
    assert ranking.bm25({0: 3}, [2.0], 20, 10, ranking.B) == pytest.approx(13.2 / (3 + 1.2 * 1.3))
    assert ranking.bm25({}, [2.0], 20, 10, ranking.B) == 0
    assert ranking.bm25({0: 1}, [2.0], 0, 0, ranking.B) == pytest.approx(2.0)


def test_the_rare_word_counts_more() -> None:
    turns = [turn(1, counts={TILDA: 1}, group="a"), turn(5, counts={FERRY: 1}, group="b")]
    assert places(turns) == [5, 1]


def test_neighbours_lift_a_turn_and_nearer_ones_more() -> None:
    turns = [turn(n) for n in range(1, 10)]
    turns[4] = turn(5, counts={FERRY: 1})
    assert places(turns, chosen={3, 4, 6, 7, 9}) == [4, 6, 3, 7, 9]


def test_the_answer_to_a_question_that_matches() -> None:
    turns = [turn(n) for n in range(1, 10)]
    turns[4] = turn(5, counts={FERRY: 1}, asks=True)
    assert places(turns, chosen={4, 6}) == [6, 4]


def test_the_answer_to_a_question_that_means_it() -> None:
    turns = [turn(n) for n in range(1, 10)]
    turns[4] = turn(5, asks=True)
    assert places(turns, chosen={2, 3, 5, 6}, near={2: 0.1, 3: 0.1, 5: 0.9, 6: 0.1})[:2] == [5, 6]


def test_the_other_day_is_no_neighbour() -> None:
    turns = [turn(2, group="a"), turn(3, group="b", counts={FERRY: 1}), turn(4, group="b")]
    assert places(turns)[:2] == [3, 4]


def test_a_monologue_has_no_neighbours() -> None:
    alone = {DAY: Group(60, {FERRY: 1}, speakers=1)}
    turns = [turn(1), turn(2, counts={FERRY: 1}, asks=True), turn(3), turn(4)]
    assert places(turns, groups=alone) == [2, 1, 3, 4]


def test_the_group_decides_between_turns_that_say_nothing() -> None:
    groups = {"a": Group(60, {}, 2), "b": Group(60, {FERRY: 2}, 2)}
    turns = [turn(2, group="a"), turn(3, group="a"), turn(8, group="b"), turn(9, group="b")]
    assert places(turns, groups=groups) == [8, 9, 2, 3]


def test_who_is_named_speaks() -> None:
    turns = [turn(n, speaker="Oskar" if n % 2 else "Tilda") for n in range(2, 6)]
    assert places(turns, chosen={3, 4}) == [4, 3]


def test_a_turn_without_a_name_is_nobody_elses() -> None:
    turns = [turn(n, speaker=("", "Oskar", "Tilda")[n % 3]) for n in range(2, 12)]
    assert places(turns, chosen={6, 7, 8}) == [8, 6, 7]


def test_meaning_alone() -> None:
    turns = [turn(n, group=str(n)) for n in (1, 5, 9)]
    assert places(turns, near={5: 0.8, 9: 0.4}) == [5, 1, 9]


def test_equal_turns_stand_in_order() -> None:
    turns = [turn(n, group=str(n)) for n in (9, 1, 5)]
    assert places(turns) == [1, 5, 9]


def test_one_dialogue_does_not_fill_the_page() -> None:
    said = [turn(n, counts={FERRY: 1}) for n in range(2, 12)]
    other = [turn(20, group="b", counts={FERRY: 1}), turn(21, group="b", counts={FERRY: 1})]
    assert {20, 21} <= set(places([*said, *other])[:6])


# -- laws -----------------------------------------------------------------------------------------

SHARE = st.floats(0, 1)
FEATURES = st.builds(
    Features,
    **{one.name: SHARE for one in fields(Features) if one.name != "named"},
    named=st.sampled_from((-1.0, 0.0, 1.0)),
)
TURNS = st.lists(
    st.builds(
        Turn,
        position=st.integers(1, 30),
        previous=st.none() | st.integers(1, 29),
        group=st.sampled_from("abc"),
        speaker=st.sampled_from(("", "Tilda", "Oskar")),
        length=st.integers(0, 50),
        counts=st.dictionaries(st.integers(0, 1), st.integers(1, 5)),
        asks=st.booleans(),
    ),
    max_size=20,
    unique_by=lambda one: one.position,
)
GROUPS = st.fixed_dictionaries(
    {
        name: st.builds(
            Group,
            length=st.integers(0, 500),
            counts=st.dictionaries(st.integers(0, 1), st.integers(1, 9)),
            speakers=st.integers(1, 3),
        )
        for name in "abc"
    }
)
NEAR = st.dictionaries(st.integers(1, 30), st.floats(-1, 1))


@given(FEATURES, SHARE, st.sampled_from([one.name for one in fields(Features)]), st.floats(0, 1))
def test_more_of_a_feature_never_lowers_the_score(
    features: Features, context: float, name: str, more: float
) -> None:
    raised = replace(features, **{name: getattr(features, name) + more})
    difference = ranking.score(raised, context) - ranking.score(features, context)
    assert difference <= 1e-9 if name == "asks" else difference >= -1e-9


@given(TURNS, GROUPS, NEAR, st.randoms(use_true_random=False))
def test_every_chosen_turn_once_whatever_the_order(
    turns: list[Turn], groups: dict[str, Group], near: dict[int, float], dice: object
) -> None:
    chosen = [one.position for one in turns]
    found = ranking.rank(QUERY, SCOPE, turns, groups, chosen, near)
    assert sorted(one.position for one in found) == sorted(chosen)
    assert all(math.isfinite(one.score) for one in found)
    assert found == sorted(found, key=lambda one: (-one.score, one.position))
    shuffled = list(turns)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ranking.rank(QUERY, SCOPE, shuffled, groups, chosen[::-1], near) == found


@given(TURNS, GROUPS, st.floats(0.1, 10), st.floats(-1, 1))
def test_the_scale_of_cosines_does_not_matter(
    turns: list[Turn], groups: dict[str, Group], scale: float, shift: float
) -> None:
    near = {one.position: one.length / 50 for one in turns}
    other = {at: cosine * scale + shift for at, cosine in near.items()}
    chosen = [one.position for one in turns]
    found = ranking.rank(QUERY, SCOPE, turns, groups, chosen, near)
    again = ranking.rank(QUERY, SCOPE, turns, groups, chosen, other)
    assert {one.position: one.score for one in again} == pytest.approx(
        {one.position: one.score for one in found}, abs=1e-6
    )
