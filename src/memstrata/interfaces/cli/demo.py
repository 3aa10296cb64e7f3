"""demo: a conversation goes in; what is kept, refused, superseded and injected comes out."""

from __future__ import annotations

import json
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memstrata.interfaces import wire
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.progress import Progress, bars
from memstrata.interfaces.cli.texts import say
from memstrata.interfaces.cli.tour import Asked, Gate, Kept, Refused, Tour, render

if TYPE_CHECKING:
    from memstrata.bootstrap import Memory
    from memstrata.domain.plan import Verdict
    from memstrata.ports import VerdictRow

SETTINGS: Final[Mapping[str, object]] = {"quota.episodic": 3}
"""A quota small enough for the shipped conversation to reach it."""

QUESTIONS: Final = (
    "How do we deploy Tallyboat, and what do I have to mind before I push?",
    "支付服务出了问题该找谁？",
    "Which snack and which drink would you bring me after a run?",
)
BUDGET: Final = 400
"""Tokens of the context of each question: tight, so that there is something to choose."""

SESSION: Final = "memstrata-demo"
_EXAMPLES: Final = 4
"""So many refusals of one gate are shown."""
_CHARACTERS: Final = 300
"""A longer message is no question to ask again."""
_MARKS: Final = ("?", "？")
_MASK: Final = "[secret:"
_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Read:
    """A conversation that was stored: how much of it, what was masked, and what to ask about it."""

    messages: int
    sessions: int
    masked: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(app, "demo", "Start here")(demo)


def demo(
    door: Door,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="your own conversation, in any format of import"),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="its format (else told by its content)"),
    ] = None,
) -> Reply:
    """Take the tour: see what is kept, refused, superseded and injected."""
    settings = SETTINGS if file is None else {}
    with (
        _places(door.home) as (home, workspace),
        bars() as progress,
        door.open(home, settings, logged=False) as memory,
    ):
        read = (
            _shipped(memory, workspace, progress)
            if file is None
            else _own(memory, Path(file), format, progress)
        )
        found = _tour(memory, workspace if file is None else None, read, progress)
    shown = replace(found, file=file or "", settings=settings, home=door.home or "")
    return Reply({"tour": wire.encode(shown)}, lambda out: render(out, shown), notes=shown.unread)


@contextmanager
def _places(home: str | None) -> Iterator[tuple[str, Path]]:
    """The home, and the folder that plays the project's: temporary ones unless a home is given."""
    with tempfile.TemporaryDirectory(prefix="memstrata-demo-") as place:
        chosen = home if home is not None else str(Path(place) / "home")
        beside = Path(place) if home is None else Path(chosen).expanduser().absolute() / "demo"
        yield chosen, beside / "tallyboat"


def _shipped(memory: Memory, workspace: Path, progress: Progress | None) -> Read:
    """Commit the conversation that ships; its lines name the workspace, which import does not know."""
    # A repository of its own: what lies in another one belongs to that one's project.
    (workspace / ".git").mkdir(parents=True, exist_ok=True)
    text = resources.files(__package__).joinpath("demo.jsonl").read_text("utf-8")
    lines: list[dict[str, Any]] = [json.loads(one) for one in text.splitlines()]
    masked: list[str] = []
    sessions = done = 0
    for id, group in groupby(lines, key=lambda one: str(one["session"])):
        messages = list(group)
        within = workspace if "workspace" in messages[0] else None
        stored = memory.session(id, workspace=within).commit(messages)
        texts = (_content(memory, one, within) for one in (*stored.stored, *stored.existing))
        masked += [one for one in texts if _MASK in one]
        sessions, done = sessions + 1, done + len(messages)
        if progress is not None:
            progress("importing", done, len(lines))
    return Read(done, sessions, tuple(masked), QUESTIONS)


def _own(memory: Memory, file: Path, format: str | None, progress: Progress | None) -> Read:
    """Import a file of the user's, and take its last questions to ask them again."""
    found = memory.import_(file, format=format, progress=progress, extract=False)
    return Read(
        found.stored + found.existing,
        len(found.sessions),
        questions=_last_questions(file, found.format),
        unread=(*found.bad, *found.warnings),
    )


def _last_questions(file: Path, format: str) -> tuple[str, ...]:
    from memstrata.importers import READERS
    from memstrata.importers.record import Bad

    last: deque[str] = deque(maxlen=len(QUESTIONS))
    for one in READERS[format](file):
        if isinstance(one, Bad) or one.message.get("role") != "user":
            continue
        text = one.message.get("content")
        if isinstance(text, str) and text.rstrip().endswith(_MARKS) and len(text) <= _CHARACTERS:
            last.append(text.strip())
    return tuple(dict.fromkeys(last))


def _tour(memory: Memory, workspace: Path | None, read: Read, progress: Progress | None) -> Tour:
    """Extract, then look at what came of it as any reader would."""
    worked = memory.drain(progress=progress)
    kept = _kept(memory, workspace, worked.verdicts)
    chat = memory.session(SESSION, workspace=workspace)
    names = (one.record.name for one in reversed(kept))
    questions = tuple(dict.fromkeys((*read.questions, *names)))[: len(QUESTIONS)]
    return Tour(
        file="",
        home="",
        extractor=memory.status().extractor,
        messages=read.messages,
        sessions=read.sessions,
        settings={},
        budget=BUDGET,
        kept=kept,
        gates=_gates(memory, workspace, len(worked.verdicts)),
        masked=read.masked,
        asked=tuple(Asked(one, chat.recall(one, max_tokens=BUDGET)) for one in questions),
        unread=(*read.unread, *(say("set aside: {what}", what=one) for one in worked.parked)),
    )


def _kept(memory: Memory, workspace: Path | None, verdicts: Sequence[Verdict]) -> tuple[Kept, ...]:
    """What these verdicts left valid, in the order it was kept."""
    ids = dict.fromkeys(one.memory for one in verdicts if one.memory and not one.gate)
    traces = [memory.trace(id, workspace=workspace) for id in ids]
    return tuple(
        Kept(one.record, one.superseded)
        for one in traces
        if one.record is not None and one.record.status != "invalid"
    )


def _gates(memory: Memory, workspace: Path | None, newest: int) -> tuple[Gate, ...]:
    """The refusals among the `newest` verdicts, by gate in the order of the gates."""
    from memstrata.domain.gates import GATES  # here, so that `--help` need not load them

    refused: dict[str, list[VerdictRow]] = {name: [] for name in GATES}
    for row in _rows(memory, newest):
        if row.verdict.gate:
            refused.setdefault(row.verdict.gate, []).append(row)
    return tuple(
        Gate(
            name,
            len(rows),
            tuple(Refused(row, _said(memory, row, workspace)) for row in rows[:_EXAMPLES]),
        )
        for name, rows in refused.items()
    )


def _rows(memory: Memory, newest: int) -> list[VerdictRow]:
    """The `newest` verdicts, oldest first."""
    rows: list[VerdictRow] = []
    cursor: str | None = None
    while len(rows) < newest:
        page = memory.why(limit=min(_PAGE, newest - len(rows)), cursor=cursor)
        rows += page.items
        cursor = page.cursor
        if cursor is None:
            break
    return rows[::-1]


def _said(memory: Memory, row: VerdictRow, workspace: Path | None) -> str:
    """The message a candidate came from."""
    for id in row.verdict.quote_of[:1]:
        message = memory.trace(id, session=row.session, workspace=workspace).message
        return message.content if message is not None else ""
    return ""


def _content(memory: Memory, id: str, workspace: Path | None) -> str:
    message = memory.trace(id, workspace=workspace).message
    return message.content if message is not None else ""
