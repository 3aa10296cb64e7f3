"""Errors in a result: tracebacks of several languages, and the line that says why a call failed."""

from __future__ import annotations

import re
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.summarise.summary import Result, Summary, counted, made

_PYTHON: Final = "Traceback (most recent call last):"
_FRAME: Final = Regex(r'\s+File "([^"]+)", line (\d+)(?:, in (\S+))?')
_OTHER: Final = Regex(
    r"(?:Uncaught |Caused by: |Exception in thread .*? )?(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception)\b.*"
    r"|panic: .*|thread '.*' panicked at .*|\s*fatal error: .*"
)
_OTHER_FRAME: Final = Regex(
    r"\s+at .*[:(].*|goroutine \d+ \[.*|\s+\d+: .*::.*|\s+from .*:\d+:in .*"
)
_HINTS: Final = (
    *(
        "error",
        "fatal",
        "fail",
        "exception",
        "denied",
        "refused",
        "fault",
        "panic",
        "abort",
        "err!",
    ),
    *(
        "cannot ",
        "could not ",
        "not found",
        "no such",
        "exist",
        "timed out",
        "unable to ",
        "no space",
    ),
    *("错误", "失败", "异常", "找不到", "无法", "拒绝"),
)
"""One of them stands in every line that looks like an error; finding them is quick."""
_LOOKS: Final = Regex(
    r"^\W*(?:error|fatal|critical|panic|fail(?:ed|ure)?|exception|denied|abort(?:ed)?)\b\W*(?:[:(!\]]|$|-)"
    r"|\w(?:Error|Exception)\b\s*(?:[:(]|$)|\berror(?:\(s\)|\s?:|\s+[A-Z]{0,3}\d{1,5}\b)|\bfatal:|\berr!"
    r"|command not found|no such file or directory|(?:permission|access) denied|connection refused"
    r"|exiting with failure|segmentation fault|core dumped|timed out\b|no space left|unable to \w+|failed to \w+"
    r"|cannot (?:find|open|access|read|import)\b|could not (?:find|open|read|resolve|connect)\b"
    r"|\b(?:is|was|does|are) not (?:found|exist)\b|\bnot found\s*$"
    r"|错误|失败|异常|找不到|无法|拒绝",
    re.IGNORECASE,
)
_FAILED_EXIT: Final = Regex(
    r"\s*[(\[]?(?:process |command )?(?:exited with |returned |failed with )?(?:an? )?(?:non-zero )?"
    r"(?:exit(?:ed)?[ _-]?(?:code|status)?|return ?code|status code)\b[ :=]*(?:with )?(-?\d{1,4})[)\].]?\s*",
    re.IGNORECASE,
)
_BEGINS: Final = Regex(
    r"\W*(?:(?:\w*error|fatal|exception|panic|usage|failure|err)\s*(?:[:!(\]]|$)|npm err!"
    r"|failed to\b|(?:permission |access )?denied\b|invalid \w+|unknown \w+|cannot \w+|could not \w+"
    r"|unable to\b|.{0,200}\b(?:introduced|refused|rejected|failed)\b.*\berror|错误|失败|异常|无法).*",
    re.IGNORECASE,
)
_MOST_OF_A_LINE: Final = 400
_SHARE: Final = 90
"""Characters of a failure's first line where another one says more."""
_HEADING: Final = 12
_EDGE: Final = 12
"""Lines at either end of a long result in which the reason of a failure is looked for."""


def traceback(result: Result) -> Summary | None:
    """A traceback: what was raised, where, how deep."""
    if _PYTHON in result.text:
        raised, frames = _python(result)
    else:
        raised, frames = _elsewhere(result)
    if not raised:
        return None
    deepest = f" at {frames[-1]}" if frames else ""
    depth = f" ({counted(len(frames), 'frame')})" if len(frames) > 1 else ""
    room = max(60, 185 - len(deepest) - len(depth))
    return made(f"{_shortened(raised, room)}{deepest}{depth}", "traceback", 7, raised)


def _python(result: Result) -> tuple[str, list[str]]:
    """What the last traceback raised and its frames, outermost first."""
    raised, frames, inside = "", list[str](), False
    for line in result.lines:
        if line.strip().startswith(_PYTHON):
            frames, inside = [], True
        elif found := _FRAME.match(line):
            frames.append(f"{found[1]}:{found[2]}{f' in {found[3]}' if found[3] else ''}")
        elif inside and line[:1].strip() and not line.startswith(("The above", "During")):
            raised, inside = line.strip(), False
    return raised, frames


def _elsewhere(result: Result) -> tuple[str, list[str]]:
    """The same of JavaScript, Java, Go, Rust and Ruby: a line that names an error with frames under it."""
    raised, frames = "", list[str]()
    for line in result.lines[:2_000]:
        if _OTHER_FRAME.fullmatch(line):
            frames.append(line.strip().removeprefix("at "))
        elif not frames and _OTHER.fullmatch(line.strip()):
            raised = line.strip()
    return (raised, frames[:1]) if frames else ("", [])


def looks_like_error(line: str) -> bool:
    """Whether a line says that something went wrong."""
    begin = line[:_MOST_OF_A_LINE]
    lowered = begin.lower()
    return any(hint in lowered for hint in _HINTS) and _LOOKS.search(begin) is not None


def error_lines(result: Result, most: int = 3) -> list[str]:
    """The first lines that look like errors, and the last one."""
    found = [line.strip() for line in result.lines if looks_like_error(line)]
    distinct = list(dict.fromkeys(found))
    return distinct if len(distinct) <= most else [*distinct[: most - 1], distinct[-1]]


def failure(result: Result) -> str:
    """Why the call failed, `""` when nothing says that it did.

    It did when it begins with an error, ends with a failed exit code, or is short and looks like one.
    """
    told = [line.strip()[:_MOST_OF_A_LINE] for line in result.lines if line.strip()]
    if not told:
        return ""
    edges = told if len(told) <= 2 * _EDGE else [*told[:_EDGE], *told[-_EDGE:]]
    looking = [line for line in edges if looks_like_error(line)]
    if _BEGINS.fullmatch(told[0]) or (len(told) <= 3 and looking):
        return _message(told[0], looking)
    codes = [line for line in (told[0], *told[-3:]) if _failed_exit(line)]
    said = [line for line in (*looking, *reversed(told)) if line not in codes]
    return _message(said[0] if said else codes[0], looking) if codes else ""


def _failed_exit(line: str) -> bool:
    found = _FAILED_EXIT.fullmatch(line)
    return found is not None and int(found[1]) != 0


def _message(first: str, looking: list[str]) -> str:
    """The first line, and the first other one that says more than a heading."""
    more = next((line for line in looking if line != first and len(line) > _HEADING), "")
    return f"{_shortened(first, _SHARE)} {more}" if more else first


def error(result: Result) -> Summary | None:
    """A call that failed: its message, and how much more there is."""
    message = failure(result)
    if not message:
        return None
    rest = f" ({counted(len(result.lines), 'line')})" if len(result.lines) > 5 else ""
    return made(f"error: {_shortened(message, 185 - len(rest))}{rest}", "error", 7, message)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
