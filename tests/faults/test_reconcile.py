"""What a person, git or a power cut does to the files, and what the index makes of it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.doubles import FakeClock
from tests.faults.oracle import faults, sound

from memstrata import Memory
from memstrata.domain import markdown, records
from memstrata.domain.memory import Evidence
from memstrata.domain.plan import Base, Plan, Put
from memstrata.domain.scope import Key, Realm
from memstrata.errors import Conflict, NotFound
from memstrata.pipelines import apply
from memstrata.pipelines.apply import Target
from memstrata.pipelines.read import Record
from memstrata.pipelines.world import Report
from memstrata.ports import Listing

Open = Callable[..., Memory]
LISTING = Listing()
USER = Key(Realm("local", "local"), "user", "")


def add(memory: Memory, name: str, description: str = "", **given: object) -> Record:
    """A memory typed by hand."""
    said = description or f"{name} stands by the river"
    return memory.add(name=name, description=said, **given)  # type: ignore[arg-type]


def file_of(memory: Memory, record: Record) -> Path:
    """The file a memory stands in."""
    return memory.home / record.path


def edit(memory: Memory, record: Record, old: str, new: str) -> Path:
    """Change a file by hand."""
    file = file_of(memory, record)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return file


def settled(memory: Memory) -> Report:
    """A reconcile that leaves nothing for the next one."""
    report = memory.reconcile()
    assert faults(memory) == []
    return report


def found(memory: Memory, query: str) -> list[str]:
    """The ids of the memories that a search finds."""
    return [hit.id for hit in memory.search(query, kinds="memory")]  # type: ignore[arg-type]


# -- edits, new files -----------------------------------------------------------------------------


@pytest.mark.promise("disk.hand-edit")
def test_a_hand_edit_is_a_new_version(memory: Memory, clock: FakeClock) -> None:
    mill = add(memory, "mill")
    clock.advance(days=1)
    file = edit(memory, mill, "by the river", "on the hill")
    written = file.read_bytes()
    report = settled(memory)
    assert report.actions == [f"{mill.id} edited by hand: version 2", *report.actions[1:]]
    now = memory.get(mill.id)
    assert (now.version, now.description) == (2, "mill stands on the hill")
    assert (now.origin, now.authority) == ("file", "person")
    assert (now.created_at, now.updated_at) == (mill.created_at, clock.now())
    assert file.read_bytes() == written, "reconcile never rewrites a memory file"
    assert [(one.version, one.verb, one.who) for one in memory.history(mill.id)] == [
        (1, "add", "person"),
        (2, "file", "person"),
    ]
    assert found(memory, "hill") == [mill.id]
    assert found(memory, "river") == []


@pytest.mark.promise("write.cas")
@pytest.mark.parametrize("reconciled", [False, True])
def test_a_change_made_on_what_a_person_edited_since_conflicts(
    memory: Memory, reconciled: bool
) -> None:
    add(memory, "mill")
    world = memory._world
    held = world.store.memories((USER,), LISTING, world.moment())[0]
    edit(memory, memory.list().items[0], "by the river", "on the hill")
    if reconciled:
        memory.reconcile()
    put = Put(held.memory, "edit", "person", "late", Base(held.memory.version, held.digest))
    with pytest.raises(Conflict, match="not saved") as caught:
        apply.apply(world, Plan((put,)), {USER: Target("", "local", "")})
    assert (caught.value.base, caught.value.current) == (1, 2)
    settled(memory)
    assert memory.list().items[0].description == "mill stands on the hill"


def test_quotes_and_sources_outlive_a_hand_edit(memory: Memory) -> None:
    chat = memory.session("s")
    chat.commit([{"role": "user", "content": "I prefer mint tea.", "id": "m1"}])
    memory.drain()
    (tea,) = memory.list().items
    edit(memory, tea, "mint tea", "green tea")
    settled(memory)
    now = memory.get(tea.id)
    assert now.description != tea.description
    assert [one.message for one in now.evidence] == ["m1"]
    assert all(one.quote for one in now.evidence)
    assert isinstance(now.evidence[0], Evidence)


@pytest.mark.promise("disk.hand-made")
def test_a_new_file_with_and_without_front_matter(memory: Memory) -> None:
    add(memory, "mill")
    folder = memory.home / "memory" / "user"
    plain, told = folder / "Bakery hours.md", folder / "ferry.md"
    plain.write_text("Closed on Mondays\n\nOpen from six otherwise.\n")
    told.write_text(
        "---\nname: The ferry\ntype: reference\nfavourite: yes\n---\n\nLeaves at nine\n"
    )
    before = plain.read_bytes(), told.read_bytes()
    settled(memory)
    bakery, ferry, _ = sorted(memory.list().items, key=lambda one: one.name)
    assert (bakery.name, bakery.description) == ("Bakery hours", "Closed on Mondays")
    assert bakery.body == "Open from six otherwise."
    assert (bakery.origin, bakery.authority, bakery.confidence) == ("file", "person", 1.0)
    assert (ferry.id, ferry.type, ferry.description) == ("ferry", "reference", "Leaves at nine")
    assert (plain.read_bytes(), told.read_bytes()) == before
    assert found(memory, "mondays") == [bakery.id]
    assert len(memory.history(bakery.id)) == 1


@pytest.mark.promise("disk.renamed")
def test_a_renamed_file_is_the_same_memory(memory: Memory) -> None:
    mill = add(memory, "mill")
    file = file_of(memory, mill)
    file.rename(file.with_name("the-mill.md"))
    settled(memory)
    now = memory.get(mill.id)
    assert (now.version, now.presence) == (1, "live")
    assert now.path.endswith("the-mill.md")
    edit(memory, now, "by the river", "on the hill")
    settled(memory)
    assert memory.get(mill.id).version == 2
    assert memory.reindex().problems == []
    assert memory.get(mill.id).path.endswith("the-mill.md")


# -- vanished ---------------------------------------------------------------------------------------


@pytest.mark.promise("disk.absent")
def test_a_vanished_file_is_absent_until_it_is_back(memory: Memory) -> None:
    mill, _ = add(memory, "mill"), add(memory, "ferry")
    file = file_of(memory, mill)
    kept = file.read_bytes()
    file.unlink()
    settled(memory)
    assert memory.get(mill.id).presence == "absent"
    assert found(memory, "mill") == []
    assert mill.id not in [one.id for one in memory.list().items]
    assert "mill" not in (memory.home / "memory/user/MEMORY.md").read_text()
    assert len(memory.history(mill.id)) == 1
    file.write_bytes(kept)
    settled(memory)
    assert (memory.get(mill.id).presence, memory.get(mill.id).version) == ("live", 1)
    assert found(memory, "mill") == [mill.id]


def test_a_file_that_comes_back_changed_is_a_new_version(memory: Memory) -> None:
    mill, _ = add(memory, "mill"), add(memory, "ferry")
    file = file_of(memory, mill)
    kept = file.read_text()
    file.unlink()
    settled(memory)
    file.write_text(kept.replace("by the river", "on the hill"))
    settled(memory)
    now = memory.get(mill.id)
    assert (now.presence, now.version) == ("live", 2)
    assert found(memory, "hill") == [mill.id]


def test_a_name_taken_while_its_file_was_away(memory: Memory) -> None:
    """The one that comes back does not make two valid memories of one name; it is taken up once it can be."""
    mill, _ = add(memory, "mill"), add(memory, "ferry")
    file = file_of(memory, mill)
    kept = file.read_bytes()
    file.unlink()
    settled(memory)
    other = add(memory, "Mill", "another mill, of stone")
    file.write_bytes(kept)
    report = settled(memory)
    assert "belongs to" in report.problems[0].problem
    assert memory.get(mill.id).presence == "stale"
    assert settled(memory).problems == report.problems
    edit(memory, other, "name: Mill", "name: Stone mill")
    settled(memory)
    memory.reconcile()
    assert memory.get(other.id).version == 2
    assert memory.get(mill.id).presence == "live"
    assert settled(memory).problems == []


@pytest.mark.promise("disk.half-gone")
def test_more_than_half_gone_at_once_changes_nothing(memory: Memory) -> None:
    records = [add(memory, f"mill {n}") for n in range(6)]
    folder = memory.home / "memory" / "user"
    aside = memory.home / "aside"
    aside.mkdir()
    memory.reconcile()
    for record in records[:4]:
        file_of(memory, record).rename(aside / file_of(memory, record).name)
    report = memory.reconcile()
    assert report.actions == []
    assert "4 of 6 files are gone at once" in report.problems[0].problem
    assert len(found(memory, "mill")) == 6
    assert {one.presence for one in memory.list().items} == {"live"}
    assert "4 of 6" in str(memory.doctor())
    for file in aside.iterdir():
        file.rename(folder / file.name)
    assert settled(memory).problems == []


@pytest.mark.promise("disk.half-gone")
@pytest.mark.parametrize("made_anew", [False, True])
def test_a_folder_that_is_gone_changes_nothing(memory: Memory, made_anew: bool) -> None:
    for n in range(3):
        add(memory, f"mill {n}")
    folder, aside = memory.home / "memory" / "user", memory.home / "aside"
    memory.close()
    folder.rename(aside)
    with Memory.open(memory.home, settings={"timezone": "UTC"}, background=False) as again:
        report = again.reindex() if made_anew else again.reconcile()
        assert "the folder is gone" in report.problems[0].problem
        assert len(found(again, "mill")) == 3
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
        assert settled(again).problems == []
        assert len(found(again, "mill")) == 3


# -- what cannot be taken over ----------------------------------------------------------------------

SECRET = "ghp_" + "a8Kd03LmPq72XvTz19BnRw56YcJh48EfGs0U"
BROKEN = {
    "yaml": ("name: mill\n", 'name: "mill\n', r"YAML", None),
    "a wrong field": ("type: user", "type: sausage", r"sausage", 5),
    "merge markers": (
        "---\n\nWheels",
        "---\n\n<<<<<<< ours\nWheels\n=======\nSails\n>>>>>>> theirs\n",
        r"merge-conflict markers",
        None,
    ),
    "a secret": ("Wheels", "token " + SECRET, r"not indexed", None),
}


@pytest.mark.promise("disk.broken")
@pytest.mark.promise("disk.stale")
@pytest.mark.parametrize("fault", BROKEN)
def test_a_file_that_cannot_be_read_leaves_the_last_good_row(memory: Memory, fault: str) -> None:
    old, new, problem, line = BROKEN[fault]
    mill = add(memory, "mill", body="Wheels of oak.")
    good = file_of(memory, mill).read_bytes()
    file = edit(memory, mill, old, new)
    broken = file.read_bytes()
    report = settled(memory)
    (told,) = report.problems
    assert told.path == mill.path
    assert re.search(problem, told.problem)
    assert line is None or told.line == line
    assert file.read_bytes() == broken
    now = memory.get(mill.id)
    assert (now.presence, now.version, now.body) == ("stale", 1, mill.body)
    assert now.problem
    assert found(memory, "mill") == [mill.id]
    assert memory.status().degraded
    assert SECRET not in _everything_but(memory.home, file)
    file.write_bytes(good)
    settled(memory)
    assert (memory.get(mill.id).presence, memory.get(mill.id).version) == ("live", 1)
    file.write_bytes(broken)
    settled(memory)
    file.write_bytes(good.replace(b"by the river", b"on the hill"))
    assert settled(memory).problems == []
    assert (memory.get(mill.id).presence, memory.get(mill.id).version) == ("live", 2)


def _everything_but(home: Path, left_out: Path) -> str:
    files = [one for one in home.rglob("*") if one.is_file() and one != left_out]
    return "".join(one.read_bytes().decode("latin-1") for one in files)


@pytest.mark.promise("disk.stale")
@pytest.mark.parametrize("fault", BROKEN)
def test_a_stale_memory_outlives_a_reindex(memory: Memory, fault: str) -> None:
    mill = add(memory, "mill", body="Wheels of oak.")
    edit(memory, mill, *BROKEN[fault][:2])
    memory.reconcile()
    before = memory.get(mill.id)
    memory.reindex()
    assert memory.get(mill.id) == before
    assert found(memory, "mill") == [mill.id]
    assert faults(memory) == []


def test_names_that_change_places_in_one_go(memory: Memory) -> None:
    mill, ferry = add(memory, "mill"), add(memory, "ferry")
    edit(memory, mill, "name: mill", "name: ferry")
    edit(memory, ferry, "name: ferry", "name: mill")
    assert settled(memory).problems == []
    assert [(one.name, one.version) for one in memory.list().items] == [("ferry", 2), ("mill", 2)]


@pytest.mark.promise("disk.broken")
def test_an_id_that_exists_already(memory: Memory) -> None:
    mill, _ = add(memory, "mill"), add(memory, "ferry")
    copy = file_of(memory, mill).with_name("copy.md")
    copy.write_bytes(file_of(memory, mill).read_bytes())
    report = settled(memory)
    assert "has already" in report.problems[0].problem
    assert copy.name in report.problems[0].path
    assert memory.get(mill.id).presence == "live"
    assert settled(memory).actions == []
    file_of(memory, mill).unlink()
    assert settled(memory).problems == []
    assert memory.get(mill.id).path.endswith("copy.md")


@pytest.mark.promise("name.unique")
def test_a_new_file_whose_name_is_taken(memory: Memory) -> None:
    mill = add(memory, "mill")
    other = memory.home / "memory/user/other.md"
    other.write_text("---\nname: Mill\n---\nof stone\n")
    report = settled(memory)
    assert f"belongs to {mill.id}" in report.problems[0].problem
    assert [one.id for one in memory.list().items] == [mill.id]
    other.write_text("---\nname: Stone mill\n---\nof stone\n")
    assert settled(memory).problems == []
    assert len(memory.list().items) == 2


@pytest.mark.promise("disk.paths")
def test_a_file_nobody_may_look_into(memory: Memory) -> None:
    """A link, a folder and a pipe in a memory's place are no memories, and stop nothing."""
    mill = add(memory, "mill")
    folder = memory.home / "memory" / "user"
    (folder / "link.md").symlink_to(file_of(memory, mill))
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    settled(memory)
    assert [one.id for one in memory.list().items] == [mill.id]


