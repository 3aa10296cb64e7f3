"""What a supervisor may believe of the sub-agent that keeps a document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from memstrata.domain.team_document import Saved
from memstrata.prompts.team_delegation import (
    NOT_SAVED,
    UNREADABLE,
    Delegated,
    delegated,
)

SAVED = Saved("saved", "Memory saved.", "## A", 8)
FAILED = Saved("error", "no", "## A", 7, "scope")


def report(**changed: Any) -> dict[str, Any]:
    """A report of success, or what becomes of it."""
    evidence = {"memory_updated": True, "memory_category": "decision", "stored_summary": "Monday"}
    return {
        "status": "success",
        "action_summary": "Noted the day of the builds.",
        "evidence": {**evidence, **changed.pop("evidence", {})},
        "next_step": None,
        "missing_fields": None,
        "assumptions": [],
        **changed,
    }


NOTHING = {"memory_updated": False, "stored_summary": None}


@pytest.mark.parametrize(
    "given",
    [
        report(),
        report(assumptions=["It is about all builds."]),
        report(status="partial", next_step="Name the day."),
        report(status="partial", next_step="Try again.", evidence=NOTHING),
        report(status="blocked", next_step="Ask.", missing_fields=["day"], evidence=NOTHING),
        report(status="error", next_step="Try later.", evidence=NOTHING),
    ],
)
def test_reports_that_keep_the_rules(given: dict[str, Any]) -> None:
    found = Delegated.model_validate(given)
    assert json.loads(found.render()) == given
    assert Delegated.model_validate_json(found.render()) == found


@pytest.mark.parametrize(
    "given, rule",
    [
        (report(evidence=NOTHING), "success needs a save"),
        (report(next_step="More."), "with success next_step and missing_fields are null"),
        (report(missing_fields=["day"]), "with success next_step and missing_fields are null"),
        (report(status="partial"), "partial needs a next_step"),
        (report(status="partial", next_step="  "), "partial needs a next_step"),
        (report(status="error", next_step="x"), "error has saved nothing"),
        (
            report(status="blocked", next_step="x", missing_fields=[" "], evidence=NOTHING),
            "blocked names missing_fields",
        ),
        (report(status="done"), "status"),
        (report(action_summary=" "), "action_summary"),
        ({**report(), "evidence": None}, "evidence"),
    ],
)
def test_reports_that_break_one(given: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValidationError, match=rule):
        Delegated.model_validate(given)


@pytest.mark.parametrize(
    "wrapped", ["{}", "```json\n{}\n```", "<think>hm</think>Here you go: {} Anything else?"]
)
def test_a_report_is_found_in_what_is_around_it(wrapped: str) -> None:
    answer = wrapped.replace("{}", json.dumps(report()))
    assert delegated(answer, [FAILED, SAVED]) == Delegated.model_validate(report())


@pytest.mark.parametrize("saves", [[], [FAILED], [Saved("no_op", "", "## A", 7)]])
def test_a_save_that_did_not_happen_is_not_believed(saves: list[Saved]) -> None:
    found = delegated(json.dumps(report()), saves)
    assert (found.status, found.evidence.memory_updated) == ("error", False)
    assert found.next_step == NOT_SAVED


def test_a_save_that_was_not_told_is() -> None:
    given = report(status="error", next_step="Try later.", evidence=NOTHING)
    found = delegated(json.dumps(given), [SAVED])
    assert (found.status, found.evidence.memory_updated) == ("partial", True)
    assert (found.next_step, found.evidence.memory_category) == ("Try later.", "decision")


@pytest.mark.parametrize("answer", ["", "Done!", "[]", "{}", '{"status": "success"}', "null"])
def test_an_answer_that_cannot_be_read(answer: str) -> None:
    nothing, something = delegated(answer, []), delegated(answer, [SAVED])
    assert (nothing.status, nothing.next_step) == ("error", UNREADABLE)
    assert (something.status, something.evidence.memory_updated) == ("partial", True)
