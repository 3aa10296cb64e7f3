"""Fixtures that every test may ask for: a home that is thrown away, a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.doubles import FakeClock

from memstrata import Memory

pytest.register_assert_rewrite(
    "tests.contracts.vault", "tests.contracts.store", "tests.contracts.vectors"
)

Open = Callable[..., Memory]


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the settings or the home of whoever runs it."""
    import os

    for name in list(os.environ):
        if name.startswith("MEMSTRATA_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    # Vectors have tests of their own, the others need not wait for an embedder: they set it to "".
    monkeypatch.setenv("MEMSTRATA_EMBEDDING__MODEL", "none")
    # So have scenes and persona: a scripted model is asked what its test is about, and nothing else.
    monkeypatch.setenv("MEMSTRATA_SCENES__ENABLED", "false")
    monkeypatch.setenv("MEMSTRATA_PERSONA__ENABLED", "false")


@pytest.fixture
def clock() -> FakeClock:
    """A clock that moves only when told."""
    return FakeClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the home will be."""
    return tmp_path / "home"


@pytest.fixture
def open_memory(home: Path, clock: FakeClock) -> Iterator[Open]:
    """Opens the home, as often as asked, in UTC unless told; everything is closed at the end."""
    with ExitStack() as stack:

        def open_one(**given: object) -> Memory:
            settings = {"timezone": "UTC", **given.pop("settings", {})}  # type: ignore[dict-item]
            chosen = {"home": home, "clock": clock, "background": False, **given}
            return stack.enter_context(Memory.open(settings=settings, **chosen))  # type: ignore[arg-type]

        yield open_one


@pytest.fixture
def _layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scenes and persona as they are by default."""
    monkeypatch.delenv("MEMSTRATA_SCENES__ENABLED")
    monkeypatch.delenv("MEMSTRATA_PERSONA__ENABLED")


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    """A fresh memory."""
    return open_memory()
