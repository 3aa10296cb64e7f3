"""Homes in memory, as for the faults: what is stored counts here, not fsync."""

from __future__ import annotations

from tests.faults.conftest import tmp_path as tmp_path
