"""What a person does to what is remembered: edit, archive, restore, delete. One memory at a time, or a Conflict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from datetime import datetime
from typing import Literal, cast

from memstrata.domain import codec, lifecycle, markdown, sides
from memstrata.domain.memory import Memory
from memstrata.domain.plan import Base, Delete, Plan, Put, Verb
from memstrata.domain.records import MEMORY
from memstrata.domain.scope import View
from memstrata.domain.sides import Side
from memstrata.errors import Conflict, Corrupt, Invalid, NotFound
from memstrata.pipelines import apply, bind
from memstrata.pipelines.apply import Unfinished
from memstrata.pipelines.world import World, refuse_sensitive
from memstrata.ports import RecordLine, Stored

PERSON = "person"


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion came to. `blocked_locally`: the file `path` is still there and why; it is tried again."""

    id: str
    version: int
    status: Literal["deleted", "blocked_locally"]
    path: str
    problem: str = ""


def edit(world: World, view: View, id: str, expected: int, changes: Mapping[str, object]) -> Stored:
    """The next version of a memory with the fields that a person changed; theirs from here on.

    Raises:
        NotFound: no such memory in the view, or its file is gone.
        Conflict: it is not at version `expected` (`VERSION_CONFLICT`), or its new name, or its slot, is
            taken by a memory that is valid now (`ALREADY_EXISTS`).
        Invalid: the field that is wrong.
        Refused: the sensitive gate says no.
        Corrupt: its file cannot be read.
        Unfinished: reconcile must finish something first, or take a hand edit over.
    """
    row = _readable(world, view, id)
    if row.memory.version != expected:
        raise _stale(world, row, expected)
    after = lifecycle.edited(row.memory, changes, now=world.clock.now(), zone=world.zone)
    refuse_sensitive(world, after)
    try:
        return _put(world, row, after, "edit", f"changed: {', '.join(changes)}")
    except Unfinished:
        raise
    except Conflict as error:
        if error.reason != "VERSION_CONFLICT":
            raise
        raise _stale(world, _readable(world, view, id), expected) from error


def archive(world: World, view: View, id: str) -> Stored:
    """Put a memory aside: row and file stay, no search or recall finds it. One that is aside stays as it is.

    Raises: as `edit` does.
    """
    row = _readable(world, view, id)
    after = lifecycle.archived(row.memory, world.clock.now())
    return _put(world, row, after, "archive", "put aside")


def restore(world: World, view: View, id: str, version: int | None = None) -> Stored:
    """Bring a memory back to use as it is, or with what an older version said; a file that vanished is written again.

    Raises:
        NotFound: no such memory in the view, or no such version.
        Conflict: its name, or what it says in its slot, is another memory's now (`ALREADY_EXISTS`).
        Invalid: it has expired.
        Refused: the sensitive gate says no.
        Corrupt: its file cannot be read.
        Unfinished: reconcile must finish something first, or take a hand edit over.
    """
    row = _readable(world, view, id, gone=True)
    now = world.clock.now()
    if version is None:
        after = lifecycle.restored(row.memory, now=now, zone=world.zone)
    else:
        after = lifecycle.as_it_was(row.memory, _version(world, row, version), now)
    _refuse_superseded(world, row.memory, now)
    refuse_sensitive(world, after)
    why = "brought back" if version is None else f"brought back version {version}"
    if row.presence == "absent" and after == row.memory:
        after = changed(after, version=after.version + 1, updated_at=max(now, after.updated_at))
    return _put(world, row, after, "restore", why)


def delete(world: World, view: View, id: str) -> Deleted:
    """Remove a memory: row, text, links, vector, file. What was recorded of it stays in its history.

    Raises:
        NotFound: no such memory in the view.
        Unfinished: reconcile must finish something first, or take a hand edit over.
    """
    row = _held(world, view, id)
    base = Base(row.memory.version, row.digest)
    plan = Plan((Delete(row.memory, PERSON, "deleted by hand", base),))
    applied = apply.apply(world, plan, {})
    problem = "; ".join(one.problem for one in applied.blocked)
    return Deleted(
        id,
        row.memory.version + 1,
        "blocked_locally" if problem else "deleted",
        str(row.place),
        problem,
    )


