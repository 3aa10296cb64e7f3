"""Every text of the panel is there in Chinese, and none that nobody says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from memstrata.domain.memory import STATUSES, TYPES
from memstrata.domain.plan import VERDICTS, Verb
from memstrata.domain.scope import SCOPES
from memstrata.interfaces import panel
from memstrata.interfaces.panel.chinese import CHINESE
from memstrata.interfaces.panel.say import Say, preferred
from memstrata.settings import Loaded, Settings, described

SOURCES = sorted(Path(panel.__file__).parent.glob("*.py"))


def said() -> Iterator[str]:
    """Every text that the code says as it stands there."""
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                called = node.func
                name = (
                    called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                )
                first = node.args[0]
                if name == "say" and isinstance(first, ast.Constant):
                    yield str(first.value)


@pytest.mark.promise("panel.pages")
def test_every_text_is_there_in_chinese() -> None:
    words = {*TYPES, *STATUSES, *SCOPES, *VERDICTS, *Verb.__args__}  # type: ignore[attr-defined]
    told = {one.description for one in described(Loaded(Settings(), {}))}
    assert sorted(({*said(), *words, *told}) - CHINESE.keys()) == []


@pytest.mark.promise("panel.pages")
def test_the_blanks_of_a_text_are_the_same() -> None:
    for english, chinese in CHINESE.items():
        if "{" in english:
            blanks = {part.partition("}")[0] for part in english.split("{")[1:]}
            assert blanks == {part.partition("}")[0] for part in chinese.split("{")[1:]}, english


@pytest.mark.parametrize(
    "cookie, accepted, language",
    [
        (None, "", "en"),
        (None, "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        (None, "de,en;q=0.8", "en"),
        ("zh", "en", "zh"),
        ("en", "zh", "en"),
        ("fr", "zh", "zh"),
    ],
)
def test_which_language(cookie: str | None, accepted: str, language: str) -> None:
    assert preferred(cookie, accepted) == language


def test_braces_in_values_stay() -> None:
    assert Say("en")("page {n}", n="{x}") == "page {x}"
