"""The five gates between a candidate and a memory. Each is a pure check; the first refusal decides.

Reported in this order: transient, confidence (with priority floors, support and authority),
duplicates (in `evolve`), quota, sensitive.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from memstrata.domain.candidate import Candidate
from memstrata.domain.lazy import Regex
from memstrata.domain.memory import DEFAULT_PRIORITY, STANDING_RULE, Type
from memstrata.domain.plan import NotKept
from memstrata.domain.scope import Scope
from memstrata.domain.turn import Message

GATES: Final = ("transient", "confidence", "duplicates", "quota", "sensitive")

TRANSIENT: Final = (
    r"\btemporar(?:y|ily)\b",
    r"\bthis (?:one )?time\b",
    r"\bjust (?:now|this once|for today|for now)\b",
    r"\bfor (?:now|today|the moment|the time being)\b",
    r"\b(?:right now|at the moment|today only|only today|one[- ]off)\b",
    r"\bcurrently (?:debugging|trying|testing|running|looking|waiting|stuck|working on)\b",
    r"临时(?!工|牌照|居民)|这次|这一次|本次|目前先|暂时|暂且|先这样|刚才|此刻|眼下|今天先|就今天|仅今天|只是今天",
)
"""What speaks of the moment: data, extended by `gates.transient`."""

PRIORITY_FLOOR: Final[Mapping[Type, int]] = {
    "user": 50,
    "feedback": 70,
    "project": 50,
    "reference": 50,
    "episodic": 60,
}
EPISODIC: Final = "episodic"
QUOTA_WARNING: Final = 0.8

_DASHES: Final = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_QUOTES: Final = dict.fromkeys(map(ord, "‘’‚‛`´"), "'") | dict.fromkeys(
    map(ord, "“”„‟«»「」『』"), '"'
)
_FIGURE: Final = Regex(r"\d+(?:[.,:/-]\d+)*")
_ISO_DAY: Final = Regex(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_THOUSANDS: Final = Regex(r"(?<=\d),(?=\d{3}(?!\d))")
_NAME: Final = Regex(r"(?<=[a-z\d,] )(?!I\b|User\b)[A-Z][^\W_]*(?:-[^\W_]+)*")
"""A capital inside a sentence: an English proper name or an abbreviation."""
_MONTHS: Final = (
    "january february march april may june july august september october november december".split()
)
_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_CALENDAR: Final[Mapping[str, tuple[str, int]]] = {
    form: (kind, number)
    for kind, names in (("month", _MONTHS), ("weekday", _WEEKDAYS))
    for number, name in enumerate(names, start=1)
    for form in (name, f"{name}s", name[:3])
} | {
    "sept": ("month", 9),
    "tues": ("weekday", 2),
    "weds": ("weekday", 3),
    "thur": ("weekday", 4),
    "thurs": ("weekday", 4),
    **{
        f"{week}{day}": ("weekday", number)
        for week in ("周", "星期", "礼拜")
        for number, day in enumerate("一二三四五六日", start=1)
    },
    **dict.fromkeys(("周天", "星期天", "礼拜天"), ("weekday", 7)),
}
"""Months and days of the week as they are written, numbered from 1."""
_CALENDAR_WORD: Final = Regex(r"[a-z]+|(?:周|星期|礼拜)[一二三四五六日天]")
_HOMONYMS: Final = frozenset(("may", "march", "mays", "sun", "sat", "mar", "wed", "mon", "jan"))
"""What means a month or a day only beside a number."""
_BESIDE_FIGURE: Final = Regex(r"(?:\d(?:st|nd|rd|th)? )([a-z]+)|([a-z]+)(?=\.? \d)")
_CJK: Final = Regex("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A gate's no: which gate, how it is listed, why."""

    gate: str
    verdict: NotKept
    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """The numbers that the gates go by."""

    min_confidence: float
    quota: Mapping[Scope, int]
    episodic_quota: int
    transient: Sequence[re.Pattern[str]]


def compile_transient(extra: Sequence[str] = ()) -> tuple[re.Pattern[str], ...]:
    """The transient patterns and `extra` ones, ready to search.

    Raises:
        re.error: an extra pattern is no regular expression.
    """
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*TRANSIENT, *extra))


