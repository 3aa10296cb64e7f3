"""Candidates: general rules that consolidation proposes, and a person decides on."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import (
    confirmed,
    empty,
    heading,
    notice,
    page,
    tag,
    titled,
)
from memstrata.pipelines.candidates import Candidate


def show(desk: Desk) -> None:
    """The page."""
    say = desk.say
    with page(desk, say("Candidates")) as head:
        ui.label(
            say("General rules drawn from scattered feedback. None counts before you confirm it.")
        ).classes("muted")

        async def fetch() -> tuple[Candidate, ...]:
            return await desk.memory.candidates(**desk.where.view())

        region: Region[tuple[Candidate, ...]] = Region(
            desk, fetch, lambda found: _draw(desk, found, region)
        )
        with head:
            ui.button(
                say("Consolidate"), icon="merge", on_click=partial(_consolidate, desk, region)
            ).props("outline")
    desk.changed.append(region.load)


def _draw(desk: Desk, found: tuple[Candidate, ...], region: Region[Any]) -> None:
    if not found:
        hint = desk.say("They appear when a scope has many rules that say related things.")
        empty("checklist", desk.say("No candidate waits"), hint)
        return
    with ui.element("div").classes("stack"):
        for one in found:
            _card(desk, one, region)


def _card(desk: Desk, one: Candidate, region: Region[Any]) -> None:
    say = desk.say
    with ui.element("section").classes("card stack"):
        with ui.element("div").classes("row"):
            heading(one.name)
            ui.space()
            tag(f"{say(one.scope)} {one.scope_ref or ''}".strip())
        ui.label(one.description).classes("text")
        if one.body.strip():
            ui.label(one.body.strip()).classes("text muted")
        if one.taken_by:
            notice(say("Another memory has this name: change it before you confirm."))
        ui.label(say("drawn from {n} memories", n=len(one.sources))).classes("muted small")
        for source in one.sources:
            with ui.element("div").classes("row"):
                ui.link(source.name, f"/memories?id={source.id}")
                ui.label(source.description).classes("muted grow")
                if source.changed or source.status != "active":
                    tag(say("changed since") if source.changed else say(str(source.status)), "warn")
        with ui.element("div").classes("row"):
            ui.button(say("Confirm"), icon="check", on_click=partial(_confirm, desk, one, region))
            ui.button(
                say("Reject"), icon="close", on_click=partial(_reject, desk, one, region)
            ).props("outline")


async def _confirm(desk: Desk, one: Candidate, region: Region[Any]) -> None:
    """As it is shown, or in other words."""
    say = desk.say
    with titled(desk, say("Make it a rule"), "persistent") as dialog, ui.card().classes("box"):
        heading(say("Make it a rule"))
        fields = {
            "name": ui.input(say("Name"), value=one.name),
            "description": ui.textarea(
                say("Description (the line that agents are told)"), value=one.description
            ),
            "body": ui.textarea(say("Body (Markdown)"), value=one.body),
        }
        for field in fields.values():
            field.props("outlined autogrow").classes("w-full")
        before = {name: field.value for name, field in fields.items()}
        with ui.row().classes("w-full justify-end"):
            ui.button(say("Cancel"), on_click=lambda: dialog.submit(None)).props("flat")
            ui.button(
                say("Confirm"),
                on_click=lambda: dialog.submit({n: f.value for n, f in fields.items()}),
            )
    answer: dict[str, Any] | None = await dialog
    dialog.delete()
    if answer is None:
        return
    edits = {name: value for name, value in answer.items() if value != before[name]}
    work = partial(desk.memory.confirm, one.id, digest=one.digest, **edits, **desk.where.view())
    await desk.act(work, say("It is a rule now."))
    await region.load()


async def _reject(desk: Desk, one: Candidate, region: Region[Any]) -> None:
    say = desk.say
    if await confirmed(
        desk, say("Reject this candidate?"), say("The same is not proposed again."), say("Reject")
    ):
        await desk.act(partial(desk.memory.reject, one.id, **desk.where.view()), say("rejected"))
        await region.load()


async def _consolidate(desk: Desk, region: Region[Any]) -> None:
    """Show what would be done, then do exactly that."""
    say, view = desk.say, desk.where.view()
    with (
        titled(desk, say("Looking for what belongs together")) as waiting,
        ui.card().classes("box"),
    ):
        heading(say("Looking for what belongs together"))
        ui.linear_progress(show_value=False).props("indeterminate")
    waiting.open()
    found = await desk.act(partial(desk.memory.consolidate, dry_run=True, **view))
    waiting.close()
    waiting.delete()
    if found is None:
        return
    lines = [
        f"{say('merge')}: {', '.join(s.name for s in m.of)} → {m.name}"
        for run in found.runs
        for m in run.merges
    ]
    lines += [f"{say('propose')}: {one.name}" for run in found.runs for one in run.candidates]
    lines += [run.problem or run.note for run in found.runs if run.problem or run.note]
    if not found.digest:
        desk.tell("\n".join(lines) or say("There is nothing to consolidate."))
    elif await confirmed(desk, say("Carry this out?"), "\n".join(lines), say("Carry it out")):
        await desk.act(partial(desk.memory.consolidate, apply=found.digest, **view), say("done"))
        await region.load()
