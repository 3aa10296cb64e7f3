"""From 10,000 imported messages up to scenes and persona: a kill on the way, memory, sources. Writes layers.md.

The messages are those of a conversation in LoCoMo's layout, or JSON Lines, repeated under new ids and
sessions. Run it from the root of the repository: python -m bench.layers --data PATH
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

from bench import common
from memstrata import Memory
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.domain import scene
from memstrata.errors import Invalid
from memstrata.importers import READERS, detect
from memstrata.importers.record import Bad

OUT: Final = Path(__file__).with_suffix(".md")
MESSAGES: Final = 10_000
MEGABYTES: Final = 500
SETTINGS: Final[Mapping[str, object]] = {"timezone": "UTC", "embedding.model": "none"}
KILLED_AFTER: Final = 0.4
"""The share of the messages that are extracted when the process is killed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it."""

    messages: int
    batches_before: int
    seconds: float
    megabytes: float
    reports: int
    estimate: int
    asked: int
    memories: int
    scenes: int
    scene_characters: int
    persona_characters: int
    paragraphs: int
    traced: int


def repeated(path: Path, most: int, out: Path) -> int:
    """Write the messages of `path` as JSON Lines, again and again under new sessions, until there are `most`."""
    read = [one for one in READERS[detect(path)](path) if not isinstance(one, Bad)]
    written = 0
    with out.open("w", encoding="utf-8") as file:
        for turn in count(1):
            for one in read:
                message = dict(one.message)
                message |= {
                    "id": f"{turn}-{one.session}-{written}",
                    "session": f"{turn}-{one.session}",
                }
                file.write(json.dumps(message, ensure_ascii=False, default=str) + "\n")
                written += 1
                if written == most:
                    return written
    return written


def source(path: Path) -> Path:
    """The file, or in a folder the first one that can be imported.

    Raises:
        Invalid: there is none.
    """
    for one in sorted(path.rglob("*.json*")) if path.is_dir() else ():
        with suppress(Invalid):
            detect(one)
            return one
    detect(path)
    return path


def opened(home: Path) -> Memory:
    """The home without vectors: what is measured is what follows an extraction."""
    return Memory.open(home, settings=SETTINGS, background=False)


def work(home: Path) -> dict[str, Any]:
    """Extract all that waits and all that follows, in this process; what it came to, and its peak of memory."""
    told: list[tuple[str, int, int]] = []
    with opened(home) as memory:
        done = memory.drain(progress=lambda *one: told.append(one))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    return {"messages": done.messages, "megabytes": peak, "reports": len(told)}


def killed(home: Path, messages: int) -> None:
    """The same in a process of its own, killed on the way."""
    child = subprocess.Popen([sys.executable, "-m", "bench.layers", "--work", str(home)])
    while child.poll() is None:
        if behind(home) <= messages * (1 - KILLED_AFTER):
            child.send_signal(signal.SIGKILL)
            break
        time.sleep(0.2)
    child.wait()


def behind(home: Path) -> int:
    """Messages that are not extracted yet, as another process sees it."""
    with opened(home) as memory:
        return memory.status().waiting


def resumed(home: Path) -> dict[str, Any]:
    """The rest, in a process of its own: its figures."""
    command = [sys.executable, "-m", "bench.layers", "--work", str(home)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def asked(path: Path, folder: Path) -> tuple[int, int]:
    """The estimate for a tenth of the messages, and how often a model that finds nothing was asked then."""
    part = folder / "part.jsonl"
    part.write_text("".join(_head(path, MESSAGES // 10)), encoding="utf-8")
    model = ScriptedModel('{"candidates": []}', repeat=True)
    chosen = {**SETTINGS, "extraction.model": "openai-compatible:scripted"}
    with Memory.open(folder / "asked", settings=chosen, background=False, model=model) as memory:
        memory.import_(part, extract=False)
        found = memory.estimate()
        memory.drain()
    return (found.calls if found else 0), len(model.questions)


def _head(path: Path, most: int) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        for _, line in zip(range(most), file, strict=False):
            yield line


def judged(home: Path) -> tuple[int, int, int, int, int, int]:
    """Memories, scenes, characters of the longest scene and of the persona, paragraphs, and those traced."""
    with opened(home) as memory:
        told = [one.cites for found in memory.scenes() for one in found.paragraphs]
        told += [one.cites for one in memory.persona().lines]
        texts = [file.read_text(encoding="utf-8") for file in home.glob("scenes/*/*.md")]
        portrait = memory.persona_file()
        every = dict.fromkeys(id for cites in told for id in cites)
        traced = {id for id in every if memory.trace(id).sources}
        good = sum(not traced.isdisjoint(cites) for cites in told)
        active = memory.status().memories.get("active", 0)
        longest = max(map(len, texts), default=0)
        return active, len(texts), longest, len(portrait), len(told), good


def run(path: Path, messages: int = MESSAGES) -> Ran:
    """Import, kill, resume, judge."""
    with tempfile.TemporaryDirectory(prefix="memstrata-bench-") as name:
        folder = Path(name)
        source, home = folder / "talk.jsonl", folder / "home"
        written = repeated(path, messages, source)
        started = time.monotonic()
        with opened(home) as memory:
            memory.import_(source, extract=False)
        killed(home, written)
        left = behind(home)
        found = resumed(home)
        seconds = time.monotonic() - started
        estimate, questions = asked(source, folder)
        return Ran(
            written,
            written - left,
            seconds,
            float(found["megabytes"]),
            int(found["reports"]),
            estimate,
            questions,
            *judged(home),
        )


def faults(found: Ran) -> list[str]:
    """What is not as promised."""
    checks = {
        f"{found.megabytes:.0f} MB": found.megabytes < MEGABYTES,
        f"{found.scenes} scenes": 0 < found.scenes <= scene.Limits().most,
        f"a scene of {found.scene_characters} characters": found.scene_characters <= 1_500,
        f"a persona of {found.persona_characters} characters": found.persona_characters <= 2_000,
        f"{found.traced} of {found.paragraphs} traced": found.traced == found.paragraphs > 0,
        "no progress": found.reports > 0,
        f"estimated {found.estimate} calls, asked {found.asked}": found.asked <= found.estimate,
    }
    return [name for name, good in checks.items() if not good]


def report(found: Ran) -> str:
    """The figures in Markdown."""
    rows = [
        ["messages imported", str(found.messages), ""],
        ["extracted when the process was killed", str(found.batches_before), "resumed"],
        ["from the import to the persona, kill included", f"{found.seconds:.0f} s", ""],
        [
            "peak of memory of the process that resumed",
            f"{found.megabytes:.0f} MB",
            f"< {MEGABYTES} MB",
        ],
        ["reports of progress", str(found.reports), "> 0"],
        ["valid memories", str(found.memories), ""],
        ["scenes", str(found.scenes), "≤ 15"],
        ["longest scene, head and citations included", f"{found.scene_characters}", "≤ 1,500"],
        ["persona, head and citations included", f"{found.persona_characters}", "≤ 2,000"],
        ["paragraphs and lines", str(found.paragraphs), ""],
        ["of these led back to a quote in a message", str(found.traced), "all"],
        ["calls of a model estimated for a tenth of them", str(found.estimate), ""],
        ["calls of a model that finds nothing", str(found.asked), "≤ estimate"],
    ]
    about = (
        "Made by `python -m bench.layers --data PATH`: the messages of a data set repeated under new "
        "ids and sessions, extracted by the rules, without vectors; the process that does it is killed "
        f"once {KILLED_AFTER:.0%} of them are extracted, and another one does the rest."
    )
    missing = faults(found)
    verdict = f"Not as promised: {'; '.join(missing)}." if missing else "All as promised."
    return "\n\n".join(
        ("# Layers", about, common.table(("what", "found", "wanted"), rows), verdict)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; with `--work` be the process that works."""
    parser = argparse.ArgumentParser(prog="bench.layers", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="FILE", help="the conversation to repeat")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE")
    parser.add_argument("--messages", type=int, default=MESSAGES, metavar="N")
    parser.add_argument("--work", type=Path, metavar="HOME", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.work is not None:
        print(json.dumps(work(chosen.work)))
        return 0
    if chosen.data is None:
        print("no --data PATH was given: nothing was measured", file=sys.stderr)
        return 0
    found = run(source(chosen.data), chosen.messages)
    common.write(chosen.out, report(found))
    print(chosen.out.read_text(encoding="utf-8"))
    return 1 if faults(found) else 0


if __name__ == "__main__":
    os.environ.setdefault("MEMSTRATA_LOG__LEVEL", "error")
    raise SystemExit(main())
