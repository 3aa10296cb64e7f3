"""Days, weeks, months and years named in words, English and Chinese, placed on the calendar.

Relative words ("last Friday", 上周五) count from the day it was said in the owner's time zone. What
has no one meaning is decided here, once:

* "last Friday" is the newest Friday before that day, "next Friday" the Friday of next week (weeks
  begin on Monday), 上周五 the Friday of last week; a bare "on Friday" is the nearest one in the
  direction of the verb (past or to come), a bare 周五 the Friday of this
  week, or of the last one when that is still to come and the verb is past.
* "N weeks ago" is a day, "N months ago" a month, "N years ago" a year; "last week" is seven days.
* A day or month without a year is the newest one not after that day when the verb is past, else the
  first one not before it.
* Both ends of a range ("October 20 to 31", 11月10日到20日) are placed together: a year named at one
  end holds for both, the end is never before the beginning, and without a year it is the newest one
  begun when the words around it tell of the past, else the first one not over.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from memstrata.domain.lazy import Regex
from memstrata.domain.rules.words import PAST

Role = Literal["at", "until", "since", "span"]


@dataclass(frozen=True, slots=True)
class Named:
    """A stretch of days named at `text[start:end]`, both ends included.

    `iso` is how the description writes it (`2023-05-05`, `2023-06`, `2022`, `week of 2023-05-01`,
    `2023-05-05 to 2023-05-09`); `relative` says that the words alone do not tell it. `role` is what
    the preposition makes of it (`span` for a range, which has both ends); `lead` is where the
    preposition begins (`start` without one).
    """

    start: int
    end: int
    lead: int
    first: date
    last: date
    iso: str
    relative: bool
    role: Role = "at"


_Span = tuple[date, date, str]
_Reader = Callable[[re.Match[str], date, bool], _Span]


@dataclass(frozen=True, slots=True)
class _Form:
    """One way of naming days: `read` places a match. A form with a year in it is not `relative`."""

    pattern: Regex
    read: _Reader
    relative: bool


_WEEKDAYS: Final[Mapping[str, int]] = {
    "mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6,
    "一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6,
}  # fmt: skip
_MONTHS: Final[Mapping[str, int]] = {
    name.lower(): index for index, name in enumerate(calendar.month_abbr) if name
}
_NUMBERS: Final[Mapping[str, int]] = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_DIGITS: Final[Mapping[str, int]] = {
    "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip
_TODAY: Final[Mapping[str, int]] = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0,
    "yesterday": -1, "last night": -1, "the day before yesterday": -2,
    "tomorrow": 1, "the day after tomorrow": 2,
    "大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "昨日": -1, "前晚": -2, "今天": 0, "今日": 0,
    "今早": 0, "今晚": 0, "明天": 1, "明日": 1, "明早": 1, "明晚": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_STEP: Final[Mapping[str, int]] = {
    "last": -1, "this": 0, "next": 1, "past": -1, "coming": 0,
    "上": -1, "上个": -1, "上上": -2, "上上个": -2, "这": 0, "这个": 0, "本": 0, "下": 1, "下个": 1,
    "下下": 2, "下下个": 2, "前": -2, "去": -1, "今": 0, "明": 1, "后": 2,
}  # fmt: skip

_EN_NUMBER: Final = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_EN_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_EN_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_ZH_NUMBER: Final = r"\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九]"


def number(text: str) -> int:
    """A count in digits, English or Chinese words (1 to 99 in words)."""
    lowered = text.lower()
    if lowered.isdecimal():
        return int(lowered)
    if lowered in _NUMBERS:
        return _NUMBERS[lowered]
    tens, ten, ones = lowered.partition("十")
    if not ten:
        return _DIGITS[lowered]
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)


def _one(day: date) -> _Span:
    return day, day, day.isoformat()


def _week(day: date) -> _Span:
    first = day - timedelta(days=day.weekday())
    return first, first + timedelta(days=6), f"week of {first}"


def _weekend(day: date) -> _Span:
    first = day + timedelta(days=5 - day.weekday())
    return first, first + timedelta(days=1), f"weekend of {first}"


def _month(year: int, month: int) -> _Span:
    """`month` counts on over the ends of the year: 0 is December of the year before."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    last = date(year, month, calendar.monthrange(year, month)[1])
    return date(year, month, 1), last, f"{year:04d}-{month:02d}"


