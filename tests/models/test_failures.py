"""A model fails in every way there is: nothing is lost, nothing invented, all of it is seen."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from tests import stub_model as stub
from tests.conftest import Open
from tests.doubles import START, FakeClock
from tests.models.conftest import KEY, Opened
from tests.stub_model import GOOD, Reply, Request, StubModel, candidates, item

from memstrata import Memory
from memstrata.adapters.model_scripted import ScriptedModel

USER: Final = "I prefer tea to coffee."
REPLY: Final = "Then tea it is."
KEPT: Final = "The user prefers tea to coffee"
HOME: Final = item(name="home", description="The user lives in Porto", slot="home")
"""What nobody said."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What the model says in one try, what its problem is called, and what the ledger calls each call."""

    replies: tuple[Reply | str, ...]
    problem: str
    booked: tuple[str, ...]


FAILURES: Final = {
    "timeout": Failure((stub.timeout(),), "no answer within 0.2 s", ("timeout",)),
    "rate limited": Failure((stub.rate_limited(90),), "HTTP 429", ("rate_limited",)),
    "server error": Failure((stub.server_error(),), "HTTP 500", ("server",)),
    "overloaded": Failure((stub.server_error(529),), "HTTP 529", ("server",)),
    "cut off": Failure((stub.cut_stream(),), "was cut off", ("cut",)),
    "another body": Failure((Reply(raw=b"{}"),), "not what its interface promises", ("server",)),
    "empty": Failure(("", ""), "an empty answer", ("answered",) * 2),
    "out of tokens": Failure(
        (stub.out_of_tokens("hm"), stub.out_of_tokens("hm")), "an empty answer", ("answered",) * 2
    ),
    "only thinking": Failure(("<think>tea?",) * 2, "asked twice", ("answered",) * 2),
    "prose": Failure((stub.PROSE,) * 2, "no JSON that can be read", ("answered",) * 2),
    "other prose": Failure((stub.OTHER_LANGUAGE,) * 2, "no JSON that can be read", ("answered",) * 2),
    "empty, then away": Failure(
        ("", stub.server_error(503)), "HTTP 503", ("answered", "server")
    ),
    "half a character": Failure(("\ud83d",) * 2, "no JSON that can be read", ("answered",) * 2),
}  # fmt: skip
"""What another try may mend."""

REFUSALS: Final = {
    "wrong key": Failure((stub.wrong_key(),), "HTTP 401", ("key",)),
    "unknown model": Failure((stub.unknown_model(),), "HTTP 404", ("model",)),
    "no quota": Failure(
        (Reply(status=403, error="forbidden", code="no_access"),), "HTTP 403", ("server",)
    ),
}
"""What no other try can mend."""


def commit(memory: Memory, text: str = USER, session: str = "s") -> None:
    """A turn, which is stored when this returns."""
    turn = [
        {"role": "user", "content": text, "said_at": "2026-03-10"},
        {"role": "assistant", "content": REPLY},
    ]
    assert len(memory.session(session).commit(turn).stored) == 2


def kept(memory: Memory) -> list[str]:
    """What is remembered."""
    return [one.description for one in memory.list().items]


def booked(home: Path) -> list[dict[str, Any]]:
    """The ledger's lines."""
    return [
        json.loads(line)
        for shard in sorted((home / "ledger").glob("*.jsonl"))
        for line in shard.read_text().splitlines()
    ]


def check_untouched(memory: Memory) -> None:
    """The conversation is whole and goes on as if there were no model; nothing was made up."""
    found = memory.search("tea", kinds=("message",))
    assert sorted(hit.content for hit in found) == [USER, REPLY]
    assert USER.rstrip(".") in memory.session("s").recall("Tea or coffee, which one?").turn
    assert kept(memory) == []


