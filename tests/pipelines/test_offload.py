"""Tool results archived, folded and read again, on a real home."""

from __future__ import annotations

import json
import stat
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import Open
from tests.domain.lists import SHAPES, Message, calling, chat
from tests.domain.test_reclaim import TURN, broken, made
from tests.doubles import FakeClock

from memstrata import Invalid, Memory, NotFound
from memstrata.domain.canvas import parse
from memstrata.domain.window import own_block, view
from memstrata.offload import OffloadSession

WINDOW = 2_000
NUMBERS = count(1)


def long(n: int) -> str:
    return (
        f"first line {n}\n" + "\n".join(f"crumb {n}-{k} of the loaf" for k in range(40)) + "\nend"
    )


def run(session: OffloadSession, messages: list[Message]) -> list[list[Any]]:
    """What each call of the model would be sent."""
    places = [at for at, one in enumerate(messages) if one["role"] == "assistant"]
    return [session.assemble(messages[:at]) for at in (*places, len(messages))]


def folder(home: Path, name: str = "bake") -> Path:
    return home / "offload" / name


def entries(home: Path, name: str = "bake") -> list[dict[str, Any]]:
    lines = (folder(home, name) / "offload.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.promise("offload.archive-first")
@pytest.mark.promise("offload.byte-equal")
def test_every_result_of_a_list_is_archived_and_comes_back(
    memory: Memory, home: Path, shape: str
) -> None:
    session = memory.offload("bake", window=WINDOW)
    session.assemble(SHAPES[shape]("UTRTR"))
    assert session.report.archived == 2
    assert session.recall("call_1") == "result 2"
    assert session.text("call_3") == "result 4"
    assert session.recall("refs/call_3.md") == "result 4"
    first, _ = entries(home)
    assert first["tool_call"] == "read_file(oven/1.py)"
    assert (first["result_ref"], first["state"]) == ("refs/call_1.md", "live")
    assert len(first["tool_call"]) <= 150
    assert len(first["summary"]) <= 200
    for ref in (folder(home) / "refs").iterdir():
        assert stat.S_IMODE(ref.stat().st_mode) == 0o600


ODD_TEXTS = [
    "",
    "\n",
    "---\nhead: x\n---\nbody",
    "a\r\nb\rc",
    "\ud800 half",
    "日本\x00語",
    "x" * 9_000,
]


@pytest.mark.parametrize("text", ODD_TEXTS)
@pytest.mark.promise("offload.byte-equal")
def test_any_text_comes_back_as_it_was(memory: Memory, text: str) -> None:
    session = memory.offload("bake", window=WINDOW)
    session.record("c1", "look", {"path": "x"}, text)
    assert session.text("c1") == text
    assert memory.offload("bake", window=WINDOW).recall("c1") == text


@pytest.mark.promise("offload.refs")
def test_no_id_leads_out_of_the_folder(memory: Memory, home: Path) -> None:
    session = memory.offload("../../etc", window=WINDOW)
    ids = ["../../x", "a/b", "a-b", "", "é", "A", "a", ".", "con\n"]
    for number, id in enumerate(ids):
        if id:
            session.record(id, "look", "{}", f"text {number}")
    files = list((home / "offload").rglob("*.md"))
    assert len({path.name.casefold() for path in files}) == len(ids) - 1
    assert {path.parent.name for path in files} == {"refs"}
    (only,) = (home / "offload").iterdir()
    assert only.name.startswith("etc-")
    for number, id in enumerate(ids):
        if id:
            assert f"text {number}" in session.recall(id)
    with pytest.raises(Invalid, match="tool_call_id"):
        session.record("", "look", "{}", "x")


@pytest.mark.promise("offload.refs")
def test_an_id_used_twice_is_two_files(memory: Memory, home: Path) -> None:
    """Within the same millisecond, too: the clock stands still here."""
    session = memory.offload("bake", window=WINDOW)
    other = {"role": "tool", "tool_call_id": "call_1", "content": "other"}
    session.assemble([*chat("UTR"), other])
    assert len(list((folder(home) / "refs").iterdir())) == 2
    assert (session.recall("call_1"), session.recall("call_1~2")) == ("result 2", "other")


@pytest.mark.promise("offload.secrets")
def test_secrets_never_reach_the_disk(memory: Memory, home: Path, clock: FakeClock) -> None:
    key = "ghp_" + "a1B2c3D4" * 5
    source = f'token = "{key}"\npassword = "swordfish-in-code"\n'
    session = memory.offload("bake", window=WINDOW)
    session.record("c1", "run", {"command": f"curl -H {key}"}, source)
    assert key.encode() not in b"".join(p.read_bytes() for p in home.rglob("*") if p.is_file())
    found = session.recall("c1")
    assert found.startswith("[1 secrets are masked")
    assert found.masked == 1
    assert "swordfish-in-code" in found
    assert key not in session.recall("c1:arguments")


@pytest.mark.promise("offload.replay")
def test_a_restart_goes_on_exactly_there(open_memory: Open, home: Path) -> None:
    messages = chat("SU" + "TR" * 14 + "U" + "TR" * 6, long)
    session = open_memory().offload("bake", window=WINDOW)
    for at in range(2, len(messages) + 1, 2):
        sent = session.assemble(messages[:at])
        again = open_memory().offload("bake", window=WINDOW)
        assert again.assemble(messages[:at]) == sent
        assert session.assemble(messages[:at]) == sent
    assert session.report.removed
    assert session.report.replaced


@pytest.mark.promise("offload.reindex")
def test_reindex_makes_the_rows_anew_from_the_files(open_memory: Open, home: Path) -> None:
    messages = chat("SU" + "TR" * 14 + "U" + "TR" * 6, long)
    memory = open_memory()
    session = memory.offload("bake", window=WINDOW)
    sent = run(session, messages)[-1]
    tasks = session.tasks()
    memory.reindex()
    again = memory.offload("bake", window=WINDOW)
    assert again.assemble(messages) == sent
    assert again.tasks() == tasks
    assert session.assemble(messages) == sent
    assert memory.reconcile().actions == []


@pytest.mark.promise("offload.prefix")
def test_between_steps_the_list_only_grows(memory: Memory) -> None:
    session = memory.offload("bake", window=WINDOW)
    before: list[Any] = []
    messages = chat("SU" + "TR" * 30, long)
    for at in range(2, len(messages) + 1, 2):
        sent = session.assemble(messages[:at])
        if not session.report.levels:
            assert sent[: len(before)] == before
        before = sent
    assert session.report.after < 0.95 * WINDOW


@pytest.mark.promise("offload.block")
def test_there_is_one_block_and_the_host_never_keeps_it(memory: Memory) -> None:
    for cache in ("stable", "fresh"):
        session = memory.offload(f"bake-{cache}", window=WINDOW, cache=cache)
        messages = chat("SU" + "TR" * 30, long)
        for sent in run(session, messages)[9:]:
            assert [own_block(one) for one in sent].count("current_task_context") == 1
            kept = session.assemble(sent)
            assert [own_block(one) for one in kept].count("current_task_context") == 1
        assert not any(own_block(one) for one in messages)


@pytest.mark.promise("offload.one-home")
def test_every_result_has_one_home(memory: Memory, home: Path) -> None:
    session = memory.offload("bake", window=WINDOW)
    run(session, chat("U" + "TR" * 23, long))
    (graph,) = (folder(home) / "graphs").iterdir()
    nodes = {node.id for node in parse(graph.read_text().removesuffix("\n"), graph.name).nodes}
    homes = [one["node_id"] for one in entries(home)]
    mapped = [one for one in homes if one]
    assert len(homes) == 23
    assert set(mapped) <= nodes
    assert len(homes) - len(mapped) < 4  # the newest wait for others
    (task,) = session.tasks()
    opened = session.open(task.file)
    assert sorted(key for _, keys in opened.results for key in keys) == sorted(
        one["tool_call_id"] for one in entries(home) if one["node_id"]
    )


@pytest.mark.promise("offload.recall")
def test_recall_is_bounded_and_says_how_much_there_is(memory: Memory) -> None:
    session = memory.offload("bake", window=WINDOW)
    session.record("c1", "look", "{}", "\n".join(f"line {n}" for n in range(1, 901)))
    found = session.recall("c1")
    assert found.splitlines()[:2] == ["line 1", "line 2"]
    assert found.splitlines()[-1].startswith("[lines 1–200 of 900, ")
    assert "start=201 goes on" in found
    assert session.recall("c1", start=899).splitlines()[:2] == ["line 899", "line 900"]
    assert len(session.recall("c1", lines=400).splitlines()) == 401
    hits = session.recall("c1", grep="LINE 77")
    assert hits.splitlines() == [
        *("77: line 77", *(f"{n}: line {n}" for n in range(770, 780))),
        "[11 of 900 lines hold 'LINE 77']",
    ]
    session.record("c2", "look", "{}", "needle " + "x" * 900_000)
    assert len(session.recall("c2", lines=400)) < 70_000
    assert len(session.recall("c2", grep="needle")) < 3_000
    for wrong in ({"lines": 401}, {"lines": 0}, {"start": 0}, {"start": True}, {"grep": 3}):
        with pytest.raises(Invalid):
            session.recall("c1", **wrong)
    with pytest.raises(NotFound):
        session.recall("nothing")


@pytest.mark.promise("offload.way-back")
def test_whatever_was_folded_is_one_call_away(memory: Memory) -> None:
    session = memory.offload("bake", window=WINDOW)
    messages = chat("SU" + "TR" * 12 + "AU" + "TR" * 10, long)
    sent = run(session, messages)[-1]
    told = json.dumps(sent, ensure_ascii=False)
    file = session.tasks()[-1].file
    assert file in told or "removed" in told
    for message in messages:
        if message["role"] == "tool":
            assert message["content"] in session.recall(message["tool_call_id"], lines=400)
    assert "crumb 3-7 of" in session.recall(file, grep="crumb 3-7 of")
    assert "Thought" in session.recall("removed", grep="Thought")
    node = session.open(file).results[0][0]
    assert session.recall(node, grep="first line")


@pytest.mark.promise("offload.compacted")
def test_compacted_arguments_are_one_call_away(memory: Memory) -> None:
    session = memory.offload("bake", window=3 * WINDOW)
    messages: list[Message] = [{"role": "user", "content": "go"}]
    for n in range(9):
        messages.append(calling(f"c{n}", {"path": "a", "text": f"{n} " + "zest " * 120}, "write"))
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": long(n)})
    sent = run(session, messages)[-1]
    assert session.report.compacted
    short = [one for one in sent if ":arguments]" in json.dumps(one)]
    assert short
    for one in short:
        (call,) = one["tool_calls"]
        assert json.loads(call["function"]["arguments"])["path"] == "a"
        whole = json.loads(session.recall(f"{call['id']}:arguments"))
        assert whole["text"] == f"{call['id'][1:]} " + "zest " * 120


@pytest.mark.promise("offload.owners")
def test_owners_and_workspaces_are_apart(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    for name in ("mill", "barn"):
        (tmp_path / name).mkdir()
    mine = memory.offload("bake", window=WINDOW, workspace=tmp_path / "mill")
    run(mine, chat("U" + "TR" * 5, long))
    beside = memory.offload("cook", window=WINDOW, workspace=tmp_path / "mill")
    (task,) = beside.tasks(scope="workspace")
    assert beside.tasks() == ()
    assert beside.open(task.file).results
    assert "crumb 2-3" in beside.recall(f"{task.file.partition('/')[0]}/call_1")
    for other in (
        memory.offload("bake", window=WINDOW),
        memory.offload("bake", window=WINDOW, workspace=tmp_path / "barn"),
        memory.offload("bake", window=WINDOW, workspace=tmp_path / "mill", user="ann"),
    ):
        assert other.tasks(scope="workspace") == ()
        for ref in ("call_1", f"{task.file.partition('/')[0]}/call_1", "001-N1"):
            with pytest.raises(NotFound):
                other.recall(ref)
        other.record("call_1", "look", "{}", "their own")
        assert other.recall("call_1") == "their own"
    assert "crumb 2-3" in mine.recall("call_1")


@pytest.mark.promise("offload.birds-eye")
def test_a_finished_task_of_another_session_is_told_of(open_memory: Open, clock: FakeClock) -> None:
    memory = open_memory()
    run(memory.offload("monday", window=WINDOW), chat("U" + "TR" * 5, long))
    later = memory.offload("tuesday", window=WINDOW)
    sent = later.assemble([{"role": "user", "content": "Good morning, what is to be baked?"}])
    assert "monday/001-" in str(sent[0]["content"]) + str(sent[-1]["content"])
    clock.advance(days=31)
    late = open_memory().offload("may", window=WINDOW)
    assert len(late.assemble([{"role": "user", "content": "And now, what is there to do?"}])) == 1


@pytest.mark.promise("offload.retention")
def test_an_archive_goes_after_its_days(open_memory: Open, home: Path, clock: FakeClock) -> None:
    run(open_memory().offload("bake", window=WINDOW), chat("UTRTR", long))
    clock.advance(timedelta(days=30))
    assert len(open_memory().tasks(session="bake")) == 1
    assert folder(home).joinpath("session.json").exists()
    clock.advance(timedelta(days=1))
    memory = open_memory()
    assert not [path for path in folder(home).rglob("*") if path.is_file()]
    with pytest.raises(NotFound):
        memory.recall_result("call_1")
    assert memory.reconcile().actions == []


@pytest.mark.promise("offload.odd-lists")
@pytest.mark.parametrize(
    "messages", [None, 7, "text", {"role": "user"}, [None, 3, {}], [[]], iter(())]
)
def test_no_list_raises(memory: Memory, messages: object) -> None:
    session = memory.offload("bake", window=WINDOW)
    found = session.assemble(messages)
    assert isinstance(found, list)
    if not isinstance(messages, list) and messages is not None:
        assert found == []
    again = session.assemble(chat("UTR"))
    assert len(again) == 3


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(turns=st.lists(TURN, max_size=24), window=st.integers(1_000, 6_000))
@pytest.mark.promise("offload.laws")
def test_any_list_is_assembled_the_same_twice(
    memory: Memory, turns: list[str], window: int
) -> None:
    session = memory.offload(f"bake-{next(NUMBERS)}", window=window)
    messages = made(turns)
    for at in range(1, len(messages) + 1, 5):
        sent = session.assemble(messages[:at])
        assert not session.report.warnings
        assert session.assemble(messages[:at]) == sent
    sent = session.assemble(messages)
    assert broken([one for one in sent if not own_block(one)]) <= broken(messages)
    kept = session.assemble(sent)
    assert sum(own_block(one) == "current_task_context" for one in kept) <= 1
    for _, result in view(messages).results:
        assert any(session.text(key) == result.text for key in keys_of(session, result.id))


def keys_of(session: OffloadSession, id: str) -> list[str]:
    """The ids under which results of a call are archived."""
    standing = session._host.standing
    assert standing is not None
    return [one.key for one in standing.session.kept if one.call == id]


@pytest.mark.promise("offload.limits")
def test_what_is_wrong_is_told(open_memory: Open) -> None:
    memory = open_memory()
    for window in (0, -1, True, "many", 999):
        with pytest.raises(Invalid, match="window"):
            memory.offload("bake", window=window)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="cache"):
        memory.offload("bake", cache="warm")  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="session_id"):
        memory.offload("")
    wrong = open_memory(settings={"offload.mild": 0.9})
    with pytest.raises(Invalid, match="mild_target < mild < aggressive < emergency"):
        wrong.offload("bake")


