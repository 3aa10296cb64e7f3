"""Values to rows and back.

Rows are ours, so reading one checks nothing: less than half the time of `codec.from_fields`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, TypeVar

from memstrata.adapters.sqlite.connection import CURE, Row, Values
from memstrata.domain import codec, times
from memstrata.domain.layout import Place
from memstrata.domain.memory import Evidence, Memory, normalised_name
from memstrata.domain.plan import Verdict
from memstrata.domain.scope import Key, Realm
from memstrata.domain.terms import index_terms
from memstrata.domain.turn import Message
from memstrata.ports import (
    Damaged,
    FileStat,
    Job,
    OffloadHead,
    RecordLine,
    Stored,
    ToolRead,
    VerdictRow,
)

P = ParamSpec("P")
T = TypeVar("T")

_PLAIN: Final = (
    *("id", "type", "name", "description", "body", "confidence", "priority", "origin"),
    *("authority", "subject", "slot", "scene", "note", "version", "superseded_by", "archived"),
)
_INSTANTS: Final = ("said_at", "valid_from", "invalid_at", "created_at", "updated_at", "retired_at")
_DAYS: Final = ("happened_from", "happened_until", "valid_until")
_MONTHS: Final = (
    "january february march april may june july august september october november december".split()
)


def _damage_told(read: Callable[P, T]) -> Callable[P, T]:
    """A row that `read` cannot read is damage: no check of SQLite's looks into the text of a row.

    Raises:
        Damaged: it cannot be read.
    """

    @wraps(read)
    def told(*given: P.args, **named: P.kwargs) -> T:
        try:
            return read(*given, **named)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            problem = f"holds a row that cannot be read ({error}); {CURE}"
            raise Damaged("the database", problem) from error

    return told


def listed(values: Iterable[str | int]) -> str:
    """A list as a statement takes it."""
    return json.dumps(list(values), ensure_ascii=False)


def instant(text: str | None) -> datetime | None:
    """An instant of a row."""
    return None if text is None else datetime.fromisoformat(text)


# -- memories --------------------------------------------------------------------------------------


def memory_data(memory: Memory) -> str:
    """A memory as JSON: the fields of its file, also those that are left out there when empty."""
    fields = codec.to_fields(memory) | dict(memory.extra)
    fields |= {"confidence": memory.confidence, "priority": memory.priority}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=4_096)
def memory(data: str, key: Key) -> Memory:
    """The memory of `memory_data`; kept, for a recall reads the same rows every turn."""
    fields: dict[str, Any] = json.loads(data)
    found: dict[str, Any] = {name: fields[name] for name in _PLAIN if name in fields}
    found.setdefault("description", "")
    for name in _INSTANTS:
        if name in fields:
            found[name] = datetime.fromisoformat(fields[name])
    for name in _DAYS:
        if name in fields:
            found[name] = date.fromisoformat(fields[name])
    found["entities"] = tuple(fields.get("entities", ()))
    found["evidence"] = tuple(Evidence(**one) for one in fields.get("evidence", ()))
    extra = {name: value for name, value in fields.items() if name not in codec.KNOWN}
    return Memory(key=key, extra=extra, **found)


def stored_values(stored: Stored) -> dict[str, Any]:
    """The columns of a memory's row, but its place in the table and its text's hash."""
    one = stored.memory
    return {
        "id": one.id,
        "type": one.type,
        "name": normalised_name(one.name),
        "label": f"{normalised_name(one.name)}\n{normalised_name(one.description)}",
        "subject": one.subject,
        "slot": one.slot,
        "archived": one.archived,
        "valid_from": times.stamp_or_none(one.valid_from),
        "valid_until": one.valid_until.isoformat() if one.valid_until else None,
        "invalid_at": times.stamp_or_none(one.invalid_at),
        "created_at": times.stamp(one.created_at),
        "retired_at": times.stamp_or_none(one.retired_at),
        "superseded_by": one.superseded_by,
        "root": stored.place.root,
        "path": stored.place.path,
        "digest": stored.digest,
        "owner": stored.owner,
        "stat": _stat_text(stored.stat),
        "presence": stored.presence,
        "since": times.stamp_or_none(stored.since),
        "problem": stored.problem,
        "hits": stored.hits,
        "last_hit_at": times.stamp_or_none(stored.last_hit_at),
        "data": memory_data(one),
    }


@_damage_told
def stored(row: Row, key: Key) -> Stored:
    """A memory of a row: the columns that every statement on `memories` selects."""
    data, root, path, digest, owner, stat, presence, since, problem, hits, last_hit_at = row
    return Stored(
        memory=memory(data, key),
        place=Place(root, path),
        digest=digest,
        owner=owner,
        stat=file_stat(stat),
        presence=presence,
        since=instant(since),
        problem=problem,
        hits=hits,
        last_hit_at=instant(last_hit_at),
    )


def _stat_text(stat: FileStat | None) -> str | None:
    # Text, because an inode may be larger than SQLite's integers.
    return None if stat is None else f"{stat.size} {stat.mtime_ns} {stat.inode}"


@_damage_told
def file_stat(text: str | None) -> FileStat | None:
    """A file as the index last saw it, from its column."""
    if text is None:
        return None
    size, mtime_ns, inode = text.split(" ")
    return FileStat(int(size), int(mtime_ns), int(inode))


def text_hash(stored: Stored) -> bytes | None:
    """What tells whether the indexed text changed; None for a row that no search may find."""
    one = stored.memory
    if one.archived or stored.presence == "absent":
        return None
    text = json.dumps([one.name, one.description, one.body])
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


# -- text ------------------------------------------------------------------------------------------


def salted(number: int, text: str) -> str:
    """The terms of `text` as the index holds them for the key `number`."""
    salt = f" {number}x"
    terms = index_terms(text)
    return salt.join(["", *terms]).lstrip() if terms else ""


def memory_terms(number: int, name: str, description: str, body: str) -> dict[str, str]:
    """The columns of the memories' text index."""
    texts = {"name": name, "description": description, "body": body}
    return {column: salted(number, text) for column, text in texts.items()}


