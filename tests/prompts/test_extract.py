"""From a model's items to candidates: evidence, authority, days."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain import build
from tests.stub_model import item

from memstrata.domain import gates
from memstrata.domain.candidate import Candidate
from memstrata.domain.memory import Evidence
from memstrata.domain.turn import Message
from memstrata.prompts import extract
from memstrata.prompts.answers import CandidateItem, Rejected

WEDNESDAY = datetime(2023, 5, 10, 12, tzinfo=UTC)


def said(content: str = "Well, I prefer tea  to coffee.", **fields: Any) -> Message:
    """A user's message, said on a Wednesday."""
    return build.message(content, **{"said_at": WEDNESDAY, **fields})


def ask(
    messages: list[Message], *, background: tuple[Message, ...] = (), **fields: Any
) -> tuple[tuple[Candidate, ...], tuple[Rejected, ...]]:
    """The candidates of one item with `fields` in place."""
    return extract.candidates(
        [CandidateItem.model_validate(item(**fields))], messages, UTC, background
    )


def candidate(messages: list[Message] | Message, **fields: Any) -> Candidate:
    """The one candidate of one item."""
    found, rejected = ask(messages if isinstance(messages, list) else [messages], **fields)
    assert rejected == ()
    return found[0]


def quoting(quote: str, message: str = "m1") -> list[dict[str, str]]:
    """Evidence of one quote."""
    return [{"message": message, "quote": quote}]


def supported(found: Candidate, *messages: Message) -> gates.Refusal | None:
    """What the support gate says."""
    return gates.support(found, {(one.session, one.id): one for one in messages})


def test_a_quote_becomes_the_exact_words_with_their_span() -> None:
    message = said(id="msg_9")
    found = candidate(message)
    assert found.evidence == (Evidence("msg_9", 6, 29, "I prefer tea  to coffee", "chat"),)
    assert message.content[6:29] == found.evidence[0].quote
    assert supported(found, message) is None
    assert (found.authority, found.said_at, found.subject) == ("user", WEDNESDAY, "user")


@pytest.mark.parametrize("named", ["m2", "[m2]", " M2 ", "own-id"])
def test_a_message_is_named_by_the_id_it_was_shown_under_or_by_its_own(named: str) -> None:
    messages = [said("Hello", id="a"), said("/x", id="s", skip="command"), said(id="own-id")]
    assert candidate(messages, evidence=quoting("tea", named)).evidence[0].message == "own-id"


def test_the_id_shown_goes_before_a_host_s_own() -> None:
    messages = [said("I prefer tea", id="m2"), said("I prefer cocoa", id="m1")]
    assert candidate(messages, evidence=quoting("I prefer tea", "m1")).evidence[0].message == "m2"


@pytest.mark.parametrize("named", ["m2", "m0", "b1", "msg_invented", "s"])
def test_an_invented_message_is_rejected(named: str) -> None:
    messages = [said(id="a"), said("👍", id="s", skip="wordless")]
    found, rejected = ask(messages, evidence=quoting("I prefer tea", named))
    assert found == ()
    assert rejected == (Rejected(0, "names no message it was shown", "preferred drink"),)


def test_an_invented_message_beside_a_true_one_costs_only_itself() -> None:
    evidence = [*quoting("I prefer tea", "m9"), *quoting("I prefer tea"), *quoting("I prefer tea")]
    assert len(candidate(said(), evidence=evidence).evidence) == 1


def test_a_quote_that_is_not_there_is_left_to_the_gate() -> None:
    message = said("Which hose fits a 19 mm tap?")
    found = candidate(
        message, description="Mira marries in June", evidence=quoting("Mira marries in June")
    )
    assert found.evidence == (Evidence("m1", 0, 0, "Mira marries in June", "chat"),)
    refusal = supported(found, message)
    assert refusal is not None
    assert refusal.verdict == "unsupported"


def test_background_adds_to_the_evidence_but_is_never_all_of_it() -> None:
    background = (said("Do you prefer tea to coffee?", id="old", role="assistant"),)
    both = [*quoting("Do you prefer tea", "b1"), *quoting("Yes, always.", "m1")]
    found, _ = ask([said("Yes, always.")], background=background, evidence=both)
    assert [one.message for one in found[0].evidence] == ["old", "m1"]
    found, rejected = ask([said("Yes")], background=background, evidence=quoting("Do you", "b1"))
    assert found == ()
    assert rejected[0].reason == "rests on the background alone"


@pytest.mark.parametrize(
    "roles, authority",
    [(["user"], "user"), (["assistant"], "assistant"), (["tool"], "tool"), (["assistant", "user"], "user"),
     (["tool", "assistant"], "assistant")],
)  # fmt: skip
def test_authority_is_the_role_of_the_quoted_messages(roles: list[Any], authority: str) -> None:
    messages = [said(id=f"x{n}", role=role) for n, role in enumerate(roles)]
    evidence = [*(quoting("I prefer tea", f"m{n}")[0] for n in range(1, len(roles) + 1))]
    assert candidate(messages, evidence=evidence, authority="person").authority == authority


def test_said_at_is_the_newest_source_and_unknown_stays_unknown() -> None:
    later = WEDNESDAY + timedelta(days=3)
    messages = [said(said_at=later), said(id="n", said_at=None), said(id="o")]
    evidence = [quoting("I prefer tea", f"m{n}")[0] for n in (1, 2, 3)]
    assert candidate(messages, evidence=evidence).said_at == later
    assert candidate(said(said_at=None)).said_at is None


@pytest.mark.parametrize("subject", ["", "User", "the user", "I", "用户"])
def test_the_owner_has_one_name(subject: str) -> None:
    assert candidate(said(), subject=subject).subject == "user"
    assert candidate(said(), subject="Mira Bell", slot="Home Town").subject == "mira bell"


