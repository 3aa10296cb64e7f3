"""What of a memory or a message is embedded, and the hash that tells whether it moved.

Memories are told in the third person ("The user keeps bees"), questions are asked in the first
("What do I keep?"): small encoders put the two nearer together when the user speaks in both. The
name goes in front, because it says in a word what the fact is about.
"""

from __future__ import annotations

import hashlib
from typing import Final

from memstrata.domain.lazy import Regex

MOST: Final = 2_000
"""Bytes of UTF-8 that are embedded: some 450 tokens, in Chinese as in English. An encoder reads 512."""

_NO_PERSON: Final = (
    r"(?![\s-]+(?:accounts?|agents?|base|data|experience|groups?|guides?|ids?|input|interfaces?|"
    r"manuals?|names?|profiles?|research|settings|space|stor(?:y|ies)|tables?|tests?)\b)"
)
_START: Final = r"(?:^|(?<=[.!?;:]\s)|(?<=\n))"
_USER: Final = rf"(?:\b[Tt]he user|{_START}User)"
_ENGLISH: Final = (
    (Regex(rf"{_START}{_USER}['’]s\b"), "My"),
    (Regex(rf"{_USER}['’]s\b"), "my"),
    (Regex(rf"{_USER}\b(?!['’]){_NO_PERSON}"), "I"),
)
"""Verbs stay as they are ("I keeps bees"): agreement made no difference that could be measured."""
_CHINESE: Final = Regex("(?:该|这位|本)?用户(?!名|界面|体验|群|数|端|手册|协议|组|画像|增长|们)")


def passage_of_memory(name: str, description: str, body: str) -> str:
    """The text of a memory that is embedded: its name, then what it says in the first person."""
    told = body if body.startswith(description) else f"{_ended(description)} {body}"
    return head(f"{_ended(name)} {first_person(head(told))}".strip())


def passage_of_message(speaker: str, content: str) -> str:
    """The text of a message that is embedded; `speaker` is its name, `""` for none."""
    return head(f"{speaker}: {content}" if speaker else content)


def head(text: str) -> str:
    """The part of `text` that is embedded; half a surrogate pair becomes `?`."""
    return text[:MOST].encode("utf-8", "replace")[:MOST].decode("utf-8", "ignore")


def first_person(text: str) -> str:
    """`text` as the user would say it: "The user's dog" is "My dog", "用户" is "我"."""
    for pattern, word in _ENGLISH:
        text = pattern.sub(word, text)
    return _CHINESE.sub("我", text)


def digest(text: str) -> bytes:
    """16 bytes that tell one text from another."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _ended(text: str) -> str:
    return text if not text or text[-1] in ".!?…:。！？：" else f"{text}."
