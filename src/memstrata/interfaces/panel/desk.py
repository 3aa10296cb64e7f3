"""What one open page works with: whose memory, in which language, seen from where."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Any, Final, Generic, Literal, TypeVar

from nicegui import background_tasks, context, ui

from memstrata.aio import AsyncVerbs
from memstrata.errors import MemstrataError
from memstrata.interfaces.panel.say import Say

T = TypeVar("T")
PATIENCE: Final = 8.0
"""Seconds until a page that does not load says so and offers to try again."""


@dataclass(slots=True)
class Where:
    """From where memories are looked at: a workspace (its folder) and an agent, or neither."""

    workspace: str | None = None
    agent: str | None = None

    def view(self) -> dict[str, Any]:
        """As the arguments of a verb."""
        return {"workspace": self.workspace, "agent": self.agent}


@dataclass(slots=True)
class Desk:
    """One open page. `changed` is what to call when memories changed elsewhere, newest last.

    Dialogs stand on the `stage`: what lies in a part that is drawn anew would go with it.
    """

    memory: AsyncVerbs
    say: Say
    stage: ui.element
    where: Where = field(default_factory=Where)
    changed: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def act(self, work: Callable[[], Awaitable[T]], done: str = "") -> T | None:
        """Do what a person asked for, say `done`; an error is said and None returned."""
        try:
            found = await work()
        except MemstrataError as error:
            self.complain(error.message)
            return None
        if done:
            self.tell(done)
        return found

    def tell(self, text: str, type: Literal["positive", "warning"] = "positive") -> None:
        """Say something for a moment. On the stage: what was clicked may be gone by now."""
        with self.stage:
            ui.notify(text, type=type, multi_line=True)

    def complain(self, why: str) -> None:
        """Say what went wrong, until it is closed."""
        with self.stage:
            ui.notify(
                why, type="negative", timeout=0, close_button=self.say("Close"), multi_line=True
            )

    def day(self, value: date | None) -> str:
        """A day, as it is written in the language."""
        if value is None:
            return "—"
        text = value.isoformat()
        return text.replace("-", "/") if self.say.language == "zh" else text

    def moment(self, value: datetime | None) -> str:
        """An instant to the minute, in the machine's time zone."""
        if value is None:
            return "—"
        local = value.astimezone()
        return f"{self.day(local.date())} {local:%H:%M}"


class Region(Generic[T]):
    """A part of a page that loads: a skeleton, then what came, or why nothing did and a way to retry."""

    def __init__(
        self,
        desk: Desk,
        fetch: Callable[[], Awaitable[T]],
        draw: Callable[[T], None],
        *,
        lines: int = 4,
    ) -> None:
        self._desk, self._fetch, self._draw, self._lines = desk, fetch, draw, lines
        self.box = ui.element("div").classes("region").props('aria-live="polite"')
        self._loading = 0
        self._shown: T | None = None
        with self.box:
            self._skeleton()
        background_tasks.create(self.load(), context=self.box)

    async def load(self) -> None:
        """Fetch and show; what was shown stays until the new is there. The last call wins."""
        self._loading += 1
        turn = self._loading
        try:
            async with asyncio.timeout(PATIENCE):
                found = await self._fetch()
        except MemstrataError as error:
            self._show(turn, partial(self._failed, error.message))
        except TimeoutError:
            self._show(turn, partial(self._failed, self._desk.say("No answer yet.")))
        else:
            if found != self._shown:  # what is the same stays: somebody may be about to click on it
                self._show(turn, partial(self._draw, found))
                self._shown = found

    def _show(self, turn: int, draw: Callable[[], None]) -> None:
        if turn != self._loading or self.box.is_deleted:
            return
        self.box.clear()
        with self.box:
            draw()

    def _skeleton(self) -> None:
        with ui.column().classes("w-full stack"):
            for _ in range(self._lines):
                ui.skeleton(type="QInput").classes("w-full")

    def _failed(self, why: str) -> None:
        self._shown = None
        with ui.element("div").classes("card failed").props('role="alert"'):
            ui.icon("cloud_off").classes("failed-icon")
            ui.label(self._desk.say("This could not be loaded.")).classes("strong")
            ui.label(why).classes("muted")
            ui.button(self._desk.say("Try again"), icon="refresh", on_click=self._again).props(
                "outline"
            )

    async def redraw(self) -> None:
        """Fetch and show anew, also what is the same."""
        self._shown = None
        await self.load()

    async def _again(self) -> None:
        self.box.clear()
        with self.box:
            self._skeleton()
        await self.load()


def path_query() -> str:
    """The query of the page that is shown."""
    return context.client.sub_pages_router.current_path.partition("?")[2]