def _year(year: int) -> _Span:
    return date(year, 1, 1), date(year, 12, 31), f"{year:04d}"


def _weekday(day: date, weekday: int, weeks: int) -> _Span:
    return _one(day - timedelta(days=day.weekday()) + timedelta(days=weekday, weeks=weeks))


def _nearest(day: date, weekday: int, past: bool) -> _Span:
    back = (day.weekday() - weekday - 1) % 7 + 1
    return _one(
        day - timedelta(days=back)
        if past
        else day + timedelta(days=7 - back % 7 if back % 7 else 7)
    )


def _read_day_word(match: re.Match[str], day: date, past: bool) -> _Span:
    return _one(day + timedelta(days=_TODAY[" ".join(match["word"].lower().split())]))


def _read_weekday(match: re.Match[str], day: date, past: bool) -> _Span:
    weekday = _WEEKDAYS[match["day"][:3].lower()]
    match match["step"].lower().split():
        case ["last"] | ["this", "past"] | ["past"]:
            return _nearest(day, weekday, past=True)
        case ["next"]:
            return _weekday(day, weekday, 1)
        case _:
            return _weekday(day, weekday, 0)


def _read_bare_weekday(match: re.Match[str], day: date, past: bool) -> _Span:
    return _nearest(day, _WEEKDAYS[match["day"][:3].lower()], past)


def _read_stretch(match: re.Match[str], day: date, past: bool) -> _Span:
    """`last week`, `this weekend`, `next month`, `last year`."""
    step = _STEP[match["step"].lower().split()[-1]]
    match match["unit"].lower():
        case "weekend" if past and step == 0 and day.weekday() < 5:
            return _weekend(day - timedelta(weeks=1))
        case "week":
            return _week(day + timedelta(weeks=step))
        case "weekend":
            # On a Monday "last weekend" is the one that just ended: that of last week.
            return _weekend(day + timedelta(weeks=step))
        case "month":
            return _month(day.year, day.month + step)
        case _:
            return _year(day.year + step)


def _read_count(match: re.Match[str], day: date, past: bool) -> _Span:
    """`three days ago`, `in two weeks`, 三天后, 两个月前."""
    sign = -1 if match["before"] else 1
    return _shifted(day, sign * number(match["n"]), match["unit"].lower())


def _shifted(day: date, count: int, unit: str) -> _Span:
    match unit:
        case "day" | "天" | "日":
            return _one(day + timedelta(days=count))
        case "week" | "周" | "星期" | "礼拜":
            return _one(day + timedelta(weeks=count))
        case "month" | "月":
            return _month(day.year, day.month + count)
        case _:
            return _year(day.year + count)


def _read_day_of_month(match: re.Match[str], day: date, past: bool) -> _Span:
    """`the 15th of last month`."""
    first = _month(day.year, day.month + _STEP[match["step"].lower()])[0]
    return _one(first.replace(day=int(match["d"])))


def _read_month_day(match: re.Match[str], day: date, past: bool) -> _Span:
    month = _month_number(match["month"])
    if match["year"]:
        return _one(date(int(match["year"]), month, number(match["d"])))
    return _one(_without_year(month, number(match["d"]), day, past))


def _month_number(text: str) -> int:
    return _MONTHS[text[:3].lower()] if text[0].isascii() and text[0].isalpha() else number(text)


def _without_year(month: int, day_of_month: int, day: date, past: bool) -> date:
    found = date(day.year, month, day_of_month)
    if past and found > day:
        return date(day.year - 1, month, day_of_month)
    if not past and found < day:
        return date(day.year + 1, month, day_of_month)
    return found


def _read_month_alone(match: re.Match[str], day: date, past: bool) -> _Span:
    month = _month_number(match["month"])
    if match["year"]:
        return _month(int(match["year"]), month)
    if past:
        return _month(day.year - (month > day.month), month)
    return _month(day.year + (month < day.month), month)