# -- logs ---------------------------------------------------------------------------------------------


def talk(memory: Memory, count: int = 3) -> None:
    """Some turns, extracted."""
    for n in range(count):
        said = f"I prefer mint tea. The mill has {n} doors."
        memory.session("s").commit([{"role": "user", "content": said, "id": f"m{n}"}])
    memory.drain()


def shard(home: Path, log: str) -> Path:
    """The newest file of a log."""
    return max((home / log).glob("*.jsonl"))


@pytest.mark.promise("l0.rebuild")
@pytest.mark.parametrize("log", ["records", "conversations"])
def test_a_torn_tail_is_cut_and_kept_aside(open_memory: Open, home: Path, log: str) -> None:
    memory = open_memory()
    talk(memory)
    memory.close()
    whole = shard(home, log).read_bytes()
    shard(home, log).write_bytes(whole + b'{"id": "torn')
    memory = open_memory()
    assert shard(home, log).read_bytes() == whole
    assert b"torn" in shard(home, log).with_name(f"{shard(home, log).name}.torn").read_bytes()
    assert memory._opened.problems == []
    talk(memory, 5)
    add(memory, "mill")
    memory.close()
    assert sound(home) == []


@pytest.mark.promise("l0.rebuild")
def test_a_whole_line_without_a_row_is_indexed(open_memory: Open, home: Path) -> None:
    memory = open_memory()
    talk(memory)
    memory.close()
    file = shard(home, "conversations")
    line = (
        file.read_bytes().splitlines()[-1].replace(b'"m2"', b'"m9"').replace(b"2 doors", b"9 doors")
    )
    file.write_bytes(file.read_bytes() + line + b"\n")
    memory = open_memory()
    assert memory.search("9 doors", kinds="message")[0].id == "m9"  # type: ignore[arg-type]
    assert memory.status().waiting == 1
    assert memory.drain().messages == 1
    assert faults(memory) == []


