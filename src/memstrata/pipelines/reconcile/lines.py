"""The record lines: whole groups that a killed process left are carried out, lost lines written again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from memstrata.domain import checks, elevation, layout, markdown, times
from memstrata.domain.layout import Place
from memstrata.domain.records import BATCH, CANDIDATE, DELETE, MEMORY, PROPOSE
from memstrata.domain.scope import Key, Realm, parse_scope
from memstrata.errors import Invalid, NotFound
from memstrata.pipelines import apply, bind, pending
from memstrata.pipelines.reconcile import shards
from memstrata.pipelines.recorded import recorded as recorded
from memstrata.pipelines.world import Problem, Report, World
from memstrata.ports import RecordLine, Stored, StoreWrite


def records_of(world: World, owner: str, report: Report, progress: shards.Progress | None) -> None:
    for place, size, known in shards.shards(world, owner, "records"):
        if size > known:
            _index_records(world, owner, place, report)
            if progress is not None:
                progress("records", size, size)
        elif size < known:
            _append_records(world, owner, place, report)


def _index_records(world: World, owner: str, place: Place, report: Report) -> None:
    """Index the whole groups that have no rows, each with all that it brought about.

    While the index is not whole nothing tells a group that was interrupted from one that was not:
    then they are taken for done, and the files rule.
    """
    undo: list[Callable[[], None]] = []
    last: dict[str, str] = {}
    with world.vault.exclusive():
        try:
            with world.store.transaction() as tx:
                world.vault.append(place, b"")  # cuts a torn tail
                start = tx.shards("records").get(place.path, 0)
                chunk = list(world.vault.lines(place, start))
                lines = list(shards.readable(chunk, place, decoder(owner), report))
                for group in _whole_groups(lines):
                    if not apply.rebuilding(tx):
                        _carry_out(world, tx, group, report, undo)
                    tx.add_records(world.space, [key_of(world, line) for line in group], group)
                    last |= {
                        one.id: str(one.data.get("last"))
                        for one in group
                        if one.kind == BATCH and not one.data.get("redo")
                    }
                for session, message in last.items():
                    _restore_cursor(tx, Realm(world.space, owner), session, message, report)
                if chunk:
                    tx.set_shard("records", place.path, chunk[-1][0])
        except BaseException:
            apply.take_back(undo)
            raise


def decoder(owner: str) -> Callable[[bytes], RecordLine]:
    def decode(line: bytes) -> RecordLine:
        try:
            raw = json.loads(line)
            known = {"kind", "id", "version", "tx", "part", "parts", "at"}
            found = RecordLine(
                owner=owner,
                kind=str(raw["kind"]),
                id=str(raw["id"]),
                version=int(raw["version"]),
                tx=str(raw["tx"]),
                part=int(raw["part"]),
                parts=int(raw["parts"]),
                at=cast("datetime", times.instant("at", raw["at"])),
                data={name: value for name, value in raw.items() if name not in known},
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Invalid("line", f"is no record line: {error}") from error
        if found.kind in (MEMORY, DELETE):
            _check_memory(found)
        return found

    return decode


def _check_memory(line: RecordLine) -> None:
    """A memory's line says where it belongs and what it is; what it is in detail is checked on use."""
    key, fields = line.data.get("key"), line.data.get("memory")
    whole = line.kind == DELETE or isinstance(fields, Mapping)
    if not isinstance(key, Mapping) or not whole:
        raise Invalid("line", "is no memory's record: it has no key or no memory")
    checks.ref("id", line.id)
    parse_scope(key.get("scope"))
    for name, value in (("owner", key.get("owner")), ("ref", key.get("ref")), *_named(line)):
        checks.string(name, value)


def _named(line: RecordLine) -> list[tuple[str, object]]:
    return [(name, line.data.get(name)) for name in ("author", "digest", "path")]