def transient(candidate: Candidate, patterns: Sequence[re.Pattern[str]]) -> Refusal | None:
    """Gate 1: names and descriptions that speak of the moment."""
    for text in (candidate.name, candidate.description):
        for pattern in patterns:
            found = pattern.search(text)
            if found:
                return Refusal("transient", "transient", f"speaks of the moment ({found[0]!r})")
    return None


def confidence(candidate: Candidate, minimum: float) -> Refusal | None:
    """Gate 2: an extractor that is not sure enough."""
    if candidate.confidence >= minimum:
        return None
    return Refusal(
        "confidence",
        "low_confidence",
        f"confidence {candidate.confidence:.2f} is below {minimum:.2f}",
    )


def priority(candidate: Candidate) -> Refusal | None:
    """Gate 2: below the priority floor of its type. A standing rule (−1) never is."""
    floor = PRIORITY_FLOOR[candidate.type]
    found = DEFAULT_PRIORITY[candidate.type] if candidate.priority is None else candidate.priority
    if found >= floor or (candidate.type == "feedback" and found == STANDING_RULE):
        return None
    return Refusal(
        "confidence",
        "low_priority",
        f"priority {found} is below {floor}, the floor of {candidate.type}",
    )


def folded(text: str) -> str:
    """How quotes are compared: NFKC, quotes and dashes unified, case folded, blanks collapsed."""
    # First the quotes: NFKC takes ´ for a blank with an accent.
    normal = unicodedata.normalize("NFKC", text.translate(_QUOTES))
    unified = normal.translate(_DASHES).translate(_QUOTES)
    return " ".join(unified.casefold().split())


def support(candidate: Candidate, messages: Mapping[tuple[str, str], Message]) -> Refusal | None:
    """Gate 2: the quote stands in the message it names, and nothing in the description was added.

    `messages` by (session, id). A quote has at least 8 letters or 4 CJK characters, or is the whole
    message. Every name, number and date of the description occurs in the quoted messages or was
    resolved from a relative date. Names are the candidate's entities and, in English, what has a
    capital inside a sentence.
    """

    def unsupported(reason: str) -> Refusal:
        return Refusal("confidence", "unsupported", reason)

    if not candidate.evidence:
        return unsupported("names no message it came from")
    if candidate.description.rstrip().endswith(("?", "？")):
        return unsupported("is a question and states nothing")
    texts: list[str] = []
    for one in candidate.evidence:
        message = messages.get((one.session, one.message))
        if message is None:
            return unsupported(f"names a message that is not in the batch ({one.message})")
        text, quote = folded(message.content), folded(one.quote)
        if not quote or quote not in text:
            return unsupported(f"its quote is not in message {one.message}")
        if quote != text and not _long_enough(quote):
            return unsupported(f"its quote is too short to prove anything ({one.message})")
        texts.append(text)
    said = " ".join((*texts, *map(folded, candidate.resolved)))
    added = next(unsaid(candidate.description, candidate.entities, said), None)
    return None if added is None else unsupported(f"the quoted messages do not say {added!r}")


def unsaid(text: str, entities: Sequence[str], said: str) -> Iterator[str]:
    """The names, numbers and dates of a text, and its `entities`, that `said` (folded) does not hold."""
    for name in (*entities, *_NAME.findall(text)):
        if folded(name) not in _CALENDAR and not _says_name(said, folded(name)):
            yield name
    description = folded(text)
    without = _THOUSANDS.sub("", said)
    for figure in _FIGURE.findall(_THOUSANDS.sub("", description)):
        if not _says_figure(without, figure) and not _says_day(without, figure):
            yield figure
    held = _calendar(said) | _dated(said)
    beside = {word for pair in _BESIDE_FIGURE.findall(description) for word in pair}
    for word in _CALENDAR_WORD.findall(description):
        if word in _HOMONYMS and word not in beside:
            continue
        if word in _CALENDAR and _CALENDAR[word] not in held:
            yield word


