"""The same verbs for asyncio: each runs in a worker thread of our own, never of the host's pool.

A cancelled await leaves the verb running to its end, so that a write is never half done.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from os import PathLike
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

from memstrata.memory import Session, Verbs
from memstrata.offload import OffloadSession
from memstrata.pipelines.offload import Cache, Report
from memstrata.team_document import MemoryDocument
from memstrata.tools import Tools

if TYPE_CHECKING:
    from concurrent.futures import Future

P = ParamSpec("P")
R = TypeVar("R")
THREADS: Final = 8


class Threads:
    """A small pool that belongs to one `AsyncMemory`."""

    def __init__(self, most: int = THREADS) -> None:
        # asyncio and its pools cost a third of a start-up; whoever is synchronous never needs them.
        from concurrent.futures import ThreadPoolExecutor

        self._pool = ThreadPoolExecutor(most, thread_name_prefix="memstrata")
        self._running: set[Future[Any]] = set()

    async def run(self, verb: Callable[..., R], *args: Any, **kwargs: Any) -> R:
        """`verb` in a thread; a cancelled await does not stop it."""
        import asyncio

        future = self._pool.submit(partial(verb, *args, **kwargs))
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.shield(asyncio.wrap_future(future))

    async def rest(self) -> None:
        """Wait for the verbs that run, those whose await was cancelled too."""
        import asyncio

        if running := [asyncio.wrap_future(future) for future in tuple(self._running)]:
            await asyncio.wait(running)

    def close(self) -> None:
        """No more verbs; those that run are left to end."""
        self._pool.shutdown(wait=False)


def _verb(
    verb: Callable[Concatenate[Verbs, P], R],
) -> Callable[Concatenate[AsyncVerbs, P], Coroutine[Any, Any, R]]:
    """The async form of a verb: same arguments, same result, same errors."""

    @wraps(verb)
    async def run(self: AsyncVerbs, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.threads.run(getattr(self.sync, verb.__name__), *args, **kwargs)

    return run


def _chat(
    verb: Callable[Concatenate[Session, P], R],
) -> Callable[Concatenate[AsyncSession, P], Coroutine[Any, Any, R]]:
    """The async form of a session's verb."""

    @wraps(verb)
    async def run(self: AsyncSession, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.threads.run(getattr(self.sync, verb.__name__), *args, **kwargs)

    return run


def _of_document(
    verb: Callable[Concatenate[MemoryDocument, P], R],
) -> Callable[Concatenate[AsyncMemoryDocument, P], Coroutine[Any, Any, R]]:
    """The async form of a document's verb."""

    @wraps(verb)
    async def run(self: AsyncMemoryDocument, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.threads.run(getattr(self.sync, verb.__name__), *args, **kwargs)

    return run


def _of_tools(
    verb: Callable[Concatenate[Tools, P], R],
) -> Callable[Concatenate[AsyncTools, P], Coroutine[Any, Any, R]]:
    """The async form of a tool."""

    @wraps(verb)
    async def run(self: AsyncTools, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.threads.run(verb, self.sync, *args, **kwargs)

    return run


def _of_offload(
    verb: Callable[Concatenate[OffloadSession, P], R],
) -> Callable[Concatenate[AsyncOffloadSession, P], Coroutine[Any, Any, R]]:
    """The async form of an offload session's verb."""

    @wraps(verb)
    async def run(self: AsyncOffloadSession, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.threads.run(verb, self.sync, *args, **kwargs)

    return run


class AsyncSession:
    """One conversation, for asyncio; see `Session`."""

    def __init__(self, sync: Session, threads: Threads) -> None:
        self.sync = sync
        self.threads = threads

    commit = _chat(Session.commit)
    recall = _chat(Session.recall)
    end = _chat(Session.end)


class AsyncMemoryDocument:
    """A team or private document, for asyncio; see `MemoryDocument`."""

    def __init__(self, sync: MemoryDocument, threads: Threads) -> None:
        self.sync = sync
        self.threads = threads

    read = _of_document(MemoryDocument.read)
    save = _of_document(MemoryDocument.save)
    reset = _of_document(MemoryDocument.reset)
    history = _of_document(MemoryDocument.history)
    entries = _of_document(MemoryDocument.entries)
    diff = _of_document(MemoryDocument.diff)
    restore = _of_document(MemoryDocument.restore)
    undo = _of_document(MemoryDocument.undo)
    block = _of_document(MemoryDocument.block)
    prompt = _of_document(MemoryDocument.prompt)
    tool = _of_document(MemoryDocument.tool)
    update_memory = _of_document(MemoryDocument.update_memory)
    delegation = _of_document(MemoryDocument.delegation)
    delegated = _of_document(MemoryDocument.delegated)


class AsyncTools:
    """The tools of one caller, for asyncio; see `Tools`."""

    def __init__(self, sync: Tools, threads: Threads) -> None:
        self.sync = sync
        self.threads = threads

    search_memory = _of_tools(Tools.search_memory)
    recall_memory = _of_tools(Tools.recall_memory)
    search_conversations = _of_tools(Tools.search_conversations)
    trace_memory = _of_tools(Tools.trace_memory)
    memory_context = _of_tools(Tools.memory_context)
    resource = _of_tools(Tools.resource)
    persona = _of_tools(Tools.persona)
    scene = _of_tools(Tools.scene)
    call = _of_tools(Tools.call)
    schemas = _of_tools(Tools.schemas)


class AsyncOffloadSession:
    """The working memory of one agent session, for asyncio; see `OffloadSession`."""

    def __init__(self, sync: OffloadSession, threads: Threads) -> None:
        self.sync = sync
        self.threads = threads

    record = _of_offload(OffloadSession.record)
    assemble = _of_offload(OffloadSession.assemble)
    recall = _of_offload(OffloadSession.recall)
    text = _of_offload(OffloadSession.text)
    tasks = _of_offload(OffloadSession.tasks)
    open = _of_offload(OffloadSession.open)
    tools = _of_offload(OffloadSession.tools)
    call = _of_offload(OffloadSession.call)

    @property
    def report(self) -> Report:
        """What the last `assemble` did."""
        return self.sync.report


class AsyncVerbs:
    """The verbs of `Verbs`, awaitable; at most `THREADS` run at a time."""

    def __init__(self, sync: Verbs, threads: Threads) -> None:
        self.sync = sync
        self.threads = threads

    search = _verb(Verbs.search)
    search_conversations = _verb(Verbs.search_conversations)
    sessions = _verb(Verbs.sessions)
    messages = _verb(Verbs.messages)
    add = _verb(Verbs.add)
    get = _verb(Verbs.get)
    list = _verb(Verbs.list)
    edit = _verb(Verbs.edit)
    archive = _verb(Verbs.archive)
    restore = _verb(Verbs.restore)
    delete = _verb(Verbs.delete)
    history = _verb(Verbs.history)
    diff = _verb(Verbs.diff)
    forget = _verb(Verbs.forget)
    entities = _verb(Verbs.entities)
    alias = _verb(Verbs.alias)
    unalias = _verb(Verbs.unalias)
    workspaces = _verb(Verbs.workspaces)
    bind_workspace = _verb(Verbs.bind_workspace)
    unbind_workspace = _verb(Verbs.unbind_workspace)
    unreviewed = _verb(Verbs.unreviewed)
    trust = _verb(Verbs.trust)
    resolve = _verb(Verbs.resolve)
    trace = _verb(Verbs.trace)
    why = _verb(Verbs.why)
    candidates = _verb(Verbs.candidates)
    confirm = _verb(Verbs.confirm)
    reject = _verb(Verbs.reject)
    consolidate = _verb(Verbs.consolidate)
    reads = _verb(Verbs.reads)
    scenes = _verb(Verbs.scenes)
    scene = _verb(Verbs.scene)
    persona = _verb(Verbs.persona)
    request_scenes = _verb(Verbs.request_scenes)
    request_persona = _verb(Verbs.request_persona)
    scene_versions = _verb(Verbs.scene_versions)
    persona_versions = _verb(Verbs.persona_versions)
    restore_scenes = _verb(Verbs.restore_scenes)
    restore_persona = _verb(Verbs.restore_persona)
    lock_persona = _verb(Verbs.lock_persona)
    edit_persona = _verb(Verbs.edit_persona)
    persona_file = _verb(Verbs.persona_file)
    drain = _verb(Verbs.drain)
    estimate = _verb(Verbs.estimate)
    extract = _verb(Verbs.extract)
    import_ = _verb(Verbs.import_)
    reindex = _verb(Verbs.reindex)
    fill_vectors = _verb(Verbs.fill_vectors)
    rebuild_vectors = _verb(Verbs.rebuild_vectors)
    reconcile = _verb(Verbs.reconcile)
    status = _verb(Verbs.status)
    doctor = _verb(Verbs.doctor)
    ledger = _verb(Verbs.ledger)
    workspace_of = _verb(Verbs.workspace_of)
    test_extraction = _verb(Verbs.test_extraction)
    config = _verb(Verbs.config)
    settings = _verb(Verbs.settings)
    configure = _verb(Verbs.configure)
    create_token = _verb(Verbs.create_token)
    tokens = _verb(Verbs.tokens)
    revoke_token = _verb(Verbs.revoke_token)
    tasks = _verb(Verbs.tasks)
    recall_result = _verb(Verbs.recall_result)

    async def session(
        self,
        id: str,
        *,
        user: str | None = None,
        workspace: str | PathLike[str] | None = None,
        agent: str | None = None,
    ) -> AsyncSession:
        """The conversation `id`; see `Verbs.session`."""
        found = await self.threads.run(
            self.sync.session, id, user=user, workspace=workspace, agent=agent
        )
        return AsyncSession(found, self.threads)

    async def team(
        self,
        workspace: str | PathLike[str],
        *,
        session: str | None = None,
        user: str | None = None,
        channel: str = "python",
    ) -> AsyncMemoryDocument:
        """The team document of a workspace; see `Verbs.team`."""
        found = await self.threads.run(
            self.sync.team, workspace, session=session, user=user, channel=channel
        )
        return AsyncMemoryDocument(found, self.threads)

    async def tools(
        self,
        *,
        session: str | None = None,
        workspace: str | PathLike[str] | None = None,
        agent: str | None = None,
        user: str | None = None,
        caller: str = "python",
        language: str = "en",
    ) -> AsyncTools:
        """The read-only tools of an agent; see `Verbs.tools`."""
        found = await self.threads.run(
            self.sync.tools,
            session=session,
            workspace=workspace,
            agent=agent,
            user=user,
            caller=caller,
            language=language,
        )
        return AsyncTools(found, self.threads)

    async def private(
        self, *, session: str | None = None, user: str | None = None, channel: str = "python"
    ) -> AsyncMemoryDocument:
        """The private document of a user; see `Verbs.private`."""
        found = await self.threads.run(
            self.sync.private, session=session, user=user, channel=channel
        )
        return AsyncMemoryDocument(found, self.threads)

    async def offload(
        self,
        session_id: str,
        *,
        window: int | None = None,
        cache: Cache | None = None,
        workspace: str | PathLike[str] | None = None,
        user: str | None = None,
    ) -> AsyncOffloadSession:
        """The tool results and tasks of one agent session; see `Verbs.offload`."""
        found = await self.threads.run(
            self.sync.offload,
            session_id,
            window=window,
            cache=cache,
            workspace=workspace,
            user=user,
        )
        return AsyncOffloadSession(found, self.threads)

    async def close(self) -> None:
        """Let what runs come to its end, close the memory, then the threads."""
        await self.threads.rest()
        await self.threads.run(self.sync.close)
        self.threads.close()
