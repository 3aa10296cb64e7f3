"""The only place that changes anything: a plan takes effect together or not at all.

Order: files staged and flushed → write lock → BEGIN → compare → rows → log lines → renames → COMMIT →
folders flushed, MEMORY.md, events. The log lines hold all of it, so a process killed between them and
COMMIT leaves a group of lines without rows, which `reconcile` carries out to the end; until then no
other process writes on (`Unfinished`), so that nobody builds on what is about to change. A failure
before or at COMMIT is taken back under the same lock; if that fails too, the error says so.

The file of a deleted memory goes behind COMMIT, still under the lock: only then is it recorded for good
that it has to. A file that stays is `reconcile`'s to remove, told by that record.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, assert_never

from memstrata import failpoints
from memstrata.domain import conversation, elevation, layout, markdown, records
from memstrata.domain.layout import HOME, Place
from memstrata.domain.memory import Memory, normalised_name
from memstrata.domain.plan import (
    EMBED,
    EXTRACT,
    PRUNE,
    REDO,
    SCENES,
    Advance,
    Append,
    Base,
    Change,
    Consolidated,
    Delete,
    Enqueue,
    Plan,
    Propose,
    Put,
    PutTexts,
    Settle,
    redo_key,
)
from memstrata.domain.scope import Key, Realm
from memstrata.domain.turn import Message
from memstrata.errors import Conflict, Corrupt, Invalid, NotFound, OutcomeUnknown, Unavailable
from memstrata.pipelines import graves, swap
from memstrata.pipelines.sight import job_key, messages_of, shelf_of
from memstrata.pipelines.swap import Swap
from memstrata.pipelines.swap import Unfinished as Unfinished
from memstrata.pipelines.world import World
from memstrata.ports import (
    Answered,
    Cursor,
    Job,
    Lease,
    Listing,
    OffloadChange,
    OffloadHead,
    RecordLine,
    Shelf,
    Staged,
    Store,
    Stored,
    StoreRead,
    StoreWrite,
    ToolRead,
    Vectored,
    Vectors,
)

INDEX_LOG: Final = "index"
"""Under this name the store keeps which MEMORY.md is up to date: a mark of its day and file, or `STALE`."""
STALE: Final = 0
REBUILDING: Final = "rebuilding"
"""Under this name the store keeps a number that each rebuild raises: odd (or none) until the index is whole."""
_HALF_A_DAY: Final = timedelta(hours=12)  # a whole one could skip a day when clocks go forward
REVISIONS: Final = "revisions"
"""Under this name the store keeps where the newest line of each document's log begins."""
MOST: Final = 200
"""Memories written in one transaction, at most."""
_REJECTED: Final = "consolidation.rejected"
READS: Final = 10_000
"""So many calls of an owner's agents are listed, the newest."""
REVIEWED: Final = "looked at and trusted"
"""Why a version came to be whose file stayed as it was: a person trusts what came with a workspace."""
BACK: Final = ("edit", "restore")
"""The verbs by which a person can bring a memory back to use."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a key's files lie and what they say of their place: root, author, workspace id."""

    root: str
    owner: str
    ref: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What took effect: rows as they stand now, messages that were new, files that could not be removed."""

    stored: tuple[Stored, ...] = ()
    messages: tuple[Message, ...] = ()
    blocked: tuple[Blocked, ...] = ()


@dataclass(frozen=True, slots=True)
class Blocked:
    """The file of a deleted memory that could not be removed, and why; reconcile tries again."""

    id: str
    place: Place
    problem: str


@dataclass(frozen=True, slots=True)
class _Write:
    """One memory on its way: the change, its bytes staged, the row it becomes."""

    put: Put
    staged: Staged
    row: Stored


@dataclass(frozen=True, slots=True)
class _Proposal:
    """One candidate on its way: the change, its bytes staged."""

    propose: Propose
    staged: Staged


@dataclass(frozen=True, slots=True)
class _Removal:
    """One memory on its way out: the change, the row that it was, digest and time of what is in its file."""

    delete: Delete
    row: Stored
    digest: str
    mtime_ns: int | None


def apply(world: World, plan: Plan, targets: Mapping[Key, Target]) -> Applied:
    """Carry out `plan`. `targets` names the place of each key that it writes to.

    Raises:
        Conflict: what a change was decided on moved, or a name is taken; nothing was saved.
        Unfinished: reconcile must finish something first; nothing was saved.
        Unavailable: disk or database said no; nothing was saved.
        OutcomeUnknown: it failed and so did taking it back, or it stands and could not be flushed;
            reconcile decides by the file.
    """
    if sum(isinstance(change, Put | Delete) for change in plan.changes) > MOST:
        raise ValueError(f"a plan writes at most {MOST} memories; split it with `batches`")
    staged: list[Staged] = []
    undo: list[Callable[[], None]] = []
    removals: list[_Removal] = []
    try:
        with reported():
            writes = _stage(world, plan, targets, staged)
            proposals = _propose(world, plan, staged)
            swaps = [swap.stage(world, one, staged) for one in _texts(plan)]
            failpoints.hit("apply.staged")
            with world.vault.exclusive():
                try:
                    applied = _transact(
                        world, plan, targets, writes, proposals, swaps, removals, undo
                    )
                except BaseException:
                    take_back(undo)
                    raise
                blocked = (*_removed(world, removals), *_taken_away(world, plan))
                applied = replace(applied, blocked=blocked)
    except BaseException:
        _drop(staged)
        raise
    try:
        _settle(world, plan, staged, swaps, removals)
    finally:
        _tell(world, plan, applied)
    return applied


@contextmanager
def reported() -> Iterator[None]:
    """The disk's refusals as our own error."""
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the disk said no ({error}); nothing was saved") from error


def batches(changes: Sequence[Change]) -> list[Plan]:
    """`changes` as plans that each write at most `MOST` memories: for imports, where each may stand alone."""
    return [Plan(tuple(changes[at : at + MOST])) for at in range(0, len(changes), MOST)]


