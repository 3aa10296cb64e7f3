"""Overview: what there is, what waits, what is not as it should be, what models cost."""

from __future__ import annotations

from nicegui import ui

from memstrata.interfaces.panel.desk import Desk, Region
from memstrata.interfaces.panel.pieces import (
    ICONS,
    STATUSES,
    TYPES,
    empty,
    facts,
    heading,
    notice,
    page,
    tag,
)
from memstrata.pipelines.report import Status, held


def show(desk: Desk) -> None:
    """The page."""
    with page(desk, desk.say("Overview")) as head:
        region = Region(desk, desk.memory.status, lambda found: _draw(desk, found), lines=6)
        with head:
            ui.button(desk.say("Refresh"), icon="refresh", on_click=region.load).props("flat")
        desk.changed.append(region.load)


def _draw(desk: Desk, found: Status) -> None:
    with ui.element("div").classes("stack"):
        _state(desk, found)
        with ui.element("div").classes("cards"):
            for name, value, what in _figures(desk, found):
                with ui.element("div").classes("card"):
                    ui.label(name).classes("muted small")
                    ui.label(value).classes("figure")
                    ui.label(what).classes("muted small")
        with ui.element("div").classes("two"):
            _kinds(desk, found)
            _work(desk, found)
        _spent(desk, found)


def _state(desk: Desk, found: Status) -> None:
    if not found.enabled:
        notice(desk.say("Memory is switched off. Nothing was deleted."), "warn", "pause_circle")
    for one in (*found.degraded, *found.parked, *found.problems):
        notice(one, "bad", "error_outline")
    for one in (*found.retrying, *found.full):
        notice(one, "warn", "schedule")
    if found.enabled and not (found.degraded or found.parked or found.problems):
        notice(desk.say("Everything works as it should."), "good", "check_circle")


def _figures(desk: Desk, found: Status) -> list[tuple[str, str, str]]:
    say, made, wanted = desk.say, *found.vectors
    ended = sum(found.memories.get(one, 0) for one in STATUSES[1:])
    return [
        (
            say("Memories"),
            f"{found.memories.get('active', 0):,}",
            say("valid now; {n} ended", n=ended),
        ),
        (say("Messages"), f"{found.messages:,}", say("in {n} conversations", n=found.sessions)),
        (say("Waiting"), f"{found.waiting:,}", say("messages to be extracted")),
        (say("Vectors"), f"{made:,}", say("of {n} texts", n=f"{wanted:,}")),
    ]


def _kinds(desk: Desk, found: Status) -> None:
    with ui.element("section").classes("card stack"):
        heading(desk.say("What is remembered"))
        rows = [(kind, found.memories.get(f"active type {kind}", 0)) for kind in TYPES]
        most = max((count for _, count in rows), default=0)
        if not most:
            empty(
                "notes",
                desk.say("Nothing yet"),
                desk.say("Memories come from conversations, or are added by hand."),
            )
            return
        for kind, count in rows:
            with ui.row(wrap=False).classes("w-full items-center"):
                ui.icon(ICONS[kind]).classes("muted").props('aria-hidden="true"')
                ui.link(desk.say(kind), f"/memories?type={kind}").style("width: 104px; flex: none")
                ui.linear_progress(count / most, show_value=False).classes("grow").props(
                    f'rounded aria-label="{desk.say(kind)}"'
                )
                ui.label(f"{count:,}").style("min-width: 40px; text-align: right")


def _work(desk: Desk, found: Status) -> None:
    say = desk.say
    with ui.element("section").classes("card stack"):
        heading(say("How it works here"))
        facts(
            [
                (say("Extraction"), found.extractor),
                (say("Search"), found.profile),
                (say("Embedder"), found.embedder),
                (say("Background work"), held(found.worker) or say("nobody")),
                (say("Time zone"), found.timezone),
                (say("Tokens"), found.tokenizer),
                (say("Workspaces"), ", ".join(found.workspaces) or "—"),
            ]
        )
        with ui.element("div").classes("row"):
            for verdict, count in sorted(found.verdicts.items()):
                tag(
                    f"{say(verdict)} {count:,}",
                    "good" if verdict in {"add", "update", "merge"} else "",
                )


def _spent(desk: Desk, found: Status) -> None:
    say = desk.say
    with ui.element("section").classes("card stack"):
        heading(say("Models today"))
        if not found.spent:
            ui.label(say("No model was called today.")).classes("muted")
            return
        names = list(found.spent)
        ui.echart(
            {
                "tooltip": {"trigger": "axis"},
                "legend": {"textStyle": {"color": "#808790"}},
                "grid": {"left": 8, "right": 8, "bottom": 8, "containLabel": True},
                "xAxis": {"type": "category", "data": names},
                "yAxis": {"type": "value"},
                "series": [
                    {
                        "name": say("tokens in"),
                        "type": "bar",
                        "data": [found.spent[n].tokens_in for n in names],
                    },
                    {
                        "name": say("tokens out"),
                        "type": "bar",
                        "data": [found.spent[n].tokens_out for n in names],
                    },
                ],
            }
        ).style("height: 220px")
        facts(
            [
                (
                    name,
                    say(
                        "{n} calls, {failed} failed, {tokens} tokens",
                        n=one.calls,
                        failed=one.failed,
                        tokens=f"{one.tokens:,}",
                    ),
                )
                for name, one in found.spent.items()
            ]
        )
