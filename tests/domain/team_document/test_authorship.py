"""Who wrote which entry."""

from __future__ import annotations

from memstrata.domain.team_document import authored


def lines(*revisions: tuple[str, str]) -> list[tuple[str, str, str]]:
    """(heading, line, author) of each."""
    return [(one.heading, one.text, one.origin) for one in authored(revisions)]


def test_a_line_is_theirs_who_brought_it() -> None:
    found = lines(
        ("## Deploy\n- 2026-01-02: with Nomad\n", "ana"),
        ("## Deploy\n- 2026-01-02: with Nomad\n- 2026-01-03: on Mondays\n", "ben"),
    )
    assert found == [
        ("Deploy", "- 2026-01-02: with Nomad", "ana"),
        ("Deploy", "- 2026-01-03: on Mondays", "ben"),
    ]


def test_a_line_spelled_anew_is_the_same_and_a_changed_one_is_not() -> None:
    first = "## Deploy\n- 2026-01-02: with Nomad\n"
    assert lines((first, "ana"), (first.replace("Nomad", "NOMAD"), "ben"))[0][2] == "ana"
    assert lines((first, "ana"), (first.replace("Nomad", "Kubernetes"), "ben"))[0][2] == "ben"


def test_what_was_away_is_theirs_who_brought_it_back() -> None:
    text = "intro\n\n## Deploy\n- 2026-01-02: with Nomad\n"
    found = lines((text, "ana"), ("intro\n", "ben"), (text, "cy"))
    assert [(one[0], one[2]) for one in found] == [("", "ana"), ("Deploy", "cy")]


def test_alike_lines_are_counted_apart() -> None:
    one, two = "## A\nsame\n", "## A\nsame\nsame\n"
    assert [author for *_, author in lines((one, "ana"), (two, "ben"))] == ["ana", "ben"]


def test_no_revision_is_no_line() -> None:
    assert lines() == []
