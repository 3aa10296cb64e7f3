"""Laws that hold whatever is sent."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.domain.team_document import texts

from memstrata.domain.redact import find_sensitive
from memstrata.domain.team_document import (
    HARD,
    Oversize,
    Saved,
    Visibility,
    parse,
    render,
    save,
    settle,
)
from memstrata.domain.team_document.guard import allowed, weigh
from memstrata.domain.team_document.units import units

WHOSE: st.SearchStrategy[Visibility] = st.sampled_from(["team", "private"])


def outcome(
    current: str,
    sent: object,
    base: str | None,
    whose: Visibility,
    *,
    allow: bool = False,
    model: str | None = None,
) -> Saved:
    """What becomes of an update, with or without a model."""
    found = save(
        current,
        sent,
        rev=7,
        base=base,
        visibility=whose,
        find=find_sensitive,
        allow_deletions=allow,
    )
    return settle(found, model) if isinstance(found, Oversize) else found


@given(texts.DOCUMENTS, texts.ANY, st.none() | texts.ANY, WHOSE, st.booleans())
def test_no_text_empties_a_document(
    current: str, sent: str, base: str | None, whose: Visibility, allow: bool
) -> None:
    found = outcome(current, sent, base, whose, allow=allow)
    assert found.memory_md
    if found.status != "saved":
        assert (found.memory_md, found.rev) == (current, 7)
    if not allow and parse(current).lines:
        assert parse(found.memory_md).lines


@given(texts.DOCUMENTS, texts.ANY)
def test_no_text_takes_more_than_the_guard_allows(current: str, sent: str) -> None:
    found = outcome(current, sent, current, "private")
    before, after = (units(parse(text)) for text in (current, found.memory_md))
    assert len(after) >= len(before) - allowed(weigh(before))


@given(texts.DOCUMENTS, texts.ANY)
def test_without_a_base_every_line_stays_or_is_said_again(current: str, sent: str) -> None:
    found = outcome(current, sent, None, "private")
    assert len(parse(found.memory_md).lines) >= len(parse(current).lines)


@given(texts.DOCUMENTS, texts.ANY, WHOSE, st.booleans())
def test_what_is_stored_is_rendered(
    current: str, sent: str, whose: Visibility, allow: bool
) -> None:
    found = outcome(current, sent, current, whose, allow=allow)
    assert render(parse(found.memory_md)) == found.memory_md


@given(texts.ANY, WHOSE)
def test_saving_the_same_again_changes_nothing(sent: str, whose: Visibility) -> None:
    once = outcome("", sent, "", whose)
    again = outcome(once.memory_md, once.memory_md, once.memory_md, whose)
    assert again.memory_md == once.memory_md
    assert again.rev == 7
    assert again.retained == ()


@given(texts.DOCUMENTS, texts.ANY, texts.ANY)
def test_what_two_added_is_there_whoever_was_first(start: str, one: str, other: str) -> None:
    """Both append to what they were shown; what was there and what both wrote stands in the end."""
    mine, yours = (texts.stored(f"{start}\n\n{text}") for text in (one, other))
    assume(mine and yours)
    for current, sent in ((mine, yours), (yours, mine)):
        found = outcome(current, sent, start, "private")
        stands = {unit.key.text for unit in units(parse(found.memory_md))}
        shown = {unit.key for unit in units(parse(start))}
        for unit in (*units(parse(mine)), *units(parse(yours))):
            stays = unit.key in shown or unit.key.text in stands
            assert found.status == "error" or stays


@settings(max_examples=60)
@given(texts.ANY, st.integers(0, 3), st.none() | texts.ANY, st.sampled_from(["", "\n- k", "\n\n"]))
def test_nothing_longer_than_the_hard_limit_is_stored(
    sent: str, times: int, model: str | None, glue: str
) -> None:
    whole = glue.join([f"## A\n- {texts.DAY}: " + "k" * 8_300, sent] * times)
    current = ""
    for _ in range(2):
        current = outcome(current, whole, None, "private", model=model).memory_md
        assert len(current) <= HARD
