"""What a home holds besides its rows and logs, and what becomes of it when something is forgotten.

Each kind of file decides by the tombstones: after a kill the rows that an erasure took are gone already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memstrata.domain import chronicle, elevation, layout, scene
from memstrata.domain.chronicle import Chronicle, Texts
from memstrata.domain.layout import HOME, Place
from memstrata.domain.memory import EPOCH
from memstrata.domain.persona import SCENE
from memstrata.domain.records import MEMORY
from memstrata.domain.scope import Key, Realm
from memstrata.domain.tombstones import Tombstones
from memstrata.errors import Corrupt, NotFound
from memstrata.pipelines import pages, pending, sessions
from memstrata.pipelines.pages import Look
from memstrata.pipelines.reconcile.forgotten import FORGET, LESS, Erasure
from memstrata.pipelines.world import World

LOGS: Final = ("conversations", "records")
"""The logs of an owner that hold words."""
BACKUPS: Final = Place(HOME, "backups")
_BACKUP: Final = ".schema-"
"""Stands in the name of each copy that was made of the database before a migration."""
_NAMED: Final = re.compile(r"[\w.-]+")
_QUOTED: Final = re.compile(r'"([\w.-]+)"')


@dataclass(frozen=True, slots=True)
class Becomes:
    """What becomes of files: their new bytes, None for none; the marks of chronicles that are written anew."""

    files: Mapping[Place, bytes | None] = field(default_factory=dict)
    marks: Mapping[Place, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Holding:
    """A kind of file that may hold words of an owner: its name in the receipt, and what becomes of the files.

    `returns`: one that was put back by hand is known again, and goes at the next start.
    """

    name: str
    become: Callable[[World, Realm, Erasure, Tombstones], Becomes]
    returns: bool = False


# -- which memories went ---------------------------------------------------------------------------


class Lost:
    """Which memories of a key are forgotten, or lost words since a moment: what tells of them goes."""

    def __init__(self, world: World, key: Key, erasure: Erasure, stones: Tombstones) -> None:
        self._world, self._key, self._stones = world, key, stones
        self._now = {one.id for one in erasure.gone if one.key == key} | {
            one.after.id for one in erasure.kept if one.after.key == key and one.is_less
        }
        self._since: dict[str, datetime] = {}

    def has(self, id: str, at: datetime) -> bool:
        """Whether what was written at `at` of that memory may tell of what is forgotten."""
        if id in self._now or self._is_forgotten(id):
            return True
        if id not in self._since:
            self._since[id] = self._last_loss(id)
        return self._since[id] > at

    def _is_forgotten(self, id: str) -> bool:
        if not self._stones.has_memory(self._key, id, EPOCH):
            return False
        row = self._world.store.memory((self._key,), id)
        made = EPOCH if row is None else row.memory.created_at
        return self._stones.has_memory(self._key, id, made)

    def _last_loss(self, id: str) -> datetime:
        found = (
            line.at
            for line in self._world.store.records((self._key,), id)
            if line.kind == MEMORY and (line.data.get("verb"), line.data.get("why")) == _LOSS
        )
        return max(found, default=EPOCH)


_LOSS: Final = (FORGET, LESS)


# -- what can all be made anew ---------------------------------------------------------------------


def _torn(world: World, realm: Realm, erasure: Erasure, stones: Tombstones) -> Becomes:
    """The tails that a power cut tore off an owner's logs: nobody was told that they are stored."""
    folders = [layout.log_folder(realm.owner, log) for log in LOGS]
    return Becomes(
        {
            folder.within(name): None
            for folder in folders
            for name in world.vault.scan(folder) or {}
            if name.endswith(".torn")
        }
    )


def _backups(world: World, realm: Realm, erasure: Erasure, stones: Tombstones) -> Becomes:
    """The copies of the database that were made before a migration: all of it can be made anew."""
    names = world.vault.scan(BACKUPS) or {}
    return Becomes({BACKUPS.within(name): None for name in names if _BACKUP in name})


# -- scenes and persona ----------------------------------------------------------------------------


