"""Before each call of the model: archive what is new, fold what is too much, put our blocks in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Final

from memstrata import failpoints
from memstrata.domain import boundary as boundaries
from memstrata.domain import folding, insertion
from memstrata.domain.folding import Asked, Folded
from memstrata.domain.insertion import Task
from memstrata.domain.offload_state import Session
from memstrata.domain.reclaim import Compacted, Cut, Removed, Replaced
from memstrata.domain.window import Window, view
from memstrata.errors import Conflict, Corrupt, Invalid, Unavailable
from memstrata.pipelines import sessions
from memstrata.pipelines.offload import archive
from memstrata.pipelines.offload.host import Host, asker, job
from memstrata.pipelines.world import RULES, World

DAYS: Final = timedelta(days=30)
"""How long a finished task of another session is told of."""
AGE: Final = timedelta(seconds=300)
"""How long a result may be without a node."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a call of `assemble` did. Tokens are those of the whole window, with what comes beside the list.

    `unfolded` is what the host's own list would take, `overhead` what comes beside it. `boundary`: another
    task is active, so our block was made anew. `levels` are those
    that acted now; `replaced`, `cut`, `compacted` and `removed` count what is so by now, `archived` and
    `masked` what was new. `reason` says why the window is not below its target, `warnings` what went wrong.
    """

    window: int
    unfolded: int = 0
    before: int = 0
    after: int = 0
    overhead: int = 0
    blocks: int = 0
    levels: tuple[str, ...] = ()
    boundary: bool = False
    archived: int = 0
    masked: int = 0
    replaced: int = 0
    cut: int = 0
    compacted: int = 0
    removed: int = 0
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assembled:
    """The list for the model, and what was done."""

    messages: list[object]
    report: Report


def assemble(
    world: World,
    host: Host,
    messages: object,
    *,
    overhead: int | None = None,
    overflow: bool = False,
) -> Assembled:
    """The list as it goes to the model. Whatever list comes in, whatever fails: one comes out.

    What cannot be archived stays as it is, and the report says so.
    """
    given = _listed(messages)
    if given is None:
        problem = f"expected a list of messages, got {type(messages).__name__}"
        return Assembled([], Report(host.limits.window, warnings=(problem,)))
    window = view(given)
    asked = Asked(
        host.limits,
        host.count,
        world.clock.now(),
        stable=host.cache == "stable",
        overhead=overhead,
        overflow=overflow,
    )
    problem = ""
    for _ in range(archive.TRIES):
        try:
            return _assembled(world, host, window, asked)
        except Conflict as error:
            problem = error.message
        except (Unavailable, Corrupt, Invalid) as error:
            return _degraded(world, host, window, asked, error.message)
    return _degraded(world, host, window, asked, problem)


def _listed(messages: object) -> list[object] | None:
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        return None
    return list(messages)


def _assembled(world: World, host: Host, window: Window, asked: Asked) -> Assembled:
    standing = sessions.stand(world, host.spot, host.standing)
    host.standing = standing
    archived = archive.unseen(world, host, standing.session, window)
    session, refresh = _tasks(world, host, archived.session, window)
    refresh = refresh or not standing.version
    asked = replace(asked, others=cache(partial(_others, world, host, session)))
    made = folding.fold(window, session, asked, refresh=refresh)
    refs = {**archived.refs, **_words(world, standing.session, made)}
    host.standing = sessions.save(
        world, host.spot, standing, made.session, refs, job(world, host, made.session)
    )
    failpoints.hit("offload.assembled")
    return _told(host, window, asked, made, standing.session, boundary=refresh)


def _words(world: World, before: Session, made: Folded) -> dict[str, bytes]:
    """The words of what was removed now, in a ref of their own."""
    if not made.transcript:
        return {}
    number = len(before.removed) + 1
    words = archive.words(made.transcript, world.settings.offload.mask_secrets)
    return {f"{insertion.REMOVED}-{number:05d}.md": words}


def _told(
    host: Host,
    window: Window,
    asked: Asked,
    made: Folded,
    before: Session,
    *,
    boundary: bool = False,
) -> Assembled:
    steps = made.session.steps
    new = made.session.kept[len(before.kept) :]
    blocks = sum(host.count(text) for text in (made.session.block, made.session.history))
    overhead = folding.overhead(window, asked)
    report = Report(
        host.limits.window,
        unfolded=overhead + sum(item.tokens(host.count) for item in window.items),
        before=made.outcome.before,
        after=made.outcome.after,
        overhead=overhead,
        blocks=blocks,
        levels=made.outcome.levels,
        boundary=boundary,
        archived=len(new),
        masked=sum(one.masked for one in new),
        replaced=sum(isinstance(one, Replaced) for one in steps),
        cut=sum(isinstance(one, Cut) for one in steps),
        compacted=sum(isinstance(one, Compacted) for one in steps),
        removed=sum(len(one.items) for one in steps if isinstance(one, Removed)),
        reason=made.outcome.reason,
    )
    return Assembled(made.messages, report)


def _degraded(world: World, host: Host, window: Window, asked: Asked, problem: str) -> Assembled:
    """Only what was folded before is folded: nothing that is not saved may be decided on."""
    known = host.standing.session if host.standing else Session()
    made = folding.fold(window, known, replace(asked, frozen=True))
    found = _told(host, window, asked, made, known)
    warning = f"nothing was archived or folded now: {problem}"
    world.bus.emit("offload.degraded", degraded=True, session=host.spot.session)
    return replace(found, report=replace(found.report, warnings=(warning,)))


# -- tasks ------------------------------------------------------------------------------------------


def _tasks(world: World, host: Host, session: Session, window: Window) -> tuple[Session, bool]:
    """The session with its boundary judged and its results mapped as far as is due; whether our block must
    follow because another task is active.
    """
    model, now = asker(world, host.spot), world.clock.now()
    if due := folding.is_boundary(session, window):
        prompt = folding.prompt_of(window) if due == "prompt" else ""
        identity = folding.identity_of(window) if due == "prompt" else ""
        if model is None:
            session = _bounded(session, prompt, identity, now)
        elif (identity or folding.RESULTS) != session.asked[0]:
            if session.active:  # what has no node yet belongs to the task before it
                session = folding.placed(session, "", now)
            session = replace(session, asked=(identity or folding.RESULTS, prompt))
    if model is None and _map_is_due(session, now):
        session = folding.placed(session, folding.prompt_of(window), now)
    return session, session.active != session.told


def _bounded(session: Session, prompt: str, identity: str, now: datetime) -> Session:
    """The boundary by rules. What has no node yet belongs to the task before it."""
    if session.active:
        session = folding.placed(session, "", now)
    last = session.boundaries[-1].results if session.boundaries else 0
    judgement = boundaries.by_rules(
        prompt, session.graph, session.graphs, 0 if prompt else len(session.kept) - last
    )
    return folding.judged(session, judgement, prompt=prompt, identity=identity, by=RULES, now=now)


def _map_is_due(session: Session, now: datetime) -> bool:
    waiting = session.unmapped
    if len(waiting) >= folding.PENDING:
        return True
    return bool(waiting) and now - waiting[0].entry.timestamp >= AGE


def _others(world: World, host: Host, session: Session) -> list[Task]:
    """The other tasks of this session, and those of the last days that ended in others, newest first."""
    found = [
        insertion.task(graph)
        for graph in session.graphs
        if graph.number != session.active and graph.nodes
    ]
    found += _elsewhere(world, host)
    return sorted(found, key=lambda one: (one.updated, one.file), reverse=True)


def _elsewhere(world: World, host: Host) -> Iterator[Task]:
    since = world.clock.now() - DAYS
    for head, other in sessions.neighbours(world, host.spot, since):
        for graph in other.graphs:
            ended = graph.number in other.finished or insertion.task(graph).progress == 100
            if graph.nodes and ended and graph.updated >= since:
                yield insertion.task(graph, head.folder)
