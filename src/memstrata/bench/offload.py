"""Long runs through an offload session: tokens with and without, what stays whole, what can still be read.

Before each call of the model the list so far is assembled, as an agent's loop does it.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time
from typing import Any, Final

from memstrata.bench.trajectories import Message, Run
from memstrata.bootstrap import Memory
from memstrata.domain.window import Window, own_block, view
from memstrata.errors import NotFound
from memstrata.offload import OffloadSession
from memstrata.pipelines.offload import Counter, Report

WINDOWS: Final = (16_000, 32_000, 128_000)
SETTINGS: Final[Mapping[str, object]] = {
    "timezone": "UTC",
    "extraction.model": "",
    "embedding.model": "none",
}
LINES: Final = (0.50, 0.85, 0.95, 1.0)
RESTARTS: Final = 3
"""So many times in a run the home is opened anew, and what it assembles compared."""
_QUOTED: Final = re.compile(r"[^\s\"'`<>(){}\[\],;|=]{12,}")
_NODE: Final = re.compile(r"\b\d{3,9}-N\d+\b")
_FILE: Final = re.compile(r"\b\d{3,9}-[a-z0-9-]+\.mmd\b")
_REF: Final = re.compile(r"^ref: (\S+)$", re.MULTILINE)
_CUT: Final = re.compile(r"cut here: recall_result (\S+) ")

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Figures:
    """What a run came to in one window. Tokens are the list's, our own blocks counted.

    `over`: calls at which the host's list is larger than the window. `above`: calls at which what goes out
    is above each line, with what comes beside the list. `results` were archived, `equal` of them came back
    character for character, `masked` hold secrets. `quotes`: strings of an earlier result that the agent
    repeats; `in_list` of them stand in what goes out, `recalled` are one `recall_result` away by a ref in it.
    `steps` folded something, at `boundaries` the task changed; `breaks` counts the lists that do not begin
    with the one before them, though neither was so. Of the characters `sent`, `cached` stand in messages that
    the list before began with, byte for byte.
    """

    run: str
    window: int
    calls: int = 0
    over: int = 0
    before: int = 0
    after: int = 0
    before_over: int = 0
    after_over: int = 0
    above: list[int] = field(default_factory=lambda: [0] * len(LINES))
    largest: float = 0.0
    steps: int = 0
    boundaries: int = 0
    breaks: int = 0
    results: int = 0
    equal: int = 0
    masked: int = 0
    split: int = 0
    touched: int = 0
    restarts: int = 0
    unlike: int = 0
    quotes: int = 0
    in_list: int = 0
    recalled: int = 0
    sent: int = 0
    cached: int = 0
    seconds: list[float] = field(default_factory=list)
    """Of this thread's processor, for each call."""
    warnings: list[str] = field(default_factory=list)

    @property
    def less(self) -> float:
        """The share of tokens that is saved."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def less_over(self) -> float:
        """The same at the calls whose list exceeds the window."""
        return 1 - self.after_over / self.before_over if self.before_over else 0.0

    @property
    def reachable(self) -> float:
        """The share of quoted strings that the model still has before it, or one call away."""
        return (self.in_list + self.recalled) / self.quotes if self.quotes else 1.0


def measure(
    runs: Sequence[Run], windows: Sequence[int] = WINDOWS, progress: Progress | None = None
) -> list[Figures]:
    """Every run in every window, each in a home of its own.

    Raises:
        Unavailable: the disk or the database said no.
    """
    found: list[Figures] = []
    total = sum(1 for run in runs for _ in run.turns()) * len(windows)
    for run in runs:
        for window in windows:
            with tempfile.TemporaryDirectory(prefix="memstrata-bench-") as folder:
                one = _Trial(run, window, Path(folder, "home"))
                for _ in one.turns():
                    if progress is not None:
                        done = sum(each.calls for each in found) + one.figures.calls
                        progress("assembling", done, total)
            found.append(one.figures)
    return found


class _Trial:
    """One run in one window."""

    def __init__(self, run: Run, window: int, home: Path) -> None:
        self._run = run
        self._home = home
        self.figures = Figures(run.name, window)
        self._results: dict[str, str] = {}
        self._seen = ""
        self._before: list[Any] = []

    def turns(self) -> Iterator[None]:
        """Each call of the model."""
        places = list(self._run.turns())
        again = {places[len(places) * n // RESTARTS] for n in range(1, RESTARTS)} | {places[-1]}
        with Memory.open(self._home, settings=SETTINGS, background=False) as memory:
            session = memory.offload("run", window=self.figures.window)
            count = Counter(memory._world.tokens.count)
            for at in places:
                self._turn(session, at, count)
                if at in again:
                    self._restart(at)
                yield
            self._archive(session)

    def _turn(self, session: OffloadSession, at: int, count: Counter) -> None:
        figures, given = self.figures, list(self._run.messages[:at])
        started = thread_time()
        sent = session.assemble(given)
        figures.seconds.append(thread_time() - started)
        report, raw = session.report, view(given)
        before = sum(item.tokens(count) for item in raw.items)
        after = report.after - report.overhead
        figures.calls += 1
        figures.before += before
        figures.after += after
        if before > figures.window:
            figures.over += 1
            figures.before_over += before
            figures.after_over += after
        for place, line in enumerate(LINES):
            figures.above[place] += report.after >= line * figures.window
        figures.largest = max(figures.largest, report.after / figures.window)
        figures.warnings += report.warnings
        self._look(raw, given, sent, report)
        self._quotes(session, at, sent)

    def _look(self, raw: Window, given: Sequence[Message], sent: list[Any], report: Report) -> None:
        """Pairs, what may not be touched, and the beginning of the list."""
        figures, ours = self.figures, [one for one in sent if not own_block(one)]
        figures.split += len(_split(ours) - _split(given))
        kept = [one for one in given if one["role"] == "system"]
        kept += [given[raw.last_user]] if raw.last_user >= 0 else []
        figures.touched += sum(one not in ours for one in kept)
        same = _beginning(self._before, sent)
        figures.sent += sum(len(json.dumps(one)) for one in sent)
        figures.cached += sum(len(json.dumps(one)) for one in sent[:same])
        if report.levels:
            figures.steps += 1
        elif report.boundary:
            figures.boundaries += 1
        elif same < len(self._before):
            figures.breaks += 1
        self._before = sent

    def _quotes(self, session: OffloadSession, at: int, sent: list[Any]) -> None:
        """What the next message of the agent repeats of earlier results."""
        fresh = {
            one["tool_call_id"]: one["content"]
            for one in self._run.messages[:at]
            if one["role"] == "tool" and one["tool_call_id"] not in self._results
        }
        self._results |= fresh
        self._seen += "\0".join(("", *fresh.values()))
        said = _text([self._run.messages[at]])
        there = _text(sent)
        ways: dict[str, set[str]] | None = None
        for string in dict.fromkeys(_QUOTED.findall(said)):
            if string not in self._seen:
                continue
            self.figures.quotes += 1
            if string in there:
                self.figures.in_list += 1
                continue
            ways = _ways(session, there) if ways is None else ways
            self.figures.recalled += self._recalls(session, string, ways)

    def _recalls(self, session: OffloadSession, string: str, ways: Mapping[str, set[str]]) -> bool:
        keys = {key for key, text in self._results.items() if string in text}
        for ref, held in ways.items():
            if held & keys:
                return string in session.recall(ref, grep=string, lines=400)
        return False

    def _restart(self, at: int) -> None:
        """The same list in another process, as far as one can be in this one."""
        with Memory.open(self._home, settings=SETTINGS, background=False) as memory:
            session = memory.offload("run", window=self.figures.window)
            self.figures.restarts += 1
            self.figures.unlike += session.assemble(list(self._run.messages[:at])) != self._before

    def _archive(self, session: OffloadSession) -> None:
        for id, text in self._results.items():
            self.figures.results += 1
            masked = session.recall(id, lines=1).masked
            self.figures.masked += bool(masked)
            self.figures.equal += bool(masked) or session.text(id) == text


def _split(messages: Sequence[Any]) -> set[str]:
    """The ids of results without their call right before, and of calls without a result."""
    asked: set[str] = set()
    lost: set[str] = set()
    for one in messages:
        if one["role"] == "tool":
            lost |= {one["tool_call_id"]} - asked
            asked.discard(one["tool_call_id"])
        else:
            lost |= asked
            asked = {call["id"] for call in one.get("tool_calls") or ()}
    return lost | asked


def _beginning(before: Sequence[Any], sent: Sequence[Any]) -> int:
    """How many messages both lists begin with."""
    pairs = enumerate(zip(before, sent, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(sent)))


def _text(messages: Sequence[Any]) -> str:
    texts: list[str] = []
    for one in messages:
        texts.append(one.get("content") or "")
        calls = one.get("tool_calls") or ()
        texts += [_plain(call["function"]["arguments"]) for call in calls]
    return "\n".join(texts)


def _plain(arguments: str) -> str:
    """The texts of arguments without JSON's escapes."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return arguments
    values = given.values() if isinstance(given, dict) else [given]
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in values)


def _ways(session: OffloadSession, there: str) -> dict[str, set[str]]:
    """The refs that stand in a list, and the results that each leads to."""
    found: dict[str, set[str]] = {
        ref: {ref} for ref in (*_REF.findall(there), *_CUT.findall(there))
    }
    nodes = set(_NODE.findall(there))
    for file in dict.fromkeys(_FILE.findall(there)):
        try:
            opened = session.open(file)
        except NotFound:
            continue
        held = {node: set(keys) for node, keys in opened.results}
        found |= {node: keys for node, keys in held.items() if node in nodes}
        found[file] = set().union(*held.values())
    return found
