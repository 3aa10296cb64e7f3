"""`memstrata consolidate`, `memstrata candidates`."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from tests.interfaces.command import PROGRAM, Run, environment, here
from tests.pipelines.consolidating import RAISED, RULES, SETTINGS, elevate, fill, naming, valid

from memstrata import Memory
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.pipelines.candidates import Candidate


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


@pytest.fixture
def one(home: Path) -> Candidate:
    """A general rule that waits."""
    model = ScriptedModel(naming(elevate, RULES))
    with Memory.open(home, settings=SETTINGS, background=False, model=model) as memory:
        fill(memory)
        memory.consolidate()
        (found,) = memory.candidates()
        return found


def held(home: Path) -> dict[str, str]:
    with Memory.open(home, background=False) as memory:
        return valid(memory)


@pytest.mark.promise("consolidate.cli")
def test_a_plan_is_shown_and_carried_out(cli: Run, home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        for name in ("one", "two"):
            memory.add(name=name, description="Likes mint tea")
    ran = cli("consolidate", "--dry-run")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "user"
    assert lines[1].startswith("  merge: mem_")
    assert [line.rpartition("  ")[2] for line in lines[2:4]] == [
        "one: Likes mint tea",
        "two: Likes mint tea",
    ]
    digest = re.fullmatch(r"carry it out: memstrata consolidate --apply (\w{16})", lines[-1])
    assert digest is not None
    assert "no model is set" in ran.err
    applied = cli("consolidate", "--apply", digest[1], "--json")
    assert applied.json["status"] == "applied"
    assert [len(made["of"]) for made in applied.json["runs"][0]["merges"]] == [2]
    assert list(held(home)) == ["Likes mint tea"]
    again = cli("consolidate", "--apply", digest[1])
    assert (again.code, again.out) == (4, "")
    assert cli("consolidate").out == "user\n  nothing to do\n"
    assert "consolidated" in cli("status").out


@pytest.mark.promise("consolidate.cli")
def test_a_run_that_failed_says_why(cli: Run, home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        fill(memory)
    away = {"MEMSTRATA_EXTRACTION__MODEL": "openai:invented", "OPENAI_API_KEY": "none"}
    away["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
    ran = cli("consolidate", env=away)
    assert ran.code == 7
    assert "consolidation of user failed, nothing was changed" in ran.err
    assert len(held(home)) == 4
    status = cli("status")
    assert "consolidation of user failed" in status.out
    assert "FAULT" in cli("doctor").out
    assert "整理失败" in cli("consolidate", "--lang", "zh", env=away).err


@pytest.mark.promise("consolidate.cli")
def test_candidates_are_listed_shown_and_confirmed(cli: Run, home: Path, one: Candidate) -> None:
    assert cli("candidates", "list").out == f"{one.id}  user  2  Answers: {RAISED}\n"
    shown = cli("candidates", "show", one.id)
    assert one.digest in shown.out
    assert "made of 2 rules" in shown.out
    assert RULES[0] in shown.out
    assert cli("candidates", "show", one.id, "--json").json["digest"] == one.digest
    needed = cli("candidates", "confirm", one.id)
    assert (needed.code, "--digest" in needed.err) == (2, True)
    stale = cli("candidates", "confirm", one.id, "--digest", "0" * 16, "--json")
    assert (stale.code, stale.error["reason"]) == (5, "VERSION_CONFLICT")
    words = ("--name", "Style", "--body", "-")
    ran = cli("candidates", "confirm", one.id, "--digest", one.digest, *words, stdin="Short.\n")
    assert ran.code == 0
    assert ran.out.startswith("confirmed: mem_")
    assert held(home).keys() >= {RAISED, *RULES}
    assert cli("candidates", "list").out == ""
    assert cli("candidates", "show", one.id).code == 4


@pytest.mark.promise("consolidate.cli")
def test_a_candidate_is_rejected(cli: Run, home: Path, one: Candidate) -> None:
    assert cli("candidates", "reject", one.id).out == f"rejected: {one.id}\n"
    assert cli("candidates", "reject", one.id).code == 5
    assert cli("candidates", "reject", "cand_none", "--json").error["kind"] == "candidate"
    assert RAISED not in held(home)


@pytest.mark.promise("consolidate.name-taken")
def test_a_name_that_is_taken_is_told(cli: Run, home: Path, one: Candidate) -> None:
    with Memory.open(home, background=False) as memory:
        holder = memory.add(name="Answers", description="Are in the drawer").id
    shown = cli("candidates", "show", one.id)
    assert f"name taken by  {holder}" in shown.out
    ran = cli("candidates", "confirm", one.id, "--digest", one.digest, "--json")
    assert (ran.code, ran.error["reason"], ran.error["holder"]) == (5, "ALREADY_EXISTS", holder)


@pytest.mark.promise("consolidate.cli")
@pytest.mark.parametrize("answer, kept", [("y\n", True), ("no\n", False)])
def test_it_shows_and_asks_in_a_terminal(
    home: Path, one: Candidate, answer: str, kept: bool
) -> None:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, "candidates", "confirm", one.id],
        env=environment(home, TERM="dumb", MEMSTRATA_EMBEDDING__MODEL="none"),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as ran:
        os.close(slave)
        os.write(master, answer.encode())
        out, err = ran.communicate(timeout=60)
    os.close(master)
    assert RAISED.encode() in err
    assert b"[y/N]" in err
    assert (ran.returncode, b"goes on waiting" in out) == (0, not kept)
    assert (RAISED in held(home)) is kept


@pytest.mark.promise("consolidate.confirm")
def test_of_two_processes_one_confirms(home: Path, one: Candidate) -> None:
    env = environment(home, MEMSTRATA_EMBEDDING__MODEL="none")
    confirm = (*PROGRAM, "candidates", "confirm", one.id, "--digest", one.digest, "--name")
    running = [
        subprocess.Popen([*confirm, name], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ("first", "second")
    ]
    told = [process.communicate(timeout=60) for process in running]
    assert sorted(process.returncode for process in running) == [0, 5], told
    with Memory.open(home, background=False) as memory:
        rules = [found.name for found in memory.list(type="feedback").items]
    assert len({"first", "second"} & set(rules)) == 1