def _whole_groups(lines: Sequence[RecordLine]) -> list[list[RecordLine]]:
    """The groups of which every part is there, in the order of their last line."""
    groups: dict[str, list[RecordLine]] = {}
    for line in lines:
        groups.setdefault(line.tx, []).append(line)
    return [
        group
        for group in groups.values()
        if {one.part for one in group} == set(range(1, group[0].parts + 1))
    ]


def key_of(world: World, line: RecordLine) -> Key | None:
    raw = line.data.get("key")
    if not isinstance(raw, Mapping):
        return None
    return Key(Realm(world.space, str(raw["owner"])), parse_scope(raw["scope"]), str(raw["ref"]))


def _carry_out(
    world: World,
    tx: StoreWrite,
    group: Sequence[RecordLine],
    report: Report,
    undo: list[Callable[[], None]],
) -> None:
    """Finish a write whose lines are there and whose rows are not, but for files that a person changed since."""
    for line in group:
        key = key_of(world, line)
        if line.kind not in (MEMORY, DELETE, CANDIDATE) or key is None:
            continue
        if any((one.tx, one.part) == (line.tx, line.part) for one in tx.records((key,), line.id)):
            continue
        if line.kind == CANDIDATE:
            _write_proposal(world, tx, line, key, undo, report)
            continue
        held = tx.memory((key,), line.id)
        if held is not None and held.memory.version > line.version:
            continue
        if line.kind == DELETE:
            _carry_out_deletion(world, tx, line, held, report)
            continue
        row = _written_again(world, line, key, held, {held.digest} if held else set(), undo, report)
        if row is not None:
            tx.put(row)
            tx.set_shard(apply.INDEX_LOG, str(row.place.folder), apply.STALE)
            apply.queue_scenes(world, tx, [row], soon=True)
            report.actions.append(
                f"carried out version {line.version} of {line.id}, which was interrupted"
            )


def _write_proposal(
    world: World,
    tx: StoreWrite,
    line: RecordLine,
    key: Key,
    undo: list[Callable[[], None]],
    report: Report,
) -> None:
    """Write the file of a candidate that was proposed, unless it is there or was decided on."""
    fields, id = line.data.get("fields"), str(line.data.get("candidate"))
    if line.data.get("verb") != PROPOSE or not isinstance(fields, Mapping):
        return
    if id in pending.decided(tx, key).settled:
        return
    try:
        candidate = elevation.from_fields(fields, id=id, now=line.at)
        place = layout.candidate_file(key, id)
    except Invalid as error:
        report.problems.append(Problem(str(line.data.get("path")), f"its record: {error}"))
        return
    if _bytes(world, place) is None:
        staged = world.vault.stage(place, elevation.render(candidate))
        undo.append(staged.undo)
        staged.publish()
        staged.settle()
        world.vault.sync([place.folder])
        report.actions.append(f"wrote the candidate {id} again")


def _carry_out_deletion(
    world: World, tx: StoreWrite, line: RecordLine, held: Stored | None, report: Report
) -> None:
    """Drop the row of a memory that was being deleted; its file goes when its folder is looked at."""
    now = None if held is None else _bytes(world, held.place)
    if held is None or (now is not None and markdown.digest(now) != line.data["digest"]):
        return
    tx.drop(held.memory.key, line.id)
    apply.queue_scenes(world, tx, (), [held])
    tx.set_shard(apply.INDEX_LOG, str(held.place.folder), apply.STALE)
    apply.drop_vector(world, held.memory.key, line.id)
    report.actions.append(f"carried out the deletion of {line.id}, which was interrupted")


