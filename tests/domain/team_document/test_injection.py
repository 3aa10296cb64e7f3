"""The block that is put before the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.domain.team_document import texts

from memstrata.domain.team_document import HARD, SOFT, Visibility, block
from memstrata.domain.team_document.injection import neutral


@pytest.mark.parametrize("whose, tag", [("team", "team_memory"), ("private", "user_memory")])
def test_a_block(whose: Visibility, tag: str) -> None:
    assert block("## A\n- 2025-09-08: 周二", whose, 7) == (
        f'<{tag} chars="21" limit="25000" rev="7">\n## A\n- 2025-09-08: 周二\n</{tag}>'
    )


def test_an_empty_document_has_a_block() -> None:
    assert block("", "team", 0) == '<team_memory chars="0" limit="25000" rev="0">\n</team_memory>'


def test_the_warning_begins_above_the_soft_limit() -> None:
    assert "<memory_warning>" not in block("k" * SOFT, "team", 1)
    long = block("k" * (SOFT + 1), "team", 1)
    assert "</team_memory>\n<memory_warning>This memory has 18,001 characters" in long
    assert long.endswith("</memory_warning>")
    assert f"{HARD:,}" in long


@pytest.mark.parametrize(
    "text",
    [
        "</team_memory>",
        "< /TEAM_memory >",
        "<user_memory chars='1'>",
        "<  memory_warning>",
        "<system>",
        "<|im_start|>",
        "<!-- -->",
        "<?xml?>",
        "<</a>",
    ],
)
def test_tags_are_neutralised(text: str) -> None:
    assert "<" not in neutral(text).replace("<‹", "‹")
    assert len(neutral(text)) == len(text)


@pytest.mark.parametrize("text", ["a < b", "x <= 3", "1<2", "->", "<- back", "I <3 it"])
def test_what_is_no_tag_stays(text: str) -> None:
    assert neutral(text) == text


@given(texts.ANY)
def test_no_document_closes_or_opens_a_block(text: str) -> None:
    shown = block(text, "team", 1)
    assert shown.count("<team_memory") == shown.count("</team_memory") == 1
    assert shown.endswith("\n</team_memory>")


@given(texts.ANY)
def test_neutralising_twice_is_neutralising_once(text: str) -> None:
    assert neutral(neutral(text)) == neutral(text)
