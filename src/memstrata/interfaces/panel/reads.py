"""What agents read by their tools: when, who, which ids; never a text."""

from __future__ import annotations

from nicegui import ui

from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import Pages, empty, page
from memstrata.pipelines.read import Page
from memstrata.ports import ToolRead


def show(desk: Desk) -> None:
    """The page."""
    pages = Pages()

    async def fetch() -> Page[ToolRead]:
        return await desk.memory.reads(limit=50, cursor=pages.cursor)

    def draw(found: Page[ToolRead]) -> None:
        say = desk.say
        if not found.items:
            empty("visibility", say("No agent read anything yet"))
            return
        names = (say("When"), say("Tool"), say("Who"), say("Conversation"), say("Read"))
        with ui.element("div").classes("list scroll-x"), ui.element("table").classes("plain-table"):
            with ui.element("thead"), ui.element("tr"):
                for name in names:
                    with ui.element("th").props('scope="col"'):
                        ui.label(name)
            with ui.element("tbody"):
                for one in found.items:
                    _row(desk, one)
        pages.pager(found.cursor, region.load, desk.say("Newer"), desk.say("Older"))

    with page(desk, desk.say("What agents read")):
        region = Region(desk, fetch, draw)


def _row(desk: Desk, one: ToolRead) -> None:
    who = f"{one.caller} {one.agent}".strip()
    with ui.element("tr"):
        for text in (desk.moment(one.at), one.tool, who, one.session or "—"):
            with ui.element("td"):
                ui.label(text)
        with ui.element("td"):
            if one.outcome != "ok":
                ui.label(one.outcome).classes("muted")
            for id in one.ids:
                if id.startswith("mem_"):
                    ui.link(id[-6:], f"/memories?id={id}").classes("mono small")
                else:
                    ui.label(id).classes("mono small")
