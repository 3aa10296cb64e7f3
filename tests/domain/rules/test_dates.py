"""Days named in words, by table: English and Chinese, ends of years, roles, nonsense."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain.rules import dates

WEDNESDAY = date(2023, 5, 10)
NEW_YEAR = date(2024, 1, 1)  # a Monday
LEAP_DAY = date(2024, 2, 29)

ENGLISH = [
    (WEDNESDAY, "yesterday", "2023-05-09", "2023-05-09"),
    (WEDNESDAY, "the day before yesterday", "2023-05-08", "2023-05-08"),
    (WEDNESDAY, "last night", "2023-05-09", "2023-05-09"),
    (WEDNESDAY, "last Friday", "2023-05-05", "2023-05-05"),
    (WEDNESDAY, "last Wednesday", "2023-05-03", "2023-05-03"),
    (WEDNESDAY, "last Tues", "2023-05-09", "2023-05-09"),
    (WEDNESDAY, "on Friday", "2023-05-05", "2023-05-05"),
    (WEDNESDAY, "two weeks ago", "2023-04-26", "2023-04-26"),
    (WEDNESDAY, "about 3 days ago", "2023-05-07", "2023-05-07"),
    (WEDNESDAY, "two months ago", "2023-03-01", "2023-03-31"),
    (WEDNESDAY, "a year ago", "2022-01-01", "2022-12-31"),
    (WEDNESDAY, "last week", "2023-05-01", "2023-05-07"),
    (WEDNESDAY, "last weekend", "2023-05-06", "2023-05-07"),
    (WEDNESDAY, "last month", "2023-04-01", "2023-04-30"),
    (WEDNESDAY, "last year", "2022-01-01", "2022-12-31"),
    (WEDNESDAY, "the 15th of last month", "2023-04-15", "2023-04-15"),
    (WEDNESDAY, "in March", "2023-03-01", "2023-03-31"),
    (WEDNESDAY, "in August", "2022-08-01", "2022-08-31"),
    (WEDNESDAY, "on 3 May", "2023-05-03", "2023-05-03"),
    (WEDNESDAY, "on December 3rd", "2022-12-03", "2022-12-03"),
    (WEDNESDAY, "on 3 May 2021", "2021-05-03", "2021-05-03"),
    (WEDNESDAY, "in 2019", "2019-01-01", "2019-12-31"),
    (WEDNESDAY, "on 2021-02-03", "2021-02-03", "2021-02-03"),
    (NEW_YEAR, "yesterday", "2023-12-31", "2023-12-31"),
    (NEW_YEAR, "last week", "2023-12-25", "2023-12-31"),
    (NEW_YEAR, "last month", "2023-12-01", "2023-12-31"),
    (NEW_YEAR, "last Friday", "2023-12-29", "2023-12-29"),
    (LEAP_DAY, "a year ago", "2023-01-01", "2023-12-31"),
]
TO_COME = [
    (WEDNESDAY, "tomorrow", "2023-05-11", "2023-05-11"),
    (WEDNESDAY, "on Friday", "2023-05-12", "2023-05-12"),
    (WEDNESDAY, "on Wednesday", "2023-05-17", "2023-05-17"),
    (WEDNESDAY, "this Friday", "2023-05-12", "2023-05-12"),
    (WEDNESDAY, "next Friday", "2023-05-19", "2023-05-19"),
    (WEDNESDAY, "next month", "2023-06-01", "2023-06-30"),
    (WEDNESDAY, "in two weeks", "2023-05-24", "2023-05-24"),
    (WEDNESDAY, "in March", "2024-03-01", "2024-03-31"),
    (WEDNESDAY, "on 3 May", "2024-05-03", "2024-05-03"),
    (date(2023, 12, 20), "next month", "2024-01-01", "2024-01-31"),
    (date(2023, 12, 28), "next week", "2024-01-01", "2024-01-07"),
    (date(2023, 12, 31), "tomorrow", "2024-01-01", "2024-01-01"),
]
CHINESE = [
    (WEDNESDAY, "昨天", "2023-05-09", "2023-05-09"),
    (WEDNESDAY, "前天", "2023-05-08", "2023-05-08"),
    (WEDNESDAY, "大前天", "2023-05-07", "2023-05-07"),
    (WEDNESDAY, "后天", "2023-05-12", "2023-05-12"),
    (WEDNESDAY, "上周五", "2023-05-05", "2023-05-05"),
    (WEDNESDAY, "上上周一", "2023-04-24", "2023-04-24"),
    (WEDNESDAY, "下周日", "2023-05-21", "2023-05-21"),
    (WEDNESDAY, "周一", "2023-05-08", "2023-05-08"),
    (WEDNESDAY, "周六", "2023-05-06", "2023-05-06"),
    (WEDNESDAY, "上周末", "2023-05-06", "2023-05-07"),
    (WEDNESDAY, "下个月", "2023-06-01", "2023-06-30"),
    (WEDNESDAY, "上个月5号", "2023-04-05", "2023-04-05"),
    (WEDNESDAY, "三天后", "2023-05-13", "2023-05-13"),
    (WEDNESDAY, "十二天前", "2023-04-28", "2023-04-28"),
    (WEDNESDAY, "两个月前", "2023-03-01", "2023-03-31"),
    (WEDNESDAY, "去年三月", "2022-03-01", "2022-03-31"),
    (WEDNESDAY, "明年六月十四号", "2024-06-14", "2024-06-14"),
    (WEDNESDAY, "2022年3月5日", "2022-03-05", "2022-03-05"),
    (WEDNESDAY, "十二月三号", "2022-12-03", "2022-12-03"),
    (WEDNESDAY, "年底", "2023-12-31", "2023-12-31"),
    (NEW_YEAR, "昨天", "2023-12-31", "2023-12-31"),
    (NEW_YEAR, "上个月", "2023-12-01", "2023-12-31"),
    (NEW_YEAR, "上周五", "2023-12-29", "2023-12-29"),
    (date(2023, 12, 20), "下个月", "2024-01-01", "2024-01-31"),
]


def span(text: str, day: date, *, past: bool = True, chinese: bool = False) -> tuple[str, str]:
    (named,) = dates.find(text, day, past=past, chinese=chinese)
    return named.first.isoformat(), named.last.isoformat()


@pytest.mark.promise("rules.dates")
@pytest.mark.parametrize("day, text, first, last", ENGLISH)
def test_english_in_the_past(day: date, text: str, first: str, last: str) -> None:
    assert span(f"we met {text}", day) == (first, last)


@pytest.mark.promise("rules.dates")
@pytest.mark.parametrize("day, text, first, last", TO_COME)
def test_english_to_come(day: date, text: str, first: str, last: str) -> None:
    assert span(f"we meet {text}", day, past=False) == (first, last)


@pytest.mark.promise("rules.dates")
@pytest.mark.parametrize("day, text, first, last", CHINESE)
def test_chinese(day: date, text: str, first: str, last: str) -> None:
    assert span(f"我{text}见面", day, chinese=True) == (first, last)


@pytest.mark.parametrize(
    "text, chinese, role",
    [
        ("until next Friday", False, "until"),
        ("through 2026-10-31", False, "until"),
        ("since May", False, "since"),
        ("starting next Monday", False, "since"),
        ("on Friday", False, "at"),
        ("冻结到十月三十一号", True, "until"),
        ("十月三十一号为止", True, "until"),
        ("从下周一开始", True, "since"),
        ("昨天去的", True, "at"),
    ],
)
def test_the_words_around_a_day_say_what_it_is_for(text: str, chinese: bool, role: str) -> None:
    (named,) = dates.find(text, WEDNESDAY, past=False, chinese=chinese)
    assert named.role == role


def test_the_end_of_a_stretch_is_to_come_whatever_the_verb() -> None:
    assert span("it was frozen until 3 March", WEDNESDAY) == ("2024-03-03", "2024-03-03")


@pytest.mark.parametrize(
    "text", ["on 30 February", "in 9999 days", "every Friday", "on Fridays", "tomorrow.io"]
)
def test_what_is_no_day_is_not_found(text: str) -> None:
    assert dates.find(text, WEDNESDAY, past=True, chinese=False) == ()


@pytest.mark.parametrize("text", ["每周五开会", "周一到周五上班", "二月三十号"])
def test_what_is_no_day_in_chinese_is_not_found(text: str) -> None:
    assert dates.find(text, WEDNESDAY, past=True, chinese=True) == ()


def test_without_a_day_only_whole_dates_are_found() -> None:
    found = dates.find("from last Friday until 2026-10-31", None, past=False, chinese=False)
    assert [one.iso for one in found] == ["2026-10-31"]


@pytest.mark.parametrize(
    "text, chinese, written",
    [
        ("Met last Friday", False, "Met on 2023-05-05 (last Friday)"),
        ("Met on Friday", False, "Met on 2023-05-05 (Friday)"),
        ("Met last week", False, "Met in the week of 2023-05-01 (last week)"),
        ("Met last weekend", False, "Met on the weekend of 2023-05-06 (last weekend)"),
        ("Met last month", False, "Met in 2023-04 (last month)"),
        ("Met on 3 May 2021", False, "Met on 3 May 2021"),
        ("昨天见面", True, "2023-05-09（昨天）见面"),
        ("上周见面", True, "2023-05-01 那周（上周）见面"),
        ("2022年3月5日见面", True, "2022年3月5日见面"),
    ],
)
def test_relative_days_are_written_with_their_words(text: str, chinese: bool, written: str) -> None:
    named = dates.find(text, WEDNESDAY, past=True, chinese=chinese)
    line, put = dates.written(text, named, chinese=chinese)
    assert line == written
    assert all(one in line for one in put)


@pytest.mark.parametrize(
    "text, number",
    [
        ("7", 7),
        ("an", 1),
        ("twelve", 12),
        ("两", 2),
        ("十", 10),
        ("十五", 15),
        ("二十", 20),
        ("三十一", 31),
    ],
)
def test_numbers(text: str, number: int) -> None:
    assert dates.number(text) == number


PIECES = [
    *(
        "last ",
        "next ",
        "Friday ",
        "month ",
        "in ",
        "99 ",
        "years ",
        "ago ",
        "3 ",
        "May ",
        "since ",
    ),
    *("9999-12-31 ", "0000-01-01 ", "上上", "下个", "周", "五", "月", "号", "年", "前", "三十"),
    *("十二", "九十九", "天后", "去年", "底", "9999年", "到"),
]


@given(
    text=st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    day=st.dates(),
    past=st.booleans(),
    chinese=st.booleans(),
)
def test_any_words_on_any_day_give_ordered_spans(
    text: str, day: date, past: bool, chinese: bool
) -> None:
    found = dates.find(text, day, past=past, chinese=chinese)
    for one in found:
        assert one.first <= one.last
        assert 0 <= one.lead <= one.start < one.end <= len(text)
    assert all(a.end <= b.start for a, b in pairwise(found))
