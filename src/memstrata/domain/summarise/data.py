"""JSON and HTTP: status, shape, the values that identify it, and errors with their message."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from memstrata.domain.canvas.graph import fitted
from memstrata.domain.lazy import Regex
from memstrata.domain.summarise.summary import Kind, Result, Summary, counted, made

_STATUS: Final = Regex(
    r"(?:HTTP/[\d.]+\s+|(?:HTTP )?(?:status|status code)[:= ]+)(\d{3})\b\s*(.*)", re.IGNORECASE
)
_TYPE: Final = Regex(r"content-type:\s*([\w/+.-]+).*", re.IGNORECASE)
_HEADER: Final = Regex(r"[<>]?\s*[\w-]+:\s.*")
_TITLE: Final = Regex(r"<title[^>]{0,200}>(.{1,300}?)</title>", re.IGNORECASE | re.DOTALL)
_MOST_READ: Final = 2_000_000
_ERROR_KEYS: Final = ("error", "errors", "error_message", "errormessage", "exception", "detail")
_MESSAGE_KEYS: Final = (
    "message",
    "msg",
    "detail",
    "title",
    "reason",
    "description",
    "error",
    "code",
)
_FAILED_WORDS: Final = ("error", "failed", "failure", "fail")


def json_value(result: Result) -> Summary | None:
    """A JSON value, or several of them, a line each."""
    text = result.text.strip()
    if text[:1] not in ("{", "[") or len(text) > _MOST_READ:
        return None
    found = _read(text)
    if found is None:
        return _json_lines(result)
    return _told(found[0], "json")


def _read(text: str) -> tuple[object] | None:
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None


def _json_lines(result: Result) -> Summary | None:
    values = [_read(line) for line in result.lines if line.strip()]
    if len(values) < 2 or not all(values):
        return None
    return _told([value[0] for value in values if value], "json")


def _told(value: object, kind: Kind, before: str = "") -> Summary:
    message = said_error(value)
    if message:
        return made(f"{before}error: {message}", kind, 8, message)
    room = 195 - len(before)
    match value:
        case Mapping():
            return made(before + _object(value, room), kind, 5)
        case list():
            return made(before + _array(value, room), kind, 4)
        case _:
            return made(f"{before}{json.dumps(value, ensure_ascii=False)}", kind, 9)


def said_error(value: object) -> str:
    """The message of a JSON object that reports an error, `""` for any other value."""
    if not isinstance(value, Mapping):
        return ""
    named = {str(key).lower(): inner for key, inner in value.items()}
    for key in _ERROR_KEYS:
        if (inner := named.get(key)) and (key != "detail" or len(named) <= 3):
            return _message(inner)
    failed = named.get("ok") is False or named.get("success") is False
    status = named.get("status", named.get("status_code", named.get("code")))
    failed |= isinstance(status, int) and not isinstance(status, bool) and 400 <= status <= 599
    failed |= isinstance(status, str) and status.lower() in _FAILED_WORDS
    return _message(value) if failed else ""


def _message(value: object) -> str:
    match value:
        case str():
            return fitted(value, 300)
        case list() if value:
            return _message(value[0])
        case Mapping():
            named = {str(key).lower(): inner for key, inner in value.items()}
            said = [named[key] for key in _MESSAGE_KEYS if isinstance(named.get(key), str | int)]
            if said:
                return fitted(" ".join(map(str, said[:2])), 300)
        case _:
            pass
    return fitted(json.dumps(value, ensure_ascii=False)[:2_000], 300)


def _object(value: Mapping[str, object], room: int) -> str:
    """The values that stand alone, then what the others hold, as far as there is room."""
    ordered = sorted(value.items(), key=lambda pair: isinstance(pair[1], Mapping | list))
    told, left = "", len(ordered)
    for one in (f"{key}{_value(inner)}" for key, inner in ordered):
        more = f", {left - 1} more keys" if left > 1 else ""
        if told and len(told) + len(one) + len(more) + 4 > room:
            return f"{{{told}, {counted(left, 'more key')}}}"
        told, left = f"{told}, {one}" if told else one, left - 1
    return f"{{{told}}}"


def _value(value: object) -> str:
    match value:
        case Mapping():
            return f": {{{len(value)}}}"
        case list():
            short = all(isinstance(one, str | int) and len(str(one)) < 20 for one in value)
            shown = ", ".join(map(str, value))
            return f": [{shown}]" if short and len(shown) <= 40 else f": [{len(value)}]"
        case str():
            return f": {fitted(value, 40)}"
        case _:
            return f": {json.dumps(value)}"


def _array(values: list[object], room: int) -> str:
    """How many, of what, and the first and last by what identifies them."""
    flat = list(_flat(values))
    objects = [one for one in flat if isinstance(one, Mapping)]
    count = counted(len(values), "item")
    if not objects:
        shown = ", ".join(fitted(str(one), 30) for one in flat[:12])
        return f"{count}: {fitted(shown, room - 20)}" if values else "an empty list"
    keys = ", ".join(map(str, objects[0]))
    told = f"{count} of {{{fitted(keys, 70)}}}: "
    names = [fitted(_name(one), 40) for one in objects]
    shown = names[0]
    for name in names[1:]:
        if len(told) + len(shown) + len(name) > room - 6:
            return f"{told}{shown}, …"
        shown = f"{shown}, {name}"
    return told + shown


def _flat(values: list[object]) -> Iterator[object]:
    for one in values[:200]:
        if isinstance(one, list):
            yield from one[:20]
        else:
            yield one


def _name(value: Mapping[str, object]) -> str:
    """The first value of an object that is a name, an id or any short text."""
    short = {key: one for key, one in value.items() if isinstance(one, str | int | float)}
    for key, one in short.items():
        if (
            str(key)
            .lower()
            .endswith(("id", "name", "number", "key", "path", "title", "url", "code"))
        ):
            return str(one)
    return str(next(iter(short.values()), "…"))


def http(result: Result) -> Summary | None:
    """An HTTP answer: status, type and what its body is; a web page by its title."""
    head = next((place for place, line in enumerate(result.lines[:5]) if line.strip()), None)
    found = _STATUS.match(result.lines[head].strip("< ")) if head is not None else None
    if found is None:
        return _page(result)
    code, body = int(found[1]), _body(result)
    kind = next(
        (match[1] for line in result.lines[:60] if (match := _TYPE.fullmatch(line.strip("< ")))), ""
    )
    told = f"HTTP {code} {found[2].strip()}".strip() + (f" {kind}" if kind else "") + ": "
    value = _read(body.strip()) if body.strip()[:1] in ("{", "[") else None
    if code >= 400:
        message = said_error(value[0]) if value else ""
        message = message or (_message(value[0]) if value else fitted(_title(body) or body, 300))
        return made(
            f"{told}{message}", "http", 8, f"HTTP {code} {found[2].strip()} {message}".strip()
        )
    if value:
        return _told(value[0], "http", told)
    size = f"{len(body):,} characters"
    return made(f"{told}{size}; {_title(body) or body.strip()[:300]}", "http", 4)


def _body(result: Result) -> str:
    """What stands behind the headers."""
    for place, line in enumerate(result.lines[1:], start=1):
        if not line.strip("<> \r"):
            return "\n".join(result.lines[place + 1 :])
        if not _HEADER.fullmatch(line):
            return "\n".join(result.lines[place:])
    return ""


def _page(result: Result) -> Summary | None:
    start = result.text.lstrip()[:200].lower()
    if not start.startswith(("<!doctype html", "<html")):
        return None
    title = _title(result.text) or "without a title"
    return made(f"HTML page {title}, {len(result.text):,} characters", "http", 3)


def _title(text: str) -> str:
    found = _TITLE.search(text[:20_000])
    return " ".join(found[1].split()) if found else ""
