"""A tool call on one line, and what it is aimed at: two calls of a tool on one target are the same step."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from memstrata.domain.canvas.graph import fitted
from memstrata.domain.lazy import Regex

MOST_CALL: Final = 150
_MOST_TARGET: Final = 60
_MOST_VALUE: Final = 60
_MOST_READ: Final = 2_000
"""Characters of one argument; a line has no room for more."""

_TARGETS: Final = Regex(
    r"(?:.*_)?(?:path|paths|file|filepath|filename|notebook|dir|directory|folder|url|uri|link|cmd"
    r"|command|commands|pattern|query|queries|q|regex|glob|question|expression|symbol|id|ids|key"
    r"|name|table|sql|selector|module|package|test|tests|branch|user|origin|destination|date|city)",
    re.IGNORECASE,
)
_SHELL: Final = Regex(
    r"(?:bash|shell|sh|zsh|terminal|exec|execute|run|cmd|command)"
    r"(?:_(?:bash|shell|command|commands|cmd|terminal|terminal_cmd|in_terminal))?",
    re.IGNORECASE,
)
_CALL: Final = Regex(r"([^(]*)\((.*?)(?:; [\w.-]+=.*|\))?", re.DOTALL)
_BEFORE: Final = Regex(
    r"(?:\s*cd\s+\S+\s*(?:&&|;)|\s*(?:sudo|env|time|exec)\s|\s*[A-Za-z_]\w*=\S*\s)+"
)
_AFTER: Final = Regex(r"\s*(?:\||&&|;|>|<<|2>).*", re.DOTALL)


def call_line(name: str, arguments: Mapping[str, object] | str) -> str:
    """`name(target; other=value, …)` on one line of at most 150 characters.

    What says where the call is aimed (a path, a command, a query, an id) comes first and without its
    name; of long values the beginning is shown. Arguments may be the JSON text of an object.
    """
    given = _given(arguments)
    if isinstance(given, str):
        return fitted(f"{name}({given[:_MOST_READ]})", MOST_CALL)
    aimed = [key for key in given if _TARGETS.fullmatch(key)]
    if not aimed and len(given) == 1:
        aimed = [key for key in given if len(_shown(given[key])) <= _MOST_TARGET]
    told = ", ".join(_shown(given[key]) for key in aimed)
    others = ", ".join(
        f"{key}={fitted(_shown(given[key]), _MOST_VALUE)}" for key in given if key not in aimed
    )
    return fitted(f"{name}({told}{f'; {others}' if others else ''})", MOST_CALL)


def step(line: str) -> str:
    """`tool: target` of a call's line, the tool alone where it has no target.

    Of a shell's command it is the program and what it works on, without options, `cd` and pipes: the
    same command with another option is the same step, another program another way.
    """
    tool, target = parts(line)
    return f"{tool}: {target}" if target else tool


def parts(line: str) -> tuple[str, str]:
    """The tool and the target of a call's line."""
    found = _CALL.fullmatch(line)
    if found is None:
        return line, ""
    tool, target = found[1], found[2]
    return tool, fitted(_aim(target) if _SHELL.fullmatch(tool) else target, _MOST_TARGET)


def command(name: str, arguments: Mapping[str, object] | str) -> str:
    """The command that a shell's call runs, `""` for any other call."""
    if not _SHELL.fullmatch(name):
        return ""
    given = _given(arguments)
    return given if isinstance(given, str) else " ".join(map(_shown, given.values()))


def _given(arguments: Mapping[str, object] | str) -> Mapping[str, object] | str:
    if not isinstance(arguments, str):
        return arguments
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments.strip()
    return found if isinstance(found, dict) else arguments.strip()


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[:_MOST_READ]


def _aim(command: str) -> str:
    begun = _BEFORE.match(command)
    rest = _AFTER.sub("", command[begun.end() :] if begun else command)
    words = [word for word in rest.split() if not word.startswith("-")]
    return " ".join(words) or command
