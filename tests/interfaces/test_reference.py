"""The reference pages are those that the code makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from memstrata.interfaces.cli import reference
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
