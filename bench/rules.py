"""How well the rules extractor reads: precision and recall on labelled turns. Writes rules.md.

A line of `tests/data/rules/*.jsonl` is a turn: `text`, `said_at`, what it states that lasts
(`expect`: type, words the description must hold, at times slot and subject) and what may come
though a later gate refuses it (`may`).
Run it from the root of the repository: python -m bench.rules
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from memstrata.domain import times
from memstrata.domain.candidate import Candidate
from memstrata.domain.memory import TYPES
from memstrata.domain.rules import extract
from memstrata.domain.turn import Message

OUT: Final = Path(__file__).with_suffix(".md")
DATA: Final = Path(__file__).parent.parent / "tests" / "data" / "rules"
SETS: Final = ("en", "zh", "en_heldout", "zh_heldout", "en_heldout2", "zh_heldout2")
SURE: Final = 0.6
"""Candidates below it are refused by the confidence gate and not counted."""
RECORDED: Final = datetime(2026, 1, 1, tzinfo=UTC)

ABOUT: Final = """\
# The rules extractor

Made by `python -m bench.rules`. A candidate is right when it matches an expectation of its turn that
no other took: same type, the words in its description. Every other one is wrong. Candidates that
gate 2 refuses for their confidence are not counted. The names in the turns are invented.

`en` and `zh` were written first and tuned on. The others were each written after the tuning before
them, measured once, and then tuned on as well, with labels that had been left out (five in all)
added, so only what they showed at first sight tells what to expect of new text:

| at first sight | precision | recall |
| --- | --- | --- |
| en_heldout | 16/19 (0.842) | 16/30 (0.533) |
| zh_heldout | 14/14 (1.000) | 14/31 (0.452) |
| en_heldout2 | 10/14 (0.714) | 10/22 (0.455) |
| zh_heldout2 | 6/6 (1.000) | 6/23 (0.261) |

Of the seven wrong ones three state what the turn says under another type or slot than the label
(a course that was begun, as an event), two say something true that the label lacks, one gives the
old home of somebody who moved, one reads a dislike of long introductions as a taste. Together the
four sets gave 46 of 53 right (0.868) and found 46 of 106 (0.434): on new text expect less than half
of what a model would find, nearly all of it true.

After that somebody new to it tried it by hand. What went wrong there was mended by kind, not by
sentence, and is kept as tables in `tests/domain/rules/test_first_use.py`: moves of software and
offices read as a home, joke names, both ends of a range of days, changes and endings that missed
the slot they change, introductions and rules behind a clause in front. Those tables were written
together with the rules, so they say nothing of new text, and none of it was measured at first
sight. Where somebody works, which "在云杉医院当护士" says besides the job, is told since then; the
label it lacked (a sixth) was added to `zh`. Moves and bare "I'm …" are told more rarely than before.

Emitted candidates of four public sets, judged by hand: all of them, after the kinds of faults seen
there were mended, and what the first look had shown before. They were not judged again after the
newcomer's try.

| set | user turns | judged | right | right at the first look |
| --- | --- | --- | --- | --- |
| LoCoMo, 5 conversations, first speaker | 1,489 | 99 | 91 | 97 of 111 |
| LongMemEval_S, 3 haystacks | 603 | 38 | 37 | 26 of 84 (53 wrong ones from one pasted bibliography) |
| RealMem, 2 personas | 1,307 | 27 | 21 | 25 of 58 (17 wrong ones are "stop asking and …") |
| MADial-Bench, Chinese | 374 | 44 | 42 | 46 of 48 |
"""


@dataclass(slots=True)
class Score:
    """The counts of one set. `slots` and `slots_right`: of the right ones that name a slot or subject."""

    turns: int = 0
    lasting: int = 0
    reached: int = 0
    expected: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    slots: int = 0
    slots_right: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of what was found that is right; 1 when nothing was."""
        return self.right.total() / self.found.total() if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of what was expected that was found."""
        return self.right.total() / self.expected.total()


def turns(path: Path) -> Iterator[Mapping[str, Any]]:
    """The labelled turns of a file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def message(turn: Mapping[str, Any]) -> Message:
    """A labelled turn as the message of a session of its own."""
    said_at = times.instant("said_at", turn.get("said_at"))
    return Message(turn["id"], turn["id"], "user", turn["text"], said_at, RECORDED)