def review(world: World, rows: Sequence[tuple[Stored, Stored]]) -> None:
    """Record that files were looked at as they are (before, after); the files stay as they are.

    Raises:
        Conflict: one moved meanwhile; nothing was saved.
        Unfinished: reconcile must finish something, or take a hand edit over, first.
        Unavailable: disk or database said no; nothing was saved.
    """
    undo: list[Callable[[], None]] = []
    with reported(), world.vault.exclusive():
        try:
            with world.store.transaction() as tx:
                refuse_rebuilding(tx)
                refuse_open(world, tx, (row.owner for _, row in rows))
                groups: dict[str, list[tuple[Key | None, records.Line]]] = {}
                for before, after in rows:
                    memory, base = before.memory, Base(before.memory.version, before.digest)
                    _as_decided_on(world, tx, memory, base)
                    tx.put(after)
                    put = Put(after.memory, "file", "person", REVIEWED, base)
                    line = records.of_put(
                        put, owner=after.owner, digest=after.digest, path=after.place.path
                    )
                    groups.setdefault(after.owner, []).append((memory.key, line))
                for owner, group in groups.items():
                    write_records(world, tx, owner, group, undo)
        except BaseException:
            take_back(undo)
            raise


def move_rows(world: World, key: Key, root: str) -> int:
    """Let the rows of a workspace say that their files lie under `root`; how many did not."""
    moved = 0
    listing = Listing(presences=("live", "stale", "absent"))
    with world.store.transaction() as tx:
        after = ""
        while page := tx.memories((key,), listing, world.moment(), after=after):
            after = page[-1].memory.id
            for row in page:
                if row.place.root != root:
                    tx.put(replace(row, place=Place(root, row.place.path)))
                    moved += 1
    return moved


# -- before the lock ----------------------------------------------------------------------------


def _stage(
    world: World, plan: Plan, targets: Mapping[Key, Target], staged: list[Staged]
) -> list[_Write]:
    """Render and stage every memory of the plan; what was staged so far stands in `staged`."""
    found: list[_Write] = []
    for put in plan.changes:
        if not isinstance(put, Put):
            continue
        target = targets[put.memory.key]
        target = replace(target, owner=put.author or target.owner)
        data = rendered(put.memory, target)
        place = _place(world.store, put, target)
        one = world.vault.stage(place, data)
        staged.append(one)
        row = Stored(put.memory, place, markdown.digest(data), target.owner, one.stat)
        found.append(_Write(put, one, row))
    return found


def _propose(world: World, plan: Plan, staged: list[Staged]) -> list[_Proposal]:
    """Stage the file of every candidate of the plan; what was staged so far stands in `staged`."""
    found: list[_Proposal] = []
    for change in plan.changes:
        if isinstance(change, Propose):
            place = layout.candidate_file(change.key, change.candidate.id)
            one = world.vault.stage(place, elevation.render(change.candidate))
            staged.append(one)
            found.append(_Proposal(change, one))
    return found


def rendered(memory: Memory, target: Target) -> bytes:
    """The bytes of a memory's file. In a workspace nothing of the conversation is quoted."""
    quotes = memory.key.scope != "project"
    text = markdown.render(memory, owner=target.owner, ref=target.ref, quotes=quotes)
    return text.encode()


def _texts(plan: Plan) -> list[PutTexts]:
    return [change for change in plan.changes if isinstance(change, PutTexts)]


def _place(store: Store, put: Put, target: Target) -> Place:
    """The file it stands in already (a hand-made one keeps its name), else `<id>.md`."""
    held = store.memory((put.memory.key,), put.memory.id) if put.base else None
    return held.place if held else layout.memory_file(put.memory.key, put.memory.id, target.root)


# -- under the lock -------------------------------------------------------------------------------


def _transact(
    world: World,
    plan: Plan,
    targets: Mapping[Key, Target],
    writes: Sequence[_Write],
    proposals: Sequence[_Proposal],
    swaps: Sequence[Swap],
    removals: list[_Removal],
    undo: list[Callable[[], None]],
) -> Applied:
    failpoints.hit("apply.begun")
    with world.store.transaction() as tx:
        refuse_rebuilding(tx)
        _refuse_open(world, tx, plan, targets)
        _compare(world, tx, plan, writes)
        _compare_candidates(world, tx, plan)
        for one in swaps:
            swap.compare(world, tx, one)
        removals += _removals(world, tx, plan)
        messages = [
            (change.realm, m)
            for change in plan.changes
            if isinstance(change, Append)
            for m in _append(world, tx, change, undo)
        ]
        _queue_vectors(world, tx, _shelves(plan, messages))
        for write in writes:
            tx.put(write.row)
            tx.set_shard(INDEX_LOG, str(write.row.place.folder), STALE)
        for removal in removals:
            _drop_row(world, tx, removal.row)
        _names_free(world, tx, writes)
        for change in plan.changes:
            _rows(world, tx, change)
        fresh = [write.row for write in writes if write.put.verb != "source"]
        extracted = any(isinstance(change, Advance) for change in plan.changes)
        queue_scenes(world, tx, fresh, [one.row for one in removals], soon=extracted)
        failpoints.hit("apply.rows")
        _log(world, tx, plan, targets, writes, removals, undo)
        failpoints.hit("apply.logged")
        for staged in [one.staged for one in writes] + [one.staged for one in proposals]:
            undo.append(staged.undo)
            staged.publish()
        for swapped in swaps:
            swap.publish(world, tx, swapped, undo)
        failpoints.hit("apply.published")
    return Applied(tuple(write.row for write in writes), tuple(m for _, m in messages))


def _shelves(plan: Plan, messages: Sequence[tuple[Realm, Message]]) -> Iterator[Shelf]:
    """The shelves on which a plan puts texts, or from which it takes some."""
    for change in plan.changes:
        if isinstance(change, Put | Delete):
            yield shelf_of(change.memory.key)
    for realm, message in messages:
        yield messages_of(realm, message.workspace)


def rebuilding(store: StoreRead) -> int:
    """The number of the rebuild that goes on or was broken off, 0 when the index is whole."""
    number = store.shards(REBUILDING).get(REBUILDING, 1)
    return number if number % 2 else 0


def begin_rebuilding(world: World) -> None:
    """Forget all that is derived; until `end_rebuilding` nobody decides on what is there."""
    with world.vault.exclusive(), world.store.transaction() as tx:
        before = tx.shards(REBUILDING).get(REBUILDING, 1)
        tx.clear(world.space)
        tx.set_shard(REBUILDING, REBUILDING, before + 2 - (before + 1) % 2)


