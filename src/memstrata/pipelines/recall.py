"""What a model is told before it answers: the stable part and the turn part, under one budget."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from memstrata.domain import budget, checks, inject, layout, scene, terms
from memstrata.domain.budget import Shown
from memstrata.domain.grouping import text_of
from memstrata.domain.memory import STANDING_RULE, UNREVIEWED, Memory, Type
from memstrata.domain.persona import SCENE
from memstrata.domain.scope import Key, View
from memstrata.domain.turn import Message
from memstrata.errors import Invalid, MemstrataError
from memstrata.pipelines import lanes, pages
from memstrata.pipelines.world import World
from memstrata.ports import Moment

Status = Literal["matched", "empty", "disabled", "expired"]
MOST_TOKENS: Final = 1_000_000
"""Of the budget that may be asked for."""
SEED_HITS: Final = 20
_OTHERS: Final[tuple[Type, ...]] = tuple(one for one in budget.KEEP_ORDER if one != "feedback")
_LINE: Final = 24
"""Tokens of a short line, with an id of ours: a first guess at how many lines exceed a budget."""
ENOUGH: Final = 3
"""So many matching memories make evidence needless."""


@dataclass(frozen=True, slots=True)
class Item:
    """A memory in the context; `part` is stable or turn."""

    id: str
    name: str
    description: str
    type: str
    scope: str
    part: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Context:
    """`stable` for the system prompt, `turn` for before the user's message; `tokens` of both together."""

    stable: str
    turn: str
    status: Status
    items: tuple[Item, ...] = ()
    tokens: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: the view, and what the seed query is made of."""

    view: View
    session: str = ""
    agent: str = ""
    workspace_name: str | None = None
    workspace_folder: str = ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


def recall(world: World, asker: Asker, message: str, max_tokens: int | None = None) -> Context:
    """The context for `message`. Never raises for what a lane cannot do; `warnings` says it.

    Raises:
        Invalid: `max_tokens` is no number of tokens up to `MOST_TOKENS`.
    """
    if max_tokens is not None and not _is_count(max_tokens):
        raise Invalid(
            "max_tokens", f"{checks.shown(max_tokens)} is not between 0 and {MOST_TOKENS:,}"
        )
    if not world.settings.memory.enabled:
        return Context("", "", "disabled", warnings=("memory is switched off",))
    most = world.settings.recall.max_tokens if max_tokens is None else max_tokens
    moment = world.moment()
    stable, shown, seeded = _stable(world, asker, moment, most - most // budget.TURN_SHARE)
    used = world.tokens.count(stable)
    hits, degraded = lanes.memories(
        world,
        asker.view.keys,
        message,
        moment,
        realm=asker.view.realm,
        limit=world.settings.recall.limit + len(shown),
        sure=True,
    )
    turn, turned, unquoted = _turn(world, asker, message, hits, shown, most - used, most)
    status, untold = _status(world, asker, message, hits, degraded, moment, turn)
    context = Context(
        stable=stable,
        turn=turn,
        status=status,
        items=(*(_item(one.memory, "stable") for one in shown if one.memory), *turned),
        tokens=used + world.tokens.count(turn),
        warnings=tuple(dict.fromkeys((*seeded, *degraded, *unquoted, *untold))),
    )
    world.bus.emit(
        "recall.served",
        owner=asker.view.realm.owner,
        session=asker.session,
        status=context.status,
        tokens=context.tokens,
    )
    return context


# -- the stable part ------------------------------------------------------------------------------


def _stable(
    world: World, asker: Asker, moment: Moment, most: int
) -> tuple[str, tuple[Shown, ...], tuple[str, ...]]:
    render = partial(_render_stable, asker=asker)
    budgeted = _Budget(render, world.tokens.count, most)
    chosen: list[Memory] = []
    warnings: list[str] = []
    for key in asker.view.keys:
        memories, degraded = _chosen(world, asker, key, moment, budgeted)
        chosen += memories
        warnings += degraded
    beside, unread = _pages(world, asker, chosen)
    shown = budget.fit(chosen, render, world.tokens.count, most, beside)
    return render(shown), shown, (*warnings, *unread)


def _pages(
    world: World, asker: Asker, chosen: Sequence[Memory]
) -> tuple[list[Shown], tuple[str, ...]]:
    """The lines of persona and scenes that this reader sees; and what of them cannot be read.

    A line of the persona that says word for word what a memory says that is kept before it is not
    said twice.
    """
    told = {text_of(one) for one in chosen if one.type in ("user", "feedback")}
    found: list[Shown] = []
    try:
        if world.settings.persona.enabled:
            found += _persona(world, asker, told)
        if world.settings.scenes.enabled:
            found += _scenes(world, asker)
    except MemstrataError as error:
        return found, (f"persona and scenes cannot be read: {error.message}",)
    return found, ()


def _persona(world: World, asker: Asker, told: Container[str]) -> list[Shown]:
    held = pages.current(world, asker.view.realm, layout.PERSONA).persona
    lines = [] if held is None else [one for one in held.lines if one.text not in told]
    return [
        Shown(None, inject.persona_line(one.text, _source(one.cites)), "persona") for one in lines
    ]


def _source(cites: Sequence[str]) -> str:
    """The first of what a line rests on, as `trace` takes it."""
    return cites[0].replace(SCENE, f"{layout.GLOBAL}/", 1) if cites else ""


def _scenes(world: World, asker: Asker) -> list[Shown]:
    every = [
        replace(one, name=f"{group}/{one.name}")
        for group in pages.seen_by(asker.view)
        for one in pages.current(world, asker.view.realm, group).scenes
    ]
    return [
        Shown(None, inject.scene_line(one.name, one.heat, one.summary), "scene")
        for one in scene.hottest(every)
    ]


@dataclass(frozen=True, slots=True)
class _Budget:
    """How many tokens the stable part may have, and how they are counted."""

    render: budget.Render
    count: budget.Count
    most: int

    def is_exceeded_by(self, memories: Sequence[Memory]) -> bool:
        shown = [Shown(one, inject.line(one)) for one in memories]
        return self.count(self.render(shown)) > self.most


def _chosen(
    world: World, asker: Asker, key: Key, moment: Moment, budgeted: _Budget
) -> tuple[list[Memory], tuple[str, ...]]:
    """Feedback, newest change first; then the seed query's choice, or by type priority. All that may fit."""
    feedback = _foremost(world, key, ("feedback",), moment, budgeted)
    feedback.sort(key=lambda m: (-m.updated_at.timestamp(), m.id))
    others: list[Memory] = []
    degraded: tuple[str, ...] = ()
    seed = f"{asker.agent} {asker.workspace_folder}".strip()
    if seed:
        hits, degraded = lanes.memories(
            world,
            (key,),
            seed,
            moment,
            realm=asker.view.realm,
            types=_OTHERS,
            limit=SEED_HITS,
        )
        others = [hit.stored.memory for hit in hits if hit.stored.memory.note != UNREVIEWED]
    return feedback + (others or _foremost(world, key, _OTHERS, moment, budgeted)), degraded