@pytest.mark.promise("l0.rebuild")
@pytest.mark.parametrize("log", ["records", "conversations"])
@pytest.mark.parametrize("left", [0, 1, 2], ids=lambda n: f"{n} lines left")
def test_lines_that_a_power_cut_took_are_appended_again(
    open_memory: Open, home: Path, log: str, left: int
) -> None:
    memory = open_memory()
    talk(memory)
    add(memory, "mill")
    before = answers(memory)
    memory.close()
    file = shard(home, log)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:left]) + (lines[left][:-9] if left else b""))
    memory = open_memory()
    assert sorted(file.read_bytes().splitlines()) == sorted(line.rstrip() for line in lines)
    assert answers(memory) == before
    assert faults(memory) == []
    memory.reindex()
    assert answers(memory) == before
    assert faults(memory) == []


@pytest.mark.parametrize("log", ["records", "conversations"])
def test_a_shard_that_is_gone_is_written_again(open_memory: Open, home: Path, log: str) -> None:
    memory = open_memory()
    talk(memory)
    before = answers(memory)
    memory.close()
    shutil.rmtree(home / log)
    memory = open_memory()
    assert answers(memory) == before
    assert faults(memory) == []


def test_what_was_left_half_way_is_finished_before_the_next_write(
    memory: Memory, clock: FakeClock
) -> None:
    """Another process was killed yesterday, between its log lines and COMMIT; this one was open all along."""
    add(memory, "mill")
    (row,) = memory._world.store.memories((USER,), LISTING, memory._world.moment())
    left = replace(row.memory, id="mem_left", name="ferry", description="leaves at nine")
    data = apply.rendered(left, Target("", "local", ""))
    path = "memory/user/mem_left.md"
    line = records.of_put(
        Put(left, "add", "person", ""), owner="local", digest=markdown.digest(data), path=path
    )
    with shard(memory.home, "records").open("ab") as log:
        log.write(records.encode([line], "tx_left", clock.now()))
    clock.advance(days=1)
    with pytest.raises(Conflict, match="belongs to mem_left"):
        add(memory, "ferry", "leaves at ten")
    assert (memory.home / path).read_bytes() == data
    assert memory.get("mem_left").description == "leaves at nine"
    assert faults(memory) == []


