"""Erasure: choose → see what rests on it → write down that it goes → let it go → look whether it went.

What is chosen are messages and memories; what rests on them alone goes along, what rests on more says what
the rest of its sources say. The order of files and rows, and what a kill leaves, is `reconcile/erasing`'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from memstrata.domain import forget as domain
from memstrata.domain import layout, tombstones
from memstrata.domain.forget import Wanted
from memstrata.domain.layout import HOME, IN_WORKSPACE, Place
from memstrata.domain.memory import Evidence, Memory
from memstrata.domain.plan import job_session
from memstrata.domain.records import MEMORY
from memstrata.domain.scope import LOCAL_OWNER, Key, Realm, View
from memstrata.domain.tombstones import Stone, Tombstones
from memstrata.domain.turn import Message
from memstrata.errors import Corrupt, NotFound, Unavailable
from memstrata.pipelines import apply, bind, graves, ledger, sessions
from memstrata.pipelines.apply import Unfinished
from memstrata.pipelines.reconcile import erasing, files, lines
from memstrata.pipelines.reconcile import forgotten as resting
from memstrata.pipelines.reconcile.erasing import Left
from memstrata.pipelines.reconcile.forgotten import Erasure
from memstrata.pipelines.reconcile.holdings import HOLDINGS
from memstrata.pipelines.sight import message_id
from memstrata.pipelines.world import World
from memstrata.ports import Stored

Reason = Literal["git", "model", "embedder", "document", "workspace", "file", "log", "copies"]
DATABASES: Final = ("memstrata.db", "vectors.db")
"""The files that only `verify` reads through; SQLite keeps others beside them."""


@dataclass(frozen=True, slots=True)
class Unreached:
    """What an erasure cannot reach. `why`: git (a workspace's history), model or embedder (texts were sent
    there), document (a person's own, `path`), workspace (its folder is not there), file (it still holds some
    of it), log (a process reads the database), copies (whatever lies outside this home).
    """

    why: Reason
    what: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """What reading every byte came to: `found` are files that still hold some of it; clean: none does.

    `looked_for` texts were looked for, `skipped` are too short or too many to be told from others, `elsewhere`
    are said by something that stays, too.
    """

    clean: bool
    looked_for: int
    skipped: int
    elsewhere: int
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was forgotten, or (`dry_run`) would be: counts by store, never a word of it.

    `erased` and `changed` are ids of memories: those that went, and those that stay on fewer sources.
    `left` are files that could not be removed yet; reconcile tries again.
    """

    dry_run: bool
    counts: Mapping[str, int]
    erased: tuple[str, ...]
    changed: tuple[str, ...]
    left: tuple[Left, ...] = ()
    not_reached: tuple[Unreached, ...] = ()
    verified: Verification | None = None


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What was asked for: messages, and memories with the rows that they have."""

    messages: tuple[Message, ...]
    memories: tuple[tuple[Key, str], ...]
    sessions: tuple[str, ...] = ()
    """Those of which nothing may be left, what was archived of their tool calls neither."""


def forget(
    world: World, view: View, wanted: Wanted, *, dry_run: bool = False, verify: bool = False
) -> Receipt:
    """Erase what `wanted` names and what rests on it alone, for good.

    Raises:
        NotFound: there is nothing of that kind in the view.
        Unfinished: reconcile must finish something first, or take a hand edit over.
        Corrupt: the file of a memory that would lose sources cannot be read; mend it first.
        Unavailable: disk or database said no; nothing was forgotten.
        OutcomeUnknown: it was begun and not finished; the next reconcile goes on.
    """
    realm = view.realm
    if dry_run:
        secret = graves.secret_of(world)
        stone, erasure = _decided(world, view, wanted, secret)
        stones = Tombstones(secret).with_stones([stone])
        return replace(_receipt(world, wanted, erasure, stones), dry_run=True)
    with world.vault.exclusive():
        apply.refuse_half_done(world, realm.owner)
        secret = world.vault.secret(tombstones.SECRET)
        stone, erasure = _decided(world, view, wanted, secret)
        receipt = _receipt(world, wanted, erasure, Tombstones(secret).with_stones([stone]))
        carried = erasing.bury(world, realm, stone, erasure)
    with erasing.begun():
        for row in _rows(erasure):
            _list_anew(world, row)
        problems = erasing.scrub(world, realm)
    world.bus.emit(
        "memory.forgotten",
        messages=receipt.counts["messages"],
        memories=receipt.counts["memories"],
    )
    return _looked(world, view, erasure, replace(receipt, left=carried.left), problems, verify)


def _list_anew(world: World, row: Stored) -> None:
    if bind.is_there(world, row.place.root):
        apply.write_index(world, row.memory.key, erasing.target_of(world, row))


def _rows(erasure: Erasure) -> list[Stored]:
    """The rows that go or change."""
    rows = [*(one.row for one in erasure.gone), *(one.row for one in erasure.kept)]
    return [row for row in rows if row is not None]


def _decided(world: World, view: View, wanted: Wanted, secret: bytes) -> tuple[Stone, Erasure]:
    """The tombstones of what was asked for, and all that goes with it."""
    chosen = _chosen(world, view, wanted)
    seed = _stone(world, view.realm, chosen, secret)
    stones = Tombstones(secret).with_stones([seed])
    erasure = resting.gather(world, view.realm, stones)
    for one in erasure.kept:
        _refuse_unread(world, one.row)
    more = erasing.stone_of(world, view.realm, stones, erasure)
    return seed if more is None else _united(seed, more), erasure


def _refuse_unread(world: World, row: Stored) -> None:
    """What a person wrote into a file may not be lost with what goes."""
    if row.presence == "stale":
        raise Corrupt(str(row.place), f"{row.problem}; mend the file first, nothing was forgotten")
    if bind.is_there(world, row.place.root) and apply.moved_by_hand(world, row):
        raise Unfinished(f"{row.place} was edited by hand since it was read; nothing was forgotten")


# -- choosing ------------------------------------------------------------------------------------


def _chosen(world: World, view: View, wanted: Wanted) -> _Chosen:
    found = _by_ids(world, view, wanted.ids) if wanted.ids else _by_what(world, view, wanted)
    if not (found.messages or found.memories or found.sessions):
        raise NotFound("message or memory", wanted.session or wanted.entity or "of that time")
    return found


def _by_ids(world: World, view: View, ids: Sequence[str]) -> _Chosen:
    """These memories, and the messages that they were drawn from: else they would be drawn again."""
    messages: dict[tuple[str, str], Message] = {}
    memories: list[tuple[Key, str]] = []
    for id in ids:
        memory = _memory(world, view, id)
        memories.append((memory.key, id))
        for one in _said(world, view.realm, memory):
            messages[one.session, one.id] = one
    return _Chosen(tuple(messages.values()), tuple(memories))


def _memory(world: World, view: View, id: str) -> Memory:
    """A memory, or what was recorded of one that was deleted."""
    row = world.store.memory(view.keys, id)
    if row is not None:
        return row.memory
    for line in reversed(world.store.records(view.keys, id)):
        key = lines.key_of(world, line)
        if line.kind == MEMORY and key is not None:
            return lines.recorded(world, line, key)
    raise NotFound("memory", id)


def _said(world: World, realm: Realm, memory: Memory) -> Iterator[Message]:
    """The realm's own messages that a memory quotes."""
    for one in memory.evidence:
        for message in world.store.message(realm, one.message, one.session or None):
            if memory.key.scope != "project" or _quotes(one, message):
                yield message


