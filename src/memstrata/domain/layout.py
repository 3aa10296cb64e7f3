"""Where things lie: pure paths of the home and of a workspace. No path is made from unchecked text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from memstrata.domain import checks
from memstrata.domain.scope import LOCAL_OWNER, Key

HOME: Final = ""
INDEX: Final = "MEMORY.md"
IN_WORKSPACE: Final = ".memstrata"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A file or folder: `root` is `""` for the home or a workspace's root, `path` is relative to it, with `/`."""

    root: str
    path: str

    def within(self, name: str) -> Place:
        """`name` inside this folder."""
        return Place(self.root, f"{self.path}/{name}" if self.path else name)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> Place:
        """The folder it lies in."""
        return Place(self.root, self.path.rpartition("/")[0])

    def __str__(self) -> str:
        return f"{self.root}/{self.path}" if self.root else self.path


VECTORS: Final = Place(HOME, "vectors.db")
"""The vectors of the home, where there are any."""


def owner_folder(owner: str) -> str:
    """The prefix of an owner's tree: nothing for `local`, `owners/<owner>/` for the others."""
    return "" if owner == LOCAL_OWNER else f"owners/{checks.ref('owner', owner)}/"


def memory_folder(key: Key, root: str = HOME) -> Place:
    """The folder of a key's memory files; `root` is the workspace's root for a project key."""
    match key.scope:
        case "project":
            return Place(root, f"{IN_WORKSPACE}/memory")
        case "agent":
            return Place(
                HOME, f"{owner_folder(key.realm.owner)}memory/agent/{checks.ref('agent', key.ref)}"
            )
        case "user":
            return Place(HOME, f"{owner_folder(key.realm.owner)}memory/user")


def memory_file(key: Key, id: str, root: str = HOME) -> Place:
    """The file of one memory."""
    return memory_folder(key, root).within(f"{checks.ref('id', id)}.md")


def candidates_folder(key: Key) -> Place:
    """The folder of a key's candidates, those of a project too: a workspace holds memories alone."""
    under = f"{owner_folder(key.realm.owner)}candidates" if key.realm.owner else "candidates"
    ref = f"/{checks.ref(key.scope, key.ref)}" if key.scope != "user" else ""
    return Place(HOME, f"{under}/{key.scope}{ref}")


def candidate_file(key: Key, id: str) -> Place:
    """The file of one candidate."""
    return candidates_folder(key).within(f"{checks.ref('id', id)}.md")


def kept_plan(owner: str, digest: str) -> Place:
    """A plan that a dry run keeps for whoever applies it."""
    return Place(HOME, f"{owner_folder(owner)}plans/{checks.ref('digest', digest)}.json")


def shard(owner: str, log: str, at: datetime, zone: tzinfo) -> Place:
    """The day's file of a log (`records`, `conversations`), by the local day of `zone`."""
    return Place(HOME, f"{owner_folder(owner)}{log}/{at.astimezone(zone):%Y-%m-%d}.jsonl")


def log_folder(owner: str, log: str) -> Place:
    """The folder of a log's shards."""
    return Place(HOME, f"{owner_folder(owner)}{log}")


def team_folder(workspace: str) -> Place:
    """Where the team document of a workspace lies; `workspace` is the workspace's key."""
    return Place(HOME, f"team/{checks.ref('workspace', workspace)}")


def team_document(workspace: str) -> Place:
    """The team document of a workspace."""
    return team_folder(workspace).within("TEAM_MEMORY.md")


def private_document(owner: str) -> Place:
    """The private document of an owner."""
    return Place(HOME, f"{owner_folder(owner)}PRIVATE_MEMORY.md")


def aliases(owner: str) -> Place:
    """The names that an owner joined, or took apart."""
    return Place(HOME, f"{owner_folder(owner)}aliases.json")


def revisions(document: Place) -> Place:
    """The log of a document's revisions, beside it."""
    return document.folder.within("revisions.jsonl")


def roles(workspace: str) -> Place:
    """Who may do what with a workspace's team document."""
    return team_folder(workspace).within("roles.toml")


GLOBAL: Final = "_global"
"""The folder of the scenes that belong to no workspace."""
PERSONA: Final = "persona.md"


def scene_folder(owner: str, group: str) -> Place:
    """The folder of an owner's scenes of one group: `_global`, or a workspace's key."""
    return Place(HOME, f"{owner_folder(owner)}scenes/{checks.ref('group', group)}")


def scene_groups(owner: str) -> Place:
    """The folder in which the groups of an owner's scenes lie."""
    return Place(HOME, f"{owner_folder(owner)}scenes")


def persona(owner: str) -> Place:
    """An owner's persona."""
    return Place(HOME, f"{owner_folder(owner)}{PERSONA}")


def scene_chronicle(owner: str, group: str) -> Place:
    """The last versions of the scenes of one group."""
    return Place(HOME, f"{owner_folder(owner)}backups/scenes/{checks.ref('group', group)}.jsonl")


def persona_chronicle(owner: str) -> Place:
    """The last versions of a persona."""
    return Place(HOME, f"{owner_folder(owner)}backups/persona.jsonl")


def offload_root(owner: str) -> Place:
    """The folder of an owner's offload sessions."""
    return Place(HOME, f"{owner_folder(owner)}offload")


def offload_folder(owner: str, name: str) -> Place:
    """The folder of one offload session; `name` is what it is called there."""
    return offload_root(owner).within(checks.ref("folder", name))
