"""Help pages, and what is wrong with a command line, in both languages."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from memstrata.errors import ERRORS, Invalid
from memstrata.interfaces.cli.out import padded, width
from memstrata.interfaces.cli.texts import say

WIDTH: Final = 100
LONGEST: Final = 32
"""A longer name has a line of its own."""

Rows = list[tuple[str, str]]


def page(command: Any, ctx: Any, shared: frozenset[str]) -> str:
    """The help page of a command or group; options named in `shared` stand apart."""
    params = [one for one in command.get_params(ctx) if not getattr(one, "hidden", False)]
    options = [one for one in params if one.param_type_name == "option"]
    sections: list[tuple[str, Rows]] = [
        ("Arguments", _rows(params, lambda one: one.param_type_name == "argument")),
        *_commands(command),
        ("Options", _rows(options, lambda one: one.name not in shared)),
        ("Options of every command", _rows(options, lambda one: one.name in shared)),
    ]
    widths = [width(name) for _, rows in sections for name, _ in rows]
    widest = max(one for one in widths if one <= LONGEST)
    parts = [f"{say('Usage')}: {usage(command, ctx)}", say(sentence(command.help))]
    parts += [_section(say(title), rows, widest) for title, rows in sections if rows]
    if ctx.parent is None:
        parts.append(_section(say("Exit codes"), exit_codes(), 3))
    return "\n\n".join(parts) + "\n"


def usage(command: Any, ctx: Any) -> str:
    """`memstrata search [OPTIONS] QUERY`."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    shown = [named(one) if one.required else f"[{named(one)}]" for one in arguments]
    tail = ["COMMAND …"] if hasattr(command, "commands") else ["[OPTIONS]", *shown]
    return " ".join([ctx.command_path, *tail])


def exit_codes() -> Rows:
    """What each exit code says, in order."""
    rows = {0: say("done"), 130: say("interrupted"), 141: say("the reader of a pipe has gone")}
    rows |= {error.exit_code: say(MEANINGS[error.code]) for error in ERRORS}
    return [(str(code), rows[code]) for code in sorted(rows)]


MEANINGS = {
    "invalid": "can never work as given",
    "denied": "this caller may not",
    "not_found": "no such id here",
    "conflict": "moved meanwhile or the name is taken; nothing was saved",
    "refused": "a gate said no",
    "unavailable": "a model, the database or the disk is away; worth trying again",
    "corrupt": "a file or row cannot be read; it was left untouched",
    "internal": "a bug",
}
"""What each error code means, for a person."""


def wrong(error: Any) -> Invalid:
    """What is wrong with a command line, from the parser's own error."""
    match type(error).__name__:
        case "NoSuchOption":
            close = difflib.get_close_matches(error.option_name, error.possibilities or (), 1)
            return Invalid(error.option_name, say("is no option") + _hint(close))
        case "MissingParameter":
            return Invalid(named(error.param), say("is missing"))
        case "BadParameter" if error.param is not None:
            return Invalid(named(error.param), str(error.message))
        case _:
            where = error.ctx.command_path if getattr(error, "ctx", None) else "arguments"
            return Invalid(where, say(str(error.message)))


def no_command(name: str, known: Sequence[str]) -> Invalid:
    """The error for a command that is none, with the nearest name."""
    return Invalid(name, say("is no command") + _hint(difflib.get_close_matches(name, known, 1)))


def _hint(close: Sequence[str]) -> str:
    return f"; {say('did you mean {name}?', name=close[0])}" if close else ""


def sentence(text: str | None) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join((text or "").strip().split("\n\n")[0].split())


def _commands(command: Any) -> Iterable[tuple[str, Rows]]:
    panels: dict[str, Rows] = {}
    for name, one in getattr(command, "commands", {}).items():
        rows = panels.setdefault(one.rich_help_panel or "Commands", [])
        rows.append((name, say(sentence(one.help))))
    return panels.items()


def _rows(params: Iterable[Any], wanted: Callable[[Any], bool]) -> Rows:
    return [(named(one), told(one)) for one in params if wanted(one)]


def named(param: Any) -> str:
    """`QUERY`, `--limit N`."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper())
    flags = ", ".join(sorted(param.opts, key=len))
    return f"{flags} {param.metavar}" if param.metavar else flags


def told(param: Any) -> str:
    """What a parameter is, and its default when there is one."""
    help_text = say(" ".join((param.help or "").split()))
    if param.param_type_name == "option" and not isinstance(param.default, bool) and param.default:
        return f"{help_text} ({say('default')}: {param.default})"
    if param.param_type_name == "option" and param.required:
        return f"{help_text} ({say('required')})"
    return help_text


def _section(title: str, rows: Rows, columns: int) -> str:
    return "\n".join([f"{title}:", *(one for row in rows for one in _lines(*row, columns))])


def _lines(name: str, text: str, columns: int) -> Iterable[str]:
    """A name and its text, which is folded, and begins a line of its own behind a long name."""
    beside = width(name) <= columns
    # Chinese is folded nowhere: its texts are short, and textwrap counts characters.
    folded = textwrap.wrap(text, WIDTH - columns - 4) if text.isascii() else [text]
    if not beside:
        yield f"  {name}"
    for number, one in enumerate(folded):
        head = name if number == 0 and beside else ""
        yield f"  {padded(head, columns)}  {one}"
