"""Scenes without a model: memories grouped by scene name and shared entities, in their own words.

Only what is new or changed is placed; what a person wrote, moved or took out stays as they left it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memstrata.domain import cited, terms
from memstrata.domain.cited import Piece, Section
from memstrata.domain.memory import EPOCH, STANDING_RULE, Memory, Type
from memstrata.domain.scene import (
    Limits,
    Scene,
    free_name,
    likeness,
    most_alike,
    name_of,
    render,
    summary_of,
)

_BY_TYPE: Final[Mapping[Type, tuple[str, str]]] = {
    "user": ("about-the-person", "关于本人"),
    "feedback": ("how-to-work", "相处方式"),
    "project": ("decisions", "项目决定"),
    "reference": ("references", "参考资料"),
    "episodic": ("events", "经历"),
}
"""Where a memory goes that has neither a scene nor an entity in common with others."""


@dataclass(frozen=True, slots=True)
class Grown:
    """The scenes as they are to be, and the ids of the memories that found no room in them."""

    scenes: tuple[Scene, ...]
    left_out: tuple[str, ...] = ()


def grown(
    scenes: Sequence[Scene],
    fresh: Sequence[Memory],
    known: Mapping[str, Memory],
    *,
    now: datetime,
    limits: Limits,
) -> Grown:
    """`scenes` with the `fresh` memories in them; `known` are all that are valid, the fresh ones among them."""
    board = _Board(scenes, known, now, limits)
    for memory in sorted(fresh, key=_when):
        board.place(memory)
    board.make_room()
    return Grown(board.scenes(), tuple(board.left_out))


def _when(memory: Memory) -> tuple[datetime, str]:
    return memory.said_at or memory.created_at, memory.id


def text_of(memory: Memory) -> str:
    """A memory as a paragraph: the day of what happened, and its description."""
    day = f"{memory.happened_from.isoformat()}: " if memory.happened_from else ""
    return cited.plain(f"{day}{memory.description}")


def piece_of(memory: Memory) -> Piece:
    """The paragraph of a memory."""
    return Piece(text_of(memory), (memory.id,))


class _Board:
    """The scenes while memories are placed in them."""

    def __init__(
        self, scenes: Sequence[Scene], known: Mapping[str, Memory], now: datetime, limits: Limits
    ) -> None:
        self._before = {scene.name: scene for scene in scenes}
        self._scenes = dict(self._before)
        self._known = known
        self._now = now
        self._limits = limits
        self._shared = _shared(known.values())
        self.left_out: list[str] = []

    def scenes(self) -> tuple[Scene, ...]:
        """The scenes as they are now: what was touched is warmer by one, and newer."""
        return tuple(self._dated(scene) for scene in self._scenes.values())

    def _dated(self, scene: Scene) -> Scene:
        held = self._before.get(scene.name)
        if held is not None and held.sections == scene.sections:
            return scene
        return replace(
            scene,
            created=self._now if held is None or held.created == EPOCH else held.created,
            updated=self._now,
            heat=scene.heat + (held is not None),
            summary=summary_of(scene.pieces),
        )

    def place(self, memory: Memory) -> None:
        """Put a memory where it stands already, where it belongs, or into a scene of its own."""
        for scene in self._scenes.values():
            if memory.id in scene.cites:
                self._scenes[scene.name] = _reworded(scene, memory)
                return
        name = self._name(memory)
        target = self._scenes.get(name) or self._kindred(memory) or self._when_many(memory)
        if target is None or (self._is_full(target, memory) and self._may_split):
            name = free_name(name if target is None else target.name, self._scenes)
            self._scenes[name] = Scene(name, (Section("", (piece_of(memory),)),))
            return
        self._scenes[target.name] = self._fitted(_with(target, piece_of(memory)))

    @property
    def _may_split(self) -> bool:
        return len(self._scenes) < min(self._limits.prefer, self._limits.full)

    def _is_full(self, scene: Scene, memory: Memory) -> bool:
        return self._is_long(_with(scene, piece_of(memory)))

    def _is_long(self, scene: Scene) -> bool:
        """Whether a file of it, with its new summary, would exceed the limit."""
        shown = replace(scene, summary=summary_of(scene.pieces), heat=scene.heat + 1)
        return len(render(shown)) > self._limits.characters

    def _name(self, memory: Memory) -> str:
        """By its scene, else the entity that most memories share with it, else its type."""
        if memory.scene:
            return name_of(memory.scene)
        names = [name for name in map(_entity, memory.entities) if self._shared.get(name, 0) > 1]
        if names:
            return name_of(max(names, key=lambda one: (self._shared[one], one)))
        english, chinese = _BY_TYPE[memory.type]
        return chinese if terms.is_cjk(memory.description) else english

    def _kindred(self, memory: Memory) -> Scene | None:
        """The scene that has most entities in common with a memory."""
        its = set(map(_entity, memory.entities))
        best, most = None, 0
        for scene in self._scenes.values():
            there = {
                _entity(name)
                for id in scene.cites
                if id in self._known
                for name in self._known[id].entities
            }
            if len(its & there) > most:
                best, most = scene, len(its & there)
        return best

    def _when_many(self, memory: Memory) -> Scene | None:
        """Where there are many scenes, the one that is most like a memory: of some likeness, or of any."""
        if len(self._scenes) < self._limits.prefer:
            return None
        alone = Scene("", (Section("", (piece_of(memory),)),))
        best = max(self._scenes.values(), key=lambda one: likeness(one, alone))
        forced = len(self._scenes) >= self._limits.full
        return best if forced or likeness(best, alone) > 0 else None

    def _fitted(self, scene: Scene) -> Scene:
        """The scene without its least paragraphs, as far as it is too long; a person's stay."""
        while self._is_long(scene):
            least = min(
                (piece for piece in scene.pieces if not piece.kept), key=self._weight, default=None
            )
            if least is None:
                return scene
            self.left_out += [id for id in least.cites if id in self._known]
            scene = replace(scene, sections=_less(scene.sections, least))
        return scene

    def _weight(self, piece: Piece) -> tuple[int, datetime, str]:
        memories = [self._known[id] for id in piece.cites if id in self._known]
        if not memories:
            return -1, EPOCH, piece.text
        best = max(memories, key=_rank)
        return *_rank(best), piece.text

    def make_room(self) -> None:
        """Merge those most alike while there are too many."""
        while len(self._scenes) > self._limits.full:
            pair = most_alike(list(self._scenes.values()))
            if pair is None or any(_is_all_kept(one) for one in pair):
                return
            first, second = sorted(pair, key=lambda one: (-one.heat, one.name))
            together = replace(
                first, sections=_joined(first, second), heat=first.heat + second.heat
            )
            del self._scenes[second.name]
            self._scenes[first.name] = self._fitted(together)


