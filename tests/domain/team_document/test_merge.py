"""Two who write at once, edits and what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.team_document.texts import TEAM

from memstrata.domain.team_document.grammar import parse, render
from memstrata.domain.team_document.headings import shows
from memstrata.domain.team_document.incoming import read, trimmed
from memstrata.domain.team_document.merge import Clash, Merged, merge


def merged(base: str | None, current: str, sent: str, *, allow_deletions: bool = False) -> Merged:
    """What comes of `sent`."""
    held = parse(current)
    known = None if base is None else parse(base)
    return merge(known, held, read(trimmed(sent), held), allow_deletions=allow_deletions)


def text(base: str | None, current: str, sent: str) -> str:
    """The document that comes of `sent`."""
    return render(merged(base, current, sent).document)


ONE = "## Facts\n- 2025-09-01: Runa leads support"


def test_two_who_add_at_once_both_keep_their_entries() -> None:
    theirs = f"{ONE}\n- 2025-09-02: Builds are cut on Mondays"
    mine = f"{ONE}\n- 2025-09-03: The cache holds a day\n\n## Questions\n- 2025-09-03: Which cache?"
    found = merged(ONE, theirs, mine)
    assert render(found.document) == (
        f"{ONE}\n- 2025-09-02: Builds are cut on Mondays\n- 2025-09-03: The cache holds a day\n\n"
        "## Questions\n- 2025-09-03: Which cache?"
    )
    assert (found.retained, found.conflicts) == ((), ())


def test_two_who_add_the_same_add_it_once() -> None:
    both = f"{ONE}\n- 2025-09-02: Builds are cut on Mondays"
    assert text(ONE, both, both.replace("Builds", "builds")) == both.replace("Builds", "builds")


ENTRY = st.tuples(
    st.sampled_from(["Facts", "Questions", "Other"]),
    st.integers(1, 28),
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=20)
    .map(str.strip)
    .filter(shows),
)
LISTS = st.lists(ENTRY, max_size=4)


def document(*entries: tuple[str, int, str]) -> str:
    """A document of these entries in their order under each heading."""
    found: dict[str, list[str]] = {}
    for heading, day, said in entries:
        found.setdefault(heading, []).append(f"- 2025-09-{day:02}: {said}")
    return "\n\n".join("\n".join((f"## {name}", *lines)) for name, lines in found.items())


@given(LISTS, ENTRY, ENTRY)
def test_two_appends_survive_in_either_order(
    base: list[tuple[str, int, str]], one: tuple[str, int, str], other: tuple[str, int, str]
) -> None:
    start, first, second = document(*base), document(*base, one), document(*base, other)
    for current, sent in ((first, second), (second, first)):
        lines = parse(text(start, current, sent)).entries
        said = [str(line) for line in lines]
        for entry in (*base, one, other):
            assert any(line in document(entry) for line in said)


@pytest.mark.parametrize(
    "sent",
    [
        ONE.replace("support", "support and sales"),
        ONE.replace("2025-09-01", "2025-09-05"),
        ONE.replace("Runa leads support", "Nobody has the pager"),
        ONE.replace("- 2025-09-01: Runa", "- Runa"),
        ONE.replace("Facts", "People"),
    ],
)
def test_an_edit_takes_the_place_of_what_it_changed(sent: str) -> None:
    found = merged(ONE, ONE, sent)
    assert render(found.document) == sent
    assert found.retained == ()


def test_a_line_is_paired_with_its_nearest_version() -> None:
    base = (
        "## A\n- 2025-09-01: the red cache holds a day\n- 2025-09-01: the blue cache holds a week"
    )
    theirs = base.replace("blue cache holds a week", "blue cache holds a month")
    mine = "## A\n- 2025-09-01: the blue cache holds a year\n- 2025-09-01: the red cache holds a day now"
    found = merged(base, theirs, mine)
    assert [(one.theirs[-5:], one.yours[-4:]) for one in found.conflicts] == [("month", "year")]
    assert len(found.document.entries) == 3


def test_an_edit_is_put_on_what_others_added() -> None:
    current = "## Facts\n- 2025-08-01: Older\n- 2025-09-01: Runa leads support\n- 2025-09-02: Newer"
    sent = "## Facts\n- 2025-09-05: Runa leads support now\n  - since spring"
    assert text(ONE, current, sent) == (
        "## Facts\n- 2025-08-01: Older\n- 2025-09-05: Runa leads support now\n  - since spring\n"
        "- 2025-09-02: Newer"
    )


def test_both_versions_of_an_entry_that_two_changed_stay_and_are_told() -> None:
    theirs, mine = ONE.replace("support", "sales"), ONE.replace("support", "design")
    found = merged(ONE, theirs, mine)
    assert {str(line) for line in found.document.entries} == {
        "- 2025-09-01: Runa leads sales",
        "- 2025-09-01: Runa leads design",
    }
    assert found.conflicts == (
        Clash(
            "Facts",
            base="- 2025-09-01: Runa leads support",
            theirs="- 2025-09-01: Runa leads sales",
            yours="- 2025-09-01: Runa leads design",
        ),
    )


def test_the_same_change_by_two_is_no_conflict() -> None:
    found = merged(ONE, ONE.replace("support", "sales"), ONE.replace("support", "Sales"))
    assert render(found.document) == ONE.replace("support", "Sales")
    assert found.conflicts == ()


def test_what_others_removed_stays_removed_unless_it_was_changed() -> None:
    base = (
        f"{ONE}\n- 2025-09-02: Builds are cut on Mondays\n\n## Gone\n- 2025-09-03: Old\n\n## Empty"
    )
    assert (
        text(base, ONE, f"{base}\n\n## New\n- 2025-09-04: New")
        == f"{ONE}\n\n## New\n- 2025-09-04: New"
    )
    changed = base.replace("Mondays", "Tuesdays")
    assert text(base, ONE, changed) == f"{ONE}\n- 2025-09-02: Builds are cut on Tuesdays"


def test_what_others_respelled_is_only_put_back_by_a_change() -> None:
    theirs = ONE.replace("Runa", "RUNA")
    assert text(ONE, theirs, ONE) == theirs
    assert text(ONE, ONE, theirs) == theirs


def test_order_and_spelling_of_headings_are_the_new_text_s() -> None:
    current = "## One\n- 2025-09-01: k\n\n## Two\n- 2025-09-02: l\n\n## Three\n- 2025-09-03: m"
    sent = "## THREE\n- 2025-09-03: m\n\n## one:\n- 2025-09-01: k\n- 2025-09-04: n"
    assert text("", current, sent) == (
        "## THREE\n- 2025-09-03: m\n\n## one:\n- 2025-09-01: k\n- 2025-09-04: n\n\n"
        "## Two\n- 2025-09-02: l"
    )


def test_a_section_that_is_kept_comes_back_in_its_place() -> None:
    found = merged(None, TEAM, "## Project Facts\n- 2025-09-08: New")
    assert [one.heading for one in found.document.sections] == [
        "Product Decisions",
        "Engineering Conventions",
        "Project Facts",
    ]


def test_duplicates_count() -> None:
    twice = "## A\n- 2025-09-01: k\n- 2025-09-01: k\n\n## A\n- 2025-09-01: k"
    assert text(twice, twice, twice) == twice
    assert text("", "", twice) == twice
    assert text(twice, twice, "## A\n- 2025-09-01: k\n- 2025-09-01: k") == (
        "## A\n- 2025-09-01: k\n- 2025-09-01: k"
    )


def test_hand_written_lines_survive_a_merge() -> None:
    base = "Intro\n\n## A\nprose\n- 2025-09-01: k\n  - detail\n```\ncode\n```"
    current = f"{base}\n- 2025-09-02: theirs"
    sent = f"{base}\n- 2025-09-03: mine"
    assert text(base, current, sent) == f"{base}\n- 2025-09-02: theirs\n- 2025-09-03: mine"


# -- an unknown base ----------------------------------------------------------------------------


def test_without_a_base_nothing_is_deleted() -> None:
    found = merged(None, TEAM, "## Project Facts\n- 2025-09-08: The cache holds a day")
    lines = {str(line) for line in found.document.lines}
    assert lines == {*map(str, parse(TEAM).lines), "- 2025-09-08: The cache holds a day"}
    assert set(found.retained) == set(map(str, parse(TEAM).lines))


def test_without_a_base_an_entry_replaces_one_that_says_no_more() -> None:
    sent = "## Project Facts\n- 2025-09-08: Runa leads support and sales\n- 2025-05-08: builds are cut on MONDAYS"
    found = merged(None, TEAM, sent)
    facts = found.document.sections[-1]
    assert list(map(str, facts.lines)) == sent.split("\n")[1:]
    assert len(found.retained) == 3


@pytest.mark.parametrize(
    "line", ["- 2025-05-09: Runa leads design", "- 2025-05-09: Nobody has the pager"]
)
def test_without_a_base_a_like_entry_stands_beside_the_old_one(line: str) -> None:
    found = merged(None, TEAM, f"## Project Facts\n{line}")
    assert {line, "- 2025-05-09: Runa leads support"} <= set(map(str, found.document.lines))


def test_without_a_base_an_empty_section_stays() -> None:
    assert text(None, "## A\n\n## B", "## B\n- 2025-09-01: k") == "## A\n\n## B\n- 2025-09-01: k"


# -- "keep the rest" ----------------------------------------------------------------------------


def test_dots_in_a_section_keep_what_it_does_not_show() -> None:
    current = "## A\n- 2025-09-01: k\n- 2025-09-02: l\n\n## B\n- 2025-09-03: m\n- 2025-09-04: n"
    found = merged(current, current, "## A\n- 2025-09-01: new\n...\n\n## B\n- 2025-09-03: m")
    assert render(found.document) == (
        "## A\n- 2025-09-01: k\n- 2025-09-02: l\n- 2025-09-01: new\n\n## B\n- 2025-09-03: m"
    )
    assert found.retained == ()


@pytest.mark.parametrize("sent", ["...\n\n## B\n- 2025-09-05: new", "## B\n- 2025-09-05: new\n…"])
def test_dots_at_an_end_of_the_document_keep_all_of_it(sent: str) -> None:
    current = f"{TEAM}\n\n## Empty"
    found = merged(current, current, sent)
    assert set(map(str, parse(current).lines)) <= set(map(str, found.document.lines))
    assert [one.heading for one in found.document.sections][-2:] in (["Empty", "B"], ["B", "Empty"])
    assert found.retained == ()
