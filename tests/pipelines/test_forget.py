"""Erasure: what goes, what stays of it, what does not come back, and what the receipt says."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.faults.oracle import faults
from tests.faults.works import traces
from tests.pipelines.test_model_extraction import NAME, proposal

from memstrata import Corrupt, Invalid, Memory, NotFound
from memstrata.adapters.model_scripted import ScriptedModel
from memstrata.domain import tombstones
from memstrata.domain.plain import encode
from memstrata.pipelines.forget import Receipt
from memstrata.pipelines.read import Record

SETTINGS = {"timezone": "UTC"}


def say(memory: Memory, session: str, *said: tuple[str, str, str], **where: object) -> None:
    """Commit (id, day, text) of a user, a turn each, and have them extracted."""
    for id, day, text in said:
        turn = [{"role": "user", "content": text, "id": id, "said_at": day}]
        memory.session(session, **where).commit(turn)  # type: ignore[arg-type]
        memory.drain()


def only(memory: Memory, text: str, **where: object) -> Record:
    (found,) = memory.list(text=text, **where).items  # type: ignore[arg-type]
    return found


def descriptions(memory: Memory, status: str | None = "active", **where: object) -> list[str]:
    return sorted(one.description for one in memory.list(status=status, **where).items)  # type: ignore[arg-type]


def messages(memory: Memory, session: str) -> list[str]:
    world = memory._world
    return [one.message.id for one in world.store.messages(memory._realm, session)]


def vanished(memory: Memory, *words: str) -> None:
    """Nothing holds the words: no file, no answer; and all is sound, also from the files alone."""
    assert traces(memory.home, *words) == []
    assert faults(memory) == []
    for word in words:
        assert list(memory.search(word, include_invalid=True)) == []
        assert list(memory.search_conversations(word)) == []
        assert word not in memory.session("asks").recall(f"what of {word}?").stable
    before = encode(memory.list().items)
    memory.reindex()
    assert encode(memory.list().items) == before
    assert traces(memory.home, *words) == []
    assert faults(memory) == []


# -- what goes ------------------------------------------------------------------------------------


@pytest.mark.promise("forget.ids")
@pytest.mark.promise("forget.bytes")
@pytest.mark.parametrize(
    "text, other, word",
    [
        ("I live in Quillhaven.", "I prefer mint tea.", "quillhaven"),
        ("我住在蘅芜镇。", "我喜欢喝薄荷茶。", "蘅芜"),
    ],
)
def test_a_memory_goes_with_its_sources(memory: Memory, text: str, other: str, word: str) -> None:
    say(memory, "s", ("u1", "2025-01-10", text), ("u2", "2025-01-11", other))
    one = only(memory, word)
    assert traces(memory.home, word)
    receipt = memory.forget(ids=[one.id], verify=True)
    assert receipt.erased == (one.id,)
    assert (receipt.counts["messages"], receipt.counts["memories"]) == (1, 1)
    assert receipt.counts["versions"] == 1
    assert receipt.verified is not None
    assert receipt.verified.clean
    assert messages(memory, "s") == ["u2"]
    assert len(memory.list().items) == 1
    with pytest.raises(NotFound):
        memory.get(one.id)
    with pytest.raises(NotFound):
        memory.history(one.id)
    with pytest.raises(NotFound):
        memory.trace("u1")
    assert all(
        one.id not in (row.verdict.memory, *row.verdict.reason.split())
        for row in memory.why().items
    )
    vanished(memory, word)


@pytest.mark.promise("forget.ids")
def test_what_rests_on_the_same_messages_alone_goes_too(memory: Memory) -> None:
    both = "I live in Quillhaven. I prefer mint tea."
    say(memory, "s", ("u1", "2025-01-10", both), ("u2", "2025-01-11", "I work at Brightwater."))
    memory.forget(ids=[only(memory, "quillhaven").id])
    assert descriptions(memory) == ["Works at Brightwater"]
    vanished(memory, "quillhaven", "mint")


@pytest.mark.promise("forget.ids")
def test_every_version_goes_and_what_was_typed(memory: Memory, clock: FakeClock) -> None:
    one = memory.add(name="depot", description="Quillstreet 9 is the depot", body="By the kiln.")
    clock.advance(hours=1)
    memory.edit(one.id, expected_version=1, description="The depot is at Marlrow 4")
    assert memory.forget(ids=[one.id]).counts["versions"] == 2
    vanished(memory, "quillstreet", "marlrow", "kiln")


@pytest.mark.promise("forget.ids")
def test_what_was_deleted_by_hand_has_a_history_to_erase(memory: Memory) -> None:
    say(memory, "s", ("u1", "2025-01-10", "I live in Quillhaven."))
    one = only(memory, "quillhaven")
    memory.delete(one.id)
    assert traces(memory.home, "quillhaven")
    assert memory.forget(ids=[one.id]).erased == (one.id,)
    vanished(memory, "quillhaven")


@pytest.mark.promise("forget.selects")
def test_a_session(memory: Memory) -> None:
    say(memory, "private", ("u1", "2025-01-10", "I live in Quillhaven."))
    say(memory, "other", ("u1", "2025-01-11", "I prefer mint tea."))
    receipt = memory.forget(session="private")
    assert (receipt.counts["messages"], receipt.counts["memories"]) == (1, 1)
    assert descriptions(memory) == ["Prefers mint tea"]
    vanished(memory, "quillhaven", "private")


@pytest.mark.promise("forget.selects")
def test_a_name_in_memories_and_in_what_nothing_was_drawn_from(memory: Memory) -> None:
    say(
        memory,
        "s",
        ("u1", "2025-01-10", "My sister is called Odilexa."),
        ("u2", "2025-01-11", "Thanks, Odilexa says hello!"),
        ("u3", "2025-01-12", "I prefer mint tea to Odilexandrine."),
    )
    memory.add(name="guest", description="Comes on Monday", entities=["Odilexa"])
    memory.forget(entity="odilexa")
    assert messages(memory, "s") == ["u3"]
    assert "guest" not in [one.name for one in memory.list().items]
    assert traces(memory.home, "Odilexa says", "called odilexa") == []
    assert faults(memory) == []


@pytest.mark.promise("forget.selects")
def test_a_time_by_when_it_was_said_else_recorded(memory: Memory, clock: FakeClock) -> None:
    say(
        memory,
        "s",
        ("u1", "2025-01-10T23:30", "I live in Quillhaven."),
        ("u2", "2025-01-11", "I prefer mint tea."),
    )
    memory.session("s").commit([{"role": "user", "content": "I work at Brightwater.", "id": "u3"}])
    memory.drain()
    memory.add(name="typed", description="Typed today")
    memory.forget(until="2025-01-10")
    assert descriptions(memory) == ["Prefers mint tea", "Typed today", "Works at Brightwater"]
    memory.forget(since=clock.now())
    assert descriptions(memory) == ["Prefers mint tea"]
    with pytest.raises(NotFound):
        memory.forget(since=date(2025, 1, 12), until=datetime(2025, 6, 1, tzinfo=UTC))
    vanished(memory, "quillhaven", "brightwater")


@pytest.mark.promise("forget.selects")
def test_criteria_narrow_each_other(memory: Memory) -> None:
    say(memory, "one", ("u1", "2025-01-10", "I met Odilexa in Lyon."))
    say(memory, "two", ("u1", "2025-01-11", "I met Odilexa in Graz."))
    memory.forget(session="two", entity="Odilexa", since="2025-01-11")
    assert (messages(memory, "one"), messages(memory, "two")) == (["u1"], [])


# -- what is left ----------------------------------------------------------------------------------


@pytest.mark.promise("forget.rest")
def test_said_again_by_what_is_left_it_stays_word_for_word(memory: Memory) -> None:
    say(memory, "a", ("u1", "2025-01-10", "I prefer mint tea."))
    say(memory, "b", ("u1", "2025-02-10", "I prefer mint tea."))
    before = only(memory, "mint")
    assert len(before.evidence) == 2
    receipt = memory.forget(session="a")
    assert (receipt.erased, receipt.changed) == ((), (before.id,))
    after = only(memory, "mint")
    assert (after.id, after.description, after.version) == (before.id, before.description, 2)
    assert [one.session for one in after.evidence] == ["b"]
    assert [v.verb for v in memory.history(before.id)] == ["forget"]
    vanished(memory, '"session": "a"')


@pytest.mark.promise("forget.rest")
def test_what_a_person_wrote_on_what_is_forgotten_goes_too(
    memory: Memory, clock: FakeClock
) -> None:
    """Its only source is forgotten, and a person's words about it may say the same."""
    say(memory, "s", ("u1", "2025-01-10", "I live in Quillhaven."))
    clock.advance(hours=1)
    memory.edit(only(memory, "quillhaven").id, expected_version=1, description="Lives in the mill")
    memory.forget(session="s")
    assert memory.list().items == ()
    vanished(memory, "quillhaven")


