"""Conversations from elsewhere: each format a module that yields messages, streamed, with times and ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from memstrata.domain.scope import Realm
from memstrata.errors import Invalid, Unavailable
from memstrata.importers import jsonl, locomo
from memstrata.importers.record import Bad, Spoken
from memstrata.pipelines import capture
from memstrata.pipelines.capture import Chat
from memstrata.pipelines.world import World

Reader = Callable[[Path], Iterator[Spoken | Bad]]
READERS: Final[dict[str, Reader]] = {"jsonl": jsonl.read, "locomo": locomo.read}
_BATCH: Final = 500


@dataclass(slots=True)
class Imported:
    """What an import came to: messages stored, there already, left out, and records that could not be read."""

    format: str
    sessions: set[str] = field(default_factory=set)
    stored: int = 0
    existing: int = 0
    warnings: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)


def run(
    path: Path,
    format: str | None,
    world: World,
    realm: Realm,
    progress: Callable[[str, int, int], None] | None,
    workspace: str = "",
) -> Imported:
    """Read `path` into the conversation log, a few hundred messages at a time; `workspace` is its key.

    Raises:
        Invalid: no such file, or no known format.
        Unavailable: disk or database said no; what was read so far is stored, run it again.
    """
    chosen = format or detect(path)
    if chosen not in READERS:
        raise Invalid("format", f"{chosen!r} is no format; use one of {', '.join(READERS)}")
    done = Imported(chosen)
    waiting: list[Spoken] = []
    for one in READERS[chosen](path):
        if isinstance(one, Bad):
            done.bad.append(str(one))
            continue
        if waiting and (one.session != waiting[0].session or len(waiting) >= _BATCH):
            _store(world, realm, workspace, waiting, done, progress)
        waiting.append(one)
    _store(world, realm, workspace, waiting, done, progress)
    return done


def detect(path: Path) -> str:
    """The format of a file, by its content.

    Raises:
        Invalid: no such file, or none that is known.
    """
    try:
        with path.open("rb") as file:
            head = file.read(65_536)
    except OSError as error:
        raise Invalid("path", f"{path} cannot be read: {error.strerror}") from error
    if locomo.looks_like(path, head):
        return "locomo"
    if jsonl.looks_like(head):
        return "jsonl"
    raise Invalid("path", f"{path} has no format that is known; name it: {', '.join(READERS)}")


def _store(
    world: World,
    realm: Realm,
    workspace: str,
    waiting: list[Spoken],
    done: Imported,
    progress: Callable[[str, int, int], None] | None,
) -> None:
    """Store the waiting messages of one session; if one is wrong, the others still go in."""
    if not waiting:
        return
    chat = Chat(realm, waiting[0].session, workspace, waiting[0].agent)
    try:
        _take(capture.capture(world, chat, [one.message for one in waiting]), done)
    except Invalid:
        for one in waiting:
            try:
                _take(capture.capture(world, chat, [one.message]), done)
            except Invalid as error:
                done.bad.append(f"{one.where}: {error}")
    except Unavailable as error:
        raise Unavailable(
            f"{error.message}; {done.stored} messages are stored, run the import again"
        ) from error
    done.sessions.add(waiting[0].session)
    waiting.clear()
    if progress is not None:
        progress("importing", done.stored + done.existing, 0)


def _take(captured: capture.Captured, done: Imported) -> None:
    done.stored += len(captured.stored)
    done.existing += len(captured.existing)
    done.warnings += captured.warnings
