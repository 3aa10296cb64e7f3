"""Processes that are killed on purpose.

`python -m tests.faults.child one WORK HOME` does one work and prints its acknowledgements; failpoints
come from the environment. `… serve` is told works as JSON lines and forks a process for each, which
saves the imports; a work may also be killed around the n-th COMMIT.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from tests.faults.works import WORKS

from memstrata import failpoints
from memstrata.adapters.sqlite.connection import Connection

ROOT = Path(__file__).parents[2]
COMMITS = ("sqlite.before_commit", "sqlite.after_commit")
"""Places beside the failpoints: in front of and behind a COMMIT."""


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count how often each failpoint and each COMMIT is passed in this process."""
    counts: Counter[str] = Counter()
    hit, end = failpoints.hit, Connection.commit

    def count(name: str) -> None:
        counts[name] += 1
        hit(name)

    def commit(self: Connection) -> None:
        count_commit(counts, COMMITS[0])
        end(self)
        count_commit(counts, COMMITS[1])

    failpoints.hit = count
    Connection.commit = commit  # type: ignore[method-assign]
    try:
        yield counts
    finally:
        failpoints.hit = hit
        Connection.commit = end  # type: ignore[method-assign]


def count_commit(counts: Counter[str], name: str) -> None:
    """Count one passing."""
    counts[name] += 1


def _kill_around_commit(name: str, at: int) -> None:
    end, passed = Connection.commit, Counter[str]()

    def strike(here: str) -> None:
        passed[here] += 1
        if here == name and passed[here] == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def commit(self: Connection) -> None:
        strike(COMMITS[0])
        end(self)
        strike(COMMITS[1])

    Connection.commit = commit  # type: ignore[method-assign]


@dataclass(frozen=True)
class Ended:
    """How a process ended: the signal that killed it (0: none), what it acknowledged, its error."""

    signal: int
    said: list[str]
    error: str


class Server:
    """The forking process, as a context manager."""

    def __enter__(self) -> Self:
        path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.child", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()

    def run(self, work: str, home: Path, kill: Mapping[str, int]) -> Ended:
        """Do `work` on `home` in a process of its own that is killed at the n-th passing of a place."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = {"work": work, "home": str(home), "kill": dict(kill)}
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))


def alone(work: str, home: Path, rules: str) -> Ended:
    """Do `work` in a fresh interpreter armed by its environment."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.child", "one", work, str(home)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, failpoints.VARIABLE: rules},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(max(0, -done.returncode), done.stdout.splitlines(), done.stderr)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _warm_up() -> None:
    """Load here what each process would load anew."""
    with TemporaryDirectory() as folder:
        WORKS["everything"](Path(folder), lambda _: None)


def _serve() -> None:
    _warm_up()
    for line in sys.stdin:
        told = json.loads(line)
        out, into = os.pipe()
        child = os.fork()
        if not child:
            os.dup2(into, 1)
            os.dup2(into, 2)
            os.close(out)
            os.close(into)
            _armed(told["work"], Path(told["home"]), told["kill"])
            os._exit(0)
        os.close(into)
        with os.fdopen(out) as file:
            text = file.read()
        _, status = os.waitpid(child, 0)
        bad = status and not os.WIFSIGNALED(status)
        _say(
            json.dumps(
                {
                    "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
                    "said": [] if bad else text.splitlines(),
                    "error": text if bad else "",
                }
            )
        )


def _armed(work: str, home: Path, kill: Mapping[str, int]) -> None:
    import traceback

    rules = {name: f"kill:{at}" for name, at in kill.items() if name not in COMMITS}
    for name in kill.keys() & set(COMMITS):
        _kill_around_commit(name, kill[name])
    try:
        with failpoints.armed(rules):
            WORKS[work](home, _say)
    except BaseException:  # noqa: BLE001 -- a forked process must not go on as its parent
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["one", work, home]:
            WORKS[work](Path(home), _say)
        case _:
            _serve()
