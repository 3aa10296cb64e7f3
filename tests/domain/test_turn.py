"""Messages of both shapes: what is kept, cleaned, skipped and named, and what is refused where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from time import process_time
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.build import CHARACTERS, memory, message

from memstrata.domain import inject, insertion, team_document, turn
from memstrata.domain.canvas import Node, empty
from memstrata.domain.turn import OWN_TAGS, Said
from memstrata.errors import Invalid

MOST = 10_000


def parse(*messages: Any, most: int = MOST) -> list[tuple[str, str, str]]:
    return [(one.role, one.content, one.call) for one in turn.parse(messages, most=most)]


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **fields}


def assistant(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


# -- both shapes -----------------------------------------------------------------------------------

SHAPES: list[tuple[dict[str, Any], list[tuple[str, str, str]]]] = [
    (user("Hello"), [("user", "Hello", "")]),
    (assistant("Hi"), [("assistant", "Hi", "")]),
    ({"role": "system", "content": "Be terse."}, []),
    ({"role": "developer", "content": [{"type": "text", "text": "x"}]}, []),
    (user(None), []),
    (user(" \n"), []),
    (user([]), []),
    # OpenAI
    (
        user(
            [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "x"}},
            ]
        ),
        [("user", "What is it?", "")],
    ),
    (
        user([{"type": "input_text", "text": "a"}, {"type": "text", "text": "b"}]),
        [("user", "a\nb", "")],
    ),
    (user(["a", "b"]), [("user", "a\nb", "")]),
    (
        assistant(
            None,
            tool_calls=[
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
            ],
        ),
        [("tool", 'f({"x":1})', "c1")],
    ),
    (
        assistant(
            "Looking.",
            tool_calls=[{"id": "c1", "function": {"name": "f", "arguments": {"x": "é"}}}],
        ),
        [("assistant", "Looking.", ""), ("tool", 'f({"x": "é"})', "c1")],
    ),
    (
        assistant(
            None,
            tool_calls=[{"id": "c1", "type": "custom", "custom": {"name": "f", "input": "raw"}}],
        ),
        [("tool", "f(raw)", "c1")],
    ),
    (
        assistant(None, tool_calls=[{"id": None, "function": {"name": None}}]),
        [("tool", "tool()", "")],
    ),
    (assistant(None, tool_calls=None), []),
    (assistant(None, function_call={"name": "f", "arguments": "{}"}), [("tool", "f({})", "")]),
    ({"role": "tool", "tool_call_id": "c1", "content": "42"}, [("tool", "42", "c1")]),
    (
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "42"}, "43"]},
        [("tool", "42\n43", "c1")],
    ),
    ({"role": "function", "name": "f", "content": "42"}, [("tool", "42", "")]),
    # Anthropic
    (
        assistant(
            [
                {"type": "thinking", "thinking": "secretly", "signature": "x"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "t1", "name": "grep", "input": {"q": "茶"}},
            ]
        ),
        [("assistant", "Let me look.", ""), ("tool", 'grep({"q": "茶"})', "t1")],
    ),
    (
        user(
            [
                {"type": "tool_result", "tool_use_id": "t1", "content": "3 hits"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "content": [{"type": "text", "text": "a"}, {"type": "image", "source": {}}],
                },
                {"type": "tool_result", "tool_use_id": "t3"},
                {"type": "image", "source": {}},
                {"type": "text", "text": "and now?"},
            ]
        ),
        [("user", "and now?", ""), ("tool", "3 hits", "t1"), ("tool", "a", "t2")],
    ),
]


@pytest.mark.promise("l0.not-stored")
@pytest.mark.promise("l0.shapes")
@pytest.mark.parametrize("raw, kept", SHAPES)
def test_shapes(raw: dict[str, Any], kept: list[tuple[str, str, str]]) -> None:
    assert parse(raw) == kept


@pytest.mark.promise("l0.verbatim")
def test_text_of_a_person_is_word_for_word() -> None:
    text = "  [x] done 🫖\r\n```py\n<b>if a < b: pass</b>\n```\x00 混排\t"
    assert parse(user(text)) == [("user", text, "")]
    assert turn.clean(text) == text


def test_time_name_and_id_are_taken_over() -> None:
    raw = user("x", id="m-1", name="Ines", said_at="2026-05-10T09:30:00")
    (said,) = turn.parse([raw], ZoneInfo("Asia/Shanghai"), most=MOST)
    at = datetime(2026, 5, 10, 1, 30, tzinfo=UTC)
    assert said == Said("user", "x", said_at=at, id="m-1", name="Ines")
    (unknown,) = turn.parse([user("x")], most=MOST)
    assert (unknown.said_at, unknown.id, unknown.name) == (None, None, "")


def test_a_generator_of_messages_will_do() -> None:
    assert len(turn.parse((user(text) for text in "ab"), most=MOST)) == 2


# -- what is refused, and where ---------------------------------------------------------------------

LOOP: dict[str, Any] = {}
LOOP["self"] = LOOP
WRONG: list[tuple[Any, str]] = [
    (1, "messages[0]"),
    (None, "messages[0]"),
    ("hello", "messages[0]"),
    ({}, "messages[0].role"),
    ({"role": "robot", "content": "x"}, "messages[0].role"),
    ({"role": ["user"], "content": "x"}, "messages[0].role"),
    (user(1), "messages[0].content"),
    (user({"text": "x"}), "messages[0].content"),
    (user(b"bytes"), "messages[0].content"),
    (user("\ud83d"), "messages[0].content"),
    (user("x" * (MOST + 1)), "messages[0].content"),
    (user([1]), "messages[0].content[0]"),
    (user(["a", None]), "messages[0].content[1]"),
    (user([{"type": "text", "text": None}]), "messages[0].content[0].text"),
    (user([{"type": "text", "text": "a"}, {"type": "text", "text": 3}]), "messages[0].content[1].text"),
    (user(["\ud800"]), "messages[0].content[0]"),
    (user([{"type": "tool_result", "tool_use_id": 7, "content": "x"}]), "messages[0].content[0].tool_use_id"),
    (user([{"type": "tool_result", "content": 7}]), "messages[0].content[0].content"),
    (user([{"type": "tool_result", "content": [7]}]), "messages[0].content[0].content[0]"),
    (user([{"type": "tool_result", "content": [{"text": 7}]}]), "messages[0].content[0].content[0].text"),
    (assistant([{"type": "tool_use", "id": 7, "name": "f"}]), "messages[0].content[0].id"),
    (assistant([{"type": "tool_use", "id": "t", "name": 7}]), "messages[0].content[0].name"),
    (assistant([{"type": "tool_use", "name": "f", "input": {"a": "\ud800"}}], id="m"), "messages[0].content[0].input"),
    (assistant([{"type": "tool_use", "name": "f", "input": {(1, 2): 3}}]), "messages[0].content[0].input"),
    (assistant([{"type": "tool_use", "name": "f", "input": LOOP}]), "messages[0].content[0].input"),
    (assistant("x", tool_calls="f"), "messages[0].tool_calls"),
    (assistant("x", tool_calls={"id": 1}), "messages[0].tool_calls"),
    (assistant("x", tool_calls=[{"id": "c"}]), "messages[0].tool_calls[0]"),
    (assistant("x", tool_calls=[{"id": "c", "function": "f"}]), "messages[0].tool_calls[0]"),
    (assistant("x", tool_calls=[{"id": 3, "function": {"name": "f"}}]), "messages[0].tool_calls[0].id"),
    (assistant("x", function_call="f"), "messages[0].function_call"),
    ({"role": "tool", "content": "x", "tool_call_id": 3}, "messages[0].tool_call_id"),
    ({"role": "tool", "content": 3}, "messages[0].content"),
    (user("x", id=""), "messages[0].id"),
    (user("x", id=7), "messages[0].id"),
    (user("x", id="a\nb"), "messages[0].id"),
    (user("x", name=7), "messages[0].name"),
    (user("x", said_at="yesterday"), "messages[0].said_at"),
    (user("x", said_at=True), "messages[0].said_at"),
]  # fmt: skip


@pytest.mark.parametrize("raw, field", WRONG, ids=range(len(WRONG)))
def test_a_wrong_value_names_its_field(raw: Any, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(raw)
    assert caught.value.field == field
    with pytest.raises(Invalid) as behind:
        parse(user("fine"), raw)
    assert behind.value.field == field.replace("[0]", "[1]", 1)


@pytest.mark.parametrize("messages", ["hello", b"x", {"role": "user"}, None, 7])
def test_what_is_no_list_of_messages(messages: object) -> None:
    with pytest.raises(Invalid) as caught:
        turn.parse(messages, most=MOST)
    assert caught.value.field == "messages"


def test_the_limit_is_named_with_its_setting() -> None:
    with pytest.raises(Invalid, match=r"10,001 characters.*capture\.max_message_characters"):
        parse(user("x" * (MOST + 1)))
    assert parse(user("x" * MOST))


# -- what we injected, and the host's wrappers -------------------------------------------------------


def blocks() -> dict[str, str]:
    """A block of ours for each of our tags, as it is injected."""
    held = memory(name="drink [x] <b>", description="Prefers <evidence> tea")
    lines = [inject.line(held), inject.short_line(held), inject.hidden_line(3)]
    quotes = [inject.excerpt(message('He said "tea"')), inject.excerpt(message("x", said_at=None))]
    found = {tag: inject.block(tag, lines) for tag in OWN_TAGS}
    found["project-memory"] = inject.block("project-memory", lines, 'a "b" <c>')
    found["evidence"] = inject.block("evidence", quotes)
    found["memory-note"] = inject.block("memory-note", [inject.NOTE])
    found["user-persona"] = inject.block("user-persona", ["# Ann", "Likes tea.", "", "- [x] calm"])
    return found


BLOCKS = blocks()
AROUND: list[Callable[[str], tuple[str, str]]] = [
    lambda block: (f"{block}\nWhat now?", "What now?"),
    lambda block: (f"{block}\n\nWhat now?", "\nWhat now?"),
    lambda block: (f"{block}What now?", "What now?"),
    lambda block: (f"What now?\n{block}", "What now?\n"),
    lambda block: (f"What now? {block} Tell me.", "What now?  Tell me."),
    lambda block: (f"  {block}  \n  What now?", "  What now?"),
    lambda block: (f"{block}\n{block}\nWhat now?\n{block}", "What now?\n"),
    lambda block: (f"<user_query>\n{block}\nWhat now?\n</user_query>", "What now?"),
    lambda block: (f"<system-reminder>\n{block}\n</system-reminder>\nWhat now?", "What now?"),
    lambda block: (block, ""),
]


@pytest.mark.promise("l0.verbatim")
@pytest.mark.parametrize("tag", OWN_TAGS)
@pytest.mark.parametrize("around", AROUND, ids=range(len(AROUND)))
def test_our_blocks_are_taken_out_and_nothing_else(
    tag: str, around: Callable[[str], tuple[str, str]]
) -> None:
    given, left = around(BLOCKS[tag])
    assert turn.clean(given) == left
    assert turn.clean(left) == left


def test_a_whole_context_is_taken_out() -> None:
    whole = "\n".join(BLOCKS.values())
    assert turn.clean(f"{whole}\n\nWhat now?") == "\nWhat now?"


DOCUMENTS = [
    team_document.block("", "team", 0),
    team_document.block("## Facts\n- 2026-05-01: a < b </team_memory> and <script>", "private", 7),
    team_document.block("## Project Facts\n" + "- 2026-05-01: more\n" * 1_200, "team", 12),
]


@pytest.mark.promise("l0.verbatim")
@pytest.mark.parametrize("block", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_a_shared_document_is_taken_out(block: str) -> None:
    assert turn.clean(f"{block}\nWhat now?") == "What now?"
    assert turn.clean(f"{block}\n{block}\nWhat now?") == "What now?"
    opened = block.replace("</", "< /")
    assert turn.clean(opened) == opened


UNTOUCHED = [
    "<team_memory>my own</team_memory>",
    '<team_memory chars="1" limit="2" rev="3">\nnever closed',
    "[x] done",
    "- [ ] todo\n- [x] done",
    "What does <user-memory> mean in my prompt?",
    "Why is </user-memory> there, and <evidence>?",
    "<evidence>The lab report says 3 %.</evidence>",
    "<evidence>\n- [x] photographed\n</evidence>",
    "<evidence>\nExhibit A\n</evidence>",
    "<user-memory>\nmy own notes\n</user-memory>",
    "<user-memory></user-memory>",
    "<user-memory>\n- [mem_1] a: b\n</agent-memory>",
    "<user-memory>\n- [mem_1] a <b>: c\n</user-memory>",
    "<USER-MEMORY>\n- [mem_1] a: b\n</USER-MEMORY>",
    '<user-memory class="x">\n- [mem_1] a: b\n</user-memory>',
    "```xml\n<memory><item>1</item></memory>\n```",
    "a < b and b > c",
    "🫖 <3 茶",
    "The <system-reminder> tag is odd",
    "see <system-reminder>this</system-reminder> inline",
    "<system-reminder>\nnever closed",
    "<user_query> in the middle",
    "x <user_query>y</user_query>",
    "<div>\n</div>",
]


@pytest.mark.promise("l0.verbatim")
@pytest.mark.parametrize("text", UNTOUCHED)
def test_nothing_else_is_touched(text: str) -> None:
    assert turn.clean(text) == text


@pytest.mark.promise("l0.verbatim")
@pytest.mark.parametrize(
    "given, left",
    [
        ("<system-reminder>\nbe nice\n</system-reminder>\nHello", "Hello"),
        ("Hello\n<environment_details>\nfiles <a> b\n</environment_details>", "Hello\n"),
        ("<ide_opened_file>The user opened a.py</ide_opened_file>\nHello", "Hello"),
        ("<ide_selection>x</ide_selection>Hello", "Hello"),
        ("<environment_context>\r\n</environment_context>\r\nHello", "Hello"),
        ("<user_query>\nHello\n</user_query>", "Hello"),
        ("\n<user_query>Hello</user_query>\n", "Hello"),
        ("<user_query>\n  indented\n\nmore\n</user_query>", "  indented\n\nmore"),
        ("<system-reminder>a</system-reminder>\n<user_query>b</user_query>", "b"),
        ("<user_query><user_query>b</user_query></user_query>", "b"),
        ("<system-reminder>a</system-reminder>", ""),
    ],
)
def test_host_wrappers(given: str, left: str) -> None:
    assert turn.clean(given) == left


PIECES = st.sampled_from(
    (
        *BLOCKS.values(),
        *UNTOUCHED,
        *("\n", " ", "<user-", "memory>", "</user-memory>", "<user-memory>\n", "- [mem_1] a: b\n"),
        *("<system-reminder>\n", "</system-reminder>\n", "<user_query>", "</user_query>"),
    )
)


@given(st.lists(PIECES | st.text(CHARACTERS, max_size=10), max_size=8).map("".join))
def test_cleaning_twice_is_cleaning_once(content: str) -> None:
    once = turn.clean(content)
    assert turn.clean(once) == once


@given(st.text().filter(lambda text: "<" not in text))
def test_text_without_an_angle_bracket_is_never_touched(content: str) -> None:
    assert turn.clean(content) == content


@pytest.mark.promise("l0.verbatim")
@given(st.text(CHARACTERS, max_size=80), st.sampled_from(OWN_TAGS))
def test_what_a_person_writes_behind_a_block_is_kept_byte_for_byte(text: str, tag: str) -> None:
    expected = turn.clean(text)
    assert turn.clean(f"{BLOCKS[tag]}\n{text}") == expected


@pytest.mark.parametrize(
    "piece",
    [
        *(" ", "<", "<user-memory>\n", "<system-reminder>\n", "<user_query>", "</user-memory>\n"),
        *(
            "\n",
            "<user-memory>\n- [a] b\n",
            "- [a] b\n",
            "</system-reminder>",
            "<memory-note>\nx\n",
        ),
        *("<system-reminder>\n</system-reminder>\n", "<user-memory>\n- [a] b\n</user-memory>\n"),
    ],
)
def test_a_hostile_megabyte_takes_linear_time(piece: str) -> None:
    content = "<" + piece * (1_000_000 // len(piece))
    began = process_time()
    turn.clean(content)
    turn.is_bootstrap(content)
    turn.skip_reason(content)
    assert process_time() - began < 2


def test_ten_megabytes_of_text_are_taken_whole() -> None:
    text = "Zürich 茶 " * 1_250_000
    ((_, content, _),) = parse(user(text), most=20_000_000)
    assert turn.clean(content) == text


# -- bootstrap lines and what is not extracted -------------------------------------------------------


@pytest.mark.promise("l0.not-stored")
@pytest.mark.parametrize(
    "line",
    [
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "\n[Request interrupted by user]\n",
        "A new session was started via /new or /reset. Greet the user.",
        "Caveat: The messages below were generated by the user while running local commands. Do not.",
    ],
)
def test_bootstrap_lines(line: str) -> None:
    assert turn.is_bootstrap(line)


@pytest.mark.parametrize(
    "line",
    [
        *("Request interrupted by user", "I saw [Request interrupted by user] again", "Hello", ""),
        *("[Request interrupted by user]\nand then I said this", "A new session was started"),
    ],
)
def test_what_is_no_bootstrap_line(line: str) -> None:
    assert not turn.is_bootstrap(line)


@pytest.mark.promise("l0.not-extracted")
@pytest.mark.parametrize(
    "content, reason",
    [
        *((text, "command") for text in ("/clear", " /compact now", "/mcp:list x", "/init\nmore")),
        *(
            (text, "wordless")
            for text in (
                "???",
                "？？？",
                "!!!",
                "🫖",
                "👍🏽",
                "👩‍👩‍👧‍👦",
                "1️⃣ 2️⃣",
                "ℹ️",
                "…",
                "---",
                "_",
                "/",
            )
        ),
        *((text, "") for text in ("/usr/bin/env", "/etc/hosts is wrong", "//x", "/42", "a", "é")),
        *((text, "") for text in ("好", "42", "1", "ok 👍", "what???", "use /clear", "はい", "네")),
    ],
)
def test_what_is_stored_but_not_extracted(content: str, reason: str) -> None:
    assert turn.skip_reason(content) == reason


# -- ids -------------------------------------------------------------------------------------------


def ids(*messages: dict[str, Any], session: str = "chat") -> tuple[str, ...]:
    return turn.identify(turn.parse(messages, most=MOST), session)


def test_an_id_is_kept_and_else_made_of_what_was_said() -> None:
    assert ids(user("x", id="m-1")) == ("m-1",)
    (found,) = ids(user("x"))
    assert found == ids(user("x"))[0] == ids(user([{"type": "text", "text": "x"}]))[0]
    assert found.startswith("msg_")
    assert len(found) == 28


def test_known_ids_do_not_move() -> None:
    # A changed hash would store every conversation a second time.
    assert ids(user("Hello"), assistant("Hi", said_at="2026-05-10T09:30:00Z")) == (
        "msg_f2bdfc289fc7b5ab0001dba5",
        "msg_5541c639d5c20bff82d1f7bc",
    )


@pytest.mark.parametrize(
    "other",
    [
        user("y"),
        assistant("x"),
        user("x", said_at="2026-05-10T09:30:00Z"),
        user("x", name="Ines"),
        {"role": "tool", "content": "x", "tool_call_id": "c"},
    ],
)
def test_another_message_has_another_id(other: dict[str, Any]) -> None:
    assert ids(user("x")) != ids(other)
    assert ids(user("x")) != ids(user("x"), session="other")


def test_the_same_instant_in_two_zones_is_one_message() -> None:
    here = user("x", said_at="2026-05-10T09:30:00Z")
    there = user("x", said_at="2026-05-10T17:30:00+08:00")
    assert ids(here) == ids(there)


@pytest.mark.promise("l0.idempotent")
def test_the_same_words_twice_in_one_call_are_two_messages_both_times() -> None:
    found = ids(user("yes"), assistant("ok"), user("yes"), user("yes"))
    assert len(set(found)) == 4
    assert found == ids(user("yes"), assistant("ok"), user("yes"), user("yes"))
    assert found[0] == ids(user("yes"))[0]


def test_the_parts_of_a_message_with_an_id_have_ids_of_their_own() -> None:
    calls = [{"id": f"c{n}", "function": {"name": "f"}} for n in (1, 2)]
    assert ids(assistant("x", id="m", tool_calls=calls)) == ("m", "m/c1", "m/c2")
    (said, nameless) = ids(assistant("x", id="m", function_call={"name": "f"}))
    assert said == "m"
    assert nameless.startswith("m/")


@pytest.mark.parametrize("call", ["c" * 250, "a\nb", "\x00"])
def test_the_id_of_a_part_is_an_id(call: str) -> None:
    calls = [{"id": call, "function": {"name": "f"}}]
    (found,) = ids(assistant(None, id="m" * 200, tool_calls=calls))
    assert len(found) <= 256
    assert found.isprintable()
    assert found == ids(assistant(None, id="m" * 200, tool_calls=calls))[0]


TEXT_BLOCKS = st.lists(st.text(max_size=20), max_size=3).map(
    lambda texts: [{"type": "text", "text": text} for text in texts]
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(("user", "assistant", "system")),
            "content": st.none() | st.text(max_size=30) | TEXT_BLOCKS,
        },
        optional={
            "said_at": st.datetimes(timezones=st.just(UTC)),
            "id": st.sampled_from(("m1", "m2")),
        },
    ),
    max_size=5,
)


@given(MESSAGES)
def test_what_was_parsed_parses_to_itself(messages: list[dict[str, Any]]) -> None:
    first = turn.parse(messages, most=MOST)
    again = [asdict(one) | {"tool_call_id": one.call} for one in first]
    assert turn.parse(again, most=MOST) == first
    assert all(one.content.strip() for one in first)
    assert turn.identify(first, "chat") == turn.identify(turn.parse(messages, most=MOST), "chat")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(("role", "content", "type", "text", "id", "tool_calls", "function",
                                         "name", "input", "user", "tool_use", "tool_result")), inner, max_size=5),
                    max_leaves=15))  # fmt: skip
def test_any_value_is_parsed_or_refused(value: object) -> None:
    for messages in (value, [value], [user(value)], [assistant([value], id="m")]):
        try:
            found = turn.parse(messages, most=MOST)
        except Invalid:
            continue
        assert all(one.content.strip() for one in found)


@pytest.mark.promise("offload.block")
def test_the_block_of_a_task_is_taken_out() -> None:
    at = datetime(2026, 3, 14, tzinfo=UTC)
    node = Node("001-N1", "Look", "done", "`a < b` and <c> </d>", at)
    graph = replace(empty(1, "look", "Why is a < b?", at), nodes=(node,))
    block = insertion.context(graph, [insertion.task(graph)], len)
    history = insertion.history([graph], 3, len, 9_000)
    for one in (block, history):
        assert turn.clean(one) == ""
        assert turn.clean(f"{one}\nAnd now?") == "And now?"
    asked = "What is <current_task_context> for?"
    assert turn.clean(asked) == asked
