"""Files and index brought together: at start, after a lost race, by `reindex`. The files rule.

Logs first (what a killed process left without rows is carried out to the end; what a power cut took
is written again), then the memory folders, then MEMORY.md and the jobs. Run twice, the second run
finds nothing to do. No memory file is ever rewritten because a person changed it.

Others may write meanwhile: whatever is decided on is read, or looked at again, under the write lock.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

from memstrata.domain import checks, codec, conversation, layout, markdown, records, times
from memstrata.domain.layout import HOME, Place
from memstrata.domain.memory import Evidence, Memory, normalised_name
from memstrata.domain.plan import EXTRACT, Put
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm, parse_scope
from memstrata.domain.turn import Message
from memstrata.errors import Conflict, Corrupt, Invalid, NotFound, Unavailable
from memstrata.pipelines import apply, bind
from memstrata.pipelines.apply import Target
from memstrata.pipelines.world import Problem, Report, World
from memstrata.ports import FileStat, Listing, RecordLine, Stored, StoreWrite

ABSENT_FOR: Final = timedelta(days=30)
"""How long a memory whose file vanished is kept."""

GUARD_FROM: Final = 4
"""From so many memories on, more than half of a folder gone at once is taken for an accident."""

_CHUNK: Final = 2_000
_EVERY: Final = ("live", "stale", "absent")
BATCH: Final = "batch"
MEMORY: Final = "memory"
"""Kinds of record lines."""
_TAKEN: Final = "its name"
"""How the problem of a file begins whose name another memory has: it may go without the file changing."""

Progress = Callable[[str, int, int], None]
"""Called with (what, done, in all)."""


def reconcile(world: World, *, rebuild: bool = False, progress: Progress | None = None) -> Report:
    """Bring index and files together; `rebuild` makes the whole index anew from the files.

    Raises:
        Unavailable: disk or database said no; what was done so far stands.
    """
    report = Report()
    if rebuild:
        for owner in owners(world):
            _conversations(world, owner, report, progress)
            _records(world, owner, report, progress)
        apply.begin_rebuilding(world)
        report.actions.append("cleared the index")
    rebuilding = apply.rebuilding(world.store)
    for owner in owners(world):
        _sweep(world, owner, report)
        _conversations(world, owner, report, progress)
        _records(world, owner, report, progress)
    for key, target in folders(world, report):
        _folder(world, key, target, report, progress, fresh=bool(rebuilding))
        if apply.write_index(world, key, target):
            report.actions.append(f"wrote {layout.memory_folder(key, target.root)}/{layout.INDEX}")
    if rebuilding:
        _remember_away(world, report)
        apply.end_rebuilding(world, rebuilding)
    _jobs(world, report)
    _tell(world, report, rebuild)
    return report


def _tell(world: World, report: Report, rebuild: bool) -> None:
    if rebuild:
        world.bus.emit("index.rebuilt", problems=len(report.problems))
    elif report.actions:
        world.bus.emit("index.healed", actions=len(report.actions))
    for one in report.problems:
        world.bus.emit("file.unreadable", degraded=True, path=one.path, line=one.line)


def owners(world: World) -> tuple[str, ...]:
    """Every owner with a tree in this home, `local` first."""
    return (LOCAL_OWNER, *_valid_refs(world.vault.folders(Place(HOME, "owners"))))


def folders(world: World, report: Report) -> list[tuple[Key, Target]]:
    """Every memory folder: those on disk, those of bound workspaces, those the index knows.

    A workspace whose root is not there keeps its rows as they are.
    """
    found: dict[Key, Target] = {}
    for owner in owners(world):
        realm = Realm(world.space, owner)
        found[Key(realm, "user", "")] = Target(HOME, owner, "")
        agents = Place(HOME, f"{layout.owner_folder(owner)}memory/agent")
        for agent in _valid_refs(world.vault.folders(agents)):
            found[Key(realm, "agent", agent)] = Target(HOME, owner, agent)
    there, away = _bound(world, report)
    found |= there
    report.problems.extend(
        Problem(one.root, "the workspace is not there; its memories stay as they are")
        for one in away.values()
    )
    for key in world.store.keys(world.space):
        if key not in found and key.scope != "project":
            found[key] = Target(HOME, key.realm.owner, key.ref)
    return list(found.items())


def _bound(world: World, report: Report) -> tuple[dict[Key, Target], dict[Key, Target]]:
    """The bound workspaces whose root is there, and the others."""
    there: dict[Key, Target] = {}
    away: dict[Key, Target] = {}
    try:
        workspaces = bind.bound(world).values()
    except Corrupt as error:
        report.problems.append(Problem(error.path, error.problem))
        return there, away
    for one in workspaces:
        found = there if bind.is_there(world, one.root) else away
        found[Key(Realm(world.space, ""), "project", one.key)] = Target(
            one.root, LOCAL_OWNER, one.id
        )
    return there, away


def _valid_refs(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        try:
            found.append(checks.ref("name", name))
        except Invalid:
            continue
    return found


def _sweep(world: World, owner: str, report: Report) -> None:
    prefix = layout.owner_folder(owner)
    places = [Place(HOME, f"{prefix}memory/user"), Place(HOME, prefix.rstrip("/"))]
    agents = Place(HOME, f"{prefix}memory/agent")
    places += [agents.within(name) for name in world.vault.folders(agents)]
    swept = sum(world.vault.sweep(place) for place in places)
    if swept:
        report.actions.append(f"removed {swept} temporary files that a killed process left")


# -- conversation log -----------------------------------------------------------------------------


def _conversations(world: World, owner: str, report: Report, progress: Progress | None) -> None:
    realm = Realm(world.space, owner)
    for place, size, known in _shards(world, owner, "conversations"):
        if size > known:
            _index_messages(world, realm, place, report, progress)
        elif size < known:
            _append_messages(world, realm, place, report)


def _shards(world: World, owner: str, log: str) -> list[tuple[Place, int, int]]:
    """(place, bytes on disk, bytes indexed) of a log's shards, those that vanished included."""
    folder = layout.log_folder(owner, log)
    files = world.vault.scan(folder) or {}
    known = {
        path: size
        for path, size in world.store.shards(log).items()
        if Place(HOME, path).folder == folder
    }
    places = {folder.within(n): s.size for n, s in files.items() if n.endswith(".jsonl")}
    places |= {Place(HOME, path): 0 for path in known if Place(HOME, path) not in places}
    return [(place, size, known.get(place.path, 0)) for place, size in sorted(places.items())]


