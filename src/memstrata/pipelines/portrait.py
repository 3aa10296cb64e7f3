"""Scenes and persona for people and agents: as they stand, their older versions, and what a person does to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memstrata.domain import checks, chronicle, cited, gates, layout, persona, scene
from memstrata.domain.chronicle import Version
from memstrata.domain.memory import EPOCH
from memstrata.domain.persona import SCENE, Persona
from memstrata.domain.plan import PRUNE, Enqueue, Plan, PutTexts
from memstrata.domain.scene import Scene
from memstrata.domain.scope import Realm, View
from memstrata.errors import Invalid, NotFound, Refused
from memstrata.pipelines import apply, pages
from memstrata.pipelines.pages import Look
from memstrata.pipelines.world import World

PERSON: Final = "person"
LINE: Final = "persona/"
"""How the id of a persona's line begins; its number, from 1, follows."""
MOST: Final = 100_000
"""Characters of a persona that a person saves, at most."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph: its words, the ids of what it rests on, its heading, whether a person keeps it."""

    text: str
    cites: tuple[str, ...]
    section: str
    locked: bool


@dataclass(frozen=True, slots=True)
class SceneText:
    """A scene. `id` is `<group>/<name>`, as the navigation shows it; `text` what it tells, without citations."""

    id: str
    name: str
    summary: str
    heat: int
    created: datetime | None
    updated: datetime | None
    text: str
    paragraphs: tuple[Paragraph, ...]
    path: str


@dataclass(frozen=True, slots=True)
class PersonaLine:
    """A line of the persona. `id` is `persona/<number>`; `cites` are ids of memories and scenes."""

    id: str
    text: str
    cites: tuple[str, ...]
    section: str
    locked: bool


@dataclass(frozen=True, slots=True)
class PersonaText:
    """The persona; `text` without citations, `""` where there is none."""

    text: str
    lines: tuple[PersonaLine, ...]
    updated: datetime | None
    path: str


@dataclass(frozen=True, slots=True)
class TextVersion:
    """One version of the scenes of a group, or of the persona: when, why, by whom, and which files it had."""

    id: str
    at: datetime
    why: str
    who: str
    files: tuple[str, ...]
    characters: int


def scenes(world: World, view: View) -> tuple[SceneText, ...]:
    """The scenes that a reader sees, hottest first.

    Raises:
        Corrupt: a chronicle cannot be read.
    """
    found = {
        f"{group}/{one.name}": (look, one)
        for group in pages.seen_by(view)
        for look in (pages.current(world, view.realm, group),)
        for one in look.scenes
    }
    order = scene.hottest(replace(one, name=id) for id, (_, one) in found.items())
    return tuple(_scene(*found[one.name]) for one in order)


def scene_named(world: World, view: View, name: str) -> SceneText:
    """The scene of that name or id, of the reader's workspace first.

    Raises:
        NotFound: there is none that this reader sees.
    """
    wanted = name.removeprefix(SCENE).removesuffix(".md")
    every = scenes(world, view)
    for one in sorted(every, key=lambda found: found.id.startswith(f"{layout.GLOBAL}/")):
        if wanted in (one.id, one.name):
            return one
    raise NotFound("scene", name)


def _scene(look: Look, one: Scene) -> SceneText:
    return SceneText(
        id=f"{look.group}/{one.name}",
        name=one.name,
        summary=one.summary,
        heat=one.heat,
        created=_known(one.created),
        updated=_known(one.updated),
        text=cited.render(_bare(one.sections)),
        paragraphs=tuple(
            Paragraph(piece.text, _ids(piece.cites), section.title, piece.kept)
            for section in one.sections
            for piece in section.pieces
        ),
        path=str(look.folder.within(f"{one.name}.md")),
    )


def _known(at: datetime) -> datetime | None:
    """A time that a file tells; None where a person made it and it tells none."""
    return None if at == EPOCH else at


def _bare(sections: Iterable[cited.Section]) -> list[cited.Section]:
    """Sections without their citations."""
    return [
        replace(one, pieces=tuple(cited.Piece(piece.text) for piece in one.pieces))
        for one in sections
    ]


def _ids(cites: Iterable[str]) -> tuple[str, ...]:
    """Citations as `trace` takes them: a scene by its id."""
    return tuple(
        f"{layout.GLOBAL}/{id.removeprefix(SCENE)}" if id.startswith(SCENE) else id for id in cites
    )


