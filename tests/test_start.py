"""What a start loads: nothing that the first turn does not need."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

LOADED = """
import json, sys
{code}
print(json.dumps(sorted(name for name in {heavy!r} if name in sys.modules)))
"""
HEAVY = (
    *(
        "argparse",
        "asyncio",
        "concurrent.futures",
        "dotenv",
        "ssl",
        "subprocess",
        "yaml",
    ),
    *("detect_secrets", "numpy", "pydantic_ai", "pydantic_settings", "rich", "toktok", "typer"),
)
COMPILED = """
import json, re, sys
real, found = re.compile, {}

def compile(pattern, flags=0):
    module = sys._getframe(1).f_globals["__name__"]
    if module.startswith("memstrata."):
        found[module] = found.get(module, 0) + 1
    return real(pattern, flags)

re.compile = compile
from memstrata import Memory
print(json.dumps(found))
"""


def run(code: str) -> object:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.promise("python.lazy")
def test_the_facade_loads_nothing_heavy() -> None:
    assert run(LOADED.format(code="from memstrata import Memory", heavy=HEAVY)) == []


def test_settings_of_the_environment_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTRATA_RECALL__LIMIT", "3")
    code = "import pathlib; from memstrata.settings import load; found = load(pathlib.Path('/nowhere'))"
    assert run(f"import json; {code}; print(json.dumps(found.settings.recall.limit))") == 3


def test_tables_of_patterns_compile_when_they_are_used() -> None:
    found = run(COMPILED)
    assert isinstance(found, dict)
    assert found, "nothing was counted"
    assert [module for module in found if module.startswith("memstrata.domain.rules")] == []
    assert max(found.values()) <= 10, found
