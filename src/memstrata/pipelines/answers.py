"""What was answered under an idempotency key: asked again, the same is answered and nothing done."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from memstrata.domain.scope import Realm
from memstrata.errors import Invalid
from memstrata.pipelines import apply
from memstrata.pipelines.world import World
from memstrata.ports import GONE, Answered

HOURS: Final = 24
"""So long an answer is kept."""
FIELD: Final = "Idempotency-Key"


def find(world: World, realm: Realm, key: str, digest: str) -> Answered | None:
    """The answer to the request of that digest under `key`; None when it was not asked yet.

    Raises:
        Invalid: another request had the key, or what it made was deleted or forgotten since.
    """
    since = world.clock.now() - timedelta(hours=HOURS)
    found = world.store.answered(realm, key, since)
    if found is not None and found.status == GONE:
        raise Invalid(
            FIELD, "made what was deleted or forgotten since; take a new one to make it again"
        )
    if found is not None and found.digest != digest:
        raise Invalid(FIELD, "was used for another request; take a new one for each")
    return found


def keep(world: World, realm: Realm, key: str, answer: Answered) -> None:
    """Keep an answer.

    Raises:
        Unavailable: the disk or the database said no.
    """
    apply.keep_answer(world, realm, key, answer, HOURS)
