"""A thread's side of a document: where it lies, what this user may do with it, what the thread was shown."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from memstrata.domain import checks, layout, roles
from memstrata.domain.layout import Place
from memstrata.domain.markdown import digest
from memstrata.domain.revision import Revision, Verb, content
from memstrata.domain.roles import EVERYBODY, Role
from memstrata.domain.scope import Realm
from memstrata.domain.team_document import Visibility
from memstrata.errors import Denied, Invalid, NotFound, Unavailable
from memstrata.pipelines import apply, revisions
from memstrata.pipelines.revisions import Standing
from memstrata.pipelines.world import World


@dataclass(slots=True)
class Thread:
    """Who works on which document: the user, the workspace's key (`""`: the private one), thread and door.

    `shown` is the revision that this very object was shown last. What a thread with a `session` was
    shown is known in every process of the home.
    """

    realm: Realm
    workspace: str = ""
    session: str = ""
    channel: str = "python"
    shown: int | None = None

    @property
    def visibility(self) -> Visibility:
        """Whose document it is."""
        return "team" if self.workspace else "private"

    @property
    def document(self) -> Place:
        """Where it lies."""
        if self.workspace:
            return layout.team_document(self.workspace)
        return layout.private_document(self.realm.owner)

    @property
    def reader(self) -> str:
        """The name under which the index remembers what the thread was shown."""
        return f"shown {self.realm.owner} {self.session}"


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, because of which message, in which thread."""

    name: str
    message: str
    thread: Thread

    def revision(
        self,
        world: World,
        standing: Standing,
        verb: Verb,
        text: str,
        *,
        restored: int | None = None,
        markers: tuple[tuple[str, str], ...] = (),
    ) -> Revision:
        """The revision that follows the document as it stands."""
        return Revision(
            rev=standing.rev + 1,
            at=world.clock.now(),
            verb=verb,
            author=self.name,
            channel=self.thread.channel,
            text=text,
            digest=digest(content(text)),
            session=self.thread.session,
            message=self.message,
            restored=restored,
            markers=markers,
        )


def author(thread: Thread, name: str | None, message: str | None = None) -> Author:
    """The author of that name, by default the user.

    Raises:
        Invalid: a name or a message's id that is none.
    """
    return Author(
        thread.realm.owner if name is None else checks.identity("author", name),
        "" if message is None else checks.identity("message", message),
        thread,
    )


# -- who may --------------------------------------------------------------------------------------


def reader(world: World, thread: Thread) -> Role:
    """The role of a user who may read.

    Raises:
        Denied: the workspace has roles, and none for this user.
        Corrupt: `roles.toml` cannot be read; nobody is let in by a mistake.
    """
    role = roles.role_of(thread.realm.owner, _roles(world, thread))
    if role is None:
        raise Denied(f"{thread.realm.owner} has no role in this workspace")
    return role


def writer(world: World, thread: Thread) -> Role:
    """The role of a user who may write.

    Raises:
        Denied: a viewer, or a user without a role.
        Corrupt: `roles.toml` cannot be read.
    """
    role = reader(world, thread)
    if role == "viewer":
        raise Denied(f"{thread.realm.owner} is a viewer of this workspace and may not write")
    return role


def people(world: World, thread: Thread) -> tuple[str, ...]:
    """The names of the workspace's users, as far as it has roles."""
    return tuple(name for name in _roles(world, thread) or () if name != EVERYBODY)


def _roles(world: World, thread: Thread) -> Mapping[str, Role] | None:
    """The roles of a team document's users; None where nobody wrote any, or the document is private."""
    if not thread.workspace:
        return None
    place = layout.roles(thread.workspace)
    try:
        data, _ = world.vault.read(place)
    except NotFound:
        return None
    return roles.parse(data, str(place))


# -- what was shown -------------------------------------------------------------------------------


def text_of(world: World, thread: Thread, standing: Standing, rev: object) -> str:
    """The text of revision `rev`; 0 is the empty document.

    Raises:
        Invalid: it is no number of a revision.
        NotFound: there is no such revision.
    """
    if isinstance(rev, bool) or not isinstance(rev, int) or rev < 0:
        raise Invalid("rev", f"{checks.shown(rev)} is no number of a revision")
    if rev in (0, standing.rev):
        return standing.text if rev else ""
    found = revisions.find(world, thread.document, rev)
    if found is None:
        raise NotFound("revision", str(rev))
    return found.text


def note(world: World, thread: Thread, rev: int) -> None:
    """Remember that the thread was shown revision `rev`."""
    thread.shown = rev
    if thread.session and _noted(world, thread) != rev:
        with suppress(Unavailable):  # without it the thread's next save deletes nothing
            apply.note_shown(world, thread.reader, thread.document, rev)


def base(world: World, thread: Thread, standing: Standing, given: object) -> int | None:
    """The revision that an update was made from: `given`, else what was shown last; None: unknown.

    Raises:
        Invalid: `given` is none of the revisions so far.
    """
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= standing.rev:
            raise Invalid("base_rev", f"{checks.shown(given)} is none of the revisions so far")
        return given
    noted = _noted(world, thread) if thread.session else None
    shown = thread.shown if noted is None else noted
    return None if shown is None or shown > standing.rev else shown


def _noted(world: World, thread: Thread) -> int | None:
    return world.store.shards(thread.reader).get(thread.document.path)
