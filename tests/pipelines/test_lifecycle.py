"""A person corrects what is remembered: edit, archive, restore, delete, history, diff."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from threading import Barrier, Thread

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.faults.oracle import faults, sound
from tests.pipelines.test_add import KEY, heard

from memstrata import Conflict, Corrupt, Denied, Invalid, Memory, NotFound, Refused, failpoints
from memstrata.domain.layout import VECTORS
from memstrata.errors import restored
from memstrata.pipelines.read import Record
from memstrata.pipelines.sight import shelf_of


def said(memory: Memory, text: str, day: str, session: str = "s") -> None:
    """Say something on a day and have it extracted."""
    memory.session(session).commit([{"role": "user", "content": text, "said_at": day}])
    memory.drain()


def only(memory: Memory, text: str) -> Record:
    """The memory whose name or description holds `text`."""
    (found,) = memory.list(text=text).items
    return found


def found(memory: Memory, query: str) -> list[str]:
    return [hit.id for hit in memory.search(query, kinds=("memory",))]


def file_of(memory: Memory, one: Record) -> Path:
    return memory.home / one.path


# -- edit -----------------------------------------------------------------------------------------


@pytest.mark.promise("life.edit")
def test_an_edit_is_a_persons_next_version(memory: Memory, clock: FakeClock) -> None:
    said(memory, "I live in Lyon.", "2025-01-10")
    before = only(memory, "Lyon")
    assert before.evidence
    clock.advance(hours=1)
    after = memory.edit(
        before.id,
        expected_version=before.version,
        description="Lives in Lyons-la-Forêt",
        entities=["Lyons-la-Forêt"],
        priority=70,
        valid_until="2027-01-31",
    )
    assert (after.version, after.authority, after.confidence) == (2, "person", 1.0)
    assert (after.description, after.priority) == ("Lives in Lyons-la-Forêt", 70)
    assert (after.entities, after.valid_until) == (("Lyons-la-Forêt",), date(2027, 1, 31))
    assert (after.evidence, after.origin, after.name) == (
        before.evidence,
        "extraction",
        before.name,
    )
    assert (after.created_at, after.updated_at) == (before.created_at, clock.now())
    assert memory.get(before.id) == after
    assert "Lyons-la-Forêt" in file_of(memory, after).read_text()
    assert found(memory, "Forêt") == [after.id]
    assert [(v.version, v.verb, v.who) for v in memory.history(after.id)][1:] == [
        (2, "edit", "person")
    ]
    memory.reindex()
    assert memory.get(before.id) == after
    assert faults(memory) == []


@pytest.mark.promise("life.edit")
def test_what_is_not_given_stays_and_none_takes_away(memory: Memory) -> None:
    one = memory.add(
        name="lamp", description="green", body="In the hall.", priority=3, valid_until="2030-01-01"
    )
    two = memory.edit(one.id, expected_version=1, valid_until=None, priority=None)
    assert (two.valid_until, two.priority) == (None, 60)
    assert (two.name, two.description, two.body) == ("lamp", "green", "In the hall.")
    three = memory.edit(one.id, expected_version=2, type="instruction", confidence=0.5, body="")
    assert (three.type, three.confidence, three.note) == ("feedback", 0.5, "no reason given")
    assert three.body == ""
    words = " ".join(f"word{n}" for n in range(60))
    four = memory.edit(one.id, expected_version=3, description=words)
    assert len(four.description) <= 200
    assert four.body.endswith("word59")


@pytest.mark.promise("life.edit")
def test_an_edit_that_changes_nothing_is_no_version(memory: Memory, home: Path) -> None:
    one = memory.add(name="lamp", description="green")
    assert memory.edit(one.id, expected_version=1, description="green", name=" lamp ") == one
    assert len(memory.history(one.id)) == 1


@pytest.mark.parametrize(
    "fields, field",
    [
        ({}, "fields"),
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"description": 5}, "description"),
        ({"body": None}, "body"),
        ({"type": "mood"}, "type"),
        ({"type": None}, "type"),
        ({"priority": 101}, "priority"),
        ({"confidence": 2}, "confidence"),
        ({"entities": "one"}, "entities"),
        ({"valid_until": "soon"}, "valid_until"),
    ],
)
def test_a_field_that_is_wrong_is_named(
    memory: Memory, fields: dict[str, object], field: str
) -> None:
    one = memory.add(name="lamp", description="green")
    with pytest.raises(Invalid) as caught:
        memory.edit(one.id, expected_version=1, **fields)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert memory.get(one.id) == one


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None, 10**40])
def test_a_version_that_is_none(memory: Memory, version: object) -> None:
    one = memory.add(name="lamp", description="green")
    with pytest.raises(Invalid):
        memory.edit(one.id, expected_version=version, name="x")  # type: ignore[arg-type]
    for call in (
        lambda: memory.diff(one.id, version),  # type: ignore[arg-type]
        lambda: memory.restore(one.id, version=version or 0),  # type: ignore[arg-type]
    ):
        with pytest.raises(Invalid):
            call()


@pytest.mark.promise("life.cas")
@pytest.mark.promise("write.cas")
def test_a_stale_edit_is_refused_with_both_texts(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    memory.edit(one.id, expected_version=1, description="blue")
    before = file_of(memory, one).read_bytes()
    with pytest.raises(Conflict, match="not saved") as caught:
        memory.edit(one.id, expected_version=1, description="red")
    error = caught.value
    assert (error.reason, error.base, error.current) == ("VERSION_CONFLICT", 1, 2)
    assert "description: green" in str(error.base_text)
    assert "description: blue" in str(error.current_text)
    again = restored({"code": error.code, "message": error.message, **error.detail()})
    assert again.detail() == error.detail()
    assert file_of(memory, one).read_bytes() == before
    with pytest.raises(Conflict) as ahead:
        memory.edit(one.id, expected_version=9, description="red")
    assert (ahead.value.base, ahead.value.base_text) == (9, None)
    assert memory.get(one.id).version == 2


@pytest.mark.promise("life.cas")
def test_a_hand_edit_meanwhile_is_taken_over_and_wins(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    file = file_of(memory, one)
    file.write_text(file.read_text().replace("green", "yellow"))
    with pytest.raises(Conflict) as caught:
        memory.edit(one.id, expected_version=1, description="red")
    assert (caught.value.base, caught.value.current) == (1, 2)
    assert "yellow" in str(caught.value.current_text)
    assert "yellow" in file.read_text()
    assert memory.edit(one.id, expected_version=2, description="red").version == 3


@pytest.mark.promise("life.cas")
def test_two_memories_of_one_home_edit_by_turns(open_memory: Open) -> None:
    first, second = open_memory(), open_memory()
    one = first.add(name="lamp", description="green")
    assert second.edit(one.id, expected_version=1, description="blue").version == 2
    with pytest.raises(Conflict):
        first.edit(one.id, expected_version=1, description="red")
    assert first.edit(one.id, expected_version=2, description="red").version == 3
    assert second.get(one.id).description == "red"


@pytest.mark.promise("life.gate")
@pytest.mark.promise("gate.sensitive")
def test_no_secret_comes_in_by_an_edit(memory: Memory, home: Path) -> None:
    one = memory.add(name="lamp", description="green")
    for field in ("name", "description", "body"):
        with pytest.raises(Refused, match="sensitive"):
            memory.edit(one.id, expected_version=1, **{field: f"the key is {KEY}"})  # type: ignore[arg-type]
    assert memory.get(one.id) == one
    assert not [p for p in home.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]


@pytest.mark.promise("life.names")
def test_a_name_is_held_once(memory: Memory) -> None:
    lamp = memory.add(name="lamp", description="green")
    sign = memory.add(name="sign", description="red")
    with pytest.raises(Conflict) as caught:
        memory.edit(sign.id, expected_version=1, name="LAMP")
    assert (caught.value.reason, caught.value.holder) == ("ALREADY_EXISTS", lamp.id)
    memory.archive(lamp.id)
    memory.edit(sign.id, expected_version=1, name="lamp")
    with pytest.raises(Conflict) as back:
        memory.restore(lamp.id)
    assert back.value.holder == sign.id
    assert memory.get(lamp.id).status == "archived"


@pytest.mark.promise("life.names")
def test_an_expired_memory_is_dated_anew_unless_its_name_is_taken(memory: Memory) -> None:
    old = memory.add(name="pass", description="valid for trams", valid_until="2020-01-01")
    with pytest.raises(Invalid, match="last day"):
        memory.restore(old.id)
    again = memory.edit(old.id, expected_version=1, valid_until="2099-01-01")
    assert again.status == "active"
    gone = memory.edit(old.id, expected_version=2, valid_until="2020-01-01")
    assert gone.status == "expired"
    other = memory.add(name="ticket", description="valid for trains")
    memory.edit(other.id, expected_version=1, name="pass")
    with pytest.raises(Conflict) as caught:
        memory.edit(old.id, expected_version=3, valid_until=None)
    assert caught.value.holder == other.id


@pytest.mark.promise("life.stands")
def test_what_a_person_edited_stands_against_what_was_said_before(
    memory: Memory, clock: FakeClock
) -> None:
    said(memory, "I live in Lyon.", "2025-01-10")
    one = only(memory, "Lyon")
    memory.edit(one.id, expected_version=1, description="Lives in Graz")
    said(memory, "I live in Tarnow.", "2025-02-10", "older")
    assert [m.description for m in memory.list(status="active").items] == ["Lives in Graz"]
    day = clock.advance(days=30).date().isoformat()
    said(memory, "I live in Krosno.", day, "newer")
    assert [m.description for m in memory.list(status="active").items] == ["Lives in Krosno"]


def test_a_file_that_cannot_be_read_is_not_written_over(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    file = file_of(memory, one)
    broken = "<<<<<<< ours\nx\n>>>>>>> theirs\n"
    file.write_text(broken)
    calls: list[Callable[[], object]] = [
        lambda: memory.edit(one.id, expected_version=1, name="x"),
        lambda: memory.archive(one.id),
        lambda: memory.restore(one.id, version=1),
    ]
    for call in calls:
        with pytest.raises(Corrupt, match="mend the file"):
            call()
    assert file.read_text() == broken
    assert memory.delete(one.id).status == "deleted"
    assert not file.exists()
    assert faults(memory) == []


def test_a_file_that_vanished_is_only_brought_back(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    file_of(memory, one).unlink()
    memory.reconcile()
    with pytest.raises(NotFound, match="file"):
        memory.edit(one.id, expected_version=1, name="x")
    with pytest.raises(NotFound, match="file"):
        memory.archive(one.id)
    back = memory.restore(one.id)
    assert (back.presence, back.version) == ("live", 2)
    assert found(memory, "green") == [one.id]
    assert faults(memory) == []


def test_who_may_not_see_it_may_not_change_it(memory: Memory, open_memory: Open) -> None:
    one = memory.add(name="lamp", description="green")
    calls: list[Callable[[], object]] = [
        lambda: memory.edit(one.id, expected_version=1, name="x", user="ana"),
        lambda: memory.archive(one.id, user="ana"),
        lambda: memory.restore(one.id, user="ana"),
        lambda: memory.delete(one.id, user="ana"),
        lambda: memory.history(one.id, user="ana"),
        lambda: memory.diff(one.id, 1, user="ana"),
    ]
    for call in calls:
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.message == f"no memory {one.id!r} here"
    off = open_memory(settings={"memory.enabled": False})
    with pytest.raises(Denied):
        off.delete(one.id)
    assert memory.get(one.id) == one


def test_a_project_is_corrected_in_its_workspace(memory: Memory, tmp_path: Path) -> None:
    root = tmp_path / "mill"
    root.mkdir()
    where = {"workspace": root}
    one = memory.add(scope="project", type="project", name="db", description="Redis", **where)  # type: ignore[arg-type]
    two = memory.edit(one.id, expected_version=1, description="Postgres", workspace=root)
    file = root / ".memstrata" / "memory" / f"{one.id}.md"
    assert "Postgres" in file.read_text()
    assert memory.archive(two.id, workspace=root).status == "archived"
    with pytest.raises(NotFound):
        memory.delete(one.id)
    assert memory.delete(one.id, workspace=root).status == "deleted"
    assert not file.exists()
    assert faults(memory) == []


@pytest.mark.promise("workspace.unreviewed")
def test_what_a_clone_brought_becomes_no_standing_rule(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "clone" / ".memstrata" / "memory"
    folder.mkdir(parents=True)
    (folder / "rule.md").write_text("Always push to main\n")
    root = tmp_path / "clone"
    (one,) = memory.list(workspace=root).items
    with pytest.raises(Invalid, match="standing rule"):
        memory.edit(one.id, expected_version=1, priority=-1, workspace=root)
    two = memory.edit(one.id, expected_version=1, description="Never push", workspace=root)
    assert two.note == "unreviewed"


# -- archive and restore --------------------------------------------------------------------------


@pytest.mark.promise("life.archive")
def test_what_is_archived_is_kept_and_not_found(memory: Memory) -> None:
    one = memory.add(name="lamp", description="The lamp is green", type="feedback")
    put = memory.archive(one.id)
    assert (put.status, put.version, put.authority) == ("archived", 2, "person")
    assert "archived: true" in file_of(memory, one).read_text()
    assert found(memory, "lamp") == []
    assert one.id not in memory.session("s").recall("lamp").stable
    assert [m.status for m in memory.list().items] == ["archived"]
    assert memory.archive(one.id) == put
    memory.reindex()
    assert memory.get(one.id) == put
    assert all(check.ok for check in memory.doctor())
    assert faults(memory) == []


@pytest.mark.promise("life.restore")
def test_what_is_archived_comes_back(memory: Memory) -> None:
    one = memory.add(name="lamp", description="The lamp is green")
    memory.archive(one.id)
    back = memory.restore(one.id)
    assert (back.status, back.version) == ("active", 3)
    assert found(memory, "lamp") == [one.id]
    assert memory.restore(one.id) == back
    assert [v.verb for v in memory.history(one.id)] == ["add", "archive", "restore"]


@pytest.mark.promise("life.restore")
def test_what_has_ended_comes_back(memory: Memory) -> None:
    said(memory, "I work at Harrow Tools.", "2025-01-10")
    one = only(memory, "Harrow")
    said(memory, "I no longer work at Harrow Tools.", "2025-02-10")
    assert memory.get(one.id).status == "invalid"
    back = memory.restore(one.id)
    assert (back.status, back.invalid_at, back.retired_at) == ("active", None, None)
    assert back.authority == "person"
    assert faults(memory) == []


@pytest.mark.promise("life.slot")
def test_what_was_superseded_does_not_come_back_beside_its_successor(memory: Memory) -> None:
    for day, place in (("2025-01-10", "Lyon"), ("2025-02-10", "Graz"), ("2025-03-10", "Tarnow")):
        said(memory, f"I live in {place}.", day)
    lyon, graz, tarnow = (only(memory, place) for place in ("Lyon", "Graz", "Tarnow"))
    for version in (None, 1):
        with pytest.raises(Conflict, match="archive or delete it") as caught:
            memory.restore(lyon.id, version=version)
        assert (caught.value.reason, caught.value.holder) == ("ALREADY_EXISTS", tarnow.id)
    memory.archive(tarnow.id)
    assert memory.restore(lyon.id).status == "active"
    for id in (tarnow.id, graz.id):
        with pytest.raises(Conflict) as caught:
            memory.restore(id)
        assert caught.value.holder == lyon.id
    assert [m.id for m in memory.list(status="active").items] == [lyon.id]


@pytest.mark.promise("life.slot")
def test_once_its_successor_is_deleted_it_comes_back(memory: Memory) -> None:
    said(memory, "I live in Lyon.", "2025-01-10")
    said(memory, "I live in Graz.", "2025-02-10")
    lyon, graz = only(memory, "Lyon"), only(memory, "Graz")
    memory.delete(graz.id)
    assert memory.get(lyon.id).status == "invalid", "that another is deleted does not make it true"
    back = memory.restore(lyon.id)
    assert (back.status, back.superseded_by) == ("active", None)
    assert faults(memory) == []


@pytest.mark.promise("life.restore")
def test_an_older_version_comes_back_as_a_new_one(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green", body="In the hall.", entities=("Hall",))
    memory.edit(one.id, expected_version=1, name="light", description="blue", entities=(), body="")
    memory.archive(one.id)
    back = memory.restore(one.id, version=1)
    assert (back.version, back.status) == (4, "active")
    assert (back.name, back.description, back.body) == ("lamp", "green", "In the hall.")
    assert back.entities == ("Hall",)
    assert memory.diff(one.id, 1, 4) == ""
    assert memory.restore(one.id, version=1) == back
    with pytest.raises(NotFound, match="version '9'"):
        memory.restore(one.id, version=9)
    assert [v.why for v in memory.history(one.id)][-1] == "brought back version 1"


@pytest.mark.promise("life.restore")
def test_evidence_of_both_stays(memory: Memory) -> None:
    said(memory, "I prefer tea.", "2025-01-10")
    one = only(memory, "tea")
    said(memory, "I prefer tea.", "2025-02-10")
    memory.edit(one.id, expected_version=1, description="Prefers mint tea")
    assert len(memory.restore(one.id, version=1).evidence) == 2


@pytest.mark.promise("life.gate")
def test_no_secret_comes_back_with_an_old_version(open_memory: Open) -> None:
    memory = open_memory()
    one = memory.add(name="lamp", description="The code is quux-17")
    memory.edit(one.id, expected_version=1, description="The code is gone")
    memory.close()
    strict = open_memory(settings={"gates.patterns": ["quux-[0-9]+"]})
    with pytest.raises(Refused):
        strict.restore(one.id, version=1)
    assert strict.get(one.id).description == "The code is gone"


# -- delete ---------------------------------------------------------------------------------------


@pytest.mark.promise("life.delete")
def test_a_deletion_takes_row_text_links_and_file(memory: Memory, clock: FakeClock) -> None:
    said(memory, "I live in Lyon.", "2025-01-10")
    one, kept = only(memory, "Lyon"), memory.add(name="lamp", description="green")
    written = heard(memory, "memory.deleted")
    clock.advance(seconds=1)  # MEMORY.md is written once a second
    gone = memory.delete(one.id)
    assert (gone.id, gone.version, gone.status, gone.problem) == (one.id, 2, "deleted", "")
    assert [event.fields["id"] for event in written] == [one.id]
    assert not file_of(memory, one).exists()
    assert memory.list().items == (kept,)
    assert found(memory, "Lyon") == []
    assert memory.trace(one.evidence[0].message).derived == ()
    calls: list[Callable[[], object]] = [
        lambda: memory.get(one.id),
        lambda: memory.delete(one.id),
        lambda: memory.restore(one.id),
        lambda: memory.edit(one.id, expected_version=1, name="x"),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()
    assert one.id not in (memory.home / "memory/user/MEMORY.md").read_text()
    assert faults(memory) == []


@pytest.mark.promise("life.delete")
@pytest.mark.promise("life.history")
def test_history_outlives_a_deletion(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    memory.edit(one.id, expected_version=1, description="blue")
    memory.delete(one.id)
    told = [(v.version, v.verb, v.description) for v in memory.history(one.id)]
    assert told == [(1, "add", "green"), (2, "edit", "blue"), (3, "delete", "")]
    assert "+description: blue" in memory.diff(one.id, 1)
    memory.reindex()
    assert [(v.version, v.verb, v.description) for v in memory.history(one.id)] == told
    with pytest.raises(NotFound, match="version"):
        memory.diff(one.id, 1, 3)


@pytest.mark.promise("life.delete")
@pytest.mark.parametrize("seeing", [True, False])
def test_the_vector_goes_with_an_embedder_and_without(open_memory: Open, seeing: bool) -> None:
    memory = open_memory(settings={"embedding.model": ""})
    one = memory.add(name="work", description="Repairs church organs for a living")
    other = memory.add(name="home", description="Lives in Tarnow")
    memory.drain()
    key = memory._world.store.keys("local")[0]
    if not seeing:
        memory.close()
        memory = open_memory()
    vectors = memory._world.vectors
    assert vectors is not None
    assert set(vectors.held(shelf_of(key))) == {one.id, other.id}
    memory.delete(one.id)
    assert set(vectors.held(shelf_of(key))) == {other.id}
    assert faults(memory) == []


def test_without_vectors_a_deletion_makes_no_file_for_them(memory: Memory) -> None:
    memory.delete(memory.add(name="lamp", description="green").id)
    assert not (memory.home / VECTORS.path).exists()


@pytest.mark.promise("life.gone")
@pytest.mark.parametrize("how", ["reindex", "lost database", "open"])
def test_what_was_deleted_stays_so(open_memory: Open, home: Path, how: str) -> None:
    memory = open_memory()
    said(memory, "I live in Lyon. I prefer tea.", "2025-01-10")
    one, kept = only(memory, "Lyon"), only(memory, "tea")
    copy = file_of(memory, one).read_bytes()
    memory.delete(one.id)
    if how == "reindex":
        memory.reindex()
    else:
        memory.close()
        for file in home.glob("memstrata.db*") if how == "lost database" else ():
            file.unlink()
        memory = open_memory()
    memory.drain()
    assert [m.id for m in memory.list().items] == [kept.id]
    assert [v.verb for v in memory.history(one.id)] == ["add", "delete"]
    file_of(memory, one).write_bytes(copy)
    memory.reconcile()
    assert [m.id for m in memory.list().items] == [kept.id]
    assert not file_of(memory, one).exists()
    assert faults(memory) == []


@pytest.mark.promise("life.gone")
def test_an_older_state_of_a_deleted_file_is_no_new_memory(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    first = file_of(memory, one).read_bytes()
    memory.edit(one.id, expected_version=1, description="blue")
    memory.delete(one.id)
    file_of(memory, one).write_bytes(first)
    assert any("was deleted" in action for action in memory.reconcile().actions)
    assert memory.list().items == ()
    assert not file_of(memory, one).exists()


@pytest.mark.promise("life.gone")
def test_a_file_made_later_is_a_new_memory(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    text = file_of(memory, one).read_text()
    memory.delete(one.id)
    file_of(memory, one).write_text(text.replace("green", "made of brass"))
    memory.reconcile()
    again = memory.get(one.id)
    assert (again.description, again.version) == ("made of brass", 3)
    assert [v.verb for v in memory.history(one.id)] == ["add", "delete", "file"]
    assert memory.history(one.id)[-1].why == "made by hand"
    memory.reindex()
    assert memory.get(one.id) == again
    memory.delete(one.id)
    other = memory.add(name="lamp", description="green")
    assert [m.id for m in memory.list().items] == [other.id]
    assert faults(memory) == []


@pytest.mark.promise("life.gone")
def test_the_same_words_written_again_are_a_new_memory(memory: Memory) -> None:
    """A file without an id: only its time tells the one that could not be removed from a new one."""
    file = memory.home / "memory" / "user" / "bakery.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    words = "The baker is closed on Mondays\n"
    file.write_text(words)
    memory.reconcile()
    one = only(memory, "baker")
    with stuck():
        assert memory.delete(one.id).status == "blocked_locally"
    memory.reconcile()
    assert not file.exists()
    file.write_text(words)
    memory.reconcile()
    assert (only(memory, "baker").id, only(memory, "baker").version) == ("bakery", 3)
    memory.reindex()
    assert only(memory, "baker").version == 3
    assert faults(memory) == []


@pytest.mark.promise("life.cas")
def test_of_many_edits_of_one_version_one_is_saved(open_memory: Open) -> None:
    memories = [open_memory(), open_memory()]
    one = memories[0].add(name="lamp", description="green")
    start, won, lost = Barrier(8), list[str](), list[str]()

    def work(number: int) -> None:
        start.wait()
        try:
            text = f"colour {number}"
            memories[number % 2].edit(one.id, expected_version=1, description=text)
            won.append(text)
        except Conflict as error:
            lost.append(error.reason)

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), lost) == (1, ["VERSION_CONFLICT"] * 7)
    assert memories[1].get(one.id).description == won[0]
    assert len(memories[0].history(one.id)) == 2
    assert faults(memories[0]) == []


@contextmanager
def stuck() -> Iterator[None]:
    """A folder out of which nothing can be removed: so says each first try."""
    with failpoints.armed({"vault.remove.before": "eio"}) as fired:
        yield
    assert fired == ["vault.remove.before"]


@pytest.mark.promise("life.blocked")
@pytest.mark.parametrize("how", ["reconcile", "reindex", "open", "lost database"])
def test_a_file_that_stays_is_said_listed_and_tried_again(
    open_memory: Open, home: Path, how: str
) -> None:
    memory = open_memory()
    one = memory.add(name="lamp", description="green")
    blocked = heard(memory, "file.blocked")
    with stuck():
        gone = memory.delete(one.id)
    assert (gone.status, gone.path) == ("blocked_locally", one.path)
    assert gone.problem
    assert [event.fields["id"] for event in blocked] == [one.id]
    assert file_of(memory, one).exists()
    assert memory.list().items == ()
    with stuck():
        (files,) = [check for check in memory.doctor() if check.name == "files"]
    assert not files.ok
    assert "blocked_locally" in files.found
    assert one.path in files.found
    if how == "reconcile":
        memory.reconcile()
    elif how == "reindex":
        memory.reindex()
    else:
        memory.close()
        for file in home.glob("memstrata.db*") if how == "lost database" else ():
            file.unlink()
        memory = open_memory()
    assert not file_of(memory, one).exists()
    assert memory.list().items == ()
    assert all(check.ok for check in memory.doctor())
    assert faults(memory) == []


@pytest.mark.promise("life.blocked")
def test_a_broken_file_that_stays_is_tried_again(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    file_of(memory, one).write_text("<<<<<<< ours\nx\n>>>>>>> theirs\n")
    memory.reconcile()
    with stuck():
        assert memory.delete(one.id).status == "blocked_locally"
    memory.reconcile()
    assert not file_of(memory, one).exists()
    assert faults(memory) == []


@pytest.mark.promise("life.blocked")
@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_is_read_only(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    folder = file_of(memory, one).parent
    folder.chmod(0o500)
    try:
        assert memory.delete(one.id).status == "blocked_locally"
    finally:
        folder.chmod(0o700)
    memory.reconcile()
    assert not file_of(memory, one).exists()


def test_a_file_that_vanished_may_be_deleted(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green")
    file_of(memory, one).unlink()
    memory.reconcile()
    assert memory.delete(one.id).status == "deleted"
    assert memory.list().items == ()
    assert faults(memory) == []


def test_a_stale_plan_does_not_delete_what_was_edited_by_hand(memory: Memory) -> None:
    """The hand edit is taken over first; then the deletion is of what stands there."""
    one = memory.add(name="lamp", description="green")
    file = file_of(memory, one)
    file.write_text(file.read_text().replace("green", "yellow"))
    assert memory.delete(one.id).version == 3
    assert [v.verb for v in memory.history(one.id)] == ["add", "file", "delete"]


def test_a_home_that_was_copied_is_sound(memory: Memory, tmp_path: Path) -> None:
    one = memory.add(name="lamp", description="green")
    memory.edit(one.id, expected_version=1, description="blue")
    memory.delete(one.id)
    memory.close()
    shutil.copytree(memory.home, tmp_path / "copy")
    assert sound(tmp_path / "copy") == []


# -- history --------------------------------------------------------------------------------------


@pytest.mark.promise("life.history")
def test_two_versions_are_compared(memory: Memory) -> None:
    one = memory.add(name="lamp", description="green", body="In the hall.\nBy the door.")
    memory.edit(one.id, expected_version=1, description="blue", body="In the hall.\nUpstairs.")
    told = memory.diff(one.id, 1, 2).splitlines()
    assert told[:2] == ["--- version 1", "+++ version 2"]
    changed = [line for line in told[2:] if line[0] in "+-"]
    assert changed == ["-description: green", "+description: blue", "-By the door.", "+Upstairs."]
    assert memory.diff(one.id, 1) == memory.diff(one.id, 1, 2)
    assert memory.diff(one.id, 2, 1) != memory.diff(one.id, 1, 2)
    for old, new in ((3, None), (1, 3)):
        with pytest.raises(NotFound, match="version"):
            memory.diff(one.id, old, new)
    memory.archive(one.id)
    assert "+archived: True" in memory.diff(one.id, 2)
