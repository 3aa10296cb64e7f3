"""The memory folders: hand edits, new files, renamed, vanished, returned and unreadable ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from memstrata.domain import evolve, layout, markdown, records
from memstrata.domain.layout import Place
from memstrata.domain.memory import (
    DEFAULT_PRIORITY,
    STANDING_RULE,
    UNREVIEWED,
    Evidence,
    Memory,
    normalised_name,
)
from memstrata.domain.plan import Put, Verb
from memstrata.domain.scope import Key
from memstrata.domain.tombstones import Tombstones
from memstrata.errors import Conflict, Corrupt, Invalid, NotFound, Unavailable
from memstrata.pipelines import apply, graves
from memstrata.pipelines.apply import Target
from memstrata.pipelines.reconcile import lines, shards
from memstrata.pipelines.world import BLOCKED, Problem, Report, World
from memstrata.ports import FileStat, Listing, RecordLine, Stored, StoreWrite

GUARD_FROM: Final = 4
"""From so many memories on, more than half of a folder gone at once is taken for an accident."""

_EVERY: Final = ("live", "stale", "absent")
_TAKEN: Final = ("its name", "its slot")
"""How the problem of a file begins whose place another memory has: it may go without the file changing."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a file asks of the index: the new row, what it was before, and why (`""`: no new version)."""

    row: Stored
    before: Stored | None
    why: str = ""
    verb: Verb = "file"


def folder(
    world: World,
    key: Key,
    target: Target,
    report: Report,
    progress: shards.Progress | None,
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
    _follow(world, key, target, report)
    if not fresh and _unchanged(world, key, files):
        return
    rows = rows_of(world, key)
    unborn = without_rows(world, key, target, rows, report) if fresh else {}
    rows |= unborn
    if _gone(rows, files, folder, report, fresh=fresh):
        found = [Found(row, None) for row in unborn.values()]
    else:
        found = _changes(world, key, target, rows, files or {}, report, progress)
        found = [replace(o, before=None) if o.row.memory.id in unborn else o for o in found]
    try:
        for at in range(0, len(found), apply.MOST):
            take_over(world, key, found[at : at + apply.MOST], report)
    except Conflict as error:  # another process was killed since the logs were read
        report.problems.append(Problem(str(folder), f"{error}; the next run takes it over"))


def _follow(world: World, key: Key, target: Target, report: Report) -> None:
    """A workspace that was moved takes its rows along."""
    every = Listing(presences=_EVERY)
    first = world.store.memories((key,), every, world.moment(), limit=1) if target.root else []
    if first and first[0].place.root != target.root:
        moved = apply.move_rows(world, key, target.root)
        report.actions.append(f"{moved} memories moved to {target.root}")


def _changes(
    world: World,
    key: Key,
    target: Target,
    rows: Mapping[str, Stored],
    files: Mapping[str, FileStat],
    report: Report,
    progress: shards.Progress | None,
) -> list[Found]:
    """What the files that differ from their rows ask for, and rows whose file vanished."""
    folder = layout.memory_folder(key, target.root)
    by_name = {row.place.name: row for row in rows.values()}
    names = [name for name in sorted(files) if name.endswith(".md") and name != layout.INDEX]
    stones = graves.every(world)
    found: list[Found] = []
    for done, name in enumerate(names, start=1):
        row = by_name.get(name)
        if row is None or row.presence != "live" or row.stat != files[name]:
            one = _file(world, key, target, folder.within(name), row, rows, stones, report)
            found += [one] if one else []
            if progress is not None:
                progress(str(folder), done, len(names))
    return found + _absent(world, rows, set(names), {one.row.memory.id for one in found})


def without_rows(
    world: World, key: Key, target: Target, rows: Mapping[str, Stored], report: Report
) -> dict[str, Stored]:
    """The newest recorded state of each memory without a row, as its row was before any file changed."""
    found: dict[str, Stored] = {}
    for id in world.store.record_versions(key):
        line = _newest_line(world, key, id)
        if id in rows or line is None or line.kind != records.MEMORY:
            continue
        place = Place(target.root, str(line.data["path"]))
        try:
            memory = lines.recorded(world, line, key)
        except Invalid as error:
            report.problems.append(Problem(str(place), f"its record cannot be read: {error}"))
            continue
        found[id] = Stored(memory, place, str(line.data["digest"]), str(line.data["author"]))
    return found


def _unchanged(world: World, key: Key, files: Mapping[str, FileStat] | None) -> bool:
    """Whether every file is as the index last saw it: the usual case, without reading a row."""
    known = world.store.files(key)
    there = {n: s for n, s in (files or {}).items() if n.endswith(".md") and n != layout.INDEX}
    live = {n: stat for n, (stat, presence) in known.items() if presence == "live"}
    return there == live and all(presence != "stale" for _, presence in known.values())


def rows_of(world: World, key: Key) -> dict[str, Stored]:
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
    stones: Tombstones,
    report: Report,
) -> Found | None:
    """What one file that differs from the index asks for."""
    try:
        data, stat = world.vault.read(place)
    except (NotFound, Invalid, Unavailable) as error:
        report.problems.append(Problem(str(place), str(error)))
        return None
    digest = markdown.digest(data)
    if row is not None and row.digest == digest and not row.problem:
        return Found(replace(row, presence="live", since=None, stat=stat), row)
    now = world.clock.now()
    try:
        memory = markdown.parse(data, str(place), key, now=now, zone=world.zone)
        if stones and _was_forgotten(stones, memory, data, digest):
            _remove_leftover(world, key, memory.id, place, digest, report, "forgotten")
            return None
        if stones and _rests_on_forgotten(stones, memory):
            return _put_back(world, target, place, rows.get(memory.id), digest)
        held = _holder(row, rows, memory, place, world)
        known = _newest_line(world, key, memory.id)
        deleted = known is not None and known.kind == records.DELETE
        if held is None and deleted and _is_what_was_deleted(world, key, known, data, stat):
            _remove_leftover(world, key, memory.id, place, digest, report)
            return None
        if known is not None and not deleted and known.data.get("digest") == digest:
            again = lines.recorded(world, known, key)
            return Found(Stored(again, place, digest, str(known.data["author"]), stat), held, "")
        _refuse_sensitive(world, memory, place)
        newest = max(held.memory.version if held else 0, known.version if known else 0)
        trusted = known is not None and known.data.get("why") == apply.REVIEWED
        ended = _still_ended(world, memory, held)
        edited = _edited(ended, held, newest, now, trusted=trusted)
        author = held.owner if held else target.owner
        return Found(
            Stored(edited, place, digest, author, stat),
            held,
            "edited by hand" if held or (newest and not deleted) else "made by hand",
        )
    except Corrupt as error:
        id = "" if row else _deleted_as(world, key, digest, stat)
        if id:
            _remove_leftover(world, key, id, place, digest, report)
            return None
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
    # Of two lines of one version and instant (a source was added) the later one stands.
    return max(reversed(lines), key=lambda line: (line.version, line.at), default=None)


