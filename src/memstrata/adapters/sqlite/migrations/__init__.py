"""From one version of the schema to the next: `schema.sql` is 1, the `NNNN_what.sql` here follow.

A database's version is its `user_version`. Each step is one transaction.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from memstrata.adapters.sqlite.connection import Connection
from memstrata.errors import Corrupt, Internal, Unavailable

APPLICATION_ID: Final = 0x6D73_7472
"""Marks the file as ours, for `file` and against opening another program's database."""


@dataclass(frozen=True, slots=True)
class Step:
    """What brings the schema to `version`."""

    version: int
    sql: str


def steps() -> tuple[Step, ...]:
    """Every step of this release."""
    schema = files("memstrata.adapters.sqlite").joinpath("schema.sql")
    return (Step(1, schema.read_text(encoding="utf-8")), *numbered(files(__name__)))


def numbered(folder: Traversable) -> tuple[Step, ...]:
    """The steps of a folder's `NNNN_what.sql`, from 2 on.

    Raises:
        Internal: a number is missing or there twice.
    """
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    versions = [int(name.partition("_")[0]) for name in found]
    if versions != list(range(2, len(found) + 2)):
        raise Internal(f"migrations are not numbered from 2 without a gap: {', '.join(found)}")
    return tuple(
        Step(version, folder.joinpath(name).read_text(encoding="utf-8"))
        for version, name in zip(versions, found, strict=True)
    )


def migrate(
    writer: Connection, reader: Connection, steps: Sequence[Step], backups: Path
) -> Path | None:
    """Bring the database to the last of `steps`; an existing one is first copied into `backups`.

    Returns:
        The copy, None when there was nothing to migrate or nothing to lose.

    Raises:
        Unavailable: a newer release wrote it, or it cannot be written or copied.
        Corrupt: it is another program's.
    """
    version = _version(writer, "DEFERRED", len(steps))
    writer.roll_back()
    copy = None
    if 0 < version < len(steps):
        copy = _migrated(writer, reader, steps, backups)
    elif version == 0:
        _migrated(writer, None, steps, backups)
    return copy


def _migrated(
    writer: Connection, reader: Connection | None, steps: Sequence[Step], backups: Path
) -> Path | None:
    """Take the missing steps, one a transaction, with a copy by `reader` before the first."""
    copy = None
    try:
        while (version := _version(writer, "IMMEDIATE", len(steps))) < len(steps):
            if reader is not None and copy is None:
                copy = _back_up(reader, backups, version)
            step = steps[version]
            writer.script(f"{step.sql};\nPRAGMA user_version = {step.version}")
            writer.script(f"PRAGMA application_id = {APPLICATION_ID}")
            writer.commit()
    finally:
        writer.roll_back()
    return copy


def _version(writer: Connection, mode: str, newest: int) -> int:
    """Begin a transaction and look whose database it is, and how old."""
    version = writer.begin(mode)
    application = writer.script("PRAGMA application_id")[0][0]
    tables = writer.script("SELECT count(*) FROM sqlite_schema")[0][0]
    if (version or tables) and application != APPLICATION_ID:
        raise Corrupt(str(writer.path), "is the database of another program")
    if version > newest:
        raise Unavailable(
            f"{writer.path} has schema {version} and this release knows {newest} at most: "
            "a newer release wrote it; install that one"
        )
    return version


def _back_up(reader: Connection, backups: Path, version: int) -> Path:
    """A copy of what is committed; it has its name only once it is whole."""
    try:
        backups.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = _free_name(backups, f"{reader.path.stem}.schema-{version}")
        unfinished = target.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_CREAT | os.O_WRONLY, 0o600))
        reader.back_up(unfinished)
        unfinished.rename(target)
    except OSError as error:
        raise Unavailable(f"no backup could be made in {backups}: {error}") from error
    return target


def _free_name(folder: Path, stem: str) -> Path:
    number = 1
    while (found := folder / f"{stem}.{number}.db").exists():
        number += 1
    return found