@pytest.mark.promise("forget.rest")
def test_what_only_the_forgotten_said_is_drawn_again_from_the_rest(memory: Memory) -> None:
    """The better wording came from the message that goes."""
    say(memory, "a", ("u1", "2025-01-10", "I work at Brightwater."))
    say(memory, "b", ("u1", "2025-01-11", "I work at Brightwater Orchards in Quillhaven."))
    before = only(memory, "brightwater")
    assert "Quillhaven" in before.description or "Orchards" in before.description
    memory.forget(session="b")
    assert descriptions(memory) == ["Works at Brightwater"]
    assert only(memory, "brightwater").evidence[0].session == "a"
    vanished(memory, "quillhaven", "orchards")


@pytest.mark.promise("forget.rest")
def test_a_first_saying_forgotten_is_drawn_from_the_second(open_memory: Open) -> None:
    """No version rests on what is left alone: the memory goes, the other message is read again."""
    answers = [
        proposal("Keeps bees", "I keep bees", name="bees"),
        proposal("Keeps bees", "My bees are well", name="bees"),
        proposal("Has bees", "My bees are well", name="bees"),
    ]
    memory = open_memory(model=ScriptedModel(*answers), settings={"extraction.model": NAME})
    say(memory, "a", ("u1", "2025-01-10", "I keep bees at Quillhaven."))
    say(memory, "b", ("u2", "2025-01-11", "My bees are well, thanks."))
    (before,) = memory.list().items
    assert len(before.evidence) == 2
    receipt = memory.forget(session="a")
    assert (receipt.erased, receipt.counts["again"]) == ((before.id,), 1)
    assert memory.list().items == ()
    memory.drain()
    (after,) = memory.list().items
    assert (after.description, after.evidence[0].session) == ("Has bees", "b")
    vanished(memory, "quillhaven")


