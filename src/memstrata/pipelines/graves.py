"""What was forgotten, as everyone who writes asks for it: tombstones from their logs, kept while those stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from memstrata.domain import tombstones
from memstrata.domain.layout import Place
from memstrata.domain.tombstones import Stone, Tombstones
from memstrata.errors import Invalid, NotFound
from memstrata.pipelines.world import World
from memstrata.ports import StoreRead

CARRIED: Final = "tombstones"
"""Under this name the store keeps up to which byte an owner's tombstones were carried out: rows and files."""
SCRUBBED: Final = "scrubbed"
"""The same for what is slower: vectors, the text index, the database's log."""


def of(world: World, owner: str) -> Tombstones:
    """An owner's tombstones; none where the key that made them is gone (`unreadable` then says so)."""
    place = tombstones.log(owner)
    stat = world.vault.stat(place)
    if stat is None:
        return Tombstones()
    stats = stat, world.vault.stat(tombstones.SECRET)
    held = world.graves.held(place, stats)
    return world.graves.keep(place, stats, _read(world, place)[0]) if held is None else held


def every(world: World) -> Tombstones:
    """The tombstones of every owner: each hash says whose it is."""
    found = [of(world, owner) for owner in world.owners()]
    return joined(one for one in found if one)


def joined(found: Iterable[Tombstones]) -> Tombstones:
    """Several owners' as one."""
    whole = Tombstones()
    for one in found:
        memories = {**one.memories, **whole.memories}
        sessions = {**one.sessions, **whole.sessions}
        whole = replace(
            one,
            messages=whole.messages | one.messages,
            contents=whole.contents | one.contents,
            evidence=whole.evidence | one.evidence,
            files=whole.files | one.files,
            memories=memories,
            sessions=sessions,
        )
    return whole


def unreadable(world: World, owner: str) -> int:
    """How many lines of an owner's tombstones say nothing, because they or their key are lost."""
    place = tombstones.log(owner)
    return 0 if world.vault.stat(place) is None else _read(world, place)[1]


def _read(world: World, place: Place) -> tuple[Tombstones, int]:
    secret, stones, lost = secret_of(world), list[Stone](), 0
    for _, line in world.vault.lines(place):
        try:
            mark, stone = tombstones.decode(line)
        except Invalid:
            lost += 1
            continue
        if mark == tombstones.mark(secret):
            stones.append(stone)
        else:
            lost += 1
    return Tombstones(secret).with_stones(stones), lost


def secret_of(world: World) -> bytes:
    """The key of the hashes, empty where there is none yet."""
    try:
        return world.vault.read(tombstones.SECRET)[0]
    except NotFound:
        return b""


def size(world: World, owner: str) -> int:
    """How much an owner has forgotten: what grew since a plan was decided on makes it stale."""
    stat = world.vault.stat(tombstones.log(owner))
    return stat.size if stat else 0


def total(world: World) -> int:
    """How much everyone has forgotten, as far as it was carried out: a project's memory goes by any member.

    What is written down and not carried out yet stops whoever writes, whatever they decided on.
    """
    return sum(world.store.shards(CARRIED).values())


def is_open(world: World, store: StoreRead, owner: str, stage: str = CARRIED) -> bool:
    """Whether something is written down as forgotten that was not carried out to the end."""
    path = tombstones.log(owner).path
    now = size(world, owner)
    return bool(now) and store.shards(stage).get(path, 0) != now
