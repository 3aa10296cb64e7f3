"""Events, the bus and the log: names are closed, nobody is left out, no body is logged."""

from __future__ import annotations

import ast
import json
import logging
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import memstrata
from memstrata import log
from memstrata.events import NAMES, Bus, Event

SOURCE = Path(memstrata.__file__).parent


def test_every_listener_hears_every_event_in_order() -> None:
    bus, first, second = Bus(), list[Event](), list[Event]()
    bus.listen(first.append)
    bus.emit("turn.committed", stored=1)
    bus.listen(second.append)
    bus.emit("scope.full", degraded=True, scope="user")
    assert first == [
        Event("turn.committed", {"stored": 1}),
        Event("scope.full", {"scope": "user"}, True),
    ]
    assert second == first[1:]


def test_a_listener_is_taken_away_once() -> None:
    bus, heard = Bus(), list[Event]()
    remove, again = bus.listen(heard.append), bus.listen(heard.append)
    bus.emit("home.opened")
    remove()
    remove()
    bus.emit("home.opened")
    again()
    bus.emit("home.opened")
    assert len(heard) == 3


def test_a_listener_may_leave_while_it_is_told() -> None:
    bus, heard = Bus(), list[str]()

    def once(event: Event) -> None:
        heard.append(event.name)
        leave()

    leave = bus.listen(once)
    bus.listen(lambda event: heard.append("other"))
    bus.emit("home.opened")
    bus.emit("home.opened")
    assert heard == ["home.opened", "other", "other"]


def test_an_unknown_name_is_a_bug_that_shows() -> None:
    heard = list[Event]()
    bus = Bus()
    bus.listen(heard.append)
    with pytest.raises(ValueError, match=r"'memory\.wrote' is no event"):
        bus.emit("memory.wrote")
    assert not heard


def test_an_event_does_not_change() -> None:
    event = Event("home.opened")
    with pytest.raises(FrozenInstanceError):
        event.name = "x"  # type: ignore[misc]
    assert (event.fields, event.degraded) == ({}, False)


def test_names_are_of_one_form_each_once() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(len(name.split(".")) == 2 and name == name.lower() for name in NAMES)


def emitted() -> set[str]:
    """The literal names that the sources pass to `emit`."""
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                first = node.args[0] if node.func.attr == "emit" and node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.add(first.value)
    return found


@pytest.mark.promise("log.events")
def test_every_event_that_is_emitted_has_a_stable_name() -> None:
    found = emitted()
    assert "turn.committed" in found
    assert found <= set(NAMES)


# -- the log ---------------------------------------------------------------------------------------


def test_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "memstrata")
    log.sink(Event("turn.committed", {"session": "茶", "stored": 2}))
    log.sink(Event("scope.full", {"path": Path("x")}, degraded=True))
    assert [(one.name, one.levelname, one.getMessage()) for one in caplog.records] == [
        ("memstrata", "INFO", 'turn.committed {"session": "茶", "stored": 2}'),
        ("memstrata", "WARNING", 'scope.full {"path": "x"}'),
    ]


def test_what_is_below_the_level_is_not_even_written_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "memstrata")
    loop: dict[str, object] = {}
    loop["self"] = loop
    with pytest.raises(ValueError, match="Circular"):
        json.dumps(loop)
    log.sink(Event("turn.committed", loop))
    assert not caplog.records


@pytest.mark.promise("log.events")
def test_a_library_is_silent_until_it_is_told_to_log(capfd: pytest.CaptureFixture[str]) -> None:
    assert any(
        isinstance(one, logging.NullHandler) for one in logging.getLogger("memstrata").handlers
    )
    log.sink(Event("scope.full", {}, degraded=True))
    assert capfd.readouterr() == ("", "")
