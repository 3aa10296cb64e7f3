"""Whatever is sent, the answer is one that the description knows: no bug, no other status, no other form."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode, checks
from schemathesis.core.result import Ok
from tests.faults.conftest import in_memory

from memstrata import Memory
from memstrata.hosting import Hosted
from memstrata.interfaces.http import openapi
from memstrata.interfaces.http.app import Served
from memstrata.routes import NOT_SERVED, ROUTES, all_verbs

CHECKS: Final = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
REJECTED: Final = [*CHECKS, checks.negative_data_rejection]
STREAM: Final = "GET /v1/events"
"""Its answer has no end; tests of its own read it."""
OPERATIONS: Final = sorted(
    f"{method.upper()} {path}"
    for path, methods in openapi.document()["paths"].items()
    for method in methods
)


class Local:
    """An app as it is reached on this machine."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["client"], scope["server"] = ("127.0.0.1", 40_000), ("127.0.0.1", 8765)
            rest = [(name, text) for name, text in scope["headers"] if name != b"host"]
            scope["headers"] = [*rest, (b"host", b"localhost:8765")]
        await self._app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Described:
    """An app over a home with something in it, its operations, and the ids that are known there."""

    operations: dict[str, Any]
    ids: dict[str, list[str]]

    def conform(
        self, label: str, examples: int, mode: GenerationMode = GenerationMode.POSITIVE
    ) -> None:
        """Send `examples` requests of one operation, as described or such as are not."""
        operation, ids = self.operations[label], self.ids
        checked = CHECKS if mode is GenerationMode.POSITIVE else REJECTED

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
        def check(case: Any, data: st.DataObject) -> None:
            known = set(ids) if mode is GenerationMode.POSITIVE else set()
            for name in set(case.path_parameters or ()) & known:
                case.path_parameters[name] = data.draw(st.sampled_from(ids[name]))
            case.validate_response(case.call(), checks=checked)

        check()


@pytest.fixture(scope="module")
def described() -> Iterator[Described]:
    """One home for all of them: whatever a request leaves there, the next must cope with it."""
    quiet = {
        "server.requests_per_second": 0,
        "server.access_log": False,
        "embedding.model": "none",
        "timezone": "UTC",
    }
    with (
        TemporaryDirectory(prefix="memstrata-", dir=in_memory()) as folder,
        Memory.open(Path(folder) / "home", background=False, settings=quiet) as memory,
        ExitStack() as stack,
    ):
        kiln = Path(folder) / "kiln"
        kiln.mkdir()
        said = "I live in Tarnow. We use Redis for caching."
        memory.session("s", workspace=kiln).commit([{"role": "user", "id": "m1", "content": said}])
        memory.drain()
        memory.private().save("## Facts\n- 2026-02-03: Keeps bees")
        served = Served(Hosted(memory))
        stack.callback(served.close)
        schema = schemathesis.openapi.from_asgi("/openapi.json", Local(served.app))
        results = list(schema.get_all_operations())
        operations = [one.ok() for one in results if isinstance(one, Ok)]
        assert len(operations) == len(results) == len(OPERATIONS)
        found = [one.id for one in memory.list().items]
        yield Described(
            {one.label: one for one in operations},
            {"id": [*found, "mem_none"], "workspace": [memory.workspaces()[0].key, "kiln"]},
        )


@pytest.mark.promise("http.described")
@pytest.mark.parametrize("label", [one for one in OPERATIONS if one != STREAM])
def test_answers_are_as_described(described: Described, label: str) -> None:
    described.conform(label, 12)


@pytest.mark.long
@pytest.mark.promise("http.described")
@pytest.mark.parametrize("label", [one for one in OPERATIONS if one != STREAM])
def test_many_answers_are_as_described(described: Described, label: str) -> None:
    described.conform(label, 300)


def inputs(label: str) -> bool:
    """Whether an operation takes anything that could be wrong."""
    method, path = label.split()
    operation = openapi.document()["paths"][path][method.lower()]
    return bool(operation.get("parameters") or operation.get("requestBody"))


@pytest.mark.long
@pytest.mark.promise("http.described")
@pytest.mark.parametrize("label", [one for one in OPERATIONS if one != STREAM and inputs(one)])
def test_what_is_not_described_is_refused(described: Described, label: str) -> None:
    described.conform(label, 60, GenerationMode.NEGATIVE)


@pytest.mark.promise("http.described")
def test_every_verb_has_a_route_or_a_reason() -> None:
    served = [one.verb for one in ROUTES]
    assert sorted([*served, *NOT_SERVED]) == sorted(all_verbs())
    assert all(NOT_SERVED.values())


@pytest.mark.promise("http.described")
def test_the_description_names_every_status_with_its_form() -> None:
    document = openapi.document()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            statuses = set(operation["responses"])
            assert {"403", "413", "429"} <= statuses, (path, method)
            for status, answer in operation["responses"].items():
                assert answer["description"], (path, method, status)
                if int(status) >= 400:
                    assert list(answer["content"]) == ["application/problem+json"]
    edit = document["paths"]["/v1/memories/{id}"]["patch"]
    assert {"409", "412"} <= set(edit["responses"])
    assert [one["name"] for one in edit["parameters"]] == ["id", "If-Match"]
