"""Scenes and persona: a swap that a killed process left half-way is carried out; the files rule."""

from __future__ import annotations

from collections.abc import Callable

from memstrata.domain import layout
from memstrata.domain.plan import PERSONA, PRUNE, SCENES, PutTexts
from memstrata.domain.scope import Realm
from memstrata.errors import Corrupt
from memstrata.pipelines import apply, pages, swap
from memstrata.pipelines.world import Problem, Report, World
from memstrata.ports import StoreWrite


def bring_together(world: World, owner: str, report: Report) -> None:
    """Bring the texts of every chronicle of an owner to what it says, and name files that are left alone."""
    realm = Realm(world.space, owner)
    _sweep(world, owner, report)
    for group in (*pages.groups(world, owner), layout.PERSONA):
        _, log = pages.places(owner, group)
        try:
            found = pages.look(world, realm, group)
            report.problems.extend(found.problems)
            if found.chronicle.mark != world.store.shards(swap.TEXTS).get(log.path, 0):
                _carry_out(world, realm, group, report)
        except Corrupt as error:
            report.problems.append(Problem(error.path, error.problem))


def _sweep(world: World, owner: str, report: Report) -> None:
    """Also where the first text of all was being written; a persona's folder is swept with the memories."""
    folders = [layout.scene_folder(owner, group) for group in pages.groups(world, owner)]
    folders += [layout.scene_chronicle(owner, layout.GLOBAL).folder]
    folders += [layout.persona_chronicle(owner).folder]
    if swept := sum(map(world.vault.sweep, folders)):
        report.actions.append(f"removed {swept} temporary files that a killed process left")


def _carry_out(world: World, realm: Realm, group: str, report: Report) -> None:
    """Write what a chronicle says and the index does not know; without an index the files are taken as they are."""
    undo: list[Callable[[], None]] = []
    with world.vault.exclusive():
        try:
            with world.store.transaction() as tx:
                done = _written(world, tx, realm, group, undo)
        except BaseException:
            apply.take_back(undo)
            raise
    if done:
        report.actions.append(f"wrote {done} texts of {group}, which was interrupted")


def _written(
    world: World, tx: StoreWrite, realm: Realm, group: str, undo: list[Callable[[], None]]
) -> int:
    look = pages.look(world, realm, group)
    noted = tx.shards(swap.TEXTS).get(look.log.path)
    if look.chronicle.mark == (noted or 0):
        return 0
    done = 0
    if not apply.rebuilding(tx):
        done = swap.carry_out(world, PutTexts(look.folder, look.log, look.chronicle), undo)
    tx.set_shard(swap.TEXTS, look.log.path, look.chronicle.mark)
    return done


def queue(world: World, owner: str) -> None:
    """After a rebuild: whatever waited was forgotten, so all of it is looked at once."""
    realm, chosen = Realm(world.space, owner), world.settings
    groups = set(pages.groups(world, owner))
    if pages.key_of(realm, layout.GLOBAL) in world.store.keys(world.space):
        groups.add(layout.GLOBAL)
    jobs: list[tuple[Realm, str, str]] = []
    if chosen.scenes.enabled:
        jobs += [(realm, SCENES, group) for group in sorted(groups)]
    if groups and chosen.persona.enabled:
        jobs.append((realm, PERSONA, ""))
    if jobs:
        jobs.append((realm, PRUNE, ""))
    apply.queue_layers(world, jobs)