def _index_messages(
    world: World, realm: Realm, place: Place, report: Report, progress: Progress | None
) -> None:
    """Rows for the whole lines that have none, in chunks; a line that cannot be read is reported."""
    added, more = 0, True
    while more:
        with world.vault.exclusive(), world.store.transaction() as tx:
            size = world.vault.append(place, b"").end  # cuts a torn tail
            start = tx.shards("conversations").get(place.path, 0)
            chunk = _take(world.vault.lines(place, start), _CHUNK)
            messages = list(_readable(chunk, place, conversation.decode, report))
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
        if not _is_short(world, tx, "conversations", place):
            return
        lines = _lines_if_there(world, place)
        said = list(_readable(lines, place, conversation.decode, report))
        tx.add_messages(realm, said)
        there = {(one.session, one.id) for one in said}
        missing = [
            one
            for one in _messages(tx, realm)
            if (one.session, one.id) not in there
            and layout.shard(realm.owner, "conversations", one.recorded_at, world.zone) == place
        ]
        end = _append_again(world, place, b"".join(map(conversation.encode, missing)))
        tx.set_shard("conversations", place.path, end)
    report.actions.append(f"appended {len(missing)} messages to {place} again")


def _is_short(world: World, tx: StoreWrite, log: str, place: Place) -> bool:
    """Whether it still is, under the lock: another process may have been between file and row."""
    stat = world.vault.stat(place)
    return (stat.size if stat else 0) < tx.shards(log).get(place.path, 0)


