"""Who asks, and whether the request comes from where it may: token, loopback, Host and Origin."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from memstrata.domain.token import Role, may
from memstrata.errors import Denied
from memstrata.hosting import Hosted
from memstrata.interfaces.http.problems import Unknown

LOCALHOST: Final = "localhost"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks: whose memory, as what. `id` is the token's, `""` for a caller on this machine.

    `paths`: that caller may name folders of this machine, and is the home's own user.
    """

    owner: str
    role: Role
    id: str = ""
    paths: bool = False

    def refuse_below(self, role: Role) -> None:
        """Let pass who has `role` or more.

        Raises:
            Denied: this one has less.
        """
        if not may(self.role, role):
            raise Denied(f"this needs a token of role {role}; yours is {self.role}")


class Doorkeeper:
    """Tells who asks. Once a token was needed it is needed for good, as long as the server runs.

    A loopback address alone means little behind a proxy on this machine: who made a token means to
    let others in, so from then on nobody enters without one.
    """

    def __init__(self, hosted: Hosted, *, loopback: bool) -> None:
        self._hosted = hosted
        self._loopback = loopback
        self._asks = not loopback

    def identify(self, authorization: str, address: str) -> Identity:
        """Who sent a request from `address`.

        Raises:
            Unknown: a token that is none, or none where one is needed.
            Corrupt: the tokens cannot be read; nobody is let in.
        """
        self._asks = self._asks or bool(self._hosted.tokens())
        if authorization:
            scheme, _, secret = authorization.partition(" ")
            found = self._hosted.bearer(secret.strip()) if scheme.lower() == "bearer" else None
            if found is None:
                raise Unknown("the token is not known here")
            return Identity(found.owner, found.role, found.id)
        if self._asks or not is_loopback(address):
            raise Unknown("a token is needed: Authorization: Bearer …")
        return Identity(self._hosted.realm.owner, "admin", paths=True)


def refuse_foreign(
    host: str, origin: str | None, local: str, hosts: Sequence[str], origins: Sequence[str]
) -> None:
    """Refuse a page that another site leads here: by a name that it lets point here, or by a form.

    `local` is the address that the connection arrived at; of addresses only that one is ours.

    Raises:
        Denied: the Host or the Origin is not ours.
    """
    if not _is_ours(_name(f"//{host}"), local, hosts):
        raise Denied("this Host is not served here; see server.allowed_hosts")
    if origin is None or origin in origins:
        return
    if not origin.startswith(("http://", "https://")) or urlsplit(origin).netloc != host:
        raise Denied("this Origin may not call here; see server.allowed_origins")


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_ours(name: str, local: str, hosts: Sequence[str]) -> bool:
    if name == LOCALHOST or name in (one.lower() for one in hosts):
        return True
    try:
        address = ipaddress.ip_address(name)
        return address.is_loopback or address == ipaddress.ip_address(local)
    except ValueError:
        return False


def is_loopback(address: str) -> bool:
    """Whether an address, or `localhost`, is this machine and no other can reach it."""
    if address == LOCALHOST:
        return True
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)
