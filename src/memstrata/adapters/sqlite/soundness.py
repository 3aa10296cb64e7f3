"""What is wrong with a database file, as far as it shows without the files it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

import apsw

from memstrata.adapters.sqlite.connection import Connection
from memstrata.adapters.sqlite.pool import Pool
from memstrata.errors import Corrupt, Unavailable

_TEXTS: Final = ("memory_text", "message_text")
_JSON: Final = ("memories", "records")
_AVERAGES: Final = 1
"""The row of an index's `_data` that counts rows and words (fts5_index.c, FTS5_AVERAGES_ROWID)."""


def faults(pool: Pool) -> list[str]:
    """What SQLite's own check finds, and text indexes whose words went missing; empty when all is sound."""
    try:
        # A connection of its own: one that read the text index before another merged it would
        # check what it remembers, and find it gone (SQLite 3.54).
        with closing(pool.open(writes=False)) as db:
            found = [str(line) for (line,) in db.script("PRAGMA integrity_check")]
            return [*_unread_rows(db), *_lost_words(db)] if found == ["ok"] else found
    except Corrupt as error:
        return [error.message]
    except Unavailable as error:
        # A damaged number makes SQLite ask for more memory than there is.
        if isinstance(error.__cause__, apsw.NoMemError):
            return [f"it cannot be checked ({error.__cause__})"]
        raise


def _unread_rows(db: Connection) -> Iterator[str]:
    """SQLite's check does not look into the text of a row."""
    for table in _JSON:
        ((count,),) = db.script(f"SELECT count(*) FROM {table} WHERE NOT json_valid(data)")
        if count:
            yield f"{count} rows of {table} cannot be read"


def _lost_words(db: Connection) -> Iterator[str]:
    """The check of an index without content compares nothing with its counts of all words."""
    db.script("PRAGMA query_only = FALSE")  # for the temporary tables
    for text in _TEXTS:
        db.script(f"CREATE VIRTUAL TABLE temp.{text}_words USING fts5vocab(main, {text}, 'row')")
    db.begin("DEFERRED")
    for text in _TEXTS:
        ((held,),) = db.script(f"SELECT coalesce(sum(cnt), 0) FROM temp.{text}_words")
        rows = db.script(f"SELECT block FROM {text}_data WHERE id = {_AVERAGES}")
        _, *counted = _varints(rows[0][0] if rows else b"") or [0]
        if held != sum(counted):
            yield f"the text index {text} holds {held} words and should hold {sum(counted)}"
    db.roll_back()


def _varints(data: bytes) -> list[int]:
    """Numbers as SQLite packs them: seven bits a byte, the high bit for one that goes on."""
    found: list[int] = []
    number = 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            found.append(number)
            number = 0
    return found
