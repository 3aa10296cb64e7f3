"""Errors as problems (RFC 9457), with the codes of the one table of errors; what only HTTP can raise."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final

from memstrata.errors import (
    Conflict,
    Denied,
    Internal,
    Invalid,
    MemstrataError,
    NotFound,
    Unavailable,
)
from memstrata.interfaces import wire

TYPE: Final = "application/problem+json"
STALE: Final = 412
"""The status of a conflict whose version came in `If-Match`."""


class Unknown(Denied):
    """Nobody is known by that token, or none was sent where one is needed."""

    http_status = 401


class TooLarge(Invalid):
    """The body is larger than is taken."""

    http_status = 413


class NotJson(Invalid):
    """The body is sent as something that is no JSON."""

    http_status = 415


class TooMany(Unavailable):
    """One caller asks more often than is answered."""

    http_status = 429

    def __init__(self, seconds: float) -> None:
        super().__init__(f"too many requests; try again in {seconds:.1f} s")
        self.seconds = seconds


class NoMethod(Invalid):
    """The path is there and does not take the method."""

    http_status = 405


def of_status(status: int, path: str, method: str) -> MemstrataError:
    """The error for a status that the router or the framework gave."""
    match status:
        case 404:
            return NotFound("path", path)
        case 405:
            return NoMethod("method", f"{path} does not take {method}")
        case _ if 400 <= status < 500:
            return Invalid("request", "cannot be read")
        case _:
            return Internal("the request could not be answered")


def status_of(error: MemstrataError, *, matched: bool = False) -> int:
    """The HTTP status of an error; `matched`: the version came in `If-Match`."""
    if matched and isinstance(error, Conflict) and error.reason == "VERSION_CONFLICT":
        return STALE
    return error.http_status


def body(error: MemstrataError, status: int) -> bytes:
    """The problem document of an error."""
    about = wire.error(error)["error"]
    fields: Mapping[str, wire.Json] = about if isinstance(about, dict) else {}
    more = {name: value for name, value in fields.items() if name != "message"}
    document = {
        "type": f"urn:memstrata:error:{error.code}",
        "title": type(error).code.replace("_", " "),
        "status": status,
        "detail": error.message,
        **more,
    }
    return json.dumps(document, ensure_ascii=True).encode()


def headers(error: MemstrataError) -> dict[str, str]:
    """What is said of an error outside its body."""
    match error:
        case Unknown():
            return {"WWW-Authenticate": "Bearer"}
        case TooMany(seconds=seconds):
            return {"Retry-After": str(math.ceil(seconds))}
        case Unavailable():
            return {"Retry-After": "1"}
        case _:
            return {}
