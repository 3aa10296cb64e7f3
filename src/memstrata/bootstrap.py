"""The composition root: the only place that knows every adapter."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import tzinfo
from functools import lru_cache
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Final, Self
from zoneinfo import ZoneInfo

from memstrata import log
from memstrata.adapters.clock import SystemClock
from memstrata.adapters.embedders import open_embedder
from memstrata.adapters.lock_fs import FileLock, network_file_system
from memstrata.adapters.secrets_detect import Detector
from memstrata.adapters.socket_unix import UnixSocket
from memstrata.adapters.sqlite import SqliteStore
from memstrata.adapters.sqlite.vectors import SqliteVectors
from memstrata.adapters.tokens_toktok import ToktokTokenizer
from memstrata.adapters.vault_fs import FileVault
from memstrata.aio import AsyncVerbs, Threads
from memstrata.domain import checks, scope
from memstrata.domain.layout import VECTORS
from memstrata.errors import Invalid, Unavailable
from memstrata.events import Bus
from memstrata.memory import Verbs
from memstrata.pipelines import reconcile
from memstrata.pipelines.sight import Sight
from memstrata.pipelines.world import Hosts, World
from memstrata.ports import Clock, Embedder, Model, Scanner
from memstrata.settings import GatesSettings, Loaded, Settings, at_once, for_workspace, load

if TYPE_CHECKING:
    from memstrata.client import Connected

DEFAULT_HOME: Final = "~/.memstrata"


class Memory(Verbs):
    """The memory of one owner in one home. A context manager; `close` writes what is due.

    ::

        memory = Memory.open()
        chat = memory.session("chat-42")
        chat.commit([{"role": "user", "content": "I prefer tea to coffee."}])
    """

    home: Path
    role: ClassVar[str] = "library"
    """What `status` calls this process where it does the home's background work."""

    @classmethod
    def open(
        cls,
        home: str | PathLike[str] | None = None,
        *,
        owner: str = scope.LOCAL_OWNER,
        settings: Mapping[str, object] | None = None,
        background: bool = True,
        clock: Clock | None = None,
        model: Model | None = None,
    ) -> Self:
        """Open the home (`$MEMSTRATA_HOME`, else `~/.memstrata`), made if it is not there.

        What a killed process left behind is healed, changed files are taken over. `settings` are
        arguments of the highest rank, nested or dotted (`{"recall.max_tokens": 2000}`). With
        `background` this process does the home's background work, in a thread, unless another one
        does; then it takes over when that one ends. Without, jobs are done by `drain` alone. `model`
        answers in place of the one that `extraction.model` names, for this process.

        Raises:
            Invalid: a setting or an owner that is wrong, or a home on a network file system.
            Unavailable: the home cannot be written.
        """
        place = home_path(home)
        who = scope.realm(scope.LOCAL_SPACE, owner)
        loaded = load(place, settings)
        world = _world(place, loaded, clock or SystemClock(), model)
        try:
            lock = FileLock(place / "worker.lock")
            socket = UnixSocket(place / "run" / "memstrata.sock")
            made = cls(world, loaded, who, lock=lock, socket=socket, role=cls.role, refit=_refit)
            made.home = place
            made._opened = reconcile.reconcile(world)
        except BaseException:
            world.store.close()
            raise
        world.bus.emit("home.opened", problems=len(made._opened.problems))
        if background:
            made._holder.start()
        return made

    @staticmethod
    def connect(url: str, *, token: str | None = None) -> Connected:
        """The memory that a server has at `url`, with the same verbs: `memstrata serve` says where.

        Without a token only a server on this machine answers, as long as its home has none. Nothing is
        sent before the first verb.

        Raises:
            Invalid: a URL or a token that is none.
        """
        from memstrata.client import Connected  # an embedded memory never needs it, nor urllib3

        return Connected(url, token)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Host(Memory):
    """A process that serves a home to others."""

    role = "server"


class Worker(Memory):
    """A process that does a home's background work and nothing else."""

    role = "worker"

    def work(self, idle_exit: float | None = None) -> None:
        """Work until there was nothing to do for so many seconds (`worker.idle_exit_seconds`)."""
        chosen = self._world.settings.worker.idle_exit_seconds
        self._holder.rest(chosen if idle_exit is None else idle_exit)


class McpMemory(Memory):
    """The memory of a process that serves MCP over stdio."""

    role = "mcp"


