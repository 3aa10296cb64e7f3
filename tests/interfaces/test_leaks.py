"""Nothing of one person, project, agent or space reaches another, by any verb, filter, count, text or event.

A random population shares one database: spaces, and in each owners with memories, conversations, agents,
projects and private documents, all of the same names. Everybody's own words are marked; whatever is asked
by anybody, in any way, no mark of another's comes back, and an id of another's answers byte for byte as
one that does not exist. A hook on the database sees that such an id reads no row.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import apsw
import pytest
from tests.doubles import FakeClock
from tests.faults.conftest import tmp_path as tmp_path
from tests.interfaces.http.conftest import Wire

from memstrata import Memory
from memstrata.adapters.sqlite import SqliteStore
from memstrata.adapters.sqlite.connection import Connection
from memstrata.adapters.vault_fs import FileVault
from memstrata.events import Event
from memstrata.hosting import Hosted
from memstrata.interfaces import wire as wires
from memstrata.interfaces.http.server import Server
from memstrata.memory import Verbs

OWNERS: Final = ("local", "ana", "ben", "ana.b")
AGENTS: Final = ("coder", "cook")
SPACES: Final = ("local", "other")
ROUNDS: Final = 250
"""Questions asked by everybody in a run of the fuzzer."""
MORE_ROUNDS: Final = 6_000


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, the mark of their words, and the ids of what is theirs."""

    space: str
    owner: str
    mark: str
    verbs: Verbs
    ids: tuple[str, ...]
    agents: dict[str, str]
    """The mark of each agent's memories."""
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Town:
    """Everybody, and what they share: a project in each space, its memories' marks."""

    people: tuple[Person, ...]
    projects: dict[str, tuple[Path, str]]
    store: SqliteStore
    heard: list[tuple[str, Event]]


def letters(number: int) -> str:
    """A word that nothing else holds, for a number."""
    return "zq" + "".join(chr(97 + int(digit)) for digit in f"{number:04d}") + "qz"


@pytest.fixture
def town(tmp_path: Path, clock: FakeClock) -> Iterator[Town]:
    """Two spaces in one database, each with its own files."""
    marks = iter(map(letters, range(1, 10_000)))
    heard: list[tuple[str, Event]] = []
    people: list[Person] = []
    projects: dict[str, tuple[Path, str]] = {}
    with ExitStack() as stack:
        settings = {
            "timezone": "UTC",
            "server.requests_per_second": 0,
            "server.access_log": False,
            "scenes.enabled": True,
            "persona.enabled": True,
        }
        first = stack.enter_context(
            Memory.open(tmp_path / "local", background=False, settings=settings, clock=clock)
        )
        store = first._world.store
        assert isinstance(store, SqliteStore)
        for space in SPACES:
            memory = stack.enter_context(
                Memory.open(tmp_path / space, background=False, settings=settings, clock=clock)
            )
            world = replace(memory._world, store=store, space=space)
            opened: Verbs = first
            if space != "local":
                (tmp_path / f"{space}-files").mkdir(mode=0o700)
                vault = FileVault(tmp_path / f"{space}-files")
                opened = _elsewhere(memory, replace(world, vault=vault))
            place = tmp_path / f"{space}-work" / "kiln"
            place.mkdir(parents=True)
            hosted = Hosted(opened)
            hosted.listen(lambda event, space=space: heard.append((space, event)))  # type: ignore[misc]
            mark = next(marks)
            opened.add(name="kiln", description=f"Project {mark}", scope="project", workspace=place)
            projects[space] = place, mark
            people += [_settled(hosted, space, owner, marks) for owner in OWNERS]
            for one in people:
                if one.space == space:
                    one.verbs.request_scenes()
            opened.drain()
        yield Town(tuple(people), projects, store, heard)


def _elsewhere(memory: Memory, world: Any) -> Verbs:
    """The verbs of `memory` over another world."""
    return Verbs(
        world,
        memory._loaded,
        replace(memory._realm, space=world.space),
        lock=memory._lock,
        socket=memory._holder._office.socket,
        role="library",
    )


