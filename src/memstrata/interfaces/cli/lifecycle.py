"""edit, archive, restore, rm: a person corrects what is remembered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memstrata.domain import lifecycle
from memstrata.domain.memory import TYPES
from memstrata.errors import Invalid
from memstrata.interfaces import wire
from memstrata.interfaces.cli import editor as editors
from memstrata.interfaces.cli import options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.bootstrap import Memory
    from memstrata.pipelines.lifecycle import Deleted
    from memstrata.pipelines.read import Record

PANEL = "Put things right"
YES = ("y", "yes", "是")


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    for name, function in (
        ("edit", edit),
        ("archive", archive),
        ("restore", restore),
        ("rm", rm),
        ("resolve", resolve),
    ):
        command(app, name, PANEL)(function)


def edit(
    door: Door,
    id: options.Id,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="short, and unique in its scope")
    ] = None,
    description: Annotated[
        str | None,
        typer.Option("--description", metavar="TEXT", help="the one line that is injected"),
    ] = None,
    type: Annotated[
        str | None, typer.Option("--type", metavar="|".join(TYPES), help="what it is")
    ] = None,
    body: Annotated[
        str | None,
        typer.Option("--body", metavar="MARKDOWN", help="more about it; - reads it from stdin"),
    ] = None,
    entity: Annotated[
        list[str] | None,
        typer.Option(
            "--entity", metavar="NAME", help='a name it is about (may be repeated); "" for none'
        ),
    ] = None,
    priority: Annotated[
        int | None,
        typer.Option("--priority", metavar="N", help="0 to 100, or -1 for a standing rule"),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="C", help="0 to 1 (else 1)")
    ] = None,
    happened_from: Annotated[
        str | None,
        typer.Option("--happened-from", metavar="DAY", help='when it happened; "" for unknown'),
    ] = None,
    happened_until: Annotated[
        str | None,
        typer.Option("--happened-until", metavar="DAY", help='until when; "" for unknown'),
    ] = None,
    valid_until: Annotated[
        str | None,
        typer.Option(
            "--valid-until", metavar="DAY", help='the last day that counts; "" for no end'
        ),
    ] = None,
    expected_version: Annotated[
        int | None,
        typer.Option(
            "--expected-version", metavar="N", help="refuse if it is another (else the newest)"
        ),
    ] = None,
    editor: Annotated[
        bool, typer.Option("--editor", help="change it as Markdown in your editor ($EDITOR)")
    ] = False,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Correct a memory: a new version, yours from here on. Where it came from stays on record."""
    given = {
        "name": name,
        "description": description,
        "type": type,
        "body": sys.stdin.read() if body == "-" else body,
        "entities": None if entity is None else [one for one in entity if one],
        "priority": priority,
        "confidence": confidence,
        "happened_from": happened_from,
        "happened_until": happened_until,
        "valid_until": valid_until,
    }
    changes: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    if editor and changes:
        raise Invalid("--editor", "takes the place of the other fields; give one or the other")
    with door.open() as memory:
        place = door.workspace(memory, workspace)
        where: dict[str, Any] = {"workspace": place, "agent": agent}
        held = memory.get(id, **where)
        expected = held.version if expected_version is None else expected_version
        if editor:
            return _in_editor(memory, held, expected, where)
        found = memory.edit(id, expected_version=expected, **changes, **where)
    return _one("edit", found)


def archive(
    door: Door,
    id: options.Id,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Put a memory aside: it stays in its file, nothing finds or injects it."""
    with door.open() as memory:
        found = memory.archive(id, workspace=door.workspace(memory, workspace), agent=agent)
    return _one("archive", found)


def restore(
    door: Door,
    id: options.Id,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", help="with what it said then (see history)"),
    ] = None,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Bring back a memory that was put aside or has ended, or what an older version said."""
    with door.open() as memory:
        where = door.workspace(memory, workspace)
        found = memory.restore(id, version=version, workspace=where, agent=agent)
    return _one("restore", found)


def rm(
    door: Door,
    id: options.Id,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Delete a memory for good, its file too. What it said stays in history."""
    with door.open() as memory:
        where = door.workspace(memory, workspace)
        held = memory.get(id, workspace=where, agent=agent)
        if not yes and not _agreed(door, held):
            document = {"id": held.id, "status": "kept"}
            return Reply(document, lambda out: out.text(say("nothing was deleted")))
        found = memory.delete(id, workspace=where, agent=agent)
    return Reply(
        wire.answer("delete", found),
        lambda out: out.text(say("deleted: {what}", what=_told(held))),
        tuple(_blocked(found)),
    )


def resolve(
    door: Door,
    id: options.Id,
    ours: Annotated[bool, typer.Option("--ours", help="take our side of each conflict")] = False,
    theirs: Annotated[
        bool, typer.Option("--theirs", help="take their side of each conflict")
    ] = False,
    edit: Annotated[
        bool, typer.Option("--edit", help="mend the text in your editor ($EDITOR)")
    ] = False,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Mend the file of a memory that cannot be read: take a side of its merge conflict, or edit it."""
    if ours + theirs + edit != 1:
        raise Invalid("resolve", "give one of --ours, --theirs, --edit")
    with door.open() as memory:
        where: dict[str, Any] = {"workspace": door.workspace(memory, workspace), "agent": agent}
        if not edit:
            return _one("resolve", memory.resolve(id, take="ours" if ours else "theirs", **where))
        path = memory.home / memory.get(id, **where).path
        return editors.edited(
            editors.read(str(path)),
            lambda text: _one("resolve", memory.resolve(id, text=text, **where)),
        )


def _in_editor(memory: Memory, held: Record, expected: int, where: dict[str, Any]) -> Reply:
    """The memory as it was changed in an editor."""
    before = lifecycle.sheet({name: getattr(held, name) for name in lifecycle.EDITABLE})

    def save(after: str) -> Reply:
        changes: dict[str, Any] = lifecycle.changes(before, after)
        if not changes:
            return Reply(wire.answer("get", held), lambda out: out.text(say("nothing changed")))
        return _one("edit", memory.edit(held.id, expected_version=expected, **changes, **where))

    return editors.edited(before, save)


def _agreed(door: Door, held: Record) -> bool:
    """Whether a person at a terminal says yes.

    Raises:
        Invalid: there is none to ask.
    """
    if door.json or not sys.stdin.isatty():
        raise Invalid("--yes", f"is needed: it deletes {held.id}")
    sys.stderr.write(f"{say('delete {what}? [y/N]', what=_told(held))} ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in YES


def _one(verb: str, found: Record) -> Reply:
    """The answer to a change of one memory."""
    return Reply(
        wire.answer(verb, found),
        lambda out: out.text(
            f"{_told(found)} ({say(found.status)}, {say('version')} {found.version})"
        ),
    )


def _told(one: Record) -> str:
    return f"{one.id}  {render.named(one.name, one.description)}"


def _blocked(found: Deleted) -> tuple[str, ...]:
    if found.status == "deleted":
        return ()
    return (
        say(
            "its file could not be removed and is tried again: {path} ({why})",
            path=found.path,
            why=found.problem,
        ),
    )
