"""Where a quote stands, although a model did not copy it quite exactly."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memstrata.domain.gates import folded
from memstrata.prompts.quotes import locate

TEXT = "Well,  I'd prefer “green tea” –\nnot coffee. Straße 9; １２ cups"


@pytest.mark.parametrize(
    "quote, words",
    [
        ("I'd prefer", "I'd prefer"),
        ('i’d PREFER "green tea" - not coffee', "I'd prefer “green tea” –\nnot coffee"),
        ("well, i'd", "Well,  I'd"),
        ('"green tea"', "“green tea”"),
        ('"not coffee!"', "not coffee"),
        ("'I'd prefer “green tea”…'", "I'd prefer “green tea"),
        ("STRASSE 9", "Straße 9"),
        ("12 cups", "１２ cups"),
        ("I'd prefer … not coffee", "I'd prefer “green tea” –\nnot coffee"),
        ("I'd prefer [...] 12 cups.", "I'd prefer “green tea” –\nnot coffee. Straße 9; １２ cups"),
    ],
)
def test_the_exact_words_are_found(quote: str, words: str) -> None:
    span = locate(quote, TEXT)
    assert span is not None
    assert TEXT[slice(*span)] == words


@pytest.mark.parametrize(
    "quote",
    [
        "",
        " ",
        "…",
        "I prefer",
        "not coffee … I'd prefer",
        "green tea not coffee",
        "12 cups … 12 cups",
    ],
)
def test_words_that_do_not_stand_there_are_not_found(quote: str) -> None:
    assert locate(quote, TEXT) is None


@given(st.text(min_size=1), st.data())
@example("e\u0301te\u0301 of 1999", None)
def test_every_piece_of_a_text_is_found(content: str, data: st.DataObject | None) -> None:
    if data is None:
        quote = "ÉTÉ"
    else:
        start = data.draw(st.integers(0, len(content) - 1))
        quote = content[start : data.draw(st.integers(start + 1, len(content)))]
    assume(quote.strip())
    span = locate(quote, content)
    assert span is not None
    assert folded(quote) in folded(content[slice(*span)])


@given(st.text(), st.text())
def test_what_is_found_reads_as_the_quote(quote: str, content: str) -> None:
    span = locate(quote, content)
    if span is not None:
        start, end = span
        assert 0 <= start < end <= len(content)
