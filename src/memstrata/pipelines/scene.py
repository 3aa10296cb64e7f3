"""The scenes of one group: gather what is new → retell (a model with file tools, else by the rules) → apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final

from memstrata import failpoints
from memstrata.domain import chronicle, cited, grouping, scene
from memstrata.domain.chronicle import Version
from memstrata.domain.memory import Memory
from memstrata.domain.plan import Plan, PutTexts
from memstrata.domain.scene import Scene
from memstrata.domain.scope import Realm
from memstrata.domain.staging import Copy, Misdeed, ShortIds, Sound
from memstrata.errors import ModelFailed
from memstrata.pipelines import apply, ask, bind, ledger, pages
from memstrata.pipelines.pages import Look, Retold
from memstrata.pipelines.world import RULES, Extractor, World
from memstrata.ports import Model
from memstrata.prompts import scene as prompt
from memstrata.prompts.answers import OPERATIONS

PURPOSE: Final = "scenes"
"""What the ledger books these calls under."""
SHOWN: Final = 40
"""Memories that a model is shown in one run; what is left has a run of its own."""
_MOST_OPERATIONS: Final = 60
"""Of one answer."""


@dataclass(frozen=True, slots=True)
class Stand:
    """What a run starts from.

    `scenes` are without what rests on nothing any more, a person's paragraphs locked; `fresh` are the
    memories to be told, oldest first; `ended` hold no more but may stand beside what does.
    """

    look: Look
    scenes: tuple[Scene, ...]
    known: dict[str, Memory]
    fresh: tuple[Memory, ...]
    ended: dict[str, Memory]
    pruned: int

    @property
    def is_due(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.fresh or self.pruned)


def retell(world: World, realm: Realm, group: str) -> Retold | None:
    """Bring the scenes of a group up to date; None when there is nothing to do.

    Raises:
        Conflict: something moved meanwhile; nothing was saved, run again.
        Corrupt: their chronicle cannot be read.
        ModelFailed: the model gave no answer, or one that may not be taken over; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    world = _within(world, group)
    stand = _gather(world, realm, group)
    if not stand.is_due:
        return None
    failpoints.hit("scene.gathered")
    chosen = world.extractor(realm, "")
    if chosen.model is None or not stand.fresh:
        return _saved(world, stand, RULES, _by_rules(world, stand), stand.known)
    shown = stand.fresh[:SHOWN]
    sound = _by_model(world, realm, stand, shown, chosen, chosen.model)
    if isinstance(sound, Misdeed):
        world.bus.emit("texts.refused", degraded=True, path=str(stand.look.log))
        raise ModelFailed(f"the scenes stay as they are: {sound.reason}", reason="refused")
    new = {one.id for one in stand.fresh}
    noted = {id: one for id, one in stand.known.items() if id not in new}
    return _saved(world, stand, chosen.name, sound, noted | {one.id: one for one in shown})


def is_due(world: World, realm: Realm, group: str) -> bool:
    """Whether there is something to tell, or to take out.

    Raises:
        Corrupt: their chronicle cannot be read.
    """
    return _gather(world, realm, group).is_due


def _within(world: World, group: str) -> World:
    """The world with the tighter settings of the group's workspace, where its folder is there."""
    bound = bind.bound(world).get(group)
    there = bound is not None and bind.is_there(world, bound.root)
    return world.within(bound.root) if bound is not None and there else world


def _gather(world: World, realm: Realm, group: str) -> Stand:
    look = pages.look(world, realm, group)
    key = pages.key_of(realm, group)
    known = pages.valid(world, key)
    held = pages.locked(look)
    cites = [id for one in held for id in one.cites]
    gone, over = pages.lost(world, key, [id for id in cites if id not in known])
    pruned, scenes = 0, []
    for one in held:
        sections, count = cited.without(one.sections, gone, over)
        pruned += count
        if sections:
            scenes.append(replace(one, sections=sections))
    left = {id for one in scenes for id in one.cites}
    untold = {id for id in cites if id in known and id not in left}
    fresh = {one.id: one for one in pages.fresh(known, look.chronicle.seen)}
    fresh |= {id: known[id] for id in untold}
    rows = {id: world.store.memory((key,), id) for id in over & left}
    ended = {id: row.memory for id, row in rows.items() if row is not None}
    ordered = sorted(fresh.values(), key=lambda one: (one.said_at or one.created_at, one.id))
    return Stand(look, tuple(scenes), known, tuple(ordered), ended, pruned)