def end_rebuilding(world: World, number: int) -> None:
    """The index is whole, unless another rebuild began since `number`."""
    with world.store.transaction() as tx:
        if rebuilding(tx) == number:
            tx.set_shard(REBUILDING, REBUILDING, number + 1)


def refuse_rebuilding(store: StoreRead) -> None:
    """What is not indexed yet can be neither compared nor missed.

    Who decides on what is there asks this *after* reading: a rebuild that begins later moves every
    message's position, which `apply` sees.

    Raises:
        Unfinished: the index is not whole.
    """
    if rebuilding(store):
        raise Unfinished("the index is being rebuilt; not saved")


def _refuse_open(world: World, tx: StoreWrite, plan: Plan, targets: Mapping[Key, Target]) -> None:
    """Nobody builds on what is about to be forgotten."""
    owners = {target.owner for target in targets.values()}
    if plan.forgotten is not None:
        owners.update(world.owners())
    for change in plan.changes:
        match change:
            case Append(realm=realm) | Advance(realm=realm):
                owners.add(realm.owner)
            case Delete(memory=memory) if memory.key.realm.owner:
                owners.add(memory.key.realm.owner)
            case _:
                pass
    refuse_open(world, tx, owners)
    if plan.forgotten is not None and plan.forgotten != graves.total(world):
        raise Conflict("something was forgotten meanwhile; not saved")


def refuse_open(world: World, store: StoreRead, owners: Iterable[str]) -> None:
    """Nobody builds on what one of `owners` is about to forget.

    Raises:
        Unfinished: a killed process left an erasure half-way; reconcile first.
    """
    for owner in sorted(set(filter(None, owners))):
        if graves.is_open(world, store, owner):
            raise Unfinished("a killed process left something half forgotten; not saved")


def _compare(world: World, tx: StoreWrite, plan: Plan, writes: Sequence[_Write]) -> None:
    """Compare-and-swap: each base must still be what stands in the index and on disk."""
    for write in writes:
        memory, base = write.put.memory, write.put.base
        if base is not None:
            held = _as_decided_on(world, tx, memory, base)
            if write.put.verb in BACK:
                _refuse_second(world, tx, held, memory)
        elif tx.memory((memory.key,), memory.id) is not None:
            raise Conflict(
                f"{memory.id} exists already; not saved",
                reason="ALREADY_EXISTS",
                holder=memory.id,
            )
    for change in plan.changes:
        if isinstance(change, Advance):
            cursor = tx.cursor(change.realm, change.session).position
            if not (_is_taken_up(tx, change) if change.redo else cursor == change.expected):
                raise Conflict(
                    f"session {change.session!r} was extracted meanwhile",
                    base=change.expected,
                    current=cursor,
                )
            if graves.size(world, change.realm.owner) != change.forgotten:
                raise Conflict(f"something was forgotten since {change.session!r} was read")
            if not _stands(tx, change):
                raise Conflict(f"session {change.session!r} was indexed anew meanwhile")


def _compare_candidates(world: World, tx: StoreWrite, plan: Plan) -> None:
    """What a run and a person's decision were made on must still be what stands."""
    for change in plan.changes:
        if isinstance(change, Settle):
            _compare_settle(world, tx, change)
        elif isinstance(change, Propose):
            _compare_propose(tx, change)
        elif isinstance(change, Consolidated):
            lines = tx.records((change.key,), records.CONSOLIDATION)
            last = next((one for one in reversed(lines) if one.kind == records.RUN), None)
            if (str(last.data.get("run", "")) if last else "") != change.expected:
                raise Conflict("it was consolidated meanwhile by another process; not saved")


def _compare_propose(tx: StoreWrite, change: Propose) -> None:
    for source in change.candidate.sources:
        held = tx.memory((change.key,), source.id)
        if held is None or held.memory.version != source.version:
            raise Conflict(f"{source.id}, a source of a general rule, was changed since; not saved")


def _compare_settle(world: World, tx: StoreWrite, change: Settle) -> None:
    one = change.candidate
    data = _held(world, layout.candidate_file(change.key, one.id))
    if data is None or markdown.digest(data) != change.digest:
        raise Conflict(f"{one.id} was changed since it was read; not saved")
    for line in tx.records((change.key,), records.CONSOLIDATION):
        if line.data.get("candidate") == one.id and line.data.get("verb") != records.PROPOSE:
            raise Conflict(f"{one.id} was decided on meanwhile ({line.data['verb']}); not saved")
    for id, base in change.sources:
        held = tx.memory((change.key,), id)
        now = None if held is None else Base(held.memory.version, held.digest)
        if now != base or (held is not None and moved_by_hand(world, held)):
            raise Conflict(f"{id}, a source of {one.id}, was changed since; not saved")


def _as_decided_on(world: World, tx: StoreWrite, memory: Memory, base: Base) -> Stored:
    """The row of a memory, which is what a change to it was decided on, in the index and on disk."""
    held = tx.memory((memory.key,), memory.id)
    current = held.memory.version if held else 0
    if held is None or (current, held.digest) != (base.version, base.digest):
        raise Conflict(
            f"{memory.id} is at version {current}, the change was made on {base.version}; not saved",
            base=base.version,
            current=current,
        )
    if moved_by_hand(world, held):
        raise Conflict(
            f"{held.place} was edited by hand since it was read; not saved",
            base=base.version,
            current=current + 1,
        )
    return held


def _refuse_second(world: World, tx: StoreWrite, held: Stored, after: Memory) -> None:
    """One value of a slot is valid: what comes back to use may not be the second."""
    before, now, slot = held.memory, world.clock.now(), (after.subject, after.slot)
    there = held.presence != "absent" and before.status(now, world.zone) == "active"
    stays = there and slot == (before.subject, before.slot)
    if stays or not after.slot or after.status(now, world.zone) != "active":
        return
    for other in tx.slot(after.key, *slot):
        if other.memory.id != after.id and other.memory.status(now, world.zone) == "active":
            raise taken_by(after, other.memory)


def taken_by(memory: Memory, other: Memory) -> Conflict:
    """Why `memory` cannot be in use again: `other` took its place."""
    return Conflict(
        f"{other.id} ({other.name!r}) is valid in the place of {memory.id}: archive or delete it, "
        "or edit it instead; not saved",
        reason="ALREADY_EXISTS",
        holder=other.id,
    )


