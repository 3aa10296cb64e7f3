"""The documentation is true: its code runs, its names exist, its links lead somewhere."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.served import Remote

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture
def outside(tmp_path: Path) -> dict[str, str]:
    """A user's environment: a home of their own, our interpreter first on the path."""
    bin_folder = str(Path(sys.executable).parent)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("MEMSTRATA_")},
        "HOME": str(tmp_path / "nobody"),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
    }


@pytest.mark.promise("readme.run-by-a-test")
def test_the_python_of_the_readme_runs(tmp_path: Path, outside: dict[str, str]) -> None:
    (block,) = blocks(ROOT / "README.md", "python")
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path,
        env=outside,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "empty"
    assert any(line.startswith("memory mem_") and "Nomad" in line for line in lines)


@pytest.mark.promise("readme.run-by-a-test")
def test_the_commands_of_the_readme_run(tmp_path: Path, outside: dict[str, str]) -> None:
    (tmp_path / "chat.jsonl").write_text(
        '{"role": "user", "content": "We deploy on Tuesdays with Nomad."}\n'
    )
    (tmp_path / "TEAM.md").write_text("## Product Decisions\n- 2026-05-01: We deploy on Tuesdays\n")
    script = next(
        block for block in blocks(ROOT / "README.md", "sh") if block.startswith("memstrata")
    )
    for line in script.splitlines():
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env=outside,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert done.stdout.strip(), line


@pytest.mark.promise("docs.true")
def test_the_python_of_the_tools_page_runs(tmp_path: Path, outside: dict[str, str]) -> None:
    code = "\n".join(blocks(ROOT / "docs/explanation/mcp.md", "python"))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**outside, "MEMSTRATA_EMBEDDING__MODEL": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "Nothing was found. () \n")


@pytest.mark.promise("readme.short")
def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100


@pytest.mark.promise("docs.true")
def test_every_name_of_the_walk_exists() -> None:
    names = re.findall(r"`(memstrata\.[\w.]+)`", (ROOT / "docs/explanation/walk.md").read_text())
    assert len(names) > 20
    for name in names:
        module, _, attribute = name.rpartition(".")
        try:
            found: object = importlib.import_module(module)
        except ModuleNotFoundError:
            module, _, owner = module.rpartition(".")
            found = getattr(importlib.import_module(module), owner)
        assert hasattr(found, attribute), name


@pytest.mark.promise("docs.true")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.promise("docs.true")
def test_the_page_of_the_server_is_true(tmp_path: Path, outside: dict[str, str]) -> None:
    """Its Python and its requests, on a server of a home of their own."""
    page = ROOT / "docs/explanation/server.md"
    with Remote.open(home=tmp_path / "home", background=False) as memory:
        url = memory.server.url
        (python,) = blocks(page, "python")
        done = subprocess.run(
            [sys.executable, "-c", python.replace("http://127.0.0.1:8765", url)],
            env=outside,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Nomad" in done.stdout
        (requests,) = blocks(page, "sh")
        for line in requests.splitlines():
            ran = subprocess.run(
                ["bash", "-c", line.replace("curl", "curl --fail-with-body")],
                env={**outside, "URL": url},
                capture_output=True,
                text=True,
                check=False,
            )
            assert ran.returncode == 0, (line, ran.stdout)
            assert json.loads(ran.stdout)
        assert [one.name for one in memory.list(text="lamp").items] == ["lamp"]
