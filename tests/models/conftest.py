"""A home whose model is the local stub, spoken to in either provider's language."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from tests.conftest import Open
from tests.faults.conftest import tmp_path as tmp_path
from tests.stub_model import StubModel

from memstrata import Memory

NAMES: Final = {"openai": "openai-compatible:small", "anthropic": "anthropic:claude-haiku-5-5"}
"""By protocol: the model that is asked."""
KEY: Final = "sk-demo-0000-not-a-real-key"

Opened = Callable[..., Memory]


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither keys nor proxies of whoever runs it."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def endpoint() -> Iterator[StubModel]:
    """The model's endpoint."""
    with StubModel() as running:
        yield running


@pytest.fixture(params=list(NAMES))
def protocol(request: pytest.FixtureRequest) -> str:
    """The language that is spoken with it."""
    return str(request.param)


@pytest.fixture
def name(protocol: str) -> str:
    """The model, as the settings name it."""
    return NAMES[protocol]


@pytest.fixture
def with_model(endpoint: StubModel, open_memory: Open, protocol: str) -> Opened:
    """Opens the home with the stub as its model; settings by their dotted names."""
    url = endpoint.url if protocol == "anthropic" else endpoint.openai_url

    def open_one(settings: dict[str, object] | None = None, **given: object) -> Memory:
        chosen = {
            "extraction.model": NAMES[protocol],
            "extraction.base_url": url,
            "extraction.api_key": KEY,
            **(settings or {}),
        }
        return open_memory(settings=chosen, **given)

    return open_one


@pytest.fixture
def memory(with_model: Opened) -> Memory:
    """A fresh home with the stub as its model."""
    return with_model()