def _removals(world: World, tx: StoreWrite, plan: Plan) -> Iterator[_Removal]:
    for change in plan.changes:
        if isinstance(change, Delete):
            row = _as_decided_on(world, tx, change.memory, change.base)
            yield _Removal(change, row, *_on_disk(world, row))


def _on_disk(world: World, row: Stored) -> tuple[str, int | None]:
    """Digest and time of what is to go: of a stale row's file too, which is not what the index read."""
    try:
        data, stat = world.vault.read(row.place)
    except (NotFound, Unavailable, Invalid):
        return row.digest, row.stat.mtime_ns if row.stat else None
    return markdown.digest(data), stat.mtime_ns


def _drop_row(world: World, tx: StoreWrite, row: Stored) -> None:
    key, id = row.memory.key, row.memory.id
    tx.drop(key, id)
    tx.set_shard(INDEX_LOG, str(row.place.folder), STALE)
    drop_vector(world, key, id)


def drop_vector(world: World, key: Key, id: str) -> None:
    """Remove the vector of a deleted memory, whether there is an embedder or not.

    Where its file says no, the job that fills the shelf takes it out later: nothing else depends on it.
    """
    if world.vectors is None or world.vault.stat(layout.VECTORS) is None:
        return
    try:
        drop_vectors(world.vectors, shelf_of(key), (id,))
    except (Unavailable, Corrupt) as error:
        world.bus.emit("vectors.unavailable", degraded=True, problem=error.code)


def _removed(world: World, removals: Sequence[_Removal]) -> tuple[Blocked, ...]:
    """Remove the files of deleted memories; those that stay, and why."""
    found: list[Blocked] = []
    for removal in removals:
        place = removal.row.place
        problem = _remove(world, place, removal.digest)
        if problem:
            found.append(Blocked(removal.row.memory.id, place, problem))
    return tuple(found)


def _taken_away(world: World, plan: Plan) -> Iterator[Blocked]:
    """Remove the files of candidates that were decided on; those that stay, and why."""
    for change in plan.changes:
        if isinstance(change, Settle):
            place = layout.candidate_file(change.key, change.candidate.id)
            problem = _remove(world, place, change.digest)
            if problem:
                yield Blocked(change.candidate.id, place, problem)


def remove_decided(world: World, place: Place) -> str:
    """Remove the file of a candidate that was decided on; why it is still there, `""` when it is not.

    Raises:
        Unavailable: the folder could not be flushed.
    """
    with world.vault.exclusive():
        data = _held(world, place)
        problem = "" if data is None else _remove(world, place, markdown.digest(data))
    if not problem:
        world.vault.sync([place.folder])
    return problem


def _remove(world: World, place: Place, digest: str) -> str:
    """Remove a file unless it says something else by now; why it is still there, `""` when it is not."""
    try:
        data = _held(world, place)
        if data is not None and markdown.digest(data) == digest:
            world.vault.remove(place)
    except (Unavailable, Invalid) as error:
        return error.message
    return ""


def remove_leftover(world: World, key: Key, id: str, place: Place, digest: str) -> str:
    """Remove the file of a memory that was deleted; why it is still there, `""` when it is not.

    Raises:
        Unavailable: the database said no, or the folder could not be flushed.
    """
    with world.vault.exclusive():
        if world.store.memory((key,), id) is not None:
            return ""  # another process took a new file of that id in
        drop_vector(world, key, id)
        problem = _remove(world, place, digest)
    if not problem:
        world.vault.sync([place.folder])
    return problem


def _is_taken_up(tx: StoreWrite, change: Advance) -> bool:
    """End the job for a batch that is done again; False when it ended already."""
    return bool(tx.drop_jobs(change.realm, REDO, redo_key(change.redo, change.session)))


def _stands(tx: StoreWrite, change: Advance) -> bool:
    """Whether the batch's last message is still where it was read: a rebuild gives all a new position."""
    after = change.cursor - 1
    found = tx.messages(change.realm, change.session, after=after, limit=1)
    return any((one.position, one.message.id) == (change.cursor, change.last) for one in found)


def moved_by_hand(world: World, held: Stored) -> bool:
    """Whether a person changed a memory's file, or put it back, since the index read it."""
    stat = world.vault.stat(held.place)
    if held.presence == "absent":
        return stat is not None
    if held.presence == "stale" or stat is None or stat == held.stat:
        return False
    return markdown.digest(world.vault.read(held.place)[0]) != held.digest


def _append(
    world: World, tx: StoreWrite, change: Append, undo: list[Callable[[], None]]
) -> list[Message]:
    """Rows and lines of the messages that are new: not stored meanwhile by another, and not forgotten."""
    by_session: dict[str, list[Message]] = {}
    for message in change.messages:
        by_session.setdefault(message.session, []).append(message)
    fresh: list[Message] = []
    stones = graves.of(world, change.realm.owner)
    for session, messages in by_session.items():
        held = tx.known_messages(change.realm, session, [message.id for message in messages])
        fresh += [
            message
            for message in messages
            if message.id not in held and not stones.stops(change.realm, message)
        ]
    if fresh:
        tx.add_messages(change.realm, fresh)
        for place, lines in _by_shard(world, change.realm, fresh).items():
            append_log(world, tx, "conversations", place, lines, undo)
    return fresh


def _by_shard(world: World, realm: Realm, messages: Sequence[Message]) -> dict[Place, bytes]:
    shards: dict[Place, list[bytes]] = {}
    for message in messages:
        place = layout.shard(realm.owner, "conversations", message.recorded_at, world.zone)
        shards.setdefault(place, []).append(conversation.encode(message))
    return {place: b"".join(lines) for place, lines in shards.items()}


def append_log(
    world: World,
    tx: StoreWrite,
    log: str,
    place: Place,
    lines: bytes,
    undo: list[Callable[[], None]],
) -> None:
    """Append to a shard; it counts as indexed only if nothing unindexed stood before."""
    known = tx.shards(log).get(place.path, 0)
    appended = world.vault.append(place, lines)
    undo.append(appended.undo)
    if appended.start == known:
        tx.set_shard(log, place.path, appended.end)


def _names_free(world: World, tx: StoreWrite, writes: Sequence[_Write]) -> None:
    """A name belongs to one memory of a key that is valid now."""
    now = world.clock.now()
    for write in writes:
        memory = write.put.memory
        if memory.status(now, world.zone) != "active":
            continue
        for other in tx.named(memory.key, normalised_name(memory.name)):
            if other.memory.id != memory.id and other.memory.status(now, world.zone) == "active":
                raise Conflict(
                    f"the name {memory.name!r} belongs to {other.memory.id} already; not saved",
                    reason="ALREADY_EXISTS",
                    holder=other.memory.id,
                )


