"""A memory's file: written, read back, left alone when it cannot be read, and never guessed at."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.domain.build import KEY, LOOK_ALIKES, NOW, QUOTE, memories, memory

from memstrata.domain import markdown
from memstrata.domain.memory import MAX_DESCRIPTION, Memory
from memstrata.errors import Corrupt, Invalid

PATH = "memory/user/mem_1.md"


def read(data: bytes | str, path: str = PATH) -> Memory:
    given = data.encode() if isinstance(data, str) else data
    return markdown.parse(given, path, KEY, now=NOW, zone=UTC)


def corrupt(data: bytes | str) -> Corrupt:
    with pytest.raises(Corrupt) as caught:
        read(data)
    assert caught.value.path == PATH
    return caught.value


@pytest.mark.promise("disk.round-trip")
@given(memories())
@example(memory(priority=0, confidence=0.0))
@example(memory(body="<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs"))
@example(memory(body="\\<<<<<<< ours\n\\\\>>>>>>> theirs\n\\"))
@example(memory(body="---\nname: other\n---"))
@example(memory(name="no", description="2026-10-31", scene="---", note="a\x85b"))
def test_a_file_is_read_back_as_it_was_and_written_the_same(one: Memory) -> None:
    text = markdown.render(one)
    found = read(text)
    assert found == one
    assert markdown.render(found) == text


@pytest.mark.promise("disk.round-trip")
@given(memories())
def test_windows_line_ends_change_nothing(one: Memory) -> None:
    text = markdown.render(one)
    assert read(text.replace("\n", "\r\n")) == read(text)


@pytest.mark.parametrize("value", LOOK_ALIKES)
def test_yaml_never_guesses(value: str) -> None:
    name = value.strip()
    one = memory(name=name, entities=(name,), scene=value, extra={"mood": value, "list": [value]})
    assert read(markdown.render(one)) == one


def test_what_a_file_looks_like() -> None:
    one = memory(body="Since *March*.", entities=("tea",), version=2, evidence=(QUOTE,))
    assert markdown.render(one, owner="ann") == (
        "---\nid: mem_1\nowner: ann\nscope: user\ntype: user\nname: drink\n"
        "description: Prefers tea\nconfidence: 1.0\npriority: 60\nentities:\n- tea\n"
        "origin: manual\nauthority: person\nversion: 2\n"
        "created_at: '2026-03-14T09:30:00.000000Z'\nupdated_at: '2026-03-14T09:30:00.000000Z'\n"
        "evidence:\n- message: m1\n  session: chat\n  start: 0\n  end: 9\n  quote: I like it\n"
        "---\n\nSince *March*.\n"
    )


@pytest.mark.promise("disk.workspace-clean")
def test_a_workspace_file_holds_no_quote() -> None:
    one = memory(evidence=(QUOTE,))
    assert QUOTE.quote in markdown.render(one)
    assert QUOTE.quote not in markdown.render(one, quotes=False)


def test_unknown_front_matter_is_kept() -> None:
    found = read("---\nname: a\ndescription: b\ntags: [x, no]\nmood:\nreviewed: 2026-10-31\n---\n")
    assert found.extra == {"tags": ["x", "no"], "mood": "", "reviewed": "2026-10-31"}
    assert read(markdown.render(found)).extra == found.extra


@pytest.mark.promise("disk.hand-made")
@pytest.mark.parametrize(
    "text, name, description, body",
    [
        ("# Deploys\n\nWith Nomad.\n", "how to", "Deploys", "With Nomad."),
        ("\n\nJust a line", "how to", "Just a line", ""),
        ("\ufeffFirst\nSecond\n", "how to", "First", "Second"),
        ("a\r\nb\r\nc", "how to", "a", "b\nc"),
        ("---\nA rule, not front matter\n", "how to", "---", "A rule, not front matter"),
        ("---\n---\nBody", "how to", "Body", ""),
        ("---\nname: other\n---\nBody\nmore", "other", "Body", "more"),
        ("---\ndescription: d\n---\nBody", "how to", "d", "Body"),
    ],
)
def test_a_file_of_a_persons_own_making(text: str, name: str, description: str, body: str) -> None:
    found = read(text, "memory/user/how to.md")
    assert (found.name, found.description, found.body) == (name, description, body)
    assert (found.origin, found.authority, found.version) == ("file", "person", 1)


def test_a_long_first_line_is_cut_and_stays_whole_in_the_body_once() -> None:
    line = "word " * 60
    found = read(f"{line}\nrest")
    assert found.description.endswith("word…")
    assert len(found.description) <= MAX_DESCRIPTION
    assert found.body == f"{line}\nrest"
    assert read(markdown.render(found)) == found


@pytest.mark.parametrize(
    "path, id",
    [("a/mem_7.md", "mem_7"), ("v1.2.md", "v1.2"), ("a/how to.md", None), ("名字.md", None)],
)
def test_a_file_without_an_id_is_named_by_its_stem(path: str, id: str | None) -> None:
    found = read("Text", path).id
    assert found == id or (id is None and found == read("Other", path).id)
    assert found.startswith("mem_") or id is not None


def test_two_stems_that_are_no_ids_have_two_ids() -> None:
    assert markdown.id_of("how to") != markdown.id_of("how  to")


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    text = markdown.render(memory(body="x"))
    assert read(b"\xef\xbb\xbf" + text.encode()) == memory(body="x")


MERGE = "---\nname: a\ndescription: b\n---\nx\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> other\n"


@pytest.mark.parametrize("data", [MERGE, MERGE.replace("\n", "\r\n")])
def test_merge_conflict_markers_are_reported_with_their_line(data: str) -> None:
    error = corrupt(data)
    assert (error.problem, error.line) == ("holds merge-conflict markers", 6)


def test_markers_in_the_front_matter_are_found_too() -> None:
    assert corrupt("---\n<<<<<<< HEAD\nname: a\n=======\n>>>>>>> other\n---\n").line == 2


@pytest.mark.parametrize("body", ["Title\n=======\n", "<<<<<<< x", "a >>>>>>> b <<<<<<< c"])
def test_what_only_looks_like_markers_is_text(body: str) -> None:
    assert read(f"---\nname: a\ndescription: b\n---\n{body}").body == body.strip("\n")


@pytest.mark.promise("disk.broken")
@pytest.mark.parametrize(
    "data, line, problem",
    [
        (b"---\nname: a\n---\n\xff\n", 4, "not UTF-8"),
        (b"\xef\xbb\xbfa\nb\xe9\n", 2, "not UTF-8"),
        ("---\nname: a\nbad: [1\n---\n", 4, "no YAML"),
        ("---\nname: a\n\tx: y\n---\n", 3, "no YAML"),
        ("---\nname: a\nother: \x01\n---\n", 3, "no YAML"),
        ("---\njust words\n---\n", 2, "no mapping"),
        ("---\n- a\n- b\n---\n", 2, "no mapping"),
        ("---\nname: a\ndescription: b\n", 1, "never closed"),
        ("---\nname: a\ndescription: b\npriority: high\n---\n", 4, "priority"),
        ("---\nname: a\ndescription: b\nevidence:\n- start: 3\n---\n", 4, "evidence[0].message"),
        ("---\ntype: user\nname:\ndescription: b\n---\nname: not this\n", 3, "name"),
        ("---\nname: a\ndescription: b\n---\nfine\nbad \x07\n", 6, "U+0007"),
        ("---\nname: a\ndescription: b\nid: ../../x\n---\n", 4, "id"),
    ],
)
def test_what_cannot_be_read_is_reported_with_file_and_line(
    data: bytes | str, line: int, problem: str
) -> None:
    error = corrupt(data)
    assert error.line == line
    assert problem in error.problem
    assert str(error).startswith(f"{PATH}:{line}: ")


DEEP = 400
HOSTILE = {
    "an alias of itself": "---\nname: a\ndescription: b\nx: &x [*x]\n---\n",
    "a laugh": "---\nname: a\nx: &a [1]\ny: &b [*a, *a]\nz: [*b, *b]\n---\n",
    "deep lists": "---\nname: a\nx: " + "[" * DEEP + "]" * DEEP + "\n---\n",
    "deep blocks": "---\nname: a\nx:\n" + "- " * DEEP + "y\n---\n",
    "very deep blocks": "---\nname: a\nx:\n" + "- " * 30_000 + "y\n---\n",
    "too deep to be written": "---\nname: a\nx: " + "[" * 20 + "]" * 20 + "\n---\n",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_front_matter_is_reported_and_never_expanded(data: str) -> None:
    assert corrupt(data).line is not None


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_memory_or_reported(data: bytes) -> None:
    try:
        found = read(data)
    except Corrupt:
        return
    assert read(markdown.render(found)) == found


def test_a_digest_is_of_the_bytes() -> None:
    assert markdown.digest(b"a") != markdown.digest(b"a\n")
    assert len(markdown.digest(b"")) == 32


@pytest.mark.promise("disk.index-md")
def test_the_index_of_a_folder() -> None:
    pairs: list[tuple[str, Memory]] = [
        ("mem_2.md", memory("mem_2", name="Zeta [x](y)", description="last")),
        ("mem_1.md", memory("mem_1", name="alpha", description="first")),
        ("mem_0.md", memory("mem_0", name="ALPHA", description="same name")),
    ]
    expected = "- [ALPHA](mem_0.md) — same name\n- [alpha](mem_1.md) — first\n- [Zeta (x)(y)](mem_2.md) — last\n"
    assert markdown.index(pairs) == markdown.index(pairs[::-1]) == expected
    assert markdown.index([]) == ""


@settings(max_examples=25)
@given(st.lists(memories(), max_size=3))
def test_the_index_has_a_line_a_memory(found: list[Memory]) -> None:
    text = markdown.index([(f"{one.id}.md", one) for one in found])
    assert len(text.splitlines()) == len(found)


@pytest.mark.parametrize("name, checked", [("  a \n b ", "a b"), ("x" * 120, "x" * 120)])
def test_a_name_as_add_takes_it(name: str, checked: str) -> None:
    assert markdown.checked_name(name) == checked


@pytest.mark.parametrize("name", ["", " \n", "x" * 121, "a\x00", None, 3])
def test_a_name_that_add_refuses(name: Any) -> None:
    with pytest.raises(Invalid, match=r"^name"):
        markdown.checked_name(name)


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \t\n", b"\xef\xbb\xbf"])
def test_an_emptied_file_is_no_memory(data: bytes) -> None:
    with pytest.raises(Corrupt, match="is empty"):
        markdown.parse(data, "user/x.md", KEY, now=NOW, zone=UTC)
