"""What the benches share: data sets as values, plain baselines, figures with their intervals."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import apsw

from memstrata.importers import locomo

Ranker = Callable[[str], Sequence[str]]
"""A question's text to ids, best first."""

CATEGORIES: Final = {
    "1": "1 multi-hop",
    "2": "2 temporal",
    "3": "3 open-domain",
    "4": "4 single-hop",
    "5": "5 adversarial",
}
_DIALOGUE_ID: Final = re.compile(r"D:?(\d+):(\d+)")
_RESAMPLES: Final = 1_000
_NOTES: Final = "## Tried and dropped"


class MissingData(Exception):
    """The data that was named is not there, or has no layout that is known."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids of the messages that answer it, and its category."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Messages as a file to import (`file`, `data`), their raw texts by id, and questions."""

    collection: str
    name: str
    file: str
    data: bytes
    texts: Mapping[str, str]
    questions: tuple[Question, ...]


# -- data sets ------------------------------------------------------------------------------------


def load(path: Path) -> list[Corpus]:
    """The corpora of a LoCoMo file, of a pair of MADial files, or of a folder that holds either.

    Raises:
        MissingData: nothing there, or nothing of these layouts.
    """
    if not path.exists():
        raise MissingData(f"there is no data at {path}: nothing was measured")
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    found: list[Corpus] = []
    for file in files:
        if file.suffix == ".json" and locomo.looks_like(file, file.read_bytes()[:65_536]):
            found += _locomo(file)
        elif file.name.endswith("-dialogue.jsonl"):
            found += _madial(file.with_name(file.name.replace("-dialogue.", "-memory.")), file)
    if not found:
        raise MissingData(
            f"{path} holds neither LoCoMo's JSON nor a pair *-memory.jsonl and *-dialogue.jsonl: "
            "nothing was measured"
        )
    return found


def _locomo(file: Path) -> Iterator[Corpus]:
    """One corpus a conversation; questions of every category, those without evidence left out."""
    for index, sample in enumerate(json.loads(file.read_bytes())):
        name = str(sample.get("sample_id") or f"{file.stem}-{index + 1}")
        texts = {f"{name}:{turn['dia_id']}": str(turn["text"]) for turn in _turns(sample)}
        questions = (_locomo_question(name, texts, one) for one in sample["qa"])
        data = json.dumps([sample], ensure_ascii=False).encode()
        kept = tuple(one for one in questions if one.evidence)
        yield Corpus("LoCoMo", name, f"{name}.json", data, texts, kept)


def _turns(sample: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name, turns in sample["conversation"].items():
        if re.fullmatch(r"session_\d+", name):
            yield from turns


def _locomo_question(name: str, texts: Mapping[str, str], raw: Mapping[str, Any]) -> Question:
    # Several ids may stand in one string, some as "D:11:26"; a few name turns that do not exist.
    named = _DIALOGUE_ID.findall(" ".join(raw.get("evidence", ())))
    ids = frozenset(f"{name}:D{session}:{turn}" for session, turn in named)
    category = str(raw["category"])
    return Question(raw["question"], ids.intersection(texts), CATEGORIES.get(category, category))


def _madial(memory_file: Path, dialogue_file: Path) -> Iterator[Corpus]:
    """One corpus a user (or one in all, where memories name no user): memories as messages."""
    if not memory_file.exists():
        raise MissingData(f"there is no {memory_file.name} beside {dialogue_file.name}")
    memories: dict[str, Mapping[str, Any]] = {}
    for line in memory_file.read_text(encoding="utf-8").splitlines():
        memories.update(json.loads(line))
    dialogues = [json.loads(one) for one in dialogue_file.read_text(encoding="utf-8").splitlines()]
    stem = dialogue_file.name.removesuffix("-dialogue.jsonl")
    for user in sorted({str(one.get("user-id", "")) for one in memories.values()}):
        held = {id: one for id, one in memories.items() if str(one.get("user-id", "")) == user}
        asked = [one for one in dialogues if not user or str(one["user-id"]) == user]
        yield _madial_corpus(stem, f"{stem} {user}".strip(), held, asked)


def _madial_corpus(
    collection: str,
    name: str,
    memories: Mapping[str, Mapping[str, Any]],
    dialogues: Iterable[Mapping[str, Any]],
) -> Corpus:
    lines = [
        {"session": "m", "id": id, "role": "user", "content": one["event"], "said_at": one["time"]}
        for id, one in memories.items()
    ]
    data = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    texts = {id: str(one["event"]) for id, one in memories.items()}
    questions = tuple(one for raw in dialogues for one in _madial_questions(texts, raw))
    return Corpus(collection, name, f"{name.replace(' ', '-')}.jsonl", data, texts, questions)


def _madial_questions(texts: Mapping[str, str], raw: Mapping[str, Any]) -> Iterator[Question]:
    """For each test turn three queries: the user's last line, all the user's lines, all lines so far."""
    evidence = frozenset(map(str, raw["relevant-id"])).intersection(texts)
    for turn in raw["test-turn"]:
        before = [line for line in raw["dialogue"][:turn] if not line.startswith("<BOD>")]
        own = [line for line in before if not line.startswith("<Assistant>")]
        if evidence and own:
            for category, lines in (
                ("last line", own[-1:]),
                ("user's lines so far", own),
                ("all lines so far", before),
            ):
                yield Question("\n".join(map(_spoken, lines)), evidence, category)


def _spoken(line: str) -> str:
    return re.sub(r"\A<[^>]*>\s*[:：]?", "", line).strip(' "“”\n')


# -- retrievers that need no engine ---------------------------------------------------------------


def porter(texts: Mapping[str, str]) -> Ranker:
    """Plain FTS5, `porter unicode61`, words joined by OR, bm25."""
    return _plain(texts, "porter unicode61", _words)


def unicode61(texts: Mapping[str, str]) -> Ranker:
    """Plain FTS5, `unicode61`, words joined by OR, bm25."""
    return _plain(texts, "unicode61", _words)


def trigram(texts: Mapping[str, str]) -> Ranker:
    """Plain FTS5, `trigram`, every three characters in a row joined by OR, bm25."""
    return _plain(texts, "trigram", lambda text: _grams(text, 3))


def bigram(texts: Mapping[str, str]) -> Ranker:
    """Plain FTS5 over pairs of characters, joined by OR, bm25."""
    spaced = {id: " ".join(_grams(text, 2)) for id, text in texts.items()}
    return _plain(spaced, "unicode61", lambda text: _grams(text, 2))


def _plain(texts: Mapping[str, str], tokenizer: str, terms: Callable[[str], list[str]]) -> Ranker:
    db = apsw.Connection(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE plain USING fts5 (text, tokenize = '{tokenizer}')")
    ids = list(texts)
    db.executemany(
        "INSERT INTO plain (rowid, text) VALUES (?, ?)", enumerate(texts.values(), start=0)
    )

    def rank(question: str) -> list[str]:
        match = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms(question)))
        sql = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain), rowid LIMIT 10"
        return [ids[row] for (row,) in db.execute(sql, (match,))] if match else []

    return rank


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _grams(text: str, size: int) -> list[str]:
    return [
        word[at : at + size] for word in _words(text) for at in range(max(1, len(word) - size + 1))
    ]


