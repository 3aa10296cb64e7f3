"""`memstrata entities`: list, alias, unalias."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interfaces.command import Run, here

from memstrata import Memory


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


@pytest.mark.promise("entities.cli")
def test_names_are_listed_joined_and_parted(cli: Run, home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        memory.add(name="a", description="Forms", entities=["Arco Design", "Kiln"])
        memory.add(name="b", description="Tables", entities=["@arco-design/web-react"])
    listed = cli("entities", "list")
    assert [line.split("  ")[:3] for line in listed.out.splitlines()] == [
        ["arco", "2", "Arco Design, @arco-design/web-react"],
        ["kiln", "1", "Kiln"],
    ]
    assert cli("entities", "alias", "kiln", "--of", "Arco").out == "kiln is arco from now on\n"
    (one,) = cli("entities", "list", "--json").json["entities"]
    assert (one["name"], len(one["memories"])) == ("arco", 2)
    assert cli("entities", "unalias", "kiln").out == "kiln is a thing of its own\n"
    assert len(cli("entities", "list", "--json").json["entities"]) == 2
    again = cli("entities", "unalias", "kiln")
    assert (again.code, again.out) == (4, "")
