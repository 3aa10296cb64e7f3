"""A candidate's file, what it is shown under, what it is known by, and the rule it becomes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.domain import build
from tests.domain.build import KEY, NOW

from memstrata.domain import elevation
from memstrata.domain.elevation import Elevation, Source
from memstrata.domain.memory import Evidence
from memstrata.errors import Corrupt, Invalid

ONE = Elevation(
    id="cand_1",
    name="Answers",
    description="Give the answer first",
    body="**Why:** time\n\n**How to apply:** always",
    sources=(Source("mem_1", 1), Source("mem_2", 3)),
    model="openai:m",
    created_at=NOW,
)


def test_its_file_says_all_of_it() -> None:
    data = elevation.render(ONE)
    assert elevation.parse(data, "candidates/user/cand_1.md", now=NOW) == ONE


def test_a_file_made_by_hand() -> None:
    text = "---\nname: Brevity\ndescription: Be brief\n---\n"
    found = elevation.parse(text.encode(), "x/cand_2.md", now=NOW)
    assert (found.id, found.name, found.sources, found.created_at) == ("cand_2", "Brevity", (), NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no front matter",
        "---\nname: a\n---\n",
        "---\nname: a\ndescription: d\nsources: x\n---\n",
        "---\nname: a\ndescription: d\nsources: [{id: ../x, version: 1}]\n---\n",
        "---\nname: a\ndescription: d\nsources: [{id: x, version: one}]\n---\n",
        "---\nname: [a]\ndescription: d\n---\n",
        "\udcff",
    ],
)
def test_what_cannot_be_read_is_corrupt(text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    with pytest.raises(Corrupt) as caught:
        elevation.parse(data, "candidates/user/cand_1.md", now=NOW)
    assert caught.value.path == "candidates/user/cand_1.md"


@pytest.mark.promise("consolidate.confirm")
def test_the_digest_is_of_all_that_is_shown() -> None:
    states = [("mem_1", 1, "d1", "active"), ("mem_2", 3, "d2", "active")]
    base = elevation.shown_digest(ONE, states)
    assert base == elevation.shown_digest(ONE, [list(one) for one in states])
    others = [
        elevation.shown_digest(build.replace(ONE, name="x"), states),
        elevation.shown_digest(build.replace(ONE, description="x"), states),
        elevation.shown_digest(build.replace(ONE, body="x"), states),
        elevation.shown_digest(ONE, states[:1]),
        elevation.shown_digest(ONE, [states[0], ("mem_2", 4, "d2", "active")]),
        elevation.shown_digest(ONE, [states[0], ("mem_2", 3, "d3", "active")]),
        elevation.shown_digest(ONE, [states[0], ("mem_2", 3, "d2", "expired")]),
    ]
    assert len({base, *others}) == 8


@pytest.mark.promise("consolidate.reject")
def test_it_is_known_by_its_sources_and_by_its_words() -> None:
    same = build.replace(
        ONE, id="cand_9", name="Other", sources=(Source("mem_2", 9), Source("mem_1", 1))
    )
    assert same.fingerprints == ONE.fingerprints
    shouted = build.replace(ONE, description="  GIVE the answer first")
    assert shouted.fingerprints == ONE.fingerprints
    reworded = build.replace(ONE, description="Answer first")
    assert reworded.fingerprints[0] == ONE.fingerprints[0]
    assert reworded.fingerprints[1] != ONE.fingerprints[1]
    assert len(build.replace(ONE, sources=()).fingerprints) == 1


@pytest.mark.promise("consolidate.confirm")
def test_the_rule_that_it_becomes() -> None:
    early = NOW - timedelta(days=3)
    sources = [
        build.memory(
            f"mem_{n}",
            type="feedback",
            name=f"n{n}",
            description=f"d{n}",
            priority=90 - n,
            confidence=0.6,
            entities=("answer", "Harrow"),
            evidence=(Evidence(f"m{n}", 0, 1, "q", "s"),),
            said_at=early,
        )
        for n in (1, 2)
    ]
    found = elevation.confirmed(ONE, sources, KEY, id="mem_9", now=NOW)
    assert (found.type, found.origin, found.authority) == ("feedback", "consolidation", "person")
    assert (found.priority, found.confidence, found.entities) == (88, 1.0, ("answer",))
    assert [one.message for one in found.evidence] == ["m1", "m2"]
    assert (found.said_at, found.valid_from) == (early, NOW)
    assert found.body == f"{ONE.body}\n\n## Sources\n\n- [mem_1] n1: d1\n- [mem_2] n2: d2"
    assert found.note == ""


@pytest.mark.promise("consolidate.confirm")
def test_in_chinese_and_without_sources() -> None:
    one = build.replace(ONE, name="回答", description="先给结论", body="")
    rule = build.memory("mem_1", type="feedback", name="报告", description="报告先写结论")
    found = elevation.confirmed(one, [rule], KEY, id="mem_9", now=NOW)
    assert found.body == "## 升华来源\n\n- [mem_1] 报告: 报告先写结论"
    assert found.note == "no reason given"
    alone = elevation.confirmed(one, [], KEY, id="mem_9", now=NOW)
    assert (alone.body, alone.priority) == ("", 80)


@pytest.mark.promise("consolidate.confirm")
def test_a_person_changes_words_and_nothing_else() -> None:
    found = elevation.worded(ONE, {"name": " Reply  style ", "description": "Be brief", "body": ""})
    assert (found.name, found.description, found.body) == ("Reply style", "Be brief", "")
    assert (found.sources, found.id) == (ONE.sources, ONE.id)
    for field, value in (("type", "user"), ("name", ""), ("name", 5), ("description", " ")):
        with pytest.raises(Invalid) as caught:
            elevation.worded(ONE, {field: value})
        assert caught.value.field == field


@pytest.mark.parametrize(
    "priorities, least", [([], 80), ([-1, -1], -1), ([-1, 90, 70], 70), ([0], 0)]
)
def test_the_least_priority(priorities: list[int], least: int) -> None:
    assert elevation.least_priority(priorities) == least
