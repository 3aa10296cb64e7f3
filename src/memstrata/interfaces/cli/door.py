"""What a command is: it gets a `Door`, calls a verb, and returns a `Reply` that is printed later."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from memstrata.domain.scope import LOCAL_OWNER
from memstrata.errors import Invalid
from memstrata.interfaces.cli import pages

if TYPE_CHECKING:
    from memstrata.bootstrap import Host, McpMemory, Memory, Worker
    from memstrata.interfaces.cli.out import Out
    from memstrata.interfaces.wire import Json

Render = Callable[["Out"], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command answers: `document` for `--json`, `render` for a person, `notes` for stderr."""

    document: Mapping[str, Json]
    render: Render
    notes: tuple[str, ...] = ()
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Door:
    """The options that every command takes, as they were given before or behind its name."""

    home: str | None = None
    owner: str | None = None
    json: bool = False
    lang: str | None = None
    traceback: bool = False

    @contextmanager
    def open(
        self,
        home: str | None = None,
        settings: Mapping[str, object] | None = None,
        *,
        logged: bool = True,
    ) -> Iterator[Memory]:
        """The memory of `home` (else the chosen one) and owner; what is due is written at the end.

        With `logged`, warnings of the log are lines on stderr.

        Raises:
            Invalid: a setting, a home or an owner that is wrong.
            Unavailable: the home cannot be written.
        """
        from memstrata.bootstrap import Memory

        with (
            _logged() if logged else nullcontext(),
            Memory.open(
                self.home if home is None else home,
                owner=LOCAL_OWNER if self.owner is None else self.owner,
                settings=settings,
                background=False,
            ) as memory,
        ):
            _set_level(memory.config())
            yield memory

    @contextmanager
    def worker(self) -> Iterator[Worker]:
        """The home as a process that does its background work; warnings of the log go to stderr.

        Raises:
            Invalid: a setting, a home or an owner that is wrong.
            Unavailable: the home cannot be written.
        """
        from memstrata.bootstrap import Worker

        owner = LOCAL_OWNER if self.owner is None else self.owner
        with _logged(), Worker.open(self.home, owner=owner) as worker:
            _set_level(worker.config())
            yield worker

    @contextmanager
    def mcp(self, settings: Mapping[str, object]) -> Iterator[McpMemory]:
        """The home as a process that serves MCP has it; warnings of the log go to stderr.

        Raises:
            Invalid: a setting, a home or an owner that is wrong.
            Unavailable: the home cannot be written.
        """
        from memstrata.bootstrap import McpMemory

        owner = LOCAL_OWNER if self.owner is None else self.owner
        with _logged(), McpMemory.open(self.home, owner=owner, settings=settings) as memory:
            _set_level(memory.config())
            yield memory

    @contextmanager
    def host(self) -> Iterator[Host]:
        """The home as a process that serves it, and does its background work; the log goes to stderr.

        Raises:
            Invalid: a setting, a home or an owner that is wrong.
            Unavailable: the home cannot be written.
        """
        from memstrata.bootstrap import Host

        owner = LOCAL_OWNER if self.owner is None else self.owner
        with _logged(), Host.open(self.home, owner=owner) as host:
            _set_level(host.config())
            yield host

    def workspace(self, memory: Memory, given: str | None) -> str | None:
        """The workspace a command works in: `given`, else the bound one the current folder lies in."""
        if given is not None:
            return given
        try:
            found = memory.workspace_of(Path.cwd())
        except (Invalid, OSError):  # the home's own parent can be none; a folder may be gone
            return None
        return None if found is None else found.root


@contextmanager
def _logged() -> Iterator[None]:
    """The log, such as a file that cannot be read, as lines on stderr."""
    import logging

    from memstrata.interfaces.cli.out import LogLine

    handler = logging.StreamHandler()
    handler.setFormatter(LogLine())
    logger = logging.getLogger("memstrata")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _set_level(rows: Sequence[tuple[str, object, str]]) -> None:
    """Log from the level of `log.level` on. The home is open by then; opening it logs warnings."""
    import logging

    chosen = next(str(value) for key, value, _ in rows if key == "log.level")
    logging.getLogger("memstrata").setLevel(chosen.upper())


class Command(TyperCommand):
    """A command whose help page is ours: both languages, and the shared options apart."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        formatter.write(pages.page(self, ctx, frozenset(SHARED)))


class Group(TyperGroup):
    """A group whose help page is ours and whose unknown commands are an error of ours."""

    default = ""
    """The command that is meant where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, the default command's name before them where none is named."""
        helped = set(args) & {"-h", "--help"}
        if self.default and not helped and (not args or args[0].startswith("-")):
            args = [self.default, *args]
        return list(super().parse_args(ctx, args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        formatter.write(pages.page(self, ctx, frozenset(SHARED)))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` names.

        Raises:
            Invalid: there is none; the nearest name is told.
        """
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise pages.no_command(args[0], list(self.commands))
        return super().resolve_command(ctx, args)


def _shared(
    *,
    home: Annotated[
        str | None,
        typer.Option(
            "--home", metavar="DIR", help="the home (else $MEMSTRATA_HOME, else ~/.memstrata)"
        ),
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="NAME", help="whose memories (else local)")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="one JSON document on stdout, errors as JSON on stderr")
    ] = False,
    lang: Annotated[
        str | None,
        typer.Option("--lang", metavar="en|zh", help="language (else $MEMSTRATA_LANG, the locale)"),
    ] = None,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="on a bug, the whole traceback")
    ] = False,
) -> None:
    """The options that every command takes."""


SHARED: Final[Mapping[str, inspect.Parameter]] = dict(
    inspect.signature(_shared, eval_str=True).parameters
)

Function = Callable[..., Reply | int]
"""Answers, or gives the exit code where stdout was another's."""


def group(help: str, name: str | None = None, *, default: str = "") -> typer.Typer:
    """A group of commands with our help page; `default` is meant where no command is named."""
    return typer.Typer(
        name=name,
        help=help,
        cls=type("Group", (Group,), {"default": default}),
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def shared_by(app: typer.Typer) -> None:
    """Let `app` itself take the shared options, so that they may stand before the command's name."""

    def callback(ctx: typer.Context, **values: Any) -> None:
        ctx.obj = values

    _signed(callback, [])
    app.callback()(callback)


def command(app: typer.Typer, name: str, panel: str = "") -> Callable[[Function], Function]:
    """Make a function that takes a `Door` and returns a `Reply`, or an exit code, a command of `app`."""

    def register(function: Function) -> Function:
        def call(ctx: typer.Context, **values: Any) -> Reply | int:
            before: Mapping[str, Any] = ctx.find_root().obj or {}
            return function(_door({one: values.pop(one) for one in SHARED}, before), **values)

        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        _signed(call, own)
        call.__doc__ = function.__doc__
        app.command(name, cls=Command, rich_help_panel=panel or None)(call)
        return function

    return register


def _door(behind: Mapping[str, Any], before: Mapping[str, Any]) -> Door:
    """The shared options, those behind the command's name over those before it."""
    given = {name: value for name, value in behind.items() if value not in (None, False)}
    return Door(**{**before, **given})


def _signed(function: Callable[..., Any], own: list[inspect.Parameter]) -> None:
    """Give `function` the signature that typer reads: the context, its own and the shared parameters."""
    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    parameters = [context, *own, *SHARED.values()]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in parameters}
