"""A host's side of an offload session: which session it is, and how its list is folded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha1
from typing import Final, Literal, cast, get_args

from memstrata.domain import checks
from memstrata.domain.offload_state import Session
from memstrata.domain.plan import OFFLOAD, Enqueue
from memstrata.domain.reclaim import Limits
from memstrata.errors import Invalid
from memstrata.pipelines.sessions import Spot, Standing
from memstrata.pipelines.world import Extractor, World

Cache = Literal["stable", "fresh"]
_MOST_COUNTED: Final = 50_000
_SHORT: Final = 64


@dataclass(slots=True)
class Counter:
    """Counts tokens; of a text that was counted before the number is known, by the hash of it."""

    counted: Callable[[str], int]
    known: dict[bytes | str, int] = field(default_factory=dict)

    def __call__(self, text: str) -> int:
        """Tokens of `text`."""
        key: bytes | str = text
        if len(text) > _SHORT:
            key = sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= _MOST_COUNTED:
                self.known.clear()
            found = self.known[key] = self.counted(text.encode("utf-8", "replace").decode())
        return found


@dataclass(slots=True)
class Host:
    """Who asks: the session, its window, and what this object saw last of it."""

    spot: Spot
    limits: Limits
    cache: Cache
    count: Counter
    standing: Standing | None = None


def limits(world: World, window: int | None, cache: Cache) -> Limits:
    """The limits of the settings for a window.

    Raises:
        Invalid: a window that is none, lines or targets in the wrong order.
    """
    chosen = world.settings.offload
    size = parse_window(chosen.window if window is None else window)
    shares = (chosen.mild_target, chosen.mild, chosen.aggressive, chosen.emergency)
    if sorted(set(shares)) != list(shares) or chosen.emergency_target >= chosen.emergency:
        raise Invalid("offload", "mild_target < mild < aggressive < emergency must hold")
    return Limits(
        size,
        mild=chosen.mild,
        mild_target=chosen.mild_target,
        aggressive=chosen.aggressive,
        aggressive_target=min(chosen.aggressive_target, chosen.aggressive),
        emergency=chosen.emergency,
        emergency_target=chosen.emergency_target,
        overhead=chosen.overhead,
        keep=chosen.keep_results,
        history=chosen.history,
        large=chosen.large,
        patience=chosen.mild - chosen.mild_target if cache == "stable" else 0.0,
    )


def parse_window(value: object) -> int:
    """`value` as a window.

    Raises:
        Invalid: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1_000 <= value <= 10**8:
        raise Invalid("window", f"{value!r} is no number of tokens from 1,000 on")
    return value


def parse_cache(value: object) -> Cache:
    """`value` as a way to treat a provider's cache.

    Raises:
        Invalid: it is none.
    """
    if value not in get_args(Cache):
        raise Invalid("cache", f"{checks.shown(value)} is neither stable nor fresh")
    return cast("Cache", value)


def asker(world: World, spot: Spot) -> Extractor | None:
    """The model that summarises and maps; None: the rules do."""
    chosen = world.settings.offload.model
    if chosen == "none":
        return None
    if chosen and chosen != world.settings.extraction.model and world.hosts is not None:
        return Extractor(chosen, world.hosts.named())
    found = world.extractor(spot.realm, spot.session)
    return None if found.model is None else found


def job(world: World, host: Host, session: Session) -> Enqueue | None:
    """The job that a session needs: what waits for a model."""
    waits = bool(session.asked[0] or session.unmapped) or any(one.pending for one in session.kept)
    if not waits or asker(world, host.spot) is None:
        return None
    folder = host.standing.folder.name if host.standing else ""
    return Enqueue(host.spot.realm, OFFLOAD, folder, world.clock.now()) if folder else None
