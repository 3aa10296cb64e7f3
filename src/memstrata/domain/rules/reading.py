"""A sentence read with the rules of one language: clauses, guards, first match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.rules import slots
from memstrata.domain.rules.rule import Draft, Rule, Says
from memstrata.domain.rules.sentences import MASK, Sentence

SECRET: Final = "[secret:"


@dataclass(frozen=True, slots=True)
class Check:
    """How the text of a group of this name is taken.

    It is cut at `cut`; over `most` characters, with `refuse` in it or without `proof` its rule does not match.
    """

    most: int
    cut: Regex | None = None
    refuse: Regex | None = None
    proof: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """What the reader knows of one language, all of it patterns.

    `other`: sentences that are not the person's own plain statement (asked, supposed, told of
    others, meant in jest). `clause`: where a clause ends. `lead`: what is dropped before the rules
    look (greetings, "by the way", "please"); of its groups `hedge` lowers the confidence, `remember`
    lets `remembered` try what no rule takes, `greet` is a greeting, `when` keeps a day for the
    description. `mute`: clauses
    that are only wished, doubted or asked. `stop`: words that give the rest to somebody else. `handed`: tasks
    upon a text or a part to play; what follows the colon or the line is that text. `carry`: (a clause whose
    subject the next may leave out, how the next then begins, that subject). `turned` puts a value
    into the third person; `persons` holds the types that do it otherwise.
    """

    chinese: bool
    rules: tuple[Rule, ...]
    remembered: tuple[Rule, ...]
    other: Regex
    clause: Regex
    lead: Regex
    mute: Regex
    polite: Regex
    stop: Regex
    handed: Regex
    carry: tuple[Regex, Regex, str]
    hedge: Regex
    reason: Regex
    checks: Mapping[str, Check]
    turned: Callable[[str], str]
    persons: Mapping[str, Callable[[str], str]]
    verb: Callable[[str], str]
    straight: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause without its lead: `text` begins at `start` of the sentence; the evidence at `whole`."""

    whole: int
    start: int
    end: int
    text: str
    when: str
    hedged: bool
    remember: bool
    greeted: bool


Dated = Callable[[str, bool, bool], bool]
"""Says of a clause whether it names a day, in the past or to come, in Chinese or not."""


def read(sentence: Sentence, language: Language, dated: Dated, *, team: bool) -> Iterator[Draft]:
    """What the sentence states, at most one rule a clause; `team`: "we" is one, not a household."""
    text = language.straight(sentence.text)
    polite = language.polite.search(text) is not None
    if not polite and language.other.search(text):
        return
    before = ""
    for start, end, last in _clauses(text, language):
        whole = text[start:end]
        if language.stop.search(whole):
            return
        if SECRET in whole or (last and sentence.asks and not polite):
            continue
        clause = _carried(before, _led(text, start, end, language.lead), language)
        before = clause.text
        if not language.mute.search(clause.text):
            yield from _first(clause, text, language, dated, team)


