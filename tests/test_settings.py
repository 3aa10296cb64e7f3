"""Settings: which layer wins, where a value came from, and what a wrong one is told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memstrata.errors import Invalid
from memstrata.settings import ALIASES, DESCRIPTIONS, KEYS, Loaded, Settings, for_workspace, load

DEFAULTS: dict[str, object] = {
    "timezone": "",
    "memory.enabled": True,
    "capture.when_disabled": False,
    "capture.mask_secrets": "all",
    "extraction.fallback": "rules",
    "extraction.min_confidence": 0.6,
    "extraction.batch_tokens": 3_000,
    "recall.max_tokens": 4_000,
    "recall.evidence": True,
    "search.time_decay_lambda": 0.01,
    "quota.user": 100,
    "quota.project": 200,
    "quota.agent": 50,
    "quota.episodic": 1_000,
    "gates.private": "identifiers",
    "tokens.tokenizer": "o200k_base",
}


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of whoever runs the tests."""
    for name in list(os.environ):
        if name.upper().startswith("MEMSTRATA_"):
            monkeypatch.delenv(name)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home without settings."""
    made = tmp_path / "home"
    made.mkdir()
    return made


def write(folder: Path, text: str | bytes) -> Path:
    """`text` as the folder's config.toml."""
    path = folder / "config.toml"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def value(loaded: Loaded, key: str) -> object:
    return {name: found for name, found, _ in loaded.rows()}[key]


def origin(loaded: Loaded, key: str) -> str:
    return {name: where for name, _, where in loaded.rows()}[key]


def refused(home: Path, arguments: Mapping[str, object] | None = None) -> Invalid:
    with pytest.raises(Invalid) as caught:
        load(home, arguments)
    return caught.value


# -- layers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key, expected", DEFAULTS.items())
def test_defaults(home: Path, key: str, expected: object) -> None:
    loaded = load(home)
    assert value(loaded, key) == expected
    assert origin(loaded, key) == "default"


def test_every_setting_is_described_and_has_a_row(home: Path) -> None:
    assert all(DESCRIPTIONS.values())
    assert [key for key, _, _ in load(home).rows()] == list(KEYS)


@pytest.mark.promise("settings.precedence")
def test_later_layers_win(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(home, "[recall]\nmax_tokens = 1000\nlimit = 1\nevidence = false\n")
    monkeypatch.setenv("MEMSTRATA_RECALL__MAX_TOKENS", "2000")
    monkeypatch.setenv("MEMSTRATA_RECALL__LIMIT", "2")
    loaded = load(home, {"recall": {"max_tokens": 3000}})
    found = [
        (value(loaded, f"recall.{name}"), origin(loaded, f"recall.{name}"))
        for name in ("max_tokens", "limit", "evidence")
    ]
    assert found == [
        (3000, "argument"),
        (2, "environment MEMSTRATA_RECALL__LIMIT"),
        (False, str(path)),
    ]


def test_arguments_are_nested_or_dotted(home: Path) -> None:
    for arguments in ({"recall.max_tokens": 7}, {"recall": {"max_tokens": 7}}):
        assert load(home, arguments).settings.recall.max_tokens == 7


@pytest.mark.parametrize(
    "name, text, key, expected",
    [
        ("MEMSTRATA_MEMORY__ENABLED", "false", "memory.enabled", False),
        ("MEMSTRATA_TIMEZONE", "Asia/Shanghai", "timezone", "Asia/Shanghai"),
        ("memstrata_quota__user", "7", "quota.user", 7),
        ("MEMSTRATA_CAPTURE__EXCLUDE", '["a*", "b"]', "capture.exclude", ("a*", "b")),
        ("MEMSTRATA_SEARCH__TIME_DECAY_LAMBDA", "0.5", "search.time_decay_lambda", 0.5),
    ],
)
def test_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, key: str, expected: object
) -> None:
    monkeypatch.setenv(name, text)
    loaded = load(home)
    assert value(loaded, key) == expected
    assert origin(loaded, key) == f"environment {name.upper()}"


@pytest.mark.parametrize("name", ["MEMSTRATA_HOME", "MEMSTRATA_FAILPOINTS", "MEMSTRATA_LANG"])
def test_variables_that_are_no_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "x")
    assert load(home).origins == {}


def test_empty_files_and_tables(home: Path) -> None:
    assert load(home).origins == {}
    write(home, "[recall]\n")
    assert load(home).origins == {}
    write(home, b"\xef\xbb\xbf[recall]\r\nlimit = 3\r\n")
    assert load(home).settings.recall.limit == 3


