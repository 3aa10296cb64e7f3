"""What the core needs from the world. The contract is the docstring; one contract suite tests every adapter.

Every method that touches stored data takes the realm or key it is about: no call exists that could
read across spaces or owners. A project key has the owner `""`: its members share it, and the author
stands in the memory's own `owner` field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal, Protocol

from memstrata.domain.cadence import Backlog
from memstrata.domain.layout import Place
from memstrata.domain.memory import Memory, Status, Type
from memstrata.domain.plan import Verdict
from memstrata.domain.ranking import Group, Scope, Turn
from memstrata.domain.redact import Finding
from memstrata.domain.scope import Key, Realm
from memstrata.domain.terms import Term
from memstrata.domain.turn import Message
from memstrata.errors import Corrupt, Unavailable

# -- values that cross a port ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileStat:
    """A file as the index last saw it; equal stats mean its bytes need not be read again."""

    size: int
    mtime_ns: int
    inode: int


Presence = Literal["live", "absent", "stale"]
"""live: the file is there and read; absent: it vanished; stale: it cannot be read, the last good row stands."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory's row: the memory, the file it stands in, and what only the index knows.

    `digest` is the hash of the file's bytes as last read or written; `since` when it became absent
    or stale, `problem` why it is stale; `owner` its author (for project keys, else the key's owner).
    """

    memory: Memory
    place: Place
    digest: str
    owner: str
    stat: FileStat | None = None
    presence: Presence = "live"
    since: datetime | None = None
    problem: str = ""
    hits: int = 0
    last_hit_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """The instants a read is asked for.

    `now` and `today` (the owner's local day) decide expiry. `as_of` asks the world's time instead:
    valid then. `known_at` asks ours: what we had learned by then. `every` drops the validity filter.
    """

    now: datetime
    today: date
    as_of: datetime | None = None
    as_of_day: date | None = None
    known_at: datetime | None = None
    every: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory hit of one lane; `score` is the lane's own, greater is better."""

    stored: Stored
    score: float


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A message hit of one lane; `score` is the lane's own, greater is better, `row` where it stands."""

    message: Message
    score: float
    row: int = 0


@dataclass(frozen=True, slots=True)
class SaidAt:
    """Which message it is, and who spoke."""

    session: str
    id: str
    role: str


@dataclass(frozen=True, slots=True)
class Talk:
    """Messages as `domain.ranking` sees them, by their rows.

    `turns` are those that were asked for, `pool`, those beside some of them, `near`, and what stands
    around either; `groups` what a session said on a day.
    """

    scope: Scope
    turns: tuple[Turn, ...]
    groups: Mapping[str, Group]
    pool: frozenset[int]
    near: frozenset[int]


@dataclass(frozen=True, slots=True)
class RecordLine:
    """One line of `records/`: `kind` is memory, batch or delete; `data` the whole line as JSON-able fields.

    `tx` groups the lines of one transaction, of which this is number `part` (from 1) of `parts`:
    a group that is not whole was never committed. `id` is the memory id, or the session of a batch.
    """

    owner: str
    kind: str
    id: str
    version: int
    tx: str
    part: int
    parts: int
    at: datetime
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Job:
    """A job on the list. `state` is waiting, running or parked; a parked one waits for a command.

    `attempts` counts its failures; `at_once`: whatever the cadence says. A running one is leased to
    `holder` until `lease_until`.
    """

    number: int
    realm: Realm
    kind: str
    key: str
    state: str
    attempts: int
    due: datetime
    problem: str = ""
    at_once: bool = False
    holder: str = ""
    lease_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """Who asks for a job: `holder` until `until`, of these `kinds`.

    `every`: also those whose time has not come, unless they failed before; so are those that are at
    once anyway. `but` are the numbers of jobs it does not want.
    """

    holder: str
    until: datetime
    kinds: tuple[str, ...]
    every: bool = False
    but: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A verdict as it is listed: with its session, batch and time."""

    number: int
    session: str
    batch: str
    at: datetime
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ToolRead:
    """What an agent read by one call of a tool: who, where and which ids; never a text.

    `caller` is the door and, where it says so, the program behind it; `outcome` is ok or the code of
    an error, with which no ids come. `number` is 0 until it is stored.
    """

    at: datetime
    caller: str
    agent: str
    session: str
    workspace: str
    tool: str
    outcome: str
    ids: tuple[str, ...] = ()
    number: int = 0


GONE: Final = 410
"""The status of an answer whose memory was deleted or forgotten."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that is given again: `digest` is the request's, `tag` the answer's ETag (`""`: none).

    `about` is the id of the memory that it tells of, `""` for none. Of one whose memory is gone nothing
    is left but its status, `GONE`: asked again, it must not be done again.
    """

    digest: str
    status: int
    tag: str
    body: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a session has been extracted: the `position` of the last message done, 0 for none."""

    session: str
    position: int
    last: str = ""


@dataclass(frozen=True, slots=True)
class Queued:
    """A message with its position in the order of arrival (the cursor's unit, > 0, never reused)."""

    position: int
    message: Message


@dataclass(frozen=True, slots=True)
class Listing:
    """What `Store.memories` filters by. Empty tuples mean "any"; `text` is matched in name or description.

    `newest`: from the newest id to the oldest.
    """

    types: tuple[Type, ...] = ()
    statuses: tuple[Status, ...] = ()
    text: str = ""
    presences: tuple[Presence, ...] = ("live", "stale")
    newest: bool = False


@dataclass(frozen=True, slots=True)
class OffloadHead:
    """An offload session in the index. `folder` is where its files lie, `version` counts its changes.

    `at` is when it was last changed; `marks` tell the state of its files that this was made from.
    """

    workspace: str
    session: str
    folder: str
    version: int
    at: datetime
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A session with all it holds: the texts of its state, its entries in order, and its graphs by file."""

    head: OffloadHead
    state: str = ""
    entries: tuple[str, ...] = ()
    graphs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class OffloadChange:
    """What changes of a session: its head, its state, entries by their place, graphs by file.

    `anew`: what was there before is forgotten first.
    """

    head: OffloadHead
    state: str
    entries: tuple[tuple[int, str], ...] = ()
    graphs: tuple[tuple[str, str], ...] = ()
    anew: bool = False


# -- the ports -----------------------------------------------------------------------------------


class Clock(Protocol):
    """Time and identity: the only source of either."""

    def now(self) -> datetime:
        """The present, aware, UTC."""
        ...

    def new_id(self, prefix: str) -> str:
        """`prefix` and a ULID in lower case: sortable, unique, monotonic within the process."""
        ...


class Tokenizer(Protocol):
    """Counts tokens, offline."""

    name: str

    def count(self, text: str) -> int:
        """Tokens of `text`, 0 for none."""
        ...


Rung = Literal["schema", "json", "plain"]
"""How an answer's form is asked for: by JSON schema, by JSON mode, or in words alone."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call of a model. `schema` is the JSON schema of the answer, `purpose` what the ledger books it under.

    `model` is `provider:name` (`openai:…`, `anthropic:…`, `ollama:…`, `openai-compatible:…`); `deadline`
    in seconds for the whole call.
    """

    purpose: str
    model: str
    system: str
    user: str
    schema: Mapping[str, object]
    rung: Rung = "schema"
    deadline: float = 60.0
    most_tokens: int = 2_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, thinking left out. `finish` is stop, length or other; tokens as the provider counted."""

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    finish: str = "stop"


class Model(Protocol):
    """A language model. Never called while a transaction is open."""

    def ask(self, question: Question) -> Answer:
        """Put one question.

        Raises:
            ModelFailed: no answer (time-out, refused connection, 429, 5xx, cut stream): worth a retry,
                with the provider's Retry-After where it gave one; or the provider refuses this form of
                answer (`unsupported_rung`), or the request as such (`permanent`: wrong key, unknown model).
            Invalid: the model's name, or a setting of its provider.
        """
        ...

    def close(self) -> None:
        """End the adapter's thread."""
        ...


Side = Literal["query", "passage"]
"""What a text is embedded as: what is looked for, or what may be found."""

Vector = bytes
"""float32 numbers, little-endian, of unit length together."""


class Embedder(Protocol):
    """Turns texts into vectors. Never called while a transaction is open."""

    @property
    def key(self) -> str:
        """Model, revision, pooling and dimension: vectors of different keys are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def remote(self) -> bool:
        """Whether the texts leave this machine."""
        ...

    def embed(self, texts: Sequence[str], side: Side) -> list[Vector]:
        """One vector a text, in their order. An empty text has one too.

        Raises:
            Unavailable: no vectors now (no wheel for this machine, an endpoint that fails).
            Invalid: a setting is wrong: unknown model, refused key.
        """
        ...

    def floor(self, query: Vector, cjk: bool) -> float:
        """The cosine that texts about nothing in particular hardly reach with a query; -1 where unknown.

        It hangs on the texts' language: those of the query's own are nearer to it, whatever they say.
        `cjk`: that they are in Chinese, Japanese or Korean.
        """
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class Shelf:
    """Whose texts: the memories of one key, or a realm's messages of one workspace (kind `message`)."""

    realm: Realm
    kind: Literal["user", "project", "agent", "message"]
    ref: str


@dataclass(frozen=True, slots=True)
class Vectored:
    """The vector of a text: the text's id on its shelf and the hash of what was embedded."""

    id: str
    digest: bytes
    vector: Vector


@dataclass(frozen=True, slots=True)
class Near:
    """A text near a query: `score` is the cosine, `digest` the hash of the text its vector was made from."""

    id: str
    digest: bytes
    score: float


class Scores(Protocol):
    """How near the texts of a shelf are to one query."""

    def top(self, limit: int) -> list[Near]:
        """The nearest, best first; of equal ones the smaller id first. All of them if `limit` is larger."""
        ...

    def of(self, ids: Sequence[str]) -> dict[str, Near]:
        """Those of `ids` that have a vector, exactly."""
        ...

    def __len__(self) -> int:
        """How many texts have a vector."""
        ...


class Vectors(Protocol):
    """The vectors of texts, in a file of their own: derived, refilled from the texts when they are lost.

    A file that cannot be read (truncated, damaged, another program's) is put aside and begun anew;
    `lost` then says so once.
    """

    def lost(self) -> str:
        """Why the vectors that were there had to go since this process opened; `""` when they had not."""
        ...

    def expect(self, embedding: str) -> None:
        """Work for that embedder; what another one made stays, and counts for nothing, until `begin`."""
        ...

    def begin(self, embedding: str) -> bool:
        """Keep vectors of that embedder from here on; True when others were there, which are gone now."""
        ...

    def held(self, shelf: Shelf, ids: Sequence[str] | None = None) -> dict[str, bytes]:
        """By id, of all or of some: the hash of the text that its vector was made from."""
        ...

    def reached(self, shelf: Shelf) -> int:
        """The position up to which a shelf of messages is filled, 0 for none."""
        ...

    def put(self, shelf: Shelf, rows: Sequence[Vectored], reached: int | None = None) -> None:
        """Store vectors, in the place of older ones of the same ids, and how far the shelf is filled.

        Raises:
            Unavailable: disk or database said no; nothing of it was saved.
            Conflict: the embedder was changed meanwhile by another process.
        """
        ...

    def drop(self, shelf: Shelf, ids: Sequence[str]) -> None:
        """Remove vectors, their bytes too."""
        ...

    def scores(self, shelf: Shelf, query: Vector) -> Scores:
        """Compare every vector of a shelf with a query.

        Raises:
            Unavailable: the file cannot be read now.
        """
        ...

    def counts(self, space: str) -> dict[Shelf, int]:
        """How many vectors each shelf of a space has."""
        ...

    def clear(self) -> None:
        """Remove every vector."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class Scanner(Protocol):
    """Finds what may never be kept."""

    def scan(self, text: str) -> tuple[Finding, ...]:
        """Credentials and private identifiers in `text`; empty when clean."""
        ...


class Staged(Protocol):
    """New bytes of one file, already durable under a temporary name beside it (`.<name>.tmp~`)."""

    place: Place
    stat: FileStat
    """Of the temporary file; publishing keeps it."""

    def publish(self) -> None:
        """Rename over the file; the old bytes are kept aside until `settle`."""
        ...

    def undo(self) -> None:
        """Before `publish`: drop the temporary file. After it: the old bytes (or absence) are back.

        Raises:
            OSError: that failed, and what stands is unknown.
        """
        ...

    def settle(self) -> None:
        """Drop the old bytes."""
        ...

    def discard(self) -> None:
        """Drop the temporary files of this one, whatever happened to it; never the file itself."""
        ...


class Appended(Protocol):
    """Lines that were appended to a log: where they start and end, in bytes."""

    start: int
    end: int

    def undo(self) -> None:
        """Cut the log back to `start`.

        Raises:
            OSError: that failed.
        """
        ...


# -- one worker a home -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Holding:
    """Who does a home's background work: process and machine, as what (library, worker, drain), since when."""

    pid: int
    host: str
    role: str
    since: datetime


class Held(Protocol):
    """The right to do a home's background work. It ends with the process."""

    @property
    def stands(self) -> bool:
        """False once it was released, in a forked child, and when the lock's file was taken away."""
        ...

    def release(self) -> None:
        """Give it up; nothing happens when it does not stand."""
        ...


class HomeLock(Protocol):
    """One process at a time holds it, and the system frees it when that process dies."""

    def take(self, role: str, since: datetime) -> Held | None:
        """Take it, without waiting; None when another has it (in this process or any other).

        Raises:
            Unavailable: the system gives no lock.
        """
        ...

    def holder(self) -> Holding | None:
        """Who has it now, None for nobody."""
        ...


Fields = Mapping[str, object]
"""A request or an answer: values that JSON holds."""
Answering = Callable[[Fields, Callable[[Fields], None]], Fields]
"""Answers a request; what it tells meanwhile (progress) goes to whoever asked.

Where it raises `NobodyListens`, whoever asked is hung up on and told nothing else.
"""


class Damaged(Corrupt):
    """The index itself cannot be read; `reindex` makes it anew from the files."""


class NobodyListens(Unavailable):
    """No process answers on the home's socket, or it hung up."""


class Serving(Protocol):
    """A socket that is being answered."""

    def close(self) -> None:
        """Answer no more; whoever waits for an answer is hung up on."""
        ...


class Socket(Protocol):
    """Where the processes of a home reach the one that works for all of them."""

    def serve(self, answer: Answering) -> Serving:
        """Answer requests, in threads, until closed. What a dead process left there is replaced.

        Raises:
            Unavailable: no socket can be made.
        """
        ...

    def ask(
        self,
        request: Fields,
        seconds: float | None = None,
        heard: Callable[[Fields], None] | None = None,
    ) -> Fields:
        """The answer to a request; `heard` gets what is told meanwhile.

        Raises:
            NobodyListens: nobody is there, or it went away before it answered.
            Unavailable: no answer within `seconds`.
            MemstrataError: what the other process raised.
        """
        ...

    def tell(self, request: Fields) -> None:
        """Send a request and wait for nothing; if nobody is there nothing happens."""
        ...


# -- files and index ---------------------------------------------------------------------------


class Vault(Protocol):
    """The files. No method follows a link out of its root; every place is checked."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Hold the home's write lock (`run/write.lock`, an OS lock freed by the kernel at death).

        Every change of files or rows happens under it, so that taking a failed write back can never
        meet another process's. Waits for other processes; not reentrant.
        """
        ...

    def stage(self, place: Place, data: bytes) -> Staged:
        """Write `data` to a temporary file beside `place`, flushed to disk. Folders are made (0700 in the home).

        Raises:
            Invalid: the place leads out of its root or through a link.
            Unavailable: the disk said no; nothing is left behind.
        """
        ...

    def append(self, place: Place, lines: bytes, *, flush: bool = False) -> Appended:
        """Append whole lines to a log; the result takes them back.

        The caller holds `exclusive`, which serialises processes. A torn tail (no
        newline at the end) is cut first, kept aside in `<name>.torn`. Not flushed to disk: a row of the
        same transaction is, and reconcile appends a line that is missing. A log without rows asks for
        `flush`. On failure nothing is left of it.
        """
        ...

    def remove(self, place: Place) -> bool:
        """Remove a regular file; whether it was there. There is no way back: whoever calls has recorded it.

        Raises:
            Invalid: it leads out of its root or through a link, or is no regular file.
            Unavailable: it cannot be removed; it is still there.
        """
        ...

    def remove_folder(self, place: Place) -> bool:
        """Remove a folder in which nothing is; whether it went.

        Raises:
            Invalid: it leads out of its root or through a link.
            Unavailable: the disk said no.
        """
        ...

    def secret(self, place: Place) -> bytes:
        """The random bytes that are kept in a file for its owner alone, made the first time they are asked for.

        The caller holds `exclusive`.

        Raises:
            Unavailable: they can be neither read nor made.
        """
        ...

    def holding(
        self, folder: Place, texts: Sequence[bytes], without: Sequence[Place] = ()
    ) -> dict[str, set[int]]:
        """By path: which of `texts` (their places in the list) stand in a file below `folder`.

        Every regular file is looked through, temporary ones too; not the files and folders `without`.

        Raises:
            Unavailable: one cannot be read.
        """
        ...

    def sync(self, places: Sequence[Place]) -> None:
        """Make the renames and removals in these folders durable (one fsync a folder)."""
        ...

    def read(self, place: Place) -> tuple[bytes, FileStat]:
        """Bytes and stat of a file, of one and the same state of it.

        Raises:
            NotFound: no such file.
            Invalid: it leads out of its root or through a link.
            Unavailable: it cannot be read.
        """
        ...

    def stat(self, place: Place) -> FileStat | None:
        """The stat of a regular file, None when there is none."""
        ...

    def scan(self, folder: Place) -> dict[str, FileStat] | None:
        """The regular files of a folder by name, temporary ones left out; None when the folder is not there."""
        ...

    def folders(self, folder: Place) -> tuple[str, ...]:
        """The names of the folders in it, sorted; empty when it is not there."""
        ...

    def lines(self, place: Place, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """The whole lines of a log from byte `start` on: (offset behind the line, line without its newline)."""
        ...

    def sweep(self, folder: Place) -> int:
        """Remove temporary files left by a killed process; how many."""
        ...

    def root_of(self, path: str) -> str:
        """The root of the workspace that `path` lies in: the folder of its git common dir, else itself, links resolved.

        Raises:
            Invalid: no such folder, or it is the home's own parent (`.memstrata` in it is the home).
        """
        ...


class StoreRead(Protocol):
    """Queries. Each sees one committed state."""

    def memory(self, keys: Sequence[Key], id: str) -> Stored | None:
        """The row with that id under one of `keys`, whatever its presence; the first key wins."""
        ...

    def memories(
        self,
        keys: Sequence[Key],
        listing: Listing,
        moment: Moment,
        *,
        after: str = "",
        limit: int = 1000,
    ) -> list[Stored]:
        """Rows under `keys` that pass `listing`, by id, those behind the id `after` ("" for all).

        Status is computed at `moment.now` and `moment.today`: archived, else invalid (`invalid_at` ≤ now),
        else expired (`valid_until` < today), else active.
        """
        ...

    def foremost(
        self, key: Key, types: Sequence[Type], moment: Moment, *, limit: int
    ) -> list[Stored]:
        """The `limit` active rows of `key` that matter most, those first: standing rules, then type by
        type in the order of `types`; in each by priority (but for feedback), newest change, id.
        """
        ...

    def files(self, key: Key) -> dict[str, tuple[FileStat | None, Presence]]:
        """By file name of `key`'s folder: the stat the index knows, and the presence. Reads no memory."""
        ...

    def named(self, key: Key, name: str) -> list[Stored]:
        """Rows of `key` whose normalised name is `name`, neither archived nor invalid nor absent (expired ones too)."""
        ...

    def slot(self, key: Key, subject: str, slot: str) -> list[Stored]:
        """Rows of `key` about that subject and slot, invalid and expired ones too, archived and absent ones not."""
        ...

    def superseded(self, keys: Sequence[Key], id: str) -> list[Stored]:
        """Rows whose `superseded_by` is `id`."""
        ...

    def counts(self, keys: Sequence[Key], moment: Moment) -> dict[tuple[Key, Type, Status], int]:
        """How many live or stale rows of each key, type and status."""
        ...

    def keys(self, space: str) -> tuple[Key, ...]:
        """Every key of a space that ever held a memory."""
        ...

    def search_memories(
        self,
        keys: Sequence[Key],
        terms: Sequence[Term],
        moment: Moment,
        *,
        types: Sequence[Type] = (),
        limit: int = 20,
    ) -> list[Ranked]:
        """Best full-text hits (any term; bm25 over name, description, body) that are valid at `moment`.

        Live and stale rows only, archived ones never. Validity: with `moment.every` all; else with
        `as_of`: valid_from ≤ as_of (unknown counts as long ago), as_of < invalid_at, valid_until ≥
        as_of_day; with neither: not invalid at now, valid_until ≥ today. With `known_at` besides:
        created_at ≤ known_at, and an end (invalid_at, superseded_by) counts only if retired_at ≤ known_at.
        Filters apply inside, so a small key in a large store still gets `limit` hits.
        """
        ...

    def workspaces_of(self, realm: Realm, session: str) -> list[str]:
        """The workspace keys in which a session said something."""
        ...

    def valid_memories(
        self, keys: Sequence[Key], ids: Sequence[str], moment: Moment, *, types: Sequence[Type] = ()
    ) -> dict[str, Stored]:
        """Those of `ids` that `search_memories` could find: there, not archived, valid at `moment`."""
        ...

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
        """Best full-text hits (any term; bm25) among the realm's messages of these workspace keys (`""`: none).

        With `session` only that session's, whatever its workspace.
        """
        ...

    def message_rows(
        self, realm: Realm, ids: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], int]:
        """The rows of those of `ids` (session, id) that are stored. A row is never reused."""
        ...

    def said_at(self, places: Sequence[int]) -> dict[int, SaidAt]:
        """Whose the messages of some rows are, by row."""
        ...

    def messages_at(self, places: Sequence[int]) -> dict[int, Message]:
        """The messages of some rows, by row."""
        ...

    def message(self, realm: Realm, id: str, session: str | None = None) -> list[Message]:
        """The messages of that id (ids are unique within a session, so there may be several)."""
        ...

    def messages(
        self, realm: Realm, session: str, *, after: int = 0, limit: int = 1000
    ) -> list[Queued]:
        """A session's messages in the order they arrived, those behind position `after`."""
        ...

    def messages_before(
        self, realm: Realm, session: str, position: int, limit: int
    ) -> list[Message]:
        """The last `limit` messages of a session up to `position`, in the order they arrived."""
        ...

    def known_messages(self, realm: Realm, session: str, ids: Sequence[str]) -> dict[str, Message]:
        """Those of `ids` that are stored in the session, by id."""
        ...

    def shelves(self, space: str) -> list[tuple[Shelf, int, int]]:
        """Every shelf of messages: (shelf, messages, number of the last one on it)."""
        ...

    def shelf(self, shelf: Shelf, *, after: int = 0, limit: int = 1000) -> list[Queued]:
        """A shelf's messages by their numbers on it, those behind `after`; a number is never reused."""
        ...

    def cursor(self, realm: Realm, session: str) -> Cursor:
        """How far that session has been extracted."""
        ...

    def sessions(self, realm: Realm) -> list[tuple[str, int, int]]:
        """(session, messages, messages behind the cursor) of the realm, in order of first arrival."""
        ...

    def derived(self, realm: Realm, session: str, message: str) -> list[tuple[Key, str]]:
        """(key, id) of the memories whose evidence names that message: keys of the realm and of projects."""
        ...

    def backlog(self, realm: Realm, session: str, most: int) -> Backlog:
        """How many turns of a session were extracted (counted up to `most`), how many ended since.

        A turn is a user message; those behind the cursor have ended when the assistant spoke after
        them. `last` is when the newest message behind the cursor was recorded.
        """
        ...

    def jobs(self, realm: Realm | None, states: Sequence[str] = ("waiting",)) -> list[Job]:
        """Jobs in those states, earliest due first; None for every realm (the worker's view)."""
        ...

    def waits(self, realm: Realm, kind: str, key: str) -> bool:
        """Whether a job of that kind and key is on the list, in any state."""
        ...

    def verdicts(
        self,
        realm: Realm,
        *,
        session: str | None = None,
        verdict: str | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> list[VerdictRow]:
        """Verdicts, newest first; with `after` only rows numbered below it (0: from the newest)."""
        ...

    def answered(self, realm: Realm, key: str, since: datetime) -> Answered | None:
        """What was answered under an idempotency key of the realm since `since`; None for nothing."""
        ...

    def answers(self, realm: Realm) -> list[tuple[str, str]]:
        """(idempotency key, the answer's body) of every answer that is kept for the realm."""
        ...

    def verdict_counts(self, realm: Realm) -> dict[str, int]:
        """How many of each verdict."""
        ...

    def reads(
        self, realm: Realm, *, session: str | None = None, after: int = 0, limit: int = 100
    ) -> list[ToolRead]:
        """What agents read, newest first; with `after` only rows numbered below it (0: from the newest)."""
        ...

    def records(self, keys: Sequence[Key], id: str) -> list[RecordLine]:
        """The record lines of one memory under those keys, oldest first."""
        ...

    def batches(self, realm: Realm, session: str) -> list[RecordLine]:
        """The record lines of a session's extraction batches, oldest first."""
        ...

    def record_lines(self, space: str, owner: str) -> Iterator[RecordLine]:
        """Every record line of an owner's shards, oldest first."""
        ...

    def record_versions(self, key: Key) -> dict[str, tuple[int, str]]:
        """By memory id of `key`: (newest recorded version, its digest)."""
        ...

    def shards(self, log: str) -> dict[str, int]:
        """By place path of a log's shards: how many bytes of it are indexed."""
        ...

    def offload_head(self, realm: Realm, workspace: str, session: str) -> OffloadHead | None:
        """The offload session of that id in that workspace (`""`: none), without what it holds."""
        ...

    def offload_heads(self, realm: Realm, workspace: str | None = None) -> list[OffloadHead]:
        """The realm's offload sessions, of one workspace if given, changed last first."""
        ...

    def offloaded(self, realm: Realm, workspace: str, session: str) -> Offloaded | None:
        """An offload session with all it holds."""
        ...

    def totals(self, space: str) -> dict[str, int]:
        """Row counts for `status`: memories, messages, text rows of both, records, jobs."""
        ...


class StoreWrite(StoreRead, Protocol):
    """The open write transaction: reads see its own writes. Nothing here touches a file or waits for one."""

    def put(self, stored: Stored) -> None:
        """Insert or replace the row of (key, id) with its text, evidence links and names; hits are kept."""
        ...

    def drop(self, key: Key, id: str) -> None:
        """Remove the row, its text and links."""
        ...

    def add_messages(self, realm: Realm, messages: Sequence[Message]) -> None:
        """Insert messages that are not there (session and id), with their text; those there are left alone."""
        ...

    def drop_messages(self, realm: Realm, ids: Sequence[tuple[str, str]]) -> int:
        """Remove the messages of some (session, id) with their text; how many there were.

        A session without any left has no cursor either.
        """
        ...

    def set_cursor(self, realm: Realm, cursor: Cursor) -> None:
        """Set how far a session has been extracted."""
        ...

    def add_records(
        self, space: str, keys: Sequence[Key | None], lines: Sequence[RecordLine]
    ) -> None:
        """Index record lines that are not there (by tx and part); `keys[i]` is line i's key, None for a batch."""
        ...

    def replace_record(self, space: str, line: RecordLine) -> None:
        """Put `line`, which is no memory's, in the place of the one of its `tx` and `part`."""
        ...

    def drop_records(self, space: str, lines: Sequence[tuple[str, int]]) -> None:
        """Remove record lines by (tx, part)."""
        ...

    def drop_verdicts(self, realm: Realm, numbers: Sequence[int]) -> None:
        """Remove verdicts by their numbers."""
        ...

    def add_verdicts(
        self, realm: Realm, session: str, batch: str, at: datetime, rows: Sequence[Verdict]
    ) -> None:
        """Append verdicts."""
        ...

    def add_read(self, realm: Realm, read: ToolRead, *, most: int, before: datetime) -> None:
        """Append what an agent read; the realm keeps its newest `most`, and in time none older than `before`."""
        ...

    def drop_reads(self, realm: Realm, numbers: Sequence[int]) -> None:
        """Remove calls of agents by their numbers."""
        ...

    def drop_answers(self, realm: Realm, keys: Sequence[str]) -> None:
        """Leave nothing of answers, by their idempotency keys, but that they are gone."""
        ...

    def keep_answer(
        self, realm: Realm, key: str, answer: Answered, now: datetime, since: datetime
    ) -> None:
        """Keep an answer under an idempotency key; forget every answer of before `since`."""
        ...

    def enqueue(
        self, realm: Realm, kind: str, key: str, due: datetime, *, at_once: bool = False
    ) -> None:
        """Add a waiting job, unless one of the same realm, kind and key waits or is parked.

        One that waits takes the earlier due, but not when it failed before; it is at once if either is.
        """
        ...

    def lease(self, wanted: Lease, now: datetime) -> Job | None:
        """Take the job that is due first, running from here on; None when there is none.

        It waits and is due (or `wanted.every`), or its lease has run out. None is taken while
        another of the same realm, kind and key runs.
        """
        ...

    def free_jobs(self) -> int:
        """Let every running job wait again, its failures not counted: who ran them is dead. How many."""
        ...

    def postpone_job(
        self, number: int, due: datetime, problem: str = "", *, failed: bool = False
    ) -> None:
        """Let a job wait until `due`, absorbing one that waits for the same.

        When it `failed`, the failure is counted and `due` holds whatever was enqueued meanwhile;
        otherwise the earlier due does. With a `problem` it is at once no longer.
        """
        ...

    def park_job(self, number: int, problem: str) -> None:
        """Count a failure and set the job aside, and with it one that waits for the same."""
        ...

    def set_aside(self, realm: Realm, kind: str, key: str, problem: str, now: datetime) -> None:
        """Add a parked job, unless there is one of the same realm, kind and key in any state."""
        ...

    def forgive_jobs(self, realm: Realm, kind: str, key: str) -> None:
        """Forget that the jobs of that kind and key ever failed, and why."""
        ...

    def drop_jobs(self, realm: Realm, kind: str, key: str) -> int:
        """Take the jobs of that kind and key off the list, whatever their state; how many."""
        ...

    def unpark_jobs(self, realm: Realm, now: datetime) -> int:
        """Let the realm's parked and failed jobs wait as if they never failed, due at `now`; how many."""
        ...

    def hush_jobs(self, realm: Realm, sessions: Sequence[str]) -> int:
        """Forget what problems the jobs of some sessions had; drop those of a session without messages. How many."""
        ...

    def hasten_jobs(self, but: Sequence[str] = ()) -> None:
        """Whatever waits for its turn is to be done at once, unless its kind is one of `but`."""
        ...

    def drop_job(self, number: int) -> None:
        """Take a job off the list: it is done."""
        ...

    def touch(self, keys: Sequence[Key], ids: Sequence[str], at: datetime) -> None:
        """Add one hit to each id."""
        ...

    def put_offload(self, realm: Realm, change: OffloadChange) -> None:
        """Insert or change an offload session."""
        ...

    def drop_offload(self, realm: Realm, workspace: str, session: str) -> None:
        """Forget an offload session."""
        ...

    def set_shard(self, log: str, path: str, size: int) -> None:
        """Remember how many bytes of a shard are indexed."""
        ...

    def clear(self, space: str) -> None:
        """Forget what is derived of a space: rows, text, links, messages, records, cursors, shards, offload.

        Jobs, verdicts and what agents read stay.
        """
        ...


class Store(StoreRead, Protocol):
    """The index: queries on a consistent snapshot, and one writer at a time."""

    def transaction(self) -> AbstractContextManager[StoreWrite]:
        """Begin a write transaction (it waits for other processes), commit at the end, roll back on an error.

        Raises:
            Unavailable: the database cannot be written (disk full, locked beyond 30 s); nothing was saved.
        """
        ...

    def check(self) -> list[str]:
        """What is wrong with the database itself (integrity check); empty when sound."""
        ...

    def renew(self) -> None:
        """Empty a damaged index for good, hits, jobs and verdicts with it; it is whole again, and to be filled.

        Raises:
            Unavailable: it is in use, or the disk said no.
        """
        ...

    def talk(
        self,
        realm: Realm,
        workspaces: Sequence[str],
        terms: Sequence[Term],
        chosen: Sequence[int],
        beside: Sequence[int],
        reach: int = 2,
    ) -> Talk:
        """What ranks the rows `chosen`, and those up to `reach` before and behind the rows `beside`."""
        ...

    def optimise(self) -> None:
        """Merge the text index's segments: worth it after an import."""
        ...

    def scrub(self) -> bool:
        """Take what was removed out of the text index and the log, its bytes too.

        False: another process keeps reading, and the log still holds it.

        Raises:
            Unavailable: the disk said no.
        """
        ...

    def close(self) -> None:
        """Close every connection; the store may not be used again."""
        ...
