"""Entities: the named things that memories are about, and which names are one."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import empty, page, tag
from memstrata.pipelines.entities import Entity

MOST = 200


def show(desk: Desk) -> None:
    """The page."""
    say = desk.say

    async def fetch() -> tuple[Entity, ...]:
        return await desk.memory.entities(**desk.where.view())

    async def join() -> None:
        work = partial(desk.memory.alias, name.value or "", of=thing.value or "")
        if await desk.act(work, say("They are one now.")) is not None:
            name.set_value("")
            thing.set_value("")
            await region.load()

    with page(desk, say("Entities")):
        ui.label(
            say(
                "People, libraries, systems. Two names of one thing can be joined, and parted again."
            )
        ).classes("muted")
        with ui.element("div").classes("filters"):
            name = ui.input(say("This name")).props("outlined dense")
            thing = ui.input(say("means the same as")).props("outlined dense")
            ui.button(say("Join"), icon="link", on_click=join)
        region: Region[tuple[Entity, ...]] = Region(
            desk, fetch, lambda found: _draw(desk, found, region)
        )
    desk.changed.append(region.load)


def _draw(desk: Desk, found: tuple[Entity, ...], region: Region[Any]) -> None:
    say = desk.say
    if not found:
        empty("hub", say("Nothing yet"))
        return
    with ui.element("div").classes("list").props('role="list"'):
        for one in found[:MOST]:
            with (
                ui.element("div")
                .classes("item")
                .props('role="listitem"')
                .style("padding: 10px 16px; align-items: center; flex-wrap: wrap")
            ):
                ui.label(one.name).classes("strong")
                for other in one.aliases:
                    tag(other, "accent")
                    ui.button(icon="link_off", on_click=partial(_part, desk, other, region)).props(
                        f'flat round dense size=sm aria-label="{say("Part again")}"'
                    ).tooltip(say("Part again"))
                ui.space()
                ui.link(
                    say("{n} memories", n=len(one.memories)),
                    f"/memories?text={one.spellings[0] if one.spellings else one.name}",
                )


async def _part(desk: Desk, name: str, region: Region[Any]) -> None:
    await desk.act(partial(desk.memory.unalias, name), desk.say("They are two again."))
    await region.load()
