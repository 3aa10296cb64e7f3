"""Memories: filter, look, correct, put aside, delete; many at a time too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qs

from nicegui import ui

from memstrata.errors import MemstrataError
from memstrata.interfaces.panel import form, sheet
from memstrata.interfaces.panel.desk import Desk, Region, path_query
from memstrata.interfaces.panel.pieces import (
    ICONS,
    SCOPES,
    STATUSES,
    TYPES,
    Pages,
    confirmed,
    empty,
    page,
    plain,
    select,
    tag,
)
from memstrata.pipelines.read import Page, Record

PER_PAGE: Final = 50


@dataclass(slots=True)
class _State:
    """What the list shows: filters, which page, what is ticked."""

    filters: dict[str, str]
    pages: Pages = field(default_factory=Pages)
    ticked: dict[str, Record] = field(default_factory=dict)


def show(desk: Desk) -> None:
    """The page."""
    query = {name: found[0] for name, found in parse_qs(path_query()).items()}
    known = {"scope": SCOPES, "type": TYPES, "status": STATUSES}
    chosen = {name: query.get(name, "") for name in known}
    filters = {name: value if value in known[name] else "" for name, value in chosen.items()}
    _List(desk, _State({**filters, "text": query.get("text", "")}), query.get("id", ""))


class _List:
    """The page's parts, which act on each other."""

    def __init__(self, desk: Desk, state: _State, opened: str) -> None:
        self.desk, self.state = desk, state
        with page(desk, desk.say("Memories")) as head:
            with head:
                ui.button(desk.say("New memory"), icon="add", on_click=self._add)
            self._filters()
            self.bulk = ui.element("div").classes("bulk")
            self.region = Region(desk, self._fetch, self._draw, lines=8)
        self._show_bulk()
        desk.changed.append(self.region.load)
        if opened:
            ui.timer(0, partial(self._open, opened), once=True)

    # -- what is shown ---------------------------------------------------------------------

    def _filters(self) -> None:
        say, filters = self.desk.say, self.state.filters
        anything = {"": say("any")}
        with (
            ui.element("div")
            .classes("filters")
            .props(f'role="search" aria-label="{say("Filters")}"')
        ):
            search = ui.input(say("Name or description"), value=filters["text"]).classes("search")
            search.props("outlined dense clearable debounce=300").on_value_change(
                lambda event: self._set("text", event.value or "")
            )
            for name, label, values in (
                ("type", say("Type"), TYPES),
                ("status", say("Status"), STATUSES),
                ("scope", say("Scope"), SCOPES),
            ):
                options = anything | {one: say(one) for one in values}
                select(label, options, filters[name], partial(self._set, name))

    async def _set(self, name: str, value: str) -> None:
        self.state.filters[name] = value
        self.state.pages.restart()
        await self.region.redraw()

    async def _fetch(self) -> Page[Record]:
        filters: dict[str, Any] = {
            name: value for name, value in self.state.filters.items() if value
        }
        return await self.desk.memory.list(
            newest=True,
            limit=PER_PAGE,
            cursor=self.state.pages.cursor,
            **filters,
            **self.desk.where.view(),
        )

    def _draw(self, found: Page[Record]) -> None:
        say = self.desk.say
        if not found.items:
            if any(self.state.filters.values()):
                empty("search_off", say("Nothing matches"), say("Try fewer filters."))
            else:
                hint = say("Memories come from conversations, or are added by hand.")
                empty("notes", say("Nothing yet"), hint)
            return
        with ui.element("div").classes("list").props('role="list"'):
            for record in found.items:
                self._row(record)
        ui.label(say("page {n}", n=len(self.state.pages.cursors))).classes("muted small")
        self.state.pages.pager(found.cursor, self.region.redraw, say("Newer"), say("Older"))

    def _row(self, record: Record) -> None:
        say = self.desk.say
        with ui.element("div").classes("item").props('role="listitem"'):
            ticked = ui.checkbox(value=record.id in self.state.ticked)
            ticked.props(f'dense aria-label="{say("Choose")} {plain(record.name)}"').style(
                "padding: 11px 4px"
            )
            ticked.on_value_change(lambda event: self._tick(record, bool(event.value)))
            with ui.element("button").classes("open").props("type=button") as opener:
                with ui.element("span").classes("row"):
                    ui.icon(ICONS[record.type]).classes("muted").props('aria-hidden="true"')
                    ui.label(record.name).classes("name grow")
                    if record.priority == -1:
                        tag(say("standing rule"), "accent")
                    if record.status != "active":
                        tag(say(record.status), record.status)
                    if record.scope != "user":
                        tag(f"{say(record.scope)} {record.scope_ref or ''}".strip())
                ui.label(record.description).classes("what")
            opener.on("click", partial(self._open, record.id))
            ui.label(self.desk.day(record.updated_at.astimezone().date())).classes(
                "muted small"
            ).style("padding-top: 11px; white-space: nowrap")

    # -- what can be done ------------------------------------------------------------------

    async def _add(self) -> None:
        if await form.add(self.desk):
            self.state.pages.restart()
            await self.region.redraw()

    async def _open(self, id: str) -> None:
        await sheet.show(self.desk, id, self.region.load)

    def _tick(self, record: Record, on: bool) -> None:
        if on:
            self.state.ticked[record.id] = record
        else:
            self.state.ticked.pop(record.id, None)
        self._show_bulk()

    def _show_bulk(self) -> None:
        say, count = self.desk.say, len(self.state.ticked)
        self.bulk.set_visibility(bool(count))
        self.bulk.clear()
        with self.bulk:
            ui.label(say("{n} chosen", n=count)).classes("strong")
            ui.space()
            ui.button(say("Archive"), icon="inventory_2", on_click=self._archive).props(
                "flat dense"
            )
            ui.button(
                say("Delete"), icon="delete_outline", color="negative", on_click=self._delete
            ).props("flat dense")
            ui.button(say("None"), on_click=self._untick).props("flat dense")

    async def _untick(self) -> None:
        self.state.ticked.clear()
        self._show_bulk()
        await self.region.redraw()

    async def _archive(self) -> None:
        await self._each(self.desk.memory.archive, self.desk.say("archived"))

    async def _delete(self) -> None:
        say, count = self.desk.say, len(self.state.ticked)
        text = say(
            "They go for good, file and all; what was said about them stays in the conversations."
        )
        if await confirmed(
            self.desk, say("Delete {n} memories?", n=count), text, say("Delete"), bad=True
        ):
            await self._each(self.desk.memory.delete, say("deleted"))

    async def _each(self, verb: Callable[..., Awaitable[object]], done: str) -> None:
        """Do it to everything that is ticked; those that it failed for stay ticked."""
        gone, problem = 0, ""
        for record in list(self.state.ticked.values()):
            try:
                await verb(record.id, **self.desk.where.view())
            except MemstrataError as error:
                problem = error.message
                continue
            gone += 1
            del self.state.ticked[record.id]
        if gone:
            self.desk.tell(f"{gone} {done}")
        if problem:
            self.desk.complain(problem)
        self._show_bulk()
        await self.region.redraw()
