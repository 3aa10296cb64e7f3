"""Names of people, libraries, modules and systems: when two spellings are one thing.

Only the alias table joins names; nothing is joined because it looks alike. A package of a scope
(`@arco-design/web-react`) is the scope's where the table holds the scope (`@arco-design`), else a
thing of its own: `@babel/core` and `@vue/core` never meet.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from memstrata.domain import checks
from memstrata.domain.memory import MAX_NAME
from memstrata.errors import Invalid

_SHIPPED: Final = """
arco = arco design | @arco-design
kubernetes = k8s
postgresql = postgres | postgre
javascript = js
typescript = ts
node.js = node | nodejs
react = react.js | reactjs
vue = vue.js | vuejs
next.js = nextjs
go = golang
vs code = vscode | visual studio code
github = gh
mongodb = mongo
elasticsearch = elastic search
scikit-learn = sklearn
飞书 = feishu
钉钉 = dingtalk
企业微信 = wecom
微信 = wechat
"""
"""What ships: `name = alias | alias`. A person's own table and the settings come on top."""


def normalised(name: str) -> str:
    """The form in which names are compared: NFKC, lower case, blanks collapsed."""
    return " ".join(unicodedata.normalize("NFKC", name).lower().split())


@dataclass(frozen=True, slots=True)
class Aliases:
    """An alias table: by normalised alias, the normalised name that it stands for.

    What maps to itself stands for itself, whatever a table below says.
    """

    table: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The name that `name` stands for; itself where the table holds none."""
        found = self._one(normalised(name))
        seen = {found}
        while (following := self._one(found)) not in seen:
            seen.add(following)
            found = following
        return found

    def _one(self, name: str) -> str:
        if name in self.table:
            return self.table[name]
        scope, slash, _ = name.partition("/")
        if not (slash and scope.startswith("@")):
            return name
        found = self.table.get(scope, scope)
        return name if found == scope else found  # a scope of its own joins no packages

    def every(self, names: Iterable[str]) -> frozenset[str]:
        """What some names stand for."""
        return frozenset(self.of(name) for name in names if normalised(name))

    def spellings(self, name: str) -> tuple[str, ...]:
        """Every name of the table that stands for what `name` stands for, that one first."""
        whole = self.of(name)
        others = sorted(alias for alias in self.table if self.of(alias) == whole)
        return tuple(dict.fromkeys((whole, *others)))

    def over(self, above: Mapping[str, str]) -> Aliases:
        """This table with another one on top."""
        return Aliases({**self.table, **above})


def parse_line(line: str) -> tuple[str, str]:
    """(alias, name) of a setting's `alias = name`, normalised.

    Raises:
        ValueError: it is none.
    """
    alias, sign, name = (normalised(part) for part in line.partition("="))
    if not (alias and sign and name):
        raise ValueError(f"{checks.shown(line)} is no alias; write alias = name")
    return alias, name


def pair(alias: object, name: object, field: str = "name") -> tuple[str, str]:
    """An alias and what it stands for, normalised.

    Raises:
        Invalid: one of them is empty, too long or no text.
    """
    texts = (
        normalised(checks.text(field, alias, most=MAX_NAME)),
        normalised(checks.text(field, name, most=MAX_NAME)),
    )
    if not all(texts):
        raise Invalid(field, "a name may not be blank")
    return texts


def _shipped() -> Iterable[tuple[str, str]]:
    for line in _SHIPPED.strip().splitlines():
        name, _, aliases = line.partition(" = ")
        for alias in aliases.split(" | "):
            yield normalised(alias), normalised(name)


SHIPPED: Final = Aliases(dict(_shipped()))
NONE: Final = Aliases()
