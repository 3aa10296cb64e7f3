"""The two sides of a conflict-marked text."""

from __future__ import annotations

import pytest

from memstrata.domain.sides import side

TEXT = """\
---
id: mem_1
<<<<<<< HEAD
description: Ours
||||||| 1a2b3c
description: Base
=======
description: Theirs
>>>>>>> branch
---
Heading
=======
more
<<<<<<< HEAD
a
=======
b
>>>>>>> branch
"""


def test_each_side_is_whole_and_the_base_is_neither() -> None:
    ours, theirs = side(TEXT, "ours"), side(TEXT, "theirs")
    assert ours == "---\nid: mem_1\ndescription: Ours\n---\nHeading\n=======\nmore\na\n"
    assert theirs == "---\nid: mem_1\ndescription: Theirs\n---\nHeading\n=======\nmore\nb\n"


@pytest.mark.parametrize(
    "text",
    ["", "plain", "a\n=======\nb\n>>>>>>> c\n", "<<<<<<< a\nb\n=======\nc\n", "<<<<<<<< a\n"],
)
def test_no_conflict_or_half_of_one_has_no_sides(text: str) -> None:
    assert side(text, "ours") is None


def test_windows_line_ends_are_kept() -> None:
    assert side("<<<<<<< a\r\nx\r\n=======\r\ny\r\n>>>>>>> b\r\n", "theirs") == "y\r\n"
