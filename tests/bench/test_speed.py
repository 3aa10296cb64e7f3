"""The benchmark of speed: what it says of things whose figures are known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from bench import speed

from memstrata import Memory


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