def _texts(world: World, realm: Realm, erasure: Erasure, stones: Tombstones) -> Becomes:
    """Scenes and persona without what tells of the forgotten, in every version; of a project everyone's."""
    files: dict[Place, bytes | None] = {}
    marks: dict[Place, int] = {}
    for whose, group in _groups(world, realm):
        lost = Lost(world, pages.key_of(whose, group), erasure, stones)
        found = _told_less(world, whose, group, lost)
        files |= found.files
        marks |= found.marks
    return Becomes(files, marks)


def _groups(world: World, realm: Realm) -> Iterator[tuple[Realm, str]]:
    """The persona first: what a scene told of the forgotten is seen by the scene as it was."""
    yield realm, layout.PERSONA
    for owner in world.owners():
        whose = Realm(world.space, owner)
        for group in pages.groups(world, owner):
            if whose == realm or group != layout.GLOBAL:
                yield whose, group


def _told_less(world: World, realm: Realm, group: str, lost: Lost) -> Becomes:
    try:
        look = pages.look(world, realm, group)
    except Corrupt:
        return Becomes()  # it is named as a file that cannot be read; `verify` looks into it
    held = look.chronicle
    tainted = _tainted(world, realm, lost) if look.is_persona else (lambda _: False)

    def gone(id: str, at: datetime) -> bool:
        return tainted(id) if id.startswith(SCENE) else lost.has(id, at)

    newest = held.versions[-1].at if held.versions else EPOCH
    texts = _cut(look, look.texts, newest, gone)
    versions = tuple(
        replace(one, texts=_cut(look, one.texts, one.at, gone)) for one in held.versions
    )
    if texts == look.texts and versions == held.versions:
        return Becomes()
    files: dict[Place, bytes | None] = {
        look.folder.within(name): None if name not in texts else texts[name].encode()
        for name in look.texts
        if texts.get(name) != look.texts[name]
    }
    if not look.base:
        return Becomes(files)
    made = _scrubbed(world, look, replace(held, versions=versions), texts)
    return Becomes({look.log: chronicle.encode(made), **files}, {look.log: made.mark})


def _scrubbed(world: World, look: Look, held: Chronicle, texts: Texts) -> Chronicle:
    """The chronicle of texts that lost something: what was told in it is to be told again."""
    versions = held.versions
    if versions:
        versions = (*versions[:-1], replace(versions[-1], at=world.clock.now()))
    was, told = _cited(look.texts), _cited(texts)
    seen = {id: mark for id, mark in held.seen.items() if id not in was - told}
    return replace(
        held,
        id=world.clock.new_id("texts_"),
        versions=versions,
        seen=seen,
        before=chronicle.digests(versions[-1].texts if versions else {}),
        ran_at=None if look.is_persona else held.ran_at,
    )


def _cited(texts: Texts) -> set[str]:
    return {id for text in texts.values() for one in chronicle.pieces_of(text) for id in one.cites}


def _cut(
    look: Look, texts: Texts, at: datetime, gone: Callable[[str, datetime], bool]
) -> dict[str, str]:
    """The texts of one version without the paragraphs that tell of what is gone, nor names that do."""
    found: dict[str, str] = {}
    for name, text in texts.items():
        ids = {one for piece in chronicle.pieces_of(text) for one in piece.cites}
        left = chronicle.without(text, {id for id in ids if gone(id, at)})
        if left == text:
            found[name] = text
        elif pieces := chronicle.pieces_of(left):
            by_hand = any(piece.kept for piece in pieces)
            if look.is_persona:
                found[name] = left
            elif by_hand or not scene.tells(name, text, left):
                found[name] = scene.without_titles(text, left)
    return found


def _tainted(world: World, realm: Realm, lost: Lost) -> Callable[[str], bool]:
    """Whether a persona's citation of a scene is of one that told of what is gone, or that nobody knows."""
    try:
        look = pages.look(world, realm, layout.GLOBAL)
    except Corrupt:
        return lambda _: True
    newest = look.chronicle.versions[-1].at if look.chronicle.versions else EPOCH
    every = [(newest, look.texts), *((one.at, one.texts) for one in look.chronicle.versions)]
    known: dict[str, bool] = {}
    for at, texts in every:
        for name, text in texts.items():
            told = any(lost.has(id, at) for id in _cited({name: text}))
            known[SCENE + name.removesuffix(".md")] = told or known.get(
                SCENE + name.removesuffix(".md"), False
            )
    if not any(known.values()):
        return lambda _: False
    return lambda id: known.get(id, True)