class AsyncMemory(AsyncVerbs):
    """`Memory` for asyncio: the same verbs in threads of its own. An async context manager."""

    @classmethod
    async def open(
        cls,
        home: str | PathLike[str] | None = None,
        *,
        owner: str = scope.LOCAL_OWNER,
        settings: Mapping[str, object] | None = None,
        background: bool = True,
        clock: Clock | None = None,
        model: Model | None = None,
    ) -> Self:
        """Open a home; see `Memory.open`."""
        threads = Threads()
        try:
            memory = await threads.run(
                Memory.open,
                home,
                owner=owner,
                settings=settings,
                background=background,
                clock=clock,
                model=model,
            )
        except BaseException:
            threads.close()
            raise
        return cls(memory, threads)

    @classmethod
    async def connect(cls, url: str, *, token: str | None = None) -> Self:
        """The memory that a server has; see `Memory.connect`."""
        return cls(Memory.connect(url, token=token), Threads())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def home_path(home: str | PathLike[str] | None = None) -> Path:
    """The home as an absolute path: the argument, `$MEMSTRATA_HOME`, or `~/.memstrata`.

    Raises:
        Invalid: it is empty or no folder.
    """
    chosen = home if home is not None else os.environ.get("MEMSTRATA_HOME") or DEFAULT_HOME
    text = str(chosen) if isinstance(chosen, PathLike) else checks.string("home", chosen)
    if not text or "\0" in text:
        raise Invalid("home", "expected the path of a folder")
    try:
        found = Path(text).expanduser().absolute()
        if found.exists() and not found.is_dir():
            raise Invalid("home", f"{found} is no folder")
    except (OSError, RuntimeError) as error:  # a name too long; no such user behind ~
        raise Invalid("home", f"{checks.shown(text)} cannot be used: {error}") from error
    return found


def zone_of(settings: Settings) -> tzinfo:
    """The owner's time zone: the setting, else the system's."""
    if settings.timezone:
        return ZoneInfo(settings.timezone)
    from tzlocal import get_localzone

    return get_localzone()


def _model(settings: Settings) -> Model | None:
    """The model that the settings name; None: the rules extract."""
    chosen = settings.extraction
    if not chosen.model:
        return None
    from memstrata.adapters.model_pydantic_ai import PydanticAiModel, parse_name

    provider, _ = parse_name(chosen.model)
    return PydanticAiModel(base_url=chosen.base_url, api_key=chosen.api_key, provider=provider)


def _sight(home: Path, settings: Settings) -> Sight | None:
    """What finds by meaning; None where vectors are switched off."""
    chosen = settings.embedding

    def embedder(seconds: float) -> Embedder | None:
        return open_embedder(
            chosen.model,
            base_url=chosen.base_url,
            api_key=chosen.api_key,
            dimensions=chosen.dimensions,
            deadline=seconds,
        )

    made = embedder(chosen.deadline_seconds)
    if made is None or not (chosen.model or made.dimension):
        return None  # none is installed: vectors that others made here stay
    vectors = SqliteVectors(home / VECTORS.path)
    vectors.expect(made.key)
    asking = (embedder(chosen.query_seconds) if made.remote else None) or made
    return Sight(made, asking, vectors, monotonic)


def _hosts() -> Hosts | None:
    """What asks the models that hosts name; None without the extra that can."""
    if find_spec("pydantic_ai") is None:
        return None
    from memstrata.adapters.model_pydantic_ai import PydanticAiModel, check_name

    return Hosts(PydanticAiModel, check_name)


@lru_cache(maxsize=64)
def _scanner(gates: GatesSettings) -> Detector:
    return Detector(gates.private, gates.patterns)


def _tightened(loaded: Loaded) -> Callable[[str], tuple[Settings, Scanner]]:
    """What a workspace's own settings make of `loaded`."""

    def tightened(root: str) -> tuple[Settings, Scanner]:
        found = for_workspace(loaded, Path(root)).settings
        return found, _scanner(found.gates)

    return tightened


def _refit(world: World, loaded: Loaded) -> tuple[World, Loaded]:
    """The world with the settings as the files say now, but for those that need it to be opened again.

    Raises:
        Invalid: a file or a setting in it is wrong.
    """
    found = loaded.again()
    chosen = at_once(found.settings, world.settings)
    kept = Loaded(chosen, found.origins, found.path.parent, found.arguments)
    return replace(
        world,
        settings=chosen,
        scanner=_scanner(chosen.gates),
        tightened=_tightened(kept),
    ), kept


def _world(home: Path, loaded: Loaded, clock: Clock, model: Model | None) -> World:
    settings = loaded.settings
    kind = "" if settings.worker.allow_network_home else network_file_system(home)
    if kind:
        raise Invalid(
            "home",
            f"{home} lies on a network file system ({kind}), where locks and SQLite may fail; "
            "choose another, or set worker.allow_network_home",
        )
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{home} cannot be made: {error.strerror}") from error
    bus = Bus()
    bus.listen(log.sink)

    sight = _sight(home, settings)
    return World(
        vault=FileVault(home),
        store=SqliteStore(home / "memstrata.db", backups=home / "backups"),
        clock=clock,
        tokens=ToktokTokenizer(settings.tokens.tokenizer),
        scanner=_scanner(settings.gates),
        bus=bus,
        settings=settings,
        zone=zone_of(settings),
        space=scope.LOCAL_SPACE,
        model=model or _model(settings),
        sight=sight,
        vectors=SqliteVectors(home / VECTORS.path) if sight is None else sight.vectors,
        hosts=_hosts(),
        tightened=_tightened(loaded),
    )
