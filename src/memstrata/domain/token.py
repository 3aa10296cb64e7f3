"""Tokens: who a request speaks for, and what it may do. Only the digest of a token is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from memstrata.domain import checks, times
from memstrata.domain.scope import LOCAL_SPACE, Realm
from memstrata.errors import Corrupt, Invalid

Role = Literal["reader", "writer", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""Each may do what those before it may: read, change what is the owner's, look after the home."""
PREFIX: Final = "ms_"
"""How a token begins, so that scanners for leaked secrets know one."""
FILE: Final = "tokens.json"


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret. `note` says for a person what it is for."""

    id: str
    space: str
    owner: str
    role: Role
    note: str
    created_at: datetime

    @property
    def realm(self) -> Realm:
        """Whose it is."""
        return Realm(self.space, self.owner)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made; `secret` is told this once."""

    token: Token
    secret: str


def parse_role(value: object) -> Role:
    """`value` as a role.

    Raises:
        Invalid: it is none.
    """
    for role in ROLES:
        if value == role:
            return role
    raise Invalid("role", f"{checks.shown(value)} is no role; use one of {', '.join(ROLES)}")


def parse_space(value: object) -> str:
    """`value` as the space of a home of files, which has one.

    Raises:
        Invalid: another one.
    """
    if value != LOCAL_SPACE:
        raise Invalid(
            "space", f"{checks.shown(value)} is not here; this home has the space {LOCAL_SPACE}"
        )
    return LOCAL_SPACE


def may(role: Role, wanted: Role) -> bool:
    """Whether `role` may do what needs `wanted`."""
    return ROLES.index(role) >= ROLES.index(wanted)


def digest(secret: str) -> str:
    """What is kept of a secret. It is random and long, so one round of SHA-256 cannot be guessed back."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def decoded(data: bytes) -> dict[str, Token]:
    """The tokens of the file, by digest.

    Raises:
        Corrupt: it cannot be read; nobody is let in by a mistake.
    """
    try:
        return {row["sha256"]: _token(row) for row in json.loads(data)}
    except (ValueError, KeyError, TypeError, AttributeError, Invalid) as error:
        raise Corrupt(FILE, f"cannot be read: {error}") from error


def _token(row: Mapping[str, str]) -> Token:
    return Token(
        id=checks.ref("id", row["id"]),
        space=checks.ref("space", row["space"]),
        owner=checks.ref("owner", row["owner"]),
        role=parse_role(row["role"]),
        note=checks.string("note", row["note"]),
        created_at=datetime.fromisoformat(row["created_at"]),
    )


def encoded(tokens: Iterable[tuple[str, Token]]) -> bytes:
    """The file of these tokens, each with its digest."""
    rows = [
        {
            "id": one.id,
            "space": one.space,
            "owner": one.owner,
            "role": one.role,
            "note": one.note,
            "created_at": times.stamp(one.created_at),
            "sha256": sha256,
        }
        for sha256, one in tokens
    ]
    return (json.dumps(rows, indent=2, ensure_ascii=False) + "\n").encode()