def _lines_if_there(world: World, place: Place) -> list[tuple[int, bytes]]:
    try:
        return list(world.vault.lines(place))
    except NotFound:
        return []


def _messages(tx: StoreWrite, realm: Realm) -> Iterator[Message]:
    for session, _, _ in tx.sessions(realm):
        after = 0
        while page := tx.messages(realm, session, after=after):
            after = page[-1].position
            yield from (one.message for one in page)


def _append_again(world: World, place: Place, lines: bytes) -> int:
    if lines:
        return world.vault.append(place, lines).end
    stat = world.vault.stat(place)
    return stat.size if stat else 0


def _take(lines: Iterator[tuple[int, bytes]], most: int) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    for line in lines:
        found.append(line)
        if len(found) == most:
            break
    return found


def _readable(
    lines: Sequence[tuple[int, bytes]], place: Place, decode: Callable[[bytes], Any], report: Report
) -> Iterator[Any]:
    for end, line in lines:
        if not line.strip():
            continue
        try:
            yield decode(line)
        except (Invalid, RecursionError) as error:
            report.problems.append(Problem(str(place), f"at byte {end - len(line) - 1}: {error}"))


# -- records --------------------------------------------------------------------------------------


def _records(world: World, owner: str, report: Report, progress: Progress | None) -> None:
    for place, size, known in _shards(world, owner, "records"):
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
                lines = list(_readable(chunk, place, _decoder(owner), report))
                for group in _whole_groups(lines):
                    if not apply.rebuilding(tx):
                        _carry_out(world, tx, group, report, undo)
                    tx.add_records(world.space, [_key_of(world, line) for line in group], group)
                    last |= {
                        one.id: str(one.data.get("last")) for one in group if one.kind == BATCH
                    }
                for session, message in last.items():
                    _restore_cursor(tx, Realm(world.space, owner), session, message, report)
                if chunk:
                    tx.set_shard("records", place.path, chunk[-1][0])
        except BaseException:
            apply.take_back(undo)
            raise


def _decoder(owner: str) -> Callable[[bytes], RecordLine]:
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
        if found.kind == MEMORY:
            _check_memory(found)
        return found

    return decode


def _check_memory(line: RecordLine) -> None:
    """A memory's line says where it belongs and what it is; what it is in detail is checked on use."""
    key, fields = line.data.get("key"), line.data.get("memory")
    if not isinstance(key, Mapping) or not isinstance(fields, Mapping):
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


def _key_of(world: World, line: RecordLine) -> Key | None:
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
        key = _key_of(world, line)
        if line.kind != MEMORY or key is None:
            continue
        if any((one.tx, one.part) == (line.tx, line.part) for one in tx.records((key,), line.id)):
            continue
        held = tx.memory((key,), line.id)
        if held is not None and held.memory.version > line.version:
            continue
        row = _written_again(world, line, key, held, {held.digest} if held else set(), undo, report)
        if row is not None:
            tx.put(row)
            tx.set_shard(apply.INDEX_LOG, str(row.place.folder), apply.STALE)
            report.actions.append(
                f"carried out version {line.version} of {line.id}, which was interrupted"
            )


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
        memory = _recorded(world, line, key)
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
    if now is None or markdown.digest(now) in before:
        staged = world.vault.stage(place, apply.rendered(memory, target))
        undo.append(staged.undo)
        staged.publish()
        staged.settle()
        world.vault.sync([place.folder])
    elif markdown.digest(now) != digest:
        return None
    return Stored(memory, place, digest, target.owner, world.vault.stat(place))


