"""Paragraphs that end with what they rest on: read, written, borne out, taken out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.build import memory

from memstrata.domain import cited
from memstrata.domain.cited import Piece, Section

TEA = memory("mem_tea", description="Prefers mint tea", name="drink")
WORK = memory(
    "mem_work", description="Works at Brightwater", name="employer", entities=("Brightwater",)
)


def test_a_text_is_read_as_paragraphs_with_their_sources() -> None:
    body = (
        "Drinks tea. <!-- mem_a, mem_b -->\n\n## Facts\n\nA person's own words.\n\n"
        "- one <!-- mem_c -->\n- two\n  goes on <!-- locked, mem_d -->\n## Empty\n"
    )
    assert cited.parse(body) == (
        Section("", (Piece("Drinks tea.", ("mem_a", "mem_b")),)),
        Section(
            "Facts",
            (
                Piece("A person's own words."),
                Piece("one", ("mem_c",)),
                Piece("two\ngoes on", ("mem_d",), locked=True),
            ),
        ),
    )


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=40
)
PIECES = st.builds(
    Piece,
    WORDS.map(cited.plain).filter(bool),
    st.lists(st.sampled_from(("mem_a", "mem_b", "scene:tea")), min_size=1, unique=True).map(tuple),
    st.booleans(),
)


@given(st.lists(PIECES, min_size=1, max_size=4), st.booleans())
def test_what_is_written_is_read_back(pieces: list[Piece], bullets: bool) -> None:
    sections = (Section("", tuple(pieces)), Section("Facts", tuple(pieces)))
    assert cited.parse(cited.render(sections, bullets=bullets)) == sections


def test_a_memory_can_neither_open_nor_close_a_comment() -> None:
    words = cited.plain("x --> y <!-- mem_other -->\n# title")
    (section,) = cited.parse(cited.line(Piece(words, ("mem_a",))))
    assert section.pieces[0].cites == ("mem_a",)


@pytest.mark.promise("scene.support")
@pytest.mark.parametrize(
    "text, borne",
    [
        ("Every morning starts with mint tea.", ("mem_tea",)),
        ("Joined Brightwater as a nurse.", ("mem_work",)),
        ("Works on bridges.", ()),
        ("Collects stamps.", ()),
        ("Prefers trains.", ()),
    ],
)
def test_a_memory_bears_out_what_shares_an_entity_or_two_words(
    text: str, borne: tuple[str, ...]
) -> None:
    assert cited.supporting(text, (TEA, WORK)) == borne


def test_two_pairs_of_chinese_characters_are_two_words() -> None:
    held = memory("mem_zh", name="住处", description="住在杭州西湖边")
    assert cited.supporting("这个人住在杭州。", (held,)) == ("mem_zh",)
    assert cited.supporting("喜欢喝绿茶。", (held,)) == ()


def test_what_rests_on_what_is_gone_goes_and_the_rest_stays() -> None:
    sections = (
        Section(
            "",
            (
                Piece("both", ("mem_a", "mem_b")),
                Piece("gone", ("mem_a",)),
                Piece("ended", ("mem_c",)),
                Piece("ended and not", ("mem_b", "mem_c")),
                Piece("a person's", ("mem_b", "mem_a"), locked=True),
                Piece("a person's, of what is gone", ("mem_a",), locked=True),
                Piece("free words"),
            ),
        ),
    )
    left, lost = cited.without(sections, {"mem_a"}, {"mem_c"})
    assert [one.text for one in cited.pieces(left)] == ["ended and not", "a person's", "free words"]
    assert lost == 4


def test_what_we_did_not_write_is_a_persons() -> None:
    ours = Piece("as it was", ("mem_a",))
    changed = Piece("put differently", ("mem_a",))
    (section,) = cited.by_hand((Section("", (ours, changed, Piece("new"))),), [ours])
    assert [one.locked for one in section.pieces] == [False, True, True]
