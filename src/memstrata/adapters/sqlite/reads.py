"""The queries of the store, on a reader's snapshot or inside the write transaction."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Final

from memstrata.adapters.sqlite import rows
from memstrata.adapters.sqlite.connection import Connection
from memstrata.adapters.sqlite.search import best
from memstrata.domain import times
from memstrata.domain.cadence import Backlog
from memstrata.domain.memory import STANDING_RULE, Status, Type, normalised_name
from memstrata.domain.scope import Key, Realm
from memstrata.domain.terms import Term
from memstrata.domain.turn import Message
from memstrata.ports import (
    Answered,
    Cursor,
    FileStat,
    Job,
    Listing,
    Moment,
    Offloaded,
    OffloadHead,
    Presence,
    Queued,
    Ranked,
    RankedMessage,
    RecordLine,
    SaidAt,
    Shelf,
    Stored,
    ToolRead,
    VerdictRow,
)

_LAST: Final = 2**63 - 1
"""The largest number that a row can have."""


def canonical(key: Key) -> Key:
    """A project's memories are its members' together: whoever asks, the key has no owner."""
    return Key(Realm(key.realm.space, ""), "project", key.ref) if key.scope == "project" else key


def key_number(db: Connection, key: Key) -> int | None:
    """The number of a key, None while nothing was stored under it."""
    return _number(db, key.realm, key.scope, key.ref)


def realm_number(db: Connection, realm: Realm) -> int | None:
    """The number of a realm, None while nothing was stored in it."""
    return _number(db, realm, "realm", "")


def _number(db: Connection, realm: Realm, scope: str, ref: str) -> int | None:
    values = {"space": realm.space, "owner": realm.owner, "scope": scope, "ref": ref}
    found = db.one("key_number", values)
    return None if found is None else int(found[0])


def numbered(db: Connection, keys: Sequence[Key]) -> dict[int, Key]:
    """The keys that have a number, by it, in order, each once."""
    found: dict[int, Key] = {}
    for key in dict.fromkeys(map(canonical, keys)):
        number = key_number(db, key)
        if number is not None:
            found[number] = key
    return found


def offload_row(
    db: Connection, realm: Realm, workspace: str, session: str
) -> tuple[Any, ...] | None:
    """The row of an offload session, its number first."""
    values = {"realm": realm_number(db, realm), "workspace": workspace, "session": session}
    return db.one("offload_head", values)


def message_numbers(db: Connection, realm: Realm, workspaces: Sequence[str]) -> list[int]:
    """The numbers of the keys of a realm's messages in some workspaces, those that have one."""
    known = [_number(db, realm, "message", one) for one in dict.fromkeys(workspaces)]
    return [number for number in known if number is not None]


