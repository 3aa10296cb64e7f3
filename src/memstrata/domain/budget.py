"""What fits: memories cut to a token budget, the least important first, the budget never exceeded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memstrata.domain import inject
from memstrata.domain.memory import STANDING_RULE, Memory, Type

KEEP_ORDER: Final[tuple[Type, ...]] = ("feedback", "user", "project", "reference", "episodic")
"""Standing rules come before all of these; what is cut first stands last."""

TURN_SHARE: Final = 4
"""The turn part keeps at least one part in so many of the budget."""

EVIDENCE_SHARE: Final = 4
"""Evidence takes at most one part in so many of the budget."""

Page = Literal["persona", "scene"]
"""What stands beside memories: a line of the persona, a scene's line of the navigation."""
PAGES: Final[tuple[Page, ...]] = ("persona", "scene")
"""In the order in which they are kept: behind the memories of type user, before all that are cut earlier."""

Count = Callable[[str], int]
Render = Callable[[Sequence["Shown"]], str]


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory with its line in the prompt. `memory` None: a line that stands for several, or of a `page`."""

    memory: Memory | None
    line: str
    page: Page | None = None


def keep_rank(memory: Memory) -> int:
    """0 for what is cut last."""
    if memory.priority == STANDING_RULE:
        return 0
    return 1 + KEEP_ORDER.index(memory.type)


def fit(
    memories: Sequence[Memory],
    render: Render,
    count: Count,
    most: int,
    pages: Sequence[Shown] = (),
) -> tuple[Shown, ...]:
    """The largest part of `memories` and `pages` whose rendering has at most `most` tokens, in the given order.

    Cut in the order episodic, reference, project, scenes, persona, user, feedback, standing rules
    last; within a kind those that stand later go first. Standing rules that exceed the budget by
    themselves are shortened to id and name, then cut with a line that says how many are not shown.
    """
    lines = [*(Shown(memory, inject.line(memory)) for memory in memories), *pages]
    ranked = sorted(range(len(lines)), key=lambda at: (_rank(lines[at]), at))

    def rendering(taken: int) -> str:
        chosen = sorted(ranked[:taken])
        return render([lines[at] for at in chosen])

    taken = _most(len(lines), lambda n: count(rendering(n)) <= most)
    rules = [memory for memory in memories if memory.priority == STANDING_RULE]
    if taken >= len(rules):
        return tuple(lines[at] for at in sorted(ranked[:taken]))
    return _shortened(rules, render, count, most)


def _rank(shown: Shown) -> tuple[int, int]:
    """The rank of a line: pages stand between the types."""
    if shown.memory is not None:
        return keep_rank(shown.memory), 0
    behind = 1 + KEEP_ORDER.index("user")
    return behind, 1 + (PAGES.index(shown.page) if shown.page else 0)


def _shortened(
    rules: Sequence[Memory], render: Render, count: Count, most: int
) -> tuple[Shown, ...]:
    short = [Shown(memory, inject.short_line(memory)) for memory in rules]

    def with_rest(taken: int) -> list[Shown]:
        hidden = len(short) - taken
        rest = [Shown(None, inject.hidden_line(hidden))] if hidden else []
        return [*short[:taken], *rest]

    if count(render(short)) <= most:
        return tuple(short)
    # All but the last, since it is the line about the rest that would not fit beside all of them.
    taken = _most(len(short) - 1, lambda n: count(render(with_rest(n))) <= most)
    found = with_rest(taken)
    return tuple(found) if count(render(found)) <= most else ()


def _most(top: int, fits: Callable[[int], bool]) -> int:
    """The largest n in 0..top that fits, found by halving; 0 when none was found to.

    Token counts of a longer text are larger but for rare merges at the seams, so it may miss a larger
    n; the one it gives was tried.
    """
    if fits(top):
        return top
    low, high = 0, top - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
