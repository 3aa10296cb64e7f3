"""The copy that a model works on: what it may do, and what of it is taken over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.domain.build import NOW, memory

from memstrata.domain.cited import Piece, Section
from memstrata.domain.memory import Memory
from memstrata.domain.scene import Limits, Scene
from memstrata.domain.staging import Copy, Misdeed, Operation, ShortIds, Sound

LATER = NOW + timedelta(hours=1)
TEA = memory("mem_tea", name="drink", description="Prefers mint tea")
WORK = memory(
    "mem_work", name="employer", description="Works at Brightwater", entities=("Brightwater",)
)
HOME = memory("mem_home", name="home", description="Lives in Lyon near the river")
KNOWN = {one.id: one for one in (TEA, WORK, HOME)}
DRINKS = Scene(
    "drinks", (Section("", (Piece("Prefers mint tea", ("mem_tea",)),)),), NOW, NOW, 2, "tea"
)
PLACES = Scene(
    "places",
    (Section("", (Piece("Lives in Lyon near the river", ("mem_home",)),)),),
    NOW,
    NOW,
    3,
    "Lyon",
)


def file(*paragraphs: str, summary: str = "What is known of mint tea and Brightwater") -> str:
    body = "\n\n".join(paragraphs)
    return f"---\nsummary: {summary}\n---\n\n{body}\n"


def write(name: str, *paragraphs: str) -> Operation:
    return Operation("write", name, file(*paragraphs))


def result(
    *operations: Operation,
    before: Sequence[Scene] = (DRINKS,),
    known: dict[str, Memory] = KNOWN,
) -> Sound | Misdeed:
    copy = Copy(before, ShortIds(known), Limits())
    for one in operations:
        answer = copy.do(one)
        if isinstance(answer, Misdeed):
            return answer
    return copy.checked(before, known, LATER)


def scenes(found: Sound | Misdeed) -> dict[str, Scene]:
    assert isinstance(found, Sound), found
    return {one.name: one for one in found.scenes}


def test_files_are_listed_read_written_edited_and_deleted() -> None:
    copy = Copy((DRINKS,), ShortIds(KNOWN), Limits())
    assert copy.do(Operation("list")) == "drinks"
    read = copy.do(Operation("read", "drinks.md"))
    assert isinstance(read, str)
    assert "Prefers mint tea <!-- k1 -->" in read
    assert copy.do(Operation("read", "other")) == "no such file"
    assert "changed" in str(copy.do(Operation("edit", "drinks", old="mint tea", new="green tea")))
    assert "0 times" in str(copy.do(Operation("edit", "drinks", old="mint tea", new="x")))
    assert "no memory is shown as k9" in str(copy.do(write("x", "words <!-- k9 -->")))
    assert copy.do(Operation("delete", "x")) == "deleted"


@pytest.mark.promise("scene.heat")
def test_the_head_is_the_codes_not_the_models() -> None:
    text = file("Prefers mint tea in the garden <!-- k1 -->").replace(
        "---\nsummary", "---\nheat: 900\ncreated: 1999-01-01T00:00:00Z\nsummary", 1
    )
    found = scenes(
        result(
            Operation("write", "drinks", text), write("work", "Works at Brightwater <!-- k2 -->")
        )
    )
    assert (found["drinks"].heat, found["drinks"].created, found["drinks"].updated) == (
        3,
        NOW,
        LATER,
    )
    assert (found["work"].heat, found["work"].created) == (1, LATER)


@pytest.mark.promise("scene.heat")
def test_a_merge_sums_the_heat() -> None:
    merged = write(
        "drinks", "Prefers mint tea <!-- k1 -->", "Lives in Lyon near the river <!-- k3 -->"
    )
    found = scenes(result(merged, Operation("delete", "places"), before=(DRINKS, PLACES)))
    assert {one.name: one.heat for one in found.values()} == {"drinks": 2 + 1 + 3}


def test_what_is_not_touched_is_the_same_scene() -> None:
    assert scenes(result(write("work", "Works at Brightwater <!-- k2 -->")))["drinks"] is DRINKS


@pytest.mark.promise("scene.support")
def test_paragraphs_that_nothing_bears_out_are_dropped_and_counted() -> None:
    found = result(
        write(
            "drinks",
            "Prefers mint tea <!-- k1 -->",
            "Owns three yachts <!-- k1 -->",
            "No source at all",
            "Works at Brightwater, and likes it <!-- k1, k2 -->",
        )
    )
    assert scenes(found)["drinks"].pieces == [
        Piece("Prefers mint tea", ("mem_tea",)),
        Piece("Works at Brightwater, and likes it", ("mem_work",)),
    ]
    assert isinstance(found, Sound)
    assert found.dropped == 2


def test_only_the_headings_there_are_may_be_used() -> None:
    found = scenes(
        result(
            write(
                "drinks",
                "## Facts",
                "Prefers mint tea <!-- k1 -->",
                "## A liar",
                "Prefers mint tea most <!-- k1 -->",
            )
        )
    )
    assert [one.title for one in found["drinks"].sections] == ["", "Facts"]


@pytest.mark.promise("scene.hand-edit")
def test_a_persons_paragraph_is_put_back() -> None:
    mine = Piece("I hate coffee, write that down", (), locked=True)
    held = replace(DRINKS, sections=(Section("", (mine, *DRINKS.pieces)),))
    found = scenes(
        result(write("drinks", "Prefers mint tea, she says <!-- k1 -->"), before=(held,))
    )
    assert found["drinks"].pieces[0] == mine
    gone = scenes(
        result(
            write("work", "Prefers mint tea <!-- k1 -->"),
            Operation("delete", "drinks"),
            before=(held,),
        )
    )
    assert gone["drinks"].pieces == [mine]


MANY = [
    replace(
        DRINKS, name=f"s{n}", sections=(Section("", (Piece("Prefers mint tea", ("mem_tea",)),)),)
    )
    for n in range(14)
]


@pytest.mark.promise("scene.bad-model")
@pytest.mark.parametrize(
    "operations, reason",
    [
        ([Operation("write", "../x", file("Prefers mint tea <!-- k1 -->"))], "has letters, digits"),
        ([Operation("read", "/etc/passwd")], "has letters, digits"),
        ([Operation("delete", "..")], "begins with no dot"),
        (
            [write(f"f{n}", "Prefers mint tea <!-- k1 -->") for n in range(40)],
            "41 scenes, at most 15",
        ),
        ([Operation("delete", "drinks")], "1 of 1 memories would be told of no more"),
        (
            [write("drinks", "Owns three yachts <!-- k1 -->")],
            "1 of 1 memories would be told of no more",
        ),
        (
            [write("work", "Works at Brightwater <!-- k77 -->")],
            "cites 'k77', which it was not shown",
        ),
        ([write("work", "Works at Brightwater <!-- mem_work -->")], "which it was not shown"),
        ([Operation("write", "work", "Works at Brightwater <!-- k2 -->")], "no META head"),
        (
            [write("work", *["Works at Brightwater a lot, really <!-- k2 -->"] * 60)],
            "characters, at most 1,500",
        ),
        ([write("Drinks", "Prefers mint tea <!-- k1 -->")], "but for the case of letters"),
    ],
)
def test_anything_else_that_is_wrong_takes_nothing_over(
    operations: list[Operation], reason: str
) -> None:
    found = result(*operations)
    assert isinstance(found, Misdeed)
    assert reason in found.reason


@pytest.mark.promise("scene.cap")
def test_at_fourteen_none_is_made_and_at_fifteen_some_must_merge() -> None:
    more = write("more", "Works at Brightwater <!-- k2 -->")
    assert isinstance(result(more, before=MANY[:13]), Sound)
    made = result(more, before=MANY)
    assert made == Misdeed("a scene was made although there were 14 already")
    fifteen = [*MANY, replace(DRINKS, name="s14")]
    again = write("s0", "Works at Brightwater <!-- k2 -->", "Prefers mint tea <!-- k1 -->")
    assert isinstance(result(again, before=fifteen), Misdeed)
    assert isinstance(result(again, Operation("delete", "s14"), before=fifteen), Sound)
