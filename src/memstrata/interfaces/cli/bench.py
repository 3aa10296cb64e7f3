"""bench retrieval, bench offload."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memstrata.bench.switches import SWITCHES
from memstrata.errors import Invalid, Unavailable
from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.progress import bars

PANEL = "Look after it"


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    bench = doors.group("Measure it on data whose answers are known.", "bench")
    command(bench, "retrieval")(retrieval)
    command(bench, "offload")(offload)
    app.add_typer(bench, rich_help_panel=PANEL)


def retrieval(
    door: Door,
    data: Annotated[
        list[str],
        typer.Option(
            "--data",
            metavar="PATH",
            help="a data set or a folder of them: LoCoMo, MADial-Bench, RealMem, LongMemEval "
            "(may be repeated)",
        ),
    ],
    switch: Annotated[
        list[str] | None,
        typer.Option(
            "--switch",
            metavar="|".join(("all", *SWITCHES)),
            help="measure it without that, too (may be repeated)",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="write the report there, too")
    ] = None,
) -> Reply:
    """Measure how well what was said is found, beside plain full text and plain vectors."""
    from memstrata.bench import engine, layouts, report
    from memstrata.bench import retrieval as bench

    target = _target(out)
    bench.switched(switch or ())
    corpora = [corpus for path in data for corpus in layouts.load(Path(path))]
    with bars() as progress, engine.embedder() as embedder:
        found = bench.run(corpora, switches=switch or (), embedder=embedder, progress=progress)
    text = report.markdown(found)
    _write(target, text)
    return Reply({"retrieval": wire.encode(found)}, lambda shown: shown.text(text.rstrip()))


def offload(
    door: Door,
    data: Annotated[
        str,
        typer.Option(
            "--data",
            metavar="PATH",
            help="recorded runs (SWE-agent, τ-bench), a file or a folder",
        ),
    ],
    window: Annotated[
        list[int] | None,
        typer.Option(
            "--window",
            metavar="N",
            help="the model's window in tokens (may be repeated; else 16000, 32000, 128000)",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="write the report there, too")
    ] = None,
) -> Reply:
    """Measure how much of long agent runs is folded, and what can still be read."""
    from memstrata.bench import offload as bench
    from memstrata.bench import offload_report, trajectories

    target = _target(out)
    runs = trajectories.made(trajectories.load(Path(data)))
    with bars() as progress:
        found = bench.measure(runs, window or bench.WINDOWS, progress)
    text = offload_report.markdown(found)
    _write(target, text)
    return Reply({"offload": wire.encode(found)}, lambda shown: shown.text(text.rstrip()))


def _target(out: str | None) -> Path | None:
    target = None if out is None else Path(out)
    if target is not None and (target.is_dir() or not target.absolute().parent.is_dir()):
        raise Invalid("--out", f"{target} cannot be written: its folder is not there")
    return target


def _write(target: Path | None, text: str) -> None:
    from memstrata.bench import report

    if target is not None:
        try:
            report.write(target, text)
        except OSError as error:
            raise Unavailable(f"{target} cannot be written: {error.strerror}") from error
