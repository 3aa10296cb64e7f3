"""What no verb can work with: a clear `Invalid` that names the field, and nothing half written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.faults.oracle import faults, sound
from tests.faults.works import SETTINGS, opened

from memstrata import Memory
from memstrata.errors import Invalid, MemstrataError, NotFound, Refused

LONG = "x" * 10_000_000
HALF = "a \ud800 half"
PATHS: tuple[Any, ...] = (
    "../x",
    "/etc/passwd",
    "a/b",
    ".hidden",
    "..",
    "x" * 129,
    "a b",
    "",
    "a\0b",
    "é",
)
WRONG_QUERIES: tuple[Any, ...] = (None, 5, 2.5, True, [], ["x"], {}, {"a": 1}, b"bytes", ...)
WRONG = (*WRONG_QUERIES, HALF)
NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
OPERATORS = (
    '"a" OR b* NEAR(c', "-x", "col:val", "^", "(", ")", '"', "'", "*", "a AND", "NOT", "{a b} : c",
    "name:mill", "a^b", "NEAR(a b, 5)", '""', "\\", "%", "_", "; DROP TABLE memories; --", "a\0b",
    HALF, "\ufeff", "\u202e", "🦉", "磨坊", "磨", " ", "\n", "a" * 500, "1x2", '3x"mill"*',
)  # fmt: skip


def _said(content: object = "The mill has doors.", **fields: object) -> list[dict[str, object]]:
    return [{"role": "user", "content": content, **fields}]


def _looks(**fields: object) -> list[dict[str, object]]:
    """A message with a tool's call."""
    used: dict[str, object] = {"type": "tool_use", "name": "look", "id": "c", "input": {}}
    return [{"role": "assistant", "content": [{**used, **fields}]}]


def _circle() -> dict[str, object]:
    found: dict[str, object] = {}
    found["again"] = found
    return found


def _deep() -> object:
    found: object = "x"
    for _ in range(100_000):
        found = [found]
    return found


GIVEN: dict[str, dict[str, Any]] = {
    "search": {"query": "x"},
    "search_conversations": {"query": "x"},
    "recall": {"message": "x"},
    "session": {"id": "s"},
    "add": {"name": "mill", "description": "stands by the river"},
    "import_": {"path": __file__},
}
"""What a verb is given besides the argument that is wrong."""

Row = tuple[str, str, str, tuple[Any, ...]]
_LIMITS: tuple[Any, ...] = (None, 0, -1, 1_001, 10**30, 2.5, "ten", True, [], b"5")
_WORKSPACES: tuple[Any, ...] = (5, "", [], b"/tmp", "a\0b")
_TIMES: tuple[Any, ...] = ("yesterday", [], b"x", True, float("inf"), HALF)
_IDS: tuple[Any, ...] = (*PATHS, None, 5, [], b"x", HALF)
_NAMES: tuple[Any, ...] = (5, "team", "", [], b"user")
_SESSIONS: tuple[Any, ...] = (5, "", "a\0b", [], b"x", HALF, {})