def _quotes(one: Evidence, message: Message) -> bool:
    """Whether it is this message that is quoted: members of a project may use the same ids."""
    same = one.message == message.id and one.session in ("", message.session)
    return same and message.content[one.start : one.end] == one.quote


def _by_what(world: World, view: View, wanted: Wanted) -> _Chosen:
    """What was said in a session, at a time, about something; memories by what they say and when.

    One that has sources goes with those, unless it names what was asked for itself.
    """
    messages = {
        (one.session, one.id): one
        for one in _messages(world, view.realm, wanted.session)
        if wanted.during(one.when) and wanted.names(one.content, one.name)
    }
    memories: list[tuple[Key, str]] = []
    for memory in () if wanted.session is not None else _memories(world, view):
        sources = list(_said(world, view.realm, memory))
        texts = (memory.name, memory.description, memory.body, *memory.entities)
        at = memory.said_at or memory.created_at
        if (sources and wanted.entity is None) or not wanted.during(at):
            continue
        if wanted.names(*texts):
            memories.append((memory.key, memory.id))
            messages |= {(one.session, one.id): one for one in sources if wanted.during(one.when)}
    return _Chosen(
        tuple(messages.values()),
        tuple(memories),
        _sessions(world, view.realm, wanted, bool(messages)),
    )


