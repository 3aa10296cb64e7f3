"""The only changes there are. A pipeline decides on a `Plan`; `pipelines/apply` carries it out.

A plan prints (`--dry-run`), tests assert on it, and a stale one loses as `Conflict`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from memstrata.domain.chronicle import Chronicle
from memstrata.domain.elevation import Elevation, Outcome
from memstrata.domain.layout import Place
from memstrata.domain.memory import Memory
from memstrata.domain.scope import Key, Realm, parse_scope
from memstrata.domain.turn import Message

EXTRACT: Final = "extract"
"""The kind of job that extracts a session; its key is the session."""
EMBED: Final = "embed"
"""The kind of job that makes the vectors of a shelf; its key is `<kind> <ref>`."""
OFFLOAD: Final = "offload"
"""The kind of job that asks a model about an offload session; its key is the session's folder."""
REDO: Final = "redo"
"""The kind of job that extracts one batch again, which was set aside or refused; see `redo_key`."""
CONSOLIDATE: Final = "consolidate"
"""The kind of job that consolidates a key; its key is `<scope> <ref>`, see `consolidation_key`."""
SCENES: Final = "scenes"
"""The kind of job that brings scenes up to date; its key is their group."""
PERSONA: Final = "persona"
"""The kind of job that brings a persona up to date; its key is `REQUESTED` where somebody asked for it."""
PRUNE: Final = "prune"
"""The kind of job that takes out of scenes and persona what rests on memories that are gone; no key."""
REQUESTED: Final = "requested"

Verb = Literal[
    "add",
    "update",
    "merge",
    "source",
    "supersede",
    "invalidate",
    "edit",
    "archive",
    "restore",
    "file",
    "forget",
]
"""Why a version came to be: `source` adds a source without a new version, `file` is a hand edit,
`forget` says what is left when some of its sources were forgotten."""

Kept = Literal["add", "update", "merge", "delete"]
NotKept = Literal[
    "transient",
    "low_confidence",
    "low_priority",
    "unsupported",
    "authority",
    "no_workspace",
    "noop",
    "quota",
    "sensitive",
    "malformed",
]
REFUSALS: tuple[str, ...] = tuple(one for one in NotKept.__args__ if one != "noop")  # type: ignore[attr-defined]
VERDICTS: tuple[str, ...] = (*Kept.__args__, *NotKept.__args__)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Base:
    """What a change was decided on: the version and the digest of the bytes that were read."""

    version: int
    digest: str


@dataclass(frozen=True, slots=True)
class Put:
    """Write this state of a memory: file, row, text, links, record. `base` None: it must not exist yet.

    `author` is whose it is where several people write into one key; `""`: whoever the plan is from.
    """

    memory: Memory
    verb: Verb
    who: str
    why: str
    base: Base | None = None
    author: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove `memory`: row, text, links, vector, file. Its record lines stay, and one more says that it is gone."""

    memory: Memory
    who: str
    why: str
    base: Base


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one gate said of one candidate. `gate` is `""` for a kept one."""

    verdict: Kept | NotKept
    gate: str
    name: str
    reason: str
    memory: str = ""
    quote_of: tuple[str, ...] = ()
    """The ids of the messages that the candidate came from."""


@dataclass(frozen=True, slots=True)
class Append:
    """Store these messages in L0, each once."""

    realm: Realm
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Enqueue:
    """Put a job on the list; one with the same kind and key that waits already serves for it.

    `at_once`: whatever the cadence says, such as at the end of a session.
    """

    realm: Realm
    kind: str
    key: str
    due: datetime
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Advance:
    """A batch of one session has been extracted: from the cursor `expected` to message `last`.

    `parked` says why it was set aside instead: the cursor passes it, a job waits to take it up
    again. `redo` names a batch that is done again: the cursor stays, and that job ends.
    """

    realm: Realm
    session: str
    batch: str
    expected: int
    cursor: int
    first: str
    last: str
    extractor: str
    verdicts: tuple[Verdict, ...]
    parked: str = ""
    redo: str = ""
    forgotten: int = 0
    """How much had been forgotten (bytes of the owner's tombstones) when the messages were read."""


