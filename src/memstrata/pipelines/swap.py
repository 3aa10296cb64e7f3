"""Several text files that change together or not at all: a part of `apply`, which alone may call it.

The chronicle of the texts is written first and holds all of it; behind it the files; the index notes
last that they are written, in the COMMIT. So a chronicle that the index does not know was cut off, and
`reconcile` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from memstrata import failpoints
from memstrata.domain import chronicle, markdown
from memstrata.domain.layout import Place
from memstrata.domain.plan import PutTexts
from memstrata.errors import Conflict, NotFound
from memstrata.pipelines.world import World
from memstrata.ports import Staged, StoreWrite

TEXTS: Final = "texts"
"""Under this name the store keeps the mark of each chronicle that is written to its end."""


class Unfinished(Conflict):
    """A killed process left a write half-way, or the index is not whole: reconcile, then run again."""


@dataclass(slots=True)
class Swap:
    """One swap on its way: the chronicle staged, the texts staged, and the old bytes of those that go."""

    change: PutTexts
    log: Staged
    texts: list[Staged] = field(default_factory=list)
    going: list[Staged] = field(default_factory=list)

    @property
    def staged(self) -> list[Staged]:
        """Everything that has a temporary file."""
        return [self.log, *self.texts, *self.going]


def stage(world: World, change: PutTexts, staged: list[Staged]) -> Swap:
    """Write what is to be published beside its place; all of it stands in `staged`, too."""
    swap = Swap(change, world.vault.stage(change.log, chronicle.encode(change.chronicle)))
    staged.append(swap.log)
    for name, (_, after) in change.chronicle.changes().items():
        place = change.folder.within(name)
        if after is not None:
            swap.texts.append(world.vault.stage(place, change.chronicle.texts[name].encode()))
            staged.append(swap.texts[-1])
        elif (held := read(world, place)) is not None:
            swap.going.append(world.vault.stage(place, held))
            staged.append(swap.going[-1])
    return swap


def compare(world: World, tx: StoreWrite, swap: Swap) -> None:
    """What the swap was decided on must still be what stands.

    Raises:
        Unfinished: reconcile must finish another swap first.
        Conflict: the chronicle or a file moved.
    """
    change = swap.change
    if tx.shards(TEXTS).get(change.log.path, 0) != change.mark:
        raise Unfinished(f"{change.log} is not written to its end; not saved")
    if digest(world, change.log) != (change.base or None):
        raise Conflict(f"{change.log} was written meanwhile; not saved")
    for name, (before, _) in change.chronicle.changes().items():
        if digest(world, change.folder.within(name)) != before:
            raise Conflict(f"{change.folder.within(name)} was changed meanwhile; not saved")


def publish(world: World, tx: StoreWrite, swap: Swap, undo: list[Callable[[], None]]) -> None:
    """Chronicle, texts, and the index's note of them; each step's way back stands in `undo`."""
    undo.append(swap.log.undo)
    swap.log.publish()
    world.vault.sync([swap.log.place.folder])
    failpoints.hit("swap.logged")
    for one in swap.texts:
        undo.append(one.undo)
        one.publish()
    failpoints.hit("swap.half")
    for one in swap.going:
        undo.append(one.publish)
        world.vault.remove(one.place)
    if swap.texts or swap.going:
        world.vault.sync([swap.change.folder])
    failpoints.hit("swap.published")
    tx.set_shard(TEXTS, swap.change.log.path, swap.change.chronicle.mark)


def settle(swap: Swap) -> None:
    """Drop the old bytes: the swap stands."""
    for one in (swap.log, *swap.texts):
        one.settle()


def carry_out(world: World, change: PutTexts, undo: list[Callable[[], None]]) -> int:
    """Write the texts of a chronicle that was cut off, but for files that a person changed since; how many."""
    done: list[Place] = []
    for name, (before, after) in change.chronicle.changes().items():
        place = change.folder.within(name)
        if digest(world, place) != before:
            continue
        if after is None:
            world.vault.remove(place)
        else:
            staged = world.vault.stage(place, change.chronicle.texts[name].encode())
            undo.append(staged.undo)
            staged.publish()
            staged.settle()
        done.append(place)
    if done:
        world.vault.sync([change.folder])
    return len(done)


def read(world: World, place: Place) -> bytes | None:
    """The bytes of a file, None where there is none."""
    try:
        return world.vault.read(place)[0]
    except NotFound:
        return None


def digest(world: World, place: Place) -> str | None:
    """The digest of a file, None where there is none."""
    data = read(world, place)
    return None if data is None else markdown.digest(data)


def dropped(swaps: Sequence[Swap]) -> list[Staged]:
    """The temporary files that are left once the swaps stand."""
    return [staged for swap in swaps for staged in swap.staged]