@pytest.mark.promise("forget.chain")
def test_a_chain_names_the_next_that_is_left(memory: Memory) -> None:
    for n, (day, place) in enumerate(
        [("2025-01-10", "Lyon"), ("2025-02-10", "Quillhaven"), ("2025-03-10", "Graz")], start=1
    ):
        say(memory, f"s{n}", ("u1", day, f"I live in {place}."))
    first, middle, last = (only(memory, place) for place in ("lyon", "quillhaven", "graz"))
    assert (first.superseded_by, middle.superseded_by) == (middle.id, last.id)
    memory.forget(ids=[middle.id])
    after = memory.get(first.id)
    assert (after.status, after.superseded_by, after.invalid_at) == (
        "invalid",
        last.id,
        first.invalid_at,
    )
    trace = memory.trace(first.id)
    assert [one.id for one in trace.successors] == [last.id]
    vanished(memory, "quillhaven", middle.id)
    memory.forget(ids=[last.id])
    after = memory.get(first.id)
    assert (after.status, after.superseded_by) == ("invalid", None)
    assert descriptions(memory) == []
    vanished(memory, "graz", last.id)


@pytest.mark.promise("forget.rest")
def test_cursor_and_batches_hold_though_their_messages_go(memory: Memory) -> None:
    chat = memory.session("s")
    texts = ("I live in Quillhaven.", "I prefer mint tea.", "I work at Marlrow.")
    chat.commit([{"role": "user", "content": t, "id": f"u{n}"} for n, t in enumerate(texts)])
    memory.drain()
    for word in ("Quillhaven", "Marlrow"):
        memory.forget(ids=[only(memory, word.casefold()).id])
    (batch,) = memory._world.store.batches(memory._realm, "s")
    assert (batch.data["first"], batch.data["last"]) == ("u1", "u1")
    chat.commit([{"role": "user", "content": "I play the oboe.", "id": "u9"}])
    memory.reindex()
    memory.drain()
    assert len(list(memory._world.store.batches(memory._realm, "s"))) == 2
    vanished(memory, "quillhaven", "marlrow")


