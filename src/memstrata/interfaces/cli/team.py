"""team show, edit, history, diff, undo, reset: the team document of a project, or with --private one's own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memstrata.errors import Invalid, Refused
from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli import editor, options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.pipelines.team_document import SaveResult, Shown
    from memstrata.team_document import MemoryDocument

PANEL = "Put things in"
CHANNEL = "cli"

Private = Annotated[
    bool, typer.Option("--private", help="your private document, not the team's of a project")
]
Rev = Annotated[int | None, typer.Option("--rev", metavar="N", help="an older revision")]


_SIGNS: Final = re.compile(r"[\W_]+")
_NOTHING: Final = ("", "noupdate", "nochange")
"""What says that there is nothing to save, freed of its signs."""


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    team = doors.group("Keep the one document that a team shares, or your private one.", "team")
    for name, function in (
        ("show", show),
        ("edit", edit),
        ("history", history),
        ("diff", diff),
        ("undo", undo),
        ("reset", reset),
    ):
        command(team, name)(function)
    app.add_typer(team, rich_help_panel=PANEL)


def show(
    door: Door,
    rev: Rev = None,
    private: Private = False,
    workspace: options.Workspace = None,
) -> Reply:
    """Show the document."""
    with _document(door, private, workspace) as document:
        found = document.read(rev=rev)
    return Reply(
        wire.answer("team", found), lambda out: render.document(out, found), tuple(_about(found))
    )


def edit(
    door: Door,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="the whole new document; - is stdin (else your editor opens)"
        ),
    ] = None,
    base_rev: Annotated[
        int | None,
        typer.Option("--base-rev", metavar="N", help="the revision that it was made from"),
    ] = None,
    allow_deletions: Annotated[
        bool,
        typer.Option("--allow-deletions", help="however much is missing in it, it is to go"),
    ] = False,
    private: Private = False,
    workspace: options.Workspace = None,
) -> Reply:
    """Save a new document, merged with what others saved; what you delete in an editor is deleted."""
    with _document(door, private, workspace) as document:
        if file is None and sys.stdin.isatty():
            return _edited_by_hand(door, document)
        text = sys.stdin.read() if file in (None, "-") else editor.read(str(file))
        found = document.save(text, base_rev=base_rev, allow_deletions=allow_deletions)
    return _saved(door, found, text)


def history(door: Door, private: Private = False, workspace: options.Workspace = None) -> Reply:
    """Show every revision of the document, oldest first."""
    with _document(door, private, workspace) as document:
        found = document.history()
    return Reply(wire.answer("revisions", found), lambda out: render.revisions(out, found))


def diff(
    door: Door,
    old: Annotated[int, typer.Argument(metavar="OLD", help="the number of a revision")],
    new: Annotated[
        int | None, typer.Argument(metavar="NEW", help="a later one (else the document as it is)")
    ] = None,
    private: Private = False,
    workspace: options.Workspace = None,
) -> Reply:
    """Show what changed between two revisions."""
    with _document(door, private, workspace) as document:
        found = document.diff(old, new)
    return Reply({"diff": found}, lambda out: out.text(found) if found else None)


def undo(
    door: Door,
    to: Annotated[
        int | None, typer.Option("--to", metavar="N", help="bring this revision back instead")
    ] = None,
    private: Private = False,
    workspace: options.Workspace = None,
) -> Reply:
    """Take the newest revision back; again: the one before it. No revision is lost."""
    with _document(door, private, workspace) as document:
        found = document.undo() if to is None else document.restore(to)
    return _saved(door, found)


def reset(
    door: Door,
    yes: Annotated[bool, typer.Option("--yes", help="yes, empty it")] = False,
    private: Private = False,
    workspace: options.Workspace = None,
) -> Reply:
    """Empty the document. Its revisions stay, so undo brings it back."""
    if not yes:
        raise Invalid("--yes", "is needed: it empties the document")
    with _document(door, private, workspace) as document:
        found = document.reset(confirm=document.read().rev)
    return _saved(door, found)


@contextmanager
def _document(door: Door, private: bool, workspace: str | None) -> Iterator[MemoryDocument]:
    """The document that a command is about.

    Raises:
        Invalid: neither --private nor a project.
    """
    with door.open() as memory:
        if private:
            yield memory.private(channel=CHANNEL)
            return
        place = door.workspace(memory, workspace)
        if place is None:
            raise Invalid(
                "workspace",
                "you are in none that is bound; name one with --workspace, or --private",
            )
        yield memory.team(place, channel=CHANNEL)


def _about(found: Shown) -> Iterator[str]:
    yield say(
        "revision {rev}, {size} of {most} characters",
        rev=found.rev,
        size=len(found.memory_md),
        most=found.limits.hard,
    )
    if found.problem:
        yield say("the file says something else and is left as it is: {why}", why=found.problem)


def _saved(door: Door, found: SaveResult, text: str = "") -> Reply:
    """The answer to a save of `text`; for a person a save that failed is an error like any other.

    Raises:
        Refused, Invalid: the document cannot be saved so.
    """
    error = _error(found, text)
    if error is not None and not door.json:
        raise error
    return Reply(
        wire.answer("save", found),
        lambda out: render.saved(out, found),
        tuple(render.told(found)),
        exit_code=error.exit_code if error else 0,
    )


def _error(found: SaveResult, text: str) -> Invalid | Refused | None:
    if found.status == "no_op" and _SIGNS.sub("", text).lower() not in _NOTHING:
        # A model's chatter of a few words is no document; a person's few words are meant.
        return Invalid(
            "document", say("has no ## heading and no entry such as - 2026-05-01: …; not saved")
        )
    if found.status != "error":
        return None
    if found.reason == "sensitive":
        return Refused("sensitive", "sensitive", found.message)
    return Invalid("document", found.message)


# -- where a text comes from ------------------------------------------------------------------------


def _edited_by_hand(door: Door, document: MemoryDocument) -> Reply:
    """The document as it was changed in an editor."""
    before = document.read()

    def save(text: str) -> Reply:
        if text.strip() == before.memory_md.strip():
            return Reply(wire.answer("team", before), lambda out: out.text(say("nothing changed")))
        saved = document.save(text, base_rev=before.rev, allow_deletions=True)
        return _saved(door, saved, text)

    return editor.edited(f"{before.memory_md}\n" if before.memory_md else "", save)
