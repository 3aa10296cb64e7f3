"""status, doctor, config show, set, unset, test, vectors rebuild."""

from __future__ import annotations

import tomllib
from typing import Annotated

import typer

from memstrata.errors import Corrupt, Unavailable
from memstrata.interfaces import wire
from memstrata.interfaces.cli import door as doors
from memstrata.interfaces.cli import render
from memstrata.interfaces.cli.door import Door, Reply, command
from memstrata.interfaces.cli.progress import bars
from memstrata.interfaces.cli.texts import say

PANEL = "Look after it"


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(app, "status", PANEL)(status)
    command(app, "doctor", PANEL)(doctor)
    config = doors.group("Look at the settings and change them.", "config")
    command(config, "show")(config_show)
    command(config, "set")(config_set)
    command(config, "unset")(config_unset)
    command(config, "test")(config_test)
    app.add_typer(config, rich_help_panel=PANEL)
    vectors = doors.group("Look after the vectors.", "vectors")
    command(vectors, "rebuild")(vectors_rebuild)
    app.add_typer(vectors, rich_help_panel=PANEL)


def vectors_rebuild(door: Door) -> Reply:
    """Clear every vector and make all of them again."""
    with bars() as progress, door.open() as memory:
        worked = memory.rebuild_vectors(progress=progress)
        notes = tuple(worked.away.values())
    return Reply(
        wire.answer("rebuild_vectors", worked),
        lambda out: out.text(say("{n} vectors made", n=worked.vectors)),
        notes,
        exit_code=Unavailable.exit_code if notes else 0,
    )


def status(door: Door) -> Reply:
    """Show what there is, how it is searched and what is degraded."""
    with door.open() as memory:
        found, home = memory.status(), str(memory.home)
    return Reply(
        {"home": home, **wire.answer("status", found)}, lambda out: render.status(out, found, home)
    )


def doctor(door: Door) -> Reply:
    """Check everything: database, files, text index, jobs, room."""
    with door.open() as memory:
        found = memory.doctor()
    return Reply(
        wire.answer("doctor", found),
        lambda out: render.checks(out, found),
        exit_code=0 if all(one.ok for one in found) else Corrupt.exit_code,
    )


def config_test(door: Door) -> Reply:
    """Call the model that extracts and show what it says, or why it fails."""
    with door.open() as memory:
        found = memory.test_extraction()
    return Reply(
        wire.answer("test_extraction", found),
        lambda out: render.trial(out, found),
        exit_code=0 if found.ok else 7,
    )


def config_show(door: Door) -> Reply:
    """Show every setting, its value and where that came from."""
    with door.open() as memory:
        rows = memory.config()
    return Reply(wire.answer("config", rows), lambda out: render.settings(out, rows))


def config_set(
    door: Door,
    key: Annotated[str, typer.Argument(metavar="KEY", help="such as recall.max_tokens")],
    value: Annotated[
        str,
        typer.Argument(metavar="VALUE", help='as in TOML: 900, true, ["a", "b"], or a bare text'),
    ],
) -> Reply:
    """Set a setting in the home's config.toml; its comments are kept."""
    return _configured(door, key, _value(value))


def config_unset(
    door: Door,
    key: Annotated[str, typer.Argument(metavar="KEY", help="such as recall.max_tokens")],
) -> Reply:
    """Take a setting out of the home's config.toml again."""
    return _configured(door, key, None)


def _configured(door: Door, key: str, value: object | None) -> Reply:
    from memstrata.settings import NEEDS_RESTART

    with door.open() as memory:
        found = memory.configure(key, value)
    rows = tuple((one.key, one.value, one.origin) for one in found if one.key == key)
    later = key.startswith(NEEDS_RESTART)
    notes = (say("It takes effect when memstrata is started again."),) if later else ()
    return Reply(wire.answer("config", rows), lambda out: render.settings(out, rows), notes)


def _value(text: str) -> object:
    """What the text is in TOML; what is no TOML is the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
