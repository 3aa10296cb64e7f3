"""The model adapter over HTTP on loopback: providers, failures, deadlines, threads, forks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

import pytest
from tests import stub_model as stub
from tests.stub_model import Reply, StubModel

from memstrata.adapters.model_pydantic_ai import PROVIDERS, PydanticAiModel, parse_name
from memstrata.errors import Invalid, ModelFailed
from memstrata.ports import Answer, Model, Question, Rung
from memstrata.prompts.answers import CANDIDATES

SCHEMA = CANDIDATES.schema
OPENAI = "openai-compatible:small"
CLAUDE = "anthropic:claude-haiku-5-5"
Open = Callable[..., PydanticAiModel]


@pytest.fixture(autouse=True)
def _no_keys_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither keys nor proxies of whoever runs it."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "OLLAMA_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def endpoint() -> Iterator[StubModel]:
    with StubModel() as running:
        yield running


@pytest.fixture
def open_model(endpoint: StubModel) -> Iterator[Open]:
    """Makes adapters for the endpoint; all are closed at the end, before it is."""
    made: list[PydanticAiModel] = []

    def make(**given: str) -> PydanticAiModel:
        made.append(PydanticAiModel(**{"base_url": endpoint.openai_url, **given}))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def model(open_model: Open) -> PydanticAiModel:
    """An adapter with a key."""
    return open_model(api_key="some-key")


def question(model: str = OPENAI, rung: Rung = "plain", **fields: Any) -> Question:
    """A question with a deadline that no test waits for."""
    given: dict[str, Any] = {"deadline": 20.0, **fields}
    return Question("extract", model, "the rules", "the messages", SCHEMA, rung, **given)


def failure(model: PydanticAiModel, asked: Question) -> ModelFailed:
    """How it fails."""
    with pytest.raises(ModelFailed) as caught:
        model.ask(asked)
    return caught.value


# -- names and endpoints ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, parts",
    [
        ("openai:gpt-5-mini", ("openai", "gpt-5-mini")),
        ("ollama:qwen3:8b", ("ollama", "qwen3:8b")),
        (" openai-compatible:org/name ", ("openai-compatible", "org/name")),
        (CLAUDE, ("anthropic", "claude-haiku-5-5")),
    ],
)
def test_a_name_is_provider_and_name(name: str, parts: tuple[str, str]) -> None:
    assert parse_name(name) == parts


@pytest.mark.parametrize("name", ["", "gpt-5-mini", "openai:", "openai: ", "OpenAI:x", "google:x"])
def test_any_other_name_is_refused_with_the_providers_there_are(
    name: str, model: PydanticAiModel
) -> None:
    with pytest.raises(Invalid) as caught:
        model.ask(question(name))
    assert caught.value.field == "extraction.model"
    assert all(f"{provider}:…" in caught.value.problem for provider in PROVIDERS)


def test_openai_compatible_needs_a_url() -> None:
    with pytest.raises(Invalid) as caught:
        PydanticAiModel().ask(question())
    assert caught.value.field == "extraction.base_url"


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://x", "/v1"])
def test_a_url_without_http_is_refused(url: str, open_model: Open) -> None:
    with pytest.raises(Invalid) as caught:
        open_model(base_url=url).ask(question("ollama:small"))
    assert caught.value.field == "extraction.base_url"


@pytest.mark.parametrize(
    "name, variable", [("openai:gpt-5-mini", "OPENAI_API_KEY"), (CLAUDE, "ANTHROPIC_API_KEY")]
)
def test_a_missing_key_is_named(name: str, variable: str) -> None:
    model = PydanticAiModel()
    with pytest.raises(Invalid) as caught:
        model.ask(question(name))
    assert caught.value.field == variable
    model.close()


def test_the_standard_environment_is_honoured(
    endpoint: StubModel, monkeypatch: pytest.MonkeyPatch, open_model: Open
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", endpoint.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "anthropic-key")
    monkeypatch.setenv("OLLAMA_BASE_URL", endpoint.url)
    model = open_model(base_url="")
    endpoint.say("one", "two", "three")
    for name in ("openai:gpt-5-mini", CLAUDE, "ollama:qwen3:8b"):
        model.ask(question(name))
    first, second, third = endpoint.requests
    assert first.headers["authorization"] == "Bearer openai-key"
    assert second.headers["authorization"] == "Bearer anthropic-key"
    assert third.path == "/v1/chat/completions"
    assert not any("-key" in value and "not" not in value for value in third.headers.values())


@pytest.mark.parametrize("name", [OPENAI, "ollama:small", "openai:small"])
def test_settings_go_before_the_environment(
    name: str, endpoint: StubModel, open_model: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", stub.refused_url())
    monkeypatch.setenv("OPENAI_API_KEY", "environment-key")
    endpoint.say("yes")
    open_model(api_key="settings-key").ask(question(name))
    assert endpoint.requests[0].headers["authorization"] == "Bearer settings-key"


@pytest.mark.parametrize("name", [OPENAI, "ollama:small"])
def test_openai_s_key_reaches_no_other_server(
    name: str, endpoint: StubModel, open_model: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "environment-key")
    endpoint.say("yes")
    open_model().ask(question(name))
    assert "environment-key" not in str(endpoint.requests[0])


def test_settings_serve_the_provider_they_are_for(open_model: Open, endpoint: StubModel) -> None:
    model = open_model(api_key="some-key", provider="openai-compatible")
    endpoint.say("yes")
    assert model.ask(question()).text == "yes"
    with pytest.raises(Invalid, match="ANTHROPIC_API_KEY"):
        model.ask(question(CLAUDE))


# -- what is sent and what comes back ---------------------------------------------------------------


def test_an_answer(endpoint: StubModel, model: PydanticAiModel) -> None:
    port: Model = model
    endpoint.say(Reply("hello", finish="length", usage=(11, 22)))
    found = port.ask(question())
    assert found == Answer("hello", "small", 11, 22, found.seconds, "length")
    assert 0 < found.seconds < 20
    body = endpoint.requests[0].body
    assert body["messages"] == [
        {"role": "system", "content": "the rules"},
        {"role": "user", "content": "the messages"},
    ]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("small", 2_000, 0.0)
    assert "response_format" not in body


@pytest.mark.parametrize("name", [OPENAI, "ollama:small", "openai:gpt-5-mini"])
def test_the_rungs_of_openai_s_language(
    name: str, endpoint: StubModel, model: PydanticAiModel
) -> None:
    endpoint.say("{}", "{}", "{}")
    for rung in ("schema", "json", "plain"):
        model.ask(question(name, rung))
    first, second, third = (request.body for request in endpoint.requests)
    assert first["response_format"]["type"] == "json_schema"
    assert first["response_format"]["json_schema"]["schema"] == SCHEMA
    assert second["response_format"] == {"type": "json_object"}
    assert "response_format" not in third
    assert first["messages"] == second["messages"] == third["messages"]


def test_the_rungs_of_anthropic(endpoint: StubModel, open_model: Open) -> None:
    model = open_model(base_url=endpoint.url, api_key="some-key")
    endpoint.say("{}", "{}")
    model.ask(question(CLAUDE, "schema"))
    assert failure(model, question(CLAUDE, "json")).unsupported_rung
    model.ask(question(CLAUDE, "plain"))
    first, second = (request.body for request in endpoint.requests)
    assert first["output_config"]["format"]["type"] == "json_schema"
    assert "output_config" not in second
    assert failure(model, question("anthropic:claude-3-opus-x", "schema")).unsupported_rung


@pytest.mark.parametrize("name", [OPENAI, "openai:gpt-5-mini", CLAUDE])
def test_thinking_is_left_out(name: str, endpoint: StubModel, open_model: Open) -> None:
    url = endpoint.url if name == CLAUDE else endpoint.openai_url
    endpoint.say(Reply("the answer", thinking="the thoughts"), stub.out_of_tokens("the thoughts"))
    model = open_model(base_url=url, api_key="some-key")
    assert model.ask(question(name)).text == "the answer"
    empty = model.ask(question(name))
    assert (empty.text, empty.finish) == ("", "length")


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [OPENAI, "openai:gpt-5-mini", "ollama:small", CLAUDE])
@pytest.mark.parametrize(
    "reply, reason, permanent, retry_after",
    [
        (stub.rate_limited(7), "rate_limited", False, 7),
        (stub.server_error(500), "server", False, None),
        (stub.server_error(503), "server", False, None),
        (stub.server_error(529), "server", False, None),
        (stub.wrong_key(), "key", True, None),
        (stub.unknown_model(), "model", True, None),
        (stub.no_such_form(), "rejected", True, None),
        (Reply(status=418, error="I am a teapot"), "server", True, None),
        (stub.cut_stream(), "cut", False, None),
    ],
)
def test_failures(
    name: str,
    reply: Reply,
    reason: str,
    permanent: bool,
    retry_after: float | None,
    endpoint: StubModel,
    open_model: Open,
) -> None:
    url = endpoint.url if name == CLAUDE else endpoint.openai_url
    endpoint.say(reply)
    model = open_model(base_url=url, api_key="sk-demo-0000")
    found = failure(model, question(name))
    assert (found.reason, found.permanent, found.retry_after) == (reason, permanent, retry_after)
    assert not found.unsupported_rung
    assert name in found.message
    assert len(endpoint.requests) == 1  # the client's own retries are off
    for secret in ("sk-demo", "teapot", "the messages", "broke"):
        assert secret not in found.message


def test_too_long(endpoint: StubModel, model: PydanticAiModel) -> None:
    endpoint.say(stub.too_long(), Reply(status=413, error="too large"))
    assert failure(model, question(rung="schema")).reason == "too_long"
    found = failure(model, question())
    assert (found.reason, found.permanent) == ("too_long", True)


def test_quota(endpoint: StubModel, model: PydanticAiModel) -> None:
    endpoint.say(Reply(status=429, error="pay", code="insufficient_quota"))
    found = failure(model, question())
    assert (found.reason, found.permanent) == ("quota", True)
    assert "HTTP 429 (insufficient_quota)" in found.message


@pytest.mark.parametrize("rung", ["schema", "json"])
@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_form_that_is_refused(
    rung: Rung, status: int, endpoint: StubModel, model: PydanticAiModel
) -> None:
    endpoint.say(Reply(status=status, error="response_format is not supported"))
    found = failure(model, question(rung=rung))
    assert found.unsupported_rung
    assert not found.permanent


@pytest.mark.parametrize("name", [OPENAI, CLAUDE])
@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"not json", b"\xff\xfe", b"{}", b"[]", b"null", b'"a text"'),
        *(b'{"choices": []}', b'{"content": []}', b'{"content": [{"type": "text"}]}'),
        b'{"error": {"message": "bad"}}',
    ],
)
def test_an_answer_that_is_none(
    name: str, raw: bytes, endpoint: StubModel, open_model: Open
) -> None:
    endpoint.say(Reply(raw=raw))
    url = endpoint.url if name == CLAUDE else endpoint.openai_url
    found = failure(open_model(base_url=url, api_key="some-key"), question(name))
    assert (found.reason, found.permanent) == ("server", False)
    assert found.message == f"{name}: its answer is not what its interface promises"


@pytest.mark.parametrize(
    "name, sent",
    [
        (OPENAI, {"temperature": 0.0, "max_tokens": 2_000}),
        ("openai-compatible:openai/o3", {"max_tokens": 2_000}),
        ("ollama:qwen3:8b", {"temperature": 0.0, "max_tokens": 2_000}),
        ("openai:gpt-4o-mini", {"max_completion_tokens": 2_000}),
        ("openai:gpt-5-mini", {"max_completion_tokens": 2_000, "reasoning_effort": "low"}),
    ],
)
def test_only_what_a_model_takes_is_sent(
    name: str, sent: dict[str, object], endpoint: StubModel, model: PydanticAiModel
) -> None:
    endpoint.say("yes")
    model.ask(question(name))
    body = dict(endpoint.requests[0].body)
    assert {key: body[key] for key in body.keys() - {"model", "messages", "stream"}} == sent


@pytest.mark.parametrize("name", [OPENAI, CLAUDE])
def test_nobody_listens(name: str, open_model: Open) -> None:
    model = open_model(base_url=stub.refused_url(), api_key="some-key")
    found = failure(model, question(name))
    assert (found.reason, found.permanent) == ("refused", False)


@pytest.mark.parametrize("name", [OPENAI, CLAUDE])
def test_a_deadline_cancels_the_request(name: str, endpoint: StubModel, open_model: Open) -> None:
    url = endpoint.url if name == CLAUDE else endpoint.openai_url
    model = open_model(base_url=url, api_key="some-key")
    endpoint.say("warm", stub.timeout(), "again")
    model.ask(question(name))
    started = monotonic()
    found = failure(model, question(name, deadline=0.2))
    assert 0.2 <= monotonic() - started < 5
    assert (found.reason, found.permanent) == ("timeout", False)
    assert endpoint.left.wait(5)  # the connection was given up, not left to run on
    assert model.ask(question(name)).text == "again"


def test_no_address_but_the_endpoint_s(
    endpoint: StubModel, model: PydanticAiModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    connect = socket.socket.connect

    def watched(self: socket.socket, address: Any) -> None:
        seen.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    endpoint.say("one", stub.server_error())
    model.ask(question())
    failure(model, question())
    assert {f"http://{host}:{port}" for host, port in seen} == {endpoint.url}


# -- thread, fork, end -----------------------------------------------------------------------------


def ours() -> list[threading.Thread]:
    """The adapters' threads that run."""
    return [one for one in threading.enumerate() if one.name == "memstrata-model"]


