"""The persona: its layers, its length, what a person locks, and what of a model's lines is borne out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.domain.build import NOW, memory

from memstrata.domain import persona
from memstrata.domain.cited import Piece, Section
from memstrata.domain.memory import Memory
from memstrata.domain.persona import Persona
from memstrata.errors import Corrupt, Invalid

LATER = NOW + timedelta(hours=1)


def held(number: int, description: str, **fields: object) -> Memory:
    return memory(f"mem_{number:03}", name=description, description=description, **fields)


MEMORIES = (
    held(1, "Works at Brightwater"),
    held(2, "Prefers mint tea"),
    held(3, "Answer in short sentences", type="feedback"),
    held(4, "Decides by writing the options down"),
    held(5, "Broke a leg in May", type="episodic", priority=90),
    held(6, "Saw a film", type="episodic", priority=60),
    held(7, "The manual is on the shelf", type="reference"),
)


@pytest.mark.promise("persona.layers")
def test_the_layers_stand_in_their_order() -> None:
    found = persona.told(MEMORIES, Persona(), now=LATER, most=2_000)
    assert [(one.title, [piece.text for piece in one.pieces]) for one in found.sections] == [
        ("Base facts", ["Works at Brightwater", "Broke a leg in May"]),
        ("Interests", ["Prefers mint tea"]),
        ("How to work together", ["Answer in short sentences"]),
        ("How they decide", ["Decides by writing the options down"]),
    ]
    assert persona.parse(persona.render(found).encode(), "persona.md") == found


def test_chinese_memories_make_a_chinese_persona() -> None:
    found = persona.told(
        [held(1, "住在杭州"), held(2, "喜欢爬山")], Persona(), now=LATER, most=2_000
    )
    assert [one.title for one in found.sections] == ["基本情况", "兴趣"]


@pytest.mark.promise("persona.size")
@pytest.mark.parametrize("most", [300, 800, 2_000])
def test_it_is_never_longer_than_it_may_be_and_rules_have_room_first(most: int) -> None:
    many = [held(n, f"Knows a thing called number {n} very well") for n in range(200)]
    rule = held(999, "Never deploy on Fridays", type="feedback", priority=-1)
    found = persona.told([*many, rule], Persona(), now=LATER, most=most)
    assert len(persona.render(found)) <= most
    assert "mem_999" in found.cites
    assert all(one.cites for one in found.lines)


@pytest.mark.promise("persona.locked")
def test_locked_lines_survive() -> None:
    mine = Piece("Call me Captain", (), locked=True)
    odd = Piece("Plays the harp", ("mem_001",), locked=True)
    before = Persona((Section("Base facts", (mine,)), Section("Secrets", (odd,))), NOW)
    found = persona.told(MEMORIES, before, now=LATER, most=2_000)
    assert mine in found.lines
    assert odd in found.lines
    assert found.sections[-1].title == "Secrets"


def test_nothing_new_leaves_it_as_it_is() -> None:
    first = persona.told(MEMORIES, Persona(), now=NOW, most=2_000)
    assert persona.told(MEMORIES, first, now=LATER, most=2_000) == first


@pytest.mark.promise("persona.citations")
def test_sentences_that_nothing_bears_out_are_dropped_and_counted() -> None:
    known = {one.id: one for one in MEMORIES}
    lines = [
        ("facts", Piece("Works at Brightwater. Owns three yachts.", ("mem_001",))),
        ("interests", Piece("Starts the day with mint tea", ("mem_001", "scene:tea"))),
        ("protocol", Piece("Wants long poems", ("mem_003",))),
        ("decisions", Piece("Decides by writing options down", ())),
    ]
    found = persona.checked(lines, known, {"tea": ["mem_002"]})  # type: ignore[arg-type]
    assert [piece for _, piece in found.lines] == [
        Piece("Works at Brightwater.", ("mem_001",)),
        Piece("Starts the day with mint tea", ("scene:tea",)),
    ]
    assert found.dropped == 3


def test_a_line_is_locked_by_its_number() -> None:
    found = persona.told(MEMORIES, Persona(), now=NOW, most=2_000)
    locked = persona.locking(found, 2)
    assert [one.locked for one in locked.lines] == [False, True, False, False, False]
    assert persona.locking(locked, 2, lock=False) == found
    for number in (0, 6):
        with pytest.raises(Invalid, match="none of the 5 lines"):
            persona.locking(found, number)


def test_a_file_that_is_no_text_is_corrupt() -> None:
    with pytest.raises(Corrupt):
        persona.parse(b"\xff", "persona.md")
