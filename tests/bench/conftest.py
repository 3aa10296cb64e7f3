"""A made-up conversation in LoCoMo's layout, and the ones that ship."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SHIPPED = Path(__file__).parents[1] / "data" / "retrieval"
TURNS = {
    1: (("Ines", "I planted three quince trees behind the barn."), ("Otto", "That sounds lovely!")),
    2: (("Ines", "My sister Petra moved to Lisbon last week."), ("Otto", "I bought a red kayak.")),
}
QA: tuple[tuple[str, list[str], int], ...] = (
    ("What did Ines plant behind the barn?", ["D1:1"], 4),
    ("Where did Petra move and what did Otto buy?", ["D2:1; D:2:2"], 1),
    ("Which instrument does Otto play?", [], 5),
    ("Who bought a kayak?", ["D2:2", "D9:9"], 4),
)


def locomo() -> list[dict[str, object]]:
    """The conversation."""
    conversation: dict[str, object] = {"speaker_a": "Ines", "speaker_b": "Otto"}
    for number, turns in TURNS.items():
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [
            {"speaker": who, "dia_id": f"D{number}:{place}", "text": text}
            for place, (who, text) in enumerate(turns, start=1)
        ]
    qa = [{"question": q, "evidence": e, "category": c} for q, e, c in QA]
    return [{"sample_id": "conv-x", "conversation": conversation, "qa": qa}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the conversation, and a file that is no data."""
    place = tmp_path / "data"
    place.mkdir()
    (place / "tiny.json").write_text(json.dumps(locomo()))
    (place / "LICENSE.txt").write_text("free")
    return place


def trajectory(steps: int) -> dict[str, object]:
    """A recorded run: every action is a command, what follows it its observation."""
    history: list[dict[str, object]] = [
        {"role": "system", "content": "You work in a shell."},
        {"role": "user", "content": "Find out why the oven in bakery/oven.py stays cold"},
    ]
    for n in range(steps):
        command = f"open bakery/part{n}.py"
        thought = f"The part bakery/part{max(0, n - 3)}.py may tell, see heater_setting_{n // 2}."
        text = "\n".join(f"{k}: heater_setting_{n} = {n * k}" for k in range(40))
        history.append({"role": "assistant", "content": "", "thought": thought, "action": command})
        history.append({"role": "user", "content": f"{text}\nbakery/part{n}.py"})
    return {"history": history, "trajectory": []}