def _rows(world: World, tx: StoreWrite, change: Change) -> None:
    match change:
        case Enqueue(realm=realm, kind=kind, key=key, due=due, at_once=at_once):
            tx.enqueue(realm, kind, key, due, at_once=at_once)
        case Advance():
            now = world.clock.now()
            if not change.redo:
                tx.set_cursor(change.realm, Cursor(change.session, change.cursor, change.last))
                tx.forgive_jobs(change.realm, EXTRACT, change.session)
            if change.parked:
                key = redo_key(change.batch, change.session)
                tx.set_aside(change.realm, REDO, key, change.parked, now)
            tx.add_verdicts(change.realm, change.session, change.batch, now, change.verdicts)
        case _:
            pass


def _log(
    world: World,
    tx: StoreWrite,
    plan: Plan,
    targets: Mapping[Key, Target],
    writes: Sequence[_Write],
    removals: Sequence[_Removal],
    undo: list[Callable[[], None]],
) -> None:
    """The record lines, one group for each owner's shard."""
    groups: dict[str, list[tuple[Key | None, records.Line]]] = {}
    for write in writes:
        line = records.of_put(
            write.put, owner=write.row.owner, digest=write.row.digest, path=write.row.place.path
        )
        groups.setdefault(write.row.owner, []).append((write.put.memory.key, line))
    for one in removals:
        owner = one.row.owner
        line = records.of_delete(
            one.delete,
            owner=owner,
            digest=one.digest,
            path=one.row.place.path,
            mtime_ns=one.mtime_ns,
        )
        groups.setdefault(owner, []).append((one.row.memory.key, line))
    for change in plan.changes:
        if isinstance(change, Advance):
            groups.setdefault(change.realm.owner, []).append((None, records.of_advance(change)))
        elif isinstance(change, Propose | Settle | Consolidated):
            owner = targets[change.key].owner
            groups.setdefault(owner, []).append((change.key, _line_of(change, owner)))
    for owner, group in groups.items():
        write_records(world, tx, owner, group, undo)


def refuse_unfinished(world: World, tx: StoreRead, owner: str) -> None:
    """Whoever writes holds the lock, so lines without rows are those of a process that was killed."""
    known = tx.shards("records")
    for place in _newest_shards(world, known, owner):
        stat = world.vault.stat(place)
        if known.get(place.path, 0) != (stat.size if stat else 0):
            raise Unfinished("a killed process left a write half-way; not saved")


def refuse_half_done(world: World, owner: str) -> None:
    """Whoever decides under the lock without a plan asks this first.

    Raises:
        Unfinished: reconcile must finish a write, a rebuild or an erasure first.
    """
    refuse_rebuilding(world.store)
    refuse_unfinished(world, world.store, owner)
    if graves.is_open(world, world.store, owner):
        raise Unfinished("a killed process left something half forgotten")


def _newest_shards(world: World, known: Mapping[str, int], owner: str) -> Iterator[Place]:
    """The newest records shard that is known and those of the days since, a month back at most.

    Every older one was whole when a newer one was begun, and looking at all would cost more each day.
    """
    folder, now = layout.log_folder(owner, "records"), world.clock.now()
    newest = max((path for path in known if Place(HOME, path).folder == folder), default="")
    for step in range(2 * 31):
        place = layout.shard(owner, "records", now - step * _HALF_A_DAY, world.zone)
        if place.path <= newest:
            break
        yield place
    if newest:
        yield Place(HOME, newest)


def write_records(
    world: World,
    tx: StoreWrite,
    owner: str,
    group: Sequence[tuple[Key | None, records.Line]],
    undo: list[Callable[[], None]],
) -> None:
    """One group of record lines: into the owner's shard of today and into the index.

    Raises:
        Unfinished: lines stand there that no row knows; reconcile first.
    """
    refuse_unfinished(world, tx, owner)
    now, tx_id = world.clock.now(), world.clock.new_id("tx_")
    lines = [line for _, line in group]
    place = layout.shard(owner, "records", now, world.zone)
    append_log(world, tx, "records", place, records.encode(lines, tx_id, now), undo)
    rows = [
        RecordLine(owner, line.kind, line.id, line.version, tx_id, part, len(lines), now, line.data)
        for part, line in enumerate(lines, start=1)
    ]
    tx.add_records(world.space, [key for key, _ in group], rows)


def _line_of(change: Propose | Settle | Consolidated, owner: str) -> records.Line:
    match change:
        case Propose():
            path = layout.candidate_file(change.key, change.candidate.id).path
            return records.of_propose(change, owner=owner, path=path)
        case Settle():
            return records.of_settle(change, owner=owner)
        case Consolidated():
            return records.of_consolidated(change, owner=owner)
        case _:
            assert_never(change)


# -- after ----------------------------------------------------------------------------------------


def take_back(undo: Sequence[Callable[[], None]]) -> None:
    """Undo in reverse, still under the lock: files, then log lines.

    It ends where a step fails: the lines of a file that stays must stay too, so that reconcile can
    carry the whole out.

    Raises:
        OutcomeUnknown: a step failed.
    """
    try:
        for step in reversed(undo):
            step()
    except OSError as error:
        raise OutcomeUnknown(
            f"the write failed and could not be taken back ({error}); outcome unknown: "
            "`memstrata reindex` decides by the files"
        ) from error


def _drop(staged: Sequence[Staged]) -> None:
    """Remove temporary files of a plan that did not take effect; one that stays is swept at the next start."""
    for one in staged:
        try:
            one.discard()
        except OSError:
            continue