def test_one_thread_for_the_whole_life(endpoint: StubModel, open_model: Open) -> None:
    before = len(ours())
    model = open_model()
    assert len(ours()) == before
    endpoint.say(*(f"answer {n}" for n in range(8)))
    with ThreadPoolExecutor(8) as pool:
        texts = {answer.text for answer in pool.map(model.ask, [question()] * 8)}
    assert texts == {f"answer {n}" for n in range(8)}
    assert len(ours()) == before + 1
    model.close()
    assert len(ours()) == before


def test_the_end(endpoint: StubModel, open_model: Open) -> None:
    model = open_model()
    model.close()
    endpoint.say("one")
    assert failure(model, question()).reason == "closed"
    model.close()
    assert endpoint.requests == []


def test_closing_ends_what_waits(endpoint: StubModel, open_model: Open) -> None:
    model = open_model()
    endpoint.say("warm", stub.timeout())
    model.ask(question())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(failure, model, question())
        assert endpoint.waiting.wait(5)
        model.close()
        assert waiting.result(5).reason == "closed"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_starts_anew(endpoint: StubModel, model: PydanticAiModel) -> None:
    endpoint.say("parent", "child", "parent again")
    model.ask(question())
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if model.ask(question(deadline=5.0)).text == "child" else 2
            model.close()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert model.ask(question()).text == "parent again"


