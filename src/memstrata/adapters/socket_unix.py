"""The home's socket: one JSON object a line, in both directions, on a Unix socket for its owner alone.

A request is answered by any number of `{"told": …}` and then `{"answer": …}` or `{"error": …}`.
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import socket
import stat
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from memstrata.errors import Invalid, MemstrataError, Unavailable, restored
from memstrata.ports import Answering, Fields, NobodyListens

MOST_REQUEST: Final = 8 * 2**20
"""Bytes of a request; a message to recall by may have a million characters."""
MOST_ANSWER: Final = 256 * 2**20
MOST_PEERS: Final = 64
"""So many are answered at a time; others are hung up on."""
MOST_WAITING: Final = 512
"""So many may have called and not been taken in yet; the system's own limit may be smaller."""
PATIENCE: Final = 30.0
"""Seconds that a peer may take to send a line or to take one off us."""
TOLD: Final = 1.0
"""Seconds that it may take to take a line of progress."""

_TELLING: Final = 0.1
"""Seconds that a message without an answer may take to be sent."""
_AGAIN: Final = 0.01
"""Seconds until it is tried again to call a listener with whom too many wait already."""
_CLOSING: Final = 1.0
"""Seconds until `accept` has noticed that its socket was shut down, where that does not wake it."""
_LONGEST_PATH: Final = 103
"""Bytes of a socket's path that every system takes (Linux takes 107)."""
_DESCRIPTORS: Final = Path("/proc/self/fd")
_AWAY: Final = (
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EPIPE,
    errno.ENOTSOCK,
)


class UnixSocket:
    """`Socket` at `path`; its folder is made (0700) when it is served."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def serve(self, answer: Answering) -> Server:
        """Answer requests, in threads, until closed. A socket that lies there is replaced.

        Raises:
            Unavailable: no socket can be made.
        """
        listener = _plug()
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_socket(self.path)
            os.fchmod(listener.fileno(), 0o600)  # on Linux the file has this mode from the start
            with _address(self.path) as address:
                listener.bind(address)
            self.path.chmod(0o600)
            listener.listen(MOST_WAITING)
        except OSError as error:
            listener.close()
            raise Unavailable(f"no socket can be made at {self.path}: {error.strerror}") from error
        except BaseException:
            listener.close()
            raise
        return Server(self.path, listener, answer)

    def ask(
        self,
        request: Fields,
        seconds: float | None = None,
        heard: Callable[[Fields], None] | None = None,
    ) -> Fields:
        """The answer to a request; `heard` gets what is told meanwhile.

        Raises:
            NobodyListens: nobody is there, or it went away before it answered.
            Unavailable: no answer within `seconds`, or one that is none.
            Invalid: the request is too long.
            MemstrataError: what the other process raised.
        """
        deadline = None if seconds is None else monotonic() + seconds
        line = _line(request)
        if len(line) > MOST_REQUEST:
            raise Invalid("request", f"is longer than {MOST_REQUEST} bytes")
        try:
            with _plug() as peer:
                if not _connected(peer, self.path, deadline):
                    raise Unavailable(
                        f"too many call {self.path}; it took no call within {seconds:g} s"
                    )
                _limit(peer, deadline)
                peer.sendall(line)
                return _answered(_lines(peer, MOST_ANSWER, lambda: deadline), heard)
        except TimeoutError as error:
            raise Unavailable(f"no answer on {self.path} within {seconds:g} s") from error
        except OSError as error:
            if error.errno in _AWAY:
                raise NobodyListens(f"nobody answers on {self.path}") from error
            raise Unavailable(f"{self.path}: {error.strerror}") from error

    def tell(self, request: Fields) -> None:
        """Send a request and wait for no answer; if nobody is there, or nobody takes it, nothing happens."""
        deadline = monotonic() + _TELLING
        with suppress(OSError, Unavailable), _plug() as peer:
            if _connected(peer, self.path, deadline):
                _limit(peer, deadline)
                peer.sendall(_line(request))


class Server:
    """`Serving`: a thread that accepts, and one for each peer."""

    def __init__(self, path: Path, listener: socket.socket, answer: Answering) -> None:
        self._path = path
        self._listener = listener
        self._answer = answer
        self._pid = os.getpid()
        self._file = _identity(path)
        self._lock = threading.Lock()
        self._peers: set[socket.socket] = set()
        self._closed = threading.Event()
        _servers.add(self)
        self._thread = threading.Thread(target=self._accept, name="memstrata-socket", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more; whoever waits for an answer is hung up on."""
        if self._pid != os.getpid() or self._closed.is_set():
            return
        self._closed.set()
        _servers.discard(self)
        # Another worker's socket may lie there already.
        if _identity(self._path) == self._file:
            with suppress(OSError):
                self._path.unlink()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes `accept`
        self._thread.join(_CLOSING)
        self._listener.close()
        with self._lock:
            for peer in self._peers:
                with suppress(OSError):
                    peer.shutdown(socket.SHUT_RDWR)

    def forget(self) -> None:
        """Close what a forked child inherited: a peer must see it when the parent dies."""
        self._closed.set()
        for one in (self._listener, *self._peers):
            one.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                peer, _ = self._listener.accept()
            except OSError:
                # Closed, or out of descriptors: then it is tried again.
                self._closed.wait(0.1)
                continue
            with self._lock:
                welcome = len(self._peers) < MOST_PEERS and not self._closed.is_set()
                if welcome:
                    self._peers.add(peer)
            if not welcome:
                peer.close()
                continue
            threading.Thread(
                target=self._attend, args=(peer,), name="memstrata-peer", daemon=True
            ).start()

    def _attend(self, peer: socket.socket) -> None:
        """Answer one peer until it goes or is too slow, or there is nobody to answer it any more."""
        try:
            with suppress(OSError, NobodyListens):
                for line in _lines(peer, MOST_REQUEST, lambda: monotonic() + PATIENCE):
                    _send(peer, self._reply(peer, line), PATIENCE)
        except Invalid as error:
            with suppress(OSError):
                _send(peer, _failed(error), PATIENCE)
        finally:
            with self._lock:
                self._peers.discard(peer)
            peer.close()

    def _reply(self, peer: socket.socket, line: bytes) -> Fields:
        def tell(fields: Fields) -> None:
            with suppress(OSError):
                _send(peer, {"told": fields}, TOLD)

        try:
            return {"answer": self._answer(_decoded(line), tell)}
        except NobodyListens:
            raise
        except MemstrataError as error:
            return _failed(error)


