"""Who may see what: the key of every memory and the reader's view over keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from memstrata.domain import checks
from memstrata.errors import Invalid

Scope = Literal["user", "project", "agent"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
LOCAL_SPACE: Final = "local"
LOCAL_OWNER: Final = "local"


@dataclass(frozen=True, slots=True, order=True)
class Realm:
    """One person inside one space (tenant). Nothing is ever read across realms."""

    space: str
    owner: str


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """(space, owner, scope, ref): the key of everything.

    `ref` is `""` for user, the workspace key for project, the agent id for agent. A project key has
    the owner `""`: its members share it.

    The empty string instead of null: UNIQUE in SQL treats nulls as different.

    Raises:
        Invalid: a project or agent without a ref; nobody could ever see what lies there.
    """

    realm: Realm
    scope: Scope
    ref: str

    def __post_init__(self) -> None:
        if not self.ref and self.scope != "user":
            raise Invalid("scope_ref", f"scope {self.scope!r} needs one")


@dataclass(frozen=True, slots=True)
class View:
    """What one reader may see: the realm's user scope, one workspace, one agent.

    `workspace` is the workspace *key* (the home's own name of a root), `agent` the agent id;
    None or `""` where the reader has none.
    """

    realm: Realm
    workspace: str | None = None
    agent: str | None = None

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of the memories this reader sees, user first."""
        found = [Key(self.realm, "user", "")]
        if self.workspace:
            found.append(Key(Realm(self.realm.space, ""), "project", self.workspace))
        if self.agent:
            found.append(Key(self.realm, "agent", self.agent))
        return tuple(found)

    def key(self, scope: Scope) -> Key:
        """The key a memory of `scope` gets from this reader.

        Raises:
            Invalid: the scope needs a workspace or an agent and the reader has none.
        """
        for key in self.keys:
            if key.scope == scope:
                return key
        needed = "workspace" if scope == "project" else "agent"
        raise Invalid(
            needed, f"scope {scope!r} needs {needed}=…; without it nobody could see the memory"
        )


def parse_scope(value: object, field: str = "scope") -> Scope:
    """`value` as a scope.

    Raises:
        Invalid: it is none of user, project, agent.
    """
    for scope in SCOPES:
        if value == scope:
            return scope
    raise Invalid(field, f"{checks.shown(value)} is no scope; use one of {', '.join(SCOPES)}")


def realm(space: object, owner: object) -> Realm:
    """The realm of `owner`, whose name becomes a folder name.

    Raises:
        Invalid: either is empty or not an id.
    """
    return Realm(checks.ref("space", space), checks.ref("owner", owner))
