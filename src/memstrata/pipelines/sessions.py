"""Offload sessions: their files, which are the truth, and the rows that say the same.

::

    offload/<session>/
      session.json       whose session it is
      refs/<id>.md       archived texts
      offload.jsonl      one entry a tool result
      graphs/*.mmd       task graphs
      state.json         what was folded, boundaries, the active graph
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from memstrata.domain import checks, layout, offload_state, times
from memstrata.domain.canvas import Graph, file_name, parse, render
from memstrata.domain.layout import Place
from memstrata.domain.memory import EPOCH
from memstrata.domain.offload_state import Kept, Session, safe_name
from memstrata.domain.plan import Enqueue
from memstrata.domain.scope import Realm
from memstrata.domain.tombstones import Tombstones
from memstrata.domain.window import digest
from memstrata.errors import Conflict, Invalid, NotFound
from memstrata.pipelines import apply
from memstrata.pipelines.apply import Folding
from memstrata.pipelines.world import Problem, Report, World
from memstrata.ports import OffloadChange, Offloaded, OffloadHead

ENTRIES: Final = "offload.jsonl"
STATE: Final = "state.json"
IDENTITY: Final = "session.json"
REFS: Final = "refs"
GRAPHS: Final = "graphs"


@dataclass(frozen=True, slots=True)
class Spot:
    """Which session: of whom, in which workspace (its key, `""` for none), under which id."""

    realm: Realm
    workspace: str
    session: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A session as it stands at a version, 0 for one that was never saved, and where its files lie."""

    session: Session
    version: int
    folder: Place

    def ref(self, file: str) -> Place:
        """The place of an archived text."""
        return self.folder.within(REFS).within(file)

    def graph(self, file: str) -> Place:
        """The place of a graph."""
        return self.folder.within(GRAPHS).within(file)


def stand(world: World, spot: Spot, known: Standing | None = None) -> Standing:
    """The session as it stands; `known` is what the caller saw last, given back where nothing moved.

    Where its files are not what the index was made from, they are taken over.

    Raises:
        Unavailable: disk or database said no.
    """
    head = world.store.offload_head(spot.realm, spot.workspace, spot.session)
    if head is not None and known is not None and head.version == known.version:
        return known
    if head is None:
        return _unindexed(world, spot)
    folder = layout.offload_folder(spot.realm.owner, head.folder)
    if marks(world, folder) != head.marks:
        return _taken_over(world, spot.realm, folder, head)
    held = world.store.offloaded(spot.realm, spot.workspace, spot.session)
    try:
        return (
            Standing(_parsed(held), held.head.version, folder) if held else _unindexed(world, spot)
        )
    except Invalid:  # the rows of another release, perhaps; the files say it all
        return _taken_over(world, spot.realm, folder, head)


def _unindexed(world: World, spot: Spot) -> Standing:
    """A session without rows: one whose files are there all the same, or a new one."""
    for name in _names(spot):
        folder = layout.offload_folder(spot.realm.owner, name)
        whose = _identity(world, folder)
        if whose == (spot.workspace, spot.session):
            head = OffloadHead(*whose, name, 0, _last_change(world, folder))
            return _taken_over(world, spot.realm, folder, head)
        if whose is None:
            return Standing(Session(), 0, folder)
    raise Conflict(f"the folders of session {spot.session!r} belong to others")


def _names(spot: Spot) -> tuple[str, str]:
    """What a session's folder may be called: by its id; where another workspace has that, by both."""
    plain = safe_name(spot.session)
    return plain, f"{plain}-{digest(f'{spot.workspace} {spot.session}')[:8]}"


def _identity(world: World, folder: Place) -> tuple[str, str] | None:
    """(workspace, session) of a folder; None where nothing says so."""
    data = _read(world, folder.within(IDENTITY))
    try:
        raw = json.loads(data or b"null")
        return str(raw["workspace"]), str(raw["session"])
    except (ValueError, KeyError, TypeError):
        return None


def _parsed(held: Offloaded) -> Session:
    kept = [offload_state.parse_entry(line) for line in held.entries]
    graphs = [parse(text, file) for file, text in held.graphs]
    return offload_state.parse_state(held.state, kept, graphs)


# -- from the files ---------------------------------------------------------------------------------


def marks(world: World, folder: Place) -> str:
    """The state of a session's files in short: what changes when any of them does."""
    found = [world.vault.stat(folder.within(name)) for name in (ENTRIES, STATE)]
    graphs = world.vault.scan(folder.within(GRAPHS)) or {}
    return digest(f"{found} {sorted(graphs.items())}")


def _taken_over(world: World, realm: Realm, folder: Place, head: OffloadHead) -> Standing:
    """The session as its files say, in the index from here on."""
    session = from_files(world, folder)
    change = _change(head, Session(), session, anew=True)
    made = apply.fold(world, Folding(realm, change, head.version), lambda: marks(world, folder))
    return Standing(session, made.version, folder)