def _read_iso(match: re.Match[str], day: date, past: bool) -> _Span:
    return _one(date(int(match["year"]), int(match["month"]), int(match["d"])))


def _read_year(match: re.Match[str], day: date, past: bool) -> _Span:
    return _year(int(match["year"]))


def _read_zh_weekday(match: re.Match[str], day: date, past: bool) -> _Span:
    found = _weekday(day, _WEEKDAYS[match["day"]], _STEP[match["step"] or "这"])
    if past and not match["step"] and found[0] > day:
        return _weekday(day, _WEEKDAYS[match["day"]], -1)
    return found


def _read_zh_weekend(match: re.Match[str], day: date, past: bool) -> _Span:
    return _weekend(day + timedelta(weeks=_STEP[match["step"] or "这"]))


def _read_zh_week(match: re.Match[str], day: date, past: bool) -> _Span:
    return _week(day + timedelta(weeks=_STEP[match["step"]]))


def _read_zh_month(match: re.Match[str], day: date, past: bool) -> _Span:
    """上个月, 下个月5号."""
    found = _month(day.year, day.month + _STEP[match["step"]])
    return _one(found[0].replace(day=number(match["d"]))) if match["d"] else found


def _read_zh_year(match: re.Match[str], day: date, past: bool) -> _Span:
    """去年, 明年三月, 今年5月3日."""
    year = day.year + _STEP[match["step"]]
    if not match["month"]:
        return _year(year)
    if not match["d"]:
        return _month(year, number(match["month"]))
    return _one(date(year, number(match["month"]), number(match["d"])))


def _read_zh_end(match: re.Match[str], day: date, past: bool) -> _Span:
    """月底, 年底: the last day of it."""
    last = _month(day.year, day.month if match["unit"] == "月" else 12)[1]
    return _one(last)


def _read_range(match: re.Match[str], day: date, past: bool) -> _Span:
    """`October 20 to October 31, 2025`, `3-9 May`, 11月10日到20日: both ends of one stretch."""
    first = _month_number(match["month"]), number(match["d"])
    named = match.groupdict()
    second = _month_number(named.get("month2") or match["month"]), number(match["d2"])
    year, year2 = named.get("year"), named.get("year2")
    if year and year2:
        return _ends(int(year), first, int(year2), second)
    if year2:
        return _ends(int(year2) - (first > second), first, int(year2), second)
    begins = int(year) if year else _year_of_range(first, second, day, past)
    return _ends(begins, first, begins + (first > second), second)


_Day = tuple[int, int]
"""A month and a day of it."""


def _year_of_range(first: _Day, second: _Day, day: date, past: bool) -> int:
    """The year in which a range without one begins."""
    if past:
        return _without_year(*first, day, past=True).year
    return _without_year(*second, day, past=False).year - (first > second)


def _ends(year: int, first: _Day, year2: int, second: _Day) -> _Span:
    begin, end = date(year, *first), date(year2, *second)
    if end < begin:
        raise ValueError("a range that ends before it begins")
    return begin, end, f"{begin} to {end}"


def _form(pattern: str, read: _Reader, *, relative: bool = True) -> _Form:
    return _Form(Regex(pattern, re.IGNORECASE), read, relative)


_EN_TO: Final = r"(?:(?: to| until| till| through| thru| up to)(?: the)? | ?[-–—] ?)"
_EN_AND: Final = rf"(?:{_EN_TO}| and (?:the )?)"


def _ranges(begin: str, to: str) -> tuple[_Form, ...]:
    """The English ways of naming both ends, behind `begin` and with `to` between them."""
    d = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
    d2 = r"(?P<d2>\d{1,2})(?:st|nd|rd|th)?\b"
    # "3-9 may help" names no month.
    month = rf"(?!(?-i:may)\b)(?P<month>{_EN_MONTH})"
    month2 = rf"(?P<month2>{_EN_MONTH})\b"
    year, year2 = r"(?:,? (?P<year>[12]\d{3})\b)?", r"(?:,? (?P<year2>[12]\d{3})\b)?"
    return (
        _form(rf"\b{begin}{month} {d}{year}{to}{month2} {d2}{year2}", _read_range),
        _form(rf"\b{begin}{d} (?:of )?{month}{year}{to}{d2} (?:of )?{month2}{year2}", _read_range),
        _form(rf"\b{begin}{month} {d}{to}{d2}(?! ?[:%]| (?:am|pm|o'clock)){year2}", _read_range),
        _form(rf"\b{begin}{d}{to}{d2} (?:of )?{month}\b{year2}", _read_range),
    )


