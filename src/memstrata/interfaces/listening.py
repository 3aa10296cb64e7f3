"""The socket of a server, bound before it starts, so that its port is known and a taken one is told at once."""

from __future__ import annotations

import socket
from typing import Final

from memstrata.errors import Unavailable

_BACKLOG: Final = 2_048


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        Unavailable: the address is taken, or none of this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(_BACKLOG)
        except OSError:
            found.close()
            raise
    except OSError as error:
        raise Unavailable(f"{host}:{port} cannot be listened at: {error.strerror}") from error
    return found
