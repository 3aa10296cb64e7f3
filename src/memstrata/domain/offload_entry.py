"""An entry: what is kept in the window of one archived tool result, and the way back to its full text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from memstrata.domain.canvas.graph import fitted

State = Literal["live", "replaced", "removed"]
STATES: Final[tuple[State, ...]] = get_args(State)

MOST_CALL: Final = 150
MOST_SUMMARY: Final = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool result. Texts are made to fit and to stand on one line, `score` is clamped to 0 to 10.

    `node_id` is `""` until it has a home; `result_ref` names the archived text; `score` says how
    well the summary can *replace* the result; `failed` whether the call itself did.
    """

    timestamp: datetime
    node_id: str
    tool_call: str
    summary: str
    result_ref: str
    tool_call_id: str
    score: int
    state: State = "live"
    failed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "tool_call", fitted(self.tool_call, MOST_CALL))
        object.__setattr__(self, "summary", fitted(self.summary, MOST_SUMMARY))
        object.__setattr__(self, "score", min(10, max(0, self.score)))
