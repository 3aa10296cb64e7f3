"""LoCoMo's layout: dialogues of two people in dated sessions. The first speaker is the user."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, cast

from memstrata.errors import Invalid
from memstrata.importers.record import Bad, Spoken

_SESSION: Final = re.compile(r"session_(\d+)\Z")
_WHEN: Final = ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %B %Y", "%d %B, %Y")


def looks_like(path: Path, head: bytes) -> bool:
    """Whether a JSON file has LoCoMo's keys."""
    return (
        path.suffix == ".json"
        and head.lstrip()[:1] in (b"[", b"{")
        and b'"' in head
        and _has_keys(path)
    )


def _has_keys(path: Path) -> bool:
    try:
        return any(True for _ in _conversations(path))
    except Invalid:
        return False


def read(path: Path) -> Iterator[Spoken | Bad]:
    """The messages of every conversation of a file, sessions in order.

    Session `<sample_id>-session_<n>`, message `<sample_id>:<dia_id>`, `said_at` the session's time
    (local to the owner), `name` the speaker; a shared picture's caption follows the text in brackets.

    Raises:
        Invalid: the file cannot be read or has another layout.
    """
    for sample, conversation in _conversations(path):
        first = str(conversation.get("speaker_a", ""))
        numbers = sorted(int(found[1]) for name in conversation if (found := _SESSION.match(name)))
        for number in numbers:
            yield from _session(sample, number, conversation, first)


def _session(
    sample: str, number: int, conversation: Mapping[str, object], first: str
) -> Iterator[Spoken | Bad]:
    turns = conversation[f"session_{number}"]
    said_at = _when(conversation.get(f"session_{number}_date_time"))
    if not isinstance(turns, Sequence):
        yield Bad(f"{sample} session_{number}", "is no list of turns")
        return
    for index, turn in enumerate(turns):
        where = f"{sample} session_{number}[{index}]"
        if not isinstance(turn, Mapping) or not isinstance(turn.get("text"), str):
            yield Bad(where, "is no turn with a text")
            continue
        message = {
            "id": f"{sample}:{turn.get('dia_id', f'D{number}:{index + 1}')}",
            "role": "user" if turn.get("speaker") == first else "assistant",
            "name": str(turn.get("speaker", "")),
            "content": _content(turn),
            "said_at": said_at,
        }
        yield Spoken(f"{sample}-session_{number}", message, where)


def _content(turn: Mapping[str, object]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']}\n[picture: {caption}]" if caption else str(turn["text"])


def _when(value: object) -> datetime | None:
    """The naive local time of a session; None when it is not said or not readable."""
    for form in _WHEN:
        try:
            return datetime.strptime(str(value), form)  # noqa: DTZ007 -- local to the owner by contract
        except ValueError:
            continue
    return None


def _conversations(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise Invalid("path", f"{path} cannot be read: {error}") from error
    samples = found if isinstance(found, list) else [found]
    for index, sample in enumerate(samples):
        conversation = sample.get("conversation") if isinstance(sample, Mapping) else None
        if not isinstance(conversation, Mapping) or "speaker_a" not in conversation:
            raise Invalid("path", f"{path} has no LoCoMo conversation at [{index}]")
        name = str(sample.get("sample_id") or f"{path.stem}-{index + 1}")
        yield name, cast("Mapping[str, object]", conversation)