def _sessions(world: World, realm: Realm, wanted: Wanted, said: bool) -> tuple[str, ...]:
    """The session that goes as a whole, where something was `said` in it, or archived of it."""
    narrowed = (wanted.entity, wanted.since, wanted.until) != (None, None, None)
    if wanted.session is None or narrowed:
        return ()
    kept = {session for _, session, _ in sessions.made(world, realm.owner)}
    kept |= {head.session for head in world.store.offload_heads(realm)}
    return (wanted.session,) if said or wanted.session in kept else ()


def _messages(world: World, realm: Realm, session: str | None) -> Iterator[Message]:
    sessions = [one for one, _, _ in world.store.sessions(realm)] if session is None else [session]
    for one in sessions:
        after = 0
        while page := world.store.messages(realm, one, after=after):
            after = page[-1].position
            yield from (queued.message for queued in page)


def _memories(world: World, view: View) -> Iterator[Memory]:
    """The reader's memories: of a project those that this reader wrote; deleted ones as they were recorded."""
    for key in view.keys:
        rows = files.rows_of(world, key)
        yield from (row.memory for row in rows.values() if _is_own(view, key, row.owner))
        for id in world.store.record_versions(key):
            found = [one for one in world.store.records((key,), id) if one.kind == MEMORY]
            if id not in rows and found and _is_own(view, key, found[-1].owner):
                yield lines.recorded(world, found[-1], key)


def _is_own(view: View, key: Key, author: str) -> bool:
    return key.scope != "project" or author == view.realm.owner


def _stone(world: World, realm: Realm, chosen: _Chosen, secret: bytes) -> Stone:
    """The tombstones of what was chosen itself."""
    ids = {one.id for one in chosen.messages}
    held = _quoting(world, realm, ids)
    bare = {one.message for _, _, one in held if not one.session}
    return Stone(
        at=world.clock.now(),
        messages=frozenset(
            tombstones.message(secret, realm, session, one.id)
            for one in chosen.messages
            for session in (one.session, *(("",) if one.id in bare else ()))
        ),
        contents=frozenset(tombstones.content(secret, realm, one) for one in chosen.messages),
        evidence=frozenset(
            tombstones.source(secret, key, id, one)
            for key, id, one in held
            if key.scope == "project" and any(_quotes(one, message) for message in chosen.messages)
        ),
        memories=frozenset(tombstones.memory(secret, *at) for at in chosen.memories),
        sessions=frozenset(tombstones.session(secret, realm, one) for one in chosen.sessions),
    )


def _quoting(world: World, realm: Realm, ids: set[str]) -> list[tuple[Key, str, Evidence]]:
    """Each source of a memory, in any version, that names one of these messages: key and id with it."""
    found: list[tuple[Key, str, Evidence]] = []
    for key in _keys(world, realm):
        for id, row in files.rows_of(world, key).items():
            found += [(key, id, one) for one in row.memory.evidence if one.message in ids]
    for owner in world.owners():
        for line in world.store.record_lines(world.space, owner):
            whose = lines.key_of(world, line)
            if whose is not None:
                sources = resting.evidence_of(line)
                found += [(whose, line.id, one) for one in sources if one.message in ids]
    return [one for one in found if one[0].realm == realm or one[0].scope == "project"]


def _keys(world: World, realm: Realm) -> list[Key]:
    """The keys whose memories may quote what somebody said."""
    every = world.store.keys(world.space)
    return [key for key in every if key.realm == realm or key.scope == "project"]


def _every_version(world: World, realm: Realm) -> Iterator[Memory]:
    for key in _keys(world, realm):
        yield from (row.memory for row in files.rows_of(world, key).values())
        for id in world.store.record_versions(key):
            for line in world.store.records((key,), id):
                if line.kind == MEMORY:
                    yield lines.recorded(world, line, key)