def _settled(hosted: Hosted, space: str, owner: str, marks: Iterator[str]) -> Person:
    """Somebody with something of every kind; the same names as everybody else's."""
    verbs, mark = hosted.seen_by(owner), next(marks)
    ids = [verbs.add(name="home", description=f"Lives in {mark}", entities=[mark]).id]
    ids.append(verbs.edit(ids[0], expected_version=1, body=f"By the river {mark}").id)
    gone = verbs.add(name="gone", description=f"Gone {mark}").id
    verbs.archive(gone)
    agents = {agent: next(marks) for agent in AGENTS}
    for agent, own in agents.items():
        made = verbs.add(name="way", description=f"Way {own}", scope="agent", agent=agent)
        ids.append(made.id)
    verbs.tools(session="chat").recall_memory(ids[0])
    verbs.alias(f"hut {mark}", of=mark)
    verbs.edit_persona(f"## Base facts\n- Keeps {mark}\n")
    task = verbs.offload("task")
    task.record(f"call-{mark.upper()}", "look", {"at": mark}, f"It is {mark}")
    chat = verbs.session("chat")
    said = [{"role": "user", "id": f"m-{mark}", "content": f"I live in {mark}. My key: {mark}"}]
    chat.commit(said)
    verbs.private().save(f"## Facts\n- 2026-02-03: Keeps {mark}")
    return Person(space, owner, mark, verbs, (*dict.fromkeys(ids), gone), agents, (f"m-{mark}",))


# -- the questions ----------------------------------------------------------------------------------


def foreign(town: Town, me: Person, agent: str | None, project: bool) -> set[str]:
    """The marks that `me` may never see, seeing through that agent's eyes."""
    own = {me.mark}
    if agent is not None:
        own.add(me.agents[agent])
    if project:
        own.add(town.projects[me.space][1])
    every = {one.mark for one in town.people} | {mark for _, mark in town.projects.values()}
    every |= {mark for one in town.people for mark in one.agents.values()}
    return every - own


def question(
    chance: random.Random, town: Town, me: Person
) -> tuple[Callable[[], object], str, set[str], str]:
    """Something that `me` asks: the call, its name, the marks it may not bring, an id it is about."""
    agent = chance.choice([None, *AGENTS])
    project = chance.random() < 0.4
    view: dict[str, Any] = {"agent": agent}
    view["workspace"] = town.projects[me.space][0] if project else None
    other = chance.choice([one for one in town.people if one is not me])
    id = chance.choice([*other.ids, *other.messages])
    word = chance.choice([other.mark, other.agents["coder"], "lives in home way key river"])
    verbs = me.verbs
    limit = chance.choice([1, 3, 100])
    chat = verbs.session("chat", **view)
    calls: dict[str, Callable[[], object]] = {
        "search": lambda: verbs.search(
            word, include_invalid=chance.random() < 0.5, limit=limit, **view
        ),
        "search_conversations": lambda: verbs.search_conversations(word, limit=limit, **view),
        "talk of a session": lambda: verbs.search_conversations(word, session="chat", **view),
        "list": lambda: verbs.list(
            text=chance.choice(["", word]),
            status=chance.choice([None, "active", "archived"]),
            limit=limit,
            cursor=chance.choice([None, other.ids[0]]),
            **view,
        ),
        "recall": lambda: chat.recall(word),
        "why": lambda: verbs.why(session=chance.choice([None, "chat"])),
        "sessions": verbs.sessions,
        "messages": lambda: verbs.messages("chat", workspace=view["workspace"]),
        "status": verbs.status,
        "private": lambda: verbs.private().read(),
        "private history": lambda: verbs.private().history(),
        "candidates": lambda: verbs.candidates(**view),
        "reads": lambda: verbs.reads(session=chance.choice([None, "chat"]), limit=limit),
        "entities": lambda: verbs.entities(**view),
        "scenes": lambda: verbs.scenes(workspace=view["workspace"]),
        "scene": lambda: verbs.scene("about-the-person", workspace=view["workspace"]),
        "scene versions": lambda: verbs.scene_versions(workspace=view["workspace"]),
        "persona": verbs.persona,
        "persona file": verbs.persona_file,
        "persona versions": verbs.persona_versions,
        "estimate": verbs.estimate,
        "tasks": lambda: verbs.tasks(session=chance.choice([None, "task"])),
        "result": lambda: verbs.recall_result(f"call-{me.mark.upper()}"),
        "another's result": lambda: verbs.recall_result(
            f"call-{other.mark.upper()}", session=chance.choice([None, "task"])
        ),
        "their result by a tool": lambda: verbs.offload("task").call(
            "recall_result", {"ref": f"call-{other.mark.upper()}"}
        ),
        "what would be forgotten": lambda: verbs.forget(
            entity=other.mark.upper(), dry_run=True, **view
        ),
        "what would go with a session": lambda: verbs.forget(session="chat", dry_run=True, **view),
        "tool": lambda: verbs.tools(session="chat", **view).call(
            chance.choice(["recall_memory", "trace_memory"]), {"id": id}
        ),
        "persona by a resource": lambda: verbs.tools(session="chat", **view).persona(),
        "forget": lambda: verbs.forget(ids=[id], **view),
        "resolve": lambda: verbs.resolve(id, take="ours", **view),
        "confirm": lambda: verbs.confirm(id, digest="x", **view),
        "reject": lambda: verbs.reject(id, **view),
        "get": lambda: verbs.get(id, **view),
        "history": lambda: verbs.history(id, **view),
        "diff": lambda: verbs.diff(id, 1, **view),
        "trace": lambda: verbs.trace(id, session=chance.choice([None, "chat"]), **view),
        "edit": lambda: verbs.edit(id, expected_version=1, body="mine", **view),
        "archive": lambda: verbs.archive(id, **view),
        "restore": lambda: verbs.restore(id, **view),
        "delete": lambda: verbs.delete(id, **view),
    }
    name = chance.choice(list(calls))
    return calls[name], name, foreign(town, me, agent, project), id


