"""The public names: all there, loaded when they are asked for and not before."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memstrata
from memstrata import errors


@pytest.mark.parametrize("name", memstrata.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(memstrata, name) is not None
    assert name in dir(memstrata)


def test_what_there_is_not() -> None:
    with pytest.raises(AttributeError, match="module 'memstrata' has no attribute 'Memories'"):
        _ = memstrata.Memories


def test_every_error_is_public() -> None:
    kinds = {
        name
        for name, one in vars(errors).items()
        if isinstance(one, type) and issubclass(one, errors.MemstrataError)
    }
    assert kinds <= set(memstrata.__all__)
    assert all(getattr(memstrata, name) is getattr(errors, name) for name in kinds)


def test_a_type_checker_sees_the_same_names() -> None:
    tree = ast.parse(Path(memstrata.__file__).read_text())
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for found in ast.walk(node)
        if isinstance(found, ast.ImportFrom)
        for alias in found.names
    }
    assert seen == set(memstrata.__all__) - {"__version__"}


LIGHT = """
import sys
import memstrata
heavy = {"pydantic", "pydantic_settings", "apsw", "yaml", "toktok", "Stemmer", "detect_secrets", "rich"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert memstrata.__version__
from memstrata import Invalid, Conflict
assert not heavy & set(sys.modules)
assert issubclass(Invalid, memstrata.MemstrataError)
"""


@pytest.mark.promise("python.lazy")
def test_the_package_alone_loads_nothing_heavy() -> None:
    path = os.pathsep.join(filter(None, sys.path))
    subprocess.run(
        [sys.executable, "-c", LIGHT], env={**os.environ, "PYTHONPATH": path}, check=True
    )
