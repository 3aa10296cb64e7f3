"""The lines of `records/`: one for each version of a memory, each deletion and each extraction batch.

Lines of one transaction share `tx` and are numbered `part` of `parts`; a group that is not whole was
never committed. A memory's line holds all of it, so that history, restore and a write that was
interrupted half-way need nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memstrata.domain import codec, elevation, times
from memstrata.domain.plan import Advance, Consolidated, Delete, Propose, Put, Settle
from memstrata.domain.scope import Key

BATCH: Final = "batch"
MEMORY: Final = "memory"
DELETE: Final = "delete"
CANDIDATE: Final = "candidate"
RUN: Final = "consolidation"
ERASED: Final = "erased"
"""Kinds of record lines. An erased one keeps the place of what was forgotten, so that its group is whole."""
PROPOSE: Final = "propose"
CONSOLIDATION: Final = "consolidation"
"""The id of a key's lines about candidates and runs: no memory has it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A record line before it is written. `data` is JSON-able; `id` a memory's id or a session."""

    kind: str
    id: str
    version: int
    data: Mapping[str, object]


def of_put(put: Put, *, owner: str, digest: str, path: str) -> Line:
    """The line of one version: who, why, the whole memory, the digest of its file and where that lies."""
    memory = put.memory
    return Line(
        kind=MEMORY,
        id=memory.id,
        version=memory.version,
        data={
            "verb": put.verb,
            "who": put.who,
            "why": put.why,
            "key": _key(memory.key),
            "author": owner,
            "digest": digest,
            "path": path,
            "memory": codec.to_fields(memory),
        },
    )


def of_delete(
    delete: Delete, *, owner: str, digest: str, path: str, mtime_ns: int | None = None
) -> Line:
    """The line of a deletion, numbered behind the last version.

    `digest`, `path` and `mtime_ns` are of the file that has to go: a person may write the same words
    again, but not at the same time. It holds no text. The lines of the versions before it stay.
    """
    memory = delete.memory
    return Line(
        kind=DELETE,
        id=memory.id,
        version=memory.version + 1,
        data={
            "verb": DELETE,
            "who": delete.who,
            "why": delete.why,
            "key": _key(memory.key),
            "author": owner,
            "digest": digest,
            "path": path,
            "mtime_ns": mtime_ns,
        },
    )


def _key(key: Key) -> dict[str, str]:
    return {"owner": key.realm.owner, "scope": key.scope, "ref": key.ref}


def of_advance(advance: Advance) -> Line:
    """The line of one extraction batch: its messages and what came of it, in counts."""
    counts: dict[str, int] = {}
    for verdict in advance.verdicts:
        counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
    return Line(
        kind=BATCH,
        id=advance.session,
        version=0,
        data={
            "batch": advance.batch,
            "first": advance.first,
            "last": advance.last,
            "extractor": advance.extractor,
            "outcome": counts,
            **({"parked": advance.parked} if advance.parked else {}),
            **({"redo": advance.redo} if advance.redo else {}),
        },
    )


def of_propose(propose: Propose, *, owner: str, path: str) -> Line:
    """The line of a candidate that was proposed: all of it, so that its file can be written again."""
    one = propose.candidate
    about = {"verb": PROPOSE, "who": propose.who, "candidate": one.id, "path": path}
    return _about(CANDIDATE, propose.key, owner, {**about, "fields": elevation.to_fields(one)})


def of_settle(settle: Settle, *, owner: str) -> Line:
    """The line of a candidate that was decided on: by what it is known, and no text."""
    one = settle.candidate
    data = {
        "verb": settle.outcome,
        "who": settle.who,
        "candidate": one.id,
        "sources": [source.id for source in one.sources],
        "fingerprints": list(one.fingerprints),
        "digest": settle.digest,
        "memory": settle.memory,
    }
    return _about(CANDIDATE, settle.key, owner, data)


def of_consolidated(done: Consolidated, *, owner: str) -> Line:
    """The line of one run: when it was is the line's own time."""
    data = {
        "run": done.run,
        "model": done.model,
        "seen": done.seen,
        "outcome": {"merged": done.merged, "proposed": done.proposed},
        "refused": list(done.refused),
        "problem": done.problem,
    }
    return _about(RUN, done.key, owner, data)


def _about(kind: str, key: Key, owner: str, data: Mapping[str, object]) -> Line:
    return Line(kind, CONSOLIDATION, 0, {"key": _key(key), "author": owner, **data})


def open_batches(lines: Iterable[Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """Of a session's batch lines, oldest first: those not done again since, by the id of the batch.

    One that was done again, with an end of its own, stands under the new id.
    """
    found: dict[str, Mapping[str, object]] = {}
    for line in lines:
        found.pop(str(line.get("redo", "")), None)
        found[str(line["batch"])] = line
    return found


def encode(lines: Sequence[Line], tx: str, at: datetime) -> bytes:
    """The lines as JSON Lines, numbered as one group."""
    parts = len(lines)
    return b"".join(
        json.dumps(
            {"kind": line.kind, "id": line.id, "version": line.version, "tx": tx}
            | {"part": part, "parts": parts, "at": times.stamp(at), **line.data},
            ensure_ascii=False,
        ).encode()
        + b"\n"
        for part, line in enumerate(lines, start=1)
    )
