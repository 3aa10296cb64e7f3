"""Finding the list in what a model says."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.prompts.loose_json import MOST_CHARACTERS, MOST_VALUES, Broken, Found, find

FIELDS = ("name", "description", "evidence")
A = {"name": "a", "description": 'first {one} [of] "two"'}
B = {"name": "b", "description": "second"}
BOTH = json.dumps({"facts": [A, B]})


def read(text: str) -> Found | None:
    """`text` as an answer of facts."""
    return find(text, "facts", FIELDS)


@pytest.mark.parametrize(
    "text",
    [
        BOTH,
        f"  \ufeff{BOTH}\n",
        json.dumps({"facts": [A, B], "note": ["x"]}),
        json.dumps({"Facts ": [A, B]}),
        json.dumps([A, B]),
        json.dumps({"result": [A, B]}),
        f"Sure! ```json {BOTH} ``` Hope that helps",
        f"```json\n{BOTH}\n```",
        f"Here you are:\n```\n{BOTH}\n```\nAnything else?",
        f"~~~json\n{json.dumps([A, B], indent=2)}\n~~~",
        f"```json\n{BOTH}",
        f"I looked at {{m1}} and [m2]. {BOTH} Done.",
        f"The list: {json.dumps([A, B])}.",
        f"{json.dumps(A)}\n{json.dumps(B)}\n",
        f"First {json.dumps(A)}, then {{}} and {json.dumps(B)}.",
        f'<think>{{"facts": []}} or [] ?</think>{BOTH}',
        f"<thinking>\nhm\n</thinking>\n```json\n{BOTH}\n```",
        f"so, {{}} …\n</think>\n{BOTH}",
        BOTH.replace("]}", ",]}").replace('"name": "b"', '"name": "b", "sure": True, "by": None'),
        BOTH.replace("]}", "] // all\n}"),
    ],
)
def test_the_list_is_found_in_any_wrapping(text: str) -> None:
    found = read(text)
    assert found is not None
    assert not found.cut
    assert [
        {name: v[name] for name in ("name", "description")} for v in map(obj, found.values)
    ] == [A, B]


def obj(value: object) -> dict[str, Any]:
    """`value`, which must be an object."""
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"facts": []}',
        '{"facts": null}',
        "Nothing: []",
        "```json\n[]\n```",
        "<think>x</think>[]",
    ],
)
def test_nothing_is_an_answer(text: str) -> None:
    assert read(text) == Found(())


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "<think>{\"facts\": []}", "No facts here.", "null", "42", '"facts"', "{x}", "[m1] says so",
     '{"a": 1}', '{"a": [1], "b": [2]}', "没有", "{" * 5_000, "[" * 5_000],
)  # fmt: skip
def test_what_is_no_list(text: str) -> None:
    assert read(text) is None


def test_one_item_alone_is_a_list() -> None:
    assert read(json.dumps(A)) == read(json.dumps({"facts": A})) == Found((A,))


@pytest.mark.parametrize(
    "text",
    [
        'Here: {"name": "a", "description": "d", "evidence": [], "x": [{"y": 1}]} ok?',
        'Evidence was [], so {"name": "a", "description": "d", "evidence": [], "x": [{"y": 1}]}',
        'For {m1}: [{"name": "a", "description": "d", "evidence": [], "x": [{"y": 1}]}]',
    ],
)
def test_a_list_within_an_item_is_not_the_list(text: str) -> None:
    assert read(text) == Found(
        ({"name": "a", "description": "d", "evidence": [], "x": [{"y": 1}]},)
    )


@pytest.mark.parametrize(
    "text", ['{"mood": "calm", "tags": []}', '{"mood": "calm", "tags": ["x"]}']
)
def test_an_object_with_a_list_of_something_else(text: str) -> None:
    assert read(text) is None


def test_a_fact_about_thinking_tags_is_no_thinking() -> None:
    fact = {"name": "tags", "description": "Wraps notes in <think>…</think> and ```fences```"}
    assert read(json.dumps({"facts": [fact, B]})) == Found((fact, B))


@pytest.mark.parametrize("lost", range(3, 40))
def test_a_list_that_is_cut_keeps_its_whole_items(lost: int) -> None:
    found = read(BOTH[:-lost])
    assert found is not None
    assert found.cut
    assert found.values == (A, Broken("is cut off"))


def test_a_list_cut_between_items() -> None:
    assert read(BOTH[: BOTH.index("}, ") + 2]) == Found((A,), cut=True)
    assert read('{"facts": [') == Found((), cut=True)


def test_a_broken_item_costs_no_other() -> None:
    text = BOTH.replace('"name": "a"', '"name": "a" "b"')
    assert read(text) == Found((Broken("is no JSON"), B))
    unescaped = BOTH.replace(r"\"two\"", 'a "quote')
    assert read(unescaped) == Found((Broken("is no JSON"), B))


@pytest.mark.parametrize(
    "written, meant",
    [(r"C:\users", r"C:\users"), (r"\u12", r"\u12"), (r"\d+", r"\d+"), (r"it\'s", "it's"), ("a\nb\tc", "a\nb\tc"),
     (r"\u00e9\n", "é\n"), (r"\\u12", r"\u12")],
)  # fmt: skip
def test_escapes_that_json_has_not(written: str, meant: str) -> None:
    found = read(f'{{"facts": [{{"name": "{written}", "description": "True, None,]"}}]}}')
    assert found == Found(({"name": meant, "description": "True, None,]"},))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
WRAPPED: list[Callable[[str], str]] = [
    lambda text: f"Sure:\n{text}\nBye.",
    lambda text: f"```json\n{text}\n```",
    lambda text: f"<think>\nhm {{}} []\n</think>\n{text}",
    lambda text: text,
]


@given(
    st.lists(
        st.fixed_dictionaries({"name": st.text(), "description": st.text(), "x": JSON}), max_size=4
    ),
    st.sampled_from(WRAPPED),
    st.booleans(),
)
def test_items_come_through_unchanged(
    items: list[dict[str, Any]], wrap: Callable[[str], str], ascii: bool
) -> None:
    answer = json.dumps({"facts": items}, ensure_ascii=ascii)
    if "think" in answer.lower() or "```" in answer:
        return
    assert read(wrap(answer)) == Found(tuple(items))


@given(st.text() | st.text('{}[]"\\,:`<>/thinkfacts \n', max_size=200))
def test_no_text_is_an_error(text: str) -> None:
    found = read(text)
    assert found is None or len(found.values) <= MOST_VALUES


@pytest.mark.parametrize(
    "text",
    ["<think" * 40_000, "<think>" * 40_000, '{"facts": [' + '{"},' * 60_000, '[{"' * 60_000, "{" * 200_000,
     "```x\n" * 50_000, '{"facts": [' + "{}," * 90_000, "," * 200_000, "\\" * 200_000, '"' * 200_000,
     '{"facts": [' + '{"a' * 60_000, "[ " * 100_000],
)  # fmt: skip
def test_the_time_is_bounded_whatever_comes(text: str) -> None:
    started = process_time()
    read(text)
    assert process_time() - started < 3
    assert len(text) > MOST_CHARACTERS
