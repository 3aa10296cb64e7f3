"""What is embedded of memories and messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain import passages
from memstrata.domain.passages import MOST, first_person, passage_of_memory, passage_of_message


@pytest.mark.parametrize(
    "told, said",
    [
        ("The user prefers tea", "I prefers tea"),
        ("The user's dog is called Biscuit", "My dog is called Biscuit"),
        ("Biscuit is the user’s dog", "Biscuit is my dog"),
        ("On Fridays the user never deploys", "On Fridays I never deploys"),
        ("User lives in Porto. User's flat is small.", "I lives in Porto. My flat is small."),
        ("The team asks: the user decides", "The team asks: I decides"),
        ("用户喜欢喝绿茶，该用户的狗叫饼干", "我喜欢喝绿茶，我的狗叫饼干"),
        ("The users met", "The users met"),
        ("The user interface is slow", "The user interface is slow"),
        ("The user's interface is slow", "My interface is slow"),
        ("A new user-guide and the user stories", "A new user-guide and the user stories"),
        ("The power user likes it", "The power user likes it"),
        ("Call it User", "Call it User"),
        ("用户名和用户界面", "用户名和用户界面"),
        ("", ""),
    ],
)
def test_facts_are_told_in_the_first_person(told: str, said: str) -> None:
    assert first_person(told) == said


@pytest.mark.parametrize(
    "name, description, body, passage",
    [
        ("drink", "The user likes tea", "", "drink. I likes tea."),
        (
            "drink",
            "The user likes tea.",
            "Green, no sugar.",
            "drink. I likes tea. Green, no sugar.",
        ),
        ("drink", "The user likes tea", "The user likes tea, green", "drink. I likes tea, green"),
        ("", "The user likes tea", "", "I likes tea."),
        ("the user's drink", "", "", "the user's drink."),
        ("饮料", "用户喜欢喝茶。", "不加糖", "饮料. 我喜欢喝茶。 不加糖"),
        ("", "", "", ""),
    ],
)
def test_a_memory_is_its_name_and_what_it_says(
    name: str, description: str, body: str, passage: str
) -> None:
    assert passage_of_memory(name, description, body) == passage


@pytest.mark.parametrize(
    "speaker, content, passage",
    [
        ("Dora", "I keep bees", "Dora: I keep bees"),
        ("", "I keep bees", "I keep bees"),
        ("", "", ""),
    ],
)
def test_a_message_is_who_said_what(speaker: str, content: str, passage: str) -> None:
    assert passage_of_message(speaker, content) == passage


def test_only_the_head_of_a_long_text_counts() -> None:
    assert passage_of_memory("bees", "", "b" * 9_000) == "bees. " + "b" * (MOST - 6)
    assert passage_of_message("Dora", "蜂" * 9_000) == "Dora: " + "蜂" * ((MOST - 6) // 3)
    assert passages.head("\ud800" * 9_000) == "?" * MOST


@given(st.text(), st.text(), st.text(max_size=5_000))
def test_a_passage_is_never_too_long_and_always_utf8(name: str, said: str, body: str) -> None:
    for passage in (passage_of_memory(name, said, body), passage_of_message(name, body)):
        assert len(passage.encode()) <= MOST


@given(st.text(alphabet=st.characters(), max_size=100))
def test_telling_it_twice_changes_nothing(text: str) -> None:
    assert first_person(first_person(text)) == first_person(text)


def test_a_digest_tells_texts_apart() -> None:
    assert passages.digest("bees") == passages.digest("bees")
    assert len({passages.digest(text) for text in ("bees", "Bees", "", "\ud800", "?")}) == 5
    assert len(passages.digest("")) == 16
