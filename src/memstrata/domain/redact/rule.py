"""Rules as data, and the one walk that applies them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.redact.text import Finding, Folded

# "password *for the router* is", "number *on the card* is".
OF: Final = r"(?:\s(?:for|to|of|on|at|in)\s[^\n\x00:=.!?;，。]{1,60}?)?(?:\s(?:there|here|now|again|itself))?"
DAY: Final = Regex(r"(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])(?:[-/.]\d{1,2})?(?:T[\d:.Z+-]+)?")

_MARK_INSIDE: Final = Regex(r"[!?](?:[，、]| [a-z])")

Check = Callable[[str, "re.Match[str]", str], bool]
"""Whether the value found (third) is one, given the text and the match."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is tried where one of `anchors` stands; its last group, else the whole, is the value.

    `exact` anchors are looked for as written, others in the lower-case text. With `around` the pattern
    is searched from so many characters before the anchor to so many after it, for values that come
    first.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: Regex
    check: Check | None = None
    exact: bool = False
    around: tuple[int, int] | None = None


def scan(folded: Folded, rules: Iterable[Rule]) -> Iterator[Finding]:
    for rule in rules:
        yield from _apply(folded, rule)


def _apply(folded: Folded, rule: Rule) -> Iterator[Finding]:
    source = folded.text if rule.exact else folded.lower
    for anchor in rule.anchors:
        at = source.find(anchor)
        while at >= 0:
            match = _match(folded.text, rule, at, at + len(anchor))
            found = _finding(folded.text, rule, match) if match else None
            if found:
                yield found
            # A run of key characters that is no key holds none either: do not read it again.
            past = found.end if found else match.end() if match and rule.exact else 0
            at = source.find(anchor, max(at + 1, past))


def _match(text: str, rule: Rule, at: int, after: int) -> re.Match[str] | None:
    if not rule.around:
        return rule.pattern.match(text, at)
    before, behind = rule.around
    near = rule.pattern.finditer(text, max(0, at - before), after + behind)
    return next((match for match in near if match.end() > at), None)


def _finding(text: str, rule: Rule, match: re.Match[str]) -> Finding | None:
    group = match.lastindex or 0
    value = _trimmed(text, match) if match.lastgroup == "bare" else match[group]
    if not value or (rule.check and not rule.check(text, match, value)):
        return None
    return Finding(rule.kind, match.start(group), match.start(group) + len(value))


def _trimmed(text: str, match: re.Match[str]) -> str:
    """Without the punctuation of the sentence or markup around it; a mark inside a sentence stays."""
    value = match["bare"].rstrip(".,;:!?)]}*`_\"'…\\>|")
    return value + text[match.start("bare") + len(value)] if _inside(text, match, value) else value


def _inside(text: str, match: re.Match[str], value: str) -> bool:
    return bool(_MARK_INSIDE.match(text, match.start("bare") + len(value)))


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """In order of place; where several overlap, one over all of them, of the first one's kind."""
    ranked = sorted(enumerate(findings), key=lambda pair: (pair[1].start, pair[0]))
    merged: list[tuple[int, Finding]] = []
    for rank, one in ranked:
        if not merged or one.start >= merged[-1][1].end:
            merged.append((rank, one))
            continue
        best, last = merged[-1]
        kind = last.kind if best <= rank else one.kind
        merged[-1] = (min(best, rank), Finding(kind, last.start, max(last.end, one.end)))
    return tuple(finding for _, finding in merged)
