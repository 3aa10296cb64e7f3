"""add, import, extract, reindex."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memstrata.domain.memory import TYPES
from memstrata.domain.scope import SCOPES
from memstrata.errors import Invalid
from memstrata.interfaces import wire
from memstrata.interfaces.cli import options, render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.progress import bars
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.bootstrap import Memory
    from memstrata.importers import Imported
    from memstrata.interfaces.cli.progress import Progress
    from memstrata.jobs.worker import Worked

PANEL = "Put things in"
_SUFFIXES = (".jsonl", ".json")


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    for name, function in (
        ("add", add),
        ("import", import_),
        ("extract", extract),
        ("reindex", reindex),
    ):
        command(app, name, PANEL)(function)


def add(
    door: Door,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="short, and unique in its scope")
    ],
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="the one line that is injected")
    ],
    scope: Annotated[
        str, typer.Option("--scope", metavar="|".join(SCOPES), help="who may see it")
    ] = "user",
    type: Annotated[
        str, typer.Option("--type", metavar="|".join(TYPES), help="what it is")
    ] = "user",
    body: Annotated[
        str, typer.Option("--body", metavar="MARKDOWN", help="more about it; - reads it from stdin")
    ] = "",
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", metavar="NAME", help="a name it is about (may be repeated)"),
    ] = None,
    priority: Annotated[
        int | None,
        typer.Option("--priority", metavar="N", help="0 to 100, or -1 for a standing rule"),
    ] = None,
    valid_until: Annotated[
        str | None,
        typer.Option("--valid-until", metavar="DAY", help="the last day that counts (2026-10-31)"),
    ] = None,
    workspace: options.Workspace = None,
    agent: options.Agent = None,
) -> Reply:
    """Add a memory by hand; only the sensitive gate stands before it."""
    text = _stdin() if body == "-" else body
    with door.open() as memory:
        found = memory.add(
            scope=scope,
            type=type,
            name=name,
            description=description,
            body=text,
            entities=tuple(entity or ()),
            priority=priority,
            valid_until=valid_until,
            workspace=door.workspace(memory, workspace) if scope == "project" else workspace,
            agent=agent,
        )
    return Reply(
        wire.answer("add", found),
        lambda out: out.text(f"{found.id}  {render.named(found.name, found.description)}"),
    )


def import_(
    door: Door,
    path: Annotated[str, typer.Argument(metavar="FILE|DIR", help="a file, or a folder of files")],
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="its format (else told by its content)"),
    ] = None,
    workspace: options.Workspace = None,
    no_extract: Annotated[
        bool, typer.Option("--no-extract", help="store the messages only; see memstrata extract")
    ] = False,
) -> Reply:
    """Import conversations and extract what is worth keeping."""
    with door.open() as memory:
        where = door.workspace(memory, workspace)
        with bars() as progress:
            files, skipped = _read_in(memory, Path(path), format, where, progress)
        worked = None if no_extract else _drained(door, memory)
        notes = (*skipped, *_unread(files), *_idle(memory, worked))
    document: dict[str, wire.Json] = {
        "files": {one: wire.encode(found) for one, found in files.items()},
        "skipped": list(skipped),
        "extraction": wire.encode(worked),
    }
    return Reply(
        document,
        lambda out: render.imported(out, files, worked),
        notes,
        exit_code=0 if any(f.stored or f.existing or not f.bad for f in files.values()) else 2,
    )


def extract(
    door: Door,
    retry: Annotated[
        bool, typer.Option("--retry", help="also what was set aside or waits for its next try")
    ] = False,
    retry_refused: Annotated[
        str | None,
        typer.Option(
            "--retry-refused",
            metavar="VERDICT",
            help="also batches of which a candidate was refused so (quota)",
        ),
    ] = None,
) -> Reply:
    """Extract what waits: messages that were stored and not yet extracted."""
    with door.open() as memory:
        _announce(door, memory)
        with bars() as progress:
            worked = memory.extract(retry=retry, retry_refused=retry_refused, progress=progress)
        notes = _idle(memory, worked)
    return Reply(wire.answer("drain", worked), lambda out: render.extracted(out, worked), notes)


def _drained(door: Door, memory: Memory) -> Worked:
    _announce(door, memory)
    with bars() as progress:
        return memory.drain(progress=progress)


def _announce(door: Door, memory: Memory) -> None:
    """Before a model is asked: about how often it will be, on stderr."""
    found = None if door.json else memory.estimate()
    if found is not None and found.calls:
        told = say(
            "about {calls} calls of {model}: {extraction} for {messages} messages, "
            "{scenes} for scenes, {persona} for the persona",
            calls=found.calls,
            model=found.model,
            extraction=found.extraction,
            messages=found.messages,
            scenes=found.scenes,
            persona=found.persona,
        )
        sys.stderr.write(f"{say('note')}: {told}\n")
        sys.stderr.flush()


def reindex(door: Door) -> Reply:
    """Rebuild the index from the files; only hit counts and verdicts' numbers change."""
    with bars() as progress, door.open() as memory:
        found = memory.reindex(progress)
    return Reply(wire.answer("reindex", found), lambda out: render.report(out, found))


def _read_in(
    memory: Memory, path: Path, format: str | None, workspace: str | None, progress: Progress | None
) -> tuple[dict[str, Imported], tuple[str, ...]]:
    """What a file came to; of a folder each file, and why some were left out.

    Raises:
        Invalid: no file can be read.
    """
    files: dict[str, Imported] = {}
    skipped: list[str] = []
    for one in _files(path):
        try:
            files[str(one)] = memory.import_(
                one, format=format, workspace=workspace, progress=progress, extract=False
            )
        except Invalid as error:
            if not path.is_dir():
                raise
            skipped.append(error.message)
    if not files:
        raise Invalid("path", f"{path} holds no conversation: {'; '.join(skipped)}")
    return files, tuple(skipped)


def _files(path: Path) -> list[Path]:
    """The file itself, or every `.jsonl` and `.json` file below a folder, in order.

    Raises:
        Invalid: a folder without any.
    """
    if not path.is_dir():
        return [path]
    found = (one for one in path.rglob("*") if one.suffix in _SUFFIXES and one.is_file())
    if files := sorted(found):
        return files
    raise Invalid("path", f"{path} holds no .jsonl or .json file")


def _unread(files: dict[str, Imported]) -> Iterator[str]:
    for path, one in files.items():
        yield from (f"{path}: {text}" for text in (*one.bad, *one.warnings))


def _idle(memory: Memory, worked: Worked | None) -> tuple[str, ...]:
    """Jobs that were set aside or are tried again, and messages that go on waiting, with the reason."""
    aside = [say("set aside: {what}", what=one) for one in (worked.parked if worked else ())]
    state = memory.status()
    aside += [say("tried again later: {what}", what=one) for one in state.retrying]
    if state.waiting:
        aside.append(
            say(
                "{n} messages wait for extraction ({extractor})",
                n=state.waiting,
                extractor=state.extractor,
            )
        )
    return tuple(aside)


def _stdin() -> str:
    return sys.stdin.read()