_ENGLISH: Final[tuple[_Form, ...]] = (
    *_ranges("(?:the )?", _EN_TO),
    *_ranges("between (?:the )?", _EN_AND),
    _form(r"\b(?P<year>[12]\d{3})-(?P<month>\d\d)-(?P<d>\d\d)\b", _read_iso, relative=False),
    _form(
        rf"\b(?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd"
        rf"|th)? (?:of )?(?P<month>{_EN_MONTH})\b(?:,? (?P<year>[12]\d{{3}})\b)?",
        _read_month_day,
    ),
    _form(
        rf"\b(?P<month>{_EN_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>[12]\d{{3}})\b)?",
        _read_month_day,
    ),
    _form(
        r"\b(?P<word>today|tonight|this (?:morning|afternoon|evening)|the day before yesterday|yesterday"
        r"|last night|the day after tomorrow|tomorrow)\b(?!\.\w)",
        _read_day_word,
    ),
    _form(r"\b(?:the )?(?P<d>\d{1,2})(?:st|nd|rd|th)? of (?P<step>last|this|next) month\b", _read_day_of_month),
    _form(
        rf"\b(?P<step>last|this past|past|this|next)\s(?P<day>{_EN_DAY}|(?:mon|tues?|wed|thur?s?|fri"
        rf"|sat|sun)(?!\w))\b", _read_weekday),
    _form(
        r"\b(?P<step>last|this past|this|next|this coming)\s(?P<unit>weekend|week|month|year)\b",
        _read_stretch,
    ),
    _form(
        rf"\b(?:(?:about|around|roughly|nearly|almost|over) )?(?P<n>{_EN_NUMBER}) (?P<unit>day|week"
        rf"|month|year)s? (?P<before>ago)\b", _read_count
    ),
    _form(
        rf"\bin (?P<before>)(?P<n>{_EN_NUMBER}) (?P<unit>day|week|month|year)s?(?: time)?\b(?! of)",
        _read_count,
    ),
    _form(
        rf"\b(?:on|until|till|since|by|from|starting) (?P<day>{_EN_DAY})\b(?! (?:mornings|afternoons"
        rf"|evenings|nights))", _read_bare_weekday),
    _form(
        rf"\b(?:in|since|until|till|from|by|last|next|this|early|late) (?P<month>{_EN_MONTH})\b"
        r"(?! \d)(?:,? (?P<year>[12]\d{3})\b)?",
        _read_month_alone,
    ),
    _form(r"\b(?:in|since|until|till|from|by) (?P<year>(?:19|20)\d\d)\b(?![-/.]\d)", _read_year, relative=False),
)  # fmt: skip

