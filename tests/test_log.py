"""The log of a full run, at debug: ids, names of events, counts and verdicts; nothing that anybody said."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import apsw
import pytest
from tests.conftest import Open

from memstrata import Conflict, Invalid, Refused
from memstrata.events import NAMES

SAID = (
    "I live in Tarnow beside the crooked bridge.",
    "I think I prefer oat milk.",
    "For now, always answer in French.",
    "Remember that my passport number is X12345678.",
    "We use Redis for caching because the cellar floods.",
    "Which marmalade goes with rye?",
    "I live in Krosno these days.",
    "我喜欢喝龙井茶。",
)
WORDS = (
    "Tarnow",
    "Krosno",
    "crooked",
    "oat milk",
    "French",
    "X12345678",
    "Redis",
    "cellar",
    "marmalade",
    "龙井",
    "lamp",
    "green",
    "gherkin",
    "wardrobe",
    "Noted",
    "sk-demo-3333",
)


@pytest.mark.promise("log.no-bodies")
def test_the_log_of_a_full_run_holds_nothing_that_was_said(
    open_memory: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "memstrata")
    root = tmp_path / "shed"
    root.mkdir()
    memory = open_memory(settings={"quota.user": 2, "log.level": "debug"})
    chat = memory.session("s", workspace=root, agent="coder")
    for n, text in enumerate(SAID):
        chat.commit(
            [
                {"role": "user", "content": text, "said_at": f"2026-01-0{n + 1}"},
                {"role": "assistant", "content": "Noted, a wardrobe of facts."},
            ]
        )
    chat.commit([{"role": "user", "content": "the key is sk-demo-3333-not-a-real-key"}])
    memory.drain()
    lamp = memory.add(name="lamp", description="The lamp is green", body="A gherkin lies on it.")
    memory.add(name="rule", description="Green first", type="feedback")
    with pytest.raises(Conflict):
        memory.add(name="lamp", description="Another lamp")
    with pytest.raises(Refused):
        memory.add(name="key", description="sk-demo-3333-not-a-real-key is the gherkin key")
    with pytest.raises(Invalid):
        memory.add(name="lamp", description="green", type="gherkin")
    chat.recall("Where do I live, Tarnow or Krosno, and is the lamp green?")
    memory.search("crooked marmalade gherkin 龙井")
    memory.search_conversations("marmalade")
    memory.list(text="lamp")
    memory.trace(lamp.id)
    tools = memory.tools(session="s", workspace=root, agent="coder")
    tools.search_memory("crooked marmalade gherkin 龙井 lamp")
    tools.recall_memory(lamp.id)
    tools.search_conversations("marmalade")
    tools.trace_memory(lamp.id)
    tools.memory_context("Is the lamp green?")
    tools.call("recall_memory", {"id": "gherkin"})
    reads = repr(memory.reads().items)
    assert len(memory.reads().items) == 6
    conversation = tmp_path / "more.jsonl"
    conversation.write_text('{"role": "user", "content": "I prefer gherkin soup."}\nwardrobe\n')
    memory.import_(conversation)
    file = memory.home / lamp.path
    file.write_text(file.read_text().replace("green", "green, see the wardrobe"))
    (memory.home / "memory/user/broken.md").write_text("---\ngherkin: [\n---\nlamp\n")
    memory.reconcile()
    file.unlink()
    memory.reconcile()
    memory.reindex()
    memory.doctor()
    database = apsw.Connection(str(memory.home / "memstrata.db"))
    database.execute("DELETE FROM memory_text_data")
    database.execute("DELETE FROM message_text_data")
    database.close()
    memory.search("crooked marmalade")
    chat.recall("marmalade lamp")
    memory.close()

    lines = [record.getMessage() for record in caplog.records if record.name == "memstrata"]
    text = reads + caplog.text + "\n".join(repr(record.__dict__) for record in caplog.records)
    assert [word for word in WORDS if word.casefold() in text.casefold()] == []
    assert [said for said in SAID if said in text] == []
    names = {line.partition(" ")[0] for line in lines}
    assert names <= set(NAMES)
    assert names >= {
        "turn.committed",
        "extraction.triggered",
        "extraction.finished",
        "candidate.refused",
        "memory.written",
        "scope.full",
        "fulltext.failed",
        "recall.served",
        "tool.called",
        "home.opened",
        "index.rebuilt",
    }
    assert all(isinstance(json.loads(line.partition(" ")[2]), dict) for line in lines)


@pytest.mark.promise("log.events")
def test_degradations_are_warnings(
    open_memory: Open, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "memstrata")
    memory = open_memory()
    memory.session("s").commit([{"role": "user", "content": "Is the ferry late?"}])
    memory.search("ferry")
    assert {record.levelname for record in caplog.records} == {"INFO"}
    database = apsw.Connection(str(home / "memstrata.db"))
    database.execute("DELETE FROM message_text_data")
    database.close()
    caplog.clear()
    memory.search("ferry", kinds=("message",))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", 'fulltext.failed {"problem": "corrupt"}')
    ]
