"""Named things through the verbs: joined, parted, and what that changes at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open

from memstrata import Corrupt, Invalid, Memory, NotFound, Refused
from memstrata.pipelines.entities import Alias


def related(memory: Memory, query: str, **where: Any) -> list[str]:
    """The names of what a search finds one hop on."""
    hits = memory.search(query, kinds=("memory",), **where)
    return [hit.name for hit in hits if hit.lanes == ("entity",)]


@pytest.fixture
def kiln(memory: Memory) -> Memory:
    """Two memories that name one thing in two ways, and one of something else."""
    memory.add(name="forms", description="Forms use arco", entities=["Arco Design"])
    memory.add(
        name="tables",
        description="Tables come from @arco-design/web-react",
        entities=["@arco-design/web-react", "web-react"],
    )
    memory.add(name="build", description="Built by @babel/core", entities=["@babel/core"])
    return memory


@pytest.mark.promise("entities.table")
def test_a_hop_goes_by_the_table_and_joins_and_parts_at_once(kiln: Memory) -> None:
    assert related(kiln, "forms") == ["tables"]
    assert kiln.unalias("@arco-design") == Alias("@arco-design", "@arco-design")
    assert related(kiln, "forms") == []
    assert kiln.alias("@arco-design/web-react", of="Arco Design") == Alias(
        "@arco-design/web-react", "arco"
    )
    assert related(kiln, "forms") == ["tables"]
    kiln.unalias("@arco-design/web-react")
    kiln.alias("@arco-design", of="arco")
    assert related(kiln, "forms") == ["tables"]
    assert related(kiln, "built") == []


@pytest.mark.promise("entities.list")
def test_what_memories_name_is_listed(kiln: Memory) -> None:
    found = {one.name: one for one in kiln.entities()}
    assert list(found) == ["arco", "@babel/core", "web-react"]
    assert found["arco"].spellings == ("Arco Design", "@arco-design/web-react")
    assert found["arco"].aliases == ("@arco-design", "arco design")
    assert len(found["arco"].memories) == 2
    assert kiln.entities(user="ben") == ()
    kiln.archive(found["@babel/core"].memories[0])
    assert "@babel/core" not in {one.name for one in kiln.entities()}


@pytest.mark.promise("entities.packages")
def test_packages_meet_only_when_a_person_says_so(memory: Memory) -> None:
    memory.add(name="one", description="Compiles with it", entities=["@babel/core"])
    memory.add(name="two", description="Rendered by core", entities=["@vue/core"])
    assert related(memory, "compiles") == []
    memory.alias("@babel/core", of="@vue/core")
    assert related(memory, "compiles") == ["two"]
    memory.unalias("@babel/core")
    assert related(memory, "compiles") == []


@pytest.mark.promise("entities.table")
def test_the_table_is_the_owners_and_a_file_that_stays(open_memory: Open, home: Path) -> None:
    memory = open_memory()
    memory.alias("The Kiln", of="Oven 3")
    memory.alias("oven 3", of="furnace", user="ana")
    assert json.loads((home / "aliases.json").read_text()) == {"the kiln": "oven 3"}
    assert json.loads((home / "owners/ana/aliases.json").read_text()) == {"oven 3": "furnace"}
    memory.add(name="k", description="Kiln", entities=["The Kiln"])
    memory.close()
    for path in home.glob("memstrata.db*"):
        path.unlink()
    memory = open_memory()
    assert [one.name for one in memory.entities()] == ["oven 3"]
    memory.unalias("the kiln")
    assert json.loads((home / "aliases.json").read_text()) == {}, "nothing below joins it"
    with pytest.raises(NotFound):
        memory.unalias("the kiln")


def test_a_workspace_may_add_aliases_and_its_members_alone_see_them(
    open_memory: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "yard"
    (folder / ".memstrata").mkdir(parents=True)
    (folder / ".memstrata/config.toml").write_text('[entities]\naliases = ["Yard = depot"]\n')
    memory = open_memory()
    memory.add(name="a", description="Gate one", entities=["Yard"])
    memory.add(name="b", description="The depot is big", entities=["Depot"])
    memory.session("s", workspace=folder)
    assert related(memory, "gate") == []
    assert related(memory, "gate", workspace=folder) == ["b"]


@pytest.mark.parametrize("name, of", [("", "x"), ("x", " "), (" K8S", "kubernetes ")])
def test_what_cannot_be_joined_says_why(memory: Memory, name: str, of: str) -> None:
    if name == " K8S":
        with pytest.raises(Invalid, match="already"):
            memory.alias(of, of=name)
        return
    with pytest.raises(Invalid):
        memory.alias(name, of=of)


@pytest.mark.promise("gate.sensitive")
def test_a_name_passes_the_sensitive_gate(memory: Memory, home: Path) -> None:
    with pytest.raises(Refused):
        memory.alias("key sk-demo-1111-not-a-real-key", of="vault")
    assert not (home / "aliases.json").exists()


def test_a_table_that_cannot_be_read_counts_for_nothing_and_is_left(
    kiln: Memory, home: Path
) -> None:
    (home / "aliases.json").write_text("{")
    assert related(kiln, "forms") == ["tables"], "what ships still counts"
    with pytest.raises(Corrupt):
        kiln.alias("a", of="b")
    assert (home / "aliases.json").read_text() == "{"


@pytest.mark.promise("entities.gate")
def test_what_is_named_otherwise_is_shown_to_a_ruling(memory: Memory) -> None:
    from tests.domain.build import candidate

    from memstrata.domain.entities import SHIPPED
    from memstrata.domain.scope import Key, Realm
    from memstrata.pipelines.draft import similar

    memory.add(name="cluster", description="Runs on k8s", entities=["k8s"])
    one = candidate(
        description="Deployed with Kubernetes", entities=("Kubernetes",), name="deployment"
    )
    key = Key(Realm("local", "local"), "user", "")
    assert [row.memory.name for row in similar(memory._world, key, one, SHIPPED)] == ["cluster"]
