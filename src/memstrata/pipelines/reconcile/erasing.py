"""Forgetting carried out: rows in one transaction, then files, then what is slow. Begun, it is only ever finished.

The tombstones are on disk before the first word goes (`bury`), so a process killed anywhere is carried
on by the next reconcile, which decides by them alone (`finish`). Whoever writes meanwhile finds that
something is open and reconciles first. Where nothing but the tombstones was written they are taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from memstrata import failpoints
from memstrata.domain import conversation, layout, markdown, passages, records, tombstones
from memstrata.domain.layout import Place
from memstrata.domain.memory import EPOCH, Memory
from memstrata.domain.plan import OFFLOAD, REDO, Put, redo_key
from memstrata.domain.scope import Key, Realm
from memstrata.domain.tombstones import Stone, Tombstones
from memstrata.errors import Corrupt, Invalid, NotFound, OutcomeUnknown, Unavailable
from memstrata.pipelines import apply, bind, graves, sessions, swap
from memstrata.pipelines.apply import Target
from memstrata.pipelines.reconcile import (
    files,
    forgotten,
    holdings,
    lines,
    messages,
    shards,
)
from memstrata.pipelines.reconcile.forgotten import (
    FORGET,
    LESS,
    RELINKED,
    Erasure,
    Kept,
    Part,
)
from memstrata.pipelines.reconcile.holdings import HOLDINGS, LOGS, Becomes
from memstrata.pipelines.sight import message_id, session_and_id, shelf_of
from memstrata.pipelines.world import Report, World
from memstrata.ports import RecordLine, Shelf, Staged, Stored, StoreWrite

WHO: Final = "person"
RETURNING: Final = tuple(one for one in HOLDINGS if one.returns)


@dataclass(frozen=True, slots=True)
class Left:
    """A file that could not be removed or written, and why; reconcile tries again."""

    path: str
    problem: str


@dataclass(frozen=True, slots=True)
class Carried:
    """What an erasure came to: files that are there still, and whether any file changed."""

    left: tuple[Left, ...] = ()
    changed: bool = False


@dataclass(slots=True)
class _Work:
    """What is on its way: files staged under their places, and what came of it."""

    staged: list[Staged] = field(default_factory=list)
    emptied: list[Place] = field(default_factory=list)
    undo: list[Callable[[], None]] = field(default_factory=list)

    def become(self, world: World, place: Place, data: bytes | None) -> None:
        """Stage what a file is to say; None: it is to go."""
        if data is None:
            self.emptied.append(place)
        else:
            self.staged.append(world.vault.stage(place, data))

    left: list[Left] = field(default_factory=list)


# -- the intent -----------------------------------------------------------------------------------


def bury(world: World, realm: Realm, stone: Stone, erasure: Erasure) -> Carried:
    """Write down what is forgotten, then let it go. The caller holds the lock.

    Raises:
        Unavailable: disk or database said no; nothing was forgotten.
        OutcomeUnknown: it was begun and not finished; the next reconcile goes on.
    """
    place = tombstones.log(realm.owner)
    secret = world.vault.secret(tombstones.SECRET)
    with apply.reported():
        appended = world.vault.append(place, tombstones.encode(stone, secret), flush=True)
        try:
            world.vault.sync([place.folder])
            failpoints.hit("forget.buried")
        except BaseException:
            apply.take_back([appended.undo])
            raise
    return erase(world, erasure, graves.of(world, realm.owner), appended.undo)


def erase(
    world: World,
    erasure: Erasure,
    stones: Tombstones,
    undo: Callable[[], None] | None = None,
) -> Carried:
    """Rows, then files; what is left is told. The caller holds the lock.

    Raises:
        Unavailable: disk or database said no; with an `undo` nothing was forgotten.
        OutcomeUnknown: it was begun and not finished; the next reconcile goes on.
    """
    work = _Work()
    try:
        with apply.reported():
            _rows(world, erasure, stones, work)
    except BaseException:
        _discard(work.staged)
        apply.take_back([*([undo] if undo is not None else []), *work.undo])
        raise
    try:
        with begun():
            failpoints.hit("forget.committed")
            _files(world, erasure, work)
            failpoints.hit("forget.files")
            _mark(world, erasure.realm.owner, graves.CARRIED)
    finally:
        _discard(work.staged)
    return Carried(tuple(work.left), bool(work.staged or work.emptied))


@contextmanager
def begun() -> Iterator[None]:
    """Behind the commit there is no way back: what fails is finished by the next reconcile.

    Raises:
        OutcomeUnknown: the disk or the database said no.
    """
    try:
        yield
    except (OSError, Unavailable) as error:
        raise OutcomeUnknown(
            f"it was begun and could not be finished ({error}); the next start goes on with it"
        ) from error


def _discard(staged: Iterable[Staged]) -> None:
    for one in staged:
        with suppress(OSError):
            one.discard()


def _mark(world: World, owner: str, stage: str, size: int | None = None) -> None:
    with world.store.transaction() as tx:
        reached = graves.size(world, owner) if size is None else size
        tx.set_shard(stage, tombstones.log(owner).path, reached)


# -- rows -----------------------------------------------------------------------------------------


def _rows(world: World, erasure: Erasure, stones: Tombstones, work: _Work) -> None:
    realm = erasure.realm
    with world.store.transaction() as tx:
        written = [_row(world, one, work) for one in erasure.kept]
        rows = [gone.row for gone in erasure.gone if gone.row is not None]
        for row in rows:
            tx.drop(row.memory.key, row.memory.id)
            _stale(tx, row)
        apply.queue_scenes(world, tx, written, rows, soon=True)
        for row in written:
            tx.put(row)
            _stale(tx, row)
        tx.drop_messages(realm, [(one.session, one.id) for one in erasure.messages])
        tx.hush_jobs(realm, erasure.sessions)
        tx.drop_verdicts(realm, erasure.verdicts)
        for whose, numbers in erasure.reads:
            tx.drop_reads(whose, numbers)
        for whose, keys in erasure.answers:
            tx.drop_answers(whose, keys)
        for head in sessions.forgotten(world, realm, stones):
            tx.drop_offload(realm, head.workspace, head.session)
            tx.drop_jobs(realm, OFFLOAD, head.folder)
        for cursor in erasure.cursors:
            if tx.messages(realm, cursor.session, limit=1):
                tx.set_cursor(realm, cursor)
        for batch, session in erasure.redo:
            tx.enqueue(realm, REDO, redo_key(batch, session), world.clock.now())
        _records(world, tx, erasure, written)
        failpoints.hit("forget.rows")
        for owner in world.owners():
            _shards(world, tx, owner, erasure, stones, work)
        # A log that merely grew is no reason to touch what cannot be told from what is new.
        every = work.staged or work.emptied or graves.is_open(world, tx, realm.owner)
        for holding in HOLDINGS if every else RETURNING:
            _become(world, tx, holding.become(world, realm, erasure, stones), work)
        failpoints.hit("forget.staged")


def _become(world: World, tx: StoreWrite, found: Becomes, work: _Work) -> None:
    for place, data in found.files.items():
        work.become(world, place, data)
    for place, mark in found.marks.items():
        tx.set_shard(swap.TEXTS, place.path, mark)


def _stale(tx: StoreWrite, row: Stored) -> None:
    tx.set_shard(apply.INDEX_LOG, str(row.place.folder), apply.STALE)


def _row(world: World, one: Kept, work: _Work) -> Stored:
    """The row of a memory that stays, its file staged where there is one."""
    target = target_of(world, one.row)
    data = apply.rendered(one.after, target)
    row = replace(one.row, memory=one.after, digest=markdown.digest(data))
    if row.presence == "absent" or not bind.is_there(world, target.root):
        return row
    staged = world.vault.stage(row.place, data)
    work.staged.append(staged)
    return replace(row, stat=staged.stat)


def target_of(world: World, row: Stored) -> Target:
    """Where the file of a row lies, also in a workspace that is not bound any more."""
    try:
        return bind.target(world, row.memory.key, row.owner)
    except NotFound:
        return Target(row.place.root, row.owner, row.memory.key.ref)


def _records(world: World, tx: StoreWrite, erasure: Erasure, written: Sequence[Stored]) -> None:
    """The record lines in the index: some erased, some saying less, and one for each new version."""
    dropped = [at for at, line in erasure.lines.items() if line is None]
    tx.drop_records(world.space, dropped)
    for line in erasure.lines.values():
        if line is not None:
            tx.replace_record(world.space, line)
    why = {(one.after.key, one.after.id): LESS if one.is_less else RELINKED for one in erasure.kept}
    for owner in sorted({row.owner for row in written}):
        mine = [row for row in written if row.owner == owner]
        now, tx_id = world.clock.now(), world.clock.new_id("tx_")
        made = [
            records.of_put(
                Put(row.memory, FORGET, WHO, why[row.memory.key, row.memory.id]),
                owner=owner,
                digest=row.digest,
                path=row.place.path,
            )
            for row in mine
        ]
        rows = [
            RecordLine(owner, one.kind, one.id, one.version, tx_id, n, len(made), now, one.data)
            for n, one in enumerate(made, start=1)
        ]
        tx.add_records(world.space, [row.memory.key for row in mine], rows)


# -- logs -----------------------------------------------------------------------------------------


def _shards(
    world: World,
    tx: StoreWrite,
    owner: str,
    erasure: Erasure,
    stones: Tombstones,
    work: _Work,
) -> None:
    """An owner's logs without what is forgotten, staged; the rest byte for byte as it was."""
    if owner == erasure.realm.owner:
        _conversations(world, tx, erasure.realm, stones, work)
    known = {(one.tx, one.part): one for one in tx.record_lines(world.space, owner)}
    rewrites = {
        place: _Rewrite.of(world, tx, "records", place)
        for place in _places(world, owner, "records")
    }
    seen: set[Part] = set()
    for one in rewrites.values():
        whole = _forgotten_groups(world, owner, one.raw, known, erasure, stones)
        one.keep(partial(_recorded, owner, known=known, whole=whole, seen=seen))
        read = shards.readable(one.stray, one.place, lines.decoder(owner), Report())
        stray: list[RecordLine] = [line for line in read if _at(line) not in known]
        tx.add_records(world.space, [lines.key_of(world, line) for line in stray], stray)
    for at, line in known.items():
        if at not in seen:
            place = layout.shard(owner, "records", line.at, world.zone)
            if place not in rewrites:
                rewrites[place] = _Rewrite.of(world, tx, "records", place)
            rewrites[place].add(lines.encoded(line))
            if not _is_fresh(line):  # a power cut took it, and the file perhaps
                lines.write_lost_file(world, tx, line, Report(), work.undo)
    for one in rewrites.values():
        one.stage(world, tx, work)