def _clauses(text: str, language: Language) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each clause and whether it is the last; a mere lead stays with what it leads."""
    start = 0
    for match in language.clause.finditer(text):
        led = language.lead.fullmatch(text, start, match.end())
        if match.start() > start and not led:
            yield start, match.start(), False
            start = match.end()
    yield start, len(text), True


def _led(text: str, start: int, end: int, lead: Regex) -> _Clause:
    """The clause at `text[start:end]` behind all its leads, and what they said."""
    at, when, hedged, remember, greeted = start, "", False, False, False
    while (match := lead.match(text, at, end)) is not None and at < match.end() < end:
        groups = match.groupdict()
        when = groups.get("when") or when
        hedged = hedged or bool(groups.get("hedge"))
        remember = remember or bool(groups.get("remember"))
        greeted = greeted or bool(groups.get("greet"))
        at = match.end()
    return _Clause(start, at, end, text[at:end], when.strip(" ,，"), hedged, remember, greeted)


def _carried(before: str, clause: _Clause, language: Language) -> _Clause:
    """`clause` with the subject of the clause before it, where it has none of its own."""
    subject_before, without_subject, subject = language.carry
    if not subject_before.match(before) or not without_subject.match(clause.text):
        return clause
    return replace(clause, text=subject + clause.text)


def _first(
    clause: _Clause, sentence: str, language: Language, dated: Dated, team: bool
) -> tuple[Draft, ...]:
    """What the first rule that takes the clause makes of it."""
    lowered = clause.text.lower()
    rules = (*language.rules, *language.remembered) if clause.remember else language.rules
    for rule in rules:
        if rule.need and not any(word in lowered for word in rule.need):
            continue
        if (rule.alone and team) or (rule.greeting and not clause.greeted):
            continue
        found = _matched(rule, clause, sentence, language, dated)
        if found:
            return found
    return ()


def _matched(
    rule: Rule, clause: _Clause, sentence: str, language: Language, dated: Dated
) -> tuple[Draft, ...]:
    text = clause.text if not rule.wide else clause.text + sentence[clause.end :]
    match = rule.pattern.match(text)
    values = None if match is None else _values(match, language.checks)
    if match is None or values is None:
        return ()
    end = max(clause.end, clause.end - len(clause.text) + match.end())
    whole = sentence[clause.whole : end]
    made = [
        _draft(says, values, clause, end, sentence, language)
        for says in rule.says
        if _full(says, values) and (not says.event or dated(whole, says.past, language.chinese))
    ]
    return tuple(made[:1] if rule.either else made)


def _values(match: re.Match[str], checks: Mapping[str, Check]) -> dict[str, str] | None:
    """The text of each group, None when one of them may not be taken."""
    values: dict[str, str] = {}
    for group, text in match.groupdict().items():
        taken = _taken(text, checks.get(group, _PLAIN)) if text else ""
        if taken is None:
            return None
        values[group] = taken
    return values


_PLAIN: Final = Check(most=120)
_EDGES: Final = " \t,，、:：;；.。!！~～\"'“”‘’()（）*_"


def _taken(value: str, check: Check) -> str | None:
    """The text of a group as it is used, None when it may not be: then the rule does not match."""
    found = value
    if check.cut is not None:
        cut = check.cut.search(found)
        found = found if cut is None else found[: cut.start()]
    found = _stripped(found)
    if not found or len(found) > check.most or MASK in found or SECRET in found:
        return None
    if check.refuse is not None and check.refuse.search(found):
        return None
    return found if check.proof is None or check.proof(found) else None


def _stripped(text: str) -> str:
    """`text` without marks at its ends; a closing bracket stays with the one it closes."""
    found = text.strip(_EDGES)
    if found.count("(") > found.count(")"):
        found += ")"
    if found.count("（") > found.count("）"):
        found += "）"
    return found


_OPTIONAL: Final = frozenset(("when", "tail", "behind"))
_FIELD: Final = Regex(r"\{(\w+)\}")


def _full(says: Says, values: Mapping[str, str]) -> bool:
    """True when each group the templates name holds something."""
    needed = _FIELD.findall(says.description + says.slot + says.subject)
    return all(values.get(name) or name in _OPTIONAL for name in needed)


def _behind(text: str) -> str:
    return f" {text}" if text else ""


def _draft(
    says: Says,
    values: Mapping[str, str],
    clause: _Clause,
    end: int,
    sentence: str,
    language: Language,
) -> Draft:
    turned = language.persons.get(says.type, language.turned)
    shown = {name: turned(value) for name, value in values.items()}
    if "verb" in values:
        shown["verb"] = language.verb(values["verb"])
    shown |= {"when": _behind(clause.when)}
    shown |= {name: _behind(values.get(name, "")) for name in ("tail", "behind")}
    reason = language.reason.search(sentence, clause.start)
    return Draft(
        says=says,
        values=values,
        start=clause.whole,
        end=end,
        subject=slots.same(says.subject.format_map(values).lower()),
        slot=slots.fill(says.slot, values, sentence[clause.whole : end]),
        description=" ".join(says.description.format_map(shown).split()),
        hedged=clause.hedged or language.hedge.search(clause.text) is not None,
        reason=reason["why"].strip(" ,，") if reason else "",
    )
