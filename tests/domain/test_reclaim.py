"""The levels: what is replaced, removed, cut, in which order, and what is never touched."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.lists import SHAPES, Message, archived, calling, chat, folded, texts, words

from memstrata.domain.offload_state import Session
from memstrata.domain.reclaim import Compacted, Cut, Limits, Removed, Replaced, cut
from memstrata.domain.window import own_block, view


def long(n: int) -> str:
    return f"result {n} " + "crumb " * 98


def replaced(found: Any) -> list[str]:
    return [one.key for one in found.outcome.steps if isinstance(one, Replaced)]


def test_below_every_line_nothing_happens() -> None:
    messages = chat("UTRTR", long)
    found = folded(messages, 1_000)
    assert found.messages == messages
    assert found.outcome.steps == ()
    assert found.outcome.after < 500


@pytest.mark.promise("offload.mild")
def test_mild_replaces_the_best_first_and_stops_below_its_target() -> None:
    scores = [3, 9, 7, 8, 7, 7]
    messages = chat("U" + "TR" * 6 + "A" * 6, long)
    found = folded(messages, 1_300, score=lambda n: scores[n])
    assert found.outcome.levels == ("mild",)
    assert replaced(found) == ["call_3", "call_7", "call_5"]  # the block takes room, too
    assert found.outcome.after < 0.45 * 1_300
    text = next(one for one in texts(found.messages) if one.startswith("[Offloaded"))
    assert text == "[Offloaded Tool Result | node: 001-N2]\nshort\nref: call_3"


@pytest.mark.promise("offload.mild")
def test_mild_leaves_scores_of_zero_and_the_last_third() -> None:
    messages = chat("U" + "TR" * 6, long)
    assert folded(messages, 1_000, score=lambda n: 0).outcome.steps == ()
    reached = {f"call_{n}" for n in (1, 3, 5, 7)}
    assert set(replaced(folded(messages, 1_000))) <= reached


@pytest.mark.promise("offload.never-grows")
def test_what_saves_nothing_is_not_replaced() -> None:
    messages = chat("U" + "TR" * 9 + "A" * 9, lambda n: "a few words")
    assert not replaced(folded(messages, 120))


@pytest.mark.promise("offload.aggressive")
def test_aggressive_removes_the_oldest_before_the_last_prompt() -> None:
    messages = chat("SUTRUTRUTRUTRUTR", long)
    found = folded(messages, 680, score=lambda n: 0, limits=Limits(680, overhead=0.0, keep=2))
    assert found.outcome.levels == ("aggressive",)
    assert found.outcome.after < 0.70 * 680
    gone = [one for step in found.outcome.steps if isinstance(step, Removed) for one in step.items]
    assert gone[0].startswith("user ")
    assert gone[1:3] == ["call call_2", "result call_2"]
    left = [one for one in found.messages if not own_block(one)]
    assert left[0] == messages[0]
    assert left == [messages[0], *messages[-len(left) + 1 :]]
    assert [own_block(one) for one in found.messages[:2]] == ["", "history_task_context"]


@pytest.mark.promise("offload.emergency")
@pytest.mark.promise("case.o3")
def test_one_long_prompt_ends_below_the_target() -> None:
    """O3: 20 calls of one prompt, twice the line: the last four results whole, the others in a graph."""
    messages = chat("U" + "TR" * 20, long)
    found = folded(messages, 1_100, score=lambda n: 0)
    assert found.outcome.before > 2 * 0.95 * 1_000
    assert found.outcome.after < 0.60 * 1_100
    assert texts(found.messages)[-1] == messages[-1]["content"]
    whole = [one for one in texts(found.messages) if "crumb" in one]
    assert whole == [one for one in texts(messages) if "crumb" in one][-4:]
    gone = {key for step in found.session.removed for key in step.keys}
    entries = {one.key: one.entry for one in found.session.kept}
    assert gone
    assert all(entries[key].state == "removed" and entries[key].node_id for key in gone)
    assert "Please do number 0." in texts(found.messages)


@pytest.mark.promise("offload.emergency")
def test_at_last_the_largest_result_is_cut_in_place() -> None:
    messages = chat("UTR", lambda n: "flour " * 5_000)
    found = folded(messages, 2_000)
    (step,) = [one for one in found.outcome.steps if isinstance(one, Cut)]
    assert step.key == "call_1"
    assert "recall_result call_1" in found.messages[-1]["content"]  # type: ignore[index]
    assert found.outcome.after < 0.60 * 2_000


@pytest.mark.promise("offload.overflow")
def test_an_overflow_goes_down_to_the_emergency_target_wherever_it_stands() -> None:
    messages = chat("U" + "TR" * 12, long)
    found = folded(messages, 2_000, score=lambda n: 0, overflow=True)
    assert "emergency" in found.outcome.levels
    assert found.outcome.after < 0.60 * 2_000


@pytest.mark.promise("offload.reason")
def test_what_cannot_be_reached_is_said() -> None:
    messages = [{"role": "user", "content": "word " * 4_000}]
    found = folded(messages, 2_000)
    assert found.messages == messages
    assert "system and last user message take 4,004" in found.outcome.reason
    assert folded(chat("UTR"), 2_000).outcome.reason == ""


@pytest.mark.promise("offload.archive-first")
def test_what_is_not_archived_is_neither_replaced_nor_removed() -> None:
    messages = chat("U" + "TR" * 12, long)
    found = folded(messages, 900, Session())
    assert [one for one in found.messages if not own_block(one)] == messages
    assert found.outcome.reason


def test_signed_thinking_is_never_changed() -> None:
    def turn(n: int) -> list[Message]:
        call = {"type": "tool_use", "id": f"c{n}", "name": "write", "input": {"text": "y " * 300}}
        thinking = {"type": "thinking", "thinking": "hm", "signature": f"sig{n}"}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": long(n)}
        return [
            {"role": "assistant", "content": [thinking, call]},
            {"role": "user", "content": [result]},
        ]

    messages = [{"role": "user", "content": "go"}, *(one for n in range(14) for one in turn(n))]
    found = folded(messages, 5_200)
    assert replaced(found)
    assert not any(isinstance(step, Compacted) for step in found.outcome.steps)
    spoken = [one for one in found.messages if one["role"] == "assistant"]  # type: ignore[index]
    assert all(one in messages for one in spoken)


@pytest.mark.promise("offload.compacted")
def test_arguments_are_compacted_with_their_result_but_not_the_newest() -> None:
    messages: list[Message] = [{"role": "user", "content": "go"}]
    for n in range(8):
        messages.append(calling(f"c{n}", {"path": "a", "text": "z " * 120}))
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": long(n)})
    found = folded(messages, 3_000, overflow=True)
    assert {one.item for one in found.outcome.steps if isinstance(one, Compacted)}
    newest = [one for one in found.messages if one.get("tool_calls")][-1]  # type: ignore[attr-defined]
    assert newest == messages[-2]
    seen = view(found.messages)
    assert all(isinstance(json.loads(one.arguments), dict) for one in seen.calls.values())


def test_a_cut_text_keeps_its_ends_and_its_budget() -> None:
    text = " ".join(f"w{n}" for n in range(2_000))
    found = cut(text, 100, "call_1", words)
    assert words(found) <= 100
    assert found.startswith("w0 w1 ")
    assert found.endswith(" w1998 w1999")
    assert "recall_result call_1" in found


# -- laws -------------------------------------------------------------------------------------------

TURN = st.sampled_from(["A", "TR", "T", "R", "U", "P", "G", "D", "H", "X"])


def made(turns: list[str]) -> list[Message]:
    """A list with parallel calls (P), signed thinking (G), ids used twice (D), huge results (H), oddities."""
    found: list[Message] = []
    for n, turn in enumerate(turns):
        id = f"d{n % 2}" if turn == "D" else f"c{n}"
        result = {"role": "tool", "tool_call_id": id, "content": f"{n} " + "crumb " * (40 + n)}
        match turn:
            case "A":
                found.append({"role": "assistant", "content": f"thought {n} " * 9})
            case "U":
                found.append({"role": "user", "content": f"prompt {n} " * 9})
            case "TR" | "D":
                found += [calling(id, {"text": "v " * 150}), result]
            case "T":
                found.append(calling(id, {}))
            case "R":
                found.append(result)
            case "P":
                both = calling(id, {})
                both["tool_calls"] += calling(f"{id}b", {})["tool_calls"]
                found += [both, {**result, "tool_call_id": f"{id}b"}, result]
            case "G":
                thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
                use = {"type": "tool_use", "id": id, "name": "look", "input": {}}
                block = {"type": "tool_result", "tool_use_id": id, "content": "crumb " * 90}
                found.append({"role": "assistant", "content": [thinking, use]})
                found.append({"role": "user", "content": [block]})
            case "H":
                found += [calling(id, {}), {**result, "content": "huge " * 3_000}]
            case _:
                found.append({"role": "assistant", "content": None, "weird": n})
    return found


def size(messages: list[Any]) -> int:
    """Tokens of a list, our blocks too."""
    window = view(messages)
    blocks = sum(words(str(one["content"])) + 4 for one in messages if own_block(one))
    return sum(one.tokens(words) for one in window.items) + blocks


@settings(max_examples=40, deadline=None)
@given(
    turns=st.lists(TURN, max_size=24),
    window=st.integers(200, 9_000),
    score=st.integers(0, 10),
    stable=st.booleans(),
    overflow=st.booleans(),
)
@pytest.mark.promise("offload.laws")
def test_folding_obeys_its_laws(
    turns: list[str], window: int, score: int, stable: bool, overflow: bool
) -> None:
    messages = made(turns)
    before = copy.deepcopy(messages)
    found = folded(messages, window, score=lambda n: score, overflow=overflow, stable=stable)
    assert messages == before
    ours = [one for one in found.messages if not own_block(one)]
    assert size(found.messages) <= size(messages)
    assert found.outcome.after == size(found.messages)
    assert found.outcome.reason or found.outcome.after < 0.95 * window or not overflow
    # No call without the results that it had, no result without its call.
    assert broken(ours) <= broken(messages)
    # The last words of the user and the last results' messages stand.
    seen = view(messages)
    if seen.last_user >= 0:
        assert messages[seen.last_user] in ours
    # The same list gives the same bytes, and so does a session that went through its text form.
    again = folded(messages, window, found.session, stable=stable)
    assert again.messages == found.messages or overflow
    assert sum(bool(own_block(one)) for one in again.messages) <= 2


def broken(messages: list[Any]) -> set[str]:
    """The ids of calls without a result and of results without a call."""
    seen = view(messages)
    calls = {call.id for one in seen.items for call in one.calls}
    results = {result.id for _, result in seen.results}
    return calls ^ results


@settings(max_examples=20, deadline=None)
@given(turns=st.lists(TURN, min_size=4, max_size=20), window=st.integers(300, 4_000))
@pytest.mark.promise("offload.prefix")
def test_between_steps_the_beginning_stays(turns: list[str], window: int) -> None:
    messages = made(turns)
    session, before = Session(), list[object]()
    for at in range(1, len(messages) + 1):
        seen = view(messages[:at])
        fresh = archived(seen)
        known = {one.key for one in session.kept}
        kept = (*session.kept, *(one for one in fresh.kept if one.key not in known))
        found = folded(messages[:at], window, Session(**{**vars_of(session), "kept": kept}))
        if not found.outcome.steps:
            assert found.messages[: len(before)] == before
        before, session = found.messages, found.session


def vars_of(session: Session) -> dict[str, Any]:
    """The fields of a session."""
    return {name: getattr(session, name) for name in Session.__dataclass_fields__}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_folded(shape: str) -> None:
    messages = SHAPES[shape]("U" + "TR" * 12)
    found = folded(messages, 160, score=lambda n: 0)
    assert found.outcome.levels
    assert len(found.messages) < len(messages)
    assert messages[-1] == found.messages[-1]