def test_settings_do_not_change(home: Path) -> None:
    settings = load(home).settings
    with pytest.raises(ValidationError):
        settings.recall.limit = 3  # type: ignore[misc]
    with pytest.raises(ValidationError):
        settings.timezone = "UTC"  # type: ignore[misc]


def test_the_environment_is_read_by_load_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTRATA_RECALL__LIMIT", "2")
    assert Settings().recall.limit == 8


# -- other names -----------------------------------------------------------------------------------


@pytest.mark.promise("settings.aliases")
@pytest.mark.parametrize(
    "text, key, expected",
    [
        ("[memory]\nmaxInjectTokens = 5", "recall.max_tokens", 5),
        ("[memory]\nmax_inject_tokens = 5", "recall.max_tokens", 5),
        ("[memory]\ntimeDecayLambda = 0.5", "search.time_decay_lambda", 0.5),
        ("[memory]\ntimezone = 'Asia/Tokyo'", "timezone", "Asia/Tokyo"),
        ("[memory.quota]\nuser = 5", "quota.user", 5),
        ("memory.quota = {episodic = 5}", "quota.episodic", 5),
        ("[capture]\nmaskSecrets = 'keys'", "capture.mask_secrets", "keys"),
        ("[extraction]\nbatchTokens = 500", "extraction.batch_tokens", 500),
    ],
)
def test_camel_case_and_moved_names(home: Path, text: str, key: str, expected: object) -> None:
    path = write(home, text)
    loaded = load(home)
    assert value(loaded, key) == expected
    assert origin(loaded, key) == str(path)


def test_aliases_lead_to_settings() -> None:
    tables = {key.partition(".")[0] for key in KEYS}
    assert all(target in KEYS or target in tables for target in ALIASES.values())
    assert not set(ALIASES) & set(KEYS)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.promise("settings.unknown")
@pytest.mark.parametrize(
    "text, field, nearest",
    [
        ("[recall]\nmax_token = 5", "recall.max_token", "recall.max_tokens"),
        ("[recal]\nmax_tokens = 5", "recal.max_tokens", "recall.max_tokens"),
        ("[quota]\nusers = 5", "quota.users", "quota.user"),
        ("timezon = 'UTC'", "timezon", "timezone"),
        ("[memory]\nenable = true", "memory.enable", "memory.enabled"),
        ("[memory]\nmaxInjectToken = 5", "memory.maxInjectToken", ""),
        ("[qqq]", "qqq", ""),
        ("recall = 5", "recall", ""),
        ("[recall.max_tokens]\nx = 5", "recall.max_tokens.x", "recall.max_tokens"),
    ],
)
def test_an_unknown_key_is_told_the_nearest(
    home: Path, text: str, field: str, nearest: str
) -> None:
    path = write(home, text)
    error = refused(home)
    assert error.field == field
    assert "is no setting" in error.problem
    assert str(path) in error.problem
    assert nearest == "" or error.problem.endswith(f"did you mean {nearest}?")


@pytest.mark.promise("settings.unknown")
@pytest.mark.parametrize(
    "name, nearest",
    [
        ("MEMSTRATA_RECALL__MAX_TOKEN", "MEMSTRATA_RECALL__MAX_TOKENS"),
        ("MEMSTRATA_RECALL_MAX_TOKENS", "MEMSTRATA_RECALL__MAX_TOKENS"),
        ("MEMSTRATA_HOMES", "MEMSTRATA_HOME"),
        ("memstrata_timezon", "MEMSTRATA_TIMEZONE"),
    ],
)
def test_an_unknown_variable_is_told_the_nearest(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, nearest: str
) -> None:
    monkeypatch.setenv(name, "x")
    error = refused(home)
    assert error.field == name
    assert error.problem.endswith(f"did you mean {nearest}?")


def test_an_unknown_argument(home: Path) -> None:
    assert refused(home, {"recall.max_token": 5}).field == "recall.max_token"
    assert "(argument)" in refused(home, {"recal": {}}).problem


