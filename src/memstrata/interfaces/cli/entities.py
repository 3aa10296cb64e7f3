"""entities list, alias, unalias: which names are one thing."""

from __future__ import annotations

from typing import Annotated

import typer

from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli import options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.texts import say

PANEL = "Put things right"
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="a name, as @arco-design for a package's scope")
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    entities = doors.group(
        "See what memories name, join two names of a thing, or part them.", "entities"
    )
    for name, function in (("list", list_), ("alias", alias), ("unalias", unalias)):
        command(entities, name)(function)
    app.add_typer(entities, rich_help_panel=PANEL)


def list_(door: Door, workspace: options.Workspace = None, agent: options.Agent = None) -> Reply:
    """List the people, libraries and systems that memories name, those of most memories first."""
    with door.open() as memory:
        found = memory.entities(workspace=door.workspace(memory, workspace), agent=agent)
    return Reply(wire.answer("entities", found), lambda out: render.entities(out, found))


def alias(
    door: Door,
    name: Name,
    of: Annotated[str, typer.Option("--of", metavar="NAME", help="the thing that it is")],
) -> Reply:
    """Let a name be another one of a thing: what shares it is related, from now on."""
    with door.open() as memory:
        found = memory.alias(name, of=of)
    return Reply(
        wire.answer("alias", found),
        lambda out: out.text(say("{alias} is {of} from now on", alias=found.alias, of=found.of)),
    )


def unalias(door: Door, name: Name) -> Reply:
    """Let a name be a thing of its own again, whoever joined it."""
    with door.open() as memory:
        found = memory.unalias(name)
    return Reply(
        wire.answer("unalias", found),
        lambda out: out.text(say("{alias} is a thing of its own", alias=found.alias)),
    )
