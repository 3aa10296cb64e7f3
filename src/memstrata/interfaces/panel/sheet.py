"""One memory, beside the list: what it says, how long it holds, where it came from, how it changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from memstrata.interfaces.panel import forgetting, form
from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import (
    confirmed,
    difference,
    empty,
    facts,
    heading,
    marked,
    notice,
    tag,
    titled,
)
from memstrata.pipelines.read import Record, Source, Trace, Version

Changed = Callable[[], Awaitable[None]]


async def show(desk: Desk, id: str, changed: Changed) -> None:
    """Open the sheet of a memory; `changed` is called when something was done to it."""
    found = await desk.act(lambda: desk.memory.get(id, **desk.where.view()))
    if found is not None:
        _Sheet(desk, found, changed).dialog.open()


class _Sheet:
    """The sheet; it draws itself anew after each change."""

    def __init__(self, desk: Desk, record: Record, changed: Changed) -> None:
        self.desk, self.record, self.changed = desk, record, changed
        with titled(desk, record.name, "position=right full-height") as self.dialog:
            self.card = (
                ui.card().classes("sheet").props(f'role="dialog" aria-label="{desk.say("Memory")}"')
            )
        self.dialog.on("hide", self.dialog.delete)
        self._draw()

    def _draw(self) -> None:
        say, record = self.desk.say, self.record
        self.card.clear()
        with self.card:
            with ui.element("div").classes("sheet-head"):
                with ui.element("div").classes("grow"):
                    heading(record.name)
                    with ui.element("div").classes("row"):
                        tag(say(record.status), record.status)
                        tag(say(record.type))
                        tag(f"{say(record.scope)} {record.scope_ref or ''}".strip())
                ui.button(icon="close", on_click=self.dialog.close).props(
                    f'flat round dense aria-label="{say("Close")}"'
                )
            with ui.element("div").classes("sheet-body"):
                self._said()
                self._ended()
                self._about()
                self._sources()
                self._history()
            with ui.element("div").classes("sheet-foot"):
                self._tools()

    # -- what there is to see -------------------------------------------------------------------

    def _said(self) -> None:
        ui.label(self.record.description).classes("text strong")
        if self.record.body.strip():
            ui.label(self.record.body.strip()).classes("text")
        if self.record.note:
            notice(self.record.note, "warn", "sticky_note_2")
        if self.record.problem:
            notice(self.record.problem, "bad", "error_outline")

    def _ended(self) -> None:
        say, record = self.desk.say, self.record
        if record.invalid_at is not None:
            with ui.element("div").classes("notice bad"):
                ui.icon("history_toggle_off").props('aria-hidden="true"')
                ui.label(
                    say("No longer true since {day}.", day=self.desk.moment(record.invalid_at))
                )
                if record.superseded_by:
                    ui.button(
                        say("What took its place"),
                        on_click=partial(self._other, record.superseded_by),
                    ).props("flat dense")
        if record.status == "expired":
            notice(
                say("Its last day has passed: it is no longer found nor told."),
                "warn",
                "event_busy",
            )

    def _about(self) -> None:
        say, record, desk = self.desk.say, self.record, self.desk
        pairs = [
            (say("Said"), desk.moment(record.said_at)),
            (say("Valid from"), desk.moment(record.valid_from)),
            (say("Learned"), desk.moment(record.created_at)),
            (say("Changed"), desk.moment(record.updated_at)),
            (say("Confidence"), f"{record.confidence:.2f}"),
            (
                say("Priority"),
                say("standing rule") if record.priority == -1 else str(record.priority),
            ),
            (say("From"), f"{say(record.origin)} · {say(record.authority)}"),
            (say("Used"), say("{n} times", n=record.hit_count)),
            (say("File"), record.path),
        ]
        if record.valid_until is not None:
            day = desk.day(record.valid_until)
            text = say("{day}, that day included", day=day)
            pairs.insert(2, (say("Last day that counts"), text))
        if record.happened_from is not None:
            until = f" – {desk.day(record.happened_until)}" if record.happened_until else ""
            pairs.insert(0, (say("Happened"), desk.day(record.happened_from) + until))
        if record.entities:
            pairs.append((say("Entities"), ", ".join(record.entities)))
        facts(pairs)

    def _sources(self) -> None:
        with ui.element("section").classes("stack"):
            heading(self.desk.say("Where it comes from"))
            view = self.desk.where.view()
            Region(
                self.desk,
                lambda: self.desk.memory.trace(self.record.id, **view),
                self._traced,
                lines=2,
            )

    def _traced(self, found: Trace) -> None:
        if not found.sources:
            ui.label(
                self.desk.say("Nobody's words are recorded: it was written by hand or imported.")
            ).classes("muted")
        for source in found.sources:
            self._source(source)
        for name, others in (
            (self.desk.say("It took the place of"), found.superseded),
            (self.desk.say("In its place stand"), found.successors),
        ):
            if others:
                ui.label(name).classes("muted small")
                for other in others:
                    ui.button(other.name, on_click=partial(self._other, other.id)).props(
                        "flat dense no-caps"
                    )

    def _source(self, source: Source) -> None:
        say, message, evidence = self.desk.say, source.message, source.evidence
        with ui.element("div").classes("quote"):
            if message is None:
                ui.label(evidence.quote or say("The message is gone.")).classes("text")
                ui.label(say("The message is gone.")).classes("muted small")
                return
            start, end = span(message.content, evidence.quote, evidence.start, evidence.end)
            marked(message.content, start, end)
            who = (
                f"{say(message.role)} · {self.desk.moment(message.said_at or message.recorded_at)}"
            )
            ui.label(f"{who} · {message.session}").classes("muted small")

    def _history(self) -> None:
        with ui.expansion(self.desk.say("History")).classes("w-full") as section:
            box = ui.element("div").classes("w-full")

        def opened() -> None:
            if section.value and not list(box):
                with box:
                    view = self.desk.where.view()
                    Region(
                        self.desk,
                        lambda: self.desk.memory.history(self.record.id, **view),
                        self._versions,
                        lines=2,
                    )

        section.on_value_change(opened)

    def _versions(self, found: tuple[Version, ...]) -> None:
        if not found:
            empty("history", self.desk.say("Nothing yet"))
        for place, version in reversed(list(enumerate(found))):
            with ui.element("div").classes("stack").style("padding: 8px 0"):
                with ui.element("div").classes("row"):
                    tag(f"v{version.version}", "accent")
                    ui.label(
                        f"{self.desk.say(version.verb)} · {self.desk.say(version.who)}"
                    ).classes("strong")
                    ui.label(self.desk.moment(version.at)).classes("muted small")
                    ui.space()
                    if place and version.version != found[place - 1].version:
                        ui.button(
                            self.desk.say("What changed"),
                            on_click=partial(
                                self._compare, found[place - 1].version, version.version
                            ),
                        ).props("flat dense")
                    if version.version != self.record.version:
                        ui.button(
                            self.desk.say("Restore"),
                            on_click=partial(self._restore, version.version),
                        ).props("flat dense")
                if version.why:
                    ui.label(version.why).classes("muted small text")

    async def _compare(self, old: int, new: int) -> None:
        view = self.desk.where.view()
        text = await self.desk.act(lambda: self.desk.memory.diff(self.record.id, old, new, **view))
        if text is None:
            return
        with (
            titled(self.desk, self.desk.say("What changed")) as dialog,
            ui.card().classes("box wide"),
        ):
            heading(self.desk.say("Version {old} and {new}", old=old, new=new))
            if text:
                difference(text)
            else:
                ui.label(self.desk.say("They say the same.")).classes("muted")
            ui.button(self.desk.say("Close"), on_click=dialog.close).props("flat")
        dialog.on("hide", dialog.delete)
        dialog.open()

    # -- what can be done -----------------------------------------------------------------------

    def _tools(self) -> None:
        say, record = self.desk.say, self.record
        ui.button(say("Edit"), icon="edit", on_click=self._edit)
        if record.status in ("active", "expired"):
            ui.button(say("Archive"), icon="inventory_2", on_click=self._archive).props("outline")
        else:
            ui.button(
                say("Restore"), icon="unarchive", on_click=partial(self._restore, None)
            ).props("outline")
        ui.space()
        ui.button(
            say("Forget…"), icon="delete_forever", color="negative", on_click=self._forget
        ).props("flat")
        ui.button(
            say("Delete"), icon="delete_outline", color="negative", on_click=self._delete
        ).props("flat")

    async def _edit(self) -> None:
        await self._became(await form.edit(self.desk, self.record))

    async def _archive(self) -> None:
        view = self.desk.where.view()
        work = partial(self.desk.memory.archive, self.record.id, **view)
        await self._became(await self.desk.act(work, self.desk.say("archived")))

    async def _restore(self, version: int | None) -> None:
        view = self.desk.where.view()
        work = partial(self.desk.memory.restore, self.record.id, version=version, **view)
        await self._became(await self.desk.act(work, self.desk.say("restored")))

    async def _delete(self) -> None:
        say = self.desk.say
        text = say(
            "It goes for good, file and all; what was said about it stays in the conversations."
        )
        if not await confirmed(
            self.desk, say("Delete this memory?"), text, say("Delete"), bad=True
        ):
            return
        work = partial(self.desk.memory.delete, self.record.id, **self.desk.where.view())
        if await self.desk.act(work, say("deleted")) is not None:
            self.dialog.close()
            await self.changed()

    async def _forget(self) -> None:
        if await forgetting.ask(self.desk, ids=[self.record.id]):
            self.dialog.close()
            await self.changed()

    async def _became(self, record: Record | None) -> None:
        if record is not None:
            self.record = record
            self._draw()
            await self.changed()

    async def _other(self, id: str) -> None:
        found = await self.desk.act(lambda: self.desk.memory.get(id, **self.desk.where.view()))
        if found is not None:
            self.record = found
            self._draw()


def span(content: str, quote: str, start: int | None, end: int | None) -> tuple[int, int]:
    """Where a quote stands in its message: as recorded, else where it is found, else nowhere."""
    if start is not None and end is not None and 0 <= start < end <= len(content):
        return start, end
    place = content.find(quote) if quote else -1
    return (place, place + len(quote)) if place >= 0 else (0, 0)
