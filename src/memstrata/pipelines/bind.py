"""Workspaces: the home's own key for each root, kept in `workspaces.json`."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from memstrata.domain import checks
from memstrata.domain.layout import HOME, IN_WORKSPACE, Place
from memstrata.domain.scope import Key
from memstrata.errors import Corrupt, Invalid, NotFound, Unavailable
from memstrata.pipelines import apply
from memstrata.pipelines.apply import Target
from memstrata.pipelines.world import World

BINDINGS: Final = Place(HOME, "workspaces.json")


class Away(Unavailable):
    """The root of a workspace is not there; what is meant for it waits."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A bound root. `key` is the home's own name of it, `id` what its files say, `name` for a person."""

    key: str
    root: str
    id: str
    name: str


def bound(world: World) -> dict[str, Workspace]:
    """Every bound workspace by key.

    Raises:
        Corrupt: `workspaces.json` cannot be read.
    """
    try:
        data, _ = world.vault.read(BINDINGS)
    except NotFound:
        return {}
    return _decoded(data)


def find(world: World, path: str) -> Workspace | None:
    """The bound workspace that `path` lies in, or None.

    Raises:
        Invalid: no such folder.
    """
    root = world.vault.root_of(path)
    return next((one for one in bound(world).values() if one.root == root), None)


def bind(world: World, path: str) -> Workspace:
    """The workspace that `path` lies in, bound to this home if it was not.

    One that was moved keeps its key: it has the id of one whose root is not there any more.

    Raises:
        Invalid: no such folder, or a root that cannot be one.
    """
    root = world.vault.root_of(path)
    known = next((one for one in bound(world).values() if one.root == root), None)
    if known is not None:
        return known
    apply.edit_text(world, BINDINGS, lambda held: _with_root(world, held, root))
    return next(one for one in bound(world).values() if one.root == root)


def unbind(world: World, workspace: Workspace) -> None:
    """Forget a root: its memories are found no more until it is bound again; its files stay.

    Raises:
        NotFound: it is not bound.
        Corrupt: `workspaces.json` cannot be read.
    """

    def without(held: bytes | None) -> bytes:
        known = _decoded(held) if held else {}
        if workspace.key not in known:
            raise NotFound("workspace", workspace.key)
        return _encoded({key: one for key, one in known.items() if key != workspace.key})

    apply.edit_text(world, BINDINGS, without)


def named(world: World, value: str) -> Workspace:
    """The bound workspace of a key, an id or a path; its root need not be there.

    Raises:
        NotFound: none, or more than one has that id.
    """
    every = bound(world)
    path = value.rstrip("/")
    found = [one for one in every.values() if value in (one.key, one.id) or one.root == path]
    if len(found) != 1:
        with suppress(Invalid):
            root = world.vault.root_of(value)
            found = [one for one in every.values() if one.root == root]
    if len(found) != 1:
        raise NotFound("workspace", value)
    return found[0]


def holds(world: World, path: str) -> bool:
    """Whether the workspace that `path` lies in has memory files, bound or not.

    Raises:
        Invalid: no such folder.
    """
    return bool(world.vault.scan(Place(world.vault.root_of(path), f"{IN_WORKSPACE}/memory")))


def is_there(world: World, root: str) -> bool:
    """Whether the folder `root` is there: the home always is."""
    if root == HOME:
        return True
    try:
        world.vault.root_of(root)
    except Invalid:
        return False
    return True


def present(world: World, key: str) -> Workspace:
    """The workspace of a key, its root there.

    Raises:
        Away: it is not bound, or its root is not there.
    """
    found = bound(world).get(key)
    if found is None or not is_there(world, found.root):
        raise Away(f"the workspace {found.root if found else key} is not there")
    return found


def announce(world: World, workspace: Workspace) -> None:
    """Write `workspace.toml` and `.gitattributes` beside the memories unless they are there."""
    folder = Place(workspace.root, IN_WORKSPACE)
    toml = f"id = {json.dumps(workspace.id)}\nname = {json.dumps(workspace.name, ensure_ascii=False)}\n"
    for name, text in (
        ("workspace.toml", toml),
        (".gitattributes", "memory/MEMORY.md merge=union\n"),
    ):
        place = folder.within(name)
        if world.vault.stat(place) is None:
            apply.edit_text(world, place, partial(_if_missing, text.encode()))


def _if_missing(text: bytes, held: bytes | None) -> bytes | None:
    return text if held is None else None


def target(world: World, key: Key, author: str) -> Target:
    """Where the files of `key` lie; `author` is who writes into a project.

    Raises:
        NotFound: a project key whose workspace is not bound here.
    """
    if key.scope != "project":
        return Target(HOME, key.realm.owner, key.ref)
    workspace = bound(world).get(key.ref)
    if workspace is None:
        raise NotFound("workspace", key.ref)
    return Target(workspace.root, author, workspace.id)


def _with_root(world: World, held: bytes | None, root: str) -> bytes | None:
    known = _decoded(held) if held else {}
    if any(one.root == root for one in known.values()):
        return None
    key = f"ws_{hashlib.sha256(root.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"
    while key in known:
        key = f"{key}x"
    id, name = _declared(world, root)
    moved = [one for one in known.values() if id and one.id == id and not is_there(world, one.root)]
    if len(moved) == 1:
        return _encoded({**known, moved[0].key: replace(moved[0], root=root)})
    made = Workspace(key, root, id or key, name or root.rstrip("/").rpartition("/")[2] or "root")
    return _encoded({**known, key: made})


def _declared(world: World, root: str) -> tuple[str, str]:
    """(id, name) of the root's own workspace.toml, empty where it has none."""
    place = Place(root, f"{IN_WORKSPACE}/workspace.toml")
    try:
        data, _ = world.vault.read(place)
        found = tomllib.loads(data.decode())
    except NotFound:
        return "", ""
    except (ValueError, UnicodeDecodeError) as error:
        raise Corrupt(str(place), f"is no TOML: {error}") from error
    id, name = found.get("id", ""), found.get("name", "")
    return (checks.ref("workspace.toml id", id) if id else ""), checks.string(
        "workspace.toml name", name
    )


def _encoded(workspaces: Mapping[str, Workspace]) -> bytes:
    rows = {
        one.key: {"root": one.root, "id": one.id, "name": one.name} for one in workspaces.values()
    }
    return (json.dumps(rows, indent=2, sort_keys=True) + "\n").encode()


def _decoded(data: bytes) -> dict[str, Workspace]:
    try:
        rows = json.loads(data)
        return {
            key: Workspace(key, row["root"], row["id"], row["name"]) for key, row in rows.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Corrupt(str(BINDINGS), f"cannot be read: {error}") from error


def workspace_path(value: object) -> str:
    """A workspace argument as a path text.

    Raises:
        Invalid: it is no text or path, or empty.
    """
    text = str(value) if hasattr(value, "__fspath__") else value
    if not isinstance(text, str) or not text or "\0" in text:
        raise Invalid("workspace", "expected the path of a folder")
    return text
