"""The black-box cases of team memory: a document, an update made from it, what must be stored. Names are invented."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from memstrata.domain.redact import find_sensitive
from memstrata.domain.team_document import Oversize, Reason, Saved, Status, Visibility, save, settle

HERS = "## Facts\n- 2025-06-02: Runa leads support\n\n## Preferences\n- 2025-06-03: Runa wants brief answers"
TEAMS = (
    "## Project Facts\n- 2025-07-01: Builds are cut on Mondays\n\n"
    "## Engineering Conventions\n- 2025-07-02: Schema changes need a second reader"
)
DATED = "- 2025-09-08: k1"


@dataclass(frozen=True, slots=True)
class Case:
    """`stored` is the document afterwards, the old one unless given; `bullets` how many are non-standard."""

    name: str
    sent: str
    status: Status = "saved"
    stored: str | None = None
    old: str = ""
    reason: Reason | None = None
    bullets: int = 0
    whose: Visibility = "private"
    model: str | None = None
    soft: bool = False


def same(name: str, text: str, bullets: int = 0) -> Case:
    """A text that is stored as it is."""
    return Case(name, text, stored=text, bullets=bullets)


def under_f(name: str, line: str, bullets: int = 1) -> Case:
    """One line under one heading, stored as it is."""
    return same(name, f"## F\n{line}", bullets)


def nothing(name: str, text: str, old: str = HERS) -> Case:
    """A text that says there is nothing to save."""
    return Case(name, text, "no_op", old=old)


def no_document(name: str, text: str) -> Case:
    """A text that is neither a document nor nothing."""
    return Case(name, text, "error", old=HERS, reason="heading")


def personal(name: str, heading: str, old: str = "") -> Case:
    """A heading that no team document takes."""
    return Case(name, f"## {heading}\n{DATED}", "error", old=old, reason="scope", whose="team")


def filled(length: int) -> str:
    """A document of that many characters."""
    start = "## Facts\n- 2025-09-08: "
    return start + "w" * (length - len(start))


def too_long(name: str, length: int, model: str | None = None) -> Case:
    """A document that does not fit, and what a model makes of it."""
    return Case(name, filled(length), "error", old=HERS, reason="size", model=model)


CASES = (
    Case(
        "a first entry",
        "## Now\n- 2025-09-08: Runa moves the invoice job\n",
        stored="## Now\n- 2025-09-08: Runa moves the invoice job",
    ),
    Case(
        "an old entry without a heading",
        "- (2025-09-08) [instr] Write to Runa in Dutch\n",
        stored="## Memory\n- 2025-09-08: Write to Runa in Dutch",
    ),
    Case(
        "an old entry beside a new one",
        "## Facts\n- 2025-09-08: Runa has invoices\n- (2025-09-09) [pref] Runa likes charts\n",
        stored="## Facts\n- 2025-09-08: Runa has invoices\n- 2025-09-09: Runa likes charts",
    ),
    Case(
        "chatter before the document",
        "All set! This is the new text.\n\n## Facts\n- 2025-09-08: Runa has invoices\n",
        stored="## Facts\n- 2025-09-08: Runa has invoices",
    ),
    no_document("chatter alone", "I read what was said and saw nothing that should be kept."),
    nothing("no change, with an underscore", "NO_CHANGE"),
    nothing("no change, in any case", "\n  no Change \n"),
    Case(
        "instructions into a team document",
        "## Instructions\n- 2025-09-08: Write to Runa in Dutch\n",
        "error",
        old=TEAMS,
        reason="scope",
        whose="team",
    ),
    Case(
        "a question of the team",
        "## Open Questions\n- 2025-09-08: Do we leave Python 3.11?\n",
        stored="## Open Questions\n- 2025-09-08: Do we leave Python 3.11?",
        whose="team",
    ),
    Case(
        "an old personal marker in a team document",
        "- (2025-09-08) [pref] The old marker can be read\n",
        stored="## Memory\n- 2025-09-08: The old marker can be read",
        whose="team",
    ),
    nothing("no update, with a blank", "NO UPDATE"),
    nothing("no update, mixed", "No_Update\n"),
    no_document("one character too long for nothing", "k" * 41),
    no_document(
        "a long bullet without a day", "- Takes his coffee black and without any sugar, always"
    ),
    no_document("a lower heading alone", "### Just a lower heading and after it a line of text"),
    Case(
        "a lower heading before an entry",
        "### Lower\n- 2025-09-08: Dated, below a lower one",
        stored="## Memory\n- 2025-09-08: Dated, below a lower one",
    ),
    Case(
        "a heading without its blank",
        "##Facts\n- 2025-09-08: that was no heading",
        stored="## Memory\n- 2025-09-08: that was no heading",
    ),
    Case(
        "a heading with a tab",
        "##\tFacts\n- 2025-09-08: nor was that one",
        stored="## Memory\n- 2025-09-08: nor was that one",
    ),
    Case("a heading that is set in", f"  ## Facts\n{DATED}", stored=f"## Facts\n{DATED}"),
    Case(
        "blanks in a heading",
        f"##   House    Rules  \n{DATED}",
        stored=f"## House    Rules\n{DATED}",
    ),
    same("a Chinese heading", "## 小组惯例\n- 2025-09-08: 周二发布"),
    same("one heading twice", f"## Facts\n{DATED}\n\n## Facts\n{DATED}"),
    under_f("an old marker in capitals", "- (2025-09-08) [Fact] k"),
    under_f("an old marker without its blank", "- (2025-09-08)[fact] k"),
    under_f("an old entry on no day", "- (2025-02-30) [fact] k"),
    under_f("two old markers", "- (2025-09-08) [fact][pref] k"),
    under_f("an old marker without a day", "- [pref] k"),
    under_f("a day that is none", "- 2025-02-30: k"),
    under_f("a short day", "- 2025-9-8: k"),
    under_f("a colon without its blank", "- 2025-09-08:k"),
    under_f("a blank before the colon", "- 2025-09-08 : k"),
    under_f("two blanks after the dash", "-  2025-09-08: k"),
    Case(
        "blanks in an entry", "## F\n- 2025-09-08:    k   l  ", stored="## F\n- 2025-09-08: k   l"
    ),
    under_f("colons in an entry", "- 2025-09-08: k: l: m", bullets=0),
    under_f("a leap day", "- 2024-02-29: leap", bullets=0),
    under_f("other bullets", "* 2025-09-08: one\n+ 2025-09-08: two\n1. three", bullets=0),
    under_f("a box to tick", "- [ ] ring the plumber"),
    under_f("a very long bullet", f"- {'v' * 100}"),
    Case(
        "lines that end with a carriage return",
        "## A\r\n- 2025-09-08: k1\r\n\r\n- 2025-09-09: l1\r\n## B\r\n\r\n- 2025-09-10: m1\r\n",
        stored="## A\n- 2025-09-08: k1\n\n- 2025-09-09: l1\n\n## B\n\n- 2025-09-10: m1",
    ),
    personal("preferences with a colon", "preferences:"),
    personal("bold instructions", "**Instructions**"),
    personal("personal instructions with an underscore", "Personal_Instructions"),
    personal("preferences beside what there is", "Preferences", TEAMS),
    Case(
        "preferences in a private document",
        f"## Preferences\n{DATED}",
        stored=f"## Preferences\n{DATED}",
    ),
    Case(
        "another text on the same day",
        f"## F\n- 2025-09-08: {'m' * 21}",
        old=f"## F\n- 2025-09-08: {'n' * 81}",
        stored=f"## F\n- 2025-09-08: {'m' * 21}",
    ),
    Case(
        "headings spelled otherwise",
        HERS.replace("## Facts", "## FACTS!").replace("\n\n## Preferences", "\n## preferences"),
        old=HERS,
        stored=HERS.replace("## Facts", "## FACTS!").replace("## Preferences", "## preferences"),
    ),
    Case(
        "an entry that gets a heading",
        "## Notes\n- 2025-06-02: Runa leads support",
        old="- 2025-06-02: Runa leads support",
        stored="## Notes\n- 2025-06-02: Runa leads support",
    ),
    nothing("no update, with a full stop", "NO_UPDATE."),
    nothing("no update, in quotes", '"NO_UPDATE"'),
    nothing("no update, in one word", "NOUPDATE"),
    nothing("no update, with two blanks", "NO  UPDATE"),
    nothing("a short sentence", "There is nothing to add."),
    nothing("a short bullet without a day", "- Takes sugar"),
    nothing("blanks", "   \n\t\n"),
    nothing("an empty text", ""),
    nothing("an empty text for an empty document", "", old=""),
    Case(
        "an entry before the first heading",
        f"- 2025-09-07: alone\n\n## Facts\n{DATED}",
        stored=f"## Memory\n- 2025-09-07: alone\n\n## Facts\n{DATED}",
    ),
    Case("a byte order mark", f"\ufeff## Facts\n{DATED}", stored=f"## Facts\n{DATED}"),
    same("a heading in a code fence", f"## Facts\n```\n## no heading at all\n```\n{DATED}"),
    under_f("a day of a week", "- 2025-W37-1: k"),
    personal("a user's preferences", "User Preferences"),
    personal("one preference", "Preference"),
    personal("preferences with something invisible", "Pre\u200bferences"),
    personal("Chinese preferences", "偏好"),
    Case(
        "a key",
        "## Project Facts\n- 2025-09-08: deploy token ghp_9876543210zyxwvutsrqZYXWVUTSRQ987654",
        "error",
        reason="sensitive",
        whose="team",
    ),
    same("the soft limit", filled(18_000)),
    Case("above the soft limit", filled(18_001), stored=filled(18_001), soft=True),
    Case("the hard limit", filled(25_000), stored=filled(25_000), soft=True),
    too_long("above the hard limit", 25_001),
    too_long("a model that says sorry", 26_000, "Alas."),
    too_long("a model that cannot", 26_000, "This text is one that I cannot make any shorter."),
    too_long("a model that says nothing", 26_000, ""),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_team_memory(case: Case) -> None:
    found = outcome(case)
    assert found.status == case.status
    assert found.memory_md == (case.old if case.stored is None else case.stored)
    assert found.reason == case.reason
    assert len(found.format_warnings) == case.bullets
    assert any("soft limit" in warning for warning in found.warnings) == case.soft
    assert found.rev == (8 if case.status == "saved" else 7)


def outcome(case: Case) -> Saved:
    """What becomes of a case, revision 7 being the current one and the base."""
    found = save(
        case.old, case.sent, rev=7, base=case.old, visibility=case.whose, find=find_sensitive
    )
    return settle(found, case.model) if isinstance(found, Oversize) else found


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
