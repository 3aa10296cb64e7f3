"""The table verb × Python × command line × HTTP × MCP; an empty cell has a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from memstrata.prompts import team_document
from memstrata.routes import BY_VERB, NOT_SERVED, all_verbs

Cell = str | tuple[str]
"""What stands for the verb behind a door; in a tuple, why nothing does."""

_DOCUMENT: Final[Mapping[str, Cell]] = {
    "read": "team show",
    "save": "team edit",
    "reset": "team reset",
    "history": "team history",
    "entries": ("team show tells the text, team history who wrote when",),
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

_TOOLS: Final[Mapping[str, Cell]] = {
    "search_memory": "search",
    "recall_memory": "show",
    "search_conversations": ("search finds messages too",),
    "trace_memory": "trace",
    "memory_context": ("for hosts; search looks things up",),
    "resource": "show",
    "persona": "persona show",
    "scene": "scenes show",
    "call": ("for a host's model",),
    "schemas": ("for a host's model",),
}
_OFFLOAD: Final[Mapping[str, Cell]] = {
    "record": ("for a host's agent loop",),
    "assemble": ("for a host's agent loop",),
    "recall": "recall-result --session",
    "text": "recall-result --session",
    "tasks": "tasks --session",
    "open": ("for a host's agent loop",),
    "tools": ("for a host's agent loop",),
    "call": ("for a host's agent loop",),
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
    "forget": "forget",
    "resolve": "resolve",
    "history": "history",
    "diff": "history --diff",
    "trace": "trace",
    "why": "why",
    "candidates": "candidates list",
    "confirm": "candidates confirm",
    "reject": "candidates reject",
    "consolidate": "consolidate",
    "tools": ("for hosts; mcp serves them",),
    **{f"tools.{name}": cell for name, cell in _TOOLS.items()},
    "reads": "log --reads",
    "entities": "entities list",
    "alias": "entities alias",
    "unalias": "entities unalias",
    "scenes": "scenes list",
    "scene": "scenes show",
    "request_scenes": "scenes run",
    "scene_versions": "scenes versions",
    "restore_scenes": "scenes restore",
    "persona": "persona show",
    "persona_file": ("persona edit hands it to your editor",),
    "edit_persona": "persona edit",
    "lock_persona": "persona lock",
    "request_persona": "persona run",
    "persona_versions": "persona versions",
    "restore_persona": "persona restore",
    "offload": ("for a host's agent loop",),
    **{f"offload.{name}": cell for name, cell in _OFFLOAD.items()},
    "tasks": "tasks",
    "recall_result": "recall-result",
    "team": "team",
    "private": "team --private",
    **{f"team.{name}": cell for name, cell in _DOCUMENT.items()},
    **{
        f"private.{name}": cell if isinstance(cell, tuple) else f"{cell} --private"
        for name, cell in _DOCUMENT.items()
    },
    "workspaces": "workspace list",
    "workspace_of": ("commands find it from the folder you are in",),
    "bind_workspace": "workspace bind",
    "unbind_workspace": "workspace unbind",
    "unreviewed": "trust",
    "trust": "trust --digest",
    "status": "status",
    "estimate": ("import and extract tell it",),
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
    "persona unlock": "persona lock's other half: lock_persona with locked=False",
    "candidates show": "one of candidates list",
    "demo": "a tour of a home that is thrown away",
    "bench retrieval": "measures",
    "bench offload": "measures",
    "mcp": "a process, not a call",
    "worker": "a process, not a call",
    "serve": "a process, not a call",
    "panel": "a process, not a call",
}
"""Commands that are no verb, and what they are."""

MCP: Final[Mapping[str, str]] = {
    "session.recall": "memory_context",
    "search": "search_memory",
    "search_conversations": "search_conversations",
    "get": "recall_memory",
    "trace": "trace_memory",
    "tools.search_memory": "search_memory",
    "tools.recall_memory": "recall_memory",
    "tools.search_conversations": "search_conversations",
    "tools.trace_memory": "trace_memory",
    "tools.memory_context": "memory_context",
    "tools.resource": "memstrata://memories/{id}",
    "tools.persona": "memstrata://persona",
    "tools.scene": "memstrata://scenes/{name}",
    "scene": "memstrata://scenes/{name}",
    "persona": "memstrata://persona",
    "offload.recall": "recall_result",
    "offload.tasks": "list_tasks",
    "offload.open": "open_task",
    "recall_result": "recall_result",
    "tasks": "list_tasks",
    "team.read": "memstrata://team/{workspace}",
    "team.block": "memory_context",
    "private.block": "memory_context",
    "team.update_memory": team_document.TOOL,
    "private.update_memory": team_document.TOOL,
}
"""The tool, the resource or the prompt of MCP by which an agent has a verb."""
_READ: Final = "for people and hosts; an agent reads by the tools"
_WRITTEN: Final = "no tool changes memory: what lasts is decided by the pipeline and by people"
_HOME: Final = "whoever looks after the home does it"
_LOCAL: Final = "for hosts, in Python"

_ABOUT: Final = """\
# Verbs

This page is made from the code: `python -m memstrata.interfaces.cli.reference docs/reference`.

One facade, and every door has its verbs by the same names. Python is `Memory` and, awaitable,
`AsyncMemory`; what `Memory.connect` gives has them too. `session.…` are verbs of `memory.session(…)`,
`team.…` of `memory.team(…)`, `private.…` of `memory.private()`, `tools.…` of `memory.tools(…)`,
`offload.…` of `memory.offload(…)`. HTTP is described by `/openapi.json`. MCP has tools, resources
(`memstrata://…`) and the prompt `memory_context`. Where a cell is empty, a number below says why.
"""


def page() -> str:
    """The page."""
    reasons: list[str] = []
    rows = [_row(verb, reasons) for verb in all_verbs()]
    lines = [("Python", "command line", "HTTP", "MCP"), ("---",) * 4, *rows]
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
    return (
        f"`{verb}`",
        _cell(COMMANDS[verb], reasons),
        _cell(http, reasons),
        _cell(_mcp(verb), reasons),
    )


def _mcp(verb: str) -> Cell:
    """What stands for a verb over MCP."""
    if verb in MCP:
        return MCP[verb]
    route = BY_VERB.get(verb)
    if route is None:
        return (_LOCAL,)
    return ({"reader": _READ, "writer": _WRITTEN, "admin": _HOME}[route.role],)


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
