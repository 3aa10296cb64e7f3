"""The harness on retrievers and corpora whose figures are known."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from bench import speed
from tests.bench.conftest import SHIPPED

from memstrata import Invalid
from memstrata.bench import baselines, engine, layouts, measures, report, retrieval
from memstrata.bench.corpus import Corpus, Level, Question
from memstrata.ports import Side, Vector

KINDS = ("stone", "river", "lamp")


@dataclass(frozen=True, slots=True)
class Kinds:
    """An embedder that knows three words."""

    key: str = "kinds"
    dimension: int = 3
    remote: bool = False

    def embed(self, texts: Sequence[str], side: Side) -> list[Vector]:
        """How far a text is about each."""
        return [struct.pack("<3f", *(float(one in text) for one in KINDS)) for text in texts]

    def floor(self, query: Vector, cjk: bool) -> float:
        """Unknown."""
        return -1.0

    def close(self) -> None:
        """Nothing is held."""


def made(level: Level, name: str = "one", known: int | None = None) -> Corpus:
    """100 messages in 20 sessions, 60 questions with one to three of them as evidence."""
    dice = Random(5)
    texts = {f"m{number:02}": speed.sentence(dice) for number in range(100)}
    sessions = {id: f"s{number // 5}" for number, id in enumerate(texts)}
    units = list(texts)[:known]
    if level == "session":
        units = sorted({sessions[id] for id in units})
    questions = tuple(
        Question(f"question {n}?", str(n % 2), frozenset(dice.sample(units, 1 + n % 3)), known)
        for n in range(60)
    )
    return Corpus("made-up", name, f"{name}.jsonl", b"", texts, sessions, questions, level)


# -- the guard ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "corpora, expected",
    [
        ([made("turn")], 0.1),
        ([made("turn", known=50)], 0.2),
        ([made("session")], (0.5 + 29 / 38 + 17 / 19) / 3),
    ],
)
def test_perfect_answers_score_one_and_chance_scores_chance(
    corpora: list[Corpus], expected: float
) -> None:
    found = retrieval.guard(corpora)
    assert (found.perfect, found.reach) == (1, 1)
    assert found.chance == pytest.approx(found.expected, abs=0.04)
    assert found.expected == pytest.approx(expected)


def test_the_guard_holds_on_what_ships() -> None:
    found = retrieval.guard(layouts.load(SHIPPED))
    assert found.perfect == found.reach == 1
    assert 0.04 < found.chance < 0.1


def test_the_guard_notices_a_perfect_retriever_that_fails() -> None:
    with pytest.raises(AssertionError, match="perfect"):
        retrieval.guard([made("turn")], best=lambda one: baselines.chance(one, 1))


def test_the_guard_notices_chance_that_is_none() -> None:
    with pytest.raises(AssertionError, match="chance scores"):
        retrieval.guard([made("turn")], guess=lambda one, _: baselines.perfect(one))


# -- figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ranking, expected",
    [
        (["a", "b"], (1, 1, 1, 1, 1, 1)),
        (["x", "a"], (0.5, 0.5, 0.5, 1, 1, 0.5)),
        (["x"] * 6 + ["b"], (0, 0.5, 0.5, 0, 1, 1 / 7)),
        (["x"] * 10 + ["a", "b"], (0, 0, 1, 0, 0, 0)),
        ([], (0, 0, 0, 0, 0, 0)),
    ],
)
def test_figures_of_a_ranking_of_turns(ranking: list[str], expected: tuple[float, ...]) -> None:
    found = tuple(one.of(ranking, frozenset("ab")) for one in measures.TURN.values())
    assert found == expected


def test_sessions_rank_by_their_best_message() -> None:
    corpus = made("turn")
    question = Question("?", "c", frozenset({"m07", "m99"}))
    ranking = ["m00", "m01", "m05", "m40", *(f"m{n}" for n in range(50, 96, 5))]
    found = measures.score(corpus, question, ranking)
    assert corpus.in_sessions(ranking[:4]) == ["s0", "s1", "s8"]
    assert (found["hit@10"], found["any@5"], found["any@10"], found["all@10"]) == (0, 1, 1, 0)
    assert measures.score(corpus, question, ["m95", *ranking])["all@10"] == 1


def test_the_interval_is_seeded_and_holds_the_mean() -> None:
    values = [0.0, 1.0, 1.0, 0.5, 0.0] * 20
    found = measures.figure(values)
    assert found.low < found.mean == 0.5 < found.high
    assert found == measures.figure(values)
    assert measures.figure([1.0] * 10) == measures.Figure(1, 1, 1)
    assert measures.figure([]) == measures.Figure(0, 0, 0)


def test_five_conversations_are_held_out_one_by_one() -> None:
    found = retrieval.parts([made("turn", name) for name in "abcde"])
    assert [one.name for one in found] == list("abcde")
    assert [len(one.held_out) for one in found] == [60] * 5


def test_fewer_are_parted_by_their_questions_those_of_one_evidence_together() -> None:
    corpus = made("turn")
    found = retrieval.parts([corpus])
    assert [one.name for one in found] == [f"fold {n}" for n in range(1, 6)]
    assert sorted(pair for one in found for pair in one.held_out) == [(0, n) for n in range(60)]
    assert max(len(one.held_out) for one in found) <= 16
    folds = [{corpus.questions[q].evidence for _, q in one.held_out} for one in found]
    assert sum(map(len, folds)) == len(set().union(*folds))


# -- baselines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ranker, asked, found",
    [
        (baselines.porter, "planting a tree", ["b"]),
        (baselines.bigram, "那只风筝吗", ["c"]),
        (baselines.porter, "风筝", []),
    ],
)
def test_plain_indexes(
    ranker: Callable[[dict[str, str]], baselines.Ranker], asked: str, found: list[str]
) -> None:
    texts = {
        "a": "nothing here",
        "b": "She plants trees",
        "c": "买了红色的风筝",
        "d": "x",
        "e": "y",
    }
    assert ranker(texts)(asked) == found
    assert ranker(texts)('"?! OR (') == ranker(texts)("OR")


def test_vectors_alone_and_fused_with_words() -> None:
    texts = {"a": "a stone", "b": "the river and the stone", "c": "wood"}
    questions = (
        Question("a lamp by the river", "c", frozenset("b")),
        Question("the stone", "c", frozenset("a"), known=1),
    )
    sessions = dict.fromkeys(texts, "s")
    corpus = Corpus("made-up", "one", "one.jsonl", b"", texts, sessions, questions)
    told: list[tuple[str, int, int]] = []
    found = baselines.baselines(corpus, Kinds(), lambda *one: told.append(one))
    assert list(found) == ["FTS5 porter unicode61", "dense", "RRF(60) of both"]
    assert found["dense"](questions[0])[0] == "b"
    assert found["RRF(60) of both"](questions[0])[0] == "b"
    assert [one(questions[1]) for one in found.values()] == [["a"]] * 3
    assert told == [("embedding", 3, 3)]


def test_the_language_decides_how_words_are_cut() -> None:
    assert baselines.chinese({"a": "他在 Nomad 上部署"})
    assert not baselines.chinese({"a": "They deploy on 星期二 with Nomad"})


# -- the engine -----------------------------------------------------------------------------------


def test_the_engine_is_between_chance_and_perfect_on_what_ships() -> None:
    corpora = [one for one in layouts.load(SHIPPED) if one.name == "zh-1"]
    told: list[tuple[str, int, int]] = []
    found = retrieval.run(corpora, progress=lambda *one: told.append(one))
    (section,) = found.sections
    ours, plain = section.systems.values()
    assert list(section.systems) == ["memstrata", "FTS5 character bigrams"]
    chance = found.guard.chance
    assert chance + 0.2 < plain.figures["recall@10"].mean < 0.6  # pairs alone are not enough
    assert plain.figures["recall@10"].mean - 0.05 <= ours.figures["recall@10"].mean < 1
    for line in (ours, plain):
        recalls = [line.figures[f"recall@{k}"].mean for k in (5, 10, 20)]
        assert recalls == sorted(recalls)
        assert line.figures["all@10"].mean <= line.figures["any@10"].mean
        assert line.figures["any@5"].mean <= line.figures["any@10"].mean
    assert sum(row.questions for row in section.parts) == 60
    assert sum(row.questions for row in section.categories) == 60
    assert (section.checks.messages, section.checks.again, section.checks.lost) == (217, 0, [])
    assert told[-1] == ("measuring", 120, 120)


def test_a_question_finds_nothing_that_was_said_after_it() -> None:
    texts = {f"m{n}": f"The kayak is {one}." for n, one in enumerate(("red", "old", "sold"))}
    lines = [
        json.dumps({"session": id, "id": id, "role": "user", "content": text})
        for id, text in texts.items()
    ]
    corpus = Corpus(
        "made-up",
        "one",
        "one.jsonl",
        "\n".join(lines).encode(),
        texts,
        {id: id for id in texts},
        tuple(Question("Which kayak?", "c", frozenset({"m0"}), known) for known in (3, 1, 2)),
        level="session",
    )
    asked = engine.ask(corpus, engine.systems(corpus, {}), lambda *_: None, lambda: None)
    found = [sorted(one) for one in asked.rankings[engine.OURS]]
    assert found == [["m0", "m1", "m2"], ["m0"], ["m0", "m1"]]


def test_what_stands_for_itself_is_kept_as_memories_and_as_messages() -> None:
    texts = {"a": "Otto bought a red kayak.", "b": "My key is sk-proj-" + "a1B2" * 12, "c": "Rain."}
    lines = [
        json.dumps({"session": id, "id": id, "role": "user", "content": text})
        for id, text in texts.items()
    ]
    corpus = Corpus(
        "made-up",
        "one",
        "one.jsonl",
        "\n".join(lines).encode(),
        texts,
        {id: id for id in texts},
        (Question("Who has a kayak?", "c", frozenset("a")),),
        atomic=True,
    )
    found = retrieval.run([corpus], switches=["classic"])
    (section,) = found.sections
    assert list(section.systems) == [
        "memstrata",
        "memstrata as messages",
        "memstrata classic",
        "FTS5 porter unicode61",
    ]
    assert all(one.figures["recall@10"].mean == 1 for one in section.systems.values())
    assert (section.checks.messages, section.checks.refused) == (3, 1)
    text = report.markdown(found)
    assert "- memstrata classic: `search.profile = 'classic'`" in text
    assert "texts that a gate refused to keep as memories: 1" in text


def test_a_switch_has_settings_that_there_are() -> None:
    from memstrata.bench.switches import SWITCHES
    from memstrata.settings import KEYS

    assert {key for one in SWITCHES.values() for key in one} <= set(KEYS)
    assert retrieval.switched(["all"]) == dict(SWITCHES)
    assert list(retrieval.switched(["classic"])) == ["classic"]
    with pytest.raises(Invalid, match="'fast' is no switch; use one of all, classic"):
        retrieval.switched(["fast"])


def test_systems_share_a_home_unless_their_vectors_differ() -> None:
    def system(**settings: object) -> engine.System:
        named = {key.replace("__", "."): one for key, one in settings.items()}
        return engine.System("x", named)

    same = {system().embedder, system(search__profile="classic").embedder}
    assert len(same) == 1
    assert system(embedding__model="none").embedder not in same


def test_old_notes_stay(tmp_path: Path) -> None:
    out = tmp_path / "r.md"
    out.write_text("# Old\n\n## Tried and dropped\n\nwhat we learnt\n")
    report.write(out, "# New\n")
    assert out.read_text() == "# New\n\n## Tried and dropped\n\nwhat we learnt\n"
