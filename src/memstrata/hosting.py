"""What a server needs of an open memory beside its verbs: whose eyes they are called with, tokens, answers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from memstrata.domain import token
from memstrata.domain.scope import Realm, realm
from memstrata.domain.token import Token
from memstrata.errors import Invalid, MemstrataError, NotFound, Unavailable
from memstrata.events import Listener
from memstrata.memory import Verbs
from memstrata.pipelines import answers, bind
from memstrata.pipelines import token as tokens
from memstrata.pipelines.report import Status
from memstrata.pipelines.world import World
from memstrata.ports import Answered, FileStat
from memstrata.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class _Known:
    """The tokens as they were read last, and the file's stat then."""

    stat: FileStat | None
    by_digest: dict[str, Token]


class Hosted:
    """An open memory that many people are served from. Safe for threads."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs
        self._lock = Lock()
        self._known = _Known(None, {})

    @property
    def _world(self) -> World:
        """The world, under the settings as they are now."""
        return self._verbs._fresh()

    @property
    def verbs(self) -> Verbs:
        """The verbs as the owner of the memory calls them."""
        return self._verbs

    @property
    def settings(self) -> ServerSettings:
        """The settings of the server."""
        return self._world.settings.server

    @property
    def realm(self) -> Realm:
        """Whose memory was opened: who is served where no token is asked for."""
        return self._verbs._realm

    def seen_by(self, owner: str) -> Verbs:
        """The verbs as `owner` of the same space calls them. Never to be closed.

        Raises:
            Invalid: a name that is none.
        """
        asked = realm(self._world.space, owner)
        if asked == self._verbs._realm:
            return self._verbs
        self._verbs._fresh()  # so that the copy need not look what changed
        seen = copy.copy(self._verbs)
        seen._realm = asked
        return seen

    def took(self, seen: Verbs) -> None:
        """What an admin's verbs found at a reconcile is the home's: its own status tells it too."""
        self._verbs._opened = seen._opened

    # -- who asks -----------------------------------------------------------------------------

    def tokens(self) -> dict[str, Token]:
        """Every token by the digest of its secret, as the file has them now.

        Raises:
            Corrupt: the file cannot be read; nobody is let in by a mistake.
        """
        stat = self._world.vault.stat(tokens.TOKENS)
        with self._lock:
            known = self._known
        if stat != known.stat:
            known = _Known(stat, tokens.listed(self._world))
            with self._lock:
                self._known = known
        return known.by_digest

    def bearer(self, secret: str) -> Token | None:
        """The token of that secret, None for none. Looked up by digest, so no comparison can be timed."""
        found = self.tokens().get(token.digest(secret))
        return found if found is not None and found.space == self._world.space else None

    # -- workspaces ---------------------------------------------------------------------------

    def workspace(self, given: object, *, paths: bool) -> str:
        """The path of a workspace that a request names by key, id, name or root.

        Only where `paths` are trusted may it be a path that is not bound: a client elsewhere learns
        nothing of the folders here.

        Raises:
            Invalid: it is no text, or a name that several have.
            NotFound: none of that name is bound.
        """
        said = bind.workspace_path(given)
        bound = tuple(bind.bound(self._world).values())
        for field in ("key", "id", "root", "name"):
            found = [one for one in bound if getattr(one, field) == said]
            if len(found) > 1:
                raise Invalid("workspace", f"{said!r} is the {field} of several; give a key")
            if found:
                return found[0].root
        if paths:
            return said
        raise NotFound("workspace", said)

    # -- answers that are given again -----------------------------------------------------------

    def answered(self, asker: Realm, key: str, digest: str) -> Answered | None:
        """What was answered to that request before.

        Raises:
            Invalid: another request had the key.
        """
        return answers.find(self._world, asker, key, digest)

    def keep_answer(self, asker: Realm, key: str, answer: Answered) -> None:
        """Keep an answer, to be given again.

        Raises:
            Unavailable: the disk or the database said no.
        """
        answers.keep(self._world, asker, key, answer)

    # -- the whole ------------------------------------------------------------------------------

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hear every event of this process; returns what ends it."""
        return self._world.bus.listen(listener)

    def check(self) -> None:
        """Whether requests can be answered now.

        Raises:
            Unavailable: they cannot: the database is away, or its index is damaged.
        """
        try:
            self._world.store.keys(self._world.space)
        except MemstrataError as error:
            raise Unavailable(f"the index cannot be read: {error.message}") from error


def limited(status: Status) -> Status:
    """A status without what concerns the home as a whole: for who does not look after it."""
    names = tuple(one.rpartition(" (")[0] for one in status.workspaces)
    return replace(status, worker=None, spent={}, workspaces=names)