def _recorded(world: World, line: RecordLine, key: Key) -> Memory:
    fields = cast("Mapping[str, object]", line.data["memory"])
    return codec.from_fields(fields, key, id=line.id, now=line.at, zone=world.zone)


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
                if not _is_short(world, tx, "records", place):
                    return
                lines = _lines_if_there(world, place)
                there = {
                    (line.tx, line.part)
                    for line in _readable(lines, place, _decoder(owner), report)
                }
                missing = [
                    line
                    for line in tx.record_lines(world.space, owner)
                    if (line.tx, line.part) not in there
                    and layout.shard(owner, "records", line.at, world.zone) == place
                ]
                end = _append_again(world, place, b"".join(map(_encoded, missing)))
                tx.set_shard("records", place.path, end)
                for line in missing:
                    _write_lost_file(world, tx, line, report, undo)
        except BaseException:
            apply.take_back(undo)
            raise
    report.actions.append(f"appended {len(missing)} record lines to {place} again")


def _write_lost_file(
    world: World,
    tx: StoreWrite,
    line: RecordLine,
    report: Report,
    undo: list[Callable[[], None]],
) -> None:
    """Write the file of a row again if what stands there is older, or nothing."""
    key = _key_of(world, line)
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


def _encoded(line: RecordLine) -> bytes:
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


# -- memory folders -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """What a file asks of the index: the new row, what it was before, and why (`""`: no new version)."""

    row: Stored
    before: Stored | None
    why: str = ""


def _folder(
    world: World,
    key: Key,
    target: Target,
    report: Report,
    progress: Progress | None,
    *,
    fresh: bool,
) -> None:
    """Take over what changed in one folder. While the index is not whole, records tell what was there."""
    folder = layout.memory_folder(key, target.root)
    if target.root:
        swept = world.vault.sweep(folder) + world.vault.sweep(folder.folder)
        if swept:
            report.actions.append(f"removed {swept} temporary files that a killed process left")
    files = world.vault.scan(folder)
    if not fresh and _unchanged(world, key, files):
        return
    rows = _rows(world, key)
    unborn = _unborn(world, key, target, rows, report) if fresh else {}
    rows |= unborn
    if _gone(rows, files, folder, report, fresh=fresh):
        found = [_Found(row, None) for row in unborn.values()]
    else:
        found = _changes(world, key, target, rows, files or {}, report, progress)
        found = [replace(o, before=None) if o.row.memory.id in unborn else o for o in found]
    try:
        for at in range(0, len(found), apply.MOST):
            _take_over(world, key, found[at : at + apply.MOST], report)
    except Conflict as error:  # another process was killed since the logs were read
        report.problems.append(Problem(str(folder), f"{error}; the next run takes it over"))


def _changes(
    world: World,
    key: Key,
    target: Target,
    rows: Mapping[str, Stored],
    files: Mapping[str, FileStat],
    report: Report,
    progress: Progress | None,
) -> list[_Found]:
    """What the files that differ from their rows ask for, and rows whose file vanished."""
    folder = layout.memory_folder(key, target.root)
    by_name = {row.place.name: row for row in rows.values()}
    names = [name for name in sorted(files) if name.endswith(".md") and name != layout.INDEX]
    found: list[_Found] = []
    for done, name in enumerate(names, start=1):
        row = by_name.get(name)
        if row is None or row.presence != "live" or row.stat != files[name]:
            one = _file(world, key, target, folder.within(name), row, rows, report)
            found += [one] if one else []
            if progress is not None:
                progress(str(folder), done, len(names))
    return found + _absent(world, rows, set(names), {one.row.memory.id for one in found})


