"""Writes the pages of `docs/reference`: `python -m memstrata.interfaces.cli.reference docs/reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from memstrata.domain.gates import GATES
from memstrata.domain.plan import VERDICTS
from memstrata.interfaces.cli import app, pages, texts, verbs
from memstrata.interfaces.cli.door import SHARED
from memstrata.interfaces.cli.render import shown

Table = Sequence[Sequence[str]]

_ABOUT: Final = """\
# Command line

This page is made from the code: `python -m memstrata.interfaces.cli.reference docs/reference`.

`memstrata COMMAND --help` says the same, in English or Chinese (`--lang`).

- The answer goes to stdout, everything else (notes, progress, errors) to stderr. Where something
  failed, stdout stays empty.
- In a terminal lists are tables. In a pipe each record is one line without headings, its columns
  set apart by two blanks or more; an id is never cut.
- `--json` prints exactly one JSON document. Its fields are those of the Python API's results; times
  are RFC 3339 in UTC, days `YYYY-MM-DD`. An error is one JSON document on stderr:
  `{"error": {"code", "message", "retryable", …}}`, its last line where the log warned before.
- Progress bars appear where stderr is a terminal.
- Ctrl-C ends a command with exit code 130; what it had done so far is kept.
- No command but `worker` does background work. Messages stored with `import --no-extract` wait for
  `memstrata extract`, or for the process that does the home's background work (`memstrata status`
  names it).
- The language is `--lang`, else `$MEMSTRATA_LANG`, else the locale's (`LC_ALL`, `LC_MESSAGES`,
  `LANG`).
- A command that takes `--workspace` works, without it, in the bound workspace that the current folder
  lies in, if it lies in one.
"""
_SETTINGS_ABOUT: Final = """\
# Settings

This page is made from the code: `python -m memstrata.interfaces.cli.reference docs/reference`.

Values come from, later over earlier: the default, `config.toml` in the home, `.memstrata/config.toml`
in the workspace (a few keys, below), the environment, arguments (`Memory.open(settings=…)`).
`memstrata config show` prints each value and where it came from. An unknown key is an error.
"""
_WORKSPACE_ABOUT: Final = """\
## In a workspace

A cloned repository is untrusted, so its file may only tighten: {keys}.
"""


def cli() -> str:
    """The page of the command line."""
    command = typer.main.get_command(app.build())
    parts = [_ABOUT, _table("## Exit codes", ("code", "meaning"), pages.exit_codes())]
    parts.append(
        _table("## Options of every command", ("option", "meaning"), _params(command, shared=True))
    )
    parts += [_command(path, one) for path, one in leaves(command, app.NAME)]
    verdicts = ", ".join(f"`{one}`" for one in VERDICTS)
    gates = ", ".join(f"`{one}`" for one in GATES)
    parts.append(
        f"## Verdicts and gates\n\nVerdicts: {verdicts}.\n\nGates, in their order: {gates}.\n"
    )
    return "\n".join(parts)


def settings() -> str:
    """The page of the settings."""
    from memstrata import settings as module

    rows = [
        (f"`{key}`", f"`{shown(value)}`", f"`{_variable(key)}`", module.DESCRIPTIONS[key])
        for key, value, _ in module.Loaded(module.Settings(), {}).rows()
    ]
    aliases = [(f"`{name}`", f"`{key}`") for name, key in module.ALIASES.items()]
    workspace = sorted(module._LOWER_ONLY | module._MORE_ONLY)
    return "\n".join(
        (
            _SETTINGS_ABOUT,
            _table("## All of them", ("key", "default", "environment", "meaning"), rows),
            _WORKSPACE_ABOUT.format(keys=", ".join(f"`{one}`" for one in workspace)),
            _table("## Other names", ("name", "key"), aliases),
        )
    )


PAGES: Final[Mapping[str, Any]] = {"cli.md": cli, "settings.md": settings, "verbs.md": verbs.page}


def leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command below `command` with its path (`memstrata config show`)."""
    for name, one in command.commands.items():
        if hasattr(one, "commands"):
            yield from leaves(one, f"{path} {name}")
        else:
            yield f"{path} {name}", one


def _variable(key: str) -> str:
    from memstrata.settings import ENV_PREFIX

    return f"{ENV_PREFIX}{key.replace('.', '__')}".upper()


def _command(path: str, command: Any) -> str:
    ctx = typer.Context(command, info_name=path)
    usage = f"## {path}\n\n{pages.sentence(command.help)}\n\n```text\n{pages.usage(command, ctx)}\n```\n"
    rows = _params(command, shared=False)
    return usage + ("\n" + _table("", ("option", "meaning"), rows) if rows else "")


def _params(command: Any, *, shared: bool) -> Table:
    return [
        (f"`{pages.named(one)}`", pages.told(one))
        for one in command.params
        if (one.name in SHARED) is shared
    ]


def _table(title: str, headings: Sequence[str], rows: Table) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    table = "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)
    return f"{title}\n\n{table}\n" if title else f"{table}\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Write the pages into the folder named; returns the exit code."""
    texts.speak("en")
    folder = Path(arguments[0])
    for name, page in PAGES.items():
        (folder / name).write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
