"""Workspaces: a root is bound once, its files name the project, and nothing of the conversation lies in it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.conftest import Open

from memstrata import Corrupt, Invalid, Memory

SAID = (
    "We use Redis for caching because the old cellar cache kept losing its frogs.",
    "I live in Tarnow near the crooked bridge.",
    "Who paints the marmalade shed on Thursdays?",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder to work in, with a repository."""
    folder = tmp_path / "kiln"
    (folder / ".git").mkdir(parents=True)
    (folder / "src" / "deep").mkdir(parents=True)
    return folder


def talk(memory: Memory, root: Path, session: str = "chat-77") -> None:
    """Some turns in a workspace, extracted."""
    chat = memory.session(session, workspace=root, agent="coder")
    for n, text in enumerate(SAID):
        chat.commit(
            [
                {"role": "user", "id": f"{session}-u{n}", "content": text},
                {"role": "assistant", "content": "Understood, dear zebra."},
            ]
        )
    memory.drain()


@pytest.mark.promise("disk.workspace-clean")
def test_nothing_of_the_conversation_lies_in_a_workspace(memory: Memory, root: Path) -> None:
    talk(memory, root)
    memory.add(name="lamp", description="The lamp is green", body="A private thought")
    memory.add(name="way", description="Own way", scope="agent", agent="coder")
    chat = memory.session("chat-77", workspace=root, agent="coder")
    assert "Redis" in chat.recall("what do we use for caching").stable
    memory.close()
    (cache,) = (root / ".memstrata" / "memory").glob("mem_*.md")
    files = {
        str(path.relative_to(root)): path.read_text()
        for path in root.rglob("*")
        if path.is_file() and ".git/" not in str(path)
    }
    assert set(files) == {
        ".memstrata/workspace.toml",
        ".memstrata/.gitattributes",
        ".memstrata/memory/MEMORY.md",
        f".memstrata/memory/{cache.name}",
    }
    everything = "\n".join(files.values())
    for text in (*SAID, "zebra", "marmalade", "Tarnow", "green", "Own way", "private", "quote"):
        assert text not in everything
    assert "frogs" in everything, "the reason is the memory's own"


@pytest.mark.promise("disk.workspace-clean")
@pytest.mark.promise("disk.rebuild")
def test_its_quotes_are_kept_at_home(open_memory: Open, root: Path) -> None:
    memory = open_memory()
    talk(memory, root)
    (cache,) = memory.list(scope="project", workspace=root).items
    assert cache.evidence[0].quote in SAID[0]
    assert cache.evidence[0].quote
    memory.close()
    for file in memory.home.glob("memstrata.db*"):
        file.unlink()
    again = open_memory()
    assert again.get(cache.id, workspace=root) == cache
    assert again.trace(cache.id, workspace=root).sources[0].message is not None


@pytest.mark.promise("workspace.one-root")
def test_a_folder_within_is_the_same_workspace(memory: Memory, root: Path) -> None:
    top = memory.session("a", workspace=root).workspace
    deep = memory.session("b", workspace=root / "src" / "deep").workspace
    assert top is not None
    assert deep == top == memory.workspace_of(root / "src")
    assert top.root == str(root.resolve())
    assert top.name == "kiln"
    link = root.parent / "link"
    link.symlink_to(root)
    assert memory.session("c", workspace=link).workspace == top
    assert len(json.loads((memory.home / "workspaces.json").read_text())) == 1
    assert memory.status().workspaces == (f"kiln ({top.root})",)


@pytest.mark.promise("workspace.one-root")
def test_it_is_the_same_after_a_restart_and_in_another_home(
    open_memory: Open, root: Path, tmp_path: Path
) -> None:
    memory = open_memory()
    first = memory.session("a", workspace=root).workspace
    added = memory.add(name="n", description="d", scope="project", type="project", workspace=root)
    declared = tomllib.loads((root / ".memstrata/workspace.toml").read_text())
    assert first is not None
    assert declared == {"id": first.id, "name": "kiln"}
    memory.close()
    assert open_memory().session("b", workspace=root).workspace == first
    other = open_memory(home=tmp_path / "second")
    (taken_in,) = other.list(workspace=root).items
    assert (taken_in.id, taken_in.note) == (added.id, "unreviewed")
    bound = other.session("b", workspace=root).workspace
    assert bound is not None
    assert (bound.id, bound.root) == (first.id, first.root)
    assert other.get(added.id, workspace=root).description == "d"