# -- candidates and plans --------------------------------------------------------------------------


def _candidates(world: World, realm: Realm, erasure: Erasure, stones: Tombstones) -> Becomes:
    """General rules that were made of what is forgotten, or of what said it then."""
    files: dict[Place, bytes | None] = {}
    for key in _candidate_keys(world, realm):
        names = pending.names(world, key)
        lost = Lost(world, key, erasure, stones) if names else None
        for id in names:
            place = layout.candidate_file(key, id)
            if lost is not None and _is_made_of(world, place, lost):
                files[place] = None
    return Becomes(files)


def _candidate_keys(world: World, realm: Realm) -> list[Key]:
    every = dict.fromkeys([Key(realm, "user", ""), *world.store.keys(world.space)])
    return [key for key in every if key.realm == realm or key.scope == "project"]


def _is_made_of(world: World, place: Place, lost: Lost) -> bool:
    now = world.clock.now()
    try:
        data, _ = world.vault.read(place)
    except NotFound:
        return False
    try:
        one = elevation.parse(data, str(place), now=now)
    except Corrupt:
        words = _NAMED.findall(data.decode(errors="replace"))
        return any(lost.has(word, now) for word in dict.fromkeys(words))
    return any(lost.has(source.id, one.created_at) for source in one.sources)


def _plans(world: World, realm: Realm, erasure: Erasure, stones: Tombstones) -> Becomes:
    """The plans that dry runs kept: the owner's own, and those of others that change a memory which goes."""
    files: dict[Place, bytes | None] = {}
    keys = [key for key in world.store.keys(world.space) if key.scope == "project"]
    for owner in world.owners():
        folder = layout.kept_plan(owner, "none").folder
        for name in world.vault.scan(folder) or {}:
            place = folder.within(name)
            if owner == realm.owner or _names_one(world, place, keys, erasure, stones):
                files[place] = None
    return Becomes(files)


def _names_one(
    world: World, place: Place, keys: list[Key], erasure: Erasure, stones: Tombstones
) -> bool:
    try:
        text = world.vault.read(place)[0].decode(errors="replace")
    except NotFound:
        return False
    ids = dict.fromkeys(_QUOTED.findall(text))
    every = [Lost(world, key, erasure, stones) for key in keys]
    return any(lost.has(id, world.clock.now()) for lost in every for id in ids)


# -- offload sessions ------------------------------------------------------------------------------


def _offload(world: World, realm: Realm, erasure: Erasure, stones: Tombstones) -> Becomes:
    """Every file of the offload sessions that were forgotten; the one that says whose it is goes last."""
    found: dict[Place, bytes | None] = {}
    for folder, session, made in sessions.made(world, realm.owner):
        if stones.has_session(realm, session, made):
            found |= dict.fromkeys(sessions.every_file(world, folder))
    return Becomes(found)


def folders(world: World, realm: Realm) -> Iterator[Place]:
    """The folders in which a killed process may have left a temporary file with words of an owner."""
    yield from (layout.log_folder(realm.owner, log) for log in LOGS)
    yield layout.kept_plan(realm.owner, "none").folder
    for key in _candidate_keys(world, realm):
        yield layout.candidates_folder(key)
        if key.scope != "project":
            yield layout.memory_folder(key)
    for whose, group in _groups(world, realm):
        folder, log = pages.places(whose.owner, group)
        yield from (folder, log.folder)
    for folder, _, _ in sessions.made(world, realm.owner):
        yield from (folder, *sessions.inner(folder))


HOLDINGS: Final = (
    Holding("texts", _texts, returns=True),
    Holding("candidates", _candidates, returns=True),
    Holding("plans", _plans),
    Holding("offload", _offload),
    Holding("torn", _torn),
    Holding("backups", _backups),
)
"""What else a home holds. Whoever adds a kind of file adds a line here."""