def resolve(world: World, view: View, id: str, take: Side | None, text: str | None) -> Stored:
    """Mend a file that cannot be read: one side of its merge conflicts, or a whole new text of it.

    Raises:
        NotFound: no such memory in the view.
        Invalid: the file can be read, holds no conflict to take a side of, or the result cannot be read.
        Conflict: what it says then is another memory's name or slot.
        Refused: the sensitive gate says no.
        Unfinished: reconcile must finish something first.
    """
    row = _held(world, view, id)
    if row.presence != "stale":
        raise Invalid("id", f"the file of {id} can be read; there is nothing to resolve")
    data, _ = world.vault.read(row.place)
    mended = text if text is not None else _side(data.decode("utf-8", "replace"), take or "ours")
    now = world.clock.now()
    try:
        said = markdown.parse(
            mended.encode(), str(row.place), row.memory.key, now=now, zone=world.zone
        )
    except Corrupt as error:
        raise Invalid("text", str(error)) from error
    if said.id != id:
        raise Invalid("text", f"its id would be {said.id}")
    after = lifecycle.mended(row.memory, said, now)
    refuse_sensitive(world, after)
    why = "resolved by hand" if text is not None else f"resolved: {take or 'ours'}"
    return _put(world, row, after, "edit", why)


def _side(text: str, take: Side) -> str:
    found = sides.side(text, take)
    if found is None:
        raise Invalid("take", "the file holds no merge conflict; mend its text instead")
    return found


def _held(world: World, view: View, id: str) -> Stored:
    """The row, as a decision may build on it."""
    row = world.store.memory(view.keys, id)
    if row is None:
        raise NotFound("memory", id)
    if apply.moved_by_hand(world, row):
        raise Unfinished(f"{row.place} was edited by hand since it was read; not saved")
    apply.refuse_rebuilding(world.store)
    return row


def _readable(world: World, view: View, id: str, *, gone: bool = False) -> Stored:
    """The row of a memory whose file is there (`gone`: or vanished) and can be read: what is in it may not be lost."""
    row = _held(world, view, id)
    if row.presence == "stale":
        raise Corrupt(str(row.place), f"{row.problem}; mend the file first, nothing was saved")
    if row.presence == "absent" and not gone:
        raise NotFound("file", str(row.place))
    return row


def _put(world: World, row: Stored, after: Memory, verb: Verb, why: str) -> Stored:
    if after == row.memory:
        return row
    target = bind.target(world, after.key, row.owner)
    put = Put(after, verb, PERSON, why, Base(row.memory.version, row.digest))
    (stored,) = apply.apply(world, Plan((put,)), {after.key: target}).stored
    return changed(stored, hits=row.hits, last_hit_at=row.last_hit_at)


def _stale(world: World, row: Stored, expected: int) -> Conflict:
    """Why an edit made on version `expected` is not saved, with what both versions say."""
    current = row.memory.version
    base = _line(world, row, expected)
    return Conflict(
        f"{row.memory.id} is at version {current}, the edit was made on {expected}; not saved",
        base=expected,
        current=current,
        base_text=None if base is None else lifecycle.text(_recorded(world, row, base)),
        current_text=lifecycle.text(row.memory),
    )


def _version(world: World, row: Stored, version: int) -> Memory:
    line = _line(world, row, version)
    if line is None:
        raise NotFound("version", str(version))
    return _recorded(world, row, line)


def _line(world: World, row: Stored, version: int) -> RecordLine | None:
    """The last line of a version: a source that was added later has one of its own."""
    lines = world.store.records((row.memory.key,), row.memory.id)
    found = [one for one in lines if one.kind == MEMORY and one.version == version]
    return found[-1] if found else None


def _recorded(world: World, row: Stored, line: RecordLine) -> Memory:
    fields = cast("Mapping[str, object]", line.data["memory"])
    key, id = row.memory.key, row.memory.id
    return codec.from_fields(fields, key, id=id, now=line.at, zone=world.zone)


def _refuse_superseded(world: World, memory: Memory, now: datetime) -> None:
    """What superseded it, at the end of the chain, may not be valid beside it."""
    seen = {memory.id}
    following = memory.superseded_by if memory.status(now, world.zone) == "invalid" else None
    while following and following not in seen:
        seen.add(following)
        row = world.store.memory((memory.key,), following)
        if row is None:
            return
        if row.presence != "absent" and row.memory.status(now, world.zone) == "active":
            raise apply.taken_by(memory, row.memory)
        following = row.memory.superseded_by
