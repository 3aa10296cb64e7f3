"""Every command in one tree, and how a command line becomes an answer."""

from __future__ import annotations

from typing import Final

import typer
from typer.exceptions import TyperException

from memstrata.interfaces.cli import (
    bench,
    consolidate,
    demo,
    door,
    entities,
    forget,
    lifecycle,
    log,
    mcp,
    offload,
    panel,
    portrait,
    reads,
    serve,
    state,
    team,
    work,
    worker,
    workspaces,
)
from memstrata.interfaces.cli.door import Reply
from memstrata.interfaces.cli.pages import wrong

NAME: Final = "memstrata"
MODULES: Final = (
    demo,
    reads,
    log,
    portrait,
    work,
    lifecycle,
    consolidate,
    forget,
    entities,
    team,
    offload,
    state,
    workspaces,
    worker,
    panel,
    serve,
    mcp,
    bench,
)


def build() -> typer.Typer:
    """The whole command line."""
    app = door.group("memstrata: what AI agents remember, local first.", NAME)
    door.shared_by(app)
    for module in MODULES:
        module.register(app)
    return app


def invoke(arguments: list[str]) -> Reply | int:
    """The answer of a command, or the exit code of what answered by itself (`--help`).

    Raises:
        MemstrataError: what the command raised, or Invalid for a wrong command line.
    """
    command = typer.main.get_command(build())
    try:
        found = command.main(arguments, NAME, standalone_mode=False)
    except TyperException as error:
        raise wrong(error) from error
    if not isinstance(found, Reply | int):
        raise TypeError(f"a command answered with {type(found).__name__}")
    return found
