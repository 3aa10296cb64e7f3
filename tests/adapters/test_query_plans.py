"""Lookups go by the index that was made for them, in a database that was never analysed."""

from __future__ import annotations

import re

import apsw
import pytest

from memstrata.adapters.sqlite.migrations import steps
from memstrata.adapters.sqlite.statements import SQL


@pytest.fixture
def database() -> apsw.Connection:
    """An empty database of our schema."""
    database = apsw.Connection(":memory:")
    for step in steps():
        database.execute(step.sql)
    return database


@pytest.mark.parametrize(
    "name, expected",
    [
        ("memory", "USING INDEX memory_ids (key=? AND id=?)"),
        ("named", "USING INDEX memory_names (key=? AND name=?)"),
        ("slot", "USING INDEX memory_slots (key=? AND subject=? AND slot=?)"),
        ("superseded", "USING INDEX memory_successors (key=? AND superseded_by=?)"),
        ("message", "USING INDEX message_ids (realm=? AND id=?)"),
        ("messages", "USING INDEX message_sessions (realm=? AND session=? AND rowid>?)"),
        ("reads", "USING INDEX read_realms (realm=? AND rowid<?)"),
        ("reads_of_session", "USING INDEX read_sessions (realm=? AND session=? AND rowid<?)"),
        ("trim_reads", "USING COVERING INDEX read_realms (realm=? AND rowid<?)"),
        ("answered", "USING PRIMARY KEY (realm=? AND key=?)"),
        ("forget_answers_about", "USING INDEX answer_memories (about=?)"),
        ("forget_answers", "USING INDEX answer_times (at<?)"),
        ("records", "USING INDEX record_versions (key=? AND id=?)"),
    ],
)
def test_a_lookup_reads_no_more_than_it_must(
    database: apsw.Connection, name: str, expected: str
) -> None:
    values = dict.fromkeys(re.findall(r":(\w+)", SQL[name]), "1")
    plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", values)]
    assert any(expected in step for step in plan), plan
