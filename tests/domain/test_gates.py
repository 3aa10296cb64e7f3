"""The gates, each by its table, in English and Chinese, and the order in which they speak."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.build import candidate, message

from memstrata.domain import gates
from memstrata.domain.gates import Limits
from memstrata.domain.memory import STANDING_RULE, TYPES, Authority, Evidence, Type
from memstrata.domain.turn import Message

LIMITS = Limits(0.6, {"user": 100, "project": 200, "agent": 50}, 1_000, gates.compile_transient())

# -- 1 transient -----------------------------------------------------------------------------------

TRANSIENT = [
    "Temporarily uses the old cluster",
    "Wants a temporary key",
    "Skip the tests this time",
    "This one time without a review",
    "Has just now restarted the server",
    "Stays on main for now",
    "Works from the kitchen for today",
    "Is tired at the moment",
    "No meat for the time being",
    "Right now prefers quiet",
    "Today only: no calls",
    "Is currently debugging the importer",
    "A one-off export",
    "临时使用旧集群",
    "这次不用写测试",
    "这一次先跳过",
    "本次发布不走审批",
    "目前先用本地缓存",
    "暂时关闭通知",
    "先这样处理",
    "刚才重启了服务",
]
LASTING = [
    "Moved to Lyon on 3 May",
    "Freeze until 2026-10-31",
    "Works on time management",
    "Lives in the Right Bank quarter",
    "Currently lives in Bergen",
    "Justin owns the billing service",
    "Knows the present perfect",
    "五月三日搬到里昂",
    "冻结到2026-10-31",
    "做过三年临时工",
    "目前在青禾科技上班",
    "每次都先写测试",
]


@pytest.mark.promise("gate.transient")
@pytest.mark.parametrize("text", TRANSIENT)
def test_the_moment_is_refused_in_name_and_description(text: str) -> None:
    for fields in ({"description": text}, {"name": text.upper()}):
        refusal = gates.transient(candidate(**fields), LIMITS.transient)
        assert refusal is not None
        assert (refusal.gate, refusal.verdict) == ("transient", "transient")


@pytest.mark.promise("gate.transient")
@pytest.mark.parametrize("text", LASTING)
def test_what_lasts_passes(text: str) -> None:
    assert gates.transient(candidate(description=text, name=text), LIMITS.transient) is None


def test_the_body_may_speak_of_the_moment() -> None:
    assert gates.transient(candidate(body="just now"), LIMITS.transient) is None


@pytest.mark.promise("gate.patterns")
def test_patterns_are_extended_and_not_replaced() -> None:
    patterns = gates.compile_transient([r"\bbis auf weiteres\b"])
    assert gates.transient(candidate(description="Gilt BIS AUF WEITERES"), patterns) is not None
    assert gates.transient(candidate(description="this time"), patterns) is not None


def test_a_bad_pattern_is_an_error() -> None:
    with pytest.raises(re.error):
        gates.compile_transient(["("])


# -- 2 confidence, floors, authority, workspace ------------------------------------------------------


@pytest.mark.promise("gate.confidence")
@pytest.mark.parametrize("found, refused", [(0.59, True), (0.6, False), (1.0, False), (0.0, True)])
def test_confidence(found: float, refused: bool) -> None:
    refusal = gates.confidence(candidate(confidence=found), 0.6)
    assert (refusal is not None) == refused
    if refusal:
        assert (refusal.gate, refusal.verdict) == ("confidence", "low_confidence")


FLOORS: dict[Type, int] = {
    "user": 50,
    "feedback": 70,
    "project": 50,
    "reference": 50,
    "episodic": 60,
}


@pytest.mark.promise("gate.priority")
@pytest.mark.parametrize("type", TYPES)
def test_floors(type: Type) -> None:
    floor = FLOORS[type]
    for found in (floor, floor + 1, 100, None):
        assert gates.priority(candidate(type=type, priority=found)) is None
    for found in (floor - 1, 0):
        refusal = gates.priority(candidate(type=type, priority=found))
        assert refusal is not None
        assert (refusal.verdict, refusal.reason.split()[1]) == ("low_priority", str(found))


@pytest.mark.promise("gate.priority")
@pytest.mark.parametrize("type", TYPES)
def test_only_feedback_may_be_a_standing_rule(type: Type) -> None:
    refusal = gates.priority(candidate(type=type, priority=STANDING_RULE))
    assert (refusal is None) == (type == "feedback")


@pytest.mark.promise("gate.authority")
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("who", ["user", "person", "assistant", "tool"])
def test_authority(type: Type, who: Authority) -> None:
    refusal = gates.authority(candidate(type=type, authority=who))
    refused = who in ("assistant", "tool") and type in ("user", "feedback")
    assert (refusal is not None) == refused
    if refusal:
        assert (refusal.verdict, refusal.reason) == ("authority", f"only the {who} said so")


@pytest.mark.promise("gate.workspace")
@pytest.mark.parametrize(
    "scope, has, refused",
    [
        ("project", False, True),
        ("project", True, False),
        ("user", False, False),
        ("agent", False, False),
    ],
)
def test_a_project_candidate_needs_a_workspace(scope: str, has: bool, refused: bool) -> None:
    refusal = gates.workspace(candidate(scope=scope), has)
    assert (refusal is not None) == refused
    if refusal:
        assert refusal.verdict == "no_workspace"


# -- 2 support -------------------------------------------------------------------------------------


def supported(description: str, said: str, quote: str | None = None, **fields: Any) -> bool:
    quoted = Evidence("m1", 0, 0, said if quote is None else quote, "chat")
    one = candidate(description=description, evidence=(quoted,), **fields)
    refusal = gates.support(one, messages(said))
    if refusal:
        assert (refusal.gate, refusal.verdict) == ("confidence", "unsupported")
    return refusal is None


def messages(*said: str) -> dict[tuple[str, str], Message]:
    return {("chat", f"m{n}"): message(text, id=f"m{n}") for n, text in enumerate(said, start=1)}


FOLDED = [
    ("“Ines’s” tea", '"ines\'s" TEA'),
    ("a — b – c ‑ d − e", "a - b - c - d - e"),
    ("ＦＵＬＬ　ｗｉｄｔｈ １２", "full width 12"),
    ("Straße", "STRASSE"),
    ("a \n\t b", "a b"),
    ("「茶」と『茶』", '"茶"と"茶"'),
    ("ﬁle", "file"),
    ("`x` ´y´", "'x' 'y'"),
]


@pytest.mark.parametrize("one, other", FOLDED)
def test_quotes_are_compared_folded(one: str, other: str) -> None:
    assert gates.folded(one) == gates.folded(other)
    assert supported("Likes it", f"{one} and much more", f"{other} and much")


@given(st.text())
def test_folding_is_done_once(text: str) -> None:
    once = gates.folded(text)
    assert gates.folded(once) == once


@pytest.mark.promise("gate.support")
@pytest.mark.parametrize(
    "said, quote, enough",
    [
        ("I prefer tea to coffee", "I prefer tea", True),
        ("I prefer tea to coffee", "i PREFER  tea", True),
        ("I prefer tea to coffee", "I like tea a lot", False),
        ("I prefer tea to coffee", "tea", False),
        ("I prefer tea to coffee", "prefer te", True),
        ("I prefer tea to coffee", "prefer", False),
        ("12345678 90 and more", "12345678 90", False),
        ("我喜欢喝绿茶", "喜欢喝绿", True),
        ("我喜欢喝绿茶", "喝绿茶", False),
        ("我喜欢喝绿茶", "喝红茶水", False),
        ("Tea!", "Tea!", True),
        ("Tea!", "tea!", True),
        ("茶", "茶", True),
        ("Tea!", "", False),
        ("I prefer tea", "   ", False),
    ],
)
def test_a_quote_stands_in_its_message_and_is_long_enough(
    said: str, quote: str, enough: bool
) -> None:
    assert supported("Likes it", said, quote) == enough


def test_no_evidence_is_no_support() -> None:
    refusal = gates.support(candidate(evidence=()), messages("x"))
    assert refusal is not None
    assert "no message" in refusal.reason


@pytest.mark.parametrize("session, id", [("chat", "m2"), ("other", "m1"), ("", "m1")])
def test_a_message_outside_the_batch_is_no_support(session: str, id: str) -> None:
    one = candidate(evidence=(Evidence(id, 0, 12, "I prefer tea", session),))
    refusal = gates.support(one, messages("I prefer tea"))
    assert refusal is not None
    assert id in refusal.reason


def test_every_quote_must_stand() -> None:
    quotes = tuple(Evidence(f"m{n}", 0, 0, "I prefer tea", "chat") for n in (1, 2))
    assert (
        gates.support(candidate(evidence=quotes), messages("I prefer tea", "I prefer tea now"))
        is None
    )
    assert gates.support(candidate(evidence=quotes), messages("I prefer tea", "no")) is not None


SAID = [
    ("Works at Harrow since 2019", "I've worked at Harrow since 2019"),
    ("Tap of 19 mm", "Which hose fits a 19mm tap?"),
    ("Salary is 1000 a week", "They pay 1,000 a week"),
    ("Salary is 1,000 a week", "They pay 1000 a week"),
    ("Uses Python 3.11", "We are on python 3.11 here"),
    ("Meets at 9:30", "We meet at 09:30, always"),
    ("Between 3 and 4 hours", "It takes 3-4 hours"),
    ("Moves on 2026-10-31", "I move on October 31, 2026"),
    ("Moves on 2026-10-31", "I move on 31 Oct 2026"),
    ("Moves on 2026-10", "I move in October of 2026"),
    ("2026-10-31搬家", "我2026年10月31日搬家"),
    ("Deploys on Fridays", "We always deploy on Friday"),
    ("Moves in May", "In May I move out"),
    ("He may like tea", "He likes tea, perhaps"),
    ("They march at dawn", "At dawn we walk in step"),
    ("Owned by Ines and Tomas", "ines and tomas own that one"),
    ("Uses VS Code", "my editor is vs code, always"),
    ("每周五部署", "我们每个星期五都部署"),
    ("买了3本书", "我昨天买了３本书"),
    ("Has a dog", "I have a dog named Biscuit"),
]
ADDED = [
    ("Works at Harrow since 2018", "I've worked at Harrow since 2019"),
    ("Tap of 9 mm", "Which hose fits a 19 mm tap?"),
    ("Version 3", "We use version 3.11"),
    ("Version 1.5", "We use version 11.5"),
    ("Costs 100", "It costs 1,100 or so"),
    ("Moves on 2026-11-30", "I move on October 31, 2026"),
    ("Moves on 2026-10-31", "I move at the end of October 2026"),
    ("Mira marries in June", "Which hose fits a 19 mm tap?"),
    ("Moves on 4 May", "I move on 4 June, at last"),
    ("Deploys on Mondays", "We always deploy on Friday"),
    ("Owned by Ines and Tomas", "Ines owns that one"),
    ("Works for Brightwater", "I work for a water company"),
    ("每周一部署", "我们每个星期五都部署"),
    ("买了4本书", "我昨天买了3本书"),
]


@pytest.mark.promise("gate.support")
@pytest.mark.parametrize("description, said", SAID)
def test_what_was_said_is_supported(description: str, said: str) -> None:
    assert supported(description, said)


@pytest.mark.promise("gate.support")
@pytest.mark.parametrize("description, said", ADDED)
def test_an_invented_name_number_or_date_is_not(description: str, said: str) -> None:
    assert not supported(description, said)


@pytest.mark.promise("gate.support")
@pytest.mark.parametrize(
    "entity, said, found",
    [
        ("Ines", "INES owns the billing service", True),
        ("ines", "Ines's dog is called Biscuit", True),
        ("Ann", "we planned the whole week", False),
        ("Harrow", "我在Harrow上班了", True),
        ("青禾科技", "我在青禾科技上班", True),
        ("@arco/web", "we use @arco/web here", True),
        ("C++", "I write C++ all day", True),
        ("Mira", "Which hose fits?", False),
        ("", "Which hose fits?", False),
    ],
)
def test_entities_occur_in_the_quoted_messages(entity: str, said: str, found: bool) -> None:
    assert supported("Likes it", said, entities=(entity,)) == found


def test_resolved_dates_count_as_said() -> None:
    said = "Saw the dentist last Friday."
    assert not supported("Saw the dentist on 2023-05-05", said)
    assert supported("Saw the dentist on 2023-05-05", said, resolved=("2023-05-05",))
    assert supported("Saw the dentist on 5 May 2023", said, resolved=("2023-05-05",))
    assert supported("Saw the dentist on Friday 5 May", said, resolved=("2023-05-05",))
    assert not supported("Saw the dentist on 2023-05-06", said, resolved=("2023-05-05",))


@given(st.text(min_size=1, max_size=60), st.text(max_size=40))
def test_support_answers_for_any_text(said: str, description: str) -> None:
    assert supported(description, said) in (True, False)


# -- 4 quota ---------------------------------------------------------------------------------------


@pytest.mark.promise("gate.quota")
@pytest.mark.parametrize(
    "type, scope, valid, refused",
    [
        ("user", "user", {}, False),
        ("user", "user", {"user": 99}, False),
        ("user", "user", {"user": 100}, True),
        ("user", "user", {"user": 50, "feedback": 30, "project": 10, "reference": 10}, True),
        ("user", "user", {"user": 99, "episodic": 5_000}, False),
        ("episodic", "user", {"user": 5_000, "episodic": 999}, False),
        ("episodic", "user", {"episodic": 1_000}, True),
        ("project", "project", {"project": 199}, False),
        ("project", "project", {"project": 201}, True),
        ("feedback", "agent", {"feedback": 50}, True),
    ],
)
def test_quota(type: Type, scope: Any, valid: dict[Type, int], refused: bool) -> None:
    refusal = gates.quota(type, scope, valid, LIMITS)
    assert (refusal is not None) == refused
    if refusal:
        assert (refusal.gate, refusal.verdict) == ("quota", "quota")


# -- 5 sensitive -----------------------------------------------------------------------------------


def test_sensitive_names_each_kind_once_and_no_value() -> None:
    assert gates.sensitive([]) is None
    refusal = gates.sensitive(["api key", "passport", "api key"])
    assert refusal is not None
    assert (refusal.gate, refusal.reason) == ("sensitive", "holds api key, passport")


# -- the order -------------------------------------------------------------------------------------

WORST: dict[str, Any] = {
    "description": "Ann just now said 42",
    "confidence": 0.1,
    "priority": 3,
    "evidence": (Evidence("m9", 0, 1, "x", "chat"),),
    "authority": "tool",
    "scope": "project",
}
MENDED: list[tuple[str, dict[str, Any]]] = [
    ("transient", {"description": "Prefers tea"}),
    ("low_confidence", {"confidence": 0.9}),
    ("low_priority", {"priority": 60}),
    ("unsupported", {"evidence": candidate().evidence}),
    ("authority", {"authority": "user"}),
    ("no_workspace", {"scope": "user"}),
]


@pytest.mark.promise("gate.order")
def test_the_first_refusal_in_order_decides() -> None:
    fields = dict(WORST)
    for verdict, mend in MENDED:
        refusal = gates.check(
            candidate(**fields),
            messages("I prefer tea"),
            limits=LIMITS,
            has_workspace=False,
            kinds=["key"],
        )
        assert refusal is not None
        assert refusal.verdict == verdict
        fields |= mend
    ends: list[tuple[list[str], str | None]] = [(["key"], "sensitive"), ([], None)]
    for kinds, expected in ends:
        last = gates.check(
            candidate(**fields),
            messages("I prefer tea"),
            limits=LIMITS,
            has_workspace=False,
            kinds=kinds,
        )
        assert (last.verdict if last else None) == expected


@pytest.mark.promise("gate.order")
def test_the_gates_are_named_in_the_order_of_report() -> None:
    assert gates.GATES == ("transient", "confidence", "duplicates", "quota", "sensitive")
