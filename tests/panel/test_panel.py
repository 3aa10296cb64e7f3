"""The panel, driven as a person does, in a real browser against a real process."""

from __future__ import annotations

import re
from http.client import HTTPConnection
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.panel.conftest import Server, Tab

from memstrata import Memory

WICKED = "<img src=x onerror=\"document.title='owned'\"><b>bold</b> & </script>"


def add(memory: Memory, name: str = "tea", description: str = "Likes tea", **more: object) -> str:
    """Store a memory; its id."""
    return memory.add(name=name, description=description, **more).id  # type: ignore[arg-type]


def opened(page: Page, name: str) -> Page:
    """The sheet of a memory, opened from the list."""
    page.get_by_role("button", name=re.compile(name)).first.click()
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    return page


PAGES = (
    ("/", "Overview", "概览"),
    ("/memories", "Memories", "记忆"),
    ("/candidates", "Candidates", "候选"),
    ("/conversations", "Conversations", "对话"),
    ("/layers", "Scenes and persona", "情景与画像"),
    ("/tasks", "Tasks", "任务"),
    ("/team", "Team document", "团队文档"),
    ("/entities", "Entities", "实体"),
    ("/verdicts", "Why, why not", "取舍原因"),
    ("/reads", "What agents read", "读取记录"),
    ("/settings", "Settings", "设置"),
)


@pytest.mark.promise("panel.pages")
def test_every_page_in_both_languages(tab: Tab) -> None:
    page = tab("/")
    for path, english, _ in PAGES:
        page.get_by_role("navigation").get_by_text(english, exact=True).click()
        expect(page.get_by_role("heading", name=english, level=1)).to_be_visible()
        expect(page).to_have_url(re.compile(f"{path}$"))
    page.get_by_role("button", name="中文").click()
    for path, _, chinese in PAGES:
        page.get_by_role("navigation").get_by_text(chinese, exact=True).click()
        expect(page.get_by_role("heading", name=chinese, level=1)).to_be_visible()
        expect(page).to_have_url(re.compile(f"{path}$"))
    page.reload()
    expect(page.get_by_role("heading", name=PAGES[-1][2], level=1)).to_be_visible()


@pytest.mark.promise("panel.pages")
def test_the_language_is_the_browsers_until_one_is_chosen(tab: Tab) -> None:
    page = tab("/memories", locale="zh-CN")
    expect(page.get_by_role("heading", name="记忆", level=1)).to_be_visible()


@pytest.mark.promise("panel.filters")
def test_filters_by_text_type_and_status(other: Memory, tab: Tab) -> None:
    add(other, "tea", "Likes tea")
    add(other, "tone", "Answer briefly", type="feedback")
    other.archive(add(other, "boat", "Owns a boat"))
    page = tab("/memories")
    rows = page.get_by_role("listitem")
    expect(rows).to_have_count(3)
    page.get_by_label("Name or description").fill("brief")
    expect(rows).to_have_count(1)
    page.get_by_label("Name or description").fill("")
    expect(rows).to_have_count(3)
    page.get_by_role("combobox", name="Status").click()
    page.get_by_role("option", name="archived").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("boat")
    page.get_by_role("combobox", name="Status").click()
    page.get_by_role("option", name="any").click()
    page.get_by_role("combobox", name="Type").click()
    page.get_by_role("option", name="feedback").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("tone")
    page.get_by_role("combobox", name="Scope").click()
    page.get_by_role("option", name="agent").click()
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.goto(page.url.partition("?")[0] + "?type=user&scope=user")
    expect(rows).to_have_count(2)


@pytest.mark.promise("panel.filters")
def test_a_page_at_a_time_the_newest_first(other: Memory, tab: Tab) -> None:
    for number in range(53):
        add(other, f"note {number:02}", f"About {number}")
    page = tab("/memories")
    rows = page.get_by_role("listitem")
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("note 52")
    page.get_by_role("button", name="Older").click()
    expect(rows).to_have_count(3)
    expect(rows.last).to_contain_text("note 00")
    expect(page.get_by_role("button", name="Older")).to_be_hidden()
    page.get_by_role("button", name="Newer").click()
    expect(rows).to_have_count(50)
    expect(page.get_by_role("button", name="Newer")).to_be_hidden()


@pytest.mark.promise("panel.edit")
def test_edit_history_diff_and_restore(other: Memory, tab: Tab) -> None:
    id = add(other)
    page = opened(tab("/memories"), "tea")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label(re.compile("^Description")).fill("Likes oolong")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Likes oolong").first).to_be_visible()
    assert other.get(id).description == "Likes oolong"
    page.get_by_text("History", exact=True).click()
    page.get_by_role("button", name="What changed").click()
    expect(page.get_by_text("+description: Likes oolong")).to_be_visible()
    page.get_by_role("button", name="Close").last.click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("restored")).to_be_visible()
    assert other.get(id).description == "Likes tea"
    assert other.get(id).version == 3


