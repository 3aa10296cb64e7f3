"""Embeddings over HTTP on loopback: what is sent, what is made of each answer, deadlines, forks."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from time import monotonic

import pytest
from tests.stub_embeddings import NUMBERS, Reply, StubEmbeddings, unit, vector

from memstrata.adapters import embed_http
from memstrata.adapters.embed_http import BATCH, HttpEmbedder
from memstrata.adapters.embed_local import LocalEmbedder
from memstrata.adapters.embedders import open_embedder
from memstrata.errors import Invalid, ModelFailed, Unavailable
from memstrata.ports import Embedder

NAME = "openai-compatible:small"
Open = Callable[..., HttpEmbedder]


@pytest.fixture(autouse=True)
def _no_keys_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither keys nor proxies of whoever runs it."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "OLLAMA_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def endpoint() -> Iterator[StubEmbeddings]:
    with StubEmbeddings() as running:
        yield running


@pytest.fixture
def open_one(endpoint: StubEmbeddings) -> Iterator[Open]:
    """Makes embedders of the endpoint; all are closed at the end, before it is."""
    made: list[HttpEmbedder] = []

    def make(name: str = NAME, **given: object) -> HttpEmbedder:
        chosen = {"base_url": endpoint.url, "deadline": 10.0, **given}
        made.append(HttpEmbedder(name, **chosen))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def embedder(open_one: Open) -> HttpEmbedder:
    return open_one()


def refused_url() -> str:
    """A base URL on which nobody listens."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


# -- what is sent --------------------------------------------------------------------------------------


def test_texts_go_out_and_vectors_come_back(endpoint: StubEmbeddings, open_one: Open) -> None:
    embedder: Embedder = open_one(api_key=" sk-demo-0000\n")
    assert embedder.embed(["bees", "养蜂 🐝"], "passage") == [
        unit(vector("bees")),
        unit(vector("养蜂 🐝")),
    ]
    (sent,) = endpoint.requests
    assert sent.path == "/v1/embeddings"
    assert sent.headers["authorization"] == "Bearer sk-demo-0000"
    assert sent.body == {"model": "small", "input": ["bees", "养蜂 🐝"]}
    assert embedder.dimension == NUMBERS


def test_without_a_key_none_is_sent(endpoint: StubEmbeddings, embedder: HttpEmbedder) -> None:
    embedder.embed(["bees"], "query")
    assert "authorization" not in endpoint.requests[0].headers


def test_no_text_asks_nobody(endpoint: StubEmbeddings, embedder: HttpEmbedder) -> None:
    assert embedder.embed([], "query") == []
    assert endpoint.requests == []


def test_many_texts_go_in_parts_over_one_connection(
    endpoint: StubEmbeddings, embedder: HttpEmbedder
) -> None:
    texts = [f"bee {number}" for number in range(2 * BATCH + 1)]
    assert embedder.embed(texts, "passage") == [unit(vector(text)) for text in texts]
    assert [len(sent.body["input"]) for sent in endpoint.requests] == [BATCH, BATCH, 1]
    assert endpoint.accepted == 1


def test_what_no_service_takes_is_sent_otherwise(
    endpoint: StubEmbeddings, embedder: HttpEmbedder
) -> None:
    assert len(embedder.embed(["", "\ud800 bees", "x" * 100_000], "passage")) == 3
    empty, half, long = endpoint.requests[0].body["input"]
    assert (empty, half) == (" ", "? bees")
    assert len(long) == 2_000


def test_shorter_vectors_can_be_asked_for(endpoint: StubEmbeddings, open_one: Open) -> None:
    embedder = open_one(dimensions=4)
    assert embedder.dimension == 4
    assert endpoint.requests == []
    assert embedder.embed(["bees"], "query") == [unit(vector("bees", 4))]
    assert endpoint.requests[0].body["dimensions"] == 4


