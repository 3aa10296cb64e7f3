"""A document read: by a person, by a host, before the model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memstrata.domain import team_document
from memstrata.domain.revision import Revision, Verb
from memstrata.domain.team_document import HARD, SOFT, Authored
from memstrata.pipelines import revisions
from memstrata.pipelines.team_document import thread as threads
from memstrata.pipelines.team_document.thread import Thread
from memstrata.pipelines.world import World
from memstrata.prompts import team_document as prompt


@dataclass(frozen=True, slots=True)
class Limits:
    """Characters: above `soft` the writer is warned, above `hard` nothing is stored."""

    soft: int = SOFT
    hard: int = HARD


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as it was read. `problem`: its file says something else, which cannot be taken over."""

    memory_md: str
    rev: int
    limits: Limits = Limits()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RevisionInfo:
    """A revision without its text, of which `characters` is the length."""

    rev: int
    at: datetime
    verb: Verb
    author: str
    channel: str
    session: str
    message: str
    restored: int | None
    characters: int


def read(world: World, thread: Thread, rev: int | None = None) -> Shown:
    """The document, which counts as shown to the thread; with `rev` an older revision, which does not.

    Raises:
        Denied: this user may not read it.
        NotFound: no such revision.
        Unavailable: disk or database said no.
    """
    threads.reader(world, thread)
    standing = revisions.stand(world, thread.document)
    if rev is not None:
        return Shown(threads.text_of(world, thread, standing, rev), rev)
    threads.note(world, thread, standing.rev)
    return Shown(standing.text, standing.rev, problem=standing.problem)


def block(world: World, thread: Thread) -> str:
    """The document for the system prompt, an empty one too; counts as shown.

    Raises:
        As `read`.
    """
    found = read(world, thread)
    return team_document.block(found.memory_md, thread.visibility, found.rev)


def guidance(world: World, thread: Thread) -> prompt.Guidance:
    """What the host tells its model so that it keeps the document: protocol, tool, examples."""
    return prompt.guidance(thread.visibility, world.moment().today)


def history(world: World, thread: Thread) -> tuple[RevisionInfo, ...]:
    """Every revision, oldest first.

    Raises:
        As `read`.
    """
    threads.reader(world, thread)
    revisions.stand(world, thread.document)
    return tuple(map(_info, revisions.history(world, thread.document)))


def entries(world: World, thread: Thread) -> tuple[Authored[RevisionInfo], ...]:
    """The lines of the document as it stands, each with the revision that brought it.

    Raises:
        As `read`.
    """
    threads.reader(world, thread)
    revisions.stand(world, thread.document)
    found = ((one.text, _info(one)) for one in revisions.history(world, thread.document))
    return team_document.authored(found)


def diff(world: World, thread: Thread, old: int, new: int | None = None) -> str:
    """What changed from revision `old` to `new` (the present one), as a unified diff.

    Raises:
        As `read`.
    """
    threads.reader(world, thread)
    standing = revisions.stand(world, thread.document)
    later = standing.rev if new is None else new
    before, after = (threads.text_of(world, thread, standing, one) for one in (old, later))
    return team_document.diff(before, after, old_rev=old, new_rev=later)


def _info(one: Revision) -> RevisionInfo:
    return RevisionInfo(
        rev=one.rev,
        at=one.at,
        verb=one.verb,
        author=one.author,
        channel=one.channel,
        session=one.session,
        message=one.message,
        restored=one.restored,
        characters=len(one.text),
    )
