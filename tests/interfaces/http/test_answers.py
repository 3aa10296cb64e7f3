"""Answers: problems with the codes of the table, ETags, idempotency keys, limits, deadlines, the log."""

from __future__ import annotations

import json
import logging
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from pathlib import Path

import pytest
from tests.doubles import FakeClock
from tests.interfaces.http.conftest import Serve, Wire, as_token
from tests.served import Remote
from tests.waiting import until

from memstrata import Internal, Memory
from memstrata.interfaces.http.limits import KNOWN, Buckets
from memstrata.memory import Verbs

DOCUMENT = "## Facts\n- 2026-02-03: Keeps bees"


def add(wire: Wire, name: str = "n", **more: object) -> str:
    """A memory that was just made; its id."""
    answer = wire("POST", "/v1/memories", {"name": name, "description": f"About {name}", **more})
    assert answer.status == 201
    return str(answer.json["id"])


# -- problems -------------------------------------------------------------------------------------


@pytest.mark.promise("http.problems")
def test_an_error_is_a_problem_with_its_code(wire: Wire) -> None:
    answer = wire("GET", "/v1/memories/mem_none")
    assert answer.status == 404
    assert answer.code == "not_found"
    assert answer.json == {
        "type": "urn:memstrata:error:not_found",
        "title": "not found",
        "status": 404,
        "detail": "no memory 'mem_none' here",
        "code": "not_found",
        "retryable": False,
        "kind": "memory",
        "id": "mem_none",
    }


@pytest.mark.promise("http.problems")
@pytest.mark.parametrize(
    "method, path, document, status, code",
    [
        ("POST", "/v1/memories", {"name": "n"}, 422, "invalid"),
        ("POST", "/v1/memories", {"name": "n", "description": "d", "nom": 1}, 422, "invalid"),
        ("POST", "/v1/memories", {"name": 3, "description": "d"}, 422, "invalid"),
        ("POST", "/v1/memories", ["n"], 422, "invalid"),
        ("POST", "/v1/search", {"query": "x", "include_invalid": "yes"}, 422, "invalid"),
        ("POST", "/v1/search?limit=3", {"query": "x"}, 422, "invalid"),
        ("GET", "/v1/memories?limit=0", None, 422, "invalid"),
        ("GET", "/v1/memories?limit=many", None, 422, "invalid"),
        ("GET", "/v1/memories?limit=3&limit=4", None, 422, "invalid"),
        ("GET", "/v1/memories?nonsense=1", None, 422, "invalid"),
        ("GET", "/v1/memories/mem_none/diff", None, 422, "invalid"),
        ("POST", "/v1/memories/mem_none/archive", None, 404, "not_found"),
        ("GET", "/v1/nowhere", None, 404, "not_found"),
        ("GET", "/v1/memories/", None, 404, "not_found"),
        ("PUT", "/v1/memories", None, 405, "invalid"),
        ("PATCH", "/v1/memories/mem_none", {"body": "x"}, 422, "invalid"),
    ],
)
def test_what_cannot_be(
    wire: Wire, method: str, path: str, document: object, status: int, code: str
) -> None:
    answer = wire(method, path, document)
    assert (answer.status, answer.code) == (status, code), answer.json


@pytest.mark.promise("http.problems")
@pytest.mark.parametrize(
    "body, type, status",
    [
        (b"{", "application/json", 422),
        (b"[" * 100_000, "application/json", 422),
        (b'{"query": "\\ud800"}', "application/json", 200),
        (b'{"query": NaN}', "application/json", 422),
        (b"\xff\xfe", "application/json", 422),
        (b'{"query": "x"}', "text/plain", 415),
        (b'{"query": "x"}', "application/json; charset=utf-8", 200),
    ],
)
def test_bodies(wire: Wire, body: bytes, type: str, status: int) -> None:
    answer = wire("POST", "/v1/search", body=body, Content_Type=type)
    assert answer.status == status