def _is_what_was_deleted(
    world: World, key: Key, line: RecordLine | None, data: bytes, stat: FileStat
) -> bool:
    """Whether a file is a deleted memory's, in any state that was recorded: an old branch brings those back."""
    if line is None or not (markdown.names_itself(data) or _is_the_file(line, stat)):
        return False
    recorded = {one.data.get("digest") for one in world.store.records((key,), line.id)}
    return markdown.digest(data) in recorded


def _is_the_file(line: RecordLine, stat: FileStat) -> bool:
    """Whether it is the very file that a deletion found: plain words may have been written again since."""
    return line.data.get("mtime_ns") == stat.mtime_ns


def _deleted_as(world: World, key: Key, digest: str, stat: FileStat) -> str:
    """The deleted memory whose file has these bytes, `""` for none: one that cannot be read names no id."""
    for id, (_, recorded) in world.store.record_versions(key).items():
        line = _newest_line(world, key, id) if recorded == digest else None
        if line is not None and line.kind == records.DELETE and _is_the_file(line, stat):
            return id
    return ""


def _remove_leftover(
    world: World,
    key: Key,
    id: str,
    place: Place,
    digest: str,
    report: Report,
    what: str = "deleted",
) -> None:
    """The file of a deleted memory is there, still or again: it goes."""
    problem = apply.remove_leftover(world, key, id, place, digest)
    if not problem:
        report.actions.append(f"removed {place}: {id} was {what}")
        return
    report.problems.append(
        Problem(
            str(place), f"{BLOCKED}: {id} was {what}, but its file cannot be removed ({problem})"
        )
    )
    world.bus.emit("file.blocked", degraded=True, id=id, path=str(place))


def _was_forgotten(stones: Tombstones, memory: Memory, data: bytes, digest: str) -> bool:
    """Whether it is a forgotten memory's file: by the id that it names, or by its bytes."""
    if stones.has_file(memory.key, digest):
        return True
    return markdown.names_itself(data) and stones.has_memory(
        memory.key, memory.id, memory.created_at
    )


def _rests_on_forgotten(stones: Tombstones, memory: Memory) -> bool:
    """Whether it is an old copy: it names a source or a successor that was forgotten since."""
    after = memory.superseded_by
    return bool(stones.sources(memory)) or (
        after is not None and stones.has_memory(memory.key, after, memory.updated_at)
    )


