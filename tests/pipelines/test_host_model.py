"""The model that a host names with a turn extracts it, where none is set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.stub_model import StubModel

from memstrata import Invalid, Memory
from memstrata.adapters.model_scripted import ScriptedModel

NAME = "openai:tiny"


def answer(description: str) -> str:
    item = {
        "scope": "user",
        "type": "user",
        "name": "note",
        "description": description,
        "confidence": 0.9,
        "entities": [],
        "evidence": [{"message": "m1", "quote": description}],
    }
    return json.dumps({"candidates": [item]})


def turn(memory: Memory, text: str, model: object = None, session: str = "s") -> tuple[str, ...]:
    said = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
    return memory.session(session).commit(said, model=model).warnings  # type: ignore[arg-type]


def descriptions(memory: Memory) -> list[str]:
    return sorted(one.description for one in memory.list().items)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModel]:
    """A model's endpoint that the standard environment names."""
    with StubModel() as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        yield stub


@pytest.mark.promise("extract.host-model")
def test_a_named_model_extracts_its_turns_and_no_others(
    memory: Memory, endpoint: StubModel
) -> None:
    endpoint.say(answer("The mill opens at nine"))
    assert turn(memory, "The mill opens at nine.", NAME) == ()
    turn(memory, "I live in Tarnow.")
    assert memory.drain().batches == 2, "a batch has one model"
    assert descriptions(memory) == ["Lives in Tarnow", "The mill opens at nine"]
    assert len(endpoint.requests) == 1
    who = {one.description: memory.history(one.id)[0].who for one in memory.list().items}
    assert who["The mill opens at nine"] == f"extraction:{NAME}"
    assert who["Lives in Tarnow"] == "extraction:rules"
    assert memory.status().spent["extraction"].calls == 1


@pytest.mark.promise("extract.host-model")
def test_the_name_outlives_the_process(open_memory: Open, endpoint: StubModel) -> None:
    memory = open_memory()
    turn(memory, "The mill opens at nine.", NAME)
    memory.close()
    endpoint.say(answer("The mill opens at nine"))
    again = open_memory()
    assert again.drain().batches == 1
    assert descriptions(again) == ["The mill opens at nine"]


@pytest.mark.promise("extract.host-model")
def test_each_member_of_a_team_is_extracted_by_its_own_model(
    memory: Memory, endpoint: StubModel
) -> None:
    for agent, model in (("coder", "openai:one"), ("writer", "openai:two")):
        chat = memory.session("team", agent=agent)
        chat.commit(
            [
                {"role": "user", "content": f"Go on, {agent}."},
                {"role": "assistant", "content": f"The {agent} goes on."},
            ],
            model=model,
        )
    endpoint.say('{"candidates": []}', '{"candidates": []}')
    assert memory.drain().batches == 2
    assert [one.body["model"] for one in endpoint.requests] == ["one", "two"]


@pytest.mark.promise("extract.host-model")
def test_an_object_serves_while_its_process_lives(open_memory: Open) -> None:
    memory = open_memory()
    guest = ScriptedModel(answer("The mill opens at nine"))
    turn(memory, "The mill opens at nine.", guest)
    turn(memory, "I live in Tarnow.", session="t")
    memory.drain()
    assert descriptions(memory) == ["Lives in Tarnow", "The mill opens at nine"]
    turn(memory, "I prefer mint tea.", guest)
    memory.close()
    again = open_memory()
    assert again.drain().batches == 1
    assert "Prefers mint tea" in descriptions(again), "the rules stand in for what is gone"


def test_what_is_set_goes_before_what_the_host_names(open_memory: Open) -> None:
    model = ScriptedModel(answer("The mill opens at nine"))
    memory = open_memory(model=model, settings={"extraction.model": "openai-compatible:set"})
    turn(memory, "The mill opens at nine.", "openai:other")
    memory.drain()
    assert [one.model for one in model.questions] == ["openai-compatible:set"]


def test_a_model_whose_key_is_missing_is_warned_of(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (told,) = turn(memory, "I live in Tarnow.", NAME)
    assert "OPENAI_API_KEY" in told
    (told,) = turn(memory, "My sister is called Odile.", "anthropic:x")
    assert "ANTHROPIC_API_KEY" in told
    memory.drain()
    assert len(memory.list().items) == 2, "the rules extract it"


@pytest.mark.promise("extract.parked-batch")
def test_a_host_s_model_that_cannot_be_asked_holds_no_later_turn_up(
    memory: Memory, endpoint: StubModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn(memory, "The mill opens at nine.", NAME)
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    turn(memory, "I live in Tarnow.")
    done = memory.drain()
    assert (len(done.parked), descriptions(memory)) == (1, ["Lives in Tarnow"])
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    endpoint.say(answer("The mill opens at nine"))
    memory.extract(retry=True)
    assert descriptions(memory) == ["Lives in Tarnow", "The mill opens at nine"]


def test_what_a_host_s_object_says_when_it_fails_is_masked(open_memory: Open, home: Path) -> None:
    key = "sk-proj-" + "a1B2" * 12

    class Broken:
        def ask(self, question: object) -> object:
            raise RuntimeError(f"boom {key}")

    memory = open_memory()
    turn(memory, "The mill opens at nine.", Broken())
    done = memory.drain()
    assert "boom" in done.parked[0]
    assert key not in str(done) + str(memory.doctor()) + str(memory.status())
    memory.close()
    assert all(key.encode() not in one.read_bytes() for one in home.rglob("*") if one.is_file())


def test_a_model_that_is_none_stops_no_turn(memory: Memory) -> None:
    (told,) = turn(memory, "I live in Tarnow.", "gpt-what")
    assert "provider:name" in told
    memory.drain()
    assert descriptions(memory) == ["Lives in Tarnow"]
    with pytest.raises(Invalid, match="model"):
        turn(memory, "More.", 42)


@pytest.mark.promise("extract.host-model")
def test_without_rules_only_turns_with_a_model_are_extracted(
    open_memory: Open, endpoint: StubModel
) -> None:
    memory = open_memory(settings={"extraction.fallback": "none"})
    turn(memory, "I live in Tarnow.", session="bare")
    turn(memory, "The mill opens at nine.", NAME, session="hosted")
    endpoint.say(answer("The mill opens at nine"))
    done = memory.drain()
    assert (done.batches, done.parked) == (1, [])
    assert descriptions(memory) == ["The mill opens at nine"]
    assert memory.status().waiting == 2