@pytest.mark.promise("forget.rest")
def test_a_file_that_cannot_be_read_is_not_overwritten(memory: Memory) -> None:
    say(memory, "a", ("u1", "2025-01-10", "I prefer mint tea."))
    say(memory, "b", ("u1", "2025-02-10", "I prefer mint tea."))
    file = memory.home / only(memory, "mint").path
    file.write_text("---\nname: [broken\n---\nmy own words\n")
    memory.reconcile()
    with pytest.raises(Corrupt):
        memory.forget(session="a")
    assert "my own words" in file.read_text()
    assert messages(memory, "a") == ["u1"]


# -- only that -------------------------------------------------------------------------------------


@pytest.mark.promise("forget.only")
def test_the_rest_stays_byte_for_byte(memory: Memory, clock: FakeClock) -> None:
    say(memory, "s", ("u1", "2025-01-10", "I prefer mint tea."))
    clock.advance(days=1)
    say(memory, "s", ("u2", "2025-01-11", "I live in Quillhaven."))
    before = {p: p.read_bytes() for p in memory.home.rglob("*") if p.suffix in (".md", ".jsonl")}
    lines = {line for p in before if p.suffix == ".jsonl" for line in before[p].splitlines()}
    memory.forget(entity="Quillhaven")
    after = {p: p.read_bytes() for p in before if p.exists()}
    assert {p.name for p in before if p not in after or after[p] != before[p]} == {
        "MEMORY.md",
        "2026-03-15.jsonl",
        *(p.name for p in before if p.parent.name == "user" and b"Quillhaven" in before[p]),
    }
    for path, data in after.items():
        if path.suffix == ".jsonl":
            assert all(line in lines or b'"erased"' in line for line in data.splitlines())


@pytest.mark.promise("forget.only")
@pytest.mark.promise("case.m10")
def test_m10_one_persons_goes_and_anothers_stays(memory: Memory, open_memory: Open) -> None:
    for user in ("ana", "ben"):
        for n in range(3):
            memory.add(name=f"note {n}", description=f"The {user} note number {n}", user=user)
        chat = memory.session("chat", user=user)
        chat.commit([{"role": "user", "content": f"I live in {user}ville.", "id": "m1"}])
    memory.drain()
    before = encode(memory.list(user="ben").items)
    with pytest.raises(Invalid, match="owner"):
        memory.forget(since="1970-01-01", user="")
    with pytest.raises(Invalid, match="say what"):
        memory.forget(user="ana")
    memory.forget(since="1970-01-01", user="ana")
    assert memory.list(user="ana").items == ()
    assert list(memory.search("anaville", user="ana")) == []
    assert encode(memory.list(user="ben").items) == before
    assert len(memory.search_conversations("benville", user="ben")) == 1
    assert traces(memory.home, "anaville", "ana note") == []
    assert not (memory.home / "tombstones.jsonl").exists()
    assert (memory.home / "owners" / "ana" / "tombstones.jsonl").exists()
    assert not (memory.home / "owners" / "ben" / "tombstones.jsonl").exists()
    assert faults(memory) == []


@pytest.mark.promise("forget.only")
def test_an_id_of_another_answers_as_one_that_is_not_there(memory: Memory) -> None:
    bens = memory.add(name="note", description="Of ben", user="ben")
    with pytest.raises(NotFound) as hidden:
        memory.forget(ids=[bens.id], user="ana")
    with pytest.raises(NotFound) as nothing:
        memory.forget(ids=["mem_none"], user="ana")
    assert str(hidden.value).replace(bens.id, "mem_none") == str(nothing.value)
    assert memory.get(bens.id, user="ben") == bens


@pytest.mark.promise("forget.only")
@pytest.mark.promise("forget.bytes")
def test_the_scopes_of_projects_and_agents(memory: Memory, tmp_path: Path) -> None:
    root = tmp_path / "mill"
    root.mkdir()
    said = ("u1", "2025-01-10", "We decided to use Quillfish for the queue.")
    say(memory, "p", said, workspace=root)
    memory.add(scope="agent", name="tone", description="Speak of Quillfish softly", agent="cook")
    memory.add(
        scope="project", type="project", name="queue", description="Quillfish it is", workspace=root
    )
    receipt = memory.forget(entity="Quillfish", workspace=root, agent="cook")
    assert receipt.counts["messages"] == 1
    assert ("git", str(root)) in [(one.why, one.what) for one in receipt.not_reached]
    assert traces(root, "quillfish") == []
    vanished(memory, "quillfish")


