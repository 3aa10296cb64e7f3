"""Scenes and persona by a model: it works on a copy, and what of that is wrong changes nothing."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.faults.works import traces

from memstrata import Memory, ModelFailed
from memstrata.adapters.model_scripted import Line, ScriptedModel
from memstrata.pipelines import ledger
from memstrata.ports import Answer, Question

pytestmark = pytest.mark.usefixtures("_layers")
NAME = "openai-compatible:scripted"
SHOWN = re.compile(r"^\[(k\d+)\] (.*?) \(", re.MULTILINE)


def operations(*given: dict[str, str]) -> str:
    return json.dumps({"operations": given})


def done() -> dict[str, str]:
    return {"do": "done"}


def write(
    file: str, *paragraphs: str, summary: str = "What is known of tea, Lyon and Brightwater"
) -> dict[str, str]:
    body = "\n\n".join(paragraphs)
    return {"do": "write", "file": file, "content": f"---\nsummary: {summary}\n---\n\n{body}"}


def lines(*given: tuple[str, str, list[str]]) -> str:
    return json.dumps({"lines": [{"layer": a, "text": b, "cites": c} for a, b, c in given]})


def telling(question: Question) -> str:
    """A good answer to either question: everything that is shown, told in one scene, or in lines."""
    shown = SHOWN.findall(question.user)
    if question.purpose == "persona":
        return lines(*(("facts", f"{text}.", [id]) for id, text in shown))
    return operations(
        write("life", *(f"{text}, they say. <!-- {id} -->" for id, text in shown)), done()
    )


class Home:
    """A memory with some facts and a model that tells of them as it is told to."""

    def __init__(self, open_memory: Open, **settings: object) -> None:
        self.model = ScriptedModel()
        self.memory: Memory = open_memory(
            model=self.model, settings={"extraction.model": NAME, **settings}
        )
        for text in ("Prefers mint tea", "Lives in Lyon", "Works at Brightwater"):
            self.memory.add(name=text, description=text)

    def drain(self, *script: Line) -> None:
        self.model.say(*script)
        self.memory.drain()

    @property
    def texts(self) -> dict[str, str]:
        """Every file of scenes and persona."""
        home: Path = self.memory.home
        files = [
            *home.glob("scenes/*/*"),
            *home.glob("persona.md"),
            *home.glob("backups/**/*.jsonl"),
        ]
        return {one.name: one.read_text() for one in files}

    @property
    def failing(self) -> tuple[str, ...]:
        state = self.memory.status()
        return (*state.retrying, *state.parked)


@pytest.fixture
def facts(open_memory: Open) -> Home:
    return Home(open_memory, **{"persona.enabled": False})


@pytest.mark.promise("scene.agent")
def test_a_model_tells_scenes_with_file_tools(facts: Home) -> None:
    facts.drain(
        operations({"do": "list"}),
        operations(
            write("drinks", "Prefers mint tea over all else. <!-- k1 -->"),
            write(
                "life",
                "Lives in Lyon and works at Brightwater. <!-- k2, k3 -->",
                "Flies to Mars. <!-- k2 -->",
            ),
        ),
        operations({"do": "read", "file": "drinks"}),
        operations(
            {"do": "edit", "file": "drinks", "old": "over all else", "new": "to anything"}, done()
        ),
    )
    ids = {one.description: one.id for one in facts.memory.list().items}
    found = {one.name: one for one in facts.memory.scenes()}
    assert [(one.text, one.cites) for one in found["drinks"].paragraphs] == [
        ("Prefers mint tea to anything.", (ids["Prefers mint tea"],))
    ]
    assert [one.text for one in found["life"].paragraphs] == [
        "Lives in Lyon and works at Brightwater."
    ]
    assert found["life"].paragraphs[0].cites == (ids["Lives in Lyon"], ids["Works at Brightwater"])
    assert facts.memory.scene_versions()[0].who == NAME
    answers = [one.user for one in facts.model.questions]
    assert "drinks: Prefers mint tea" not in answers[0]
    assert "read drinks: ---\nsummary" in answers[3]
    assert {one.purpose for one in facts.model.questions} == {"scenes"}
    assert ledger.today(facts.memory._world)["scenes"].calls == 4
    facts.drain()
    assert len(facts.model.questions) == 4, "nothing new, nothing asked"


@pytest.mark.promise("scene.agent")
def test_only_what_is_new_is_shown(facts: Home) -> None:
    facts.drain(telling)
    facts.memory.add(name="boat", description="Has a small boat")
    facts.drain(
        operations(
            {"do": "read", "file": "life"}, write("boats", "Has a small boat. <!-- k4 -->"), done()
        )
    )
    last = facts.model.questions[-1].user
    assert re.findall(r"^\[k\d+\] (.*?) \(", last, re.MULTILINE) == ["Has a small boat"]
    assert "life (heat 1): What is known of tea" in last
    assert {one.name: one.heat for one in facts.memory.scenes()} == {"life": 1, "boats": 1}


TOOL = {"do": "write", "file": "life", "content": "x"}


@pytest.mark.promise("scene.bad-model")
@pytest.mark.parametrize(
    "script, reason",
    [
        (
            [operations(write("../outside", "Prefers mint tea <!-- k1 -->"), done())],
            "letters, digits",
        ),
        ([operations({"do": "read", "file": "/etc/passwd"})], "letters, digits"),
        (
            [
                operations(
                    *(write(f"f{n}", "Prefers mint tea <!-- k1 -->") for n in range(40)), done()
                )
            ],
            "at most 15",
        ),
        ([operations({"do": "list"})] * 20, "no end within 20 answers"),
        ([operations({"do": "delete", "file": "life"}, done())], "would be told of no more"),
        (
            [operations(write("x", "Prefers mint tea <!-- k99 -->"), done())],
            "which it was not shown",
        ),
        ([operations({**TOOL, "content": "Lives in Lyon <!-- k2 -->"}, done())], "no META head"),
        (
            [operations(write("x", *["Prefers mint tea a lot <!-- k1 -->"] * 80), done())],
            "at most 1,500",
        ),
        (
            [
                operations(
                    write("x", f"Prefers mint tea, and sk-proj-{'Zk3' * 16} <!-- k1 -->"), done()
                )
            ],
            "they would hold",
        ),
        (["Sorry, I cannot help with that."] * 2, "no JSON"),
        ([""] * 2, "an empty answer"),
        (['{"operations": 7}'] * 2, "none of the tools"),
        ([ModelFailed("the line is dead", reason="server")], "the line is dead"),
    ],
)
def test_a_bad_model_changes_nothing_and_the_reason_is_recorded(
    facts: Home, script: list[Line], reason: str
) -> None:
    facts.drain(telling)
    facts.memory.add(name="boat", description="Has a small boat")
    before = facts.texts
    facts.drain(*script)
    assert facts.texts == before
    (failing,) = facts.failing
    assert failing.startswith("scenes _global: unavailable:")
    assert reason in failing
    checks = {one.name: one for one in facts.memory.doctor()}
    assert not checks["layers"].ok
    assert reason in checks["layers"].found
    assert checks["extraction"].ok
    assert not (facts.memory.home.parent / "outside.md").exists()


@pytest.mark.promise("scene.bad-model")
def test_a_run_has_so_many_seconds(open_memory: Open, clock: FakeClock) -> None:
    def slow(question: Question) -> str:
        clock.advance(seconds=200)
        return operations({"do": "list"})

    home = Home(open_memory, **{"persona.enabled": False})
    home.drain(slow, slow)
    (failing,) = home.failing
    assert "took longer than 300 s" in failing
    assert home.model.questions[1].deadline == 60.0


@pytest.mark.promise("scene.bad-model")
def test_after_five_tries_it_is_set_aside_until_somebody_asks(
    facts: Home, clock: FakeClock
) -> None:
    bad = operations({"do": "write", "file": "../x", "content": "y"})
    for _ in range(5):
        facts.drain(bad)
        clock.advance(hours=2)
    assert facts.memory.status().parked
    facts.drain()
    assert facts.memory.scenes() == ()
    facts.memory.request_scenes()
    facts.drain(telling)
    assert [one.name for one in facts.memory.scenes()] == ["life"]
    assert facts.failing == ()


def test_more_memories_than_one_run_shows_have_another(facts: Home) -> None:
    for number in range(60):
        facts.memory.add(name=f"town {number}", description=f"Has been in town number {number}")

    def told(question: Question) -> str:
        shown = SHOWN.findall(question.user)
        name = f"part-{shown[0][0]}-{len(shown)}"
        return operations(write(name, *(f"{text} <!-- {id} -->" for id, text in shown[:9])), done())

    facts.drain(told, told)
    assert [len(SHOWN.findall(one.user)) for one in facts.model.questions] == [40, 23]
    assert len(facts.memory.scenes()) == 2


# -- what is gone -----------------------------------------------------------------------------------


@pytest.mark.promise("scene.gone")
def test_what_is_gone_leaves_without_a_model_and_what_stood_beside_it_is_told_again(
    facts: Home,
) -> None:
    facts.drain(
        operations(
            write(
                "life",
                "Lives in Lyon, prefers mint tea. <!-- k1, k2 -->",
                "Works at Brightwater. <!-- k3 -->",
            ),
            done(),
        )
    )
    gone = next(one.id for one in facts.memory.list().items if "tea" in one.description)
    facts.memory.delete(gone)

    def again(question: Question) -> str:
        assert [text for _, text in SHOWN.findall(question.user)] == ["Lives in Lyon"]
        assert "tea" not in question.user.partition("~~~ memories")[2]
        return operations(
            {
                "do": "edit",
                "file": "life",
                "old": "Works at Brightwater. <",
                "new": "Lives in Lyon. <!-- k2 -->\n\nWorks at Brightwater. <",
            },
            done(),
        )

    facts.drain(again)
    assert [one.text for one in facts.memory.scenes()[0].paragraphs] == [
        "Lives in Lyon.",
        "Works at Brightwater.",
    ]


# -- the persona ------------------------------------------------------------------------------------


@pytest.fixture
def whole(open_memory: Open) -> Home:
    """A home with scenes, of which a persona is about to be made."""
    return Home(open_memory)


@pytest.mark.promise("persona.model")
def test_a_model_writes_the_persona_from_scenes_and_memories(whole: Home) -> None:
    answer = lines(
        ("protocol", "Offer mint tea first.", ["scene:life"]),
        ("facts", "Lives in Lyon. Owns a yacht.", ["k2"]),
        ("decisions", "Speculates wildly.", ["k3"]),
    )
    whole.drain(telling, answer)
    found = whole.memory.persona()
    assert [(one.section, one.text, one.cites) for one in found.lines] == [
        ("Base facts", "Lives in Lyon.", (whole.memory.list(text="Lyon").items[0].id,)),
        ("How to work together", "Offer mint tea first.", ("_global/life",)),
    ]
    assert {one.name for one in whole.memory.trace("persona/2").memories} == {
        "Prefers mint tea", "Lives in Lyon", "Works at Brightwater"
    }  # fmt: skip
    assert whole.memory.persona_versions()[0].who == NAME


@pytest.mark.promise("scene.gone")
@pytest.mark.promise("scene.erase")
@pytest.mark.parametrize("erased", [False, True])
def test_a_line_on_a_scene_that_told_of_what_is_gone_goes_with_it(
    whole: Home, erased: bool
) -> None:
    lyon = ("facts", "Lives in Lyon.", ["k2"])
    whole.drain(telling, lines(("protocol", "Offer mint tea first.", ["scene:life"]), lyon))
    gone = next(one.id for one in whole.memory.list().items if "tea" in one.description)
    if erased:
        assert whole.memory.forget(ids=[gone]).counts["texts"] == 4
        assert traces(whole.memory.home, "mint") == []
    else:
        whole.memory.delete(gone)
    whole.drain(lines(lyon))
    assert [one.text for one in whole.memory.persona().lines] == ["Lives in Lyon."]
    assert ["mint" in one.text for one in whole.memory.scenes()] == [False]
    assert whole.model.questions[-1].purpose == "persona", "told anew"


@pytest.mark.promise("persona.model")
def test_only_changed_scenes_are_read_again(whole: Home) -> None:
    whole.drain(telling, telling)
    whole.memory.add(name="boat", description="Has a small boat")
    whole.drain(operations(write("boats", "Has a small boat. <!-- k4 -->"), done()))
    assert len(whole.model.questions) == 3, "one memory since the last is not enough"
    whole.memory.request_persona()
    whole.drain(lambda question: lines(("facts", "Has a small boat.", ["scene:boats"])))
    asked = whole.model.questions[-1].user
    assert "[scene:boats]" in asked
    assert "[scene:life]" not in asked
    assert "facts: Lives in Lyon. [k" in asked


@pytest.mark.promise("persona.model")
@pytest.mark.parametrize(
    "script",
    [
        [lines(("facts", "Owns three yachts.", ["k1"]))],
        [lines(("facts", "Lives in Lyon.", ["k99"]))] * 2,
        [lines(("facts", "Lives in Lyon.", []))] * 2,
        ['{"lines": []}'],
        ["no"] * 2,
        [ModelFailed("the line is dead", reason="server")],
    ],
)
def test_a_bad_persona_changes_nothing(whole: Home, script: list[Line]) -> None:
    whole.drain(telling, telling)
    before = whole.texts
    whole.memory.request_persona()
    whole.memory.add(name="boat", description="Has a small boat")
    whole.drain(*script, operations(write("boats", "Has a small boat. <!-- k4 -->"), done()))
    after = whole.texts
    assert after["persona.md"] == before["persona.md"]
    assert after["persona.jsonl"] == before["persona.jsonl"]
    assert [one.partition(":")[0] for one in whole.failing] == ["persona requested"]


def test_the_budget_of_the_day_pauses_them(open_memory: Open, clock: FakeClock) -> None:
    def costly(question: Question) -> Answer:
        return Answer(telling(question), "m", 900, 200, 0.1)

    home = Home(open_memory, **{"budget.daily_tokens": 1_000})
    home.drain(costly)
    assert [one.name for one in home.memory.scenes()] == ["life"]
    assert home.memory.persona().lines == ()
    home.drain()
    clock.advance(timedelta(days=1))
    home.drain(costly)
    assert len(home.memory.persona().lines) == 3


# -- what it will cost ------------------------------------------------------------------------------


@pytest.mark.promise("budget.estimate")
def test_about_how_many_calls_is_told_before(open_memory: Open, memory: Memory) -> None:
    assert memory.estimate() is None, "without a model nothing is asked"
    home = Home(open_memory, **{"extraction.batch_tokens": 100})
    chat = home.memory.session("chat")
    words: dict[str, Any] = {"role": "user", "content": "so many words " * 40}
    chat.commit([words, {"role": "assistant", "content": "Noted."}])
    found = home.memory.estimate()
    assert found is not None
    assert (found.model, found.messages, found.extraction) == (NAME, 2, 4)
    assert (found.scenes, found.persona) == (3, 1)
    assert found.calls == 8
