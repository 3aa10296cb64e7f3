"""The folders of candidates: files of those that were decided on go, what cannot be read is named."""

from __future__ import annotations

from collections.abc import Iterable

from memstrata.domain import layout
from memstrata.domain.scope import Key
from memstrata.errors import Corrupt, Invalid, NotFound, Unavailable
from memstrata.pipelines import apply, pending
from memstrata.pipelines.world import BLOCKED, Problem, Report, World


def bring_together(world: World, keys: Iterable[Key], report: Report) -> None:
    """Bring the candidates of every key and the records together; the records say what was decided."""
    for key in keys:
        try:
            _folder(world, key, report)
        except (Invalid, Unavailable) as error:  # a link, or a folder in a file's place
            report.problems.append(Problem(str(layout.candidates_folder(key)), error.message))


def _folder(world: World, key: Key, report: Report) -> None:
    folder = layout.candidates_folder(key)
    swept = world.vault.sweep(folder)
    if swept:
        report.actions.append(f"removed {swept} temporary files that a killed process left")
    for name in sorted(world.vault.scan(folder) or {}):
        if name.endswith(".md") and not pending.is_id(name.removesuffix(".md")):
            report.problems.append(Problem(str(folder.within(name)), "its name can be no id"))
    ids = pending.names(world, key)
    settled = pending.decided(world.store, key).settled if ids else frozenset()
    for id in ids:
        place = folder.within(f"{id}.md")
        if id in settled:
            _remove(world, id, report, place)
            continue
        try:
            pending.read(world, key, id)
        except Corrupt as error:
            report.problems.append(Problem(error.path, error.problem, error.line))
        except NotFound:
            continue  # it went meanwhile


def _remove(world: World, id: str, report: Report, place: layout.Place) -> None:
    problem = apply.remove_decided(world, place)
    if problem:
        why = f"{BLOCKED}: {id} was decided on, but its file cannot be removed ({problem})"
        report.problems.append(Problem(str(place), why))
    else:
        report.actions.append(f"removed {place}: {id} was decided on")
