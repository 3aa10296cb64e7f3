"""The reference pages are those that the code makes."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from memstrata.interfaces.cli import app, reference, verbs
from memstrata.interfaces.mcp.resources import KINDS
from memstrata.pipelines.offload import TOOLS as OFFLOAD
from memstrata.prompts.team_document import TOOL
from memstrata.prompts.tools import TOOLS
from memstrata.routes import ROUTES, all_verbs
from memstrata.settings import KEYS

DOCS = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.promise("cli.docs")
@pytest.mark.promise("settings.docs")
@pytest.mark.parametrize("name", reference.PAGES)
def test_up_to_date(name: str, tmp_path: Path) -> None:
    assert reference.main([str(tmp_path)]) == 0
    assert (DOCS / name).read_text("utf-8") == (tmp_path / name).read_text("utf-8")


@pytest.mark.promise("settings.docs")
def test_every_setting_has_its_row() -> None:
    page = (DOCS / "settings.md").read_text("utf-8")
    assert [key for key in KEYS if f"| `{key}` |" not in page] == []


@pytest.mark.promise("verbs.table")
def test_every_verb_has_a_cell_for_each_door_or_a_reason() -> None:
    assert sorted(verbs.COMMANDS) == sorted(all_verbs())
    command = typer.main.get_command(app.build())
    there = {path.partition(" ")[2] for path, _ in reference.leaves(command, app.NAME)}
    named = set(verbs.commands()) - {"team"}
    assert named - there == set(), "commands that do not exist"
    assert there - named == set(verbs.NO_VERB), "commands that the table leaves out"
    page = (DOCS / "verbs.md").read_text("utf-8")
    for route in ROUTES:
        assert f"`{route.method} {route.path}`" in page
    assert set(verbs.MCP) <= set(all_verbs())
    offered = {tool.name for tool in TOOLS} | set(OFFLOAD) | {TOOL, "memory_context"}
    assert set(verbs.MCP.values()) == offered | {kind.template for kind in KINDS}
