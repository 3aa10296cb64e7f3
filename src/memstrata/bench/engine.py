"""The engine as a retriever: a home for each corpus, filled by its own verbs and asked through `search`."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final, Literal

from memstrata.bench.baselines import DEPTH
from memstrata.bench.corpus import Corpus
from memstrata.bootstrap import Memory
from memstrata.errors import Invalid, Refused, Unavailable
from memstrata.ports import Embedder

OURS: Final = "memstrata"
SETTINGS: Final[Mapping[str, object]] = {
    "timezone": "UTC",
    "extraction.model": "",
    "extraction.fallback": "none",
}
"""Of every home: nothing is extracted, for the messages themselves are searched."""
SAMPLE: Final = 50
"""So many messages are looked for by their own text, so many questions asked again with a smaller limit."""
_FIRST: Final = 10
_SEED: Final = 5

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class System:
    """The engine under some settings, asked for one kind of hit."""

    name: str
    settings: Mapping[str, object]
    kind: Literal["message", "memory"] = "message"

    @property
    def embedder(self) -> str:
        """What decides about its vectors: systems that differ in it share no home."""
        chosen = {key: one for key, one in self.settings.items() if key.startswith("embedding")}
        return repr(sorted(chosen.items()))


@dataclass(slots=True)
class Checks:
    """What the engine was found to do besides.

    Messages imported; stored by a second import (none should be); memories refused by a gate; of
    `looked_for` messages those not among the first 10 for their own text; of `repeated` questions those
    whose first 10 differ when no more than 10 are asked for; what it called degraded.
    """

    messages: int = 0
    again: int = 0
    refused: int = 0
    looked_for: int = 0
    lost: list[str] = field(default_factory=list)
    repeated: int = 0
    unlike: int = 0
    degraded: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Asked:
    """Each system's rankings of message ids, in the order of the questions, and the checks."""

    rankings: Mapping[str, list[Sequence[str]]]
    checks: Checks


@contextmanager
def embedder() -> Iterator[Embedder | None]:
    """The embedder that the engine has by default; None when it has none, or that gives no vectors now."""
    with (
        tempfile.TemporaryDirectory(prefix="memstrata-bench-") as folder,
        Memory.open(Path(folder, "home"), settings=SETTINGS, background=False) as memory,
    ):
        sight = memory._world.sight
        try:
            if sight is not None:
                sight.embedder.embed([OURS], "query")
        except Unavailable:
            sight = None
        yield None if sight is None else sight.embedder


def systems(corpus: Corpus, switches: Mapping[str, Mapping[str, object]]) -> list[System]:
    """The engine as it is, then without each switch; what stands for itself is kept as memories, too."""
    kind: Literal["message", "memory"] = "memory" if corpus.atomic else "message"
    found = [System(OURS, {}, kind)]
    if corpus.atomic:
        found.append(System(f"{OURS} as messages", {}))
    return found + [System(f"{OURS} {name}", one, kind) for name, one in switches.items()]


def ask(
    corpus: Corpus, chosen: Sequence[System], told: Progress, counted: Callable[[], None]
) -> Asked:
    """Fill a home with the corpus and put every question to every system.

    `told` hears of the filling, `counted` is called after each answer.

    Raises:
        Invalid: a setting, or messages that cannot be imported.
        Unavailable: the disk or the database said no.
    """
    asked = Asked({one.name: [()] * len(corpus.questions) for one in chosen}, Checks())
    main = chosen[0]
    for _, group in groupby(sorted(chosen, key=_embedder), key=_embedder):
        members = list(group)
        with ExitStack() as stack:
            home = _Home(corpus, members, stack, told)
            for data, due in corpus.stages():
                home.fill(data)
                for number, one in ((n, one) for n in due for one in members):
                    query = corpus.questions[number].text
                    asked.rankings[one.name][number] = home.search(one, query)
                    counted()
            if main in members:
                home.check(main, asked.checks)
    return asked


def _embedder(system: System) -> str:
    return system.embedder


class _Home:
    """A temporary home of one corpus, opened once for each of the settings."""

    def __init__(
        self, corpus: Corpus, members: Sequence[System], stack: ExitStack, told: Progress
    ) -> None:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="memstrata-bench-"))
        self._corpus = corpus
        self._told = told
        self._file = Path(folder, corpus.file)
        self._opened: dict[str, Memory] = {}
        for one in members:
            if (key := repr(one.settings)) not in self._opened:
                opened = Memory.open(
                    Path(folder, "home"), settings={**SETTINGS, **one.settings}, background=False
                )
                self._opened[key] = stack.enter_context(opened)
        self._memory = next(iter(self._opened.values()))
        self._ids: dict[str, str] = {}
        self._stored = self._refused = 0
        if any(one.kind == "memory" for one in members):
            self._ids = dict(self._kept())

    def _kept(self) -> Iterator[tuple[str, str]]:
        """Every text as a memory: its id, and whose text it is."""
        for number, (id, text) in enumerate(self._corpus.texts.items(), start=1):
            try:
                made = self._memory.add(type="episodic", name=f"m{number}", description=text)
            except Refused:
                self._refused += 1
            else:
                yield made.id, id

    def fill(self, data: bytes) -> None:
        """Import more messages and wait for the background work."""
        self._file.write_bytes(data)
        found = self._memory.import_(self._file, extract=False)
        if found.bad:
            raise Invalid("data", f"{self._corpus.name} cannot be imported: {found.bad[0]}")
        self._stored += found.stored
        self._memory.drain(progress=self._told)

    def search(self, system: System, text: str, limit: int = DEPTH) -> list[str]:
        """The ids of the messages (or texts) that the system finds."""
        memory = self._opened[repr(system.settings)]
        hits = memory.search(text, kinds=(system.kind,), limit=limit)
        return [self._ids.get(hit.id, hit.id) for hit in hits]

    def check(self, system: System, checks: Checks) -> None:
        """Look at what else should hold, on a sample by chance."""
        dice = random.Random(_SEED)
        corpus = self._corpus
        checks.messages, checks.refused = self._stored, self._refused
        checks.again = self._memory.import_(self._file, extract=False).stored
        texts = dice.sample(sorted(corpus.texts), min(SAMPLE, len(corpus.texts)))
        checks.looked_for = len(texts)
        checks.lost += [
            id for id in texts if id not in self.search(system, corpus.texts[id])[:_FIRST]
        ]
        questions = dice.sample(corpus.questions, min(SAMPLE, len(corpus.questions)))
        checks.repeated = len(questions)
        for one in questions:
            few = self.search(system, one.text, _FIRST)
            checks.unlike += few != self.search(system, one.text)[:_FIRST]
        hits = self._memory.search(corpus.questions[0].text, kinds=(system.kind,))
        checks.degraded |= set(hits.degraded)
