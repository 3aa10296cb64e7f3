"""The benchmark of the server: what was acknowledged is counted, what is missing is found."""

from __future__ import annotations

from pathlib import Path

from bench import http

from memstrata import Memory


def test_a_short_run_loses_nothing() -> None:
    found = http.run(clients=4, seconds=1.5)
    assert (found.empty.errors, found.work.errors, found.lost) == ({}, {}, 0)
    assert found.work.requests > 0
    assert "- Errors: 0 of" in http.report(found)


def test_what_is_lost_is_counted(home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        kept = memory.add(name="n", description="d").id
    tally = http.Tally(memories={kept, "mem_gone"}, messages={"s\nm1"})
    assert http.lost(home, tally) == 2