@dataclass(frozen=True, slots=True)
class Propose:
    """Put a candidate of `key` before a person: its file, and a line that it was proposed."""

    key: Key
    candidate: Elevation
    who: str


@dataclass(frozen=True, slots=True)
class Settle:
    """A person decided on a candidate: its file goes, a line remembers what it was known by.

    `digest` is of the file's bytes as they were read. `sources` are those that were shown, each as it
    must still stand: None for one that was not there. `memory` is the rule that it became.
    """

    key: Key
    candidate: Elevation
    outcome: Outcome
    who: str
    digest: str
    sources: tuple[tuple[str, Base | None], ...] = ()
    memory: str = ""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """A key was consolidated: what came of it, in counts, what was refused and why.

    `expected` is the run before it, `""` for none. `seen` is a digest of the memories that were weighed;
    `problem` says why the run failed.
    """

    key: Key
    run: str
    expected: str
    model: str
    seen: str
    merged: int = 0
    proposed: int = 0
    refused: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PutTexts:
    """Let files of a folder be the newest texts of `chronicle`, all together or none.

    `log` is the chronicle's file, `base` the digest of the bytes that it had (`""`: it was not there),
    `mark` what it was marked. Where a file that is to change is not what `chronicle.before` says, a
    person changed it meanwhile, and nothing is written.
    """

    folder: Place
    log: Place
    chronicle: Chronicle
    base: str = ""
    mark: int = 0


Change = Put | PutTexts | Delete | Append | Enqueue | Advance | Propose | Settle | Consolidated


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that take effect together or not at all.

    `forgotten`: how much everybody had forgotten (bytes of tombstones) when it was begun; None where it
    may not matter.
    """

    changes: tuple[Change, ...]
    forgotten: int | None = None

    def lines(self) -> list[str]:
        """One line a change, for a person."""
        return [_line(change) for change in self.changes]


def _line(change: Change) -> str:
    match change:
        case Put(memory=memory, verb=verb, why=why):
            return f"{verb} {memory.id} v{memory.version} {memory.name!r}: {why}"
        case PutTexts(log=log, chronicle=chronicle):
            return f"write {len(chronicle.texts)} texts of {log.name.removesuffix('.jsonl')}"
        case Delete(memory=memory, why=why):
            return f"delete {memory.id} v{memory.version} {memory.name!r}: {why}"
        case Append(messages=messages):
            return f"append {len(messages)} messages"
        case Enqueue(kind=kind, key=key):
            return f"enqueue {kind} {key}"
        case Advance(session=session, last=last, redo=redo):
            return f"redo {redo} of {session}" if redo else f"advance {session} to {last}"
        case Propose(candidate=one):
            return f"propose {one.id} {one.name!r}: from {len(one.sources)} rules"
        case Settle(candidate=one, outcome=outcome):
            return f"{outcome} {one.id} {one.name!r}"
        case Consolidated(key=key, merged=merged, proposed=proposed):
            name = consolidation_key(key)
            return f"consolidated {name}: {merged} merged, {proposed} proposed"


def redo_key(batch: str, session: str) -> str:
    """The key of the job that does a batch again. Batch ids hold no blank."""
    return f"{batch} {session}"


def redo_of(key: str) -> tuple[str, str]:
    """(batch, session) of such a key."""
    batch, _, session = key.partition(" ")
    return batch, session


def consolidation_key(key: Key) -> str:
    """How the job that consolidates a key is called; its realm is the key's."""
    return f"{key.scope} {key.ref}".rstrip()


def consolidation_of(realm: Realm, name: str) -> Key:
    """The key of such a job.

    Raises:
        Invalid: it is none.
    """
    scope, _, ref = name.partition(" ")
    return Key(realm, parse_scope(scope), ref)


def job_session(kind: str, key: str) -> str:
    """The session that a job is about, `""` for one that is about none."""
    if kind in (EMBED, SCENES, PERSONA, PRUNE):
        return ""
    return redo_of(key)[1] if kind == REDO else key


def job_name(kind: str, key: str) -> str:
    """A job in words: `extract chat-42`, `extract chat-42 (batch_…)`."""
    if kind != REDO:
        return f"{kind} {key}".rstrip()  # a shelf may have no name
    batch, session = redo_of(key)
    return f"{EXTRACT} {session} ({batch})"