def _united(one: Stone, other: Stone) -> Stone:
    return Stone(
        max(one.at, other.at),
        one.messages | other.messages,
        one.contents | other.contents,
        one.evidence | other.evidence,
        one.memories | other.memories,
        one.files | other.files,
        one.sessions | other.sessions,
    )


# -- the receipt -----------------------------------------------------------------------------------


def _receipt(world: World, wanted: Wanted, erasure: Erasure, stones: Tombstones) -> Receipt:
    return Receipt(
        dry_run=False,
        counts=_counts(world, erasure, stones),
        erased=tuple(sorted(one.id for one in erasure.gone)),
        changed=tuple(sorted(one.after.id for one in erasure.kept)),
        not_reached=(
            *_joined(world, wanted, erasure.realm),
            *_listed(world, wanted, erasure.realm),
            *_unreached(world, erasure),
        ),
    )


def _counts(world: World, erasure: Erasure, stones: Tombstones) -> dict[str, int]:
    """How much goes, by where it is kept."""
    states = ("waiting", "running", "parked")
    jobs = world.store.jobs(erasure.realm, states)
    return {
        "messages": len(erasure.messages),
        "memories": len(erasure.gone),
        "changed": len(erasure.kept),
        "versions": erasure.versions,
        "records": len(erasure.lines),
        "vectors": _vectors(world, erasure),
        "verdicts": len(erasure.verdicts),
        "jobs": sum(job_session(one.kind, one.key) in erasure.sessions for one in jobs),
        "again": len(erasure.redo),
        "reads": sum(len(numbers) for _, numbers in erasure.reads),
        "answers": sum(len(keys) for _, keys in erasure.answers),
        **{
            one.name: len(one.become(world, erasure.realm, erasure, stones).files)
            for one in HOLDINGS
        },
    }


def _vectors(world: World, erasure: Erasure) -> int:
    """The vectors of what goes or changes; 0 where their file cannot be read."""
    ids = {one.id for one in erasure.gone} | {one.after.id for one in erasure.kept}
    ids |= {message_id(one.session, one.id) for one in erasure.messages}
    try:
        orphans = erasing.orphans(world, erasure.realm, erasure)
    except (Unavailable, Corrupt):
        return 0
    return sum(len(found & ids) for found in orphans.values())


def _unreached(world: World, erasure: Erasure) -> Iterator[Unreached]:
    """What is outside of what an erasure can change."""
    for root in _roots(erasure):
        yield Unreached("git" if bind.is_there(world, root) else "workspace", root)
    models = sorted(_models(world, erasure))
    yield from (Unreached("model", one) for one in models)
    if world.sight is not None and world.sight.embedder.remote:
        yield Unreached("embedder", world.sight.embedder.key)
    yield Unreached("copies")


def _joined(world: World, wanted: Wanted, realm: Realm) -> Iterator[Unreached]:
    """The names that a person joined, where what was asked for is one: they are theirs."""
    place = layout.aliases(realm.owner)
    if wanted.entity is None or world.vault.stat(place) is None:
        return
    text = world.vault.read(place)[0].decode(errors="replace")
    if domain.mentions(wanted.entity, text):
        yield Unreached("document", str(place))


def _listed(world: World, wanted: Wanted, realm: Realm) -> Iterator[Unreached]:
    """The other archives that list a task of the session; its block stands in the host's list as well."""
    root = layout.offload_root(realm.owner)
    made = [folder for folder, one, _ in sessions.made(world, realm.owner) if one == wanted.session]
    names = [f"- {folder.name}/".encode() for folder in made]
    for path in sorted(world.vault.holding(root, names, made) if names else ()):
        yield Unreached("file", path)


def _roots(erasure: Erasure) -> list[str]:
    return sorted({row.place.root for row in _rows(erasure)} - {HOME})