@pytest.mark.promise("forget.only")
def test_another_members_words_stay_where_they_are(memory: Memory, tmp_path: Path) -> None:
    """A project's memory may be erased by every member, as it may be deleted; not what others said."""
    root = tmp_path / "mill"
    root.mkdir()
    rule = "We always deploy the Quillfish service on Mondays."
    chat = memory.session("chat", user="ben", workspace=root)
    chat.commit([{"role": "user", "content": rule, "id": "m1", "said_at": "2025-01-10"}])
    one = memory.add(
        scope="project",
        type="project",
        name="deploys",
        description="Quillfish on Mondays",
        workspace=root,
        user="ben",
    )
    with pytest.raises(NotFound):
        memory.forget(entity="Quillfish", workspace=root, user="ana")
    memory.forget(ids=[one.id], workspace=root, user="ana")
    assert len(memory.search_conversations("Quillfish", user="ben", workspace=root)) == 1
    assert traces(root, "quillfish") == []
    assert traces(memory.home / "owners" / "ben" / "records", "quillfish") == []
    assert faults(memory) == []


# -- it does not come back ------------------------------------------------------------------------


@pytest.mark.promise("forget.stays")
@pytest.mark.promise("forget.anew")
def test_the_same_message_again_is_not_stored_but_a_new_one_is(
    memory: Memory, open_memory: Open, tmp_path: Path
) -> None:
    turn = {"role": "user", "content": "I live in Quillhaven.", "said_at": "2025-01-10"}
    chat = memory.session("s")
    chat.commit([{**turn, "id": "u1"}])
    memory.drain()
    memory.forget(session="s")
    for again in ({**turn, "id": "u1"}, turn, {**turn, "id": "other"}):
        captured = chat.commit([again])
        assert (captured.stored, captured.existing) == ((), ())
        assert "forgotten" in captured.warnings[0]
    file = tmp_path / "old.jsonl"
    file.write_text(json.dumps({**turn, "id": "u1", "session": "s"}) + "\n")
    memory.import_(file)
    memory.extract(retry=True)
    assert messages(memory, "s") == []
    vanished(memory, "quillhaven")
    for new in ({**turn, "id": "u2", "said_at": "2025-06-01"}, {**turn, "said_at": "2025-07-01"}):
        assert len(chat.commit([new]).stored) == 1
    assert len(chat.commit([{"role": "user", "content": turn["content"], "id": "u3"}]).stored) == 1
    memory.drain()
    assert descriptions(memory) == ["Lives in Quillhaven"]
    memory.reindex()
    assert descriptions(memory) == ["Lives in Quillhaven"]
    assert faults(memory) == []


@pytest.mark.promise("forget.stays")
def test_a_host_without_ids_and_times(memory: Memory) -> None:
    chat = memory.session("s")
    said = [{"role": "user", "content": "I live in Quillhaven."}]
    chat.commit(said)
    memory.drain()
    memory.forget(session="s")
    assert chat.commit(said).stored == ()
    assert memory.session("t").commit(said).stored != ()


@pytest.mark.promise("forget.stays")
@pytest.mark.promise("forget.anew")
def test_a_file_by_hand_may_be_made_again(memory: Memory, clock: FakeClock) -> None:
    folder = memory.home / "memory" / "user"
    memory.add(name="other", description="So that there is a folder")
    (folder / "baker.md").write_text("The baker of Quillhaven is closed on Mondays\n")
    memory.reconcile()
    memory.forget(entity="Quillhaven")
    assert not (folder / "baker.md").exists()
    (folder / "baker.md").write_text("The baker of Quillhaven is closed on Mondays\n")
    memory.reconcile()
    assert not (folder / "baker.md").exists()
    clock.advance(days=1)
    (folder / "baker.md").write_text("The baker bakes again\n")
    memory.reconcile()
    assert descriptions(memory) == ["So that there is a folder", "The baker bakes again"]
    memory.forget(entity="folder")
    assert descriptions(memory) == ["The baker bakes again"]
    memory.reindex()
    assert descriptions(memory) == ["The baker bakes again"]
    vanished(memory, "quillhaven")


