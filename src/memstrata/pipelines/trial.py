"""Whether extraction works: the model is really called, with two made-up messages, and nothing is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from memstrata.domain.scope import Realm
from memstrata.domain.turn import Message
from memstrata.errors import MemstrataError
from memstrata.pipelines import ask, ledger
from memstrata.pipelines.world import World
from memstrata.prompts import extract as prompt
from memstrata.prompts.answers import CANDIDATES

PURPOSE: Final = "test"
SAYINGS: Final = (
    "I moved to Lisbon in May and work for Tarn Maps now.",
    "我更喜欢喝绿茶，不喝咖啡。",
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What a trial call came to: the model as it names itself, seconds, what it proposed, or the problem."""

    ok: bool
    model: str
    seconds: float = 0.0
    sample: tuple[str, ...] = ()
    problem: str = ""


def trial(world: World, realm: Realm) -> Trial:
    """Call the model that is set. Without one there is nothing to call, and the answer says so."""
    name = world.settings.extraction.model
    if world.model is None:
        return Trial(
            False, "", problem="extraction.model is empty: the rules extract, no model is called"
        )
    now = world.clock.now()
    said = [
        Message(f"trial-{n}", "memstrata-trial", "user", text, now, now)
        for n, text in enumerate(SAYINGS, start=1)
    ]
    try:
        asked = ask.ask(
            world.model,
            prompt.question(said, zone=world.zone, scopes=("user",)),
            CANDIDATES,
            purpose=PURPOSE,
            name=name,
            deadline=world.settings.extraction.deadline_seconds,
            book=partial(ledger.book, world, realm, ""),
        )
    except MemstrataError as error:
        return Trial(False, name, problem=error.message)
    found, _ = prompt.candidates(asked.items, said, world.zone)
    seconds = sum(call.seconds for call in asked.calls)
    return Trial(True, asked.model, seconds, tuple(one.description for one in found))
