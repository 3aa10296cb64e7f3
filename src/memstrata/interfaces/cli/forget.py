"""forget: what was said or remembered goes for good, with all that rests on it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, assert_never

import typer

from memstrata.errors import Invalid
from memstrata.interfaces import wire
from memstrata.interfaces.cli import options
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.lifecycle import PANEL, YES
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.interfaces.cli.out import Out
    from memstrata.pipelines.forget import Receipt, Unreached, Verification

SHOWN = (
    *("messages", "memories", "changed", "versions", "records", "vectors"),
    *("verdicts", "jobs", "again", "torn", "backups"),
)
"""The counts of a receipt, in the order they are shown."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(app, "forget", PANEL)(forget)


def forget(
    door: Door,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[IDS]…", help="memories; what they were drawn from goes too"),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="what was said in this session")
    ] = None,
    entity: Annotated[
        str | None, typer.Option("--entity", metavar="NAME", help="what names this")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="what was said then or later (2026-05-10)"),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="what was said until then, that day included"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="count what would go, and change nothing")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="read every byte afterwards, the database's too")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Erase memories, a session, all about a name or of a time, for good: text, history, index, files."""
    with door.open() as memory:
        asked: dict[str, Any] = {
            "ids": ids or None,
            "session": session,
            "entity": entity,
            "since": since,
            "until": until,
            "workspace": door.workspace(memory, workspace),
            "agent": agent,
        }
        if dry_run or not yes:
            planned = memory.forget(**asked, dry_run=True)
            if dry_run or not _agreed(door, planned):
                return _reply(planned)
        found = memory.forget(**asked, verify=verify)
    return _reply(found)


def _agreed(door: Door, planned: Receipt) -> bool:
    """Whether a person at a terminal says yes.

    Raises:
        Invalid: there is none to ask.
    """
    if door.json or not sys.stdin.isatty():
        raise Invalid("--yes", "is needed: what is forgotten cannot be brought back")
    counts = planned.counts
    question = say(
        "forget {messages} messages and {memories} memories for good? [y/N]",
        messages=counts["messages"],
        memories=counts["memories"],
    )
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in YES


def _reply(found: Receipt) -> Reply:
    left = (
        say(
            "its file could not be removed and is tried again: {path} ({why})",
            path=one.path,
            why=one.problem,
        )
        for one in found.left
    )
    return Reply(wire.answer("forget", found), lambda out: _show(out, found), tuple(left))


def _show(out: Out, found: Receipt) -> None:
    out.heading(
        say("this would be forgotten; nothing was changed") if found.dry_run else say("forgotten")
    )
    out.fields([(_named(name), str(found.counts[name])) for name in SHOWN if found.counts[name]])
    for one in found.not_reached:
        out.text(f"- {_unreached(one)}")
    if found.verified is not None:
        out.text(_verified(found.verified))


def _named(name: str) -> str:
    """What a count counts."""
    return {
        "messages": say("messages"),
        "memories": say("memories"),
        "changed": say("memories that lose sources"),
        "versions": say("versions in history"),
        "records": say("record lines"),
        "vectors": say("vectors"),
        "verdicts": say("verdicts"),
        "jobs": say("jobs"),
        "again": say("batches extracted again"),
        "torn": say("torn tails of logs"),
        "backups": say("backups of the database"),
    }[name]


def _unreached(one: Unreached) -> str:
    match one.why:
        case "git":
            return say("not reached: the git history of {what}", what=one.what)
        case "model":
            return say("not reached: the logs of {what}, which read it", what=one.what)
        case "embedder":
            return say("not reached: the logs of {what}, which made vectors of it", what=one.what)
        case "document":
            return say("{what} says some of it; see memstrata team edit", what=one.what)
        case "workspace":
            return say("{what} is not there; its files go when it is back", what=one.what)
        case "file":
            return say("{what} still holds some of it", what=one.what)
        case "log":
            return say("not yet: {what}", what=one.what)
        case "copies":
            return say(
                "not reached: exports, backups of your own, other homes, a disk's old blocks"
            )
        case other:
            assert_never(other)


def _verified(seen: Verification) -> str:
    if seen.clean:
        told = say("verified: no file holds any of the {n} texts looked for", n=seen.looked_for)
    else:
        told = say("verified: {n} files still hold some of it", n=len(seen.found))
    more = []
    if seen.skipped:
        more.append(say("{n} texts are too short or too many to look for", n=seen.skipped))
    if seen.elsewhere:
        more.append(say("{n} are said elsewhere, too", n=seen.elsewhere))
    return "; ".join((told, *more))
