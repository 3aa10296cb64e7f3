"""The store of an embedded home: one SQLite file, driven by apsw."""

from memstrata.adapters.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
