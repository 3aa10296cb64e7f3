"""The things that memories name, and the alias table that says which names are one thing.

The table has three layers: what ships, the settings (a workspace's among them), and what the owner
joined or took apart, which lies in `aliases.json` of the owner's tree. Nothing that is stored depends
on it: a join counts at the next search and the next batch, and so does undoing it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memstrata.domain import entities, layout
from memstrata.domain.entities import Aliases
from memstrata.domain.memory import STATUSES
from memstrata.domain.scope import Key, Realm, View
from memstrata.errors import Corrupt, Invalid, NotFound, Refused
from memstrata.pipelines import apply
from memstrata.pipelines.world import World
from memstrata.ports import Listing, Stored


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing: its name, how memories spell it, which ones, and the table's other names for it."""

    name: str
    spellings: tuple[str, ...]
    aliases: tuple[str, ...]
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name and what it stands for from here on; `of` is itself where it stands for nothing else."""

    alias: str
    of: str


def aliases(world: World, realm: Realm) -> Aliases:
    """The alias table of an owner in this world. A file that cannot be read counts for nothing and is said."""
    table = _below(world)
    try:
        return table.over(own(world, realm))
    except Corrupt as error:
        world.bus.emit("file.unreadable", degraded=True, path=error.path, line=None)
        return table


def _below(world: World) -> Aliases:
    """What ships, and the settings on top."""
    return entities.SHIPPED.over(dict(map(entities.parse_line, world.settings.entities.aliases)))


def own(world: World, realm: Realm) -> Mapping[str, str]:
    """What the owner joined, by alias, or took apart (an alias of itself).

    Raises:
        Corrupt: their file cannot be read.
    """
    place = layout.aliases(realm.owner)
    try:
        data, _ = world.vault.read(place)
    except NotFound:
        return {}
    return _decoded(data, str(place))


def listed(world: World, view: View) -> tuple[Entity, ...]:
    """The things that the memories of a view name, those of most memories first."""
    table = aliases(world, view.realm)
    spelt: dict[str, Counter[str]] = {}
    named: dict[str, list[str]] = {}
    for row in _rows(world, view.keys):
        names = [name for name in row.memory.entities if entities.normalised(name)]
        for whole in dict.fromkeys(map(table.of, names)):
            mine = [name for name in names if table.of(name) == whole]
            spelt.setdefault(whole, Counter()).update(mine)
            named.setdefault(whole, []).append(row.memory.id)
    found = [
        Entity(
            whole,
            tuple(name for name, _ in spelt[whole].most_common()),
            table.spellings(whole)[1:],
            tuple(ids),
        )
        for whole, ids in named.items()
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.memories), one.name)))


def _rows(world: World, keys: Sequence[Key]) -> Iterator[Stored]:
    """Every memory that can be listed, archived ones not."""
    listing = Listing(statuses=tuple(one for one in STATUSES if one != "archived"))
    for key in keys:
        after = ""
        while page := world.store.memories((key,), listing, world.moment(), after=after):
            yield from page
            after = page[-1].memory.id


def join(world: World, realm: Realm, alias: object, of: object) -> Alias:
    """Let `alias` stand for what `of` stands for.

    Raises:
        Invalid: a name is blank, or they stand for each other already.
        Refused: a name holds a credential or a private identifier.
        Corrupt: the owner's table cannot be read; it was left as it is.
        Unavailable: the disk said no; nothing was saved.
    """
    one, other = entities.pair(alias, of)
    kinds = [finding.kind for finding in world.findings((one, other))]
    if kinds:
        raise Refused("sensitive", "sensitive", f"holds {', '.join(kinds)}")
    target = aliases(world, realm).of(other)
    if target == one:
        raise Invalid("name", f"{other!r} stands for {one!r} already; undo that first")
    _save(world, realm, one, target)
    return Alias(one, target)


def part(world: World, realm: Realm, alias: object) -> Alias:
    """Let `alias` stand for itself alone, whoever joined it.

    Raises:
        Invalid: the name is blank.
        NotFound: it stands for itself already.
        Corrupt, Unavailable: as `join`.
    """
    one, _ = entities.pair(alias, alias)
    if aliases(world, realm).of(one) == one:
        raise NotFound("alias", one)
    _save(world, realm, one, one)
    return Alias(one, one)


def _save(world: World, realm: Realm, alias: str, of: str) -> None:
    """Write an entry, unless the table says the same without it."""
    place = layout.aliases(realm.owner)

    def edit(held: bytes | None) -> bytes:
        table = dict(_decoded(held, str(place))) if held else {}
        table.pop(alias, None)
        if _below(world).over(table).of(alias) != of:
            table[alias] = of
        return (json.dumps(table, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()

    apply.edit_text(world, place, edit)


def _decoded(data: bytes, path: str) -> dict[str, str]:
    try:
        rows = json.loads(data)
        pairs = [entities.pair(alias, of) for alias, of in rows.items()]
    except (ValueError, AttributeError, Invalid) as error:
        raise Corrupt(path, f"cannot be read: {error}") from error
    return dict(pairs)