def _conversations(
    world: World, tx: StoreWrite, realm: Realm, stones: Tombstones, work: _Work
) -> None:
    rewrites: dict[Place, _Rewrite] = {}
    seen: set[tuple[str, str]] = set()
    for place in _places(world, realm.owner, "conversations"):
        one = rewrites[place] = _Rewrite.of(world, tx, "conversations", place)
        one.keep(partial(_said, realm=realm, stones=stones, seen=seen))
        tx.add_messages(
            realm, list(shards.readable(one.stray, place, conversation.decode, Report()))
        )
    for message in messages.every(tx, realm):
        if (message.session, message.id) not in seen:
            place = layout.shard(realm.owner, "conversations", message.recorded_at, world.zone)
            if place not in rewrites:
                rewrites[place] = _Rewrite.of(world, tx, "conversations", place)
            rewrites[place].add(conversation.encode(message))
    for one in rewrites.values():
        one.stage(world, tx, work)


def _at(line: RecordLine) -> Part:
    return line.tx, line.part


def _is_fresh(line: RecordLine) -> bool:
    return line.data.get("verb") == "forget"


def _places(world: World, owner: str, log: str) -> list[Place]:
    folder = layout.log_folder(owner, log)
    names = world.vault.scan(folder) or {}
    return [folder.within(name) for name in names if name.endswith(".jsonl")]