@pytest.mark.parametrize(
    "key, wrong",
    [
        ("recall.max_tokens", "many"),
        ("recall.max_tokens", -1),
        ("recall.max_tokens", 2_000_000),
        ("recall.max_tokens", 1.5),
        ("recall.max_tokens", True),
        ("recall.max_tokens", [1]),
        ("memory.enabled", "perhaps"),
        ("memory.enabled", 3),
        ("capture.mask_secrets", "none"),
        ("capture.mask_secrets", False),
        ("extraction.min_confidence", 1.1),
        ("extraction.min_confidence", "nan"),
        ("quota.user", -1),
        ("gates.private", "STRICT"),
        ("timezone", "Mars/Olympus"),
        ("timezone", "../etc/passwd"),
        ("timezone", "Europe"),
        ("timezone", "UTC\x00"),
        ("timezone", 8),
    ],
)
def test_a_wrong_value_names_its_key_and_its_origin(home: Path, key: str, wrong: object) -> None:
    error = refused(home, {key: wrong})
    assert error.field == key
    assert error.problem.endswith("(argument)")
    assert len(str(error)) < 300


@pytest.mark.parametrize(
    "key, wrong, field",
    [
        ("capture.exclude", "a*", "capture.exclude"),
        ("capture.exclude", ["a", 3], "capture.exclude.1"),
        ("gates.transient", ["ok", "("], "gates.transient"),
        ("gates.patterns", ["[a-"], "gates.patterns"),
    ],
)
def test_a_wrong_list_names_its_key(home: Path, key: str, wrong: object, field: str) -> None:
    assert refused(home, {key: wrong}).field == field


def test_a_wrong_value_in_a_file_names_the_file(home: Path) -> None:
    path = write(home, "[quota]\nuser = 'all'\n")
    error = refused(home)
    assert (error.field, str(path) in error.problem) == ("quota.user", True)


@pytest.mark.parametrize(
    "name, text, told",
    [
        ("MEMSTRATA_QUOTA__USER", "all", "environment MEMSTRATA_QUOTA__USER"),
        ("MEMSTRATA_CAPTURE__EXCLUDE", "a*", "capture"),
        ("MEMSTRATA_CAPTURE__EXCLUDE", '"a*"', "environment MEMSTRATA_CAPTURE__EXCLUDE"),
    ],
)
def test_a_wrong_value_in_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, told: str
) -> None:
    monkeypatch.setenv(name, text)
    assert told in str(refused(home))


@pytest.mark.parametrize(
    "text", ["[recall", "a = ", "x", "a = 1\na = 2", b"\xff\xfe", b"a = '\x00'"]
)
def test_a_file_that_is_no_toml_is_named(home: Path, text: str | bytes) -> None:
    path = write(home, text)
    assert refused(home).field == str(path)


def test_a_file_that_cannot_be_read_is_named(home: Path) -> None:
    (home / "config.toml").mkdir()
    error = refused(home)
    assert error.field == str(home / "config.toml")
    assert "cannot be read" in error.problem


# -- a workspace -----------------------------------------------------------------------------------


def under(
    home: Path, root: Path, text: str, arguments: Mapping[str, object] | None = None
) -> Loaded:
    write(root / ".memstrata", text)
    return for_workspace(load(home, arguments), root)


def test_a_workspace_without_settings_changes_nothing(home: Path, tmp_path: Path) -> None:
    base = load(home, {"recall.limit": 3})
    found = for_workspace(base, tmp_path)
    assert list(found.rows()) == list(base.rows())


@pytest.mark.promise("workspace.settings")
def test_a_workspace_may_tighten(home: Path, tmp_path: Path) -> None:
    write(home, "[capture]\nexclude = ['mine-*']\n[quota]\nuser = 80\n")
    found = under(
        home,
        tmp_path,
        "[quota]\nuser = 10\nproject = 200\n[memory]\nmaxInjectTokens = 500\n"
        "[capture]\nexclude = ['tmp-*']\n[gates]\npatterns = ['X\\d+']\ntransient = ['heute']\n",
    )
    settings = found.settings
    assert (settings.quota.user, settings.quota.project, settings.quota.agent) == (10, 200, 50)
    assert settings.recall.max_tokens == 500
    assert settings.capture.exclude == ("mine-*", "tmp-*")
    assert (settings.gates.patterns, settings.gates.transient) == (("X\\d+",), ("heute",))
    path = str(tmp_path / ".memstrata" / "config.toml")
    assert origin(found, "quota.user") == origin(found, "capture.exclude") == path
    assert origin(found, "quota.agent") == "default"


@pytest.mark.promise("workspace.settings")
@pytest.mark.parametrize(
    "key", ["quota.user", "quota.project", "quota.agent", "quota.episodic", "recall.max_tokens"]
)
def test_a_workspace_may_not_loosen(home: Path, tmp_path: Path, key: str) -> None:
    table, _, name = key.partition(".")
    with pytest.raises(Invalid, match="may only lower it") as caught:
        under(home, tmp_path, f"[{table}]\n{name} = 5000\n")
    assert caught.value.field == key
    assert str(tmp_path) in caught.value.problem


