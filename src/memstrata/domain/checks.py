"""What every text and identifier from outside must pass, with the field named when it does not."""

from __future__ import annotations

import re
import reprlib
from typing import Final

from memstrata.errors import Invalid

_REF: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def ref(field: str, value: object) -> str:
    """An id or ref that may become part of a path: `[A-Za-z0-9._-]`, no leading dot, 1 to 128 characters."""
    found = string(field, value)
    if not _REF.fullmatch(found):
        raise Invalid(
            field,
            f"{shown(found)} is not an id; use 1 to 128 of A-Z a-z 0-9 . _ - and no leading dot",
        )
    return found


def is_ref(text: str) -> bool:
    """Whether a text is an id or ref that may become part of a path; see `ref`."""
    return _REF.fullmatch(text) is not None


def identity(field: str, value: object) -> str:
    """A person's or message's id that never becomes a path: 1 to 256 printable characters."""
    found = string(field, value)
    if not found.strip() or len(found) > 256 or not found.isprintable():
        raise Invalid(field, f"{shown(found)} is not an id; use 1 to 256 printable characters")
    return found


def string(field: str, value: object) -> str:
    """A str that UTF-8 can hold."""
    if not isinstance(value, str):
        raise Invalid(field, f"expected text, got {type(value).__name__}")
    if _SURROGATE.search(value):
        raise Invalid(field, "holds a lone surrogate (half a character); send valid Unicode")
    return value


def text(field: str, value: object, *, most: int, empty: bool = False) -> str:
    """Text of at most `most` characters without control characters; blank only if `empty`."""
    found = string(field, value)
    if len(found) > most:
        raise Invalid(field, f"is {len(found):,} characters long; at most {most:,} are taken")
    control = _CONTROL.search(found)
    if control:
        raise Invalid(
            field, f"holds the control character U+{ord(control[0]):04X} at {control.start()}"
        )
    if not empty and not found.strip():
        raise Invalid(field, "is empty")
    return found


def shown(value: object) -> str:
    """`value` as an error message may show it: quoted, about 60 characters of it at most."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "…")
    # Python refuses to write an integer of thousands of digits out.
    if isinstance(value, int) and value.bit_length() > 1_000:
        return "a number of too many digits"
    return reprlib.repr(value) if not isinstance(value, bytes) else reprlib.repr(value[:60])
