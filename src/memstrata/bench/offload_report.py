"""A measurement of the offload in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from memstrata.bench.offload import LINES, RESTARTS, Figures
from memstrata.bench.report import percent, table
from memstrata.bench.trajectories import CALLS, SEED

_ABOUT: Final = """\
# Offload

Recorded runs of agents, and long ones made of them, through `session.assemble` before each call of the
model; no model of ours is asked, so summaries, tasks and graphs are the rules'. Tokens are those of the
list (o200k_base, 4 a message), our own blocks counted; what comes beside the list (system prompt, tools)
is taken for 12 % of the window, of which the system messages are a part.

How the long runs are made: every coding run in one session, each a task of its own; the coding run with
most calls repeated, each time with every path in another folder (seed {seed}), until its one prompt has
{calls} tool calls; every airline conversation in one session. Only the system message of the first run
stays, and ids are made unique.

- over: calls at which the host's own list is larger than the window; "saved there" is their sum.
- above: calls at which what goes out, with what comes beside it, is above 0.50, 0.85, 0.95 and 1.00 of the
  window.
- equal: archived results that come back character for character (masked secrets apart).
- quotes: strings of 12 characters or more in the agent's next message that an earlier result holds; the
  share that stands in the list or is one `recall_result` away by a ref in it.
- cached: the share of what is sent that the list before began with, byte for byte, as a provider's prompt
  cache counts it; ms: of the processor, for one `assemble`, mean and 95th percentile.
- breaks: lists that do not begin with the whole list before them though nothing was folded and the task is
  the same.
"""


def markdown(found: Sequence[Figures]) -> str:
    """The whole page."""
    return "\n".join(
        (
            _ABOUT.format(seed=SEED, calls=CALLS),
            _sum(found),
            "",
            table(
                ("run", "window", "calls", "over", "tokens", "sent", "saved", "saved there"),
                map(_tokens, found),
            ),
            "",
            table(
                (
                    *("run", "window", *(f"above {line:.2f}" for line in LINES)),
                    *("largest", "cached", "ms", "p95"),
                ),
                map(_lines, found),
            ),
            "",
            table(
                (
                    *("run", "window", "steps", "breaks", "equal", "masked", "split", "touched"),
                    *("restarts unlike", "quotes", "in the list", "reachable"),
                ),
                map(_checks, found),
            ),
            "",
            _warnings(found),
        )
    )


def _sum(found: Sequence[Figures]) -> str:
    before, after = sum(one.before_over for one in found), sum(one.after_over for one in found)
    quotes = sum(one.quotes for one in found)
    reached = sum(one.in_list + one.recalled for one in found)
    saved = percent(1 - after / before) if before else "-"
    equal, results = sum(one.equal for one in found), sum(one.results for one in found)
    share = percent(reached / quotes) if quotes else "-"
    return (
        f"**Where the list exceeds the window {saved} % of the input tokens are saved in sum** "
        f"({before:,} → {after:,}); {equal:,} of {results:,} archived results come back equal, "
        f"{share} % of {quotes:,} quoted strings are in the list or one call away; pairs split: "
        f"{sum(one.split for one in found)}, calls above the window: "
        f"{sum(one.above[-1] for one in found)}."
    )


def _tokens(one: Figures) -> list[str]:
    saved = percent(one.less_over) if one.before_over else "-"
    return [
        *_name(one),
        f"{one.calls:,}",
        f"{one.over:,}",
        f"{one.before:,}",
        f"{one.after:,}",
        percent(one.less),
        saved,
    ]


def _lines(one: Figures) -> list[str]:
    times = sorted(one.seconds) or [0.0]
    mean, high = sum(times) / len(times), times[int(0.95 * (len(times) - 1))]
    return [
        *_name(one),
        *map(str, one.above),
        f"{one.largest:.2f}",
        percent(one.cached / one.sent) if one.sent else "-",
        f"{1000 * mean:.0f}",
        f"{1000 * high:.0f}",
    ]


def _checks(one: Figures) -> list[str]:
    return [
        *_name(one),
        f"{one.steps} + {one.boundaries}",
        str(one.breaks),
        f"{one.equal}/{one.results}",
        str(one.masked),
        str(one.split),
        str(one.touched),
        f"{one.unlike}/{one.restarts}",
        str(one.quotes),
        percent(one.in_list / one.quotes) if one.quotes else "-",
        percent(one.reachable),
    ]


def _name(one: Figures) -> list[str]:
    return [one.run, f"{one.window:,}"]


def _warnings(found: Iterable[Figures]) -> str:
    told = [f"- {one.run}, {one.window}: {text}" for one in found for text in one.warnings]
    head = f"Each run is opened anew {RESTARTS} times. Steps: folded + another task."
    return "\n".join((head, *told, ""))
