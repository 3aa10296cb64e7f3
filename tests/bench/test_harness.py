"""The harness on data made up here: what it says of retrievers whose figures are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest
from bench import common, retrieval, speed
from bench.common import Corpus, MissingData, Question, Score

from memstrata import Memory

TURNS = {
    1: (("Ines", "I planted three quince trees behind the barn."), ("Otto", "That sounds lovely!")),
    2: (("Ines", "My sister Petra moved to Lisbon last week."), ("Otto", "I bought a red kayak.")),
}
QA: tuple[tuple[str, list[str], int], ...] = (
    ("What did Ines plant behind the barn?", ["D1:1"], 4),
    ("Where did Petra move and what did Otto buy?", ["D2:1; D:2:2"], 1),
    ("Which instrument does Otto play?", [], 5),
    ("Who bought a kayak?", ["D2:2", "D9:9"], 4),
)


def _locomo() -> list[dict[str, object]]:
    conversation: dict[str, object] = {"speaker_a": "Ines", "speaker_b": "Otto"}
    for number, turns in TURNS.items():
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [
            {"speaker": who, "dia_id": f"D{number}:{place}", "text": text}
            for place, (who, text) in enumerate(turns, start=1)
        ]
    qa = [{"question": q, "evidence": e, "category": c} for q, e, c in QA]
    return [{"sample_id": "conv-x", "conversation": conversation, "qa": qa}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one made-up conversation in LoCoMo's layout."""
    place = tmp_path / "data"
    place.mkdir()
    (place / "tiny.json").write_text(json.dumps(_locomo()))
    return place


@pytest.fixture
def corpus() -> Corpus:
    """100 messages, 60 questions with one to three of them as evidence."""
    dice = Random(5)
    texts = {f"m{number}": speed.sentence(dice) for number in range(100)}
    questions = tuple(
        Question(f"question {n}?", frozenset(dice.sample(list(texts), 1 + n % 3)), str(n % 2))
        for n in range(60)
    )
    return Corpus("made-up", "one", "made-up.jsonl", b"", texts, questions)


def test_perfect_answers_score_one_and_chance_scores_chance(corpus: Corpus) -> None:
    perfect = common.run(common.perfect(corpus), corpus.questions)
    assert {(s.recall5, s.recall10, s.hit10, s.reciprocal) for s in perfect} == {(1, 1, 1, 1)}
    guessed = [
        score.recall10
        for seed in range(30)
        for score in common.run(common.chance(corpus, seed), corpus.questions)
    ]
    assert common.mean(guessed) == pytest.approx(0.1, abs=0.02)
    assert "chance" in common.guard([corpus])


def test_the_guard_notices_a_perfect_retriever_that_fails(corpus: Corpus) -> None:
    twice = replace(corpus.questions[1], text=corpus.questions[0].text)
    with pytest.raises(AssertionError, match="perfect"):
        common.guard([replace(corpus, questions=(corpus.questions[0], twice))])


@pytest.mark.parametrize(
    "ranking, recall5, recall10, reciprocal",
    [
        (["a", "b"], 1, 1, 1),
        (["x", "a"], 0.5, 0.5, 0.5),
        (["x"] * 6 + ["b"], 0, 0.5, 1 / 7),
        (["x"] * 10 + ["a", "b"], 0, 0, 0),
        ([], 0, 0, 0),
    ],
)
def test_figures_of_one_ranking(
    ranking: list[str], recall5: float, recall10: float, reciprocal: float
) -> None:
    found = common.scored(Question("?", frozenset("ab"), "c"), ranking)
    assert found == Score("c", recall5, recall10, reciprocal)
    assert found.hit10 == (reciprocal > 0)


def test_the_interval_is_seeded_and_holds_the_mean() -> None:
    values = [0.0, 1.0, 1.0, 0.5, 0.0] * 20
    low, high = common.interval(values)
    assert low < common.mean(values) < high
    assert (low, high) == common.interval(values)
    assert common.interval([1.0] * 10) == (1, 1)


def test_evidence_is_read_as_it_is_written(folder: Path) -> None:
    (corpus,) = common.load(folder)
    assert [sorted(one.evidence) for one in corpus.questions] == [
        ["conv-x:D1:1"],
        ["conv-x:D2:1", "conv-x:D2:2"],
        ["conv-x:D2:2"],
    ]
    assert {one.category for one in corpus.questions} == {"1 multi-hop", "4 single-hop"}


