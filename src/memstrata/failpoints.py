"""Named places where tests kill the process or fail its I/O; each costs a function call otherwise.

Armed by the environment, `MEMSTRATA_FAILPOINTS="vault.publish.after=kill,vault.sync=eio:2"`, or in
the process by `armed`. A rule is an action and, behind a colon, at which hit it strikes, once
(from 1, the default).
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal, assert_never, cast, get_args

from memstrata.errors import Internal, Invalid

VARIABLE: Final = "MEMSTRATA_FAILPOINTS"
"""The environment variable that arms a process."""

NAMES: Final[tuple[str, ...]] = (
    "vault.stage.write",
    "vault.stage.fsync",
    "vault.publish.before",
    "vault.publish.after",
    "vault.append.before",
    "vault.append.after",
    "vault.settle",
    "vault.remove.before",
    "vault.remove.after",
    "vault.sync",
    "apply.staged",
    "apply.begun",
    "apply.rows",
    "apply.logged",
    "apply.published",
    "apply.committed",
    "apply.done",
    "team.staged",
    "team.logged",
    "team.published",
    "forget.buried",
    "forget.rows",
    "forget.staged",
    "forget.committed",
    "forget.published",
    "forget.files",
    "forget.vectors",
    "forget.scrubbed",
    "capture.parsed",
    "consolidate.gathered",
    "consolidate.decided",
    "embed.made",
    "offload.archived",
    "offload.staged",
    "offload.published",
    "offload.committed",
    "offload.assembled",
    "extract.gathered",
    "extract.decided",
    "scene.gathered",
    "scene.decided",
    "persona.gathered",
    "persona.decided",
    "prune.decided",
    "swap.logged",
    "swap.half",
    "swap.published",
    "job.leased",
    "job.finished",
)
"""Every failpoint there is, so that a test can strike at each."""

Action = Literal["kill", "enospc", "eio"]


@dataclass(slots=True)
class _Rule:
    """What happens at a failpoint at the `left`-th hit from now; then its name goes to `fired`."""

    action: Action
    left: int
    fired: list[str]


_rules: Final[dict[str, _Rule]] = {}
_lock: Final = threading.Lock()


def hit(name: str) -> None:
    """Pass the failpoint `name`.

    Raises:
        OSError: the rule armed for it says so, or (`kill`) the process ends here.
        Internal: something is armed and `name` is not declared in `NAMES`.
    """
    if _rules:
        _strike(name)


@contextmanager
def armed(rules: Mapping[str, str]) -> Iterator[list[str]]:
    """Arm `rules` (`{"vault.sync": "enospc:2"}`) in place of all others; yields what fired.

    Holds for every thread of the process.

    Raises:
        Invalid: a name that is not declared, or a rule that is none.
    """
    fired: list[str] = []
    ready = {name: _rule(name, text, fired) for name, text in rules.items()}
    before = dict(_rules)
    _arm(ready)
    try:
        yield fired
    finally:
        _arm(before)


def _arm(rules: Mapping[str, _Rule]) -> None:
    with _lock:
        _rules.clear()
        _rules.update(rules)


def parse(text: str) -> dict[str, str]:
    """`name=action[:nth]`, comma-separated, as `armed` takes it.

    Raises:
        Invalid: a part without `=`.
    """
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, rule = part.partition("=")
        if not equals:
            raise Invalid(VARIABLE, f"{part!r} is not name=action[:nth]")
        found[name.strip()] = rule.strip()
    return found


def _rule(name: str, text: str, fired: list[str]) -> _Rule:
    if name not in NAMES:
        raise Invalid(VARIABLE, f"{name!r} is no failpoint; there are {', '.join(NAMES)}")
    action, _, nth = text.partition(":")
    if action not in get_args(Action):
        raise Invalid(VARIABLE, f"{action!r} is no action; use {', '.join(get_args(Action))}")
    if nth and not (nth.isascii() and nth.isdigit() and int(nth) > 0):
        raise Invalid(VARIABLE, f"{nth!r} is no hit; they are counted from 1")
    return _Rule(cast("Action", action), int(nth or 1), fired)


def _strike(name: str) -> None:
    if name not in NAMES:
        raise Internal(f"failpoint {name!r} is not declared")
    with _lock:
        rule = _rules.get(name)
        if rule is None:
            return
        rule.left -= 1
        if rule.left:
            return
        rule.fired.append(name)
    _fire(name, rule.action)


def _fire(name: str, action: Action) -> None:
    match action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "enospc":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        case "eio":
            raise OSError(errno.EIO, os.strerror(errno.EIO), name)
        case _:
            assert_never(action)


_arm({name: _rule(name, rule, []) for name, rule in parse(os.environ.get(VARIABLE, "")).items()})
