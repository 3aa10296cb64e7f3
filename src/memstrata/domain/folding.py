"""From a host's list to the one that goes to the model: replayed, folded where lines are passed, our blocks in.

Pure: what is archived, which tasks there are and what time it is are arguments; the session after it and
the list are the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final

from memstrata.domain import boundary, insertion, mapping
from memstrata.domain.boundary import Activate, Deactivate, Judgement, Keep, Start
from memstrata.domain.canvas import empty, slug
from memstrata.domain.insertion import Task
from memstrata.domain.offload_state import Boundary, Session
from memstrata.domain.reclaim import Desk, Limits, Outcome, Removed, reclaim, replay
from memstrata.domain.window import PER_MESSAGE, Count, Item, Window, view

EVERY: Final = 30
"""Results in one prompt between two boundaries."""
PENDING: Final = 4
"""Results without a node that make the graph due."""
RESULTS: Final = "results"
"""What is judged at a boundary without a prompt."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How a list is to be folded. `overhead` is what comes beside it, None: by the limits' share."""

    limits: Limits
    count: Count
    now: datetime
    stable: bool = True
    overhead: int | None = None
    overflow: bool = False
    frozen: bool = False
    """Only what was folded before is folded."""
    others: Callable[[], Sequence[Task]] = tuple
    """The other tasks that there are, asked for where our block is made."""


@dataclass(frozen=True, slots=True)
class Folded:
    """The session afterwards, the list, what was decided, and the words of what was removed (`""`: nothing)."""

    session: Session
    messages: list[object]
    outcome: Outcome
    transcript: str = ""


def fold(window: Window, session: Session, asked: Asked, *, refresh: bool = False) -> Folded:
    """Fold a window whose results are archived. `refresh`: the active task changed, our block must follow."""
    anew = (refresh or not asked.stable) and not asked.frozen
    if anew:
        session = _blocked(session, asked)
    desk = _desk(window, session, asked)
    held, before = len(session.removed), desk.total
    outcome = Outcome((), (), before, before)
    passed = asked.overflow or before >= asked.limits.tokens(asked.limits.mild)
    if passed and not asked.frozen:
        mapped = placed(session, prompt_of(window), asked.now)
        desk.use(mapped.archived, partial(_own, mapped, asked))
        outcome = reclaim(desk, overflow=asked.overflow, before=before)
        if outcome.steps:
            anew = True
            session = _stepped(mapped.folded(outcome.steps), asked)
        elif desk.steps:
            desk = _desk(window, session, asked)
    messages, session = _inserted(desk, session, anew=anew)
    blocks = _tokens(asked.count, session.block, session.history)
    outcome = replace(outcome, after=desk.overhead + desk.listed + blocks)
    gone = session.removed[held:]
    return Folded(session, messages, outcome, transcript(window, session, gone) if gone else "")


def _desk(window: Window, session: Session, asked: Asked) -> Desk:
    """The window with everything that was folded before."""
    blocks = _tokens(asked.count, session.block, session.history)
    desk = Desk(
        window,
        session.archived,
        asked.count,
        asked.limits,
        overhead(window, asked),
        lambda removed: blocks,
    )
    replay(desk, session.steps)
    return desk


def overhead(window: Window, asked: Asked) -> int:
    """Tokens of what comes beside the messages, the system messages of the list not counted in it.

    As the host knows it; until then a share of the window that stands for system prompt and tools
    together, of which the list may hold a part.
    """
    if asked.overhead is not None:
        return asked.overhead
    held = sum(one.tokens(asked.count) for one in window.items if one.kind == "system")
    return max(0, asked.limits.tokens(asked.limits.overhead) - held)


def _own(session: Session, asked: Asked, removed: Sequence[Removed]) -> int:
    """Tokens of our blocks when `removed` is."""
    return _tokens(asked.count, _context(session, asked), _history(session, asked, removed))


def _context(session: Session, asked: Asked) -> str:
    most = asked.limits.tokens(asked.limits.block)
    return insertion.context(session.graph, asked.others(), asked.count, most)


def _history(session: Session, asked: Asked, removed: Sequence[Removed]) -> str:
    if not removed:
        return ""
    keys = {key for one in removed for key in one.keys}
    nodes = {one.entry.node_id for one in session.kept if one.key in keys}
    graphs = [
        graph
        for graph in session.graphs
        if graph.number != session.active and any(node.id in nodes for node in graph.nodes)
    ]
    number = sum(len(one.items) for one in removed)
    most = asked.limits.tokens(asked.limits.history)
    return insertion.history(graphs, number, asked.count, most)