# -- days ------------------------------------------------------------------------------------------

DENTIST = "Saw the dentist last Friday."


def visit(message: Message, **fields: Any) -> Candidate:
    """What a model says of a visit to the dentist."""
    event = {"type": "episodic", "name": "dentist", "description": "Saw the dentist", "slot": None}
    return candidate(message, **{**event, "evidence": quoting("Saw the dentist"), **fields})


@pytest.mark.promise("case.m4")
@pytest.mark.parametrize(
    "fields",
    [
        {"description": "Saw the dentist on 2023-05-05", "happened_from": "2023-05-05"},
        {"description": "Saw the dentist last Friday"},
        {"description": "Saw the dentist on Friday 5 May 2023", "happened_from": "2023-05-05"},
        {"description": "Saw the dentist", "happened_from": "2023-05-03"},
        {
            "description": "Saw the dentist",
            "happened_from": "2023-05-05",
            "happened_until": "2023-05-01",
        },
    ],
)
def test_a_relative_day_counts_from_when_it_was_said(fields: dict[str, str]) -> None:
    message = said(DENTIST)
    found = visit(message, **fields)
    assert (found.happened_from, found.happened_until) == (date(2023, 5, 5), date(2023, 5, 5))
    assert found.said_at == WEDNESDAY
    assert supported(found, message) is None


def test_relative_days_are_written_out_in_name_and_description() -> None:
    found = visit(
        said(DENTIST), name="dentist last Friday", description="Saw the dentist last Friday"
    )
    assert found.name == "dentist on 2023-05-05 (last Friday)"
    assert found.description == "Saw the dentist on 2023-05-05 (last Friday)"
    assert "2023-05-05" in found.resolved


def test_a_day_that_was_resolved_wrongly_is_unsupported() -> None:
    message = said(DENTIST)
    refusal = supported(visit(message, description="Saw the dentist on 2023-05-06"), message)
    assert refusal is not None
    assert refusal.verdict == "unsupported"


def test_a_day_nobody_named_is_left_out() -> None:
    found = visit(said("Saw the dentist."), happened_from="2023-05-10", valid_until="2024-01-01")
    assert (found.happened_from, found.happened_until, found.valid_until) == (None, None, None)
    unknown = visit(said(DENTIST, said_at=None), happened_from="2023-05-05")
    assert unknown.happened_from is None


@pytest.mark.parametrize("meant, coming", [("2023-05-05", False), ("2023-05-12", True)])
def test_a_day_with_two_readings_is_the_one_the_model_means(meant: str, coming: bool) -> None:
    message = said("On Friday is the dentist.")
    found = visit(
        message,
        description="The dentist is on Friday",
        happened_from=meant,
        evidence=quoting("On Friday is the dentist"),
    )
    assert found.happened_from == date.fromisoformat(meant)
    assert f"{meant} (Friday)" in found.description
    plain = visit(
        message,
        description="The dentist is on Friday",
        evidence=quoting("On Friday is the dentist"),
    )
    assert plain.description == "The dentist is on Friday"
    assert plain.happened_from is None


def test_the_day_is_the_owner_s() -> None:
    late = datetime(2023, 5, 10, 23, 30, tzinfo=UTC)
    one = CandidateItem.model_validate(
        item(type="episodic", description="Saw it yesterday", evidence=quoting("Saw it yesterday"))
    )
    east = timezone(timedelta(hours=8))
    found, _ = extract.candidates([one], [said("Saw it yesterday.", said_at=late)], east)
    assert found[0].happened_from == date(2023, 5, 10)


@pytest.mark.parametrize(
    "content, given, until",
    [
        ("Freeze until 2026-10-31.", "2026-10-31", date(2026, 10, 31)),
        ("Freeze until 2026-10-31.", None, date(2026, 10, 31)),
        ("Freeze until 2026-10-31.", "2026-11-30", date(2026, 10, 31)),
        ("冻结到2026年10月31日为止。", "2026-10-31", date(2026, 10, 31)),
        ("Freeze until 2023-05-01.", "2023-05-01", None),
        ("Freeze the branch.", "2026-10-31", None),
    ],
)
def test_the_last_day_is_the_one_that_was_named(
    content: str, given: str | None, until: date | None
) -> None:
    found = candidate(said(content), type="project", valid_until=given, evidence=quoting(content))
    assert found.valid_until == until


def test_a_fact_begins_when_the_words_say_so() -> None:
    found = candidate(
        said("I work there since 2022-03-01."), evidence=quoting("I work there since 2022-03-01")
    )
    assert found.valid_from == datetime(2022, 3, 1, tzinfo=UTC)
    assert candidate(said()).valid_from is None


# -- what a model is shown -------------------------------------------------------------------------


def test_a_long_message_is_shown_without_its_middle() -> None:
    text = "start " + "x" * 50_000 + " end"
    user = extract.question([said(text)], zone=UTC, scopes=("user",)).user
    assert len(user) < extract.MOST_CHARACTERS + 500
    assert "start x" in user
    assert "x end\n" in user
    assert "[… 38,010 characters left out …]" in user


@given(st.text(min_size=1), st.text(min_size=1), st.text())
def test_nothing_a_model_says_is_an_error(named: str, quote: str, description: str) -> None:
    fields = {"evidence": quoting(quote, named), "description": description or "x"}
    one = item(**fields)
    try:
        read = CandidateItem.model_validate(one)
    except ValueError:
        return
    found, rejected = extract.candidates([read], [said("I saw it last week, in May")], UTC)
    assert len(found) + len(rejected) == 1
