"""Saving in order: what is refused, what is told, what a model's rewriting may be."""

from __future__ import annotations

from time import process_time

import pytest
from tests.domain.team_document.texts import DAY, TEAM, saved

from memstrata.domain.redact import Finding, find_sensitive
from memstrata.domain.team_document import HARD, SOFT, Oversize, Saved, save, settle
from memstrata.domain.team_document.saving import REWRITTEN, UNKNOWN_BASE

KEY = "ghp_" + "9876543210zyxwvutsrqZYXWVUTSRQ987654"


# -- refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [None, 7, b"## A", ["## A"], "## A\n\ud800", "## A\x00"])
def test_what_is_no_text_is_refused(sent: object) -> None:
    found = saved(TEAM, sent)
    assert (found.status, found.reason, found.memory_md, found.rev) == ("error", "text", TEAM, 7)
    assert found.message.startswith("Memory must be text")


def test_what_has_no_heading_is_refused_in_these_words() -> None:
    found = saved(TEAM, "I looked at it, and there was nothing that I could find to keep.")
    assert (found.status, found.reason) == ("error", "heading")
    assert found.message == "Memory must be markdown with at least one ## heading."


@pytest.mark.parametrize(
    "line", ["## Preferences", "### Preferences", "  # User Instructions", "##\tMira's notes"]
)
def test_a_team_document_takes_no_new_personal_heading(line: str) -> None:
    sent = f"{TEAM}\n\n{line}\n- {DAY}: k"
    found = saved(TEAM, sent, whose="team")
    assert (found.status, found.reason, found.memory_md) == ("error", "scope", TEAM)
    assert found.message.startswith("Team memory cannot introduce personal headings: ")
    assert saved(TEAM, sent, whose="private").status == "saved"


def test_a_personal_heading_in_a_code_fence_is_code() -> None:
    sent = f"{TEAM}\n```\n## Preferences\n### Preferences\n```"
    assert saved(TEAM, sent, whose="team").memory_md == sent


def test_a_personal_heading_that_was_there_is_warned_about() -> None:
    old = f"{TEAM}\n\n## Preferences\n- {DAY}: k"
    found = saved(
        old, old.replace("## Preferences", "## preference:") + "\n- 2025-09-09: l", whose="team"
    )
    assert found.status == "saved"
    assert [w for w in found.warnings if "preference" in w] == [
        "Team memory holds the personal heading preference:; it belongs into private memory."
    ]


def test_names_of_people_can_be_given() -> None:
    found = save(
        "",
        f"## Zorblax Preferences\n- {DAY}: k",
        rev=0,
        base="",
        visibility="team",
        find=find_sensitive,
        people=["Zorblax"],
    )
    assert isinstance(found, Saved)
    assert found.reason == "scope"


def test_something_sensitive_is_refused_without_being_repeated() -> None:
    found = saved(TEAM, f"{TEAM}\n- {DAY}: token {KEY}")
    assert (found.status, found.reason, found.memory_md) == ("error", "sensitive", TEAM)
    assert KEY not in found.message


def test_something_sensitive_that_was_there_blocks_nothing_else() -> None:
    old = f"{TEAM}\n- {DAY}: token {KEY}"
    found = saved(old, f"{old}\n- 2025-09-09: l")
    assert found.status == "saved"
    assert len(found.warnings) == 1
    assert KEY not in found.warnings[0]
    assert saved(old, f"{old}\n- 2025-09-09: again {KEY}").reason == "sensitive"


def test_the_scanner_sees_what_would_be_stored() -> None:
    seen: list[str] = []

    def find(text: str) -> list[Finding]:
        seen.append(text)
        return []

    save(TEAM, f"Sure!\n{TEAM}  \n", rev=1, base=TEAM, visibility="team", find=find)
    assert seen == [TEAM]


# -- told ---------------------------------------------------------------------------------------


def test_an_update_that_changes_nothing_makes_no_revision() -> None:
    found = saved(TEAM, f"\n{TEAM}\n")
    assert (found.status, found.rev, found.memory_md) == ("saved", 7, TEAM)
    assert found.message == "Memory is the same already."


def test_an_old_form_is_written_anew_and_its_marker_handed_on() -> None:
    found = saved("", "## F\n- (2025-09-08) [pref] k\n- 2025-09-08: l")
    assert found.memory_md == "## F\n- 2025-09-08: k\n- 2025-09-08: l"
    assert found.markers == (("- 2025-09-08: k", "pref"),)


def test_dropped_sections_and_a_shrunk_document_are_told() -> None:
    old = f"## A\n- {DAY}: {'alpha ' * 40}\n\n## B\n- {DAY}: beta\n\n## C\n- {DAY}: gamma"
    found = saved(old, f"## B\n- {DAY}: beta\n\n## C\n- {DAY}: gamma")
    assert found.diff_warnings[0] == "Section dropped: A"
    assert found.diff_warnings[1].startswith("Memory shrank from 310 to 49 characters")
    assert saved(old, old + "\n- 2025-09-09: l").diff_warnings == ()


def test_non_standard_bullets_are_told_with_their_first_80_characters() -> None:
    sent = f"## A\n  - {'k' * 90}\n* other\n- [ ] box\n```\n- code\n```\n- {DAY}: k"
    assert saved("", sent).format_warnings == (
        f"Non-standard memory bullet: - {'k' * 78}",
        "Non-standard memory bullet: - [ ] box",
    )


def test_prose_before_the_document_is_told() -> None:
    found = saved("", f"Here is\nthe update: {'k' * 90}\n\n## A\n- {DAY}: k")
    assert found.warnings == (
        f"Text before the first heading was left out: Here is the update: {'k' * 60}…",
    )