@pytest.mark.promise("forget.deleted")
def test_what_was_deleted_is_not_drawn_again(open_memory: Open) -> None:
    """The batch is extracted again for what its other candidate was refused for."""
    memory = open_memory(settings={"quota.user": 1})
    say(memory, "s", ("u1", "2025-01-10", "I live in Quillhaven. I prefer mint tea."))
    (kept,) = memory.list().items
    memory.delete(kept.id)
    memory.extract(retry_refused="quota")
    assert [one.name for one in memory.list().items] != [kept.name]
    assert len(memory.list().items) == 1
    newest = [row.verdict for row in memory.why().items]
    assert any(kept.id in one.reason and one.verdict == "noop" for one in newest)
    memory.delete(memory.list().items[0].id)
    say(memory, "s", ("u2", "2025-02-10", "I live in Quillhaven."))
    assert descriptions(memory) == ["Lives in Quillhaven"]


# -- receipt --------------------------------------------------------------------------------------


@pytest.mark.promise("forget.dry-run")
def test_a_dry_run_counts_the_same_and_changes_nothing(memory: Memory) -> None:
    say(memory, "a", ("u1", "2025-01-10", "I prefer mint tea. I live in Quillhaven."))
    say(memory, "b", ("u1", "2025-02-10", "I prefer mint tea."))
    memory.reconcile()
    before = {p: p.read_bytes() for p in memory.home.rglob("*") if p.is_file()}
    planned = memory.forget(session="a", dry_run=True)
    assert {p: p.read_bytes() for p in memory.home.rglob("*") if p.is_file()} == before
    done = memory.forget(session="a")
    assert planned.dry_run
    assert not done.dry_run
    assert (planned.counts, planned.erased, planned.changed) == (
        done.counts,
        done.erased,
        done.changed,
    )


@pytest.mark.promise("forget.receipt")
def test_the_receipt_repeats_no_word(memory: Memory) -> None:
    say(memory, "s", ("u1", "2025-01-10", "I live in Quillhaven."))
    receipt = memory.forget(session="s", verify=True)
    told = json.dumps(encode(receipt)).casefold()
    assert "quill" not in told
    assert [one.why for one in receipt.not_reached] == ["copies"]


@pytest.mark.promise("forget.receipt")
def test_the_models_that_read_it_are_named(open_memory: Open) -> None:
    model = ScriptedModel(proposal("Lives in Quillhaven", "I live in Quillhaven", name="home"))
    memory = open_memory(model=model, settings={"extraction.model": NAME})
    say(memory, "s", ("u1", "2026-03-10", "I live in Quillhaven."))
    receipt = memory.forget(session="s")
    assert [(one.why, one.what) for one in receipt.not_reached] == [("model", NAME), ("copies", "")]
    vanished(memory, "quillhaven")


@pytest.mark.promise("forget.verify")
def test_what_still_holds_it_is_named(memory: Memory) -> None:
    say(memory, "s", ("u1", "2025-01-10", "I live in Quillhaven by the river."))
    (memory.home / "notes").mkdir()
    (memory.home / "notes" / "copy.txt").write_text("so: I live in Quillhaven by the river. ok")
    (memory.home / "wide.bin").write_bytes("I live in Quillhaven by the river.".encode("utf-16-le"))
    private = memory.private()
    private.save("## Facts\n- 2025-01-01: I live in Quillhaven by the river.")
    receipt = memory.forget(session="s", verify=True)
    told = [(one.why, one.what) for one in receipt.not_reached]
    assert ("file", "notes/copy.txt") in told
    assert ("file", "wide.bin") in told
    assert ("document", "PRIVATE_MEMORY.md") in told
    assert receipt.verified is not None
    assert receipt.verified.found == ("notes/copy.txt", "wide.bin")
    assert not receipt.verified.clean


@pytest.mark.promise("forget.verify")
def test_what_is_said_elsewhere_is_no_trace(memory: Memory) -> None:
    text = "The spare key is with the neighbour downstairs."
    for session in ("a", "b"):
        memory.session(session).commit([{"role": "user", "content": text, "id": "u1"}])
    memory.session("c", user="ben").commit([{"role": "user", "content": text, "id": "u1"}])
    receipt = memory.forget(session="a", verify=True)
    assert receipt.verified is not None
    assert receipt.verified.clean
    assert receipt.verified.elsewhere > 0
    receipt = memory.forget(session="b", verify=True)
    assert receipt.verified is not None
    assert (receipt.verified.clean, receipt.verified.elsewhere) == (True, 0), "ben's is not told"


