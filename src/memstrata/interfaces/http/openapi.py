"""The description of the whole of `/v1` (OpenAPI 3.1), made from the rows of `memstrata.routes`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, get_origin

from pydantic import TypeAdapter

from memstrata import __version__
from memstrata.domain.memory import STATUSES, TYPE_ALIASES, TYPES
from memstrata.domain.plan import REFUSALS, VERDICTS
from memstrata.domain.scope import SCOPES
from memstrata.interfaces import wire
from memstrata.interfaces.http import problems
from memstrata.interfaces.http.calls import JSON
from memstrata.memory import MOST_HITS
from memstrata.pipelines.answers import FIELD as KEY
from memstrata.pipelines.offload import MOST_LINES
from memstrata.pipelines.read import Hits
from memstrata.pipelines.recall import MOST_TOKENS
from memstrata.routes import ROUTES, SHOWN, Parameter, Route, answer_type

Schema = dict[str, Any]

_REF: Final = "#/components/schemas/{model}"
_SETTING: Final[Schema] = {
    "type": "object",
    "required": ["key", "value", "origin"],
    "properties": {"key": {"type": "string"}, "value": {}, "origin": {"type": "string"}},
}
_ERROR: Final = "ProblemDetails"
_PROBLEM: Final[Schema] = {
    "type": "object",
    "description": "An error (RFC 9457); `code` is that of the table of errors.",
    "required": ["type", "title", "status", "detail", "code", "retryable"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {
            "enum": [
                *("invalid", "denied", "not_found", "conflict", "refused"),
                *("unavailable", "corrupt", "internal"),
            ]
        },
        "retryable": {"type": "boolean"},
    },
}
_ALWAYS: Final = {
    400: "The request cannot be read.",
    401: "No token, or one that is not known.",
    403: "This caller may not.",
    404: "No such id in this scope.",
    413: "The body is too large.",
    415: "The body is no JSON.",
    422: "An argument is wrong, or a gate refused.",
    429: "Too many requests; `Retry-After` says when to come again.",
    500: "A file cannot be read, or a bug.",
    503: "A model, the database or the disk is away.",
}
_PLAIN: Final = {
    "/healthz": ("Whether the process answers.", {200: "It does."}),
    "/readyz": ("Whether requests can be answered.", {200: "They can.", 503: "They cannot."}),
}


def document() -> Schema:
    """The whole description."""
    paths: dict[str, dict[str, Schema]] = {}
    schemas = _Schemas()
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    for path, (text, statuses) in _PLAIN.items():
        paths[path] = {"get": _plain(text, statuses)}
    paths["/metrics"] = {"get": _metrics()}
    paths["/v1/events"] = {"get": _events()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "memstrata",
            "version": __version__,
            "description": "What agents remember: every verb of the Python API, with its names.",
        },
        "security": [{"token": []}, {}],
        "paths": paths,
        "components": {
            "schemas": {_ERROR: _PROBLEM, **schemas.found},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


class _Schemas:
    """The schemas of the results, each dataclass once, by its name."""

    def __init__(self) -> None:
        kinds = {one.verb: TypeAdapter(answer_type(one.returns)) for one in ROUTES}
        inputs: Sequence[tuple[str, Literal["serialization"], TypeAdapter[Any]]] = [
            (verb, "serialization", kind) for verb, kind in kinds.items()
        ]
        made, shared = TypeAdapter.json_schemas(inputs, ref_template=_REF)
        self._made = {verb: schema for (verb, _), schema in made.items()}
        self.found: Schema = shared.get("$defs", {})

    def of(self, route: Route) -> Schema:
        """What a verb answers: an object, whose first member is the result where that is none."""
        if route.verb == "config":
            return _object({"settings": {"type": "array", "items": _SETTING}})
        schema = self._made[route.verb]
        if route.verb in wire.ENVELOPES:
            more: dict[str, Schema] = {}
            if route.returns is Hits:
                texts = {"type": "array", "items": {"type": "string"}}
                more = {"degraded": texts, "profile": {"type": "string"}}
            return _object({wire.ENVELOPES[route.verb]: schema, **more})
        return _object({route.name: schema}) if route.returns is str else schema


def _object(properties: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "required": list(properties), "properties": dict(properties)}


_REFS: Final[Schema] = {"type": "string", "pattern": r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"}
_NAME: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": 256}
_COUNTED: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}
_NARROWER: Final[Mapping[str, Schema]] = {
    **dict.fromkeys(("id", "user", "channel"), _REFS),
    "agent": {"type": "string", "pattern": r"^([A-Za-z0-9_-][A-Za-z0-9._-]{0,127})?$"},
    **dict.fromkeys(("session", "author"), _NAME),
    **dict.fromkeys(("expected_version", "old", "version", "line", "start"), _COUNTED),
    "lines": {"type": "integer", "minimum": 1, "maximum": MOST_LINES},
    "window": {"type": "integer", "minimum": 1_000},
    "overhead": {"type": "integer", "minimum": 0},
    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_HITS},
    "max_tokens": {"type": "integer", "minimum": 0, "maximum": MOST_TOKENS},
    "timeout": {"type": "number", "minimum": 0},
    "priority": {"type": "integer", "minimum": -1, "maximum": 100},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    "scope": {"enum": list(SCOPES)},
    "status": {"enum": list(STATUSES)},
    "type": {"enum": [*TYPES, *TYPE_ALIASES]},
    "verdict": {"enum": list(VERDICTS)},
    "retry_refused": {"enum": list(REFUSALS)},
    "valid_until": {"type": "string", "format": "date"},
    "happened_from": {"type": "string", "format": "date"},
    "happened_until": {"type": "string", "format": "date"},
    "as_of": {"type": "string", "format": "date-time"},
    "known_at": {"type": "string", "format": "date-time"},
    "since": {"type": "string", "format": "date-time"},
    "until": {"type": "string", "format": "date-time"},
}
"""What is known of an argument of that name beyond its type, in whatever verb it is of that type."""


def argument_schema(one: Parameter) -> Schema:
    """What an argument may be."""
    schema = TypeAdapter(one.type).json_schema()
    narrow = _NARROWER.get(one.name)
    if narrow is not None and _is_of(one, narrow):
        nullable = type(None) in one.kinds
        schema = {"anyOf": [dict(narrow), {"type": "null"}]} if nullable else dict(narrow)
    if not one.required and one.default is not None:
        schema["default"] = wire.encode(one.default)
    return schema


def _is_of(one: Parameter, narrow: Schema) -> bool:
    """Whether an argument is what others of its name are: a literal says all by itself."""
    is_number = narrow.get("type") in ("integer", "number")
    is_literal = any(get_origin(kind) is Literal for kind in one.kinds)
    return not is_literal and not (is_number and str in one.kinds)


def _operation(route: Route, schemas: _Schemas) -> Schema:
    about, raises = _told(route)
    operation: Schema = {
        "operationId": route.verb,
        "tags": [route.path.split("/")[2]],
        "summary": about,
        "description": f"Needs the role `{route.role}`.{raises}",
        "parameters": list(_parameters(route)),
        "responses": _responses(route, schemas),
    }
    if route.has_body:
        operation["requestBody"] = _body(route)
    return operation


def _told(route: Route) -> tuple[str, str]:
    """The first sentence of a verb, and the rest that its reader is told."""
    text = inspect.getdoc(route.function) or ""
    first, _, rest = text.partition("\n")
    return first, f"\n\n{rest.strip()}" if rest.strip() else ""


def _parameters(route: Route) -> Iterator[Schema]:
    for one in route.parameters:
        where = "path" if one.name in route.in_path else "query"
        if where == "path" or not route.has_body:
            yield {
                "name": one.name,
                "in": where,
                "required": where == "path" or one.required,
                "schema": _texted(one),
            }
    for name, schema in _headers(route):
        yield {"name": name, "in": "header", "required": False, "schema": schema}


def _texted(one: Parameter) -> Schema:
    """An argument in a query, where there is no null: it is left out."""
    schema = argument_schema(one)
    kinds = [kind for kind in schema.pop("anyOf", ()) if kind != {"type": "null"}]
    return {**schema, **(kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {})}


def _headers(route: Route) -> Iterator[tuple[str, Schema]]:
    if route.match:
        yield "If-Match", {"type": "string", "pattern": r'^"[0-9]{1,15}(-[0-9a-f]{8})?"$'}
    if route.tag and route.method == "GET":
        yield "If-None-Match", {"type": "string"}
    if route.method == "POST" and not route.is_repeatable:
        yield KEY, {"type": "string", "minLength": 1, "maxLength": 256}
    if route.owner in ("team", "private"):
        yield SHOWN, {"type": "string", "pattern": "^[0-9]{1,15}$"}


def _body(route: Route) -> Schema:
    rest = [one for one in route.parameters if one.name not in route.in_path]
    needed = [one.name for one in rest if one.required and one.name != route.match]
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": needed,
        "properties": {one.name: argument_schema(one) for one in rest},
    }
    return {"required": bool(needed), "content": {JSON: {"schema": schema}}}


def _responses(route: Route, schemas: _Schemas) -> Schema:
    good: Schema = {"description": "Done."}
    if route.status != 204:
        good["content"] = {JSON: {"schema": schemas.of(route)}}
    if route.tag:
        good["headers"] = {"ETag": {"schema": {"type": "string"}}}
    more = dict(_ALWAYS)
    if route.role != "reader":
        more[409] = "What was to be changed moved, or its name is taken; nothing was saved."
    if route.match:
        more[412] = "`If-Match` is stale; nothing was saved."
    found = {str(route.status): good, **_refusals(more)}
    if route.tag and route.method == "GET":
        found["304"] = {"description": "As `If-None-Match` knows it."}
    return dict(sorted(found.items()))


def _refusals(statuses: Mapping[int, str]) -> Schema:
    content = {problems.TYPE: {"schema": {"$ref": _REF.format(model=_ERROR)}}}
    return {
        str(status): {"description": text, "content": content} for status, text in statuses.items()
    }


def _plain(text: str, statuses: Mapping[int, str]) -> Schema:
    good = {
        "200": {
            "description": statuses[200],
            "content": {JSON: {"schema": _object({"status": {"const": "ok"}})}},
        }
    }
    bad = {**{one: _ALWAYS[one] for one in (400, 403, 413, 429, 503)}, **statuses}
    del bad[200]
    return {"summary": text, "security": [{}], "responses": {**good, **_refusals(bad)}}


def _metrics() -> Schema:
    good = {"description": "Metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    about = "Metrics in the text form of Prometheus. Needs the role `admin`."
    return {"summary": about, "responses": {"200": good, **_refusals(_ALWAYS)}}


def _events() -> Schema:
    stream = {"text/event-stream": {"schema": {"type": "string"}}}
    return {
        "operationId": "events",
        "summary": "What happens, as server-sent events: ids, names and counts, never a body.",
        "responses": {"200": {"description": "Events.", "content": stream}, **_refusals(_ALWAYS)},
    }
