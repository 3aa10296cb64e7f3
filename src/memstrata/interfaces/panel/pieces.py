"""Small pieces that several pages share. Texts are always shown as text, never as markup."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from nicegui import ui

from memstrata.interfaces.panel.desk import Desk

TYPES: Final = ("user", "feedback", "project", "reference", "episodic")
SCOPES: Final = ("user", "project", "agent")
STATUSES: Final = ("active", "expired", "invalid", "archived")
ICONS: Final = {
    "user": "person",
    "feedback": "rule",
    "project": "folder_open",
    "reference": "bookmark_border",
    "episodic": "event",
}


def heading(text: str, level: int = 2, classes: str = "") -> None:
    """A heading of the page's outline."""
    with ui.element(f"h{level}").classes(classes or ("sub" if level == 2 else "")):
        ui.label(text).classes("inline")


@contextmanager
def page(desk: Desk, title: str) -> Iterator[ui.element]:
    """A page with its title; what is created first in it stands beside the title."""
    ui.page_title(f"{title} · memstrata")
    with ui.element("div").classes("page"):
        with ui.element("div").classes("page-head") as head:
            heading(title, 1)
        yield head


def tag(text: str, kind: str = "", icon: str = "") -> None:
    """A small label."""
    with ui.element("span").classes(f"tag {kind}"):
        if icon:
            ui.icon(icon).props('aria-hidden="true"')
        ui.label(text)


def facts(pairs: list[tuple[str, str]]) -> None:
    """Names and values beside each other."""
    with ui.element("dl").classes("facts"):
        for name, value in pairs:
            with ui.element("dt"):
                ui.label(name)
            with ui.element("dd"):
                ui.label(value)


def empty(icon: str, text: str, hint: str = "") -> None:
    """What a list shows that has nothing."""
    with ui.element("div").classes("empty"):
        ui.icon(icon).props('aria-hidden="true"')
        ui.label(text).classes("strong")
        if hint:
            ui.label(hint).classes("small")


def notice(text: str, kind: str = "warn", icon: str = "info") -> None:
    """A line that should not be overlooked."""
    with ui.element("div").classes(f"notice {kind}").props('role="status"'):
        ui.icon(icon).props('aria-hidden="true"')
        ui.label(text).classes("grow text")


def diff(old: str, new: str) -> None:
    """What changed between two texts, line by line."""
    changed = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)
    difference("\n".join(list(changed)[2:]))


def difference(text: str) -> None:
    """A unified diff in colours."""
    kinds = {"+": "plus", "-": "minus", "@": "at"}
    with ui.element("pre").classes("diff"):
        for line in text.splitlines():
            ui.label(line or " ").classes(kinds.get(line[:1], ""))


def marked(text: str, start: int, end: int) -> None:
    """A text with one stretch of it highlighted (positions in characters)."""
    with ui.element("p").classes("text said").style("margin: 0"):
        ui.label(text[:start]).classes("inline")
        with ui.element("mark"):
            ui.label(text[start:end]).classes("inline")
        ui.label(text[end:]).classes("inline")


def titled(desk: Desk, title: str, props: str = "") -> ui.dialog:
    """A dialog on the stage, called by its title."""
    with desk.stage:
        return ui.dialog().props(f'{props} aria-label="{plain(title)}"')


def plain(text: str) -> str:
    """A text as the value of an attribute that a component's properties are parsed from."""
    return text.replace("\\", "").replace('"', "").replace("'", "")


@dataclass(slots=True)
class Pages:
    """The pages of a list up to the one that is shown, by their cursors."""

    cursors: list[str | None] = field(default_factory=lambda: [None])

    @property
    def cursor(self) -> str | None:
        """Of the page that is shown."""
        return self.cursors[-1]

    def restart(self) -> None:
        """Show the first one."""
        self.cursors = [None]

    def pager(
        self, next: str | None, load: Callable[[], Awaitable[None]], back: str, on: str
    ) -> None:
        """The ways to the page before, called `back`, and to the `next`, called `on`."""

        async def turn() -> None:
            self.cursors.pop()
            await load()

        async def go() -> None:
            self.cursors.append(next)
            await load()

        with ui.element("div").classes("pager"):
            if len(self.cursors) > 1:
                ui.button(back, icon="chevron_left", on_click=turn).props("flat")
            if next:
                ui.button(on, on_click=go).props("flat icon-right=chevron_right")


async def confirmed(desk: Desk, title: str, text: str, do: str, *, bad: bool = False) -> bool:
    """Whether a person says yes."""
    with titled(desk, title) as asked, ui.card().classes("box"):
        heading(title)
        ui.label(text).classes("text muted")
        with ui.row().classes("justify-end w-full"):
            ui.button(desk.say("Cancel"), on_click=lambda: asked.submit(False)).props(
                "flat autofocus"
            )
            ui.button(do, color="negative" if bad else "primary").on_click(
                lambda: asked.submit(True)
            )
    answer = await asked
    asked.delete()
    return bool(answer)


def select(
    label: str, options: dict[str, str], value: str, change: Callable[[str], Awaitable[None]]
) -> ui.select:
    """A choice out of a few; the empty key is "any"."""

    async def changed(event: Any) -> None:
        await change(event.value or "")

    found = ui.select(options, value=value, label=label, on_change=changed)
    return found.props("outlined dense options-dense")