GROUP = (
    b'{"kind": "memory", "version": 1, "tx": "t", "part": 1, "parts": 1, "at": "2026-03-14", %s}'
)
KEY = b'"key": {"owner": "local", "scope": "%s", "ref": ""}, "author": "local", "digest": "d"'
RECORDS = (
    GROUP % (b'"id": "x", ' + KEY % b"user" + b', "path": "x.md", "memory": {"type": "odd"}'),
    GROUP % (b'"id": "x", ' + KEY % b"odd" + b', "path": "../x.md", "memory": {}'),
    GROUP % b'"id": "../x", "key": 5, "memory": {}',
)


@pytest.mark.parametrize("log", ["records", "conversations"])
@pytest.mark.parametrize(
    "line",
    [
        b"no json",
        b"[1, 2]",
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"id": "x", "session": "s", "role": "judge", "content": "x"}',
        *RECORDS,
    ],
)
def test_a_line_that_cannot_be_read_is_reported_and_left(
    open_memory: Open, home: Path, log: str, line: bytes
) -> None:
    memory = open_memory()
    talk(memory)
    before = answers(memory)
    memory.close()
    file = shard(home, log)
    file.write_bytes(file.read_bytes() + line + b"\n")
    memory = open_memory()
    assert memory._opened.problems
    assert answers(memory) == before
    assert memory.reindex().problems
    assert answers(memory) == before
    assert line in file.read_bytes()
    memory.close()
    assert not (home / "x.md").exists()