def test_memories_of_a_user_are_asked_with_what_was_said_so_far(tmp_path: Path) -> None:
    memory = {"7": {"time": "2024-01-02", "event": "小林买了一只红色的风筝。", "user-id": 1}}
    dialogue = {
        "dialogue": [
            "<BOD>\n",
            '<小林>:"天气真好"\n',
            '<Assistant>:"是啊"\n',
            '<小林>:"去哪"\n',
            "…",
        ],
        "test-turn": [4],
        "relevant-id": [7, 9],
        "user-id": 1,
    }
    (tmp_path / "a-zh-memory.jsonl").write_text(json.dumps(memory))
    (tmp_path / "a-zh-dialogue.jsonl").write_text(json.dumps(dialogue))
    (corpus,) = common.load(tmp_path)
    assert [(one.text, one.category) for one in corpus.questions] == [
        ("去哪", "last line"),
        ("天气真好\n去哪", "user's lines so far"),
        ("天气真好\n是啊\n去哪", "all lines so far"),
    ]
    assert {one.evidence for one in corpus.questions} == {frozenset("7")}


@pytest.mark.parametrize(
    "made, asked, found",
    [
        (common.porter, "planting a tree", ["b"]),
        (common.unicode61, "planting a tree", []),
        (common.bigram, "那只风筝吗", ["c"]),
        (common.trigram, "红色的", ["c"]),
        (common.unicode61, "风筝", []),
    ],
)
def test_plain_indexes(
    made: Callable[[dict[str, str]], common.Ranker], asked: str, found: list[str]
) -> None:
    texts = {
        "a": "nothing here",
        "b": "She plants trees",
        "c": "买了红色的风筝",
        "d": "x",
        "e": "y",
    }
    assert made(texts)(asked) == found
    assert made(texts)('"?! OR (') == made(texts)("OR")


def test_a_path_that_is_not_there_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "nowhere"
    assert retrieval.main(["--data", str(missing), "--out", str(tmp_path / "r.md")]) == 2
    assert f"no data at {missing}" in capsys.readouterr().err
    with pytest.raises(MissingData, match="holds neither"):
        common.load(tmp_path)
    assert retrieval.main(["--out", str(tmp_path / "r.md")]) == 0
    assert "nothing was measured" in capsys.readouterr().err
    assert not (tmp_path / "r.md").exists()


def test_the_whole_run_on_the_real_engine(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "retrieval.md"
    out.write_text("# Old\n\n## Tried and dropped\n\nwhat we learnt\n")
    assert retrieval.main(["--data", str(folder), "--out", str(out)]) == 0
    text = out.read_text()
    assert "4 messages imported, 0 stored by a second import" in text
    assert "for their own text: 0" in text
    assert "| conv-x | 100.0 |" in text
    assert text.endswith("what we learnt\n")
    assert "# Old" not in text
    assert capsys.readouterr().out in f"{text}\n"


def test_compared_things_take_turns() -> None:
    order: list[str] = []
    found = speed.rounds(4, {name: partial(order.append, name) for name in "ab"})
    assert "".join(order) in ("abbaabba", "baabbaab")
    assert [len(seconds) for seconds in found.values()] == [4, 4]
    row = speed.Ratio("x", speed.ratios([2, 4, 9], [1, 2, 3]), "≤ 3").row()
    assert row == ["x", "2.00", "2.00-2.50", "≤ 3"]


def test_filled_scopes_are_found_in(open_memory: Callable[[], Memory]) -> None:
    memory = open_memory()
    speed.fill(memory, 400)
    wanted = speed.stored("local", 0, Random(3)).memory
    hits = memory.search(f"{wanted.name} {wanted.description}", kinds=("memory",))
    assert hits[0].description == wanted.description
    assert memory.search("o0", kinds=("memory",), user="o0") == ()


def test_the_report_of_speed_names_the_installed_size() -> None:
    text = speed.report([speed.Ratio("one beside other", (1.0, 2.0, 3.0))])
    assert "| one beside other | 2.00 | 1.50-2.50 |  |" in text
    total, largest = speed.installed()
    assert total > max(size for _, size in largest) > 0
