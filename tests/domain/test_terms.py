"""Search terms: the same on both sides, in every script, and none that the index would split."""

from __future__ import annotations

import re
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memstrata.domain.terms import (
    CJK_STOP_TERMS,
    STOP_WORDS,
    Term,
    fold,
    index_terms,
    query_terms,
    similarity,
)

SCRIPTS = st.text(
    st.sampled_from(
        "aéÀZßıİſK 0９.'’-_()\"*^:+ \n\t茶葉项目统组件。、ァガ゙ｶﾞー・한국ᄒ가яЙαΆ\u0301\u200d🫖ﬁ²①ㄅ㐀𠀀"
    )
)
TEXTS = SCRIPTS | st.text() | st.lists(st.sampled_from(sorted(STOP_WORDS))).map(" ".join)


def words(text: str) -> list[str]:
    return [term.text for term in query_terms(text)]


@given(TEXTS)
@example("a" * 200 + "é" * 90)
@example("word " * 5_000 + "tail")
@example("x" * 30_000)
@example("abcdefghijk " * 2_000)
@example(" " * 30_000 + "tail")
@example("字" * 25_000)
@example("ab 茶 " * 6_000)
def test_what_a_text_is_searched_for_stands_in_its_index(text: str) -> None:
    indexed = set(index_terms(text))
    for term in query_terms(text):
        if term.prefix:
            assert any(one.startswith(term.text) for one in indexed)
        elif len(text) <= 20_000 or not re.search(r"\S{5000}", text):
            assert term.text in indexed


@given(TEXTS)
def test_no_term_is_one_that_the_index_would_split(text: str) -> None:
    for term in [*index_terms(text), *words(text)]:
        assert term
        assert not re.search(r"[^a-z0-9._]", "".join(filter(str.isascii, term)))
        assert not re.search(r"\s", term)
        assert len(term) <= 64


@given(TEXTS)
def test_folding_is_done_once_and_forgets_case(text: str) -> None:
    once = fold(text)
    assert index_terms(once) == index_terms(text)
    assert set(words(text.upper())) == set(words(text.upper().lower()))


@given(SCRIPTS, SCRIPTS)
def test_a_text_of_two_has_the_terms_of_both(one: str, other: str) -> None:
    assert index_terms(f"{one}\n{other}") == index_terms(one) + index_terms(other)


@pytest.mark.promise("search.stems")
@pytest.mark.parametrize(
    "text, terms",
    [
        ("The deployments were deployed", ["the", "deploy", "were", "deploy"]),
        ("Zürich café NAÏVE", ["zurich", "cafe", "naiv"]),
        ("ＡＢＣ１２３ ﬁle", ["abc123", "file"]),
        ("Python 3.11, v2.0.1.", ["python", "3.11", "v2.0.1"]),
        ("1,000.50 and .5", ["1", "000.50", "and", "5"]),
        ("don't Ines's Ines’ rock’n’roll", ["dont", "ine", "ine", "rocknrol"]),
        ("snake_case kebab-case a/b", ["snake", "case", "kebab", "case", "a", "b"]),
        ("a@b.example", ["a", "b", "exampl"]),
        ("C++ C#", ["c", "c"]),
        ("项目统一", ["项目", "目统", "统一", "一"]),
        ("茶", ["茶"]),
        ("用Nomad部署", ["用", "nomad", "部署", "署"]),
        ("ジョン・スミス", ["ジョ", "ョン", "ン", "スミ", "ミス", "ス"]),
        ("ｶﾞｲﾄﾞ", ["ガイ", "イド", "ド"]),
        ("한국어 배포", ["한국", "국어", "어", "배포", "포"]),
        ("Привет, Йод", ["привет", "иод"]),
        ("🫖 ??? ---", []),
        ("", []),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert index_terms(text) == terms


@pytest.mark.parametrize(
    "query, terms",
    [
        ("Where do I work?", [Term("work")]),
        ("what is it", [Term("what"), Term("is"), Term("it")]),
        ("what's that", [Term("what"), Term("that")]),
        ("tea tea TEA", [Term("tea")]),
        ("茶", [Term("茶", prefix=True)]),
        ("茶 x", [Term("茶", prefix=True), Term("x")]),
        ("函数组件", [Term("函数"), Term("数组"), Term("组件")]),
        ("用什么组件", [Term("么组"), Term("组件")]),
        ("什么", [Term("什么")]),
        (
            '"tea" AND (NOT coffee)* NEAR/2 col:x',
            [Term(t) for t in ("tea", "coffe", "near", "2", "col", "x")],
        ),
        ("-- '; DROP", [Term("drop")]),
        ("", []),
    ],
)
def test_terms_of_a_query(query: str, terms: list[Term]) -> None:
    assert list(query_terms(query)) == terms


@pytest.mark.promise("search.stems")
def test_a_two_character_word_finds_the_text_it_stands_in() -> None:
    indexed = set(index_terms("项目统一使用函数式组件"))
    assert {"函数", "组件"} <= {*words("函数组件")} & indexed


@pytest.mark.promise("search.stems")
@pytest.mark.parametrize("text", ["我喜欢喝茶", "茶好", "绿茶和红茶"])
def test_a_lone_character_is_found_wherever_it_stands(text: str) -> None:
    (term,) = query_terms("茶")
    assert term.prefix
    assert any(one.startswith(term.text) for one in index_terms(text))


def test_stop_terms_are_terms() -> None:
    assert all(len(term) == 2 for term in CJK_STOP_TERMS)
    assert all(word == word.lower() for word in STOP_WORDS)


def test_of_too_many_terms_the_first_and_the_last_are_kept() -> None:
    text = " ".join(f"w{n}" for n in range(500))
    found = words(text)
    assert len(found) == 192
    assert (found[0], found[-1]) == ("w0", "w499")
    assert len(query_terms(text, most=5)) == 5


def test_a_long_query_is_read_at_both_ends() -> None:
    found = words("begin " + "x " * 50_000 + " end")
    assert found == ["begin", "x", "end"]


@pytest.mark.parametrize(
    "piece",
    ["a", "a'", "'", "1.", ".", "茶", "\u0301", "a\u0301", "ﷺ", "\U00020000", "_", "1.a", "a’茶"],
)
def test_a_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    began = process_time()
    index_terms(text)
    query_terms(text)
    assert process_time() - began < 2


@pytest.mark.parametrize(
    "one, other, alike",
    [
        ("Prefers tea", "prefers TEA!", 1.0),
        ("Prefers tea", "Drinks coffee", 0.0),
        ("", "", 1.0),
        ("???", "???", 1.0),
        ("???", "!!!", 0.0),
        ("???", "tea", 0.0),
        ("a b c", "a b d", 0.5),
    ],
)
def test_similarity(one: str, other: str, alike: float) -> None:
    assert similarity(one, other) == alike
    assert similarity(other, one) == alike


@given(TEXTS, TEXTS)
def test_similarity_is_a_share(one: str, other: str) -> None:
    assert 0 <= similarity(one, other) <= 1
    assert similarity(one, one) == 1