@pytest.mark.promise("http.problems")
def test_a_refusal_names_its_gate(wire: Wire) -> None:
    key = "AKIA" + "Q3EGTLO2XK4PMB7Z"
    answer = wire("POST", "/v1/memories", {"name": "n", "description": f"The key is {key}"})
    assert (answer.status, answer.code, answer.json["gate"]) == (422, "refused", "sensitive")
    assert key.encode() not in answer.data


@pytest.mark.promise("http.problems")
def test_a_bug_is_told_without_its_text(
    remote: Remote, wire: Wire, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @wraps(Verbs.status)
    def fail(*_: object) -> None:
        raise ZeroDivisionError("something of somebody's")

    monkeypatch.setattr(Verbs, "status", fail)
    answer = wire("GET", "/v1/status")
    assert (answer.status, answer.code) == (500, "internal")
    assert b"somebody" not in answer.data
    until(lambda: "ZeroDivisionError" in caplog.text)
    with pytest.raises(Internal):
        remote.status()


# -- versions -------------------------------------------------------------------------------------


@pytest.mark.promise("http.etag")
def test_an_etag_guards_a_memory(wire: Wire) -> None:
    id = add(wire)
    read = wire("GET", f"/v1/memories/{id}")
    tag = read.headers["etag"]
    assert wire("GET", f"/v1/memories/{id}", If_None_Match=tag).status == 304
    assert wire("GET", f"/v1/memories/{id}", If_None_Match=f'"x", W/{tag}').status == 304
    changed = wire("PATCH", f"/v1/memories/{id}", {"body": "one"}, If_Match=tag)
    assert (changed.status, changed.json["version"]) == (200, 2)
    stale = wire("PATCH", f"/v1/memories/{id}", {"body": "two"}, If_Match=tag)
    assert (stale.status, stale.code) == (412, "conflict")
    assert (stale.json["base"], stale.json["current"]) == (1, 2)
    assert "one" in stale.json["current_text"]
    assert wire("PATCH", f"/v1/memories/{id}", {"body": "two"}, If_Match='"2"').status == 200
    assert wire("GET", f"/v1/memories/{id}", If_None_Match=tag).status == 200


@pytest.mark.promise("http.etag")
def test_a_stale_version_in_the_body_is_a_conflict(wire: Wire) -> None:
    id = add(wire)
    answer = wire("PATCH", f"/v1/memories/{id}", {"expected_version": 7, "body": "x"})
    assert (answer.status, answer.code) == (409, "conflict")
    other = add(wire, "other")
    taken = wire("PATCH", f"/v1/memories/{other}", {"name": "n"}, If_Match='"1"')
    assert (taken.status, taken.json["reason"]) == (409, "ALREADY_EXISTS")


@pytest.mark.promise("http.etag")
@pytest.mark.parametrize(
    "path, method, tag",
    [
        ("", "PATCH", "nonsense"),
        ("", "PATCH", "*"),
        ("", "PATCH", 'W/"1"'),
        ("", "PATCH", '"1", "2"'),
        ("", "DELETE", '"1"'),
        ("/archive", "POST", '"1"'),
    ],
)
def test_a_tag_that_is_none_or_not_taken(wire: Wire, path: str, method: str, tag: str) -> None:
    id = add(wire)
    document = {"body": "x"} if method == "PATCH" else None
    answer = wire(method, f"/v1/memories/{id}{path}", document, If_Match=tag)
    assert (answer.status, answer.json["field"]) == (422, "If-Match")
    assert wire("GET", f"/v1/memories/{id}").json["version"] == 1


@pytest.mark.promise("http.etag")
def test_an_etag_guards_a_document(wire: Wire) -> None:
    place = "/v1/users/me/memory"
    empty = wire("GET", place).headers["etag"]
    saved = wire("PUT", place, {"markdown": DOCUMENT}, If_Match=empty)
    assert (saved.status, saved.json["rev"]) == (200, 1)
    stale = wire("PUT", place, {"markdown": f"{DOCUMENT}\n- 2026-02-04: Sings"}, If_Match=empty)
    assert stale.status == 412
    read = wire("GET", place)
    assert read.json["memory_md"] == DOCUMENT
    assert wire("GET", place, If_None_Match=read.headers["etag"]).status == 304


@pytest.mark.promise("http.etag")
def test_what_a_thread_was_shown_travels_with_it(remote: Remote, wire: Wire) -> None:
    """A line left out of what was shown is a deletion; of what was not, it stays."""
    more = f"{DOCUMENT}\n- 2026-02-04: Sings in a choir\n- 2026-02-05: Owns a boat"
    remote.private().save(more)
    document = remote.private()
    seen = [document.shown]
    document.read()
    seen.append(document.shown)
    assert seen == [None, 1]
    assert document.save(more.rpartition("\n")[0]).status == "saved"
    assert "boat" not in remote.private().read().memory_md
    blind = remote.private().save(DOCUMENT)
    assert "choir" in blind.memory_md


# -- once a key -----------------------------------------------------------------------------------


@pytest.mark.promise("http.idempotency")
def test_a_key_answers_once(remote: Remote, wire: Wire, clock: FakeClock) -> None:
    given = {"name": "n", "description": "d"}
    first = wire("POST", "/v1/memories", given, Idempotency_Key="k1")
    again = wire("POST", "/v1/memories", given, Idempotency_Key="k1")
    assert first.status == again.status == 201
    assert (first.data, first.headers["etag"]) == (again.data, again.headers["etag"])
    other = wire("POST", "/v1/memories", {**given, "name": "m"}, Idempotency_Key="k1")
    assert (other.status, other.json["field"]) == (422, "Idempotency-Key")
    elsewhere = wire("POST", "/v1/turns", {"session": "s", "messages": []}, Idempotency_Key="k1")
    assert elsewhere.status == 422
    assert len(remote.list().items) == 1
    clock.advance(hours=25)
    late = wire("POST", "/v1/memories", {**given, "name": "m"}, Idempotency_Key="k1")
    assert late.status == 201


@pytest.mark.promise("http.idempotency")
def test_a_key_is_its_owners(remote: Remote) -> None:
    given = {"name": "n", "description": "d"}
    for user in ("ana", "ben"):
        wire = Wire(remote.server.url, as_token(remote, "writer", user))
        assert wire("POST", "/v1/memories", given, Idempotency_Key="k").json["owner"] == user
        wire.close()


@pytest.mark.promise("http.idempotency")
def test_an_error_is_not_kept(remote: Remote, wire: Wire) -> None:
    id = add(wire)
    given = {"name": "n", "description": "another"}
    assert wire("POST", "/v1/memories", given, Idempotency_Key="k").status == 409
    remote.delete(id)
    assert wire("POST", "/v1/memories", given, Idempotency_Key="k").status == 201


@pytest.mark.promise("http.idempotency")
def test_what_was_deleted_is_not_told_again(remote: Remote, wire: Wire, home: Path) -> None:
    given = {"name": "n", "description": "The heron nests by the weir"}
    id = wire("POST", "/v1/memories", given, Idempotency_Key="k").json["id"]
    remote.delete(id)
    again = wire("POST", "/v1/memories", given, Idempotency_Key="k")
    assert (again.status, again.code) == (422, "invalid"), "a retry must not bring it back"
    assert not remote.list().items
    remote.close()
    for file in home.glob("memstrata.db*"):
        assert b"heron nests" not in _without_records(file)


def _without_records(file: Path) -> bytes:
    """What the database holds besides its copy of the record lines, which history reads."""
    import apsw

    db = apsw.Connection(str(file)) if file.suffix == ".db" else None
    if db is None:
        return b""
    found = b"".join(str(row).encode() for row in db.execute("SELECT * FROM answers"))
    db.close()
    return found


@pytest.mark.promise("http.idempotency")
def test_many_at_once_with_one_key(remote: Remote) -> None:
    def send(_: int) -> tuple[int, bytes]:
        wire = Wire(remote.server.url)
        given = {"name": "n", "description": "d"}
        answer = wire("POST", "/v1/memories", given, Idempotency_Key="k")
        wire.close()
        return answer.status, answer.data

    with ThreadPoolExecutor(6) as pool:
        found = set(pool.map(send, range(6)))
    assert len(found) == 1
    assert next(iter(found))[0] == 201
    assert len(remote.list().items) == 1


# -- limits ---------------------------------------------------------------------------------------


@pytest.mark.promise("http.limits")
def test_a_body_that_is_too_large(serve: Serve) -> None:
    remote = serve(**{"server.max_body_bytes": 2_000})
    wire = Wire(remote.server.url)
    answer = wire("POST", "/v1/search", {"query": "x" * 3_000})
    assert (answer.status, answer.code) == (413, "invalid")
    assert wire("POST", "/v1/search", {"query": "x" * 1_000}).status == 200
    wire.close()
    said = _raw(
        remote,
        b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n" + (b"3e8\r\n" + b"x" * 1_000 + b"\r\n") * 3,
    )
    assert said.startswith(b"HTTP/1.1 413 ")


@pytest.mark.promise("http.limits")
def test_a_body_that_was_cut_off_does_nothing(remote: Remote, wire: Wire) -> None:
    body = b'{"name": "n", "description": "d"}'
    head = (
        b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n"
    )
    with socket.create_connection((remote.server.host, remote.server.port), timeout=30) as line:
        line.sendall(head + body)
    until(lambda: 'status="422"' in wire("GET", "/metrics").data.decode())
    assert remote.list().items == ()


def _raw(remote: Remote, request: bytes) -> bytes:
    with socket.create_connection((remote.server.host, remote.server.port), timeout=30) as line:
        line.sendall(request)
        return line.recv(65_536)


@pytest.mark.promise("http.limits")
def test_a_caller_that_asks_too_often(serve: Serve) -> None:
    remote = serve(**{"server.requests_per_second": 0.001, "server.burst": 3})
    wires = [Wire(remote.server.url, as_token(remote, "reader", user)) for user in ("ana", "ben")]
    assert [wires[0]("GET", "/v1/sessions").status for _ in range(5)] == [200, 200, 200, 429, 429]
    late = wires[0]("GET", "/v1/sessions")
    assert (late.code, late.json["retryable"]) == ("unavailable", True)
    assert int(late.headers["retry-after"]) > 100
    assert wires[1]("GET", "/v1/sessions").status == 200, "another's is another's"
    for wire in wires:
        wire.close()


@pytest.mark.promise("http.limits")
def test_guessing_tokens_is_slow(serve: Serve) -> None:
    remote = serve(**{"server.requests_per_second": 0.001, "server.burst": 2})
    secret = as_token(remote, "reader")
    wire = Wire(remote.server.url)
    guesses = [wire("GET", "/v1/status", Authorization=f"Bearer ms_{n}").status for n in range(4)]
    assert guesses == [401, 401, 429, 429]
    assert wire("GET", "/v1/status", Authorization=f"Bearer {secret}").status == 200
    wire.close()


def test_a_bucket_fills_steadily() -> None:
    buckets = Buckets(2.0, 4)
    assert [buckets.take("a", 0.0) for _ in range(5)] == [0, 0, 0, 0, 0.5]
    assert buckets.take("a", 0.25) == 0.25
    assert buckets.take("a", 0.5) == 0
    assert [buckets.take("a", 100.0) for _ in range(5)] == [0, 0, 0, 0, 0.5]
    assert Buckets(0, 1).take("a", 0.0) == 0
    for n in range(KNOWN + 1):
        buckets.take(str(n), 100.0)
    assert buckets.take("a", 100.0) == 0, "forgotten for those that came since"


@pytest.mark.promise("http.limits")
def test_a_request_that_takes_too_long(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, ended = threading.Event(), threading.Event()
    add_one = Verbs.add

    @wraps(add_one)
    def slowly(self: Verbs, **given: object) -> object:
        goes_on.wait(30)
        found = add_one(self, **given)  # type: ignore[arg-type]
        ended.set()
        return found

    monkeypatch.setattr(Verbs, "add", slowly)
    remote = serve(**{"server.deadline_seconds": 0.2})
    wire = Wire(remote.server.url)
    answer = wire("POST", "/v1/memories", {"name": "n", "description": "d"})
    assert (answer.status, answer.code) == (503, "unavailable")
    assert "outcome unknown" in answer.json["detail"]
    goes_on.set()
    assert ended.wait(30), "a write runs to its end"
    assert len(remote.list().items) == 1
    said = _raw(
        remote, b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
    )
    assert said.startswith(b"HTTP/1.1 503 "), "nor may a body"
    wire.close()


# -- the log and the numbers --------------------------------------------------------------------------


@pytest.mark.promise("http.log")
def test_the_log_holds_no_text_and_no_token(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "memstrata.access")
    remote = serve(**{"server.access_log": True})
    made = remote.engine.create_token(role="admin", user="ana")
    wire = Wire(remote.server.url, made.secret)
    id = add(wire, "heron")
    wire("GET", "/v1/memories?text=heron&limit=3")
    until(lambda: len(caplog.records) >= 2)
    wire.close()
    lines = [
        json.loads(one.getMessage()) for one in caplog.records if one.name == "memstrata.access"
    ]
    assert [(one["method"], one["route"], one["status"]) for one in lines] == [
        ("POST", "/v1/memories", 201),
        ("GET", "/v1/memories", 200),
    ]
    assert {one["token"] for one in lines} == {made.token.id}
    for text in ("heron", made.secret, id):
        assert text not in caplog.text


@pytest.mark.promise("http.metrics")
def test_numbers(wire: Wire) -> None:
    id = add(wire)
    wire("GET", f"/v1/memories/{id}")
    wire("GET", "/v1/memories/mem_none")
    text = wire("GET", "/metrics").data.decode()
    about = 'method="GET",route="/v1/memories/{id}",status'
    assert f'memstrata_http_requests_total{{{about}="200"}} 1.0' in text
    assert f'memstrata_http_requests_total{{{about}="404"}} 1.0' in text
    assert 'memstrata_events_total{degraded="false",name="memory.written"} 1.0' in text
    assert "memstrata_http_requests_running 1.0" in text
    assert id not in text


@pytest.mark.promise("http.health")
def test_ready_as_long_as_the_index_can_be_read(
    remote: Remote, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wire("GET", "/readyz").json == {"status": "ok"}
    remote.engine._world.store.close()
    assert wire("GET", "/healthz").status == 200
    assert wire("GET", "/readyz").status == 503


@pytest.mark.promise("memory.off")
def test_off_is_denied_over_http_too(serve: Serve) -> None:
    remote = serve(**{"memory.enabled": False})
    wire = Wire(remote.server.url)
    answer = wire("GET", "/v1/memories")
    assert (answer.status, answer.code) == (403, "denied")
    assert wire("GET", "/readyz").status == 200
    wire.close()


def test_a_server_may_be_asked_by_a_memory_of_the_same_process(remote: Remote) -> None:
    with Memory.connect(remote.server.url) as memory:
        assert memory.status() == remote.engine.status()


@pytest.mark.promise("settings.live")
def test_settings_are_changed_over_http(remote: Remote, wire: Wire) -> None:
    answer = wire("PATCH", "/v1/settings", {"key": "recall.limit", "value": 3})
    (row,) = (one for one in answer.json["settings"] if one["key"] == "recall.limit")
    assert (row["value"], row["default"]) == (3, 8)
    assert remote.settings() == remote.engine.settings()
    assert remote.configure("capture.exclude", ["ci-*"]) == remote.engine.settings()
    assert wire("PATCH", "/v1/settings", {"key": "recall.limits", "value": 3}).status == 422
    assert wire("PATCH", "/v1/settings", {"key": "recall.limit", "value": None}).status == 200