def _stepped(session: Session, asked: Asked) -> Session:
    session = _blocked(session, asked)
    return replace(session, history=_history(session, asked, session.removed))


def _blocked(session: Session, asked: Asked) -> Session:
    """The session with the block of the active task as it is now."""
    return replace(session, block=_context(session, asked), told=session.active)


def _tokens(count: Count, *texts: str) -> int:
    return sum(count(text) + PER_MESSAGE for text in texts if text)


# -- tasks ------------------------------------------------------------------------------------------


def prompt_of(window: Window) -> str:
    """The words of the last real user message."""
    user = window.last_user
    return "\n".join(window.items[user].words) if user >= 0 else ""


def identity_of(window: Window) -> str:
    """The identity of the last real user message, `""` for none."""
    user = window.last_user
    return window.items[user].identity if user >= 0 else ""


def placed(session: Session, prompt: str, now: datetime) -> Session:
    """The session with a node for each result, by rules; a graph of `prompt` where none is active."""
    waiting = [one.entry for one in session.unmapped]
    session = started(session, prompt, now)
    if not waiting or session.graph is None:
        return session
    found = mapping.by_rules(session.graph, waiting)
    return session.with_graph(found.graph).placed(found.homes, found.moved)


def started(session: Session, prompt: str, now: datetime) -> Session:
    """The session with an active graph where results wait for one."""
    waiting = session.unmapped
    if not waiting or session.graph is not None:
        return session
    number = session.next_number
    graph = empty(number, slug(prompt), prompt, waiting[0].entry.timestamp)
    mark = Boundary(len(session.kept) - len(waiting), "", number, RESULTS, now)
    boundaries = (*session.boundaries, mark)
    return replace(session.with_graph(graph), active=number, boundaries=boundaries)


def is_boundary(session: Session, window: Window) -> str:
    """Why a boundary is due: `prompt` for new words of the user, `results` for many, `""` when none is."""
    last = session.boundaries[-1] if session.boundaries else None
    prompts = [one.prompt for one in session.boundaries if one.prompt]
    user = identity_of(window)
    if user and (not prompts or prompts[-1] != user):
        return "prompt"
    since = len(session.kept) - (last.results if last else 0)
    return RESULTS if since >= EVERY else ""


def judged(
    session: Session,
    judgement: Judgement | None,
    *,
    prompt: str,
    identity: str,
    by: str,
    now: datetime,
) -> Session:
    """The session after a judgement on `prompt`: which graph is active, and the boundary that says so."""
    transition = boundary.decide(judgement, session.graph, session.graphs)
    was, active = session.active, session.active
    match transition:
        case Keep():
            pass
        case Activate(number=number):
            active = number
        case Deactivate():
            active = 0
        case Start(label=label):
            active = session.next_number
            session = session.with_graph(empty(active, label or slug(prompt), prompt, now))
    done = was if active != was else 0
    mark = Boundary(len(session.kept), identity, active, by, now, completed=done)
    return replace(session, active=active, boundaries=(*session.boundaries, mark))


# -- the list ---------------------------------------------------------------------------------------


def _inserted(desk: Desk, session: Session, *, anew: bool) -> tuple[list[object], Session]:
    """The list with our blocks. Where the block's place is not known any more it gets a new one."""
    messages = desk.messages()
    there = [item for item in desk.window.items if item.index not in desk.gone]
    lead = desk.window.lead
    place = None if anew else _place(there, session.anchor, lead)
    if place is None:
        place = insertion.index(view(messages))
        anchor = there[place - 1].identity if place > lead else ""
        session = replace(session, anchor=anchor)
    if session.block:
        messages.insert(place, {"role": "user", "content": session.block})
    if session.history:
        messages.insert(lead, {"role": "user", "content": session.history})
    return messages, session


def _place(there: Sequence[Item], anchor: str, lead: int) -> int | None:
    if not anchor:
        return lead
    return next((at + 1 for at, item in enumerate(there) if item.identity == anchor), None)


def transcript(window: Window, session: Session, removed: Sequence[Removed]) -> str:
    """The words of removed messages, with their calls in full and the refs of their results."""
    gone = {identity for one in removed for identity in one.items}
    return "\n\n".join(_spoken(item, session) for item in window.items if item.identity in gone)


def _spoken(item: Item, session: Session) -> str:
    lines = [f"## {item.kind}", *item.words]
    lines += [f"call {call.id}: {call.name} {call.arguments}" for call in item.calls]
    for result in item.results:
        one = session.find(result)
        lines.append(f"result: recall_result {one.key if one else result.id}")
    return "\n".join(lines)
