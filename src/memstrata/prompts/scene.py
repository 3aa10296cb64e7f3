"""Asking for scenes: what is shown at each step, and an answer's operations as values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memstrata.domain.memory import Memory
from memstrata.domain.scene import Limits, Scene, hottest
from memstrata.domain.staging import Operation, ShortIds
from memstrata.prompts.answers import OperationItem
from memstrata.prompts.template import Rendered, load, one_line

NOTHING = "(none)"


def question(
    scenes: Sequence[Scene],
    memories: Iterable[Memory],
    done: Sequence[str],
    *,
    ids: ShortIds,
    limits: Limits,
    left: int,
) -> Rendered:
    """The prompt of one step: the folder as it was, the memories to be told, what was done so far."""
    return load("scene").render(
        limits=_limits(len(scenes), limits, left),
        scenes="\n".join(map(_line, hottest(scenes))) or NOTHING,
        memories="\n".join(f"[{ids.short(one.id)}] {told(one)}" for one in memories) or NOTHING,
        done="\n\n".join(done) or NOTHING,
    )


def _limits(count: int, limits: Limits, left: int) -> str:
    if count >= limits.most:
        rule = "too many: first merge the 2 to 4 most similar"
    elif count >= limits.full:
        rule = "make no new one, but you may merge similar ones first"
    elif count >= limits.prefer:
        rule = "prefer to update one that is there"
    else:
        rule = f"at most {limits.full}"
    return (
        f"There are {count} scenes: {rule}. A file has at most {limits.characters} characters. "
        f"You have {left} answers left."
    )


def _line(scene: Scene) -> str:
    return f"{scene.name} (heat {scene.heat}): {one_line(scene.summary)}"


def told(memory: Memory) -> str:
    """One line: what a memory says, and what else places it."""
    facts = [memory.type, f"said {memory.said_at.date()}" if memory.said_at else ""]
    facts += [f"happened {memory.happened_from}" if memory.happened_from else ""]
    facts += [f"scene: {memory.scene}" if memory.scene else ""]
    facts += [f"names: {', '.join(memory.entities)}" if memory.entities else ""]
    text = memory.description
    if memory.body:
        text = f"{text} — {memory.body[:400]}"
    return one_line(f"{text} ({'; '.join(filter(None, facts))})")


def operation(item: OperationItem) -> Operation:
    """An operation as a value."""
    return Operation(item.do, item.file, item.content, item.old, item.new)


def heard(item: OperationItem, answer: str) -> str:
    """What was asked and what came of it, for the next step."""
    return f"{one_line(f'{item.do} {item.file}')}: {answer}"