def persona_of(world: World, realm: Realm) -> PersonaText:
    """The persona.

    Raises:
        Corrupt: its chronicle cannot be read.
    """
    look = pages.current(world, realm, layout.PERSONA)
    held = look.persona
    place = str(look.folder.within(layout.PERSONA))
    if held is None:
        return PersonaText("", (), None, place)
    lines = [(section.title, piece) for section in held.sections for piece in section.pieces]
    return PersonaText(
        cited.render(_bare(held.sections), bullets=True),
        tuple(
            PersonaLine(f"{LINE}{number}", piece.text, _ids(piece.cites), title, piece.kept)
            for number, (title, piece) in enumerate(lines, start=1)
        ),
        _known(held.updated),
        place,
    )


def versions(world: World, realm: Realm, group: str) -> tuple[TextVersion, ...]:
    """The versions that are kept, newest first.

    Raises:
        Corrupt: the chronicle cannot be read.
    """
    held = pages.look(world, realm, group).chronicle
    return tuple(
        TextVersion(
            one.id,
            one.at,
            one.why,
            one.who,
            tuple(sorted(one.texts)),
            sum(map(len, one.texts.values())),
        )
        for one in reversed(held.versions)
    )


# -- what a person does ---------------------------------------------------------------------------


def restore(world: World, realm: Realm, group: str, version: str | None) -> TextVersion:
    """Bring an older version back as a new one; None: the one before what stands.

    What rests on memories that are gone leaves it again.

    Raises:
        NotFound: there is no such version.
        Refused: it holds a credential or a private identifier.
        Conflict: something moved meanwhile; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    look = pages.look(world, realm, group)
    found = _older(look, version)
    _refuse_sensitive(world, list(found.texts.values()))
    return _saved(world, look, f"restored {found.id}", found.texts)


def _older(look: Look, version: str | None) -> Version:
    every = look.chronicle.versions
    if version is None:
        older = [one for one in every if dict(one.texts) != dict(look.texts)]
        if not older:
            raise NotFound("version", "before this one")
        return older[-1]
    for one in every:
        if one.id == version:
            return one
    raise NotFound("version", version)


def lock(world: World, realm: Realm, number: int, *, locked: bool) -> PersonaText:
    """Lock a line of the persona, so that it survives every regeneration, or let it go.

    Raises:
        Invalid: there is no such line.
        Conflict: something moved meanwhile; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    look = pages.look(world, realm, layout.PERSONA)
    shown = pages.current(world, realm, layout.PERSONA).persona or Persona()
    theirs = cited.by_hand(shown.sections, look.chronicle.pieces())
    changed = persona.locking(replace(shown, sections=theirs), number, lock=locked)
    text = persona.render(replace(changed, updated=world.clock.now()))
    _saved(world, look, "locked" if locked else "unlocked", {layout.PERSONA: text})
    return persona_of(world, realm)


def edit(world: World, realm: Realm, text: str) -> PersonaText:
    """Take a persona as a person wrote it: what is new in it is locked.

    Raises:
        Invalid: it says nothing, or is too long.
        Refused: it holds a credential or a private identifier.
        Conflict: something moved meanwhile; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
    """
    checks.text("text", text, most=MOST)
    given = persona.parse(text.encode("utf-8", "replace"), layout.PERSONA)
    if not given.lines:
        raise Invalid("text", "has no line")
    _refuse_sensitive(world, [text])
    look = pages.look(world, realm, layout.PERSONA)
    theirs = cited.by_hand(given.sections, look.chronicle.pieces())
    found = Persona(theirs, world.clock.now())
    _saved(world, look, "edited", {layout.PERSONA: persona.render(found)})
    return persona_of(world, realm)


def persona_file(world: World, realm: Realm) -> str:
    """The persona as its file says it, citations included; `""` where there is none."""
    return pages.look(world, realm, layout.PERSONA).texts.get(layout.PERSONA, "")


def _refuse_sensitive(world: World, texts: Sequence[str]) -> None:
    refusal = gates.sensitive([one.kind for one in world.findings(texts)])
    if refusal is not None:
        raise Refused(refusal.gate, refusal.verdict, refusal.reason)


def _saved(world: World, look: Look, why: str, texts: chronicle.Texts) -> TextVersion:
    now = world.clock.now()
    version = Version(world.clock.new_id("texts_"), now, why, PERSON, texts)
    chosen = world.settings
    keep = chosen.persona.backups if look.is_persona else chosen.scenes.backups
    made = chronicle.followed(look.chronicle, version, before=look.texts, keep=keep)
    change = PutTexts(
        look.folder,
        look.log,
        replace(made, ran_at=look.chronicle.ran_at),
        look.base,
        look.chronicle.mark,
    )
    apply.refuse_rebuilding(world.store)
    again = Enqueue(look.realm, PRUNE, "", now)
    apply.apply(world, Plan((change, again), look.forgotten), {})
    return versions(world, look.realm, look.group)[0]
