"""Every promise has a test that carries its id, and every id that a test carries is a promise."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.promises import PROMISES

TESTS = Path(__file__).parent


def carried() -> dict[str, set[str]]:
    """By promise id: the tests that carry it, read from the source of every test file."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for id in filter(None, map(_promise, node.decorator_list)):
                    found.setdefault(id, set()).add(f"{path.name}::{node.name}")
    for path in (TESTS / "contracts").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                for id in filter(None, map(_promise, node.decorator_list)):
                    found.setdefault(id, set()).add(f"{path.name}::{node.name}")
    return found


def _promise(decorator: ast.expr) -> str | None:
    match decorator:
        case ast.Call(func=ast.Attribute(attr="promise"), args=[ast.Constant(value=str(id))]):
            return id
        case _:
            return None


def test_every_promise_has_a_test() -> None:
    assert sorted(set(PROMISES) - set(carried())) == []


def test_every_carried_id_is_a_promise() -> None:
    assert sorted(set(carried()) - set(PROMISES)) == []