FREE = {"quota.user", "quota.project", "quota.agent", "quota.episodic", "recall.max_tokens"} | {
    *("capture.exclude", "entities.aliases", "gates.patterns", "gates.transient"),
    *("consolidation.enabled", "consolidation.threshold", "consolidation.interval_days"),
}


@pytest.mark.promise("workspace.settings")
@pytest.mark.parametrize("key", sorted(set(KEYS) - FREE))
def test_every_other_key_is_forbidden_by_name(home: Path, tmp_path: Path, key: str) -> None:
    default: Any = value(load(home), key)
    text = str(default).lower() if isinstance(default, bool) else repr(default or "UTC")
    with pytest.raises(Invalid, match="may not be set by a workspace") as caught:
        under(home, tmp_path, f"{key} = {text}\n")
    assert caught.value.field == key


@pytest.mark.promise("workspace.settings")
def test_a_workspace_may_make_consolidation_rarer_or_switch_it_off(
    home: Path, tmp_path: Path
) -> None:
    text = "[consolidation]\nenabled = false\nthreshold = 40\nintervalDays = 7.5\n"
    found = under(home, tmp_path, text).settings.consolidation
    assert (found.enabled, found.threshold, found.interval_days) == (False, 40, 7.5)


@pytest.mark.promise("workspace.settings")
@pytest.mark.parametrize(
    "text, field",
    [
        ("enabled = true", "consolidation.enabled"),
        ("threshold = 29", "consolidation.threshold"),
        ("threshold = 40.5", "consolidation.threshold"),
        ("interval_days = 0", "consolidation.interval_days"),
        ("interval_days = nan", "consolidation.interval_days"),
        ("interval_days = true", "consolidation.interval_days"),
    ],
)
def test_nor_may_it_make_it_more_frequent(
    home: Path, tmp_path: Path, text: str, field: str
) -> None:
    with pytest.raises(Invalid) as caught:
        under(home, tmp_path, f"[consolidation]\n{text}\n")
    assert caught.value.field == field


@pytest.mark.parametrize(
    "text", ["threshold = 1", "threshold = 2.5", "interval_days = -1", "interval_days = nan"]
)
def test_what_consolidation_cannot_be_set_to(home: Path, text: str) -> None:
    write(home, f"[consolidation]\n{text}\n")
    assert refused(home).field.startswith("consolidation.")


@pytest.mark.promise("workspace.settings")
@pytest.mark.parametrize(
    "text, field",
    [
        ("[server]\nport = 1", "server.port"),
        ("[extraction]\nmodel = 'x:y'", "extraction.model"),
        ("[quota]\nuser = -1", "quota.user"),
        ("[quota]\nuser = true", "quota.user"),
        ("[quota]\nuser = '5'", "quota.user"),
        ("[quota]\nuser = 1.5", "quota.user"),
        ("[capture]\nexclude = 'a'", "capture.exclude"),
        ("[capture]\nexclude = [1]", "capture.exclude.0"),
        ("[gates]\ntransient = ['(']", "gates.transient"),
        ("[memory]\ncapture = {maskSecrets = 'off'}", "memory.capture.maskSecrets"),
        ("[capture]\nmaskSecrets = 'off'", "capture.mask_secrets"),
    ],
)
def test_what_else_a_workspace_is_refused(
    home: Path, tmp_path: Path, text: str, field: str
) -> None:
    with pytest.raises(Invalid) as caught:
        under(home, tmp_path, text)
    assert caught.value.field == field


@pytest.mark.promise("settings.precedence")
def test_environment_and_arguments_win_over_a_workspace(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTRATA_QUOTA__USER", "90")
    found = under(home, tmp_path, "[quota]\nuser = 10\nagent = 10\n", {"quota.agent": 40})
    assert (found.settings.quota.user, found.settings.quota.agent) == (90, 40)
    assert origin(found, "quota.user").startswith("environment")


def test_links_out_of_a_workspace_are_not_followed(home: Path, tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "elsewhere", "[quota]\nuser = 10\n")
    for root in (tmp_path / "a", tmp_path / "b"):
        root.mkdir()
    (tmp_path / "a" / ".memstrata").symlink_to(elsewhere.parent)
    (tmp_path / "b" / ".memstrata").mkdir()
    (tmp_path / "b" / ".memstrata" / "config.toml").symlink_to(elsewhere)
    for root in (tmp_path / "a", tmp_path / "b"):
        with pytest.raises(Invalid, match="is a link"):
            for_workspace(load(home), root)