def _unborn(
    world: World, key: Key, target: Target, rows: Mapping[str, Stored], report: Report
) -> dict[str, Stored]:
    """The newest recorded state of each memory without a row, as its row was before any file changed."""
    found: dict[str, Stored] = {}
    for id in world.store.record_versions(key):
        line = _newest_line(world, key, id)
        if id in rows or line is None or line.kind != MEMORY:
            continue
        place = Place(target.root, str(line.data["path"]))
        try:
            memory = _recorded(world, line, key)
        except Invalid as error:
            report.problems.append(Problem(str(place), f"its record cannot be read: {error}"))
            continue
        found[id] = Stored(memory, place, str(line.data["digest"]), str(line.data["author"]))
    return found


def _remember_away(world: World, report: Report) -> None:
    """Rows of the workspaces that are not there, as they were recorded."""
    for key, target in _bound(world, Report())[1].items():
        unborn = _unborn(world, key, target, _rows(world, key), report)
        _take_over(world, key, [_Found(row, None) for row in unborn.values()], report)


def _unchanged(world: World, key: Key, files: Mapping[str, FileStat] | None) -> bool:
    """Whether every file is as the index last saw it: the usual case, without reading a row."""
    known = world.store.files(key)
    there = {n: s for n, s in (files or {}).items() if n.endswith(".md") and n != layout.INDEX}
    live = {n: stat for n, (stat, presence) in known.items() if presence == "live"}
    return there == live and all(presence != "stale" for _, presence in known.values())


def _rows(world: World, key: Key) -> dict[str, Stored]:
    rows: dict[str, Stored] = {}
    after = ""
    listing = Listing(presences=_EVERY)
    while page := world.store.memories((key,), listing, world.moment(), after=after):
        rows |= {row.memory.id: row for row in page}
        after = page[-1].memory.id
    return rows


def _gone(
    rows: Mapping[str, Stored],
    files: Mapping[str, FileStat] | None,
    folder: Place,
    report: Report,
    *,
    fresh: bool,
) -> bool:
    """More than half of a folder gone at once, or the folder itself: taken for an accident, nothing changes.

    An index made anew cannot tell what went at once from what went one by one.
    """
    live = [row for row in rows.values() if row.presence != "absent"]
    missing = [row for row in live if row.place.name not in (files or {})]
    if files is None and live:
        report.problems.append(
            Problem(str(folder), f"the folder is gone; its {len(live)} memories stay as they are")
        )
        return True
    if not fresh and len(live) >= GUARD_FROM and len(missing) * 2 > len(live):
        report.problems.append(
            Problem(
                str(folder),
                f"{len(missing)} of {len(live)} files are gone at once; nothing was changed. "
                "Put them back, or delete the memories one by one",
            )
        )
        return True
    return False


def _file(
    world: World,
    key: Key,
    target: Target,
    place: Place,
    row: Stored | None,
    rows: Mapping[str, Stored],
    report: Report,
) -> _Found | None:
    """What one file that differs from the index asks for."""
    try:
        data, stat = world.vault.read(place)
    except (NotFound, Invalid, Unavailable) as error:
        report.problems.append(Problem(str(place), str(error)))
        return None
    digest = markdown.digest(data)
    if row is not None and row.digest == digest and not row.problem:
        return _Found(replace(row, presence="live", since=None, stat=stat), row)
    now = world.clock.now()
    try:
        memory = markdown.parse(data, str(place), key, now=now, zone=world.zone)
        held = _holder(row, rows, memory, place, world)
        known = _newest_line(world, key, memory.id)
        if known is not None and known.data.get("digest") == digest:
            again = _recorded(world, known, key)
            return _Found(Stored(again, place, digest, str(known.data["author"]), stat), held, "")
        _refuse_sensitive(world, memory, place)
        newest = max(held.memory.version if held else 0, known.version if known else 0)
        edited = _edited(memory, held, newest, now)
        author = held.owner if held else target.owner
        return _Found(
            Stored(edited, place, digest, author, stat),
            held,
            "edited by hand" if newest else "made by hand",
        )
    except Corrupt as error:
        report.problems.append(Problem(error.path, error.problem, error.line))
        return _stale(row, stat, error, now)
    except Invalid as error:
        report.problems.append(Problem(str(place), f"its record cannot be read: {error}"))
        return None