def _foremost(
    world: World, key: Key, types: Sequence[Type], moment: Moment, budgeted: _Budget
) -> list[Memory]:
    """The memories of some types, those first that are cut last.

    Where the first of them exceed the budget by themselves, what stands behind them cannot be shown
    and is not read. Standing rules are read to the last one, for those not shown are counted.
    """
    limit = budgeted.most // _LINE + 1
    while True:
        rows = world.store.foremost(key, types, moment, limit=limit)
        found = [row.memory for row in rows if row.memory.note != UNREVIEWED]
        if len(rows) < limit:
            return found
        if rows[-1].memory.priority != STANDING_RULE and budgeted.is_exceeded_by(found):
            return found
        limit *= 2


def _render_stable(shown: Sequence[Shown], *, asker: Asker) -> str:
    """The blocks in their order; nothing at all when there is nothing to show."""
    if not shown:
        return ""
    blocks: list[str] = []
    for key in asker.view.keys:
        lines = [
            one.line
            for one in shown
            if not one.page and (one.memory.key if one.memory else asker.view.keys[0]) == key
        ]
        if lines:
            name = asker.workspace_name if key.scope == "project" else None
            blocks.append(inject.block(inject.TAGS[key.scope], lines, name))
    beside = ((page, [one.line for one in shown if one.page == page]) for page in budget.PAGES)
    blocks += [inject.block(inject.PAGE_TAGS[page], lines) for page, lines in beside if lines]
    return "\n".join((*blocks, inject.block("memory-note", [inject.NOTE])))


# -- the turn part --------------------------------------------------------------------------------


