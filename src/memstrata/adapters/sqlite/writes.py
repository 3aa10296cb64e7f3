"""What the open write transaction can change."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from memstrata.adapters.sqlite.connection import Connection
from memstrata.adapters.sqlite.reads import Reads, canonical, key_number, numbered, offload_row
from memstrata.adapters.sqlite.rows import (
    job,
    listed,
    memory_terms,
    message,
    message_terms,
    message_values,
    read_values,
    record_values,
    stored_values,
    text_hash,
    verdict_values,
)
from memstrata.domain import times
from memstrata.domain.plan import Verdict
from memstrata.domain.scope import Key, Realm
from memstrata.domain.turn import Message
from memstrata.errors import Internal
from memstrata.ports import (
    Answered,
    Cursor,
    Job,
    Lease,
    OffloadChange,
    RecordLine,
    Stored,
    ToolRead,
)

_CLEARED = (
    *("clear_memory_text", "clear_evidence", "clear_memories", "clear_message_text"),
    *("clear_messages", "clear_text_counts", "clear_cursors", "clear_records", "clear_shards"),
    *("clear_offload_entries", "clear_offload_graphs", "clear_offload"),
)


class Writes(Reads):
    """`StoreWrite` on one connection, until `end`."""

    __slots__ = ("_db",)

    def __init__(self, db: Connection) -> None:
        self._db: Connection | None = db

    def end(self) -> None:
        """The transaction is over: whoever still holds this may not use it."""
        self._db = None

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        yield self._open()

    def _open(self) -> Connection:
        if self._db is None:
            raise Internal("a write transaction was used after its end")
        return self._db

    def put(self, stored: Stored) -> None:
        db = self._open()
        key = canonical(stored.memory.key)
        number = self._number(key.realm, key.scope, key.ref)
        old = db.one("memory_row", {"key": number, "id": stored.memory.id})
        row, indexed = old or (self._rows(number, 1), None)
        text = text_hash(stored)
        values = {"row": row, "key": number, "text": text}
        db.all("put_memory", {**stored_values(stored), **values})
        if text != indexed:
            self._index(row, number, stored, replace=indexed is not None, add=text is not None)
        self._link(row, key.realm.space, stored, replace=old is not None)

    def _index(self, row: int, number: int, stored: Stored, *, replace: bool, add: bool) -> None:
        db = self._open()
        db.all("count_texts", {"number": number, "count": add - replace})
        if replace:
            db.all("drop_memory_text", {"row": row})
        if add:
            one = stored.memory
            db.all(
                "add_memory_text",
                {"row": row, **memory_terms(number, one.name, one.description, one.body)},
            )

    def _link(self, row: int, space: str, stored: Stored, *, replace: bool) -> None:
        db = self._open()
        if replace:
            db.all("drop_evidence", {"row": row})
        db.many(
            "add_evidence",
            [
                {"space": space, "message": one.message, "session": one.session, "row": row}
                for one in stored.memory.evidence
            ],
        )

    def drop(self, key: Key, id: str) -> None:
        db = self._open()
        found = db.one("memory_row", {"key": key_number(db, canonical(key)), "id": id})
        if found is not None:
            row, text = found
            db.all("count_texts", {"number": row >> 32, "count": -(text is not None)})
            for name in ("drop_memory_text", "drop_evidence", "drop_memory"):
                db.all(name, {"row": row})
            db.all("forget_answers_about", {"id": id})

    def add_messages(self, realm: Realm, messages: Sequence[Message]) -> None:
        db = self._open()
        number = self._number(realm, "realm", "")
        new = self._unknown(number, messages)
        texts = self._text_rows(realm, new)
        db.many(
            "add_message",
            [
                {**message_values(one), "realm": number, "text": text}
                for one, text in zip(new, texts, strict=True)
            ],
        )
        db.many(
            "add_message_text",
            [
                {"text": text, "terms": message_terms(text >> 32, one)}
                for one, text in zip(new, texts, strict=True)
            ],
        )

    def _unknown(self, realm: int, messages: Sequence[Message]) -> list[Message]:
        """Those that are not stored, in order, each once."""
        sessions: dict[str, dict[str, None]] = {}
        for one in messages:
            sessions.setdefault(one.session, {})[one.id] = None
        known: set[tuple[str, str]] = set()
        for session, ids in sessions.items():
            values = {"realm": realm, "session": session, "ids": listed(ids)}
            known |= {(session, id) for (id,) in self._open().all("known_ids", values)}
        new = {(one.session, one.id): one for one in reversed(messages)}
        kept = [one for at, one in new.items() if at not in known]
        return kept[::-1]

    def _text_rows(self, realm: Realm, messages: Sequence[Message]) -> list[int]:
        """A row in the text index for each, under the key of its workspace."""
        sizes: dict[str, int] = {}
        for one in messages:
            sizes[one.workspace] = sizes.get(one.workspace, 0) + 1
        following = {
            workspace: self._text_rows_of(realm, workspace, count)
            for workspace, count in sizes.items()
        }
        found: list[int] = []
        for one in messages:
            found.append(following[one.workspace])
            following[one.workspace] += 1
        return found

    def _text_rows_of(self, realm: Realm, workspace: str, count: int) -> int:
        number = self._number(realm, "message", workspace)
        self._open().all("count_texts", {"number": number, "count": count})
        return self._rows(number, count)

    def drop_messages(self, realm: Realm, ids: Sequence[tuple[str, str]]) -> int:
        db = self._open()
        number = self._number(realm, "realm", "")
        listing = json.dumps(ids, ensure_ascii=False)
        texts = [text for (text,) in db.all("drop_messages", {"realm": number, "ids": listing})]
        db.many("drop_message_text", ({"text": text} for text in texts))
        for shelf, count in Counter(text >> 32 for text in texts).items():
            db.all("count_texts", {"number": shelf, "count": -count})
        db.all("drop_empty_cursors", {"realm": number})
        return len(texts)

    def set_cursor(self, realm: Realm, cursor: Cursor) -> None:
        values = {"session": cursor.session, "position": cursor.position, "last": cursor.last}
        self._open().all("set_cursor", {**values, "realm": self._number(realm, "realm", "")})

    def add_records(
        self, space: str, keys: Sequence[Key | None], lines: Sequence[RecordLine]
    ) -> None:
        values = []
        for key, line in zip(keys, lines, strict=True):
            number = None
            if key is not None:
                one = canonical(key)
                number = self._number(one.realm, one.scope, one.ref)
            values.append({**record_values(line), "space": space, "key": number})
        self._open().many("add_record", values)

    def replace_record(self, space: str, line: RecordLine) -> None:
        self._open().all("replace_record", {**record_values(line), "space": space})

    def drop_records(self, space: str, lines: Sequence[tuple[str, int]]) -> None:
        values = ({"space": space, "tx": tx, "part": part} for tx, part in lines)
        self._open().many("drop_record", values)

    def drop_verdicts(self, realm: Realm, numbers: Sequence[int]) -> None:
        number = self._number(realm, "realm", "")
        self._open().many("drop_verdict", ({"realm": number, "number": one} for one in numbers))

    def add_verdicts(
        self, realm: Realm, session: str, batch: str, at: datetime, rows: Sequence[Verdict]
    ) -> None:
        number = self._number(realm, "realm", "")
        where = {"realm": number, "session": session, "batch": batch, "at": times.stamp(at)}
        self._open().many("add_verdict", [{**verdict_values(one), **where} for one in rows])

    def add_read(self, realm: Realm, read: ToolRead, *, most: int, before: datetime) -> None:
        db, number = self._open(), self._number(realm, "realm", "")
        db.all("add_read", {**read_values(read), "realm": number})
        db.all("trim_reads", {"realm": number, "most": most})
        db.all("expire_reads", {"realm": number, "before": times.stamp(before)})

    def drop_reads(self, realm: Realm, numbers: Sequence[int]) -> None:
        number = self._number(realm, "realm", "")
        self._open().many("drop_read", ({"realm": number, "number": one} for one in numbers))

    def drop_answers(self, realm: Realm, keys: Sequence[str]) -> None:
        number = self._number(realm, "realm", "")
        self._open().many("drop_answer", ({"realm": number, "key": one} for one in keys))

    def keep_answer(
        self, realm: Realm, key: str, answer: Answered, now: datetime, since: datetime
    ) -> None:
        db = self._open()
        db.all("forget_answers", {"since": times.stamp(since)})
        values = {"realm": self._number(realm, "realm", ""), "key": key, "at": times.stamp(now)}
        about = {"digest": answer.digest, "status": answer.status, "about": answer.about}
        db.all("keep_answer", {**values, **about, "tag": answer.tag, "body": answer.body})

    def enqueue(
        self, realm: Realm, kind: str, key: str, due: datetime, *, at_once: bool = False
    ) -> None:
        number = self._number(realm, "realm", "")
        values = {"realm": number, "kind": kind, "key": key, "due": times.stamp(due)}
        self._open().all("enqueue", {**values, "at_once": at_once})

    def lease(self, wanted: Lease, now: datetime) -> Job | None:
        db = self._open()
        found = db.one(
            "lease_job",
            {
                "now": times.stamp(now),
                "holder": wanted.holder,
                "until": times.stamp(wanted.until),
                "kinds": listed(wanted.kinds),
                "every": wanted.every,
                "but": listed(sorted(wanted.but)),
            },
        )
        return None if found is None else job(db.all("job", {"number": found[0]})[0])

    def free_jobs(self) -> int:
        numbers = [number for (number,) in self._open().all("running_jobs")]
        for number in numbers:
            self._wait(number)
        return len(numbers)

    def postpone_job(
        self, number: int, due: datetime, problem: str = "", *, failed: bool = False
    ) -> None:
        self._wait(number, times.stamp(due), problem, failed=failed)

    def _wait(
        self, number: int, due: str | None = None, problem: str = "", *, failed: bool = False
    ) -> None:
        """Let a job wait, the only one of its kind and key."""
        db = self._open()
        other, at_once = db.one("absorb_waiting", {"number": number}) or (None, 0)
        if other is not None and due is not None and not failed:
            due = min(due, other)
        values = {"number": number, "state": "waiting", "due": due, "problem": problem}
        db.all("set_job", {**values, "failed": failed, "at_once": at_once})

    def park_job(self, number: int, problem: str) -> None:
        db = self._open()
        db.all("absorb_waiting", {"number": number})
        values = {"number": number, "state": "parked", "due": None, "problem": problem}
        db.all("set_job", {**values, "failed": True, "at_once": 0})

    def set_aside(self, realm: Realm, kind: str, key: str, problem: str, now: datetime) -> None:
        values = {"realm": self._number(realm, "realm", ""), "kind": kind, "key": key}
        self._open().all("set_aside", {**values, "problem": problem, "due": times.stamp(now)})

    def forgive_jobs(self, realm: Realm, kind: str, key: str) -> None:
        values = {"realm": self._number(realm, "realm", ""), "kind": kind, "key": key}
        self._open().all("forgive_jobs", values)

    def drop_jobs(self, realm: Realm, kind: str, key: str) -> int:
        values = {"realm": self._number(realm, "realm", ""), "kind": kind, "key": key}
        return len(self._open().all("drop_jobs", values))

    def unpark_jobs(self, realm: Realm, now: datetime) -> int:
        db = self._open()
        found = db.all("failed_jobs", {"realm": self._number(realm, "realm", "")})
        for (number,) in found:
            self._wait(number, times.stamp(now))
            db.all("forgive_job", {"number": number})
        return len(found)

    def hush_jobs(self, realm: Realm, sessions: Sequence[str]) -> int:
        db = self._open()
        values = {"realm": self._number(realm, "realm", ""), "sessions": listed(sessions)}
        touched = 0
        for number, problem, _, there in db.all("session_jobs", values):
            if problem or not there:
                db.all("hush_job" if there else "drop_job", {"number": number})
                touched += 1
        return touched

    def hasten_jobs(self, but: Sequence[str] = ()) -> None:
        self._open().all("hasten_jobs", {"but": json.dumps(list(but))})

    def drop_job(self, number: int) -> None:
        self._open().all("drop_job", {"number": number})

    def touch(self, keys: Sequence[Key], ids: Sequence[str], at: datetime) -> None:
        db = self._open()
        values = {"ids": listed(ids), "at": times.stamp(at)}
        for number in numbered(db, keys):
            db.all("touch", {**values, "key": number})

    def put_offload(self, realm: Realm, change: OffloadChange) -> None:
        db = self._open()
        head = change.head
        values = {
            "realm": self._number(realm, "realm", ""),
            "workspace": head.workspace,
            "session": head.session,
            "folder": head.folder,
            "version": head.version,
            "at": times.stamp(head.at),
            "marks": head.marks,
            "state": change.state,
        }
        ((session,),) = db.all("put_offload", values)
        if change.anew:
            for name in ("drop_offload_entries", "drop_offload_graphs"):
                db.all(name, {"session": session})
        entries = [{"session": session, "place": at, "data": one} for at, one in change.entries]
        db.many("put_offload_entry", entries)
        graphs = [{"session": session, "file": file, "text": one} for file, one in change.graphs]
        db.many("put_offload_graph", graphs)

    def drop_offload(self, realm: Realm, workspace: str, session: str) -> None:
        db = self._open()
        found = offload_row(db, realm, workspace, session)
        if found is not None:
            for name in ("drop_offload_entries", "drop_offload_graphs", "drop_offload"):
                db.all(name, {"session": found[0]})

    def set_shard(self, log: str, path: str, size: int) -> None:
        self._open().all("set_shard", {"log": log, "path": path, "size": size})

    def clear(self, space: str) -> None:
        db = self._open()
        for name in _CLEARED:
            db.all(name, {"space": space})
        self._index_others(space)

    def _index_others(self, space: str) -> None:
        """Put back what the text indexes held of other spaces.

        Emptied as a whole an index is sound again; one that is damaged stays so when rows are deleted.
        """
        db = self._open()
        db.many(
            "add_memory_text",
            (
                {"row": row, **memory_terms(row >> 32, *texts)}
                for row, *texts in db.all("other_memory_texts", {"space": space})
            ),
        )
        db.many(
            "add_message_text",
            (
                {"text": text, "terms": message_terms(text >> 32, message(row))}
                for text, *row in db.all("other_messages", {"space": space})
            ),
        )

    def _number(self, realm: Realm, scope: str, ref: str) -> int:
        """The number of a key, given to it now if it has none."""
        db = self._open()
        values = {"space": realm.space, "owner": realm.owner, "scope": scope, "ref": ref}
        (number,) = db.one("key_number", values) or db.all("add_key", values)[0]
        return int(number)

    def _rows(self, number: int, count: int) -> int:
        """The first of `count` new rows of a key."""
        ((last,),) = self._open().all("next_seqs", {"number": number, "count": count})
        return (number << 32) | (int(last) - count + 1)
