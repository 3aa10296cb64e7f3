"""A text in the editor of whoever sits there, kept in a file until it is saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from memstrata.errors import Invalid
from memstrata.interfaces.cli.door import Reply
from memstrata.interfaces.cli.texts import say


def edited(text: str, save: Callable[[str], Reply]) -> Reply:
    """What `save` answers to the text as it was edited; one that is not saved stays in a file, and stderr says where.

    Raises:
        Invalid: the editor cannot be run, or ended with an error.
    """
    path = _temporary(text)
    saved = False
    try:
        reply = save(_in_editor(path))
        saved = reply.exit_code == 0
        return reply
    finally:
        if saved:
            path.unlink()
        else:
            sys.stderr.write(f"{say('your text is kept in {path}', path=path)}\n")


def read(path: str) -> str:
    """A file's text.

    Raises:
        Invalid: it cannot be read.
    """
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise Invalid("file", f"{path!r} cannot be read: {error}") from error


def _temporary(text: str) -> Path:
    import tempfile

    handle, name = tempfile.mkstemp(prefix="memstrata-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)


def _in_editor(path: Path) -> str:
    import shlex
    import subprocess

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        ended = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        raise Invalid("EDITOR", f"{editor!r} cannot be run: {error}") from error
    if ended:
        raise Invalid("EDITOR", f"{editor!r} ended with {ended}; nothing was saved")
    return read(str(path))
