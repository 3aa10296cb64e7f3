"""Who may do what with a workspace's documents."""

from __future__ import annotations

import pytest

from memstrata.domain import roles
from memstrata.domain.roles import Role
from memstrata.errors import Corrupt

FILE = b'# the mill\nmira = "owner"\n"jo.k" = "viewer"\n'


@pytest.mark.parametrize(
    "user, expected", [("mira", "owner"), ("jo.k", "viewer"), ("jo", None), ("*", None)]
)
def test_the_role_of_a_user(user: str, expected: Role | None) -> None:
    assert roles.role_of(user, roles.parse(FILE, "roles.toml")) == expected


def test_the_star_stands_for_those_who_are_not_named() -> None:
    found = roles.parse(FILE + b'"*" = "editor"\n', "roles.toml")
    assert roles.role_of("jo.k", found) == "viewer"
    assert roles.role_of("anybody", found) == "editor"


def test_without_a_file_everybody_is_owner_and_an_empty_one_lets_nobody_in() -> None:
    assert roles.role_of("anybody", None) == "owner"
    assert roles.role_of("anybody", roles.parse(b"", "roles.toml")) is None


@pytest.mark.parametrize(
    "text, problem",
    [
        (b"mira = ", "TOML"),
        (b"\xff", "TOML"),
        (b'mira = "boss"', "boss"),
        (b"mira = 1", "mira"),
        (b'jo.k = "viewer"', "quotes"),
        (b'[owners]\nmira = "owner"', "owners"),
    ],
)
def test_a_mistake_lets_nobody_in(text: bytes, problem: str) -> None:
    with pytest.raises(Corrupt, match=problem) as caught:
        roles.parse(text, "team/x/roles.toml")
    assert caught.value.path == "team/x/roles.toml"
