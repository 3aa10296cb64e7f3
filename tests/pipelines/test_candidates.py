"""A person decides on general rules: bound to what they were shown, remembered for good."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.faults.oracle import faults
from tests.pipelines.consolidating import (
    RAISED,
    RULES,
    SETTINGS,
    elevate,
    fill,
    naming,
    valid,
)
from tests.pipelines.test_add import KEY, files, heard

from memstrata import Conflict, Corrupt, Invalid, Memory, NotFound, Refused, Unavailable, failpoints
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.pipelines.candidates import Candidate

REWORDED = "Give the answer before everything else"


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    """Two rules, and a general one that waits."""
    found = open_memory(settings=SETTINGS, model=ScriptedModel(naming(elevate, RULES)))
    fill(found)
    found.consolidate()
    return found


def only(memory: Memory) -> Candidate:
    (one,) = memory.candidates()
    return one


def file_of(memory: Memory) -> Path:
    return memory.home / only(memory).path


def again(open_memory: Open, *lines: object) -> Memory:
    """The same home with another script."""
    return open_memory(settings=SETTINGS, model=ScriptedModel(*lines))  # type: ignore[arg-type]


# -- confirm ----------------------------------------------------------------------------------------


@pytest.mark.promise("consolidate.confirm")
def test_a_confirmed_rule_is_a_person_s(memory: Memory, clock: FakeClock) -> None:
    one = only(memory)
    assert [source.status for source in one.sources] == ["active", "active"]
    assert not any(source.changed for source in one.sources)
    events = heard(memory, "consolidation.confirmed")
    clock.advance(hours=1)
    rule = memory.confirm(one.id, digest=one.digest)
    assert (rule.type, rule.origin, rule.authority) == ("feedback", "consolidation", "person")
    assert (rule.name, rule.description, rule.confidence) == ("Answers", RAISED, 1.0)
    head, _, listed = rule.body.partition("\n\n## Sources\n\n")
    assert head == one.body
    assert listed.count("- [mem_") == 2
    assert [event.fields["memory"] for event in events] == [rule.id]
    assert (memory.candidates(), memory.status().candidates) == ((), 0)
    assert set(RULES) <= set(valid(memory)), "the single ones stay"
    assert f"{rule.name}: {RAISED}" in memory.session("s").recall("mail").stable
    assert not (memory.home / one.path).exists()
    assert faults(memory) == []


@pytest.mark.promise("consolidate.confirm")
def test_in_other_words(memory: Memory) -> None:
    one = only(memory)
    rule = memory.confirm(one.id, digest=one.digest, name="回答", description="先给结论", body="")
    assert (rule.name, rule.description) == ("回答", "先给结论")
    assert rule.body.startswith("## 升华来源\n\n- [mem_")


@pytest.mark.promise("consolidate.confirm")
@pytest.mark.parametrize("change", ["file", "edit", "hand", "archive", "delete"])
def test_what_changed_since_it_was_shown_is_a_conflict(memory: Memory, change: str) -> None:
    one = only(memory)
    source = memory.get(one.sources[0].id)
    match change:
        case "file":
            path = file_of(memory)
            path.write_text(path.read_text().replace("before the reasons", "at once"))
        case "edit":
            memory.edit(source.id, expected_version=1, description="Answer first, in mails")
        case "hand":
            path = memory.home / source.path
            path.write_text(path.read_text().replace("in mails", "in letters"))
        case "archive":
            memory.archive(source.id)
        case _:
            memory.delete(source.id)
    before = valid(memory)
    with pytest.raises(Conflict) as caught:
        memory.confirm(one.id, digest=one.digest)
    assert caught.value.reason == "VERSION_CONFLICT"
    memory.reconcile()
    assert set(valid(memory)) - set(before) <= {"Give the answer first in letters"}
    found = only(memory)
    assert found.digest != one.digest
    status = found.sources[0].status
    assert status == {"archive": "archived", "delete": "gone"}.get(change, "active")
    assert found.sources[0].changed is (change != "file")
    rule = memory.confirm(found.id, digest=found.digest)
    assert rule.description == found.description
    assert faults(memory) == []


@pytest.mark.promise("consolidate.name-taken")
def test_a_name_that_is_taken_keeps_it_waiting(memory: Memory) -> None:
    holder = memory.add(name=" answers", description="Answers are in the drawer")
    one = only(memory)
    assert one.taken_by == holder.id
    with pytest.raises(Conflict, match="under another name") as caught:
        memory.confirm(one.id, digest=one.digest)
    assert (caught.value.reason, caught.value.holder) == ("ALREADY_EXISTS", holder.id)
    assert only(memory).id == one.id
    assert memory.confirm(one.id, digest=one.digest, name="Reply style").name == "Reply style"


def test_an_expired_namesake_ends(memory: Memory, clock: FakeClock) -> None:
    old = memory.add(name="answers", description="Answers by post", valid_until="2026-03-14")
    clock.advance(days=1)
    one = only(memory)
    assert one.taken_by == ""
    rule = memory.confirm(one.id, digest=one.digest)
    assert memory.get(old.id).superseded_by == rule.id
    assert faults(memory) == []


@pytest.mark.promise("case.m13")
@pytest.mark.promise("gate.sensitive")
@pytest.mark.parametrize("field", ["name", "description", "body"])
def test_the_sensitive_gate_stands_before_it(memory: Memory, field: str) -> None:
    one = only(memory)
    before = files(memory.home)
    with pytest.raises(Refused) as caught:
        memory.confirm(one.id, digest=one.digest, **{field: f"the key is {KEY}"})
    assert caught.value.gate == "sensitive"
    assert (only(memory).id, files(memory.home)) == (one.id, before)


@pytest.mark.promise("gate.sensitive")
def test_a_key_that_was_written_into_the_file_is_refused_too(memory: Memory) -> None:
    path = file_of(memory)
    path.write_text(f"{path.read_text()}\n{KEY}\n")
    one = only(memory)
    with pytest.raises(Refused):
        memory.confirm(one.id, digest=one.digest)
    assert all(KEY not in shard.read_text() for shard in memory.home.glob("records/*"))


def test_what_cannot_be_confirmed(memory: Memory) -> None:
    one = only(memory)
    for id in ("cand_none", "../x", one.sources[0].id):
        with pytest.raises((NotFound, Invalid)):
            memory.confirm(id, digest=one.digest)
    with pytest.raises(Conflict):
        memory.confirm(one.id, digest="0" * 16)
    with pytest.raises(Invalid):
        memory.confirm(one.id, digest=one.digest, name="")
    with pytest.raises(NotFound):
        memory.confirm(one.id, digest=one.digest, user="ines")
    assert memory.candidates(user="ines") == memory.candidates(scope="agent", agent="x") == ()


@pytest.mark.promise("consolidate.confirm")
def test_of_two_that_confirm_at_once_one_wins(
    memory: Memory, open_memory: Open, home: Path
) -> None:
    one = only(memory)
    other = open_memory(settings=SETTINGS, model=ScriptedModel())
    barrier, ended = Barrier(2), []

    def confirm(who: Memory, name: str) -> None:
        barrier.wait(10)
        try:
            ended.append(who.confirm(one.id, digest=one.digest, name=name).name)
        except Conflict as error:
            ended.append(error.code)

    threads = [
        Thread(target=confirm, args=given) for given in ((memory, "first"), (other, "second"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    (winner,) = (name for name in ended if name in ("first", "second"))
    assert sorted(ended) == sorted([winner, "conflict"])
    rules = [found.name for found in memory.list(type="feedback").items]
    assert [name for name in rules if name in ("first", "second")] == [winner]
    assert faults(memory) == []


@pytest.mark.promise("consolidate.confirm")
def test_a_decision_of_another_process_is_a_conflict(
    memory: Memory, open_memory: Open, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one decides between our look and our write."""
    one = only(memory)
    other = open_memory(settings=SETTINGS, model=ScriptedModel())
    named = clock.new_id

    def meanwhile(prefix: str) -> str:
        if prefix == "mem_":
            other.reject(one.id)
        return named(prefix)

    monkeypatch.setattr(clock, "new_id", meanwhile)
    with pytest.raises(Conflict, match="not saved"):
        memory.confirm(one.id, digest=one.digest)
    assert RAISED not in valid(memory)
    assert faults(memory) == []