def _holder(
    row: Stored | None, rows: Mapping[str, Stored], memory: Memory, place: Place, world: World
) -> Stored | None:
    """The row that this file is about: by its id; a file that was renamed takes its row along."""
    holder = rows.get(memory.id)
    if holder is None or holder.place == place:
        if row is not None and row.memory.id != memory.id:
            raise Corrupt(str(place), f"its id changed from {row.memory.id} to {memory.id}")
        return holder
    if world.vault.stat(holder.place) is not None:
        raise Corrupt(str(place), f"carries the id {memory.id}, which {holder.place} has already")
    return holder


def _newest_line(world: World, key: Key, id: str) -> RecordLine | None:
    lines = world.store.records((key,), id)
    return max(lines, key=lambda line: (line.version, line.at), default=None)


def _refuse_sensitive(world: World, memory: Memory, place: Place) -> None:
    kinds = list(dict.fromkeys(finding.kind for finding in world.findings_of(memory)))
    if kinds:
        raise Corrupt(str(place), f"holds {', '.join(kinds)}: not indexed; take it out of the file")


def _edited(memory: Memory, held: Stored | None, newest: int, now: datetime) -> Memory:
    """The next version, as a person wrote it; its sources stay, with their quotes."""
    if held is None:
        return replace(memory, version=newest + 1)
    before = held.memory
    return replace(
        memory,
        version=newest + 1,
        origin="file",
        authority="person",
        evidence=_with_quotes(memory.evidence, before.evidence),
        created_at=before.created_at,
        updated_at=max(now, before.updated_at),
    )


def _with_quotes(
    evidence: tuple[Evidence, ...], before: tuple[Evidence, ...]
) -> tuple[Evidence, ...]:
    quotes = {(e.session, e.message, e.start, e.end): e.quote for e in before}
    return tuple(
        replace(e, quote=e.quote or quotes.get((e.session, e.message, e.start, e.end), ""))
        for e in evidence
    )


def _stale(row: Stored | None, stat: FileStat, error: Corrupt, now: datetime) -> _Found | None:
    """A file that cannot be taken over: its last good row stands, marked."""
    if row is None:
        return None
    problem = error.problem if error.line is None else f"line {error.line}: {error.problem}"
    if (row.presence, row.problem, row.stat) == ("stale", problem, stat):
        return None
    return _Found(replace(row, presence="stale", since=now, problem=problem, stat=stat), row)


def _absent(
    world: World, rows: Mapping[str, Stored], names: set[str], taken: set[str]
) -> list[_Found]:
    """Rows whose file vanished."""
    now = world.clock.now()
    return [
        _Found(replace(row, presence="absent", since=now, stat=None), row)
        for row in rows.values()
        if row.presence != "absent" and row.place.name not in names and row.memory.id not in taken
    ]


def _take_over(world: World, key: Key, found: Sequence[_Found], report: Report) -> None:
    """Rows, and for a person's edit a record line; what moved meanwhile is left for the next run."""
    undo: list[Callable[[], None]] = []
    with world.vault.exclusive():
        try:
            with world.store.transaction() as tx:
                lines: dict[str, list[tuple[Key | None, records.Line]]] = {}
                for one, row in _rows_to_put(world, tx, key, found, report):
                    _say(report, one, row)
                    if one.why and row is one.row:
                        put = Put(row.memory, "file", "person", one.why)
                        line = records.of_put(
                            put, owner=row.owner, digest=row.digest, path=row.place.path
                        )
                        lines.setdefault(row.owner, []).append((key, line))
                for owner, group in lines.items():
                    apply.write_records(world, tx, owner, group, undo)
        except BaseException:
            apply.take_back(undo)
            raise
    for one in found:
        if one.why:
            world.bus.emit("file.taken_over", id=one.row.memory.id, version=one.row.memory.version)
        elif one.row.presence == "absent":
            world.bus.emit("file.absent", degraded=True, id=one.row.memory.id)