def _settle(
    world: World,
    plan: Plan,
    staged: Sequence[Staged],
    swaps: Sequence[Swap],
    removals: Sequence[_Removal],
) -> None:
    """Behind COMMIT the write stands; whether it outlives a power cut is unknown until it is flushed."""
    try:
        failpoints.hit("apply.committed")
        swapping = swap.dropped(swaps)
        for one in staged:
            if one not in swapping:
                one.settle()
        for swapped in swaps:
            swap.settle(swapped)
        places = [one.place for one in staged] + [removal.row.place for removal in removals]
        places += [
            layout.candidate_file(change.key, change.candidate.id)
            for change in plan.changes
            if isinstance(change, Settle)
        ]
        if places:
            world.vault.sync(sorted({place.folder for place in places}))
        failpoints.hit("apply.done")
    except (OSError, Unavailable) as error:
        raise OutcomeUnknown(
            f"it was written but could not be flushed ({error}); outcome unknown"
        ) from error
    finally:
        _drop([*staged, *swap.dropped(swaps)])


def _tell(world: World, plan: Plan, applied: Applied) -> None:
    for change in plan.changes:
        match change:
            case Put(memory=memory, verb=verb):
                key = memory.key
                world.bus.emit(
                    "memory.written",
                    id=memory.id,
                    verb=verb,
                    version=memory.version,
                    owner=key.realm.owner,
                    scope=key.scope,
                    ref=key.ref,
                )
            case Delete(memory=memory):
                key = memory.key
                world.bus.emit(
                    "memory.deleted",
                    id=memory.id,
                    owner=key.realm.owner,
                    scope=key.scope,
                    ref=key.ref,
                )
            case PutTexts(log=log, chronicle=found):
                world.bus.emit(
                    "texts.written", path=str(log), texts=len(found.texts), dropped=found.dropped
                )
            case Advance(verdicts=verdicts):
                for verdict in verdicts:
                    if verdict.gate:
                        world.bus.emit(
                            "candidate.refused",
                            verdict=verdict.verdict,
                            gate=verdict.gate,
                            session=change.session,
                            batch=change.batch,
                        )
            case Propose(key=key, candidate=candidate):
                _say_candidate(world, "consolidation.proposed", key, candidate.id)
            case Settle(key=key, candidate=candidate, outcome=outcome, memory=id):
                name = "consolidation.confirmed" if outcome == "confirm" else _REJECTED
                _say_candidate(world, name, key, candidate.id, id)
            case _:
                pass
    for one in applied.blocked:
        world.bus.emit("file.blocked", degraded=True, id=one.id, path=str(one.place))


def _say_candidate(world: World, name: str, key: Key, id: str, memory: str = "") -> None:
    owner = key.realm.owner
    world.bus.emit(name, id=id, memory=memory, owner=owner, scope=key.scope, ref=key.ref)


# -- rows that no file holds: work, not memory ----------------------------------------------------


def count_hits(world: World, hits: Mapping[str, int], keys: Sequence[Key]) -> None:
    """Add to the hit counts of memories under `keys`, in bulk."""
    with world.store.transaction() as tx:
        for id, count in hits.items():
            for _ in range(count):
                tx.touch(keys, (id,), world.clock.now())


def note_read(
    world: World, realm: Realm, read: ToolRead, keys: Sequence[Key] = (), hits: Sequence[str] = ()
) -> None:
    """Remember what an agent read, and add a hit to each of `hits` under `keys`.

    Raises:
        Unavailable: the disk or the database said no.
    """
    days = world.settings.log.reads_days
    with world.store.transaction() as tx:
        if days:
            tx.add_read(realm, read, most=READS, before=read.at - timedelta(days=days))
        if hits:
            tx.touch(keys, hits, read.at)


def keep_answer(world: World, realm: Realm, key: str, answer: Answered, hours: int) -> None:
    """Keep what was answered under an idempotency key, for so many hours."""
    now = world.clock.now()
    with world.store.transaction() as tx:
        tx.keep_answer(realm, key, answer, now, now - timedelta(hours=hours))


def lease_job(world: World, wanted: Lease) -> Job | None:
    """The job that is due first, leased; None when there is none."""
    with world.store.transaction() as tx:
        return tx.lease(wanted, world.clock.now())


def free_jobs(world: World) -> int:
    """Let the jobs wait again that a killed process ran; how many. The caller alone runs jobs."""
    if not world.store.jobs(None, ("running",)):
        return 0
    with world.store.transaction() as tx:
        return tx.free_jobs()


def settle_extraction(world: World, job: Job) -> bool:
    """Take an extraction job off the list if its session has nothing left; False when it has.

    In one transaction, so that a turn committed meanwhile keeps a job.
    """
    with world.store.transaction() as tx:
        cursor = tx.cursor(job.realm, job.key)
        if tx.messages(job.realm, job.key, after=cursor.position, limit=1):
            tx.postpone_job(job.number, world.clock.now())
            return False
        tx.drop_job(job.number)
    return True


def drop_job(world: World, job: Job) -> bool:
    """Take a job off the list; True."""
    with world.store.transaction() as tx:
        tx.drop_job(job.number)
    return True


def end_job(world: World, job: Job, then: Iterable[tuple[str, str, datetime]]) -> bool:
    """Take a job off the list, and with it put on what follows, each (kind, key, due); True."""
    with world.store.transaction() as tx:
        tx.drop_job(job.number)
        for kind, key, due in then:
            tx.enqueue(job.realm, kind, key, due)
    return True


def keep_vectors(
    vectors: Vectors, shelf: Shelf, rows: Sequence[Vectored], reached: int | None
) -> None:
    """Keep the vectors of a shelf's texts, and how far it is filled; they are derived, no file holds them."""
    vectors.put(shelf, rows, reached)


def drop_vectors(vectors: Vectors, shelf: Shelf, ids: Sequence[str]) -> None:
    """Remove the vectors of texts that are gone."""
    vectors.drop(shelf, ids)


def queue_vectors(world: World, shelves: Iterable[Shelf]) -> None:
    """Queue a job for each shelf that lacks vectors."""
    wanted = list(shelves)
    if wanted:
        with world.store.transaction() as tx:
            _queue_vectors(world, tx, wanted)


def queue_shelf(world: World, tx: StoreWrite, key: Key) -> None:
    """Within a transaction that changes a key's rows: its shelf may lack vectors."""
    _queue_vectors(world, tx, [shelf_of(key)])


def _queue_vectors(world: World, tx: StoreWrite, shelves: Iterable[Shelf]) -> None:
    if world.sight is not None:
        for shelf in dict.fromkeys(shelves):
            tx.enqueue(shelf.realm, EMBED, job_key(shelf), world.clock.now())


