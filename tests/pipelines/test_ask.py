"""Asking a model: the ladder of forms, one repair, and what is a failure."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from tests import stub_model as stub
from tests.stub_model import GOOD, Reply, StubModel, candidates, item

from memstrata.adapters.model_pydantic_ai import PydanticAiModel
from memstrata.adapters.model_scripted import Line, ScriptedModel
from memstrata.errors import Invalid, ModelFailed
from memstrata.pipelines.ask import RUNGS, Asked, Call, Rungs, ask
from memstrata.ports import Answer, Question, Rung
from memstrata.prompts.answers import CANDIDATES, DECISIONS, CandidateItem, DecisionItem
from memstrata.prompts.template import Rendered, load

NAME = "openai:some-model"
RENDERED = Rendered(load("extract"), "the rules", "the messages")
HOME = item(name="home", description="The user lives in Porto", slot="home")
BAD = item(name="home", description="The user lives in Porto", scope="world")


def refuse(*rungs: Rung) -> Callable[[Question], str | ModelFailed]:
    """A provider that refuses those rungs and answers on the others."""

    def said(question: Question) -> str | ModelFailed:
        if question.rung in rungs:
            return ModelFailed("not in this form", reason="form", unsupported_rung=True)
        return candidates(GOOD)

    return said


def put(model: ScriptedModel, **fields: Any) -> Asked[CandidateItem]:
    """Ask `model` for candidates."""
    given: dict[str, Any] = {"purpose": "extract", "name": NAME, "rungs": Rungs(), **fields}
    return ask(model, RENDERED, CANDIDATES, **given)


def asked(*lines: Line, questions: int) -> tuple[Asked[CandidateItem], ScriptedModel]:
    """What comes of a script, which takes that many questions."""
    model = ScriptedModel(*lines)
    found = put(model)
    assert len(model.questions) == questions
    model.close()
    return found, model


def names(found: Asked[CandidateItem]) -> list[str]:
    """The names of the items."""
    return [one.name for one in found.items]


def test_a_good_answer_takes_one_call() -> None:
    answer = Answer(candidates(GOOD, HOME), "some-model-0401", 100, 20, 0.5)
    found, model = asked(answer, questions=1)
    assert names(found) == ["preferred drink", "home"]
    assert found.rejected == ()
    assert found.model == "some-model-0401"
    assert found.calls == (Call("extract", NAME, "schema", 100, 20, 0.5, "answered"),)
    question = model.questions[0]
    assert (question.system, question.user) == ("the rules", "the messages")
    assert question.schema == CANDIDATES.schema
    assert (question.rung, question.deadline, question.most_tokens) == ("schema", 60.0, 2_000)


@pytest.mark.parametrize("text", ["[]", "{}", candidates(), "Nothing here: []"])
def test_nothing_to_note_is_an_answer(text: str) -> None:
    found, _ = asked(text, questions=1)
    assert (found.items, found.rejected) == ((), ())


def test_json_in_prose_needs_no_repair() -> None:
    text = f"Sure! ```json {json.dumps(GOOD)} ``` Hope that helps"
    found, _ = asked(text, questions=1)
    assert names(found) == ["preferred drink"]


# -- the ladder ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "refused, rungs",
    [
        ((), ["schema"]),
        (("schema",), ["schema", "json"]),
        (("schema", "json"), ["schema", "json", "plain"]),
    ],
)
def test_down_the_ladder_and_remembered(refused: tuple[Rung, ...], rungs: list[Rung]) -> None:
    model, known = ScriptedModel(refuse(*refused), repeat=True), Rungs()
    found = put(model, rungs=known)
    assert names(found) == ["preferred drink"]
    assert [question.rung for question in model.questions] == rungs
    assert [call.outcome for call in found.calls] == ["form"] * len(refused) + ["answered"]
    put(model, rungs=known)
    assert [question.rung for question in model.questions[len(rungs) :]] == rungs[-1:]
    put(model, rungs=known, name="openai:another")
    assert [question.rung for question in model.questions[len(rungs) + 1 :]] == rungs


def test_what_every_rung_refuses_is_raised_and_not_remembered() -> None:
    model, known = ScriptedModel(refuse("schema", "json", "plain"), repeat=True), Rungs()
    with pytest.raises(ModelFailed) as caught:
        put(model, rungs=known)
    assert caught.value.unsupported_rung
    assert known.first(NAME) == "schema"


def test_a_failure_does_not_go_down_the_ladder() -> None:
    calls: list[Call] = []
    model = ScriptedModel(ModelFailed("busy", reason="rate_limited", retry_after=7))
    with pytest.raises(ModelFailed) as caught:
        put(model, book=calls.append)
    assert caught.value.retry_after == 7
    assert [(call.outcome, call.tokens_in) for call in calls] == [("rate_limited", 0)]
    assert calls[0].seconds >= 0


def test_a_wrong_name_is_passed_on() -> None:
    with pytest.raises(Invalid):
        put(ScriptedModel(Invalid("extraction.model", "is no model")))


def test_the_process_remembers_by_itself() -> None:
    model = ScriptedModel(refuse("schema"), repeat=True)
    name = "openai:only-in-this-test"
    for _ in range(2):
        ask(model, RENDERED, CANDIDATES, purpose="extract", name=name)
    assert [question.rung for question in model.questions] == ["schema", "json", "json"]
    assert RUNGS.first(name) == "json"


# -- one repair ------------------------------------------------------------------------------------


def test_a_bad_item_is_asked_for_again_with_the_reason() -> None:
    found, model = asked(candidates(GOOD, BAD), candidates(HOME), questions=2)
    assert names(found) == ["preferred drink", "home"]
    assert found.rejected == ()
    again = model.questions[1]
    assert again.user.startswith("the messages\n\n")
    assert "item 2: scope: Input should be 'user', 'project' or 'agent'" in again.user
    assert candidates(GOOD, BAD) in again.user
    assert (again.system, again.most_tokens) == ("the rules", 2_000)


@pytest.mark.parametrize(
    "second, rejected",
    [
        (candidates(BAD), ["home"]),
        (candidates(), ["home"]),
        ("I cannot do that.", ["home"]),
        ("", ["home"]),
        (ModelFailed("away", reason="server"), ["home"]),
        (candidates(GOOD), ["home"]),
        (candidates(GOOD, HOME), []),
    ],
)
def test_good_items_go_on_and_bad_ones_are_counted(second: Line, rejected: list[str]) -> None:
    found, _ = asked(candidates(GOOD, BAD), second, questions=2)
    assert names(found) == ["preferred drink", *([] if rejected else ["home"])]
    assert [one.name for one in found.rejected] == rejected


def test_only_bad_items_twice_are_an_answer_with_nothing_in_it() -> None:
    found, _ = asked(candidates(BAD), candidates(BAD), questions=2)
    assert (names(found), len(found.rejected)) == ([], 1)


def test_only_bad_items_and_then_no_answer_is_a_failure() -> None:
    with pytest.raises(ModelFailed, match="away"):
        asked(candidates(BAD), ModelFailed("away", reason="server"), questions=2)


@pytest.mark.parametrize("first", [stub.PROSE, stub.OTHER_LANGUAGE, "null", "{broken"])
def test_an_answer_that_cannot_be_read_is_asked_for_again_whole(first: str) -> None:
    found, model = asked(first, candidates(GOOD), questions=2)
    assert names(found) == ["preferred drink"]
    assert first in model.questions[1].user
    assert "Send the whole answer." in model.questions[1].user


@pytest.mark.parametrize(
    "first, second, reason",
    [
        (stub.PROSE, stub.PROSE, "malformed"),
        ("", "", "empty"),
        (stub.PROSE, " ", "empty"),
        ("", stub.PROSE, "malformed"),
        ("<think>so many words", "<think>so many words", "empty"),
    ],
)
def test_twice_nothing_is_a_failure_worth_another_try(first: str, second: str, reason: str) -> None:
    with pytest.raises(ModelFailed) as caught:
        asked(first, second, questions=2)
    assert caught.value.reason == reason
    assert not caught.value.permanent


def test_an_empty_answer_is_asked_for_again_as_it_was() -> None:
    found, model = asked("", candidates(), questions=2)
    assert found.items == ()
    assert model.questions[1] == model.questions[0]


def test_an_answer_that_ran_out_of_tokens_gets_more() -> None:
    ran_out = Answer("<think>well", NAME, 10, 2_000, 1.0, "length")
    found, model = asked(ran_out, candidates(GOOD), questions=2)
    assert names(found) == ["preferred drink"]
    assert [question.most_tokens for question in model.questions] == [2_000, 8_000]
    assert model.questions[1].user == "the messages"
    assert (found.tokens_in, found.tokens_out) == (10, 2_000)


def test_a_cut_answer_keeps_its_whole_items_and_is_asked_for_the_rest() -> None:
    cut = Answer(stub.HALF, NAME, 10, 2_000, 1.0, "length")
    found, model = asked(cut, candidates(HOME), questions=2)
    assert names(found) == ["preferred drink", "home"]
    assert found.rejected == ()
    assert model.questions[1].most_tokens == 8_000
    assert "item 2: is cut off\nit ends after 1 whole items" in model.questions[1].user


def test_a_repair_that_sends_everything_again_doubles_nothing() -> None:
    found, _ = asked(candidates(GOOD, BAD), candidates(GOOD, HOME), questions=2)
    assert names(found) == ["preferred drink", "home"]


def test_two_items_of_one_name_are_both_kept() -> None:
    other = item(description="The user prefers cocoa at night")
    found, _ = asked(candidates(GOOD, other, BAD), candidates(), questions=2)
    assert names(found) == ["preferred drink", "preferred drink"]


@pytest.mark.parametrize(
    "second, body",
    [
        (candidates(item(type="feedback", body="**Why:** it is quiet")), "**Why:** it is quiet"),
        (candidates(item(type="feedback")), ""),
        (candidates(), ""),
        (ModelFailed("away", reason="timeout"), ""),
    ],
)
def test_a_reason_is_asked_for_once_and_then_left_empty(second: Line, body: str) -> None:
    found, model = asked(candidates(item(type="feedback")), second, questions=2)
    assert [one.body for one in found.items] == [body]
    assert found.rejected == ()
    assert "item 1: body: add" in model.questions[1].user


def test_a_long_answer_is_not_shown_again_whole() -> None:
    _, model = asked("x" * 100_000, candidates(), questions=2)
    assert len(model.questions[1].user) < 7_000


def test_another_form() -> None:
    model = ScriptedModel('{"decisions": [{"candidate": 1, "decision": "skip", "target": "k1"}]}')
    found = ask(model, RENDERED, DECISIONS, purpose="evolve", name=NAME, rungs=Rungs())
    assert found.items == (DecisionItem(candidate=1, decision="noop", target="k1"),)
    assert found.calls[0].purpose == "evolve"


# -- against a real endpoint -----------------------------------------------------------------------

Outcome = list[str] | str
"""The names that were kept, or the reason of the failure."""


@pytest.fixture
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint is on loopback, whatever proxy whoever runs it has."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("_no_proxy")
@pytest.mark.parametrize("provider", ["openai-compatible", "anthropic"])
@pytest.mark.parametrize(
    "replies, outcome, requests",
    [
        ([candidates(GOOD, HOME)], ["preferred drink", "home"], 1),
        ([candidates()], [], 1),
        ([stub.FENCED], ["preferred drink"], 1),
        ([stub.BARE_LIST], ["preferred drink"], 1),
        ([stub.THINKING], ["preferred drink"], 1),
        ([Reply(candidates(GOOD), thinking="m1 states {it}")], ["preferred drink"], 1),
        ([stub.BAD_ESCAPE], ["preferred drink"], 1),
        ([stub.INVENTED_IDS], ["preferred drink"], 1),
        ([stub.HALF, candidates(HOME)], ["preferred drink", "home"], 2),
        ([stub.MISSING_FIELDS, candidates()], ["preferred drink"], 2),
        ([stub.PROSE, candidates(GOOD)], ["preferred drink"], 2),
        ([stub.OTHER_LANGUAGE, stub.OTHER_LANGUAGE], "malformed", 2),
        ([stub.out_of_tokens("hm"), candidates(GOOD)], ["preferred drink"], 2),
        ([stub.out_of_tokens(), stub.out_of_tokens()], "empty", 2),
        ([stub.no_such_form(), candidates(GOOD)], ["preferred drink"], 2),
        ([stub.rate_limited()], "rate_limited", 1),
        ([stub.server_error()], "server", 1),
        ([stub.cut_stream()], "cut", 1),
        ([stub.timeout()], "timeout", 1),
    ],
)
def test_everything_a_model_does(
    provider: str, replies: list[Reply | str], outcome: Outcome, requests: int
) -> None:
    name = {"anthropic": "anthropic:claude-haiku-5-5"}.get(provider, f"{provider}:small")
    with StubModel(*replies) as endpoint:
        url = endpoint.url if provider == "anthropic" else endpoint.openai_url
        model = PydanticAiModel(base_url=url, api_key="some-key")
        waits = any(isinstance(reply, Reply) and reply.hang for reply in replies)

        def run() -> Outcome:
            try:
                return names(put_real(model, name, 0.2 if waits else 10))
            except ModelFailed as error:
                return error.reason

        try:
            assert run() == outcome
        finally:
            model.close()
        assert len(endpoint.requests) == requests


def put_real(model: PydanticAiModel, name: str, deadline: float) -> Asked[CandidateItem]:
    """Ask over HTTP."""
    return ask(
        model, RENDERED, CANDIDATES, purpose="extract", name=name, deadline=deadline, rungs=Rungs()
    )
