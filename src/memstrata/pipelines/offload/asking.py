"""What a model does for an offload session, in the background: boundaries, summaries, the graph.

Until it has answered, what the rules say stands; when it never does, that stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from memstrata.domain import folding, mapping
from memstrata.domain.boundary import Judgement
from memstrata.domain.canvas import Graph, Operated, operate, patched, with_progress
from memstrata.domain.mapping import Placed
from memstrata.domain.offload_entry import Entry
from memstrata.domain.offload_state import Kept, Session
from memstrata.domain.scope import Realm
from memstrata.errors import Conflict, NotFound
from memstrata.pipelines import apply, ask, ledger, sessions
from memstrata.pipelines.offload import archive
from memstrata.pipelines.offload.host import asker
from memstrata.pipelines.sessions import Spot, Standing
from memstrata.pipelines.world import RULES, Extractor, World
from memstrata.ports import Job
from memstrata.prompts import answers, offload_boundary, offload_graph, offload_summaries
from memstrata.prompts.offload_summaries import BATCH, Pair
from memstrata.prompts.template import Rendered

T = TypeVar("T", bound=answers.Item)

BOUNDARY: Final = "offload boundary"
SUMMARIES: Final = "offload summaries"
GRAPH: Final = "offload graph"
"""The purposes under which the ledger books the calls."""
WAIT: Final = timedelta(seconds=30)
"""How long a result waits for others before a model is asked what it was about."""
GRAPH_WAIT: Final = timedelta(seconds=300)
GRAPH_BATCH: Final = 30


@dataclass(frozen=True, slots=True)
class Answered:
    """What a step came to: of so many results a model said something."""

    session: str
    results: int


def find(world: World, realm: Realm, folder: str) -> Spot | None:
    """The session of a folder."""
    heads = world.store.offload_heads(realm)
    found = (Spot(realm, one.workspace, one.session) for one in heads if one.folder == folder)
    return next(found, None)


def due(world: World, job: Job) -> datetime | None:
    """When the job of a session is to be done; None when nothing is left."""
    spot = find(world, job.realm, job.key)
    if spot is None:
        return None
    session = sessions.stand(world, spot).session
    pending = [one for one in session.kept if one.pending]
    times = [
        *([world.clock.now()] if session.asked[0] else []),
        *_waited(pending, WAIT),
        *_waited(session.unmapped, GRAPH_WAIT),
    ]
    return min(times, default=None)


def _waited(waiting: Sequence[Kept], most: timedelta) -> list[datetime]:
    if not waiting:
        return []
    first = waiting[0].entry.timestamp
    return [first if len(waiting) >= folding.PENDING else first + most]


def left(world: World, job: Job) -> bool:
    """Take the job off the list if nothing is left to ask; False when something is."""
    next_due = due(world, job)
    if next_due is None:
        return apply.drop_job(world, job)
    apply.postpone_job(world, job, next_due)
    return False


def work(world: World, realm: Realm, folder: str) -> Answered | None:
    """Put the next question of a session; None when none is left.

    Raises:
        ModelFailed: no answer that can be read; nothing was saved.
        Conflict: the session moved meanwhile; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    spot = find(world, realm, folder)
    if spot is None:
        return None
    who = asker(world, spot)
    if who is None:
        give_up(world, realm, folder)
        return None
    standing = sessions.stand(world, spot)
    session = standing.session
    if session.asked[0]:
        return _boundary(world, spot, standing, who)
    if pending := [one for one in session.kept if one.pending][:BATCH]:
        return _summaries(world, spot, standing, who, pending)
    if waiting := session.unmapped[:GRAPH_BATCH]:
        return _graph(world, spot, standing, who, [one.entry for one in waiting])
    return None


def give_up(world: World, realm: Realm, folder: str) -> bool:
    """Let the rules' words stand for whatever still waits for a model; True."""
    spot = find(world, realm, folder)
    if spot is not None:
        _save(world, spot, partial(_settled, now=world.clock.now()))
    return True


def _settled(session: Session, now: datetime) -> Session:
    """A boundary that nobody judged keeps the active graph."""
    if session.asked[0]:
        session = _judged(session, None, RULES, now)
    kept = tuple(replace(one, pending=False) if one.pending else one for one in session.kept)
    session = replace(session, kept=kept)
    prompt = session.graph.goal if session.graph else ""
    return folding.placed(session, prompt, now)


def _save(world: World, spot: Spot, change: Callable[[Session], Session]) -> None:
    for _ in range(archive.TRIES):
        standing = sessions.stand(world, spot)
        try:
            sessions.save(world, spot, standing, change(standing.session), {})
        except Conflict:
            continue
        return
    raise Conflict(f"the session {spot.session!r} moved each time; not saved")


