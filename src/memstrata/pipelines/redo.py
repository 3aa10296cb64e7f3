"""Batches that are extracted again: those set aside, by the records, and those with refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from memstrata.domain import records
from memstrata.domain.scope import Realm
from memstrata.pipelines import apply
from memstrata.pipelines.world import World

Line = Mapping[str, object]


def refused(world: World, realm: Realm, verdict: str) -> int:
    """Queue the batches of which a candidate was refused by `verdict`; how many.

    Raises:
        Unavailable: the database said no.
    """

    def is_refused(line: Line) -> bool:
        outcome = line.get("outcome")
        return isinstance(outcome, Mapping) and bool(outcome.get(verdict))

    found = [(batch, session) for session, batch, _ in _batches(world, realm, is_refused)]
    return apply.redo_batches(world, realm, found)


def set_aside(world: World, realm: Realm) -> None:
    """After a rebuild: a job waits for its command for each batch that was set aside.

    Raises:
        Unavailable: the database said no.
    """
    aside = _batches(world, realm, lambda line: bool(line.get("parked")))
    apply.set_aside(
        world, realm, [(batch, session, str(line["parked"])) for session, batch, line in aside]
    )


def _batches(
    world: World, realm: Realm, wanted: Callable[[Line], bool]
) -> Iterator[tuple[str, str, Line]]:
    """(session, batch, line) of the recorded batches that are wanted and were not done again since."""
    by_session: dict[str, list[Line]] = {}
    for one in world.store.record_lines(realm.space, realm.owner):
        if one.kind == records.BATCH:
            by_session.setdefault(one.id, []).append(one.data)
    for session, lines in by_session.items():
        for batch, line in records.open_batches(lines).items():
            if wanted(line):
                yield session, batch, line
