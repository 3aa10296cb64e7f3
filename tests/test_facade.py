"""The facade as a whole: its home and whose it is, opening and closing, settings, being switched off."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

import memstrata
from memstrata import AsyncMemory, Denied, Invalid, Memory
from memstrata.bootstrap import home_path


def lived_in(memory: Memory, root: Path) -> None:
    """A home with something of every kind in it."""
    root.mkdir(exist_ok=True)
    chat = memory.session("s", workspace=root, agent="coder")
    chat.commit([{"role": "user", "content": "I live in Tarnow. We use Redis for caching."}])
    memory.session("s", user="ana").commit([{"role": "user", "content": "I live in Krosno."}])
    memory.drain()
    memory.add(name="way", description="Own way", scope="agent", agent="coder")
    chat.recall("anything")


# -- the home -------------------------------------------------------------------------------------------


@pytest.mark.promise("disk.layout")
def test_the_home_is_laid_out_as_documented(memory: Memory, home: Path, tmp_path: Path) -> None:
    lived_in(memory, tmp_path / "kiln")
    memory.close()
    (user,) = (home / "memory/user").glob("mem_*.md")
    (coder,) = (home / "memory/agent/coder").glob("mem_*.md")
    (ana,) = (home / "owners/ana/memory/user").glob("mem_*.md")
    found = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert {path for path in found if not path.startswith("memstrata.db-")} == {
        "memstrata.db",
        "workspaces.json",
        "run/write.lock",
        "worker.lock",
        f"memory/user/{user.name}",
        "memory/user/MEMORY.md",
        f"memory/agent/coder/{coder.name}",
        "memory/agent/coder/MEMORY.md",
        "records/2026-03-14.jsonl",
        "conversations/2026-03-14.jsonl",
        f"owners/ana/memory/user/{ana.name}",
        "owners/ana/memory/user/MEMORY.md",
        "owners/ana/records/2026-03-14.jsonl",
        "owners/ana/conversations/2026-03-14.jsonl",
    }
    text = user.read_text()
    assert text.startswith(f"---\nid: {user.stem}\nowner: local\nscope: user\n")
    assert "Lives in Tarnow" in text


@pytest.mark.promise("disk.layout")
def test_the_home_is_private_to_its_user(memory: Memory, home: Path, tmp_path: Path) -> None:
    lived_in(memory, tmp_path / "kiln")
    for path in (home, *home.rglob("*")):
        expected = 0o700 if path.is_dir() else 0o600
        assert path.stat().st_mode & 0o7777 == expected, path
    memory.reindex()
    memory.close()
    assert {path.stat().st_mode & 0o077 for path in home.rglob("*")} == {0}


@pytest.mark.promise("disk.layout")
def test_a_day_of_the_log_is_the_owners(open_memory: Open, home: Path, clock: FakeClock) -> None:
    clock.set(datetime(2026, 3, 14, 15, 30, tzinfo=UTC))
    memory = open_memory(settings={"timezone": "Asia/Tokyo"})
    memory.session("s").commit([{"role": "user", "content": "Good night"}])
    assert [path.name for path in (home / "conversations").iterdir()] == ["2026-03-15.jsonl"]


@pytest.mark.promise("disk.layout")
def test_where_the_home_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_path() == tmp_path / ".memstrata"
    monkeypatch.setenv("MEMSTRATA_HOME", str(tmp_path / "other"))
    assert home_path() == tmp_path / "other"
    assert home_path("~/third") == tmp_path / "third"
    with Memory.open(background=False) as memory:
        assert memory.home == tmp_path / "other"
    assert (tmp_path / "other" / "memstrata.db").is_file()


@pytest.mark.promise("id.sortable")
def test_ids_sort_as_they_were_made(home: Path) -> None:
    with Memory.open(home, background=False) as memory:
        ids = [memory.add(name=f"n{n}", description="d").id for n in range(30)]
    assert ids == sorted(set(ids))
    assert all(id.startswith("mem_") and id == id.lower() and len(id) == 30 for id in ids)


# -- opening and closing ---------------------------------------------------------------------------------


@pytest.mark.promise("facade.close")
def test_close_works_off_what_waits(open_memory: Open) -> None:
    memory = open_memory(background=True)
    memory.session("s").commit([{"role": "user", "content": "I live in Tarnow."}])
    memory.close()
    memory.close()
    again = open_memory()
    assert again.status().waiting == 0
    assert [one.description for one in again.list().items] == ["Lives in Tarnow"]
    again.session("s").commit([{"role": "user", "content": "I prefer tea."}])
    again.close()
    assert open_memory().status().waiting == 1, "without a background it waits"


@pytest.mark.promise("facade.close")
def test_a_block_closes_even_when_it_fails(home: Path) -> None:
    def fail() -> None:
        with Memory.open(home) as memory:
            memory.add(name="n", description="d")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert "n" in (home / "memory/user/MEMORY.md").read_text()
    with Memory.open(home) as again:
        assert len(again.list().items) == 1


@pytest.mark.promise("disk.rebuild")
def test_every_verb_answers_as_before_without_the_database(
    open_memory: Open, home: Path, tmp_path: Path, clock: FakeClock
) -> None:
    def answers(memory: Memory) -> dict[str, object]:
        view = {"workspace": tmp_path / "kiln", "agent": "coder"}
        items = memory.list(**view).items  # type: ignore[arg-type]
        chat = memory.session("s", workspace=tmp_path / "kiln", agent="coder")
        return {
            "list": items,
            "get": [memory.get(one.id, **view) for one in items],  # type: ignore[arg-type]
            "history": [memory.history(one.id, **view) for one in items],  # type: ignore[arg-type]
            "trace": [memory.trace(one.id, **view) for one in items],  # type: ignore[arg-type]
            "search": memory.search("Tarnow Redis way", **view),  # type: ignore[arg-type]
            "talk": memory.search_conversations("Tarnow", **view),  # type: ignore[arg-type]
            "recall": chat.recall("where do I live, what do we use?"),
            "other": memory.list(user="ana").items,
            "workspace": memory.workspace_of(tmp_path / "kiln"),
            "memories": memory.status().memories,
            "messages": (memory.status().messages, memory.status().waiting),
        }

    memory = open_memory()
    lived_in(memory, tmp_path / "kiln")
    clock.advance(days=1)
    before = answers(memory)
    assert memory.reindex().problems == []
    assert answers(memory) == before
    memory.close()
    for file in home.glob("memstrata.db*"):
        file.unlink()
    again = open_memory()
    assert answers(again) == before
    assert again.drain().batches == 0, "nothing is extracted twice"


@pytest.mark.promise("write.reconcile-idle")
def test_a_second_reconcile_finds_nothing(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    lived_in(memory, tmp_path / "kiln")
    (memory.home / "memory/user/by hand.md").write_text("A note by hand\n")
    assert memory.reconcile().actions
    assert memory.reconcile().actions == []
    memory.close()
    again = open_memory()
    assert again.reconcile().actions == []


# -- settings ----------------------------------------------------------------------------------------------


@pytest.mark.promise("settings.precedence")
@pytest.mark.promise("settings.aliases")
def test_the_origin_of_a_setting_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[memory]\nmaxInjectTokens = 900\n[quota]\nuser = 7\n")
    monkeypatch.setenv("MEMSTRATA_QUOTA__USER", "8")
    with Memory.open(home, settings={"recall.limit": 3}, background=False) as memory:
        rows = {key: (value, origin) for key, value, origin in memory.config()}
    assert rows["recall.max_tokens"] == (900, str(home / "config.toml"))
    assert rows["quota.user"] == (8, "environment MEMSTRATA_QUOTA__USER")
    assert rows["recall.limit"] == (3, "argument")
    assert rows["memory.enabled"] == (True, "default")


@pytest.mark.promise("settings.unknown")
def test_an_unknown_setting_opens_no_home(home: Path) -> None:
    with pytest.raises(Invalid, match=r"did you mean recall\.max_tokens") as caught:
        Memory.open(home, settings={"recall.max_token": 3})
    assert caught.value.field == "recall.max_token"
    assert not home.exists()


# -- off ----------------------------------------------------------------------------------------------------


@pytest.mark.promise("memory.off")
def test_off_and_on_again(open_memory: Open, tmp_path: Path, home: Path) -> None:
    memory = open_memory()
    lived_in(memory, tmp_path / "kiln")
    memory.session("s").commit([{"role": "user", "content": "I prefer tea."}])
    before = memory.list().items
    memory.close()
    files = {path: path.read_bytes() for path in home.rglob("*.md")}
    off = open_memory(settings={"memory.enabled": False})
    assert off.status().extractor == "none: memory is switched off"
    assert off.drain().batches == 0
    for read in (off.get, off.history, off.trace, off.search, off.search_conversations):
        with pytest.raises(Denied, match="memory is switched off"):
            read(before[0].id)
        with pytest.raises(Denied, match="memory is switched off"):
            read("mem_none")
    off.close()
    assert {path: path.read_bytes() for path in home.rglob("*.md")} == files
    on = open_memory()
    assert on.list().items == before
    assert on.drain().messages == 1, "it resumes where it stopped"
    assert len(on.list().items) == len(before) + 1


# -- three times ---------------------------------------------------------------------------------------------


@pytest.mark.promise("times.three")
def test_happened_said_and_recorded(memory: Memory, clock: FakeClock) -> None:
    memory.session("s").commit(
        [
            {"role": "user", "content": "I saw a heron yesterday.", "said_at": "2025-05-10T20:00Z"},
            {"role": "user", "content": "I live in Tarnow."},
        ]
    )
    clock.advance(timedelta(hours=5))
    memory.drain()
    heron, home = sorted(memory.list().items, key=lambda one: one.type)
    assert str(heron.happened_from) == "2025-05-09"
    assert heron.said_at == datetime(2025, 5, 10, 20, tzinfo=UTC)
    assert heron.created_at == clock.now()
    assert home.said_at is None, "unknown stays unknown"
    assert home.happened_from is None
    message = memory.trace(home.evidence[0].message).message
    assert message is not None
    assert message.said_at is None
    assert message.recorded_at == clock.now() - timedelta(hours=5)


@pytest.mark.promise("l0.excluded")
def test_sessions_of_ours_and_excluded_ones_are_not_kept(open_memory: Open, home: Path) -> None:
    memory = open_memory(settings={"capture.exclude": ["ci-*"]})
    for session in ("ci-7", "memstrata-extract"):
        done = memory.session(session).commit([{"role": "user", "content": "I live in Tarnow."}])
        assert done.stored == ()
        assert session in done.warnings[0]
    assert memory.status().messages == 0
    assert not (home / "conversations").exists()


@pytest.mark.promise("l0.shapes")
def test_both_shapes_make_one_conversation(memory: Memory, home: Path) -> None:
    """A call of a tool and its result are linked by the id of the call, in either shape."""
    openai = [
        {"role": "user", "content": "Where is the kiln?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "by the weir"},
    ]
    anthropic = [
        {"role": "user", "content": [{"type": "text", "text": "Where is the kiln?"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "by the weir"}],
        },
    ]
    for name, turn in (("openai", openai), ("anthropic", anthropic)):
        memory.session(name).commit(turn)
    (shard,) = (home / "conversations").glob("*.jsonl")
    told: dict[str, list[tuple[str, str, str]]] = {}
    for line in shard.read_text().splitlines():
        one = json.loads(line)
        told.setdefault(one["session"], []).append(
            (one["role"], one["content"], one.get("call", ""))
        )
    assert told["openai"] == told["anthropic"]
    assert told["openai"][1:] == [("tool", "find({})", "c1"), ("tool", "by the weir", "c1")]


@pytest.mark.promise("python.lazy")
def test_the_front_door_is_the_package() -> None:
    assert memstrata.Memory is Memory
    assert memstrata.AsyncMemory is AsyncMemory