def test_the_dimension_is_asked_for_once(endpoint: StubEmbeddings, embedder: HttpEmbedder) -> None:
    assert embedder.dimension == embedder.dimension == NUMBERS
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "model, query, passage",
    [
        ("nomic-embed-text:v1.5", "search_query: bees", "search_document: bees"),
        ("intfloat/multilingual-E5-large", "query: bees", "passage: bees"),
        ("intfloat/multilingual-e5-large-instruct", "bees", "bees"),
        ("snowflake-arctic-embed2", "query: bees", "bees"),
        ("text-embedding-3-small", "bees", "bees"),
    ],
)
def test_open_models_get_the_forms_of_their_cards(
    endpoint: StubEmbeddings, open_one: Open, model: str, query: str, passage: str
) -> None:
    embedder = open_one(f"ollama:{model}")
    embedder.embed(["bees"], "query")
    embedder.embed(["bees"], "passage")
    assert [sent.body["input"] for sent in endpoint.requests] == [[query], [passage]]
    assert ("forms" in embedder.key) == (query != passage)


# -- what comes back -----------------------------------------------------------------------------------


def test_vectors_are_put_in_order_by_their_index(
    endpoint: StubEmbeddings, embedder: HttpEmbedder
) -> None:
    endpoint.say(Reply(backwards=True))
    assert embedder.embed(["one", "two"], "query") == [unit(vector("one")), unit(vector("two"))]


def test_base64_is_read_too(endpoint: StubEmbeddings, embedder: HttpEmbedder) -> None:
    endpoint.say(Reply(packed=True))
    assert embedder.embed(["one"], "query") == [unit(vector("one"))]


def row(*numbers: object, index: object = 0) -> dict[str, object]:
    return {"index": index, "embedding": list(numbers)}


