"""Asking for candidates: the conversation as a model is shown it, and its items as candidates of ours."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, tzinfo
from functools import cache
from typing import Final

from memstrata.domain import gates, terms
from memstrata.domain.candidate import Candidate
from memstrata.domain.lazy import Regex
from memstrata.domain.memory import Authority, Evidence
from memstrata.domain.rules import dates
from memstrata.domain.scope import Scope
from memstrata.domain.turn import Message
from memstrata.prompts import quotes
from memstrata.prompts.answers import CandidateItem, QuoteItem, Rejected
from memstrata.prompts.template import Rendered, indented, load, one_line

MOST_CHARACTERS: Final = 12_000
"""Of one message; a longer one is shown without its middle."""

_TAIL: Final = 3_000
_AROUND: Final = 300
"""How far from a quote, in characters, the day it is about may be named."""
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_CJK: Final = Regex("[\u3400-\u9fff]")
_OWNER: Final = frozenset(("user", "the user", "i", "me", "myself", "用户", "我", "本人"))
_LETTERS: Final = Regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\\W\\d_]+")
_JAPANESE: Final = ("HIRAGANA", "KATAKANA")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？\n])")
_ANSWER: Final = Regex(
    r"\A\W*(?:yes|yeah|yep|yup|right|exactly|correct|true|sure|ok|okay|agreed|absolutely|definitely"
    r"|indeed|please|no|nope|never|always)\b|\A\W*(?:是|对|好|嗯|行|可以|没错|当然|不)",
    re.IGNORECASE,
)
_SHORT: Final = 3
"""So many words, or twice so many characters of Chinese, are an answer, whatever they say."""
_NO_MESSAGE: Final = "names no message it was shown"
_TRANSLATED: Final = "is not in the language of the words it quotes"
_OWN_WORDS: Final = ("extract", "repair")
"""The prompts that a model has read when it names candidates."""
_STATEMENT: Final = 8
"""Characters; a word alone may stand in a prompt by chance."""


def readable(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Those a model is shown: neither commands nor wordless nor a tool's text."""
    return tuple(one for one in messages if not one.skip)


def question(
    messages: Sequence[Message],
    *,
    background: Sequence[Message] = (),
    zone: tzinfo,
    scopes: Sequence[Scope],
    scene: str = "",
) -> Rendered:
    """The extraction prompt for a batch. `background` are the messages before it, not to be extracted.

    Messages are shown under short ids, m1, m2, … and b1, b2, … for the background, with their day in
    `zone`; `scopes` are those the session has, `scene` the previous one's name. Its fault is an item
    that names no message, or that is in another language than the ones it names.
    """
    batch = _Batch(messages, background, zone)
    rendered = load("extract").render(
        scopes=", ".join(scopes),
        scene=scene or "none",
        messages="\n".join(
            _shown(id, message, zone) for id, message in _ids(messages, background).items()
        ),
    )
    return replace(rendered, fault=lambda item: _fault(item, batch.sources(item.evidence)))


def _fault(item: CandidateItem, sources: Sequence[_Source]) -> str:
    """What is worth asking for again."""
    if not sources:
        return _NO_MESSAGE
    return _TRANSLATED if _is_translated(item.description, sources) else ""


def candidates(
    items: Sequence[CandidateItem],
    messages: Sequence[Message],
    zone: tzinfo,
    background: Sequence[Message] = (),
) -> tuple[tuple[Candidate, ...], tuple[Rejected, ...]]:
    """`items` as candidates, and those that are none by what was shown.

    A message is named by the id it was shown under, or by its own. A quote becomes the exact words
    of the message with their span; one that does not stand there is passed on as it is (span 0 to 0),
    for the support gate to refuse. Background may add to the evidence, never be all of it, and what
    stands in the prompt is no candidate. Authority is the role of the quoted messages; beside the
    assistant's, the user's count when they speak of it or answer. Relative days in name and
    description are put on the calendar, and days that the quoted messages do not name are left out.
    """
    batch = _Batch(messages, background, zone)
    found: list[Candidate] = []
    rejected: list[Rejected] = []
    for index, item in enumerate(items):
        sources = batch.sources(item.evidence)
        why = _emptiness(item, sources)
        if why:
            rejected.append(Rejected(index, why, item.name))
        else:
            found.append(_candidate(item, sources))
    return tuple(found), tuple(rejected)


def _emptiness(item: CandidateItem, sources: Sequence[_Source]) -> str:
    """Why an item says nothing about these messages, however it is put."""
    if not sources:
        return _NO_MESSAGE
    if not any(source.fresh for source in sources):
        return "rests on the background alone"
    if _is_ours(item.description, sources):
        return "repeats the prompt"
    return ""


def _is_ours(text: str, sources: Sequence[_Source]) -> bool:
    """Whether `text` stands in what we told the model, and not in the messages."""
    folded = gates.folded(text).strip(" .:;")
    said = (gates.folded(one.message.content) for one in sources)
    if len(folded) < _STATEMENT or any(folded in words for words in said):
        return False
    return any(folded in words for words in _own_words())


