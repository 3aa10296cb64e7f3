"""Who is let in, as whom, from where: tokens, roles, loopback, Host and Origin, paths of the machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.interfaces.http.conftest import Serve, Wire, as_token
from tests.served import Remote

from memstrata import Conflict, Corrupt, Denied, Invalid, Memory, NotFound
from memstrata.domain.scope import LOCAL_OWNER
from memstrata.interfaces.http.identity import is_loopback, refuse_foreign
from memstrata.interfaces.http.server import Server

Bearer = Callable[[str], Wire]


@pytest.fixture
def bearer(remote: Remote, request: pytest.FixtureRequest) -> Bearer:
    """Raw requests with a token."""

    def one(token: str) -> Wire:
        found = Wire(remote.server.url, token)
        request.addfinalizer(found.close)
        return found

    return one


# -- tokens ---------------------------------------------------------------------------------------


@pytest.mark.promise("http.loopback")
def test_without_any_token_this_machine_is_served_as_the_owner(wire: Wire) -> None:
    assert wire("GET", "/v1/status").json["owner"] == LOCAL_OWNER
    assert wire("GET", "/v1/settings").status == 200


@pytest.mark.promise("http.loopback")
def test_with_a_token_nobody_enters_without_one(remote: Remote, wire: Wire) -> None:
    as_token(remote, "reader")
    answer = wire("GET", "/v1/status")
    assert (answer.status, answer.code) == (401, "denied")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert wire("GET", "/metrics").status == 401
    assert wire("GET", "/v1/nowhere").status == 401, "not even what there is"
    assert wire("GET", "/healthz").status == wire("GET", "/readyz").status == 200


@pytest.mark.promise("http.loopback")
def test_the_last_token_revoked_opens_nothing(remote: Remote, wire: Wire) -> None:
    made = remote.engine.create_token(role="admin")
    assert wire("GET", "/v1/status").status == 401
    remote.engine.revoke_token(made.token.id)
    assert remote.engine.tokens() == ()
    assert wire("GET", "/v1/status").status == 401
    assert wire("GET", "/v1/status", Authorization=f"Bearer {made.secret}").status == 401


@pytest.mark.promise("http.loopback")
@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_others_reach_needs_a_token(remote: Remote, host: str) -> None:
    with pytest.raises(Denied, match="memstrata token create"):
        Server(remote.engine, host=host, port=0)


@pytest.mark.parametrize(
    "address, local",
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("", False),
        ("example.org", False),
    ],
)
def test_what_is_loopback(address: str, local: bool) -> None:
    assert is_loopback(address) is local


@pytest.mark.promise("http.tokens")
def test_a_token_speaks_for_its_owner(remote: Remote, bearer: Bearer) -> None:
    ana = bearer(as_token(remote, "writer", "ana"))
    made = ana("POST", "/v1/memories", {"name": "n", "description": "Ana's"})
    assert (made.status, made.json["owner"]) == (201, "ana")
    assert ana("GET", "/v1/status").json["owner"] == "ana"
    assert [one.description for one in remote.engine.list(user="ana").items] == ["Ana's"]
    assert remote.engine.list().items == ()


@pytest.mark.promise("http.tokens")
def test_the_home_keeps_no_secret(remote: Remote, home: Path) -> None:
    made = remote.engine.create_token(role="reader", user="ana", note="her phone")
    file = home / "tokens.json"
    assert file.stat().st_mode & 0o777 == 0o600
    for path in home.rglob("*"):
        if path.is_file():
            assert made.secret.encode() not in path.read_bytes()
    (row,) = json.loads(file.read_text())
    assert (row["owner"], row["role"], row["note"]) == ("ana", "reader", "her phone")
    assert remote.engine.tokens() == (made.token,)
    with pytest.raises(NotFound):
        remote.engine.revoke_token("tok_none")
    assert remote.engine.revoke_token(made.token.id) == made.token
    assert json.loads(file.read_text()) == []


@pytest.mark.promise("http.tokens")
@pytest.mark.parametrize(
    "given", [{"role": "root"}, {"user": "../x"}, {"user": ""}, {"space": "other"}, {"note": "a\0"}]
)
def test_a_token_that_is_none(remote: Remote, given: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        remote.engine.create_token(**given)
    assert remote.engine.tokens() == ()


@pytest.mark.promise("http.tokens")
def test_tokens_that_cannot_be_read_let_nobody_in(remote: Remote, wire: Wire, home: Path) -> None:
    secret = as_token(remote, "admin")
    (home / "tokens.json").write_text("[{]")
    for said in ("", f"Bearer {secret}"):
        answer = wire("GET", "/v1/status", Authorization=said)
        assert (answer.status, answer.code) == (500, "corrupt")
    with pytest.raises(Corrupt):
        remote.engine.create_token()
    assert (home / "tokens.json").read_text() == "[{]"


@pytest.mark.promise("http.tokens")
@pytest.mark.parametrize("said", ["Bearer", "Bearer nonsense", "Basic YTpi", "bearer ms_", "é"])
def test_what_is_no_token(remote: Remote, wire: Wire, said: str) -> None:
    as_token(remote, "reader")
    assert wire("GET", "/v1/status", Authorization=said).status == 401


# -- roles ----------------------------------------------------------------------------------------

READS = [
    ("GET", "/v1/memories"),
    ("GET", "/v1/status"),
    ("GET", "/v1/why"),
    ("GET", "/v1/sessions"),
]
WRITES = [
    ("POST", "/v1/memories", {"name": "n", "description": "d"}),
    ("POST", "/v1/turns", {"session": "s", "messages": [{"role": "user", "content": "Hello"}]}),
    ("PUT", "/v1/users/me/memory", {"markdown": "## Facts\n- 2026-02-03: Keeps bees"}),
]
HOME_WIDE = [
    ("GET", "/v1/settings", None),
    ("POST", "/v1/jobs/drain", None),
    ("POST", "/v1/doctor", None),
    ("POST", "/v1/reindex", None),
    ("GET", "/metrics", None),
]


@pytest.mark.promise("http.roles")
@pytest.mark.parametrize(
    "role, writes, home_wide", [("reader", 0, 0), ("writer", 1, 0), ("admin", 1, 1)]
)
def test_what_a_role_may(
    remote: Remote, bearer: Bearer, role: str, writes: int, home_wide: int
) -> None:
    wire = bearer(as_token(remote, role))
    for method, path in READS:
        assert wire(method, path).status == 200
    for expected, calls in ((writes, WRITES), (home_wide, HOME_WIDE)):
        for method, path, document in calls:
            answer = wire(method, path, document)
            assert (answer.status < 300) is bool(expected), (path, answer.json)
            if not expected:
                assert (answer.status, answer.code) == (403, "denied")


@pytest.mark.promise("http.roles")
def test_only_an_admin_names_another(remote: Remote, bearer: Bearer) -> None:
    ana, ops = bearer(as_token(remote, "writer", "ana")), bearer(as_token(remote, "admin", "ops"))
    given = {"name": "n", "description": "d", "user": "ana"}
    assert ana("POST", "/v1/memories", given).status == 201
    for user in ("ben", "local"):
        answer = ana("POST", "/v1/memories", {**given, "user": user})
        assert (answer.status, answer.code) == (403, "denied")
        assert ana("GET", f"/v1/memories?user={user}").status == 403
    assert len(ops("GET", "/v1/memories?user=ana").json["items"]) == 1
    assert ops("POST", "/v1/memories", {**given, "user": "ben"}).json["owner"] == "ben"


@pytest.mark.promise("http.roles")
def test_nobody_writes_in_anothers_name(remote: Remote, bearer: Bearer) -> None:
    ana, ops = bearer(as_token(remote, "writer", "ana")), bearer(as_token(remote, "admin", "ops"))
    given = {"markdown": "## Facts\n- 2026-02-03: Keeps bees"}
    assert ana("PUT", "/v1/users/me/memory", {**given, "author": "ben"}).status == 403
    assert ana("PUT", "/v1/users/me/memory", {**given, "author": "ana"}).status == 200
    assert ops("PUT", "/v1/users/me/memory", {**given, "author": "the importer"}).status == 200
    (revision,) = ana("GET", "/v1/users/me/memory/history").json["revisions"]
    assert (revision["author"], revision["channel"]) == ("ana", "http")


@pytest.mark.promise("http.roles")
def test_the_state_of_the_home_is_the_admins(
    remote: Remote, bearer: Bearer, tmp_path: Path
) -> None:
    (tmp_path / "kiln").mkdir()
    remote.engine.session("s", workspace=tmp_path / "kiln")
    found = bearer(as_token(remote, "reader"))("GET", "/v1/status").json
    assert (found["worker"], found["spent"], found["workspaces"]) == (None, {}, ["kiln"])
    whole = bearer(as_token(remote, "admin"))("GET", "/v1/status").json
    assert whole["workspaces"] == [f"kiln ({tmp_path / 'kiln'})"]


# -- paths of the machine ---------------------------------------------------------------------------


@pytest.mark.promise("http.paths")
def test_a_client_elsewhere_learns_nothing_of_folders(
    remote: Remote, bearer: Bearer, tmp_path: Path
) -> None:
    for name in ("kiln", "hidden"):
        (tmp_path / name).mkdir()
    bound = remote.engine.team(tmp_path / "kiln")
    key = remote.engine.workspaces()[0].key
    ana = bearer(as_token(remote, "admin", "ana"))
    for name in (key, "kiln", str(tmp_path / "kiln")):
        given = {"name": f"n {name[:5]}", "description": "d", "scope": "project"}
        assert ana("POST", "/v1/memories", {**given, "workspace": name}).status == 201
        assert ana("POST", "/v1/workspaces", {"path": name}).json["key"] == key
    assert ana("GET", f"/v1/workspaces/{key}/memory").status == 200
    there, nowhere = str(tmp_path / "hidden"), str(tmp_path / "absent")
    answers = [
        [
            ana("POST", "/v1/search", {"query": "x", "workspace": place}),
            ana("POST", "/v1/workspaces", {"path": place}),
            ana("GET", f"/v1/workspaces/of?path={place}"),
        ]
        for place in (there, nowhere)
    ]
    for one, other in zip(*answers, strict=True):
        assert (one.status, one.code) == (404, "not_found")
        assert one.data.replace(there.encode(), b"") == other.data.replace(nowhere.encode(), b"")
    assert len(remote.engine.workspaces()) == 1
    assert bound.read().rev == 0


@pytest.mark.promise("http.paths")
def test_on_this_machine_a_path_is_one(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "kiln" / "oven").mkdir(parents=True)
    (tmp_path / "kiln" / ".git").mkdir()
    found = wire("POST", "/v1/workspaces", {"path": str(tmp_path / "kiln" / "oven")})
    assert found.json["name"] == "kiln"
    (bound,) = wire("GET", "/v1/workspaces").json["workspaces"]
    assert {name: bound[name] for name in found.json} == found.json
    answer = wire("POST", "/v1/workspaces", {"path": str(tmp_path / "absent")})
    assert (answer.status, answer.code) == (422, "invalid")


@pytest.mark.promise("http.paths")
def test_a_name_that_two_workspaces_have(remote: Remote, wire: Wire, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "kiln").mkdir(parents=True)
        remote.engine.session("s", workspace=tmp_path / name / "kiln")
    answer = wire("POST", "/v1/search", {"query": "x", "workspace": "kiln"})
    assert (answer.status, answer.json["field"]) == (422, "workspace")


@pytest.mark.promise("http.paths")
def test_an_import_is_sent_not_named(remote: Remote, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(
        '{"role": "user", "id": "m1", "session": "s", "content": "I live in Tarnow."}\nno\n'
    )
    found = remote.import_(file)
    assert (found.stored, len(found.bad)) == (1, 1)
    assert [one.description for one in remote.list().items] == ["Lives in Tarnow"]
    with pytest.raises(Invalid, match="path"):
        remote.import_(tmp_path / "absent.jsonl")


# -- Host and Origin ----------------------------------------------------------------------------------


@pytest.mark.promise("http.foreign")
@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "10.1.2.3", "localhost.evil.example", "[::9]", "", "a b"],
)
def test_a_foreign_host_is_refused(wire: Wire, host: str) -> None:
    for path in ("/v1/status", "/healthz", "/openapi.json"):
        answer = wire("GET", path, Host=host)
        assert answer.status in (400, 403)


@pytest.mark.promise("http.foreign")
def test_a_foreign_origin_is_refused(serve: Serve) -> None:
    remote = serve(
        **{
            "server.allowed_hosts": ["notes.example"],
            "server.allowed_origins": ["https://app.example"],
        }
    )
    wire = Wire(remote.server.url)
    own = remote.server.url.removeprefix("http://")
    for origin in ("https://evil.example", "null", f"https://{own}.evil.example", "file://"):
        answer = wire("POST", "/v1/search", {"query": "x"}, Origin=origin)
        assert (answer.status, answer.code) == (403, "denied")
    assert wire("POST", "/v1/search", {"query": "x"}, Origin=f"http://{own}").status == 200
    assert wire("POST", "/v1/search", {"query": "x"}, Origin="https://app.example").status == 200
    assert wire("GET", "/healthz", Host="notes.example").status == 200
    assert wire("GET", "/healthz", Host="NOTES.example:99").status == 200
    wire.close()


@pytest.mark.promise("http.foreign")
def test_a_page_of_an_allowed_origin_reads_the_answer(serve: Serve) -> None:
    remote = serve(**{"server.allowed_origins": ["https://app.example"]})
    secret = as_token(remote, "reader")
    wire = Wire(remote.server.url)
    page = "https://app.example"
    asked = wire("OPTIONS", "/v1/search", Origin=page, Access_Control_Request_Method="POST")
    assert asked.status == 204
    assert "Authorization" in asked.headers["access-control-allow-headers"]
    assert "POST" in asked.headers["access-control-allow-methods"]
    read = wire("GET", "/v1/memories", Origin=page, Authorization=f"Bearer {secret}")
    refused = wire("GET", "/v1/memories", Origin=page)
    assert (read.status, refused.status) == (200, 401)
    for answer in (asked, read, refused):
        assert answer.headers["access-control-allow-origin"] == page
        assert answer.headers["vary"] == "Origin"
    own = wire("GET", "/v1/memories", Authorization=f"Bearer {secret}")
    assert "access-control-allow-origin" not in own.headers
    foreign = wire("OPTIONS", "/v1/search", Origin="https://evil.example")
    assert foreign.status == 403
    assert "access-control-allow-origin" not in foreign.headers
    wire.close()


@pytest.mark.promise("http.foreign")
def test_the_address_that_was_reached_is_ours() -> None:
    refuse_foreign("10.0.0.7:8765", None, "10.0.0.7", (), ())
    refuse_foreign("[fe80::1]:8765", None, "fe80::1", (), ())
    with pytest.raises(Denied):
        refuse_foreign("10.0.0.8:8765", None, "10.0.0.7", (), ())


@pytest.mark.promise("http.client")
def test_a_connected_memory_speaks_for_its_token(remote: Remote, tmp_path: Path) -> None:
    secret = as_token(remote, "writer", "ana")
    with Memory.connect(remote.server.url, token=secret) as ana:
        ana.session("s").commit([{"role": "user", "content": "I live in Tarnow."}])
        record = ana.add(name="lamp", description="The lamp is green")
        assert ana.get(record.id).owner == "ana"
        with pytest.raises(Denied):
            ana.drain()
        with pytest.raises(Denied):
            ana.list(user="ben")
        with pytest.raises(Denied, match="machine of the home"):
            ana.create_token()
        with pytest.raises(Conflict, match="version 1"):
            ana.edit(record.id, expected_version=7, body="x")
    with (
        Memory.connect(remote.server.url) as nobody,
        pytest.raises(Denied, match="token is needed"),
    ):
        nobody.status()
