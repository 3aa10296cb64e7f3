"""A request as one call of one verb: arguments in, its answer or a problem out."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memstrata.domain import checks
from memstrata.domain.scope import Realm
from memstrata.errors import Denied, Invalid, MemstrataError
from memstrata.hosting import Hosted, limited
from memstrata.interfaces import wire
from memstrata.interfaces.http import problems
from memstrata.interfaces.http.identity import Identity
from memstrata.memory import Verbs
from memstrata.pipelines.answers import FIELD as KEY
from memstrata.ports import Answered
from memstrata.routes import SHOWN, Parameter, Route, sent

JSON: Final = "application/json"
CHANNEL: Final = "http"
_TAG: Final = re.compile(r'"(\d{1,15})(?:-[0-9a-f]{8})?"')
_NUMBER: Final = re.compile(r"-?\d{1,18}")
_SWITCHES: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Request:
    """What came over the wire: where to, by whom, with what. Header names are in lower case."""

    route: Route
    identity: Identity
    path: Mapping[str, str]
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes

    @property
    def digest(self) -> str:
        """Tells this request from others under the same idempotency key."""
        parts = (
            self.route.method,
            self.route.path,
            str(sorted(self.path.items())),
            str(self.query),
        )
        return hashlib.sha256("\n".join(parts).encode("utf-8", "replace") + self.body).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    type: str = JSON


class Desk:
    """Answers requests, in any thread."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted
        self._lock = threading.Lock()
        self._keys: dict[tuple[Realm, str], tuple[threading.Lock, int]] = {}

    def reply(self, request: Request) -> Reply:
        """The answer to a request; an error of ours is one too."""
        matched = "if-match" in request.headers
        try:
            key = request.headers.get(KEY.lower())
            if key is None or request.route.method != "POST" or request.route.is_repeatable:
                return self._done(request)
            return self._once(request, checks.identity(KEY, key))
        except MemstrataError as error:
            status = problems.status_of(error, matched=matched)
            return refusal(error, status)

    # -- once a key -----------------------------------------------------------------------------

    def _once(self, request: Request, key: str) -> Reply:
        """The answer that was given before, else a new one, which is kept. One at a time for each key."""
        asker = Realm(self._hosted.realm.space, request.identity.owner)
        with self._alone(asker, key):
            found = self._hosted.answered(asker, key, request.digest)
            if found is not None:
                return _reply(found.status, found.tag, found.body.encode())
            reply = self._done(request)
            tag = reply.headers.get("ETag", "")
            body = reply.body.decode()
            kept = Answered(request.digest, reply.status, tag, body, _about(body))
            self._hosted.keep_answer(asker, key, kept)
        return reply

    @contextmanager
    def _alone(self, asker: Realm, key: str) -> Iterator[None]:
        place = asker, key
        with self._lock:
            lock, waiting = self._keys.get(place, (threading.Lock(), 0))
            self._keys[place] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, waiting = self._keys[place]
                if waiting == 1:
                    del self._keys[place]
                else:
                    self._keys[place] = lock, waiting - 1

    # -- one call -------------------------------------------------------------------------------

    def _done(self, request: Request) -> Reply:
        route, identity = request.route, request.identity
        identity.refuse_below(route.role)
        given = arguments(request)
        owner = _owner(identity, given)
        verbs = self._hosted.seen_by(owner)
        self._place(identity, route, given)
        value, shown = _called(verbs, request, given)
        if route.long:
            self._hosted.took(verbs)
        if route.verb == "status" and identity.role != "admin":
            value = limited(value)
        if route.status == 204:
            return Reply(204)
        document = wire.answer(route.verb, value)
        data = _encoded(document)
        tag = f'"{document[route.tag]}-{zlib.crc32(data):08x}"' if route.tag else ""
        if route.method == "GET" and tag and _is_known(tag, request.headers.get("if-none-match")):
            return Reply(304, headers={"ETag": tag})
        more = {} if shown is None else {SHOWN: str(shown)}
        return _reply(route.status, tag, data, more)

    def _place(self, identity: Identity, route: Route, given: dict[str, Any]) -> None:
        """Let a workspace be the folder of a bound one: who is elsewhere names no path of this machine."""
        for name in route.folders:
            if given.get(name) is not None:
                given[name] = self._hosted.workspace(given[name], paths=identity.paths)


def _encoded(document: Mapping[str, wire.Json]) -> bytes:
    """A document as it is sent; a half of a surrogate pair, as an archived text may have it, as its escape."""
    try:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(document, separators=(",", ":")).encode()


def refusal(error: MemstrataError, status: int) -> Reply:
    """An error as a problem."""
    return Reply(status, problems.body(error, status), problems.headers(error), problems.TYPE)


def _reply(status: int, tag: str, data: bytes, more: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, data, {**({"ETag": tag} if tag else {}), **(more or {})})


