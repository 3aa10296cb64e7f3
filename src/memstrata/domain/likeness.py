"""Whether two memories can be of one matter, and whether they can say the same: by their words alone.

Careful in one direction: what differs in a subject, name, number, day or denial never says the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memstrata.domain import evolve, terms
from memstrata.domain.entities import NONE, Aliases
from memstrata.domain.memory import Memory

OWNER: Final = frozenset(("user", "i", "用户"))
"""What the owner is called in a memory: no name that two memories could have in common."""
UNTIED: Final = "it shares neither slot nor entity with what it names"
_OTHER_SUBJECT: Final = "it is about another subject"
_SENTENCE: Final = re.compile(r"[.;!?。；！？]\s*")
_FIGURE: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")


def same_slot(one: Memory, other: Memory) -> bool:
    """Whether both are about one subject and one slot of it."""
    return bool(one.slot) and (one.subject, one.slot) == (other.subject, other.slot)


def untied(fresh: Memory, old: Memory, aliases: Aliases = NONE) -> str:
    """Why a ruling on `fresh` may not name `old`; `""`: it may. Names are one by `aliases`."""
    subjects = {one.subject for one in (fresh, old) if one.subject}
    if len(subjects) > 1 and not _speaks_of(fresh, old.subject):
        return _OTHER_SUBJECT
    shared = _share_entity(fresh, old, aliases)
    if same_slot(fresh, old) or shared or _read_alike(fresh, old):
        return ""
    return UNTIED


def _speaks_of(fresh: Memory, subject: str) -> bool:
    """Whether the words of `fresh` name another subject than its own ("took it over from Ines")."""
    quotes = " ".join(one.quote for one in fresh.evidence)
    words = f"{_text(fresh)} {terms.fold(quotes)}"
    return subject not in OWNER and _says(words, terms.fold(subject))


def _share_entity(one: Memory, other: Memory, aliases: Aliases) -> bool:
    """Whether an entity of the one is named in the other, by any of its names."""
    if not aliases.every(_entities(one)).isdisjoint(aliases.every(_entities(other))):
        return True
    return any(_says(_text(one), name) for name in _entities(other)) or any(
        _says(_text(other), name) for name in _entities(one)
    )


def _read_alike(one: Memory, other: Memory) -> bool:
    """Where slots and entities say nothing: half the words of the shorter stand in the other too."""
    if (one.slot and other.slot) or (one.entities and other.entities):
        return False
    first, second = (
        {word for word in evolve.content(m.description) if word not in OWNER} for m in (one, other)
    )
    return 2 * len(first & second) >= min(len(first), len(second)) > 0


def event_and_fact(one: Memory, other: Memory) -> bool:
    """Whether just one of the two is something that happened."""
    return one.type != other.type and "episodic" in (one.type, other.type)


def apart(fresh: Memory, old: Memory, aliases: Aliases = NONE) -> str:
    """Why the two cannot say the same; `""`: they may."""
    if fresh.subject and old.subject and fresh.subject != old.subject:
        return _OTHER_SUBJECT
    if event_and_fact(fresh, old):
        return "one is an event, the other a fact"
    if any(day not in (None, held) for day, held in _days(fresh, old)):
        return "it has days of its own"
    if evolve.negated(fresh.description) != evolve.negated(old.description):
        return "one denies what the other says"
    if _each_has_its_own(_figures(fresh), _figures(old)):
        return "it has another number"
    if _other_names(fresh, old, aliases) and _other_names(old, fresh, aliases):
        return "it has another name"
    if _begun_otherwise(fresh, old) or _begun_otherwise(old, fresh):
        return "it has a name that begins otherwise"
    return ""


def _days(fresh: Memory, old: Memory) -> Iterator[tuple[object, object]]:
    yield fresh.valid_until, old.valid_until
    yield fresh.happened_from, old.happened_from
    yield fresh.happened_until, old.happened_until


def more(fresh: Memory, old: Memory, aliases: Aliases = NONE) -> str:
    """What `fresh` says more than `old`: a name or a number; `""`: nothing of these."""
    if _figures(fresh) - set(_FIGURE.findall(_text(old))):
        return "it has a number that the other lacks"
    return "it has a name that the other lacks" if _other_names(fresh, old, aliases) else ""


def _figures(one: Memory) -> set[str]:
    return set(_FIGURE.findall(terms.fold(one.description)))


def _each_has_its_own(one: set[str], other: set[str]) -> bool:
    return bool(one - other) and bool(other - one)


def _other_names(one: Memory, other: Memory, aliases: Aliases) -> list[str]:
    """The names in the words of `one` that do not stand in `other`, by none of their spellings."""
    known = aliases.every(_entities(other))
    told, there = terms.fold(one.description), _text(other)
    names = [*_proper(one), *(name for name in _entities(one) if _says(told, name))]
    return [name for name in names if not _says(there, name) and aliases.of(name) not in known]


def _begun_otherwise(one: Memory, other: Memory) -> bool:
    """Whether a name of `one` stands in a longer name of `other`, not at its beginning: York, New York."""
    parts = (*_proper(one), *_entities(one))
    longer = (*_proper(other), *_entities(other))
    return any(f" {part} " in f"{name} " for part in parts for name in longer)


def _proper(one: Memory) -> list[str]:
    """The names with a capital inside a sentence, folded."""
    sentences = _SENTENCE.split(one.description)
    names = (terms.fold(name) for text in sentences for name in evolve.PROPER.findall(text))
    return [name for name in names if name not in OWNER]


def other_entities(one: Memory, other: Memory, aliases: Aliases = NONE) -> bool:
    """Whether both list entities, and none in common by any of their names."""
    first, second = aliases.every(_entities(one)), aliases.every(_entities(other))
    return bool(first and second) and first.isdisjoint(second)


def _entities(one: Memory) -> list[str]:
    folded = (" ".join(terms.fold(name).split()) for name in one.entities)
    return [name for name in folded if name and name not in OWNER]


def _text(one: Memory) -> str:
    """Everything a memory says, folded, on one line."""
    texts = (one.description, one.body, *one.entities)
    return " ".join(terms.fold("\n".join(texts)).split())


def _says(text: str, name: str) -> bool:
    """Whether a folded text holds `name`: as whole words where it is written in letters of a to z."""
    edges = [r"(?<![^\W_])", r"(?![^\W_])"] if name.isascii() else ["", ""]
    return bool(name) and re.search(edges[0] + re.escape(name) + edges[1], text) is not None
