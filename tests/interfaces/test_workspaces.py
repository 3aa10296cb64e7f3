"""`memstrata workspace`, `trust`, `resolve`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interfaces.command import Run, here

from memstrata import Memory


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that came with a memory file."""
    folder = tmp_path / "clone"
    (folder / ".memstrata/memory").mkdir(parents=True)
    (folder / ".memstrata/memory/note.md").write_text("The kiln is hot\n")
    return folder


@pytest.mark.promise("workspace.cli")
def test_a_workspace_is_bound_looked_at_trusted_and_forgotten(cli: Run, clone: Path) -> None:
    assert cli("workspace", "bind", str(clone)).out == f"clone is bound: {clone}\n"
    (one,) = cli("workspace", "list", "--json").json["workspaces"]
    assert (one["name"], one["memories"], one["unreviewed"]) == ("clone", 1, 1)
    assert cli("workspace", "list").out == f"{one['key']}  clone  {clone}  1  1\n"
    shown = cli("trust", str(clone), "--json").json
    assert (shown["status"], shown["memories"][0]["note"]) == ("shown", "unreviewed")
    told = cli("trust", one["key"])
    assert "The kiln is hot" in told.out
    assert told.out.endswith(f"to trust them as shown: --digest {shown['digest']}\n")
    assert cli("trust", str(clone), "--digest", "other").code == 5
    assert cli("trust", str(clone), "--digest", shown["digest"]).out == "1 memories are trusted\n"
    assert cli("trust", str(clone)).out == "nothing is left to look at\n"
    gone = cli("workspace", "unbind", one["key"])
    assert (gone.code, gone.out) == (0, f"clone is bound no longer: {clone}\n")
    assert cli("workspace", "list", "--json").json == {"workspaces": []}
    assert cli("workspace", "unbind", one["key"]).code == 4


@pytest.mark.promise("disk.resolve")
def test_a_conflict_is_resolved(cli: Run, home: Path, tmp_path: Path) -> None:
    with Memory.open(home, background=False) as memory:
        ids = [memory.add(name=name, description=f"The {name}").id for name in ("a", "b")]
    for id, name in zip(ids, ("a", "b"), strict=True):
        path = home / "memory/user" / f"{id}.md"
        line = f"description: The {name}\n"
        both = f"<<<<<<< HEAD\n{line}=======\ndescription: Another\n>>>>>>> other\n"
        path.write_text(path.read_text().replace(line, both))
    ran = cli("resolve", ids[0], "--theirs")
    assert (ran.code, ran.out) == (0, f"{ids[0]}  a: Another (active, version 2)\n")
    assert cli("resolve", ids[1]).code == 2
    assert cli("resolve", ids[1], "--ours", "--theirs").code == 2
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!/bin/sh\nprintf -- '---\\nid: {ids[1]}\\nname: b\\n---\\nMine\\n' > \"$1\"\n"
    )
    editor.chmod(0o700)
    ran = cli("resolve", ids[1], "--edit", env={"EDITOR": str(editor)})
    assert (ran.code, ran.out) == (0, f"{ids[1]}  b: Mine (active, version 2)\n")
    assert cli("resolve", ids[1], "--ours").code == 2
