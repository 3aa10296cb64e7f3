"""What a model or a person sends, freed of its wrapping."""

from __future__ import annotations

import pytest

from memstrata.domain.team_document.grammar import parse, render
from memstrata.domain.team_document.incoming import read, says_nothing, trimmed

BODY = "## Facts\n- 2025-09-08: k"


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        f"\ufeff \n\ufeff\t{BODY}\n\n",
        f"```\n{BODY}\n```",
        f"```markdown\n{BODY}\n```",
        f"\n~~~~ md\n{BODY}\n\n~~~~~\n",
        f"```md\r\n{BODY}\r\n```",
        f"Here is the update:\n\n```markdown\n{BODY}\n```\n\nAnything else?",
    ],
)
def test_a_wrapped_document_is_unwrapped(text: str) -> None:
    assert trimmed(text) == BODY


def test_a_wrapped_document_keeps_its_own_fences() -> None:
    inner = "## Facts\n```\n- 2025-09-09: code\n```\n- 2025-09-08: k"
    assert trimmed(f"```markdown\n{inner}\n```") == inner


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode\n```\n## Facts\n- 2025-09-08: k\n```\ncode\n```",
        "## Facts\n```\n- 2025-09-08: k\n```",
        "This:\n```\n## A\n```\nor that:\n```\n## B\n```",
        "```\nno document\n```",
        "````\n## A\n```",
    ],
)
def test_what_is_not_one_wrapped_document_stays(text: str) -> None:
    assert trimmed(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NO_UPDATE",
        "no update",
        "No-Change!",
        "`NO_CHANGE`",
        "「NO UPDATE」",
        "## NO_UPDATE",
        "- NO   UPDATE",
        f"NO{' ' * 60}UPDATE",
        "ＮＯ＿ＵＰＤＡＴＥ",
        "NO_\u200bUPDATE",
        "...",
        "k" * 40,
        "没有需要记住的内容。",
    ],
)
def test_a_text_that_says_that_there_is_nothing_to_save(text: str) -> None:
    assert says_nothing(trimmed(text))


@pytest.mark.parametrize(
    "text",
    ["k" * 41, "## F", "- 2025-09-08: NO_UPDATE", "## NO UPDATE yet", "- (2025-09-08) [fact] k"],
)
def test_a_text_that_says_something(text: str) -> None:
    assert not says_nothing(trimmed(text))


def test_chatter_is_dropped_and_what_the_document_holds_is_kept() -> None:
    held = parse("Read me first.\n\n## Facts\n- 2025-09-08: k")
    found = read("Here it is:\n\nRead  me first.\n\n## Facts\n- 2025-09-08: k", held)
    assert render(found.document) == "Read  me first.\n\n## Facts\n- 2025-09-08: k"
    assert found.dropped == ("Here it is:",)


@pytest.mark.parametrize(
    "text, rest, rest_of",
    [
        ("...\n## A\n- x\n## B", True, set()),
        ("Here:\n…\n\n## A\n## B", True, set()),
        ("## A\n- x\n...\n## B\n- y", False, {"a"}),
        ("## A\n\n  …\n- x\n## B\n- y", False, {"a"}),
        ("## A\n...\n## B\n- y", False, {"a"}),
        ("## A\n...\n\n…\n- x\n...\n...\n## B\n- y", False, {"a"}),
        ("## A\n- x\n## B\n- y\n\n...\n", True, {"b"}),
        ("## A\n- x\n...\n- z\n## B", False, set()),
        ("## A\n- x...\n- ...\n## B", False, set()),
        ("## A\n```\n...\n```\n## B", False, set()),
    ],
)
def test_three_dots_at_an_edge_stand_for_the_rest(text: str, rest: bool, rest_of: set[str]) -> None:
    found = read(text, parse(""))
    assert (found.rest, set(found.rest_of)) == (rest, rest_of)
    assert found.keeps("a") == (rest or "a" in rest_of)
    dots = any(line.text.strip() in ("...", "…") for line in found.document.raw_lines)
    assert dots == ("...\n- z" in text)
