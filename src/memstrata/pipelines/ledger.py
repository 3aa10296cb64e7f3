"""The ledger: every model call of ours, one line, and what today's have cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from memstrata.domain import layout, times
from memstrata.domain.scope import Realm
from memstrata.errors import NotFound
from memstrata.pipelines import apply
from memstrata.pipelines.ask import Call
from memstrata.pipelines.world import World

LOG = "ledger"


@dataclass(frozen=True, slots=True)
class Spent:
    """What the calls of one day and purpose came to; `failed` of `calls` gave no answer."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def tokens(self) -> int:
        """Both directions together: what a budget counts."""
        return self.tokens_in + self.tokens_out


def book(world: World, realm: Realm, batch: str, call: Call) -> None:
    """Write one call down.

    Raises:
        Unavailable: the disk said no.
    """
    now = world.clock.now()
    line = {
        "at": times.stamp(now),
        "batch": batch,
        "purpose": call.purpose,
        "model": call.model,
        "rung": call.rung,
        "tokens_in": call.tokens_in,
        "tokens_out": call.tokens_out,
        "seconds": round(call.seconds, 3),
        "outcome": call.outcome,
    }
    place = layout.shard(realm.owner, LOG, now, world.zone)
    apply.append_line(world, place, json.dumps(line, ensure_ascii=False).encode() + b"\n")


def today(world: World) -> Mapping[str, Spent]:
    """By purpose: what was spent in this home since local midnight, every owner's calls together."""
    found: dict[str, Spent] = {}
    for owner in world.owners():
        place = layout.shard(owner, LOG, world.clock.now(), world.zone)
        try:
            lines = list(world.vault.lines(place))
        except NotFound:
            continue
        for _, line in lines:
            _add(found, line)
    return found


def _add(found: dict[str, Spent], raw: bytes) -> None:
    """Count a line; one that a power cut left in pieces tells nothing any more."""
    try:
        line = json.loads(raw)
        purpose = str(line["purpose"])
        held = found.get(purpose, Spent())
        found[purpose] = Spent(
            held.calls + 1,
            held.failed + (line["outcome"] != "answered"),
            held.tokens_in + int(line["tokens_in"]),
            held.tokens_out + int(line["tokens_out"]),
        )
    except (ValueError, KeyError, TypeError):
        return


def paused(world: World) -> str:
    """Why no model is called for the rest of the day (`paused by budget, used/limit`); empty: it may be."""
    limit = world.settings.budget.daily_tokens
    if not limit or (world.model is None and world.hosts is None):
        return ""
    used = sum(spent.tokens for spent in today(world).values())
    return f"paused by budget, {used}/{limit} tokens" if used >= limit else ""
