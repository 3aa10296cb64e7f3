"""What must not be written down: credentials, private identifiers, contacts, private facts.

The patterns are data: `Rule` rows found by literal anchors, because `str.find` walks ten megabytes
in milliseconds and a regular expression does not. Every quantifier is bounded, so the time is linear
in the length of the text. All of them read `fold(text)`, in which full-width and styled letters are
plain, invisible characters are gone, and masks written earlier are blank; the spans they report are
those of the text that was given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from memstrata.domain.redact.identifiers import IDENTIFIERS, ibans, numbers
from memstrata.domain.redact.keys import KEYS
from memstrata.domain.redact.private import FACTS, contacts
from memstrata.domain.redact.rule import merged, scan
from memstrata.domain.redact.statements import STATEMENTS
from memstrata.domain.redact.text import TAIL, Finding, Folded, fold

__all__ = [
    "Finding",
    "Folded",
    "Mode",
    "find_contacts",
    "find_identifiers",
    "find_private",
    "find_secrets",
    "find_sensitive",
    "fold",
    "mask",
]

Mode = Literal["all", "keys", "off"]
Finder = Callable[[Folded], Iterable[Finding]]


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Credentials in `text`, in order of place: key formats, and what is said to be a secret."""
    return _found(text, _secrets)


def find_identifiers(text: str) -> tuple[Finding, ...]:
    """Private identifiers: those a word announces, and numbers whose check digits prove them."""
    return _found(text, _identifiers)


def find_contacts(text: str) -> tuple[Finding, ...]:
    """E-mail addresses and telephone numbers."""
    return _found(text, contacts)


def find_private(text: str) -> tuple[Finding, ...]:
    """Words of health, diet and beliefs. Coarse by intent: for those who want none of it kept."""
    return _found(text, lambda folded: scan(folded, FACTS))


def find_sensitive(
    text: str, *, strict: bool = False, more: Finder = lambda folded: ()
) -> tuple[Finding, ...]:
    """Secrets and identifiers, with `strict` contacts and private facts, and what `more` finds."""

    def everything(folded: Folded) -> Iterator[Finding]:
        yield from _secrets(folded)
        yield from _identifiers(folded)
        if strict:
            yield from contacts(folded)
            yield from scan(folded, FACTS)
        yield from more(folded)

    return _found(text, everything)


def mask(text: str, mode: Mode) -> str:
    """`text` with its secrets as `[secret:kind]`, or `[secret:kind …abcd]` from 16 characters on.

    `keys` masks provider formats, private keys and JWTs; `all` also what people and files say is a
    secret; `off` nothing. The rest stays character for character; masking again changes nothing.
    """
    finder = {"all": _secrets, "keys": _keys, "off": _nothing}[mode]
    # Again, because what stood in the shadow of a secret may show once that is gone.
    while found := _found(text, finder):
        text = _replaced(text, found)
    return text


def _replaced(text: str, secrets: Iterable[Finding]) -> str:
    pieces: list[str] = []
    done = 0
    for secret in secrets:
        pieces += text[done : secret.start], _masked(secret.kind, text[secret.start : secret.end])
        done = secret.end
    return "".join([*pieces, text[done:]])


def _masked(kind: str, secret: str) -> str:
    plain = fold(secret).text
    shown = len(plain) >= 16 and kind != "private-key" and re.fullmatch(TAIL, plain[-4:])
    return f"[secret:{kind} …{plain[-4:]}]" if shown else f"[secret:{kind}]"


def _nothing(folded: Folded) -> Iterator[Finding]:
    return iter(())


def _keys(folded: Folded) -> Iterator[Finding]:
    return scan(folded, KEYS)


def _secrets(folded: Folded) -> Iterator[Finding]:
    yield from scan(folded, KEYS)
    yield from scan(folded, STATEMENTS)


def _identifiers(folded: Folded) -> Iterator[Finding]:
    yield from numbers(folded)
    yield from ibans(folded)
    yield from scan(folded, IDENTIFIERS)


def _found(text: str, finder: Finder) -> tuple[Finding, ...]:
    folded = fold(text)
    return tuple(folded.original(found) for found in merged(finder(folded)))