def test_the_hosts_figures_count(memory: Memory) -> None:
    session = memory.offload("bake", window=WINDOW)
    session.assemble(chat("UTR"))
    assert session.report.overhead == 240
    session.assemble(chat("SUTR"))
    assert 220 < session.report.overhead < 240
    session.assemble(chat("SUTR"), overhead=1_700)
    assert session.report.overhead == 1_700
    assert session.report.reason


@pytest.mark.promise("offload.tools")
def test_the_agents_tools(memory: Memory) -> None:
    session = memory.offload("bake", window=WINDOW)
    run(session, chat("U" + "TR" * 5, long))
    names = {"recall_result", "list_tasks", "open_task"}
    assert {one["function"]["name"] for one in session.tools()} == names
    assert {one["name"] for one in session.tools("anthropic")} == names
    assert {one["name"] for one in session.tools("responses")} == names
    with pytest.raises(Invalid):
        session.tools("other")  # type: ignore[arg-type]
    file = session.call("list_tasks").partition(": ")[0].removeprefix("- ")
    opened = session.call("open_task", json.dumps({"file": file}))
    assert "flowchart TD" in opened
    assert "001-N1: call_1" in opened
    assert "crumb 2-3 of" in session.call("recall_result", {"ref": "001-N1", "grep": "2-3"})
    for name, arguments in (
        ("recall_result", "{"),
        ("recall_result", {}),
        ("recall_result", {"ref": "nope"}),
        ("recall_result", {"ref": "call_1", "lines": 9_999}),
        ("recall_result", {"ref": 3}),
        ("list_tasks", {"scope": "world"}),
        ("open_task", {"path": "x"}),
        ("delete_everything", {}),
        ("list_tasks", [1]),
    ):
        assert session.call(name, arguments).startswith("Error ("), (name, arguments)