@pytest.mark.promise("forget.bytes")
def test_backups_and_torn_tails_go(memory: Memory) -> None:
    say(memory, "s", ("u1", "2025-01-10", "I live in Quillhaven."))
    backups = memory.home / "backups"
    backups.mkdir()
    shutil.copy(memory.home / "memstrata.db", backups / "memstrata.schema-1.1.db")
    (memory.home / "conversations" / "2026-03-14.jsonl.torn").write_text('{"content": "Quillhav')
    receipt = memory.forget(session="s")
    assert (receipt.counts["backups"], receipt.counts["torn"]) == (1, 1)
    vanished(memory, "quillhav")


@pytest.mark.promise("forget.bytes")
def test_its_vectors_go(open_memory: Open) -> None:
    memory = open_memory(settings={"embedding.model": ""})
    say(
        memory,
        "s",
        ("u1", "2025-01-10", "I live in Quillhaven."),
        ("u2", "2025-01-11", "I like oboes."),
    )
    world = memory._world
    assert world.vectors is not None
    before = sum(world.vectors.counts(world.space).values())
    receipt = memory.forget(entity="Quillhaven")
    assert receipt.counts["vectors"] == 2
    assert sum(world.vectors.counts(world.space).values()) == before - 2
    blind = open_memory(settings={"embedding.model": "none"})
    blind.forget(session="s")
    assert sum(world.vectors.counts(world.space).values()) == 0
    assert traces(memory.home, "quillhaven") == []


@pytest.mark.promise("forget.asked")
@pytest.mark.parametrize(
    "given, field",
    [
        ({}, "forget"),
        ({"ids": []}, "ids"),
        ({"ids": ""}, "ids"),
        ({"ids": "mem_1"}, "ids"),
        ({"ids": [""]}, "ids[0]"),
        ({"session": ""}, "session"),
        ({"session": " "}, "session"),
        ({"entity": ""}, "entity"),
        ({"entity": "  "}, "entity"),
        ({"since": ""}, "since"),
        ({"until": ""}, "until"),
        ({"since": "soon"}, "since"),
        ({"since": "2025-02-01", "until": "2025-01-01"}, "since"),
        ({"ids": ["mem_1"], "session": "s"}, "ids"),
    ],
)
def test_nothing_is_never_everything(memory: Memory, given: dict[str, object], field: str) -> None:
    memory.add(name="note", description="Stays")
    for dry_run in (True, False):
        with pytest.raises(Invalid) as refused:
            memory.forget(**given, dry_run=dry_run)  # type: ignore[arg-type]
        assert refused.value.field == field
    assert descriptions(memory) == ["Stays"]


@pytest.mark.promise("forget.asked")
@pytest.mark.parametrize(
    "given",
    [
        {"ids": ["mem_none"]},
        {"session": "none"},
        {"entity": "Nobody"},
        {"until": "1999-01-01"},
    ],
)
def test_nothing_found_is_an_error(memory: Memory, given: dict[str, object]) -> None:
    memory.add(name="note", description="Stays")
    with pytest.raises(NotFound):
        memory.forget(**given)  # type: ignore[arg-type]
    assert not (memory.home / "tombstones.jsonl").exists()


def test_switched_off_it_still_forgets(open_memory: Open) -> None:
    open_memory().add(name="note", description="About Quillhaven")
    off = open_memory(settings={"memory.enabled": False})
    receipt: Receipt = off.forget(entity="Quillhaven")
    assert receipt.counts["memories"] == 1
    assert traces(off.home, "quillhaven") == []


@pytest.mark.promise("forget.receipt")
def test_tombstones_hold_no_text_and_a_private_key(memory: Memory) -> None:
    say(memory, "s", ("u1", "2025-01-10", "I live in Quillhaven."))
    memory.forget(session="s")
    key = memory.home / tombstones.SECRET.path
    assert (key.stat().st_mode & 0o777, key.stat().st_size) == (0o600, 32)
    (line,) = (memory.home / "tombstones.jsonl").read_text().splitlines()
    found = json.loads(line)
    assert set(found) == {*("at", "key", "messages", "contents", "memories", "files", "sessions")}
    assert all(len(one) == 32 for name in ("messages", "memories") for one in found[name])