def queue_scenes(
    world: World,
    tx: StoreWrite,
    changed: Iterable[Stored],
    gone: Iterable[Stored] = (),
    *,
    soon: bool = False,
) -> None:
    """Within a transaction: scenes follow what `changed` of a person's or a project's memories.

    What has ended or is `gone` leaves them at once; the rest is told `soon`, or after a while.
    """
    chosen, now = world.settings.scenes, world.clock.now()
    if not (chosen.enabled or world.settings.persona.enabled):
        return
    rows, lost = list(changed), list(gone)
    ended = [row for row in rows if row.memory.status(now, world.zone) != "active"]
    for realm in dict.fromkeys(realm for realm, _ in _layers((*ended, *lost))):
        tx.enqueue(realm, PRUNE, "", now)
    if chosen.enabled:
        seconds = chosen.delay_seconds if soon or lost else chosen.most_seconds
        for realm, group in _layers((*rows, *lost)):
            tx.enqueue(realm, SCENES, group, now + timedelta(seconds=seconds))


def _layers(rows: Iterable[Stored]) -> list[tuple[Realm, str]]:
    """Whose scenes memories belong in, and in which group, each once; an agent's own belong in none."""
    found: dict[tuple[Realm, str], None] = {}
    for row in rows:
        key = row.memory.key
        match key.scope:
            case "user":
                found[key.realm, layout.GLOBAL] = None
            case "project":
                found[Realm(key.realm.space, row.owner), key.ref] = None
            case "agent":
                continue
    return list(found)


def queue_layers(world: World, jobs: Iterable[tuple[Realm, str, str]]) -> None:
    """Queue a job for each (realm, kind, key): what they would do is found out when they are done."""
    wanted = list(jobs)
    if wanted:
        with world.store.transaction() as tx:
            for realm, kind, key in wanted:
                tx.enqueue(realm, kind, key, world.clock.now())


def request(world: World, realm: Realm, kind: str, key: str) -> None:
    """Let a job be done at once, whatever became of it before."""
    with world.store.transaction() as tx:
        tx.drop_jobs(realm, kind, key)
        tx.enqueue(realm, kind, key, world.clock.now(), at_once=True)


def redo_batches(world: World, realm: Realm, batches: Sequence[tuple[str, str]]) -> int:
    """Queue a job for each (batch, session) that is to be done again; how many."""
    if batches:
        with world.store.transaction() as tx:
            for batch, session in batches:
                tx.enqueue(realm, REDO, redo_key(batch, session), world.clock.now())
    return len(batches)


def set_aside(world: World, realm: Realm, batches: Sequence[tuple[str, str, str]]) -> None:
    """Put a job aside for each recorded (batch, session, problem) that has none."""
    if batches:
        with world.store.transaction() as tx:
            for batch, session, problem in batches:
                key = redo_key(batch, session)
                tx.set_aside(realm, REDO, key, problem, world.clock.now())


def postpone_job(
    world: World, job: Job, due: datetime, problem: str = "", *, failed: bool = False
) -> None:
    """Let a job wait until `due`; `failed`: this was one of its tries."""
    with world.store.transaction() as tx:
        tx.postpone_job(job.number, due, problem, failed=failed)


def park_job(world: World, job: Job, problem: str) -> None:
    """Set a job aside until a command takes it up again; `problem` says why."""
    with world.store.transaction() as tx:
        tx.park_job(job.number, problem)


def unpark_jobs(world: World, realm: Realm) -> int:
    """Take up again what was set aside, and what waits after a failure; how many."""
    with world.store.transaction() as tx:
        return tx.unpark_jobs(realm, world.clock.now())


def hasten_jobs(world: World, but: Sequence[str] = ()) -> None:
    """Whatever waits for its turn is done when the next worker starts, unless its kind is one of `but`."""
    with world.store.transaction() as tx:
        tx.hasten_jobs(but)


# -- logs that no row stands for -------------------------------------------------------------------


def append_line(world: World, place: Place, line: bytes) -> None:
    """Append a line to a log of which nothing is indexed.

    Raises:
        Unavailable: the disk said no.
    """
    with world.vault.exclusive():
        world.vault.append(place, line)


