"""Every message exists in both languages, and nothing in the table is said by nobody."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from memstrata.domain import revision
from memstrata.domain.gates import GATES
from memstrata.domain.memory import STATUSES, TYPES, Authority, Origin
from memstrata.domain.plan import VERDICTS, Verb
from memstrata.domain.scope import SCOPES
from memstrata.domain.turn import Role
from memstrata.errors import Invalid
from memstrata.interfaces import cli
from memstrata.interfaces.cli import app, pages, texts
from memstrata.interfaces.cli.chinese import CHINESE
from memstrata.pipelines import recall
from memstrata.ports import Presence

FOLDER = Path(next(iter(cli.__path__)))
WORDS = {
    *SCOPES,
    *TYPES,
    *STATUSES,
    *GATES,
    *VERDICTS,
    *get_args(Role),
    *get_args(Origin),
    *get_args(Authority),
    *get_args(Presence),
    *get_args(Verb),
    *get_args(recall.Status),
    "stable",
    "turn",
    *revision.VERBS,
}
"""Words of the domain, said as they are."""


def constants() -> Iterator[str]:
    """Every literal that stands in a module of the command line."""
    for path in FOLDER.glob("*.py"):
        if path.name != "chinese.py":
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def spoken() -> Iterator[str]:
    """Every literal that is handed to `say` or `said`."""
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in ("say", "said"):
                    yield from (
                        one.value
                        for one in node.args
                        if isinstance(one, ast.Constant) and isinstance(one.value, str)
                    )


def all_said() -> set[str]:
    tree = typer.main.get_command(app.build())
    return {*spoken(), *pages.MEANINGS.values(), *WORDS, *helped(tree, typer.Context(tree))}


def helped(command: Any, context: Any) -> Iterator[str]:
    """Every text on the help pages of a command and of those below it."""
    yield pages.sentence(command.help)
    yield from (" ".join(one.help.split()) for one in command.get_params(context) if one.help)
    for one in getattr(command, "commands", {}).values():
        if one.rich_help_panel:
            yield one.rich_help_panel
        yield from helped(one, context)


@pytest.mark.promise("cli.languages")
def test_every_message_has_its_chinese() -> None:
    assert sorted(text for text in all_said() if text not in CHINESE) == []


def test_every_entry_is_said() -> None:
    known = all_said() | set(constants()) | {"Show this message and exit.", "Missing command."}
    lent = {
        "database",
        "files",
        "reconcile",
        "text index",
        "room",
        "extraction",
        "layers",
    }  # doctor's checks
    worked = {
        "measuring",
        "conversations",
        "records",
        "extracting",
        "embedding",
        "consolidating",
        "retelling",
        "memory or message",
        "workspace",
        "library",
        "mcp",
    }
    assert sorted(set(CHINESE) - known - lent - worked) == []


def test_both_languages_name_the_same_values() -> None:
    def holes(text: str) -> list[str]:
        return sorted(re.findall(r"\{(\w+)", text))

    assert {text for text, chinese in CHINESE.items() if holes(text) != holes(chinese)} == set()


def test_chinese_is_chinese() -> None:
    plain = [text for text, chinese in CHINESE.items() if not re.search("[\u4e00-\u9fff]", chinese)]
    assert plain == []


@pytest.mark.parametrize(
    "asked, environment, expected",
    [
        (None, {}, "en"),
        ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
        ("en", {"MEMSTRATA_LANG": "zh"}, "en"),
        (None, {"MEMSTRATA_LANG": "zh", "LC_ALL": "de_DE.UTF-8"}, "zh"),
        (None, {"MEMSTRATA_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        (None, {"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        (None, {"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        (None, {"LANG": "ZH_tw"}, "zh"),
    ],
)
def test_language(asked: str | None, environment: dict[str, str], expected: str) -> None:
    assert texts.language(asked, environment) == expected


def test_a_language_that_is_none() -> None:
    with pytest.raises(Invalid, match="en or zh"):
        texts.language("fr", {})
