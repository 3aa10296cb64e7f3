"""The judge of a home: whether files, rows, text index, records and logs say the same.

What is on disk is read with plain `open`, not through the vault, so that a fault of the vault cannot
hide itself. `sound` opens the home like anyone does (which heals what a killed process left) and
`faults` judges one that is open.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from memstrata import Memory
from memstrata.domain import conversation, layout, markdown, records
from memstrata.domain.layout import Place
from memstrata.domain.memory import normalised_name
from memstrata.domain.scope import Key, Realm
from memstrata.pipelines import apply, reconcile
from memstrata.pipelines.apply import Target
from memstrata.pipelines.sight import shelf_of
from memstrata.pipelines.world import Report, World
from memstrata.ports import Listing, Stored

_TEMPORARY = re.compile(r"\.([0-9]+)-[0-9]+(?:\.old)?\.tmp~\Z")


def sound(home: Path) -> list[str]:
    """What is wrong with the home once it was opened again; empty when nothing is."""
    with Memory.open(home, background=False, settings={"timezone": "UTC"}) as memory:
        return faults(memory)


def faults(memory: Memory) -> list[str]:
    """What is wrong with an open home, once what is due is written: each fault one line."""
    world = memory._world
    memory._chores.flush()
    report = reconcile.reconcile(world)
    found = [f"a second reconcile: {action}" for action in report.actions]
    found += world.store.check()
    places = reconcile.folders(world, Report())
    for key, target in places:
        found += _folder(world, key, target, {problem.path for problem in report.problems})
    for owner in world.owners():
        found += _conversations(world, owner)
        found += _records(world, owner, [key for key, _ in places])
    found += _texts(world)
    roots = {memory.home, *(Path(target.root) for _, target in places if target.root)}
    found += [line for root in sorted(roots) for line in _leftovers(root)]
    return found


def rows_of(world: World, key: Key) -> list[Stored]:
    """Every row of a key, absent ones too."""
    every = Listing(presences=("live", "stale", "absent"))
    return world.store.memories((key,), every, world.moment(), limit=100_000)


def disk(world: World, place: Place) -> Path:
    """Where a place lies on disk."""
    home = getattr(world.vault, "home")  # noqa: B009 -- the port has no such name
    return Path(place.root or home) / place.path


def entries(world: World, owner: str, log: str) -> Iterator[bytes]:
    """The whole lines of a log on disk."""
    folder = disk(world, layout.log_folder(owner, log))
    for shard in sorted(folder.glob("*.jsonl")):
        yield from shard.read_bytes().split(b"\n")[:-1]


def _folder(world: World, key: Key, target: Target, left_alone: set[str]) -> Iterator[str]:
    rows = rows_of(world, key)
    folder = layout.memory_folder(key, target.root)
    if not disk(world, folder).is_dir():
        return
    recorded = world.store.record_versions(key)
    for row in rows:
        yield from _row(world, row, recorded)
    yield from _deleted(world, key, {row.memory.id for row in rows}, recorded)
    names = {row.place.name for row in rows if row.presence != "absent"}
    for file in disk(world, folder).glob("*.md"):
        known = file.name in names or str(folder.within(file.name)) in left_alone
        regular = file.is_file() and not file.is_symlink()
        if regular and file.name != layout.INDEX and not known:
            yield f"{file} has no row"
    yield from _namesakes(world, rows)
    yield from _slots(world, rows)
    index = disk(world, folder.within(layout.INDEX))
    if (index.read_bytes() if index.exists() else b"") != apply.index_text(world, key):
        yield f"{index} is not up to date"


def _row(world: World, row: Stored, recorded: dict[str, tuple[int, str]]) -> Iterator[str]:
    file, memory = disk(world, row.place), row.memory
    if row.presence == "absent":
        if file.exists():
            yield f"{memory.id} is absent, but {file} is there"
        return
    if not file.exists():
        yield f"{memory.id} is {row.presence}, but {file} is not there"
        return
    if recorded.get(memory.id) != (memory.version, row.digest):
        yield f"{memory.id} is at {memory.version, row.digest}, recorded {recorded.get(memory.id)}"
    if row.presence == "live":
        data = file.read_bytes()
        if markdown.digest(data) != row.digest:
            yield f"{file} is not what the index read"
        said = markdown.parse(data, str(file), memory.key, now=memory.created_at, zone=world.zone)
        if (said.id, said.name, said.description, said.body) != (
            memory.id,
            memory.name,
            memory.description,
            memory.body,
        ) or said.superseded_by not in (memory.superseded_by, _before_reconcile(world, row)):
            yield f"{file} does not say what its row says"


def _before_reconcile(world: World, row: Stored) -> str | None:
    """What superseded it before a reconcile, which writes no memory file, recorded another end.

    A hand edit since then says as little of that end as the file did.
    """
    lines = world.store.records((row.memory.key,), row.memory.id)
    for line in sorted(lines, key=lambda line: (line.version, line.at), reverse=True):
        verb, who = line.data.get("verb"), line.data.get("who")
        if verb == "file":
            continue
        if (verb, who) != ("supersede", "person"):
            break
        before = next(one for one in lines if one.data.get("digest") == line.data["digest"])
        fields = before.data["memory"]
        return fields.get("superseded_by") if isinstance(fields, dict) else None
    return row.memory.superseded_by


def _deleted(
    world: World, key: Key, rows: set[str], recorded: dict[str, tuple[int, str]]
) -> Iterator[str]:
    """What was deleted has no row and no vector; that it has no file, the files' own check tells."""
    there = world.vectors is not None and world.vault.stat(layout.VECTORS) is not None
    vectors = world.vectors.held(shelf_of(key)) if world.vectors and there else {}
    for id in recorded:
        newest = max(world.store.records((key,), id), key=lambda line: (line.version, line.at))
        if newest.kind == records.DELETE and (id in rows or id in vectors):
            yield f"{id} was deleted and has a row or a vector"