def _called(verbs: Verbs, request: Request, given: dict[str, Any]) -> tuple[Any, int | None]:
    """What the verb returns, and which revision its thread was shown last."""
    route = request.route
    own = {one.name: given[one.name] for one in route.own if one.name in given}
    if not route.owner:
        if route.verb == "import_":
            return _imported(verbs, own), None
        return sent(getattr(verbs, route.name)(**own), verbs), None
    opening = {one.name: given[one.name] for one in route.opening if one.name in given}
    if route.owner in ("session", "offload"):
        opened = getattr(verbs, route.owner)(opening.pop("session"), **opening)
        return sent(getattr(opened, route.name)(**own), opened), None
    opening.setdefault("channel", CHANNEL)
    document = getattr(verbs, route.owner)(**opening)
    document.shown = _shown(request.headers.get(SHOWN.lower()))
    value = sent(getattr(document, route.name)(**own), document)
    return value, document.shown


def _about(body: str) -> str:
    """The id of the memory that an answer tells of; `""` for none."""
    found = json.loads(body) if body else {}
    return str(found.get("id", ""))


def _shown(said: str | None) -> int | None:
    """The revision that a thread was shown last, as it says itself.

    Raises:
        Invalid: it is no number.
    """
    if said is None:
        return None
    if not _NUMBER.fullmatch(said) or said.startswith("-"):
        raise Invalid(SHOWN, f"{checks.shown(said)} is no revision")
    return int(said)


def _imported(verbs: Verbs, own: dict[str, Any]) -> Any:
    """What an import of the text `content` comes to."""
    content = checks.string("content", own.pop("content"))
    with tempfile.TemporaryDirectory(prefix="memstrata-") as folder:
        path = Path(folder) / "content"
        path.write_text(content, "utf-8")
        return verbs.import_(path, **own)


def _owner(identity: Identity, given: dict[str, Any]) -> str:
    """Whose memory it is about: the asker's own, or for an admin anybody's.

    Raises:
        Denied: another's, or in another's name. Whether there is such a person makes no difference.
    """
    author = given.get("author")
    asked = given.pop("user", None)
    owner = identity.owner if asked is None else checks.ref("owner", asked)
    if identity.role == "admin":
        return owner
    if owner != identity.owner or author not in (None, identity.owner):
        raise Denied("this token speaks for its owner alone; for others it takes the role admin")
    return owner


# -- arguments ------------------------------------------------------------------------------------


def arguments(request: Request) -> dict[str, Any]:
    """What a request gives the verb.

    Raises:
        Invalid: one that the verb does not take or that is missing; a body that is no JSON object.
    """
    route = request.route
    rest = [one for one in route.parameters if one.name not in route.in_path]
    given = _from_body(request, rest) if route.has_body else _from_query(request, rest)
    given |= {name: request.path[name] for name in route.in_path}
    _matched(request, given)
    for one in route.parameters:
        if one.required and one.name not in given:
            raise Invalid(one.name, "is missing")
        if one.type is bool and not isinstance(given.get(one.name, False), bool):
            raise Invalid(one.name, "expected true or false")
    return given


def _from_body(request: Request, known: list[Parameter]) -> dict[str, Any]:
    if request.query:
        raise Invalid(
            checks.shown(request.query[0][0]), "stands in the query; the body holds it all"
        )
    if not request.body:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise problems.NotJson("Content-Type", f"expected {JSON}")
    try:
        found = json.loads(request.body)
    except (ValueError, RecursionError) as error:
        raise Invalid("body", f"is no JSON ({error})") from error
    if not isinstance(found, dict):
        raise Invalid("body", "expected an object")
    names = [one.name for one in known]
    for name in found:
        if name not in names:
            raise Invalid(checks.shown(name), f"is no argument; it takes {', '.join(names)}")
    return found


def _from_query(request: Request, known: list[Parameter]) -> dict[str, Any]:
    by_name = {one.name: one for one in known}
    found: dict[str, Any] = {}
    for name, text in request.query:
        if name not in by_name:
            raise Invalid(
                checks.shown(name), f"is no argument; it takes {', '.join(by_name) or 'none'}"
            )
        if name in found:
            raise Invalid(name, "is given twice")
        found[name] = _read(text, by_name[name].kinds)
    if request.body:
        raise Invalid("body", f"{request.route.method} takes none")
    return found


def _read(text: str, kinds: tuple[Any, ...]) -> object:
    """A text of a query as the verb takes it; what it does not take stays a text, and is refused there."""
    if int in kinds and _NUMBER.fullmatch(text):
        return int(text)
    if bool in kinds:
        return _SWITCHES.get(text, text)
    return text


def _matched(request: Request, given: dict[str, Any]) -> None:
    """Take `If-Match` for the version that a change was made on.

    Raises:
        Invalid: it is no tag of ours, or the verb takes none, or the body says otherwise.
    """
    said = request.headers.get("if-match")
    if said is None:
        return
    name = request.route.match
    if not name:
        raise Invalid("If-Match", "is not taken here")
    found = _TAG.fullmatch(said.strip())
    if found is None:
        raise Invalid("If-Match", 'expected one ETag, as "3"')
    if given.setdefault(name, int(found[1])) != int(found[1]):
        raise Invalid("If-Match", f"says another version than {name}")


def _is_known(tag: str, said: str | None) -> bool:
    """Whether `If-None-Match` names the tag."""
    known = [] if said is None else [one.strip().removeprefix("W/") for one in said.split(",")]
    return tag in known or known == ["*"]