BY_ID: Final = (
    *("get", "history", "diff", "trace", "edit", "archive", "restore", "delete"),
    *("forget", "resolve", "confirm", "reject"),
)


def told(call: Callable[[], object]) -> str:
    """What a call brings, as it goes over the wire: its result or its error."""
    from memstrata import MemstrataError

    try:
        return json.dumps(wires.encode(call()), ensure_ascii=False)
    except MemstrataError as error:
        return json.dumps(wires.error(error), ensure_ascii=False)


def ask(town: Town, seed: int, rounds: int) -> None:
    """Let everybody ask at random; nothing of anybody else's comes back."""
    chance = random.Random(seed)
    for _ in range(rounds):
        me = chance.choice(town.people)
        call, name, marks, id = question(chance, town, me)
        said = told(call)
        found = [mark for mark in marks if mark in said.replace(id, "")]
        assert not found, (name, me.space, me.owner, found, said)
        if name in BY_ID:
            assert '"code": "not_found"' in said, (name, me.owner, said)


@pytest.mark.promise("http.leaks")
def test_nothing_of_anothers_comes_back(town: Town) -> None:
    for one in town.people:
        own = (one.verbs.scenes, one.verbs.persona, one.verbs.entities)
        assert all(one.mark in told(call) for call in own), "there is something that could leak"
    ask(town, 20_260_314, ROUNDS)
    counted = [
        (one.verbs.status().memories["active"], one.verbs.status().messages) for one in town.people
    ]
    assert set(counted) == {(4, 1)}, (
        "nobody changed or counts another's; the project is everybody's"
    )


@pytest.mark.long
@pytest.mark.promise("http.leaks")
@pytest.mark.parametrize("seed", range(5))
def test_nothing_of_anothers_comes_back_however_long(town: Town, seed: int) -> None:
    ask(town, seed, MORE_ROUNDS)


@pytest.mark.promise("http.leaks")
def test_events_name_whose_they_are(town: Town) -> None:
    """What a stream is filtered by is right: an event with an owner is about nothing of another's."""
    by_id = {id: one for one in town.people for id in one.ids}
    for space, event in town.heard:
        if event.name in ("memory.written", "memory.deleted") and event.fields["owner"]:
            person = by_id[str(event.fields["id"])]
            assert (person.space, person.owner) == (space, event.fields["owner"])
    assert {event.name for _, event in town.heard} >= {"memory.written", "turn.committed"}
    assert not [one for one in town.heard if any(p.mark in str(one[1].fields) for p in town.people)]


# -- over the wire ------------------------------------------------------------------------------------


@pytest.mark.promise("http.leaks")
def test_a_foreign_id_answers_byte_for_byte_as_none(town: Town) -> None:
    here = [one for one in town.people if one.space == "local"]
    with Server(here[0].verbs, port=0) as server, ExitStack() as stack:
        wires_: dict[str, Wire] = {}
        for one in here:
            made = here[0].verbs.create_token(role="writer", user=one.owner)
            wires_[one.owner] = Wire(server.url, made.secret)
            stack.callback(wires_[one.owner].close)
        for me in here:
            for other in town.people:
                if other is not me:
                    for id in (*other.ids, *other.messages, f"call-{other.mark.upper()}"):
                        _same(wires_[me.owner], id)
        admin = here[0].verbs.create_token(role="admin", user="ops")
        assert Wire(server.url, admin.secret)("GET", "/v1/memories?user=ana").status == 200


