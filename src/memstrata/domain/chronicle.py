"""What a set of texts was: its last versions, and what the newest was made from. One JSON file a set.

The file is written first and holds all that a version says, so that a swap of several files that a
killed process left half-way can be carried out to its end.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, cast

from memstrata.domain import cited, times
from memstrata.domain.cited import Piece
from memstrata.domain.markdown import digest
from memstrata.errors import Corrupt, Invalid

Texts = Mapping[str, str]
"""File name → text."""
_EMPTY: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the set: when, why and by whom (a model's name, `rules`, `person`), every text in it."""

    id: str
    at: datetime
    why: str
    who: str
    texts: Texts


@dataclass(frozen=True, slots=True)
class Chronicle:
    """The versions that are kept, oldest first.

    `id` is of this state of the file, which also changes when only `seen` does. `before` are the
    digests of the files that the newest version took the place of. `seen` says what it was made from:
    the version of each memory by id, the digest of each scene by its name. `ran_at` is when that was
    looked at last. `left_out` found no room, `dropped` counts the paragraphs that nothing bore out.
    """

    id: str = ""
    versions: tuple[Version, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)
    ran_at: datetime | None = None
    left_out: int = 0
    dropped: int = 0

    @property
    def texts(self) -> Texts:
        """Every text of the newest version."""
        return self.versions[-1].texts if self.versions else _EMPTY

    @property
    def mark(self) -> int:
        """The state in one number, as the index notes it; 0 where there is none."""
        return 1 + zlib.crc32(self.id.encode()) if self.id else 0

    def changes(self) -> dict[str, tuple[str | None, str | None]]:
        """File name → digest before and after the newest version, of those that it changes; None: not there."""
        after = digests(self.texts)
        return {
            name: (self.before.get(name), after.get(name))
            for name in sorted(self.before.keys() | after)
            if self.before.get(name) != after.get(name)
        }

    def pieces(self) -> list[Piece]:
        """Every paragraph that the newest version wrote."""
        return [one for text in self.texts.values() for one in pieces_of(text)]


def pieces_of(text: str) -> list[Piece]:
    """The paragraphs of a text with a head."""
    return cited.pieces(cited.parse(cited.head(text)[1]))


def followed(
    held: Chronicle,
    version: Version,
    *,
    before: Texts,
    keep: int,
    seen: Mapping[str, str] | None = None,
    left_out: int | None = None,
    dropped: int | None = None,
) -> Chronicle:
    """`held` with one version more, of which the last `keep` stay besides it.

    `before` are the texts as they are on disk. Where those are not what the newest version said, a
    person changed them, and what they wrote is kept as a version, too.
    """
    versions = held.versions
    if before and dict(before) != dict(held.texts):
        versions = (
            *versions,
            Version(f"{version.id}-", version.at, "changed by hand", "person", before),
        )
    return Chronicle(
        version.id,
        (*versions[-keep:], version) if keep else (version,),
        digests(before),
        held.seen if seen is None else seen,
        version.at,
        held.left_out if left_out is None else left_out,
        held.dropped if dropped is None else dropped,
    )


def looked(held: Chronicle, id: str, at: datetime, seen: Mapping[str, str]) -> Chronicle:
    """`held` after a look that changed nothing."""
    return replace(held, id=id, seen=seen, ran_at=at, before=digests(held.texts))


def digests(texts: Texts) -> dict[str, str]:
    """File name → digest of its bytes."""
    return {name: digest(text.encode()) for name, text in texts.items()}


def without(text: str, ids: Iterable[str]) -> str:
    """A text with a head without the paragraphs that cite one of `ids`; its summary goes with them."""
    lost = frozenset(ids)
    fields, body = cited.head(text)
    sections = cited.parse(body)
    if not lost.intersection(cited.cited(sections)):
        return text
    left = tuple(
        replace(one, pieces=kept)
        for one in sections
        if (kept := tuple(piece for piece in one.pieces if not lost.intersection(piece.cites)))
    )
    bullets = "summary" not in fields
    shown = {name: value for name, value in fields.items() if name != "summary"}
    return cited.with_head(shown, cited.render(left, bullets=bullets))


# -- as a file ------------------------------------------------------------------------------------


def encode(chronicle: Chronicle) -> bytes:
    """The bytes of the file: JSON, a line a version."""
    about = {
        "id": chronicle.id,
        "ran_at": times.stamp_or_none(chronicle.ran_at),
        "left_out": chronicle.left_out,
        "dropped": chronicle.dropped,
        "before": dict(chronicle.before),
        "seen": dict(chronicle.seen),
    }
    lines = [_json(about), *map(_json, map(_fields, chronicle.versions))]
    return "".join(f"{line}\n" for line in lines).encode()


def _json(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _fields(version: Version) -> dict[str, object]:
    return {
        "id": version.id,
        "at": times.stamp(version.at),
        "why": version.why,
        "who": version.who,
        "texts": dict(version.texts),
    }


def decode(data: bytes, path: str) -> Chronicle:
    """The chronicle in a file's bytes.

    Raises:
        Corrupt: it is none.
    """
    try:
        about, *lines = [json.loads(line) for line in data.decode().splitlines() if line.strip()]
        return Chronicle(
            str(about["id"]),
            tuple(map(_version, lines)),
            _texts(about["before"]),
            _texts(about["seen"]),
            times.instant("ran_at", about["ran_at"]),
            int(about["left_out"]),
            int(about["dropped"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, Invalid) as error:
        problem = f"is no chronicle of versions ({error}); move it away: only older versions go"
        raise Corrupt(path, problem) from error


def _version(fields: Mapping[str, Any]) -> Version:
    at = cast("datetime", times.instant("at", fields["at"]))
    who, why = str(fields["who"]), str(fields["why"])
    return Version(str(fields["id"]), at, why, who, _texts(fields["texts"]))


def _texts(value: Mapping[str, object]) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()}