def _put_back(
    world: World, target: Target, place: Place, row: Stored | None, digest: str
) -> Found | None:
    """An old copy of a memory that lost sources says again what is left of it.

    Raises:
        Corrupt: nothing is known of it; it was left as it is.
    """
    if row is None or row.place != place:
        raise Corrupt(
            str(place), "names something that was forgotten; take that out, or delete the file"
        )
    text = apply.rendered(row.memory, target)
    apply.edit_text(
        world, place, lambda held: text if held and markdown.digest(held) == digest else None
    )
    stat = world.vault.stat(place)
    return Found(
        replace(
            row, presence="live", since=None, problem="", stat=stat, digest=markdown.digest(text)
        ),
        row,
    )


def _refuse_sensitive(world: World, memory: Memory, place: Place) -> None:
    kinds = list(dict.fromkeys(finding.kind for finding in world.findings_of(memory)))
    if kinds:
        raise Corrupt(str(place), f"holds {', '.join(kinds)}: not indexed; take it out of the file")


def _edited(
    memory: Memory, held: Stored | None, newest: int, now: datetime, *, trusted: bool
) -> Memory:
    """The next version, as a person wrote it; its sources stay, with their quotes.

    What was `trusted` as it was is to be looked at again.
    """
    if held is None:
        made = replace(memory, version=newest + 1)
        return _unreviewed(made) if memory.key.scope == "project" else made
    before = held.memory
    if before.note == UNREVIEWED or trusted:
        memory = _unreviewed(memory)
    return replace(
        memory,
        version=newest + 1,
        origin="file",
        authority="person",
        evidence=_with_quotes(memory.evidence, before.evidence),
        created_at=before.created_at,
        updated_at=max(now, before.updated_at),
    )


def _still_ended(world: World, memory: Memory, held: Stored | None) -> Memory:
    """An end that the file never said, for the index alone knows it, is not taken back by an edit."""
    if held is None or held.memory.invalid_at is None or memory.invalid_at is not None:
        return memory
    known = world.store.records((memory.key,), memory.id)
    read = next((line for line in known if line.data.get("digest") == held.digest), None)
    if read is None or lines.recorded(world, read, memory.key).invalid_at is not None:
        return memory
    before = held.memory
    return replace(
        memory,
        invalid_at=before.invalid_at,
        superseded_by=before.superseded_by,
        retired_at=before.retired_at,
    )


def _unreviewed(memory: Memory) -> Memory:
    """What came with a workspace's files: a clone is not to be trusted with a standing rule."""
    rule = memory.priority == STANDING_RULE
    priority = DEFAULT_PRIORITY[memory.type] if rule else memory.priority
    return replace(memory, note=UNREVIEWED, priority=priority)


def _with_quotes(
    evidence: tuple[Evidence, ...], before: tuple[Evidence, ...]
) -> tuple[Evidence, ...]:
    quotes = {(e.session, e.message, e.start, e.end): e.quote for e in before}
    return tuple(
        replace(e, quote=e.quote or quotes.get((e.session, e.message, e.start, e.end), ""))
        for e in evidence
    )


def _stale(row: Stored | None, stat: FileStat, error: Corrupt, now: datetime) -> Found | None:
    """A file that cannot be taken over: its last good row stands, marked."""
    if row is None:
        return None
    problem = error.problem if error.line is None else f"line {error.line}: {error.problem}"
    if (row.presence, row.problem, row.stat) == ("stale", problem, stat):
        return None
    return Found(replace(row, presence="stale", since=now, problem=problem, stat=stat), row)


def _absent(
    world: World, rows: Mapping[str, Stored], names: set[str], taken: set[str]
) -> list[Found]:
    """Rows whose file vanished."""
    now = world.clock.now()
    return [
        Found(replace(row, presence="absent", since=now, stat=None), row)
        for row in rows.values()
        if row.presence != "absent" and row.place.name not in names and row.memory.id not in taken
    ]


def take_over(world: World, key: Key, found: Sequence[Found], report: Report) -> None:
    """Rows, and for a person's edit a record line; what moved meanwhile is left for the next run."""
    undo: list[Callable[[], None]] = []
    with world.vault.exclusive():
        try:
            with world.store.transaction() as tx:
                lines: dict[str, list[tuple[Key | None, records.Line]]] = {}
                taken = _rows_to_put(world, tx, key, found, report)
                apply.queue_scenes(world, tx, [row for one, row in taken if _is_news(one)])
                for one, row in taken:
                    _say(report, one, row)
                    if one.why and row is one.row:
                        put = Put(row.memory, one.verb, "person", one.why)
                        line = records.of_put(
                            put, owner=row.owner, digest=row.digest, path=row.place.path
                        )
                        lines.setdefault(row.owner, []).append((key, line))
                apply.queue_shelf(world, tx, key)
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


def _is_news(one: Found) -> bool:
    """Whether what a memory says may have changed, or whether it is there."""
    return bool(one.why) or (one.before is not None and one.before.presence != one.row.presence)