def _namesakes(world: World, rows: list[Stored]) -> Iterator[str]:
    holders: dict[str, str] = {}
    for row in rows:
        valid = row.memory.status(world.clock.now(), world.zone) == "active"
        if row.presence != "live" or not valid:
            continue
        name = normalised_name(row.memory.name)
        if name in holders:
            yield f"the name {name!r} belongs to {holders[name]} and to {row.memory.id}"
        holders[name] = row.memory.id


def _slots(world: World, rows: list[Stored]) -> Iterator[str]:
    """Of each subject and slot one value is valid."""
    holders: dict[tuple[str, str], str] = {}
    for row in rows:
        memory = row.memory
        valid = memory.status(world.clock.now(), world.zone) == "active"
        if row.presence == "absent" or not valid or not memory.slot:
            continue
        slot = (memory.subject, memory.slot)
        if slot in holders:
            yield f"the slot {slot} is held by {holders[slot]} and by {memory.id}"
        holders[slot] = memory.id


def _conversations(world: World, owner: str) -> Iterator[str]:
    realm = Realm(world.space, owner)
    lines = [conversation.decode(line) for line in entries(world, owner, "conversations")]
    on_disk = {(one.session, one.id): one for one in lines}
    if len(on_disk) != len(lines):
        yield f"{len(lines) - len(on_disk)} messages of {owner} have two lines"
    in_rows = {
        (session, one.message.id): one.message
        for session, _, _ in world.store.sessions(realm)
        for one in world.store.messages(realm, session, limit=100_000)
    }
    yield from (f"message {at} has a line and no row" for at in on_disk.keys() - in_rows.keys())
    yield from (f"message {at} has a row and no line" for at in in_rows.keys() - on_disk.keys())
    for at in on_disk.keys() & in_rows.keys():
        if on_disk[at] != in_rows[at]:
            yield f"message {at} differs between its line and its row"
    waiting = {job.key for job in world.store.jobs(realm, ("waiting", "running", "parked"))}
    for session, _, behind in world.store.sessions(realm):
        if behind and session not in waiting:
            yield f"session {session} has {behind} messages to extract and no job"


def _records(world: World, owner: str, keys: list[Key]) -> Iterator[str]:
    """Whole groups on disk are in the index and the reverse; each id's newest line is its row."""
    groups: dict[str, list[tuple[str, int, int]]] = {}
    for line in entries(world, owner, "records"):
        raw = json.loads(line)
        groups.setdefault(raw["tx"], []).append((raw["tx"], raw["part"], raw["parts"]))
    on_disk = [
        (tx, part)
        for group in groups.values()
        for tx, part, _ in group
        if len({one for _, one, _ in group}) == group[0][2]
    ]
    indexed = [(line.tx, line.part) for line in world.store.record_lines(world.space, owner)]
    if len(set(on_disk)) != len(on_disk):
        yield f"record lines of {owner} stand twice"
    if set(on_disk) != set(indexed):
        yield f"records of {owner}: {len(set(on_disk) ^ set(indexed))} lines on one side only"


def _texts(world: World) -> Iterator[str]:
    totals = world.store.totals(world.space)
    shown = [
        row
        for key in world.store.keys(world.space)
        for row in rows_of(world, key)
        if row.presence != "absent" and not row.memory.archived
    ]
    if totals["memory_texts"] != len(shown):
        yield f"{len(shown)} memories, {totals['memory_texts']} of them in the text index"
    if totals["message_texts"] != totals["messages"]:
        yield f"{totals['messages']} messages, {totals['message_texts']} of them in the text index"


def _leftovers(root: Path) -> Iterator[str]:
    """Temporary files of processes that are gone."""
    for file in root.rglob(".*.tmp~"):
        owner = _TEMPORARY.search(file.name)
        if owner is None or int(owner[1]) == os.getpid() or not _runs(int(owner[1])):
            yield f"{file} was left behind"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
