"""Erasure: what would go, a person's yes, and the receipt."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from memstrata.interfaces.panel.desk import Desk
from memstrata.interfaces.panel.pieces import (
    confirmed,
    facts,
    heading,
    notice,
    titled,
)
from memstrata.pipelines.forget import Receipt


async def ask(desk: Desk, **wanted: Any) -> bool:
    """Show what would be erased and, after a yes, erase it and show the receipt; True when it was."""
    say = desk.say
    about = {**wanted, **desk.where.view()}
    plan = await desk.act(lambda: desk.memory.forget(dry_run=True, **about))
    if plan is None:
        return False
    counts = "\n".join(f"{say(name)}: {count:,}" for name, count in plan.counts.items() if count)
    text = (
        say("Everything below is erased to the byte and cannot be brought back.") + "\n\n" + counts
    )
    if not await confirmed(desk, say("Forget for good?"), text, say("Forget"), bad=True):
        return False
    receipt = await desk.act(lambda: desk.memory.forget(verify=True, **about))
    if receipt is None:
        return False
    _show(desk, receipt)
    return True


def _show(desk: Desk, receipt: Receipt) -> None:
    say = desk.say
    with titled(desk, say("Forgotten")) as dialog, ui.card().classes("box"):
        heading(say("Forgotten"))
        facts([(say(name), f"{count:,}") for name, count in receipt.counts.items() if count])
        verified = receipt.verified
        if verified is not None and verified.clean:
            notice(say("Every file was read: nothing of it is left."), "good", "check_circle")
        elif verified is not None:
            notice(
                say("Still there: {files}", files=", ".join(verified.found)), "bad", "error_outline"
            )
        for one in receipt.left:
            notice(f"{one.path}: {one.problem}", "warn", "schedule")
        if receipt.not_reached:
            ui.label(say("Not reached")).classes("strong")
            for reason in receipt.not_reached:
                ui.label(f"{say(reason.why)} {reason.what}".strip()).classes("muted")
        ui.button(say("Close"), on_click=dialog.close).props("flat")
    dialog.on("hide", dialog.delete)
    dialog.open()
