"""The copy of the scenes that a model works on, and what of it may be taken over: all that is sound, or nothing.

In the copy memories stand under short ids (k1, k2, …), so that no id can be named that was not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from memstrata.domain import cited
from memstrata.domain.cited import Piece, Section, Sections
from memstrata.domain.memory import EPOCH, Memory
from memstrata.domain.scene import SECTIONS, Limits, Scene, name_problem, render, told

Do = Literal["list", "read", "write", "edit", "delete", "done"]
_SHOWN: Final = 4_000
"""Characters of a file that an answer shows: one that is longer is to be shortened anyway."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One use of the file tools. `edit` puts `new` in the place of the one `old` of a file."""

    do: Do
    file: str = ""
    content: str = ""
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class Misdeed:
    """Why nothing of a run is taken over."""

    reason: str


class ShortIds:
    """Short names for ids, k1, k2 … in the order in which they are given."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._short = {id: f"k{number}" for number, id in enumerate(dict.fromkeys(ids), start=1)}
        self._long = {short: id for id, short in self._short.items()}

    def short(self, id: str) -> str:
        """The short name of an id; of one that is not known, itself."""
        return self._short.get(id, id)

    def long(self, name: str) -> str | None:
        """The id of a short name, None where none was shown."""
        return self._long.get(name.strip("[]() ").lower())


@dataclass(frozen=True, slots=True)
class Sound:
    """What may be taken over: the scenes, and how many paragraphs were dropped."""

    scenes: tuple[Scene, ...]
    dropped: int


class Copy:
    """The scenes as files that a model may list, read, write, edit and delete."""

    def __init__(self, scenes: Sequence[Scene], ids: ShortIds, limits: Limits) -> None:
        self._ids = ids
        self._limits = limits
        self.files = {scene.name: self._shown(scene) for scene in scenes}

    def _shown(self, scene: Scene) -> str:
        return f"---\nsummary: {scene.summary}\n---\n\n" + cited.render(
            [
                replace(section, pieces=tuple(map(self._shortened, section.pieces)))
                for section in scene.sections
            ]
        )

    def _shortened(self, piece: Piece) -> Piece:
        return replace(piece, cites=tuple(map(self._ids.short, piece.cites)))

    def do(self, one: Operation) -> str | Misdeed:
        """What an operation comes to, in words; a Misdeed where it reaches out of the folder."""
        name = one.file.strip().removesuffix(".md")
        if one.do in ("list", "done"):
            return ", ".join(sorted(self.files)) or "no file"
        if problem := name_problem(name):
            return Misdeed(f"{one.do} of {one.file[:80]!r}: {problem}")
        if one.do == "write":
            self.files[name] = one.content
            return f"written, {len(one.content)} characters{self._advice(name)}"
        if name not in self.files:
            return "no such file"
        match one.do:
            case "read":
                return self.files[name][:_SHOWN]
            case "delete":
                del self.files[name]
                return "deleted"
            case _:
                return self._edited(name, one.old, one.new)

    def _edited(self, name: str, old: str, new: str) -> str:
        if not old or self.files[name].count(old) != 1:
            return f"not changed: the old text stands {self.files[name].count(old) if old else 0} times in it"
        self.files[name] = self.files[name].replace(old, new)
        return f"changed, {len(self.files[name])} characters{self._advice(name)}"

    def _advice(self, name: str) -> str:
        """What a file still lacks, for a model that can put it right."""
        fields, body = cited.head(self.files[name])
        faults = [] if fields.get("summary") else ["it has no head with a summary"]
        unknown = [id for id in cited.cited(cited.parse(body)) if self._ids.long(id) is None]
        faults += [f"no memory is shown as {', '.join(unknown)}"] if unknown else []
        if len(self.files) > self._limits.full:
            faults += [f"there are {len(self.files)} files, at most {self._limits.full}: merge"]
        return f"; {'; '.join(faults)}" if faults else ""

    def checked(
        self, before: Sequence[Scene], known: Mapping[str, Memory], now: datetime
    ) -> Sound | Misdeed:
        """What of the copy may take the place of `before`; `known` are the memories that were shown.

        A paragraph that cites nothing, or nothing that bears it out, is dropped; a person's is put
        back as it was. Everything else that is wrong is a Misdeed.
        """
        held = {scene.name: scene for scene in before}
        if len(self.files) > max(self._limits.most, len(before)):
            return Misdeed(f"{len(self.files)} scenes, at most {self._limits.most}")
        if len(before) >= self._limits.full and len(self.files) > len(before):
            return Misdeed(f"a scene was made although there were {len(before)} already")
        if len(before) >= self._limits.most <= len(self.files):
            return Misdeed(
                f"there are {len(self.files)} scenes still: the most similar merge first"
            )
        if len({name.casefold() for name in self.files}) < len(self.files):
            return Misdeed("two scenes have one name but for the case of letters")
        found: dict[str, Scene] = {}
        dropped = 0
        for name, text in self.files.items():
            one = self._read(name, text, known)
            if isinstance(one, Misdeed):
                return one
            scene, lost = one
            dropped += lost
            found[name] = scene
        scenes = _with_kept(found, held)
        for scene in scenes.values():
            if (size := len(render(_dated(scene, held, {}, now)))) > self._limits.characters:
                return Misdeed(
                    f"{scene.name} has {size:,} characters, at most {self._limits.characters:,}"
                )
        if lost_of := _forgotten(before, scenes.values(), known):
            return Misdeed(lost_of)
        gone = {name: scene for name, scene in held.items() if name not in scenes}
        return Sound(tuple(_dated(one, held, gone, now) for one in scenes.values()), dropped)

    def _read(
        self, name: str, text: str, known: Mapping[str, Memory]
    ) -> tuple[Scene, int] | Misdeed:
        """A file as a scene whose paragraphs are borne out, and how many were not."""
        fields, body = cited.head(text)
        if not fields.get("summary"):
            return Misdeed(f"{name} has no META head with a summary")
        sections: list[Section] = []
        dropped = 0
        for section in cited.parse(body):
            kept: list[Piece] = []
            for piece in section.pieces:
                ids = [self._ids.long(one) for one in piece.cites]
                if None in ids:
                    unknown = piece.cites[ids.index(None)]
                    return Misdeed(f"{name} cites {unknown[:60]!r}, which it was not shown")
                memories = [known[id] for id in ids if id is not None and id in known]
                bearing = () if piece.locked else cited.supporting(piece.text, memories)
                kept += [Piece(piece.text, bearing)] if bearing else []
            dropped += sum(not piece.locked for piece in section.pieces) - len(kept)
            title = section.title if section.title in SECTIONS else ""
            if kept:
                sections.append(Section(title, tuple(kept)))
        return Scene(name, _united(sections), summary=fields["summary"]), dropped


def _united(sections: Iterable[Section]) -> Sections:
    """Each heading once."""
    found: dict[str, list[Piece]] = {}
    for section in sections:
        found.setdefault(section.title, []).extend(section.pieces)
    first = {"": found.pop("")} if "" in found else {}
    return tuple(Section(title, tuple(inner)) for title, inner in {**first, **found}.items())


def _with_kept(found: Mapping[str, Scene], held: Mapping[str, Scene]) -> dict[str, Scene]:
    """The scenes that have a paragraph, with every paragraph of a person's where it was."""
    scenes = {name: scene for name, scene in found.items() if scene.sections}
    for name, before in held.items():
        kept = tuple(
            replace(one, pieces=left)
            for one in before.sections
            if (left := tuple(piece for piece in one.pieces if piece.kept))
        )
        if kept:
            scene = scenes.get(name, Scene(name, ()))
            scenes[name] = replace(scene, sections=_united((*kept, *scene.sections)))
    return scenes