def _ask(
    world: World,
    spot: Spot,
    who: Extractor,
    rendered: Rendered,
    form: answers.Form[T],
    purpose: str,
) -> tuple[T, ...]:
    if who.model is None:
        return ()
    asked = ask.ask(
        who.model,
        rendered,
        form,
        purpose=purpose,
        name=who.name,
        deadline=world.settings.extraction.deadline_seconds,
        book=partial(ledger.book, world, spot.realm, ""),
    )
    return asked.items


# -- boundaries -------------------------------------------------------------------------------------


def _boundary(world: World, spot: Spot, standing: Standing, who: Extractor) -> Answered:
    session = standing.session
    identity, prompt = session.asked
    results = 0 if identity != folding.RESULTS else folding.EVERY
    rendered = offload_boundary.question(prompt, session.graph, session.graphs, results)
    judgement = offload_boundary.judgement(
        _ask(world, spot, who, rendered, answers.BOUNDARY, BOUNDARY)
    )
    now = world.clock.now()

    def change(now_standing: Session) -> Session:
        if now_standing.asked != session.asked:
            return now_standing
        return _judged(now_standing, judgement, who.name, now)

    _save(world, spot, change)
    return Answered(spot.session, 0)


def _judged(session: Session, judgement: Judgement | None, by: str, now: datetime) -> Session:
    identity, prompt = session.asked
    named = "" if identity == folding.RESULTS else identity
    found = folding.judged(session, judgement, prompt=prompt, identity=named, by=by, now=now)
    return replace(found, asked=("", ""))


# -- summaries --------------------------------------------------------------------------------------


def _summaries(
    world: World, spot: Spot, standing: Standing, who: Extractor, pending: Sequence[Kept]
) -> Answered:
    pairs = [pair for one in pending if (pair := _pair(world, standing, one))]
    found: dict[str, tuple[str, int]] = {}
    for _ in range(
        2
    ):  # a pair that the answer forgot is asked for again, then the rules' words stay
        left_over = [pair for pair in pairs if pair.tool_call_id not in found]
        if not left_over:
            break
        items = _ask(
            world, spot, who, offload_summaries.question(left_over), answers.ENTRIES, SUMMARIES
        )
        read = offload_summaries.read(items, left_over)
        found |= {id: (one.summary, one.score) for id, one in read.summaries.items()}
    done = {one.key for one in pending}

    def change(session: Session) -> Session:
        kept = tuple(_told(one, found) if one.key in done else one for one in session.kept)
        return replace(session, kept=kept)

    _save(world, spot, change)
    return Answered(spot.session, len(pending))


def _pair(world: World, standing: Standing, one: Kept) -> Pair | None:
    try:
        text = archive.read(world, standing, one.file).text
    except NotFound:
        return None
    return Pair(one.key, one.entry.tool_call, text.encode("utf-8", "replace").decode())


def _told(one: Kept, found: dict[str, tuple[str, int]]) -> Kept:
    entry = one.entry
    if one.key in found and entry.state == "live":
        summary, score = found[one.key]
        entry = replace(entry, summary=summary, score=score)
    return replace(one, entry=entry, pending=False)


# -- the graph --------------------------------------------------------------------------------------


def _graph(
    world: World, spot: Spot, standing: Standing, who: Extractor, entries: Sequence[Entry]
) -> Answered:
    now = world.clock.now()
    started = folding.started(standing.session, _goal(standing.session), now)
    graph = started.graph
    if graph is None:
        raise Conflict("the active graph is gone; not saved")
    items = _ask(
        world, spot, who, offload_graph.question(graph, entries), answers.GRAPH_OPERATIONS, GRAPH
    )
    proposal = offload_graph.read(items, entries)
    placed = mapping.place(_operated(graph, proposal, now), entries, proposal.assignments)

    def change(session: Session) -> Session:
        session = folding.started(session, _goal(session), now)
        if session.graph != graph:
            raise _Stale("the graph changed meanwhile; not saved")
        return _mapped(session, placed)

    _save(world, spot, change)
    return Answered(spot.session, len(entries))


class _Stale(Conflict):
    """Decided on a graph that is another by now."""


def _goal(session: Session) -> str:
    return session.asked[1] or (session.kept[-1].entry.tool_call if session.kept else "")


def _operated(graph: Graph, proposal: offload_graph.Proposal, now: datetime) -> Operated:
    if proposal.patches and not proposal.operations:
        found = patched(graph, proposal.patches, now)
    else:
        found = operate(graph, proposal.operations, now)
    if proposal.progress is None:
        return found
    return replace(found, graph=with_progress(found.graph, proposal.progress, now))


def _mapped(session: Session, placed: Placed) -> Session:
    waiting = {one.key for one in session.unmapped}
    homes = {key: home for key, home in placed.homes.items() if key in waiting}
    return session.with_graph(placed.graph).placed(homes, placed.moved)