@cache
def _own_words() -> tuple[str, ...]:
    prompts = map(load, _OWN_WORDS)
    return tuple(gates.folded(f"{one.system}\n{one.user}") for one in prompts)


def _is_translated(text: str, sources: Sequence[_Source]) -> bool:
    """Whether the words that `text` adds are in a script that the messages' other words are not in.

    Names are the same in every language, so what both have does not count.
    """
    told = _LETTERS.findall(gates.folded(text))
    said = {
        word
        for one in sources
        for word in _LETTERS.findall(gates.folded(one.message.content[:MOST_CHARACTERS]))
    }
    added = _script([word for word in told if word not in said])
    rest = {_script([word]) for word in said.difference(told)}
    return bool(added and rest) and added == _script(told) and added not in rest


def _script(words: Sequence[str]) -> str:
    """The script most of `words` are in; a character of Chinese, Japanese or Korean is worth three."""
    counted: Counter[str] = Counter()
    for word in words:
        name = unicodedata.name(word[0], "").partition(" ")[0]
        script = "CJK" if name in _JAPANESE else name
        counted[script] += 3 if script in ("CJK", "HANGUL") else len(word)
    return counted.most_common(1)[0][0] if counted else ""


def _ids(messages: Sequence[Message], background: Sequence[Message]) -> dict[str, Message]:
    """The short ids, background first: safe whatever a host calls its messages, and easy to copy."""
    return {
        f"{letter}{number}": message
        for letter, group in (("b", background), ("m", messages))
        for number, message in enumerate(readable(group), start=1)
    }


def _shown(id: str, message: Message, zone: tzinfo) -> str:
    who = one_line(f"{message.role} {message.name}")
    day = _day(message, zone)
    when = f"{day} {_WEEKDAYS[day.weekday()]}" if day else "day unknown"
    text = message.content
    if len(text) > MOST_CHARACTERS:
        left = len(text) - MOST_CHARACTERS
        head = text[: MOST_CHARACTERS - _TAIL]
        text = f"{head} [… {left:,} characters left out …] {text[-_TAIL:]}"
    return f"[{id}] {who}, {when}: {indented(text)}"


def _day(message: Message, zone: tzinfo) -> date | None:
    """The owner's day on which it was said; at the two ends of the calendar UTC's."""
    if message.said_at is None:
        return None
    try:
        return message.said_at.astimezone(zone).date()
    except OverflowError:
        return message.said_at.date()


@dataclass(frozen=True, slots=True)
class _Source:
    """A quoted message, the `place`-th that was shown: the evidence, and the days named around the quote."""

    message: Message
    place: int
    evidence: Evidence
    fresh: bool
    day: date | None
    nearby: str
    zone: tzinfo


class _Batch:
    """The messages by the ids a model may name them with."""

    def __init__(
        self, messages: Sequence[Message], background: Sequence[Message], zone: tzinfo
    ) -> None:
        shown = _ids(messages, background)
        self._by_id: Mapping[str, Message] = {one.id: one for one in shown.values()} | shown
        self._places = {one.id: place for place, one in enumerate(shown.values())}
        self._fresh = {one.id for one in readable(messages)}
        self._zone = zone

    def sources(self, evidence: Sequence[QuoteItem]) -> list[_Source]:
        """A source for each quote whose message was shown."""
        return list(dict.fromkeys(filter(None, map(self._source, evidence))))

    def _source(self, item: QuoteItem) -> _Source | None:
        named = item.message.strip("[]() ")
        message = self._by_id.get(named) or self._by_id.get(named.lower())
        if message is None:
            return None
        start, end = quotes.locate(item.quote, message.content) or (0, 0)
        words = message.content[start:end] or item.quote
        return _Source(
            message=message,
            place=self._places[message.id],
            evidence=Evidence(message.id, start, end, words, message.session),
            fresh=message.id in self._fresh,
            day=_day(message, self._zone),
            nearby=message.content[max(0, start - _AROUND) : end + _AROUND],
            zone=self._zone,
        )


def _candidate(item: CandidateItem, sources: Sequence[_Source]) -> Candidate:
    found = Candidate(
        scope=item.scope,
        type=item.type,
        name=item.name,
        description=item.description,
        evidence=tuple(source.evidence for source in sources),
        authority=_authority(item, sources),
        said_at=max(filter(None, (one.message.said_at for one in sources)), default=None),
        body=item.body,
        confidence=item.confidence,
        priority=item.priority,
        entities=item.entities,
        subject="user" if item.subject.casefold() in _OWNER else item.subject.casefold(),
        slot=item.slot.casefold(),
        change=item.change,
        scene=item.scene,
    )
    days = _Days(sources)
    first, last = _happened(item, days)
    return replace(
        _resolved(found, item, days),
        happened_from=first,
        happened_until=last,
        valid_from=None if item.type == "episodic" else _begins(days, sources[0].zone),
        valid_until=_until(item, days),
    )