def _written_again(
    world: World,
    line: RecordLine,
    key: Key,
    held: Stored | None,
    before: set[str],
    undo: list[Callable[[], None]],
    report: Report,
) -> Stored | None:
    """The row of a recorded version, its file written if it is missing or still one of `before`; else None."""
    try:
        target = bind.target(world, key, str(line.data["author"]))
        memory = recorded(world, line, key)
    except NotFound:
        return None
    except Invalid as error:
        report.problems.append(Problem(line.id, f"its record cannot be read: {error}"))
        return None
    digest = str(line.data["digest"])
    place = held.place if held else Place(target.root, str(line.data["path"]))
    if not bind.is_there(world, target.root):
        return Stored(memory, place, digest, target.owner)
    now = _bytes(world, place)
    # A version that left its file as it was (an end, a review) has the digest of the one before it.
    if now is None or markdown.digest(now) in before - {digest}:
        staged = world.vault.stage(place, apply.rendered(memory, target))
        undo.append(staged.undo)
        staged.publish()
        staged.settle()
        world.vault.sync([place.folder])
    elif markdown.digest(now) != digest:
        return None
    return Stored(memory, place, digest, target.owner, world.vault.stat(place))


def _bytes(world: World, place: Place) -> bytes | None:
    try:
        return world.vault.read(place)[0]
    except NotFound:
        return None


def _append_records(world: World, owner: str, place: Place, report: Report) -> None:
    """A shard is shorter than the index knows: append the lines that it lacks.

    The power cut that took them may have taken the renames too, or the database alone outlived a
    write that was taken back: either way the rows stand, so their files are written again.
    """
    undo: list[Callable[[], None]] = []
    with world.vault.exclusive():
        try:
            with world.store.transaction() as tx:
                if not shards.is_short(world, tx, "records", place):
                    return
                lines = shards.lines_if_there(world, place)
                there = {
                    (line.tx, line.part)
                    for line in shards.readable(lines, place, decoder(owner), report)
                }
                missing = [
                    line
                    for line in tx.record_lines(world.space, owner)
                    if (line.tx, line.part) not in there
                    and layout.shard(owner, "records", line.at, world.zone) == place
                ]
                end = shards.append_again(world, place, b"".join(map(encoded, missing)))
                tx.set_shard("records", place.path, end)
                for line in missing:
                    write_lost_file(world, tx, line, report, undo)
        except BaseException:
            apply.take_back(undo)
            raise
    report.actions.append(f"appended {len(missing)} record lines to {place} again")


def write_lost_file(
    world: World,
    tx: StoreWrite,
    line: RecordLine,
    report: Report,
    undo: list[Callable[[], None]],
) -> None:
    """Write the file of a row again if what stands there is older, or nothing."""
    key = key_of(world, line)
    if key is not None and line.kind == CANDIDATE:
        _write_proposal(world, tx, line, key, undo, report)
        return
    held = tx.memory((key,), line.id) if key and line.kind == MEMORY else None
    if key is None or held is None or held.presence != "live":
        return
    if (held.memory.version, held.digest) != (line.version, line.data["digest"]):
        return
    now = _bytes(world, held.place)
    earlier = {str(one.data.get("digest")) for one in tx.records((key,), line.id)} - {held.digest}
    if now is not None and markdown.digest(now) not in earlier:
        return
    row = _written_again(world, line, key, held, earlier, undo, report)
    if row is not None:
        tx.put(row)
        report.actions.append(f"wrote version {line.version} of {line.id} again")


def encoded(line: RecordLine) -> bytes:
    head = {"kind": line.kind, "id": line.id, "version": line.version, "tx": line.tx}
    tail = {"part": line.part, "parts": line.parts, "at": times.stamp(line.at), **line.data}
    return json.dumps(head | tail, ensure_ascii=False).encode() + b"\n"


def _restore_cursor(tx: StoreWrite, realm: Realm, session: str, last: str, report: Report) -> None:
    """Move a session's cursor to the last message that a recorded batch covered."""
    cursor, after, found = tx.cursor(realm, session), 0, 0
    while page := tx.messages(realm, session, after=after):
        after = page[-1].position
        found = max([found, *(one.position for one in page if one.message.id == last)])
    if found > cursor.position:
        tx.set_cursor(realm, replace(cursor, position=found, last=last))
        report.actions.append(f"session {session} is extracted up to {last}")
