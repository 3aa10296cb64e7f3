"""A run in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from memstrata.bench.engine import OURS, Checks
from memstrata.bench.measures import SESSION, TURN, Figure
from memstrata.bench.retrieval import Guard, Report, Row, Section

NOTES: Final = "## Tried and dropped"
_ABOUT: Final = """\
# Retrieval

The engine's own search beside baselines over the raw texts, all in one run: plain FTS5
{beside}.
Every system is asked for 100 hits; sessions rank by their best message. Figures are means over the
questions that have evidence, of every category, adversarial ones too, times 100; in brackets the 95 %
bootstrap interval over questions (1,000 resamples, seeded).

{definitions}

Nothing is fitted here. Data sets of five conversations or more are shown by conversation, so that each
can be read as held out; smaller ones in five folds of their questions, those with the same evidence in
the same fold.
"""
_NO_VECTORS: Final = "(no embedder was at hand, so there is nothing with vectors beside it)"
_VECTORS: Final = "and the embedder alone (`{key}`, exact cosine), and the two fused by rank"


def markdown(report: Report) -> str:
    """The whole page."""
    beside = _VECTORS.format(key=report.embedder) if report.embedder else _NO_VECTORS
    definitions = "\n".join(
        f"- {name}: {one.definition}" for name, one in {**TURN, **SESSION}.items()
    )
    pieces = [
        _ABOUT.format(beside=beside, definitions=definitions),
        _guard(report.guard),
    ]
    if report.switches:
        pieces.append("\n".join(_switches(report.switches)) + "\n")
    pieces += [_section(one) for one in report.sections]
    return "\n".join(pieces)


def _guard(guard: Guard) -> str:
    return (
        f"Perfect answers score {percent(guard.perfect)} of {percent(guard.reach)} (recall@10, "
        f"any@10), chance {percent(guard.chance)}, expected {percent(guard.expected)}.\n"
    )


def _switches(switches: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    for name, settings in switches.items():
        shown = ", ".join(f"`{key} = {value!r}`" for key, value in settings.items())
        yield f"- {OURS} {name}: {shown}"


def _section(section: Section) -> str:
    questions = sum(asked for _, _, asked in section.corpora)
    corpora = ", ".join(f"{name} ({messages})" for name, messages, _ in section.corpora)
    systems = list(section.systems)
    plain = next(name for name in systems if not name.startswith(OURS))
    columns = list(section.systems[OURS].figures)
    return "\n".join(
        (
            f"## {section.collection}: {questions} questions\n",
            f"Corpora (messages): {corpora}.\n",
            table(
                ("system", *columns, f"{OURS} − it, {section.headline}"),
                _lines(section, columns),
            ),
            "",
            table(
                (f"{section.headline} of", *systems, f"{OURS} − {plain}"),
                [_row(one) for one in (*section.parts, *section.categories)],
            ),
            "",
            f"{_checks(section.checks)}\n",
        )
    )


def _lines(section: Section, columns: Sequence[str]) -> Iterator[list[str]]:
    for name, line in section.systems.items():
        figures = [
            bracketed(line.figures[one])
            if one == section.headline
            else percent(line.figures[one].mean)
            for one in columns
        ]
        yield [name, *figures, "" if name == OURS else bracketed(line.gain)]


def _row(row: Row) -> list[str]:
    ours, *others = row.figures.values()
    return [
        f"{row.name} ({row.questions})",
        bracketed(ours),
        *(percent(one.mean) for one in others),
        bracketed(row.gain),
    ]


def _checks(checks: Checks) -> str:
    lost = f"{len(checks.lost)}{_named(checks.lost)}"
    pieces = [
        f"{checks.messages} messages imported, {checks.again} stored by a second import",
        f"of {checks.looked_for} messages not among the first 10 for their own text: {lost}",
        f"of {checks.repeated} questions asked again with limit 10, other hits: {checks.unlike}",
    ]
    if checks.refused:
        pieces.append(f"texts that a gate refused to keep as memories: {checks.refused}")
    if checks.degraded:
        pieces.append(f"degraded: {', '.join(sorted(checks.degraded))}")
    return "; ".join(pieces) + "."


def _named(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids[:20])}{', …' if len(ids) > 20 else ''})" if ids else ""


def percent(value: float) -> str:
    """A share as a percentage with one digit."""
    return f"{100 * value:.1f}"


def bracketed(figure: Figure) -> str:
    """A mean with its interval, as percentages."""
    return f"{percent(figure.mean)} [{percent(figure.low)}, {percent(figure.high)}]"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; every column but the first is a number."""
    lines = [
        f"| {' | '.join(head)} |",
        f"|{'|'.join(['---', *['---:'] * (len(head) - 1)])}|",
    ]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def write(path: Path, report: str) -> None:
    """Write a report over the old one, whose notes on what was tried stay."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    notes = old[old.index(NOTES) :] if NOTES in old else ""
    path.write_text(f"{report.rstrip()}\n{notes and chr(10)}{notes}", encoding="utf-8")