def check_shown(memory: Memory, name: str, problem: str) -> str:
    """Status and doctor say which model fails, why, and what waits; returns the line."""
    status = memory.status()
    assert status.extractor.startswith(name)
    (line,) = (*status.retrying, *status.parked)
    assert problem in line
    (check,) = [one for one in memory.doctor() if one.name == "extraction"]
    assert (check.ok, check.found, check.advice) == (False, line, "memstrata extract --retry")
    for secret in (KEY, "prefer", "sk-demo", "broke", "slow down"):
        assert secret not in line
    return line


def check_done(memory: Memory, *descriptions: str) -> None:
    """All is extracted, each once, and nothing is left to do."""
    assert kept(memory) == list(descriptions)
    status = memory.status()
    assert (status.waiting, status.retrying, status.parked, status.degraded) == (0, (), (), ())
    assert all(check.ok for check in memory.doctor())
    assert memory.drain().batches == 0
    assert len(memory.search("tea", kinds=("message",))) == 2


# -- no answer -------------------------------------------------------------------------------------


@pytest.mark.promise("model.failures")
@pytest.mark.promise("extract.never-blocks")
@pytest.mark.promise("ledger.every-call")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_failure_is_tried_again_when_it_is_due(
    failure: Failure,
    name: str,
    endpoint: StubModel,
    with_model: Opened,
    clock: FakeClock,
    home: Path,
) -> None:
    memory = with_model({"extraction.deadline_seconds": 0.2 if _hangs(failure) else 20})
    endpoint.say(*failure.replies, *failure.replies, candidates(GOOD))
    commit(memory)
    assert endpoint.requests == [], "a commit calls no model"
    for tries in (1, 2):
        done = memory.drain()
        assert (done.batches, len(done.retrying)) == (0, 1)
        check_untouched(memory)
        assert f"({tries} of 5 tries, again at" in check_shown(memory, name, failure.problem)
        assert memory.status().waiting == 2
        memory.drain()
        assert len(endpoint.requests) == tries * len(failure.replies), "not before its time"
        clock.advance(hours=1)
    memory.close()
    memory = with_model()
    memory.drain()
    check_done(memory, KEPT)
    lines = booked(home)
    assert [line["outcome"] for line in lines] == [*failure.booked * 2, "answered"]
    assert {line["model"] for line in lines} == {name}
    assert "tea" not in json.dumps(lines)


def _hangs(failure: Failure) -> bool:
    return any(isinstance(one, Reply) and one.hang for one in failure.replies)


@pytest.mark.promise("model.failures")
@pytest.mark.promise("extract.never-blocks")
@pytest.mark.parametrize(
    "failure", [*FAILURES.values(), *REFUSALS.values()], ids=[*FAILURES, *REFUSALS]
)
def test_what_was_set_aside_is_done_on_command(
    failure: Failure, name: str, endpoint: StubModel, with_model: Opened, clock: FakeClock
) -> None:
    memory = with_model(
        {
            "extraction.deadline_seconds": 0.2 if _hangs(failure) else 20,
            "extraction.max_tries": 5 if failure in REFUSALS.values() else 1,
        }
    )
    endpoint.say(*failure.replies, candidates(GOOD))
    commit(memory)
    assert len(memory.drain().parked) == 1
    check_untouched(memory)
    check_shown(memory, name, failure.problem)
    assert memory.status().degraded == ("1 jobs are set aside: memstrata extract --retry",)
    clock.advance(days=30)
    memory.drain()
    assert len(endpoint.requests) == len(failure.replies), "nobody told it to"
    memory.close()
    memory = with_model()
    memory.extract(retry=True)
    check_done(memory, KEPT)


@pytest.mark.promise("extract.never-blocks")
def test_nobody_listens_until_the_address_is_put_right(
    name: str, endpoint: StubModel, with_model: Opened
) -> None:
    with with_model({"extraction.base_url": stub.refused_url()}) as memory:
        commit(memory)
        assert memory.drain().retrying
        check_untouched(memory)
        check_shown(memory, name, f"{name}: cannot be reached")
    endpoint.say(candidates(GOOD))
    memory = with_model()
    check_shown(memory, name, "cannot be reached")
    memory.extract(retry=True)
    check_done(memory, KEPT)


