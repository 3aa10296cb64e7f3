"""Scenes and persona as they stand on disk: read, never written here. Each is a person's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from memstrata.domain import chronicle, cited, layout, markdown, persona, scene
from memstrata.domain.chronicle import Chronicle
from memstrata.domain.cited import Sections
from memstrata.domain.layout import GLOBAL, PERSONA, Place
from memstrata.domain.memory import UNREVIEWED, Memory
from memstrata.domain.persona import SCENE, Persona
from memstrata.domain.scene import Limits, Scene
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm, View
from memstrata.errors import Corrupt, Invalid, NotFound
from memstrata.pipelines import graves
from memstrata.pipelines.world import Problem, World
from memstrata.ports import Listing, Stored

_MD: Final = ".md"
_LOG: Final = ".jsonl"
_REMEMBERED: Final = 256
"""Sets of texts that a process remembers as it read them."""


@dataclass(frozen=True, slots=True)
class Retold:
    """What a run came to: of which group, how many memories were new to it, how many paragraphs it dropped."""

    group: str
    memories: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Look:
    """A set of texts as it stands: every text on disk, its chronicle, and that file's digest.

    `problems` are files that cannot be read or hold what no memory may; they are left as they are.
    """

    realm: Realm
    group: str
    folder: Place
    log: Place
    texts: Mapping[str, str]
    chronicle: Chronicle
    base: str
    problems: tuple[Problem, ...]
    scenes: tuple[Scene, ...]
    """By name."""
    persona: Persona | None
    forgotten: int = 0
    """How much had been forgotten when this was read."""

    @property
    def is_persona(self) -> bool:
        """Whether it is the persona."""
        return self.group == PERSONA


def look(world: World, realm: Realm, group: str) -> Look:
    """The scenes of a group, or with `PERSONA` the persona, as they stand.

    Raises:
        Corrupt: the chronicle cannot be read.
        Unavailable: the disk said no.
    """
    folder, log = places(realm.owner, group)
    if group == PERSONA:
        stat = world.vault.stat(folder.within(PERSONA))
        files = {} if stat is None else {PERSONA: stat}
    else:
        found = world.vault.scan(folder) or {}
        files = {name: stat for name, stat in found.items() if name.endswith(_MD)}
    forgotten = graves.total(world)
    state = (files, world.vault.stat(log), world.settings.gates, forgotten)
    known = world.looks.get(log.path)
    if known is not None and known[0] == state:
        return cast("Look", known[1])
    made = replace(_read(world, realm, group, tuple(files)), forgotten=forgotten)
    if len(world.looks) >= _REMEMBERED:
        world.looks.clear()
    world.looks[log.path] = (state, made)
    return made


def _read(world: World, realm: Realm, group: str, files: Sequence[str]) -> Look:
    folder, log = places(realm.owner, group)
    held, base = _chronicle(world, log)
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for name in files:
        try:
            texts[name] = _text(world, folder.within(name), group, held.texts.get(name))
        except Corrupt as error:
            problems.append(Problem(error.path, error.problem))
        except NotFound:
            continue
    return Look(
        realm,
        group,
        folder,
        log,
        texts,
        held,
        base,
        tuple(problems),
        scenes=() if group == PERSONA else tuple(_scenes(texts)),
        persona=_persona(texts) if group == PERSONA else None,
    )


def _scenes(texts: Mapping[str, str]) -> Iterator[Scene]:
    for name, text in sorted(texts.items()):
        yield scene.parse(text.encode(), name, name.removesuffix(_MD))


def _persona(texts: Mapping[str, str]) -> Persona | None:
    text = texts.get(PERSONA)
    return None if text is None else persona.parse(text.encode(), PERSONA)


def places(owner: str, group: str) -> tuple[Place, Place]:
    """Where the texts of a group lie, and their chronicle."""
    if group == PERSONA:
        return layout.persona(owner).folder, layout.persona_chronicle(owner)
    return layout.scene_folder(owner, group), layout.scene_chronicle(owner, group)


def _text(world: World, place: Place, group: str, ours: str | None) -> str:
    """A file's text; `ours` is what we wrote there, which the gate has let through.

    Raises:
        Corrupt: it is no UTF-8, no scene by its name, or holds what the sensitive gate refuses.
    """
    name = place.name.removesuffix(_MD)
    if group != PERSONA and (problem := scene.name_problem(name)):
        raise Corrupt(str(place), problem)
    data, _ = world.vault.read(place)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Corrupt(str(place), "is not UTF-8") from error
    kinds = [] if text == ours else dict.fromkeys(one.kind for one in world.findings([text]))
    if kinds:
        raise Corrupt(str(place), f"holds {', '.join(kinds)}: left out; take it out of the file")
    return text


def _chronicle(world: World, log: Place) -> tuple[Chronicle, str]:
    try:
        data, _ = world.vault.read(log)
    except NotFound:
        return Chronicle(), ""
    return chronicle.decode(data, str(log)), markdown.digest(data)


def groups(world: World, owner: str) -> tuple[str, ...]:
    """The groups of which an owner has scenes, or had some."""
    folders = world.vault.folders(layout.scene_groups(owner))
    logs = world.vault.scan(layout.scene_chronicle(owner, GLOBAL).folder) or {}
    names = {*folders, *(name.removesuffix(_LOG) for name in logs if name.endswith(_LOG))}
    return tuple(sorted(filter(_is_group, names)))


def _is_group(name: str) -> bool:
    try:
        layout.scene_folder(LOCAL_OWNER, name)
    except Invalid:
        return False
    return True


def seen_by(view: View) -> tuple[str, ...]:
    """The groups whose scenes a reader sees: those of no workspace, and of their own."""
    return (GLOBAL,) if not view.workspace else (GLOBAL, view.workspace)


def key_of(realm: Realm, group: str) -> Key:
    """The key whose memories the scenes of a group tell of."""
    if group in (GLOBAL, PERSONA):
        return Key(realm, "user", "")
    return Key(Realm(realm.space, ""), "project", group)


def limits(world: World) -> Limits:
    """How many scenes, and how long, by the settings."""
    chosen = world.settings.scenes
    most = chosen.most
    return Limits(most, max(1, most - 3), chosen.characters)


# -- what they rest on ----------------------------------------------------------------------------


def valid(world: World, key: Key) -> dict[str, Memory]:
    """The memories of a key that are valid now and were not brought by a clone, by id."""
    found: dict[str, Memory] = {}
    after = ""
    listing = Listing(statuses=("active",))
    while page := world.store.memories((key,), listing, world.moment(), after=after):
        found |= {row.memory.id: row.memory for row in page if row.memory.note != UNREVIEWED}
        after = page[-1].memory.id
    return found


def lost(world: World, key: Key, ids: Iterable[str]) -> tuple[set[str], set[str]]:
    """Of some ids: those that are gone (deleted, put aside) and those that have ended or vanished."""
    every, moment = list(dict.fromkeys(ids)), world.moment()
    held = world.store.valid_memories((key,), every, moment)
    missing = [id for id in every if id not in held]
    # An ended one may rightly be cited beside a valid one for good: it costs no question of its own.
    ended = set(world.store.valid_memories((key,), missing, replace(moment, every=True)))
    gone: set[str] = set()
    for id in missing:
        if id not in ended:
            (ended if _is_known(world.store.memory((key,), id)) else gone).add(id)
    return gone, ended


def lost_lines(
    world: World, key: Key, ids: Iterable[str], scenes: Collection[str]
) -> tuple[set[str], set[str]]:
    """As `lost`, of ids among which are scenes as `scene:name`: one that is not there any more has ended."""
    every = list(ids)
    gone, ended = lost(world, key, [id for id in every if not id.startswith(SCENE)])
    named = {id for id in every if id.startswith(SCENE)}
    return gone, ended | {id for id in named if id.removeprefix(SCENE) not in scenes}


def left(world: World, held: Look) -> tuple[dict[str, str], int]:
    """The texts without what rests on nothing, and how many paragraphs that takes.

    What a person wrote is marked as theirs, also where nothing goes: who writes these texts calls them ours.
    """
    ours = held.chronicle.pieces()
    parsed = {name: cited.parse(cited.head(text)[1]) for name, text in held.texts.items()}
    marked = {name: cited.by_hand(sections, ours) for name, sections in parsed.items()}
    names, tainted = cited_scenes(world, held)
    ids = [id for sections in marked.values() for id in cited.cited(sections)]
    gone, over = lost_lines(world, key_of(held.realm, held.group), ids, names)
    texts: dict[str, str] = {}
    lost = 0
    for name, text in held.texts.items():
        rest, count = cited.without(marked[name], gone | tainted, over)
        lost += count
        if not count and marked[name] == parsed[name]:
            texts[name] = text
        elif rest:
            texts[name] = _rewritten(world, name, text, rest, fewer=bool(count))
    return texts, lost


def cited_scenes(world: World, held: Look) -> tuple[set[str], set[str]]:
    """The names of the scenes that a persona may cite, and citations of those that tell of what is gone."""
    if not held.is_persona:
        return set(), set()
    scenes = look(world, held.realm, GLOBAL).scenes
    key = key_of(held.realm, GLOBAL)
    gone, _ = lost(world, key, [id for one in scenes for id in one.cites])
    tainted = {SCENE + one.name for one in scenes if gone.intersection(one.cites)}
    return {one.name for one in scenes}, tainted


def _rewritten(world: World, name: str, text: str, sections: Sections, *, fewer: bool) -> str:
    """A file with these paragraphs. A summary may tell of what went, so with `fewer` it is of what is left."""
    now = world.clock.now()
    if name == PERSONA:
        return persona.render(persona.Persona(sections, now))
    found = scene.parse(text.encode(), name, name.removesuffix(_MD))
    kept = replace(found, sections=sections)
    if fewer:
        kept = replace(kept, updated=now, summary=scene.summary_of(kept.pieces))
    return scene.render(kept)


def current(world: World, realm: Realm, group: str) -> Look:
    """As `look`, without what rests on memories that do not count any more: the file may lose it later.

    Raises:
        As `look`.
    """
    found = look(world, realm, group)
    texts, lost = left(world, found)
    if not lost:
        return found
    return replace(
        found,
        texts=texts,
        scenes=() if found.is_persona else tuple(_scenes(texts)),
        persona=_persona(texts) if found.is_persona else None,
    )


def _is_known(row: Stored | None) -> bool:
    return row is not None and not row.memory.archived


def seen(memories: Mapping[str, Memory]) -> dict[str, str]:
    """What a chronicle notes of memories: the version of each."""
    return {id: str(memory.version) for id, memory in memories.items()}


def fresh(memories: Mapping[str, Memory], noted: Mapping[str, str]) -> list[Memory]:
    """Those memories that are new or changed since they were noted."""
    return [one for one in memories.values() if noted.get(one.id) != str(one.version)]


def problems(world: World, owner: str) -> Iterator[Problem]:
    """Files of an owner's scenes and persona that were left as they are."""
    realm = Realm(world.space, owner)
    for group in (*groups(world, owner), PERSONA):
        try:
            yield from look(world, realm, group).problems
        except Corrupt as error:
            yield Problem(error.path, error.problem)


def locked(found: Look) -> tuple[Scene, ...]:
    """The scenes with every paragraph locked that a person wrote."""
    ours = found.chronicle.pieces()
    return tuple(replace(one, sections=cited.by_hand(one.sections, ours)) for one in found.scenes)
