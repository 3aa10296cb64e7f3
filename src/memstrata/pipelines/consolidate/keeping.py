"""Plans that a dry run keeps: operational files, each under the digest of what it says, for a day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from memstrata.domain import checks, kept_plan, layout
from memstrata.domain.kept_plan import Kept, KeptPlan
from memstrata.domain.layout import Place
from memstrata.domain.plan import Consolidated, Propose, Put
from memstrata.domain.scope import Key, Realm, View
from memstrata.errors import Conflict, Invalid, NotFound
from memstrata.pipelines import apply, bind, graves
from memstrata.pipelines.consolidate.drafting import Drafted
from memstrata.pipelines.world import World

KEPT_FOR: Final = timedelta(hours=24)
"""How long the plan of a dry run can be applied."""


def keep(
    world: World, owner: Realm, changes: Sequence[Kept], forgotten: int
) -> tuple[str, datetime]:
    """Keep a plan; the digest it is kept under, and until when. It was begun when so much was `forgotten`.

    Raises:
        Conflict: something was forgotten meanwhile; nothing is kept.
    """
    expires = world.clock.now() + KEPT_FOR
    data = kept_plan.encode(KeptPlan(tuple(changes), expires))
    name = kept_plan.digest(data)

    def write(_: bytes | None) -> bytes:
        if graves.total(world) != forgotten:
            raise Conflict("something was forgotten meanwhile; make a new dry run")
        return data

    apply.edit_text(world, layout.kept_plan(owner.owner, name), write)
    return name, expires


def again(world: World, view: View, digest: str, author: str) -> list[Drafted]:
    """The drafts of a plan that is kept, past the sensitive gate as it is now.

    Raises:
        NotFound: there is none (any more) that this view may apply.
        Conflict: the gate refuses it by now.
    """
    plan = _kept(world, view, digest)
    for one in plan.changes:
        _refuse_secret(world, one)
    return [
        _drafted_again(world, key, [c for c in plan.changes if _key_of(c) == key], author)
        for key in dict.fromkeys(map(_key_of, plan.changes))
    ]


def drop(world: World, owner: Realm, digest: str) -> None:
    """Keep a plan no longer."""
    apply.remove_text(world, layout.kept_plan(owner.owner, digest))


def _key_of(change: Kept) -> Key:
    return change.memory.key if isinstance(change, Put) else change.key


def _kept(world: World, view: View, digest: str) -> KeptPlan:
    place = layout.kept_plan(view.realm.owner, checks.ref("digest", digest))
    try:
        data, _ = world.vault.read(place)
        plan = kept_plan.decode(data, world.space, world.zone)
    except (NotFound, Invalid) as error:
        raise NotFound("plan", digest) from error
    fresh = kept_plan.digest(data) == digest and plan.expires_at > world.clock.now()
    if not fresh or not {_key_of(change) for change in plan.changes} <= set(view.keys):
        raise NotFound("plan", digest)
    return plan


def _drafted_again(world: World, key: Key, changes: Sequence[Kept], author: str) -> Drafted:
    done = next(one for one in changes if isinstance(one, Consolidated))
    rest = tuple(one for one in changes if one is not done)
    return Drafted(rest, done, bind.target(world, key, author), len(rest))


def _refuse_secret(world: World, change: Kept) -> None:
    """The gate's patterns may be newer than the plan."""
    texts: list[str] = []
    if isinstance(change, Propose):
        one = change.candidate
        texts = [one.name, one.description, one.body]
    elif isinstance(change, Put) and change.base is None:
        texts = [change.memory.name, change.memory.description, change.memory.body]
    if world.findings([*texts, " ".join(texts)]):
        raise Conflict("the sensitive gate refuses this plan by now; make a new dry run")


def sweep(world: World, owner: Realm) -> None:
    """Remove the plans that nobody can apply any more."""
    folder = layout.kept_plan(owner.owner, "none").folder
    for name in sorted(world.vault.scan(folder) or {}):
        if name.endswith(".json") and _is_stale(world, folder.within(name)):
            apply.remove_text(world, folder.within(name))


def _is_stale(world: World, place: Place) -> bool:
    data, _ = world.vault.read(place)
    try:
        return kept_plan.decode(data, world.space, world.zone).expires_at <= world.clock.now()
    except Invalid:
        return True
