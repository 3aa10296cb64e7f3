"""The conversation log and its rows: either can rebuild the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memstrata.domain import conversation, layout
from memstrata.domain.layout import Place
from memstrata.domain.scope import Realm
from memstrata.domain.turn import Message
from memstrata.pipelines.reconcile import shards
from memstrata.pipelines.world import Report, World
from memstrata.ports import StoreWrite

_CHUNK: Final = 2_000


def conversations(
    world: World, owner: str, report: Report, progress: shards.Progress | None
) -> None:
    realm = Realm(world.space, owner)
    for place, size, known in shards.shards(world, owner, "conversations"):
        if size > known:
            _index_messages(world, realm, place, report, progress)
        elif size < known:
            _append_messages(world, realm, place, report)


def _index_messages(
    world: World, realm: Realm, place: Place, report: Report, progress: shards.Progress | None
) -> None:
    """Rows for the whole lines that have none, in chunks; a line that cannot be read is reported."""
    added, more = 0, True
    while more:
        with world.vault.exclusive(), world.store.transaction() as tx:
            size = world.vault.append(place, b"").end  # cuts a torn tail
            start = tx.shards("conversations").get(place.path, 0)
            chunk = shards.take(world.vault.lines(place, start), _CHUNK)
            messages = list(shards.readable(chunk, place, conversation.decode, report))
            added += len(_new_messages(tx, realm, messages))
            tx.add_messages(realm, messages)
            if chunk:
                start = chunk[-1][0]
                tx.set_shard("conversations", place.path, start)
            more = len(chunk) == _CHUNK
        if progress is not None:
            progress("conversations", start, size)
    if added:
        report.actions.append(f"indexed {added} messages of {place}")


def _new_messages(tx: StoreWrite, realm: Realm, messages: Sequence[Message]) -> list[Message]:
    found: list[Message] = []
    for session in dict.fromkeys(one.session for one in messages):
        mine = [one for one in messages if one.session == session]
        held = tx.known_messages(realm, session, [one.id for one in mine])
        found += [one for one in mine if one.id not in held]
    return found


def _append_messages(world: World, realm: Realm, place: Place, report: Report) -> None:
    """A shard is shorter than the index knows: append the rows that have no line."""
    with world.vault.exclusive(), world.store.transaction() as tx:
        if not shards.is_short(world, tx, "conversations", place):
            return
        lines = shards.lines_if_there(world, place)
        said = list(shards.readable(lines, place, conversation.decode, report))
        tx.add_messages(realm, said)
        there = {(one.session, one.id) for one in said}
        missing = [
            one
            for one in every(tx, realm)
            if (one.session, one.id) not in there
            and layout.shard(realm.owner, "conversations", one.recorded_at, world.zone) == place
        ]
        end = shards.append_again(world, place, b"".join(map(conversation.encode, missing)))
        tx.set_shard("conversations", place.path, end)
    report.actions.append(f"appended {len(missing)} messages to {place} again")


def every(tx: StoreWrite, realm: Realm) -> Iterator[Message]:
    """Every message of a realm, session by session."""
    for session, _, _ in tx.sessions(realm):
        after = 0
        while page := tx.messages(realm, session, after=after):
            after = page[-1].position
            yield from (one.message for one in page)
