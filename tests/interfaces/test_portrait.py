"""`memstrata scenes` and `memstrata persona`: shown, made, locked, brought back, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interfaces.command import Run, here

pytestmark = pytest.mark.usefixtures("_layers")


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process, on a home with three facts."""
    run = here(home, monkeypatch, capsys)
    for text in ("Prefers mint tea", "Lives in Lyon", "Works at Brightwater"):
        assert run("add", "--name", text, "--description", text).code == 0
    return run


@pytest.mark.promise("scene.cli")
def test_scenes_are_made_listed_shown_and_brought_back(cli: Run) -> None:
    assert cli("scenes").out == ""
    ran = cli("scenes", "run")
    assert ran.out.startswith("_global/about-the-person  1  3  ")
    assert cli("scenes").out == cli("scenes", "list").out == ran.out
    shown = cli("scenes", "show", "about-the-person")
    assert "Prefers mint tea\n  mem_" in shown.out
    assert cli("scenes", "show", "_global/about-the-person").out == shown.out
    missing = cli("scenes", "show", "none")
    assert (missing.code, missing.err) == (4, "error: no scene 'none' here\n")
    assert cli("scenes", "show", "../persona").code == 4
    cli("add", "--name", "boat", "--description", "Has a boat")
    cli("scenes", "run")
    listed = cli("scenes", "versions", "--json").json["versions"]
    assert [one["who"] for one in listed] == ["rules", "rules"]
    assert cli("scenes", "restore").out == "brought back: 1 files\n"
    assert "boat" not in cli("scenes").out
    assert cli("scenes", "restore", "--version", listed[0]["id"]).code == 0
    assert "Has a boat" in cli("scenes", "show", "about-the-person").out
    assert cli("scenes", "restore", "--version", "none").code == 4


@pytest.mark.promise("scene.cli")
def test_the_persona_is_made_shown_locked_written_and_brought_back(
    cli: Run, tmp_path: Path
) -> None:
    assert cli("persona").out == "no persona\n"
    ran = cli("persona", "run")
    assert ran.code == 0
    cli("scenes", "run")
    shown = cli("persona").out.splitlines()
    assert shown[0] == "Base facts"
    assert shown[1].startswith("  1  ")
    assert "locked, mem_" in cli("persona", "lock", "1").out
    assert "locked" not in cli("persona", "unlock", "1").out
    assert cli("persona", "lock", "77").code == 2
    file = tmp_path / "persona.md"
    file.write_text("## Base facts\n- Call me Captain\n")
    assert "Call me Captain\n     locked" in cli("persona", "edit", str(file)).out
    assert cli("persona", "edit", "-", stdin="- Captain").code == 0
    assert cli("persona", "restore").out == "brought back: 1 files\n"
    assert "Call me Captain" in cli("persona").out
    assert len(cli("persona", "versions", "--json").json["versions"]) == 4
    assert cli("persona", "edit", "-", stdin="").code == 2


@pytest.mark.promise("trace.layers")
def test_a_trace_shows_every_layer(cli: Run, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"role": "user", "id": "m7", "content": "I prefer oat milk."}\n')
    assert cli("import", str(talk)).code == 0
    message = cli("trace", "m7").out
    assert "told in scene: _global/about-the-person" in message
    assert "told in persona: persona/" in message
    line = next(one for one in cli("persona", "--json").json["lines"] if "oat" in one["text"])
    upwards = cli("trace", line["id"]).out
    assert "rests on: mem_" in upwards
    assert "quote: 'I prefer oat milk'" in upwards
    assert "message: m7" in upwards
    assert "rests on: mem_" in cli("trace", "_global/about-the-person").out
    assert cli("trace", line["id"], "--json").json["line"]["id"] == line["id"]


@pytest.mark.promise("cli.languages")
def test_in_chinese(cli: Run) -> None:
    cli("scenes", "run")
    assert "已锁定, mem_" in cli("persona", "lock", "1", "--lang", "zh").out
    assert "情境" in cli("status", "--lang", "zh").out


@pytest.mark.promise("budget.estimate")
def test_the_calls_of_a_model_are_told_before_they_are_made(cli: Run) -> None:
    env = {
        "MEMSTRATA_EXTRACTION__MODEL": "openai-compatible:small",
        "MEMSTRATA_EXTRACTION__BASE_URL": "http://127.0.0.1:9/v1",
        "MEMSTRATA_EXTRACTION__API_KEY": "none",
        "MEMSTRATA_EXTRACTION__DEADLINE_SECONDS": "0.5",
    }
    ran = cli("extract", env=env)
    assert ran.err.startswith(
        "note: about 4 calls of openai-compatible:small: 0 for 0 messages, 3 for scenes, "
        "1 for the persona\n"
    )
    assert "tried again later: scenes _global" in ran.err
