"""The list in a model's answer, however it is wrapped: thinking, prose, fences, a bare list, half a JSON.

Nothing is guessed: a value is one that stands in the text, and what cannot be read is a `Broken`.
Every step is linear in the text, and of a very long one only the beginning is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from memstrata.domain.lazy import Regex

MOST_CHARACTERS: Final = 100_000
MOST_VALUES: Final = 200

_THOUGHT: Final = Regex(
    r"<(think|thinking|thought|reasoning|reflection)\b[^<>]{0,40}>.*?(?:</\1\s{0,9}>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_THOUGHT_ENDS: Final = Regex(r"</(?:think|thinking|thought|reasoning)\s{0,9}>", re.IGNORECASE)
_FENCED: Final = Regex(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:^[ \t]*\1|\Z)", re.M | re.S)
_TOKEN: Final = Regex(r'\\.|[{}"]', re.DOTALL)
_BETWEEN_OBJECTS: Final = Regex(r"\}\s*,\s*(?=\{)")
_BARE_LIST: Final = Regex(r"\[(?=\s*[{\]])")
_MENDED: Final = Regex(r'"(?:[^"\\]|\\.)*"?|,(?=\s*[}\]])|\b(?:True|False|None)\b', re.DOTALL)
_ESCAPE: Final = Regex(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_WORDS: Final = {"True": "true", "False": "false", "None": "null"}


@dataclass(frozen=True, slots=True)
class Broken:
    """A value of the list that is no JSON, or that the answer ends within."""

    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """The values of the list, in order; `cut` when the answer ends before the list does."""

    values: tuple[object, ...]
    cut: bool = False


class _Missing:
    """Stands for "no JSON": None is one."""


_MISSING: Final = _Missing()


def find(text: str, key: str, fields: Collection[str]) -> Found | None:
    """The list under `key`, or that `text` plainly is; None when it holds none.

    `fields` are those of an item: they tell an item that stands alone from any other object.
    An empty list is an answer ("nothing"), and so is `{}`; an empty text is none.
    """
    text = text[:MOST_CHARACTERS].strip().removeprefix("\ufeff")
    said = without_thinking(text)
    for whole in (text, said, *(match[2] for match in _FENCED.finditer(said))):
        found = _listed(_loads(whole), key, fields)
        if found is not None:
            return found
    return _among_prose(said, key, fields)


def without_thinking(text: str) -> str:
    """`text` without its thinking, also where its end is missing (cut) or its beginning (a template's)."""
    text = _THOUGHT.sub("", text)
    *_, last = (0, *(match.end() for match in _THOUGHT_ENDS.finditer(text)))
    return text[last:].strip()


def _listed(value: object, key: str, fields: Collection[str]) -> Found | None:
    """The list that a whole JSON value holds; an item alone is a list of one."""
    match value:
        case list():
            return Found(tuple(value[:MOST_VALUES]))
        case dict():
            named = {str(name).strip().lower(): inner for name, inner in value.items()}
        case _:
            return None
    if key in named:
        inner = named[key]
        return Found(tuple(inner[:MOST_VALUES]) if isinstance(inner, list) else _alone(inner))
    if not named:
        return Found(())
    if _is_item(named, fields):
        return Found((value,))
    lists = [inner for inner in named.values() if isinstance(inner, list)]
    if len(lists) != 1 or (len(named) > 1 and not any(isinstance(one, dict) for one in lists[0])):
        return None
    return Found(tuple(lists[0][:MOST_VALUES]))


def _alone(value: object) -> tuple[object, ...]:
    return () if value is None else (value,)


def _is_item(value: Mapping[str, object], fields: Collection[str]) -> bool:
    return sum(name in fields for name in value) >= 2


def _loads(text: str) -> object:
    """The JSON value that `text` is, mended where that is sure; `_MISSING` when it is none."""
    for form in (text, _mended(text)):
        try:
            value: object = json.loads(form, strict=False)
        except (ValueError, RecursionError):
            continue
        return value
    return _MISSING


def _mended(text: str) -> str:
    r"""`text` without trailing commas, escapes that JSON has not (`\d`, `\u12`) and Python's constants."""
    return _MENDED.sub(_mend, text)


def _mend(match: re.Match[str]) -> str:
    token = match[0]
    if token == ",":
        return ""
    return _ESCAPE.sub(_escape, token) if token.startswith('"') else _WORDS[token]


def _escape(match: re.Match[str]) -> str:
    if match[1][0] in '"\\/bfnrt' or len(match[1]) == 5:
        return match[0]
    return "'" if match[1] == "'" else "\\" + match[0]


def _among_prose(text: str, key: str, fields: Collection[str]) -> Found | None:
    """The list inside other text, value by value, so that one that is broken or cut costs no other."""
    opened = re.search(rf'"{re.escape(key)}"\s*:\s*\[', text, re.IGNORECASE)
    if opened is None:
        # A list within an object ("entities": []) is not the one that is looked for.
        opened = _BARE_LIST.search(text, 0, text.find("{") + 1 or len(text))
        if opened is None or (text[opened.end() :].lstrip()[:1] == "]" and "{" in text):
            return _objects(text, key, fields)
    return _values(text, opened.end())


def _values(text: str, at: int) -> Found:
    values: list[object] = []
    while len(values) < MOST_VALUES:
        at = _next(text, at)
        if at < 0:
            return Found(tuple(values), cut=True)
        if text[at] == "]":
            break
        value, at = _object(text, at)
        values.append(value)
        if at < 0:
            return Found(tuple(values), cut=True)
    return Found(tuple(values))


def _next(text: str, at: int) -> int:
    """Where the next object or the list's end stands; -1 for neither."""
    found = Regex(r"[{\]]").search(text, at)
    return found.start() if found else -1


def _object(text: str, at: int) -> tuple[object, int]:
    """The object that begins at `at` and where it ends, -1 when the text ends within it."""
    end = _closing(text, at)
    value = _loads(text[at:end]) if end > 0 else _MISSING
    if not isinstance(value, _Missing):
        return value, end
    # A quote that nobody escaped hides the braces behind it: go on at the next object.
    resumed = _BETWEEN_OBJECTS.search(text, at)
    if resumed is not None and (end < 0 or resumed.start() < end):
        return Broken("is no JSON"), resumed.end()
    return (Broken("is no JSON"), end) if end > 0 else (Broken("is cut off"), -1)


def _closing(text: str, at: int) -> int:
    """Behind the brace that closes the one at `at`, -1 when none does."""
    depth, quoted = 0, False
    for token in _TOKEN.finditer(text, at):
        match token[0]:
            case '"':
                quoted = not quoted
            case "{" if not quoted:
                depth += 1
            case "}" if not quoted:
                depth -= 1
                if not depth:
                    return token.end()
            case _:
                pass
    return -1


def _objects(text: str, key: str, fields: Collection[str]) -> Found | None:
    """Items that stand one after the other, without a list around them."""
    values: list[object] = []
    for value in _top_objects(text):
        if isinstance(value, Broken):
            if values:
                return Found((*values, value), cut=True)
            continue
        found = _listed(value, key, fields) if value else None
        if found is not None:
            values.extend(found.values)
    return Found(tuple(values)) if values else None


def _top_objects(text: str) -> Iterator[object]:
    at = text.find("{")
    for _ in range(MOST_VALUES):
        if at < 0:
            return
        end = _closing(text, at)
        if end < 0:
            yield Broken("is cut off")
            return
        value = _loads(text[at:end])
        if not isinstance(value, _Missing):
            yield value
        at = text.find("{", end)
