"""What a server answers is what an embedded memory answers: the same values of the same types, the same errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.interfaces.http.conftest import Serve, Wire, as_token
from tests.served import Remote

from memstrata import Conflict, Denied, Invalid, Memory, NotFound
from memstrata.pipelines.offload import Recalled
from memstrata.routes import ROUTES

pytestmark = pytest.mark.usefixtures("_layers")


@pytest.fixture
def rich(serve: Serve, tmp_path: Path) -> Remote:
    """A served home with something of every kind."""
    remote = serve()
    (tmp_path / "kiln").mkdir()
    local = remote.engine
    chat = local.session("s", workspace=tmp_path / "kiln")
    chat.commit([{"role": "user", "content": "I live in Tarnow. We use Redis for caching."}])
    local.add(name="lamp", description="The lamp is green", entities=["Lamp", "Redis"])
    local.request_scenes()
    local.drain()
    local.tools(session="s").search_memory("lamp")
    local.offload("bake").record("c1", "look", "{}", "warm\nand brown")
    return remote


@pytest.mark.promise("http.client")
def test_what_only_reads_is_the_same(rich: Remote, tmp_path: Path) -> None:
    kiln = tmp_path / "kiln"
    calls: dict[str, Callable[[Any], object]] = {
        "candidates": lambda one: one.candidates(scope="user"),
        "reads": lambda one: one.reads(session="s"),
        "entities": lambda one: one.entities(workspace=kiln),
        "scenes": lambda one: one.scenes(),
        "scene": lambda one: one.scene("about-the-person"),
        "scene id": lambda one: one.scene(one.scenes()[0].id),
        "scene versions": lambda one: one.scene_versions(),
        "persona": lambda one: one.persona(),
        "persona file": lambda one: one.persona_file(),
        "persona versions": lambda one: one.persona_versions(),
        "estimate": lambda one: one.estimate(),
        "tasks": lambda one: one.tasks(session="bake"),
        "of a session": lambda one: one.offload("bake").tasks(scope="workspace"),
        "text": lambda one: one.offload("bake").text("c1"),
        "call": lambda one: one.offload("bake").call("recall_result", {"ref": "c1"}),
        "tools": lambda one: one.offload("bake").tools("anthropic"),
        "unreviewed": lambda one: one.unreviewed(kiln),
        "bound": lambda one: one.bind_workspace(kiln),
        "forget": lambda one: one.forget(session="s", dry_run=True),
        "trace": lambda one: one.trace("persona/1"),
    }
    for name, call in calls.items():
        over, here = call(rich), call(rich.engine)
        assert over == here, name
        assert type(over) is type(here), name
    assert rich.entities(), "and it is not nothing"
    assert rich.persona().lines
    part = rich.recall_result("c1", start=2)
    assert isinstance(part, Recalled)
    assert part == rich.engine.recall_result("c1", start=2)
    assert (part.start, part.shown, part.lines, part.masked) == (2, 1, 2, 0)


@pytest.mark.promise("http.client")
def test_names_persona_and_scenes_are_changed(rich: Remote) -> None:
    assert rich.alias("Lantern", of="Lamp").of == "lamp"
    assert rich.unalias("Lantern").alias == "lantern"
    with pytest.raises(NotFound):
        rich.unalias("Lantern")
    edited = rich.edit_persona(rich.persona_file() + "\n## Base facts\n- Keeps bees\n")
    assert edited == rich.engine.persona()
    for locked in (True, False):
        assert rich.lock_persona(1, locked=locked).lines[0].locked is locked
    rich.request_persona()
    rich.drain()
    assert rich.restore_persona() == rich.engine.persona_versions()[0]
    rich.request_scenes()
    (version, *_) = rich.scene_versions()
    assert rich.restore_scenes(version=version.id).files == version.files
    with pytest.raises(NotFound):
        rich.scene("no/such")
    with pytest.raises(Invalid):
        rich.lock_persona(0)


@pytest.mark.promise("http.client")
def test_candidates_are_decided_on(serve: Serve) -> None:
    remote = serve()
    folder = remote.home / "candidates" / "user"
    folder.mkdir(parents=True)
    for name in ("cand_one", "cand_two"):
        (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: Be brief\n---\n")
    remote.reconcile()
    one, two = remote.candidates()
    assert (one, two) == remote.engine.candidates()
    with pytest.raises(Conflict):
        remote.confirm(one.id, digest="stale")
    rule = remote.confirm(one.id, digest=one.digest, body="Always.")
    assert (rule.body, rule) == ("Always.", remote.engine.get(rule.id))
    assert remote.reject(two.id).status == "rejected"
    for call in (lambda: remote.reject(two.id), lambda: remote.confirm("cand_no", digest="x")):
        with pytest.raises((NotFound, Conflict)):
            call()
    planned = remote.consolidate(dry_run=True)
    assert planned.status in ("planned", "nothing to do")
    with pytest.raises(NotFound):
        remote.consolidate(apply="none")


@pytest.mark.promise("http.client")
def test_a_task_is_kept_over_http(rich: Remote, open_memory: Open, tmp_path: Path) -> None:
    """The same list is folded alike by an object that stays and by a server that keeps none."""
    long = "\n".join(f"{n}: nothing of note" for n in range(4_000))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read them all"}]
    for number in range(6):
        call = {"id": f"r{number}", "type": "function"}
        call["function"] = {"name": "read", "arguments": "{}"}  # type: ignore[assignment]
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"r{number}", "content": long})
    other = open_memory(home=tmp_path / "other")
    over, here = rich.offload("read", window=16_000), other.offload("read", window=16_000)
    for _ in range(2):
        assert over.assemble(messages) == here.assemble(messages)
        assert over.report == here.report
    assert over.report.replaced + over.report.cut > 0
    assert over.recall("r0", lines=3) == here.recall("r0", lines=3)
    assert over.text("r5") == long
    assert over.record("x", "look", {}, "cold").call == "x"
    with pytest.raises(NotFound):
        over.open("none")
    for wrong in ({"window": 3}, {"cache": "warm"}):
        with pytest.raises(Invalid):
            rich.offload("read", **wrong)
    with pytest.raises(Invalid):
        over.recall("r0", grep=3)  # type: ignore[arg-type]
    over.record("half", "look", {}, "a half: \ud800")
    assert over.text("half") == over.recall("half") == "a half: \ud800"


@pytest.mark.promise("http.client")
def test_files_that_came_along_are_trusted(rich: Remote, tmp_path: Path) -> None:
    other = tmp_path / "loom"
    other.mkdir()
    made = Memory.open(tmp_path / "elsewhere", background=False)
    made.add(name="oven", description="The oven leaks", scope="project", workspace=other)
    made.close()
    rich.bind_workspace(other)
    shown = rich.unreviewed(other)
    assert [one.name for one in shown.memories] == ["oven"]
    with pytest.raises(Conflict):
        rich.trust(other, "stale")
    assert [one.id for one in rich.trust(other, shown.digest).memories] == [shown.memories[0].id]
    assert rich.unreviewed(other).memories == ()
    assert rich.unbind_workspace(other).root == str(other)
    with pytest.raises(NotFound):
        rich.unbind_workspace(other)


@pytest.mark.promise("http.client")
def test_forgetting_and_mending(rich: Remote) -> None:
    lamp = next(one for one in rich.list().items if one.name == "lamp")
    path = next(rich.home.rglob(f"{lamp.id}.md"))
    ours, theirs = (f"description: The lamp is {colour}" for colour in ("green", "red"))
    sides = f"<<<<<<< ours\n{ours}\n=======\n{theirs}\n>>>>>>> theirs"
    path.write_text(path.read_text().replace(ours, sides))
    rich.reconcile()
    assert rich.resolve(lamp.id, take="theirs").description == "The lamp is red"
    receipt = rich.forget(ids=[lamp.id], verify=True)
    assert receipt.erased == (lamp.id,)
    assert receipt.verified is not None
    with pytest.raises(NotFound):
        rich.get(lamp.id)


@pytest.mark.promise("http.roles")
def test_who_may_what(rich: Remote) -> None:
    wires = {role: Wire(rich.server.url, as_token(rich, role)) for role in ("reader", "writer")}
    for route in ROUTES:
        path = route.path.replace("{id}", "x").replace("{workspace}", "kiln")
        for role, wire in wires.items():
            document: object = {} if route.has_body else None
            if route.role not in ("reader", role):
                found = wire(route.method, path, document)
                assert (found.status, found.code) == (403, "denied"), (route.verb, role)
    for wire in wires.values():
        wire.close()
    token = as_token(rich, "writer")
    mine = Memory.connect(rich.server.url, token=token)
    with mine, pytest.raises(Denied, match="over MCP, at /mcp"):
        mine.tools()
