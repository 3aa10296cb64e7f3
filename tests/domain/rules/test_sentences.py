"""Where sentences end and what of a message is not the person's own speech."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain.rules.sentences import MASK, MAX_SENTENCE, masked, sentences


def texts(content: str) -> list[str]:
    return [one.text for one in sentences(content)]


@pytest.mark.parametrize(
    "content, expected",
    [
        ("I use e.g. pnpm 9.1; you know! OK?", ["I use e.g. pnpm 9.1", "you know", "OK"]),
        ("See wiki.example.org. It helps", ["See wiki.example.org", "It helps"]),
        ("我住在杭州。真的吗？好", ["我住在杭州", "真的吗", "好"]),
        ("- I like tea\n2) foo\n• bar", ["I like tea", "foo", "bar"]),
        ("Mr. Moss left. Good", ["Mr. Moss left", "Good"]),
        ("wait... what", ["wait", "what"]),
        ("", []),
    ],
)
def test_sentences(content: str, expected: list[str]) -> None:
    assert texts(content) == expected


@pytest.mark.parametrize(
    "foreign",
    [
        "```\nI prefer tea\n```",
        "~~~\nI prefer tea",
        "> I prefer tea",
        "2024-01-03 10:22:11 INFO I prefer tea",
        "ERROR I prefer tea",
        'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: I prefer tea',
        "$ echo I prefer tea",
        "+I prefer tea",
        '{"text": "I prefer tea"}',
        "const tea = 'I prefer tea';",
        "def tea(): return 1",
        "User: I prefer tea",
        "助手：我喜欢茶",
    ],
)
def test_code_logs_quotes_and_dialogues_are_not_read(foreign: str) -> None:
    assert texts(f"before\n{foreign}") == ["before"]


def test_a_long_quotation_is_masked_and_a_title_is_not() -> None:
    assert MASK in masked('He said "I work at the best company" today')
    assert masked('My dog is called "Biscuit"') == 'My dog is called "Biscuit"'


def test_the_over_long_is_left_out() -> None:
    assert texts("a" * MAX_SENTENCE) == ["a" * MAX_SENTENCE]
    assert texts("a" * (MAX_SENTENCE + 1) + ". b") == ["b"]


@given(st.text(alphabet=st.sampled_from('aI .。!?\n"“”`>-我,[{;'), max_size=300))
def test_spans_fit_the_message(content: str) -> None:
    assert len(masked(content)) == len(content)
    end = 0
    for one in sentences(content):
        assert end <= one.start < one.end
        assert len(one.text) == one.end - one.start
        assert all(
            a in (b, MASK) for a, b in zip(one.text, content[one.start : one.end], strict=True)
        )
        end = one.end
