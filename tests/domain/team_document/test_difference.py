"""What changed between two revisions."""

from __future__ import annotations

from memstrata.domain.team_document import diff


def test_a_unified_diff() -> None:
    old = "## A\n- 2025-09-01: k\n- 2025-09-02: l"
    new = "## A\n- 2025-09-01: k\n- 2025-09-03: m"
    assert diff(old, new, old_rev=3, new_rev=4, context=1) == (
        "--- rev 3\n+++ rev 4\n@@ -2,2 +2,2 @@\n - 2025-09-01: k\n-- 2025-09-02: l\n+- 2025-09-03: m"
    )


def test_from_and_to_an_empty_document() -> None:
    assert diff("", "## A", old_rev=0, new_rev=1) == "--- rev 0\n+++ rev 1\n@@ -0,0 +1 @@\n+## A"
    assert diff("## A", "", old_rev=1, new_rev=2).endswith("@@ -1 +0,0 @@\n-## A")


def test_no_difference() -> None:
    assert diff("## A", "## A", old_rev=1, new_rev=2) == ""


def test_only_a_line_feed_ends_a_line() -> None:
    assert diff("a\u2028b", "a\u2028c", old_rev=1, new_rev=2).split("\n")[-2:] == [
        "-a\u2028b",
        "+a\u2028c",
    ]
