"""Scenes and persona without a model: from the words to both, back to the words, and what a person does to them."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.faults.works import traces

from memstrata import Conflict, Invalid, Memory, NotFound, Refused
from memstrata.domain import chronicle
from memstrata.domain.layout import GLOBAL, PERSONA
from memstrata.domain.plan import PERSONA as PORTRAY
from memstrata.domain.plan import PRUNE, SCENES, Plan, PutTexts
from memstrata.domain.scope import Realm
from memstrata.errors import MemstrataError
from memstrata.jobs.worker import Shift, work_off
from memstrata.pipelines import apply, pages, reconcile

pytestmark = pytest.mark.usefixtures("_layers")
SECRET = "sk-proj-" + "Zk3" * 16


def say(memory: Memory, *texts: str, session: str = "chat", **where: object) -> None:
    """The user says these; what waits is done."""
    chat = memory.session(session, **where)  # type: ignore[arg-type]
    for text in texts:
        chat.commit([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}])
    memory.drain()


def told(memory: Memory, **where: object) -> dict[str, set[str]]:
    """What each scene says, by its name."""
    found = memory.scenes(**where)  # type: ignore[arg-type]
    return {one.name: {piece.text for piece in one.paragraphs} for one in found}


def lines(memory: Memory) -> list[str]:
    return [one.text for one in memory.persona().lines]


def jobs(memory: Memory) -> list[tuple[str, str]]:
    return [(job.kind, job.key) for job in memory._world.store.jobs(None)]


# -- from the words, and back -----------------------------------------------------------------------


@pytest.mark.promise("scene.without-model")
@pytest.mark.promise("persona.citations")
def test_scenes_and_persona_follow_an_extraction(memory: Memory) -> None:
    say(memory, "I work at Brightwater.", "I prefer mint tea.", "Please always answer in French.")
    assert told(memory) == {
        "about-the-person": {"Works at Brightwater", "Prefers mint tea"},
        "how-to-work": {"Always answer in French"},
    }
    ids = {one.id for one in memory.list().items}
    for scene in memory.scenes():
        assert all(piece.cites and set(piece.cites) <= ids for piece in scene.paragraphs)
    persona = memory.persona()
    assert {one.text for one in persona.lines} == {
        "Works at Brightwater", "Prefers mint tea", "Always answer in French"
    }  # fmt: skip
    assert all(one.cites and set(one.cites) <= ids for one in persona.lines)
    assert "<!--" not in persona.text


@pytest.mark.promise("trace.layers")
def test_a_line_of_the_persona_leads_to_scenes_memories_and_words(memory: Memory) -> None:
    say(memory, "I work at Brightwater.")
    (line,) = memory.persona().lines
    found = memory.trace(line.id)
    (record,) = found.memories
    assert found.line == line
    assert [one.name for one in found.scenes] == ["about-the-person"]
    assert [one.evidence.quote for one in found.sources] == ["I work at Brightwater"]
    (source,) = found.sources
    assert source.message is not None
    assert source.message.content == "I work at Brightwater."

    down = memory.trace("_global/about-the-person")
    assert (down.scene, down.memories) == (found.scenes[0], found.memories)
    assert down.lines == (line,)

    up = memory.trace(source.message.id)
    assert (up.derived, up.scenes, up.lines) == (found.memories, found.scenes, (line,))
    beside = memory.trace(record.id)
    assert (beside.scenes, beside.lines) == (found.scenes, (line,))


@pytest.mark.promise("trace.layers")
def test_a_trace_shows_nothing_that_the_reader_may_not_see(memory: Memory) -> None:
    say(memory, "I work at Brightwater.")
    for id in ("_global/about-the-person", "persona/1"):
        memory.trace(id)
        for user, wanted in (("ben", id), (None, f"{id}x"), (None, "_global/../x")):
            with pytest.raises(NotFound):
                memory.trace(wanted, user=user)


# -- whose ------------------------------------------------------------------------------------------


@pytest.mark.promise("scene.view")
def test_each_owner_and_workspace_has_its_own(memory: Memory, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    say(memory, "We use PostgreSQL.", "I prefer mint tea.", session="a", workspace=here)
    say(memory, "We use MySQL.", session="b", workspace=there)
    say(memory, "I prefer black coffee.", session="c", user="ben")
    assert set().union(*told(memory).values()) == {"Prefers mint tea"}
    assert set().union(*told(memory, workspace=here).values()) == {
        "Prefers mint tea", "Uses PostgreSQL"
    }  # fmt: skip
    assert set().union(*told(memory, user="ben").values()) == {"Prefers black coffee"}
    assert lines(memory) == ["Prefers mint tea"], "a project's matters are no part of the person"

    shown = memory.session("x", workspace=there).recall("hello").stable
    navigation = shown.partition("<scene-navigation>")[2]
    assert "MySQL" in navigation
    assert "PostgreSQL" not in shown
    assert "coffee" not in shown


def test_an_agents_own_memories_are_in_no_scene(memory: Memory) -> None:
    memory.add(scope="agent", name="habit", description="Reviews twice", agent="coder")
    memory.drain()
    assert memory.scenes() == ()
    assert memory.persona().lines == ()


# -- when -------------------------------------------------------------------------------------------


@pytest.mark.promise("scene.cadence")
def test_scenes_come_ten_seconds_after_an_extraction_and_rarely(
    open_memory: Open, clock: FakeClock
) -> None:
    with open_memory() as memory:
        chat = memory.session("chat")

        def extracted(text: str) -> timedelta:
            """Extract a turn; how long from then until the scenes are due."""
            chat.commit([{"role": "user", "content": text}, {"role": "assistant", "content": "ok"}])
            _work(memory, ("extract",))
            (job,) = [one for one in memory._world.store.jobs(None) if one.kind == SCENES]
            return job.due - clock.now()

        assert extracted("I prefer mint tea.") == timedelta(seconds=10)
        _work(memory, (SCENES,), every=False)
        assert told(memory) == {}
        clock.advance(seconds=10)
        _work(memory, (SCENES,), every=False)
        assert told(memory) == {"about-the-person": {"Prefers mint tea"}}

        clock.advance(seconds=60)
        extracted("I live in Lyon.")
        clock.advance(seconds=10)
        _work(memory, (SCENES,), every=False)
        (job,) = [one for one in memory._world.store.jobs(None) if one.kind == SCENES]
        assert job.due - clock.now() == timedelta(seconds=900 - 70), "at least 900 s between runs"
        clock.advance(seconds=830)
        _work(memory, (SCENES,), every=False)
        assert told(memory) == {"about-the-person": {"Prefers mint tea", "Lives in Lyon"}}

        memory.add(name="boat", description="Has a small boat")
        (job,) = [one for one in memory._world.store.jobs(None) if one.kind == SCENES]
        assert job.due - clock.now() == timedelta(seconds=3_600)


def _work(memory: Memory, kinds: tuple[str, ...], *, every: bool = True) -> None:
    work_off(memory._world, Shift("test", lambda: 0.5, every, kinds=kinds))


@pytest.mark.promise("persona.cadence")
def test_a_persona_comes_with_the_first_scene_then_after_fifty_memories_or_on_request(
    open_memory: Open,
) -> None:
    memory = open_memory(settings={"persona.every_memories": 3})
    say(memory, "I prefer mint tea.")
    assert lines(memory) == ["Prefers mint tea"]
    for number, text in enumerate(("a small boat", "a red bicycle"), start=1):
        memory.add(name=f"thing {number}", description=f"Has {text}")
        memory.drain()
    assert lines(memory) == ["Prefers mint tea"], "two memories since the last"
    memory.request_persona()
    memory.drain()
    assert len(lines(memory)) == 3
    for number in range(3):
        memory.add(name=f"town {number}", description=f"Has been in town number {number}")
    memory.drain()
    assert len(lines(memory)) == 6
    (memory.home / PERSONA).unlink()
    memory.add(name="cat", description="Has a cat")
    memory.drain()
    assert len(lines(memory)) == 7, "missing, but there are scenes"
    assert [one.why for one in memory.persona_versions()][::-1][-1] == "persona missing"


def test_a_process_that_ends_leaves_them_to_their_time(open_memory: Open) -> None:
    with open_memory(background=True) as memory:
        memory.session("chat").commit(
            [
                {"role": "user", "content": "I prefer mint tea."},
                {"role": "assistant", "content": "ok"},
            ]
        )
    with open_memory() as memory:
        assert [one.description for one in memory.list().items] == ["Prefers mint tea"]
        assert jobs(memory) == [(SCENES, GLOBAL)]
        (job,) = memory._world.store.jobs(None)
        assert not job.at_once


@pytest.mark.promise("memory.off")
def test_switched_off_nothing_is_made_or_shown(open_memory: Open) -> None:
    chosen = {"scenes.enabled": False, "persona.enabled": False}
    with open_memory() as memory:
        say(memory, "I prefer mint tea.")
        assert "<user-persona>" not in memory.session("x").recall("tea").stable, "said already"
        assert "<scene-navigation>" in memory.session("x").recall("tea").stable
    with open_memory(settings=chosen) as memory:
        assert "<scene-navigation>" not in memory.session("x").recall("tea").stable
        say(memory, "I live in Lyon.")
        assert told(memory) == {"about-the-person": {"Prefers mint tea"}}
        for request in (memory.request_scenes, memory.request_persona):
            with pytest.raises(MemstrataError, match="switched off"):
                request()
    with open_memory(settings={"memory.enabled": False}) as memory:
        for verb in (memory.scenes, memory.persona):
            with pytest.raises(MemstrataError, match="switched off"):
                verb()


# -- what goes --------------------------------------------------------------------------------------


@pytest.mark.promise("scene.gone")
def test_what_is_deleted_archived_or_ended_leaves_at_once(memory: Memory) -> None:
    say(memory, "I prefer mint tea.", "I live in Lyon.", "I work at Brightwater.")
    held = {one.description: one.id for one in memory.list().items}
    memory.delete(held["Prefers mint tea"])
    assert (PRUNE, "") in jobs(memory)
    _work(memory, (PRUNE,), every=False)
    assert told(memory) == {"about-the-person": {"Lives in Lyon", "Works at Brightwater"}}
    assert "mint" not in memory.persona().text
    assert "mint" not in memory.scenes()[0].summary
    memory.archive(held["Lives in Lyon"])
    memory.drain()
    assert told(memory) == {"about-the-person": {"Works at Brightwater"}}
    say(memory, "I no longer work at Brightwater.")
    assert told(memory) == {}
    assert lines(memory) == []
    memory.restore(held["Lives in Lyon"])
    memory.drain()
    assert told(memory) == {"about-the-person": {"Lives in Lyon"}}


@pytest.mark.promise("scene.gone")
def test_what_rests_on_more_is_told_again_without_what_is_gone(memory: Memory) -> None:
    say(memory, "I prefer mint tea.", "I live in Lyon.")
    first, second = memory.list().items
    file = memory.home / "scenes/_global/about-the-person.md"
    text = file.read_text().replace(f"<!-- {first.id} -->", f"<!-- {first.id}, {second.id} -->", 1)
    file.write_text(text)
    memory.add(name="boat", description="Has a boat")
    memory.drain()
    assert all(one.locked for one in memory.scenes()[0].paragraphs if len(one.cites) == 2)
    memory.delete(first.id)
    memory.delete(second.id)
    memory.drain()
    assert told(memory) == {"about-the-person": {"Has a boat"}}


@pytest.mark.promise("scene.erase")
def test_erasure_reaches_every_version(memory: Memory) -> None:
    say(memory, "I prefer mint tea.", "I live in Lyon.")
    gone = next(one.id for one in memory.list().items if "mint" in one.description)
    memory.add(name="boat", description="Has a boat")
    memory.drain()
    named = {one.partition(": ")[0] for one in traces(memory.home, gone)}
    assert {"backups/scenes/_global.jsonl", "backups/persona.jsonl", "persona.md"} <= named
    receipt = memory.forget(ids=[gone], verify=True)
    assert receipt.counts["texts"] == 4
    assert traces(memory.home, gone, "mint") == []
    memory.drain()
    assert traces(memory.home, gone, "mint") == []
    assert told(memory) == {"about-the-person": {"Lives in Lyon", "Has a boat"}}


# -- by hand ----------------------------------------------------------------------------------------


@pytest.mark.promise("scene.hand-edit")
def test_hand_edits_are_taken_over_as_they_are(memory: Memory) -> None:
    say(memory, "I prefer mint tea.", "I live in Lyon.")
    file = memory.home / "scenes/_global/about-the-person.md"
    file.write_text(
        file.read_text().replace("Prefers mint tea", "Drinks mint tea, from the garden")
    )
    (memory.home / "scenes/_global/boats.md").write_text("All about my boats.\n")
    expected = {
        "about-the-person": {"Drinks mint tea, from the garden", "Lives in Lyon"},
        "boats": {"All about my boats."},
    }
    assert told(memory) == expected
    assert reconcile.reconcile(memory._world).actions == []
    say(memory, "I work at Brightwater.")
    expected["about-the-person"].add("Works at Brightwater")
    assert told(memory) == expected
    assert [one.who for one in memory.scene_versions()] == ["rules", "person", "rules"]
    assert "<!-- locked, mem_" in file.read_text()


@pytest.mark.promise("scene.hand-edit")
def test_a_paragraph_that_a_person_took_out_stays_out(memory: Memory) -> None:
    say(memory, "I prefer mint tea.", "I live in Lyon.")
    file = memory.home / "scenes/_global/about-the-person.md"
    file.write_text(re.sub(r"Prefers mint tea <!--.*?-->\n", "", file.read_text(), count=1))
    say(memory, "I work at Brightwater.")
    assert told(memory)["about-the-person"] == {"Lives in Lyon", "Works at Brightwater"}


@pytest.mark.promise("persona.locked")
def test_a_person_writes_and_locks_lines(memory: Memory) -> None:
    say(memory, "I prefer mint tea.", "I live in Lyon.")
    assert [one.locked for one in memory.lock_persona(1).lines] == [True, False]
    text = memory.persona_file().replace("Prefers mint tea", "Call me Captain")
    found = memory.edit_persona(text)
    assert [one.locked for one in found.lines] == [True, True]
    say(memory, "I work at Brightwater.")
    memory.request_persona()
    memory.drain()
    assert set(lines(memory)) >= {"Call me Captain", "Lives in Lyon", "Works at Brightwater"}
    with pytest.raises(Invalid, match="none of the"):
        memory.lock_persona(99)
    with pytest.raises(Invalid, match="no line"):
        memory.edit_persona("---\nupdated: now\n---\n")


@pytest.mark.promise("gate.sensitive")
def test_no_secret_gets_in_by_hand(memory: Memory) -> None:
    say(memory, "I prefer mint tea.")
    with pytest.raises(Refused):
        memory.edit_persona(f"- the key is {SECRET} <!-- locked -->")
    (memory.home / PERSONA).write_text(f"- the key is {SECRET}\n")
    (memory.home / "scenes/_global/keys.md").write_text(f"the key is {SECRET}\n")
    assert SECRET not in memory.session("x").recall("what is the key").stable
    assert SECRET not in repr((memory.scenes(), memory.persona()))
    checks = {one.name: one for one in memory.doctor()}
    assert not checks["files"].ok
    assert "persona.md: holds" in checks["files"].found
    assert SECRET not in checks["files"].found


def test_files_that_are_no_text_are_left_alone_and_named(memory: Memory) -> None:
    say(memory, "I prefer mint tea.")
    (memory.home / "scenes/_global/broken.md").write_bytes(b"\xff\xfe")
    (memory.home / "scenes/_global/bad name.md").write_text("words")
    assert set(told(memory)) == {"about-the-person"}
    problems = " ".join(map(str, memory.reconcile().problems))
    assert "broken.md: is not UTF-8" in problems
    assert "bad name.md: a name has" in problems
    (memory.home / "backups/scenes/_global.jsonl").write_text("no json\n")
    assert any("chronicle" in str(one) for one in memory.reconcile().problems)
    context = memory.session("x").recall("tea")
    assert "mint tea" in context.stable
    assert any("cannot be read" in one for one in context.warnings)
    memory.add(name="boat", description="Has a boat")
    memory.drain()
    assert any("chronicle" in one for one in memory.status().parked)
    (memory.home / "backups/scenes/_global.jsonl").unlink()
    memory.request_scenes()
    memory.drain()
    assert told(memory) == {"about-the-person": {"Prefers mint tea", "Has a boat"}}
    assert memory.status().parked == ()


def test_a_persona_that_a_person_made_first_is_kept(memory: Memory) -> None:
    (memory.home / PERSONA).write_text("- Call me Captain\n")
    assert (lines(memory), memory.persona().updated) == (["Call me Captain"], None)
    memory.add(name="boat", description="Has a boat")
    memory.drain()
    assert lines(memory) == ["Call me Captain", "Has a boat"]
    assert [one.who for one in memory.persona_versions()] == ["rules", "person"]


# -- older versions ---------------------------------------------------------------------------------


@pytest.mark.promise("scene.backups")
def test_older_versions_come_back_as_new_ones(memory: Memory) -> None:
    say(memory, "I prefer mint tea.")
    say(memory, "I live in Lyon.")
    newest, oldest = memory.scene_versions()
    found = memory.restore_scenes()
    assert found.who == "person"
    assert told(memory) == {"about-the-person": {"Prefers mint tea"}}
    memory.drain()
    assert told(memory) == {"about-the-person": {"Prefers mint tea"}}, "and stays"
    memory.restore_scenes(version=newest.id)
    assert told(memory) == {"about-the-person": {"Prefers mint tea", "Lives in Lyon"}}
    memory.delete(next(one.id for one in memory.list().items if "mint" in one.description))
    memory.restore_scenes(version=oldest.id)
    memory.drain()
    assert "mint" not in repr(told(memory)), "what is gone does not come back"
    for verb in (memory.restore_scenes, memory.restore_persona):
        with pytest.raises(NotFound):
            verb(version="texts_none")


@pytest.mark.promise("scene.backups")
def test_three_older_personas_are_kept(memory: Memory) -> None:
    for number in range(6):
        memory.add(name=f"town {number}", description=f"Has been in town number {number}")
        memory.request_persona()
        memory.drain()
    assert len(memory.persona_versions()) == 3 + 1
    memory.restore_persona()
    assert len(lines(memory)) == 5


@pytest.mark.promise("scene.backups")
def test_a_version_without_a_file_comes_back_too(memory: Memory) -> None:
    say(memory, "I prefer mint tea.")
    memory.forget(session="chat")
    memory.edit_persona("## Base facts\n- Likes tea\n")
    assert memory.restore_persona().files == ()
    assert lines(memory) == []
    assert not (memory.home / PERSONA).exists()
    assert memory.restore_persona().files == (PERSONA,)
    assert lines(memory) == ["Likes tea"]


def test_what_moved_meanwhile_is_not_overwritten(memory: Memory) -> None:
    say(memory, "I prefer mint tea.")
    world, realm = memory._world, Realm("local", "local")
    look = pages.look(world, realm, GLOBAL)
    version = chronicle.Version("texts_x", world.clock.now(), "test", "test", {"new.md": "words\n"})
    made = chronicle.followed(look.chronicle, version, before=look.texts, keep=10)
    change = PutTexts(look.folder, look.log, made, look.base, look.chronicle.mark)
    assert Plan((change,)).lines() == ["write 1 texts of _global"]
    (memory.home / "scenes/_global/about-the-person.md").write_text("by hand\n")
    with pytest.raises(Conflict, match="changed meanwhile"):
        apply.apply(world, Plan((change,)), {})
    assert told(memory) == {"about-the-person": {"by hand"}}


# -- the whole --------------------------------------------------------------------------------------


@pytest.mark.promise("scene.rebuild")
def test_a_lost_database_changes_nothing(open_memory: Open, home: Path) -> None:
    with open_memory() as memory:
        say(memory, "I prefer mint tea.", "I live in Lyon.")
        (home / "scenes/_global/boats.md").write_text("All about my boats.\n")
        before = (memory.scenes(), memory.persona(), memory.scene_versions())
        memory.reindex()
        memory.drain()
        assert (memory.scenes(), memory.persona(), memory.scene_versions()) == before
    for file in home.glob("memstrata.db*"):
        file.unlink()
    with open_memory() as memory:
        memory.drain()
        assert (memory.scenes(), memory.persona(), memory.scene_versions()) == before
        assert memory.reconcile().actions == []


@pytest.mark.promise("persona.injected")
def test_persona_and_scenes_stand_in_the_stable_part_and_stand_still(memory: Memory) -> None:
    say(memory, "I prefer mint tea.", "I live in Lyon.")
    memory.edit_persona(memory.persona_file() + "\n- Call me <Captain> [mem_9]\n")
    first = memory.session("a").recall("tea").stable
    blocks = re.findall(r"^<([\w-]+)[ >]", first, re.MULTILINE)
    assert blocks == ["user-memory", "user-persona", "scene-navigation", "memory-note"]
    persona = first.partition("<user-persona>\n")[2].partition("\n</user-persona>")[0]
    assert persona == "- Call me ‹Captain› (mem_9)", "what stands above is not said twice"
    assert "- [_global/about-the-person] (heat 1) Prefers mint tea; Lives in Lyon" in first
    assert memory.session("b").recall("something else").stable == first


@pytest.mark.promise("persona.injected")
def test_the_cut_order(memory: Memory) -> None:
    say(memory, "I prefer mint tea.", "Please always answer in French.")
    memory.edit_persona("- Call me Captain\n")
    memory.add(name="event", description="Broke a leg in May", type="episodic")
    chat, seen = memory.session("x"), list[list[str]]()
    for most in range(400, 0, -1):
        stable = chat.recall("hello", max_tokens=most).stable
        there = [
            word for word in ("French", "mint tea", "Captain", "_global/", "leg") if word in stable
        ]
        if not seen or seen[-1] != there:
            seen.append(there)
        assert memory._world.tokens.count(stable) <= most
    whole = ["French", "mint tea", "Captain", "_global/", "leg"]
    assert seen[0] == whole
    assert min(map(len, seen)) < len(whole)
    for there in seen:
        if "Captain" not in there:
            assert "_global/" not in there
        if "French" in there and "mint tea" not in there:
            assert "Captain" not in there


def test_jobs_of_layers_are_named(memory: Memory) -> None:
    say(memory, "I prefer mint tea.")
    assert (memory.status().scenes, memory.status().persona) == (1, 1)
    (check,) = [one for one in memory.doctor() if one.name == "layers"]
    assert (
        check.found == "1 scenes, 1 lines of the persona; 0 paragraphs dropped, 0 memories untold"
    )
    memory.request_persona()
    assert jobs(memory) == [(PORTRAY, "requested")]


@pytest.mark.promise("scene.gone")
@pytest.mark.parametrize("how", ["delete", "archive"])
def test_what_is_gone_is_told_no_more_before_anything_is_rewritten(
    open_memory: Open, how: str
) -> None:
    memory = open_memory()
    kept = memory.add(name="boat", description="Keeps a boat at Quillhaven").id
    one = memory.add(name="boss", description="The boss is Tomas Gruber").id
    memory.request_scenes()
    memory.request_persona()
    memory.drain()
    assert "Tomas Gruber" in memory.persona().text
    getattr(memory, how)(one)
    told = memory.session("n").recall("hi")
    assert "Gruber" not in told.stable
    assert "Quillhaven" in told.stable
    assert "Gruber" not in memory.persona().text
    assert not [text for text in memory.scenes() if "Gruber" in text.text]
    line = next(one for one in memory.persona().lines if kept in one.cites)
    number = int(line.id.rpartition("/")[2])
    assert memory.lock_persona(number).lines[number - 1].text == line.text


def _by_hand(memory: Memory, file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.promise("scene.hand-edit")
@pytest.mark.parametrize("deed", ["lock", "edit"])
def test_a_line_changed_by_hand_stays_whatever_is_done_to_another(
    open_memory: Open, deed: str
) -> None:
    memory = open_memory()
    memory.add(name="bees", description="Keeps bees for honey")
    other = memory.add(name="boat", description="Owns a boat at Quillhaven").id
    memory.request_scenes()
    memory.request_persona()
    memory.drain()
    file = memory.home / "persona.md"
    _by_hand(memory, file, "bees for honey", "bees for honey, but only in summer")
    if deed == "lock":
        line = next(one for one in memory.persona().lines if other in one.cites)
        memory.lock_persona(int(line.id.rpartition("/")[2]))
    else:
        memory.edit_persona(memory.persona_file() + "- Sings\n")
    memory.request_persona()
    memory.drain()
    assert "only in summer" in memory.persona().text


@pytest.mark.promise("scene.hand-edit")
def test_what_a_person_wrote_in_one_scene_stays_theirs_when_another_loses_something(
    open_memory: Open,
) -> None:
    memory = open_memory()
    for name, entity in (("kiln", "Quillon"), ("boat", "Tessaly")):
        memory.add(name=name, description=f"The {name} is at {entity}", entities=(entity,))
    gone = memory.add(name="sail", description="The sail is at Tessaly", entities=("Tessaly",)).id
    memory.request_scenes()
    memory.drain()
    look = pages.look(memory._world, memory._realm, GLOBAL)
    name = next(n for n, text in look.texts.items() if "kiln" in text and gone not in text)
    _by_hand(memory, memory.home / look.folder.path / name, "kiln is at", "old kiln is at")
    memory.delete(gone)
    memory.drain()
    held = pages.look(memory._world, memory._realm, GLOBAL)
    theirs = [piece for one in pages.locked(held) for piece in one.pieces if piece.kept]
    assert any("old kiln" in piece.text for piece in theirs)
