"""The shared document of a workspace and one's own: read, edited, compared, taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import groupby
from typing import Any

from nicegui import ui

from memstrata.aio import AsyncMemoryDocument
from memstrata.domain.team_document import Authored
from memstrata.errors import Conflict, MemstrataError
from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import (
    confirmed,
    diff,
    difference,
    empty,
    heading,
    notice,
    page,
    select,
    tag,
    titled,
)
from memstrata.pipelines.team_document import RevisionInfo, SaveResult, Shown

CHANNEL = "panel"


def show(desk: Desk) -> None:
    """The page."""
    _Document(desk)


class _Document:
    """One document and what can be done with it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.workspace = ""
        say = desk.say
        with page(desk, say("Team document")) as head:
            with head:
                self.choice = ui.element("div")
                ui.button(say("Undo"), icon="undo", on_click=self._undo).props("outline")
            with ui.tabs().props("dense align=left no-caps inline-label") as tabs:
                write = ui.tab("write", label=say("Document"), icon="edit_note")
                lines = ui.tab("lines", label=say("Entries"), icon="format_list_bulleted")
                past = ui.tab("past", label=say("History"), icon="history")
            with ui.tab_panels(tabs, value=write, animated=False).classes("w-full"):
                with ui.tab_panel(write).style("padding: 0"):
                    self.text = Region(desk, self._read, self._editor)
                with ui.tab_panel(lines).style("padding: 0"):
                    self.lines = Region(desk, self._entries, self._listed)
                with ui.tab_panel(past).style("padding: 0"):
                    self.past = Region(desk, self._history, self._revisions)
        desk.changed += [self.lines.load, self.past.load]
        ui.timer(0, self._choose, once=True)

    async def _choose(self) -> None:
        """Which document: one's own, or a bound workspace's."""
        found = await self.desk.act(self.desk.memory.workspaces)
        options = {"": self.desk.say("private")}
        options |= {one.root: one.name for one in found or ()}
        with self.choice:
            select(self.desk.say("Document of"), options, "", self._changed)

    async def _changed(self, workspace: str) -> None:
        self.workspace = workspace
        await self._load()

    async def _load(self) -> None:
        for region in (self.text, self.lines, self.past):
            await region.load()

    async def _document(self) -> AsyncMemoryDocument:
        if self.workspace:
            return await self.desk.memory.team(self.workspace, channel=CHANNEL)
        return await self.desk.memory.private(channel=CHANNEL)

    # -- the text --------------------------------------------------------------------------------

    async def _read(self) -> Shown:
        return await (await self._document()).read()

    def _editor(self, found: Shown) -> None:
        say = self.desk.say
        with ui.element("div").classes("stack"):
            if found.problem:
                notice(found.problem, "bad", "error_outline")
            area = ui.textarea(say("Markdown under headings"), value=found.memory_md)
            area.props("outlined autogrow input-class=mono").classes("w-full")
            with ui.row().classes("w-full items-center"):
                counter = ui.label().classes("muted small")
                ui.space()
                tag(say("revision {n}", n=found.rev), "accent")
                ui.button(
                    say("Save"),
                    icon="save",
                    on_click=lambda: self._save(area.value or "", found.rev),
                )

        def count() -> None:
            length, limits = len(area.value or ""), found.limits
            counter.set_text(
                say("{n} of {most} characters", n=f"{length:,}", most=f"{limits.hard:,}")
            )
            counter.classes(remove="muted warn bad")
            counter.classes(
                add="bad" if length > limits.hard else "warn" if length > limits.soft else "muted"
            )

        area.on_value_change(count)
        count()

    async def _save(self, text: str, rev: int, *, deletions: bool = False) -> None:
        document = await self._document()
        try:
            found = await document.save(
                text, base_rev=rev, expected_rev=rev, allow_deletions=deletions
            )
        except Conflict:
            await self._both(document, text, rev)
            return
        except MemstrataError as error:
            self.desk.complain(error.message)
            return
        await self._saved(found, text, rev)

    async def _saved(self, found: SaveResult, text: str, rev: int) -> None:
        say = self.desk.say
        if found.status == "error":
            self.desk.complain(found.message)
            return
        if found.retained and await confirmed(
            self.desk,
            say("Remove these lines?"),
            "\n".join(found.retained),
            say("Remove"),
            bad=True,
        ):
            await self._save(text, found.rev, deletions=True)
            return
        for one in (*found.warnings, *found.diff_warnings, *found.format_warnings):
            self.desk.tell(one, "warning")
        self.desk.tell(found.message if found.conflicts else say("saved"))
        await self._load()

    async def _both(self, document: AsyncMemoryDocument, text: str, rev: int) -> None:
        """It moved meanwhile: what changed there, what you wrote, and a merge or not."""
        say = self.desk.say
        base, now = await document.read(rev=rev), await document.read()
        with (
            titled(self.desk, say("It was changed meanwhile"), "persistent") as dialog,
            ui.card().classes("box wide"),
        ):
            heading(say("It was changed meanwhile"))
            with ui.element("div").classes("two"):
                with ui.element("section").classes("stack"):
                    heading(say("What changed there"), 3, "sub")
                    diff(base.memory_md, now.memory_md)
                with ui.element("section").classes("stack"):
                    heading(say("What you wrote"), 3, "sub")
                    diff(base.memory_md, text)
            with ui.row().classes("w-full justify-end"):
                ui.button(say("Back to the form"), on_click=lambda: dialog.submit("")).props("flat")
                ui.button(say("Keep theirs"), on_click=lambda: dialog.submit("theirs")).props(
                    "outline"
                )
                ui.button(say("Merge both"), on_click=lambda: dialog.submit("merge"))
        answer = await dialog
        dialog.delete()
        if answer == "theirs":
            await self._load()
        elif answer == "merge":
            found = await self.desk.act(lambda: document.save(text, base_rev=rev))
            if found is not None:
                await self._saved(found, text, rev)

    # -- entries and history ---------------------------------------------------------------------

    async def _entries(self) -> tuple[Authored[RevisionInfo], ...]:
        return await (await self._document()).entries()

    def _listed(self, found: tuple[Authored[RevisionInfo], ...]) -> None:
        if not found:
            empty("format_list_bulleted", self.desk.say("Nothing yet"))
        with ui.element("div").classes("stack"):
            for name, lines in groupby(found, key=lambda one: one.heading):
                with ui.element("section").classes("card stack"):
                    heading(name or self.desk.say("Before the first heading"))
                    for line in lines:
                        with ui.element("div"):
                            ui.label(line.text).classes("text")
                            about = f"{line.origin.author} · {self.desk.moment(line.origin.at)}"
                            ui.label(f"{about} · {line.origin.channel}").classes("muted small")

    async def _history(self) -> tuple[RevisionInfo, ...]:
        return await (await self._document()).history()

    def _revisions(self, found: tuple[RevisionInfo, ...]) -> None:
        say = self.desk.say
        if not found:
            empty("history", say("Nothing yet"))
            return
        with ui.element("div").classes("list"):
            for one in reversed(found):
                with (
                    ui.element("div")
                    .classes("item")
                    .style("padding: 10px 16px; align-items: center")
                ):
                    tag(str(one.rev), "accent")
                    with ui.element("div").classes("grow"):
                        ui.label(f"{say(one.verb)} · {one.author}").classes("strong")
                        about = f"{self.desk.moment(one.at)} · {one.channel}"
                        ui.label(
                            f"{about} · {say('{n} characters', n=f'{one.characters:,}')}"
                        ).classes("muted small")
                    ui.button(say("What changed"), on_click=partial(self._compare, one.rev)).props(
                        "flat dense"
                    )
                    if one.rev != found[-1].rev:
                        ui.button(say("Restore"), on_click=partial(self._restore, one.rev)).props(
                            "flat dense"
                        )

    async def _compare(self, rev: int) -> None:
        async def compared() -> str:
            return await (await self._document()).diff(rev - 1, rev)

        text = await self.desk.act(compared)
        if text is None:
            return
        with (
            titled(self.desk, self.desk.say("revision {n}", n=rev)) as dialog,
            ui.card().classes("box wide"),
        ):
            heading(self.desk.say("revision {n}", n=rev))
            difference(text or self.desk.say("They say the same."))
            ui.button(self.desk.say("Close"), on_click=dialog.close).props("flat")
        dialog.on("hide", dialog.delete)
        dialog.open()

    async def _restore(self, rev: int) -> None:
        await self._took(lambda document: document.restore(rev))

    async def _undo(self) -> None:
        await self._took(lambda document: document.undo())

    async def _took(self, work: Callable[[AsyncMemoryDocument], Awaitable[Any]]) -> None:
        document = await self._document()
        if await self.desk.act(lambda: work(document), self.desk.say("restored")) is not None:
            await self._load()