def _is_all_kept(scene: Scene) -> bool:
    return all(piece.kept for piece in scene.pieces)


def _rank(memory: Memory) -> tuple[int, datetime]:
    weight = 101 if memory.priority == STANDING_RULE else memory.priority
    return weight, memory.updated_at


def _entity(name: str) -> str:
    return " ".join(terms.fold(name).split())


def _shared(memories: Iterable[Memory]) -> dict[str, int]:
    """How many memories name each entity."""
    counts: dict[str, int] = {}
    for memory in memories:
        for name in dict.fromkeys(map(_entity, memory.entities)):
            counts[name] = counts.get(name, 0) + 1
    return counts


def _with(scene: Scene, piece: Piece) -> Scene:
    """The scene with one paragraph more, in front of any heading."""
    first, rest = _first(scene)
    return replace(scene, sections=(replace(first, pieces=(*first.pieces, piece)), *rest))


def _first(scene: Scene) -> tuple[Section, tuple[Section, ...]]:
    if scene.sections and not scene.sections[0].title:
        return scene.sections[0], scene.sections[1:]
    return Section("", ()), scene.sections


def _reworded(scene: Scene, memory: Memory) -> Scene:
    """The scene with the memory's words of today, but for paragraphs of a person's or on several memories."""
    fresh = piece_of(memory)

    def told(piece: Piece) -> Piece:
        return fresh if piece.cites == fresh.cites and not piece.kept else piece

    return replace(
        scene,
        sections=tuple(replace(one, pieces=tuple(map(told, one.pieces))) for one in scene.sections),
    )


def _less(sections: Iterable[Section], piece: Piece) -> tuple[Section, ...]:
    return tuple(_emptied(sections, piece))


def _emptied(sections: Iterable[Section], piece: Piece) -> Iterator[Section]:
    for section in sections:
        left = tuple(one for one in section.pieces if one != piece)
        if left:
            yield replace(section, pieces=left)


def _joined(first: Scene, second: Scene) -> tuple[Section, ...]:
    """The paragraphs of both, under one heading each."""
    found: dict[str, list[Piece]] = {}
    for section in (*first.sections, *second.sections):
        held = found.setdefault(section.title, [])
        held += [piece for piece in section.pieces if piece not in held]
    return tuple(Section(title, tuple(inner)) for title, inner in found.items())