def _models(world: World, erasure: Erasure) -> set[str]:
    """The models that read what is forgotten, by the ledger."""
    folder = layout.log_folder(erasure.realm.owner, ledger.LOG)
    found: set[str] = set()
    for name in world.vault.scan(folder) or {}:
        for _, raw in world.vault.lines(folder.within(name)):
            try:
                line = json.loads(raw)
                if line["batch"] in erasure.batches:
                    found.add(str(line["model"]))
            except (ValueError, KeyError, TypeError):
                continue
    return found


# -- looking whether it went -----------------------------------------------------------------------


def _looked(
    world: World,
    view: View,
    erasure: Erasure,
    receipt: Receipt,
    problems: Sequence[str],
    verify: bool,
) -> Receipt:
    """The receipt with what still holds some of it; `verify` reads the databases too."""
    texts = [*(one.content for one in erasure.messages), *erasure.texts]
    pieces, skipped = domain.pieces(texts, domain.MOST_PIECES if verify else domain.FEW_PIECES)
    held = _holders(world, erasure, pieces, verify)
    hits = sorted({n for places in held.values() for n in places})
    own, others = _said_still(world, view, [pieces[n] for n in hits])
    legitimate = {n for n in hits if pieces[n] in own | others}
    found = sorted(path for path, places in held.items() if places - legitimate)
    documents = [path for path in found if _is_document(path)]
    rest = [path for path in found if path not in documents]
    seen = Verification(
        clean=not rest,
        looked_for=len(pieces),
        skipped=skipped,
        elsewhere=sum(pieces[n] in own for n in hits),
        found=tuple(rest),
    )
    more = [
        *(Unreached("document", path) for path in documents),
        *(Unreached("file", path) for path in rest),
        *(Unreached("log", problem) for problem in problems),
    ]
    return replace(
        receipt,
        not_reached=tuple(dict.fromkeys((*more, *receipt.not_reached))),
        verified=seen if verify else None,
    )


def _is_document(path: str) -> bool:
    own = ("PRIVATE_MEMORY.md", "revisions.jsonl", "aliases.json")
    return path.startswith("team/") or path.endswith(own)


def _holders(
    world: World, erasure: Erasure, pieces: Sequence[str], verify: bool
) -> dict[str, set[int]]:
    """By file: the numbers of the pieces that it holds in any form."""
    forms = [(n, form) for n, piece in enumerate(pieces) for form in domain.forms(piece)]
    if not forms:
        return {}
    sought = [form for _, form in forms]
    found: dict[str, set[int]] = {}
    for folder, without in _searched(world, erasure, verify):
        for path, places in world.vault.holding(folder, sought, without).items():
            found.setdefault(path, set()).update(forms[place][0] for place in places)
    return found


def _searched(
    world: World, erasure: Erasure, verify: bool
) -> Iterator[tuple[Place, tuple[Place, ...]]]:
    """The folders that may hold this owner's words: what is all owners' and what is theirs."""
    top = Place(HOME, "")
    names = [] if verify else [f"{one}{end}" for one in DATABASES for end in ("", "-wal", "-shm")]
    others = [top.within("owners")]
    owner = erasure.realm.owner
    if owner != LOCAL_OWNER:
        shared = ("team", "backups", "run")
        others += [top.within(one) for one in world.vault.folders(top) if one not in shared]
        yield top.within(layout.owner_folder(owner).rstrip("/")), ()
        yield top.within("candidates").within("project"), ()
    yield top, (*others, *map(top.within, names))
    for root in _roots(erasure):
        if bind.is_there(world, root):
            yield Place(root, IN_WORKSPACE), ()


def _said_still(
    world: World, view: View, pieces: Sequence[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Which pieces something that stays says as well: this reader's own, and anybody's.

    What others said is not told, only not taken for a trace.
    """
    if not pieces:
        return frozenset(), frozenset()
    own: set[str] = set()
    others: set[str] = set()
    for owner in world.owners():
        realm = Realm(world.space, owner)
        found = own if realm == view.realm else others
        for text in _texts(world, realm):
            found.update(piece for piece in pieces if piece in text)
    return frozenset(own), frozenset(others)


def _texts(world: World, realm: Realm) -> Iterator[str]:
    yield from (one.content for one in _messages(world, realm, None))
    for memory in _every_version(world, realm):
        yield from (memory.name, memory.description, memory.body, memory.scene)
        yield from (one.quote for one in memory.evidence)
