"""Settings: value, default and origin of each; changed, checked and taken back here."""

from __future__ import annotations

import json
from functools import partial
from itertools import groupby
from typing import Any

from nicegui import ui

from memstrata.errors import Invalid, MemstrataError
from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import (
    confirmed,
    facts,
    heading,
    notice,
    page,
    tag,
    titled,
)
from memstrata.settings import NEEDS_RESTART, Setting


def show(desk: Desk) -> None:
    """The page."""
    with page(desk, desk.say("Settings")) as head:
        with head:
            ui.button(
                desk.say("Test extraction"), icon="science", on_click=partial(_test, desk)
            ).props("outline")
            ui.button(
                desk.say("Rebuild vectors"), icon="refresh", on_click=partial(_rebuild, desk)
            ).props("outline")
        ui.label(
            desk.say("They stand in config.toml of the home; comments there are kept.")
        ).classes("muted")
        region: Region[tuple[Setting, ...]] = Region(
            desk, desk.memory.settings, lambda found: _draw(desk, found, region), lines=8
        )


def _draw(desk: Desk, found: tuple[Setting, ...], region: Region[tuple[Setting, ...]]) -> None:
    with ui.element("div").classes("stack"):
        for table, rows in groupby(found, key=lambda one: one.key.rpartition(".")[0]):
            with ui.element("section").classes("card stack"):
                heading(f"[{table}]" if table else desk.say("General"))
                for row in rows:
                    _row(desk, row, region)


def _row(desk: Desk, row: Setting, region: Region[tuple[Setting, ...]]) -> None:
    say = desk.say
    with ui.element("div").classes("row").style("align-items: flex-start; flex-wrap: nowrap"):
        with ui.element("div").classes("grow"):
            with ui.element("div").classes("row"):
                ui.label(row.key.rpartition(".")[2]).classes("mono strong")
                ui.label(_shown(row.value)).classes("mono")
                if row.origin != "default":
                    tag(_origin(desk, row.origin), "accent")
            ui.label(say(row.description)).classes("muted small")
            if row.origin != "default":
                ui.label(say("default: {value}", value=_shown(row.default))).classes("muted small")
        ui.button(icon="edit", on_click=partial(_edit, desk, row, region)).props(
            f'flat round dense aria-label="{say("Change")} {row.key}"'
        )


def _origin(desk: Desk, origin: str) -> str:
    return (
        origin
        if origin.startswith(("environment", "argument"))
        else desk.say("set in {file}", file=origin)
    )


def _shown(value: object) -> str:
    match value:
        case str():
            return value or "—"
        case tuple() | list():
            return json.dumps(list(value), ensure_ascii=False) if value else "—"
        case _:
            return json.dumps(value)


async def _edit(desk: Desk, row: Setting, region: Region[tuple[Setting, ...]]) -> None:
    say = desk.say
    with titled(desk, row.key) as dialog, ui.card().classes("box"):
        heading(row.key)
        ui.label(say(row.description)).classes("muted")
        field = _field(row)
        problem = ui.element("div").classes("w-full")
        if row.origin.startswith(("environment", "argument")):
            notice(say("It is set by {origin}, which wins over the file.", origin=row.origin))
        if row.key.startswith(NEEDS_RESTART):
            notice(say("It takes effect when memstrata is started again."), "warn", "restart_alt")

        async def save(value: object) -> None:
            try:
                await desk.memory.configure(row.key, value)
            except MemstrataError as error:
                problem.clear()
                with problem:
                    notice(error.message, "bad", "error_outline")
                return
            desk.tell(say("saved"))
            dialog.close()
            await region.load()

        async def keep() -> None:
            try:
                value = _value(row, field.value)
            except ValueError:
                with problem:
                    notice(Invalid(row.key, say("expected a list, one a line")).message, "bad")
                return
            await save(value)

        with ui.row().classes("w-full justify-end"):
            if row.origin not in {"default"} and not row.origin.startswith(
                ("environment", "argument")
            ):
                ui.button(say("Back to the default"), on_click=partial(save, None)).props("flat")
            ui.button(say("Cancel"), on_click=dialog.close).props("flat")
            ui.button(say("Save"), on_click=keep)
    dialog.on("hide", dialog.delete)
    dialog.open()


def _field(row: Setting) -> Any:
    """What a value of that kind is typed into."""
    match row.default:
        case bool():
            return ui.switch(row.key, value=bool(row.value))
        case int() | float():
            number = float(str(row.value))
            return ui.number(value=number, label=row.key).props("outlined").classes("w-full")
        case tuple():
            text = "\n".join(row.value) if isinstance(row.value, tuple) else ""
            return (
                ui.textarea(row.key, value=text).props("outlined autogrow").classes("w-full mono")
            )
        case _ if row.choices:
            return (
                ui.select(list(row.choices), value=row.value, label=row.key)
                .props("outlined")
                .classes("w-full")
            )
        case _:
            masked = row.key.endswith("api_key")
            value = "" if masked else str(row.value)
            return (
                ui.input(row.key, value=value, password=masked).props("outlined").classes("w-full")
            )


def _value(row: Setting, value: Any) -> object:
    """What was typed, as a value of the setting's kind."""
    match row.default:
        case bool():
            return bool(value)
        case int():
            return int(value) if value is not None and float(value).is_integer() else value
        case tuple():
            return [line for line in (value or "").splitlines() if line.strip()]
        case _:
            return value if value is not None else ""


async def _test(desk: Desk) -> None:
    say = desk.say
    with titled(desk, desk.say("Test extraction")) as dialog, ui.card().classes("box"):
        heading(say("Test extraction"))
        spinner = ui.spinner(size="lg")
        box = ui.element("div").classes("stack")
        ui.button(say("Close"), on_click=dialog.close).props("flat")
    dialog.on("hide", dialog.delete)
    dialog.open()
    try:
        found = await desk.memory.test_extraction()
    except MemstrataError as error:
        spinner.delete()
        with box:
            notice(error.message, "bad", "error_outline")
        return
    spinner.delete()
    with box:
        notice(
            say("The model answered.") if found.ok else found.problem,
            "good" if found.ok else "bad",
            "science",
        )
        facts(
            [
                (say("Model"), found.model),
                (say("Time"), say("{n} seconds", n=f"{found.seconds:.1f}")),
                (say("Sample"), "\n".join(found.sample) or "—"),
            ]
        )


async def _rebuild(desk: Desk) -> None:
    say = desk.say
    text = say("Every vector is cleared and made again; full text serves meanwhile.")
    if not await confirmed(desk, say("Rebuild vectors?"), text, say("Rebuild")):
        return
    progress = {"done": 0, "all": 0}

    def told(_: str, done: int, all: int) -> None:
        progress.update(done=done, all=all)

    with (
        titled(desk, desk.say("Rebuild vectors"), "persistent") as dialog,
        ui.card().classes("box"),
    ):
        heading(say("Rebuild vectors"))
        bar = ui.linear_progress(0, show_value=False)
        label = ui.label("…").classes("muted")

        def shown() -> None:
            done, all = progress["done"], progress["all"]
            bar.set_value(done / all if all else 0)
            label.set_text(f"{done:,} / {all:,}" if all else f"{done:,}")

        timer = ui.timer(0.3, shown)
    dialog.open()
    await desk.act(
        lambda: desk.memory.rebuild_vectors(progress=told), say("Vectors are made anew.")
    )
    timer.cancel()
    dialog.close()
    dialog.delete()
