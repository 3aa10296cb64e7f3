"""Lists of every shape as one kind of value; what belongs together; copies, never changes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from tests.domain.lists import SHAPES, anthropic, calling, chat, words

from memstrata.domain.window import CONTEXT, HISTORY, IMAGE, compacted, own_block, rewritten, view


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.promise("offload.shapes")
def test_every_shape_reads_the_same(shape: str) -> None:
    found = view(SHAPES[shape]("SUATRUTR"))
    assert [one.kind for one in found.items] == [
        *("system", "user", "assistant", "assistant", "result", "user", "assistant", "result")
    ]
    assert found.last_user == 5
    assert found.lead == 1
    assert set(found.units) == {(0,), (1,), (2,), (3, 4), (5,), (6, 7)}
    assert [one.text for _, one in found.results] == ["result 4", "result 7"]
    assert {one.name for one in found.calls.values()} == {"read_file"}
    assert json.loads(found.calls["call_3"].arguments) == {"path": "oven/3.py"}


def parallel() -> list[Any]:
    """Two calls at once and the result of one more that was never asked for."""
    both = calling("a", {})
    both["tool_calls"] += calling("b", {})["tool_calls"]
    return [
        {"role": "user", "content": "go"},
        both,
        {"role": "tool", "tool_call_id": "b", "content": "two"},
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "zz", "content": "lost"},
    ]


def test_parallel_calls_are_one_unit_with_their_results() -> None:
    assert set(view(parallel()).units) == {(0,), (1, 2, 3), (4,)}


def test_a_result_answers_the_newest_call_of_its_id() -> None:
    found = view(chat("UTR") + chat("UTR"))
    assert set(found.units) == {(0,), (1, 2), (3,), (4, 5)}
    identities = [one.identity for one in found.items]
    assert len(set(identities)) == len(identities)


def test_results_in_a_users_message_are_no_users_message() -> None:
    messages = anthropic("UTR")
    assert view(messages).last_user == 0
    messages[-1]["content"].append({"type": "text", "text": "stop, use the other oven"})
    assert view(messages).last_user == 2


def test_reasoning_stays_with_its_call() -> None:
    messages = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xyz"},
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
    ]
    assert set(view(messages).units) == {(0,), (1, 2, 3, 4, 5)}


def test_thinking_is_signed() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    (item,) = view([{"role": "assistant", "content": [thinking, call]}]).items
    assert item.signed
    assert not view([{"role": "assistant", "content": [call]}]).items[0].signed


def test_our_blocks_are_left_out() -> None:
    block = (
        f'<{CONTEXT} file="001-x.mmd">\nGoal: x\n</{CONTEXT}>\n<other_tasks>\n- y\n</other_tasks>'
    )
    history = {
        "role": "user",
        "content": [{"type": "text", "text": f"<{HISTORY}>\n3\n</{HISTORY}>"}],
    }
    found = view([history, {"role": "user", "content": block}, *chat("U")])
    assert [one.kind for one in found.items] == ["user"]
    assert found.folded
    quoted = {"role": "user", "content": f"What does {block} mean?"}
    assert own_block(quoted) == ""
    assert own_block({"role": "assistant", "content": block}) == ""


def test_a_picture_counts_as_one_whatever_its_bytes() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9_999}}
    (item,) = view([{"role": "user", "content": [picture]}]).items
    assert item.tokens(words) == IMAGE + 4
    assert item.kind == "user"


ODD: list[Any] = [
    None,
    7,
    "text",
    [],
    {},
    {"role": None},
    {"role": 3, "content": object()},
    {"role": "user"},
    {"role": "assistant", "content": 5, "tool_calls": "no"},
    {"role": "assistant", "tool_calls": [None, 3, {"function": None}, {"id": 4}]},
    {"role": "tool", "content": None},
    {"role": "tool", "tool_call_id": "\ud800", "content": {"a": [1, {"b"}]}},
    {"role": "user", "content": [None, 3, "x", {"type": []}, {"type": "tool_result"}]},
    {"type": "function_call"},
    {"type": "mystery_call", "call_id": "q"},
    {"type": 5},
    {1: 2, "a": 3},
]


@pytest.mark.parametrize("index", range(len(ODD)))
@pytest.mark.promise("offload.odd-lists")
def test_anything_can_be_looked_at(index: int) -> None:
    found = view([ODD[index], *chat("UTR")])
    assert len(found.items) == 4
    assert found.items[0].tokens(words) >= 4


def test_objects_of_the_providers_libraries() -> None:
    class Said:
        def model_dump(self, **_: object) -> dict[str, object]:
            return calling("a", {})

    found = view([Said(), {"role": "tool", "tool_call_id": "a", "content": "x"}])
    assert found.units == ((0, 1),)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_rewritten_message_is_a_copy(shape: str) -> None:
    messages = SHAPES[shape]("UTR")
    before = copy.deepcopy(messages)
    seen = view(messages)
    call, answer = seen.items[1], seen.items[2]
    new_call = rewritten(messages[1], call, {}, {0: '{"path": "…"}'})
    new_answer = rewritten(messages[2], answer, {answer.results[0].at: "folded"}, {})
    assert messages == before
    again = view([messages[0], new_call, new_answer])
    assert again.calls["call_1"].arguments == '{"path": "…"}'
    assert again.results[0][1].text == "folded"
    assert again.units == seen.units
    assert [one.identity for one in again.items] == [one.identity for one in seen.items]


def test_long_arguments_are_cut_and_stay_json() -> None:
    given = json.dumps({"path": "a.py", "text": "x" * 900, "lines": ["y" * 300, 3]})
    found = compacted(given, "call_7")
    assert json.loads(found)["path"] == "a.py"
    assert json.loads(found)["text"] == "x" * 80 + "… [820 characters more: call_7:arguments]"
    assert len(found) < 400
    assert compacted('{"a": "short"}', "r") == '{"a": "short"}'
    assert compacted("not json " * 90, "r") == "not json " * 90
