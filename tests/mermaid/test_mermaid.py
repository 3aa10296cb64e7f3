"""The real Mermaid reads every graph, and sees in it what we put there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from tests.domain.graphs import graph, graphs
from tests.domain.graphs import node as step

from memstrata.domain.canvas import Graph, render
from memstrata.domain.canvas.limits import within

HERE: Final = Path(__file__).parent
INSTALLED: Final = Path(os.environ.get("MERMAID_HOME", Path(sys.prefix) / "npm"))
"""Where `make test` puts the packages that `package-lock.json` names."""
ENTITY: Final = re.compile("\ufb02°(?:°(\\d+)|(\\w+))¶ß")
"""How Mermaid writes `#35;` and `#quot;` until it draws."""


HARD: Final = (
    'off-by-one in "pager"',
    "if a < b && c > d: return [x](y) {z}",
    "100 %% done, %%{init: {}}%%",
    "`code` and $$x$$",
    "#34; and #quot; and &lt;",
    "<script>alert(1)</script><br/>",
    "status: done --> 001-N2",
    "修复分页：第 3 页，🎉",
    "`# Title` 1. one - two",
    'style="color:#fff;" and classDef x:#000;',
)


@pytest.fixture(scope="module")
def node_js() -> str:
    """The program that runs it."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("needs Node.js 20.19 or newer, which is not installed")
    if not (INSTALLED / "node_modules" / "mermaid").is_dir():
        pytest.skip(f"Mermaid is not installed in {INSTALLED}; `make test` does it where npm is")
    return found


def mermaid(node_js: str, texts: list[str]) -> list[dict[str, Any]]:
    """What Mermaid says to each text, in one process."""
    script = (HERE / "parse.mjs").read_text("utf-8")
    done = subprocess.run(
        [node_js, "--input-type=module", "--eval", script],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=INSTALLED,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def seen(label: str) -> str:
    """A label as it is drawn."""
    marked = ENTITY.sub(lambda match: f"&{match[2] or f'#{match[1]}'};", label)
    return unescape(marked.replace("<br>", "\n"))


@pytest.mark.promise("offload.mermaid")
def test_it_shows_whatever_the_texts_are(node_js: str) -> None:
    made: list[Graph] = []

    @settings(
        max_examples=200, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(graphs(most=4))
    def collect(one: Graph) -> None:
        made.append(within(one).graph)

    collect()
    texts = [render(one) for one in made]
    for one, text, found in zip(made, texts, mermaid(node_js, texts), strict=True):
        assert found["error"] == "", f"{found['error']}\n{text}"
        for node in one.nodes:
            label, _, summary, _ = seen(found["labels"].pop(node.id)).split("\n")
            assert (label, summary) == (node.label, f"summary: {node.summary}")
        assert found["labels"] == {}
        assert {tuple(edge) for edge in found["edges"]} == set(one.edges)


@pytest.mark.promise("offload.mermaid")
def test_it_shows_what_we_wrote_and_would_not_read_it_unescaped(node_js: str) -> None:
    texts = [render(graph(step(1, text, summary=text))) for text in HARD]
    *answers, broken = mermaid(node_js, [*texts, 'flowchart TD\n    001-N1["a 5" disk"]'])
    for text, found in zip(HARD, answers, strict=True):
        assert found["error"] == ""
        lines = seen(found["labels"]["001-N1"]).split("\n")
        told = ["status: done", f"summary: {text}", "Timestamp: 2026-11-30T09:00:01Z"]
        assert lines == [text, *told]
    assert "Parse error" in broken["error"]


def test_the_lock_file_names_no_registry() -> None:
    lock = (HERE / "package-lock.json").read_text("utf-8")
    assert "://" not in lock
    assert all("integrity" in one for name, one in json.loads(lock)["packages"].items() if name)
