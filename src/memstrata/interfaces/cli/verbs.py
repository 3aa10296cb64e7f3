"""The table verb × Python × command line × HTTP × MCP; an empty cell has a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from memstrata.routes import BY_VERB, NOT_SERVED, all_verbs

Cell = str | tuple[str]
"""What stands for the verb behind a door; in a tuple, why nothing does."""

_DOCUMENT: Final[Mapping[str, Cell]] = {
    "read": "team show",
    "save": "team edit",
    "reset": "team reset",
    "history": "team history",
    "diff": "team diff",
    "restore": "team undo --to",
    "undo": "team undo",
    "block": ("for a host's prompt",),
    "prompt": ("for a host's prompt",),
    "tool": ("for a host's prompt",),
    "update_memory": ("for a host's model",),
    "delegation": ("for a host's sub-agent",),
    "delegated": ("for a host's sub-agent",),
}

COMMANDS: Final[Mapping[str, Cell]] = {
    "session": ("for hosts; import puts conversations in",),
    "session.commit": ("for hosts; import puts conversations in",),
    "session.recall": ("for hosts; search looks things up",),
    "session.end": ("for hosts; extract takes what is left",),
    "sessions": "log",
    "messages": "log SESSION",
    "search": "search",
    "search_conversations": ("search finds messages too",),
    "list": "list",
    "add": "add",
    "get": "show",
    "edit": "edit",
    "archive": "archive",
    "restore": "restore",
    "delete": "rm",
    "history": "history",
    "diff": "history --diff",
    "trace": "trace",
    "why": "why",
    "team": "team",
    "private": "team --private",
    **{f"team.{name}": cell for name, cell in _DOCUMENT.items()},
    **{
        f"private.{name}": cell if isinstance(cell, tuple) else f"{cell} --private"
        for name, cell in _DOCUMENT.items()
    },
    "workspaces": "workspace list",
    "workspace_of": ("commands find it from the folder you are in",),
    "status": "status",
    "doctor": "doctor",
    "ledger": ("status tells it",),
    "config": "config show",
    "settings": "config show",
    "configure": "config set",
    "test_extraction": "config test",
    "drain": "extract",
    "extract": "extract --retry",
    "import_": "import",
    "reindex": "reindex",
    "reconcile": ("done by every command as it opens the home",),
    "fill_vectors": ("done by search where a few lack",),
    "rebuild_vectors": "vectors rebuild",
    "create_token": "token create",
    "tokens": "token list",
    "revoke_token": "token revoke",
    "close": ("every command closes the home",),
}
"""The command of a verb."""

NO_VERB: Final[Mapping[str, str]] = {
    "config unset": "config set's other half: configure with no value",
    "demo": "a tour of a home that is thrown away",
    "bench retrieval": "measures",
    "worker": "a process, not a call",
    "serve": "a process, not a call",
}
"""Commands that are no verb, and what they are."""

_ABOUT: Final = """\
# Verbs

This page is made from the code: `python -m memstrata.interfaces.cli.reference docs/reference`.

One facade, and every door has its verbs by the same names. Python is `Memory` and, awaitable,
`AsyncMemory`; what `Memory.connect` gives has them too. `session.…` are verbs of `memory.session(…)`,
`team.…` of `memory.team(…)`, `private.…` of `memory.private()`. HTTP is described by `/openapi.json`.
Where a cell is empty, a number below says why.
"""


def page() -> str:
    """The page."""
    reasons: list[str] = []
    rows = [_row(verb, reasons) for verb in all_verbs()]
    lines = [("Python", "command line", "HTTP"), ("---", "---", "---"), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    told = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, start=1))
    others = "\n".join(f"- `{command}`: {what}" for command, what in NO_VERB.items())
    return (
        f"{_ABOUT}\n{table}\n\n## Why a cell is empty\n\n{told}\n\n"
        f"## Commands that are no verb\n\n{others}\n"
    )


def _row(verb: str, reasons: list[str]) -> Sequence[str]:
    route = BY_VERB.get(verb)
    http: Cell = f"{route.method} {route.path}" if route else (NOT_SERVED[verb],)
    return (f"`{verb}`", _cell(COMMANDS[verb], reasons), _cell(http, reasons))


def _cell(cell: Cell, reasons: list[str]) -> str:
    if not isinstance(cell, tuple):
        return f"`{cell}`"
    if cell[0] not in reasons:
        reasons.append(cell[0])
    return f"({reasons.index(cell[0]) + 1})"


def commands() -> Iterator[str]:
    """The words of every command that the table names, without arguments and options."""
    for cell in COMMANDS.values():
        if not isinstance(cell, tuple):
            words = [word for word in cell.split() if word.islower() and not word.startswith("-")]
            yield " ".join(words)
