"""One turn into L0: parse → clean → mask → append. Durable when it returns; no model, no waiting."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memstrata import failpoints
from memstrata.domain import redact, turn
from memstrata.domain.plan import EXTRACT, Append, Enqueue, Plan
from memstrata.domain.scope import Realm
from memstrata.domain.turn import Message, Said
from memstrata.errors import Invalid
from memstrata.pipelines import apply, graves
from memstrata.pipelines.world import World

OWN_SESSIONS: Final = "memstrata-"
"""Sessions of ours begin so and are never captured."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a commit: ids stored, ids that were there already, what was left out and why."""

    stored: tuple[str, ...] = ()
    existing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chat:
    """Whose turn it is: `workspace` is the workspace key, `""` for none; `model` the host's, by name."""

    realm: Realm
    session: str
    workspace: str = ""
    agent: str = ""
    model: str = ""


def capture(world: World, chat: Chat, messages: object) -> Captured:
    """Store `messages` of OpenAI's or Anthropic's shape, each once, and schedule extraction.

    Raises:
        Invalid: the field that is wrong; nothing was stored.
        Unavailable: the disk or the database said no; nothing was stored.
    """
    settings = world.settings
    said = turn.parse(messages, world.zone, most=settings.capture.max_message_characters)
    if not settings.memory.enabled and not settings.capture.when_disabled:
        return Captured(warnings=("memory is switched off: nothing was stored",))
    if excluded(chat.session, settings.capture.exclude):
        return Captured(warnings=(f"session {chat.session!r} is excluded: nothing was stored",))
    chat, warnings = _with_known_model(world, chat)
    failpoints.hit("capture.parsed")
    said_now, gone = _not_forgotten(world, chat, _messages(world, chat, said))
    warnings += gone
    held = world.store.known_messages(chat.realm, chat.session, [one.id for one in said_now])
    first: dict[str, Message] = {}
    for one in said_now:
        first.setdefault(one.id, held.get(one.id, one))
    warnings += tuple(
        f"message {one.id!r} is stored already with other text; the first was kept"
        for one in said_now
        if first[one.id].content != one.content
    )
    found = list(first.values())
    fresh = tuple(one for one in found if one.id not in held)
    stored = _store(world, chat, fresh) if fresh else ()
    new = {one.id for one in stored}
    world.bus.emit(
        "turn.committed",
        owner=chat.realm.owner,
        session=chat.session,
        stored=len(new),
        existing=len(found) - len(new),
    )
    return Captured(
        tuple(one.id for one in found if one.id in new),
        tuple(one.id for one in found if one.id not in new),
        warnings,
    )


def _with_known_model(world: World, chat: Chat) -> tuple[Chat, tuple[str, ...]]:
    """`chat` without a model that cannot be asked here, and why; the turn itself is never refused for it."""
    if not chat.model or world.model is not None:
        return replace(chat, model=""), ()
    try:
        if world.hosts is None:
            raise Invalid("model", "none can be asked; pip install 'memstrata[models]'")
        world.hosts.checked(chat.model)
    except Invalid as error:
        told = f"{error.message}; this turn is extracted without it"
        return replace(chat, model=""), (told,)
    return chat, ()


def excluded(session: str, patterns: Sequence[str]) -> bool:
    """Whether a session is never captured: one of ours, or one that the settings exclude."""
    return session.startswith(OWN_SESSIONS) or any(
        fnmatch.fnmatchcase(session, one) for one in patterns
    )


def _messages(world: World, chat: Chat, said: Sequence[Said]) -> list[Message]:
    """Cleaned, masked, identified; what is blank after cleaning or a host's bootstrap line is no message."""
    cleaned = [replace(one, content=_clean(world, one.content)) for one in said]
    kept = [one for one in cleaned if one.content.strip() and not turn.is_bootstrap(one.content)]
    now = world.clock.now()
    ids = turn.identify(kept, chat.session)
    return [_message(chat, one, id, now) for id, one in zip(ids, kept, strict=True)]


def _not_forgotten(
    world: World, chat: Chat, said: Sequence[Message]
) -> tuple[list[Message], tuple[str, ...]]:
    """Those that were not forgotten, and a warning where some were."""
    stones = graves.of(world, chat.realm.owner)
    kept = [one for one in said if not stones.stops(chat.realm, one)]
    gone = len(said) - len(kept)
    return kept, (f"{gone} messages were forgotten and are not stored again",) if gone else ()


def _clean(world: World, content: str) -> str:
    return redact.mask(turn.clean(content), world.settings.capture.mask_secrets)


def _message(chat: Chat, said: Said, id: str, now: datetime) -> Message:
    return Message(
        id=id,
        session=chat.session,
        role=said.role,
        content=said.content,
        said_at=said.said_at,
        recorded_at=now,
        workspace=chat.workspace,
        agent=chat.agent,
        name=said.name,
        call=said.call,
        skip=turn.skip_reason(said.content) if said.role != "tool" else "tool",
        model=chat.model,
    )


def _store(world: World, chat: Chat, fresh: tuple[Message, ...]) -> tuple[Message, ...]:
    changes: tuple[Append | Enqueue, ...] = (Append(chat.realm, fresh),)
    changes += (Enqueue(chat.realm, EXTRACT, chat.session, world.clock.now()),)
    return apply.apply(world, Plan(changes), {}).messages
