"""What the tests let fail: pieces of work on a home, each of which says what it was told is stored.

`say` gets one line for each acknowledgement, after the call returned. Every work may be run again on
what a killed one left, as a host would that never got its answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.faults.oracle import rows_of
from tests.pipelines.consolidating import RULES, TEAS, elevate, fill, merge, proposals, shown

from memstrata import Memory
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.bootstrap import Worker
from memstrata.domain.plan import EMBED
from memstrata.domain.scope import Key, Realm
from memstrata.errors import Conflict, Invalid, NotFound
from memstrata.ports import Question
from memstrata.team_document import MemoryDocument

Say = Callable[[str], object]
Work = Callable[[Path, Say], None]

SETTINGS: dict[str, object] = {
    "timezone": "UTC",
    "scenes.enabled": False,
    "persona.enabled": False,
}
LAYERED: dict[str, object] = {"timezone": "UTC", "scenes.enabled": True, "persona.enabled": True}
"""The settings of the works that scenes and persona follow."""
TURNS = (
    ("work", "2025-01-10", "I work at Harrow Tools."),
    ("food", "2025-01-11", "I prefer mint tea."),
    ("work", "2025-02-10", "I live in Lyon. I prefer coffee."),
    ("work", "2025-03-10", "I work at Brightwater."),
)
HEADING = "## Facts"
SAVED = "- 2025-01-01: The mill stands on the hill"
GOING = ("The well", "The ford")
BY_HAND = "- 2025-01-02: The river was measured by hand"
ENTRIES = ("- 2025-01-03: The bridge closes at dusk", "- 2025-01-04: The ferry leaves at nine")
SLIP = "- 2025-01-05: A slip of the pen that is taken back"
CORRECTED = "The mill stands on the hill, and has stood there since 1820"
BREVITY = "Brevity"
LEAVING = "mint"
"""What the memory says that goes once it is told of."""
SIGNS = ("The shop sign", "blue"), ("The gate code hint", "think of the mill")


def opened(home: Path, **given: object) -> Memory:
    """The home, in UTC, with nothing going on in the background."""
    return Memory.open(home, settings={**SETTINGS, **given}, background=False)


def commit(home: Path, say: Say) -> None:
    """Four turns in two sessions."""
    with opened(home) as memory:
        for number, (session, day, text) in enumerate(TURNS, start=1):
            turn = [
                {"role": "user", "content": text, "id": f"u{number}", "said_at": day},
                {"role": "assistant", "content": f"Noted: {text}", "id": f"a{number}"},
            ]
            memory.session(session).commit(turn)
            say(f"message u{number}")
            say(f"message a{number}")


def drain(home: Path, say: Say) -> None:
    """Extract what waits."""
    with opened(home) as memory:
        memory.drain()
        say("drained")


def background(home: Path, say: Say) -> None:
    """Extract what waits as `memstrata worker` does."""
    with Worker.open(home, settings=SETTINGS) as worker:
        worker.work(0)
    say("drained")


def add(home: Path, say: Say) -> None:
    """Two memories typed by hand; the first ends an expired one of its name."""
    with opened(home) as memory:
        for name, description in SIGNS:
            with suppress(Conflict):
                say(f"memory {memory.add(name=name, description=description).id}")


def everything(home: Path, say: Say) -> None:
    """Write, extract, write, extract."""
    commit(home, say)
    drain(home, say)
    add(home, say)
    with opened(home) as memory:
        memory.session("late").commit(
            [{"role": "user", "content": "I live in Graz.", "id": "z1", "said_at": "2025-06-01"}]
        )
        say("message z1")
        memory.drain()
        say("drained")


def heal(home: Path, say: Say) -> None:
    """Open: take over what changed."""
    opened(home).close()
    say("opened")


def reindex(home: Path, say: Say) -> None:
    """Make the index anew."""
    with opened(home) as memory:
        memory.reindex()
        say("reindexed")


def team(home: Path, say: Say) -> None:
    """Two saves of a team document, of which one finds a hand edit, two of a private one, and an undo."""
    with opened(home) as memory:
        for name, document in documents(memory).items():
            for entry in ENTRIES:
                before = document.read()
                if entry not in before.memory_md:
                    document.save(f"{before.memory_md or HEADING}\n{entry}", base_rev=before.rev)
                say(f"entry {name} {entry}")
            if SLIP not in document.read().memory_md:
                document.save(f"{document.read().memory_md}\n{SLIP}")
            document.undo()
            say(f"undone {name}")


def first(home: Path, say: Say) -> None:
    """The first memories of a home."""
    drain(home, say)
    add(home, say)


def correct(home: Path, say: Say) -> None:
    """A person edits a memory, puts one aside, brings one back, and one to what it said, and deletes two."""
    with opened(home) as memory:
        held = {one.name: one for one in memory.list().items}
        mill = held["The old mill"]
        if mill.description != CORRECTED:
            memory.edit(mill.id, expected_version=mill.version, description=CORRECTED)
        say(f"edited {mill.id}")
        say(f"archived {memory.archive(held['The ferry'].id).id}")
        say(f"restored {memory.restore(held['The bridge'].id).id}")
        say(f"restored {memory.restore(held['The gate'].id, version=1).id}")
        for name in GOING:
            if name in held:
                say(f"gone {memory.delete(held[name].id).id}")


def consolidate(home: Path, say: Say) -> None:
    """Two memories become one, two rules a candidate."""
    with thinking(home) as memory:
        plan = memory.consolidate(dry_run=True)
        if plan.digest:
            memory.consolidate(apply=plan.digest)
        say("consolidated")


def decide(home: Path, say: Say) -> None:
    """A person confirms one general rule and rejects another."""
    with opened(home) as memory:
        waiting = {one.name: one for one in memory.candidates()}
        if "Answers" in waiting:
            one = waiting["Answers"]
            say(f"memory {memory.confirm(one.id, digest=one.digest).id}")
            say(f"decided {one.id}")
        if BREVITY in waiting:
            say(f"decided {memory.reject(waiting[BREVITY].id).id}")


def thinking(home: Path) -> Memory:
    """The home, with a model that proposes what is still to be done, as often as it is asked."""
    return Memory.open(
        home, settings=SETTINGS, background=False, model=ScriptedModel(_proposed, repeat=True)
    )


def _proposed(question: Question) -> str:
    ids = shown(question)
    found = [merge(*(ids[one] for one in TEAS))] if ids.keys() >= set(TEAS) else []
    return proposals(*found, elevate(*(ids[one] for one in RULES)))


def forget(home: Path, say: Say) -> None:
    """Forget a session, what was said about a place, and a memory that was typed."""
    with opened(home) as memory:
        with suppress(NotFound):  # gone already
            memory.forget(session="food")
        say("forgot food")
        with suppress(NotFound):
            memory.forget(entity="Harrow")
        say("forgot Harrow")
        with suppress(Invalid):  # no id left
            mill = [one.id for one in memory.list().items if one.name == "The old mill"]
            memory.forget(ids=mill)
        say("forgot mill")


def forget_one(home: Path, say: Say) -> None:
    """Forget all about one place."""
    with opened(home) as memory:
        memory.forget(entity="Harrow")
        say("forgot Harrow")


def forget_layers(home: Path, say: Say) -> None:
    """Forget what scenes, a persona, candidates, a plan that is kept and an archive tell of."""
    with opened(home, **LAYERED) as memory:
        for given in ({"entity": MINE}, {"session": MINE}):
            with suppress(NotFound):
                memory.forget(**given)  # type: ignore[arg-type]
        say("forgot moor")


def layers(home: Path, say: Say) -> None:
    """Everything from the turns up to scenes and persona; then one memory goes, and leaves them."""
    with opened(home, **LAYERED) as memory:
        memory.drain()
        say("drained")
        say("later")  # from here on something may wait again
        for one in memory.list(text=LEAVING).items:
            memory.delete(one.id)
        memory.drain()
        say("drained")


def dialogue(calls: int = 8) -> list[dict[str, object]]:
    """A run of one prompt: calls of a tool with results that fill a small window."""
    found: list[dict[str, object]] = [{"role": "user", "content": "Count the barrels in the mill"}]
    for n in range(calls):
        function = {"name": "count", "arguments": json.dumps({"path": f"cellar/{n}"})}
        call = {"id": f"call_{n}", "type": "function", "function": function}
        text = f"barrel {n}: " + " ".join(f"stave{n}x{k}" for k in range(60))
        found.append({"role": "assistant", "content": "", "tool_calls": [call]})
        found.append({"role": "tool", "tool_call_id": f"call_{n}", "content": text})
    return found


def offload(home: Path, say: Say) -> None:
    """A list assembled after every second call, the last time in steps of one."""
    messages = dialogue()
    with opened(home) as memory:
        session = memory.offload("mill", window=2_000)
        for at in (*range(5, len(messages), 4), len(messages)):
            session.assemble(messages[:at])
            assert not session.report.warnings, session.report.warnings
            say(f"assembled {at}")


WORKS: dict[str, Work] = {
    one.__name__: one
    for one in (
        *(commit, drain, background, add, first, everything, heal, reindex, team, correct),
        *(consolidate, decide, forget, forget_one, forget_layers, layers, offload),
    )
}


def prepare(home: Path, name: str) -> None:
    """What the home holds before the work `name`: for `first` nothing but turns that wait."""
    if name in ("first", "layers"):
        commit(home, lambda _: None)
        return
    with opened(home) as memory:
        memory.add(name="The shop sign", description="red", valid_until="2020-12-31")
        memory.add(name="The old mill", description="stands by the river")
        memory.add(name="The ferry", description="leaves at nine")
        memory.add(name="The bridge", description="closes at dusk")
    if name == "team":
        _edit_by_hand(home)
    if name == "correct":
        _before_corrections(home)
    if name in ("consolidate", "decide"):
        with opened(home) as memory:
            fill(memory)
    if name == "decide":
        consolidate(home, lambda _: None)
        text = f"---\nname: {BREVITY}\ndescription: Be brief\n---\n"
        (home / "candidates" / "user" / "cand_by_hand.md").write_text(text)
    if name == "forget":
        before_forgetting(home)
    if name == "forget_layers":
        before_forgetting_layers(home)
    if name in ("drain", "background", "heal", "reindex"):
        commit(home, lambda _: None)
    if name in ("heal", "reindex"):
        drain(home, lambda _: None)
        meddle(home)


def _before_corrections(home: Path) -> None:
    """One that is put aside, one that says something else by now, two that are to go, one of them vanished."""
    with opened(home) as memory:
        held = {one.name: one for one in memory.list().items}
        memory.archive(held["The bridge"].id)
        gate = memory.add(name="The gate", description="opens at six")
        memory.edit(gate.id, expected_version=1, description="opens at seven")
        going = [memory.add(name=name, description=f"{name} is dry in August") for name in GOING]
        Path(memory.home, going[-1].path).unlink()


FORGOTTEN = ("Harrow", "stands by the river")
"""Words of which nothing may be left once all is forgotten."""


LEFT = {
    "food": '"session": "food"',
    "Harrow": "Harrow",
    "mill": "stands by the river",
    "moor": "Quarrymoor",
}
"""What no file may hold once it was said to be forgotten."""


def before_forgetting(home: Path) -> None:
    """Two jobs of which one superseded the other, a sentence with two facts, a tea that is said twice."""
    commit(home, lambda _: None)
    with opened(home) as memory:
        both = "I moved from Harrow Street to Lyon. I prefer oolong."
        memory.session("later").commit(
            [{"role": "user", "content": both, "id": "b1", "said_at": "2025-04-01"}]
        )
        memory.drain()
        memory.session("later").commit(
            [{"role": "user", "content": "I prefer mint tea.", "id": "b2", "said_at": "2025-04-02"}]
        )
        memory.drain()
    torn = min((home / "conversations").glob("*.jsonl"))
    torn.with_name(f"{torn.name}.torn").write_text('{"id": "x", "content": "by Harrow')
    (home / "backups").mkdir()
    (home / "backups" / "memstrata.schema-1.1.db").write_text("an old copy: Harrow Tools")


MINE = "Quarrymoor"
"""A place and a session that are to be forgotten in every layer."""


def before_forgetting_layers(home: Path) -> None:
    """Scenes, a persona, a general rule that waits, one that was rejected, a plan and an archive name a place."""
    rules = [f"Answer mails from {MINE} first", f"Answer letters from {MINE} first"]

    def proposed(question: Question) -> str:
        ids = shown(question)
        return proposals(
            elevate(*(ids[one] for one in rules), description=f"Answer {MINE} first"),
            {"kind": "elevate", "ids": [], "name": MINE, "description": MINE, "body": ""},
        )

    with opened(home, **LAYERED) as memory:
        for n, text in enumerate((f"I work at {MINE} Mill.", "I prefer mint tea.")):
            turn = [{"role": "user", "content": text, "id": f"q{n}", "said_at": "2025-01-10"}]
            memory.session(("talk", MINE)[n]).commit(turn)
        for n, text in enumerate(rules):
            memory.add(name=f"rule {n}", type="feedback", description=text)
        memory.drain()
        memory.add(name="boat", description=f"Has a boat at {MINE}", entities=[MINE])
        memory.drain()
        memory.offload(MINE, window=2_000).assemble(dialogue())
    model = ScriptedModel(proposed, repeat=True)
    with Memory.open(home, settings=SETTINGS, background=False, model=model) as memory:
        assert memory.consolidate(dry_run=True).digest
        memory.consolidate()
        (one,) = memory.candidates()
        text = Path(home, one.path).read_text()
        memory.reject(one.id)
        Path(home, "candidates", "user", "cand_again.md").write_text(text)


def documents(memory: Memory) -> dict[str, MemoryDocument]:
    """The team document of a folder beside the home, and the private one."""
    place = memory.home.parent / "town"
    place.mkdir(exist_ok=True)
    return {"team": memory.team(place), "private": memory.private()}


def _edit_by_hand(home: Path) -> None:
    """A team document of which one line was saved and one was written into its file."""
    with opened(home) as memory:
        documents(memory)["team"].save(f"{HEADING}\n{SAVED}")
    (file,) = home.glob("team/*/TEAM_MEMORY.md")
    file.write_text(f"{file.read_text()}{BY_HAND}\n")


def meddle(home: Path) -> None:
    """Everything a person does to files between two runs, and what a power cut does to logs."""
    folder = home / "memory" / "user"
    mill, ferry = (_file_of(folder, word) for word in ("river", "leaves at nine"))
    mill.write_text(mill.read_text().replace("by the river", "on the hill"))
    (folder / "hand-made.md").write_text("The baker is closed on Mondays\n")
    ferry.rename(folder / "renamed.md")
    _file_of(folder, "closes at dusk").unlink()
    for log in ("records", "conversations"):
        shard = max((home / log).glob("*.jsonl"))
        lines = shard.read_bytes().splitlines(keepends=True)
        # A conversation may lose its lines' tail; records of a whole group likewise.
        keep = len(lines) - 1 if log == "conversations" else _whole_group_before(lines)
        shard.write_bytes(b"".join(lines[:keep]) + b'{"torn')


def _whole_group_before(lines: list[bytes]) -> int:
    last = json.loads(lines[-1])["tx"]
    return sum(json.loads(line)["tx"] != last for line in lines)


def _file_of(folder: Path, word: str) -> Path:
    return next(file for file in sorted(folder.glob("[!M]*.md")) if word in file.read_text())


State = frozenset[tuple[object, ...]]


def state(memory: Memory) -> State:
    """What the memories come to, without ids and our own times: equal for equal histories."""
    world = memory._world
    rows = rows_of(world, Key(Realm(world.space, "local"), "user", ""))
    described = {row.memory.id: row.memory.description for row in rows}
    now = world.clock.now()
    return frozenset(
        (
            row.presence,
            one.type,
            one.name,
            one.description,
            one.body,
            one.version,
            one.origin,
            one.status(now, world.zone),
            described.get(one.superseded_by or ""),
            one.said_at,
            (one.valid_from, one.valid_until, one.invalid_at) if one.said_at else None,
            frozenset((e.session, e.message, e.start, e.end, e.quote) for e in one.evidence),
        )
        for row in rows
        for one in (row.memory,)
    ) | frozenset(
        ("candidate", one.name, one.description, one.body, len(one.sources))
        for one in memory.candidates()
    )


_OWN = re.compile(r"(?:mem|texts)_[0-9a-z]{26}|\d{4}-\d\d-\d\dT[\d:.]+Z")


def portrait(home: Path) -> dict[str, str]:
    """Every file of scenes and persona, without ids and our own times: equal for equal histories."""
    files = [*home.glob("scenes/**/*.md"), *home.glob("persona.md")]
    return {str(one.relative_to(home)): _OWN.sub("…", one.read_text()) for one in files}


def uncited(memory: Memory) -> list[str]:
    """The paragraphs of scenes and persona that rest on no memory that is there."""
    ids = {one.id for one in memory.list(status="active").items}
    told = [(one.text, one.cites) for scene in memory.scenes() for one in scene.paragraphs]
    told += [(one.text, one.cites) for one in memory.persona().lines]
    return [text for text, cites in told if not ids.intersection(cites)]


def messages(memory: Memory) -> list[tuple[str, str, str]]:
    """Every message that is stored: session, id and text."""
    store, realm = memory._world.store, memory._realm
    return sorted(
        (session, one.message.id, one.message.content)
        for session, _, _ in store.sessions(realm)
        for one in store.messages(realm, session)
    )


def traces(home: Path, *words: str) -> list[str]:
    """Each file of the home that holds one of the words, whatever file it is."""
    wanted = [word.casefold().encode() for word in words]
    return [
        f"{file.relative_to(home)}: {word.decode()}"
        for file in sorted(home.rglob("*"))
        if file.is_file()
        for word in wanted
        if word in file.read_bytes().lower()
    ]


def missing(memory: Memory, said: list[str]) -> list[str]:
    """Those acknowledgements that do not hold in an open home."""
    stored = {id for _, id, _ in messages(memory)}
    realm = Realm(memory._world.space, "local")
    rows = {row.memory.id: row for row in rows_of(memory._world, Key(realm, "user", ""))}
    memories = {id: row.memory for id, row in rows.items() if row.presence == "live"}
    waits = {one.id for one in memory.candidates()}
    jobs = memory._world.store.jobs(realm, ("waiting", "running", "parked"))
    waiting = [one for one in jobs if one.kind != EMBED]  # whatever is written next queues one
    holds: dict[str, Callable[[str], bool]] = {
        "message": lambda id: id in stored,
        "memory": lambda id: id in memories,
        "edited": lambda id: memories[id].description == CORRECTED,
        "archived": lambda id: memories[id].archived,
        "restored": lambda id: (
            not memories[id].archived and "seven" not in memories[id].description
        ),
        "gone": lambda id: id not in rows,
        "decided": lambda id: id not in waits,
        "forgot": lambda what: not traces(memory.home, LEFT[what]),
    }
    lost = [
        line
        for line in said
        if " " in line and not holds[line.partition(" ")[0]](line.partition(" ")[2])
    ]
    if said and said[-1] == "drained" and waiting:
        lost.append(f"drained, but {len(waiting)} jobs wait")
    return lost
