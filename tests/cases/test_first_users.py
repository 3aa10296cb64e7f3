"""What the first people who tried it stumbled over: each stays mended."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Invalid, Memory
from memstrata.bootstrap import home_path


@pytest.mark.promise("recall.evidence")
@pytest.mark.parametrize(
    "said, asked",
    [
        ("Remember that my passport number is X48720193.", "What is my passport number?"),
        (
            "My card is 4111 1111 1111 1111, please pay with it.",
            "Which card do I pay with, please?",
        ),
        ("我的身份证号是11010519491231002X，帮我记一下。", "我的身份证号是多少？帮我查一下"),
    ],
)
def test_what_the_gate_refuses_is_never_quoted(memory: Memory, said: str, asked: str) -> None:
    memory.session("s").commit([{"role": "user", "content": said}])
    memory.drain()
    context = memory.session("t").recall(asked)
    assert "<evidence>" not in context.turn


@pytest.mark.promise("recall.evidence")
def test_one_common_word_is_no_evidence(memory: Memory) -> None:
    texts = ["我在考虑要不要买辆车，帮我想想。", "The kettle in the workshop leaks when it boils."]
    memory.session("s").commit([{"role": "user", "content": text} for text in texts])
    memory.drain()
    assert memory.session("t").recall("帮我看看这段代码").turn == ""
    assert memory.session("t").recall("Where is the workshop manual?").turn == ""
    assert "kettle" in memory.session("t").recall("Does the workshop kettle leak?").turn


def test_a_clone_is_taken_in_when_it_is_first_met(open_memory: Open, tmp_path: Path) -> None:
    root = tmp_path / "kiln"
    root.mkdir()
    first = open_memory(home=tmp_path / "one")
    first.add(
        scope="project",
        type="project",
        name="deploys",
        description="Deploys with Nomad",
        workspace=root,
    )
    second = open_memory(home=tmp_path / "two")
    assert "Nomad" in second.session("s", workspace=root).recall("How are deploys done?").turn
    third = open_memory(home=tmp_path / "three")
    assert [hit.description for hit in third.search("deploys", workspace=root)] == [
        "Deploys with Nomad"
    ]


@pytest.mark.promise("import.formats")
def test_an_import_may_be_about_a_project(memory: Memory, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "We deploy with Nomad."}\n')
    root = tmp_path / "kiln"
    root.mkdir()
    memory.import_(chat, workspace=root)
    assert [one.scope for one in memory.list(workspace=root).items] == ["project"]


@pytest.mark.promise("disk.hand-edit")
def test_what_a_person_wrote_stands_against_what_was_said_before(
    memory: Memory, home: Path, clock: FakeClock
) -> None:
    say = memory.session("s")
    say.commit([{"role": "user", "content": "I live in Tarnow.", "said_at": "2025-01-01"}])
    memory.drain()
    (kept,) = memory.list().items
    file = home / kept.path
    file.write_text(file.read_text().replace("Lives in Tarnow", "Lives in Gdynia"))
    clock.set(datetime(2026, 6, 1, tzinfo=UTC))
    memory.reconcile()
    say.commit([{"role": "user", "content": "I live in Lublin.", "said_at": "2025-03-01"}])
    memory.drain()
    assert [one.description for one in memory.list(status="active").items] == ["Lives in Gdynia"]
    clock.set(datetime(2026, 8, 1, tzinfo=UTC))
    say.commit([{"role": "user", "content": "I live in Lublin.", "said_at": "2026-07-01"}])
    memory.drain()
    assert [one.description for one in memory.list(status="active").items] == ["Lives in Lublin"]


def test_a_home_that_cannot_be_is_an_error_with_its_field() -> None:
    with pytest.raises(Invalid, match="home"):
        home_path("/tmp/" + "x" * 300)


def test_an_emptied_file_leaves_the_last_good_version(memory: Memory, home: Path) -> None:
    kept = memory.add(type="feedback", name="logging", description="Never print, always log")
    (home / kept.path).write_text("")
    (problem,) = memory.reconcile().problems
    assert "is empty" in str(problem)
    assert memory.get(kept.id).description == "Never print, always log"
    checks = {check.name: check.ok for check in memory.doctor()}
    assert (checks["files"], checks["text index"]) == (False, True)


def test_another_owners_files_are_nobody_elses_problem(open_memory: Open, home: Path) -> None:
    (home / "memory/user").mkdir(parents=True)
    (home / "memory/user/odd.md").write_text("---\nconfidence: [\n---\n")
    assert len(open_memory().status().problems) == 1
    assert open_memory(owner="ana").status().problems == ()
