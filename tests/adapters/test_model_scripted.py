"""The scripted model: exact, and loud when it is asked at the wrong time."""

from __future__ import annotations

import pytest

from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.errors import ModelFailed
from memstrata.ports import Answer, Model, Question

QUESTION = Question("extract", "openai:some", "system", "user", {})


def test_it_says_what_it_was_given_in_order() -> None:
    whole = Answer("two", "other", 3, 4, 0.5, "length")
    model = ScriptedModel("one", whole, lambda question: question.user)
    model.say(ModelFailed("away", reason="server"))
    port: Model = model
    assert port.ask(QUESTION) == Answer("one", "openai:some", 0, 0, 0.0)
    assert model.ask(QUESTION) is whole
    assert model.ask(QUESTION).text == "user"
    with pytest.raises(ModelFailed, match="away"):
        model.ask(QUESTION)
    assert model.questions == [QUESTION] * 4
    model.close()


def test_a_question_that_is_not_in_the_script_fails_now_and_at_the_end() -> None:
    model = ScriptedModel("one")
    model.ask(QUESTION)
    with pytest.raises(AssertionError, match="question 2 is not in the script"):
        model.ask(QUESTION)
    with pytest.raises(AssertionError, match="question 2 is not in the script"):
        model.close()


def test_the_last_line_may_stand_for_all_that_follow() -> None:
    model = ScriptedModel("one", "more", repeat=True)
    assert [model.ask(QUESTION).text for _ in range(4)] == ["one", "more", "more", "more"]
    model.close()


def test_being_asked_inside_a_transaction_fails_now_and_at_the_end() -> None:
    open_now = [False, True, False]
    model = ScriptedModel("one", "two", guard=lambda: open_now.pop(0))
    model.ask(QUESTION)
    with pytest.raises(AssertionError, match="extract: a model was asked inside a transaction"):
        model.ask(QUESTION)
    assert model.ask(QUESTION).text == "two"
    with pytest.raises(AssertionError, match="inside a transaction"):
        model.close()
