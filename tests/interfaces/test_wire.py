"""The wire format: every result of the facade, and every error, as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from memstrata import Memory
from memstrata.errors import (
    ERRORS,
    Conflict,
    Corrupt,
    Denied,
    Internal,
    Invalid,
    MemstrataError,
    NotFound,
    OutcomeUnknown,
    Refused,
    Unavailable,
)
from memstrata.interfaces import wire


@dataclass(frozen=True, slots=True)
class Inner:
    at: datetime
    day: date | None


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner
    names: tuple[str, ...]
    counts: dict[str, int]


@pytest.mark.parametrize(
    "value, expected",
    [
        (None, None),
        (True, True),
        (3, 3),
        (0.5, 0.5),
        ("é 茶", "é 茶"),
        (date(2026, 10, 31), "2026-10-31"),
        (datetime(2026, 5, 10, 9, 30, tzinfo=UTC), "2026-05-10T09:30:00.000000Z"),
        (
            datetime(2026, 5, 10, 9, 30, tzinfo=timezone(timedelta(hours=8))),
            "2026-05-10T01:30:00.000000Z",
        ),
        (PurePosixPath("/a/b"), "/a/b"),
        ((1, (2,)), [1, [2]]),
        ({"b", "a"}, ["a", "b"]),
        ({1: date(2026, 1, 2)}, {"1": "2026-01-02"}),
        (
            Outer(Inner(datetime(2026, 1, 1, tzinfo=UTC), None), ("x",), {"n": 1}),
            {
                "inner": {"at": "2026-01-01T00:00:00.000000Z", "day": None},
                "names": ["x"],
                "counts": {"n": 1},
            },
        ),
    ],
)
def test_values(value: object, expected: object) -> None:
    assert wire.encode(value) == expected


@pytest.mark.parametrize("value", [object(), Inner, b"bytes", 1j])
def test_what_the_format_does_not_know_is_an_error(value: object) -> None:
    with pytest.raises(TypeError, match="wire format knows no"):
        wire.encode(value)


def test_an_answer_is_an_object() -> None:
    assert wire.answer("history", ()) == {"versions": []}
    assert wire.answer("config", (("a.b", ("x",), "default"),)) == {
        "settings": [{"key": "a.b", "value": ["x"], "origin": "default"}]
    }
    with pytest.raises(TypeError, match="no object"):
        wire.answer("list", ("a",))


@pytest.mark.promise("wire.one")
@pytest.mark.parametrize(
    "error, more",
    [
        (
            Invalid("name", "is empty"),
            {"field": "name", "problem": "is empty", "reason": "VALIDATION_FAILED"},
        ),
        (Denied("no"), {}),
        (NotFound("memory", "mem_1"), {"kind": "memory", "id": "mem_1"}),
        (
            Conflict("moved", base=3, current=4),
            {"reason": "VERSION_CONFLICT", "base": 3, "current": 4},
        ),
        (
            Refused("sensitive", "sensitive", "holds jwt"),
            {"gate": "sensitive", "verdict": "sensitive", "reason": "holds jwt"},
        ),
        (Unavailable("away"), {}),
        (OutcomeUnknown("outcome unknown"), {}),
        (Corrupt("a.md", "no YAML", 3), {"path": "a.md", "line": 3, "problem": "no YAML"}),
        (Internal("a bug"), {}),
    ],
)
def test_errors(error: MemstrataError, more: dict[str, object]) -> None:
    assert wire.error(error) == {
        "error": {
            "code": error.code,
            "message": error.message,
            "retryable": isinstance(error, Unavailable),
            **more,
        }
    }


def test_every_error_of_the_table_is_tested_above() -> None:
    cases = next(mark for mark in test_errors.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    assert {type(error) for error, _ in cases.args[1]} >= set(ERRORS)


@pytest.mark.promise("wire.one")
def test_every_result_of_the_facade(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with Memory.open(tmp_path / "home", background=False) as memory:
        chat = memory.session("s1", workspace=project)
        captured = chat.commit([{"role": "user", "content": "I prefer tea to coffee."}])
        worked = memory.drain()
        id = memory.list().items[0].id
        added = memory.add(name="tea house", description="The tea house is at Quay 3.")
        answers = {
            "commit": wire.answer("commit", captured),
            "recall": wire.answer("recall", chat.recall("tea?")),
            "drain": wire.answer("drain", worked),
            "search": wire.answer("search", memory.search("tea", workspace=project)),
            "search_conversations": wire.answer(
                "search_conversations", memory.search_conversations("tea", workspace=project)
            ),
            "get": wire.answer("get", memory.get(id)),
            "list": wire.answer("list", memory.list()),
            "add": wire.answer("add", added),
            "history": wire.answer("history", memory.history(id)),
            "trace": wire.answer("trace", memory.trace(id, workspace=project)),
            "why": wire.answer("why", memory.why()),
            "status": wire.answer("status", memory.status()),
            "doctor": wire.answer("doctor", memory.doctor()),
            "config": wire.answer("config", memory.config()),
            "reindex": wire.answer("reindex", memory.reindex()),
        }
    assert {
        verb: json.loads(json.dumps(one, allow_nan=False)) for verb, one in answers.items()
    } == (answers)
    assert answers["get"]["id"] == id
    assert answers["search"]["profile"] == "measured"
    assert answers["search"]["degraded"] == []
    found: Any = answers
    kinds = [hit["kind"] for hit in found["search"]["hits"]]
    assert kinds == ["memory", "memory", "message"]
    assert found["why"]["items"][0]["verdict"]["memory"] == id
