"""Why, why not: what became of each candidate, and which gate refused it for what reason."""

from __future__ import annotations

from nicegui import ui

from memstrata.domain.plan import REFUSALS, VERDICTS
from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import Pages, empty, page, select, tag
from memstrata.pipelines.read import Page
from memstrata.ports import VerdictRow

PER_PAGE = 50
KEPT = {"add", "update", "merge"}


def show(desk: Desk) -> None:
    """The page."""
    chosen = {"verdict": ""}
    pages = Pages()

    async def fetch() -> Page[VerdictRow]:
        return await desk.memory.why(
            verdict=chosen["verdict"] or None, limit=PER_PAGE, cursor=pages.cursor
        )

    async def changed(value: str) -> None:
        chosen["verdict"] = value
        pages.restart()
        await region.load()

    def draw(found: Page[VerdictRow]) -> None:
        if not found.items:
            empty(
                "rule",
                desk.say("No verdicts"),
                desk.say("Each candidate that extraction proposes gets one."),
            )
            return
        with ui.element("div").classes("list"):
            for row in found.items:
                _row(desk, row)
        pages.pager(found.cursor, region.load, desk.say("Newer"), desk.say("Older"))

    with page(desk, desk.say("Why, why not")):
        ui.label(
            desk.say(
                "What extraction proposed, and what the gates said. Nothing is dropped without a reason."
            )
        ).classes("muted")
        with ui.element("div").classes("filters"):
            select(
                desk.say("Verdict"),
                {"": desk.say("any"), **{one: desk.say(one) for one in VERDICTS}},
                "",
                changed,
            )
        region = Region(desk, fetch, draw)
        desk.changed.append(region.load)


def _row(desk: Desk, row: VerdictRow) -> None:
    verdict = row.verdict
    with ui.element("div").classes("item").style("padding: 12px 16px; display: block"):
        with ui.element("div").classes("row"):
            tag(
                desk.say(verdict.verdict),
                "good"
                if verdict.verdict in KEPT
                else "warn"
                if verdict.verdict in REFUSALS
                else "",
            )
            if verdict.memory:
                ui.link(verdict.name, f"/memories?id={verdict.memory}").classes("strong")
            else:
                ui.label(verdict.name).classes("strong")
            ui.space()
            ui.label(desk.moment(row.at)).classes("muted small")
        ui.label(verdict.reason).classes("text")
        ui.label(desk.say("conversation {id}", id=row.session)).classes("muted small")
