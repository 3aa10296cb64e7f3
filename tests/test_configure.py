"""Settings that change while a home is open: by hand, by another process, by `configure`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Open
from tests.interfaces.command import Run, here

from memstrata import Memory
from memstrata.errors import Denied, Invalid

MINE = """# what I like
timezone = "UTC"  # no summer time

[memory.quota]
user = 5 # few

[recall]
# short ones
maxTokens = 3000
"""


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line on this test's home."""
    return here(home, monkeypatch, capsys)


def value(memory: Memory, key: str) -> object:
    """What a setting is now."""
    return next(one.value for one in memory.settings() if one.key == key)


@pytest.mark.promise("settings.live")
def test_a_setting_takes_effect_at_the_next_turn(memory: Memory, home: Path) -> None:
    memory.add(name="tea", description="Likes tea in the morning")
    chat = memory.session("s")
    assert "[mem_" in chat.recall("tea?").stable
    (home / "config.toml").write_text("[recall]\nmax_tokens = 1\n")
    assert chat.recall("tea?").tokens <= 1
    (home / "config.toml").write_text("[memory]\nenabled = false\n")
    with pytest.raises(Denied, match="switched off"):
        memory.search("tea")
    (home / "config.toml").unlink()
    assert memory.search("tea")


@pytest.mark.promise("settings.live")
def test_a_file_that_cannot_be_used_changes_nothing_and_is_told_of(
    memory: Memory, home: Path
) -> None:
    (home / "config.toml").write_text("[recall]\nmax_tokens = 700\n")
    assert not memory.status().problems
    (home / "config.toml").write_text("[recall]\nmax_tokens = many\n")
    (problem,) = memory.status().problems
    assert "config.toml" in problem
    assert "TOML" in problem
    assert memory._fresh().settings.recall.max_tokens == 700
    (home / "config.toml").write_text("[recall]\nmax_tokens = 800\n")
    assert not memory.status().problems
    assert memory._fresh().settings.recall.max_tokens == 800


@pytest.mark.promise("settings.live")
def test_what_needs_a_new_start_stays(open_memory: Open, home: Path) -> None:
    memory = open_memory(settings={"timezone": ""})
    (home / "config.toml").write_text('[tokens]\ntokenizer = "cl100k_base"\n[quota]\nuser = 3\n')
    now = memory._fresh().settings
    assert (now.tokens.tokenizer, now.quota.user) == ("o200k_base", 3)


@pytest.mark.promise("settings.live")
def test_background_work_goes_by_what_the_file_says_now(memory: Memory, home: Path) -> None:
    (home / "config.toml").write_text('[extraction]\nfallback = "none"\n')
    chat = memory.session("s")
    chat.commit(
        [
            {"role": "user", "content": "I live in Turku."},
            {"role": "assistant", "content": "Noted."},
        ]
    )
    memory.drain()
    assert not memory.list().items


@pytest.mark.promise("settings.edit")
def test_configure_keeps_comments_and_spelling(memory: Memory, home: Path) -> None:
    (home / "config.toml").write_text(MINE)
    memory.configure("recall.max_tokens", 2500)
    memory.configure("quota.user", 7)
    memory.configure("capture.exclude", ["scratch-*"])
    text = (home / "config.toml").read_text()
    assert text.startswith(MINE.replace("3000", "2500").replace("= 5", "= 7"))
    assert value(memory, "capture.exclude") == ("scratch-*",)
    memory.configure("quota.user", None)
    assert value(memory, "quota.user") == 100
    assert "# short ones" in (home / "config.toml").read_text()


@pytest.mark.promise("settings.edit")
def test_configure_writes_a_file_where_there_is_none(memory: Memory, home: Path) -> None:
    memory.configure("search.profile", "classic")
    memory.configure("timezone", "Asia/Shanghai")
    text = (home / "config.toml").read_text()
    assert text.index("timezone") < text.index("[search]")
    assert memory.status().profile == "classic"


@pytest.mark.promise("settings.edit")
@pytest.mark.parametrize(
    "key, given, said",
    [
        ("recall.max_tokns", 3, "recall.max_tokens"),
        ("recall.max_tokens", -3, "greater than or equal"),
        ("recall.max_tokens", "many", "integer"),
        ("memory.enabled", "perhaps", "bool"),
        ("search.profile", "best", "measured"),
        ("gates.patterns", ["("], "regular expression"),
        ("timezone", "Moon/Tycho", "time zone"),
    ],
)
def test_configure_refuses_what_cannot_be(
    memory: Memory, home: Path, key: str, given: object, said: str
) -> None:
    (home / "config.toml").write_text(MINE)
    with pytest.raises(Invalid, match=said):
        memory.configure(key, given)
    assert (home / "config.toml").read_text() == MINE


@pytest.mark.promise("settings.edit")
def test_settings_say_default_origin_and_choices_and_mask_keys(
    open_memory: Open, home: Path
) -> None:
    home.mkdir(parents=True)
    (home / "config.toml").write_text('[extraction]\napi_key = "sk-demo-0000-not-a-real-key"\n')
    found = {one.key: one for one in open_memory().settings()}
    profile = found["search.profile"]
    assert (profile.default, profile.origin, profile.choices) == (
        "measured",
        "default",
        ("measured", "classic"),
    )
    key = found["extraction.api_key"]
    assert str(key.value).endswith("-key")
    assert "demo" not in str(key.value)
    assert key.origin.endswith("config.toml")
    assert found["timezone"].origin == "argument"


@pytest.mark.promise("settings.edit")
def test_a_setting_is_set_and_taken_back_on_the_command_line(cli: Run, home: Path) -> None:
    assert cli("config", "set", "recall.max_tokens", "900").code == 0
    assert cli("config", "set", "capture.exclude", '["a*", "b*"]').code == 0
    ran = cli("config", "set", "timezone", "Asia/Shanghai")
    assert "started again" in ran.err
    assert cli("config", "set", "recall.limit", "many", "--json").error["field"] == "recall.limit"
    text = (home / "config.toml").read_text()
    assert "max_tokens = 900" in text
    assert 'exclude = ["a*", "b*"]' in text
    found = cli("config", "unset", "recall.max_tokens", "--json").json["settings"]
    assert found == [{"key": "recall.max_tokens", "value": 4000, "origin": "default"}]