def score(labelled: Iterable[Mapping[str, Any]]) -> Score:
    """What the extractor makes of labelled turns, in a session with a workspace, in UTC."""
    total = Score()
    for turn in labelled:
        candidates = extract([message(turn)], has_workspace=True, zone=UTC)
        sure = [one for one in candidates if one.confidence >= SURE]
        _count(total, turn, sure)
    return total


def _count(total: Score, turn: Mapping[str, Any], candidates: Sequence[Candidate]) -> None:
    left = list(turn["expect"])
    total.turns += 1
    total.lasting += bool(left)
    total.expected.update(one["type"] for one in left)
    before = total.right.total()
    for one in candidates:
        match = next((label for label in left if _fits(one, label)), None)
        if match is not None:
            left.remove(match)
            total.found[one.type] += 1
            total.right[one.type] += 1
            _count_slot(total, one, match)
        elif not any(label["type"] == one.type for label in turn.get("may", ())):
            total.found[one.type] += 1
            total.wrong.append(f"{turn['id']}: {one.type}: {one.description}")
    total.reached += total.right.total() > before


def _count_slot(total: Score, one: Candidate, label: Mapping[str, Any]) -> None:
    named = {"slot": one.slot, "subject": one.subject}
    asked = [name for name in named if name in label]
    total.slots += bool(asked)
    total.slots_right += bool(asked) and all(named[name] == label[name] for name in asked)


def _fits(one: Candidate, label: Mapping[str, Any]) -> bool:
    description = one.description.lower()
    same = one.type == label["type"]
    return same and all(word.lower() in description for word in label["contains"])


def table(scores: Mapping[str, Score]) -> list[str]:
    """One row for each set and type, and one for each whole set."""
    rows = [
        "| set | type | turns | expected | found | right | precision | recall |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, one in scores.items():
        for type in TYPES:
            counts = one.expected[type], one.found[type], one.right[type]
            rows.append(_row(name, type, "", *counts))
        whole = one.expected.total(), one.found.total(), one.right.total()
        rows.append(_row(f"**{name}**", "all", str(one.turns), *whole))
    return rows


def _row(name: str, type: str, turns: str, expected: int, found: int, right: int) -> str:
    precision = f"{right / found:.3f}" if found else "-"
    recall = f"{right / expected:.3f}" if expected else "-"
    return (
        f"| {name} | {type} | {turns} | {expected} | {found} | {right} | {precision} | {recall} |"
    )


def reach(scores: Mapping[str, Score]) -> list[str]:
    """How many of the turns that state something lasting gave a memory, and slots that agree."""
    rows = ["| set | lasting turns | with a memory | slot and subject as labelled |"]
    rows.append("| --- | --- | --- | --- |")
    for name, one in scores.items():
        rows.append(f"| {name} | {one.lasting} | {one.reached} | {one.slots_right}/{one.slots} |")
    return rows


def speed(labelled: Sequence[Mapping[str, Any]], times_over: int = 20) -> float:
    """Turns a second, of processor time."""
    messages = [message(turn) for turn in labelled] * times_over
    begin = time.process_time()
    extract(messages, has_workspace=True, zone=UTC)
    return len(messages) / (time.process_time() - begin)


def main() -> None:
    """Measure and write rules.md beside this file."""
    parser = argparse.ArgumentParser(description="Precision and recall of the rules extractor.")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the labelled turns")
    folder = parser.parse_args().data
    labelled = {name: list(turns(folder / f"{name}.jsonl")) for name in SETS}
    scores = {name: score(rows) for name, rows in labelled.items()}
    fast = " · ".join(f"{name} {speed(labelled[name]):,.0f}" for name in ("en", "zh"))
    lines = [ABOUT, "Now, after tuning on all of them:", "", *table(scores), "", *reach(scores)]
    lines += ["", f"Turns a second on one core: {fast}.", ""]
    OUT.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