@pytest.mark.promise("panel.conflict")
@pytest.mark.parametrize("choice, kept", [("Save mine over it", "mine"), ("Keep theirs", "theirs")])
def test_two_tabs_that_edit_the_same_memory(
    other: Memory, tab: Tab, choice: str, kept: str
) -> None:
    id = add(other)
    first, second = (opened(tab("/memories"), "tea") for _ in range(2))
    for page, text in ((first, "theirs"), (second, "mine")):
        page.get_by_role("button", name="Edit").click()
        page.get_by_label(re.compile("^Description")).fill(text)
    first.get_by_role("button", name="Save").click()
    expect(first.get_by_text("saved")).to_be_visible()
    second.get_by_role("button", name="Save").click()
    expect(second.get_by_role("heading", name="It was changed meanwhile")).to_be_visible()
    expect(second.get_by_text("+description: theirs")).to_be_visible()
    expect(second.get_by_text("mine", exact=True)).to_be_visible()
    assert other.get(id).description == "theirs"
    second.get_by_role("button", name=choice).click()
    expect(second.get_by_role("heading", name="It was changed meanwhile")).to_be_hidden()
    expect(second.locator(".sheet-body .text.strong")).to_have_text(kept)
    assert other.get(id).description == kept


@pytest.mark.promise("panel.validity")
def test_expired_and_invalid_ones_say_so(other: Memory, tab: Tab) -> None:
    add(other, "freeze", "Code freeze", valid_until="2026-10-31")
    chat = other.session("s")
    for day, home in (("2026-01-05", "Gdynia"), ("2026-03-05", "Lyon")):
        said = {"role": "user", "content": f"I live in {home}.", "said_at": f"{day}T09:00:00Z"}
        chat.commit([said, {"role": "assistant", "content": "Noted."}])
    other.drain()
    page = opened(tab("/memories?status=expired"), "freeze")
    expect(page.get_by_text("2026-10-31, that day included")).to_be_visible()
    expect(page.get_by_text("Its last day has passed")).to_be_visible()
    page = opened(tab("/memories?status=invalid"), "home")
    expect(page.get_by_text("No longer true since 2026-03-05")).to_be_visible()
    expect(page.locator("mark")).to_have_text(re.compile("Gdynia"))
    page.get_by_role("button", name="What took its place").click()
    expect(page.locator("mark")).to_have_text(re.compile("Lyon"))
    assert "Last day that counts" not in page.locator(".sheet-body").inner_text()
    page = tab("/memories?status=expired", locale="zh-CN")
    page.get_by_role("button", name=re.compile("freeze")).first.click()
    expect(page.get_by_text("2026/10/31（该日内仍适用）")).to_be_visible()


@pytest.mark.promise("panel.batch")
def test_many_are_archived_and_deleted_at_once(other: Memory, tab: Tab) -> None:
    ids = [add(other, name, f"About {name}") for name in ("one", "two", "three")]
    page = tab("/memories")
    for name in ("one", "two"):
        page.get_by_role("checkbox", name=f"Choose {name}").click()
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("2 archived")).to_be_visible()
    assert [other.get(id).status for id in ids] == ["archived", "archived", "active"]
    page.get_by_role("checkbox", name="Choose three").click()
    page.get_by_role("button", name="Delete").click()
    page.locator(".q-dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("1 deleted")).to_be_visible()
    expect(page.get_by_role("listitem")).to_have_count(2)


@pytest.mark.promise("panel.add")
def test_a_new_memory_by_hand(other: Memory, tab: Tab) -> None:
    page = tab("/memories")
    page.get_by_role("button", name="New memory").click()
    page.get_by_label("Name", exact=True).fill("kettle")
    page.get_by_label(re.compile("^Description")).fill(
        "my key is sk-demo-0000-not-a-real-key-1234567890"
    )
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("sensitive gate")).to_be_visible()
    assert not other.list().items
    page.get_by_label(re.compile("^Description")).fill("The kettle is blue")
    page.get_by_label("Last day that counts").fill("2030-01-31")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("listitem")).to_contain_text("kettle")
    (found,) = other.list().items
    assert (found.description, str(found.valid_until)) == ("The kettle is blue", "2030-01-31")


@pytest.mark.promise("panel.live")
def test_a_change_elsewhere_is_seen_without_a_reload(tab: Tab) -> None:
    first, second = tab("/memories"), tab("/memories")
    expect(first.get_by_text("Nothing yet")).to_be_visible()
    second.get_by_role("button", name="New memory").click()
    second.get_by_label("Name", exact=True).fill("kettle")
    second.get_by_label(re.compile("^Description")).fill("The kettle is blue")
    second.get_by_role("button", name="Save").click()
    expect(first.get_by_role("listitem")).to_contain_text("kettle")


@pytest.mark.promise("panel.text")
def test_markup_in_a_memory_is_shown_as_text(other: Memory, tab: Tab) -> None:
    add(other, "trap", WICKED, body=f"{WICKED}\n[x](javascript:alert(1))", entities=(WICKED,))
    page = opened(tab("/memories"), "trap")
    expect(page.locator(".sheet-body").get_by_text(WICKED).first).to_be_visible()
    assert page.locator("img").count() == 0
    assert page.title() != "owned"