_ZH_STEP: Final = r"上上个?|上个?|下下个?|下个?|这个?|本"
_CHINESE: Final[tuple[_Form, ...]] = (
    _form(
        r"(?<![\d年])(?:(?P<year>[12]\d{3})\s?年\s?)?"
        rf"(?P<month>{_ZH_NUMBER})\s?月\s?(?P<d>{_ZH_NUMBER})\s?[日号]?\s?(?:一直到|到|至|[-–—~～])\s?"
        r"(?:(?P<year2>[12]\d{3})\s?年\s?)?"
        rf"(?:(?P<month2>{_ZH_NUMBER})\s?月\s?)?(?P<d2>{_ZH_NUMBER})\s?[日号]",
        _read_range,
    ),
    _form(r"(?<!\d)(?P<year>[12]\d{3})-(?P<month>\d\d)-(?P<d>\d\d)(?!\d)", _read_iso, relative=False),
    _form(
        r"(?<!\d)(?P<year>[12]\d{3})\s?年\s?(?P<month>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?[日号]",
        _read_iso,
        relative=False,
    ),
    _form(
        rf"(?P<step>去|前|今|明|后)年(?:的?(?P<month>{_ZH_NUMBER})月(?:份|(?P<d>{_ZH_NUMBER})[日号])?)?",
        _read_zh_year,
    ),
    _form(rf"(?P<step>{_ZH_STEP})月(?:份|(?P<d>{_ZH_NUMBER})[日号])?", _read_zh_month),
    _form(
        rf"(?<![\d年])(?P<year>)(?P<month>{_ZH_NUMBER})月(?P<d>{_ZH_NUMBER})[日号]", _read_month_day
    ),
    _form(r"(?<!\d)(?P<year>[12]\d{3})\s?年(?P<month>\d{1,2})月", _read_month_alone, relative=False),
    _form(r"(?<!\d)(?P<year>(?:19|20)\d\d)\s?年(?!代)", _read_year, relative=False),
    _form(
        r"(?P<word>大前天|前天|昨天|昨晚|昨日|前晚|今天|今日|今早|今晚|大后天|后天|明天|明日|明早|明晚)",
        _read_day_word,
    ),
    _form(
        rf"(?P<step>{_ZH_STEP})(?:周|星期|礼拜)(?P<day>[一二三四五六日天])", _read_zh_weekday
    ),
    _form(rf"(?P<step>{_ZH_STEP})?周末", _read_zh_weekend),
    _form(rf"(?P<step>{_ZH_STEP})(?:周|星期|礼拜)", _read_zh_week),
    _form(
        r"(?<![每逢个一两三到至])(?P<step>)(?:周|星期|礼拜)(?P<day>[一二三四五六日天])(?![到至]"
        r"|[一二三四五六日])",
        _read_zh_weekday,
    ),
    _form(
        rf"(?P<n>{_ZH_NUMBER})\s?个?(?P<unit>天|日|周|星期|礼拜|月|年)(?:(?P<before>之?前|以前)|之?后|以后)",
        _read_count,
    ),
    _form(r"(?:这个|本|今年)?(?P<unit>[月年])底", _read_zh_end),
)  # fmt: skip

_EN_ROLE: Final = Regex(
    r"(?:\b(?P<until>until|till|through|thru|up to)|\b(?P<since>since|as of|starting|from)"
    r"|\b(?P<at>on|in|by|at|for))"
    r"(?: the)?\s*\Z",
    re.IGNORECASE,
)
_ZH_UNTIL: Final = Regex(r"(?:截止到|截止|截至|直到|一直到|到|至)\s*\Z")
_ZH_SINCE: Final = Regex(r"(?:从|自从|自)\s*\Z")
_ZH_UNTIL_AFTER: Final = Regex(r"\s*(?:为止|之前有效|前有效)")
_ZH_SINCE_AFTER: Final = Regex(r"\s*(?:起|开始|以来)")

_EN_OVER: Final = Regex(rf"\b(?:was|were|been|did|{PAST})\b", re.IGNORECASE)
_EN_PLANNED: Final = Regex(
    r"\b(?:booked|planned|scheduled|reserved|arranged|confirmed|approved|will|going to|next|coming"
    r"|upcoming|am|is|are|i'm|we're)\b",
    re.IGNORECASE,
)
_ZH_OVER: Final = Regex(r"了|过(?!年)|去年|上次|那次")
_ZH_PLANNED: Final = Regex(r"[请订约定排批买]了|预约|要|会(?!议)|将|打算|准备|计划|安排")

_HINT: Final = Regex(
    r"\d{4}-\d\d|\b(?:last|past|next|this) |day\b|week|month|year|night|morrow|morning|evening|noon|\bago\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?:19|20)\d\d|[天日周月年号晚早]|星期|礼拜",
    re.IGNORECASE,
)


def find(text: str, day: date | None, *, past: bool, chinese: bool) -> tuple[Named, ...]:
    """The days named in `text`, in order, none overlapping; the more telling form wins.

    `day` is the day it was said (None: unknown, then only names with a year of their own count);
    `past` decides words that carry no direction. Impossible days ("30 February") and those outside
    the years 1 to 9999 are left out.
    """
    if not _HINT.search(text):
        return ()
    found: list[Named] = []
    for form in _CHINESE if chinese else _ENGLISH:
        for match in form.pattern.finditer(text):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                continue
            named = _named(text, match, form, day or date.min, past, chinese)
            if named is not None and (day is not None or not named.relative):
                found.append(named)
    return tuple(sorted(found, key=lambda one: one.start))