def perfect(corpus: Corpus) -> Ranker:
    """Finds exactly the evidence: what it does not reach, nothing can."""
    answers = {one.text: sorted(one.evidence) for one in corpus.questions}
    return lambda text: answers[text]


def chance(corpus: Corpus, seed: int) -> Ranker:
    """Ten ids by chance."""
    dice, ids = random.Random(seed), list(corpus.texts)
    return lambda _: dice.sample(ids, min(10, len(ids)))


# -- figures --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """One question's figures: shares of its evidence among the first 5 and 10, 1/rank of the first."""

    category: str
    recall5: float
    recall10: float
    reciprocal: float

    @property
    def hit10(self) -> float:
        """1 if any evidence is among the first 10."""
        return float(self.reciprocal > 0)


def scored(question: Question, ranking: Sequence[str]) -> Score:
    """The figures of one ranking, of which the first 10 count."""
    top = list(ranking[:10])
    places = [place for place, id in enumerate(top, start=1) if id in question.evidence]
    size = len(question.evidence)
    return Score(
        question.category,
        len(question.evidence & set(top[:5])) / size,
        len(question.evidence & set(top)) / size,
        1 / places[0] if places else 0.0,
    )


def run(ranker: Ranker, questions: Iterable[Question]) -> list[Score]:
    """Every question's figures."""
    return [scored(one, ranker(one.text)) for one in questions]


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def interval(values: Sequence[float], seed: int = 7) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean (Efron, 1979), 1,000 resamples, seeded."""
    dice = random.Random(seed)
    size = len(values)
    means = sorted(mean(dice.choices(values, k=size)) for _ in range(_RESAMPLES))
    return means[round(_RESAMPLES * 0.025)], means[round(_RESAMPLES * 0.975) - 1]


def guard(corpora: Sequence[Corpus], rounds: int = 20) -> str:
    """Proves the harness on retrievers whose figures are known, and says what it found.

    Raises:
        AssertionError: perfect answers do not score all there is, or chance is not chance.
    """
    best = [score for one in corpora for score in run(perfect(one), one.questions)]
    reach = [min(10, len(one.evidence)) / len(one.evidence) for c in corpora for one in c.questions]
    if [score.recall10 for score in best] != reach:
        raise AssertionError("a perfect retriever does not reach what can be reached")
    found, expected = [], []
    for corpus in corpora:
        for seed in range(rounds):
            found += [score.recall10 for score in run(chance(corpus, seed), corpus.questions)]
        expected += [min(1.0, 10 / len(corpus.texts))] * len(corpus.questions)
    low, high = interval(found)
    slack = high - low
    if not low - slack <= mean(expected) <= high + slack:
        raise AssertionError(f"chance scores {mean(found):.4f}, expected {mean(expected):.4f}")
    return (
        f"Perfect answers score {percent(mean([one.recall10 for one in best]))} (recall@10), "
        f"chance {percent(mean(found))}, expected {percent(mean(expected))}."
    )


# -- writing --------------------------------------------------------------------------------------


def percent(value: float) -> str:
    """A share as a percentage with one digit."""
    return f"{100 * value:.1f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; every column but the first is a number."""
    lines = [
        f"| {' | '.join(head)} |",
        f"|{'|'.join(['---', *['---:'] * (len(head) - 1)])}|",
    ]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def write(path: Path, report: str) -> None:
    """Write a report over the old one, whose notes on what was tried stay."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    notes = old[old.index(_NOTES) :] if _NOTES in old else ""
    path.write_text(f"{report.rstrip()}\n{notes and chr(10)}{notes}", encoding="utf-8")
