"""The facade's verbs: a few lines each that pick a pipeline or a query. No rules here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, tzinfo
from enum import Enum
from os import PathLike
from pathlib import Path
from random import random
from secrets import token_urlsafe
from threading import Lock
from typing import Any, Final, TypeVar, cast

from memstrata.domain import checks, codec, forget, markdown
from memstrata.domain.insertion import Task
from memstrata.domain.layout import GLOBAL, HOME, PERSONA, Place
from memstrata.domain.memory import (
    DEFAULT_PRIORITY,
    MAX_BODY,
    STATUSES,
    Memory,
    parse_type,
    reason_note,
)
from memstrata.domain.plan import EXTRACT, REFUSALS, REQUESTED, SCENES, VERDICTS, Enqueue, Plan
from memstrata.domain.plan import PERSONA as PERSONA_JOB
from memstrata.domain.scope import LOCAL_SPACE, Key, Realm, Scope, View, parse_scope, realm
from memstrata.domain.sides import Side
from memstrata.domain.times import day, instant
from memstrata.domain.token import NewToken, Token, parse_role, parse_space
from memstrata.domain.turn import Message
from memstrata.errors import Conflict, Denied, Invalid, NotFound
from memstrata.importers import Imported
from memstrata.importers import run as run_import
from memstrata.jobs import worker
from memstrata.jobs.holder import Holder, Office
from memstrata.jobs.kinds import FEW_TRIES, TRIES
from memstrata.jobs.requests import Doors
from memstrata.offload import OffloadSession, opened
from memstrata.pipelines import add as adding
from memstrata.pipelines import (
    apply,
    bind,
    candidates,
    capture,
    consolidate,
    entities,
    estimate,
    lanes,
    ledger,
    lifecycle,
    offload,
    portrait,
    read,
    recall,
    reconcile,
    redo,
    report,
    token,
    trial,
    trust,
)
from memstrata.pipelines import forget as forgetting
from memstrata.pipelines.candidates import Candidate, Rejection
from memstrata.pipelines.capture import Captured, Chat
from memstrata.pipelines.chores import Chores
from memstrata.pipelines.consolidate import Consolidation
from memstrata.pipelines.entities import Alias, Entity
from memstrata.pipelines.estimate import Estimate
from memstrata.pipelines.forget import Receipt
from memstrata.pipelines.ledger import Spent
from memstrata.pipelines.lifecycle import Deleted
from memstrata.pipelines.offload import Cache, Recalled, Spot
from memstrata.pipelines.portrait import PersonaText, SceneText, TextVersion
from memstrata.pipelines.read import Hits, Kind, Page, Record, SessionInfo, Trace, Version
from memstrata.pipelines.recall import Asker, Context
from memstrata.pipelines.team_document import Thread
from memstrata.pipelines.trial import Trial
from memstrata.pipelines.world import Problem, Report, World, refuse_sensitive
from memstrata.ports import HomeLock, Listing, Model, Socket, Stored, ToolRead, VerdictRow
from memstrata.settings import Loaded, Setting, Settings, changed, described
from memstrata.team_document import MemoryDocument
from memstrata.tools import Caller, Reader, Tools
from memstrata.tools.texts import parse_language

Path_ = str | PathLike[str]
_T = TypeVar("_T")
Time = datetime | str | float | None
Progress = Callable[[str, int, int], None]
"""Called with (what, done, in all); `in all` is 0 while it is unknown."""

MOST_HITS: Final = 1_000
LONGEST_WAIT: Final = 1e6
"""Seconds; threads can wait no longer than the system's largest number of them."""
QUERY: Final = 1_000_000
_CURSOR: Final = re.compile(r"[0-9]{1,18}")


Refit = Callable[[World, Loaded], tuple[World, Loaded]]
"""What makes the world anew with the settings as the files say now."""


class Kept(Enum):
    """The value of a field that an edit leaves as it is."""

    KEPT = "kept"

    def __repr__(self) -> str:
        return "KEPT"


KEPT: Final = Kept.KEPT


@dataclass(frozen=True, slots=True)
class Review:
    """Memories that came with a workspace's files, as they were shown under `digest` (`""`: there are none)."""

    workspace: bind.Workspace
    digest: str
    memories: tuple[Record, ...]


