"""The contract between a supervisor and the sub-agent that keeps a document for it: one JSON object."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from memstrata.domain.team_document import Saved, Visibility
from memstrata.prompts import loose_json
from memstrata.prompts.team_document import guidance
from memstrata.prompts.template import Rendered, load

Outcome = Literal["success", "partial", "blocked", "error"]

NOT_SAVED: Final = "Nothing was saved although the answer said so; ask again or save it yourself."
UNREADABLE: Final = "The answer of the memory agent cannot be read; ask again."


def _stripped(value: object) -> object:
    return (value.strip() or None) if isinstance(value, str) else value


def _several(value: object) -> object:
    """A list without blanks, where one text may stand for itself; an empty one is none at all."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list):
        return found
    return [one for one in map(_stripped, found) if one is not None] or None


Words = Annotated[str | None, BeforeValidator(_stripped)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class Evidence(_Part):
    """What was done: whether the document changed, a label for the logs, what it says now."""

    memory_updated: bool = False
    memory_category: Words = None
    stored_summary: Words = None


class Delegated(_Part):
    """What the sub-agent answers.

    Success means that something was saved: `next_step` and `missing_fields` are null. Any other status
    has a `next_step`, `blocked` names what is missing, and neither it nor `error` has saved anything.

    Raises:
        pydantic.ValidationError: a field is missing or wrong, or one of these rules is broken.
    """

    status: Outcome
    action_summary: Annotated[str, BeforeValidator(_stripped)] = Field(min_length=1)
    evidence: Evidence
    next_step: Words = None
    missing_fields: Annotated[tuple[str, ...] | None, BeforeValidator(_several)] = None
    assumptions: Annotated[
        tuple[str, ...], BeforeValidator(lambda value: _several(value) or ())
    ] = ()

    @model_validator(mode="after")
    def _rules(self) -> Delegated:
        done, saved = self.status == "success", self.evidence.memory_updated
        rules = {
            "success needs a save": saved or not done,
            "with success next_step and missing_fields are null": not done
            or (self.next_step is None and self.missing_fields is None),
            f"{self.status} needs a next_step": done or bool(self.next_step),
            "blocked names missing_fields": self.status != "blocked" or bool(self.missing_fields),
            f"{self.status} has saved nothing": self.status not in ("blocked", "error")
            or not saved,
        }
        broken = [rule for rule, kept in rules.items() if not kept]
        if broken:
            raise ValueError("; ".join(broken))
        return self

    def render(self) -> str:
        """The one JSON object, every field in its place."""
        return self.model_dump_json(indent=2)


def delegation(visibility: Visibility, place: str, request: str, *, today: date) -> Rendered:
    """The sub-agent's prompt. `place` names the workspace or user whose document it keeps, and no other."""
    return load("team_delegation").render(
        memory=visibility,
        place=place,
        today=today.isoformat(),
        protocol=guidance(visibility, today).protocol,
        request=request,
    )


def delegated(answer: str, saves: Iterable[Saved]) -> Delegated:
    """A sub-agent's answer as the supervisor may believe it; `saves` is what its tool calls came to.

    One that claims a save which did not happen, or that cannot be read, becomes an `error`; when
    something was saved all the same, `partial`.
    """
    stored = any(one.status == "saved" for one in saves)
    found = loose_json.find(answer, "delegated", Delegated.model_fields)
    try:
        report = Delegated.model_validate(found.values[0] if found and found.values else None)
    except ValidationError:
        return _unreadable(stored)
    if report.evidence.memory_updated and not stored:
        return _failed("Claimed a save that did not happen.", NOT_SAVED)
    if stored and not report.evidence.memory_updated:
        return _saved_after_all(report)
    return report


def _unreadable(stored: bool) -> Delegated:
    failed = _failed("Gave no answer that can be read.", UNREADABLE)
    return _saved_after_all(failed) if stored else failed


def _saved_after_all(report: Delegated) -> Delegated:
    """A report that says nothing was saved, put right."""
    evidence = report.evidence.model_copy(update={"memory_updated": True})
    return Delegated(
        status="partial",
        action_summary=f"{report.action_summary} Something was saved all the same.",
        evidence=evidence,
        next_step=report.next_step,
        missing_fields=report.missing_fields,
        assumptions=report.assumptions,
    )


def _failed(summary: str, next_step: str) -> Delegated:
    return Delegated(
        status="error", action_summary=summary, evidence=Evidence(), next_step=next_step
    )
