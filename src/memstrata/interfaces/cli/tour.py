"""What the demo found, and how it reads: about two screens of 100 columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memstrata.interfaces.cli import render as rendering
from memstrata.interfaces.cli.out import line, width
from memstrata.interfaces.cli.texts import say

if TYPE_CHECKING:
    from memstrata.interfaces.cli.out import Out
    from memstrata.pipelines.read import Record
    from memstrata.pipelines.recall import Context
    from memstrata.ports import VerdictRow

_MOST: Final = 40
"""So many kept memories are shown."""

SNIPPET: Final = """\
from memstrata import Memory

with Memory.open() as memory:
    chat = memory.session("chat-1")
    chat.commit([{"role": "user", "content": "I prefer green tea to coffee."}])
    memory.drain()
    print(chat.recall("What shall I pour you?").stable)"""
"""A test runs it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that came of the conversation, with those it superseded."""

    record: Record
    superseded: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A candidate that was not kept, with the words it came from (empty when they are not to be found)."""

    row: VerdictRow
    said: str


@dataclass(frozen=True, slots=True)
class Gate:
    """What one gate refused: how many, and the first of them."""

    name: str
    count: int
    examples: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what is injected for it."""

    question: str
    context: Context


@dataclass(frozen=True, slots=True)
class Tour:
    """Everything the demo shows. `home` is empty when it was a temporary one, `file` when it was ours."""

    file: str
    home: str
    extractor: str
    messages: int
    sessions: int
    settings: Mapping[str, object]
    budget: int
    kept: tuple[Kept, ...]
    gates: tuple[Gate, ...]
    masked: tuple[str, ...]
    asked: tuple[Asked, ...]
    unread: tuple[str, ...] = ()


def render(out: Out, tour: Tour) -> None:
    """The whole tour."""
    _intro(out, tour)
    _kept(out, tour)
    _superseded(out, tour)
    _refused(out, tour)
    _injected(out, tour)
    _onward(out, tour)


def shortened(text: str, columns: int) -> str:
    """`text` on one line of at most `columns` columns."""
    whole = line(text)
    if width(whole) <= columns:
        return whole
    while width(whole) > columns - 1:
        whole = whole[:-1]
    return f"{whole.rstrip()}…"


def _intro(out: Out, tour: Tour) -> None:
    out.heading(
        say(
            "{messages} messages of {sessions} sessions went in ({source}).",
            messages=tour.messages,
            sessions=tour.sessions,
            source=tour.file or say("the conversation that ships with memstrata"),
        )
    )
    out.text(say("extraction") + f": {tour.extractor}")
    for key, value in tour.settings.items():
        out.text(say("set for this demo: {key} = {value}", key=key, value=rendering.shown(value)))
    out.text()


def _kept(out: Out, tour: Tour) -> None:
    out.heading(say("Kept: {n} memories", n=len(tour.kept)))
    headings = rendering.said("type", "scope", "memory", "said", "quote")
    out.grid(headings, [_row(one.record) for one in tour.kept[:_MOST]], whole=(0, 1, 3))
    if len(tour.kept) > _MOST:
        out.text(say("… and {n} more", n=len(tour.kept) - _MOST))
        out.text()


def _row(one: Record) -> tuple[str, ...]:
    ended = "" if one.status == "active" else f" ({say(one.status)})"
    return (
        say(one.type),
        say(one.scope),
        rendering.named(one.name, one.description) + ended,
        rendering.when(one.said_at)[:10],
        "; ".join(shortened(source.quote, 80) for source in one.evidence),
    )


def _superseded(out: Out, tour: Tour) -> None:
    pairs = [(old, one.record) for one in tour.kept for old in one.superseded]
    out.heading(say("Superseded: {n}", n=len(pairs)))
    for old, new in pairs[:_MOST]:
        ended = say("no longer since {when}", when=rendering.when(old.invalid_at)[:10])
        out.text(f"  {shortened(old.description, 60)}  ({ended})")
        out.text(f"  → {shortened(new.description, 90)}")
    out.text()


def _refused(out: Out, tour: Tour) -> None:
    out.heading(
        say("Refused: {n}, by the gates in their order", n=sum(g.count for g in tour.gates))
    )
    for gate in tour.gates:
        _gate(out, gate)
    for text in tour.masked:
        out.text(f"  {say('masked before it was stored')}: {shortened(text, 70)}")
    out.text()


def _gate(out: Out, gate: Gate) -> None:
    if not gate.count:
        out.text(f"  {say(gate.name)}: {say('nothing')}")
    for one in gate.examples:
        said = shortened(one.said or one.row.verdict.name, 60)
        out.text(f"  {say(gate.name)}: “{said}”")
        out.text(f"    {say(one.row.verdict.verdict)}: {shortened(one.row.verdict.reason, 88)}")
    if gate.count > len(gate.examples):
        out.text(say("… and {n} more", n=gate.count - len(gate.examples)))


def _injected(out: Out, tour: Tour) -> None:
    out.heading(
        say(
            "Injected for {n} new questions, each within {m} tokens",
            n=len(tour.asked),
            m=tour.budget,
        )
    )
    stable = {asked.context.stable for asked in tour.asked}
    if len(stable) == 1:
        out.text(f"  {say('Into the system prompt, the same each time')}:")
        _lines(out, stable.pop())
    for asked in tour.asked:
        _asked(out, asked)


def _asked(out: Out, asked: Asked) -> None:
    context = asked.context
    told = say("{n} tokens, {status}", n=context.tokens, status=say(context.status))
    out.text(f"  “{shortened(asked.question, 70)}”  ({told})")
    _lines(out, context.turn or say("nothing more"))
    for warning in context.warnings:
        out.text(f"    {say('degraded: {what}', what=warning)}")


def _lines(out: Out, text: str) -> None:
    for one in text.splitlines():
        out.text(f"    {shortened(one, 94)}")


def _onward(out: Out, tour: Tour) -> None:
    out.text()
    out.heading(say("Go on"))
    for one in SNIPPET.splitlines():
        out.text(f"  {one}" if one else "")
    out.text()
    home = f" --home {tour.home}" if tour.home else ""
    if tour.home:
        out.text(f"  memstrata{home} list        {say('what this demo kept')}")
        out.text(f"  memstrata{home} why         {say('what it refused, and why')}")
    else:
        out.text(f"  memstrata import FILE       {say('your own conversations')}")
        out.text(f"  memstrata search QUERY      {say('what is known about it')}")
        out.text(f"  ({say('this demo used a temporary home, which is gone')})")