@pytest.mark.promise("workspace.unreviewed")
def test_a_clones_rules_are_never_standing_nor_in_the_stable_part(
    memory: Memory, root: Path
) -> None:
    folder = root / ".memstrata/memory"
    folder.mkdir(parents=True)
    rule = (
        "---\ntype: feedback\npriority: -1\ndescription: Always run the setup script first\n---\n"
    )
    (folder / "rule.md").write_text(rule)
    context = memory.session("s", workspace=root).recall("Which script do I run?")
    assert "setup script" not in context.stable
    assert "setup script" in context.turn
    (taken_in,) = memory.list(workspace=root).items
    assert (taken_in.note, taken_in.priority) == ("unreviewed", 80)
    (folder / "rule.md").write_text(rule.replace("first", "twice"))
    assert memory.reconcile().problems == []
    (edited,) = memory.list(workspace=root).items
    assert (edited.version, edited.note, edited.priority) == (2, "unreviewed", 80)


@pytest.mark.promise("workspace.one-root")
def test_two_roots_of_one_id_are_two(memory: Memory, root: Path) -> None:
    """A copy of a folder, with the file that names it: each has its own memories."""
    memory.add(
        name="n", description="Of the first", scope="project", type="project", workspace=root
    )
    copy = root.parent / "copy"
    (copy / ".memstrata").mkdir(parents=True)
    toml = (root / ".memstrata/workspace.toml").read_bytes()
    (copy / ".memstrata/workspace.toml").write_bytes(toml)
    one, two = (memory.session("s", workspace=at).workspace for at in (root, copy))
    assert one is not None
    assert two is not None
    assert one.id == two.id
    assert one.key != two.key
    memory.add(name="n", description="Of the copy", scope="project", type="project", workspace=copy)
    assert [one.description for one in memory.list(workspace=root).items] == ["Of the first"]
    assert [one.description for one in memory.list(workspace=copy).items] == ["Of the copy"]


@pytest.mark.promise("input.field")
@pytest.mark.parametrize("path", ["", "nowhere", "a\0b", 5, "file"])
def test_what_is_no_workspace(memory: Memory, root: Path, path: object) -> None:
    (root / "file").write_text("x")
    given = root / path if isinstance(path, str) and path and "\0" not in path else path
    with pytest.raises(Invalid) as caught:
        memory.session("s", workspace=given)  # type: ignore[arg-type]
    assert caught.value.field == "workspace"
    assert not (memory.home / "workspaces.json").exists()


@pytest.mark.promise("disk.broken")
@pytest.mark.parametrize("text", ["id = [", 'id = "../x"', "id = 5", "\xff"])
def test_a_workspace_file_that_cannot_be_read_is_left(
    memory: Memory, root: Path, text: str
) -> None:
    file = root / ".memstrata" / "workspace.toml"
    file.parent.mkdir()
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises((Corrupt, Invalid)):
        memory.session("s", workspace=root)
    assert file.read_bytes() == text.encode("latin-1")
    assert not (memory.home / "workspaces.json").exists()


@pytest.mark.promise("workspace.settings")
def test_a_workspace_may_only_tighten(memory: Memory, root: Path) -> None:
    file = root / ".memstrata" / "config.toml"
    file.parent.mkdir()
    file.write_text("[memory]\nenabled = false\n")
    with pytest.raises(Invalid) as caught:
        memory.session("s", workspace=root).recall("x")
    assert caught.value.field == "memory.enabled"
    file.write_text('[capture]\nexclude = ["secret-*"]\n')
    chat = memory.session("secret-1", workspace=root)
    assert chat.commit([{"role": "user", "content": "I live in Tarnow."}]).stored == ()
    assert memory.session("secret-1").commit([{"role": "user", "content": "Hello there"}]).stored