# -- reject -----------------------------------------------------------------------------------------


@pytest.mark.promise("consolidate.reject")
@pytest.mark.parametrize("decide", ["reject", "confirm"])
@pytest.mark.parametrize("reindexed", [False, True])
def test_what_was_decided_is_not_proposed_again(
    memory: Memory, open_memory: Open, home: Path, decide: str, reindexed: bool
) -> None:
    one = only(memory)
    if decide == "reject":
        assert memory.reject(one.id).id == one.id
    else:
        memory.confirm(one.id, digest=one.digest, name="Other", description=REWORDED)
    assert memory.candidates() == ()
    for again_ in (memory.reject, partial(memory.confirm, digest=one.digest)):
        with pytest.raises(Conflict, match="decided on already"):
            again_(one.id)
    with pytest.raises(NotFound):
        memory.reject(one.id, user="ines")
    memory.close()
    if reindexed:
        for file in home.glob("memstrata.db*"):
            file.unlink()
    found = again(
        open_memory,
        naming(elevate, RULES, description=REWORDED),
        naming(elevate, RULES, name="Third"),
    )
    for _ in range(2):
        (run,) = found.consolidate().runs
        assert run.candidates == ()
        assert f"a person {decide}ed it" in run.refused[0]
    assert (found.candidates(), faults(found)) == ((), [])


