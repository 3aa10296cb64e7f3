"""The lines of `records/`: one a version, one a batch, numbered as the group they were written in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.build import ANN, KEY, NOW, QUOTE, memories, memory

from memstrata.domain import codec, records
from memstrata.domain.memory import Memory
from memstrata.domain.plan import Advance, Base, Delete, Put, Verdict
from memstrata.domain.scope import Key, Realm


def lines_of(data: bytes) -> list[dict[str, Any]]:
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.decode().split("\n")[:-1]]


def put_line(one: Memory) -> records.Line:
    put = Put(one, "update", "extraction:rules", "said with more")
    return records.of_put(put, owner="ann", digest="d" * 32, path="memory/user/x.md")


@pytest.mark.promise("disk.records")
@settings(max_examples=30)
@given(memories())
def test_the_line_of_a_version_holds_all_of_it(one: Memory) -> None:
    (line,) = lines_of(records.encode([put_line(one)], "tx_1", NOW))
    assert (line["kind"], line["id"], line["version"]) == ("memory", one.id, one.version)
    assert codec.from_fields(line["memory"], KEY, id="x", now=NOW) == one


def test_a_line_says_who_why_and_where() -> None:
    key = Key(Realm("local", ""), "project", "ws-1")
    (line,) = lines_of(records.encode([put_line(memory(key=key, evidence=(QUOTE,)))], "tx_1", NOW))
    assert line["key"] == {"owner": "", "scope": "project", "ref": "ws-1"}
    assert line["verb"] == "update"
    assert line["who"] == "extraction:rules"
    assert line["why"] == "said with more"
    assert line["author"] == "ann"
    assert (line["digest"], line["path"]) == ("d" * 32, "memory/user/x.md")
    assert line["memory"]["evidence"][0]["quote"] == QUOTE.quote


@pytest.mark.promise("life.delete")
def test_a_deletion_is_told_without_a_text() -> None:
    one = memory(version=4, body="secret", evidence=(QUOTE,))
    delete = Delete(one, "person", "deleted by hand", Base(4, "old"))
    line = records.of_delete(delete, owner="ann", digest="d" * 32, path="memory/user/x.md")
    (told,) = lines_of(records.encode([line], "tx_1", NOW))
    assert (told["kind"], told["id"], told["version"]) == ("delete", one.id, 5)
    assert (told["verb"], told["who"], told["digest"]) == ("delete", "person", "d" * 32)
    assert told["key"] == {"owner": "ann", "scope": "user", "ref": ""}
    assert not any(text in json.dumps(told) for text in ("drink", "tea", "secret", QUOTE.quote))


@pytest.mark.promise("disk.records")
def test_a_batch_is_told_in_counts_and_holds_no_text() -> None:
    verdicts = (
        Verdict("add", "", "drink", "new"),
        Verdict("noop", "duplicates", "drink", "known"),
        Verdict("noop", "duplicates", "home", "known"),
    )
    advance = Advance(ANN, "chat", "batch_1", 0, 7, "m1", "m7", "rules", verdicts)
    (line,) = lines_of(records.encode([records.of_advance(advance)], "tx_1", NOW))
    assert (line["kind"], line["id"], line["version"]) == ("batch", "chat", 0)
    assert (line["batch"], line["first"], line["last"]) == ("batch_1", "m1", "m7")
    assert line["outcome"] == {"add": 1, "noop": 2}
    assert "drink" not in json.dumps(line)


@given(st.integers(1, 5))
def test_lines_of_one_transaction_are_one_numbered_group(many: int) -> None:
    group = [put_line(memory(f"mem_{n}", name="a\nb\u2028c")) for n in range(many)]
    found = lines_of(records.encode(group, "tx_1", NOW))
    assert [(line["part"], line["parts"], line["tx"]) for line in found] == [
        (n + 1, many, "tx_1") for n in range(many)
    ]
    assert {line["at"] for line in found} == {"2026-03-14T09:30:00.000000Z"}


def test_no_line_is_nothing() -> None:
    assert records.encode([], "tx_1", NOW) == b""
