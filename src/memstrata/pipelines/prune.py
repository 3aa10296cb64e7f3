"""What rests on memories that are gone leaves scenes and persona at once, without a model."""

from __future__ import annotations

from dataclasses import replace

from memstrata import failpoints
from memstrata.domain import chronicle, cited, layout, persona, scene
from memstrata.domain.chronicle import Chronicle, Version
from memstrata.domain.cited import Sections
from memstrata.domain.persona import SCENE
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
        texts, lost = _left(world, look)
        if lost:
            _save(world, look, texts, lost)
            return Retold(group, 0, lost)
    return None


def _groups(world: World, realm: Realm) -> tuple[str, ...]:
    """The persona first: what a scene told of a memory that is gone is seen by the scene as it was."""
    return (layout.PERSONA, *pages.groups(world, realm.owner))


def _left(world: World, look: Look) -> tuple[dict[str, str], int]:
    """The texts without what rests on nothing, and how many paragraphs that takes."""
    key = pages.key_of(look.realm, look.group)
    texts: dict[str, str] = {}
    lost = 0
    ours = look.chronicle.pieces()
    names, tainted = _cited_scenes(world, look)
    for name, text in look.texts.items():
        sections = cited.by_hand(cited.parse(cited.head(text)[1]), ours)
        gone, over = pages.lost_lines(world, key, cited.cited(sections), names)
        left, count = cited.without(sections, gone | tainted, over)
        lost += count
        if not count:
            texts[name] = text
        elif left:
            texts[name] = _rewritten(world, name, text, left)
    return texts, lost


def _cited_scenes(world: World, look: Look) -> tuple[set[str], set[str]]:
    """The names of the scenes that a persona may cite, and citations of those that tell of what is gone."""
    if not look.is_persona:
        return set(), set()
    scenes = pages.look(world, look.realm, layout.GLOBAL).scenes
    key = pages.key_of(look.realm, layout.GLOBAL)
    gone, _ = pages.lost(world, key, [id for one in scenes for id in one.cites])
    tainted = {SCENE + one.name for one in scenes if gone.intersection(one.cites)}
    return {one.name for one in scenes}, tainted


def _rewritten(world: World, name: str, text: str, sections: Sections) -> str:
    """A file with fewer paragraphs. A summary may tell of what went, so it is of what is left."""
    now = world.clock.now()
    if name == layout.PERSONA:
        return persona.render(persona.Persona(sections, now))
    found = scene.parse(text.encode(), name, name.removesuffix(".md"))
    left = replace(found, sections=sections, updated=now)
    return scene.render(replace(left, summary=scene.summary_of(left.pieces)))


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
