"""Workspaces bound, moved and forgotten; what came with their files looked at and trusted; conflicts resolved."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Open

from memstrata import Conflict, Invalid, Memory, NotFound, Refused
from memstrata.domain.memory import UNREVIEWED

RULE = "---\nname: rule\ntype: feedback\npriority: -1\n---\nAlways paint it blue\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that came with two memory files, one of them a standing rule."""
    folder = tmp_path / "clone"
    (folder / ".memstrata/memory").mkdir(parents=True)
    (folder / ".memstrata/memory/rule.md").write_text(RULE)
    (folder / ".memstrata/memory/note.md").write_text("The kiln is hot\n")
    return folder


def settled(memory: Memory) -> bool:
    memory.reconcile()
    return not memory.reconcile().actions


# -- trust --------------------------------------------------------------------------------------------


@pytest.mark.promise("workspace.trust")
def test_what_was_shown_is_trusted_and_no_file_is_touched(memory: Memory, clone: Path) -> None:
    memory.bind_workspace(clone)
    chat = memory.session("s", workspace=clone)
    shown = memory.unreviewed(clone)
    assert [(one.name, one.note, one.priority) for one in shown.memories] == [
        ("note", UNREVIEWED, 60),
        ("rule", UNREVIEWED, 80),
    ]
    assert "blue" not in chat.recall("x").stable
    files = {path: path.read_bytes() for path in (clone / ".memstrata/memory").glob("[nr]*.md")}
    trusted = memory.trust(clone, shown.digest)
    assert [(one.name, one.priority, one.version) for one in trusted.memories] == [
        ("note", 60, 2),
        ("rule", -1, 2),
    ]
    assert "blue" in chat.recall("x").stable
    assert {path: path.read_bytes() for path in files} == files
    assert memory.unreviewed(clone).memories == ()
    assert settled(memory)
    before = memory.list(workspace=clone).items
    memory.reindex()
    assert memory.list(workspace=clone).items == before
    assert "blue" in chat.recall("x").stable


@pytest.mark.promise("workspace.trust")
def test_a_file_that_changed_is_not_trusted_and_asks_again(memory: Memory, clone: Path) -> None:
    memory.bind_workspace(clone)
    shown = memory.unreviewed(clone)
    rule = clone / ".memstrata/memory/rule.md"
    rule.write_text(RULE.replace("blue", "pink"))
    with pytest.raises(Conflict):
        memory.trust(clone, shown.digest)
    again = memory.unreviewed(clone)
    assert again.digest != shown.digest
    memory.trust(clone, again.digest)
    assert "pink" in memory.session("s", workspace=clone).recall("x").stable
    rule.write_text(RULE.replace("blue", "black"))
    (left,) = memory.unreviewed(clone).memories
    assert (left.name, left.description, left.priority) == ("rule", "Always paint it black", 80)
    assert "black" not in memory.session("s", workspace=clone).recall("x").stable
    for wrong in (shown.digest, "", "x"):
        with pytest.raises(Conflict):
            memory.trust(clone, wrong)


def test_what_this_home_wrote_needs_no_trust(memory: Memory, clone: Path) -> None:
    memory.add(name="own", description="Own", scope="project", type="project", workspace=clone)
    assert [one.name for one in memory.unreviewed(clone).memories] == ["note", "rule"]
    with pytest.raises(NotFound):
        memory.unreviewed("nowhere")


# -- workspaces -----------------------------------------------------------------------------------------


@pytest.mark.promise("workspace.bound")
def test_workspaces_are_listed_forgotten_and_bound_again(memory: Memory, clone: Path) -> None:
    assert memory.workspaces() == ()
    made = memory.bind_workspace(clone)
    (one,) = memory.workspaces()
    assert (one.key, one.name, one.root) == (made.key, "clone", str(clone))
    assert (one.there, one.memories, one.unreviewed) == (True, 2, 2)
    before = memory.list(workspace=clone).items
    assert memory.unbind_workspace(made.key) == made
    assert (memory.workspaces(), memory.workspace_of(clone)) == ((), None)
    assert settled(memory)
    assert sorted(path.name for path in (clone / ".memstrata/memory").iterdir())[-2:] == [
        "note.md",
        "rule.md",
    ]
    with pytest.raises(NotFound):
        memory.unbind_workspace(clone)
    assert memory.bind_workspace(clone).key == made.key
    assert memory.list(workspace=clone).items == before
    with pytest.raises(Invalid):
        memory.bind_workspace(clone / "nothing")