def _said(
    raw: bytes, *, realm: Realm, stones: Tombstones, seen: set[tuple[str, str]]
) -> bytes | None:
    try:
        one = conversation.decode(raw)
    except Invalid:
        return raw
    seen.add((one.session, one.id))
    return None if stones.has_message(realm, one.session, one.id) else raw


def _recorded(
    owner: str,
    raw: bytes,
    *,
    known: Mapping[Part, RecordLine],
    whole: Mapping[Part, RecordLine | None],
    seen: set[Part],
) -> bytes | None:
    """A record line as it is to stand: as it is, unless the index or the tombstones say otherwise."""
    try:
        line = lines.decoder(owner)(raw)
    except (Invalid, RecursionError):
        return raw
    at = line.tx, line.part
    seen.add(at)
    row = known[at] if at in known else whole.get(at, line)
    if row is None:
        return None
    same = (row.kind, row.id, row.version, row.data) == (
        line.kind,
        line.id,
        line.version,
        line.data,
    )
    return raw if same else lines.encoded(row)[:-1]


def _forgotten_groups(
    world: World,
    owner: str,
    raw: Sequence[tuple[int, bytes]],
    known: Mapping[Part, RecordLine],
    erasure: Erasure,
    stones: Tombstones,
) -> dict[Part, RecordLine | None]:
    """What becomes of the lines that the index does not know: those of the forgotten go."""
    groups: dict[str, list[tuple[RecordLine, bool]]] = {}
    realm = Realm(world.space, owner)
    for _, one in raw:
        try:
            line = lines.decoder(owner)(one)
        except (Invalid, RecursionError):
            continue
        if (line.tx, line.part) not in known:
            gone = (line.tx, line.part) in erasure.lines or forgotten.is_forgotten(
                world, line, realm, stones
            )
            groups.setdefault(line.tx, []).append((line, gone))
    found: dict[Part, RecordLine | None] = {}
    for group in groups.values():
        all_gone = all(gone for _, gone in group)
        for line, gone in group:
            if gone:
                found[line.tx, line.part] = None if all_gone else forgotten.erased(line)
    return found


