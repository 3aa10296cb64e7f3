"""consolidate, candidates list, show, confirm, reject: memories made fewer, general rules decided on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memstrata.errors import Invalid, NotFound
from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli import options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.progress import bars
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.bootstrap import Memory
    from memstrata.pipelines.candidates import Candidate

PANEL = "Put things right"
_YES: Final = ("y", "yes", "是")
_FAILED: Final = 7

CandidateId = Annotated[str, typer.Argument(metavar="ID", help="the id of a candidate")]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(app, "consolidate", PANEL)(consolidate)
    group = doors.group("Decide on general rules that were made of scattered ones.", "candidates")
    for name, function in (
        ("list", list_),
        ("show", show),
        ("confirm", confirm),
        ("reject", reject),
    ):
        command(group, name)(function)
    app.add_typer(group, rich_help_panel=PANEL)


def consolidate(
    door: Door,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only show the plan, and keep it for a day")
    ] = False,
    apply: Annotated[
        str | None,
        typer.Option("--apply", metavar="DIGEST", help="carry out the plan of a dry run, exactly"),
    ] = None,
    scope: options.Scope = None,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Merge memories that say the same; propose general rules for scattered ones."""
    with bars() as progress, door.open() as memory:
        where: dict[str, Any] = {"workspace": door.workspace(memory, workspace), "agent": agent}
        found = memory.consolidate(
            dry_run=dry_run,
            apply=apply,
            scope=scope,  # type: ignore[arg-type]
            progress=progress,
            **where,
        )
    failed = any(run.problem for run in found.runs)
    return Reply(
        wire.answer("consolidate", found),
        lambda out: render.consolidated(out, found),
        tuple(render.consolidation_notes(found)),
        exit_code=_FAILED if failed else 0,
    )


def list_(
    door: Door,
    scope: options.Scope = None,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """List the general rules that wait for you."""
    with door.open() as memory:
        found = memory.candidates(
            scope=scope,  # type: ignore[arg-type]
            workspace=door.workspace(memory, workspace),
            agent=agent,
        )
    return Reply(wire.answer("candidates", found), lambda out: render.candidates(out, found))


def show(
    door: Door,
    id: CandidateId,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Show a general rule, what it was made of, and the digest to confirm it by."""
    with door.open() as memory:
        found = _one(memory, id, door.workspace(memory, workspace), agent)
    return Reply(wire.answer("candidate", found), lambda out: render.candidate(out, found))


def confirm(
    door: Door,
    id: CandidateId,
    digest: Annotated[
        str | None,
        typer.Option(
            "--digest", metavar="DIGEST", help="what it was shown under (else you are asked)"
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="short, and unique in its scope")
    ] = None,
    description: Annotated[
        str | None,
        typer.Option("--description", metavar="TEXT", help="the one line that is injected"),
    ] = None,
    body: Annotated[
        str | None,
        typer.Option("--body", metavar="MARKDOWN", help="more about it; - reads it from stdin"),
    ] = None,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Make a general rule a memory, as it was shown to you, in other words if you give them."""
    given = {
        "name": name,
        "description": description,
        "body": sys.stdin.read() if body == "-" else body,
    }
    words: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    with door.open() as memory:
        where: dict[str, Any] = {"workspace": door.workspace(memory, workspace), "agent": agent}
        seen = digest
        if seen is None:
            shown = _one(memory, id, where["workspace"], agent)
            if not _agreed(door, shown):
                document: dict[str, wire.Json] = {"id": id, "status": "waiting"}
                return Reply(document, lambda out: out.text(say("it goes on waiting")))
            seen = shown.digest
        found = memory.confirm(id, digest=seen, **words, **where)
    told = f"{found.id}  {render.named(found.name, found.description)}"
    return Reply(
        wire.answer("confirm", found),
        lambda out: out.text(say("confirmed: {what}", what=told)),
    )


def reject(
    door: Door,
    id: CandidateId,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Decide against a general rule; the same is not proposed again."""
    with door.open() as memory:
        found = memory.reject(id, workspace=door.workspace(memory, workspace), agent=agent)
    return Reply(
        wire.answer("reject", found),
        lambda out: out.text(say("rejected: {what}", what=found.id)),
    )


def _one(memory: Memory, id: str, workspace: str | None, agent: str | None) -> Candidate:
    """The candidate of that id.

    Raises:
        NotFound: none waits under it.
    """
    every = memory.candidates(workspace=workspace, agent=agent)
    found = next((one for one in every if one.id == id), None)
    if found is None:
        raise NotFound("candidate", id)
    return found


def _agreed(door: Door, shown: Candidate) -> bool:
    """Whether a person at a terminal says yes to what they are shown.

    Raises:
        Invalid: there is none to ask.
    """
    if door.json or not sys.stdin.isatty():
        raise Invalid("--digest", f"is needed: look at `memstrata candidates show {shown.id}`")
    from memstrata.interfaces.cli.out import Out

    render.candidate(Out(sys.stderr), shown)
    sys.stderr.write(f"{say('make it a rule? [y/N]')} ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in _YES
