"""Answers, item by item."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, cast

import pytest
from tests.stub_model import GOOD, candidates, item

from memstrata.prompts.answers import (
    CANDIDATES,
    DECISIONS,
    FORMS,
    CandidateItem,
    DecisionItem,
    Form,
    Item,
    Parsed,
)


def parsed(*items: Any) -> Parsed[CandidateItem]:
    """The answer that holds `items`."""
    found = CANDIDATES.parse(candidates(*items))
    assert found is not None
    return found


def one(**fields: Any) -> CandidateItem:
    """The good item with `fields` in place, read."""
    found = parsed(item(**fields))
    assert found.rejected == ()
    return found.items[0][1]


def why(**fields: Any) -> str:
    """Why the good item with `fields` in place is rejected."""
    found = parsed(item(**fields))
    assert found.items == ()
    return found.rejected[0].reason


def test_a_good_item() -> None:
    found = one()
    assert (found.scope, found.type, found.name) == ("user", "user", "preferred drink")
    assert (found.evidence[0].message, found.evidence[0].quote) == ("m1", "I prefer tea to coffee")
    assert found.happened_from is None


@pytest.mark.parametrize(
    "field, given, read",
    [
        ("scope", "User ", "user"),
        ("type", "persona", "user"),
        ("type", "Instruction", "feedback"),
        ("name", " a\n b ", "a b"),
        ("description", "tea\x00 and\ud83d cake", "tea and cake"),
        ("confidence", "0.7", 0.7),
        ("confidence", None, 0.8),
        ("confidence", "", 0.8),
        ("priority", 80.0, 80),
        ("priority", "-1", -1),
        ("priority", "null", None),
        ("entities", None, ()),
        ("entities", "Harrow", ("Harrow",)),
        ("entities", [" Harrow ", 4, "", "Harrow", "x" * 200, {"name": "y"}], ("Harrow",)),
        ("entities", [str(n) for n in range(50)], tuple(str(n) for n in range(32))),
        ("subject", "", "user"),
        ("change", "Ends", "ends"),
        ("body", "a\n\n- b\n", "a\n\n- b"),
        ("happened_from", "2023-05-05", date(2023, 5, 5)),
        ("happened_from", "2023-05-05T10:30:00Z", date(2023, 5, 5)),
        ("happened_from", "2023-05", date(2023, 5, 1)),
        ("happened_until", "2024-02", date(2024, 2, 29)),
        ("valid_until", "2023", date(2023, 12, 31)),
        ("valid_until", "unknown", None),
        ("valid_until", "", None),
    ],
)
def test_lenient(field: str, given: object, read: object) -> None:
    assert getattr(one(**{field: given}), field) == read


@pytest.mark.parametrize(
    "field, given, reason",
    [
        ("scope", None, "scope: Field required"),
        ("scope", "world", "scope: Input should be 'user', 'project' or 'agent'"),
        ("type", "mood", "type: Input should be"),
        ("name", None, "name: Field required"),
        ("name", "\x00", "name: String should have at least 1 character"),
        ("description", 7, "description: Input should be a valid string"),
        ("confidence", 1.5, "confidence: Input should be less than or equal to 1"),
        ("confidence", "high", "confidence: Input should be a valid number"),
        ("priority", 101, "priority: Input should be less than or equal to 100"),
        ("evidence", None, "evidence: Field required"),
        ("evidence", [], "evidence: Tuple should have at least 1 item"),
        ("evidence", [{"quote": "tea"}], "evidence.0.message: Field required"),
        ("change", "starts", "change: Input should be 'states' or 'ends'"),
        ("happened_from", "last May", "happened_from: Input should be a valid date"),
        ("valid_until", "2023-02-30", "valid_until: Input should be a valid date"),
        ("valid_until", "2023-13", "valid_until: Input should be a valid date"),
    ],
)
def test_rejected(field: str, given: object, reason: str) -> None:
    assert why(**{field: given}).startswith(reason)


def test_one_piece_of_evidence_needs_no_list_and_unknown_fields_are_passed_over() -> None:
    found = one(evidence={"Message": "m1", "quote": " tea"}, mood="calm", Happened_From=None)
    assert [(quote.message, quote.quote) for quote in found.evidence] == [("m1", " tea")]


def test_bad_items_are_reported_with_number_name_and_every_fault() -> None:
    found = parsed(GOOD, {"name": "home\n"}, "text", GOOD, 5, None)
    assert [index for index, _ in found.items] == [0, 3]
    assert [(one.index, one.name) for one in found.rejected] == [
        (1, "home"),
        (2, ""),
        (4, ""),
        (5, ""),
    ]
    assert found.rejected[0].reason.count("Field required") == 4


def test_a_reason_never_holds_the_words_of_the_conversation() -> None:
    words = "Odile keeps the spare key"
    found = parsed(item(scope=words, happened_from=words, confidence=words), {"description": words})
    assert len(found.rejected) == 2
    assert all("Odile" not in one.reason for one in found.rejected)


@pytest.mark.parametrize("type", ["feedback", "project"])
def test_a_rule_or_decision_without_its_reason_is_good_and_wanting(type: str) -> None:
    found = parsed(item(type=type), item(type=type, body="**Why:** quiet"))
    assert len(found.items) == 2
    assert [one.index for one in found.wanting] == [0]
    assert "**Why:**" in found.wanting[0].reason


def test_decisions() -> None:
    answer = {"decisions": [
        {"candidate": "1", "decision": "STORE"},
        {"candidate": 2.0, "decision": "skip", "target": "k1", "reason": "known\nalready"},
        {"candidate": 0, "decision": "add"},
        {"candidate": 3, "decision": "forget"},
    ]}  # fmt: skip
    found = DECISIONS.parse(json.dumps(answer))
    assert found is not None
    assert [item.model_dump() for _, item in found.items] == [
        {"candidate": 1, "decision": "add", "target": "", "reason": ""},
        {"candidate": 2, "decision": "noop", "target": "k1", "reason": "known already"},
    ]
    assert [one.index for one in found.rejected] == [2, 3]


@pytest.mark.parametrize("form", FORMS.values())
def test_the_schema_is_the_item_without_unions_and_references(form: Form[Item]) -> None:
    properties = cast("dict[str, Any]", form.shape["properties"])
    fields = form.item.model_fields
    assert properties.keys() == fields.keys()
    required = {name for name, field in fields.items() if field.is_required()}
    assert required <= set(cast("list[str]", form.shape["required"]))
    text = json.dumps(form.schema)
    assert not any(word in text for word in ("$ref", "$defs", "anyOf", "null"))
    assert form.schema["required"] == [form.key]


def test_the_empty_item_of_each_form_is_rejected() -> None:
    assert DecisionItem.model_fields.keys() == {"candidate", "decision", "target", "reason"}
    for form in FORMS.values():
        found = form.parse(json.dumps({form.key: [{}]}))
        assert found is not None
        assert len(found.rejected) == 1
