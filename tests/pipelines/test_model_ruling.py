"""A model rules on what is like something known: one call a batch, and only what a ruling may do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Memory, ModelFailed
from memstrata.adapters.model_scripted import Line, ScriptedModel
from memstrata.pipelines import extract
from memstrata.pipelines.read import Record
from memstrata.ports import Answer, Question, VerdictRow

NAME = "openai-compatible:scripted"
Item = dict[str, Any]


def item(description: str, message: int = 1, quote: str = "", **fields: Any) -> Item:
    """A candidate that quotes message `m1` (or another) of its batch."""
    plain: Item = {
        "scope": "user",
        "type": "user",
        "name": description,
        "description": description,
        "confidence": 0.9,
        "evidence": [{"message": f"m{message}", "quote": quote or description}],
    }
    return plain | fields


def candidates(*items: Item) -> str:
    return json.dumps({"candidates": items})


def decisions(*rulings: tuple[str, str]) -> str:
    """An answer with a decision and a target for each candidate, in order."""
    found = [
        {"candidate": number, "decision": decision, "target": target, "reason": "so"}
        for number, (decision, target) in enumerate(rulings, start=1)
    ]
    return json.dumps({"decisions": found})


HARROW = item("Works at Harrow", slot="employer", entities=["Harrow"])
QUILL = item("Works at Quill", slot="employer", entities=["Quill"])


class Chat:
    """A memory whose model says what it is told, turn by turn, an hour apart."""

    def __init__(self, open_memory: Open, clock: FakeClock, **settings: object) -> None:
        self.clock = clock
        self.model = ScriptedModel()
        self.memory: Memory = open_memory(
            model=self.model, settings={"extraction.model": NAME, **settings}
        )

    def say(self, *items: Item, rulings: Line | None = None, day: str = "2026-03-10") -> None:
        """The user says the description of each item; it is extracted, and ruled on if asked."""
        self.clock.advance(hours=1)
        texts = [one["evidence"][0]["quote"] for one in items]
        turn = [{"role": "user", "content": text, "said_at": day} for text in texts]
        self.memory.session("s").commit(turn)
        numbered = [
            one | {"evidence": [{"message": f"m{n}", "quote": one["evidence"][0]["quote"]}]}
            for n, one in enumerate(items, start=1)
        ]
        self.model.say(candidates(*numbered), *([] if rulings is None else [rulings]))
        self.memory.drain()

    @property
    def purposes(self) -> list[str]:
        """What the model was asked for, in order."""
        return [one.purpose for one in self.model.questions]

    @property
    def active(self) -> dict[str, Record]:
        return {one.description: one for one in self.memory.list(status="active").items}

    @property
    def last(self) -> VerdictRow:
        """The latest verdict."""
        return self.memory.why().items[0]


@pytest.fixture
def chat(open_memory: Open, clock: FakeClock) -> Chat:
    """A chat that knows where the user works."""
    found = Chat(open_memory, clock)
    found.say(HARROW, day="2026-03-01")
    assert found.purposes == ["extraction"], "nothing is known yet: nothing to ask"
    return found


# -- each ruling ------------------------------------------------------------------------------------


@pytest.mark.promise("evolve.ruling")
@pytest.mark.parametrize(
    "one, decision, verdict, left",
    [
        (QUILL, "update", "update", {"Works at Quill"}),
        (QUILL, "add", "add", {"Works at Harrow", "Works at Quill"}),
        (QUILL, "store", "add", {"Works at Harrow", "Works at Quill"}),
        (
            item("Works at Harrow Tools", entities=["Harrow"]),
            "update",
            "update",
            {"Works at Harrow Tools"},
        ),
        (
            item("Sells saws for Harrow", entities=["Harrow"]),
            "merge",
            "merge",
            {"Works at Harrow; Sells saws for Harrow"},
        ),
        (item("Harrow is where I work", entities=["Harrow"]), "noop", "noop", {"Works at Harrow"}),
        (item("Harrow is where I work", entities=["Harrow"]), "skip", "noop", {"Works at Harrow"}),
        (
            item("I no longer work at Harrow", change="ends", entities=["Harrow"]),
            "delete",
            "delete",
            set(),
        ),
        (item("I quit Harrow", entities=["Harrow"]), "DELETE", "delete", set()),
    ],
)
def test_each_ruling_does_what_it_says(
    chat: Chat, one: Item, decision: str, verdict: str, left: set[str]
) -> None:
    old = chat.active["Works at Harrow"]
    chat.say(one, rulings=decisions((decision, "k1")))
    assert chat.purposes == ["extraction", "extraction", "evolution"]
    assert set(chat.active) == left
    row = chat.last.verdict
    assert (row.verdict, row.gate) == (verdict, "duplicates" if verdict == "noop" else "")
    assert "refused" not in row.reason
    now = chat.memory.get(old.id)
    assert now.version == old.version + (verdict in ("update", "merge", "delete"))
    sources = {"add": 1, "update": 1 if one is QUILL else 2}.get(verdict, 2)
    assert len(now.evidence) == sources
    if verdict == "noop":
        assert (now.updated_at, now.description) == (old.updated_at, old.description)
    if one is QUILL and verdict == "update":
        new = chat.active["Works at Quill"]
        assert (now.superseded_by, now.invalid_at) == (new.id, new.said_at)
    assert (now.confidence, now.priority) == (old.confidence, old.priority)
    before = chat.memory.list().items
    chat.memory.reindex()
    assert chat.memory.list().items == before


@pytest.mark.promise("evolve.order")
def test_what_was_said_earlier_is_added_as_ended(chat: Chat) -> None:
    chat.say(QUILL, rulings=decisions(("update", "k1")), day="2026-02-01")
    assert set(chat.active) == {"Works at Harrow"}
    (past,) = (one for one in chat.memory.list().items if one.description == "Works at Quill")
    assert past.superseded_by == chat.active["Works at Harrow"].id
    assert chat.last.verdict.reason == "superseded already by what was said later"


# -- what it may not ----------------------------------------------------------------------------------


@pytest.mark.promise("evolve.ruling-limits")
@pytest.mark.parametrize(
    "one, decision, target, why",
    [
        (item("Rows at Harrow weir", slot="sport"), "update", "k9", "no memory that it was shown"),
        (
            item("Rows at the weir of Works", slot="sport"),
            "update",
            "k1",
            "neither slot nor entity",
        ),
        (
            item("Ines works at Harrow", subject="ines", entities=["Harrow"]),
            "merge",
            "k1",
            "subject",
        ),
        (item("Never works at Harrow on Monday", entities=["Harrow"]), "noop", "k1", "denies"),
        (item("Works at New Harrow", entities=["New Harrow"]), "merge", "k1", "begins otherwise"),
        (item("Works at Harrow on Mondays", entities=["Harrow"]), "delete", "k1", "do not say"),
    ],
)
def test_a_refused_ruling_adds_for_review_and_why_says_so(
    chat: Chat, one: Item, decision: str, target: str, why: str
) -> None:
    chat.say(one, rulings=decisions((decision, target)))
    assert set(chat.active) == {"Works at Harrow", one["description"]}
    row = chat.last.verdict
    assert row.verdict == "add"
    assert "the model's ruling was refused" in row.reason
    assert why in row.reason
    assert chat.active[one["description"]].note.startswith("for review: ")
    assert why in chat.active[one["description"]].note


@pytest.mark.promise("evolve.near-text")
@pytest.mark.parametrize("decision", ["merge", "noop"])
@pytest.mark.parametrize(
    "known, one",
    [
        (
            item("Ines owns the billing service", subject="ines", entities=["billing service"]),
            item("Tomas owns the billing service", subject="tomas", entities=["billing service"]),
        ),
        (item("Likes coriander in soup"), item("Does not like coriander in soup")),
        (item("Rents a garden in York"), item("Rents a garden in New York")),
        (item("The mill pays 900 a week"), item("The mill pays 950 a week")),
        (item("我喜欢吃香菜"), item("我不喜欢吃香菜")),
    ],
    ids=["owners", "negation", "place", "number", "chinese"],
)
def test_near_texts_stay_apart_whatever_is_ruled(
    open_memory: Open, clock: FakeClock, known: Item, one: Item, decision: str
) -> None:
    chat = Chat(open_memory, clock)
    chat.say(known)
    chat.say(one, rulings=decisions((decision, "k1")), day="2026-03-12")
    assert set(chat.active) == {known["description"], one["description"]}
    assert "was refused" in chat.last.verdict.reason
    assert all(len(kept.evidence) == 1 for kept in chat.active.values())


@pytest.mark.promise("evolve.authority")
def test_the_assistant_ends_nothing_that_the_user_said(open_memory: Open, clock: FakeClock) -> None:
    chat = Chat(open_memory, clock)
    deploys: Item = {"type": "reference", "slot": "deployment"}
    chat.say(item("Deploys run on Nomad", **deploys), day="2026-03-01")
    said = [
        {"role": "user", "content": "And now?", "said_at": "2026-03-10"},
        {"role": "assistant", "content": "Deploys run on Kestrel", "said_at": "2026-03-10"},
    ]
    chat.memory.session("s").commit(said)
    chat.model.say(
        candidates(item("Deploys run on Kestrel", message=2, **deploys)),
        decisions(("update", "k1")),
    )
    chat.memory.drain()
    assert set(chat.active) == {"Deploys run on Nomad", "Deploys run on Kestrel"}
    added = chat.active["Deploys run on Kestrel"]
    assert (added.authority, added.note.startswith("for review")) == ("assistant", True)


@pytest.mark.promise("gate.sensitive")
def test_the_result_goes_past_the_sensitive_gate_again(open_memory: Open, clock: FakeClock) -> None:
    """Neither half is a secret; the known name and the new words together are."""
    chat = Chat(open_memory, clock)
    chat.say(item("Opens the shed", name="Shed password"))
    half = item("Xk29vTq8LmP4 opens the shed", name="the shed")
    chat.say(half, rulings=decisions(("update", "k1")))
    row = chat.last.verdict
    assert (row.verdict, row.gate) == ("sensitive", "sensitive")
    assert set(chat.active) == {"Opens the shed"}
    chat.say(half | {"name": "The password is"}, rulings=decisions(("add", "")))
    assert chat.last.verdict.verdict == "sensitive"
    assert set(chat.active) == {"Opens the shed"}


# -- what is asked, and what not --------------------------------------------------------------------


@pytest.mark.promise("evolve.one-call")
def test_nothing_alike_and_the_very_same_cost_no_call(chat: Chat) -> None:
    chat.say(item("Owns a rowing boat"))
    chat.say(item("works at HARROW", slot="employer"))
    assert chat.purposes == ["extraction"] * 3
    assert chat.last.verdict.verdict == "noop"
    assert len(chat.active["Works at Harrow"].evidence) == 2
    assert set(chat.active) == {"Works at Harrow", "Owns a rowing boat"}


def test_the_word_user_alone_is_no_likeness(open_memory: Open, clock: FakeClock) -> None:
    chat = Chat(open_memory, clock)
    for text, quote in (("User rows a boat", "I row a boat"), ("User bakes bread", "I bake bread")):
        chat.say(item(text, quote=quote))
    assert chat.purposes == ["extraction", "extraction"]
    assert len(chat.active) == 2


@pytest.mark.promise("evolve.one-call")
@pytest.mark.parametrize(
    "fields, verdict",
    [
        ({"confidence": 0.2}, "low_confidence"),
        ({"priority": 10}, "low_priority"),
        ({"description": "Works at Harrow this time"}, "transient"),
        ({"description": "Works at Harrow with Oriel"}, "unsupported"),
        ({"scope": "project"}, "no_workspace"),
        ({"body": "My passport number is X12345678."}, "sensitive"),
    ],
)
def test_what_another_gate_refuses_is_never_shown(chat: Chat, fields: Item, verdict: str) -> None:
    chat.say(item("Works at Harrow every day", entities=["Harrow"]) | fields)
    assert chat.purposes == ["extraction", "extraction"]
    assert chat.last.verdict.verdict == verdict
    assert set(chat.active) == {"Works at Harrow"}


@pytest.mark.promise("evolve.one-call")
def test_one_call_for_all_that_is_alike_and_verdicts_in_order(chat: Chat) -> None:
    chat.say(item("Prefers green tea"))
    asked: list[str] = []

    def hear(question: Question) -> str:
        asked.append(question.user)
        return decisions(("update", "k1"), ("noop", "k2"))

    chat.say(
        QUILL,
        item("Owns a rowing boat"),
        item("Unsure about Harrow", confidence=0.1),
        item("Green tea is what I like", name="tea"),
        rulings=hear,
        day="2026-03-12",
    )
    (user,) = asked
    assert "candidate 1: Works at Quill" in user
    assert "candidate 2: tea: Green tea" in user
    assert "boat" not in user
    assert "Unsure" not in user
    assert [row.verdict.verdict for row in reversed(chat.memory.why(limit=4).items)] == [
        "update",
        "add",
        "low_confidence",
        "noop",
    ]


@pytest.mark.promise("ledger.every-call")
def test_the_calls_are_booked_under_their_purpose(chat: Chat, home: Path) -> None:
    chat.say(QUILL, rulings=Answer(decisions(("update", "k1")), "m", 70, 8, 0.1))
    (shard,) = (home / "ledger").glob("*.jsonl")
    lines = [json.loads(line) for line in shard.read_text().splitlines()]
    assert [line["purpose"] for line in lines] == ["extraction", "extraction", "evolution"]
    assert lines[1]["batch"] == lines[2]["batch"] == chat.last.batch
    assert (lines[2]["model"], lines[2]["outcome"], lines[2]["tokens_in"]) == (NAME, "answered", 70)
    assert chat.memory.status().spent["evolution"].tokens == 78
    assert "Quill" not in shard.read_text()


def test_without_a_model_nobody_is_asked(memory: Memory) -> None:
    for text, day in (
        ("I work at Quillon.", "2026-01-01"),
        ("I work at Brightwater.", "2026-02-01"),
    ):
        memory.session("s").commit([{"role": "user", "content": text, "said_at": day}])
        memory.drain()
    assert [one.description for one in memory.list(status="active").items] == [
        "Works at Brightwater"
    ]
    assert dict(memory.status().spent) == {}


# -- answers that cannot be used ----------------------------------------------------------------------


@pytest.mark.promise("evolve.ruling-limits")
def test_a_decision_that_cannot_be_read_leaves_it_to_the_rules(chat: Chat) -> None:
    good = {"candidate": 1, "decision": "update", "target": "k1"}
    bad = {"candidate": 2, "decision": "perhaps", "target": "k1"}
    first = json.dumps({"decisions": [good, bad]})
    again = json.dumps({"decisions": [bad]})
    turn = item("Lunch at Harrow is at noon", slot="lunch", entities=["Harrow"])
    chat.memory.session("s").commit(
        [
            {"role": "user", "content": "Works at Quill", "said_at": "2026-03-10"},
            {"role": "user", "content": "Lunch at Harrow is at noon", "said_at": "2026-03-10"},
        ]
    )
    lunch = turn | {"evidence": [{"message": "m2", "quote": "Lunch at Harrow is at noon"}]}
    chat.model.say(candidates(QUILL, lunch), first, again)
    chat.memory.drain()
    assert chat.purposes[-3:] == ["extraction", "evolution", "evolution"], "asked once more"
    assert set(chat.active) == {"Works at Quill", "Lunch at Harrow is at noon"}
    assert "it gave none that can be read" in chat.last.verdict.reason
    assert chat.active["Lunch at Harrow is at noon"].note == ""


def test_no_decision_on_a_candidate_leaves_it_to_the_rules(chat: Chat) -> None:
    chat.say(QUILL, rulings='{"decisions": []}')
    assert set(chat.active) == {"Works at Quill"}
    assert "it gave none that can be read" in chat.last.verdict.reason


@pytest.mark.promise("case.m6")
@pytest.mark.parametrize("failing", [ModelFailed("away", reason="server"), "no idea", ""])
def test_a_call_that_fails_fails_the_batch_and_nothing_is_saved(
    chat: Chat, clock: FakeClock, failing: Line
) -> None:
    chat.model.say(
        candidates(QUILL), failing, *([] if isinstance(failing, ModelFailed) else [failing])
    )
    chat.memory.session("s").commit(
        [{"role": "user", "content": "Works at Quill", "said_at": "2026-03-10"}]
    )
    before = chat.memory.list().items, len(chat.memory.why().items)
    done = chat.memory.drain()
    assert done.retrying or done.parked
    assert (chat.memory.list().items, len(chat.memory.why().items)) == before
    assert chat.memory.status().waiting == 1
    clock.advance(days=1)
    chat.model.say(candidates(QUILL), decisions(("update", "k1")))
    chat.memory.drain()
    assert set(chat.active) == {"Works at Quill"}
    assert chat.memory.status().waiting == 0


# -- what moves meanwhile ---------------------------------------------------------------------------


def test_mates_of_a_batch_meet(chat: Chat) -> None:
    chat.say(
        item("Quill is my employer now", name="a", slot="employer", entities=["Quill"]),
        item("Copper is my employer now", name="b", slot="employer", entities=["Copper"]),
        item("copper is MY employer now", name="c", slot="employer", entities=["Copper"]),
        rulings=decisions(("update", "k1"), ("update", "k1"), ("add", "")),
    )
    assert set(chat.active) == {"Copper is my employer now"}
    first, second, third = (row.verdict for row in reversed(chat.memory.why(limit=3).items))
    assert [one.verdict for one in (first, second, third)] == ["update", "update", "noop"]
    assert "refused" not in first.reason
    assert "not valid any more" in second.reason
    assert "the very same is known" in third.reason
    assert len(chat.active["Copper is my employer now"].evidence) == 2
    assert len(chat.memory.list().items) == 3


def test_a_ruling_that_knew_no_mate_does_not_stand_beside_it(chat: Chat) -> None:
    home: Item = {"slot": "home"}
    chat.say(
        item("Lives in Tarnow near Harrow", name="a", entities=["Tarnow", "Harrow"], **home),
        item("Lives in Krosno near Harrow", name="b", entities=["Krosno", "Harrow"], **home),
        rulings=decisions(("add", ""), ("add", "")),
    )
    assert set(chat.active) == {"Works at Harrow", "Lives in Krosno near Harrow"}


def meanwhile(other: Memory, text: str, answer: str) -> Line:
    """An answer for which the model takes so long that another process extracts `text` first."""
    turn = [{"role": "user", "content": text, "said_at": "2026-03-05"}]

    def think(_: Question) -> str:
        other.session("t").commit(turn)
        extract.extract(other._world, other._realm, "t")
        return answer

    return think


def test_a_stale_plan_runs_again_from_the_start(chat: Chat, open_memory: Open) -> None:
    saws = item("Sells saws for Harrow", entities=["Harrow"])
    merge = decisions(("merge", "k1"))
    slow = meanwhile(open_memory(), "I work at Harrow.", merge)
    chat.model.say(candidates(saws), slow, candidates(saws), merge)
    chat.memory.session("s").commit([{"role": "user", "content": "Sells saws for Harrow"}])
    chat.memory.drain()
    assert chat.purposes == ["extraction", *["extraction", "evolution"] * 2]
    (merged,) = chat.active.values()
    assert merged.description == "Works at Harrow; Sells saws for Harrow"
    assert (merged.version, len(merged.evidence)) == (2, 3)
    assert len(chat.memory.why(session="s").items) == 2, "the first try left nothing"


def test_what_came_into_its_slot_meanwhile_is_seen(chat: Chat, open_memory: Open) -> None:
    slow = meanwhile(open_memory(), "I work at Brightwater.", decisions(("update", "k1")))
    chat.say(QUILL, rulings=slow)
    assert set(chat.active) == {"Works at Quill"}
    by_text = {one.description: one for one in chat.memory.list().items}
    brightwater = by_text["Works at Brightwater"]
    assert by_text["Works at Harrow"].superseded_by == brightwater.id
    assert brightwater.superseded_by == by_text["Works at Quill"].id


@pytest.mark.promise("gate.quota")
def test_only_a_ruling_that_adds_needs_room(open_memory: Open, clock: FakeClock) -> None:
    chat = Chat(open_memory, clock, **{"quota.user": 1})
    chat.say(HARROW, day="2026-03-01")
    chat.say(item("Eats lunch at Harrow", entities=["Harrow"]), rulings=decisions(("add", "")))
    assert chat.last.verdict.verdict == "quota"
    chat.say(QUILL, rulings=decisions(("update", "k1")), day="2026-03-12")
    assert set(chat.active) == {"Works at Quill"}


@pytest.mark.promise("evolve.ruling")
def test_a_delete_of_what_says_more_than_an_end_loses_none_of_it(chat: Chat) -> None:
    chat.say(HARROW)
    quit = QUILL | {"evidence": [{"message": "m1", "quote": "I quit Harrow, I work at Quill now"}]}
    chat.say(quit, rulings=decisions(("delete", "k1")))
    items = {one.description: one.status for one in chat.memory.list().items}
    assert items == {"Works at Harrow": "invalid", "Works at Quill": "active"}


def test_a_target_may_be_named_by_its_name(chat: Chat) -> None:
    chat.say(HARROW)
    chat.say(QUILL, rulings=decisions(("update", "works at HARROW")))
    items = {one.description: one.status for one in chat.memory.list().items}
    assert items == {"Works at Harrow": "invalid", "Works at Quill": "active"}


@pytest.mark.promise("gate.support")
@pytest.mark.parametrize("question", ["What is 17 times 23?", "17乘以23是多少呢？"])
def test_a_question_states_nothing(chat: Chat, question: str) -> None:
    before = chat.memory.list().items
    chat.say(item(question))
    assert chat.memory.list().items == before
    assert chat.memory.status().verdicts["unsupported"] == 1
