"""From what a clause states to a candidate: evidence, days, scope, names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, tzinfo
from typing import Final

from memstrata.domain.candidate import Candidate
from memstrata.domain.gates import TRANSIENT
from memstrata.domain.lazy import Regex
from memstrata.domain.memory import MAX_NAME, Evidence, Type, shorten
from memstrata.domain.rules import dates, names, slots
from memstrata.domain.rules.reading import SECRET
from memstrata.domain.rules.rule import Draft
from memstrata.domain.rules.sentences import MAX_SENTENCE, Sentence
from memstrata.domain.scope import Scope
from memstrata.domain.turn import Message

HEDGED: Final = 0.5
"""The confidence of what was said with "I think" or 也许: shown to the gates, which refuse it."""
_LETTERS: Final = 8
_CJK_LETTERS: Final = 4
_NAMING: Final = ("name", "self", "org", "place", "owner")
_REASONED: Final = ("feedback", "project")
_MOMENT: Final = tuple(Regex(pattern, re.IGNORECASE) for pattern in TRANSIENT)
_AT_PRESENT: Final = ("right now", "at the moment")
"""With a slot ("I live in Porto right now") these only say that it is so, not that it will pass."""
_ANY_DAY: Final = date(2000, 1, 3)


@dataclass(frozen=True, slots=True)
class Heard:
    """A message and where it was heard: the day it was said in the owner's `zone` (None: unknown)."""

    message: Message
    day: date | None
    has_workspace: bool
    zone: tzinfo

    def dated(self, clause: str, past: bool, chinese: bool) -> bool:
        """True when the clause names a day in the direction of its verb.

        A relative one counts also when nobody knows from which day, though it cannot be placed then.
        """
        named = dates.find(clause, self.day or _ANY_DAY, past=past, chinese=chinese)
        if self.day is None or not named:
            return bool(named)
        return named[0].first <= self.day if past else named[0].last >= self.day


def heard(message: Message, *, has_workspace: bool, zone: tzinfo) -> Heard:
    """`message` with the day it was said in `zone`."""
    return Heard(message, _local_day(message.said_at, zone), has_workspace, zone)


def _local_day(said_at: datetime | None, zone: tzinfo) -> date | None:
    """The day of `said_at` in `zone`; None when unknown or, at either end of the calendar, outside it."""
    if said_at is None:
        return None
    try:
        return said_at.astimezone(zone).date()
    except OverflowError:
        return None


def candidate(draft: Draft, sentence: Sentence, where: Heard) -> Candidate | None:
    """The candidate of a draft; None when no quote of it is long enough to prove anything."""
    says, chinese = draft.says, sentence.chinese
    evidence = _evidence(draft, sentence, where.message)
    if evidence is None:
        return None
    line, resolved = _dated_line(draft, where.day, chinese=chinese)
    line += _of_the_moment(line, draft, sentence)
    description, body = shorten(line, _reason(draft))
    known = tuple(draft.values[group] for group in _NAMING if draft.values.get(group))
    found = Candidate(
        scope=_scope(says.type, where.has_workspace),
        type=says.type,
        name=_name(draft, line, chinese=chinese),
        description=description,
        evidence=(evidence,),
        authority="user",
        said_at=where.message.said_at,
        body=body,
        confidence=min(says.confidence, HEDGED) if draft.hedged else says.confidence,
        priority=says.priority,
        entities=names.entities(evidence.quote, known, chinese=chinese),
        subject=draft.subject,
        slot=draft.slot,
        change=says.change,
        resolved=resolved,
    )
    clause = sentence.text[draft.start : draft.end]
    named = dates.find(clause, where.day, past=says.past, chinese=chinese)
    return _at_home(_timed(found, named, where, for_days=says.event), where)


def _dated_line(draft: Draft, day: date | None, *, chinese: bool) -> tuple[str, tuple[str, ...]]:
    """The description with its days placed on the calendar, and those days."""
    named = dates.find(draft.description, day, past=draft.says.past, chinese=chinese)
    line, resolved = dates.written(draft.description, named, chinese=chinese)
    return line[:1].upper() + line[1:], resolved


def _of_the_moment(line: str, draft: Draft, sentence: Sentence) -> str:
    """What says that it holds for the moment only, where the description dropped it: a gate must see it."""
    for pattern in _MOMENT:
        found = pattern.search(sentence.text)
        if (
            found
            and not pattern.search(line)
            and not (draft.slot and found[0].lower() in _AT_PRESENT)
        ):
            return f" ({found[0]})"
    return ""


def _reason(draft: Draft) -> str:
    return f"**Why:** {draft.reason}" if draft.reason and draft.says.type in _REASONED else ""


def _name(draft: Draft, line: str, *, chinese: bool) -> str:
    if not draft.slot:
        return names.short(line, chinese=chinese)
    return slots.name(draft.slot, draft.subject, chinese=chinese)[:MAX_NAME].rstrip()


def _scope(type: Type, has_workspace: bool) -> Scope:
    if type == "project" or (type == "reference" and has_workspace):
        return "project"
    return "user"


def _timed(
    found: Candidate, named: tuple[dates.Named, ...], where: Heard, *, for_days: bool
) -> Candidate:
    """`found` with when it happened (episodic) or from when until when it holds (the rest).

    `for_days`: it holds on the days that it names ("next week I'm on leave") and no longer.
    """
    if found.type == "episodic" and named:
        return replace(found, happened_from=named[0].first, happened_until=named[0].last)
    until = next((one.last for one in named if one.role in ("until", "span")), None)
    if until is None and for_days and named and all(one.role == "at" for one in named):
        until = named[-1].last
    # "Today I start" begins when it was said, which is the default.
    since = next(
        (one.first for one in named if one.role in ("since", "span") and one.first != where.day),
        None,
    )
    over = until is not None and where.day is not None and until < where.day
    return replace(
        found,
        valid_until=None if over else until,
        valid_from=_midnight(since, where.zone) if since else None,
    )


def _midnight(day: date, zone: tzinfo) -> datetime | None:
    try:
        return datetime.combine(day, time(), zone).astimezone(UTC)
    except OverflowError:
        return None


def _at_home(found: Candidate, where: Heard) -> Candidate:
    """A dated matter of a project nobody named ("freeze until …") is an event of the person's own life."""
    if where.has_workspace or found.type != "project" or found.valid_until is None:
        return found
    return replace(found, scope="user", type="episodic")


def _evidence(draft: Draft, sentence: Sentence, message: Message) -> Evidence | None:
    """The clause, else the sentence, else the whole message: the first that is long enough to be a quote."""
    content = message.content
    clause = (sentence.start + draft.start, sentence.start + draft.end)
    for start, end in (clause, (sentence.start, sentence.end), (0, len(content))):
        quote = content[start:end]
        if SECRET in quote or len(quote) > MAX_SENTENCE:
            return None
        if _long_enough(quote) or quote == content:
            return Evidence(message.id, start, end, quote, message.session)
    return None


def _long_enough(quote: str) -> bool:
    chinese = sum("\u3400" <= character <= "\u9fff" for character in quote)
    return sum(map(str.isalpha, quote)) >= _LETTERS or chinese >= _CJK_LETTERS
