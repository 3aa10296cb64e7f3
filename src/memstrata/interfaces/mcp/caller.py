"""A caller at the door: its tools, its workspace, and the document that it may keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memstrata.domain.team_document import Visibility
from memstrata.errors import Denied
from memstrata.interfaces.mcp.identity import Identity
from memstrata.memory import Verbs
from memstrata.offload import OffloadSession
from memstrata.pipelines.bind import Workspace
from memstrata.team_document import MemoryDocument
from memstrata.tools import Tools

CHANNEL: Final = "mcp"
_NAME: Final = 64
"""Characters of the name that a client gives itself, at most."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who calls: `client` is what its program calls itself, which proves nothing."""

    memory: Verbs
    identity: Identity
    client: str
    language: str

    @property
    def tools(self) -> Tools:
        """The read-only tools, as this caller sees memory.

        Raises:
            Invalid: something of the identity is wrong.
            Denied: it is of another space.
        """
        one, owner = self.identity, self.owner
        return self.memory.tools(
            session=one.session,
            workspace=one.workspace,
            agent=one.agent,
            user=owner,
            caller=f"{CHANNEL} {self.client}".strip(),
            language=self.language,
        )

    @property
    def owner(self) -> str | None:
        """Whose memory it is, None for the memory's own.

        Raises:
            Denied: it is of another space.
        """
        if self.identity.space != self.memory.space:
            raise Denied("this server keeps another space")
        return self.identity.owner

    @property
    def offload(self) -> OffloadSession | None:
        """The agent session whose archived results and tasks it reads; None: none was named.

        Raises:
            Invalid: a session that is none.
            Denied: memory is switched off, or it is of another space.
        """
        session, owner = self.identity.offload, self.owner
        if session is None:
            return None
        where = self.workspace
        root = None if where is None else where.root
        return self.memory.offload(session, workspace=root, user=owner)

    @property
    def workspace(self) -> Workspace | None:
        """The caller's workspace, where the home knows it."""
        path = self.identity.workspace
        return None if path is None else self.memory.workspace_of(path)

    def team(self, root: str) -> MemoryDocument:
        """The team document of a workspace, as this caller's thread works on it."""
        one = self.identity
        return self.memory.team(root, session=one.session, user=one.owner, channel=CHANNEL)

    @property
    def protocol(self) -> Visibility | None:
        """Whose document this caller's agent keeps by `update_memory`; None: it keeps none."""
        one, protocol = self.identity, self.memory.in_force.team.protocol
        if not one.may_write or one.space != self.memory.space or protocol == "off":
            return None
        return None if protocol == "team" and one.workspace is None else protocol

    @property
    def document(self) -> MemoryDocument:
        """The document of `protocol`.

        Raises:
            Denied: memory is switched off, or there is no such document for this caller.
        """
        one = self.identity
        match self.protocol:
            case "private":
                return self.memory.private(session=one.session, user=one.owner, channel=CHANNEL)
            case "team" if one.workspace is not None:
                return self.team(one.workspace)
            case _:
                raise Denied("no document is kept here")


def client_name(given: object) -> str:
    """What a client calls itself, as one short word of printable characters."""
    text = str(given or "")
    return "".join("-" if one.isspace() else one for one in text if one.isprintable())[:_NAME]
