"""The tokens of a home, in `tokens.json`: made, listed, revoked, recognised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from memstrata.domain import checks, token
from memstrata.domain.layout import HOME, Place
from memstrata.domain.scope import Realm
from memstrata.domain.token import NewToken, Role, Token
from memstrata.errors import NotFound
from memstrata.pipelines import apply
from memstrata.pipelines.world import World

TOKENS: Final = Place(HOME, token.FILE)
_NOTE: Final = 200


def create(
    world: World, realm: Realm, role: Role, note: str, random: Callable[[], str]
) -> NewToken:
    """Make a token for `realm`; `random` gives what nobody can guess.

    Raises:
        Invalid: a note that is none.
        Corrupt: `tokens.json` cannot be read.
    """
    said = checks.text("note", note, most=_NOTE, empty=True)
    made = Token(
        world.clock.new_id("tok_"), realm.space, realm.owner, role, said, world.clock.now()
    )
    secret = token.PREFIX + random()

    def add(held: bytes | None) -> bytes:
        known = token.decoded(held) if held else {}
        return token.encoded([*known.items(), (token.digest(secret), made)])

    apply.edit_text(world, TOKENS, add)
    return NewToken(made, secret)


def listed(world: World) -> dict[str, Token]:
    """Every token by the digest of its secret.

    Raises:
        Corrupt: `tokens.json` cannot be read.
    """
    try:
        data, _ = world.vault.read(TOKENS)
    except NotFound:
        return {}
    return token.decoded(data)


def revoke(world: World, id: str) -> Token:
    """Take a token away; it opens nothing from here on.

    Raises:
        NotFound: no token of that id.
        Corrupt: `tokens.json` cannot be read.
    """
    gone: list[Token] = []

    def remove(held: bytes | None) -> bytes | None:
        known = token.decoded(held) if held else {}
        gone.extend(one for one in known.values() if one.id == id)
        if not gone:
            raise NotFound("token", id)
        return token.encoded(row for row in known.items() if row[1].id != id)

    apply.edit_text(world, TOKENS, remove)
    return gone[0]
