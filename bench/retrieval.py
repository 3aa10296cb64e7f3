"""Turn retrieval, measured on the real engine: `python -m bench.retrieval --data PATH`.

Each conversation is imported into a home of its own through `Memory.import_`, each question asked
through `Memory.search`. The baselines index the raw texts in the same run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import common
from bench.common import Corpus, MissingData, Ranker, Score, percent
from memstrata import Memory

OUT: Final = Path(__file__).with_suffix(".md")
OURS: Final = "memstrata"
ENGLISH: Final[Mapping[str, Callable[[Mapping[str, str]], Ranker]]] = {
    "FTS5 porter unicode61": common.porter
}
CHINESE: Final[Mapping[str, Callable[[Mapping[str, str]], Ranker]]] = {
    "FTS5 character bigrams": common.bigram,
    "FTS5 trigram": common.trigram,
    "FTS5 unicode61": common.unicode61,
}
_ABOUT: Final = """\
# Retrieval

Message search of the real engine, full text only, beside plain FTS5 over the raw texts, all in one
run. recall@k: the share of a question's evidence messages among the first k, the mean over the
questions that have evidence; questions of every category count, adversarial ones too. hit@10: the
share of questions with any evidence among the first 10; MRR: the mean of 1/rank of the first
evidence message within 10. In brackets: 95 % bootstrap interval over questions (1,000 resamples,
seeded). The data sets are not part of this repository.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One corpus: each system's scores in the order of the questions, and what the engine checks found."""

    corpus: Corpus
    scores: Mapping[str, Sequence[Score]]
    stored: int
    again: int
    lost: tuple[str, ...]


@contextmanager
def imported(corpus: Corpus) -> Iterator[tuple[Memory, int, int]]:
    """A fresh home with the corpus in it; what was stored, and what a second import stored."""
    with tempfile.TemporaryDirectory(prefix="memstrata-bench-") as folder:
        file = Path(folder, corpus.file)
        file.write_bytes(corpus.data)
        with Memory.open(Path(folder, "home"), background=False) as memory:
            first = memory.import_(file, extract=False)
            if first.bad:
                raise MissingData(f"{corpus.name} cannot be imported: {first.bad[0]}")
            yield memory, first.stored, memory.import_(file, extract=False).stored


def engine(memory: Memory) -> Ranker:
    """The engine's own message search."""
    return lambda text: [hit.id for hit in memory.search(text, kinds=("message",), limit=10)]


def measure(corpus: Corpus) -> Measured:
    """Every system's figures on one corpus."""
    plain = CHINESE if "-zh" in corpus.collection else ENGLISH
    with imported(corpus) as (memory, stored, again):
        rank = engine(memory)
        scores = {OURS: common.run(rank, corpus.questions)}
        lost = tuple(id for id, text in corpus.texts.items() if id not in rank(text))
    for name, made in plain.items():
        scores[name] = common.run(made(corpus.texts), corpus.questions)
    return Measured(corpus, scores, stored, again, lost)


# -- the report -----------------------------------------------------------------------------------


def report(measured: Sequence[Measured]) -> str:
    """The figures in Markdown, one section for each set of systems compared."""
    sections = [_ABOUT, common.guard([one.corpus for one in measured]) + "\n"]
    groups: dict[tuple[str, ...], list[Measured]] = defaultdict(list)
    for one in measured:
        groups[(one.corpus.collection, *one.scores)].append(one)
    for (name, *systems), group in groups.items():
        sections.append(_section(name, systems, group))
    return "\n".join(sections)


def _section(name: str, systems: Sequence[str], group: Sequence[Measured]) -> str:
    pooled = {system: [s for one in group for s in one.scores[system]] for system in systems}
    corpora = ", ".join(f"{one.corpus.name} ({len(one.corpus.texts)})" for one in group)
    return "\n".join(
        (
            f"## {name}: {sum(len(one.corpus.questions) for one in group)} questions\n",
            f"Corpora (messages): {corpora}.\n",
            common.table(
                ("system", "recall@5", "recall@10", "hit@10", "MRR"),
                [_row(system, pooled[system]) for system in systems],
            ),
            "",
            common.table(
                ("recall@10 of", *systems, f"{OURS} − {systems[1]}"),
                [*_by_corpus(systems, group), *_by_category(systems, pooled)],
            ),
            "",
            _checks(group),
        )
    )


def _row(system: str, scores: Sequence[Score]) -> list[str]:
    figures = ([s.recall5 for s in scores], [s.recall10 for s in scores])
    others = ([s.hit10 for s in scores], [s.reciprocal for s in scores])
    return [system, *map(_bracketed, figures), *(percent(common.mean(one)) for one in others)]


def _bracketed(values: Sequence[float]) -> str:
    low, high = common.interval(values)
    return f"{percent(common.mean(values))} [{percent(low)}, {percent(high)}]"


def _by_corpus(systems: Sequence[str], group: Sequence[Measured]) -> Iterator[list[str]]:
    for one in group:
        yield _compared(one.corpus.name, systems, one.scores)


def _by_category(
    systems: Sequence[str], pooled: Mapping[str, Sequence[Score]]
) -> Iterator[list[str]]:
    for category in sorted({score.category for score in pooled[systems[0]]}):
        chosen = {
            system: [score for score in scores if score.category == category]
            for system, scores in pooled.items()
        }
        yield _compared(f"{category} ({len(chosen[systems[0]])})", systems, chosen)


def _compared(
    name: str, systems: Sequence[str], scores: Mapping[str, Sequence[Score]]
) -> list[str]:
    """One row: recall@10 of each system and the paired difference of ours and the first baseline."""
    pairs = zip(scores[systems[0]], scores[systems[1]], strict=True)
    return [
        name,
        *(percent(common.mean([s.recall10 for s in scores[system]])) for system in systems),
        _bracketed([ours.recall10 - theirs.recall10 for ours, theirs in pairs]),
    ]


def _checks(group: Sequence[Measured]) -> str:
    stored = sum(one.stored for one in group)
    again = sum(one.again for one in group)
    lost = [id for one in group for id in one.lost]
    named = f": {', '.join(lost[:20])}{', …' if len(lost) > 20 else ''}" if lost else ""
    return (
        f"{stored} messages imported, {again} stored by a second import; not among the first 10 for "
        f"their own text: {len(lost)}{named}.\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; 2 when the data that was named is not there."""
    parser = argparse.ArgumentParser(prog="bench.retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, action="append", default=[], metavar="PATH")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE")
    chosen = parser.parse_args(arguments)
    if not chosen.data:
        print("no --data PATH was given: nothing was measured", file=sys.stderr)
        return 0
    try:
        corpora = [corpus for path in chosen.data for corpus in common.load(path)]
        found = report([measure(corpus) for corpus in corpora])
    except MissingData as error:
        print(error, file=sys.stderr)
        return 2
    common.write(chosen.out, found)
    print(found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
