"""Which removed line became which added one."""

from __future__ import annotations

import pytest

from memstrata.domain.team_document.edits import Edits, edits
from memstrata.domain.team_document.grammar import parse
from memstrata.domain.team_document.units import units


def found(removed: str, added: str, *, careful: bool = False) -> Edits:
    """The edits between the lines of two documents."""
    return edits(units(parse(removed)), units(parse(added)), lambda _: careful)


def pairs(removed: str, added: str, *, careful: bool = False) -> list[tuple[str, str]]:
    """Their texts."""
    return [
        (old.text, new.text) for old, new in found(removed, added, careful=careful).pairs.items()
    ]


OLD = "## A\n- 2025-09-01: red cache holds a day"


@pytest.mark.parametrize(
    "added, what",
    [
        ("## B\n- 2025-09-09: Red  cache holds a DAY", "red cache holds a day"),
        ("## A\n- 2025-09-09: red cache holds two weeks", "red cache holds two weeks"),
        ("## A\nred cache holds a day or two", "red cache holds a day or two"),
        ("## A\n- 2025-09-01: other", "other"),
    ],
)
def test_what_is_an_edit(added: str, what: str) -> None:
    assert pairs(OLD, added) == [("red cache holds a day", what)]


@pytest.mark.parametrize(
    "added",
    [
        "## A\n- 2025-09-02: other",
        "## A\n- 2025-09-02: red sails",
        "## B\n- 2025-09-01: red cache holds two weeks",
        "## A\nother",
    ],
)
def test_what_is_none(added: str) -> None:
    assert pairs(OLD, added) == []


def test_raw_lines_share_no_day() -> None:
    assert pairs("## A\none", "## A\nother") == []


def test_half_of_the_words_are_enough_and_less_is_not() -> None:
    assert pairs("## A\nred cache", "## A\nred sails") == [("red cache", "red sails")]
    assert pairs("## A\nred cache", "## A\nred paper sails") == []


def test_the_nearest_goes_first_and_of_equals_the_first() -> None:
    removed = "## A\nalpha beta gamma\nalpha beta gamma delta"
    assert pairs(removed, "## A\nalpha beta gamma delta epsilon\nalpha beta zeta") == [
        ("alpha beta gamma delta", "alpha beta gamma delta epsilon"),
        ("alpha beta gamma", "alpha beta zeta"),
    ]
    many = "## A\n" + "\n".join(f"alpha beta {word}" for word in ("one", "two", "three", "four"))
    assert pairs("## A\nalpha beta gamma", many) == [("alpha beta gamma", "alpha beta one")]


def test_a_line_to_be_careful_with_is_only_replaced_by_one_that_says_as_much() -> None:
    assert pairs(OLD, "## A\n- 2025-09-01: blue cache holds a day", careful=True) == []
    assert pairs(OLD, "## A\n- 2025-09-01: other", careful=True) == []
    assert len(pairs(OLD, "## A\n- 2025-09-09: the red cache holds a day", careful=True)) == 1
    assert len(pairs(OLD, "## B\n- 2025-09-09: red cache holds a day", careful=True)) == 1


def test_what_only_shares_the_day_is_told_apart() -> None:
    weak = found(OLD, "## A\n- 2025-09-01: other").weak
    assert [key.text for key in weak] == ["red cache holds a day"]
    assert found(OLD, "## A\n- 2025-09-01: red cache holds").weak == frozenset()
