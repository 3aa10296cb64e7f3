"""Conversations from elsewhere: told by their content, with their times and ids, stored once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.conftest import Open

from memstrata import Invalid, Memory, Unavailable, failpoints

TALK = [
    {
        "session": "a",
        "id": "m1",
        "role": "user",
        "content": "I live in Gdynia.",
        "said_at": "2025-03-03T08:00:00Z",
    },
    {"session": "a", "id": "m2", "role": "assistant", "content": "Noted."},
    {"session": "b", "id": "m1", "role": "user", "content": "Who keeps the mill?"},
    {"role": "user", "content": "I prefer tea."},
]
DIALOGUE = {
    "sample_id": "conv-9",
    "qa": [],
    "conversation": {
        "speaker_a": "Oriel",
        "speaker_b": "Petra",
        "session_2_date_time": "7:05 pm on 3 June, 2025",
        "session_2": [{"speaker": "Oriel", "dia_id": "D2:1", "text": "I moved to Krosno."}],
        "session_1_date_time": "1:56 pm on 8 May, 2025",
        "session_1": [
            {"speaker": "Oriel", "dia_id": "D1:1", "text": "I live in Tarnow."},
            {
                "speaker": "Petra",
                "dia_id": "D1:2",
                "text": "Look at this!",
                "blip_caption": "a red kite",
            },
            {"speaker": "Petra", "text": 5},
        ],
    },
}


def lines(path: Path, *rows: Mapping[str, object] | str) -> Path:
    """A file of JSON Lines; a text stands as it is."""
    path.write_text(
        "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in rows)
    )
    return path


def everything(memory: Memory) -> list[tuple[str, str, str]]:
    """(session, id, content) of every message."""
    store, realm = memory._world.store, memory._realm
    return [
        (session, one.message.id, one.message.content)
        for session, _, _ in store.sessions(realm)
        for one in store.messages(realm, session)
    ]


@pytest.mark.promise("import.formats")
@pytest.mark.parametrize("name", ["talk.jsonl", "talk.txt", "talk", "talk.json"])
@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n  "])
def test_json_lines_are_told_by_their_content(
    memory: Memory, tmp_path: Path, name: str, before: str
) -> None:
    path = lines(tmp_path / name, *TALK)
    path.write_text(before + path.read_text())
    found = memory.import_(path)
    assert (found.format, found.stored, found.bad) == ("jsonl", 4, [])
    assert found.sessions == {"a", "b", "talk"}, "the file's stem where none is named"
    assert ("a", "m1", "I live in Gdynia.") in everything(memory)
    message = memory.trace("m1", session="a").message
    assert message is not None
    assert message.said_at == datetime(2025, 3, 3, 8, tzinfo=UTC)
    assert {one.description for one in memory.list().items} == {"Lives in Gdynia", "Prefers tea"}


@pytest.mark.promise("import.formats")
@pytest.mark.parametrize("alone", [True, False])
def test_dialogues_of_locomo(open_memory: Open, tmp_path: Path, alone: bool) -> None:
    memory = open_memory(settings={"timezone": "Europe/Warsaw"})
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(DIALOGUE if alone else [DIALOGUE]))
    found = memory.import_(path)
    assert (found.format, found.stored) == ("locomo", 3)
    assert found.bad == ["conv-9 session_1[2]: is no turn with a text"]
    assert everything(memory) == [
        ("conv-9-session_1", "conv-9:D1:1", "I live in Tarnow."),
        ("conv-9-session_1", "conv-9:D1:2", "Look at this!\n[picture: a red kite]"),
        ("conv-9-session_2", "conv-9:D2:1", "I moved to Krosno."),
    ]
    first, second = (memory.trace(f"conv-9:D1:{n}").message for n in (1, 2))
    assert first is not None
    assert second is not None
    assert (first.role, first.name) == ("user", "Oriel")
    assert (second.role, second.name) == ("assistant", "Petra")
    assert first.said_at == datetime(2025, 5, 8, 11, 56, tzinfo=UTC), "local to the owner"
    homes = {one.description: one.status for one in memory.list().items}
    assert homes["Lives in Tarnow"] == "invalid"


@pytest.mark.promise("import.formats")
def test_a_format_may_be_named_and_must_be_known(memory: Memory, tmp_path: Path) -> None:
    path = lines(tmp_path / "talk", *TALK)
    assert memory.import_(path, format="jsonl").stored == 4
    for content in ("", "hello", "[1, 2]", "\x00\x01"):
        other = tmp_path / "other.json"
        other.write_text(content)
        with pytest.raises(Invalid) as caught:
            memory.import_(other)
        assert caught.value.field == "path"
        assert "jsonl, locomo" in str(caught.value)
    with pytest.raises(Invalid) as caught:
        memory.import_(path, format="xml")
    assert caught.value.field == "format"
    with pytest.raises(Invalid) as caught:
        memory.import_(path, format="locomo")
    assert caught.value.field == "path"
    with pytest.raises(Invalid):
        memory.import_(tmp_path / "nowhere.jsonl")


@pytest.mark.promise("import.idempotent")
def test_an_import_run_again_stores_nothing_new(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    path = lines(tmp_path / "talk.jsonl", *TALK)
    first = memory.import_(path)
    told = everything(memory), memory.list().items, len(memory.why().items)
    assert (first.stored, first.existing) == (4, 0)
    again = memory.import_(path)
    assert (again.stored, again.existing, again.bad) == (0, 4, [])
    memory.close()
    memory = open_memory()
    assert memory.import_(path).stored == 0
    assert (everything(memory), memory.list().items, len(memory.why().items)) == told
    lines(path, *TALK, {"role": "user", "content": "One more."})
    assert memory.import_(path).stored == 1


@pytest.mark.promise("import.idempotent")
def test_bad_lines_are_named_and_the_others_go_in(memory: Memory, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "talk.jsonl",
        TALK[0],
        "no json",
        "",
        "[1]",
        {"role": "judge", "content": "x"},
        {"role": "user", "content": "x", "session": "a\nb"},
        {"role": "user", "content": "x", "agent": "../x"},
        {"role": "user", "content": "x", "said_at": "soon"},
        TALK[1],
    )
    found = memory.import_(path)
    assert found.stored == 2
    named = [one.partition(":")[0] for one in found.bad]
    assert sorted(named) == ["line 2", "line 4", "line 5", "line 6", "line 7", "line 8"]
    assert all(one.partition(": ")[2] for one in found.bad)
    assert memory.import_(path).bad == found.bad


@pytest.mark.promise("import.idempotent")
def test_an_import_that_broke_off_is_run_again(memory: Memory, tmp_path: Path) -> None:
    rows = [{"session": f"s{n}", "role": "user", "content": f"Sentence {n}."} for n in range(6)]
    path = lines(tmp_path / "talk.jsonl", *rows)
    with (
        failpoints.armed({"apply.rows": "enospc:4"}),
        pytest.raises(Unavailable, match="3 messages are stored, run the import again"),
    ):
        memory.import_(path)
    again = memory.import_(path)
    assert (again.stored, again.existing) == (3, 3)
    assert len(everything(memory)) == 6


def test_extraction_may_be_left_for_later(memory: Memory, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = lines(tmp_path / "talk.jsonl", *TALK)
    memory.import_(path, extract=False, progress=lambda *given: told.append(given))
    assert memory.list().items == ()
    assert memory.status().waiting == 4
    assert told == [("importing", 2, 0), ("importing", 3, 0), ("importing", 4, 0)]
    assert memory.drain().messages == 4