def _forgotten(before: Iterable[Scene], after: Iterable[Scene], known: Mapping[str, Memory]) -> str:
    """Why too much would be lost: more than half of what was cited and still holds; `""`: it is not."""
    cites = {id for scene in before for id in scene.cites if id in known}
    left = cites.intersection(id for scene in after for id in scene.cites)
    if 2 * len(left) >= len(cites):
        return ""
    return f"{len(cites) - len(left)} of {len(cites)} memories would be told of no more"


def _dated(
    scene: Scene, held: Mapping[str, Scene], gone: Mapping[str, Scene], now: datetime
) -> Scene:
    """The scene with its head: 1 for a new one, one more for a changed one, the sum for what it took in."""
    was = held.get(scene.name)
    if was is not None and was.sections == scene.sections:
        return was
    heat = 1 if was is None else was.heat + 1
    heat += sum(one.heat for one in gone.values() if _took_in(scene, one) and one is not was)
    created = now if was is None or was.created == EPOCH else was.created
    dated = replace(scene, created=created, updated=now, heat=heat)
    return replace(dated, summary=told(dated))


def _took_in(scene: Scene, gone: Scene) -> bool:
    """Whether most of what a scene told is told by another now."""
    cites = set(gone.cites)
    return bool(cites) and 2 * len(cites & set(scene.cites)) > len(cites)