def _rows_to_put(
    world: World, tx: StoreWrite, key: Key, found: Sequence[Found], report: Report
) -> list[tuple[Found, Stored]]:
    """Put the rows that `found` asks for; one whose name is taken is marked stale.

    Again and again, for a name may be given up by a file that comes later.
    """
    left = [one for one in found if _is_as_seen(world, tx, key, one)]
    done: list[tuple[Found, Stored]] = []
    clashes: list[tuple[Found, Stored]] = []
    while left:
        clashes = []
        for one in left:
            placed, ended = _in_time(world, tx, one)
            clash = _clash(world, tx, placed, {other.row.memory.id for other in ended})
            if clash is None:
                every = [placed, *ended, *_expired_namesakes(world, tx, placed)]
                for each in every:
                    _put(tx, each.row)
                done += [(each, each.row) for each in every]
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


def _changes_row(one: Found, clash: Stored) -> bool:
    """Whether the stale row is news: a new file that clashes gets none, one that still clashes keeps its own."""
    if one.before is None:
        return not one.why
    return replace(clash, since=one.before.since) != one.before


def _is_as_seen(world: World, tx: StoreWrite, key: Key, one: Found) -> bool:
    return tx.memory((key,), one.row.memory.id) == one.before and not _moved_on(world, one.row)


def _moved_on(world: World, row: Stored) -> bool:
    try:
        return world.vault.stat(row.place) != row.stat
    except Invalid:
        return True


def _in_time(world: World, tx: StoreWrite, one: Found) -> tuple[Found, list[Found]]:
    """A file that is back, and what took its place in its slot meanwhile: the later one is valid.

    A hand edit is not weighed so: what a person wrote ends nothing by itself.
    """
    if one.before is None or one.before.presence != "absent" or one.why:
        return one, []
    for other in _others(world, tx, one, "slot"):
        earlier, later = sorted((one.row, other), key=lambda row: _began(row.memory))
        at, now = max(map(evolve.began, (earlier.memory, later.memory))), world.clock.now()
        ended = evolve.ended(earlier.memory, at, later.memory.id, now)
        why = f"superseded by {later.memory.id} while its file was away"
        if earlier is other:
            return one, [Found(replace(other, memory=ended), other, why, "supersede")]
        return Found(replace(one.row, memory=ended), one.before, why, "supersede"), []
    return one, []


def _began(memory: Memory) -> tuple[datetime, datetime, str]:
    return evolve.began(memory), memory.created_at, memory.id


def _expired_namesakes(world: World, tx: StoreWrite, one: Found) -> list[Found]:
    """What an active memory made or named by hand supersedes: the expired ones of its name."""
    now, memory = world.clock.now(), one.row.memory
    if not one.why or memory.status(now, world.zone) != "active":
        return []
    return [
        Found(
            replace(other, memory=evolve.ended(other.memory, now, memory.id, now)),
            other,
            f"expired; superseded by {memory.id}",
            "supersede",
        )
        for other in tx.named(memory.key, normalised_name(memory.name))
        if other.memory.id != memory.id
        and other.presence == "live"
        and other.memory.status(now, world.zone) == "expired"
    ]


def _others(
    world: World, tx: StoreWrite, one: Found, place: Literal["name", "slot"]
) -> list[Stored]:
    """The other memories that are valid now in the name or slot of a file's, if it is valid itself."""
    memory, now = one.row.memory, world.clock.now()
    if one.row.presence != "live" or memory.status(now, world.zone) != "active":
        return []
    if place == "name":
        rows = tx.named(memory.key, normalised_name(memory.name))
    else:
        rows = tx.slot(memory.key, memory.subject, memory.slot) if memory.slot else []
    return [
        other
        for other in rows
        if other.memory.id != memory.id
        and other.memory.status(now, world.zone) == "active"
        and not other.problem.startswith(_TAKEN)
    ]


def _clash(world: World, tx: StoreWrite, one: Found, ended: Set[str]) -> Stored | None:
    """The row marked stale if the file's name or slot belongs to another memory (none of `ended`) that is valid now."""
    if one.before is not None and one.before.presence == "live" and not one.why:
        return None
    memory, now = one.row.memory, world.clock.now()
    for told, shown, others in (
        (_TAKEN[0], memory.name, _others(world, tx, one, "name")),
        (_TAKEN[1], memory.slot, _others(world, tx, one, "slot")),
    ):
        for other in others:
            if other.memory.id in ended:
                continue
            held = one.before or one.row
            problem = f"{told} {shown!r} belongs to {other.memory.id} already"
            return replace(held, presence="stale", since=now, problem=problem, stat=one.row.stat)
    return None


def _say(report: Report, one: Found, row: Stored) -> None:
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