@pytest.mark.promise("model.retry-after")
@pytest.mark.parametrize(
    "asked_for, least, most",
    [
        ("90", 90, 90),
        ("7", 7.5, 22.5),
        ("99999999999999999999", 86_400, 86_400),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 86_400, 86_400),
        ("1e400", 7.5, 22.5),
        ("-30", 7.5, 22.5),
        ("soon", 7.5, 22.5),
    ],
)
def test_retry_after_is_kept_to_and_to_a_day_at_most(
    asked_for: str,
    least: float,
    most: float,
    endpoint: StubModel,
    memory: Memory,
    clock: FakeClock,
) -> None:
    endpoint.say(Reply(status=429, headers={"Retry-After": asked_for}), candidates(GOOD))
    commit(memory)
    assert memory.drain().retrying
    clock.set(START + timedelta(seconds=least - 0.1))
    memory.drain()
    assert len(endpoint.requests) == 1
    clock.set(START + timedelta(seconds=most))
    memory.drain()
    check_done(memory, KEPT)


def test_a_session_that_fails_holds_no_other_up(endpoint: StubModel, memory: Memory) -> None:
    def reply(request: Request) -> Reply | str:
        return candidates(GOOD) if "coffee" in str(request.body) else stub.server_error()

    endpoint.say(reply, reply)
    commit(memory, "My flat is on the third floor.", "fails")
    commit(memory)
    done = memory.drain()
    assert (done.batches, len(done.retrying)) == (1, 1)
    assert kept(memory) == [KEPT]


@pytest.mark.promise("extract.never-blocks")
def test_the_conversation_goes_on_while_a_model_hangs(
    endpoint: StubModel, with_model: Opened
) -> None:
    endpoint.say(stub.timeout())
    with with_model({"worker.shutdown_seconds": 0.1}, background=True) as memory:
        commit(memory)
        assert endpoint.waiting.wait(20)
        check_untouched(memory)
        commit(memory, "And I take it without milk.", "t")
        assert memory.status().waiting == 4
    endpoint.say(candidates(GOOD), candidates())
    memory = with_model()
    assert memory.status().waiting == 4
    assert memory.extract(retry=True).messages == 4
    assert kept(memory) == [KEPT]
    assert memory.status().waiting == 0


@pytest.mark.parametrize("failure", ["server error", "empty", "prose", "wrong key"])
def test_a_trial_says_what_fails_and_keeps_nothing(
    failure: str, name: str, endpoint: StubModel, memory: Memory
) -> None:
    chosen = (FAILURES | REFUSALS)[failure]
    endpoint.say(*chosen.replies)
    found = memory.test_extraction()
    assert (found.ok, found.model, found.sample) == (False, name, ())
    assert chosen.problem in found.problem
    assert KEY not in found.problem
    status = memory.status()
    assert (status.messages, status.memories, status.retrying) == (0, {}, ())
    assert status.spent["test"].calls == len(chosen.booked)


# -- an answer -------------------------------------------------------------------------------------


@pytest.mark.promise("model.empty")
def test_nothing_to_note_is_an_outcome_and_an_empty_answer_is_none(
    endpoint: StubModel, memory: Memory, home: Path
) -> None:
    endpoint.say(candidates(), "", "")
    commit(memory)
    assert memory.drain().batches == 1
    check_done(memory)
    assert memory.why().items == ()
    commit(memory, "I take it without milk.", "t")
    done = memory.drain()
    assert (done.batches, len(done.retrying)) == (0, 1)
    assert len(booked(home)) == 3


