"""One run of the command line: the language, the command, then its answer or its error. The outermost door."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Final, TextIO

from memstrata.errors import Internal, MemstrataError, NotFound, Refused, Unavailable
from memstrata.interfaces import wire
from memstrata.interfaces.cli import texts
from memstrata.interfaces.cli.out import Out, line
from memstrata.interfaces.cli.texts import say

INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
"""What a shell reports for a process that SIGINT or SIGPIPE ended."""


def run(arguments: Sequence[str]) -> int:
    """Run `arguments` and return the exit code. Only an answer is printed on stdout."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = _options(arguments)
    try:
        texts.speak(texts.language(_value(options, "--lang"), os.environ))
        return _answered(arguments, "--json" in options)
    except MemstrataError as error:
        return _failed(error, "--json" in options)
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        return _pipe_closed()
    except Exception as error:  # noqa: BLE001 -- the outermost door: a bug is told in one line
        if "--traceback" in options:
            traceback.print_exc()
        kind = type(error).__name__
        message = (
            f"{kind}: {error}"
            if "--traceback" in options
            else (f"{kind}: {error} ({say('run it again with --traceback to see where')})")
        )
        return _failed(Internal(message), "--json" in options)


def _answered(arguments: Sequence[str], as_json: bool) -> int:
    from memstrata.interfaces.cli import app

    reply = app.invoke(list(arguments) or ["--help"])
    if isinstance(reply, int):
        return _interrupted() if reply == INTERRUPTED else reply
    for note in () if as_json else reply.notes:
        _tell(say("note"), note)
    try:
        if as_json:
            _write_json(reply.document, sys.stdout)
        else:
            reply.render(Out(sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unavailable(f"stdout cannot be written: {error.strerror}") from error
    return reply.exit_code


def _write_json(document: object, stream: TextIO) -> None:
    plain = (stream.encoding or "").lower().replace("-", "") == "utf8"
    json.dump(document, stream, ensure_ascii=not plain, indent=2 if stream.isatty() else None)
    stream.write("\n")


def _failed(error: MemstrataError, as_json: bool) -> int:
    if as_json:
        _write_json(wire.error(error), sys.stderr)
    else:
        _tell(say("error"), _message(error))
    return error.exit_code


def _message(error: MemstrataError) -> str:
    match error:
        case NotFound():
            return say("no {kind} {id!r} here", kind=say(error.kind), id=error.id)
        case Refused():
            return say(
                "refused by the {gate} gate: {reason}", gate=say(error.gate), reason=error.reason
            )
        case Internal():
            return f"{say('a bug')}: {error.message}"
        case _:
            return error.message


def _tell(label: str, text: str) -> None:
    sys.stderr.write(f"{label}: {line(text)}\n")


def _interrupted() -> int:
    sys.stderr.write(f"\n{say('interrupted; what was done so far is kept')}\n")
    return INTERRUPTED


def _pipe_closed() -> int:
    """Let what is still buffered go nowhere, so that the interpreter's last flush is silent."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def _options(arguments: Sequence[str]) -> list[str]:
    """The arguments before `--`, behind which nothing is an option."""
    found = list(arguments)
    return found[: found.index("--")] if "--" in found else found


def _value(options: Sequence[str], name: str) -> str | None:
    """The value of an option that has to be known before the command line is parsed."""
    for number, one in enumerate(options):
        if one == name and number + 1 < len(options):
            return options[number + 1]
        if one.startswith(f"{name}="):
            return one.partition("=")[2]
    return None