def _by_rules(world: World, stand: Stand) -> Sound:
    found = grouping.grown(
        stand.scenes,
        stand.fresh,
        stand.known,
        now=world.clock.now(),
        limits=pages.limits(world),
    )
    return Sound(found.scenes, stand.pruned)


# -- with a model ---------------------------------------------------------------------------------


def _by_model(
    world: World,
    realm: Realm,
    stand: Stand,
    shown: Sequence[Memory],
    chosen: Extractor,
    model: Model,
) -> Sound | Misdeed:
    """Let the model work on a copy, step by step, until it is done; what of the copy is sound."""
    settings, limits = world.settings.scenes, pages.limits(world)
    ids = ShortIds([*(id for one in stand.scenes for id in one.cites), *(o.id for o in shown)])
    copy, done = Copy(stand.scenes, ids, limits), list[str]()
    until = world.clock.now() + timedelta(seconds=settings.seconds)
    for step in range(settings.steps):
        left = (until - world.clock.now()).total_seconds()
        if left <= 0:
            return Misdeed(f"it took longer than {settings.seconds:g} s")
        asked = ask.ask(
            model,
            prompt.question(
                stand.scenes, shown, done, ids=ids, limits=limits, left=settings.steps - step
            ),
            OPERATIONS,
            purpose=PURPOSE,
            name=chosen.name,
            deadline=min(left, world.settings.extraction.deadline_seconds),
            most_tokens=2 * limits.characters,
            book=partial(ledger.book, world, realm, ""),
        )
        for item in asked.items[:_MOST_OPERATIONS]:
            answer = copy.do(prompt.operation(item))
            if isinstance(answer, Misdeed):
                return answer
            done.append(prompt.heard(item, answer))
        if not (asked.items or done):
            return Misdeed("it used none of the tools")
        if not asked.items or any(item.do == "done" for item in asked.items):
            return _checked(world, stand, shown, copy)
    return Misdeed(f"it came to no end within {settings.steps} answers")


def _checked(world: World, stand: Stand, shown: Sequence[Memory], copy: Copy) -> Sound | Misdeed:
    """What of the copy may be taken over, once nothing in it rests on what has ended alone."""
    cites = {id for one in stand.scenes for id in one.cites}
    told = {id: one for id, one in stand.known.items() if id in cites}
    told |= {one.id: one for one in shown} | stand.ended
    sound = copy.checked(stand.scenes, told, world.clock.now())
    if isinstance(sound, Misdeed):
        return sound
    kept, dropped = [], sound.dropped
    for one in sound.scenes:
        sections, count = cited.without(one.sections, (), stand.ended)
        dropped += count
        if sections:
            kept.append(one if not count else replace(one, sections=sections))
    kinds = {found.kind for found in world.findings([scene.render(one) for one in kept])}
    if kinds:
        return Misdeed(f"they would hold {', '.join(sorted(kinds))}")
    return Sound(tuple(kept), dropped + stand.pruned)


# -- taken over -----------------------------------------------------------------------------------


def _saved(world: World, stand: Stand, who: str, sound: Sound, told: dict[str, Memory]) -> Retold:
    look = stand.look
    texts = _texts(look, sound.scenes)
    now, id, seen = world.clock.now(), world.clock.new_id("texts_"), pages.seen(told)
    if texts == look.texts and look.texts == look.chronicle.texts:
        made = chronicle.looked(look.chronicle, id, now, seen)
    else:
        cites = {one for found in sound.scenes for one in found.cites}
        made = chronicle.followed(
            look.chronicle,
            Version(id, now, "retold", who, texts),
            before=look.texts,
            keep=world.settings.scenes.backups,
            seen=seen,
            left_out=len(told.keys() - cites),
            dropped=sound.dropped,
        )
    change = PutTexts(look.folder, look.log, made, look.base, look.chronicle.mark)
    apply.refuse_rebuilding(world.store)
    failpoints.hit("scene.decided")
    apply.apply(world, Plan((change,), look.forgotten), {})
    return Retold(look.group, sum(one.id in told for one in stand.fresh), sound.dropped)


def _texts(look: Look, scenes: Sequence[Scene]) -> dict[str, str]:
    """The files of scenes; one that says the same stays as it is, to the letter."""
    held = {one.name: one for one in look.scenes}
    return {
        f"{one.name}.md": look.texts[f"{one.name}.md"]
        if held.get(one.name) == one
        else scene.render(one)
        for one in sorted(scenes, key=lambda found: found.name)
    }