def _authority(item: CandidateItem, sources: Sequence[_Source]) -> Authority:
    """Who said it: the user, else the assistant, else a tool.

    Beside what another said, the user's words count when they speak of it too, or answer it: a
    greeting to an assistant that repeats what it was told makes nothing the user's.
    """
    others = [source for source in sources if source.message.role != "user"]
    users = [source for source in sources if source.message.role == "user"]
    begun = min((source.place for source in others), default=0)
    if any(not others or _speaks_of(one, item) or _answers(one, begun) for one in users):
        return "user"
    return "assistant" if any(one.message.role == "assistant" for one in others) else "tool"


def _speaks_of(source: _Source, item: CandidateItem) -> bool:
    """Whether it says something of it: a question only asks for what another then says."""
    sentences = _SENTENCE_END.split(source.message.content[:MOST_CHARACTERS])
    said = [one.rstrip() for one in sentences if _LETTERS.search(one)]
    if all(one.endswith(("?", "？")) for one in said):
        return False
    told = {term.text for term in terms.query_terms(f"{item.name} {item.description}")}
    return not told.isdisjoint(terms.index_terms(source.message.content[:MOST_CHARACTERS]))


def _answers(source: _Source, begun: int) -> bool:
    """Whether it says yes or no, or next to nothing, after what was said at `begun`."""
    text = source.message.content
    if source.place < begun or text.rstrip().endswith(("?", "？")):
        return False
    short = _SHORT * (2 if _CJK.search(text) else 1)
    return _ANSWER.match(text) is not None or len(_LETTERS.findall(text)) <= short


def _both_ways(text: str, day: date | None) -> tuple[tuple[dates.Named, ...], ...]:
    """The days named in `text`, read as past and as to come: "on Friday" may be either."""
    chinese = _CJK.search(text) is not None
    return tuple(dates.find(text, day, past=past, chinese=chinese) for past in (True, False))


class _Days:
    """The days named around the quotes: `named` in either reading, `sure` when both agree."""

    def __init__(self, sources: Sequence[_Source]) -> None:
        self.said = max(filter(None, (source.day for source in sources)), default=None)
        self.named: list[dates.Named] = []
        self.sure: list[dates.Named] = []
        for source in sources:
            past, coming = _both_ways(source.nearby, source.day)
            self.named += dict.fromkeys((*past, *coming))
            self.sure += [one for one in past if one in coming]

    def around(self, day: date | None) -> dates.Named | None:
        """A named stretch of days that `day` lies in."""
        return next((one for one in self.named if day and one.first <= day <= one.last), None)

    def one(self, role: dates.Role) -> dates.Named | None:
        """The first sure one of that role."""
        return next((one for one in self.sure if one.role == role), None)


def _resolved(found: Candidate, item: CandidateItem, days: _Days) -> Candidate:
    """Name and description with their relative days on the calendar, and what the quotes' days resolve to."""
    name, _ = _written(found.name, days.said, item)
    description, put = _written(found.description, days.said, item)
    told = [one.iso.rpartition(" ")[2] for one in days.named if one.relative]
    resolved = tuple(dict.fromkeys((*put, *told)))
    return replace(found, name=name, description=description, resolved=resolved)


def _written(text: str, day: date | None, item: CandidateItem) -> tuple[str, tuple[str, ...]]:
    """`text` with each relative day that has one meaning, or the one that the item means, written out."""
    past, coming = _both_ways(text, day)
    meant = tuple(filter(None, (item.happened_from, item.happened_until, item.valid_until)))
    sure = [
        one
        for one in dict.fromkeys((*past, *coming))
        if one.iso not in text
        and ((one in past and one in coming) or any(one.first <= d <= one.last for d in meant))
    ]
    apart = [one for i, one in enumerate(sure) if all(one.start >= o.end for o in sure[:i])]
    return dates.written(text, tuple(apart), chinese=_CJK.search(text) is not None)


def _happened(item: CandidateItem, days: _Days) -> tuple[date | None, date | None]:
    """From when until when an event took place: the model's days where they were named, else the one named."""
    if item.type != "episodic":
        return None, None
    stretch = days.around(item.happened_from) or days.around(item.happened_until)
    if stretch is None:
        stretch = days.sure[0] if len(days.sure) == 1 else None
    if stretch is None:
        return None, None
    first = item.happened_from if days.around(item.happened_from) else stretch.first
    last = item.happened_until if days.around(item.happened_until) else stretch.last
    return first, max(filter(None, (first, last)), default=None)


def _until(item: CandidateItem, days: _Days) -> date | None:
    """The last day it holds, if the quotes name it and it had not passed when they were said."""
    named = days.one("until")
    own = named.last if named else None
    last = item.valid_until if days.around(item.valid_until) else own
    return None if last and days.said and last < days.said else last


def _begins(days: _Days, zone: tzinfo) -> datetime | None:
    """The midnight since when it holds; None for the day it was said, which is the default."""
    since = days.one("since")
    if since is None or since.first == days.said:
        return None
    try:
        return datetime.combine(since.first, time(), zone).astimezone(UTC)
    except OverflowError:
        return None