class Verbs:
    """What memstrata does, the same behind every door.

    A verb that needs to know where it is called from takes `workspace=` (a path inside it) and
    `agent=`. Times are datetimes or ISO 8601 texts; one without an offset is local to the owner.
    """

    def __init__(
        self,
        world: World,
        loaded: Loaded,
        owner: Realm,
        *,
        lock: HomeLock,
        socket: Socket,
        role: str,
        refit: Refit | None = None,
    ) -> None:
        self._world = world
        self._loaded = loaded
        self._refit = refit
        self._config = Place(HOME, loaded.path.name)
        self._seen = world.vault.stat(self._config)
        self._settings_problem = ""
        self._refitting = Lock()
        self._realm = owner
        self._lock = lock
        self._chores = Chores(world)
        self._stop_listening = world.bus.listen(self._chores.on_event)
        self._opened = Report()
        self._closed = False
        doors = Doors(self._recalled, self.search, self.status)
        self._holder = Holder(self._fresh, Office(lock, socket, role, random, doors, self._after))

    @property
    def space(self) -> str:
        """The tenant that this memory belongs to."""
        return self._realm.space

    @property
    def in_force(self) -> Settings:
        """The settings that hold now."""
        return self._fresh().settings

    # -- turns --------------------------------------------------------------------------------

    def session(
        self,
        id: str,
        *,
        user: str | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
    ) -> Session:
        """The conversation `id` of `user` (the owner unless given), bound to a workspace and an agent.

        Raises:
            Invalid: an id that is none, a workspace that is no folder.
        """
        checks.identity("session", id)
        owner = self._realm if user is None else realm(self._realm.space, user)
        bound = self._bound(workspace)
        view = View(owner, bound.key if bound else None, _agent(agent))
        return Session(self, id, view, bound)

    def search(
        self,
        query: str,
        *,
        kinds: Sequence[Kind] = read.KINDS,
        scope: Scope | None = None,
        type: str | None = None,
        limit: int = 10,
        as_of: Time = None,
        known_at: Time = None,
        include_invalid: bool = False,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Hits:
        """Memories, then messages, best first, at most `limit` of each kind.

        Only what is valid now; `as_of` asks what was true then, `known_at` what we knew then,
        `include_invalid` for all.

        Raises:
            Invalid: the argument that is wrong. A query is data: no text of it ever raises.
        """
        world, view = self._reader(workspace, agent, user)
        moment = world.moment(
            as_of=instant("as_of", as_of, world.zone),
            known_at=instant("known_at", known_at, world.zone),
            every=include_invalid,
        )
        return read.search(
            world,
            view,
            _query(query),
            moment,
            kinds=_kinds(kinds),
            scope=None if scope is None else parse_scope(scope),
            types=() if type is None else (parse_type(type),),
            limit=_limit(limit, MOST_HITS),
        )

    def search_conversations(
        self,
        query: str,
        *,
        session: str | None = None,
        limit: int = 10,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Hits:
        """Messages word for word, best first: those said in no workspace and in the reader's own.

        Raises:
            Invalid: the argument that is wrong.
        """
        world, view = self._reader(workspace, agent, user)
        named = None if session is None else checks.identity("session", session)
        found, degraded = lanes.messages(
            world,
            view.realm,
            read.workspaces(view),
            _query(query),
            session=named,
            limit=_limit(limit, MOST_HITS),
        )
        return Hits(
            [read.message_hit(hit) for hit in found], degraded, world.settings.search.profile
        )

    def sessions(self, *, user: str | None = None) -> tuple[SessionInfo, ...]:
        """The conversations of `user`, in the order in which they began."""
        world, view = self._reader(None, None, user)
        return read.sessions(world, view)

    def messages(
        self,
        session: str,
        *,
        limit: int = 50,
        cursor: str | None = None,
        workspace: Path_ | None = None,
        user: str | None = None,
    ) -> Page[Message]:
        """What was said in a conversation, oldest first: in no workspace and in the reader's own.

        Raises:
            Invalid: the argument that is wrong.
        """
        world, view = self._reader(workspace, None, user)
        return read.messages(
            world,
            view,
            checks.identity("session", session),
            limit=_limit(limit, MOST_HITS),
            cursor=0 if cursor is None else _number(cursor),
        )

    # -- memories -----------------------------------------------------------------------------

    def add(
        self,
        *,
        scope: str = "user",
        type: str = "user",
        name: str,
        description: str,
        body: str = "",
        entities: Sequence[str] = (),
        priority: int | None = None,
        valid_until: date | str | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Record:
        """Store a memory that a person typed: confidence 1, no gate but the sensitive one.

        Raises:
            Invalid: the field that is wrong.
            Refused: it holds a credential or a private identifier.
            Conflict: the name belongs to a memory that is valid now.
        """
        chosen = parse_scope(scope)
        owner = self._realm if user is None else realm(self._realm.space, user)
        bound = self._bound(workspace)
        key = View(owner, bound.key if bound else None, _agent(agent)).key(chosen)
        world = self._under(bound)
        memory = self._typed(
            key,
            type=type,
            name=name,
            description=description,
            body=body,
            entities=entities,
            priority=priority,
            valid_until=valid_until,
        )
        if bound and chosen == "project":
            refuse_sensitive(world, memory)
            bind.announce(world, bound)
        target = bind.target(world, key, owner.owner)
        row = self._finished(lambda: adding.add(world, memory, target))
        self._chores.tick()
        return read.record(world, row, world.moment())

    def get(
        self,
        id: str,
        *,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Record:
        """One memory, whatever its status.

        Raises:
            NotFound: no such id in this view.
        """
        world, view = self._reader(workspace, agent, user)
        return read.record(world, read.stored(world, view, _id(id)), world.moment())

    def list(
        self,
        *,
        scope: Scope | None = None,
        type: str | None = None,
        status: str | None = None,
        text: str = "",
        newest: bool = False,
        limit: int = 50,
        cursor: str | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Page[Record]:
        """Memories in the order of their ids, a page at a time, ended ones included unless `status` says.

        With `newest` the last one comes first.

        Raises:
            Invalid: the argument that is wrong.
        """
        world, view = self._reader(workspace, agent, user)
        if status is not None and status not in STATUSES:
            raise Invalid("status", f"{status!r} is no status; use one of {', '.join(STATUSES)}")
        listing = Listing(
            types=() if type is None else (parse_type(type),),
            statuses=() if status is None else (cast("Any", status),),
            text=checks.string("text", text),
            newest=bool(newest),
        )
        return read.page(
            world,
            view,
            world.moment(),
            scope=None if scope is None else parse_scope(scope),
            listing=listing,
            limit=_limit(limit, MOST_HITS),
            cursor="" if cursor is None else checks.ref("cursor", cursor),
        )

    def history(
        self,
        id: str,
        *,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> tuple[Version, ...]:
        """Every version of a memory, oldest first.

        Raises:
            NotFound: no such id in this view.
        """
        world, view = self._reader(workspace, agent, user)
        return read.history(world, view, _id(id))

    def diff(
        self,
        id: str,
        old: int,
        new: int | None = None,
        *,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> str:
        """What changed between two versions of a memory, as a unified diff; `new` is the newest unless given.

        Raises:
            NotFound: no such id in this view, or no such version.
        """
        world, view = self._reader(workspace, agent, user)
        later = None if new is None else _version("new", new)
        return read.diff(world, view, _id(id), _version("old", old), later)

    def edit(
        self,
        id: str,
        *,
        expected_version: int,
        name: str | Kept = KEPT,
        description: str | Kept = KEPT,
        body: str | Kept = KEPT,
        type: str | Kept = KEPT,
        priority: int | Kept | None = KEPT,
        confidence: float | Kept = KEPT,
        entities: Sequence[str] | Kept = KEPT,
        happened_from: date | str | Kept | None = KEPT,
        happened_until: date | str | Kept | None = KEPT,
        valid_until: date | str | Kept | None = KEPT,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Record:
        """Correct a memory: the next version, with what is given; a person's from here on, its evidence kept.

        None takes a date away and gives the priority of the type. A confidence that is not given is 1.

        Raises:
            NotFound: no such id in this view.
            Conflict: it is not at `expected_version` any more (with both texts), or the name or slot
                belongs to another memory that is valid now. Nothing was saved.
            Invalid: the field that is wrong.
            Refused: it holds a credential or a private identifier.
            Corrupt: its file cannot be read; it was left as it is.
        """
        given = {
            "name": name,
            "description": description,
            "body": body,
            "type": type,
            "priority": priority,
            "confidence": confidence,
            "entities": _listed(entities),
            "happened_from": happened_from,
            "happened_until": happened_until,
            "valid_until": valid_until,
        }
        changes = {field: value for field, value in given.items() if value is not KEPT}
        expected = _version("expected_version", expected_version)
        one = self._one(id, workspace, agent, user)
        return self._person(one, lambda: lifecycle.edit(*one, expected, changes))

    def archive(
        self,
        id: str,
        *,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Record:
        """Put a memory aside: it stays in its file and is listed, no search and no recall finds it.

        Raises:
            NotFound: no such id in this view.
            Corrupt: its file cannot be read; it was left as it is.
        """
        one = self._one(id, workspace, agent, user)
        return self._person(one, lambda: lifecycle.archive(*one))

    def restore(
        self,
        id: str,
        *,
        version: int | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Record:
        """Bring an archived or ended memory back to use; with `version`, what it said then, as a new version.

        Raises:
            NotFound: no such id in this view, or no such version.
            Conflict: its name or slot belongs to another memory that is valid now, whose id it has.
            Invalid: it has expired: edit its last day.
            Refused: it holds a credential or a private identifier.
            Corrupt: its file cannot be read; it was left as it is.
        """
        wanted = None if version is None else _version("version", version)
        one = self._one(id, workspace, agent, user)
        return self._person(one, lambda: lifecycle.restore(*one, wanted))

    def delete(
        self,
        id: str,
        *,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Deleted:
        """Delete a memory for good: row, text, vector, links, file. Its history stays in the records.

        A file that cannot be removed is `blocked_locally`, tried again at each reconcile and listed by
        `doctor`; nothing finds the memory meanwhile.

        Raises:
            NotFound: no such id in this view.
        """
        one = self._one(id, workspace, agent, user)
        found = self._finished(lambda: lifecycle.delete(*one))
        self._chores.tick()
        return found

    def forget(
        self,
        *,
        ids: Sequence[str] | None = None,
        session: str | None = None,
        entity: str | None = None,
        since: Time | date = None,
        until: Time | date = None,
        dry_run: bool = False,
        verify: bool = False,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Receipt:
        """Erase memories with their sources, or what was said in a session, about something, at a time, for good.

        What rests on it alone goes along; a memory with further sources says what those say. Give `ids` of
        memories, or one or more of `session`, `entity`, `since`, `until` (both included; a day means all of
        it), which must all fit. `dry_run` counts and changes nothing; `verify` reads every byte afterwards.

        Raises:
            Invalid: nothing was asked for, or the argument that is wrong.
            NotFound: there is nothing of that in this view; nothing was forgotten.
            Corrupt: the file of a memory that would lose sources cannot be read; mend it first.
            Unavailable: disk or database said no. Where it was begun, the next start goes on with it.
        """
        world, view = self._view(workspace, agent, user)
        chosen = forget.wanted(
            ids=ids,
            session=session,
            entity=entity,
            since=_end_of("since", since, world.zone, time.min),
            until=_end_of("until", until, world.zone, time.max),
        )
        if not dry_run:
            self.reconcile()
        found = self._finished(
            lambda: forgetting.forget(world, view, chosen, dry_run=dry_run, verify=verify)
        )
        self._chores.tick()
        if found.counts["again"] and not dry_run:
            self._holder.wake()
        return found

    def resolve(
        self,
        id: str,
        *,
        take: Side | None = None,
        text: str | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Record:
        """Mend the file of a memory that cannot be read: `take` a side of its merge conflicts, or give its `text`.

        Raises:
            NotFound: no such id in this view.
            Invalid: there is nothing to resolve, or what it would be cannot be read.
            Conflict: its name or slot belongs to another memory that is valid now.
            Refused: it holds a credential or a private identifier.
        """
        if (take is None) == (text is None):
            raise Invalid("take", "give ours or theirs, or a text, one of them")
        if take not in (None, "ours", "theirs"):
            raise Invalid("take", f"{checks.shown(take)} is neither ours nor theirs")
        given = None if text is None else checks.string("text", text)
        one = self._one(id, workspace, agent, user)
        return self._person(one, lambda: lifecycle.resolve(*one, take, given))

    def trace(
        self,
        id: str,
        *,
        session: str | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Trace:
        """Where something came from and what came of it: a memory, a message, a scene, a line of the persona.

        A scene has the id `<group>/<name>`, as the navigation shows it, a line `persona/<number>`.
        `session` says whose message is meant where hosts use an id more than once.

        Raises:
            NotFound: no such thing in this view.
            Corrupt: scenes or persona cannot be read.
        """
        world, view = self._reader(workspace, agent, user)
        return read.trace(world, view, checks.identity("id", id), world.moment(), session=session)

    def why(
        self,
        *,
        session: str | None = None,
        verdict: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        user: str | None = None,
    ) -> Page[VerdictRow]:
        """What became of each candidate, newest first: kept, or refused by which gate and why.

        Raises:
            Invalid: the argument that is wrong.
        """
        world, view = self._reader(None, None, user)
        if verdict is not None and verdict not in VERDICTS:
            raise Invalid("verdict", f"{verdict!r} is no verdict; use one of {', '.join(VERDICTS)}")
        named = None if session is None else checks.identity("session", session)
        return read.why(
            world,
            view,
            session=named,
            verdict=verdict,
            cursor=0 if cursor is None else _number(cursor),
            limit=_limit(limit, MOST_HITS),
        )

    # -- consolidation ------------------------------------------------------------------------

    def candidates(
        self,
        *,
        scope: Scope | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> tuple[Candidate, ...]:
        """The general rules that wait for a person, each with its sources and the digest to confirm it by.

        Raises:
            Invalid: the argument that is wrong.
        """
        world, view = self._reader(workspace, agent, user)
        return candidates.every(world, view, None if scope is None else parse_scope(scope))

    def confirm(
        self,
        id: str,
        *,
        digest: str,
        name: str | Kept = KEPT,
        description: str | Kept = KEPT,
        body: str | Kept = KEPT,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Record:
        """Make a candidate a rule, as it was shown under `digest`, in other words where they are given.

        Raises:
            NotFound: no such candidate waits in this view.
            Conflict: it or one of its sources was changed since it was shown, or was decided on; or its
                name belongs to a memory that is valid now, whose id it has. It goes on waiting.
            Invalid: the field that is wrong.
            Refused: it holds a credential or a private identifier. It goes on waiting.
            Corrupt: its file cannot be read.
        """
        given = {"name": name, "description": description, "body": body}
        edits = {field: value for field, value in given.items() if value is not KEPT}
        shown = checks.ref("digest", digest)
        one = self._one(id, workspace, agent, user)
        return self._person(one, lambda: candidates.confirm(*one, shown, edits))

    def reject(
        self,
        id: str,
        *,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> Rejection:
        """Decide against a candidate; the same is not proposed again.

        Raises:
            NotFound: no such candidate waits in this view.
            Conflict: it was changed or decided on meanwhile.
            Corrupt: its file cannot be read.
        """
        one = self._one(id, workspace, agent, user)
        return self._finished(lambda: candidates.reject(*one))

    def consolidate(
        self,
        *,
        dry_run: bool = False,
        apply: str | None = None,
        scope: Scope | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
        progress: Progress | None = None,
    ) -> Consolidation:
        """Merge memories that say the same and propose general rules, now, due or not.

        With `dry_run` nothing changes: the plan is kept for a day under a digest, and `apply` carries out
        exactly that plan. Where no model is set only what is the same word for word is merged.

        Raises:
            Invalid: both are given, or the argument that is wrong.
            NotFound: no plan of that digest is kept (any more).
            Conflict: memories were changed meanwhile, and nothing was saved.
            Unavailable: the disk or the database said no, or a workspace is not there.
        """
        if dry_run and apply is not None:
            raise Invalid("apply", "carries out a plan, dry_run makes one; give one or the other")
        world, view = self._reader(workspace, agent, user)
        author = view.realm.owner
        if apply is not None:
            digest = checks.ref("apply", apply)
            done = self._finished(lambda: consolidate.apply_kept(world, view, digest, author))
            self._chores.tick()
            return done
        keys = [key for key in view.keys if scope is None or key.scope == parse_scope(scope)]
        if dry_run:
            return consolidate.dry_run(world, keys, author, view.realm, progress)
        found = consolidate.together(
            [
                self._consolidated(world, key, author, progress, at, len(keys))
                for at, key in enumerate(keys)
            ]
        )
        self._chores.tick()
        return found

    def _consolidated(
        self, world: World, key: Key, author: str, progress: Progress | None, at: int, all: int
    ) -> Consolidation:
        """One key consolidated, again where memories moved while the model thought."""
        if progress is not None:
            progress("consolidating", at, all)
        for _ in range(FEW_TRIES - 1):
            try:
                return consolidate.run(world, key, author)
            except Conflict:
                reconcile.reconcile(self._world)
        return consolidate.run(world, key, author)

    # -- agents -------------------------------------------------------------------------------

    def tools(
        self,
        *,
        session: str | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
        caller: str = "python",
        language: str = "en",
    ) -> Tools:
        """The read-only tools of an agent, as any host may offer them to its model.

        Each call is listed under `session` and `caller` (see `reads`); notes to the model are in
        `language`, en or zh. Where memory is switched off it is the calls that say so.

        Raises:
            Invalid: the argument that is wrong.
        """
        if workspace is not None:
            bind.find(self._world, bind.workspace_path(workspace))
        if user is not None:
            realm(self._realm.space, user)
        chosen = _agent(agent)
        who = Caller(
            checks.identity("caller", caller),
            "" if session is None else checks.identity("session", session),
            parse_language(language),
        )
        return Tools(
            self._world.zone, lambda: Reader(*self._standing(workspace, chosen, user)), who
        )

    def reads(
        self,
        *,
        session: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        user: str | None = None,
    ) -> Page[ToolRead]:
        """What agents read by tools, newest first: when, who, in which session, which ids.

        The newest 10,000 calls of an owner are kept, for `log.reads_days`.

        Raises:
            Invalid: the argument that is wrong.
        """
        owner = self._realm if user is None else realm(self._realm.space, user)
        return read.reads(
            self._world,
            owner,
            session=None if session is None else checks.identity("session", session),
            cursor=0 if cursor is None else _number(cursor),
            limit=_limit(limit, MOST_HITS),
        )

    # -- names ----------------------------------------------------------------------------------

    def entities(
        self,
        *,
        workspace: Path_ | None = None,
        agent: str | None = None,
        user: str | None = None,
    ) -> tuple[Entity, ...]:
        """The people, libraries, modules and systems that memories name, those of most memories first.

        Raises:
            Invalid: the argument that is wrong.
        """
        world, view = self._reader(workspace, agent, user)
        return entities.listed(world, view)

    def alias(self, name: str, *, of: str, user: str | None = None) -> Alias:
        """Let `name` be another name of the thing `of`, at once: for related memories and for evolution.

        Raises:
            Invalid: a name is blank, or they stand for each other already.
            Refused: a name holds a credential or a private identifier.
            Corrupt: the table of names cannot be read; it was left as it is.
        """
        world, view = self._reader(None, None, user)
        return entities.join(world, view.realm, name, of)

    def unalias(self, name: str, *, user: str | None = None) -> Alias:
        """Let `name` be a thing of its own again, whoever joined it.

        Raises:
            NotFound: it is already.
            Corrupt: the table of names cannot be read; it was left as it is.
        """
        world, view = self._reader(None, None, user)
        return entities.part(world, view.realm, name)

    # -- workspaces -----------------------------------------------------------------------------

    def workspaces(self) -> tuple[report.Bound, ...]:
        """Every bound workspace: where it lies, whether it is there, what it holds."""
        return report.workspaces(self._world)

    def bind_workspace(self, path: Path_) -> bind.Workspace:
        """Bind the workspace that `path` lies in to this home, and take in what its folder holds.

        Raises:
            Invalid: no such folder, or one that cannot be a workspace.
        """
        bound = self._bound(bind.workspace_path(path))
        if bound is None:
            raise Invalid("workspace", "expected the path of a folder")
        return bound

    def unbind_workspace(self, workspace: Path_) -> bind.Workspace:
        """Let this home forget a workspace (its path, key or id); its files stay, and binding it brings all back.

        Raises:
            NotFound: no such workspace, or several of that id.
        """
        found = bind.named(self._world, bind.workspace_path(workspace))
        bind.unbind(self._world, found)
        return found

    def unreviewed(self, workspace: Path_) -> Review:
        """What came with a workspace's files and nobody looked at yet, with the digest that `trust` takes.

        Raises:
            NotFound: no such workspace.
        """
        found = bind.named(self._world, bind.workspace_path(workspace))
        self.reconcile()
        shown = trust.unreviewed(self._world, found)
        return self._review(found, shown.digest, shown.rows)

    def trust(self, workspace: Path_, digest: str) -> Review:
        """Trust what `unreviewed` showed under `digest`; a file that changes later is to be looked at again.

        Raises:
            NotFound: no such workspace.
            Conflict: something changed since it was shown; nothing was trusted.
        """
        found = bind.named(self._world, bind.workspace_path(workspace))
        given = checks.string("digest", digest)
        rows = self._finished(lambda: trust.trust(self._world, found, given))
        self._chores.tick()
        return self._review(found, given, rows)

    def _review(self, workspace: bind.Workspace, digest: str, rows: Sequence[Stored]) -> Review:
        moment = self._world.moment()
        return Review(
            workspace, digest, tuple(read.record(self._world, row, moment) for row in rows)
        )

    # -- scenes and persona -------------------------------------------------------------------

    def scenes(
        self, *, workspace: Path_ | None = None, user: str | None = None
    ) -> tuple[SceneText, ...]:
        """The scenes of no workspace and of the reader's own, hottest first, each paragraph with its citations.

        Raises:
            Invalid: the argument that is wrong.
            Corrupt: what is known of their versions cannot be read.
        """
        world, view = self._reader(workspace, None, user)
        return portrait.scenes(world, view)

    def scene(
        self, name: str, *, workspace: Path_ | None = None, user: str | None = None
    ) -> SceneText:
        """The scene of that name, or id, of the reader's workspace first.

        Raises:
            NotFound: there is none that this reader sees.
        """
        world, view = self._reader(workspace, None, user)
        return portrait.scene_named(world, view, checks.identity("name", name))

    def persona(self, *, user: str | None = None) -> PersonaText:
        """The persona, each line with its citations; empty while there is none.

        Raises:
            Corrupt: what is known of its versions cannot be read.
        """
        world, view = self._reader(None, None, user)
        return portrait.persona_of(world, view.realm)

    def request_scenes(self, *, workspace: Path_ | None = None, user: str | None = None) -> None:
        """Bring the scenes up to date now, in the background; `drain` waits for it.

        Raises:
            Denied: scenes are switched off, or memory is.
            Invalid: the argument that is wrong.
            Unavailable: the database said no.
        """
        world, view = self._reader(workspace, None, user)
        if not world.settings.scenes.enabled:
            raise Denied("scenes are switched off (scenes.enabled = false); the files stay")
        apply.request(world, view.realm, SCENES, view.workspace or GLOBAL)
        self._holder.wake()

    def request_persona(self, *, user: str | None = None) -> None:
        """Make the persona anew now, in the background; `drain` waits for it.

        Raises:
            Denied: the persona is switched off, or memory is.
            Unavailable: the database said no.
        """
        world, view = self._reader(None, None, user)
        if not world.settings.persona.enabled:
            raise Denied("the persona is switched off (persona.enabled = false); its file stays")
        apply.request(world, view.realm, PERSONA_JOB, REQUESTED)
        self._holder.wake()

    def scene_versions(
        self, *, workspace: Path_ | None = None, user: str | None = None
    ) -> tuple[TextVersion, ...]:
        """The versions of the scenes that are kept, newest first: of a workspace, else those of none.

        Raises:
            Corrupt: they cannot be read.
        """
        world, view = self._reader(workspace, None, user)
        return portrait.versions(world, view.realm, view.workspace or GLOBAL)

    def persona_versions(self, *, user: str | None = None) -> tuple[TextVersion, ...]:
        """The versions of the persona that are kept, newest first.

        Raises:
            Corrupt: they cannot be read.
        """
        world, view = self._reader(None, None, user)
        return portrait.versions(world, view.realm, PERSONA)

    def restore_scenes(
        self,
        *,
        version: str | None = None,
        workspace: Path_ | None = None,
        user: str | None = None,
    ) -> TextVersion:
        """Bring an older version of the scenes back, as a new one; without `version` the one before what stands.

        Raises:
            NotFound: there is no such version.
            Refused: it holds a credential or a private identifier.
            Conflict: something moved meanwhile; nothing was saved.
        """
        world, view = self._reader(workspace, None, user)
        return self._restored(world, view, view.workspace or GLOBAL, version)

    def restore_persona(
        self, *, version: str | None = None, user: str | None = None
    ) -> TextVersion:
        """Bring an older version of the persona back, as a new one; see `restore_scenes`.

        Raises: as `restore_scenes` does.
        """
        world, view = self._reader(None, None, user)
        return self._restored(world, view, PERSONA, version)

    def lock_persona(
        self, line: int, *, locked: bool = True, user: str | None = None
    ) -> PersonaText:
        """Keep a line of the persona (counted from 1) through every regeneration, or no longer.

        Raises:
            Invalid: there is no such line.
            Conflict: something moved meanwhile; nothing was saved.
        """
        world, view = self._reader(None, None, user)
        number = _version("line", line)
        return self._finished(lambda: portrait.lock(world, view.realm, number, locked=locked))

    def edit_persona(self, text: str, *, user: str | None = None) -> PersonaText:
        """Take the persona as a person wrote it, in the form of its file; what is new in it is locked.

        Raises:
            Invalid: it says nothing, or is too long.
            Refused: it holds a credential or a private identifier.
            Conflict: something moved meanwhile; nothing was saved.
        """
        world, view = self._reader(None, None, user)
        given = checks.string("text", text)
        return self._finished(lambda: portrait.edit(world, view.realm, given))

    def persona_file(self, *, user: str | None = None) -> str:
        """The persona as its file says it, citations included: what `edit_persona` takes.

        Raises:
            Corrupt: what is known of its versions cannot be read.
        """
        world, view = self._reader(None, None, user)
        return portrait.persona_file(world, view.realm)

    # -- documents ----------------------------------------------------------------------------

    def team(
        self,
        workspace: Path_,
        *,
        session: str | None = None,
        user: str | None = None,
        channel: str = "python",
    ) -> MemoryDocument:
        """The team document of the workspace that `workspace` lies in, as the thread `session` works on it.

        Without a session the object itself is the thread. `channel` is the door that revisions name.

        Raises:
            Invalid: the argument that is wrong.
            Denied: memory is switched off.
        """
        bound = self._bound(bind.workspace_path(workspace))
        if bound is None:
            raise Invalid("workspace", "expected the path of a folder")
        thread = self._thread(bound.key, session, user, channel)
        return MemoryDocument(self._under(bound), thread, bound.name)

    def private(
        self, *, session: str | None = None, user: str | None = None, channel: str = "python"
    ) -> MemoryDocument:
        """The private document of `user` (the owner unless given); see `team`.

        Raises:
            Invalid: the argument that is wrong.
            Denied: memory is switched off.
        """
        thread = self._thread("", session, user, channel)
        return MemoryDocument(self._world, thread, thread.realm.owner)

    # -- the working memory of a task ---------------------------------------------------------

    def offload(
        self,
        session_id: str,
        *,
        window: int | None = None,
        cache: Cache | None = None,
        workspace: Path_ | None = None,
        user: str | None = None,
    ) -> OffloadSession:
        """The tool results and tasks of one agent session, in a model's `window` of so many tokens.

        `cache` is `stable` (the beginning of the list stays byte for byte as long as it can) or `fresh`.
        What is not given is as the settings say (`offload.window`, `offload.cache`).

        Raises:
            Invalid: the argument that is wrong.
            Denied: memory is switched off.
        """
        self._refuse_disabled()
        checks.identity("session_id", session_id)
        owner = self._realm if user is None else realm(self._realm.space, user)
        bound = self._bound(workspace)
        spot = Spot(owner, bound.key if bound else "", session_id)
        return opened(self._under(bound), spot, window, cache, self._holder.wake)

    def tasks(
        self,
        *,
        session: str | None = None,
        limit: int = 20,
        workspace: Path_ | None = None,
        user: str | None = None,
    ) -> tuple[Task, ...]:
        """The tasks of agent sessions, newest first: of one, or of all of the owner's in this workspace.

        Raises:
            Invalid: the argument that is wrong.
        """
        world, view = self._reader(workspace, None, user)
        if session is not None:
            return self.offload(session, workspace=workspace, user=user).tasks(limit=limit)
        return offload.all_tasks(world, view.realm, view.workspace or "", limit=limit)

    def recall_result(
        self,
        ref: str,
        *,
        session: str | None = None,
        start: int = 1,
        lines: int = 200,
        grep: str | None = None,
        workspace: Path_ | None = None,
        user: str | None = None,
    ) -> Recalled:
        """An archived tool result of an agent session; see `OffloadSession.recall`.

        Without a session the owner's sessions in this workspace are looked through, newest first;
        `<folder>/<ref>` names one.

        Raises:
            Invalid: the argument that is wrong.
            NotFound: nothing is archived under that ref.
        """
        world, view = self._reader(workspace, None, user)
        wanted = checks.string("ref", ref)
        if session is not None:
            names = [checks.identity("session", session)]
        else:
            names = offload.sessions_of(world, view.realm, view.workspace or "", wanted)
        for name in names:
            with suppress(NotFound):
                one = self.offload(name, workspace=workspace, user=user)
                return one.recall(wanted, start=start, lines=lines, grep=grep)
        raise NotFound("ref", wanted)

    # -- the whole ----------------------------------------------------------------------------

    def drain(
        self, timeout: float | None = None, *, progress: Progress | None = None
    ) -> worker.Worked:
        """Wait until everything that waited is worked off, and return what was done meanwhile.

        The process that does the home's background work does it; if there is none, this one. What
        failed before goes on waiting for its next try.

        Raises:
            Invalid: `timeout` is no number of seconds.
            Unavailable: it took longer than `timeout`, or the disk or the database said no; the rest
                waits.
        """
        done = self._holder.drain(_seconds(timeout), progress)
        self._chores.flush()
        return done

    def estimate(self, *, user: str | None = None) -> Estimate | None:
        """About how often the model that is set will be asked about what waits; None where none is set."""
        world, view = self._reader(None, None, user)
        return estimate.estimate(world, view.realm)

    def extract(
        self,
        *,
        retry: bool = False,
        retry_refused: str | None = None,
        progress: Progress | None = None,
    ) -> worker.Worked:
        """`drain`; with `retry` what was set aside is taken up again, and what failed tried at once.

        `retry_refused` names a verdict (`quota`): batches of which a candidate was refused so are
        extracted again; what they brought is known by now and stays as it is.

        Raises:
            Invalid: `retry_refused` is no verdict of a refusal.
            Unavailable: the disk or the database said no; the rest waits.
        """
        if retry:
            for owner in (
                self._realm,
                Realm(self._realm.space, ""),
            ):  # a project's jobs are nobody's own
                apply.unpark_jobs(self._world, owner)
        if retry_refused is not None:
            if retry_refused not in REFUSALS:
                known = ", ".join(REFUSALS)
                raise Invalid("retry_refused", f"{retry_refused!r} is none of {known}")
            redo.refused(self._world, self._realm, retry_refused)
        return self.drain(progress=progress)

    def import_(
        self,
        path: Path_,
        *,
        format: str | None = None,
        workspace: Path_ | None = None,
        progress: Progress | None = None,
        extract: bool = True,
    ) -> Imported:
        """Read conversations from a file: JSON Lines of messages, or LoCoMo's layout.

        Idempotent: what is stored already is left alone. A record that cannot be read is listed with
        its line, the rest goes in. `workspace` is the project that was talked about: without one,
        what is about a project is refused. Extraction follows in this process unless `extract` is False.

        Raises:
            Invalid: no such file, or no known format.
        """
        if format is not None:
            checks.string("format", format)
        bound = self._bound(workspace)
        where = bound.key if bound else ""
        found = run_import(_file(path), format, self._under(bound), self._realm, progress, where)
        self._holder.wake()
        if extract:
            self.drain(progress=progress)
        self._world.store.optimise()
        return found

    def reindex(self, progress: Progress | None = None) -> Report:
        """Make the index anew from the files; only hit counts and verdicts' numbering may differ.

        Where the database is damaged beyond its text index, hit counts and verdicts are lost with it,
        and the report says so.

        Raises:
            Unavailable: the disk or the database said no.
        """
        found = reconcile.reconcile(self._world, rebuild=True, progress=progress)
        self._world.store.optimise()
        self._chores.flush()
        self._opened = found
        return found

    def fill_vectors(
        self, *, most: int | None = None, progress: Progress | None = None
    ) -> worker.Worked | None:
        """Make the vectors that lack, where nobody else does the home's background work.

        None when somebody does, when none lack, or when more than `most` do: then `drain` is the way.

        Raises:
            Invalid: `most` is no number of vectors.
            Unavailable: the disk or the database said no; the rest waits.
        """
        if most is not None and not _is_count(most):
            raise Invalid("most", f"{checks.shown(most)} is no number of vectors")
        world = self._world
        if world.sight is None or not world.settings.memory.enabled:
            return None
        lacking = sum(world.sight.missing(world.store, world.space, world.moment()).values())
        if not lacking or (most is not None and lacking > most):
            return None
        return self._holder.embed(progress)

    def rebuild_vectors(self, *, progress: Progress | None = None) -> worker.Worked:
        """Clear every vector and make all of them again.

        Raises:
            Denied: vectors are switched off (`embedding.model = "none"`), or memory is.
            Unavailable: the disk or the database said no; the rest waits.
        """
        self._refuse_disabled()
        world = self._world
        if world.sight is None:
            raise Denied('vectors are switched off (embedding.model = "none")')
        world.sight.vectors.clear()
        apply.queue_vectors(world, world.sight.missing(world.store, world.space, world.moment()))
        return self.drain(progress=progress)

    def reconcile(self) -> Report:
        """Take over what changed in the files; a second call finds nothing to do."""
        found = reconcile.reconcile(self._world)
        self._opened = found
        return found

    def status(self) -> report.Status:
        """What there is, how it is searched and what is degraded."""
        world = self._fresh()
        found = list(self._opened.problems)
        if self._settings_problem:
            found.append(Problem(str(self._loaded.path), self._settings_problem))
        return report.status(world, self._realm, found, self._lock.holder())

    def doctor(self) -> tuple[report.Check, ...]:
        """Every check of the home, each with what it found and what to do."""
        return report.doctor(self._world, self._realm, self.reconcile(), self._lock.holder())

    def ledger(self) -> Mapping[str, Spent]:
        """What the model calls of this home have cost since local midnight, by their purpose."""
        return ledger.today(self._world)

    def workspace_of(self, path: Path_) -> bind.Workspace | None:
        """The bound workspace that `path` lies in, or None.

        Raises:
            Invalid: no such folder.
        """
        return bind.find(self._world, bind.workspace_path(path))

    def create_token(
        self,
        *,
        role: str = "writer",
        space: str = LOCAL_SPACE,
        user: str | None = None,
        note: str = "",
    ) -> NewToken:
        """Make a token with which a client of the server speaks for `user` (the owner unless given).

        A reader reads, a writer changes what is that user's, an admin looks after the home and may name
        any user. `secret` is in the result and nowhere else: the home keeps a digest.

        Raises:
            Invalid: the argument that is wrong.
            Corrupt: `tokens.json` cannot be read.
        """
        owner = self._realm if user is None else realm(parse_space(space), user)
        parse_space(space)
        return token.create(self._world, owner, parse_role(role), note, lambda: token_urlsafe(32))

    def tokens(self) -> tuple[Token, ...]:
        """Every token of the home, without its secret, oldest first.

        Raises:
            Corrupt: `tokens.json` cannot be read.
        """
        return tuple(token.listed(self._world).values())

    def revoke_token(self, id: str) -> Token:
        """Take a token away; from the next request on it opens nothing.

        Raises:
            NotFound: there is no such token.
            Corrupt: `tokens.json` cannot be read.
        """
        return token.revoke(self._world, _id(id))

    def config(self) -> tuple[tuple[str, object, str], ...]:
        """(key, value, origin) of every setting; of a key only its last four characters."""
        return tuple(
            (key, _masked(key, value), origin) for key, value, origin in self._loaded.rows()
        )

    def settings(self) -> tuple[Setting, ...]:
        """Every setting with value, default, origin and what it is for; keys masked, as the files say now.

        Raises:
            Invalid: a file that is no TOML, or a setting in it that is wrong.
        """
        return tuple(
            replace(one, value=_masked(one.key, one.value))
            for one in described(self._loaded.again())
        )

    def configure(self, key: str, value: object | None) -> tuple[Setting, ...]:
        """Set a setting in the home's config.toml, its comments kept; None takes it out again.

        Raises:
            Invalid: an unknown key, or a value that cannot be; nothing was changed.
            Unavailable: the disk said no; nothing was changed.
        """
        path = self._loaded.path

        def edit(held: bytes | None) -> bytes:
            text = (held or b"").decode("utf-8-sig")
            return changed(text, path, checks.string("key", key), value).encode()

        apply.edit_text(self._world, self._config, edit)
        self._fresh()
        return self.settings()

    def test_extraction(self) -> Trial:
        """Call the model that is set with two made-up messages; nothing of it is kept but the ledger's line."""
        return trial.trial(self._world, self._realm)

    def close(self) -> None:
        """Write what is due and close the files.

        A process that did the background work first works off what waits, for
        `worker.shutdown_seconds` at most; the rest is done when the next one begins.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self._holder.stop()
            self._chores.flush()
        finally:
            self._stop_listening()
            blind = self._world.vectors if self._world.sight is None else None
            for one in (self._world.model, self._world.hosts, self._world.sight, blind):
                if one is not None:
                    one.close()
            self._world.store.close()
            self._holder.abandon()

    # -- inside -------------------------------------------------------------------------------

    def _after(self, all: bool) -> None:
        """What follows background work."""
        if all:
            self._chores.flush()
        else:
            self._chores.tick()

    def _recalled(
        self, session: str, message: str, max_tokens: int | None = None, **view: Any
    ) -> Context:
        """`Session.recall` for another process."""
        return self.session(session, **view).recall(message, max_tokens=max_tokens)

    def _fresh(self) -> World:
        """The world, with the settings that the home's config.toml holds now.

        A file that cannot be used changes nothing; `status` says so until it is mended.
        """
        if self._refit is None or self._closed:
            return self._world
        stat = self._world.vault.stat(self._config)
        if stat != self._seen:
            with self._refitting:
                if stat != self._seen:
                    self._take_up(self._refit)
                    self._seen = stat
        return self._world

    def _take_up(self, refit: Refit) -> None:
        try:
            self._world, self._loaded = refit(self._world, self._loaded)
        except Invalid as error:
            self._settings_problem = error.message
            self._world.bus.emit("settings.refused", degraded=True, field=error.field)
        else:
            self._settings_problem = ""
            self._world.bus.emit("settings.changed")

    def _under(self, bound: bind.Workspace | None) -> World:
        """The world under a workspace's own settings."""
        world = self._fresh()
        return world if bound is None else world.within(bound.root)

    def _bound(self, workspace: Path_ | None) -> bind.Workspace | None:
        """The workspace of a path; one that was not bound is, and what its folder holds is taken in."""
        if workspace is None:
            return None
        path = bind.workspace_path(workspace)
        known = bind.find(self._world, path)
        if known is not None:
            return known
        made = bind.bind(self._world, path)
        self.reconcile()
        return made

    def _reader(
        self, workspace: Path_ | None, agent: str | None, user: str | None
    ) -> tuple[World, View]:
        """The world and view of a read.

        Raises:
            Denied: memory is switched off.
        """
        world, view, _ = self._standing(workspace, agent, user)
        return world, view

    def _standing(
        self, workspace: Path_ | None, agent: str | None, user: str | None
    ) -> tuple[World, View, bind.Workspace | None]:
        """Where a read stands. A folder that is not bound is bound if it holds memories."""
        self._refuse_disabled()
        return self._placed(workspace, agent, user)

    def _view(
        self, workspace: Path_ | None, agent: str | None, user: str | None
    ) -> tuple[World, View]:
        """The world and view of a caller, also where memory is switched off."""
        world, view, _ = self._placed(workspace, agent, user)
        return world, view

    def _placed(
        self, workspace: Path_ | None, agent: str | None, user: str | None
    ) -> tuple[World, View, bind.Workspace | None]:
        """Where a caller stands. A folder that is not bound is bound if it holds memories."""
        owner = self._realm if user is None else realm(self._realm.space, user)
        bound = None
        if workspace is not None:
            path = bind.workspace_path(workspace)
            found = bind.find(self._world, path)
            bound = (
                self._bound(workspace) if found is None and bind.holds(self._world, path) else found
            )
        view = View(owner, bound.key if bound else None, _agent(agent))
        return self._under(bound), view, bound

    def _restored(self, world: World, view: View, group: str, version: str | None) -> TextVersion:
        wanted = None if version is None else checks.ref("version", version)
        found = self._finished(lambda: portrait.restore(world, view.realm, group, wanted))
        self._holder.wake()
        return found

    def _thread(
        self, workspace: str, session: str | None, user: str | None, channel: str
    ) -> Thread:
        """A thread's side of a document."""
        self._refuse_disabled()
        return Thread(
            self._realm if user is None else realm(self._realm.space, user),
            workspace,
            "" if session is None else checks.identity("session", session),
            checks.ref("channel", channel),
        )

    def _refuse_disabled(self) -> None:
        if not self._fresh().settings.memory.enabled:
            raise Denied("memory is switched off (memory.enabled = false); nothing was deleted")

    def _one(
        self, id: str, workspace: Path_ | None, agent: str | None, user: str | None
    ) -> tuple[World, View, str]:
        """Where a memory that a person is about to change is looked for, and its id."""
        world, view = self._reader(workspace, agent, user)
        return world, view, _id(id)

    def _person(self, one: tuple[World, View, str], write: Callable[[], Stored]) -> Record:
        """What a person's change to one memory came to."""
        world = one[0]
        row = self._finished(write)
        self._chores.tick()
        return read.record(world, row, world.moment())

    def _finished(self, write: Callable[[], _T]) -> _T:
        """`write`, and again after each reconcile that it needs: a process was killed in its way."""
        for _ in range(TRIES):
            try:
                return write()
            except apply.Unfinished:
                reconcile.reconcile(self._world)
        return write()

    def _typed(self, key: Key, **fields: object) -> Memory:
        world = self._world
        now = world.clock.now()
        kind = parse_type(fields["type"])
        description = checks.text("description", fields["description"], most=MAX_BODY)
        body = checks.text("body", fields["body"], most=MAX_BODY, empty=True)
        until = day("valid_until", fields["valid_until"])
        entities = fields["entities"]
        if isinstance(entities, Iterable) and not isinstance(entities, str | Sequence):
            entities = tuple(entities)
        return codec.from_fields(
            {
                "type": kind,
                "name": markdown.checked_name(cast("str", fields["name"])),
                "description": description,
                "body": body,
                "entities": entities,
                "priority": DEFAULT_PRIORITY[kind]
                if fields["priority"] is None
                else fields["priority"],
                "origin": "manual",
                "authority": "person",
                "valid_from": now,
                "valid_until": until,
                "note": reason_note(kind, body),
            },
            key,
            id=world.clock.new_id("mem_"),
            now=now,
            zone=world.zone,
        )


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation. `commit` what was said, `recall` before the next answer."""

    _verbs: Verbs
    id: str
    view: View
    workspace: bind.Workspace | None

    def commit(self, messages: object, *, model: str | Model | None = None) -> Captured:
        """Store messages of OpenAI's or Anthropic's shape, durably, each once; extraction comes later.

        A message may carry `id` and `said_at`. Where no `extraction.model` is set, `model` extracts
        these turns: the name of the host's own (`openai:…`), or an object that answers for this
        session while this process lives.

        Raises:
            Invalid: the field that is wrong; nothing was stored.
            Unavailable: the disk or the database said no; nothing was stored.
        """
        world = self._verbs._under(self.workspace)
        where = (self.view.workspace or "", self.view.agent or "")
        chat = Chat(self.view.realm, self.id, *where, self._hosted(model))
        # What can be read once only is kept, for the write may have to be done again.
        given = tuple(messages) if isinstance(messages, Iterator) else messages
        found = self._verbs._finished(lambda: capture.capture(world, chat, given))
        self._verbs._chores.turn(self._verbs._fresh(), self.view.keys)
        self._verbs._chores.tick()
        if found.stored:
            self._verbs._holder.wake()
        return found

    def _hosted(self, model: object) -> str:
        """The name of the host's model; an object is kept for this session."""
        if model is None or isinstance(model, str):
            return checks.string("model", model or "").strip()
        if not callable(getattr(model, "ask", None)):
            raise Invalid("model", "expected provider:name, or an object with `ask`")
        hosts = self._verbs._world.hosts
        if hosts is not None:
            hosts.guests[self.view.realm, self.id] = cast("Model", model)
        return ""

    def end(self) -> None:
        """The conversation is over: what is left of it is extracted at once, in the background.

        Raises:
            Unavailable: the disk or the database said no.
        """
        world = self._verbs._world
        left = world.store.backlog(self.view.realm, self.id, 1).last
        if left is not None:
            job = Enqueue(self.view.realm, EXTRACT, self.id, left, at_once=True)
            self._verbs._finished(lambda: apply.apply(world, Plan((job,)), {}))
            self._verbs._holder.wake()

    def recall(self, message: str, *, max_tokens: int | None = None) -> Context:
        """What the model should be told before it answers `message`, within the token budget.

        Raises:
            Invalid: `message` is no text, or `max_tokens` is negative or above a million.
        """
        world = self._verbs._under(self.workspace)
        bound = self.workspace
        asker = Asker(
            self.view,
            self.id,
            self.view.agent or "",
            bound.name if bound else None,
            Path(bound.root).name if bound else "",
        )
        self._verbs._chores.turn(self._verbs._fresh(), self.view.keys)
        context = recall.recall(world, asker, _query(message, "message"), max_tokens)
        told = [item.id for item in context.items if item.part == "turn"]
        if told:
            self._verbs._chores.hit(self.view.keys, told)
        return context


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _masked(key: str, value: object) -> object:
    if not key.endswith("api_key") or not value:
        return value
    text = str(value)
    return f"…{text[-4:]}" if len(text) >= 16 else "…"


def _agent(value: object) -> str | None:
    return None if value is None or value == "" else checks.ref("agent", value)


def _id(value: object) -> str:
    return checks.ref("id", value)


def _listed(value: object) -> object:
    """Entities as a list; a text is none and stays one, to be refused."""
    if isinstance(value, Iterable) and not isinstance(value, str | Sequence | Kept):
        return tuple(value)
    return value


def _version(field: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**53:
        raise Invalid(field, f"{checks.shown(value)} is no version; they are counted from 1")
    return value


def _number(value: object) -> int:
    """A cursor that is the number of the last one seen."""
    if not isinstance(value, str) or not _CURSOR.fullmatch(value):
        raise Invalid("cursor", "is none that an earlier page gave")
    return int(value)


def _file(value: object) -> Path:
    text = str(value) if isinstance(value, PathLike) else checks.string("path", value)
    if not text or "\0" in text:
        raise Invalid("path", "expected the path of a file")
    return Path(text)


def _query(value: object, field: str = "query") -> str:
    """A query as data: lone surrogates and control characters are harmless, the length is bounded."""
    if not isinstance(value, str):
        raise Invalid(field, f"expected text, got {type(value).__name__}")
    return value[:QUERY].encode("utf-8", "replace").decode()


def _limit(value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid("limit", f"{value!r} is not between 1 and {most}")
    return value


def _kinds(value: object) -> tuple[Kind, ...]:
    kinds = (value,) if isinstance(value, str) else value
    if not isinstance(kinds, Iterable):
        raise Invalid("kinds", "expected memory, message or both")
    found = tuple(kinds)
    if not found or any(kind not in read.KINDS for kind in found):
        raise Invalid("kinds", f"{found!r} has a kind that is neither memory nor message")
    return cast("tuple[Kind, ...]", found)


def _end_of(field: str, value: Time | date, zone: tzinfo, end: time) -> datetime | None:
    """An instant; a day means its begin or its end."""
    if value == "":
        raise Invalid(field, "is empty")
    try:
        found = day(field, value)
    except Invalid:
        return instant(field, value, zone)
    return None if found is None else datetime.combine(found, end, zone).astimezone(UTC)


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise Invalid("timeout", f"{value!r} is no number of seconds")
    return min(float(value), LONGEST_WAIT)