@pytest.mark.promise("workspace.moved")
def test_a_folder_that_was_moved_takes_its_memories_along(
    open_memory: Open, tmp_path: Path
) -> None:
    memory, old, new = open_memory(), tmp_path / "old", tmp_path / "new"
    old.mkdir()
    kept = memory.add(name="n", description="Hot", scope="project", type="project", workspace=old)
    chat = memory.session("s", workspace=old)
    old.rename(new)
    assert not memory.workspaces()[0].there
    moved = memory.bind_workspace(new)
    assert chat.workspace is not None
    assert moved.key == chat.workspace.key
    assert [(one.root, one.there) for one in memory.workspaces()] == [(str(new), True)]
    found = memory.get(kept.id, workspace=new)
    assert found.path == str(new / ".memstrata/memory" / f"{kept.id}.md")
    edited = memory.edit(kept.id, expected_version=1, description="Cold", workspace=new)
    assert Path(edited.path).read_text().count("Cold") == 1
    assert not old.exists()
    assert settled(memory)
    memory.close()
    memory = open_memory()
    assert memory.list(workspace=new).items[0].description == "Cold"
    assert settled(memory)


# -- conflicts --------------------------------------------------------------------------------------------


def conflict(home: Path, memory: Memory, theirs: str = "The lamp is red") -> tuple[str, Path]:
    """A memory whose file a merge left with markers; its id and file."""
    id = memory.add(name="lamp", description="The lamp is green", body="In the hall.").id
    path = home / "memory/user" / f"{id}.md"
    line = "description: The lamp is green\n"
    both = f"<<<<<<< HEAD\n{line}=======\ndescription: {theirs}\n>>>>>>> other\n"
    path.write_text(path.read_text().replace(line, both))
    memory.reconcile()
    assert memory.get(id).presence == "stale"
    return id, path


@pytest.mark.promise("disk.resolve")
@pytest.mark.parametrize(
    "take, said", [("ours", "The lamp is green"), ("theirs", "The lamp is red")]
)
def test_a_side_of_a_conflict_is_taken(open_memory: Open, home: Path, take: str, said: str) -> None:
    memory = open_memory()
    id, path = conflict(home, memory)
    found = memory.resolve(id, take=take)  # type: ignore[arg-type]
    assert (found.description, found.body, found.presence) == (said, "In the hall.", "live")
    assert (found.version, found.authority) == (2, "person")
    assert "<<<<<<<" not in path.read_text()
    assert memory.history(id)[-1].why == f"resolved: {take}"
    assert settled(memory)
    memory.reindex()
    assert memory.get(id).description == said


@pytest.mark.promise("disk.resolve")
def test_a_text_of_ones_own_mends_any_file_that_cannot_be_read(memory: Memory, home: Path) -> None:
    id, path = conflict(home, memory)
    path.write_text("---\nid: [\n---\n")
    memory.reconcile()
    with pytest.raises(Invalid, match="no merge conflict"):
        memory.resolve(id, take="ours")
    for text, field in (("---\nid: [\n---\n", "text"), ("---\nid: mem_x\n---\nx\n", "text")):
        with pytest.raises(Invalid) as caught:
            memory.resolve(id, text=text)
        assert caught.value.field == field
    with pytest.raises(Refused):
        memory.resolve(id, text="key sk-demo-1111-not-a-real-key\n")
    assert path.read_text() == "---\nid: [\n---\n", "left as it was"
    found = memory.resolve(id, text=f"---\nid: {id}\nname: lamp\n---\nThe lamp is blue\n")
    assert (found.description, found.version) == ("The lamp is blue", 2)
    assert settled(memory)


def test_what_needs_no_mending_says_so(memory: Memory) -> None:
    id = memory.add(name="lamp", description="The lamp is green").id
    with pytest.raises(Invalid, match="nothing to resolve"):
        memory.resolve(id, take="ours")
    with pytest.raises(Invalid):
        memory.resolve(id)
    with pytest.raises(Invalid):
        memory.resolve(id, take="mine")  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        memory.resolve("mem_none", take="ours")


def test_a_side_whose_name_is_taken_is_refused(memory: Memory, home: Path) -> None:
    id, path = conflict(home, memory)
    path.write_text(path.read_text().replace("name: lamp", "name: shelf"))
    memory.reconcile()
    holder = memory.add(name="shelf", description="The shelf").id
    with pytest.raises(Conflict) as caught:
        memory.resolve(id, take="ours")
    assert caught.value.holder == holder
    assert "<<<<<<<" in path.read_text()
