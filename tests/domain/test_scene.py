"""Scenes: their files, names and summaries; and how they grow without a model."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.domain.build import NOW, memory

from memstrata.domain import grouping, scene
from memstrata.domain.cited import Piece, Section
from memstrata.domain.memory import EPOCH, Memory
from memstrata.domain.scene import Limits, Scene
from memstrata.errors import Corrupt

LATER = NOW + timedelta(hours=1)
LIMITS = Limits()


def held(number: int, description: str = "", **fields: object) -> Memory:
    text = description or f"Knows thing number {number}"
    return memory(f"mem_{number:03}", name=text, description=text, **fields)


def grown(
    scenes: tuple[Scene, ...],
    *memories: Memory,
    known: tuple[Memory, ...] = (),
    limits: Limits = LIMITS,
) -> tuple[Scene, ...]:
    every = {one.id: one for one in (*known, *memories)}
    return grouping.grown(scenes, memories, every, now=LATER, limits=limits).scenes


# -- files ------------------------------------------------------------------------------------------


def test_a_scene_is_read_back_from_its_file() -> None:
    one = Scene(
        "work", (Section("Facts", (Piece("Works", ("mem_1",)),)),), NOW, LATER, 3, "Where they work"
    )
    text = scene.render(one)
    assert text.startswith("---\ncreated: 2026-03-14T09:30:00.000000Z\n")
    assert scene.parse(text.encode(), "work.md", "work") == one


@pytest.mark.parametrize(
    "data", [b"just words", b"", b"---\nheat: many\ncreated: once\n---\nwords"]
)
def test_a_file_that_a_person_made_needs_no_head(data: bytes) -> None:
    one = scene.parse(data, "x.md", "x")
    assert (one.heat, one.created) == (1, EPOCH)
    assert all(piece.kept for piece in one.pieces)


def test_a_file_that_is_no_text_is_corrupt() -> None:
    with pytest.raises(Corrupt):
        scene.parse(b"\xff", "x.md", "x")


@pytest.mark.promise("scene.names")
@pytest.mark.parametrize(
    "name, good",
    [
        ("work", True),
        ("工作-2.b_c", True),
        ("", False),
        ("..", False),
        ("../x", False),
        ("a/b", False),
        (".hidden", False),
        ("a b", False),
        ("x" * 65, False),
        ("a\0", False),
    ],
)
def test_names(name: str, good: bool) -> None:
    assert (scene.name_problem(name) == "") is good


def test_a_name_made_of_words_is_one() -> None:
    for words in (
        "Helping Mira move the billing worker",
        "../../etc",
        "搬家到杭州",
        "💥",
        "x" * 200,
    ):
        assert scene.name_problem(scene.name_of(words)) == "", words
    assert scene.free_name("work", ["Work", "work-2"]) == "work-3"


def test_a_summary_has_at_most_forty_words() -> None:
    assert scene.words("one two 三四") == 3
    long = " ".join(f"word{n}" for n in range(90))
    assert scene.words(scene.shortened(long)) <= scene.SUMMARY_WORDS
    assert scene.words(scene.shortened("说" * 400)) <= scene.SUMMARY_WORDS + 1
    assert scene.shortened("short") == "short"


def test_a_summary_that_nothing_bears_out_is_made_of_the_paragraphs() -> None:
    one = Scene("x", (Section("", (Piece("Prefers mint tea", ("mem_1",)),)),))
    assert scene.told(replace(one, summary="Wants to conquer the moon")) == "Prefers mint tea"
    assert scene.told(replace(one, summary="Likes mint tea")) == "Likes mint tea"


# -- without a model --------------------------------------------------------------------------------


@pytest.mark.promise("scene.without-model")
def test_memories_are_grouped_by_scene_name_and_shared_entities() -> None:
    found = grown(
        (),
        held(1, "Moves the worker to the new queue", scene="moving the billing worker"),
        held(2, "Owns the billing worker", scene="moving the billing worker"),
        held(3, "Met Odile in Graz", entities=("Odile",), type="episodic"),
        held(4, "Odile keeps the spare key", entities=("Odile",)),
        held(5, "Prefers mint tea"),
        held(6, "Answer in short sentences", type="feedback"),
        held(7, "住在杭州"),
    )
    assert {one.name: one.cites for one in found} == {
        "moving-the-billing-worker": ["mem_001", "mem_002"],
        "odile": ["mem_003", "mem_004"],
        "about-the-person": ["mem_005"],
        "how-to-work": ["mem_006"],
        "关于本人": ["mem_007"],
    }
    texts = {piece.text for one in found for piece in one.pieces}
    assert "Prefers mint tea" in texts, "no prose is invented"


@pytest.mark.promise("scene.heat")
def test_heat_is_counted() -> None:
    (first,) = grown((), held(1))
    assert (first.heat, first.created, first.updated) == (1, LATER, LATER)
    (second,) = grown((first,), held(2), known=(held(1),))
    assert second.heat == 2
    assert grown((second,), known=(held(1), held(2))) == (second,), "nothing new, nothing warmer"


def test_a_merge_sums_the_heat() -> None:
    def one(number: int, text: str, heat: int) -> Scene:
        return Scene(
            f"s{number}", (Section("", (Piece(text, (f"mem_{number:03}",)),)),), NOW, NOW, heat
        )

    scenes = (
        one(1, "tea with mint leaves", 4),
        one(2, "tea with mint sugar", 3),
        one(3, "bridges", 9),
    )
    known = tuple(held(number) for number in (1, 2, 3))
    found = grown(scenes, known=known, limits=Limits(most=3, prefer=1))
    assert {scene.name: scene.heat for scene in found} == {"s1": 8, "s3": 9}


def test_a_changed_memory_is_told_in_its_place() -> None:
    (first,) = grown((), held(1), held(2))
    (second,) = grown((first,), held(1, "Says it otherwise"), known=(held(2),))
    assert [one.text for one in second.pieces] == ["Says it otherwise", "Knows thing number 2"]


@pytest.mark.promise("scene.cap")
def test_many_memories_make_few_scenes_of_bounded_length() -> None:
    memories = [
        held(n, f"Fact {n} about place{n % 40} " + "and more " * 8, entities=(f"Place{n % 40}",))
        for n in range(400)
    ]
    found = grown((), *memories)
    assert len(found) <= 14
    assert all(len(scene.render(one)) <= 1_500 for one in found)
    assert all(scene.name_problem(one.name) == "" for one in found)
    assert all(piece.cites for one in found for piece in one.pieces)


def test_what_matters_more_keeps_its_room() -> None:
    rule = held(0, "Never deploy on Fridays", type="feedback", priority=-1)
    others = [
        held(n, f"Answer number {n} " + "in so many words " * 8, type="feedback")
        for n in range(1, 60)
    ]
    found = grown((), rule, *others, limits=Limits(most=2, prefer=1))
    assert "mem_000" in {id for one in found for id in one.cites}


@pytest.mark.promise("scene.hand-edit")
def test_what_a_person_wrote_stays_and_what_they_took_out_stays_out() -> None:
    mine = Piece("My own words about mem_001", ("mem_001",), locked=True)
    kept = Scene(
        "about-the-person", (Section("Notes", (mine, Piece("free words"))),), NOW, NOW, 1, "s"
    )
    (found,) = grown((kept,), held(1, "Says it otherwise"), held(2))
    assert mine in found.pieces
    assert Piece("free words") in found.pieces
    assert found.cites == ["mem_002", "mem_001"]
