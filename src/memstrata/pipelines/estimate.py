"""How often a model will be asked about what waits: told before it is, so that nobody is surprised by the bill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memstrata.domain.layout import GLOBAL
from memstrata.domain.scope import Realm
from memstrata.pipelines import pages
from memstrata.pipelines.world import World

_PER_BATCH: Final = 2
"""Calls a batch: its extraction, and a ruling on what is like something known."""
_MEMORIES: Final = 5
"""Memories that a batch may bring."""
_SHOWN: Final = 40
_STEPS: Final = 3
"""Calls that bring so many memories into the scenes: a look, the changes, the end."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """About how many calls of `model`: to extract so many `messages`, for scenes, for the persona."""

    model: str
    messages: int
    extraction: int
    scenes: int
    persona: int

    @property
    def calls(self) -> int:
        """All of them."""
        return self.extraction + self.scenes + self.persona


def estimate(world: World, realm: Realm) -> Estimate | None:
    """About what the model that is set will be asked until nothing waits; None where none is set."""
    chosen = world.extractor(realm, "")
    if chosen.model is None:
        return None
    left = [(name, behind) for name, _, behind in world.store.sessions(realm) if behind]
    batches = sum(_batches(world, realm, name) for name, _ in left)
    noted = pages.look(world, realm, GLOBAL).chronicle.seen
    untold = len(pages.fresh(pages.valid(world, pages.key_of(realm, GLOBAL)), noted))
    memories = untold + _MEMORIES * batches
    told = world.settings.scenes.enabled and memories
    portrayed = world.settings.persona.enabled and memories
    return Estimate(
        chosen.name,
        sum(behind for _, behind in left),
        _PER_BATCH * batches,
        _STEPS * -(-memories // _SHOWN) if told else 0,
        1 + memories // world.settings.persona.every_memories if portrayed else 0,
    )


def _batches(world: World, realm: Realm, session: str) -> int:
    """How many batches a session still makes, by its tokens."""
    after = world.store.cursor(realm, session).position
    tokens = 0
    while page := world.store.messages(realm, session, after=after):
        tokens += sum(world.tokens.count(one.message.content) for one in page)
        after = page[-1].position
    return max(1, -(-tokens // world.settings.extraction.batch_tokens))
