"""Retrieval: the engine beside plain baselines, in one run on the same data."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import comb
from typing import Final

from memstrata.bench import baselines, engine, measures
from memstrata.bench.baselines import Retriever
from memstrata.bench.corpus import Corpus
from memstrata.bench.engine import OURS, Checks, Progress
from memstrata.bench.measures import HEADLINE, Figure, Score, figure, mean
from memstrata.bench.switches import SWITCHES
from memstrata.errors import Invalid
from memstrata.ports import Embedder

FOLDS: Final = 5
_SEED: Final = 11
_FIRST: Final = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """One corpus: each system's scores in the order of the questions, the engine's first."""

    corpus: Corpus
    scores: Mapping[str, Sequence[Score]]
    checks: Checks


@dataclass(frozen=True, slots=True)
class Part:
    """Questions that are held out together: the corpus and the question's number of each."""

    name: str
    held_out: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Some questions: each system's headline figure, and by how much ours is above the first baseline's."""

    name: str
    questions: int
    figures: Mapping[str, Figure]
    gain: Figure


@dataclass(frozen=True, slots=True)
class Line:
    """One system over all questions: its figures by measure, and by how much ours is above its headline."""

    figures: Mapping[str, Figure]
    gain: Figure


@dataclass(frozen=True, slots=True)
class Section:
    """One data set. `corpora` are (name, messages, questions)."""

    collection: str
    headline: str
    corpora: tuple[tuple[str, int, int], ...]
    systems: Mapping[str, Line]
    parts: tuple[Row, ...]
    categories: tuple[Row, ...]
    checks: Checks


@dataclass(frozen=True, slots=True)
class Guard:
    """Retrievers whose figures are known: perfect answers (`reach` is what ten hits can hold), and chance."""

    perfect: float
    reach: float
    chance: float
    expected: float


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run. `embedder` is the key of the vectors' model, empty without one."""

    guard: Guard
    sections: tuple[Section, ...]
    switches: Mapping[str, Mapping[str, object]]
    embedder: str = ""


# -- measuring ------------------------------------------------------------------------------------


