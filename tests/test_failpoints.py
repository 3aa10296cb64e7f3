"""Failpoints: silent unless armed, and then exactly where and when they were told."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import memstrata
from memstrata import failpoints
from memstrata.errors import Internal, Invalid

HIT = "import sys; from memstrata import failpoints; [failpoints.hit(n) for n in sys.argv[1:]]"


def run(rules: str, *names: str) -> subprocess.CompletedProcess[str]:
    """A process armed with `rules` that hits `names`."""
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", HIT, *names],
        env={**os.environ, "PYTHONPATH": path, failpoints.VARIABLE: rules},
        capture_output=True,
        text=True,
        check=False,
    )


def test_unarmed_nothing_happens() -> None:
    for name in (*failpoints.NAMES, "not declared"):
        failpoints.hit(name)


@pytest.mark.parametrize("name", failpoints.NAMES)
@pytest.mark.parametrize("action, number", [("enospc", errno.ENOSPC), ("eio", errno.EIO)])
def test_an_armed_failpoint_fails(name: str, action: str, number: int) -> None:
    with (
        failpoints.armed({name: action}) as fired,
        pytest.raises(OSError, match=re.escape(name)) as caught,
    ):
        failpoints.hit(name)
    assert caught.value.errno == number
    assert fired == [name]
    failpoints.hit(name)


def test_it_strikes_once_at_the_hit_it_was_told() -> None:
    with failpoints.armed({"vault.sync": "eio:3"}) as fired:
        failpoints.hit("vault.sync")
        failpoints.hit("vault.settle")
        failpoints.hit("vault.sync")
        assert fired == []
        with pytest.raises(OSError, match=r"vault\.sync"):
            failpoints.hit("vault.sync")
        failpoints.hit("vault.sync")
    assert fired == ["vault.sync"]


def test_rules_nest_and_go() -> None:
    with failpoints.armed({"vault.sync": "eio:2", "vault.settle": "eio"}):
        failpoints.hit("vault.sync")
        with failpoints.armed({"job.leased": "eio"}):
            failpoints.hit("vault.sync")
            failpoints.hit("vault.settle")
        with pytest.raises(OSError, match=r"vault\.sync"):
            failpoints.hit("vault.sync")
    failpoints.hit("vault.settle")


def test_rules_go_when_the_block_fails() -> None:
    with pytest.raises(ZeroDivisionError), failpoints.armed({"vault.sync": "eio"}):
        raise ZeroDivisionError
    failpoints.hit("vault.sync")


def test_of_many_threads_one_is_struck() -> None:
    struck: list[int] = []

    def work() -> None:
        for _ in range(500):
            try:
                failpoints.hit("vault.sync")
            except OSError:
                struck.append(threading.get_ident())

    with failpoints.armed({"vault.sync": "eio:1000"}):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(struck) == 1


def test_an_undeclared_name_is_a_bug_once_anything_is_armed() -> None:
    with failpoints.armed({"vault.sync": "eio"}), pytest.raises(Internal, match=r"vault\.synk"):
        failpoints.hit("vault.synk")


@pytest.mark.parametrize(
    "rules",
    [{"vault.synk": "eio"}, {"vault.sync": "explode"}, {"vault.sync": ""}]
    + [{"vault.sync": f"eio:{nth}"} for nth in ("0", "-1", "x", "²")],
)
def test_rules_that_make_no_sense_are_refused(rules: dict[str, str]) -> None:
    with pytest.raises(Invalid, match=failpoints.VARIABLE), failpoints.armed(rules):
        pass
    failpoints.hit("vault.sync")


def test_the_environments_rules() -> None:
    assert failpoints.parse("") == {}
    assert failpoints.parse(" vault.sync = eio:2 , job.leased=kill,") == {
        "vault.sync": "eio:2",
        "job.leased": "kill",
    }
    with pytest.raises(Invalid, match="name=action"):
        failpoints.parse("vault.sync")


def test_a_process_is_armed_by_its_environment() -> None:
    assert run("", *failpoints.NAMES).returncode == 0
    killed = run("vault.sync=kill:2,job.leased=eio", "vault.sync", "vault.settle", "vault.sync")
    assert killed.returncode == -signal.SIGKILL
    failed = run("vault.sync=kill:2,job.leased=eio", "vault.sync", "job.leased")
    assert failed.returncode == 1
    assert "job.leased" in failed.stderr
    assert "is no action" in run("vault.sync=explode").stderr


def test_every_failpoint_passed_in_the_code_is_declared() -> None:
    root = Path(memstrata.__file__).parent
    passed = {
        name
        for path in root.rglob("*.py")
        for name in re.findall(r"failpoints\.hit\(\s*[\"']([^\"']+)[\"']", path.read_text())
    }
    assert passed <= set(failpoints.NAMES)
    assert len(failpoints.NAMES) == len(set(failpoints.NAMES))
    assert {name for name in failpoints.NAMES if name.startswith("vault.")} <= passed
