"""What rests on memories that are gone leaves scenes and persona at once, without a model."""

from __future__ import annotations

from dataclasses import replace

from memstrata import failpoints
from memstrata.domain import chronicle, layout
from memstrata.domain.chronicle import Chronicle, Version
from memstrata.domain.plan import Plan, PutTexts
from memstrata.domain.scope import Realm
from memstrata.pipelines import apply, pages
from memstrata.pipelines.pages import Look, Retold
from memstrata.pipelines.world import RULES, World


def prune(world: World, realm: Realm) -> Retold | None:
    """Take out what rests on nothing any more, group by group; None when there is nothing.

    Raises:
        Conflict: something moved meanwhile; run again.
        Corrupt: a chronicle cannot be read.
        Unavailable: disk or database said no.
    """
    for group in _groups(world, realm):
        look = pages.look(world, realm, group)
        texts, lost = pages.left(world, look)
        if lost:
            _save(world, look, texts, lost)
            return Retold(group, 0, lost)
    return None


def _groups(world: World, realm: Realm) -> tuple[str, ...]:
    """The persona first: what a scene told of a memory that is gone is seen by the scene as it was."""
    return (layout.PERSONA, *pages.groups(world, realm.owner))


def _save(world: World, look: Look, texts: dict[str, str], lost: int) -> None:
    now = world.clock.now()
    version = Version(world.clock.new_id("texts_"), now, "what it rested on is gone", RULES, texts)
    told = {id for text in texts.values() for one in chronicle.pieces_of(text) for id in one.cites}
    was = {id for text in look.texts.values() for p in chronicle.pieces_of(text) for id in p.cites}
    # What was told in a paragraph that went is to be told again.
    seen = {id: mark for id, mark in look.chronicle.seen.items() if id not in was - told}
    made = chronicle.followed(
        look.chronicle, version, before=look.texts, keep=_backups(world, look), seen=seen
    )
    # A persona that lost something is to be told anew: as if it had never been looked at.
    made = replace(made, ran_at=None if look.is_persona else look.chronicle.ran_at, dropped=lost)
    apply.refuse_rebuilding(world.store)
    failpoints.hit("prune.decided")
    apply.apply(world, Plan((_change(look, made),), look.forgotten), {})


def _backups(world: World, look: Look) -> int:
    return world.settings.persona.backups if look.is_persona else world.settings.scenes.backups


def _change(look: Look, made: Chronicle) -> PutTexts:
    return PutTexts(look.folder, look.log, made, look.base, look.chronicle.mark)
