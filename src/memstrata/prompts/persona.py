"""Asking for a persona: the lines that stand, the scenes that changed, the memories; and the lines that come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memstrata.domain.cited import LOCKED, Piece
from memstrata.domain.memory import Memory
from memstrata.domain.persona import LAYERS, SCENE, Layer, Persona, layer_of
from memstrata.domain.scene import Scene
from memstrata.domain.staging import ShortIds
from memstrata.prompts.answers import LineItem
from memstrata.prompts.scene import NOTHING, told
from memstrata.prompts.template import Rendered, load, one_line


def question(
    held: Persona,
    scenes: Sequence[Scene],
    memories: Iterable[Memory],
    *,
    ids: ShortIds,
    names: frozenset[str],
    most: int,
) -> Rendered:
    """The prompt. `names` are those of every scene that may be cited."""
    rendered = load("persona").render(
        limits=f"The portrait has at most {most} characters, citations included.",
        persona="\n".join(_lines(held, ids)) or NOTHING,
        scenes="\n\n".join(_scene(one, ids) for one in scenes) or NOTHING,
        memories="\n".join(f"[{ids.short(one.id)}] {told(one)}" for one in memories) or NOTHING,
    )
    return replace(rendered, fault=lambda item: _fault(item, ids, names))


def _lines(held: Persona, ids: ShortIds) -> Iterator[str]:
    for section in held.sections:
        for piece in section.pieces:
            cites = [LOCKED] if piece.kept else [ids.short(id) for id in piece.cites]
            layer = layer_of(section.title) or LAYERS[0]
            yield one_line(f"{layer}: {piece.text} [{', '.join(cites)}]")


def _scene(scene: Scene, ids: ShortIds) -> str:
    lines = [
        one_line(f"{piece.text} [{', '.join(map(ids.short, piece.cites))}]")
        for piece in scene.pieces
    ]
    return "\n".join((f"[{SCENE}{scene.name}]", *lines))


def _fault(item: LineItem, ids: ShortIds, names: frozenset[str]) -> str:
    unknown = [one for one in item.cites if _source(one, ids, names) is None]
    if unknown:
        return f"cites: nothing is shown as {', '.join(unknown)[:200]}"
    return "" if item.cites else "cites: name what it rests on"


def _source(name: str, ids: ShortIds, names: frozenset[str]) -> str | None:
    """The id behind a citation as it was shown; None: there is none."""
    plain = name.strip("[]() ")
    if plain.removeprefix(SCENE) in names:
        return f"{SCENE}{plain.removeprefix(SCENE)}"
    return ids.long(plain)


def line(item: LineItem, ids: ShortIds, names: frozenset[str]) -> tuple[Layer, Piece]:
    """A line that came back, with the ids of what it cites."""
    sources = [found for one in item.cites if (found := _source(one, ids, names))]
    return item.layer, Piece(item.text, tuple(dict.fromkeys(sources)))