def _same(wire: Wire, id: str) -> None:
    """Every request about `id` answers as the same request about an id that nobody has."""
    nobodys = "".join("x" if letter.isalnum() else letter for letter in id)
    requests: Sequence[tuple[str, str, object]] = (
        ("GET", "/v1/memories/{id}", None),
        ("GET", "/v1/memories/{id}/history", None),
        ("GET", "/v1/memories/{id}/diff?old=1", None),
        ("PATCH", "/v1/memories/{id}", {"expected_version": 1, "body": "x"}),
        ("POST", "/v1/memories/{id}/archive", None),
        ("POST", "/v1/memories/{id}/restore", None),
        ("DELETE", "/v1/memories/{id}", None),
        ("GET", "/v1/trace?id={id}", None),
        ("GET", "/v1/trace?id={id}&session=chat", None),
        ("POST", "/v1/memories/{id}/resolve", {"take": "ours"}),
        ("POST", "/v1/candidates/{id}/confirm", {"digest": "x"}),
        ("POST", "/v1/candidates/{id}/reject", None),
        ("GET", "/v1/scene?name={id}", None),
        ("GET", "/v1/results?ref={id}", None),
        ("GET", "/v1/offload/recall?session=task&ref={id}", None),
        ("GET", "/v1/offload/text?session=task&ref={id}", None),
    )
    for method, path, document in requests:
        foreign = wire(method, path.format(id=id), document)
        missing = wire(method, path.format(id=nobodys), document)
        assert foreign.status == missing.status == 404
        told = [
            (one.data.replace(name.encode(), b""), _without_date(one.headers))
            for one, name in ((foreign, id), (missing, nobodys))
        ]
        assert told[0] == told[1], path


def _without_date(headers: Any) -> dict[str, str]:
    return {name: text for name, text in headers.items() if name != "date"}


# -- what the database reads ----------------------------------------------------------------------------


@contextmanager
def rows_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, ...]]]:
    """Every row that a statement gives on a connection that is opened within."""
    seen: list[tuple[Any, ...]] = []
    configure = Connection._configure

    def noted(_: apsw.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        seen.append(row)
        return row

    def traced(self: Connection, writes: bool) -> None:
        configure(self, writes)
        self._db.row_trace = noted

    with monkeypatch.context() as patched:
        patched.setattr(Connection, "_configure", traced)
        yield seen


@pytest.mark.promise("http.leaks")
def test_a_foreign_id_reads_no_row(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is another's is not even read and then dropped: no row of a verb about their id holds a word of it."""
    with rows_read(monkeypatch) as seen:
        home = tmp_path / "home"
        with Memory.open(
            home, background=False, settings={"timezone": "UTC"}, clock=clock
        ) as memory:
            hosted = Hosted(memory)
            marks = iter(map(letters, range(1, 100)))
            ana, ben = (_settled(hosted, "local", owner, marks) for owner in ("ana", "ben"))
            seen.clear()
            told(lambda: ana.verbs.get(ana.ids[0]))
            assert any(ana.mark in str(row) for row in seen), "the hook sees what is read"
            for id in (*ben.ids, *ben.messages):
                for call in _about(ana.verbs, id):
                    seen.clear()
                    assert "not_found" in told(call)
                    held = [row for row in seen if ben.mark in str(row) or id in str(row)]
                    assert held == [], id


def _about(verbs: Verbs, id: str) -> tuple[Callable[[], object], ...]:
    return (
        lambda: verbs.get(id),
        lambda: verbs.history(id),
        lambda: verbs.diff(id, 1),
        lambda: verbs.trace(id),
        lambda: verbs.trace(id, session="chat"),
        lambda: verbs.edit(id, expected_version=1, body="x"),
        lambda: verbs.archive(id),
        lambda: verbs.restore(id),
        lambda: verbs.delete(id),
        lambda: verbs.forget(ids=[id], dry_run=True),
        lambda: verbs.resolve(id, take="ours"),
        lambda: verbs.confirm(id, digest="x"),
        lambda: verbs.reject(id),
        lambda: verbs.scene(id),
        lambda: verbs.recall_result(id),
    )
