"""The command line: in a process of its own, warnings being errors, or quicker in the test's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final, Protocol

import pytest

from memstrata.interfaces.cli.run import run

SOURCE: Final = Path(__file__).parents[2] / "src"
PROGRAM: Final = (sys.executable, "-W", "error", "-m", "memstrata")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document of stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The JSON error of stderr."""
        return json.loads(self.err.splitlines()[-1])["error"]


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment with this home, English, and nothing of the tester's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMSTRATA_")}
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "FORCE_COLOR", "COLUMNS"):
        kept.pop(name, None)
    path = os.pathsep.join(filter(None, (str(SOURCE), os.environ.get("PYTHONPATH", ""))))
    return {
        **kept,
        "PYTHONPATH": path,
        "PYTHONUTF8": "1",
        "LANG": "C.UTF-8",
        "MEMSTRATA_HOME": str(home),
        **more,
    }


class Run(Protocol):
    """Runs `memstrata`; where an option is left out the home is the test's, the language English."""

    def __call__(
        self,
        *arguments: str,
        home: Path | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str = "",
    ) -> Ran: ...


def here(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process: everything but the interpreter's start is the same."""
    place = home

    def call(
        *arguments: str,
        home: Path | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str = "",
    ) -> Ran:
        with monkeypatch.context() as patched:
            patched.chdir(cwd or place.parent)
            patched.setattr("sys.stdin", StringIO(stdin))
            for name in ("LC_ALL", "LC_MESSAGES"):
                patched.delenv(name, raising=False)
            about = {"MEMSTRATA_HOME": str(home or place), "LANG": "C.UTF-8", **(env or {})}
            for name, value in about.items():
                patched.setenv(name, value)
            capsys.readouterr()
            code = run(arguments)
        return Ran(code, *capsys.readouterr())

    return call


def memstrata(
    home: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str = "",
) -> Ran:
    """Run `memstrata` with `arguments`; `cwd` is the home's parent unless given."""
    ran = subprocess.run(
        [*PROGRAM, *arguments],
        env=environment(home, **(env or {})),
        cwd=cwd or home.parent,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)
