"""The benchmark of layers: made-up talk in, every figure as promised; and what it says when one is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from bench import layers

from memstrata import Invalid

TOWNS = ("Lyon", "Graz", "Gdynia", "Porto", "Bergen", "Turku", "Plzen", "Ghent")
THINGS = ("mint tea", "black coffee", "window seats", "dark mode", "paper books", "long walks")


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A conversation of a hundred messages."""
    path = tmp_path / "talk.jsonl"
    lines = []
    for n in range(50):
        fact = f"I prefer {THINGS[n % 6]}." if n % 2 else f"I live in {TOWNS[n % 8]}."
        lines.append({"role": "user", "content": fact, "session": f"s{n % 5}", "id": f"u{n}"})
        lines.append(
            {"role": "assistant", "content": "Noted.", "session": f"s{n % 5}", "id": f"a{n}"}
        )
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    return path


def test_messages_are_repeated_under_new_ids(talk: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert layers.repeated(talk, 250, out) == 250
    read = [json.loads(line) for line in out.read_text().splitlines()]
    assert len({one["id"] for one in read}) == 250
    assert len({one["session"] for one in read}) == 15


def test_the_first_file_that_can_be_imported_is_taken(talk: Path, tmp_path: Path) -> None:
    (tmp_path / "about.json").write_text("[1, 2]")
    assert layers.source(tmp_path) == layers.source(talk) == talk
    with pytest.raises(Invalid):
        layers.source(tmp_path / "about.json")


def test_without_data_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert layers.main([]) == 0
    assert "nothing was measured" in capsys.readouterr().err


FOUND = layers.Ran(10, 4, 1.0, 90.0, 3, 8, 4, 5, 2, 900, 700, 6, 6)


def test_the_report_says_what_is_not_as_promised() -> None:
    assert layers.faults(FOUND) == []
    assert "All as promised." in layers.report(FOUND)
    bad = replace(FOUND, megabytes=501.0, scenes=16, persona_characters=2_001, traced=5)
    assert len(layers.faults(bad)) == 4
    assert "Not as promised: 501 MB; 16 scenes" in layers.report(bad)


@pytest.mark.long
@pytest.mark.timeout(1_800)
@pytest.mark.promise("layers.long")
def test_ten_thousand_messages(talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SCENES", "PERSONA"):
        monkeypatch.delenv(f"MEMSTRATA_{name}__ENABLED")
    found = layers.run(talk)
    assert layers.faults(found) == []
    assert 0 < found.batches_before < found.messages == 10_000