# -- MEMORY.md ----------------------------------------------------------------------------------------


@pytest.mark.promise("disk.index-md")
@pytest.mark.parametrize("done", ["deleted", "edited", "emptied"])
def test_the_list_of_a_folder_is_made_again(memory: Memory, done: str) -> None:
    add(memory, "mill")
    add(memory, "ferry")
    memory.reconcile()
    index = memory.home / "memory/user/MEMORY.md"
    right = index.read_bytes()
    assert right.count(b"\n") == 2
    match done:
        case "deleted":
            index.unlink()
        case "edited":
            index.write_bytes(right + b"- something else\n")
        case _:
            index.write_bytes(b"")
    report = memory.reconcile()
    assert report.actions == ["wrote memory/user/MEMORY.md"]
    assert index.read_bytes() == right
    assert faults(memory) == []


@pytest.mark.promise("disk.index-md")
def test_the_list_of_a_folder_follows_the_day(memory: Memory, clock: FakeClock) -> None:
    add(memory, "mill", valid_until=clock.now().date())
    memory.reconcile()
    index = memory.home / "memory/user/MEMORY.md"
    assert b"mill" in index.read_bytes()
    clock.advance(days=1)
    memory.reconcile()
    assert index.read_bytes() == b""


# -- the index made anew --------------------------------------------------------------------------------


