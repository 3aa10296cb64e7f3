"""`memstrata bench retrieval`: what it prints, writes and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import retrieval
from tests.interfaces.command import Run, here


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`memstrata` in this process."""
    return here(home, monkeypatch, capsys)


def test_the_report_is_printed_and_written(cli: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "retrieval.md"
    ran = cli("bench", "retrieval", "--data", str(folder), "--out", str(out))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == out.read_text()
    assert "## tiny: 3 questions" in ran.out
    assert "4 messages imported, 0 stored by a second import" in ran.out
    assert "| memstrata | 100.0 | 100.0 [100.0, 100.0] |" in ran.out


def test_the_figures_as_json(cli: Run, folder: Path, home: Path) -> None:
    arguments = ("--data", str(folder), "--switch", "all", "--json")
    ran = cli("bench", "retrieval", *arguments)
    (section,) = ran.json["retrieval"]["sections"]
    assert section["collection"] == "tiny"
    assert section["systems"]["memstrata"]["figures"]["recall@10"]["mean"] == 1
    assert "memstrata classic" in section["systems"]
    assert section["corpora"] == [["conv-x", 4, 3]]
    assert not home.exists()


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--data", "nowhere"), "data: there is nothing at nowhere: nothing was measured"),
        ((), "--data PATH: is missing"),
        (("--data", ".", "--switch", "fast"), "switch: 'fast' is no switch"),
        (("--data", ".", "--out", "no/where.md"), "--out: no/where.md cannot be written"),
    ],
)
def test_what_cannot_be_measured_is_said(cli: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = cli("bench", "retrieval", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_the_module_writes_where_it_is_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.md"
    assert retrieval.main([]) == 0
    assert "nothing was measured" in capsys.readouterr().err
    assert retrieval.main(["--data", str(folder), "--out", str(out)]) == 0
    assert out.read_text() == capsys.readouterr().out
    missing = ["--data", str(tmp_path / "nowhere"), "--out", str(tmp_path / "n.md")]
    assert retrieval.main(missing) == 2
    assert not (tmp_path / "n.md").exists()
