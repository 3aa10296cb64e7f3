"""The other pages, driven as a person does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.panel.conftest import Tab
from tests.panel.screenshots import furnish
from tests.panel.test_panel import add, opened

from memstrata import Memory


def talked(memory: Memory) -> None:
    """A conversation that a memory came of."""
    chat = memory.session("hello")
    for text in ("I live in Gdynia.", "What a day it was."):
        chat.commit([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}])
    memory.drain()


@pytest.mark.promise("panel.conversations")
def test_conversations_to_the_memory_and_forgotten(other: Memory, tab: Tab) -> None:
    talked(other)
    page = tab("/conversations")
    page.get_by_label("Search what was said").fill("gdynia")
    expect(page.get_by_text("I live in Gdynia.")).to_be_visible()
    page.get_by_label("Search what was said").fill("")
    page.get_by_role("listitem").get_by_role("button").click()
    expect(page.locator("article")).to_have_count(3)
    page.get_by_role("button", name="What came of it").first.click()
    expect(page.locator(".q-dialog").get_by_text("Lives in Gdynia")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Forget…").click()
    page.locator(".q-dialog").get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_text("nothing of it is left")).to_be_visible()
    assert not other.sessions()
    assert not other.list().items


@pytest.mark.promise("panel.forget")
def test_a_memory_is_forgotten_with_its_receipt(other: Memory, tab: Tab) -> None:
    talked(other)
    page = opened(tab("/memories"), "home")
    page.get_by_role("button", name="Forget…").click()
    dialog = page.locator(".q-dialog").last
    expect(dialog.get_by_text("memories: 1")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    assert other.list().items
    page.get_by_role("button", name="Forget…").click()
    page.locator(".q-dialog").last.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_text("nothing of it is left")).to_be_visible()
    assert not other.search("Gdynia")


@pytest.mark.promise("panel.candidates")
def test_candidates_are_confirmed_in_other_words_or_rejected(
    home: Path, other: Memory, tab: Tab
) -> None:
    folder = home / "candidates" / "user"
    folder.mkdir(parents=True)
    for name in ("cand_one", "cand_two"):
        (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: Be brief\n---\n")
    page = tab("/candidates")
    cards = page.locator("section.card")
    expect(cards).to_have_count(2)
    cards.filter(has_text="cand_one").get_by_role("button", name="Confirm").click()
    page.get_by_label(re.compile("^Description")).fill("Answer in two sentences")
    page.locator(".q-dialog").get_by_role("button", name="Confirm").click()
    expect(cards).to_have_count(1)
    (rule,) = other.list(type="feedback").items
    assert (rule.description, rule.origin) == ("Answer in two sentences", "consolidation")
    cards.get_by_role("button", name="Reject").click()
    page.locator(".q-dialog").get_by_role("button", name="Reject").click()
    expect(page.get_by_text("No candidate waits")).to_be_visible()
    assert other.candidates() == ()


@pytest.mark.promise("panel.team")
def test_a_document_is_edited_merged_and_taken_back(other: Memory, tab: Tab) -> None:
    document = other.private()
    document.save("## Facts\n- 2026-02-03: Keeps bees\n")
    first, second = tab("/team"), tab("/team")
    for page, line in ((first, "- 2026-02-04: Has a boat\n"), (second, "- 2026-02-05: Bakes\n")):
        area = page.get_by_label("Markdown under headings")
        expect(area).to_have_value(re.compile("bees"))
        area.fill(f"{area.input_value().rstrip()}\n{line}")
        page.get_by_role("button", name="Save").click()
    expect(second.get_by_role("heading", name="It was changed meanwhile")).to_be_visible()
    expect(second.get_by_text("+- 2026-02-04: Has a boat")).to_be_visible()
    second.get_by_role("button", name="Merge both").click()
    expect(second.get_by_label("Markdown under headings")).to_have_value(
        re.compile("boat.*Bakes", re.S)
    )
    second.get_by_role("tab", name="Entries").click()
    expect(second.get_by_text("local · ").first).to_be_visible()
    second.get_by_role("button", name="Undo").click()
    expect(second.get_by_text("restored")).to_be_visible()
    assert "Bakes" not in document.read().memory_md


@pytest.mark.promise("panel.entities")
def test_two_names_are_joined_and_parted(other: Memory, tab: Tab) -> None:
    add(other, "kiln", "Fires pots in Quillon", entities=("Quillon",))
    page = tab("/entities")
    expect(page.get_by_role("listitem")).to_have_count(1)
    page.get_by_label("This name").fill("the old kiln")
    page.get_by_label("means the same as").fill("Quillon")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("listitem")).to_contain_text("the old kiln")
    page.get_by_role("button", name="Part again").click()
    expect(page.get_by_role("listitem")).not_to_contain_text("the old kiln")


@pytest.mark.promise("panel.layers")
def test_a_whole_home_has_something_on_every_page(home: Path, tab: Tab) -> None:
    furnish(home)
    page = tab("/layers")
    lock = page.get_by_role("button", name="Lock", exact=True).first
    lock.click()
    expect(page.get_by_role("button", name="Unlock", exact=True)).to_have_count(1)
    with Memory.open(home, background=False) as memory:
        assert [line.locked for line in memory.persona().lines].count(True) == 1
    page.goto(page.url.replace("layers", "tasks"))
    page.get_by_role("listitem").get_by_role("button").click()
    expect(page.locator(".graph svg .node")).to_have_count(4)
    page.get_by_role("button", name="Full results").nth(1).click()
    expect(
        page.locator("pre").get_by_text("FAILED tests/test_pager.py::test_last - 9 != 10")
    ).to_be_visible()
    page.goto(page.url.replace("tasks", "reads"))
    expect(page.get_by_role("cell", name="recall_memory")).to_be_visible()


@pytest.mark.promise("panel.workspace")
def test_what_a_workspace_holds_is_seen_from_there(other: Memory, tab: Tab, tmp_path: Path) -> None:
    folder = tmp_path / "kiln"
    folder.mkdir()
    other.add(
        scope="project", type="project", name="glaze", description="Blue only", workspace=folder
    )
    page = tab("/memories")
    expect(page.get_by_text("Nothing yet")).to_be_visible()
    page.get_by_role("combobox", name="Workspace").click()
    page.get_by_role("option", name="kiln").click()
    expect(page.get_by_role("listitem")).to_contain_text("glaze")
