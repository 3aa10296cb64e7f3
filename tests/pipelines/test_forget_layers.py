"""Erasure beyond memories: what scenes, persona, general rules, plans, archives and answers say of the forgotten."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.faults.oracle import faults
from tests.faults.works import LAYERED, MINE, before_forgetting_layers, dialogue, opened, traces
from tests.pipelines.consolidating import (
    MERGED,
    RULES,
    TEAS,
    both,
    elevate,
    fill,
    merge,
    naming,
    proposals,
    shown,
    valid,
)
from tests.pipelines.test_forget import only, say, vanished

from memstrata import Conflict, Memory, NotFound, failpoints
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.domain.scope import Realm
from memstrata.errors import OutcomeUnknown
from memstrata.pipelines import apply
from memstrata.ports import Answered, Question, ToolRead

RULED = {"extraction.model": "openai:invented"}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of which every layer names a place that is to be forgotten."""
    home = tmp_path_factory.mktemp("before") / "home"
    before_forgetting_layers(home)
    return home


@pytest.fixture
def whole(before: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(before, tmp_path / "copy"))


def absent(memory: Memory, *words: str) -> None:
    """No file holds the words, before and after a new index."""
    assert traces(memory.home, *words) == []
    assert faults(memory) == []
    memory.reindex()
    assert traces(memory.home, *words) == []
    assert faults(memory) == []


# -- everything ------------------------------------------------------------------------------------


@pytest.mark.promise("forget.layers")
@pytest.mark.promise("forget.receipt")
def test_every_layer_is_reached_and_counted(whole: Path) -> None:
    with opened(whole, **LAYERED) as memory:
        planned = memory.forget(entity=MINE, dry_run=True)
        receipt = memory.forget(entity=MINE, verify=True)
        assert planned.counts == receipt.counts
        named = ("texts", "candidates", "plans", "offload")
        assert [receipt.counts[one] for one in named] == [5, 1, 1, 0]
        assert receipt.verified is not None
        assert receipt.verified.clean
        layers = ("scenes", "persona", "backups", "candidates", "plans", "ledger", "memory")
        left = [one for one in traces(whole, MINE) if one.startswith(layers)]
        assert len(left) == 1, "the file of what was said in the session of that name"
        assert memory.forget(session=MINE, verify=True).counts["offload"] > 10
        assert traces(whole, MINE) == []
        assert not [one for one in whole.rglob("*") if MINE in one.name]
        assert memory.reconcile().actions == []
        memory.drain()
        vanished(memory, MINE)
        with pytest.raises(NotFound):
            memory.forget(session=MINE)


@pytest.mark.promise("forget.layers")
def test_a_session_that_was_only_archived_and_one_that_begins_anew(whole: Path) -> None:
    with opened(whole) as memory:
        memory.offload("barrels", window=2_000).assemble(dialogue())
        memory.offload("other", window=2_000).assemble(dialogue())
        receipt = memory.forget(session="barrels")
        assert (receipt.counts["messages"], receipt.counts["offload"] > 10) == (0, True)
        assert not (whole / "offload" / "barrels").exists()
        assert (whole / "offload" / "other" / "session.json").is_file()
        memory.offload("barrels", window=2_000).assemble(dialogue())
        memory.forget(session="other")
        memory.reconcile()
        memory.reindex()
        assert (whole / "offload" / "barrels" / "session.json").is_file()
        assert faults(memory) == []


@pytest.mark.promise("forget.receipt")
def test_another_archive_that_lists_its_task_is_named(whole: Path) -> None:
    with opened(whole) as memory:
        other = memory.offload("other", window=2_000)
        other.assemble(dialogue())
        state = "offload/other/state.json"
        assert traces(whole / "offload" / "other", MINE) != []
        receipt = memory.forget(session=MINE)
        assert ("file", state) in [(one.why, one.what) for one in receipt.not_reached]