class Reads(ABC):
    """`StoreRead`; where a connection comes from is the subclass's."""

    __slots__ = ()

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]:
        """A connection in a transaction that sees one state."""

    def memory(self, keys: Sequence[Key], id: str) -> Stored | None:
        with self._reading() as db:
            for number, key in numbered(db, keys).items():
                row = db.one("memory", {"key": number, "id": id})
                if row is not None:
                    return rows.stored(row, key)
        return None

    def memories(
        self,
        keys: Sequence[Key],
        listing: Listing,
        moment: Moment,
        *,
        after: str = "",
        limit: int = 1000,
    ) -> list[Stored]:
        query = "memories_newest" if listing.newest else "memories"
        values = {
            "after": after,
            "limit": limit,
            "types": rows.listed(listing.types),
            "statuses": rows.listed(listing.statuses),
            "presences": rows.listed(listing.presences),
            "text": normalised_name(listing.text),
            "now": times.stamp(moment.now),
            "today": moment.today.isoformat(),
        }
        found: list[Stored] = []
        with self._reading() as db:
            for number, key in numbered(db, keys).items():
                page = db.all(query, {**values, "key": number})
                found.extend(rows.stored(row, key) for row in page)
        return _page(found, limit, newest=listing.newest)

    def foremost(
        self, key: Key, types: Sequence[Type], moment: Moment, *, limit: int
    ) -> list[Stored]:
        values = {
            "types": rows.listed(types),
            "rule": STANDING_RULE,
            "now": times.stamp(moment.now),
            "today": moment.today.isoformat(),
            "limit": limit,
        }
        return self._of_key("foremost", key, values)

    def files(self, key: Key) -> dict[str, tuple[FileStat | None, Presence]]:
        key = canonical(key)
        with self._reading() as db:
            found = db.all("files", {"key": key_number(db, key)})
        return {
            path.rpartition("/")[2]: (rows.file_stat(text), presence)
            for path, text, presence in found
        }

    def superseded(self, keys: Sequence[Key], id: str) -> list[Stored]:
        with self._reading() as db:
            return [
                rows.stored(row, key)
                for number, key in numbered(db, keys).items()
                for row in db.all("superseded", {"key": number, "id": id})
            ]

    def named(self, key: Key, name: str) -> list[Stored]:
        return self._of_key("named", key, {"name": normalised_name(name)})

    def slot(self, key: Key, subject: str, slot: str) -> list[Stored]:
        return self._of_key("slot", key, {"subject": subject, "slot": slot})

    def _of_key(self, name: str, key: Key, values: dict[str, Any]) -> list[Stored]:
        key = canonical(key)
        with self._reading() as db:
            found = db.all(name, {**values, "key": key_number(db, key)})
        return [rows.stored(row, key) for row in found]

    def counts(self, keys: Sequence[Key], moment: Moment) -> dict[tuple[Key, Type, Status], int]:
        values = {"now": times.stamp(moment.now), "today": moment.today.isoformat()}
        found: dict[tuple[Key, Type, Status], int] = {}
        with self._reading() as db:
            for number, key in numbered(db, keys).items():
                for type, status, count in db.all("counts", {**values, "key": number}):
                    found[key, type, status] = count
        return found

    def keys(self, space: str) -> tuple[Key, ...]:
        with self._reading() as db:
            found = db.all("memory_keys", {"space": space})
        return tuple(Key(Realm(space, owner), scope, ref) for owner, scope, ref in found)

    def search_memories(
        self,
        keys: Sequence[Key],
        terms: Sequence[Term],
        moment: Moment,
        *,
        types: Sequence[Type] = (),
        limit: int = 20,
    ) -> list[Ranked]:
        filters = {**_validity(moment), "types": rows.listed(types)}
        with self._reading() as db:
            known = numbered(db, keys)
            found = best(db, "memory", list(known), terms, filters, limit)
        return [
            Ranked(rows.stored(tuple(row), known[number]), -cost) for number, cost, *row in found
        ]

    def workspaces_of(self, realm: Realm, session: str) -> list[str]:
        with self._reading() as db:
            return _session_workspaces(db, realm, session)

    def valid_memories(
        self, keys: Sequence[Key], ids: Sequence[str], moment: Moment, *, types: Sequence[Type] = ()
    ) -> dict[str, Stored]:
        filters = {**_validity(moment), "types": rows.listed(types), "ids": rows.listed(ids)}
        with self._reading() as db:
            known = numbered(db, keys)
            found = db.all("valid_memories", {**filters, "keys": rows.listed(known)})
        stored = (rows.stored(tuple(row), known[number]) for number, *row in found)
        return {one.memory.id: one for one in stored}

    def search_messages(
        self,
        realm: Realm,
        workspaces: Sequence[str],
        terms: Sequence[Term],
        *,
        session: str | None = None,
        roles: Sequence[str] = (),
        limit: int = 20,
    ) -> list[RankedMessage]:
        filters = {"session": session, "roles": rows.listed(roles)}
        with self._reading() as db:
            if session is not None:
                workspaces = _session_workspaces(db, realm, session)
            numbers = message_numbers(db, realm, workspaces)
            found = best(db, "message", numbers, terms, filters, limit)
        return [RankedMessage(rows.message(row), -cost, at) for cost, at, *row in found]

    def message_rows(
        self, realm: Realm, ids: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], int]:
        values = {"ids": json.dumps(ids, ensure_ascii=False)}
        with self._reading() as db:
            found = db.all("message_rows", {**values, "realm": realm_number(db, realm)})
        return {(session, id): row for row, session, id in found}

    def said_at(self, places: Sequence[int]) -> dict[int, SaidAt]:
        with self._reading() as db:
            found = db.all("said_at", {"rows": rows.listed(places)})
        return {row: SaidAt(session, id, role) for row, session, id, role in found}

    def messages_at(self, places: Sequence[int]) -> dict[int, Message]:
        with self._reading() as db:
            found = db.all("messages_at", {"rows": rows.listed(places)})
        return {row[0]: rows.message(row[1:]) for row in found}

    def message(self, realm: Realm, id: str, session: str | None = None) -> list[Message]:
        with self._reading() as db:
            values = {"realm": realm_number(db, realm), "id": id, "session": session}
            found = db.all("message", values)
        return [rows.message(row[1:]) for row in found]

    def messages(
        self, realm: Realm, session: str, *, after: int = 0, limit: int = 1000
    ) -> list[Queued]:
        with self._reading() as db:
            values = {"realm": realm_number(db, realm), "session": session}
            found = db.all("messages", {**values, "after": after, "limit": limit})
        return [Queued(row[0], rows.message(row[1:])) for row in found]

    def shelves(self, space: str) -> list[tuple[Shelf, int, int]]:
        with self._reading() as db:
            found = db.all("shelves", {"space": space})
        return [
            (Shelf(Realm(space, owner), "message", ref), count, last)
            for owner, ref, count, last in found
        ]

    def shelf(self, shelf: Shelf, *, after: int = 0, limit: int = 1000) -> list[Queued]:
        one = {"space": shelf.realm.space, "owner": shelf.realm.owner, "scope": "message"}
        with self._reading() as db:
            number = db.one("key_number", {**one, "ref": shelf.ref})
            if number is None:
                return []
            values = {"number": number[0], "after": after, "limit": limit}
            found = db.all("shelf", values)
        return [Queued(row[0], rows.message(row[1:])) for row in found]

    def messages_before(
        self, realm: Realm, session: str, position: int, limit: int
    ) -> list[Message]:
        values = {"session": session, "position": position, "limit": limit}
        with self._reading() as db:
            found = db.all("messages_before", {**values, "realm": realm_number(db, realm)})
        return [rows.message(row[1:]) for row in reversed(found)]

    def known_messages(self, realm: Realm, session: str, ids: Sequence[str]) -> dict[str, Message]:
        with self._reading() as db:
            values = {"realm": realm_number(db, realm), "session": session}
            found = db.all("known_messages", {**values, "ids": rows.listed(ids)})
        return {row[1]: rows.message(row[1:]) for row in found}

    def cursor(self, realm: Realm, session: str) -> Cursor:
        with self._reading() as db:
            values = {"realm": realm_number(db, realm), "session": session}
            found = db.one("cursor", values)
        return Cursor(session, *(found or (0, "")))

    def sessions(self, realm: Realm) -> list[tuple[str, int, int]]:
        with self._reading() as db:
            found = db.all("sessions", {"realm": realm_number(db, realm)})
        return [(session, count, behind) for session, count, behind in found]

    def derived(self, realm: Realm, session: str, message: str) -> list[tuple[Key, str]]:
        values = {"space": realm.space, "owner": realm.owner}
        with self._reading() as db:
            found = db.all("derived", {**values, "session": session, "message": message})
        return [(Key(Realm(realm.space, owner), scope, ref), id) for owner, scope, ref, id in found]

    def backlog(self, realm: Realm, session: str, most: int) -> Backlog:
        with self._reading() as db:
            values = {"realm": realm_number(db, realm), "session": session}
            position, _ = db.one("cursor", values) or (0, "")
            (found,) = db.all("backlog", {**values, "cursor": position, "most": most})
        done, turns, last = found
        return Backlog(done, turns, None if last is None else datetime.fromisoformat(last))

    def jobs(self, realm: Realm | None, states: Sequence[str] = ("waiting",)) -> list[Job]:
        with self._reading() as db:
            number = None if realm is None else realm_number(db, realm)
            if realm is not None and number is None:
                return []
            found = db.all("jobs", {"realm": number, "states": rows.listed(states)})
        return [rows.job(row) for row in found]

    def waits(self, realm: Realm, kind: str, key: str) -> bool:
        with self._reading() as db:
            values = {"realm": realm_number(db, realm), "kind": kind, "key": key}
            return db.one("waits", values) is not None

    def verdicts(
        self,
        realm: Realm,
        *,
        session: str | None = None,
        verdict: str | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> list[VerdictRow]:
        values = {"session": session, "verdict": verdict, "after": after, "limit": limit}
        with self._reading() as db:
            found = db.all("verdicts", {**values, "realm": realm_number(db, realm)})
        return [rows.verdict(row) for row in found]

    def answered(self, realm: Realm, key: str, since: datetime) -> Answered | None:
        with self._reading() as db:
            values = {"key": key, "since": times.stamp(since)}
            found = db.one("answered", {**values, "realm": realm_number(db, realm)})
        return None if found is None else Answered(*found)

    def answers(self, realm: Realm) -> list[tuple[str, str]]:
        with self._reading() as db:
            return db.all("answers", {"realm": realm_number(db, realm)})

    def verdict_counts(self, realm: Realm) -> dict[str, int]:
        with self._reading() as db:
            found = db.all("verdict_counts", {"realm": realm_number(db, realm)})
        return dict(found)

    def reads(
        self, realm: Realm, *, session: str | None = None, after: int = 0, limit: int = 100
    ) -> list[ToolRead]:
        name = "reads" if session is None else "reads_of_session"
        where = {"below": after or _LAST, "limit": limit}
        values = where if session is None else {**where, "session": session}
        with self._reading() as db:
            found = db.all(name, {**values, "realm": realm_number(db, realm)})
        return [rows.tool_read(row) for row in found]

    def records(self, keys: Sequence[Key], id: str) -> list[RecordLine]:
        with self._reading() as db:
            values = {"keys": rows.listed(numbered(db, keys)), "id": id}
            found = db.all("records", values)
        return [rows.record(row) for row in found]

    def batches(self, realm: Realm, session: str) -> list[RecordLine]:
        values = {"space": realm.space, "owner": realm.owner, "session": session}
        with self._reading() as db:
            found = db.all("batches", values)
        return [rows.record(row) for row in found]

    def record_lines(self, space: str, owner: str) -> Iterator[RecordLine]:
        with self._reading() as db:
            found = db.all("record_lines", {"space": space, "owner": owner})
        return map(rows.record, found)

    def record_versions(self, key: Key) -> dict[str, tuple[int, str]]:
        with self._reading() as db:
            found = db.all("record_versions", {"key": key_number(db, canonical(key))})
        return {id: (version, digest) for id, version, digest in found}

    def shards(self, log: str) -> dict[str, int]:
        with self._reading() as db:
            return dict(db.all("shards", {"log": log}))

    def offload_head(self, realm: Realm, workspace: str, session: str) -> OffloadHead | None:
        with self._reading() as db:
            found = offload_row(db, realm, workspace, session)
        return None if found is None else rows.offload_head(found[1:])

    def offload_heads(self, realm: Realm, workspace: str | None = None) -> list[OffloadHead]:
        with self._reading() as db:
            values = {"realm": realm_number(db, realm), "workspace": workspace}
            found = db.all("offload_heads", values)
        return [rows.offload_head(row[1:]) for row in found]

    def offloaded(self, realm: Realm, workspace: str, session: str) -> Offloaded | None:
        with self._reading() as db:
            row = offload_row(db, realm, workspace, session)
            if row is None:
                return None
            number = {"session": row[0]}
            ((state,),) = db.all("offload_state", number)
            entries = tuple(data for (data,) in db.all("offload_entries", number))
            graphs = tuple((file, text) for file, text in db.all("offload_graphs", number))
        return Offloaded(rows.offload_head(row[1:]), state, entries, graphs)

    def totals(self, space: str) -> dict[str, int]:
        names = ("memories", "messages", "memory_texts", "message_texts", "records", "jobs")
        with self._reading() as db:
            (counts,) = db.all("totals", {"space": space})
        return dict(zip(names, counts, strict=True))


def _page(found: list[Stored], limit: int, *, newest: bool) -> list[Stored]:
    """The first `limit` by id, and the others of the last id: the next page starts behind it."""
    found.sort(key=lambda stored: stored.memory.id, reverse=newest)
    page = found[:limit]
    return page + [one for one in found[limit:] if one.memory.id == page[-1].memory.id]


def _validity(moment: Moment) -> dict[str, Any]:
    as_of = times.stamp_or_none(moment.as_of)
    day = moment.today
    if moment.as_of is not None:
        day = moment.as_of_day or moment.as_of.date()
    return {
        "every": moment.every,
        "as_of": as_of,
        "at": as_of or times.stamp(moment.now),
        "day": day.isoformat(),
        "known_at": times.stamp_or_none(moment.known_at),
    }


def _session_workspaces(db: Connection, realm: Realm, session: str) -> list[str]:
    values = {"realm": realm_number(db, realm), "session": session}
    return [workspace for (workspace,) in db.all("session_workspaces", values)]
