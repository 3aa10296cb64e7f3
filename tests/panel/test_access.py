"""axe-core looks at every page, light and dark: nothing serious stands in anybody's way."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect
from tests.panel.conftest import Tab
from tests.panel.screenshots import furnish
from tests.panel.test_panel import PAGES, add, opened

from memstrata import Memory

NPM: Final = Path(os.environ.get("MERMAID_HOME", Path(sys.prefix) / "npm"))
AXE: Final = NPM / "node_modules/axe-core/axe.min.js"
SERIOUS: Final = ("serious", "critical")


def faults(page: Page) -> list[str]:
    """What is serious, and where."""
    page.wait_for_function("!document.querySelector('.q-skeleton')")
    page.evaluate(AXE.read_text("utf-8"))
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


@pytest.mark.promise("panel.access")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault(other: Memory, tab: Tab, scheme: str) -> None:
    if not AXE.is_file():
        pytest.skip(f"axe-core is not installed in {NPM}; `make test` does it where npm is")
    furnish(other.home)
    add(other, "tea", "Likes tea")
    add(other, "freeze", "Code freeze", valid_until="2026-10-31")
    add(other, "tone", "Answer briefly", type="feedback", priority=-1)
    page = tab("/", color_scheme=scheme, reduced_motion="reduce")
    found: list[str] = []
    for _, english, _ in PAGES:
        page.get_by_role("navigation").get_by_text(english, exact=True).click()
        expect(page.get_by_role("heading", name=english, level=1)).to_be_visible()
        found += [f"{english}: {fault}" for fault in faults(page)]
    page.get_by_role("navigation").get_by_text("Memories", exact=True).click()
    expect(page.get_by_role("heading", name="Memories", level=1)).to_be_visible()
    opened(page, "tea")
    found += faults(page)
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label(re.compile("^Description"))).to_be_visible()
    found += faults(page)
    assert "\n\n".join(found) == ""