LATE = """
import sys
from memstrata.adapters.model_pydantic_ai import PydanticAiModel, parse_name
from memstrata.adapters.model_scripted import ScriptedModel
model = PydanticAiModel()
parse_name("openai:some")
model.close()
print(sorted({"pydantic_ai", "openai", "anthropic", "anyio", "httpx2", "asyncio"} & set(sys.modules)))
"""


def test_nothing_heavy_is_imported_before_the_first_question() -> None:
    ran = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("missing", ["pydantic_ai", "openai", "anthropic"])
def test_a_missing_extra_says_how_to_get_it(
    missing: str, open_model: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(Invalid) as caught:
        open_model().ask(question())
    assert caught.value.field == "extraction.model"
    assert caught.value.problem == "needs pip install 'memstrata[models]'"


def test_a_process_ends_although_nobody_closed_it(endpoint: StubModel) -> None:
    endpoint.say("yes")
    code = f"""
from memstrata.adapters.model_pydantic_ai import PydanticAiModel
from memstrata.ports import Question
model = PydanticAiModel(base_url={endpoint.openai_url!r})
print(model.ask(Question("x", {OPENAI!r}, "", "hello", {{}}, "plain")).text)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert (ran.stdout, ran.stderr) == ("yes\n", "")
    assert endpoint.requests[0].body["messages"] == [{"role": "user", "content": "hello"}]