def run(
    corpora: Sequence[Corpus],
    *,
    switches: Sequence[str] = (),
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> Report:
    """Measure every corpus, each with a fresh home. `switches` are names of `SWITCHES`, or `all`.

    Raises:
        Invalid: a switch that is none, or messages that cannot be imported.
        Unavailable: the disk, the database or the embedder said no.
    """
    chosen = switched(switches)
    found = guard(corpora)
    told = progress or _silent
    counted = _Counter(told, sum(_answers(one, chosen, embedder) for one in corpora))
    measured = [measure(one, chosen, embedder, told, counted.add) for one in corpora]
    groups: dict[tuple[str, ...], list[Measured]] = {}
    for one in measured:
        groups.setdefault((one.corpus.collection, *one.scores), []).append(one)
    sections = tuple(section(group) for group in groups.values())
    return Report(found, sections, chosen, embedder.key if embedder else "")


def switched(names: Sequence[str]) -> dict[str, Mapping[str, object]]:
    """The switches of those names; `all` are all there are.

    Raises:
        Invalid: a name that is none.
    """
    for name in names:
        if name != "all" and name not in SWITCHES:
            known = ", ".join(("all", *SWITCHES))
            raise Invalid("switch", f"{name!r} is no switch; use one of {known}")
    return {name: one for name, one in SWITCHES.items() if name in names or "all" in names}


def measure(
    corpus: Corpus,
    switches: Mapping[str, Mapping[str, object]],
    embedder: Embedder | None,
    told: Progress,
    counted: Callable[[], None],
) -> Measured:
    """Every system's scores on one corpus."""
    asked = engine.ask(corpus, engine.systems(corpus, switches), told, counted)
    scores = {name: _scored(corpus, one) for name, one in asked.rankings.items()}
    for name, retriever in baselines.baselines(corpus, embedder, told).items():
        scores[name] = _scored(corpus, _answered(corpus, retriever, counted))
    return Measured(corpus, scores, asked.checks)


def _scored(corpus: Corpus, rankings: Sequence[Sequence[str]]) -> list[Score]:
    pairs = zip(corpus.questions, rankings, strict=True)
    return [measures.score(corpus, question, ranking) for question, ranking in pairs]


def _answered(
    corpus: Corpus, retriever: Retriever, counted: Callable[[], None]
) -> list[Sequence[str]]:
    found = []
    for question in corpus.questions:
        found.append(retriever(question))
        counted()
    return found


def _answers(corpus: Corpus, switches: Mapping[str, object], embedder: Embedder | None) -> int:
    """How many answers a corpus takes."""
    plain = 1 if embedder is None else 3
    return len(corpus.questions) * (1 + corpus.atomic + len(switches) + plain)


def _silent(what: str, done: int, total: int) -> None:
    """Nobody looks."""


class _Counter:
    """Tells after each answer how many there were."""

    def __init__(self, told: Progress, total: int) -> None:
        self._told, self._total, self._done = told, total, 0

    def add(self) -> None:
        """One more."""
        self._done += 1
        self._told("measuring", self._done, self._total)


# -- figures --------------------------------------------------------------------------------------


def section(group: Sequence[Measured]) -> Section:
    """The figures of one data set, pooled over its corpora, by part and by category."""
    corpora = [one.corpus for one in group]
    headline = HEADLINE[corpora[0].level]
    pooled = {name: [s for one in group for s in one.scores[name]] for name in group[0].scores}
    ours = [score[headline] for score in pooled[OURS]]
    lines = {
        name: Line(
            {measure: figure([one[measure] for one in scores]) for measure in scores[0]},
            figure(_less(ours, [one[headline] for one in scores])),
        )
        for name, scores in pooled.items()
    }
    return Section(
        corpora[0].collection,
        headline,
        tuple((one.name, len(one.texts), len(one.questions)) for one in corpora),
        lines,
        tuple(_row(one, group, headline) for one in parts(corpora)),
        tuple(_row(one, group, headline) for one in _categories(corpora)),
        _together([one.checks for one in group]),
    )


def parts(corpora: Sequence[Corpus]) -> list[Part]:
    """What is held out in turn: each conversation; with fewer than five, five folds of the questions.

    Questions with the same evidence are in the same fold.
    """
    every = [(c, q) for c, corpus in enumerate(corpora) for q in range(len(corpus.questions))]
    if len(corpora) >= FOLDS:
        return [
            Part(corpus.name, tuple(pair for pair in every if pair[0] == number))
            for number, corpus in enumerate(corpora)
        ]
    alike: dict[tuple[int, frozenset[str]], list[tuple[int, int]]] = {}
    for c, q in every:
        alike.setdefault((c, corpora[c].questions[q].evidence), []).append((c, q))
    groups = list(alike.values())
    random.Random(_SEED).shuffle(groups)
    folds = [list(chain.from_iterable(groups[number::FOLDS])) for number in range(FOLDS)]
    return [Part(f"fold {n}", tuple(sorted(one))) for n, one in enumerate(folds, start=1) if one]


def _categories(corpora: Sequence[Corpus]) -> Iterator[Part]:
    found: dict[str, list[tuple[int, int]]] = {}
    for c, corpus in enumerate(corpora):
        for q, question in enumerate(corpus.questions):
            found.setdefault(question.category, []).append((c, q))
    for name in sorted(found):
        yield Part(name, tuple(found[name]))


def _row(part: Part, group: Sequence[Measured], headline: str) -> Row:
    values = {
        name: [group[c].scores[name][q][headline] for c, q in part.held_out]
        for name in group[0].scores
    }
    plain = next(name for name in values if not name.startswith(OURS))
    return Row(
        part.name,
        len(part.held_out),
        {name: figure(one) for name, one in values.items()},
        figure(_less(values[OURS], values[plain])),
    )


def _less(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [a - b for a, b in zip(ours, theirs, strict=True)]


def _together(checks: Sequence[Checks]) -> Checks:
    return Checks(
        messages=sum(one.messages for one in checks),
        again=sum(one.again for one in checks),
        refused=sum(one.refused for one in checks),
        looked_for=sum(one.looked_for for one in checks),
        lost=[id for one in checks for id in one.lost],
        repeated=sum(one.repeated for one in checks),
        unlike=sum(one.unlike for one in checks),
        degraded={text for one in checks for text in one.degraded},
    )


# -- the harness itself ---------------------------------------------------------------------------


def guard(
    corpora: Sequence[Corpus],
    best: Callable[[Corpus], Retriever] = baselines.perfect,
    guess: Callable[[Corpus, int], Retriever] = baselines.chance,
    rounds: int = 20,
) -> Guard:
    """Prove the harness on retrievers whose headline figures are known.

    Raises:
        AssertionError: perfect answers do not score all there is, or chance is not chance.
    """
    reached = [one for corpus in corpora for one in _headlines(corpus, best(corpus))]
    reach = [one for corpus in corpora for one in _reach(corpus)]
    if reached != reach:
        raise AssertionError("a perfect retriever does not reach what can be reached")
    guessed = [
        one
        for corpus in corpora
        for seed in range(rounds)
        for one in _headlines(corpus, guess(corpus, seed))
    ]
    expected = mean([one for corpus in corpora for one in _expected(corpus)])
    found = figure(guessed)
    slack = found.high - found.low
    if not found.low - slack <= expected <= found.high + slack:
        raise AssertionError(f"chance scores {found.mean:.4f}, expected {expected:.4f}")
    return Guard(mean(reached), mean(reach), found.mean, expected)


def _headlines(corpus: Corpus, retriever: Retriever) -> list[float]:
    name = HEADLINE[corpus.level]
    return [measures.score(corpus, one, retriever(one))[name] for one in corpus.questions]


def _reach(corpus: Corpus) -> list[float]:
    """What ten hits can hold: of more evidence than ten messages only ten; any session always."""
    if corpus.level == "session":
        return [1.0] * len(corpus.questions)
    return [min(_FIRST, len(one.evidence)) / len(one.evidence) for one in corpus.questions]


def _expected(corpus: Corpus) -> Iterator[float]:
    """What ten hits by chance hold: k/n of the messages; any of e in n sessions 1 - C(n-e, k)/C(n, k)."""
    for one in corpus.questions:
        known = corpus.known(one)
        if corpus.level == "turn":
            yield min(1.0, _FIRST / len(known))
        else:
            size = len({corpus.sessions[id] for id in known})
            k = min(_FIRST, size)
            yield 1 - comb(size - len(one.evidence), k) / comb(size, k)
