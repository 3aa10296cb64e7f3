"""Archived texts: what stands in a ref, how it is found again, and which results are not archived yet."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memstrata.domain import checks, redact, times
from memstrata.domain import window as windows
from memstrata.domain.offload_entry import Entry
from memstrata.domain.offload_state import Kept, Session, safe_name
from memstrata.domain.summarise import call_line, is_known, summarise
from memstrata.domain.window import Call, Result, Window
from memstrata.errors import Conflict, Invalid, NotFound
from memstrata.pipelines import sessions
from memstrata.pipelines.offload.host import Host, asker, job
from memstrata.pipelines.sessions import Standing
from memstrata.pipelines.world import World

_PLAIN_KEY: Final = re.compile(r"[\w.:@/+-]{1,100}")
_END: Final = b"\n---\n"
TRIES: Final = 4
LARGEST: Final = 50_000_000
"""Characters of a result that is archived."""


@dataclass(frozen=True, slots=True)
class Archiving:
    """A session with more results, and their texts by file name."""

    session: Session
    refs: Mapping[str, bytes]


def record(
    world: World, host: Host, tool_call_id: str, name: str, arguments: object, result: object
) -> Kept:
    """Archive one result as soon as it is there.

    Raises:
        Invalid: an id or a name that is no text.
        Unavailable: disk or database said no; it is archived at the next `assemble`.
    """
    call = Call(
        checks.string("tool_call_id", tool_call_id),
        checks.string("name", name),
        windows.flat(arguments),
        0,
    )
    if not call.id:
        raise Invalid("tool_call_id", "is empty")
    given = Result(call.id, windows.flat(result))
    for _ in range(TRIES):
        standing = host.standing = sessions.stand(world, host.spot, host.standing)
        made = _with(world, host, Archiving(standing.session, {}), given, call)
        try:
            host.standing = sessions.save(
                world, host.spot, standing, made.session, made.refs, job(world, host, made.session)
            )
        except Conflict:
            continue
        found = made.session.find(given)
        if found is not None:
            return found
    raise Conflict(f"the session {host.spot.session!r} moved each time; not archived")


def unseen(world: World, host: Host, session: Session, window: Window) -> Archiving:
    """Every result of the list that is not archived, summarised by rule."""
    found = Archiving(session, {})
    calls = window.calls
    for _, result in window.results:
        if len(result.text) <= LARGEST:
            call = calls.get(result.id) or Call(result.id, "", "", 0)
            found = _with(world, host, found, result, call)
    return found


def _with(world: World, host: Host, found: Archiving, result: Result, call: Call) -> Archiving:
    session = found.session
    if session.find(result) is not None:
        return found
    now, mode = world.clock.now(), world.settings.offload.mask_secrets
    text, arguments = redact.mask(result.text, mode), redact.mask(call.arguments, mode)
    masked = text.count("[secret:") - result.text.count("[secret:")
    told = summarise(call.name, arguments, text)
    key = _key(session, result.id)
    file = f"{safe_name(key, (one.file.removesuffix('.md') for one in session.kept))}.md"
    entry = Entry(
        now,
        "",
        call_line(call.name, arguments),
        told.text,
        f"{sessions.REFS}/{file}",
        key,
        told.score,
        failed=bool(told.error),
    )
    waits = asker(world, host.spot) is not None and not is_known(told)
    kept = Kept(entry, result.id, result.digest, call.name, len(text), masked=masked, pending=waits)
    data = _ref(kept, arguments, text, now)
    return Archiving(replace(session, kept=(*session.kept, kept)), {**found.refs, file: data})


def _key(session: Session, id: str) -> str:
    """The id of a result in its session: the host's, unless that is none or is taken."""
    plain = id if _PLAIN_KEY.fullmatch(id) else safe_name(id)
    key, number = plain, 2
    while key in session.by_key:
        key, number = f"{plain}~{number}", number + 1
    return key


def _ref(kept: Kept, arguments: str, text: str, now: datetime) -> bytes:
    head = {
        "tool_call_id": kept.key,
        "tool": kept.name,
        "arguments": arguments,
        "time": times.stamp(now),
        "characters": kept.size,
        "masked": kept.masked,
    }
    lines = "\n".join(f"{name}: {json.dumps(value)}" for name, value in head.items())
    return f"---\n{lines}".encode() + _END + text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Ref:
    """An archived text: word for word, with the arguments of its call."""

    text: str
    arguments: str = ""


def read(world: World, standing: Standing, file: str) -> Ref:
    """The archived text of a file in `refs/`.

    Raises:
        NotFound: it is not there any more.
        Unavailable: it cannot be read.
    """
    data, _ = world.vault.read(standing.ref(file))
    head, found, body = data.partition(_END)
    if not (found and head.startswith(b"---\n")):
        raise NotFound("ref", file)
    arguments = ""
    for line in head.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(": ")
        if name == "arguments":
            arguments = str(json.loads(value))
    return Ref(body.decode("utf-8", "surrogatepass"), arguments)


def words(text: str, mode: redact.Mode) -> bytes:
    """The words of removed messages as they are archived."""
    masked = redact.mask(text, mode)
    return b'---\ntool: ""' + _END + masked.encode("utf-8", "surrogatepass")
