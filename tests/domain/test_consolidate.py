"""What may become one memory, what a general rule, and when it is time to ask."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.domain import build
from tests.domain.build import NOW

from memstrata.domain import consolidate
from memstrata.domain.consolidate import Rhythm, Run, Wording
from memstrata.domain.elevation import Elevation
from memstrata.domain.memory import UNREVIEWED, Evidence, Memory
from memstrata.domain.scope import Key

RHYTHM = Rhythm(30, timedelta(days=7))
TEA = Wording("Drinks", "Prefers mint tea to coffee in the morning", "Mint tea, in the morning.")


def ran(days: float, problem: str = "") -> Run:
    return Run("run_1", NOW - timedelta(days=days), problem)


@pytest.mark.promise("consolidate.due")
@pytest.mark.parametrize(
    "valid, full, last, due",
    [
        (29, False, None, False),
        (30, False, None, True),
        (30, False, ran(6.9), False),
        (30, False, ran(7), True),
        (30, True, ran(0.9), False),
        (30, True, ran(1), True),
        (29, True, None, False),
        (30, False, ran(0.9, "no answer"), False),
        (30, False, ran(1, "no answer"), True),
    ],
)
def test_when_it_is_due(valid: int, full: bool, last: Run | None, due: bool) -> None:
    assert consolidate.is_due(valid, full, last, RHYTHM, NOW) is due


@pytest.mark.promise("consolidate.due")
def test_an_interval_shorter_than_a_day_stays_as_it_is() -> None:
    assert consolidate.is_due(2, True, ran(0.01), Rhythm(2, timedelta()), NOW)
    hour = Rhythm(2, timedelta(hours=1))
    assert not consolidate.is_due(2, True, ran(0.01), hour, NOW)
    assert consolidate.is_due(2, False, ran(0.05), hour, NOW)


def teas(**second: Any) -> list[Memory]:
    one = build.memory("mem_1", name="a", description="Prefers mint tea to coffee")
    told = {"name": "b", "description": "Prefers mint tea in the morning"} | second
    return [one, build.memory("mem_2", **told)]


def merge(sources: list[Memory], wording: Wording = TEA) -> Memory | str:
    return consolidate.merged(sources, wording, id="mem_new", now=NOW, zone=UTC)


def made(sources: list[Memory], wording: Wording = TEA) -> Memory:
    found = merge(sources, wording)
    assert isinstance(found, Memory), found
    return found


@pytest.mark.promise("consolidate.merge")
def test_several_that_say_the_same_become_one() -> None:
    early, late = NOW - timedelta(days=9), NOW - timedelta(days=2)
    quotes = (Evidence("m1", 0, 4, "mint", "s"), Evidence("m2", 0, 4, "mint", "s"))
    one, two = teas(
        evidence=quotes[1:], said_at=late, valid_from=late, confidence=0.7, entities=("Mint",)
    )
    one = build.replace(one, evidence=quotes[:1], said_at=early, valid_from=early, priority=90)
    found = made([one, two])
    assert (found.id, found.version, found.origin) == ("mem_new", 1, "consolidation")
    assert (found.description, found.body) == (TEA.description, TEA.body)
    assert (found.evidence, found.said_at) == (quotes, late)
    assert (found.confidence, found.priority) == (0.7, 60)
    assert found.entities == ("Mint",)
    assert found.valid_from == late
    for old in (one, two):
        ended = consolidate.ended(old, found, NOW)
        assert (ended.invalid_at, ended.superseded_by) == (late, "mem_new")
        assert (ended.retired_at, ended.version) == (NOW, 2)


@pytest.mark.promise("consolidate.merge")
def test_a_body_that_only_says_the_line_again_is_none() -> None:
    assert made(teas(), Wording("x", TEA.description, TEA.description.upper())).body == ""


@pytest.mark.promise("consolidate.merge-limits")
@pytest.mark.parametrize(
    "second, why",
    [
        ({"key": Key(build.ANN, "agent", "coder")}, "different scopes"),
        ({"type": "project"}, "different types"),
        ({"type": "episodic"}, "different types"),
        ({"subject": "Ines"}, ""),
        ({"slot": "drink"}, ""),
        ({"priority": -1}, "standing rules"),
        ({"authority": "assistant"}, "user's words"),
        ({"valid_until": date(2027, 1, 1)}, "different days"),
        ({"happened_from": date(2025, 1, 1)}, "different days"),
        ({"invalid_at": NOW}, "not valid"),
        ({"archived": True}, "not valid"),
        ({"note": UNREVIEWED}, "not to be touched"),
        ({"body": "x" * 2_001}, "not to be touched"),
        ({"description": "Never prefers mint tea in the morning"}, "denies"),
        ({"description": "Prefers 3 cups of mint tea in the morning"}, "drops '3'"),
        ({"description": "Prefers mint tea of Harrow in the morning"}, "drops 'Harrow'"),
        ({"description": "Keeps bees behind the house"}, "of mem_2"),
        ({"body": "Since 2019, he says."}, "drops '2019'"),
    ],
)
def test_what_may_not_be_merged(second: dict[str, Any], why: str) -> None:
    found = merge(teas(**second))
    if why:
        assert isinstance(found, str)
        assert why in found
    else:
        assert isinstance(found, Memory)


@pytest.mark.promise("consolidate.merge-limits")
def test_never_across_subjects_or_slots() -> None:
    one, two = teas(subject="Ines", slot="b")
    assert merge([build.replace(one, subject="Tomo"), two]) == "they are about different subjects"
    assert merge([build.replace(one, slot="a"), two]) == "they have different slots"
    both = merge([build.replace(one, subject="Ines", slot="b"), two])
    assert isinstance(both, Memory)
    assert (both.subject, both.slot) == ("Ines", "b")


@pytest.mark.promise("consolidate.merge-limits")
@pytest.mark.parametrize(
    "description, body, why",
    [
        ("Prefers mint tea of Ceylon in the morning to coffee", "as said", "'Ceylon'"),
        ("Prefers 2 mint teas to coffee in the morning", "as said", "'2'"),
        ("Prefers mint tea to coffee in the morning", "Since May 2021.", "'2021'"),
        ("Owns a payment key that always works", "as said", "drops"),
    ],
)
def test_nothing_may_be_added(description: str, body: str, why: str) -> None:
    found = merge(teas(), Wording("x", description, body))
    assert isinstance(found, str)
    assert why in found


@pytest.mark.promise("consolidate.merge-limits")
@pytest.mark.parametrize(
    "one, two, whole, dropped",
    [
        ("Prefers tea", "Prefers coffee", "Prefers tea", "coffe"),
        ("Prefers tea", "Prefers coffee", "Prefers tea or coffee", ""),
        ("Likes green tea in summer", "Likes black tea in summer", "Likes green tea", "summer"),
        ("Likes green tea in summer", "Likes black tea", "Likes green tea in summer", "black"),
        ("喜欢喝茶", "喜欢喝咖啡", "喜欢喝茶", "喝咖"),
        ("喜欢喝茶", "喜欢喝咖啡", "喜欢喝茶和喝咖啡", ""),
    ],
)
def test_no_value_is_lost(one: str, two: str, whole: str, dropped: str) -> None:
    sources = [
        build.memory(f"mem_{n}", name=f"n{n}", description=text)
        for n, text in enumerate((one, two))
    ]
    found = merge(sources, Wording("x", whole, whole))
    if dropped:
        assert isinstance(found, str)
        assert f"it drops {dropped!r}" in found
    else:
        assert isinstance(found, Memory)


@pytest.mark.promise("consolidate.merge-limits")
def test_a_body_may_be_put_otherwise_and_not_be_lost() -> None:
    why = "**Why:** the doctor said so. **How to apply:** at breakfast"
    sources = teas(body=why)
    kept = Wording("x", TEA.description, "The doctor said so: apply at breakfast.")
    assert isinstance(merge(sources, kept), Memory)
    assert "it drops" in str(merge(sources, Wording("x", TEA.description, "Mint tea.")))


@pytest.mark.promise("consolidate.merge-limits")
def test_two_to_ten_are_merged() -> None:
    many = [
        build.memory(f"mem_{n}", name=f"n{n}", description="Prefers mint tea to coffee")
        for n in range(11)
    ]
    wording = Wording("x", "Prefers mint tea to coffee", "as it is")
    assert isinstance(merge(many[:10], wording), Memory)
    assert "2 to 10" in str(merge(many, wording))
    assert "2 to 10" in str(merge(many[:1], wording))


@pytest.mark.promise("consolidate.merge")
def test_standing_rules_stay_standing_and_a_person_goes_on_standing() -> None:
    rules = [
        build.memory(f"mem_{n}", name=f"n{n}", type="feedback", description=text, priority=-1)
        for n, text in enumerate(("Never write long mails", "Never write long mails to her"))
    ]
    wording = Wording("Mails", "Never write long mails to her", "**Why:** she said so")
    found = made([rules[0], build.replace(rules[1], authority="user")], wording)
    assert (found.priority, found.authority) == (-1, "person")


@pytest.mark.promise("consolidate.merge")
def test_chinese() -> None:
    one = build.memory("mem_1", name="茶", description="喜欢喝薄荷茶,不加糖")
    two = build.memory("mem_2", name="早茶", description="早上不加糖喝薄荷茶")
    wording = Wording("喝茶", "早上喜欢喝薄荷茶,不加糖", "早上喝薄荷茶,一直不加糖。")
    assert made([one, two], wording).description == "早上喜欢喝薄荷茶,不加糖"
    other = Wording("喝茶", "早上喜欢喝3杯薄荷茶,不加糖", "同上")
    assert "'3'" in str(merge([one, two], other))


@pytest.mark.promise("consolidate.without-model")
def test_what_is_the_same_word_for_word() -> None:
    one, two, three = (
        build.memory(f"mem_{n}", name=f"n{n}", description=text, said_at=NOW - timedelta(days=n))
        for n, text in enumerate(("Likes  Café", "likes café", "Likes cafés"))
    )
    other = build.memory("mem_x", name="x", description="likes café", type="project")
    (group,) = consolidate.same([one, two, three, other])
    assert [memory.id for memory in group] == ["mem_0", "mem_1"]
    assert consolidate.wording_of(group, NOW) == Wording("n0", "Likes  Café", "")
    assert isinstance(merge(group, consolidate.wording_of(group, NOW)), Memory)


# -- general rules ----------------------------------------------------------------------------------

RULE = Wording("Answers", "Give the answer before the reasons", "**Why:** time is short")


def rules(**second: Any) -> list[Memory]:
    told = [
        ("mem_1", "Give the answer first in mails"),
        ("mem_2", "Give the answer first in reports"),
    ]
    one, two = (build.memory(id, name=id, type="feedback", description=text) for id, text in told)
    return [one, build.replace(two, **second)]


def elevate(
    sources: list[Memory], wording: Wording = RULE, known: dict[str, str] | None = None
) -> Elevation | str:
    return consolidate.elevated(
        sources, wording, known or {}, id="cand_1", model="m", now=NOW, zone=UTC
    )


@pytest.mark.promise("consolidate.elevate")
def test_scattered_rules_become_a_candidate() -> None:
    found = elevate(rules())
    assert isinstance(found, Elevation)
    assert [(one.id, one.version) for one in found.sources] == [("mem_1", 1), ("mem_2", 1)]
    assert (found.name, found.body, found.model) == ("Answers", "**Why:** time is short", "m")
    assert elevate(rules(), known=dict.fromkeys(found.fingerprints[:1], "rejected")) == "rejected"
    assert elevate(rules(), known=dict.fromkeys(found.fingerprints[1:], "rejected")) == "rejected"


@pytest.mark.promise("consolidate.elevate")
@pytest.mark.parametrize(
    "second, why",
    [
        ({"type": "user"}, "only rules of conduct"),
        ({"invalid_at": NOW}, "not valid"),
        ({"note": UNREVIEWED}, "not to be touched"),
        ({"description": "GIVE the answer before the reasons"}, "mem_2 says it already"),
    ],
)
def test_what_is_not_proposed(second: dict[str, Any], why: str) -> None:
    assert why in str(elevate(rules(**second)))


@pytest.mark.promise("consolidate.elevate")
def test_a_general_rule_adds_no_name_and_needs_two_sources() -> None:
    added = Wording("x", "Give the answer first in mails to Brightwater", "b")
    assert "'Brightwater'" in str(elevate(rules(), added))
    assert "at least 2" in str(elevate(rules()[:1]))


def test_what_was_weighed_is_told_by_versions() -> None:
    one, two = teas()
    assert consolidate.seen([one, two]) == consolidate.seen([two, one])
    assert consolidate.seen([one]) != consolidate.seen([build.replace(one, version=2)])


@pytest.mark.promise("consolidate.merge")
def test_what_begins_later_than_now_ends_now() -> None:
    future = datetime(2027, 1, 1, tzinfo=UTC)
    one, two = teas(valid_from=future)
    found = made([one, two])
    assert found.valid_from == NOW
    assert consolidate.ended(two, found, NOW).status(NOW, UTC) == "invalid"