def answers(memory: Memory) -> dict[str, object]:
    """What every reading verb says; hit counts apart, which are the index's own."""
    items = memory.list(limit=1_000).items
    queries = ("mill", "tea", "doors", "river", "ferry", "nothing of the kind")
    return {
        "list": items,
        "get": [memory.get(one.id) for one in items],
        "absent": [one for id in _recorded(memory) if (one := _or_none(memory, id))],
        "history": [memory.history(one.id) for one in items],
        "trace": [memory.trace(one.id) for one in items],
        "message": [memory.trace(f"m{n}") for n in range(3) if _said(memory, f"m{n}")],
        "search": [memory.search(query) for query in queries],
        "ended": [memory.search(query, include_invalid=True) for query in queries],
        "talk": [memory.search_conversations(query) for query in queries],
        "recall": [memory.session("t").recall(query).stable for query in queries],
        "waiting": memory.status().waiting,
        "memories": memory.status().memories,
    }


def _recorded(memory: Memory) -> list[str]:
    return sorted(memory._world.store.record_versions(USER))


def _or_none(memory: Memory, id: str) -> tuple[object, ...] | None:
    try:
        one = memory.get(id)
    except NotFound:
        return None
    return one.presence, one.version, one.description, one.path


def _said(memory: Memory, id: str) -> bool:
    return bool(memory._world.store.message(memory._realm, id))


def eventful(memory: Memory, clock: FakeClock) -> None:
    """A home in which everything happened that files can tell of."""
    talk(memory)
    mill = add(memory, "mill", body="Wheels of oak.")
    ferry, bridge = add(memory, "ferry"), add(memory, "bridge")
    add(memory, "market", valid_until="2020-01-01")
    clock.advance(days=1)
    chat = memory.session("s")
    chat.commit(
        [{"role": "user", "content": "I prefer coffee.", "id": "c1", "said_at": clock.now()}]
    )
    memory.drain()
    add(memory, "market", "is on Saturdays now")
    edit(memory, mill, "by the river", "on the hill")
    file_of(memory, ferry).unlink()
    (memory.home / "memory/user/Hand made.md").write_text("A mill of stone\n")
    memory.reconcile()
    edit(memory, bridge, "name: bridge", "name: [bridge")
    memory.reconcile()
    clock.advance(days=1)
    chat.commit([{"role": "user", "content": "The ferry leaves at nine.", "id": "c2"}])


@pytest.mark.promise("disk.rebuild")
@pytest.mark.promise("write.reconcile-idle")
def test_reindex_loses_nothing_and_twice_is_once(memory: Memory, clock: FakeClock) -> None:
    eventful(memory, clock)
    before = answers(memory)
    records = shard(memory.home, "records").read_bytes()
    for _ in range(2):
        memory.reindex()
        assert answers(memory) == before
        assert faults(memory) == []
    assert shard(memory.home, "records").read_bytes() == records
    memory.drain()
    assert memory.status().waiting == 0
    assert [one.description for one in memory.list().items] == [
        one.description
        for one in before["list"]  # type: ignore[attr-defined]
    ], "nothing was extracted a second time"


@pytest.mark.promise("disk.rebuild")
@pytest.mark.parametrize("with_log", [True, False], ids=["all of it", "without its log"])
def test_a_deleted_database_comes_back(
    open_memory: Open, home: Path, clock: FakeClock, with_log: bool
) -> None:
    memory = open_memory()
    eventful(memory, clock)
    before = answers(memory)
    memory.close()
    for file in home.glob("memstrata.db*" if with_log else "memstrata.db"):
        file.unlink()
    memory = open_memory()
    assert answers(memory) == before
    assert faults(memory) == []


def test_the_check_of_the_database_believes_what_is_there_now(memory: Memory) -> None:
    """Readers remember the text index as it was before it was merged; that is no damage."""
    talk(memory)
    assert memory.search("mint tea")
    memory._world.store.optimise()
    assert memory._world.store.check() == []
    assert all(check.ok for check in memory.doctor())