TABLE: tuple[Row, ...] = (
    # (field that is named, verb, argument, values); `said` commits one message with that field
    ("messages", "commit", "messages", (None, 5, "text", b"bytes", {"role": "user"})),
    ("messages[1]", "commit", "messages", tuple([*_said(), one] for one in WRONG)),
    ("messages[0].content", "commit", "messages", (_looks(input=_circle()), _looks(input=_deep()))),
    ("messages[0].role", "said", "role", (None, 5, "judge", HALF, [], {})),
    ("messages[0].content", "said", "content", (5, {"a": 1}, HALF, b"x", [5], [None], [HALF], LONG)),
    ("messages[0].content[0].text", "said", "content", ([{"type": "text", "text": HALF}],)),
    ("messages[0].id", "said", "id", (5, "", " ", HALF, "a\nb", "x" * 257, [], b"x")),
    ("messages[0].said_at", "said", "said_at", (1e300, "10000-01-01", float("nan"), *_TIMES)),
    ("messages[0].name", "said", "name", (5, ["x"], HALF, "x" * 257, "a\0b")),
    ("messages[0].tool_calls", "said", "tool_calls", (5, {"a": 1}, "text")),
    ("session", "session", "id", (None, " ", "a\nb", "x" * 257, *_SESSIONS)),
    ("agent", "session", "agent", (*PATHS[:7], *PATHS[8:], 5, [], b"x", HALF)),
    ("owner", "session", "user", (*PATHS, 5, [], b"x", HALF)),
    ("workspace", "session", "workspace", _WORKSPACES),
    ("workspace", "session", "workspace", ("/no/such/folder", HALF, __file__)),
    ("owner", "add", "user", (*PATHS, 5, [], b"x", HALF)),
    ("name", "add", "name", (*WRONG, "", " ", "x" * 121, "a\0b")),
    ("description", "add", "description", (*WRONG, "", " ", "a\0b", LONG)),
    ("body", "add", "body", (None, 5, [], {}, b"x", HALF, "a\0b", LONG)),
    ("scope", "add", "scope", (None, 5, "team", "", [], {}, b"user", HALF)),
    ("type", "add", "type", (None, 5, "memo", "", [], {}, b"user", HALF)),
    ("entities", "add", "entities", (5, "mill", [5], [""], [HALF], ["x"] * 33, ["x" * 121], b"mill")),
    ("priority", "add", "priority", (True, 2.5, "high", 101, -2, 10**30, [], b"5", HALF)),
    ("valid_until", "add", "valid_until", (5, "tomorrow", "2025-13-01", [], b"x", HALF, NOON)),
    ("workspace", "add", "scope", ("project",)),
    ("agent", "add", "scope", ("agent",)),
    ("agent", "add", "agent", ("../x", 5)),
    ("query", "search", "query", WRONG_QUERIES),
    ("limit", "search", "limit", _LIMITS),
    ("kinds", "search", "kinds", (None, 5, "team", [], ["memory", "team"], {}, [[]], b"memory")),
    ("scope", "search", "scope", _NAMES),
    ("type", "search", "type", _NAMES),
    ("as_of", "search", "as_of", _TIMES),
    ("known_at", "search", "known_at", _TIMES),
    ("workspace", "search", "workspace", _WORKSPACES),
    ("query", "search_conversations", "query", WRONG_QUERIES),
    ("limit", "search_conversations", "limit", _LIMITS),
    ("session", "search_conversations", "session", _SESSIONS),
    ("message", "recall", "message", WRONG_QUERIES),
    ("max_tokens", "recall", "max_tokens", (-1, 2.5, "many", True, [], b"5")),
    ("limit", "list", "limit", _LIMITS),
    ("scope", "list", "scope", _NAMES),
    ("type", "list", "type", _NAMES),
    ("status", "list", "status", _NAMES),
    ("text", "list", "text", (None, 5, [], b"x", HALF)),
    ("cursor", "list", "cursor", (*PATHS, 5, [], b"x", HALF)),
    ("id", "get", "id", _IDS),
    ("id", "history", "id", _IDS),
    ("id", "trace", "id", (None, 5, "", " ", "a\0b", [], b"x", HALF)),
    ("limit", "why", "limit", _LIMITS),
    ("verdict", "why", "verdict", _NAMES),
    ("session", "why", "session", _SESSIONS),
    ("cursor", "why", "cursor", (5, "x", "-1", "", "9" * 40, [], b"1", "²", HALF)),
    ("path", "import_", "path", (None, 5, [], b"/tmp", "", "a\0b", "/no/such/file", "/tmp", HALF)),
    ("format", "import_", "format", (5, "xml", ["x"], {"a": 1}, b"jsonl")),
)  # fmt: skip


def _call(memory: Memory, verb: str, argument: str, value: object) -> object:
    arguments: dict[str, Any] = {**GIVEN.get(verb, {}), argument: value}
    match verb:
        case "said":
            return memory.session("s").commit([{**_said()[0], **arguments}])
        case "commit" | "recall":
            return getattr(memory.session("s"), verb)(**arguments)
        case _:
            return getattr(memory, verb)(**arguments)