@pytest.mark.promise("consolidate.reject")
def test_a_new_source_makes_a_new_proposal(memory: Memory, open_memory: Open) -> None:
    memory.reject(only(memory).id)
    third = "Give the answer first in talks"
    memory.add(name="rule 2", type="feedback", description=third)
    found = again(open_memory, naming(elevate, (*RULES, third), description=REWORDED))
    found.consolidate()
    assert len(only(found).sources) == 3


# -- on disk ----------------------------------------------------------------------------------------


@pytest.mark.promise("consolidate.on-disk")
def test_a_reindex_loses_no_candidate(memory: Memory) -> None:
    before = memory.candidates()
    memory.reindex()
    assert memory.candidates() == before
    assert faults(memory) == []


@pytest.mark.promise("consolidate.on-disk")
def test_a_power_cut_that_takes_file_and_line_loses_no_candidate(
    memory: Memory, open_memory: Open, home: Path
) -> None:
    """The pages of the log and the rename were not on disk yet; COMMIT was."""
    one, path = only(memory), file_of(memory)
    memory.close()
    path.unlink()
    (shard,) = home.glob("records/*.jsonl")
    lines = shard.read_bytes().splitlines(keepends=True)
    last = json.loads(lines[-1])["tx"]
    shard.write_bytes(b"".join(line for line in lines if json.loads(line)["tx"] != last))
    found = again(open_memory)
    assert found.candidates() == (one,)
    assert faults(found) == []


@pytest.mark.promise("consolidate.on-disk")
def test_a_line_that_is_not_as_we_write_it_tells_nothing(memory: Memory) -> None:
    before = memory.candidates()
    (shard,) = memory.home.glob("records/*.jsonl")
    lines = [json.loads(line) for line in shard.read_text().splitlines()]
    (run,) = (line for line in lines if line["kind"] == "consolidation")
    (proposal,) = (line for line in lines if line["kind"] == "candidate")
    strange = [
        {**run, "tx": "tx_a", "part": 1, "parts": 1, "outcome": {"merged": "many"}},
        {**run, "tx": "tx_b", "part": 1, "parts": 1, "outcome": []},
        {**proposal, "tx": "tx_c", "part": 1, "parts": 1, "candidate": "../x"},
        {**proposal, "tx": "tx_d", "part": 1, "parts": 1, "candidate": "cand_n", "fields": {}},
        {**proposal, "tx": "tx_e", "part": 1, "parts": 1, "verb": "reject", "fingerprints": 5},
    ]
    strange[-1]["candidate"] = "cand_other"
    with shard.open("a") as file:
        file.writelines(f"{json.dumps(one)}\n" for one in strange)
    memory.reconcile()
    assert memory.candidates() == before
    assert memory.status().consolidated == ("user: 0 merged, 0 proposed, 2026-03-14 09:30Z",)
    memory.reindex()
    assert memory.candidates() == before


@pytest.mark.promise("consolidate.on-disk")
def test_a_hand_edit_is_what_is_shown(memory: Memory) -> None:
    path = file_of(memory)
    path.write_text(path.read_text().replace("before the reasons", "at once"))
    one = only(memory)
    assert one.description == "Give the answer at once"
    assert memory.confirm(one.id, digest=one.digest).description == one.description