@dataclass(slots=True)
class _Rewrite:
    """A shard on its way to what it says from here on.

    `indexed` counts its bytes that the index knows; what stands behind them is indexed when the logs are
    looked at. In a shard that is not as the index knows it, `stray` are the lines before that: they may
    be news.
    """

    log: str
    place: Place
    raw: list[tuple[int, bytes]]
    size: int
    known: int
    indexed: int = 0
    new: list[bytes] = field(default_factory=list)
    stray: list[tuple[int, bytes]] = field(default_factory=list)

    @classmethod
    def of(cls, world: World, tx: StoreWrite, log: str, place: Place) -> _Rewrite:
        stat = world.vault.stat(place)
        if stat is not None:
            world.vault.append(place, b"")  # cuts a torn tail
        raw = list(world.vault.lines(place)) if stat is not None else []
        size = raw[-1][0] if raw else 0
        return cls(log, place, raw, size, tx.shards(log).get(place.path, 0))

    def keep(self, decide: Callable[[bytes], bytes | None]) -> None:
        """Let each line stand as `decide` says, None for not at all."""
        for end, raw in self.raw:
            line = decide(raw)
            if line is None:
                continue
            self.new.append(line + b"\n")
            if end <= self.known:
                self.indexed += len(line) + 1
                if self.size != self.known:
                    self.stray.append((end, line))

    def add(self, more: bytes) -> None:
        """Append lines that the index knows already."""
        self.new.append(more)
        self.indexed += len(more) if self.size <= self.known else 0

    def stage(self, world: World, tx: StoreWrite, work: _Work) -> None:
        """Stage what the shard is to say, if that is anything else."""
        data = b"".join(self.new)
        if data == b"".join(line + b"\n" for _, line in self.raw):
            return
        tx.set_shard(self.log, self.place.path, self.indexed)
        work.become(world, self.place, data or None)


