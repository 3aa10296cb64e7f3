"""The statements of `queries.sql` by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from memstrata.errors import Internal

_STATEMENT: Final = re.compile(r"^-- name: (\w+)\n-- (.+)\n((?:(?!-- name:).*\n?)+)", re.MULTILINE)


def parse(text: str) -> Mapping[str, str]:
    """The statements in `text`, each under `-- name: …` and a comment of one line.

    Raises:
        Internal: one has no comment, or two have the same name.
    """
    found = {name: sql.strip() for name, _, sql in _STATEMENT.findall(text)}
    if len(found) != text.count("-- name: "):
        raise Internal("queries.sql: every statement needs a name of its own and a comment")
    return MappingProxyType(found)


SQL: Final = parse(files(__package__).joinpath("queries.sql").read_text(encoding="utf-8"))