def test_an_unknown_base_is_told() -> None:
    found = saved(TEAM, f"## Project Facts\n- {DAY}: k", base=None)
    assert found.warnings == (UNKNOWN_BASE,)
    assert len(found.retained) == 5
    assert found.message == "Memory saved. Lines that the update left out and that stay: 5."


def test_a_conflict_is_told() -> None:
    base = f"## A\n- {DAY}: Runa leads support"
    found = saved(base.replace("support", "sales"), base.replace("support", "design"), base=base)
    assert [one.heading for one in found.conflicts] == ["A"]
    assert found.message == (
        "Memory saved. Lines that somebody else changed too, both versions stay: 1."
    )


def test_a_neutralised_tag_that_comes_back_is_the_tag() -> None:
    old = f"## A\n- {DAY}: Lists are List<int>\n- {DAY}: other"
    found = saved(old, old.replace("<int>", "‹int>") + "\n- 2025-09-09: new")
    assert found.memory_md == old + "\n- 2025-09-09: new"


# -- sizes --------------------------------------------------------------------------------------


def long(length: int, start: str = f"## A\n- {DAY}: ") -> str:
    """A document of that many characters."""
    return start + "漢" * (length - len(start))


@pytest.mark.parametrize("length, warned", [(SOFT, False), (SOFT + 1, True), (HARD, True)])
def test_sizes_are_characters_of_what_is_stored(length: int, warned: bool) -> None:
    found = saved("", f"{long(length)}   \n\n\n")
    assert len(found.memory_md) == length
    assert any("soft limit" in warning for warning in found.warnings) == warned


def test_a_text_that_only_fits_once_it_is_rendered_fits() -> None:
    assert saved("", long(HARD - 10) + "\n" * 50 + "## B" + " " * 50).status == "saved"


def oversize(current: str, sent: str, **given: str) -> Oversize:
    """An update that does not fit."""
    found = save(current, sent, rev=7, base=current, visibility="team", find=find_sensitive)
    assert isinstance(found, Oversize)
    return found


def test_without_a_model_the_error_has_the_size_of_each_section() -> None:
    found = settle(oversize(TEAM, TEAM + "\n\n" + long(HARD, "## More\n")), None)
    assert (found.status, found.reason, found.memory_md, found.rev) == ("error", "size", TEAM, 7)
    assert found.message.startswith(
        "Memory has 25,282 characters, at most 25,000 can be saved. By section: "
    )
    assert "Product Decisions 62; " in found.message
    assert found.message.endswith("More 25,000.")


def test_what_nobody_can_shorten_is_not_even_read() -> None:
    found = saved(TEAM, long(50_001))
    assert (found.status, found.reason) == ("error", "size")


ANIMALS = "otter heron badger lynx marten ibex osprey stoat weasel plover"
MANY = "\n".join(
    f"- 2025-{n // 28 + 1:02}-{n % 28 + 1:02}: station{n} counts {ANIMALS} and again {ANIMALS}"
    for n in range(170)
)
BIG = f"{TEAM}\n\n## Counts\n{MANY}"
SMALL = BIG.replace(f" and again {ANIMALS}", "")


def test_a_rewriting_that_says_everything_is_saved() -> None:
    found = settle(oversize(TEAM, BIG), f"Here:\n```markdown\n{SMALL}\n```")
    assert (found.status, found.memory_md, found.rev) == ("saved", SMALL, 8)
    assert found.notice == REWRITTEN == "Memory was automatically rewritten to fit within limits."


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Sorry.",
        "I am not able to make this text any shorter than it already is.",
        "NO_UPDATE",
        BIG,
        f"{TEAM}\n\n## Counts\n...",
        f"{TEAM}\n\n## Counts\n- {DAY}: all stations count {ANIMALS}",
        SMALL.replace("- 2025-05-09: Runa leads support", ""),
        SMALL.replace("## Counts", "## Preferences"),
        f"{SMALL}\n- {DAY}: token {KEY}",
        SMALL + "\x00",
        "k" * 60_000,
    ],
)
def test_any_other_rewriting_is_the_size_error(answer: str) -> None:
    found = settle(oversize(TEAM, BIG), answer)
    assert (found.status, found.reason, found.memory_md, found.rev) == ("error", "size", TEAM, 7)
    assert found.message.startswith("Memory has 28,741 characters")
    assert (found.notice, found.warnings) == (None, ())


def test_a_rewriting_keeps_what_was_told_about_the_update() -> None:
    found = settle(oversize(TEAM, f"Hello there!\n{BIG}"), SMALL)
    assert found.warnings[0] == "Text before the first heading was left out: Hello there!"


def test_scope_and_the_sensitive_gate_come_before_the_size() -> None:
    for more, reason in (("## Preferences", "scope"), (f"- {DAY}: token {KEY}", "sensitive")):
        found = save(
            TEAM, f"{BIG}\n{more}", rev=7, base=TEAM, visibility="team", find=find_sensitive
        )
        assert isinstance(found, Saved)
        assert found.reason == reason


def test_a_large_update_is_merged_in_seconds() -> None:
    old = "\n".join(("## A", *(f"- {DAY}: service {n} is Runa's" for n in range(900))))
    new = "\n".join(("## A", *(f"- {DAY}: service {n} is Mira's" for n in range(900, 2_100))))
    start = process_time()
    save(old, new, rev=1, base=old, visibility="team", find=find_sensitive)
    assert process_time() - start < 20
