"""Options that several commands share, and the names they take."""

from __future__ import annotations

from typing import Annotated

import typer

from memstrata.domain.memory import STATUSES, TYPES
from memstrata.domain.scope import SCOPES

Id = Annotated[str, typer.Argument(metavar="ID", help="the id of a memory")]
Workspace = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        metavar="PATH",
        help="a folder of the project (else the bound one you are in)",
    ),
]
Agent = Annotated[
    str | None, typer.Option("--agent", metavar="ID", help="the agent whose memories count")
]
Scope = Annotated[
    str | None, typer.Option("--scope", metavar="|".join(SCOPES), help="only this scope")
]
Type = Annotated[str | None, typer.Option("--type", metavar="|".join(TYPES), help="only this type")]
Status = Annotated[
    str | None, typer.Option("--status", metavar="|".join(STATUSES), help="only this status")
]
Verdict = Annotated[
    str | None,
    typer.Option("--verdict", metavar="VERDICT", help="only this verdict"),
]
Session = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="only candidates of this session")
]
Called = Annotated[str | None, typer.Option("--session", metavar="ID", help="of this session")]
OfSession = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="of a message: its session, if ids repeat"),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="at most so many")]
Cursor = Annotated[
    str | None, typer.Option("--cursor", metavar="CURSOR", help="go on where a page ended")
]