@pytest.mark.promise("forget.layers")
@pytest.mark.promise("forget.stays")
@pytest.mark.parametrize("folder", ["scenes", "candidates", "backups"])
def test_what_is_put_back_goes_again(before: Path, whole: Path, folder: str) -> None:
    with opened(whole) as memory:
        memory.forget(entity=MINE)
        memory.forget(session=MINE)
    shutil.copytree(before / folder, whole / folder, dirs_exist_ok=True)
    with opened(whole) as memory:
        assert traces(whole, MINE) == []
        assert memory.reconcile().actions == []
        memory.reindex()
        assert traces(whole, MINE) == []
        assert faults(memory) == []


@pytest.mark.promise("forget.layers")
@pytest.mark.promise("forget.bytes")
def test_temporary_files_of_killed_processes_go_too(whole: Path) -> None:
    """Not only at the next start: the process that forgets goes on, perhaps."""
    with opened(whole) as memory:
        places = ("scenes/_global", "backups/scenes", "candidates/user", "plans", "memory/user")
        for place in (*places, f"offload/{MINE}/refs", "records"):
            name = ".x.md.999999999-0.tmp~"
            (whole / place / name).write_text(f"of {MINE}")
        memory.forget(session=MINE)
        memory.forget(entity=MINE)
        assert traces(whole, MINE) == []


@pytest.mark.promise("forget.receipt")
def test_names_that_a_person_joined_are_named(whole: Path) -> None:
    with opened(whole) as memory:
        memory.alias(MINE, of="the moor")
        receipt = memory.forget(entity=MINE)
        assert ("document", "aliases.json") in [(o.why, o.what) for o in receipt.not_reached]


@pytest.mark.promise("forget.layers")
def test_no_tool_tells_of_it(whole: Path) -> None:
    with opened(whole) as memory:
        ids = [one.id for one in memory.list(text=MINE).items]
        memory.forget(entity=MINE)
        memory.forget(session=MINE)
        tools = memory.tools(session="three")
        for name in ("search_memory", "search_conversations"):
            told = tools.call(name, {"query": "Where does the user work, and have a boat?"})
            assert (told.error, MINE in told.text) == ("", False)
        for id in ids:
            for name in ("recall_memory", "trace_memory"):
                assert tools.call(name, {"id": id}).error == "not_found"


# -- scenes and persona ----------------------------------------------------------------------------


@pytest.mark.promise("forget.layers")
@pytest.mark.promise("forget.kill")
@pytest.mark.parametrize("place", ["", "forget.committed", "forget.published"])
def test_a_paragraph_goes_with_the_words_that_a_memory_lost(
    open_memory: Open, clock: FakeClock, place: str
) -> None:
    """A memory that stays on fewer sources says less, and so do the scenes, also where it was broken off."""
    memory = open_memory(settings=LAYERED)
    memory.add(name="boat", description="Has a small boat")
    say(memory, "a", ("u1", "2025-01-10", "I work at Brightwater."))
    say(memory, "b", ("u1", "2025-01-11", "I work at Brightwater Orchards in Quillhaven."))
    clock.advance(hours=1)
    assert [one for one in traces(memory.home, "orchards") if one.startswith("scenes")]
    if place:
        with failpoints.armed({place: "eio"}), pytest.raises(OutcomeUnknown):
            memory.forget(session="b")
        clock.advance(hours=1)
        memory.reconcile()
    else:
        assert memory.forget(session="b").changed == (only(memory, "brightwater").id,)
    assert traces(memory.home, "orchards") == []
    assert memory.reconcile().actions == []
    memory.drain()
    told = {one.text for scene in memory.scenes() for one in scene.paragraphs}
    assert told == {"Has a small boat", "Works at Brightwater"}
    vanished(memory, "orchards")


