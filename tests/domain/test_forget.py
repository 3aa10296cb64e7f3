"""What is chosen, what stays of a memory, what is looked for afterwards."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.domain.build import memory

from memstrata.domain import forget
from memstrata.domain.forget import Wanted
from memstrata.domain.memory import Evidence, Memory
from memstrata.errors import Invalid

DAY = datetime(2025, 1, 10, tzinfo=UTC)


def quoted(message: str, quote: str) -> Evidence:
    return Evidence(message, 0, len(quote), quote, "s")


def gone(one: Evidence) -> bool:
    return one.message.startswith("x")


@pytest.mark.parametrize(
    "entity, text, expected",
    [
        ("Odile", "odile says hello", True),
        ("odile", "ODILE, hello!", True),
        ("Odile", "Odilette says hello", False),
        ("Odile", "modile", False),
        ("Odile", "Modile and Odile", True),
        ("New  York", "in new york city", True),
        ("York", "New York", True),
        ("c++", "writes C++ all day", True),
        ("王伟", "我和王伟去了", True),
        ("ＯＤＩＬＥ", "Odile", True),
        ("Arco", "我们用Arco组件", True),
        ("Odile", "", False),
    ],
)
def test_a_name_is_whole_words(entity: str, text: str, expected: bool) -> None:
    assert forget.mentions(entity, text) is expected


@pytest.mark.parametrize(
    "since, until, expected",
    [(None, None, True), (DAY, None, True), (None, DAY, True), (DAY, DAY, True)],
)
def test_both_ends_count(since: datetime | None, until: datetime | None, expected: bool) -> None:
    assert Wanted(since=since, until=until).during(DAY) is expected
    late = DAY.replace(year=2026)
    assert not Wanted(until=DAY).during(late)
    assert not Wanted(since=late).during(DAY)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"ids": []},
        {"ids": "mem_1"},
        {"ids": 3},
        {"ids": ["../x"]},
        {"ids": ["mem_1"], "entity": "Odile"},
        {"session": ""},
        {"entity": " "},
        {"entity": "x" * 121},
        {"since": DAY.replace(year=2026), "until": DAY},
    ],
)
def test_what_is_no_wish(given: dict[str, object]) -> None:
    plain = {"ids": None, "session": None, "entity": None, "since": None, "until": None}
    with pytest.raises(Invalid):
        forget.wanted(**{**plain, **given})  # type: ignore[arg-type]


def test_ids_are_taken_once() -> None:
    found = forget.wanted(ids=["mem_1", "mem_1"], session=None, entity=None, since=None, until=None)
    assert found == Wanted(ids=("mem_1",))


def extracted(description: str, *sources: Evidence, **changes: object) -> Memory:
    fields: dict[str, Any] = {
        "name": description,
        "description": description,
        "origin": "extraction",
        **changes,
    }
    return memory(evidence=sources, **fields)


def test_words_that_the_rest_says_stay() -> None:
    one = extracted(
        "Prefers mint tea", quoted("x1", "I prefer mint tea"), quoted("u2", "prefers mint tea")
    )
    left = forget.remainder(one, [one], gone)
    assert left is not None
    assert (left.description, left.evidence) == (one.description, one.evidence[1:])


def test_a_scene_that_the_rest_does_not_say_goes() -> None:
    sources = quoted("x1", "I prefer mint tea"), quoted("u2", "prefers mint tea")
    one = extracted("Prefers mint tea", *sources, scene="packing for Quillhaven")
    left = forget.remainder(one, [one], gone)
    assert left is not None
    assert (left.scene, left.description) == ("", "Prefers mint tea")


def test_else_the_newest_version_that_rests_on_none_of_it() -> None:
    first = extracted("Drinks tea", quoted("u1", "tea for me"), version=1)
    second = extracted(
        "Drinks tea daily", quoted("u1", "tea for me"), quoted("u2", "daily"), version=2
    )
    third = extracted("Drinks mint tea", *second.evidence, quoted("x3", "mint tea"), version=3)
    left = forget.remainder(third, [first, second, third], gone)
    assert left is not None
    assert (left.description, left.evidence, left.version) == (
        "Drinks tea daily",
        second.evidence,
        3,
    )


def test_what_ended_stays_ended() -> None:
    first = extracted("Drinks tea", quoted("u1", "tea for me"))
    ended = extracted(
        "Drinks mint tea",
        *first.evidence,
        quoted("x2", "mint"),
        invalid_at=DAY,
        superseded_by="mem_9",
    )
    left = forget.remainder(ended, [first, ended], gone)
    assert left is not None
    assert (left.description, left.invalid_at, left.superseded_by) == ("Drinks tea", DAY, "mem_9")


def test_what_a_person_typed_first_comes_back() -> None:
    typed = memory(description="The depot is by the river", evidence=(), origin="manual")
    more = memory(
        description="By the river, at the mill",
        evidence=(quoted("x1", "at the mill"),),
        origin="manual",
    )
    left = forget.remainder(more, [typed, more], gone)
    assert left is not None
    assert (left.description, left.evidence) == (typed.description, ())


def test_nothing_is_left_of_what_only_the_forgotten_said() -> None:
    one = extracted("Keeps bees", quoted("x1", "I keep bees"))
    assert forget.remainder(one, [one], gone) is None
    both = extracted("Keeps bees", quoted("x1", "I keep bees"), quoted("u2", "they are well"))
    assert forget.remainder(both, [both], gone) is None


def test_pieces_lie_within_lines_and_tell_texts_apart() -> None:
    long = "".join(chr(ord("a") + n % 26) for n in range(100))
    found, skipped = forget.pieces(
        ["short", f"{long}\nshort\n", "我们昨天在镇上的面包店买了面包", ""]
    )
    assert skipped == 1
    assert found == [long[:32], long[34:66], long[-32:], "我们昨天在镇上的面包店买了面包"]
    many = [f"{n:05} is the number of this line" for n in range(forget.MOST_PIECES + 7)]
    found, skipped = forget.pieces(many)
    assert (len(found), skipped) == (forget.MOST_PIECES, 7)


def test_the_forms_of_a_text_on_disk() -> None:
    assert forget.forms("abc") == (b"abc", b"a\0b\0c\0", b"\0a\0b\0c")
    assert b"\\u738b" in forget.forms("王")
    assert b'a\\"b' in forget.forms('a"b')