def from_files(world: World, folder: Place, problems: list[Problem] | None = None) -> Session:
    """What the files of a session say; what cannot be read is told and left out."""
    told: list[Problem] = [] if problems is None else problems
    kept = {one.key: one for one in _entries(world, folder, told)}
    graphs = list(_graphs(world, folder, told))
    place = folder.within(STATE)
    try:
        return offload_state.parse_state(_read(world, place), kept.values(), graphs)
    except Invalid as error:
        told.append(Problem(str(place), error.message))
        return offload_state.parse_state(b"", kept.values(), graphs)


def _entries(world: World, folder: Place, problems: list[Problem]) -> Iterator[Kept]:
    """The entries; where an id has several lines, the last one counts."""
    place = folder.within(ENTRIES)
    for number, line in enumerate(_read(world, place).splitlines(), start=1):
        try:
            yield offload_state.parse_entry(line)
        except Invalid as error:
            problems.append(Problem(str(place), error.message, number))


def _graphs(world: World, folder: Place, problems: list[Problem]) -> Iterator[Graph]:
    seen: set[int] = set()
    graphs = folder.within(GRAPHS)
    for name in world.vault.scan(graphs) or {}:
        if not name.endswith(".mmd"):
            continue
        try:
            graph = parse(_read(world, graphs.within(name)).decode(), name)
        except (Invalid, UnicodeDecodeError) as error:
            problems.append(Problem(str(graphs.within(name)), str(error)))
            continue
        if graph.number not in seen:
            seen.add(graph.number)
            yield graph


def _read(world: World, place: Place) -> bytes:
    try:
        return world.vault.read(place)[0]
    except NotFound:
        return b""


# -- to the files -----------------------------------------------------------------------------------


def save(
    world: World,
    spot: Spot,
    before: Standing,
    after: Session,
    refs: Mapping[str, bytes],
    job: Enqueue | None = None,
) -> Standing:
    """Save what a session became, with the texts that were archived (by file name) and the job that follows.

    Raises:
        Conflict: another process moved it on; nothing was saved.
        Unavailable: disk or database said no; nothing but archived texts was saved.
    """
    if after == before.session and not refs:
        return before
    folder = before.folder
    now = world.clock.now()
    head = OffloadHead(spot.workspace, spot.session, folder.name, before.version, now)
    change = _change(head, before.session, after)
    texts, lines = _texts(spot, before, after, change, now)
    folding = Folding(
        spot.realm,
        change,
        before.version,
        refs=tuple((before.ref(file), data) for file, data in refs.items()),
        texts=texts,
        log=folder.within(ENTRIES),
        lines=lines,
        job=job,
    )
    made = apply.fold(world, folding, lambda: marks(world, folder))
    return Standing(after, made.version, folder)


def _change(
    head: OffloadHead, before: Session, after: Session, *, anew: bool = False
) -> OffloadChange:
    held = dict(enumerate(before.kept))
    entries = tuple(
        (place, offload_state.entry_line(one))
        for place, one in enumerate(after.kept)
        if held.get(place) != one
    )
    known = set(before.graphs)
    graphs = tuple((file_name(one), render(one)) for one in after.graphs if one not in known)
    return OffloadChange(head, offload_state.state_text(after), entries, graphs, anew)


def _texts(
    spot: Spot, before: Standing, after: Session, change: OffloadChange, now: datetime
) -> tuple[tuple[tuple[Place, bytes], ...], bytes]:
    """The files that are replaced, and the lines that go to the end of the entries."""
    folder, was = before.folder, before.session
    texts: list[tuple[Place, bytes]] = []
    if not before.version:
        texts.append((folder.within(IDENTITY), _whose(spot, now)))
    texts += [(before.graph(file), f"{text}\n".encode()) for file, text in change.graphs]
    lines = b"".join(f"{line}\n".encode() for _, line in change.entries)
    if any(place < len(was.kept) for place, _ in change.entries):
        whole = "".join(f"{offload_state.entry_line(one)}\n" for one in after.kept)
        texts.append((folder.within(ENTRIES), whole.encode()))
        lines = b""
    if change.state != offload_state.state_text(was):
        texts.append((folder.within(STATE), f"{change.state}\n".encode()))
    return tuple(texts), lines


def _whose(spot: Spot, now: datetime) -> bytes:
    fields = {
        "session": spot.session,
        "workspace": spot.workspace,
        "owner": spot.realm.owner,
        "created": times.stamp(now),
    }
    return json.dumps(fields, ensure_ascii=False, indent=1).encode() + b"\n"


# -- others -----------------------------------------------------------------------------------------


