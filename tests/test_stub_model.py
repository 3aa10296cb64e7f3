"""The stub speaks as the providers do: their own clients understand it, streamed and not."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest
from tests import stub_model as stub
from tests.stub_model import Reply, StubModel

SAID = "I note that the user prefers tea to coffee. 也喝乌龙茶。"


@pytest.fixture
def endpoint() -> Iterator[StubModel]:
    with StubModel() as running:
        yield running


@pytest.fixture
def openai_client(endpoint: StubModel) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=endpoint.openai_url, api_key="k", max_retries=0) as client:
        yield client


@pytest.fixture
def anthropic_client(endpoint: StubModel) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=endpoint.url, api_key="k", max_retries=0) as client:
        yield client


def test_openai(endpoint: StubModel, openai_client: openai.OpenAI) -> None:
    endpoint.say(Reply(SAID, finish="length", usage=(7, 9)))
    found = openai_client.chat.completions.create(
        model="some", messages=[{"role": "user", "content": "hello"}]
    )
    assert found.choices[0].message.content == SAID
    assert found.choices[0].finish_reason == "length"
    assert found.usage is not None
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (7, 9)
    assert endpoint.requests[0].path == "/v1/chat/completions"
    assert endpoint.requests[0].headers["authorization"] == "Bearer k"
    assert endpoint.requests[0].body["messages"] == [{"role": "user", "content": "hello"}]


def test_openai_streamed(endpoint: StubModel, openai_client: openai.OpenAI) -> None:
    endpoint.say(SAID)
    chunks = list(
        openai_client.chat.completions.create(
            model="some", messages=[{"role": "user", "content": "hello"}], stream=True
        )
    )
    told = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(told) == SAID
    assert len([text for text in told if text]) > 1
    assert chunks[-1].usage is not None


def test_anthropic(endpoint: StubModel, anthropic_client: anthropic.Anthropic) -> None:
    endpoint.say(Reply(SAID, thinking="hm", finish="length", usage=(7, 9)))
    found = anthropic_client.messages.create(
        model="some", max_tokens=10, messages=[{"role": "user", "content": "hello"}]
    )
    assert [block.type for block in found.content] == ["thinking", "text"]
    assert found.stop_reason == "max_tokens"
    assert (found.usage.input_tokens, found.usage.output_tokens) == (7, 9)
    assert endpoint.requests[0].path == "/v1/messages"
    assert endpoint.requests[0].headers["authorization"] == "Bearer k"


def test_anthropic_streamed(endpoint: StubModel, anthropic_client: anthropic.Anthropic) -> None:
    endpoint.say(Reply(SAID, thinking="let me see, let me see", usage=(7, 9)))
    with anthropic_client.messages.stream(
        model="some", max_tokens=10, messages=[{"role": "user", "content": "hello"}]
    ) as stream:
        assert "".join(stream.text_stream) == SAID
        found = stream.get_final_message()
    assert [block.type for block in found.content] == ["thinking", "text"]
    assert (found.usage.input_tokens, found.usage.output_tokens) == (7, 9)


def test_failures(endpoint: StubModel, openai_client: openai.OpenAI) -> None:
    endpoint.say(stub.rate_limited(3), stub.wrong_key())
    with pytest.raises(openai.RateLimitError) as limited:
        openai_client.chat.completions.create(model="some", messages=[])
    assert limited.value.response.headers["retry-after"] == "3"
    with pytest.raises(openai.AuthenticationError):
        openai_client.chat.completions.create(model="some", messages=[])
    with pytest.raises(openai.InternalServerError, match="the script is at its end"):
        openai_client.chat.completions.create(model="some", messages=[])


def test_a_stream_that_breaks_off(endpoint: StubModel, openai_client: openai.OpenAI) -> None:
    endpoint.say(Reply(SAID, cut=True))
    stream = openai_client.chat.completions.create(
        model="some", messages=[{"role": "user", "content": "hello"}], stream=True
    )
    with pytest.raises(openai.APIConnectionError):
        list(stream)
