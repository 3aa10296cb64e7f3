"""Scenes and persona: what the memories come to, each line with where it rests."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import empty, heading, page, tag
from memstrata.pipelines.portrait import PersonaText, SceneText


def show(desk: Desk) -> None:
    """The page."""
    say = desk.say
    with page(desk, say("Scenes and persona")) as head:
        with head:
            ui.button(
                say("Bring up to date"), icon="autorenew", on_click=partial(_refresh, desk)
            ).props("outline")
        heading(say("Persona"))
        who: Region[PersonaText] = Region(
            desk, desk.memory.persona, lambda found: _persona(desk, found, who)
        )
        heading(say("Scenes"))

        async def fetch() -> tuple[SceneText, ...]:
            return await desk.memory.scenes(workspace=desk.where.workspace)

        scenes = Region(desk, fetch, lambda found: _scenes(desk, found))
    desk.changed += [who.load, scenes.load]


async def _refresh(desk: Desk) -> None:
    async def work() -> bool:
        await desk.memory.request_scenes(workspace=desk.where.workspace)
        await desk.memory.request_persona()
        return True

    await desk.act(work, desk.say("It is done in the background."))


def _persona(desk: Desk, found: PersonaText, region: Region[Any]) -> None:
    say = desk.say
    with ui.element("section").classes("card stack"):
        if not found.lines:
            empty(
                "face",
                say("No persona yet"),
                say("It is told from the scenes once there are some."),
            )
            return
        section = ""
        for number, line in enumerate(found.lines, start=1):
            if line.section != section:
                section = line.section
                heading(section, 3, "sub")
            with (
                ui.element("div").classes("row").style("flex-wrap: nowrap; align-items: flex-start")
            ):
                with ui.element("div").classes("grow"):
                    ui.label(line.text).classes("text")
                    _cites(line.cites)
                icon, label = ("lock", say("Unlock")) if line.locked else ("lock_open", say("Lock"))
                ui.button(
                    icon=icon, on_click=partial(_lock, desk, number, not line.locked, region)
                ).props(f'flat round dense aria-label="{label}"').tooltip(label)
        ui.label(say("changed {when}", when=desk.moment(found.updated))).classes("muted small")


async def _lock(desk: Desk, line: int, locked: bool, region: Region[Any]) -> None:
    done = (
        desk.say("It stays through every retelling.")
        if locked
        else desk.say("It may be told anew.")
    )
    await desk.act(partial(desk.memory.lock_persona, line, locked=locked), done)
    await region.load()


def _cites(cites: tuple[str, ...]) -> None:
    with ui.element("div").classes("row"):
        for one in cites:
            if one.startswith("mem_"):
                ui.link(one[-6:], f"/memories?id={one}").classes("small mono")
            else:
                ui.label(one).classes("small mono muted")


def _scenes(desk: Desk, found: tuple[SceneText, ...]) -> None:
    say = desk.say
    if not found:
        empty(
            "theater_comedy",
            say("No scenes yet"),
            say("They are told from memories that belong together."),
        )
        return
    with ui.element("div").classes("stack"):
        for scene in found:
            with ui.element("section").classes("card stack"):
                with ui.element("div").classes("row"):
                    heading(scene.name)
                    ui.space()
                    tag(say("heat {n}", n=scene.heat), "accent", "local_fire_department")
                ui.label(scene.summary).classes("muted")
                for paragraph in scene.paragraphs:
                    ui.label(paragraph.text).classes("text")
                    _cites(tuple(paragraph.cites))
                ui.label(say("changed {when}", when=desk.moment(scene.updated))).classes(
                    "muted small"
                )