# -- documents under revisions ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to a document: a new `line` of its log, new bytes for its file (`text`), or both.

    Where there is no new line, `start` is where the newest one begins.
    """

    line: bytes = b""
    text: bytes | None = None
    start: int = 0


def revise(world: World, file: Place, log: Place, decide: Callable[[], Step | None]) -> Step | None:
    """Carry out the step that `decide` takes under the lock, whole or not at all; None is no step.

    The line comes first and is flushed, for it holds the whole text: a process killed before COMMIT
    leaves a line that the index does not know. What the index knows of is on disk, line and file.

    Raises:
        Unavailable: disk or database said no; nothing was saved.
        OutcomeUnknown: it failed and so did taking it back.
    """
    undo: list[Callable[[], None]] = []
    with reported(), world.vault.exclusive():
        step = decide()
        if step is None:
            return None
        staged = None if step.text is None else world.vault.stage(file, step.text)
        try:
            failpoints.hit("team.staged")
            with world.store.transaction() as tx:
                _revise(world, tx, log, step, staged, undo)
        except BaseException:
            take_back(undo)
            _drop([staged] if staged else [])
            raise
    if staged is not None:
        staged.settle()
    return step


def _revise(
    world: World,
    tx: StoreWrite,
    log: Place,
    step: Step,
    staged: Staged | None,
    undo: list[Callable[[], None]],
) -> None:
    start = step.start
    if step.line:
        appended = world.vault.append(log, step.line, flush=True)
        undo.append(appended.undo)
        start = appended.start
        failpoints.hit("team.logged")
    if staged is not None:
        undo.append(staged.undo)
        staged.publish()
        failpoints.hit("team.published")
    world.vault.sync([log.folder])
    tx.set_shard(REVISIONS, log.path, start)


def note_shown(world: World, reader: str, document: Place, rev: int) -> None:
    """Remember which revision of a document a reader was shown last; nothing is lost with it."""
    with world.store.transaction() as tx:
        tx.set_shard(reader, document.path, rev)


# -- offload sessions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Folding:
    """A change of an offload session that was at version `expected` (0: there was none).

    `refs` are the archived texts, written before anything else. `texts` are files replaced whole;
    `lines` go to the end of the `log`. `marked` tells the state of the session's files.
    """

    realm: Realm
    change: OffloadChange
    expected: int
    refs: tuple[tuple[Place, bytes], ...] = ()
    texts: tuple[tuple[Place, bytes], ...] = ()
    log: Place | None = None
    lines: bytes = b""
    job: Enqueue | None = None
    """What is to be done next with it."""


def fold(world: World, folding: Folding, marked: Callable[[], str]) -> OffloadHead:
    """Carry out a change of an offload session: refs, then the rest together or not at all.

    A ref that nothing leads to is left by a process killed between the two, and written over.

    Raises:
        Conflict: the session moved meanwhile; nothing was saved.
        Unavailable: disk or database said no; nothing but refs was saved.
        OutcomeUnknown: it failed and so did taking it back.
    """
    staged: list[Staged] = []
    undo: list[Callable[[], None]] = []
    with reported(), world.vault.exclusive():
        refuse_open(world, world.store, [folding.realm.owner])
        _refuse_moved(world, folding)
        _archive(world, folding.refs)
        try:
            for place, data in folding.texts:
                staged.append(world.vault.stage(place, data))
            failpoints.hit("offload.staged")
            with world.store.transaction() as tx:
                head = _fold(world, tx, folding, staged, undo, marked)
        except BaseException:
            take_back(undo)
            _drop(staged)
            raise
        failpoints.hit("offload.committed")
        for one in staged:
            one.settle()
        world.vault.sync([one.place.folder for one in staged])
    return head


def _refuse_moved(world: World, folding: Folding) -> None:
    head = folding.change.head
    held = world.store.offload_head(folding.realm, head.workspace, head.session)
    current = held.version if held else 0
    if current != folding.expected:
        raise Conflict(
            f"the session {head.session!r} moved meanwhile; not saved",
            base=folding.expected,
            current=current,
        )


def _archive(world: World, refs: Sequence[tuple[Place, bytes]]) -> None:
    """Archive texts, flushed to disk: whatever follows may count on them."""
    for place, data in refs:
        one = world.vault.stage(place, data)
        try:
            one.publish()
        except BaseException:
            take_back([one.undo])
            raise
        one.settle()
    if refs:
        world.vault.sync([place.folder for place, _ in refs])
    failpoints.hit("offload.archived")


def _fold(
    world: World,
    tx: StoreWrite,
    folding: Folding,
    staged: Sequence[Staged],
    undo: list[Callable[[], None]],
    marked: Callable[[], str],
) -> OffloadHead:
    if folding.log is not None and folding.lines:
        undo.append(world.vault.append(folding.log, folding.lines, flush=True).undo)
    for one in staged:
        undo.append(one.undo)
        one.publish()
    failpoints.hit("offload.published")
    head = replace(folding.change.head, version=folding.expected + 1, marks=marked())
    tx.put_offload(folding.realm, replace(folding.change, head=head))
    if folding.job is not None:
        _rows(world, tx, folding.job)
    return head


def forget_offload(world: World, realm: Realm, head: OffloadHead, places: Sequence[Place]) -> None:
    """Forget an offload session and remove its files.

    Raises:
        Unavailable: disk or database said no; what is left is removed the next time.
    """
    with world.vault.exclusive():
        for place in places:
            world.vault.remove(place)
        with world.store.transaction() as tx:
            tx.drop_offload(realm, head.workspace, head.session)
    world.vault.sync(sorted({place.folder for place in places}))


def remove_folders(world: World, places: Iterable[Place]) -> bool:
    """Remove those of some folders in which nothing is, in their order; whether the last one went.

    Raises:
        Unavailable: the disk said no.
    """
    with world.vault.exclusive():
        return [world.vault.remove_folder(place) for place in places][-1:] == [True]


# -- files that are no memory ---------------------------------------------------------------------


def edit_text(world: World, place: Place, edit: Callable[[bytes | None], bytes | None]) -> bool:
    """Replace a text file by what `edit` makes of its bytes (None: not there), under the lock.

    `edit` returns None or the same bytes to leave it alone. True when the file changed.
    """
    with world.vault.exclusive():
        changed = _replace(world, place, edit)
    if changed:
        world.vault.sync([place.folder])
    return changed


def remove_text(world: World, place: Place) -> None:
    """Remove a text file that no row stands for; nothing happens where there is none.

    Raises:
        Unavailable: the disk said no.
    """
    with world.vault.exclusive():
        world.vault.remove(place)


def _replace(world: World, place: Place, edit: Callable[[bytes | None], bytes | None]) -> bool:
    held = _held(world, place)
    new = edit(held)
    if new is None or new == held:
        return False
    staged = world.vault.stage(place, new)
    try:
        staged.publish()
    except BaseException:
        take_back([staged.undo])
        raise
    staged.settle()
    return True


def _held(world: World, place: Place) -> bytes | None:
    try:
        return world.vault.read(place)[0]
    except NotFound:
        return None


def write_index(world: World, key: Key, target: Target) -> bool:
    """Bring a folder's MEMORY.md up to date; True when it differed.

    Cheap when nothing was written since, the day is the same (nothing expired) and the file is as
    we left it.
    """
    folder = layout.memory_folder(key, target.root)
    place = folder.within(layout.INDEX)
    name = str(folder)
    known = world.store.shards(INDEX_LOG).get(name, STALE)
    if known != STALE and known == _mark(world, place):
        return False
    if world.vault.scan(folder) is None:
        return False  # a folder that vanished must not come back with nothing but this in it
    with world.vault.exclusive():
        changed = _replace(world, place, lambda held: index_text(world, key) or (held and b""))
        # Under the same lock: a memory written in between would be taken for one that stands in it.
        with world.store.transaction() as tx:
            tx.set_shard(INDEX_LOG, name, _mark(world, place))
    if changed:
        world.vault.sync([folder])
    return changed


def _mark(world: World, place: Place) -> int:
    """The day and the state of MEMORY.md in one number, never `STALE`."""
    day = world.moment().today.isoformat()
    return 1 + zlib.crc32(f"{day} {world.vault.stat(place)}".encode())


def index_text(world: World, key: Key) -> bytes:
    """What MEMORY.md of `key` has to say now."""
    rows: list[Stored] = []
    after = ""
    listing = Listing(statuses=("active",))
    while page := world.store.memories((key,), listing, world.moment(), after=after):
        rows += page
        after = page[-1].memory.id
    return markdown.index([(row.place.name, row.memory) for row in rows]).encode()
