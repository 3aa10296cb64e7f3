"""Synthetic secrets and ordinary lines. All invented; no secret stands in a file as it would be used.

`secrets.jsonl` and `heldout.jsonl` hold labels, sentences and the *pieces* of each secret; a piece
such as `@hex32` is drawn from a seeded generator, so that no scanner of repositories takes a line for
a live key. `ordinary(count, seed)` draws lines in which nothing is to be found, `other(count, seed)`
does so from different templates, kept for a last check.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent

_ALPHABETS: Final = {
    "alnum": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64x": string.ascii_letters + string.digits + "+/",
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "digits": string.digits,
    "letters": string.ascii_letters,
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A text that holds `secret`, a secret of `kind`, at `text[start:end]`."""

    kind: str
    lang: str
    text: str
    start: int
    end: int

    @property
    def secret(self) -> str:
        """What must be found."""
        return self.text[self.start : self.end]


def secrets(name: str = "secrets") -> tuple[Sample, ...]:
    """The labelled samples of `name`.jsonl, the same at each call."""
    lines = (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()
    return tuple(_sample(number, json.loads(line)) for number, line in enumerate(lines))


def _sample(number: int, row: dict[str, str | list[str]]) -> Sample:
    draw = random.Random(f"sample {number}")
    secret = "".join(_piece(draw, part) for part in row["parts"])
    before, after = str(row["text"]).split("{secret}")
    start = len(before)
    text = before + secret + after
    return Sample(str(row["kind"]), str(row["lang"]), text, start, start + len(secret))


def _piece(draw: random.Random, part: str) -> str:
    drawn = re.fullmatch(r"@(alnum|url|b64x|hex|upper|digits|letters)(\d+)", part)
    if drawn:
        return _mixed(draw, _ALPHABETS[drawn[1]], int(drawn[2]))
    if part.startswith("@luhn"):
        prefix, _, length = part[5:].partition("x")
        return card(draw, prefix, int(length))
    if part.startswith("@cardgroup"):
        return re.sub(r"(\d{4})(?=\d)", r"\1 ", card(draw, part[10:], 16))
    if part.startswith("@iban"):
        return iban(draw, part[5:])
    if part.startswith("@pem"):
        return pem(draw, part[4:])
    made = _MADE.get(part)
    return made(draw) if made else part


def _mixed(draw: random.Random, alphabet: str, length: int) -> str:
    """Drawn until the ends are letters or digits and, where there is room, a digit is among them."""
    while True:
        found = "".join(draw.choices(alphabet, k=length))
        digits = any(char.isdigit() for char in found) or length < 4 or alphabet.isalpha()
        if found[0].isalnum() and found[-1].isalnum() and digits:
            return found


def card(draw: random.Random, prefix: str, length: int) -> str:
    """A number of `length` digits that passes the Luhn check."""
    body = prefix + "".join(draw.choices(string.digits, k=length - len(prefix) - 1))
    total = sum(
        int("0246813579"[int(digit)]) if place % 2 == 0 else int(digit)
        for place, digit in enumerate(reversed(body))
    )
    return body + str(-total % 10)


def resident_id(draw: random.Random) -> str:
    """A number of 18 characters that passes the check of GB 11643-1999."""
    body = f"110101{draw.randint(1950, 2010)}{draw.randint(1, 12):02}{draw.randint(1, 28):02}"
    body += f"{draw.randint(0, 999):03}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * weight for digit, weight in zip(body, weights, strict=True))
    return body + "10X98765432"[total % 11]


def iban(draw: random.Random, country: str) -> str:
    """An account number of `country` (DE or GB) with valid check digits."""
    bank = "WEST" if country == "GB" else ""
    body = bank + "".join(draw.choices(string.digits, k={"DE": 18, "GB": 14}[country]))
    number = int("".join(str(int(char, 36)) for char in body + country + "00"))
    return f"{country}{98 - number % 97:02}{body}"


def pem(draw: random.Random, label: str) -> str:
    """A private key block filled with noise; `line` writes it with escaped line breaks."""
    name, tail = ("PGP PRIVATE KEY", " BLOCK") if label == "PGP" else (f"{label}PRIVATE KEY", "")
    joint = "\n"
    if label == "line":
        name, joint = "PRIVATE KEY", "\\n"
    body = joint.join(_mixed(draw, _ALPHABETS["b64x"], 64) for _ in range(4))
    dashes = "-" * 5
    return joint.join(
        (f"{dashes}BEGIN {name}{tail}{dashes}", body, f"{dashes}END {name}{tail}{dashes}")
    )


def jwt(draw: random.Random) -> str:
    """Three parts, the first two JSON."""
    head = _b64({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{_b64({'sub': str(draw.randint(1, 9999)), 'iat': 1})}.{_mixed(draw, _ALPHABETS['url'], 43)}"


def _b64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _uuid(draw: random.Random) -> str:
    return str(uuid.UUID(int=draw.getrandbits(128), version=4))


_MADE: Final[dict[str, Callable[[random.Random], str]]] = {
    "@cnid": resident_id,
    "@jwt": jwt,
    "@uuid": _uuid,
    "@basic": lambda draw: base64.b64encode(
        f"mira:{_mixed(draw, _ALPHABETS['alnum'], 12)}".encode()
    ).decode(),
}
