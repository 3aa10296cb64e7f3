"""scenes list, show, run, versions, restore; persona show, edit, lock, unlock, run, versions, restore."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli import editor, options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.progress import bars
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.bootstrap import Memory
    from memstrata.pipelines.portrait import PersonaText

PANEL = "Look things up"

Number = Annotated[int, typer.Argument(metavar="N", help="the number of a line, as it is shown")]
Wanted = Annotated[
    str | None,
    typer.Option("--version", metavar="ID", help="which one (else the one before this)"),
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    scenes = doors.group(
        "See what is known, matter by matter, each paragraph with its sources.",
        "scenes",
        default="list",
    )
    of_scenes: tuple[tuple[str, doors.Function], ...] = (
        ("list", list_scenes),
        ("show", show_scene),
        ("run", run_scenes),
        ("versions", scene_versions),
        ("restore", restore_scenes),
    )
    for name, function in of_scenes:
        command(scenes, name)(function)
    app.add_typer(scenes, rich_help_panel=PANEL)
    persona = doors.group(
        "See who the person is and how to work with them, each line with its sources.",
        "persona",
        default="show",
    )
    of_persona: tuple[tuple[str, doors.Function], ...] = (
        ("show", show_persona),
        ("edit", edit_persona),
        ("lock", lock),
        ("unlock", unlock),
        ("run", run_persona),
        ("versions", persona_versions),
        ("restore", restore_persona),
    )
    for name, function in of_persona:
        command(persona, name)(function)
    app.add_typer(persona, rich_help_panel=PANEL)


# -- scenes -----------------------------------------------------------------------------------------


def list_scenes(door: Door, workspace: options.Workspace = None) -> Reply:
    """List the scenes, hottest first."""
    with door.open() as memory:
        found = memory.scenes(workspace=door.workspace(memory, workspace))
    return Reply(wire.answer("scenes", found), lambda out: render.scenes(out, found))


def show_scene(
    door: Door,
    name: Annotated[str, typer.Argument(metavar="NAME", help="its name, or its id")],
    workspace: options.Workspace = None,
) -> Reply:
    """Show one scene, each paragraph with the memories that it rests on."""
    with door.open() as memory:
        found = memory.scene(name, workspace=door.workspace(memory, workspace))
    return Reply(wire.answer("scene", found), lambda out: render.scene(out, found))


def run_scenes(door: Door, workspace: options.Workspace = None) -> Reply:
    """Bring the scenes up to date now, whatever waits; a model does it if one is set."""
    with bars() as progress, door.open() as memory:
        where = door.workspace(memory, workspace)
        memory.request_scenes(workspace=where)
        worked = memory.drain(progress=progress)
        found = memory.scenes(workspace=where)
        notes = _failed(memory)
    document = {**wire.answer("scenes", found), "retold": worked.retold}
    return Reply(document, lambda out: render.scenes(out, found), notes)


def scene_versions(door: Door, workspace: options.Workspace = None) -> Reply:
    """List the versions of the scenes that are kept, newest first."""
    with door.open() as memory:
        found = memory.scene_versions(workspace=door.workspace(memory, workspace))
    return Reply(wire.answer("versions", found), lambda out: render.text_versions(out, found))


def restore_scenes(
    door: Door, version: Wanted = None, workspace: options.Workspace = None
) -> Reply:
    """Bring an older version of the scenes back."""
    with door.open() as memory:
        where = door.workspace(memory, workspace)
        found = memory.restore_scenes(version=version, workspace=where)
    return Reply(
        wire.answer("restore", found),
        lambda out: out.text(say("brought back: {n} files", n=len(found.files))),
    )


# -- persona ----------------------------------------------------------------------------------------


def show_persona(door: Door) -> Reply:
    """Show the persona, each line with its number and what it rests on."""
    with door.open() as memory:
        found = memory.persona()
    return _persona(found)


def edit_persona(
    door: Door,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="the whole new persona; - is stdin (else your editor opens)"
        ),
    ] = None,
) -> Reply:
    """Write the persona yourself; what is new in it is locked, and stays."""
    with door.open() as memory:
        if file is None and sys.stdin.isatty():
            before = memory.persona_file()
            return editor.edited(before, lambda text: _edited(memory, before, text))
        text = sys.stdin.read() if file in (None, "-") else editor.read(str(file))
        return _persona(memory.edit_persona(text))


def _edited(memory: Memory, before: str, text: str) -> Reply:
    if text.strip() == before.strip():
        held = memory.persona()
        return Reply(wire.answer("persona", held), lambda out: out.text(say("nothing changed")))
    return _persona(memory.edit_persona(text))


def lock(door: Door, number: Number) -> Reply:
    """Keep a line of the persona: it survives every regeneration."""
    with door.open() as memory:
        found = memory.lock_persona(number)
    return _persona(found)


def unlock(door: Door, number: Number) -> Reply:
    """Let a line of the persona go the way of the others."""
    with door.open() as memory:
        found = memory.lock_persona(number, locked=False)
    return _persona(found)


def run_persona(door: Door) -> Reply:
    """Make the persona anew now; a model does it if one is set."""
    with bars() as progress, door.open() as memory:
        memory.request_persona()
        memory.drain(progress=progress)
        found = memory.persona()
        notes = _failed(memory)
    return Reply(wire.answer("persona", found), lambda out: render.persona(out, found), notes)


def persona_versions(door: Door) -> Reply:
    """List the versions of the persona that are kept, newest first."""
    with door.open() as memory:
        found = memory.persona_versions()
    return Reply(wire.answer("versions", found), lambda out: render.text_versions(out, found))


def restore_persona(door: Door, version: Wanted = None) -> Reply:
    """Bring an older version of the persona back."""
    with door.open() as memory:
        found = memory.restore_persona(version=version)
    return Reply(
        wire.answer("restore", found),
        lambda out: out.text(say("brought back: {n} files", n=len(found.files))),
    )


def _persona(found: PersonaText) -> Reply:
    return Reply(wire.answer("persona", found), lambda out: render.persona(out, found))


def _failed(memory: Memory) -> tuple[str, ...]:
    """What could not be done, and why."""
    state = memory.status()
    aside = [say("set aside: {what}", what=one) for one in state.parked]
    return (*aside, *(say("tried again later: {what}", what=one) for one in state.retrying))
