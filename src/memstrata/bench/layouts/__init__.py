"""Data sets as they are published: each layout a module that reads it into corpora."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from memstrata.bench.corpus import Corpus
from memstrata.bench.layouts import locomo, longmemeval, madial, realmem
from memstrata.errors import Invalid

_JSON: Final = {"LoCoMo": locomo, "RealMem": realmem, "LongMemEval": longmemeval}
NAMES: Final = (
    f"{', '.join(_JSON)} (JSON) or MADial-Bench (a pair *{madial.MEMORIES}, *{madial.DIALOGUES})"
)


def load(path: Path) -> list[Corpus]:
    """The corpora of a file, or of every file of a folder that has a known layout.

    Raises:
        Invalid: nothing there, a file that cannot be read, or nothing of a known layout.
    """
    if not path.exists():
        raise Invalid("data", f"there is nothing at {path}: nothing was measured")
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    found = [corpus for file in files for corpus in _read(file)]
    if not found:
        raise Invalid("data", f"{path} holds no data of {NAMES}: nothing was measured")
    return found


def _read(file: Path) -> list[Corpus]:
    if file.name.endswith(madial.DIALOGUES):
        return _taken(file, lambda: madial.read(file))
    if file.suffix != ".json":
        return []
    try:
        document: Any = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise Invalid("data", f"{file} cannot be read: {error}") from error
    for layout in _JSON.values():
        if layout.fits(document):
            return _taken(file, lambda chosen=layout: chosen.read(file, document))  # type: ignore[misc]
    return []


def _taken(file: Path, read: Callable[[], Iterator[Corpus]]) -> list[Corpus]:
    """What `read` gives, less what has no question.

    Raises:
        Invalid: the file's layout is another after all.
    """
    try:
        return [one for one in read() if one.questions]
    except (OSError, KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise Invalid("data", f"{file} cannot be read: {type(error).__name__}: {error}") from error
