"""workspace list, bind, unbind; trust: the folders of projects, and what came with them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli import render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.out import Out
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.memory import Review

PANEL = "Look after it"
_YES = ("y", "yes", "是")
Path = Annotated[str, typer.Argument(metavar="PATH", help="a folder of the project")]
Which = Annotated[
    str, typer.Argument(metavar="WORKSPACE", help="its path, or its key or id as listed")
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    workspace = doors.group("Look after the folders of projects.", "workspace")
    for name, function in (("list", list_), ("bind", bind), ("unbind", unbind)):
        command(workspace, name)(function)
    app.add_typer(workspace, rich_help_panel=PANEL)
    command(app, "trust", PANEL)(trust)


def list_(door: Door) -> Reply:
    """List the bound workspaces, what they hold and what nobody looked at yet."""
    with door.open() as memory:
        found = memory.workspaces()
    return Reply(wire.answer("workspaces", found), lambda out: render.workspaces(out, found))


def bind(door: Door, path: Path) -> Reply:
    """Bind the workspace of a folder to this home, and take in what it holds."""
    with door.open() as memory:
        found = memory.bind_workspace(path)
    return Reply(
        wire.answer("bind_workspace", found),
        lambda out: out.text(say("{name} is bound: {root}", name=found.name, root=found.root)),
    )


def unbind(door: Door, workspace: Which) -> Reply:
    """Let this home forget a workspace; its files stay, and binding it brings all back."""
    with door.open() as memory:
        found = memory.unbind_workspace(workspace)
    return Reply(
        wire.answer("unbind_workspace", found),
        lambda out: out.text(
            say("{name} is bound no longer: {root}", name=found.name, root=found.root)
        ),
    )


def trust(
    door: Door,
    workspace: Which,
    digest: Annotated[
        str | None,
        typer.Option("--digest", metavar="DIGEST", help="trust what was shown under it, unasked"),
    ] = None,
) -> Reply:
    """Show what came with a workspace's files, and trust it as shown; changed files ask again."""
    with door.open() as memory:
        shown = memory.unreviewed(workspace)
        chosen = digest
        if chosen is None and shown.memories and sys.stdin.isatty() and not door.json:
            chosen = shown.digest if _agreed(shown) else None
        if not chosen:
            return Reply(
                {**wire.answer("unreviewed", shown), "status": "shown"},
                lambda out: render.review(out, shown),
            )
        found = memory.trust(workspace, chosen)
    return Reply(
        {**wire.answer("trust", found), "status": "trusted"},
        lambda out: out.text(say("{n} memories are trusted", n=len(found.memories))),
    )


def _agreed(shown: Review) -> bool:
    """Whether a person at a terminal, who is shown them, says yes."""
    render.review(Out(sys.stderr), shown)
    sys.stderr.write(f"{say('trust them as they are? [y/N]')} ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in _YES
