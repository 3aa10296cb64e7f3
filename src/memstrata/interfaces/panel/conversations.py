"""Conversations: what was said, word for word, and what came of each message."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from nicegui import ui

from memstrata.domain.turn import Message
from memstrata.interfaces.panel import forgetting
from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import (
    Pages,
    empty,
    heading,
    page,
    tag,
    titled,
)
from memstrata.pipelines.read import Hits, Page, SessionInfo, Trace

PER_PAGE: Final = 50


def show(desk: Desk) -> None:
    """The page."""
    _Conversations(desk)


class _Conversations:
    """The list of conversations, one of them, or what a search finds in all."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.session = ""
        self.query = ""
        self.pages = Pages()
        with page(desk, desk.say("Conversations")):
            search = ui.input(desk.say("Search what was said"))
            search.props("outlined dense clearable debounce=300").classes("w-full").on_value_change(
                self._search
            )
            self.region: Region[Any] = Region(desk, self._fetch, self._draw, lines=6)
        desk.changed.append(self.region.load)

    async def _search(self, event: Any) -> None:
        self.query, self.session = event.value or "", ""
        await self.region.load()

    async def _fetch(self) -> Any:
        memory, workspace = self.desk.memory, self.desk.where.workspace
        if self.query.strip():
            return await memory.search_conversations(
                self.query, limit=PER_PAGE, **self.desk.where.view()
            )
        if self.session:
            return await memory.messages(
                self.session, limit=PER_PAGE, cursor=self.pages.cursor, workspace=workspace
            )
        return await memory.sessions()

    def _draw(self, found: Any) -> None:
        if isinstance(found, Hits):
            self._hits(found)
        elif isinstance(found, Page):
            self._messages(found)
        else:
            self._sessions(found)

    # -- the list --------------------------------------------------------------------------------

    def _sessions(self, found: tuple[SessionInfo, ...]) -> None:
        say = self.desk.say
        if not found:
            empty(
                "forum",
                say("Nothing was said yet"),
                say("Hosts commit turns; memstrata import takes files."),
            )
            return
        with ui.element("div").classes("list").props('role="list"'):
            for one in reversed(found):
                with ui.element("div").classes("item").props('role="listitem"'):
                    with ui.element("button").classes("open").props("type=button") as opener:
                        ui.label(one.id).classes("name")
                        ui.label(say("{n} messages", n=f"{one.messages:,}")).classes("what")
                    opener.on("click", partial(self._open, one.id))
                    if one.waiting:
                        with ui.element("div").style("padding: 12px 4px"):
                            tag(say("{n} waiting", n=one.waiting), "warn")

    async def _open(self, session: str) -> None:
        self.session = session
        self.pages.restart()
        await self.region.load()

    async def _close(self) -> None:
        await self._open("")

    def _hits(self, found: Hits) -> None:
        if not found:
            empty("search_off", self.desk.say("Nothing matches"))
        with ui.element("div").classes("stack"):
            for hit in found:
                with ui.element("article").classes("card"):
                    ui.label(hit.content).classes("text")
                    about = f"{self.desk.say(hit.role)} · {self.desk.moment(hit.said_at)}"
                    with ui.element("div").classes("row"):
                        ui.label(about).classes("muted small")
                        ui.button(hit.session, on_click=partial(self._found, hit.session)).props(
                            "flat dense"
                        )

    async def _found(self, session: str) -> None:
        self.query = ""
        await self._open(session)

    # -- one conversation ------------------------------------------------------------------------

    def _messages(self, found: Page[Message]) -> None:
        say = self.desk.say
        with ui.element("div").classes("stack"):
            with ui.element("div").classes("row"):
                ui.button(say("All conversations"), icon="arrow_back", on_click=self._close).props(
                    "flat"
                )
                heading(self.session)
                ui.space()
                ui.button(
                    say("Forget…"), icon="delete_forever", color="negative", on_click=self._forget
                ).props("flat")
            for message in found.items:
                self._message(message)
            self.pages.pager(found.cursor, self.region.load, say("Earlier"), say("Later"))

    def _message(self, message: Message) -> None:
        say = self.desk.say
        with ui.element("article").classes("card stack"):
            with ui.element("div").classes("row"):
                tag(say(message.role), "accent" if message.role == "user" else "")
                ui.label(self.desk.moment(message.said_at or message.recorded_at)).classes(
                    "muted small"
                )
                ui.space()
                ui.button(say("What came of it"), on_click=partial(self._derived, message)).props(
                    "flat dense"
                )
            ui.label(message.content).classes("text")

    async def _derived(self, message: Message) -> None:
        say = self.desk.say
        work = partial(
            self.desk.memory.trace, message.id, session=message.session, **self.desk.where.view()
        )
        found: Trace | None = await self.desk.act(work)
        if found is None:
            return
        with titled(self.desk, say("What came of it")) as dialog, ui.card().classes("box"):
            heading(say("What came of it"))
            if not found.derived:
                ui.label(say("No memory was drawn from it.")).classes("muted")
            for record in found.derived:
                ui.link(record.name, f"/memories?id={record.id}").classes("strong")
                ui.label(record.description).classes("muted")
            ui.button(say("Close"), on_click=dialog.close).props("flat")
        dialog.on("hide", dialog.delete)
        dialog.open()

    async def _forget(self) -> None:
        if await forgetting.ask(self.desk, session=self.session):
            await self._close()