CASES = [
    pytest.param(field, verb, argument, value, id=f"{verb}-{argument}-{number}")
    for field, verb, argument, values in TABLE
    for number, value in enumerate(values)
]


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A home with something in it that no refused call may change."""
    with opened(tmp_path_factory.mktemp("bad") / "home") as memory:
        memory.add(name="door", description="opens at six")
        memory.session("s").commit(_said("I prefer mint tea.", id="m1"))
        memory.drain()
        memory.reconcile()
        yield memory


def _all_there_is(memory: Memory) -> tuple[object, ...]:
    files = {
        str(file): file.read_bytes()
        for file in sorted(memory.home.rglob("*"))
        if file.is_file() and not file.name.startswith("memstrata.db")
    }
    return files, memory._world.store.totals("local"), memory.list().items


@pytest.mark.promise("input.field")
@pytest.mark.parametrize("field, verb, argument, value", CASES)
def test_it_is_refused_with_its_field(
    untouched: Memory, field: str, verb: str, argument: str, value: object
) -> None:
    before = _all_there_is(untouched)
    with pytest.raises(Invalid) as caught:
        _call(untouched, verb, argument, value)
    assert caught.value.field.startswith(field)
    assert len(str(caught.value)) < 500, "an error is for a person"
    str(caught.value).encode()
    assert _all_there_is(untouched) == before


@pytest.mark.promise("input.field")
def test_after_all_of_that_the_home_is_sound(untouched: Memory) -> None:
    assert faults(untouched) == []


@pytest.mark.parametrize("id", ["mem_none", "x" * 128, "-rf", "a.b"])
def test_an_id_that_is_not_there(untouched: Memory, id: str) -> None:
    for verb in (untouched.get, untouched.history, untouched.trace):
        with pytest.raises(NotFound):
            verb(id)


@pytest.mark.promise("search.query-is-data")
@pytest.mark.parametrize("query", OPERATORS)
def test_a_query_is_data(untouched: Memory, query: str) -> None:
    if query.isascii() and "\0" not in query:
        assert untouched.search(query).degraded == ()
    untouched.search(query, include_invalid=True)
    untouched.search_conversations(query)
    untouched.session("s").recall(query)
    if query != HALF:
        untouched.list(text=query)


def test_a_query_of_ten_megabytes(untouched: Memory) -> None:
    assert untouched.search("tea " + LONG).degraded == ()
    untouched.session("s").recall("mint tea. " * 1_000_000)


@pytest.mark.promise("search.query-is-data")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_query_is_harmless(untouched: Memory, query: str) -> None:
    assert untouched.search(query, kinds=["memory"]).degraded == ()
    assert untouched.search_conversations(query).degraded == ()
    assert untouched.session("s").recall(query).tokens <= 4_000


@pytest.mark.promise("l0.verbatim")
@pytest.mark.parametrize(
    "content", ["a\0b", "\x1b[31m", "\u202e", "\u2028line", "\x85", "\ufeff", "x" * 1_000_000, "🦉"]
)
def test_odd_text_is_kept_to_the_letter(tmp_path: Path, content: str) -> None:
    with opened(tmp_path / "home") as memory:
        said = f"I prefer {content} tea."
        memory.session("s").commit(_said(said, id="m1"))
        memory.drain()
        memory.reindex()
        assert memory.trace("m1").message is not None
        assert memory.trace("m1").message.content == said  # type: ignore[union-attr]
        assert memory.status().parked == ()
        assert faults(memory) == []
    assert sound(tmp_path / "home") == []


@pytest.mark.parametrize("call", ["c" * 250, "c\n", "c/..", "é"])
def test_a_tools_message_is_one_that_the_log_can_hold(tmp_path: Path, call: str) -> None:
    """It is named after its message and its call, which together may be too long or unprintable."""
    used = {"type": "tool_use", "name": "look", "id": call, "input": {}}
    with opened(tmp_path / "home") as memory:
        turn = [{"role": "assistant", "id": "i" * 200, "content": [used]}]
        assert len(memory.session("s").commit(turn).stored) == 1
        memory.reindex()
        assert faults(memory) == []


@pytest.mark.parametrize("as_of", ["0001-01-01", "9999-12-31T23:59:59Z", -62135596800, 0])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_the_ends_of_time(tmp_path: Path, as_of: object, zone: str) -> None:
    given = {**SETTINGS, "timezone": zone}
    with Memory.open(tmp_path / "home", settings=given, background=False) as memory:
        memory.add(name="mill", description="stands by the river")
        with suppress(Invalid):  # local to a zone it may lie outside of the calendar
            memory.search("mill", as_of=as_of)  # type: ignore[arg-type]
        assert faults(memory) == []


@pytest.mark.promise("input.field")
def test_a_message_that_is_wrong_keeps_the_whole_turn_out(untouched: Memory) -> None:
    before = _all_there_is(untouched)
    with pytest.raises(Invalid, match=r"messages\[2\]\.role"):
        untouched.session("s").commit([*_said(), *_said("more"), {"role": "judge", "content": "x"}])
    assert _all_there_is(untouched) == before


def test_a_list_that_breaks_off_keeps_the_whole_turn_out(untouched: Memory) -> None:
    def breaking() -> Iterator[dict[str, object]]:
        yield from _said()
        raise ZeroDivisionError

    before = _all_there_is(untouched)
    with pytest.raises(ZeroDivisionError):
        untouched.session("s").commit(breaking())
    assert _all_there_is(untouched) == before


@pytest.mark.promise("import.idempotent")
@pytest.mark.parametrize(
    "line",
    [b"no json", b"[1]", b"5", b"{}", b'{"role": "judge", "content": "x"}', b"\xff\xfe\x00",
     b'{"role": "user", "content": 5}', b'{"role": "user", "content": "x", "session": "a\\nb"}',
     b'{"role": "user", "content": "x", "agent": "../x"}', b"[" * 100_000,
     b'{"role": "user", "content": "x", "said_at": "soon"}', b'{"role": "user", "content": "\\ud800"}'],
)  # fmt: skip
def test_a_bad_record_of_an_import_is_named_and_the_rest_goes_in(
    tmp_path: Path, line: bytes
) -> None:
    good = b'{"role": "user", "content": "I prefer mint tea.", "session": "s", "id": "%d"}'
    file = tmp_path / "talk.jsonl"
    file.write_bytes(b"\n".join([good % 1, line, good % 2]))
    with opened(tmp_path / "home") as memory:
        done = memory.import_(file)
        assert (done.stored, len(done.bad)) == (2, 1)
        assert "line 2" in done.bad[0]
        assert faults(memory) == []
    assert sound(tmp_path / "home") == []


@pytest.mark.promise("gate.sensitive")
def test_a_secret_is_refused_before_anything_is_written(untouched: Memory) -> None:
    before = _all_there_is(untouched)
    with pytest.raises(Refused):
        untouched.add(name="key", description="ghp_" + "a8Kd03LmPq72XvTz19BnRw56YcJh48EfGs0U")
    assert _all_there_is(untouched) == before


@pytest.mark.parametrize(
    "home", ["", "a\0b", 5, b"home", HALF, __file__], ids=lambda value: repr(value)[:20]
)
def test_a_home_that_is_none(home: Any) -> None:
    with pytest.raises(MemstrataError) as caught:
        Memory.open(home)
    assert isinstance(caught.value, Invalid)


@pytest.mark.promise("owner.local")
@pytest.mark.parametrize("owner", [*PATHS, 5, None, HALF])
def test_an_owner_that_is_none(tmp_path: Path, owner: Any) -> None:
    with pytest.raises(Invalid):
        Memory.open(tmp_path / "home", owner=owner)
    assert not (tmp_path / "home").exists()
