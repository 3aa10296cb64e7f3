"""Where our block stands, and what it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.domain.lists import NOW, SHAPES, chat, words

from memstrata.domain.canvas import Graph, Node, empty, parse, render
from memstrata.domain.insertion import BIRDS_EYE, context, history, index, line, task
from memstrata.domain.window import own_block, view

PLACES = {
    "UA": 0,
    "UAU": 3,
    "UTRTR": 1,
    "UAUTR": 3,
    "UTR": 1,
    "UAUAUTR": 5,
    "UTRATR": 1,
    "UAAAAA": 1,
    "U" + "TR" * 20: 11,
    "U" + "TR" * 20 + "A": 11,
    "": 0,
    "A": 0,
    "TRTRTR": 0,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("letters", PLACES)
@pytest.mark.promise("offload.place")
def test_the_place_of_the_block(letters: str, shape: str) -> None:
    assert index(view(SHAPES[shape](letters))) == PLACES[letters]
    assert index(view(SHAPES[shape]("S" + letters))) == PLACES[letters] + 1


@pytest.mark.promise("offload.place")
def test_no_place_is_between_a_call_and_its_results() -> None:
    """A user who interrupts: the call's result comes behind their words."""
    messages = chat("UTRAT")
    messages += [{"role": "user", "content": "hurry"}]
    messages += [{"role": "tool", "tool_call_id": "call_4", "content": "late"}]
    window = view(messages)
    assert index(window) == 4
    assert all(not unit[0] < 4 <= unit[-1] for unit in window.units)


def graph(number: int = 1, nodes: int = 2, minutes: int = 0) -> Graph:
    found = empty(number, "glaze", "Glaze the <b>buns</b> ```now```", NOW)
    made = [
        Node(f"{number:03d}-N{n}", f"Step {n}", "done", "went well", NOW)
        for n in range(1, nodes + 1)
    ]
    return replace(found, nodes=tuple(made), updated=NOW + timedelta(minutes=minutes))


@pytest.mark.promise("offload.block")
def test_the_block_holds_goal_graph_and_how_to_open_a_node() -> None:
    text = context(graph(), [task(graph(2))], words)
    assert own_block({"role": "user", "content": text})
    fence = text.partition("```mermaid\n")[2].partition("\n```")[0]
    assert parse(fence).nodes == graph().nodes
    assert text.startswith('<current_task_context file="001-glaze.mmd">\nGoal: Glaze the ‹b›buns')
    assert "recall_result" in text
    assert "blocked: a dead end" in text
    assert "- 002-glaze.mmd: Glaze the ‹b›buns‹/b› '''now''' (100 %; done 2)" in text


@pytest.mark.promise("offload.block")
def test_without_a_graph_the_other_tasks_stand_alone() -> None:
    text = context(None, [task(graph(2))], words)
    assert text.startswith("<other_tasks>\n")
    assert own_block({"role": "user", "content": text})
    assert context(None, [], words) == ""
    assert context(empty(1, "x", "y", NOW), [], words) == ""


@pytest.mark.promise("offload.block")
def test_the_other_tasks_have_a_budget() -> None:
    many = [task(replace(graph(n), goal="word " * 30)) for n in range(1, 60)]
    text = context(None, many, words)
    assert words(text) <= BIRDS_EYE + 12
    assert line(many[0]) in text
    assert line(many[-1]) not in text


@pytest.mark.promise("offload.history")
def test_history_is_drawn_as_far_as_there_is_room_then_told() -> None:
    graphs = [graph(n, nodes=4, minutes=n) for n in (1, 2, 3)]
    whole = history(graphs, 9, words, 10_000)
    assert all(render(one).replace("```", "'''") in whole for one in graphs)
    places = [whole.index(f"00{n}-glaze.mmd") for n in (3, 2, 1)]
    assert places == sorted(places)
    for most in range(60, words(whole), 7):
        text = history(graphs, 9, words, most)
        assert words(text) <= most
        assert text.startswith("<history_task_context>\n9 earlier messages")
        assert own_block({"role": "user", "content": text})
        told = sum(f"00{n}-glaze.mmd" in text for n in (1, 2, 3))
        assert told == 3 or f"- {3 - told} tasks more" in text
    assert "```mermaid" in history(graphs, 9, words, words(whole) - 1)
