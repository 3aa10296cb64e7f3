"""Who may do what with the documents of a workspace: `roles.toml`, a line for each user."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Final, Literal, cast, get_args

from memstrata.domain import checks
from memstrata.errors import Corrupt

Role = Literal["owner", "editor", "viewer"]
"""Owners and editors read and write; an editor's reset needs a confirmation. Viewers read."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
EVERYBODY: Final = "*"
"""Stands for each user whom the file does not name."""


def parse(data: bytes, path: str) -> dict[str, Role]:
    """The roles of a file by user. `path` names it in errors.

    Raises:
        Corrupt: it is no TOML, or a line that gives a user no role. Nobody is let in by a mistake.
    """
    try:
        found = tomllib.loads(data.decode())
    except ValueError as error:
        raise Corrupt(path, f"is no TOML: {error}") from error
    for user, role in found.items():
        if role not in ROLES:
            raise Corrupt(
                path,
                f"{checks.shown(role)} is no role of {user!r}; use one of {', '.join(ROLES)} "
                "(a name with a dot stands in quotes)",
            )
    return cast("dict[str, Role]", found)


def role_of(user: str, roles: Mapping[str, Role] | None) -> Role | None:
    """The role of `user`; None for no access. Without a file (None) everybody is owner."""
    return "owner" if roles is None else roles.get(user, roles.get(EVERYBODY))
