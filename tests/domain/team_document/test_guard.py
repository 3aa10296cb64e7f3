"""How much may go at once, and what a rewriting must keep."""

from __future__ import annotations

import pytest
from tests.domain.team_document.texts import TEAM, saved

from memstrata.domain.team_document.grammar import parse
from memstrata.domain.team_document.guard import allowed, uncovered, weigh
from memstrata.domain.team_document.units import units


@pytest.mark.parametrize(
    "held, may_go",
    [
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 1),
        (4, 2),
        (5, 2),
        (6, 3),
        (7, 3),
        (15, 3),
        (19, 3),
        (20, 4),
        (54, 10),
    ],
)
def test_numbers(held: int, may_go: int) -> None:
    assert allowed(held) == may_go


def lines(count: int) -> list[str]:
    """That many entries that have nothing in common."""
    return [
        f"- 2024-{n // 28 + 1:02}-{n % 28 + 1:02}: {chr(97 + n % 26) * (n + 3)}"
        for n in range(count)
    ]


@pytest.mark.parametrize("held", [2, 3, 4, 6, 7, 20, 25])
def test_so_many_may_go_and_not_one_more(held: int) -> None:
    entries, may_go = lines(held), allowed(held)
    current = "\n".join(("## F", *entries))
    fine = saved(current, "\n".join(("## F", *entries[may_go:])))
    assert fine.memory_md == "\n".join(("## F", *entries[may_go:]))
    assert fine.retained == ()
    stopped = saved(current, "\n".join(("## F", *entries[may_go + 1 :])))
    assert stopped.memory_md == current
    assert stopped.retained == tuple(entries[: may_go + 1])
    assert stopped.rev == 7


def test_a_person_who_deletes_on_purpose_is_not_stopped() -> None:
    entries = lines(8)
    sent = f"## F\n{entries[0]}"
    found = saved("\n".join(("## F", *entries)), sent, allow_deletions=True)
    assert (found.memory_md, found.retained) == (sent, ())


def test_raw_lines_count_row_by_row_and_blank_ones_do_not() -> None:
    document = parse("Intro\n\n## A\n- 2025-09-01: k\nprose\n\n```\n\ncode\n```")
    assert weigh(units(document)) == 6


def test_edits_do_not_count() -> None:
    sent = (
        TEAM.replace("Mondays", "Tuesdays")
        .replace("thirty", "sixty")
        .replace("a second", "another")
    )
    found = saved(TEAM, sent)
    assert (found.memory_md, found.retained) == (sent, ())


def test_the_last_line_never_goes_also_when_two_delete_at_once() -> None:
    base = "## F\n- 2025-09-01: first thing\n- 2025-09-02: other matter"
    found = saved("## F\n- 2025-09-02: other matter", "## F\n- 2025-09-01: first thing", base=base)
    assert found.memory_md == "## F\n- 2025-09-02: other matter"
    assert found.retained == ("- 2025-09-02: other matter",)


def test_the_day_alone_makes_no_edit_when_too_much_goes() -> None:
    current = (
        "## F\n- 2025-09-08: alpha beta\n- 2025-09-08: gamma delta\n- 2025-09-01: epsilon\n"
        "- 2025-09-02: zeta\n- 2025-09-03: eta"
    )
    found = saved(current, "## F\n- 2025-09-08: theta iota")
    assert set(current.split("\n")[1:]) <= set(found.memory_md.split("\n"))
    assert set(found.retained) == set(current.split("\n")[1:])
    assert "- 2025-09-08: theta iota" in found.memory_md


def test_what_others_removed_meanwhile_does_not_count() -> None:
    entries = lines(4)
    base = "\n".join(("## F", *entries))
    current = "\n".join(("## F", *entries[1:]))
    found = saved(current, "\n".join(("## F", entries[0], entries[3])), base=base)
    assert found.memory_md == f"## F\n{entries[3]}"


# -- a rewriting --------------------------------------------------------------------------------


def lost(before: str, after: str) -> list[str]:
    """The lines of `before` that `after` does not say."""
    return [str(unit.line) for unit in uncovered(units(parse(before)), units(parse(after)))]


def test_kept_and_merged_lines_are_covered() -> None:
    before = "## A\n- 2025-09-01: The cache holds a day\n- 2025-09-02: The cache is Redis\nnote on pagers\n---"
    after = "## B\n- 2025-09-02: The cache is Redis and holds a day\n- NOTE on  pagers"
    assert lost(before, after) == []


def test_a_line_that_shares_only_small_words_is_lost() -> None:
    before = "## A\n- 2025-09-01: The cache is in the cellar\n- 2025-09-01: We use Nomad"
    assert lost(before, "## A\n- 2025-09-01: The pager is in the office") == [
        "- 2025-09-01: The cache is in the cellar",
        "- 2025-09-01: We use Nomad",
    ]


def test_words_from_several_lines_do_not_cover() -> None:
    before = "## A\n- 2025-09-01: alpha beta gamma delta"
    assert lost(before, "## A\n- 2025-09-01: alpha\n- 2025-09-01: beta\n- 2025-09-01: gamma") != []
    assert lost(before, "## A\n- 2025-09-01: alpha beta") == []


def test_what_only_one_line_says_is_not_covered_by_what_many_say() -> None:
    before = (
        "## A\n- 2025-09-01: service 1 is owned by Runa\n- 2025-09-01: service 2 is owned by Runa"
    )
    assert lost(before, "## A\n- 2025-09-01: service 1 is owned by Runa") != []
    assert lost(before, "## A\n- 2025-09-01: services 1 and 2 are owned by Runa") == []


def test_chinese_lines_are_covered_by_pairs() -> None:
    before = "## A\n- 2025-09-01: 每周二发布新版本"
    assert lost(before, "## A\n- 2025-09-01: 每周二发布") == []
    assert lost(before, "## A\n- 2025-09-01: 数据库在柏林") != []