def test_an_older_database_catches_up(open_memory: Open, home: Path, clock: FakeClock) -> None:
    """A database put back from a copy: the files have gone on since."""
    memory = open_memory()
    talk(memory)
    mill = add(memory, "mill")
    memory.close()
    kept = (home / "memstrata.db").read_bytes()
    memory = open_memory()
    edit(memory, mill, "by the river", "on the hill")
    memory.reconcile()
    add(memory, "ferry")
    memory.session("s").commit([{"role": "user", "content": "I prefer coffee.", "id": "c1"}])
    memory.drain()
    before = answers(memory)
    memory.close()
    for file in home.glob("memstrata.db-*"):
        file.unlink()
    (home / "memstrata.db").write_bytes(kept)
    memory = open_memory()
    assert answers(memory) == before
    assert faults(memory) == []


# -- workspaces ------------------------------------------------------------------------------------------


@pytest.mark.promise("workspace.away")
def test_a_workspace_that_moved_away_keeps_its_rows(memory: Memory, tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    rule = memory.add(
        scope="project",
        type="project",
        name="database",
        description="We use Postgres",
        workspace=root,
    )
    chat = memory.session("p", workspace=root)
    chat.commit([{"role": "user", "content": "We use Redis for caching.", "id": "p1"}])
    root.rename(tmp_path / "away")
    report = settled(memory)
    assert "not there" in report.problems[0].problem
    key = memory._world.store.keys("local")
    row = memory._world.store.memory(key, rule.id)
    assert row is not None
    assert row.presence == "live"
    memory.session("s").commit([{"role": "user", "content": "I prefer mint tea.", "id": "m1"}])
    memory.drain()
    assert any("tea" in one.description for one in memory.list().items), "others do not wait for it"
    assert "not there" in memory.reindex().problems[0].problem
    row = memory._world.store.memory(key, rule.id)
    assert row is not None
    assert row.presence == "live"
    (tmp_path / "away").rename(root)
    assert settled(memory).problems == []
    memory.drain()
    assert memory.status().waiting == 0
    assert memory.get(rule.id, workspace=root).description == "We use Postgres"
    assert faults(memory) == []


@pytest.mark.promise("disk.swept")
def test_temporary_files_in_a_workspace_are_swept(memory: Memory, tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    memory.add(scope="project", type="project", name="db", description="Postgres", workspace=root)
    left = [
        root / ".memstrata" / ".workspace.toml.999999999-1.tmp~",
        root / ".memstrata" / "memory" / ".x.md.999999999-2.tmp~",
        memory.home / ".workspaces.json.999999999-3.tmp~",
        memory.home / "memory" / "user" / ".y.md.999999999-4.old.tmp~",
    ]
    for file in left:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    memory.reconcile()
    assert [file for file in left if file.exists()] == []


def test_a_folder_among_the_owners_that_is_nobodys(open_memory: Open, home: Path) -> None:
    open_memory().close()
    for name in (".trash", "two words"):
        (home / "owners" / name / "memory").mkdir(parents=True)
    memory = open_memory()
    memory.add(name="tea", description="Likes tea")
    assert memory.status().memories["active"] == 1
    assert memory.forget(ids=[memory.list().items[0].id]).counts["memories"] == 1


def test_no_write_and_no_recall_looks_at_every_owner(
    open_memory: Open, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_memory().close()
    for number in range(40):
        (home / "owners" / f"o{number}" / "memory/user").mkdir(parents=True)
    memory = open_memory()
    memory.add(name="tea", description="Likes tea")
    chat = memory.session("s")
    chat.commit([{"role": "user", "content": "I prefer tea."}])
    asked: list[str] = []
    stat = type(memory._world.vault).stat

    def counted(vault: object, place: object) -> object:
        asked.append(str(place))
        return stat(vault, place)  # type: ignore[arg-type]

    monkeypatch.setattr(type(memory._world.vault), "stat", counted)
    chat.commit([{"role": "user", "content": "I prefer oolong."}])
    chat.recall("tea?")
    assert [one for one in asked if "owners/" in one] == []