@pytest.mark.promise("consolidate.on-disk")
def test_a_file_that_vanished_waits_no_longer_and_may_be_proposed_again(
    memory: Memory, open_memory: Open
) -> None:
    one = only(memory)
    file_of(memory).unlink()
    assert memory.candidates() == ()
    with pytest.raises(NotFound):
        memory.confirm(one.id, digest=one.digest)
    assert [done for done in memory.reconcile().actions if "cand" in done] == []
    found = again(open_memory, naming(elevate, RULES))
    found.consolidate()
    assert only(found).description == RAISED


@pytest.mark.promise("consolidate.on-disk")
def test_a_file_that_cannot_be_read_is_named_and_left(memory: Memory) -> None:
    id, path = only(memory).id, file_of(memory)
    path.write_text("---\nname: [\n---\n")
    assert memory.candidates() == ()
    (problem,) = memory.reconcile().problems
    assert problem.path.endswith(path.name)
    assert memory.status().candidates == 1
    with pytest.raises(Corrupt):
        memory.confirm(id, digest="0" * 16)
    assert path.read_text() == "---\nname: [\n---\n"


@pytest.mark.promise("consolidate.on-disk")
@pytest.mark.parametrize("what", ["link", "file", "name"])
def test_a_folder_that_is_none_hinders_nothing(memory: Memory, tmp_path: Path, what: str) -> None:
    folder = file_of(memory).parent
    match what:
        case "link":
            folder.rename(tmp_path / "elsewhere")
            folder.symlink_to(tmp_path / "elsewhere")
        case "file":
            folder.rename(tmp_path / "elsewhere")
            folder.write_text("no folder")
        case _:
            (folder / "two words.md").write_text("---\nname: a\ndescription: b\n---\n")
    assert len(memory.candidates()) == memory.status().candidates == (1 if what == "name" else 0)
    (problem,) = memory.reconcile().problems
    assert problem.path.startswith("candidates/user")
    for id in ("two words", "cand_none"):
        with pytest.raises((NotFound, Invalid)):
            memory.confirm(id, digest="0" * 16)


@pytest.mark.promise("consolidate.on-disk")
def test_a_file_of_what_was_decided_on_goes(memory: Memory) -> None:
    path = file_of(memory)
    text = path.read_text()
    memory.reject(only(memory).id)
    path.write_text(text)
    assert memory.candidates() == ()
    assert [one for one in memory.reconcile().actions if path.name in one] != []
    assert not path.exists()
    assert memory.reconcile().actions == []


@pytest.mark.promise("consolidate.on-disk")
@pytest.mark.parametrize(
    "decide, place",
    [
        ("confirm", "vault.publish.before"),
        ("confirm", "vault.stage.write"),
        ("confirm", "apply.rows"),
        ("reject", "apply.logged"),
        ("reject", "vault.append.before"),
    ],
)
def test_a_disk_that_is_full_changes_nothing(memory: Memory, decide: str, place: str) -> None:
    one = only(memory)
    before = valid(memory)

    def write() -> object:
        if decide == "reject":
            return memory.reject(one.id)
        return memory.confirm(one.id, digest=one.digest)

    with failpoints.armed({place: "enospc"}), pytest.raises(Unavailable):
        write()
    assert (valid(memory), only(memory)) == (before, one)
    write()
    assert faults(memory) == []


def test_a_file_that_stays_is_hidden_and_goes_later(memory: Memory) -> None:
    one, path = only(memory), file_of(memory)
    with failpoints.armed({"vault.remove.before": "eio"}):
        memory.reject(one.id)
    assert path.exists()
    assert memory.candidates() == ()
    memory.reconcile()
    assert not path.exists()


def test_candidates_of_each_scope_lie_apart(open_memory: Open, tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    say: Callable[..., str] = naming(elevate, RULES)
    memory = again(open_memory, say, say, say)
    where: list[dict[str, Any]] = [
        {},
        {"scope": "project", "workspace": place},
        {"scope": "agent", "agent": "coder"},
    ]
    for one in where:
        fill(memory, **one)
    view = {"workspace": place, "agent": "coder"}
    memory.consolidate(**view)  # type: ignore[arg-type]
    found = memory.candidates(**view)  # type: ignore[arg-type]
    assert [one.scope for one in found] == ["user", "project", "agent"]
    assert len(memory.candidates()) == 1
    assert not list(place.rglob("cand_*"))
    rules = [memory.confirm(one.id, digest=one.digest, **view) for one in found]  # type: ignore[arg-type]
    assert [one.scope for one in rules] == ["user", "project", "agent"]
    assert faults(memory) == []
