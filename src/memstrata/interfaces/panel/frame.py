"""What stands around every page: the bar, the ways to the others, language, darkness."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from nicegui import context, ui

from memstrata.aio import AsyncVerbs
from memstrata.interfaces.panel import (
    candidates,
    conversations,
    entities,
    layers,
    memories,
    overview,
    reads,
    settings,
    tasks,
    team,
    verdicts,
)
from memstrata.interfaces.panel.desk import Desk
from memstrata.interfaces.panel.pieces import select
from memstrata.interfaces.panel.say import QUASAR, Say, preferred

STYLE: Final = Path(__file__).with_name("style.css")
LANGUAGE: Final = "memstrata_language"
DARK: Final = "memstrata_dark"
_YEAR: Final = 365 * 24 * 3600
_NARROW: Final = 900
"""Pixels of width below which the list of pages stands over the page instead of beside it."""

PAGES: Final[tuple[tuple[str, str, str, Callable[[Desk], None]], ...]] = (
    ("/", "Overview", "space_dashboard", overview.show),
    ("/memories", "Memories", "notes", memories.show),
    ("/candidates", "Candidates", "checklist", candidates.show),
    ("/conversations", "Conversations", "forum", conversations.show),
    ("/layers", "Scenes and persona", "face", layers.show),
    ("/tasks", "Tasks", "account_tree", tasks.show),
    ("/team", "Team document", "edit_note", team.show),
    ("/entities", "Entities", "hub", entities.show),
    ("/verdicts", "Why, why not", "rule", verdicts.show),
    ("/reads", "What agents read", "visibility", reads.show),
    ("/settings", "Settings", "tune", settings.show),
)


def build(memory: AsyncVerbs, request: Request) -> Desk:
    """One page load: the frame, and in it the page that the path names."""
    say = Say(preferred(request.cookies.get(LANGUAGE), request.headers.get("accept-language", "")))
    desk = Desk(memory, say, ui.element("div"))
    if say.language != "en":
        ui.run_javascript(f"document.documentElement.lang = '{QUASAR[say.language]}'")
    ui.add_css(STYLE)
    ui.colors(primary="#2f5d50", negative="#a3262a", positive="#1f6b45", warning="#8a5a00")
    chosen = {"1": True, "0": False}.get(request.cookies.get(DARK, ""))
    dark = ui.dark_mode(chosen)
    main = ui.element("div").classes("w-full").props('tabindex="-1"')
    drawer = _ways(desk)
    _bar(desk, drawer, dark)
    ui.skip_link(say("Skip to content"), target=main)
    with main:
        ui.sub_pages({path: _page(show, desk) for path, _, _, show in PAGES}).classes("w-full")
    return desk


def _page(show: Callable[[Desk], None], desk: Desk) -> Callable[[], None]:
    def shown() -> None:
        desk.changed.clear()
        show(desk)

    return shown


def _ways(desk: Desk) -> ui.left_drawer:
    """The list of pages."""
    links: dict[str, ui.link] = {}
    with (
        ui.left_drawer(top_corner=False, bottom_corner=True)
        .classes("side")
        .props(f"width=240 breakpoint={_NARROW} show-if-above") as drawer,
        ui.element("nav").props(f'aria-label="{desk.say("Pages")}"'),
    ):
        for path, name, icon, _ in PAGES:
            with ui.link(target=path).classes("go") as link:
                ui.icon(icon).props('aria-hidden="true"')
                ui.label(desk.say(name))
            links[path] = link

    async def leave() -> None:
        """Over a narrow page the list goes once it was used."""
        if await ui.run_javascript("return window.innerWidth") < _NARROW:
            drawer.hide()

    for link in links.values():
        link.on("click", leave)

    def mark(path: str) -> None:
        here = path.partition("?")[0].rstrip("/") or "/"
        for target, link in links.items():
            if target == here:
                link.classes(add="here").props('aria-current="page"')
            else:
                link.classes(remove="here").props(remove="aria-current")

    router = context.client.sub_pages_router
    router.on_path_changed(mark)
    mark(router.current_path)
    return drawer


def _bar(desk: Desk, drawer: ui.left_drawer, dark: ui.dark_mode) -> None:
    say = desk.say
    with (
        ui.header().classes("bar").props("bordered"),
        ui.row(wrap=False).classes("w-full items-center"),
    ):
        _icon("menu", say("Pages"), drawer.toggle)
        with ui.link(target="/").classes("brand"):
            with ui.element("div").classes("brand-mark").props('aria-hidden="true"'):
                for _ in range(3):
                    ui.element("i")
            ui.html("<span>memstrata</span>", sanitize=False)
        ui.space()
        ui.timer(0, partial(_places, desk, ui.element("div")), once=True)
        other = "zh" if say.language == "en" else "en"
        ui.button(
            "中文" if other == "zh" else "English",
            on_click=lambda: _remember(LANGUAGE, other, reload=True),
        ).props("flat dense")
        _icon("contrast", say("Light or dark"), lambda: _turn(dark))


async def _places(desk: Desk, box: ui.element) -> None:
    """From which workspace things are seen; nothing to choose where none is bound."""
    found = await desk.act(desk.memory.workspaces)
    if not found:
        return

    async def chosen(root: str) -> None:
        desk.where.workspace = root or None
        await context.client.sub_pages_router.refresh()

    options = {"": desk.say("no workspace"), **{one.root: one.name for one in found}}
    with box:
        select(desk.say("Workspace"), options, "", chosen)


def _icon(icon: str, label: str, click: Callable[[], Any]) -> None:
    ui.button(icon=icon, on_click=click).props(f'flat round dense aria-label="{label}"').tooltip(
        label
    )


async def _turn(dark: ui.dark_mode) -> None:
    """Dark where it was light, as the browser sees it."""
    now = await ui.run_javascript("return document.body.classList.contains('body--dark')")
    dark.set_value(not now)
    _remember(DARK, "0" if now else "1")


def _remember(name: str, value: str, *, reload: bool = False) -> None:
    """Keep a choice in the browser."""
    ui.run_javascript(
        f"document.cookie = '{name}={value}; path=/; max-age={_YEAR}; samesite=strict';"
        + ("location.reload();" if reload else "")
    )
