"""Line patches: a model's way to change a text by the numbers of its lines. All of them hold or none does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memstrata.errors import Invalid


@dataclass(frozen=True, slots=True)
class LinePatch:
    """Lines `start` to `end` (from 1, both included) become `content`; empty content is no line.

    `end` < `start` puts it before line `start`.
    """

    start: int
    end: int
    content: str

    @property
    def lines(self) -> list[str]:
        """The new lines; a line end behind the last one makes no further line."""
        return self.content.removesuffix("\n").split("\n") if self.content else []


def patch(text: str, patches: Sequence[LinePatch]) -> str:
    """`text` with all patches, which all number its lines as they stand in it.

    `start` is at most one more than there are lines; an `end` beyond the last one is cut to it.
    Several insertions at one place keep the order they were given in.

    Raises:
        Invalid: a bad `start`, or patches that overlap; no patch was taken then.
    """
    lines = text.split("\n")
    spans = [_span(one, len(lines), place) for place, one in enumerate(patches)]
    # At one place insertions come before what replaces the line there.
    order = sorted(range(len(spans)), key=lambda index: (*spans[index], index))
    at = 0
    made: list[str] = []
    for index in order:
        start, stop = spans[index]
        if start < at:
            raise Invalid(f"patches[{index}]", "overlaps another one")
        made += [*lines[at:start], *patches[index].lines]
        at = stop
    return "\n".join([*made, *lines[at:]])


def _span(one: LinePatch, count: int, place: int) -> tuple[int, int]:
    """The lines it takes out, half open and from 0."""
    if not 1 <= one.start <= count + 1:
        raise Invalid(f"patches[{place}].start_line", f"{one.start} is not from 1 to {count + 1}")
    return one.start - 1, max(one.start - 1, min(one.end, count))