BUT_CANDIDATES: Final = candidates(item(description="The user prefers coffee to tea", slot=""))
ANSWERS: Final[dict[str, list[Reply | str]]] = {
    "whole": [candidates(GOOD)],
    "fenced": [stub.FENCED],
    "bare list": [stub.BARE_LIST],
    "bad escape": [stub.BAD_ESCAPE],
    "half a JSON": [stub.HALF, candidates()],
    "out of tokens, then whole": [stub.out_of_tokens("hm"), candidates(GOOD)],
    "cut at the most tokens": [Reply(stub.HALF, finish="length"), candidates()],
    "prose, then whole": [stub.PROSE, candidates(GOOD)],
    "a field is missing": [stub.MISSING_FIELDS, candidates()],
    "an invented message beside": [
        candidates(GOOD, item(**HOME | {"evidence": [{"message": "m77", "quote": "Porto"}]})),
        candidates(),
    ],
    "an invented message, then the right one": [stub.INVENTED_IDS, candidates(GOOD)],
    "thinking in the text": [stub.THINKING],
    "thinking of its own": [Reply(candidates(GOOD), thinking=BUT_CANDIDATES)],
    "thinking of candidates": [f"<think>{BUT_CANDIDATES}</think>\n{candidates(GOOD)}"],
    "thinking without its beginning": [f"{BUT_CANDIDATES}</think>{candidates(GOOD)}"],
    "half a character": [candidates(item(body="\ud83d tea \ude00"))],
    "what nobody said": [candidates(GOOD, HOME)],
    "nobody's words": [candidates(GOOD, item(**HOME | {"evidence": [{"message": "m1", "quote": "I live in Porto"}]}))],
}  # fmt: skip
"""Answers that come to the one fact that was said, asked again where that helps."""


@pytest.mark.parametrize("replies", ANSWERS.values(), ids=ANSWERS)
def test_one_fact_was_said_and_one_is_kept(
    replies: list[Reply | str], endpoint: StubModel, memory: Memory
) -> None:
    endpoint.say(*replies)
    commit(memory)
    assert memory.drain().batches == 1
    check_done(memory, KEPT)
    assert len(endpoint.requests) == len(replies)
    (only,) = memory.list().items
    assert only.evidence[0].quote == "I prefer tea to coffee"
    assert "thirst" not in only.body


@pytest.mark.promise("case.m7")
@pytest.mark.parametrize(
    "bad, verdict",
    [
        (item(evidence=[{"message": "m77", "quote": "I prefer tea to coffee"}]), "malformed"),
        ({"name": "home", "description": "The user lives in Porto"}, "malformed"),
        (HOME, "unsupported"),
        (item(evidence=[{"message": "m1", "quote": "I like tea much more"}]), "unsupported"),
        (item(evidence=[{"message": "m2", "quote": "Then tea it is"}]), "authority"),
    ],
    ids=["invented message", "missing fields", "invented name", "invented quote", "the reply's"],
)
def test_what_stays_wrong_is_listed_and_not_kept(
    bad: dict[str, Any], verdict: str, endpoint: StubModel, memory: Memory
) -> None:
    endpoint.say(candidates(bad), candidates(bad))
    commit(memory)
    assert memory.drain().batches == 1
    check_done(memory)
    (row,) = memory.why().items
    assert (row.verdict.verdict, row.verdict.name) == (verdict, bad["name"])
    assert memory.status().verdicts == {verdict: 1}


@pytest.mark.parametrize("target", ["k77", "mem_01jzzzzzzzzzzzzzzzzzzzzzzz", "m1", "*"])
@pytest.mark.parametrize("decision", ["update", "merge", "delete", "noop"])
def test_an_invented_target_touches_nothing(
    decision: str, target: str, open_memory: Open, clock: FakeClock
) -> None:
    ruling = {"candidate": 1, "decision": decision, "target": target, "reason": "it said so"}
    other = item(description="The user prefers tea with honey", slot="", evidence=[
        {"message": "m1", "quote": "I prefer tea with honey"}])  # fmt: skip
    model = ScriptedModel(candidates(GOOD), candidates(other), json.dumps({"decisions": [ruling]}))
    memory = open_memory(model=model, settings={"extraction.model": "openai-compatible:small"})
    commit(memory)
    memory.drain()
    (before,) = memory.list().items
    clock.advance(days=1)
    commit(memory, "I prefer tea with honey.", "t")
    memory.drain()
    assert [question.purpose for question in model.questions][2:] == ["evolution"]
    assert "k1" in model.questions[2].user
    old, new = memory.list().items
    assert replace(old, hit_count=before.hit_count) == before
    assert (new.description, new.version, new.status) == (
        "The user prefers tea with honey", 1, "active")  # fmt: skip


