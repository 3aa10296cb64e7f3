"""What fits: never more than the budget, the least important first to go, the same every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.build import memory

from memstrata.adapters.tokens_toktok import ToktokTokenizer
from memstrata.domain import budget, inject
from memstrata.domain.budget import Shown
from memstrata.domain.memory import STANDING_RULE, TYPES, Memory

TOKENS = ToktokTokenizer("o200k_base")


def words(text: str) -> int:
    """A tokenizer that a reader can check: words between blanks."""
    return len(text.split())


def render(shown: Sequence[Shown]) -> str:
    """One block, nothing for nothing."""
    return inject.block("user-memory", [one.line for one in shown]) if shown else ""


def held(id: str, type: str, description: str = "one two three", **fields: Any) -> Memory:
    return memory(id, type=type, name="n", description=description, **fields)


def rule(id: str, description: str = "one two three") -> Memory:
    return held(id, "feedback", description, priority=STANDING_RULE)


def ids(shown: Sequence[Shown]) -> list[str]:
    return [one.memory.id if one.memory else "rest" for one in shown]


DESCRIPTIONS = st.text(max_size=200).map(inject.safe) | st.sampled_from(
    ("x " * 100, "茶" * 200, "🫖" * 100, "a\u0301" * 60, "")
)
MEMORIES = st.lists(
    st.builds(
        lambda kind, description, standing: (kind, description, STANDING_RULE if standing else 70),
        st.sampled_from(TYPES),
        DESCRIPTIONS,
        st.booleans(),
    ),
    max_size=12,
)


def made(rows: Sequence[tuple[str, str, int]]) -> list[Memory]:
    return [
        held(f"mem_{n}", type, description, priority=priority)
        for n, (type, description, priority) in enumerate(rows)
    ]


@pytest.mark.promise("recall.budget")
@pytest.mark.parametrize("count", [words, TOKENS.count], ids=["words", "o200k_base"])
@settings(max_examples=60)
@given(MEMORIES, st.integers(0, 400))
def test_the_budget_is_never_exceeded(
    count: Callable[[str], int], rows: list[tuple[str, str, int]], most: int
) -> None:
    memories = made(rows)
    shown = budget.fit(memories, render, count, most)
    assert count(render(shown)) <= most
    assert shown == budget.fit(memories, render, count, most)
    order = [memories.index(one.memory) for one in shown if one.memory]
    assert order == sorted(order)


@pytest.mark.promise("recall.budget")
@given(MEMORIES, st.integers(0, 200))
def test_what_is_shown_is_never_less_important_than_what_is_not(
    rows: list[tuple[str, str, int]], most: int
) -> None:
    memories = made(rows)
    shown = [one.memory for one in budget.fit(memories, render, words, most) if one.memory]
    left = [one for one in memories if one not in shown]
    if shown and left:
        assert max(map(budget.keep_rank, shown)) <= min(map(budget.keep_rank, left))


def test_what_fits_is_shown_whole_and_in_the_given_order() -> None:
    memories = [held("mem_1", "episodic"), rule("mem_2"), held("mem_3", "user")]
    assert ids(budget.fit(memories, render, words, 100)) == ["mem_1", "mem_2", "mem_3"]


@pytest.mark.promise("recall.budget")
def test_the_order_of_cutting() -> None:
    """Each line has 6 words, the tags one each."""
    kinds = ("episodic", "reference", "project", "user", "feedback")
    memories = [*(held(f"mem_{kind}", kind) for kind in kinds), rule("mem_rule")]
    for left in range(6, -1, -1):
        shown = budget.fit(memories, render, words, 6 * left + 2)
        assert ids(shown) == [f"mem_{kind}" for kind in (*kinds, "rule")][6 - left :] or not left


def test_within_a_type_the_later_goes_first() -> None:
    memories = [held(f"mem_{n}", "user") for n in range(5)]
    assert ids(budget.fit(memories, render, words, 2 + 3 * 6)) == ["mem_0", "mem_1", "mem_2"]


@pytest.mark.promise("recall.standing-rules")
def test_standing_rules_are_shortened_before_one_is_hidden() -> None:
    rules = [rule(f"mem_{n}", "word " * 20) for n in range(3)]
    shown = budget.fit([*rules, held("mem_9", "feedback")], render, words, 2 + 3 * 3)
    assert [one.line for one in shown] == [f"- [mem_{n}] n" for n in range(3)]


@pytest.mark.promise("recall.standing-rules")
def test_rules_without_room_are_counted() -> None:
    rules = [rule(f"mem_{n}", "word " * 20) for n in range(10)]
    rest = words(inject.hidden_line(8))
    shown = budget.fit(rules, render, words, 2 + 2 * 3 + rest)
    assert ids(shown) == ["mem_0", "mem_1", "rest"]
    assert shown[-1].line == inject.hidden_line(8)
    assert ids(budget.fit(rules, render, words, 2 + rest)) == ["rest"]
    assert budget.fit(rules, render, words, 1 + rest) == ()


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_room_at_all(most: int) -> None:
    assert budget.fit([rule("mem_1"), held("mem_2", "user")], render, words, most) == ()
    assert budget.fit([], render, words, most) == ()


def test_five_hundred_memories_in_four_hundred_tokens() -> None:
    long = "A very long thing. " * 1_600
    memories = [held(f"mem_{n:03}", "user", f"Fact {n} of many") for n in range(499)]
    memories.insert(250, held("mem_long", "feedback", long[:200], body=long))
    shown = budget.fit(memories, render, TOKENS.count, 400)
    text = render(shown)
    assert TOKENS.count(text) <= 400
    assert "mem_long" in ids(shown)
    assert len(shown) > 20
    assert text == render(budget.fit(memories, render, TOKENS.count, 400))


def test_it_takes_few_counts() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return words(text)

    budget.fit([held(f"mem_{n}", "user") for n in range(1_000)], render, count, 600)
    assert len(counted) < 20


def test_a_tokenizer_that_shrinks_at_a_seam_does_not_fool_it() -> None:
    def odd(text: str) -> int:
        lines = text.count("- [")
        return lines if lines != 6 else 0  # six fit, though four do not

    memories = [held(f"mem_{n}", "user") for n in range(8)]
    shown = budget.fit(memories, render, odd, 3)
    assert odd(render(shown)) <= 3
