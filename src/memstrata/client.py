"""The same verbs over HTTP: `Memory.connect`. Each is sent by its row of `memstrata.routes`.

Results and errors are those of an embedded memory. What only reads is tried again where the connection
or the server failed; what writes never is, for whether it was done cannot be known.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, wraps
from http import HTTPStatus
from inspect import signature
from pathlib import Path
from types import NoneType, TracebackType
from typing import Any, Final, Self, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from pydantic import TypeAdapter
from urllib3.exceptions import HTTPError, NewConnectionError

from memstrata.domain import checks, plain
from memstrata.domain.scope import Realm, View
from memstrata.errors import (
    Denied,
    Internal,
    Invalid,
    MemstrataError,
    OutcomeUnknown,
    Unavailable,
    restored,
)
from memstrata.memory import KEPT, Path_, Session, Verbs
from memstrata.offload import OffloadSession
from memstrata.pipelines import bind
from memstrata.pipelines.offload import Cache, Recalled, Report, parse_cache, parse_window
from memstrata.pipelines.read import Hits
from memstrata.prompts.template import Rendered, load
from memstrata.routes import (
    BY_VERB,
    NOT_SERVED,
    SHOWN,
    Asked,
    Folded,
    Part,
    Route,
    answer_type,
    verbs_of,
)
from memstrata.team_document import MemoryDocument

TRIES: Final = 3
"""How often what only reads is sent, at most."""
CONNECTIONS: Final = 16
"""Connections that are kept; more threads than these open more for a moment."""
TIMEOUT: Final = 60.0
LONG: Final = 3_700.0
"""Seconds to wait for an answer; for work that is waited for, a little longer than the server does."""
_BEARER: Final = re.compile(r"[\x21-\x7e]+")
_T = TypeVar("_T", bound=type)


class Transport:
    """One server, a pool of connections that are kept, a token."""

    def __init__(self, url: str, token: str | None) -> None:
        self.base = _checked(url)
        about = {"User-Agent": "memstrata", "Accept": "application/json"}
        if token is not None:
            if not _BEARER.fullmatch(checks.string("token", token)):
                raise Invalid("token", "is none that memstrata token create printed")
            about["Authorization"] = f"Bearer {token}"
        self._pool = urllib3.PoolManager(maxsize=CONNECTIONS, headers=about, retries=False)

    def call(
        self, route: Route, given: Mapping[str, object], headers: Mapping[str, str] | None = None
    ) -> tuple[Any, Mapping[str, str]]:
        """Send one call; the answer's document (None: there is none), and its headers.

        Raises:
            MemstrataError: what the server raised.
            Unavailable: it cannot be reached.
            OutcomeUnknown: the connection was lost before a write was answered.
        """
        path = route.path
        for name in route.in_path:
            path = path.replace(f"{{{name}}}", quote(str(given[name]), safe=""))
        rest = {
            name: _encoded(name, one) for name, one in given.items() if name not in route.in_path
        }
        body = json.dumps(rest).encode() if route.has_body else None
        query = "" if route.has_body else urlencode(list(_texts(route, rest)))
        target = f"{self.base}{path}{'?' if query else ''}{query}"
        timeout = LONG if route.long else TIMEOUT
        answer = self._sent(route, target, body, dict(headers or {}), timeout)
        return _read(answer), answer.headers

    def _sent(
        self, route: Route, url: str, body: bytes | None, headers: dict[str, str], timeout: float
    ) -> urllib3.BaseHTTPResponse:
        for left in range(TRIES - 1, -1, -1):
            try:
                answer = self._once(route.method, url, body, headers, timeout)
            except NewConnectionError as error:
                if not left:
                    raise Unavailable(f"{self.base} cannot be reached: {error}") from error
            except HTTPError as error:
                if not route.is_repeatable:
                    raise OutcomeUnknown(
                        f"{self.base} did not answer: {error}; outcome unknown"
                    ) from error
                if not left:
                    raise Unavailable(f"{self.base} did not answer: {error}") from error
            else:
                if not left or not _is_worth_a_try(route, answer.status):
                    return answer
            time.sleep(_pause(TRIES - left))
        raise Internal("no try was left")  # the last one returned or raised

    def _once(
        self, method: str, url: str, body: bytes | None, headers: dict[str, str], timeout: float
    ) -> urllib3.BaseHTTPResponse:
        given = {**self._pool.headers, **headers}
        if body is not None:
            given["Content-Type"] = "application/json"
        return self._pool.request(
            method,
            url,
            body=body,
            headers=given,
            timeout=urllib3.Timeout(connect=min(10.0, timeout), read=timeout),
            redirect=False,  # a token is never sent on to another place
        )

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


def _is_worth_a_try(route: Route, status: int) -> bool:
    """Whether the same request may fare better: one that was not let in did nothing, whatever it is."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return True
    return route.is_repeatable and status == HTTPStatus.SERVICE_UNAVAILABLE


