"""The tree of errors and its one table."""

from __future__ import annotations

import json

import pytest

from memstrata import errors
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

TABLE = {
    Invalid: ("invalid", 422, 2, False, -32602),
    Denied: ("denied", 403, 3, False, -32003),
    NotFound: ("not_found", 404, 4, False, -32602),
    Conflict: ("conflict", 409, 5, False, -32009),
    Refused: ("refused", 422, 6, False, -32006),
    Unavailable: ("unavailable", 503, 7, True, -32007),
    Corrupt: ("corrupt", 500, 8, False, -32008),
    Internal: ("internal", 500, 1, False, -32603),
}


@pytest.mark.promise("errors.table")
@pytest.mark.parametrize("kind", TABLE)
def test_the_table(kind: type[MemstrataError]) -> None:
    found = (kind.code, kind.http_status, kind.exit_code, kind.retryable, kind.mcp_code)
    assert found == TABLE[kind]


@pytest.mark.promise("errors.table")
def test_the_table_is_complete_and_each_row_its_own() -> None:
    assert tuple(TABLE) == ERRORS
    assert (
        len({kind.code for kind in ERRORS})
        == len({kind.exit_code for kind in ERRORS})
        == len(ERRORS)
    )
    assert 0 not in {kind.exit_code for kind in ERRORS}


def test_every_error_of_the_module_is_of_the_tree() -> None:
    kinds = [
        one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Exception)
    ]
    ours = [one for one in kinds if issubclass(one, MemstrataError)]
    assert ours == kinds
    assert {one.code for one in ours} == {kind.code for kind in ERRORS}


def test_the_docstring_tells_the_same_table() -> None:
    assert errors.__doc__
    for kind, (_, status, code, _, mcp_code) in TABLE.items():
        (row,) = (line for line in errors.__doc__.splitlines() if f"── {kind.__name__} " in line)
        assert f" {status} " in row
        assert f" {mcp_code} " in row
        assert row.endswith(f"exit {code}")


EXAMPLES = [
    (
        Invalid("messages[0].role", "is missing"),
        "messages[0].role: is missing",
        {"field": "messages[0].role", "problem": "is missing", "reason": "VALIDATION_FAILED"},
    ),
    (Denied("memory is switched off"), "memory is switched off", {}),
    (NotFound("memory", "mem_1"), "no memory 'mem_1' here", {"kind": "memory", "id": "mem_1"}),
    (
        Conflict("moved; not saved", base=3, current=4),
        "moved; not saved",
        {"reason": "VERSION_CONFLICT", "base": 3, "current": 4},
    ),
    (
        Conflict("taken", reason="ALREADY_EXISTS", holder="mem_1"),
        "taken",
        {"reason": "ALREADY_EXISTS", "holder": "mem_1"},
    ),
    (
        Refused("sensitive", "sensitive", "holds a key"),
        "refused by the sensitive gate: holds a key",
        {"gate": "sensitive", "verdict": "sensitive", "reason": "holds a key"},
    ),
    (Unavailable("the disk is full"), "the disk is full", {}),
    (OutcomeUnknown("half of it"), "half of it", {}),
    (
        Corrupt("a.md", "is no YAML", 3),
        "a.md:3: is no YAML",
        {"path": "a.md", "line": 3, "problem": "is no YAML"},
    ),
    (
        Corrupt("a.md", "is gone"),
        "a.md: is gone",
        {"path": "a.md", "line": None, "problem": "is gone"},
    ),
    (Internal("a bug"), "a bug", {}),
]


@pytest.mark.parametrize("error, text, detail", EXAMPLES, ids=range(len(EXAMPLES)))
def test_what_a_person_and_a_machine_read(
    error: MemstrataError, text: str, detail: dict[str, object]
) -> None:
    assert str(error) == error.message == text
    assert error.detail() == detail
    assert json.loads(json.dumps(error.detail())) == detail


def test_an_outcome_that_is_unknown_is_unavailable() -> None:
    assert OutcomeUnknown("x").code == "unavailable"
    assert isinstance(OutcomeUnknown("x"), Unavailable)
