"""The persona: gather → when it is due, tell it anew (a model, else the memories' own words) → apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from memstrata import failpoints
from memstrata.domain import chronicle, cited, layout, persona
from memstrata.domain.chronicle import Version
from memstrata.domain.markdown import digest
from memstrata.domain.memory import Memory
from memstrata.domain.persona import SCENE, Persona
from memstrata.domain.plan import REQUESTED, Plan, PutTexts
from memstrata.domain.scene import Scene, render
from memstrata.domain.scope import Realm
from memstrata.domain.staging import ShortIds
from memstrata.errors import ModelFailed
from memstrata.pipelines import apply, ask, ledger, pages
from memstrata.pipelines.pages import Look, Retold
from memstrata.pipelines.world import RULES, Extractor, World
from memstrata.ports import Model
from memstrata.prompts import persona as prompt
from memstrata.prompts.answers import LINES

PURPOSE: Final = "persona"
"""What the ledger books these calls under."""
SHOWN: Final = 60
"""Memories that a model is shown, at most."""


@dataclass(frozen=True, slots=True)
class Stand:
    """What a run starts from: the persona without what rests on nothing, the scenes, the valid memories."""

    look: Look
    held: Persona
    scenes: tuple[Scene, ...]
    known: dict[str, Memory]
    fresh: tuple[Memory, ...]
    pruned: int

    @property
    def changed(self) -> tuple[Scene, ...]:
        """The scenes that the persona was not made from as they are: only these are read again."""
        noted = self.look.chronicle.seen
        return tuple(one for one in self.scenes if noted.get(SCENE + one.name) != _mark(one))


def retell(world: World, realm: Realm, key: str = "") -> Retold | None:
    """Make the persona anew if it is due, or was requested (`key`); None when it is not.

    Raises:
        Conflict: something moved meanwhile; nothing was saved, run again.
        Corrupt: its chronicle cannot be read.
        ModelFailed: the model gave no answer, or no line that may be taken over; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    stand = _gather(world, realm)
    why = "requested" if key == REQUESTED else _why(world, stand)
    if not why:
        return None
    failpoints.hit("persona.gathered")
    chosen = world.extractor(realm, "")
    if chosen.model is None or not stand.known:
        return _saved(world, stand, why, RULES, _by_rules(world, stand), stand.pruned)
    found, dropped = _by_model(world, realm, stand, chosen, chosen.model)
    return _saved(world, stand, why, chosen.name, found, dropped + stand.pruned)


def _gather(world: World, realm: Realm) -> Stand:
    look = pages.look(world, realm, layout.PERSONA)
    key = pages.key_of(realm, layout.PERSONA)
    known = pages.valid(world, key)
    scenes = pages.look(world, realm, layout.GLOBAL).scenes
    held = look.persona or Persona()
    marked = cited.by_hand(held.sections, look.chronicle.pieces())
    names, tainted = pages.cited_scenes(world, look)
    gone, over = pages.lost_lines(world, key, cited.cited(marked), names)
    sections, pruned = cited.without(marked, gone | tainted, over)
    fresh = tuple(pages.fresh(known, look.chronicle.seen))
    return Stand(look, replace(held, sections=sections), scenes, known, fresh, pruned)


def _why(world: World, stand: Stand) -> str:
    """Why it is due, the first reason that holds; `""`: it is not."""
    held = stand.look.chronicle
    if stand.look.persona is None or not held.versions:
        if not stand.scenes:
            return ""
        return "persona missing" if held.versions else "first scene"
    if stand.pruned or held.ran_at is None:
        return "something it rests on is gone"
    every = world.settings.persona.every_memories
    return f"{len(stand.fresh)} memories since the last" if len(stand.fresh) >= every else ""


def _by_rules(world: World, stand: Stand) -> Persona:
    return persona.told(
        stand.known.values(),
        stand.held,
        now=world.clock.now(),
        most=world.settings.persona.characters,
    )


def _by_model(
    world: World, realm: Realm, stand: Stand, chosen: Extractor, model: Model
) -> tuple[Persona, int]:
    """The persona of the lines that are borne out, and how many were not."""
    most = world.settings.persona.characters
    shown = sorted(stand.fresh, key=lambda one: (-one.priority, one.id))[:SHOWN]
    names = frozenset(one.name for one in stand.scenes)
    ids = ShortIds(
        [
            *(id for id in stand.held.cites if not id.startswith(SCENE)),
            *(id for one in stand.changed for id in one.cites),
            *(one.id for one in shown),
        ]
    )
    asked = ask.ask(
        model,
        prompt.question(stand.held, stand.changed, shown, ids=ids, names=names, most=most),
        LINES,
        purpose=PURPOSE,
        name=chosen.name,
        deadline=world.settings.extraction.deadline_seconds,
        most_tokens=2 * most,
        book=partial(ledger.book, world, realm, ""),
    )
    lines = [prompt.line(item, ids, names) for item in asked.items]
    resting = {one.name: frozenset(one.cites) for one in stand.scenes}
    good = persona.checked(lines, stand.known, resting)
    found = persona.composed(good.lines, _only_kept(stand.held), now=world.clock.now(), most=most)
    if problem := _problem(world, stand, good.lines, found):
        world.bus.emit("texts.refused", degraded=True, path=str(stand.look.log))
        raise ModelFailed(f"the persona stays as it is: {problem}", reason="refused")
    return found, good.dropped + len(asked.rejected)


def _only_kept(held: Persona) -> Persona:
    kept = (
        replace(one, pieces=tuple(piece for piece in one.pieces if piece.kept))
        for one in held.sections
    )
    return replace(held, sections=tuple(one for one in kept if one.pieces))


def _problem(world: World, stand: Stand, lines: Sequence[object], found: Persona) -> str:
    """Why what the model wrote may not be taken over."""
    if not lines and stand.known:
        return "no line of it is borne out by what it cites"
    kinds = {one.kind for one in world.findings([persona.render(found)])}
    return f"it would hold {', '.join(sorted(kinds))}" if kinds else ""


def _saved(world: World, stand: Stand, why: str, who: str, found: Persona, dropped: int) -> Retold:
    look = stand.look
    now, id = world.clock.now(), world.clock.new_id("texts_")
    seen = pages.seen(stand.known) | {SCENE + one.name: _mark(one) for one in stand.scenes}
    same = look.persona is not None and look.persona.sections == found.sections
    texts = dict(look.texts) if same else {layout.PERSONA: persona.render(found)}
    if not found.sections:
        texts = {}
    if texts == look.texts and look.texts == look.chronicle.texts:
        made = chronicle.looked(look.chronicle, id, now, seen)
    else:
        made = chronicle.followed(
            look.chronicle,
            Version(id, now, why, who, texts),
            before=look.texts,
            keep=world.settings.persona.backups,
            seen=seen,
            left_out=len(stand.known) - len(set(found.cites) & stand.known.keys()),
            dropped=dropped,
        )
    change = PutTexts(look.folder, look.log, made, look.base, look.chronicle.mark)
    apply.refuse_rebuilding(world.store)
    failpoints.hit("persona.decided")
    apply.apply(world, Plan((change,), look.forgotten), {})
    return Retold(layout.PERSONA, 0, dropped)


def _mark(scene: Scene) -> str:
    return digest(render(scene).encode())