@pytest.mark.promise("panel.settings")
def test_a_setting_is_changed_checked_and_taken_back(home: Path, other: Memory, tab: Tab) -> None:
    (home / "config.toml").write_text("# mine\n[recall]\nlimit = 8\n")
    page = tab("/settings")
    page.get_by_role("button", name="Change recall.max_tokens").click()
    page.get_by_role("spinbutton").fill("-5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("greater than or equal to 0")).to_be_visible()
    page.get_by_role("spinbutton").fill("700")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("default: 4000")).to_be_visible()
    text = (home / "config.toml").read_text()
    assert "# mine" in text
    assert "max_tokens = 700" in text
    assert other._fresh().settings.recall.max_tokens == 700
    page.get_by_role("button", name="Change recall.max_tokens").click()
    page.get_by_role("button", name="Back to the default").click()
    expect(page.get_by_text("default: 4000")).to_be_hidden()
    assert "max_tokens" not in (home / "config.toml").read_text()


@pytest.mark.promise("panel.settings")
def test_extraction_is_tested_for_real(tab: Tab) -> None:
    page = tab("/settings")
    page.get_by_role("button", name="Test extraction").click()
    expect(page.get_by_text("the rules extract, no model is called")).to_be_visible()


@pytest.mark.promise("panel.why")
def test_why_lists_what_a_gate_refused(other: Memory, tab: Tab) -> None:
    chat = other.session("s")
    for text in ("I prefer tea.", "I work at Foo right now, currently debugging."):
        chat.commit([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}])
    other.drain()
    page = tab("/verdicts")
    items = page.locator(".item")
    expect(items).to_have_count(len(other.why().items))
    expect(page.get_by_text("speaks of the moment")).to_be_visible()
    page.get_by_role("combobox", name="Verdict").click()
    page.get_by_role("option", name="transient", exact=True).click()
    expect(items).to_have_count(1)
    expect(items).to_contain_text("speaks of the moment")


@pytest.mark.promise("panel.error")
def test_a_page_that_cannot_be_loaded_says_so_and_tries_again(
    home: Path, other: Memory, tab: Tab
) -> None:
    add(other)
    (home / "config.toml").write_text("[memory]\nenabled = false\n")
    page = tab("/memories")
    expect(page.get_by_role("alert")).to_contain_text("memory is switched off")
    (home / "config.toml").unlink()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("listitem")).to_contain_text("tea")


@pytest.mark.promise("panel.error")
def test_a_server_that_dies_and_comes_back(other: Memory, server: Server, tab: Tab) -> None:
    add(other)
    page = tab("/memories")
    expect(page.get_by_role("listitem")).to_have_count(1)
    server.kill()
    expect(page.get_by_text(re.compile("Connection lost", re.I))).to_be_visible()
    add(other, "boat", "Owns a boat")
    server.start()
    expect(page.get_by_role("listitem")).to_have_count(2, timeout=30_000)
    opened(page, "boat")


@pytest.mark.promise("panel.phone")
def test_at_phone_width_nothing_sticks_out(other: Memory, tab: Tab) -> None:
    add(other, "a rather long name " * 4, "x" * 190)
    page = tab("/", viewport={"width": 375, "height": 720}, has_touch=True)
    for _, english, _ in PAGES:
        expect(page.get_by_role("navigation")).not_to_be_in_viewport()
        page.get_by_role("button", name="Pages").click()
        page.get_by_role("navigation").get_by_text(english, exact=True).click()
        expect(page.get_by_role("heading", name=english, level=1)).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, english


@pytest.mark.promise("panel.keyboard")
def test_with_the_keyboard_alone(other: Memory, tab: Tab) -> None:
    add(other)
    page = tab("/memories")
    expect(page.get_by_role("listitem")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    row = page.get_by_role("listitem").get_by_role("button")
    for _ in range(30):
        page.keyboard.press("Tab")
        if row.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="tea", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="tea", exact=True)).to_be_hidden()


@pytest.mark.promise("panel.dark")
def test_darkness_follows_the_system_until_it_is_chosen(tab: Tab) -> None:
    page = tab("/", color_scheme="dark")
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("body")).not_to_have_class(re.compile("body--dark"))
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("body")).not_to_have_class(re.compile("body--dark"))


@pytest.mark.promise("panel.guard")
@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}],
)
@pytest.mark.parametrize("path", ["/", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"])
def test_a_foreign_page_cannot_act_on_it(
    server: Server, path: str, headers: dict[str, str]
) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", path, headers=headers)
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.promise("panel.guard")
def test_a_foreign_page_cannot_open_its_websocket(server: Server, tab: Tab) -> None:
    page = tab("/")
    page.goto("about:blank")
    opened = page.evaluate(
        """url => new Promise(done => {
            const socket = new WebSocket(url);
            socket.onopen = () => done(true);
            socket.onerror = () => done(false);
        })""",
        f"{server.url.replace('http', 'ws')}/_nicegui_ws/socket.io/?EIO=4&transport=websocket",
    )
    assert opened is False
