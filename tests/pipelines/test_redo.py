"""Batches extracted again: after a quota made room, and each once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Open

from memstrata import Invalid, Memory
from memstrata.errors import Conflict
from memstrata.pipelines import extract

SAYINGS = ("I live in Tarnow.", "My sister is called Odile.", "I prefer mint tea.")


def said(memory: Memory) -> None:
    for text in SAYINGS:
        memory.session("s").commit([{"role": "user", "content": text}])
        memory.drain()


def kept(memory: Memory) -> int:
    return len(memory.list().items)


@pytest.mark.promise("quota.retry")
def test_what_a_full_scope_refused_is_kept_once_there_is_room(
    open_memory: Open, home: Path
) -> None:
    memory = open_memory(settings={"quota.user": 1})
    said(memory)
    assert (kept(memory), memory.status().verdicts["quota"]) == (1, 2)
    assert memory.extract(retry_refused="quota").batches == 2
    assert kept(memory) == 1, "there is no room yet"
    memory.close()
    for file in home.glob("memstrata.db*"):
        file.unlink()  # the records remember what was refused
    roomy = open_memory()
    before = roomy.list().items
    assert roomy.extract(retry_refused="quota").batches == 2
    assert kept(roomy) == 3
    assert before[0] in roomy.list().items, "what was known is untouched"
    assert roomy.extract(retry_refused="quota").batches == 0
    assert roomy.status().waiting == 0


def test_only_a_refusal_can_be_retried(memory: Memory) -> None:
    for wrong in ("noop", "add", "nonsense"):
        with pytest.raises(Invalid, match="retry_refused"):
            memory.extract(retry_refused=wrong)


def test_a_batch_is_done_again_once(open_memory: Open) -> None:
    memory = open_memory(settings={"quota.user": 1})
    said(memory)
    world, realm = memory._world, memory._realm
    lines = world.store.batches(realm, "s")
    batch = str(lines[1].data["batch"])
    with pytest.raises(Conflict):  # no job asks for it
        extract.again(world, realm, "s", batch)
    assert extract.again(world, realm, "s", "batch_unknown") is None
    assert len(world.store.batches(realm, "s")) == len(lines)
