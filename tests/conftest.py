"""Fixtures that every test may ask for: a home that is thrown away, a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.doubles import FakeClock

from memstrata import Memory

pytest.register_assert_rewrite(
    "tests.contracts.vault", "tests.contracts.store", "tests.contracts.vectors"
)

Open = Callable[..., Memory]
DOORS = ("embedded", "connected")
BEHIND_BOTH = (
    "tests.test_facade",
    "tests.test_team",
    "tests.cases.test_memory_cases",
    "tests.cases.test_team_cases",
    "tests.pipelines.test_lifecycle",
    "tests.pipelines.test_read",
    "tests.pipelines.test_add",
)
"""Modules whose tests run on an embedded memory, and once more on a server's."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run some modules through both doors."""
    if "door" in metafunc.fixturenames and metafunc.module.__name__ in BEHIND_BOTH:
        metafunc.parametrize("door", DOORS, indirect=True)


@pytest.fixture
def door(request: pytest.FixtureRequest) -> str:
    """How a test reaches its memory: in its own process unless its module is tested both ways."""
    return str(getattr(request, "param", "embedded"))


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
def open_memory(home: Path, clock: FakeClock, door: str) -> Iterator[Open]:
    """Opens the home, as often as asked, in UTC unless told; everything is closed at the end."""
    if door == "connected":
        from tests.served import Remote

        opened: Callable[..., Any] = Remote.open
    else:
        opened = Memory.open
    with ExitStack() as stack:

        def open_one(**given: object) -> Memory:
            settings = {"timezone": "UTC", **given.pop("settings", {})}  # type: ignore[dict-item]
            chosen = {"home": home, "clock": clock, "background": False, **given}
            found: Memory = stack.enter_context(opened(settings=settings, **chosen))
            return found

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