# -- files ----------------------------------------------------------------------------------------


def _files(world: World, erasure: Erasure, work: _Work) -> None:
    """The staged ones in place, the others gone; folders flushed."""
    folders: set[Place] = set()
    for staged in work.staged:
        staged.publish()
        staged.settle()
        folders.add(staged.place.folder)
    failpoints.hit("forget.published")
    rows = [one.row for one in erasure.gone if one.row is not None]
    there = [row.place for row in rows if bind.is_there(world, row.place.root)]
    for place in (*there, *work.emptied):
        _remove(world, place, work)
        folders.add(place.folder)
    for folder in dict.fromkeys(holdings.folders(world, erasure.realm)):
        world.vault.sweep(folder)
    world.vault.sync(sorted(folders))
    for folder in sessions.emptied(erasure.realm.owner, work.emptied):
        world.vault.remove_folder(folder)  # it is called as the session was


def _remove(world: World, place: Place, work: _Work) -> None:
    try:
        world.vault.remove(place)
    except (Unavailable, Invalid) as error:
        work.left.append(Left(str(place), error.message))
        world.bus.emit("file.blocked", degraded=True, id=place.name, path=str(place))


# -- what is slow, and can be done again -----------------------------------------------------------


def scrub(world: World, realm: Realm) -> list[str]:
    """Vectors of texts that are gone, the text index's old segments, the database's log; why some stay.

    Raises:
        Unavailable: the database said no.
    """
    size = graves.size(world, realm.owner)
    problems = [*_scrub_vectors(world, realm)]
    failpoints.hit("forget.vectors")
    if not world.store.scrub():
        problems.append("another process reads the database; its log goes when that ends")
    failpoints.hit("forget.scrubbed")
    if not problems:
        _mark(world, realm.owner, graves.SCRUBBED, size)
    return problems


def _scrub_vectors(world: World, realm: Realm) -> Iterator[str]:
    if world.vectors is None or world.vault.stat(layout.VECTORS) is None:
        return
    try:
        for shelf, ids in orphans(world, realm).items():
            apply.drop_vectors(world.vectors, shelf, sorted(ids))
    except (Unavailable, Corrupt) as error:
        world.bus.emit("vectors.unavailable", degraded=True, problem=error.code)
        yield error.message


def orphans(world: World, realm: Realm, erasure: Erasure | None = None) -> dict[Shelf, set[str]]:
    """By shelf: the ids of vectors whose text is not stored, or (with an `erasure`) will not be.

    Raises:
        Unavailable: the vectors' file says no.
        Corrupt: it cannot be read.
    """
    found: dict[Shelf, set[str]] = {}
    if world.vectors is None or world.vault.stat(layout.VECTORS) is None:
        return found
    going = erasure or Erasure(realm)
    said = {message_id(one.session, one.id) for one in going.messages}
    for shelf, _, _ in world.store.shelves(world.space):
        if shelf.realm == realm:
            held = list(world.vectors.held(shelf))
            rows = world.store.message_rows(realm, [session_and_id(id) for id in held])
            found[shelf] = {id for id in held if id in said or session_and_id(id) not in rows}
    for key in world.store.keys(world.space):
        if key.realm == realm or key.scope == "project":
            texts = _texts(world, key, going)
            vectors = world.vectors.held(shelf_of(key))
            found[shelf_of(key)] = {id for id, digest in vectors.items() if texts.get(id) != digest}
    return {shelf: ids for shelf, ids in found.items() if ids}


