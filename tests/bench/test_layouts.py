"""Data sets are read as they are published; what is no data set is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.bench.conftest import SHIPPED

from memstrata import Invalid
from memstrata.bench import layouts


def test_locomo_evidence_is_read_as_it_is_written(folder: Path) -> None:
    (corpus,) = layouts.load(folder)
    assert [sorted(one.evidence) for one in corpus.questions] == [
        ["conv-x:D1:1"],
        ["conv-x:D2:1", "conv-x:D2:2"],
        ["conv-x:D2:2"],
    ]
    assert {one.category for one in corpus.questions} == {"1 multi-hop", "4 single-hop"}
    assert (corpus.collection, corpus.name, corpus.level) == ("tiny", "conv-x", "turn")
    assert corpus.sessions["conv-x:D2:1"] == "conv-x-session_2"


def test_madial_memories_are_asked_for_with_what_was_said_so_far(tmp_path: Path) -> None:
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
    (tmp_path / "a-memory.jsonl").write_text(json.dumps(memory))
    (tmp_path / "a-dialogue.jsonl").write_text(json.dumps(dialogue))
    (corpus,) = layouts.load(tmp_path)
    assert [(one.text, one.category) for one in corpus.questions] == [
        ("去哪", "last line"),
        ("天气真好\n去哪", "user's lines so far"),
        ("天气真好\n是啊\n去哪", "all lines so far"),
    ]
    assert {one.evidence for one in corpus.questions} == {frozenset("7")}
    assert corpus.atomic


def test_realmem_questions_know_earlier_sessions_alone(tmp_path: Path) -> None:
    def session(id: str, *turns: dict[str, object]) -> dict[str, object]:
        day = "2025-12-15 (Monday)"
        return {"session_uuid": id, "current_time": day, "dialogue_turns": turns}

    def turn(speaker: str, content: str, **more: object) -> dict[str, object]:
        return {"speaker": speaker, "content": content, "is_query": False, **more}

    query = {"is_query": True, "category_name": "Updating"}
    dialogues = [
        session("s1", turn("User", "I swim on Mondays."), turn("Assistant", "Noted.")),
        session(
            "s2",
            turn("User", "Hello."),
            turn("Assistant", "Hello!"),
            turn("User", "When do I swim?", **query),
            turn("Assistant", "On Mondays.", memory_session_uuids=["s1", "s3"]),
        ),
        session("s3", turn("User", "And on Fridays.", **query), turn("Assistant", "Good.")),
    ]
    document = {"_metadata": {"person_name": "Ines"}, "dialogues": dialogues}
    file = tmp_path / "ines.json"
    file.write_text(json.dumps(document))
    (corpus,) = layouts.load(file)
    (question,) = corpus.questions
    assert (question.text, question.category, question.known) == ("When do I swim?", "Updating", 2)
    assert question.evidence == frozenset({"s1"})
    assert corpus.known(question) == ["s1:1", "s1:2"]
    assert len(corpus.texts) == 8
    ((data, due),) = corpus.stages()
    assert ([json.loads(line)["id"] for line in data.split(b"\n")], list(due)) == (
        ["s1:1", "s1:2"],
        [0],
    )


@pytest.mark.parametrize("several", [False, True])
def test_longmemeval_with_one_question_or_several(tmp_path: Path, several: bool) -> None:
    sample: dict[str, object] = {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "Which kayak?",
        "answer_session_ids": ["b"],
        "haystack_session_ids": ["a", "b"],
        "haystack_dates": ["2023/07/12 (Wed) 10:14", "2023/08/02 (Wed) 05:58"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " "}],
            [{"role": "user", "content": "I bought a red kayak.", "has_answer": True}],
        ],
    }
    if several:
        sample |= {"questions": ["Which kayak?", "What was said first?"]}
        sample |= {"answer_session_ids": [["b"], ["a"]]}
    unanswered = {**sample, "question_id": "q2_abs"}
    (tmp_path / "lme.json").write_text(json.dumps([sample, unanswered]))
    (corpus,) = layouts.load(tmp_path / "lme.json")
    found = [(one.text, one.category, sorted(one.evidence)) for one in corpus.questions]
    added = [("What was said first?", "added", ["a"])] if several else []
    assert found == [("Which kayak?", "multi-session", ["b"]), *added]
    assert corpus.texts == {"a:1": "Hello", "b:1": "I bought a red kayak."}
    assert json.loads(corpus.data.split(b"\n")[1])["said_at"] == "2023-08-02T05:58"


def test_what_ships_has_what_its_readme_says() -> None:
    corpora = {one.name: one for one in layouts.load(SHIPPED)}
    sizes = {name: (len(one.texts), len(one.questions)) for name, one in corpora.items()}
    assert sizes == {"zh-1": (217, 60), "en-1": (79, 25)}
    readme = (SHIPPED / "README.md").read_text("utf-8")
    for category in ("1 multi-hop", "2 temporal", "3 open-domain", "4 single-hop", "5 adversarial"):
        counts = [
            sum(one.category == category for one in corpora[name].questions)
            for name in ("zh-1", "en-1")
        ]
        (row,) = [line for line in readme.splitlines() if line.startswith(f"| {category[0]} |")]
        assert row.endswith(f"| {counts[0]} | {counts[1]} |")
    several = [one for one in corpora["zh-1"].questions if one.category == "1 multi-hop"]
    assert {len(one.evidence) for one in several} == {2, 3}


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"there is nothing at .*nowhere"):
        layouts.load(tmp_path / "nowhere")
    with pytest.raises(Invalid, match="holds no data of LoCoMo"):
        layouts.load(tmp_path)


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.json", "{"),
        ("a.json", '[{"conversation": {"session_1": [{"text": "no id"}]}, "qa": []}]'),
        ("a.json", '{"dialogues": [{"session_uuid": "s"}]}'),
        ("a-dialogue.jsonl", "{}"),
    ],
)
def test_a_file_that_breaks_off_its_layout_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(Invalid, match=rf"{name} cannot be read"):
        layouts.load(tmp_path)


def test_data_without_a_question_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"conversation": {"speaker_a": "Ines"}, "qa": []}]')
    with pytest.raises(Invalid, match="holds no data"):
        layouts.load(tmp_path)
