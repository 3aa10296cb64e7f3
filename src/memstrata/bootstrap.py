"""The composition root: the only place that knows every adapter."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import tzinfo
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from zoneinfo import ZoneInfo

from memstrata import log
from memstrata.adapters.clock import SystemClock
from memstrata.adapters.secrets_detect import Detector
from memstrata.adapters.sqlite import SqliteStore
from memstrata.adapters.tokens_toktok import ToktokTokenizer
from memstrata.adapters.vault_fs import FileVault
from memstrata.aio import AsyncVerbs, Threads
from memstrata.domain import checks, scope
from memstrata.errors import Invalid, Unavailable
from memstrata.events import Bus
from memstrata.memory import Verbs
from memstrata.pipelines import reconcile
from memstrata.pipelines.world import World
from memstrata.ports import Clock
from memstrata.settings import Loaded, Settings, load

DEFAULT_HOME: Final = "~/.memstrata"


class Memory(Verbs):
    """The memory of one owner in one home. A context manager; `close` writes what is due.

    ::

        memory = Memory.open()
        chat = memory.session("chat-42")
        chat.commit([{"role": "user", "content": "I prefer tea to coffee."}])
    """

    home: Path

    @classmethod
    def open(
        cls,
        home: str | PathLike[str] | None = None,
        *,
        owner: str = scope.LOCAL_OWNER,
        settings: Mapping[str, object] | None = None,
        background: bool = True,
        clock: Clock | None = None,
    ) -> Self:
        """Open the home (`$MEMSTRATA_HOME`, else `~/.memstrata`), made if it is not there.

        What a killed process left behind is healed, changed files are taken over. `settings` are
        arguments of the highest rank, nested or dotted (`{"recall.max_tokens": 2000}`). With
        `background`, `close` works off what waits.

        Raises:
            Invalid: a setting or an owner that is wrong.
            Unavailable: the home cannot be written.
        """
        place = home_path(home)
        who = scope.realm(scope.LOCAL_SPACE, owner)
        loaded = load(place, settings)
        world = _world(place, loaded, clock or SystemClock())
        try:
            made = cls(world, loaded, who, background=background)
            made.home = place
            made._opened = reconcile.reconcile(world)
        except BaseException:
            world.store.close()
            raise
        world.bus.emit("home.opened", problems=len(made._opened.problems))
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


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
            )
        except BaseException:
            threads.close()
            raise
        return cls(memory, threads)

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
    found = Path(text).expanduser().absolute()
    if found.exists() and not found.is_dir():
        raise Invalid("home", f"{found} is no folder")
    return found


def zone_of(settings: Settings) -> tzinfo:
    """The owner's time zone: the setting, else the system's."""
    if settings.timezone:
        return ZoneInfo(settings.timezone)
    from tzlocal import get_localzone

    return get_localzone()


def _world(home: Path, loaded: Loaded, clock: Clock) -> World:
    settings = loaded.settings
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{home} cannot be made: {error.strerror}") from error
    bus = Bus()
    bus.listen(log.sink)
    return World(
        vault=FileVault(home),
        store=SqliteStore(home / "memstrata.db", backups=home / "backups"),
        clock=clock,
        tokens=ToktokTokenizer(settings.tokens.tokenizer),
        scanner=Detector(settings.gates.private, settings.gates.patterns),
        bus=bus,
        settings=settings,
        zone=zone_of(settings),
        space=scope.LOCAL_SPACE,
    )