def _texts(world: World, key: Key, erasure: Erasure) -> dict[str, bytes]:
    """The hash of the text of each memory of a key, as it is once the erasure is done."""
    found = {id: row.memory for id, row in files.rows_of(world, key).items()}
    found |= {one.after.id: one.after for one in erasure.kept if one.after.key == key}
    gone = {one.id for one in erasure.gone if one.key == key}
    return {id: _digest(one) for id, one in found.items() if id not in gone}


def _digest(one: Memory) -> bytes:
    return passages.digest(passages.passage_of_memory(one.name, one.description, one.body))


# -- after a kill -----------------------------------------------------------------------------------


def finish(world: World, owner: str, report: Report) -> None:
    """Go on with what was begun, and take out what was put back by hand.

    Raises:
        Unavailable: disk or database said no; it stays open.
    """
    if not graves.size(world, owner):
        return
    realm = Realm(world.space, owner)
    with world.vault.exclusive():
        begun = graves.is_open(world, world.store, owner)
        stones = graves.every(world)
        if not (begun or _moved(world, owner) or _returned(world, realm, stones)):
            return
        erasure = forgotten.gather(world, realm, stones)
        stone = stone_of(world, realm, stones, erasure)
        done = (
            erase(world, erasure, stones) if stone is None else bury(world, realm, stone, erasure)
        )
        # A new index asks for it too, though all was carried out.
        if done.changed or stone is not None or (begun and not apply.rebuilding(world.store)):
            report.actions.append(f"carried out what {owner} had forgotten")
            _mark(world, owner, graves.SCRUBBED, 0)


def scrub_left(world: World, owner: str, report: Report, *, fresh: bool) -> None:
    """What is slow of it, where that was broken off; a `fresh` index asks for it in any case."""
    if graves.is_open(world, world.store, owner, graves.SCRUBBED):
        problems = scrub(world, Realm(world.space, owner))
        if not (problems or fresh):
            report.actions.append(f"took out the last traces of what {owner} had forgotten")


def _returned(world: World, realm: Realm, stones: Tombstones) -> bool:
    """Whether a file was put back that tells of what is forgotten."""
    none = Erasure(realm)
    return any(one.become(world, realm, none, stones).files for one in RETURNING)


def _moved(world: World, owner: str) -> bool:
    """Whether a log is not as the index knows it: a line of a killed process, or a file that was put back."""
    known = {log: world.store.shards(log) for log in LOGS}
    return any(
        (stat := world.vault.stat(place)) is not None and stat.size != known[log].get(place.path, 0)
        for log in LOGS
        for place in _places(world, owner, log)
    )


def stone_of(world: World, realm: Realm, stones: Tombstones, erasure: Erasure) -> Stone | None:
    """What `erasure` names and no tombstone does yet; None for nothing."""
    secret = stones.secret
    made = [one.row.memory.created_at for one in erasure.gone if one.row is not None]
    new = Stone(
        at=max((world.clock.now(), *made)),  # a clock may have been set back
        messages=frozenset(
            tombstones.message(secret, realm, one.session, one.id) for one in erasure.messages
        )
        - stones.messages,
        contents=frozenset(tombstones.content(secret, realm, one) for one in erasure.messages)
        - stones.contents,
        memories=frozenset(
            tombstones.memory(secret, one.key, one.id)
            for one in erasure.gone
            if not stones.has_memory(
                one.key, one.id, one.row.memory.created_at if one.row else EPOCH
            )
        ),
        files=frozenset(
            tombstones.file(secret, one.key, digest)
            for one in erasure.gone
            for digest in one.digests
        )
        - stones.files,
    )
    return new if new.messages or new.contents or new.memories or new.files else None