def message_terms(number: int, message: Message) -> str:
    """What a message is found by: the speaker, the words, the day it was said ("8 may 2023")."""
    at = message.said_at
    day = f"{at.day} {_MONTHS[at.month - 1]} {at.year}" if at else ""
    return salted(number, f"{message.name}\n{message.content}\n{day}")


# -- messages, jobs, verdicts, records -------------------------------------------------------------


def message_values(message: Message) -> dict[str, Any]:
    """The columns of a message, but its place in the table."""
    return {
        "session": message.session,
        "id": message.id,
        "role": message.role,
        "said_at": times.stamp_or_none(message.said_at),
        "recorded_at": times.stamp(message.recorded_at),
        "workspace": message.workspace,
        "agent": message.agent,
        "name": message.name,
        "call": message.call,
        "skip": message.skip,
        "model": message.model,
        "content": message.content,
    }


@_damage_told
def message(row: Sequence[Any]) -> Message:
    """A message of a row, `id` to `model`."""
    id, session, role, content, said_at, recorded_at, workspace, agent, name, call, skip, model = (
        row
    )
    return Message(
        id=id,
        session=session,
        role=role,
        content=content,
        said_at=instant(said_at),
        recorded_at=datetime.fromisoformat(recorded_at),
        workspace=workspace,
        agent=agent,
        name=name,
        call=call,
        skip=skip,
        model=model,
    )


@_damage_told
def job(row: Row) -> Job:
    """A job of a row, `number` to `lease_until`."""
    number, space, owner, kind, key, state, attempts, due, problem, at_once, holder, until = row
    return Job(
        number=number,
        realm=Realm(space, owner),
        kind=kind,
        key=key,
        state=state,
        attempts=attempts,
        due=datetime.fromisoformat(due),
        problem=problem,
        at_once=bool(at_once),
        holder=holder,
        lease_until=None if until is None else datetime.fromisoformat(until),
    )


def verdict_values(verdict: Verdict) -> dict[str, Any]:
    """The columns of a verdict, but where and when it fell."""
    return {
        "verdict": verdict.verdict,
        "gate": verdict.gate,
        "name": verdict.name,
        "reason": verdict.reason,
        "memory": verdict.memory,
        "quote_of": listed(verdict.quote_of),
    }


@_damage_told
@_damage_told
def offload_head(row: Sequence[Any]) -> OffloadHead:
    """An offload session of its row."""
    workspace, session, folder, version, at, marks = row
    return OffloadHead(workspace, session, folder, version, datetime.fromisoformat(at), marks)


def verdict(row: Row) -> VerdictRow:
    """A verdict of a row, `number` to `quote_of`."""
    number, session, batch, at, said, gate, name, reason, memory_id, quote_of = row
    return VerdictRow(
        number=number,
        session=session,
        batch=batch,
        at=datetime.fromisoformat(at),
        verdict=Verdict(said, gate, name, reason, memory_id, tuple(json.loads(quote_of))),
    )


def read_values(read: ToolRead) -> Values:
    """The columns of what an agent read, but whose it was."""
    return {
        "at": times.stamp(read.at),
        "caller": read.caller,
        "agent": read.agent,
        "session": read.session,
        "workspace": read.workspace,
        "tool": read.tool,
        "outcome": read.outcome,
        "ids": listed(read.ids),
    }


@_damage_told
def tool_read(row: Row) -> ToolRead:
    """What an agent read, of a row: `number` to `ids`."""
    number, at, caller, agent, session, workspace, tool, outcome, ids = row
    return ToolRead(
        at=datetime.fromisoformat(at),
        caller=caller,
        agent=agent,
        session=session,
        workspace=workspace,
        tool=tool,
        outcome=outcome,
        ids=tuple(json.loads(ids)),
        number=number,
    )


def record_values(line: RecordLine) -> Values:
    """The columns of a record line, but its key."""
    return {
        "owner": line.owner,
        "kind": line.kind,
        "id": line.id,
        "version": line.version,
        "tx": line.tx,
        "part": line.part,
        "parts": line.parts,
        "at": times.stamp(line.at),
        "digest": str(line.data.get("digest", "")),
        "data": json.dumps(dict(line.data), ensure_ascii=False, separators=(",", ":")),
    }


@_damage_told
def record(row: Row) -> RecordLine:
    """A record line of a row, `owner` to `data`."""
    owner, kind, id, version, tx, part, parts, at, data = row
    return RecordLine(
        owner, kind, id, version, tx, part, parts, datetime.fromisoformat(at), json.loads(data)
    )