def _checked(url: str) -> str:
    """The base of a server's URL.

    Raises:
        Invalid: it is none.
    """
    text = checks.string("url", url)
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 -- raises for one that is none
    except ValueError as error:
        raise Invalid("url", f"{checks.shown(text)} is none: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise Invalid("url", f"{checks.shown(text)} is no address such as http://127.0.0.1:8765")
    if parts.username or parts.password:
        raise Invalid("url", "give the secret as token=, it would be written to logs here")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _encoded(name: str, value: object) -> plain.Json:
    """An argument as JSON holds it.

    Raises:
        Invalid: it holds something that cannot be sent.
    """
    try:
        return plain.encode(value)
    except TypeError as error:
        raise Invalid(name, f"cannot be sent: {error}") from error


def _texts(route: Route, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Arguments as a query holds them, where numbers are texts; what is None is left out.

    Raises:
        Invalid: a text where a number is meant or the other way round, or one that UTF-8 cannot hold.
    """
    kinds = {one.name: one for one in route.parameters}
    for name, value in given.items():
        if isinstance(value, str) and not kinds[name].is_text:
            raise Invalid(name, f"{checks.shown(value)} is a text, no number")
        if isinstance(value, int | float) and set(kinds[name].kinds) <= {str, NoneType}:
            raise Invalid(name, f"expected text, got {type(value).__name__}")
        if isinstance(value, bool):
            yield name, str(value).lower()
        elif value is not None:
            yield name, checks.string(name, str(value))


def _read(answer: urllib3.BaseHTTPResponse) -> Any:
    """The document of an answer.

    Raises:
        MemstrataError: what the server raised.
    """
    if answer.status == HTTPStatus.NO_CONTENT:
        return None
    try:
        document = json.loads(answer.data)
    except ValueError as error:
        raise Unavailable(f"what answered is no memstrata (status {answer.status})") from error
    if answer.status < HTTPStatus.BAD_REQUEST:
        return document
    raise _error(answer.status, document)


def _error(status: int, document: object) -> MemstrataError:
    if not isinstance(document, dict) or "code" not in document:
        return Unavailable(f"what answered is no memstrata (status {status})")
    return restored({"message": document.get("detail", ""), **document})


# -- from JSON to the result ------------------------------------------------------------------------


@cache
def _adapter(verb: str) -> TypeAdapter[Any]:
    return TypeAdapter(answer_type(BY_VERB[verb].returns))


def _result(route: Route, document: Any) -> Any:
    """The result of a verb from its document; where the result is no object, it is the first member."""
    returns = route.returns
    if document is None:
        return None
    if route.verb == "config":
        return tuple(
            (row["key"], _tupled(row["value"]), row["origin"]) for row in document["settings"]
        )
    kind = _adapter(route.verb)
    if returns is Hits:
        found = kind.validate_python(document["hits"])
        return Hits(found, tuple(document["degraded"]), document["profile"])
    if returns is Rendered:
        asked: Asked = kind.validate_python(document)
        return Rendered(load("team_delegation"), asked.system, asked.user)
    if returns is Recalled:
        return _recalled(kind.validate_python(document))
    if route.verb in ("settings", "configure"):
        rows = kind.validate_python(document["settings"])
        return tuple(
            replace(one, value=_tupled(one.value), default=_tupled(one.default)) for one in rows
        )
    return kind.validate_python(document if _is_object(returns) else next(iter(document.values())))


def _recalled(part: Part) -> Recalled:
    found = Recalled(part.text)
    found.lines, found.start, found.shown, found.masked = (
        *(part.lines, part.start),
        *(part.shown, part.masked),
    )
    return found


def _is_object(returns: Any) -> bool:
    """Whether a result is an object by itself, and so its own document."""
    if returns is str:
        return False
    origin = getattr(returns, "__origin__", None)
    return origin is not tuple and type(None) not in getattr(returns, "__args__", ())


def _tupled(value: Any) -> Any:
    """Settings hold no lists."""
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


# -- the verbs ----------------------------------------------------------------------------------------


def _sent(route: Route, verb: Callable[..., Any]) -> Callable[..., Any]:
    """A verb that is sent: same arguments, same result, same errors."""

    @wraps(verb)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = _bound(verb, self, args, kwargs)
        return self._call(route, given)

    return call


def _kept(name: str, reason: str, verb: Callable[..., Any]) -> Callable[..., Any]:
    """A verb that is not served."""

    @wraps(verb)
    def refuse(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        raise Denied(f"{name} is not served over HTTP: {reason}")

    return refuse


def _over_http(owner: str) -> Callable[[_T], _T]:
    """Give a class the verbs of its parent, sent; those that it has itself stay."""

    def dress(kind: _T) -> _T:
        parent = kind.__mro__[1]
        for name in verbs_of(parent):
            verb = f"{owner}.{name}" if owner else name
            if name in vars(kind):
                continue
            function = getattr(parent, name)
            route = BY_VERB.get(verb)
            reason = NOT_SERVED.get(verb, "there is no route for it")
            made = _sent(route, function) if route else _kept(verb, reason, function)
            setattr(kind, name, made)
        return kind

    return dress


def _bound(
    verb: Callable[..., Any], self: object, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """What was given, by name."""
    given = dict(signature(verb).bind(self, *args, **kwargs).arguments)
    del given["self"]
    given.pop("progress", None)  # nothing of it is told over HTTP
    return {name: value for name, value in given.items() if value is not KEPT}


@_over_http("")
class Connected(Verbs):
    """A memory on a server: the verbs of `Memory`, sent. A context manager; safe for threads."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._transport = Transport(url, token)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _call(
        self, route: Route, given: dict[str, Any], headers: Mapping[str, str] | None = None
    ) -> Any:
        document, _ = self._transport.call(route, _wired(route, given), headers)
        return _result(route, document)

    def session(
        self,
        id: str,
        *,
        user: str | None = None,
        workspace: Path_ | None = None,
        agent: str | None = None,
    ) -> Session:
        """The conversation `id`; see `Memory.session`."""
        checks.identity("session", id)
        bound = None if workspace is None else self._workspace(workspace)
        owner = "" if user is None else checks.ref("owner", user)
        view = View(
            Realm("", owner),
            bound.key if bound else None,
            None if agent in (None, "") else checks.ref("agent", agent),
        )
        return ConnectedSession(self, id, view, bound)

    def team(
        self,
        workspace: Path_,
        *,
        session: str | None = None,
        user: str | None = None,
        channel: str = "python",
    ) -> MemoryDocument:
        """The team document of a workspace; see `Memory.team`."""
        opening = _opening(session, user, channel)
        bound = self._workspace(workspace)
        return ConnectedDocument(self, "team", {"workspace": bound.key, **opening})

    def private(
        self, *, session: str | None = None, user: str | None = None, channel: str = "python"
    ) -> MemoryDocument:
        """The private document of a user; see `Memory.private`."""
        return ConnectedDocument(self, "private", _opening(session, user, channel))

    def offload(
        self,
        session_id: str,
        *,
        window: int | None = None,
        cache: Cache | None = None,
        workspace: Path_ | None = None,
        user: str | None = None,
    ) -> OffloadSession:
        """The tool results and tasks of one agent session; see `Memory.offload`."""
        opening: dict[str, Any] = {"session": checks.identity("session_id", session_id)}
        if window is not None:
            opening["window"] = parse_window(window)
        if cache is not None:
            opening["cache"] = parse_cache(cache)
        if user is not None:
            opening["user"] = checks.ref("owner", user)
        if workspace is not None:
            opening["workspace"] = self._workspace(workspace).key
        return ConnectedOffload(self, opening)

    def import_(self, path: Path_, **given: Any) -> Any:
        """Read conversations from a file here; see `Memory.import_`. It is sent whole.

        Raises:
            Invalid: there is no such file, or it is no text.
        """
        given.pop("progress", None)
        try:
            content = Path(path).read_bytes().decode()
        except (OSError, ValueError) as error:
            raise Invalid("path", f"{path} cannot be read: {error}") from error
        return self._call(BY_VERB["import_"], {"content": content, **given})

    def close(self) -> None:
        """Close the connections; the server goes on."""
        self._transport.close()

    def _workspace(self, workspace: Path_) -> bind.Workspace:
        found = self._call(BY_VERB["bind_workspace"], {"path": workspace})
        return cast("bind.Workspace", found)


@_over_http("session")
class ConnectedSession(Session):
    """A conversation on a server."""

    __slots__ = ()

    def _call(self, route: Route, given: dict[str, Any]) -> Any:
        opening: dict[str, Any] = {"session": self.id}
        if self.view.realm.owner:
            opening["user"] = self.view.realm.owner
        if self.workspace is not None:
            opening["workspace"] = self.workspace.key
        if self.view.agent is not None:
            opening["agent"] = self.view.agent
        model = given.get("model")
        if model is not None and not isinstance(model, str):
            raise Invalid("model", "over HTTP a model has a name: an object cannot be sent")
        messages = given.get("messages")
        if isinstance(messages, Iterator):
            given["messages"] = list(messages)
        return cast("Connected", self._verbs)._call(route, {**opening, **given})


@_over_http("offload")
class ConnectedOffload(OffloadSession):
    """The working memory of a task on a server. What `tools` gives is worked out here."""

    tools = OffloadSession.tools

    def __init__(self, memory: Connected, opening: Mapping[str, Any]) -> None:
        self._memory = memory
        self._opening = dict(opening)
        self.report = Report(opening.get("window", 0))

    def _call(self, route: Route, given: dict[str, Any]) -> Any:
        found = self._memory._call(route, {**self._opening, **given})
        if not isinstance(found, Folded):
            return found
        self.report = found.report
        return found.messages


class ConnectedDocument(MemoryDocument):
    """A team or private document on a server."""

    def __init__(self, memory: Connected, owner: str, opening: Mapping[str, Any]) -> None:
        self._memory = memory
        self._owner = owner
        self._opening = dict(opening)
        self._shown: int | None = None

    @property
    def shown(self) -> int | None:
        """The revision that this object was shown last."""
        return self._shown

    @shown.setter
    def shown(self, rev: int | None) -> None:
        self._shown = rev

    def _call(self, name: str, given: dict[str, Any]) -> Any:
        route = BY_VERB[f"{self._owner}.{name}"]
        about = {} if self._shown is None else {SHOWN: str(self._shown)}
        wired = _wired(route, {**self._opening, **given})
        document, headers = self._memory._transport.call(route, wired, about)
        if SHOWN in headers:
            self._shown = int(headers[SHOWN])
        return _result(route, document)


def _of_document(name: str) -> Callable[..., Any]:
    verb = getattr(MemoryDocument, name)

    @wraps(verb)
    def call(self: ConnectedDocument, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(name, _bound(verb, self, args, kwargs))

    return call


for _name in verbs_of(MemoryDocument):
    if f"team.{_name}" in BY_VERB:
        setattr(ConnectedDocument, _name, _of_document(_name))


def _opening(session: str | None, user: str | None, channel: str) -> dict[str, Any]:
    """Whose document, in which thread, checked as an embedded memory checks it."""
    found = {"channel": checks.ref("channel", channel)}
    if session is not None:
        found["session"] = checks.identity("session", session)
    if user is not None:
        found["user"] = checks.ref("owner", user)
    return found


def _wired(route: Route, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments as they are sent: a folder absolute, for the server stands elsewhere; ids in paths checked."""
    found = dict(given)
    for name in route.in_path:
        found[name] = checks.ref(name, found[name])
    for name in route.folders:
        if found.get(name) is not None:
            found[name] = _place(bind.workspace_path(found[name]))
    for name, value in found.items():
        if hasattr(value, "__iter__") and not isinstance(value, str | list | tuple | Mapping):
            found[name] = list(value)
    return found


def _place(text: str) -> str:
    """A folder as an absolute path; what is none here goes as it is: the name of a workspace there."""
    return str(Path(text).absolute()) if "/" in text or Path(text).is_dir() else text


def _pause(tries: int) -> float:
    """Seconds until the next try: longer each time, and never the same for all."""
    return min(2.0, 0.1 * 2.0**tries) * (0.5 + random.random() / 2)