# -- the language of the user's words --------------------------------------------------------------

CHINESE: Final = "我更喜欢喝绿茶，不喝咖啡。"
SAID_IN_CHINESE: Final = {"message": "m1", "quote": "我更喜欢喝绿茶"}


@pytest.mark.promise("extract.language")
@pytest.mark.parametrize(
    "text, quote, translated, right",
    [
        (USER, "I prefer tea to coffee", "用户更喜欢喝茶", KEPT),
        (USER, "I prefer tea to coffee", "ユーザーは紅茶が好き", KEPT),
        (USER, "I prefer tea to coffee", "Пользователь любит чай", KEPT),
        (CHINESE, "我更喜欢喝绿茶", "The user prefers green tea", "用户更喜欢喝绿茶"),
        ("我用 Neovim 写 Rust 代码。", "我用 Neovim", "Writes Rust with Neovim", "用 Neovim 写 Rust"),
        ("I take the train to 上海 each week.", "I take the train", "用户每周坐火车去上海", "Takes the train to 上海"),
        ("저는 커피보다 차를 좋아해요.", "저는 커피보다 차를", "The user prefers tea", "커피보다 차를 좋아함"),
        ("Мне больше нравится чай.", "Мне больше нравится", "The user prefers tea", "Больше нравится чай"),
    ],
)  # fmt: skip
def test_a_memory_is_in_the_language_of_the_words_it_quotes(
    text: str, quote: str, translated: str, right: str, endpoint: StubModel, memory: Memory
) -> None:
    told = {"evidence": [{"message": "m1", "quote": quote}], "name": quote[:8], "slot": ""}
    wrong = candidates(item(description=translated, **told))
    endpoint.say(wrong, candidates(item(description=right, **told)), wrong, wrong)
    commit(memory, text)
    memory.drain()
    assert kept(memory) == [right]
    assert "item 1: is not in the language of the words it quotes" in str(endpoint.requests[1].body)
    commit(memory, text, "again")
    memory.drain()
    assert kept(memory) == [right]
    (row,) = memory.why(session="again").items
    assert (row.verdict.verdict, len(endpoint.requests)) == ("malformed", 4)


@pytest.mark.parametrize(
    "text, description, entities",
    [
        ("我用 Neovim 写 Rust 代码。", "用 Neovim 写代码", ["Neovim"]),
        ("My teacher 王老师 lives in Lyon.", "The user's teacher lives in Lyon", ["Lyon"]),
        ("My teacher 王老师 lives in Lyon.", "王老师 is the user's teacher", ["王老师"]),
        ("Neovim, Rust, Zig", "Neovim, Rust and Zig are what the user likes", []),
        ("用 Postgres 吧，别用别的。", "项目用 Postgres (DB)", ["Postgres"]),
        ("紅茶が好きです。毎朝飲みます。", "紅茶を毎朝飲む", []),
        ("Ich trinke lieber Tee als Kaffee.", "Trinkt lieber Tee", []),
        (
            "我们部署到 billing-worker，用 blue-green 方式。",
            "billing-worker 采用 blue-green 部署",
            [],
        ),
    ],
)
def test_names_and_terms_of_another_script_are_no_other_language(
    text: str, description: str, entities: list[str], endpoint: StubModel, memory: Memory
) -> None:
    evidence = [{"message": "m1", "quote": text}]
    endpoint.say(
        candidates(item(description=description, entities=entities, evidence=evidence, slot=""))
    )
    commit(memory, text)
    memory.drain()
    assert kept(memory) == [description]