def _turn(
    world: World,
    asker: Asker,
    message: str,
    hits: Sequence[lanes.MemoryHit],
    shown: Sequence[Shown],
    most: int,
    whole: int,
) -> tuple[str, tuple[Item, ...], tuple[str, ...]]:
    """Memories that stable has not, then evidence when few matched; and what was degraded."""
    told = {one.memory.id for one in shown if one.memory}
    fresh = [hit for hit in hits if hit.stored.memory.id not in told][: world.settings.recall.limit]
    scores = {hit.stored.memory.id: hit.score for hit in fresh}
    told |= {hit.stored.memory.id for hit in fresh}
    evidence, degraded = (
        _evidence(world, asker, message, whole, told) if len(hits) < ENOUGH else ((), ())
    )
    for quoted in range(len(evidence), -1, -1):
        render = partial(_render_turn, evidence=evidence[:quoted])
        if world.tokens.count(render(())) <= most:
            break
    else:
        return "", (), degraded
    fitted = budget.fit([hit.stored.memory for hit in fresh], render, world.tokens.count, most)
    items = tuple(_item(one.memory, "turn", scores[one.memory.id]) for one in fitted if one.memory)
    return render(fitted), items, degraded


def _evidence(
    world: World, asker: Asker, message: str, whole: int, told: Container[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Excerpts of what the user said, at most 3 and at most a quarter of the whole budget; what was degraded."""
    if not world.settings.recall.evidence:
        return (), ()
    workspaces = ("", asker.view.workspace) if asker.view.workspace else ("",)
    found, degraded = lanes.messages(
        world, asker.view.realm, workspaces, message, roles=("user",), limit=2 * ENOUGH
    )
    asked = frozenset(term.text for term in terms.query_terms(message))
    worth = [
        hit.message
        for hit in found
        if _speaks_of(hit.message, asked)
        and _worth_quoting(world, asker, hit.message, message, told)
    ]
    lines = [inject.excerpt(one, world.zone) for one in worth[:ENOUGH]]
    while (
        lines
        and world.tokens.count(inject.block("evidence", lines)) > whole // budget.EVIDENCE_SHARE
    ):
        lines.pop()
    return tuple(lines), degraded


def _speaks_of(message: Message, asked: frozenset[str]) -> bool:
    """Whether it shares more with what is asked than one word, unless that is all that was asked."""
    shared = asked.intersection(terms.index_terms(message.content))
    return len(shared) >= min(2, len(asked))


def _worth_quoting(
    world: World, asker: Asker, message: Message, asked: str, told: Container[str]
) -> bool:
    """Not what is asked now or told already, not words whose facts have ended, nothing the gate refuses."""
    if message.skip or message.content.strip() == asked.strip():
        return False
    if world.findings([message.content]):
        return False
    derived = world.store.derived(asker.view.realm, message.session, message.id)
    rows = [row for key, id in derived if (row := world.store.memory((key,), id)) is not None]
    if any(row.memory.id in told for row in rows):
        return False
    moment = world.moment()
    return not rows or any(row.memory.status(moment.now, world.zone) == "active" for row in rows)


def _render_turn(shown: Sequence[Shown], *, evidence: Sequence[str]) -> str:
    blocks = []
    if shown:
        blocks.append(inject.block("recalled-memory", [one.line for one in shown]))
    if evidence:
        blocks.append(inject.block("evidence", evidence))
    return "\n".join(blocks)


# -- the rest -------------------------------------------------------------------------------------


def _status(
    world: World,
    asker: Asker,
    message: str,
    hits: Sequence[lanes.MemoryHit],
    degraded: Sequence[str],
    moment: Moment,
    turn: str,
) -> tuple[Status, tuple[str, ...]]:
    """The status, and what was degraded in finding it out. Only what was searched for is expired."""
    if hits:
        return "matched", ()
    said: Status = "matched" if turn else "empty"
    if degraded:
        return said, ()
    ended, degraded = lanes.memories(
        world,
        asker.view.keys,
        message,
        replace(moment, every=True),
        realm=asker.view.realm,
        limit=20,
        sure=True,
    )
    expired = any(hit.stored.memory.status(moment.now, world.zone) == "expired" for hit in ended)
    return ("expired" if expired and not degraded else said), tuple(degraded)


def _item(memory: Memory, part: str, score: float = 0.0) -> Item:
    return Item(
        memory.id, memory.name, memory.description, memory.type, memory.key.scope, part, score
    )