def _says_name(said: str, name: str) -> bool:
    """Whether `name` stands in `said`, not behind a Latin letter: "Ann" is not in "planned"."""
    edge = r"(?<![a-z0-9])" if name[:1].isascii() and name[:1].isalnum() else ""
    return bool(name) and re.search(edge + re.escape(name), said) is not None


def _says_figure(said: str, figure: str) -> bool:
    """Whether `figure` stands in `said` as a number of its own: 9 is not in 2019, nor 3 in 3.5."""
    bare = re.escape(figure.lstrip("0") or "0")
    return re.search(rf"(?<!\d)(?<!\d[.,])0*{bare}(?!\d)(?![.,]\d)", said) is not None


def _says_day(said: str, figure: str) -> bool:
    """Whether `figure` is a day or month (2026-10-31) that `said` spells otherwise (October 31, 2026)."""
    parts = _ISO_DAY.fullmatch(figure)
    if parts is None:
        return False
    year, month, day = parts.groups()
    return (
        _says_figure(said, year)
        and (day is None or _says_figure(said, day))
        and (_says_figure(said, month) or ("month", int(month)) in _calendar(said))
    )


def _calendar(text: str) -> set[tuple[str, int]]:
    """The months and days of the week that a folded text names."""
    return {_CALENDAR[word] for word in _CALENDAR_WORD.findall(text) if word in _CALENDAR}


def _dated(text: str) -> set[tuple[str, int]]:
    """The months and days of the week of the dates in a text."""
    found: set[tuple[str, int]] = set()
    for year, month, day in _ISO_DAY.findall(text):
        found.add(("month", int(month)))
        try:
            found.add(("weekday", date(int(year), int(month), int(day or 0)).isoweekday()))
        except ValueError:
            continue  # a month, or figures that are no date
    return found


def _long_enough(quote: str) -> bool:
    return sum(map(str.isalpha, quote)) >= 8 or len(_CJK.findall(quote)) >= 4


def authority(candidate: Candidate) -> Refusal | None:
    """Gate 2: what only the assistant or a tool said never becomes a fact about the person or a rule."""
    if candidate.authority in ("user", "person") or candidate.type not in ("user", "feedback"):
        return None
    return Refusal("confidence", "authority", f"only the {candidate.authority} said so")


def workspace(candidate: Candidate, has_workspace: bool) -> Refusal | None:
    """Gate 2: a project candidate in a session without a workspace has no scope to go to."""
    if candidate.scope != "project" or has_workspace:
        return None
    return Refusal(
        "confidence", "no_workspace", "is about a project, and the session names no workspace"
    )


def sensitive(kinds: Sequence[str]) -> Refusal | None:
    """Gate 5: `kinds` of what a scanner found in name, description, body or quote."""
    if not kinds:
        return None
    return Refusal("sensitive", "sensitive", f"holds {', '.join(dict.fromkeys(kinds))}")


def quota(type: Type, scope: Scope, valid: Mapping[Type, int], limits: Limits) -> Refusal | None:
    """Gate 4: the scope is full. `valid` counts the valid memories of the key by type."""
    if type == EPISODIC:
        held, most, what = valid.get("episodic", 0), limits.episodic_quota, "episodic memories"
    else:
        held = sum(count for kind, count in valid.items() if kind != EPISODIC)
        most, what = limits.quota[scope], f"memories of scope {scope}"
    if held < most:
        return None
    return Refusal("quota", "quota", f"{held} of {most} {what} are taken")


def check(
    candidate: Candidate,
    messages: Mapping[tuple[str, str], Message],
    *,
    limits: Limits,
    has_workspace: bool,
    kinds: Sequence[str],
) -> Refusal | None:
    """Gates 1, 2 and 5 on one candidate: everything that needs no other memory. The first refusal."""
    checks: tuple[Callable[[], Refusal | None], ...] = (
        lambda: transient(candidate, limits.transient),
        lambda: confidence(candidate, limits.min_confidence),
        lambda: priority(candidate),
        lambda: support(candidate, messages),
        lambda: authority(candidate),
        lambda: workspace(candidate, has_workspace),
        lambda: sensitive(kinds),
    )
    return next((refusal for run in checks if (refusal := run()) is not None), None)