@pytest.mark.promise("forget.layers")
@pytest.mark.promise("forget.in-flight")
@pytest.mark.parametrize("place", ["scene.decided", "persona.decided"])
def test_what_was_being_told_is_not_saved(
    open_memory: Open, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read before, and is forgotten before it is written."""
    memory = open_memory(settings=LAYERED)
    other = open_memory(settings=LAYERED)
    memory.add(name="boat", description="Has a small boat")
    one = memory.add(name="depot", description="Owns the depot at Quillhaven")
    hit, met = failpoints.hit, list[str]()

    def stop(name: str) -> None:
        if name == place and not met:
            met.append(name)
            other.forget(ids=[one.id])
        hit(name)

    monkeypatch.setattr(failpoints, "hit", stop)
    memory.drain()
    assert met
    assert traces(memory.home, "quillhaven") == []
    told = {p.text for scene in memory.scenes() for p in scene.paragraphs}
    assert told == {"Has a small boat"}
    assert [line.text for line in memory.persona().lines] == ["Has a small boat"]


# -- consolidation ---------------------------------------------------------------------------------


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    """Two teas that became one, two rules and a general one that waits."""
    found = open_memory(settings=RULED, model=ScriptedModel(both))
    fill(found)
    found.consolidate()
    return found


@pytest.mark.promise("forget.layers")
def test_a_merge_goes_with_a_memory_it_was_made_of_and_the_other_is_back(memory: Memory) -> None:
    going, staying = (
        next(one.id for one in memory.list(status="invalid").items if one.description == tea)
        for tea in TEAS
    )
    merged = valid(memory)[MERGED]
    receipt = memory.forget(ids=[going])
    assert set(receipt.erased) == {going, merged}
    assert valid(memory) == {TEAS[1]: staying, **{rule: valid(memory)[rule] for rule in RULES}}
    absent(memory, TEAS[0], MERGED, going, merged)
    assert memory.reconcile().actions == []


@pytest.mark.promise("forget.layers")
@pytest.mark.parametrize("decided", ["", "confirm", "reject"])
def test_a_general_rule_goes_with_one_it_was_raised_from(memory: Memory, decided: str) -> None:
    (one,) = memory.candidates()
    if decided == "confirm":
        memory.confirm(one.id, digest=one.digest)
    if decided == "reject":
        memory.reject(one.id)
    going = valid(memory)[RULES[0]]
    receipt = memory.forget(ids=[going], verify=True)
    assert receipt.counts["candidates"] == (not decided)
    assert receipt.verified is not None
    assert receipt.verified.clean
    assert RULES[1] in valid(memory)
    assert memory.candidates() == ()
    absent(memory, going, one.description, one.id)


@pytest.mark.promise("forget.layers")
def test_what_a_run_refused_is_not_quoted_any_more(open_memory: Open) -> None:
    script = [naming(partial(merge, name="Quillhaven teas"), (TEAS[0], RULES[0]))]
    memory = open_memory(settings=RULED, model=ScriptedModel(*script))
    fill(memory)
    memory.consolidate()
    assert traces(memory.home, "quillhaven")
    memory.forget(ids=[valid(memory)[TEAS[0]]])
    vanished(memory, "quillhaven")


@pytest.mark.promise("forget.layers")
@pytest.mark.promise("forget.in-flight")
@pytest.mark.parametrize("kept", [False, True])
def test_a_run_that_was_under_way_proposes_nothing(open_memory: Open, kept: bool) -> None:
    met = list[str]()

    def ask(question: Question) -> str:
        met.append(question.purpose)
        if len(met) > 1:
            return proposals()
        other.forget(ids=[valid(other)[RULES[0]]])
        ids = shown(question)
        return proposals(elevate(*(ids[one] for one in RULES)))

    memory = open_memory(settings=RULED, model=ScriptedModel(ask, repeat=True))
    other = open_memory()
    fill(memory)
    if kept:
        with pytest.raises(Conflict):
            memory.consolidate(dry_run=True)
    else:
        memory.consolidate()
        assert len(met) == 2, "asked again"
    assert traces(memory.home, RULES[0]) == []
    assert list((memory.home / "candidates").rglob("*.md")) == []
    assert list(memory.home.rglob("plans/*.json")) == []


@pytest.mark.promise("forget.layers")
def test_a_plan_whose_source_moved_since_is_not_applied(open_memory: Open) -> None:
    """A general rule is proposed of what its sources say, or not at all."""
    memory = open_memory(settings=RULED, model=ScriptedModel(naming(elevate, RULES)))
    fill(memory)
    digest = memory.consolidate(dry_run=True).digest
    memory.edit(valid(memory)[RULES[0]], expected_version=1, description="Give no answer in mails")
    with pytest.raises(Conflict, match="source of a general rule"):
        memory.consolidate(apply=digest)
    assert memory.candidates() == ()


@pytest.mark.promise("forget.layers")
def test_a_projects_rules_go_whichever_member_forgets(open_memory: Open, tmp_path: Path) -> None:
    root = tmp_path / "town"
    root.mkdir()
    where = {"workspace": root}
    script = [naming(elevate, RULES), naming(elevate, RULES)]
    memory = open_memory(settings=RULED, model=ScriptedModel(*script))
    fill(memory, scope="project", workspace=root)
    memory.drain()
    assert memory.consolidate(dry_run=True, **where).digest  # type: ignore[arg-type]
    memory.consolidate(scope="project", **where)  # type: ignore[arg-type]
    assert len(memory.candidates(**where)) == 1  # type: ignore[arg-type]
    going = valid(memory, **where)[RULES[0]]
    receipt = memory.forget(ids=[going], user="ben", verify=True, **where)  # type: ignore[arg-type]
    assert receipt.counts["candidates"] == 1
    assert receipt.verified is not None
    assert receipt.verified.found == ()
    assert memory.candidates(**where) == ()  # type: ignore[arg-type]
    assert memory.reconcile().actions == []
    absent(memory, RULES[0], going)


@pytest.mark.promise("forget.layers")
def test_a_projects_scenes_go_whichever_member_forgets(open_memory: Open, tmp_path: Path) -> None:
    root = tmp_path / "town"
    root.mkdir()
    memory = open_memory(settings=LAYERED)
    one = memory.add(
        scope="project", name="depot", description="Uses the depot at Quillhaven", workspace=root
    )
    memory.drain()
    assert [text for text in traces(memory.home, "quillhaven") if text.startswith("scenes/")]
    receipt = memory.forget(ids=[one.id], user="ben", workspace=root, verify=True)
    assert receipt.counts["texts"] == 2
    absent(memory, "quillhaven", one.id)


# -- what was read and answered --------------------------------------------------------------------


@pytest.mark.promise("forget.layers")
def test_reads_and_answers_about_it_go(open_memory: Open) -> None:
    memory = open_memory()
    one = memory.add(name="depot", description="Owns the depot at Quillhaven")
    other = memory.add(name="boat", description="Has a small boat")
    said = {"role": "user", "content": "We met at the Quillhaven lighthouse.", "id": "u1"}
    memory.session("trip").commit([said])
    world, realm = memory._world, Realm("local", "local")
    now = world.clock.now()
    for session, ids in (("a", (one.id, other.id)), ("trip", ()), ("b", (other.id,))):
        read = ToolRead(now, "cli", "", session, "", "memory_search", "ok", ids)
        apply.note_read(world, realm, read)
    bodies = {
        "by-id": json.dumps({"id": one.id}),
        "by-words": json.dumps({"text": said["content"]}),
        "other": json.dumps({"id": other.id}),
    }
    for key, body in bodies.items():
        apply.keep_answer(world, realm, key, Answered("d", 200, "", body), 24)
    receipt = memory.forget(session="trip")
    assert (receipt.counts["reads"], receipt.counts["answers"]) == (1, 1)
    receipt = memory.forget(ids=[one.id])
    assert (receipt.counts["reads"], receipt.counts["answers"]) == (1, 1)
    assert [row.ids for row in world.store.reads(realm)] == [(other.id,)]
    assert [key for key, _ in world.store.answers(realm)] == ["other"]
    vanished(memory, "quillhaven", one.id)
