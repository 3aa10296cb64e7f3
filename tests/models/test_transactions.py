"""No transaction is open while a model is asked: both doubles fail the test if one is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import Final

import pytest
from tests.conftest import Open
from tests.models.conftest import NAMES, Opened
from tests.stub_model import GOOD, StubModel, candidates

from memstrata import Memory
from memstrata.adapters.model_pydantic_ai import PydanticAiModel
from memstrata.adapters.model_scripted import ScriptedModel, is_in_transaction
from memstrata.ports import Model, Question

NOTHING: Final = candidates()
GUARD: Final = partial(is_in_transaction, 0.1)


def ask(model: Model, name: str = NAMES["openai"]) -> str:
    """The answer to a question."""
    return model.ask(Question("test", name, "", "hello", {}, "plain")).text


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    """A home that is not empty."""
    memory = open_memory()
    memory.add(name="The mill", description="stands by the river")
    return memory


@pytest.mark.promise("model.no-transaction")
@pytest.mark.parametrize("kind", ["transaction", "snapshot", "exclusive"])
def test_the_double_sees_what_is_open(kind: str, memory: Memory) -> None:
    world = memory._world
    opened = {
        "transaction": world.store.transaction,
        "snapshot": getattr(world.store, "_reading"),  # noqa: B009 -- the port has no such name
        "exclusive": world.vault.exclusive,
    }[kind]
    model = ScriptedModel(NOTHING, guard=GUARD, repeat=True)
    assert ask(model) == NOTHING
    with opened(), pytest.raises(AssertionError, match="inside a transaction or a lock"):
        ask(model)
    assert ask(model) == NOTHING
    with pytest.raises(AssertionError, match="inside a transaction or a lock"):
        model.close()


def test_another_thread_s_transaction_is_none_of_ours(memory: Memory) -> None:
    begun, asked = Event(), Event()

    def write() -> None:
        with memory._world.store.transaction():
            begun.set()
            asked.wait(0.2)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        assert begun.wait(5)
        assert not is_in_transaction()
        asked.set()
        writing.result(5)


def test_the_stub_sees_it_too(memory: Memory) -> None:
    endpoint = StubModel(NOTHING, NOTHING, guard=GUARD).__enter__()
    model = PydanticAiModel(base_url=endpoint.openai_url)
    assert ask(model) == NOTHING
    with memory._world.store.transaction():
        assert ask(model) == NOTHING
    model.close()
    with pytest.raises(AssertionError, match="request 2 came inside a transaction"):
        endpoint.__exit__(None)


@pytest.mark.promise("model.no-transaction")
def test_none_is_open_while_others_read_and_write(endpoint: StubModel, with_model: Opened) -> None:
    """The doubles stand guard in every test; here other threads are at work meanwhile."""
    endpoint.say(*[candidates(GOOD)] * 8)
    memory = with_model()
    for number in range(8):
        memory.session(f"s{number}").commit([{"role": "user", "content": "I prefer tea to coffee"}])
    over = Event()

    def others() -> None:
        for number in range(60):
            memory.session("other").commit([{"role": "tool", "content": f"line {number}"}])
            memory.search("tea")
            if over.is_set():
                return

    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(others)
        try:
            assert memory.drain().messages >= 8
        finally:
            over.set()
        busy.result(20)
    (kept,) = memory.list().items
    assert len(kept.evidence) == 8