def _failed(error: MemstrataError) -> Fields:
    return {"error": {"code": error.code, "message": error.message, **error.detail()}}


def _answered(lines: Iterator[bytes], heard: Callable[[Fields], None] | None) -> Fields:
    for line in lines:
        try:
            found = _decoded(line)
        except Invalid as error:
            raise Unavailable(f"the answer cannot be read: {error.problem}") from error
        match found:
            case {"told": dict() as told}:
                if heard is not None:
                    heard(told)
            case {"answer": dict() as answer}:
                return answer
            case {"error": dict() as problem}:
                raise restored(problem)
            case _:
                raise Unavailable("the answer is none")
    raise NobodyListens("whoever was asked went away before it answered")


def _plug() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _connected(peer: socket.socket, path: Path, deadline: float | None) -> bool:
    """Connect to the listener at `path`; False when too many waited for it until `deadline`.

    A socket with a time limit does not wait for a place in a full queue: Linux refuses it at once.

    Raises:
        OSError: nobody listens there.
        Unavailable: the path is too long.
    """
    with _address(path) as address:
        while True:
            _limit(peer, deadline)
            try:
                peer.connect(address)
                return True
            except BlockingIOError:
                if deadline is not None and monotonic() + _AGAIN >= deadline:
                    return False
            sleep(_AGAIN)


# -- lines -----------------------------------------------------------------------------------------


def _lines(peer: socket.socket, most: int, deadline: Callable[[], float | None]) -> Iterator[bytes]:
    """The lines of a peer, until it hangs up. `deadline()` is asked at the start of each.

    Raises:
        Invalid: a line is longer than `most` bytes.
        OSError: it broke off, or a line took too long.
    """
    rest = bytearray()
    ends = deadline()
    while True:
        at = rest.find(b"\n")
        if at >= 0:
            line = bytes(rest[:at])
            del rest[: at + 1]
            yield line
            ends = deadline()
            continue
        if len(rest) > most:
            raise Invalid("request", f"is longer than {most} bytes")
        _limit(peer, ends)
        more = peer.recv(65_536)
        if not more:
            return
        rest += more


def _line(fields: Fields) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def _send(peer: socket.socket, fields: Fields, seconds: float) -> None:
    peer.settimeout(seconds)
    peer.sendall(_line(fields))


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Invalid("request", f"is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise Invalid("request", "is no JSON object")
    return found


def _limit(peer: socket.socket, deadline: float | None) -> None:
    """Let the next operation end at `deadline`; a time-out of 0 would mean not to block at all."""
    peer.settimeout(None if deadline is None else max(deadline - monotonic(), 1e-3))


# -- the file --------------------------------------------------------------------------------------


@contextmanager
def _address(path: Path) -> Iterator[str]:
    """A name of the socket that is short enough: its own, or one through its open folder.

    Raises:
        Unavailable: the path is too long, and this system has no other name for it.
        OSError: its folder is not there.
    """
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        yield str(path)
        return
    if not _DESCRIPTORS.is_dir():
        raise Unavailable(f"{path} is too long for a socket")
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield str(_DESCRIPTORS / str(folder) / path.name)
    finally:
        os.close(folder)


def _remove_socket(path: Path) -> None:
    """Remove what a dead process left; anything but a socket stays, and `bind` fails on it."""
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


# -- exits and forks -------------------------------------------------------------------------------

_servers: Final[weakref.WeakSet[Server]] = weakref.WeakSet()


def _at_exit() -> None:
    """Leave no socket of this process behind, also where its worker's batch was broken off."""
    for server in list(_servers):
        server.close()


def _after_fork_in_child() -> None:
    for server in list(_servers):
        server.forget()
    _servers.clear()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork_in_child)
