"""The root of a workspace: the main tree of a git repository, else the folder itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from memstrata.domain import checks
from memstrata.errors import Invalid

_WORKTREE: Final = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)


def of(path: str) -> Path:
    """The root that `path` lies in, links resolved.

    In a git repository it is the folder of the common git directory, so that worktrees share it
    (submodules are their own); without one, the folder itself.

    Raises:
        Invalid: no such folder.
    """
    try:
        folder = Path(path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links; a NUL
        raise Invalid("workspace", f"there is no folder {checks.shown(path)}") from error
    if not path or not folder.is_dir():
        raise Invalid("workspace", f"{checks.shown(path)} is no folder")
    return _repository(folder) or folder


def _repository(folder: Path) -> Path | None:
    """The main tree of the repository that `folder` lies in; None outside of one."""
    for candidate in (folder, *folder.parents):
        git = candidate / ".git"
        if git.is_dir():
            return candidate
        if git.is_file():
            return _main_tree(git) or candidate
    return None


def _main_tree(git: Path) -> Path | None:
    """Where the repository lies whose worktree holds the file `git`; None for a submodule's.

    A file can claim anything, and an unpacked archive is not to be trusted: the repository must
    know of the worktree (`worktrees/<name>/gitdir` in it names our file) for the claim to count.
    """
    private = _pointed(git, prefix="gitdir:")
    if private is None or _pointed(private / "gitdir") != git.resolve():
        return None
    common = _pointed(private / "commondir")
    if common is None or private.parent != common / "worktrees":
        return None
    if common.name == ".git":
        return common.parent
    # A submodule's repository names its tree; a bare one may lie hidden beside its worktrees. In
    # both a file points back; else no tree is the main one, and the repository itself is the root.
    configured = _WORKTREE.search(_text(common / "config"))
    trees = [common / configured[1]] if configured else []
    for tree in (*trees, common.parent):
        if _pointed(tree / ".git", prefix="gitdir:") == common:
            return tree.resolve()
    return common


def _pointed(file: Path, *, prefix: str = "") -> Path | None:
    """The path that stands in `file`, relative to its folder, resolved; None when there is none."""
    text = _text(file)
    target = text.removeprefix(prefix).strip()
    if not text.startswith(prefix) or not target:
        return None
    try:
        return (file.parent / target).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links; a NUL
        return None


def _text(file: Path) -> str:
    """The text of a small file; empty when it cannot be read."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
