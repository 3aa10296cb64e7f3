"""Extraction: the oldest first, each batch all or nothing, every verdict told, no failure to the caller."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Memory, Refused, Unavailable, failpoints
from memstrata.domain.candidate import Candidate
from memstrata.domain.memory import Evidence
from memstrata.domain.turn import Message
from memstrata.events import Event
from memstrata.jobs.worker import Worked
from memstrata.pipelines import extract
from memstrata.pipelines.read import Record

Proposes = Callable[[Sequence[Message]], tuple[Candidate, ...]]


def commit(
    memory: Memory, *texts: str, session: str = "s", on: str | None = None, **chat: object
) -> tuple[str, ...]:
    """Commit what the user said; the ids of the messages."""
    turn = [{"role": "user", "content": text, "said_at": on} for text in texts]
    return memory.session(session, **chat).commit(turn).stored  # type: ignore[arg-type]


def verdicts(memory: Memory, **asked: object) -> list[str]:
    """What became of each candidate, in order."""
    return [row.verdict.verdict for row in reversed(memory.why(limit=500, **asked).items)]  # type: ignore[arg-type]


def active(memory: Memory, **asked: object) -> dict[str, Record]:
    """What is valid now, by description."""
    return {one.description: one for one in memory.list(status="active", **asked).items}  # type: ignore[arg-type]


def heard(memory: Memory) -> list[Event]:
    """Every event from now on."""
    found: list[Event] = []
    memory._world.bus.listen(found.append)
    return found


@pytest.fixture
def proposed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Proposes], None]:
    """Let a function propose candidates in the place of the rules."""

    def install(proposes: Proposes) -> None:
        def run(
            messages: Sequence[Message], *, has_workspace: bool, zone: tzinfo
        ) -> tuple[Candidate, ...]:
            return proposes(messages)

        monkeypatch.setattr("memstrata.domain.rules.extract", run)

    return install


def candidate(message: Message, **fields: object) -> Candidate:
    """A good candidate that quotes all of a message."""
    quoted = (Evidence(message.id, 0, len(message.content), message.content, message.session),)
    given: dict[str, object] = {
        "scope": "user",
        "type": "user",
        "name": "n",
        "description": message.content,
        "evidence": quoted,
        "authority": "user",
        "said_at": message.said_at,
    }
    return Candidate(**{**given, **fields})  # type: ignore[arg-type]


# -- batches ------------------------------------------------------------------------------------------


@pytest.mark.promise("extract.oldest-first")
def test_a_batch_is_the_oldest_messages_cut_by_tokens(open_memory: Open) -> None:
    memory = open_memory(settings={"extraction.batch_tokens": 100})
    count = memory._world.tokens.count
    texts = [f"Note {n}: the weir has {n} gates and a rather long name indeed." for n in range(12)]
    commit(memory, *texts[:8])
    events = heard(memory)
    taken: list[int] = []
    while outcome := extract.extract(memory._world, memory._realm, "s"):
        if not taken:
            commit(memory, *texts[8:])  # said meanwhile: behind the others
        left = texts[sum(taken) :]
        taken.append(outcome.messages)
        assert sum(count(text) for text in left[: taken[-1]]) <= 100
        more = left[: taken[-1] + 1]
        assert len(more) == taken[-1] or sum(map(count, more)) > 100, "as many as fit"
        assert memory.status().waiting == 12 - sum(taken)
    assert sum(taken) == 12
    assert len(taken) > 2
    triggered = [one.fields["messages"] for one in events if one.name == "extraction.triggered"]
    assert triggered == taken


@pytest.mark.promise("extract.oldest-first")
def test_a_message_longer_than_a_batch_is_a_batch(open_memory: Open) -> None:
    memory = open_memory(settings={"extraction.batch_tokens": 100})
    commit(memory, "word " * 400 + ". I live in Tarnow.", "I prefer tea.")
    assert memory.drain().batches == 2
    assert set(active(memory)) == {"Lives in Tarnow", "Prefers tea"}


@pytest.mark.promise("extract.cursor")
@pytest.mark.parametrize("place", ["extract.decided", "apply.rows", "apply.logged"])
def test_the_cursor_moves_only_with_the_outcome(memory: Memory, place: str) -> None:
    commit(memory, "I live in Tarnow.", "I think I prefer oat milk.")
    world, realm = memory._world, memory._realm
    before = world.store.cursor(realm, "s")
    with failpoints.armed({place: "enospc"}), pytest.raises((Unavailable, OSError)):
        extract.extract(world, realm, "s")
    assert world.store.cursor(realm, "s") == before
    assert memory.list().items == ()
    assert memory.why().items == ()
    assert not list(memory.home.glob("records/*.jsonl")) or all(
        not file.read_bytes() for file in memory.home.glob("records/*.jsonl")
    )
    assert memory.drain().messages == 2
    assert world.store.cursor(realm, "s").position > before.position
    assert sorted(verdicts(memory)) == ["add", "low_confidence"]
    (shard,) = memory.home.glob("records/*.jsonl")
    lines = [json.loads(line) for line in shard.read_text().splitlines()]
    assert len({line["tx"] for line in lines}) == 1, "memory and batch in one group"
    assert {line["kind"] for line in lines} == {"memory", "batch"}
    assert memory.drain().batches == 0


@pytest.mark.promise("disk.records")
def test_each_version_and_each_batch_has_a_line(memory: Memory, clock: FakeClock) -> None:
    commit(memory, "I live in Tarnow.", on="2025-01-01")
    memory.drain()
    commit(memory, "I live in Krosno.", on="2025-02-01")
    memory.drain()
    commit(memory, "What is a weir?")
    memory.drain()
    (shard,) = memory.home.glob("records/*.jsonl")
    lines = [json.loads(line) for line in shard.read_text().splitlines()]
    assert sum(line["kind"] == "batch" for line in lines) == 3
    versions = [(line["id"], line["version"]) for line in lines if line["kind"] == "memory"]
    told = [
        (one.id, version.version)
        for one in memory.list().items
        for version in memory.history(one.id)
    ]
    assert sorted(versions) == sorted(told)
    assert len(told) == 3
    before = memory.list().items, memory.why().items
    memory.reindex()
    assert (memory.list().items, memory.why().items) == before
    assert memory.drain().batches == 0, "no message is extracted a second time"


# -- failures ---------------------------------------------------------------------------------------


@pytest.mark.promise("extract.never-blocks")
def test_a_job_that_fails_is_set_aside_and_the_others_go_on(
    memory: Memory, proposed: Callable[[Proposes], None]
) -> None:
    def failing(messages: Sequence[Message]) -> tuple[Candidate, ...]:
        if any("boom" in one.content for one in messages):
            raise ZeroDivisionError("by nought")
        return tuple(candidate(one, name=one.content) for one in messages)

    proposed(failing)
    events = heard(memory)
    commit(memory, "The first session is fine", session="a")
    commit(memory, "boom", session="b")
    commit(memory, "The third session is fine", session="c")
    done = memory.drain()
    assert done.parked == ["extract b: internal: ZeroDivisionError: by nought"]
    assert len(active(memory)) == 2
    assert memory.status().parked == tuple(done.parked)
    assert any("set aside" in line for line in memory.status().degraded)
    (check,) = [check for check in memory.doctor() if check.name == "extraction"]
    assert not check.ok
    assert done.parked[0] in check.found
    assert [(one.name, one.fields["session"]) for one in events if one.degraded] == [
        ("extraction.failed", "b")
    ]
    assert commit(memory, "Where is the boat?", session="b"), "the conversation goes on"
    assert memory.session("b").recall("session").status == "matched"
    assert [hit.id for hit in memory.search_conversations("boom")]
    memory.drain()
    assert memory.status().parked, "and it is said as long as it fails"
    assert memory._world.store.cursor(memory._realm, "b").position == 0, "nothing is dropped"


@pytest.mark.promise("extract.never-blocks")
def test_a_disk_that_says_no_sets_nothing_aside(memory: Memory) -> None:
    commit(memory, "I live in Tarnow.")
    with failpoints.armed({"apply.logged": "enospc"}), pytest.raises(Unavailable):
        memory.drain()
    assert (memory.status().waiting, memory.status().parked) == (1, ())
    assert memory.drain().messages == 1
    assert set(active(memory)) == {"Lives in Tarnow"}


@pytest.mark.promise("extract.never-blocks")
def test_a_commit_waits_for_no_extraction(
    memory: Memory, proposed: Callable[[Proposes], None]
) -> None:
    asked: list[int] = []

    def counting(messages: Sequence[Message]) -> tuple[Candidate, ...]:
        asked.append(len(messages))
        return ()

    proposed(counting)
    commit(memory, "I live in Tarnow.")
    memory.session("s").recall("Tarnow")
    assert asked == []
    assert memory.drain() == Worked(batches=1, messages=1)
    assert asked == [1]


@pytest.mark.promise("extract.fallback-none")
def test_without_an_extractor_the_jobs_wait(open_memory: Open) -> None:
    memory = open_memory(settings={"extraction.fallback": "none"})
    commit(memory, "I live in Tarnow.")
    done = memory.drain()
    assert (done.batches, done.parked, done.retrying) == (0, [], [])
    assert memory.status().extractor.startswith("none: extraction.fallback is none")
    assert memory.status().retrying == ()
    assert (memory.status().waiting, memory.status().parked) == (1, ())
    assert [hit.content for hit in memory.search_conversations("Tarnow")] == ["I live in Tarnow."]
    memory.close()
    again = open_memory()
    assert again.status().extractor.startswith("rules")
    assert again.drain().messages == 1
    assert set(active(again)) == {"Lives in Tarnow"}


# -- gates --------------------------------------------------------------------------------------------


@pytest.mark.promise("gate.transient")
@pytest.mark.promise("gate.confidence")
@pytest.mark.promise("settings.workspace")
def test_a_workspace_tightens_what_is_extracted_in_it(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / ".memstrata").mkdir()
    (tmp_path / ".memstrata" / "config.toml").write_text(
        '[gates]\npatterns = ["Redis"]\n[quota]\nuser = 1\n'
    )
    commit(memory, "I live in Tarnow. We use Redis for caching.", workspace=tmp_path)
    commit(memory, "My sister is called Odile.", workspace=tmp_path)
    memory.drain()
    assert set(active(memory, workspace=tmp_path)) == {"Lives in Tarnow"}
    assert memory.status().verdicts == {"add": 1, "sensitive": 1, "quota": 1}
    with pytest.raises(Refused):
        memory.add(
            scope="project",
            type="project",
            name="cache",
            description="Redis it is",
            workspace=tmp_path,
        )
    commit(memory, "My brother is called Benno.", session="elsewhere")
    memory.drain()
    assert "Benno" in str(memory.list().items)


@pytest.mark.promise("gate.workspace")
@pytest.mark.promise("gate.sensitive")
@pytest.mark.promise("gate.recorded")
@pytest.mark.parametrize(
    "text, verdict, gate",
    [
        ("For now, always answer in French.", "transient", "transient"),
        ("I think I prefer oat milk.", "low_confidence", "confidence"),
        ("We deploy on Tuesdays.", "no_workspace", "confidence"),
        ("Remember that my passport number is X12345678.", "sensitive", "sensitive"),
    ],
)
def test_what_a_gate_refuses_is_listed_and_not_kept(
    memory: Memory, text: str, verdict: str, gate: str
) -> None:
    events = heard(memory)
    (id,) = commit(memory, text)
    memory.drain()
    (row,) = memory.why().items
    assert (row.verdict.verdict, row.verdict.gate) == (verdict, gate)
    assert row.verdict.name
    assert row.verdict.reason
    assert row.verdict.quote_of == (id,)
    assert row.session == "s"
    assert row.batch.startswith("batch_")
    assert memory.why(verdict=verdict).items == (row,)
    assert memory.why(session="s").items == (row,)
    assert memory.why(session="other").items == ()
    assert memory.list().items == ()
    refused = [one.fields for one in events if one.name == "candidate.refused"]
    assert refused == [{"verdict": verdict, "gate": gate, "session": "s", "batch": row.batch}]
    if gate == "sensitive":
        assert "X12345678" not in repr(row)
    memory.reindex()
    assert memory.why().items == (row,)


@pytest.mark.promise("gate.authority")
@pytest.mark.promise("gate.priority")
@pytest.mark.promise("gate.support")
@pytest.mark.promise("gate.recorded")
@pytest.mark.parametrize(
    "fields, verdict",
    [
        ({}, "add"),
        ({"authority": "assistant"}, "authority"),
        ({"authority": "tool", "type": "feedback"}, "authority"),
        ({"authority": "assistant", "type": "reference"}, "add"),
        ({"priority": 49}, "low_priority"),
        ({"type": "feedback", "priority": 69}, "low_priority"),
        ({"type": "feedback", "priority": -1}, "add"),
        ({"confidence": 0.59}, "low_confidence"),
        ({"evidence": ()}, "unsupported"),
        ({"description": "The heron nests with Oriel"}, "unsupported"),
        ({"description": "The heron nests under 12 weirs"}, "unsupported"),
        ({"entities": ("Oriel",)}, "unsupported"),
        ({"scope": "project"}, "no_workspace"),
    ],
)
def test_every_extractor_stands_before_the_same_gates(
    memory: Memory,
    proposed: Callable[[Proposes], None],
    fields: dict[str, object],
    verdict: str,
) -> None:
    proposed(lambda messages: tuple(candidate(one, **fields) for one in messages))
    commit(memory, "The heron nests under the weir")
    memory.drain()
    (row,) = memory.why().items
    assert row.verdict.verdict == verdict
    assert len(memory.list().items) == (verdict == "add")


@pytest.mark.promise("gate.quota")
def test_a_full_scope_keeps_the_refusal_and_evicts_nothing(open_memory: Open) -> None:
    memory = open_memory(settings={"quota.user": 2, "quota.episodic": 1})
    events = heard(memory)
    commit(memory, "I live in Tarnow.", "I prefer tea.", "I work at Quillon.", on="2026-01-05")
    memory.drain()
    assert set(active(memory)) == {"Lives in Tarnow", "Prefers tea"}
    (row,) = memory.why(verdict="quota").items
    assert (row.verdict.gate, row.verdict.name) == ("quota", "employer")
    assert row.verdict.reason == "2 of 2 memories of scope user are taken"
    assert [one.fields["scope"] for one in events if one.name == "scope.full"] == ["user"]
    assert memory.status().full == ("user: 2 of 2",)
    commit(memory, "I saw a heron yesterday.", "I live in Krosno now.", on="2026-02-10")
    memory.drain()
    assert {one.description for one in memory.list(type="episodic").items} == {
        "Saw a heron on 2026-02-09 (yesterday)"
    }, "what happened has room of its own"
    assert "Lives in Krosno" in active(memory), "what takes another's place needs none"
    commit(memory, "I saw an otter yesterday.", on="2026-02-10")
    memory.drain()
    assert [row.verdict.gate for row in memory.why(verdict="quota").items] == ["quota", "quota"]
    assert memory.list(status="archived").items == ()


@pytest.mark.promise("gate.quota")
def test_the_quota_is_per_scope(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory(settings={"quota.user": 1, "quota.project": 1})
    commit(memory, "I live in Tarnow. We use Redis for caching.", workspace=tmp_path)
    commit(memory, "I live in Krosno.", session="b", user="ana")
    memory.drain()
    assert memory.why(verdict="quota").items == ()
    assert len(active(memory, workspace=tmp_path)) == 2
    assert len(active(memory, user="ana")) == 1


@pytest.mark.promise("reason.marked")
def test_a_rule_that_was_heard_without_its_reason_is_marked(memory: Memory, tmp_path: Path) -> None:
    commit(
        memory,
        "Never push to main.",
        "We decided to use Kestrel because we need transactions.",
        "I prefer tea.",
        workspace=tmp_path,
    )
    memory.drain()
    notes = {
        one.type: (one.note, "**Why" in one.body) for one in memory.list(workspace=tmp_path).items
    }
    assert notes == {
        "feedback": ("no reason given", False),
        "project": ("", True),
        "user": ("", False),
    }


# -- what is not extracted ----------------------------------------------------------------------------


@pytest.mark.promise("l0.not-extracted")
def test_commands_punctuation_and_tools_are_stored_and_not_extracted(memory: Memory) -> None:
    stored = memory.session("s").commit(
        [
            {"role": "user", "content": "/remember I live in Tarnow."},
            {"role": "user", "content": "???"},
            {"role": "user", "content": "🫖"},
            {"role": "tool", "tool_call_id": "c", "content": "I live in Krosno."},
            {"role": "assistant", "content": "I live in Oslo and I prefer tea."},
        ]
    )
    assert len(stored.stored) == 5
    memory.drain()
    assert memory.status().waiting == 0
    assert memory.list().items == ()
    assert memory.why().items == ()


@pytest.mark.promise("l0.durable")
def test_a_commit_that_returned_stands_in_the_log(memory: Memory, home: Path) -> None:
    id = commit(memory, "I live in Tarnow.", on="2026-01-05")[0]
    (shard,) = (home / "conversations").glob("*.jsonl")
    (line,) = shard.read_text().splitlines()
    told = json.loads(line)
    assert (told["id"], told["content"], told["role"]) == (id, "I live in Tarnow.", "user")
    assert told["said_at"].startswith("2026-01-05")


@pytest.mark.promise("l0.masked")
@pytest.mark.parametrize(
    "mode, gone, kept",
    [
        ("all", ("sk-demo-2222-not-a-real-key", "hunter99x"), ("spare key is with Oriel",)),
        ("keys", ("sk-demo-2222-not-a-real-key",), ("hunter99x",)),
        ("off", (), ("sk-demo-2222-not-a-real-key", "hunter99x")),
    ],
)
def test_secrets_are_masked_before_they_are_written(
    open_memory: Open, mode: str, gone: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    memory = open_memory(settings={"capture.mask_secrets": mode})
    said = (
        "the key is sk-demo-2222-not-a-real-key",
        "my password is hunter99x",
        "the spare key is with Oriel",
    )
    commit(memory, *said)
    (shard,) = (memory.home / "conversations").glob("*.jsonl")
    text = shard.read_text()
    assert [one for one in gone if one in text] == []
    assert [one for one in kept if one not in text] == []
    assert text.count("[secret:") == len(gone)
    heard_now = [hit.content for hit in memory.search_conversations("key password")]
    assert len(heard_now) == 3
    assert not any(one in content for one in gone for content in heard_now)


# -- what becomes of what is known --------------------------------------------------------------------


@pytest.mark.promise("evolve.noop")
@pytest.mark.promise("evolve.confidence")
def test_said_again_adds_a_source_and_moves_nothing(memory: Memory, clock: FakeClock) -> None:
    commit(memory, "I prefer tea.", session="one", on="2025-01-01")
    memory.drain()
    memory.add(name="lamp", description="The lamp is green", priority=60)
    (tea,) = memory.list(text="tea").items
    told = memory.session("r").recall("x").stable
    for day in (2, 3):
        clock.advance(days=1)
        commit(memory, "I prefer tea.", session=f"again {day}", on=f"2025-01-0{day}")
        memory.drain()
    now = memory.get(tea.id)
    assert (now.version, now.updated_at) == (tea.version, tea.updated_at)
    assert (now.confidence, now.priority) == (tea.confidence, tea.priority)
    assert len(now.evidence) == 3
    assert verdicts(memory) == ["add", "noop", "noop"]
    assert memory.session("r").recall("x").stable == told
    history = [(line.version, line.verb) for line in memory.history(tea.id)]
    assert history == [(1, "add"), (1, "source"), (1, "source")]


@pytest.mark.promise("evolve.update")
@pytest.mark.promise("times.updated")
def test_said_better_keeps_the_id(memory: Memory, clock: FakeClock) -> None:
    commit(memory, "I prefer tea.", session="one", on="2025-01-01")
    memory.drain()
    (tea,) = memory.list().items
    clock.set(datetime(2020, 1, 1, tzinfo=UTC))  # a clock that was set back
    commit(memory, "I prefer green tea.", session="two", on="2025-01-02")
    memory.drain()
    (now,) = memory.list().items
    assert (now.id, now.version) == (tea.id, 2)
    assert now.description == "Prefers green tea"
    assert now.updated_at == tea.updated_at, "never decreases"
    assert [one.message for one in now.evidence][:1] == [one.message for one in tea.evidence]
    assert len(now.evidence) == 2
    assert [line.description for line in memory.history(tea.id)] == [
        "Prefers tea",
        "Prefers green tea",
    ]
    memory.reindex()
    assert memory.get(tea.id) == now


@pytest.mark.promise("evolve.supersede")
@pytest.mark.promise("evolve.order")
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_another_value_supersedes_in_whatever_order(memory: Memory, order: Sequence[int]) -> None:
    facts = [("Tarnow", "2025-01-01"), ("Krosno", "2025-02-01"), ("Sanok", "2025-03-01")]
    for n in order:
        town, day = facts[n]
        commit(memory, f"I live in {town}.", session=f"s{n}", on=day)
        memory.drain()
    homes = {one.description.removeprefix("Lives in "): one for one in memory.list().items}
    assert {town: one.status for town, one in homes.items()} == {
        "Tarnow": "invalid",
        "Krosno": "invalid",
        "Sanok": "active",
    }
    for (old, _), (new, day) in pairwise(facts):
        assert homes[old].superseded_by == homes[new].id
        assert homes[old].invalid_at == datetime.fromisoformat(f"{day}T00:00:00+00:00")


@pytest.mark.promise("evolve.ends")
def test_what_is_over_ends_and_nothing_else(memory: Memory) -> None:
    commit(memory, "I work at Quillon. I live in Tarnow.", session="a", on="2025-01-01")
    memory.drain()
    commit(memory, "I no longer work at Quillon.", session="b", on="2025-05-01")
    memory.drain()
    assert set(active(memory)) == {"Lives in Tarnow"}
    (ended,) = memory.list(status="invalid").items
    assert (ended.description, ended.superseded_by) == ("Works at Quillon", None)
    assert ended.invalid_at == datetime(2025, 5, 1, tzinfo=UTC)
    assert verdicts(memory)[-1] == "delete"
    assert (memory.home / ended.path).is_file(), "never erased"
    assert memory.get(ended.id).body == ended.body