def _named(
    text: str, match: re.Match[str], form: _Form, day: date, past: bool, chinese: bool
) -> Named | None:
    start, end = _bare(match, chinese)
    role, lead = _role(text, start, end, chinese)
    try:
        first, last, iso = form.read(match, day, _is_past(text, form, past, role, chinese))
    except (ValueError, OverflowError):
        return None
    groups = match.groupdict()
    relative = form.relative and not groups.get("year") and not groups.get("year2")
    if form.read is _read_range:
        role = "span"
    return Named(start, end, lead, first, last, iso, relative, role)


def _is_past(text: str, form: _Form, past: bool, role: Role, chinese: bool) -> bool:
    """The direction of a form. A range needs a verb that tells of the past: most are plans."""
    if form.read is not _read_range:
        return past and role != "until"
    if chinese:
        return past and bool(_ZH_OVER.search(text)) and not _ZH_PLANNED.search(text)
    return past and bool(_EN_OVER.search(text)) and not _EN_PLANNED.search(text)


def _bare(match: re.Match[str], chinese: bool) -> tuple[int, int]:
    """The span of a match without a preposition that its form swallowed ("on Friday")."""
    if chinese:
        return match.span()
    head = re.match(r"(?:on|until|till|since|by|from|starting|in) ", match[0], re.IGNORECASE)
    keep = head is None or "before" in match.re.groupindex
    return (match.start() if keep or head is None else match.start() + head.end()), match.end()


def _role(text: str, start: int, end: int, chinese: bool) -> tuple[Role, int]:
    """What the words around `text[start:end]` make of it, and where they begin."""
    if chinese:
        return _chinese_role(text, start, end)
    before = _EN_ROLE.search(text, max(0, start - 16), start)
    if before is None:
        return "at", start
    return "until" if before["until"] else "since" if before["since"] else "at", before.start()


def _chinese_role(text: str, start: int, end: int) -> tuple[Role, int]:
    roles: tuple[tuple[Role, Regex, Regex], ...] = (
        ("until", _ZH_UNTIL, _ZH_UNTIL_AFTER),
        ("since", _ZH_SINCE, _ZH_SINCE_AFTER),
    )
    for role, lead, tail in roles:
        before = lead.search(text, max(0, start - 6), start)
        if before or tail.match(text, end):
            return role, before.start() if before else start
    return "at", start


def written(text: str, named: tuple[Named, ...], *, chinese: bool) -> tuple[str, tuple[str, ...]]:
    """`text` with each relative name of days, and each range, replaced by the days and the words in brackets.

    Returns the text and what was put in ("2023-05-05").
    """
    pieces: list[str] = []
    put: list[str] = []
    at = 0
    for one in named:
        if not one.relative and one.role != "span":
            continue
        words = text[one.start : one.end]
        pieces += [text[at : one.start], _with_words(text, one, words, chinese)]
        put += _PUT.findall(one.iso)
        at = one.end
    return "".join(pieces) + text[at:], tuple(dict.fromkeys(put))


_PUT: Final = Regex(r"\d{4}(?:-\d\d){0,2}")


def _with_words(text: str, one: Named, words: str, chinese: bool) -> str:
    if chinese:
        if one.role == "span":
            return f"{one.iso.replace(' to ', '到')}（{words}）"
        stretch, _, day = one.iso.rpartition(" ")
        return f"{day}{' 那周' if stretch else ''}（{words}）"
    if re.match(r"in\b", words, re.IGNORECASE):
        return f"{'on' if len(one.iso) == 10 else 'in'} {one.iso} ({words})"
    if one.role == "span":
        return f"{'' if one.lead < one.start else 'from '}{one.iso} ({words})"
    if one.lead < one.start:
        return f"{one.iso} ({words})"
    preposition = {10: "on ", 7: "in ", 4: "in "}.get(
        len(one.iso), "in the " if "week " in one.iso else "on the "
    )
    return f"{preposition}{one.iso} ({words})"