def neighbours(
    world: World, spot: Spot, since: datetime | None = None
) -> Iterator[tuple[OffloadHead, Session]]:
    """The other sessions of the same owner and workspace, changed last first, those changed `since`."""
    for head in world.store.offload_heads(spot.realm, spot.workspace):
        if head.session == spot.session or (since is not None and head.at < since):
            continue
        held = world.store.offloaded(spot.realm, spot.workspace, head.session)
        if held is not None:
            yield head, _parsed(held)


def bring_together(world: World, owners: Sequence[str], report: Report) -> None:
    """Bring files and rows of every offload session together; sessions that are past their days go."""
    for owner in owners:
        realm = Realm(world.space, owner)
        heads = {head.folder: head for head in world.store.offload_heads(realm)}
        names = set(world.vault.folders(layout.offload_root(owner)))
        for name in sorted(names | set(heads)):
            try:
                _bring(world, realm, checks.ref("folder", name), heads.get(name), report)
            except Invalid as error:
                place = f"{layout.offload_root(owner)}/{name}"
                report.problems.append(Problem(place, error.message))


def _bring(world: World, realm: Realm, name: str, head: OffloadHead | None, report: Report) -> None:
    folder = layout.offload_folder(realm.owner, name)
    swept = sum(map(world.vault.sweep, (folder, folder.within(REFS), folder.within(GRAPHS))))
    if swept:
        report.actions.append(f"removed {swept} temporary files that a killed process left")
    whose = _identity(world, folder)
    if whose is None:
        if head is not None:
            apply.forget_offload(world, realm, head, ())
            report.actions.append(f"forgot {folder}, which is gone")
        if apply.remove_folders(world, emptied(realm.owner, [folder.within(IDENTITY)])):
            report.actions.append(f"removed {folder}, in which nothing is")
        return
    held = head or OffloadHead(*whose, name, 0, _last_change(world, folder))
    if _is_past(world, held):
        apply.forget_offload(world, realm, held, list(every_file(world, folder)))
        apply.remove_folders(world, emptied(realm.owner, [folder.within(IDENTITY)]))
        report.actions.append(f"removed {folder}: its days are over")
    elif head is None or marks(world, folder) != head.marks:
        from_files(world, folder, report.problems)
        _taken_over(world, realm, folder, held)
        report.actions.append(f"took over {folder}")


# -- forgotten --------------------------------------------------------------------------------------


def made(world: World, owner: str) -> Iterator[tuple[Place, str, datetime]]:
    """(folder, session, when it began) of each session that has files."""
    for name in world.vault.folders(layout.offload_root(owner)):
        try:
            folder = layout.offload_folder(owner, name)
        except Invalid:
            continue
        whose = _identity(world, folder)
        if whose is not None:
            yield folder, whose[1], _began(world, folder)


def _began(world: World, folder: Place) -> datetime:
    try:
        raw = json.loads(_read(world, folder.within(IDENTITY)))
        return times.instant("created", raw["created"]) or EPOCH
    except (ValueError, KeyError, TypeError, Invalid):
        return EPOCH


def emptied(owner: str, removed: Iterable[Place]) -> Iterator[Place]:
    """The folders of the sessions that lost these files, the inner ones first."""
    root = layout.offload_root(owner)
    gone = [one.folder for one in removed if one.name == IDENTITY and one.folder.folder == root]
    for folder in gone:
        yield from (*inner(folder), folder)


def inner(folder: Place) -> tuple[Place, Place]:
    """The folders within a session's."""
    return folder.within(REFS), folder.within(GRAPHS)


def forgotten(world: World, realm: Realm, stones: Tombstones) -> Iterator[OffloadHead]:
    """The sessions in the index that were forgotten."""
    for head in world.store.offload_heads(realm):
        began = _began(world, layout.offload_folder(realm.owner, head.folder))
        if stones.has_session(realm, head.session, began):
            yield head


# -- past their days --------------------------------------------------------------------------------


def _last_change(world: World, folder: Place) -> datetime:
    """When a session without rows was changed last: its newest entry's time."""
    newest = [one.entry.timestamp for one in from_files(world, folder).kept]
    return max(newest, default=world.clock.now())


def _is_past(world: World, head: OffloadHead) -> bool:
    days = world.settings.offload.retention_days
    return bool(days) and world.clock.now() - head.at > timedelta(days=days)


def every_file(world: World, folder: Place) -> Iterator[Place]:
    """Every file of a session, the one that says whose it is last."""
    for part in (folder.within(REFS), folder.within(GRAPHS)):
        yield from (part.within(name) for name in world.vault.scan(part) or {})
    names = list(world.vault.scan(folder) or {})
    yield from (folder.within(name) for name in names if name != IDENTITY)
    yield folder.within(IDENTITY)