def _rows_to_put(
    world: World, tx: StoreWrite, key: Key, found: Sequence[_Found], report: Report
) -> list[tuple[_Found, Stored]]:
    """Put the rows that `found` asks for; one whose name is taken is marked stale.

    Again and again, for a name may be given up by a file that comes later.
    """
    left = [one for one in found if _is_as_seen(world, tx, key, one)]
    done: list[tuple[_Found, Stored]] = []
    clashes: list[tuple[_Found, Stored]] = []
    while left:
        clashes = []
        for one in left:
            clash = _clash(world, tx, one)
            if clash is None:
                _put(tx, one.row)
                done.append((one, one.row))
                continue
            clashes.append((one, clash))
            if _changes_row(one, clash):
                _put(tx, clash)
        if len(clashes) == len(left):
            break
        left = [one for one, _ in clashes]
    report.problems.extend(Problem(str(row.place), row.problem) for _, row in clashes)
    return done + [(one, row) for one, row in clashes if _changes_row(one, row)]


def _put(tx: StoreWrite, row: Stored) -> None:
    tx.put(row)
    tx.set_shard(apply.INDEX_LOG, str(row.place.folder), apply.STALE)


def _changes_row(one: _Found, clash: Stored) -> bool:
    """Whether the stale row is news: a new file that clashes gets none, one that still clashes keeps its own."""
    if one.before is None:
        return not one.why
    return replace(clash, since=one.before.since) != one.before


def _is_as_seen(world: World, tx: StoreWrite, key: Key, one: _Found) -> bool:
    return tx.memory((key,), one.row.memory.id) == one.before and not _moved_on(world, one.row)


def _moved_on(world: World, row: Stored) -> bool:
    try:
        return world.vault.stat(row.place) != row.stat
    except Invalid:
        return True


def _clash(world: World, tx: StoreWrite, one: _Found) -> Stored | None:
    """The row marked stale if the file's name belongs to another memory that is valid now."""
    memory, now = one.row.memory, world.clock.now()
    known = one.before is not None and one.before.presence == "live" and not one.why
    if known or one.row.presence != "live" or memory.status(now, world.zone) != "active":
        return None
    for other in tx.named(memory.key, normalised_name(memory.name)):
        valid = other.memory.status(now, world.zone) == "active"
        if other.memory.id != memory.id and valid and not other.problem.startswith(_TAKEN):
            held = one.before or one.row
            problem = f"{_TAKEN} {memory.name!r} belongs to {other.memory.id} already"
            return replace(held, presence="stale", since=now, problem=problem, stat=one.row.stat)
    return None


def _say(report: Report, one: _Found, row: Stored) -> None:
    if row.presence == "stale":
        report.actions.append(f"{row.memory.id} cannot be read; its last good version stands")
    elif row.presence == "absent":
        report.actions.append(f"{row.memory.id} is absent: {row.place} vanished")
    elif one.why:
        report.actions.append(f"{row.memory.id} {one.why}: version {row.memory.version}")
    elif one.before is None:
        report.actions.append(f"indexed {row.place}")
    elif one.before.presence != "live":
        report.actions.append(f"{row.memory.id} is back")


# -- jobs -----------------------------------------------------------------------------------------


def _jobs(world: World, report: Report) -> None:
    """Every session with messages left has a job."""
    for owner in owners(world):
        realm = Realm(world.space, owner)
        known = {job.key for job in world.store.jobs(realm, ("waiting", "running", "parked"))}
        left = [
            name for name, _, behind in world.store.sessions(realm) if behind and name not in known
        ]
        if not left:
            continue
        with world.store.transaction() as tx:
            for session in left:
                tx.enqueue(realm, EXTRACT, session, world.clock.now())
        report.actions.append(f"queued {len(left)} sessions for extraction")