@pytest.mark.parametrize(
    "reply, what",
    [
        (Reply(data=[row(1, 2)]), "1 vectors for 2 texts"),
        (Reply(data=[row(1, 2)] * 3), "3 vectors for 2 texts"),
        (Reply(data=[row(1, 2), row(1, 2)]), "not numbered"),
        (Reply(data=[row(1, 2), row(1, 2, index=2)]), "not numbered"),
        (Reply(data=[row(1, 2), row(1, "two", index=1)]), "no numbers"),
        (Reply(data=[row(1, 2), row(1, 10**400, index=1)]), "no numbers"),
        (Reply(data=[row(1, 2), {"index": 1, "embedding": "%%%"}]), "no numbers"),
        (Reply(data=[row(1, 2), {"index": 1}]), "no numbers"),
        (Reply(data=[[1, 2], [1, 2]]), "no numbers"),
        (Reply(data=[row(1, 2), row(1, 2, 3, index=1)]), "several lengths"),
        (Reply(data=[row(), row(index=1)]), "several lengths"),
        (Reply(data=[row([1]), row([1], index=1)]), "several lengths"),
        (Reply(data=[row(1, 2), row(1, float("nan"), index=1)]), "a number that is none"),
        (Reply(data=[row(1, 2), row(1, None, index=1)]), "a number that is none"),
        (Reply(data=[row(1, 2), row(1, float("inf"), index=1)]), "a number that is none"),
        (Reply(data=[row(1, 2), row(0, 0, index=1)]), "without a direction"),
        (Reply(data=[row(1, 2), row(1e300, 1e300, index=1)]), "without a direction"),
        (Reply(data=5), "no list"),
        (Reply(raw=b"<html>welcome to the hotel</html>"), "no list"),
        (Reply(raw=b'{"data": null}'), "no list"),
        (Reply(raw=b"\xff\xfe"), "no list"),
        (Reply(raw=b"[" * 100_000), "no list"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(
    endpoint: StubEmbeddings, embedder: HttpEmbedder, reply: Reply, what: str
) -> None:
    endpoint.say(reply)
    with pytest.raises(Unavailable, match=what) as caught:
        embedder.embed(["one", "two"], "query")
    assert NAME in caught.value.message
    assert embedder.embed(["one"], "query") == [unit(vector("one"))], "the next answer counts"


@pytest.mark.parametrize("dimensions", [0, NUMBERS])
def test_vectors_of_another_length_are_refused(
    endpoint: StubEmbeddings, open_one: Open, dimensions: int
) -> None:
    embedder = open_one(dimensions=dimensions)
    embedder.embed(["one"], "query")
    endpoint.say(Reply(data=[row(1, 2)]))
    with pytest.raises(Unavailable, match=f"2 numbers where {NUMBERS} were expected"):
        embedder.embed(["one"], "query")


def test_an_answer_without_end_is_not_read(
    endpoint: StubEmbeddings, embedder: HttpEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed_http, "LARGEST", 1 << 20)
    endpoint.say(Reply(raw=b" " * (2 << 20)))
    with pytest.raises(Unavailable, match="larger than 1 MiB"):
        embedder.embed(["one"], "query")


# -- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply, field, told",
    [
        (Reply(status=401, code="invalid_api_key"), "embedding.api_key", "401 (invalid_api_key)"),
        (Reply(status=403), "embedding.api_key", "403: "),
        (Reply(status=404, code="model_not_found"), "embedding.model", "404 (model_not_found)"),
        (Reply(status=404, raw=b'{"error": "no such model"}'), "embedding.model", "lacks /v1"),
        (Reply(status=400, code="too long to be a code"), "embedding.model", "400: "),
        (
            Reply(status=307, headers={"Location": "http://127.0.0.1:9/"}),
            "embedding.base_url",
            "307",
        ),
    ],
)
def test_a_wrong_setting_is_named(
    endpoint: StubEmbeddings, open_one: Open, reply: Reply, field: str, told: str
) -> None:
    endpoint.say(reply)
    with pytest.raises(Invalid) as caught:
        open_one(api_key="sk-demo-0000").embed(["I live in Porto"], "query")
    assert caught.value.field == field
    assert told in caught.value.problem
    assert "sk-demo" not in str(caught.value)
    assert "Porto" not in str(caught.value)
    assert len(endpoint.requests) == 1, "neither repeated nor redirected"


def test_a_refusal_of_shorter_vectors_is_guessed(endpoint: StubEmbeddings, open_one: Open) -> None:
    endpoint.say(Reply(status=400))
    with pytest.raises(Invalid, match=r"embedding\.dimensions"):
        open_one(dimensions=4).embed(["bees"], "query")


@pytest.mark.parametrize(
    "headers, seconds",
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_too_many_requests_wait_as_long_as_told(
    endpoint: StubEmbeddings, embedder: HttpEmbedder, headers: dict[str, str], seconds: float | None
) -> None:
    endpoint.say(Reply(status=429, headers=headers, code="rate_limit_exceeded"))
    with pytest.raises(ModelFailed, match=r"HTTP 429 \(rate_limit_exceeded\)") as caught:
        embedder.embed(["one"], "query")
    assert caught.value.reason == "rate_limited"
    assert not caught.value.permanent
    if "2099" in headers.get("Retry-After", ""):
        assert caught.value.retry_after is not None
        assert caught.value.retry_after > 86_400, "counted from the answer's own date"
    else:
        assert caught.value.retry_after == seconds


@pytest.mark.parametrize("status", [408, 500, 503])
def test_a_server_that_fails_is_worth_another_try(
    endpoint: StubEmbeddings, embedder: HttpEmbedder, status: int
) -> None:
    endpoint.say(Reply(status=status))
    with pytest.raises(ModelFailed, match=f"HTTP {status}") as caught:
        embedder.embed(["one"], "query")
    assert (caught.value.reason, caught.value.permanent) == ("server", False)
    assert embedder.embed(["one"], "query") == [unit(vector("one"))]


def test_a_body_that_breaks_off(endpoint: StubEmbeddings, embedder: HttpEmbedder) -> None:
    endpoint.say(Reply(cut=True))
    with pytest.raises(ModelFailed, match="cut off") as caught:
        embedder.embed(["one"], "query")
    assert caught.value.reason == "cut"


def test_nobody_there(open_one: Open) -> None:
    with pytest.raises(ModelFailed, match="cannot be reached") as caught:
        open_one(base_url=refused_url()).embed(["one"], "query")
    assert caught.value.reason == "refused"


def test_a_server_without_tls(endpoint: StubEmbeddings, open_one: Open) -> None:
    with pytest.raises(ModelFailed) as caught:
        open_one(base_url=f"https://{endpoint.host}/v1").embed(["one"], "query")
    assert caught.value.reason == "refused"
    assert ssl.get_default_verify_paths().openssl_cafile not in caught.value.message


@pytest.mark.parametrize("begun", [False, True])
def test_the_deadline_holds(endpoint: StubEmbeddings, open_one: Open, begun: bool) -> None:
    endpoint.say(Reply(hang=True, cut=begun))
    started = monotonic()
    with pytest.raises(ModelFailed, match="deadline") as caught:
        open_one(deadline=0.1).embed(["one"], "query")
    assert caught.value.reason == "timeout"
    assert monotonic() - started < 5
    assert endpoint.left.wait(5), "the connection was left open"


def test_the_deadline_is_for_all_parts_together(endpoint: StubEmbeddings, open_one: Open) -> None:
    with pytest.raises(ModelFailed, match="deadline"):
        open_one(deadline=0.0).embed(["one"], "query")
    assert endpoint.requests == []


def test_proxies_are_not_asked_about_this_machine(
    embedder: HttpEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", refused_url())
    assert embedder.embed(["one"], "query") == [unit(vector("one"))]


def test_another_machine_is_asked_through_the_proxy(
    endpoint: StubEmbeddings, open_one: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://user:secret@{endpoint.host}")
    embedder = open_one(base_url="http://embeddings.invalid/v1")
    assert embedder.embed(["one"], "query") == [unit(vector("one"))]
    assert endpoint.requests[0].path == "http://embeddings.invalid/v1/embeddings"


# -- names and settings --------------------------------------------------------------------------------


def test_a_key_tells_embeddings_apart_and_asks_nobody(
    open_one: Open, endpoint: StubEmbeddings
) -> None:
    keys = {
        open_one().key,
        open_one("openai-compatible:large").key,
        open_one(dimensions=4).key,
        open_one("openai-compatible:nomic-embed-text").key,
        open_one(base_url="http://embeddings.invalid/v1").key,
    }
    assert len(keys) == 5
    assert open_one(api_key="sk-demo-0000").key == open_one(base_url=f"{endpoint.url}/").key
    assert open_one().key == f"{NAME} at {endpoint.url}"
    assert endpoint.requests == []


@pytest.mark.parametrize(
    "url, remote",
    [
        ("http://localhost:11434/v1", False),
        ("http://127.8.0.1/v1", False),
        ("http://[::1]:8080/v1", False),
        ("http://models.localhost/v1", False),
        ("https://api.openai.com/v1", True),
        ("http://192.168.1.5:8080/v1", True),
        ("http://localhost.example.com/v1", True),
    ],
)
def test_whether_texts_leave_the_machine(open_one: Open, url: str, remote: bool) -> None:
    assert open_one(base_url=url).remote is remote


@pytest.mark.parametrize(
    "given",
    [
        {"base_url": ""},
        {"base_url": "localhost:11434"},
        {"base_url": "ftp://example.com/v1"},
        {"base_url": "http://"},
        {"base_url": "http://[::1/v1"},
        {"base_url": "http://example.com:99999/v1"},
        {"base_url": "http://user:sk-demo-0000@example.com/v1"},
        {"api_key": "sk\r\nX-Other: 1"},
        {"api_key": "sk-ключ"},
    ],
)
def test_a_setting_that_cannot_work_is_refused_at_once(
    open_one: Open, given: dict[str, str]
) -> None:
    with pytest.raises(Invalid) as caught:
        open_one(**given)
    assert caught.value.field == f"embedding.{next(iter(given))}"
    assert "sk-demo" not in str(caught.value)


def test_the_factory_knows_the_bundled_one_and_none() -> None:
    assert isinstance(open_embedder(" "), LocalEmbedder)
    assert open_embedder("none") is None


@pytest.mark.parametrize(
    "name, told",
    [
        ("opneai:text-embedding-3-small", "openai:name"),
        ("olama:nomic-embed-text", "ollama:name"),
        ("non", "none"),
        ("openai", "openai:name"),
        ("openai: ", "openai:name"),
        ("nomic-embed-text", "ollama:name"),
        ("fastembed:small", "ollama:name"),
    ],
)
def test_another_name_is_refused_with_the_nearest(name: str, told: str) -> None:
    with pytest.raises(Invalid) as caught:
        open_embedder(name)
    assert caught.value.field == "embedding.model"
    assert told in caught.value.problem


def test_the_standard_environment_is_honoured(
    endpoint: StubEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-demo-0000")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    embedder = open_embedder("openai:small")
    assert embedder is not None
    assert embedder.embed(["one"], "query") == [unit(vector("one"))]
    assert endpoint.requests[0].headers["authorization"] == "Bearer sk-demo-0000"
    embedder.close()


def test_settings_go_before_the_environment(
    endpoint: StubEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-demo-0000")
    monkeypatch.setenv("OPENAI_BASE_URL", refused_url())
    embedder = open_embedder(
        "openai:small", base_url=endpoint.url, api_key="sk-demo-1111", dimensions=4
    )
    assert embedder is not None
    assert embedder.embed(["one"], "query") == [unit(vector("one", 4))]
    assert endpoint.requests[0].headers["authorization"] == "Bearer sk-demo-1111"
    embedder.close()


def test_no_key_reaches_another_provider(
    endpoint: StubEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-demo-0000")
    for name in (NAME, "ollama:small"):
        embedder = open_embedder(name, base_url=endpoint.url)
        assert embedder is not None
        embedder.embed(["one"], "query")
        embedder.close()
    assert all("authorization" not in sent.headers for sent in endpoint.requests)


def test_ollama_is_found_by_its_host(
    endpoint: StubEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", f"http://{endpoint.host}/")
    embedder = open_embedder("ollama:small")
    assert embedder is not None
    embedder.embed(["one"], "query")
    assert endpoint.requests[0].path == "/v1/embeddings"
    assert open_embedder("ollama:small", base_url=endpoint.url).key == embedder.key  # type: ignore[union-attr]
    embedder.close()


@pytest.mark.parametrize(
    "name, field", [("openai:small", "OPENAI_API_KEY"), (NAME, "embedding.base_url")]
)
def test_what_a_provider_needs_is_named(name: str, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        open_embedder(name)
    assert caught.value.field == field


# -- threads and forks ---------------------------------------------------------------------------------


def test_threads_may_ask_at_once(embedder: HttpEmbedder) -> None:
    together = threading.Barrier(4)

    def ask(number: int) -> list[bytes]:
        together.wait(10)
        return embedder.embed([f"bee {number}"], "query")

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(ask, range(4)))
    assert found == [[unit(vector(f"bee {number}"))] for number in range(4)]


def test_a_closed_one_may_be_used_again(endpoint: StubEmbeddings, embedder: HttpEmbedder) -> None:
    embedder.embed(["one"], "query")
    embedder.close()
    embedder.close()
    assert embedder.embed(["one"], "query") == [unit(vector("one"))]
    assert endpoint.accepted == 2


FORKED = """
import os, sys
from memstrata.adapters.embed_http import HttpEmbedder
embedder = HttpEmbedder("openai-compatible:small", base_url=sys.argv[1])
mine = embedder.embed(["one"], "query")
child = os.fork()
if not child:
    os._exit(embedder.embed(["one"], "query") != mine)
assert os.waitpid(child, 0)[1] == 0
assert embedder.embed(["one"], "query") == mine
embedder.close()
"""


def test_a_forked_child_connects_anew(endpoint: StubEmbeddings) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED, endpoint.url],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert endpoint.accepted == 2
    assert len(endpoint.requests) == 3
