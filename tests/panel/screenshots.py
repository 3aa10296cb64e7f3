"""Every page of the panel as pictures, light and dark: `make screenshots` writes them to docs/images."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright
from tests.panel.conftest import CHROMIUM, QUIET, Server
from tests.panel.test_panel import PAGES

from memstrata import Memory
from memstrata.interfaces import cli

DEMO: Final = Path(cli.__file__).with_name("demo.jsonl")
SIZE: Final = ViewportSize(width=1280, height=860)
SCHEMES: Final = ("light", "dark")
DOCUMENT: Final = """\
## Deploy
- 2026-03-02: With Nomad, never on a Friday
- 2026-03-09: The rollback is `nomad job revert tallyboat`

## People
- 2026-03-04: Priya owns billing, Tomas owns search
"""
STEPS: Final = (
    (
        "read_file",
        '{"path": "src/pager.py"}',
        "def page(items, size):\n    return items[: size - 1]\n",
    ),
    (
        "run_tests",
        '{"path": "tests"}',
        "1 failed, 41 passed\nFAILED tests/test_pager.py::test_last - 9 != 10",
    ),
    ("edit_file", '{"path": "src/pager.py"}', "edited: 1 line"),
    ("run_tests", '{"path": "tests"}', "42 passed in 1.31s"),
)


def furnish(home: Path) -> None:
    """A home with something on every page."""
    with Memory.open(home, background=False) as memory:
        memory.import_(DEMO)
        memory.private().save(DOCUMENT)
        memory.alias("Mara Zhao", of="Mara")
        tools = memory.tools(session="autumn", agent="coder", caller="claude-code")
        tools.call("search_memory", {"query": "tea"})
        tools.call("recall_memory", {"id": memory.list(status="active").items[0].id})
        session = memory.offload("pager", window=20_000)
        messages: list[dict[str, object]] = [
            {"role": "user", "content": "Fix the last page of the pager."}
        ]
        for number, (name, arguments, result) in enumerate(STEPS):
            call = {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result})
            session.assemble(messages)
        memory.drain()
    folder = home / "candidates" / "user"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cand_first.md").write_text(
        "---\nname: Ask before what cannot be undone\n"
        "description: Ask before pushing to main, deleting branches or restarting production\n---\n"
        "**Why**: three corrections in two weeks.\n**How to apply**: name the step, wait for a yes.\n"
    )


def pictures(browser: Browser, server: Server, folder: Path) -> None:
    """Each page in each scheme, and one memory."""
    for scheme in SCHEMES:
        context = browser.new_context(
            viewport=SIZE,
            color_scheme=scheme,
            locale="en-GB",
            timezone_id="UTC",
            reduced_motion="reduce",
        )
        page = context.new_page()
        for path, english, _ in PAGES:
            page.goto(server.url + path)
            settled(page, english)
            name = path.strip("/") or "overview"
            page.screenshot(path=folder / f"{name}-{scheme}.png")
        page.goto(f"{server.url}/memories?status=invalid")
        settled(page, "Memories")
        page.get_by_role("listitem").get_by_role("button").first.click()
        expect(page.locator("mark")).to_be_visible()
        page.screenshot(path=folder / f"memory-{scheme}.png")
        page.goto(f"{server.url}/tasks")
        settled(page, "Tasks")
        page.get_by_role("listitem").get_by_role("button").first.click()
        expect(page.locator(".sheet svg .node").first).to_be_visible()
        page.screenshot(path=folder / f"task-{scheme}.png")
        context.close()


def settled(page: Page, heading: str) -> None:
    """Wait until the page shows what it has."""
    expect(page.get_by_role("heading", name=re.compile(f"^{heading}$"), level=1)).to_be_visible()
    page.wait_for_function("!document.querySelector('.q-skeleton')")
    page.wait_for_load_state("networkidle")


def main(folder: str) -> None:
    """Write them."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home, sync_playwright() as driver:
        furnish(Path(home))
        server = Server(Path(home))
        server.start()
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            pictures(browser, server, target)
        finally:
            browser.close()
            server.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
