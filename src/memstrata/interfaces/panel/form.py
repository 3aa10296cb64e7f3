"""The form of a memory: a new one, or an existing one to be corrected."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from memstrata.errors import Conflict, MemstrataError
from memstrata.interfaces.panel.desk import Desk
from memstrata.interfaces.panel.pieces import (
    SCOPES,
    TYPES,
    diff,
    heading,
    notice,
    titled,
)
from memstrata.pipelines.read import Record


@dataclass(slots=True)
class _Fields:
    """The inputs of the form."""

    type: ui.select
    name: ui.input
    description: ui.textarea
    body: ui.textarea
    entities: ui.input_chips
    until: ui.input

    def values(self) -> dict[str, Any]:
        """As the arguments of a verb."""
        return {
            "type": self.type.value,
            "name": self.name.value or "",
            "description": self.description.value or "",
            "body": self.body.value or "",
            "entities": list(self.entities.value or ()),
            "valid_until": self.until.value or None,
        }


def _fields(desk: Desk, record: Record | None) -> _Fields:
    say = desk.say
    until = record.valid_until if record else None
    kinds = {one: say(one) for one in TYPES}
    found = _Fields(
        type=ui.select(kinds, value=record.type if record else "user", label=say("Type")),
        name=ui.input(say("Name"), value=record.name if record else "").props("autofocus"),
        description=ui.textarea(
            say("Description (the line that agents are told)"),
            value=record.description if record else "",
        ).props("autogrow counter"),
        body=ui.textarea(say("Body (Markdown)"), value=record.body if record else "").props(
            "autogrow"
        ),
        entities=ui.input_chips(say("Entities"), value=list(record.entities) if record else []),
        until=ui.input(say("Last day that counts"), value=until.isoformat() if until else ""),
    )
    found.until.props("type=date stack-label clearable")
    for one in (found.type, found.name, found.description, found.body, found.entities, found.until):
        one.props("outlined").classes("w-full")
    return found


async def add(desk: Desk) -> Record | None:
    """Ask for a new memory and store it; None when it was left."""
    say = desk.say
    scopes = {one: say(one) for one in SCOPES if _reachable(desk, one)}
    with titled(desk, desk.say("New memory"), "persistent") as dialog, ui.card().classes("box"):
        heading(say("New memory"))
        scope = (
            ui.select(scopes, value="user", label=say("Scope")).props("outlined").classes("w-full")
        )
        fields = _fields(desk, None)
        problem = ui.element("div").classes("w-full")

        async def save() -> None:
            values = fields.values() | {"scope": scope.value}
            found = await _tried(lambda: desk.memory.add(**values, **desk.where.view()), problem)
            if found is not None:
                desk.tell(say("saved"))
                dialog.submit(found)

        _buttons(desk, dialog, save)
    return await _answer(dialog)


def _reachable(desk: Desk, scope: str) -> bool:
    """Whether there is a place for that scope here."""
    where = {"project": desk.where.workspace, "agent": desk.where.agent}
    return scope not in where or bool(where[scope])


async def edit(desk: Desk, record: Record) -> Record | None:
    """Ask for corrections and store them; None when it was left."""
    say = desk.say
    version = record.version
    with titled(desk, desk.say("Edit"), "persistent") as dialog, ui.card().classes("box"):
        heading(say("Edit"))
        fields = _fields(desk, record)
        before = fields.values()
        problem = ui.element("div").classes("w-full")

        async def save() -> None:
            changes = {
                name: value for name, value in fields.values().items() if value != before[name]
            }
            await store(version, changes)

        async def store(expected: int, changes: dict[str, Any]) -> None:
            try:
                found = await desk.memory.edit(
                    record.id, expected_version=expected, **changes, **desk.where.view()
                )
            except Conflict as error:
                if error.reason != "VERSION_CONFLICT" or error.current is None:
                    _say_problem(problem, error.message)
                    return
                await choose(error, changes)
            except MemstrataError as error:
                _say_problem(problem, error.message)
            else:
                desk.tell(say("saved"))
                dialog.submit(found)

        async def choose(error: Conflict, changes: dict[str, Any]) -> None:
            mine = await _both(desk, error, changes)
            if mine is None:
                return
            if mine and error.current is not None:
                await store(error.current, changes)
            else:
                dialog.submit(await desk.memory.get(record.id, **desk.where.view()))

        _buttons(desk, dialog, save)
    return await _answer(dialog)


async def _both(desk: Desk, error: Conflict, changes: dict[str, Any]) -> bool | None:
    """Both texts of a conflict and a choice: True mine, False theirs, None neither yet."""
    say = desk.say
    with (
        titled(desk, desk.say("It was changed meanwhile"), "persistent") as dialog,
        ui.card().classes("box wide"),
    ):
        heading(say("It was changed meanwhile"))
        notice(
            say(
                "You began at version {base}, it is at {current} now. Nothing was saved.",
                base=error.base,
                current=error.current,
            )
        )
        with ui.element("div").classes("two"):
            with ui.element("section").classes("stack"):
                heading(say("What changed there"), 3, "sub")
                diff(error.base_text or "", error.current_text or "")
            with ui.element("section").classes("stack"):
                heading(say("What you wrote"), 3, "sub")
                for name, value in changes.items():
                    ui.label(say(name)).classes("muted small")
                    ui.label(str(value)).classes("text")
        with ui.row().classes("w-full justify-end"):
            ui.button(say("Back to the form"), on_click=lambda: dialog.submit(None)).props("flat")
            ui.button(say("Keep theirs"), on_click=lambda: dialog.submit(False)).props("outline")
            ui.button(say("Save mine over it"), on_click=lambda: dialog.submit(True))
    answer = await dialog
    dialog.delete()
    return None if answer is None else bool(answer)


async def _tried(work: Callable[[], Awaitable[Record]], problem: ui.element) -> Record | None:
    try:
        return await work()
    except MemstrataError as error:
        _say_problem(problem, error.message)
        return None


def _say_problem(problem: ui.element, why: str) -> None:
    problem.clear()
    with problem:
        notice(why, "bad", "error_outline")


def _buttons(desk: Desk, dialog: ui.dialog, save: Callable[[], Awaitable[None]]) -> None:
    with ui.row().classes("w-full justify-end"):
        ui.button(desk.say("Cancel"), on_click=lambda: dialog.submit(None)).props("flat")
        ui.button(desk.say("Save"), on_click=save)


async def _answer(dialog: ui.dialog) -> Record | None:
    found: Record | None = await dialog
    dialog.delete()
    return found
