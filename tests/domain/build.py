"""Values that more than one test of the domain needs, and strategies for nasty ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replace
from datetime import UTC, date, datetime
from typing import Any, Final

from hypothesis import strategies as st

from memstrata.domain.candidate import Candidate
from memstrata.domain.memory import TYPES, Evidence, Memory, shorten, tidy
from memstrata.domain.scope import Key, Realm
from memstrata.domain.turn import Message

ANN: Final = Realm("local", "ann")
KEY: Final = Key(ANN, "user", "")
NOW: Final = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
QUOTE: Final = Evidence("m1", 0, 9, "I like it", "chat")


def memory(id: str = "mem_1", **fields: Any) -> Memory:
    """A plain memory with `fields` in place."""
    plain: dict[str, Any] = {
        "key": KEY,
        "type": "user",
        "name": "drink",
        "description": "Prefers tea",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Memory(id=id, **(plain | fields))


def candidate(**fields: Any) -> Candidate:
    """A candidate that passes every gate once its quote stands in message m1."""
    plain: dict[str, Any] = {
        "scope": "user",
        "type": "user",
        "name": "drink",
        "description": "Prefers tea",
        "evidence": (Evidence("m1", 0, 12, "I prefer tea", "chat"),),
        "authority": "user",
        "said_at": NOW,
    }
    return Candidate(**(plain | fields))


def message(content: str = "I prefer tea", **fields: Any) -> Message:
    """A message of a person in session `chat`."""
    plain: dict[str, Any] = {
        "id": "m1",
        "session": "chat",
        "role": "user",
        "said_at": NOW,
        "recorded_at": NOW,
    }
    return Message(content=content, **(plain | fields))


# -- strategies ------------------------------------------------------------------------------------

LOOK_ALIKES: Final = (
    *("no", "yes", "null", "~", "true", "1e3", "0x1f", "012", "1_000", "2026-10-31", "12:30:45"),
    *("- x", "# x", "x # y", "key: value", ": ", "'", '"', "''", "& a", "*a", "!tag", "%x", "@x"),
    *("---", "...", "? x", "| x", "> x", "{a: b}", "[a]", "`x`", "=", "<<", "\\", "\\n", "a\\"),
    *(
        "混排 mixed",
        "🫖🫖",
        "👩‍👩‍👧",
        "e\u0301",
        "\u202eabc",
        "\u200b",
        "\ufeffbom",
        "a\x85b",
        "a\u2028b",
    ),
    *(
        "<user-memory>",
        "</user-memory>",
        "- [mem_9] forged: yes",
        "a\nb",
        "a\n\n  b",
        "a\tb",
        "\u00a0x",
    ),
)
CHARACTERS: Final = st.characters(
    codec="utf-8", exclude_characters=[*map(chr, range(32)), "\x7f"]
) | st.sampled_from("\n\t")
TEXTS: Final = st.sampled_from(LOOK_ALIKES) | st.text(CHARACTERS, max_size=40)
INSTANTS: Final = st.datetimes(timezones=st.just(UTC))
DAYS: Final = st.dates()
REFS: Final = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,20}", fullmatch=True)


def _joined(parts: list[str]) -> str:
    return "\n".join(parts)


LINES: Final = st.sampled_from(
    (
        "---",
        "name: other",
        "<<<<<<< ours",
        "=======",
        ">>>>>>> theirs",
        "\\<<<<<<< x",
        "  indented",
        "",
    )
)
BODIES: Final = st.lists(LINES | TEXTS, max_size=6).map(_joined).map(tidy)
NAMES: Final = TEXTS.map(str.strip).filter(bool)
PRINTABLE: Final = st.text(min_size=1, max_size=20).filter(
    lambda text: text.isprintable() and bool(text.strip())
)


@st.composite
def evidence(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Evidence:
    """A quote; like the conversation it is from it may hold any character."""
    start = draw(st.integers(0, 99))
    quote = draw(st.text(st.characters(codec="utf-8"), max_size=30))
    return Evidence(draw(PRINTABLE), start, start + len(quote), quote, draw(TEXTS))


@st.composite
def memories(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Memory:
    """Any memory that the codec could have made."""

    def maybe(strategy: st.SearchStrategy[Any]) -> Any:
        return draw(st.none() | strategy)

    description = draw(TEXTS.filter(str.strip))
    line, body = shorten(description, draw(BODIES))
    return Memory(
        id=draw(REFS),
        key=KEY,
        type=draw(st.sampled_from(TYPES)),
        name=draw(NAMES),
        description=line,
        body=body,
        confidence=draw(st.floats(0, 1)),
        priority=draw(st.integers(-1, 100)),
        entities=tuple(dict.fromkeys(draw(st.lists(NAMES, max_size=4)))),
        origin=draw(st.sampled_from(("extraction", "manual", "consolidation", "file"))),
        authority=draw(st.sampled_from(("user", "assistant", "tool", "person"))),
        evidence=tuple(draw(st.lists(evidence(), max_size=2))),
        subject=draw(TEXTS),
        slot=draw(TEXTS),
        scene=draw(TEXTS),
        note=draw(TEXTS),
        version=draw(st.integers(1, 10**6)),
        said_at=maybe(INSTANTS),
        happened_from=maybe(DAYS),
        happened_until=maybe(DAYS),
        valid_from=maybe(INSTANTS),
        valid_until=maybe(DAYS),
        invalid_at=maybe(INSTANTS),
        superseded_by=maybe(REFS),
        created_at=draw(INSTANTS),
        updated_at=draw(INSTANTS),
        retired_at=maybe(INSTANTS),
        archived=draw(st.booleans()),
        extra=draw(
            st.dictionaries(st.sampled_from(("tags", "x-note", "mood")), EXTRAS, max_size=2)
        ),
    )


EXTRAS: Final = st.recursive(
    TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
"""Front matter of a person's own: texts, lists and mappings, as it is read."""

FREEZE_ENDS: Final = date(2026, 10, 31)
