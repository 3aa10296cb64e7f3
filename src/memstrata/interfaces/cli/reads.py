"""search, list, show, trace, why, history."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, cast

import typer

from memstrata.errors import Unavailable
from memstrata.interfaces import wire
from memstrata.interfaces.cli import options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.progress import bars
from memstrata.interfaces.cli.texts import say

PANEL = "Look things up"
FILLED = 256
"""So many vectors are made on the way of a search, where no worker runs: a few seconds."""


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    for name, function in (
        ("search", search),
        ("list", list_),
        ("show", show),
        ("trace", trace),
        ("history", history),
        ("why", why),
    ):
        command(app, name, PANEL)(function)


def search(
    door: Door,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="what to look for, in words")],
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="memory|message", help="only this kind (may be repeated)"),
    ] = None,
    scope: options.Scope = None,
    type: options.Type = None,
    limit: options.Limit = 10,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="what was true then (2026-05-10T09:30)"),
    ] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", metavar="TIME", help="what we had learned by then")
    ] = None,
    include_invalid: Annotated[
        bool, typer.Option("--include-invalid", help="what has ended, too")
    ] = False,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Search memories, then messages, best first."""
    kinds: dict[str, Any] = {"kinds": kind} if kind else {}
    with bars() as progress, door.open() as memory:
        with suppress(Unavailable):  # the search says what it lacks
            memory.fill_vectors(most=FILLED, progress=progress)
        found = memory.search(
            query,
            scope=cast("Any", scope),
            type=type,
            limit=limit,
            as_of=as_of,
            known_at=known_at,
            include_invalid=include_invalid,
            workspace=door.workspace(memory, workspace),
            agent=agent,
            **kinds,
        )
    return Reply(
        wire.answer("search", found),
        lambda out: render.hits(out, found),
        tuple(say("degraded: {what}", what=one) for one in found.degraded),
    )


def list_(
    door: Door,
    scope: options.Scope = None,
    type: options.Type = None,
    status: options.Status = None,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="only with this in name or description")
    ] = "",
    limit: options.Limit = 50,
    cursor: options.Cursor = None,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """List memories in the order they were made, ended ones included."""
    with door.open() as memory:
        page = memory.list(
            scope=cast("Any", scope),
            type=type,
            status=status,
            text=text,
            limit=limit,
            cursor=cursor,
            workspace=door.workspace(memory, workspace),
            agent=agent,
        )
    return Reply(
        wire.answer("list", page), lambda out: render.records(out, page), more(page.cursor)
    )


def show(
    door: Door,
    id: options.Id,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Show one memory: every field, then its text."""
    with door.open() as memory:
        found = memory.get(id, workspace=door.workspace(memory, workspace), agent=agent)
    return Reply(wire.answer("get", found), lambda out: render.record(out, found))


def trace(
    door: Door,
    id: Annotated[str, typer.Argument(metavar="ID", help="the id of a memory or a message")],
    session: options.OfSession = None,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Trace where a memory came from and what superseded it, or what came of a message."""
    with door.open() as memory:
        where = door.workspace(memory, workspace)
        found = memory.trace(id, session=session, workspace=where, agent=agent)
    return Reply(wire.answer("trace", found), lambda out: render.trace(out, found))


def history(
    door: Door,
    id: options.Id,
    diff: Annotated[
        tuple[int, int] | None,
        typer.Option("--diff", metavar="A B", help="what changed from version A to B, instead"),
    ] = None,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Show every version of a memory, oldest first; of a deleted one too."""
    with door.open() as memory:
        where = door.workspace(memory, workspace)
        if diff is not None:
            told = memory.diff(id, *diff, workspace=where, agent=agent)
            return Reply({"diff": told}, lambda out: out.text(told) if told else None)
        found = memory.history(id, workspace=where, agent=agent)
    return Reply(wire.answer("history", found), lambda out: render.versions(out, found))


def why(
    door: Door,
    session: options.Session = None,
    verdict: options.Verdict = None,
    limit: options.Limit = 50,
    cursor: options.Cursor = None,
) -> Reply:
    """Show what became of each candidate and why, newest first."""
    with door.open() as memory:
        page = memory.why(session=session, verdict=verdict, limit=limit, cursor=cursor)
    return Reply(
        wire.answer("why", page), lambda out: render.verdicts(out, page), more(page.cursor)
    )


def more(cursor: str | None) -> tuple[str, ...]:
    """How to get the next page; nothing when there is none."""
    return () if cursor is None else (say("there is more: --cursor {cursor}", cursor=cursor),)
