"""What a line of a document is, and that it is written in one form."""

from __future__ import annotations

import re
from time import process_time

import pytest
from hypothesis import example, given
from tests.domain.team_document import texts

from memstrata.domain.team_document.grammar import (
    Document,
    Entry,
    Raw,
    Section,
    is_closed,
    markers,
    parse,
    render,
)
from memstrata.domain.team_document.headings import shows


@pytest.mark.parametrize(
    "line, day, text",
    [
        ("- 2025-09-08: k", "2025-09-08", "k"),
        ("- 2025-09-08:\tk", "2025-09-08", "k"),
        ("- 2025-09-08:   k  l  ", "2025-09-08", "k  l"),
        ("- 2025-09-08: - 2025-09-09: k", "2025-09-08", "- 2025-09-09: k"),
        ("- 2025-09-08: a\u2028b\x0cc\x85d", "2025-09-08", "a\u2028b\x0cc\x85d"),
        ("- 2024-02-29: k", "2024-02-29", "k"),
        ("- (2025-09-08) [fact] k", "2025-09-08", "k"),
        ("- (2025-09-08) [instr] [pref] k", "2025-09-08", "[pref] k"),
    ],
)
def test_entries(line: str, day: str, text: str) -> None:
    assert parse(f"## F\n{line}").entries == (Entry(day, text),)


@pytest.mark.parametrize(
    "line",
    [
        "- 2025-02-29: no leap year",
        "- 0000-01-01: no year",
        "- 2025-13-01: k",
        "- 20250908: k",
        "- 2025-09-08T10:00: k",
        "- ２０２５-09-08: k",
        "- 2025-09-08：k",
        "- 2025-09-08:",
        "-\t2025-09-08: k",
        " - 2025-09-08: k",
        "- (2025-09-08) [fact]  k",
        "-  (2025-09-08) [fact] k",
        "- (2025-09-08) [FACT] k",
        "- (2025-09-08) [note] k",
        "- (2025-09-08) k",
    ],
)
def test_what_is_almost_an_entry_is_kept_as_it_is(line: str) -> None:
    assert parse(f"## F\n{line}").lines == (Raw(line),)
    assert render(parse(f"## F\n{line}")) == f"## F\n{line}"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_three_ways_and_in_no_other(end: str) -> None:
    text = end.join(("## A", "one\u2028## B", "two\x1d\x1c## C\x0b", ""))
    assert render(parse(text)) == "## A\none\u2028## B\ntwo\x1d\x1c## C"


def test_sections_stand_one_blank_line_apart_and_inner_blank_lines_stay() -> None:
    text = "\n\n## A\n\n- 2025-09-08: k\n\n\nprose  \n\n\n\n## B\n## C\n\n"
    assert render(parse(text)) == "## A\n\n- 2025-09-08: k\n\n\nprose\n\n## B\n\n## C"


@pytest.mark.parametrize("line", ["##Facts", "##\tFacts", " ## Facts", "##   ", "### Facts", "# F"])
def test_what_is_no_section(line: str) -> None:
    assert [one.heading for one in parse(f"## A\n{line}").sections] == ["A"]


def test_text_before_the_first_heading_and_entries_there() -> None:
    found = parse("Title\n\nMore\n\n- 2025-09-08: k\n  - detail\n\n## Facts\n- 2025-09-09: l")
    assert found == Document(
        (Raw("Title"), Raw(""), Raw("More")),
        (
            Section("Memory", (Entry("2025-09-08", "k"), Raw("  - detail"))),
            Section("Facts", (Entry("2025-09-09", "l"),)),
        ),
    )


def test_entries_without_a_heading_join_the_memory_section_that_is_there() -> None:
    text = "- 2025-09-08: k\n\n## Facts\n\n## memory:\n- 2025-09-09: l"
    assert render(parse(text)) == "## Facts\n\n## memory:\n- 2025-09-08: k\n- 2025-09-09: l"


@pytest.mark.parametrize(
    "block",
    [
        "```\n## no heading\n- 2025-09-08: no entry\n```",
        "~~~ text\n```\n## no heading\n~~~",
        "````\n```\n## no heading\n```\n````",
        "- ```sh\n  ## no heading\n  ```",
        "   ```\n\n## no heading\n\n```````",
    ],
)
def test_a_fenced_block_is_one_line(block: str) -> None:
    found = parse(f"## A\n{block}\n## B")
    assert found.sections == (Section("A", (Raw(block),)), Section("B"))


@pytest.mark.parametrize("line", ["``` `x` ```", "``", "~~", "text ```"])
def test_what_opens_no_fence(line: str) -> None:
    assert [one.heading for one in parse(f"## A\n{line}\n## B").sections] == ["A", "B"]
    assert is_closed(line)


def test_an_open_fence_ends_with_its_section_and_is_closed_there() -> None:
    text = "## A\n  ~~~~ text\ncode\n```\n~~~\n\n## B\n- 2025-09-08: k"
    closed = "## A\n  ~~~~ text\ncode\n```\n~~~\n  ~~~~\n\n## B\n- 2025-09-08: k"
    assert render(parse(text)) == closed == render(parse(closed))
    assert is_closed(closed)
    assert not is_closed(text)


def test_the_marker_of_an_old_entry_is_told_apart_from_its_text() -> None:
    found = parse("## F\n- (2025-09-08) [pref] k\n- 2025-09-09: l")
    assert render(found) == "## F\n- 2025-09-08: k\n- 2025-09-09: l"
    assert markers(found) == (("- 2025-09-08: k", "pref"),)


@given(texts.ANY)
@example("```a\n```b\n## A\n```\n## B")
@example("\n```\n\n## \u2028\n")
def test_what_was_rendered_is_read_and_written_as_it_is(text: str) -> None:
    once = parse(render(parse(text)))
    assert parse(render(once)) == once
    assert render(once) == render(parse(text))


@given(texts.ANY)
def test_no_line_gets_lost(text: str) -> None:
    rendered = render(parse(text))
    unmarked = re.sub(r"\[(fact|pref|instr)\]", "", text)
    for sign in set(unmarked):
        if sign.isalnum() and shows(sign):
            assert rendered.count(sign) >= unmarked.count(sign)


@pytest.mark.parametrize("line", ["```a\n", "`" * 50_000 + "x`" + "y" * 50_000, "~~~~a\n## x\n"])
def test_reading_takes_linear_time(line: str) -> None:
    text = line * (200_000 // len(line))
    start = process_time()
    parse(text)
    assert process_time() - start < 5
