"""Tasks: what agents did in long sessions, as graphs; from a node to the full results."""

from __future__ import annotations

from functools import partial

from nicegui import ui

from memstrata.domain import canvas
from memstrata.domain.insertion import Task
from memstrata.errors import MemstrataError
from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import (
    empty,
    heading,
    notice,
    page,
    tag,
    titled,
)

KINDS = {"done": "good", "doing": "accent", "paused": "warn", "blocked": "bad"}


def show(desk: Desk) -> None:
    """The page."""

    async def fetch() -> tuple[Task, ...]:
        return await desk.memory.tasks(limit=50, workspace=desk.where.workspace)

    with page(desk, desk.say("Tasks")):
        Region(desk, fetch, lambda found: _draw(desk, found))


def _draw(desk: Desk, found: tuple[Task, ...]) -> None:
    say = desk.say
    if not found:
        hint = say("They come from agents that fold their tool results away.")
        empty("account_tree", say("No tasks yet"), hint)
        return
    with ui.element("div").classes("list").props('role="list"'):
        for one in found:
            with ui.element("div").classes("item").props('role="listitem"'):
                with ui.element("button").classes("open").props("type=button") as opener:
                    ui.label(one.goal or one.file).classes("name")
                    with ui.element("span").classes("row"):
                        ui.label(f"{one.progress} %").classes("muted small")
                        for status, count in one.counts:
                            tag(f"{say(status)} {count}", KINDS.get(status, ""))
                        ui.label(one.file).classes("muted small mono")
                opener.on("click", partial(_open, desk, one))
                ui.label(desk.moment(one.updated)).classes("muted small").style("padding-top: 11px")


async def _open(desk: Desk, task: Task) -> None:
    """The graph, drawn, and its nodes with the way to their results."""
    folder, _, file = task.file.rpartition("/")
    session = await desk.act(
        partial(desk.memory.offload, folder or "", workspace=desk.where.workspace)
    )
    if session is None:
        return
    found = await desk.act(partial(session.open, file))
    if found is None:
        return
    graph = canvas.parse(found.text, file)
    with (
        titled(desk, task.goal or task.file, "maximized") as dialog,
        ui.card().classes("sheet").style("width: 100vw"),
    ):
        with ui.element("div").classes("sheet-head"):
            heading(task.goal or task.file)
            ui.space()
            ui.button(icon="close", on_click=dialog.close).props(
                f'flat round dense aria-label="{desk.say("Close")}"'
            )
        with ui.element("div").classes("sheet-body"):
            with ui.element("div").classes("graph").props('tabindex="0"'):
                ui.mermaid(found.text, config={"securityLevel": "strict"})
            for node in graph.nodes:
                with ui.element("section").classes("card stack"):
                    with ui.element("div").classes("row"):
                        tag(desk.say(node.status), KINDS.get(node.status, ""))
                        ui.label(node.label).classes("strong grow")
                        ui.button(
                            desk.say("Full results"),
                            on_click=partial(_results, desk, f"{folder}/{node.id}"),
                        ).props("flat dense")
                    ui.label(node.summary).classes("text muted")
    dialog.on("hide", dialog.delete)
    dialog.open()


async def _results(desk: Desk, ref: str) -> None:
    with titled(desk, desk.say("Full results")) as dialog, ui.card().classes("box wide"):
        heading(desk.say("Full results"))
        try:
            found = await desk.memory.recall_result(ref, lines=400, workspace=desk.where.workspace)
        except MemstrataError as error:
            notice(error.message, "bad", "error_outline")
        else:
            with ui.element("pre").classes("diff"):
                ui.label(str(found))
        ui.button(desk.say("Close"), on_click=dialog.close).props("flat")
    dialog.on("hide", dialog.delete)
    dialog.open()
